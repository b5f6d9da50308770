"""The engine of one machine: a pool of threads (kernels release the interpreter lock)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import TypeVar

from wayveil.model import Progress

__all__ = ["LocalEngine", "cores", "silent"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def silent(step: str, done: int = 0, total: int | None = None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, kw_only=True)
class LocalEngine:
    """Run work on the cores of this machine; results come back in the order of the items.

    Examples
    --------
    >>> LocalEngine(workers=2).map(abs, [-1, -2, 3])
    [1, 2, 3]
    """

    workers: int = field(default_factory=cores)
    progress: Progress = silent

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        listed = list(items)
        if self.workers == 1 or len(listed) < 2:
            return [function(item) for item in listed]
        with ThreadPoolExecutor(min(self.workers, len(listed))) as pool:
            return list(pool.map(function, listed))

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left running after a `map`."""
