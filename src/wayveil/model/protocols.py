"""The shapes that plug into Wayveil: one class per method, verifier, attack, metric, workload and engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np

from wayveil.model.guarantees import Guarantee
from wayveil.model.results import AttackResult, Published, Score, Verdict
from wayveil.model.visits import Visits

__all__ = ["Attack", "Cut", "Engine", "Method", "Metric", "Progress", "Verifier", "Workload"]

Cut = Literal["any", "block", "none"]
"""How a method may be cut for a cluster: per trajectory, per block, or not at all."""

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
    """A frozen, keyword-only dataclass whose fields are declared with `parameter`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    accepts: ClassVar[type[Visits]]
    cut: ClassVar[Cut]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The jobs of ``kernels/warm.py`` that compile what these parameters need, the slowest one first."""

    @property
    def claim(self) -> Guarantee: ...

    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> Published: ...


class Verifier(Protocol):
    """Judges published data, read back from disk, against a claim; shares no code with any method."""

    def __call__(self, published: Any, claim: Any) -> Verdict: ...


class Attack(Protocol):
    """A frozen, keyword-only dataclass; knows the true data of its victims and attacks `target`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    accepts: ClassVar[type[Visits]]

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
    """A frozen, keyword-only dataclass that compares original and published data."""

    name: ClassVar[str]
    summary: ClassVar[str]
    accepts: ClassVar[type[Visits]]

    def run(self, original: Any, published: Any) -> Score: ...


class Workload(Protocol):
    """A frozen, keyword-only dataclass that generates data from a seed."""

    name: ClassVar[str]
    summary: ClassVar[str]
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]]

    def generate(self, *, rng: np.random.Generator) -> Visits: ...
