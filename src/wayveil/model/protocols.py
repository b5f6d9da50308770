"""The shapes that plug into Wayveil: one base class per method, step, attack, metric and workload, and what runs them.

Everything that one of them may declare stands here, with what holds where it declares nothing: no other part of the
program looks for an attribute that is not in these classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model.claims import Guarantee
from wayveil.model.parameters import check_parameters
from wayveil.model.results import AttackResult, Data, MethodResult, Score, Verdict

__all__ = [
    "Attack",
    "BlockKey",
    "BlockStore",
    "Engine",
    "Method",
    "Metric",
    "PlannedBlocks",
    "PlanningMethod",
    "Progress",
    "Step",
    "Verifier",
    "Workload",
]

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


class _Declared:
    """What has a name, a sentence, and parameters that are checked when it is made."""

    name: ClassVar[str]
    summary: ClassVar[str]

    def __post_init__(self) -> None:
        check_parameters(self, self.name)


class Method(_Declared, ABC):
    """A frozen, keyword-only dataclass whose fields are declared with `parameter`.

    Where `publishes`, or one of the properties, depends on the parameters, the instance has its own.
    """

    accepts: ClassVar[type[Any]]
    publishes: ClassVar[type[Any]]
    accepts_also: ClassVar[tuple[type[Any], ...]] = ()
    """Kinds below `accepts` that may go in too; they come out as the same kind."""
    blocks: ClassVar[tuple[BlockKey, ...]] = ()
    """What data that are too large for one machine may be cut by, the usual way first.  Without it the method needs all
    data at once."""
    splits_trajectories: ClassVar[bool] = False
    """Whether trajectories are cut, or dummies are added; then `MethodResult.source` tells whose they are."""
    parts_in_time: ClassVar[bool] = False
    """Whether these parts are pieces in time of true trajectories, and nothing else: then each can be compared with
    what its trajectory was in its time."""
    synthetic: ClassVar[bool] = False
    """Whether trajectories are drawn from a model, and none of them is anybody's: then nothing is kept or lost, and the
    method is run once, because running it again would tell more."""

    @property
    def hides_by_chance(self) -> bool:
        """Whether random numbers hide who is who: `rng` then comes from the secret of the run, not the seed alone."""
        return False

    @property
    def random_noise(self) -> bool:
        """Whether what is published has noise from a source that cannot be repeated: a second run with the same seed
        and secret gives other numbers, by the same mechanism."""
        return False

    @property
    def keeps_points(self) -> bool:
        """Whether points may be published exactly as they were recorded."""
        return False

    @property
    def keeps_times(self) -> bool:
        """Whether the times of the input are published, and not only the order in which things happened."""
        return True

    @property
    def kernels(self) -> tuple[str, ...]:
        """The jobs of ``kernels/common/warm.py`` that compile what these parameters need, the slowest one first."""
        return ()

    @property
    def metric_settings(self) -> Mapping[str, Mapping[str, Any]]:
        """The parameters of metrics, by name, that measure what this method was told to spare."""
        return {}

    @property
    @abstractmethod
    def claim(self) -> Guarantee: ...

    def for_kind(self, kind: str) -> Any:
        """Return the method for data of this kind, where `accepts` and `publishes` depend on it."""
        return self

    def claim_of(self, data: Any) -> Guarantee:
        """Return what is claimed of these data: the claim, unless it speaks of their kind."""
        return self.claim

    @abstractmethod
    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> MethodResult: ...


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


class PlanningMethod(Method):
    """A method that decides over everybody, with "whole" among its `blocks`.

    Of several blocks, `plan` decides what becomes of all of them: `engine` is where tasks with a block each run, `here`
    are the cores of this machine.  `apply` then makes of block `number` what was planned; the plan is sent to every
    worker, so it is small.  The facts of the plan are told once, those of blocks are not.
    """

    plan_kernels: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def plan(self, blocks: PlannedBlocks, *, engine: Engine, here: Engine) -> Any: ...

    @abstractmethod
    def apply(self, plan: Any, data: Any, number: int, store: BlockStore) -> MethodResult: ...


class Step(_Declared, ABC):
    """A frozen, keyword-only dataclass that prepares data: `accepts` is the kind that goes in, `gives` what comes out.

    A step with `needs_network` is run with ``network=``, one with `needs_places` with ``places=`` and ``taxonomy=``.
    """

    accepts: ClassVar[type[Any]]
    gives: ClassVar[type[Any]]
    accepts_also: ClassVar[tuple[type[Any], ...]] = ()
    """Other kinds that may go in; they come out as the same kind, unless `also_gives` says otherwise."""
    also_gives: ClassVar[Mapping[str, type[Any]]] = {}
    """What comes out of a kind of `accepts_also` that does not stay what it is."""
    needs_network: ClassVar[bool] = False
    needs_places: ClassVar[bool] = False

    @property
    def needs_zones(self) -> bool:
        """Whether it is run with ``zones=``, polygons of a file, and has a parameter `id` that names their column."""
        return False

    @property
    def looks_at_everybody(self) -> bool:
        """Whether what becomes of a row depends on other people: then data in blocks cannot go through."""
        return False

    @abstractmethod
    def run(self, data: Any, *args: Any, **more: Any) -> tuple[Any, tuple[str, ...]]:
        """Return the prepared data, and what a reader should know of it."""

    def run_with_origin(self, data: Any, *args: Any, **more: Any) -> tuple[Any, tuple[str, ...], Any]:
        """Return the same, and of each trajectory the position of the one it comes from; None where all stay."""
        return *self.run(data, *args, **more), None


Verifier = Callable[..., Verdict]
"""Judges published data, read back from disk, against a claim: ``verifier(published, claim)``; shares no code with any
method.  A claim that is `about_truth` is judged with ``original=`` as well: the true data, one trajectory per published
one and in the same order (all of the true data where a method `splits_trajectories` into parts that are not
`parts_in_time`), or None where only the publication is at hand; then the verdict says what it could not judge.  Where
points were drawn from boxes, these come as ``boxes=``."""


class _Compared(_Declared, ABC):
    """What compares data before with data after: an attack, or a metric."""

    accepts: ClassVar[type[Any]]
    """The kind of the true data."""
    targets: ClassVar[tuple[type[Any], ...]]
    """The kinds that they can be compared with."""
    matched: ClassVar[bool] = False
    """Whether trajectory i of the target must be that of trajectory i of the truth (without rows if it was not
    published).  What needs this is left out where it is not known."""
    owned: ClassVar[bool] = False
    """Whether it must be known whose each trajectory of the target is; left out where only a publication is at hand."""
    timed: ClassVar[bool] = False
    """Whether times are compared; left out where a publication has the order of visits only."""
    synthetic: ClassVar[bool | None] = False
    """Whether it is about synthetic trajectories, of which none is somebody's: what takes one for the victim's does not
    fit them, and the other way round; None where it makes no difference."""
    exact: ClassVar[bool] = False
    """Whether published numbers are taken for true ones; left out where they have noise."""
    asks: ClassVar[str | None] = None
    """The parameter without which there is nothing to do: left out where nobody gives it."""
    additive: ClassVar[bool] = False
    """Whether data in pieces give the result of the whole: what is counted in each piece is added up."""


class Attack(_Compared):
    """A frozen, keyword-only dataclass; knows the true data of its victims and attacks a target.

    `queries` draws what the attacker knows, `match` looks for it in the target, `summarize` says how well that works.
    An attack that is `additive` has a parameter `victims`.  It draws in every piece of the truth, and `join_queries`
    makes one of what it drew; every piece of the target is matched without `truth` and `rng`, and the matches are added
    with `model.sums.add`.
    """

    @abstractmethod
    def queries(self, truth: Any, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> Any:
        """Return what is known of the victims.

        It depends on the truth and the seed alone: raw and published data meet the same attacker.
        """

    def join_queries(self, queries: Sequence[Any]) -> Any:
        """Return what is known of the victims in several pieces of the truth as one."""
        raise InputError(f"{self.name}: the truth cannot be asked in pieces.")

    @abstractmethod
    def match(self, queries: Any, target: Any, *, truth: Any, rng: Any, engine: Engine) -> Any:
        """Return what of the target fits; it is known who is who, unless the target is a piece and `truth` is None."""

    @abstractmethod
    def summarize(self, queries: Any, matches: Any) -> AttackResult:
        """Return what the attacker learns."""

    def run(
        self,
        truth: Any,
        target: Any,
        *,
        sensitive: Mapping[str, Iterable[str]],
        rng: np.random.Generator,
        engine: Engine,
    ) -> AttackResult:
        """Attack data that are all here."""
        queries = self.queries(truth, sensitive=sensitive, rng=rng)
        return self.summarize(queries, self.match(queries, target, truth=truth, rng=rng, engine=engine))


class Metric(_Compared):
    """A frozen, keyword-only dataclass that compares original and published data.

    `count` looks at the data, `score` at the counts only.  Where the metric is `additive`, the counts of pieces are
    added with `model.sums.add`.
    """

    synthetic: ClassVar[bool | None] = None

    @abstractmethod
    def count(self, original: Any, published: Any) -> Any:
        """Return what is counted in a piece of the data, or in all of them."""

    @abstractmethod
    def score(self, counts: Any) -> Score:
        """Return the score that the counts of all data give."""

    def run(self, original: Any, published: Any) -> Score:
        """Compare data that are all here."""
        return self.score(self.count(original, published))


class Workload(_Declared, ABC):
    """A frozen, keyword-only dataclass that generates data from a seed."""

    accepts: ClassVar[type[Any]]
    """The kind of data that is made."""
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Which values of which attribute are sensitive."""

    @abstractmethod
    def generate(self, *, rng: np.random.Generator) -> Data: ...
