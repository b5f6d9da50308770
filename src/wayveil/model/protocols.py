"""The shapes that plug into Wayveil: one class per method, verifier, attack, metric, workload and engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np

from wayveil.model.claims import Guarantee
from wayveil.model.results import AttackResult, Data, Published, Score, Verdict

__all__ = [
    "Attack",
    "BlockKey",
    "BlockStore",
    "Cut",
    "Engine",
    "Method",
    "Metric",
    "PlannedBlocks",
    "PlanningMethod",
    "Progress",
    "Verifier",
    "Workload",
]

Cut = Literal["any", "block", "none"]
"""How a method may be cut for a cluster: per trajectory, per block, or not at all."""

BlockKey = Literal["times", "slice", "length", "place", "whole"]
"""What data are cut by: trajectories with the same timestamps, in the same slice of time, of the same length, or near
each other; "whole" keeps one crowd, of which no machine holds more than a piece or a compact form."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Progress(Protocol):
    """Told what is going on: `progress("find sequences", 3, 10)`; shown on a terminal, silent on a pipe."""

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None: ...


class Engine(Protocol):
    """Where work runs.  A method asks for `map` and learns nothing of threads, processes or hosts."""

    @property
    def workers(self) -> int: ...

    @property
    def progress(self) -> Progress: ...

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]: ...


class Method(Protocol):
    """A frozen, keyword-only dataclass whose fields are declared with `parameter`.

    Where `publishes` depends on the parameters, the instance has its own.  A method that cuts trajectories into parts
    or adds dummies has a class variable `makes_parts` that is true, and returns `Published.source`.  One that may leave
    times out has a parameter `times`, which is "keep" where it does not.  `blocks` names what data that are too large
    for one machine may be cut by, the usual way first: see `BlockKey`.  Without it the method needs all data at once.
    Where random numbers hide who is who, `hides_by_chance` is true: `rng` then comes from the secret of the run, and
    not from the seed alone.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    accepts: ClassVar[type[Any]]
    publishes: ClassVar[type[Any]]
    cut: ClassVar[Cut]
    blocks: ClassVar[tuple[BlockKey, ...]]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The jobs of ``kernels/common/warm.py`` that compile what these parameters need, the slowest one first."""

    @property
    def claim(self) -> Guarantee: ...

    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> Published: ...


class BlockStore(Protocol):
    """Where tasks leave values for one another, by name; small itself, because it goes to every worker."""

    def save(self, value: Any, name: str) -> str: ...

    def load(self, name: str) -> Any: ...

    def names(self, folder: str) -> list[str]: ...

    def remove(self, folder: str) -> None: ...


class PlannedBlocks(Protocol):
    """Several blocks of which nobody holds all: everybody is whole in one, and ``store.load(names[i])`` is block i.

    A task may hold about `block_rows` rows.
    """

    @property
    def store(self) -> BlockStore: ...

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def people(self) -> int: ...

    @property
    def trajectories(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def block_rows(self) -> int: ...


class PlanningMethod(Method, Protocol):
    """A method that decides over everybody, with "whole" among its `blocks`.

    Of several blocks, `plan` decides what becomes of all of them: `engine` is where tasks with a block each run, `here`
    are the cores of this machine.  `apply` then makes of block `number` what was planned; the plan is sent to every
    worker, so it is small.  The facts of the plan are told once, those of blocks are not.
    """

    plan_kernels: ClassVar[tuple[str, ...]]

    def plan(self, blocks: PlannedBlocks, *, engine: Engine, here: Engine) -> Any: ...

    def apply(self, plan: Any, data: Any, number: int, store: BlockStore) -> Published: ...


Verifier = Callable[..., Verdict]
"""Judges published data, read back from disk, against a claim: ``verifier(published, claim)``; shares no code with any
method.  A claim that is `about_truth` is judged with ``original=`` as well: the true data, one trajectory per published
one and in the same order (all of the true data where a method `makes_parts`), or None where only the publication is at
hand; then the verdict says what it could not judge.  Where points were drawn from boxes, these come as ``boxes=``."""


class Attack(Protocol):
    """A frozen, keyword-only dataclass; knows the true data of its victims and attacks `target`.

    `accepts` is the kind of the true data, `targets` the kinds that it can attack.  With `matched`, trajectory i of
    the target is that of trajectory i of the truth (without rows if it was not published), which tells whether the
    attacker was right; such an attack is left out where this is not known.

    An attack may have two more class variables.  `asks` is the parameter without which it has nothing to do; it is left
    out where nobody gives that.  With `timed` it compares times, and is left out where a publication has the order of
    visits only.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    accepts: ClassVar[type[Any]]
    targets: ClassVar[tuple[type[Any], ...]]
    matched: ClassVar[bool]

    def run(
        self,
        truth: Any,
        target: Any,
        *,
        sensitive: Mapping[str, Iterable[str]],
        rng: np.random.Generator,
        engine: Engine,
    ) -> AttackResult: ...


class Metric(Protocol):
    """A frozen, keyword-only dataclass that compares original and published data.

    `accepts`, `targets`, `matched` and `timed` are as in `Attack`, for the original and for the published data.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    accepts: ClassVar[type[Any]]
    targets: ClassVar[tuple[type[Any], ...]]
    matched: ClassVar[bool]

    def run(self, original: Any, published: Any) -> Score: ...


class Workload(Protocol):
    """A frozen, keyword-only dataclass that generates data from a seed."""

    name: ClassVar[str]
    summary: ClassVar[str]
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]]

    def generate(self, *, rng: np.random.Generator) -> Data: ...
