"""How much work may be done on what somebody else wrote; steps are counted, so every machine agrees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from wayveil.errors import WorkLimitReached

__all__ = ["limit_work", "spend"]


@dataclass
class _Budget:
    limit: int
    left: int


_CURRENT: ContextVar[_Budget | None] = ContextVar("work", default=None)


@contextmanager
def limit_work(steps: int) -> Iterator[None]:
    """Let what is done inside spend so many steps, all together; WorkLimitReached when it needs more.

    A step is what takes about a nanosecond.  Without a limit around it, nothing is counted: whoever publishes waits
    for their own data.

    Examples
    --------
    >>> with limit_work(5):
    ...     spend(3)
    ...     spend(3)
    Traceback (most recent call last):
    wayveil.errors.WorkLimitReached: More than 5 steps of work are needed.
    """
    before = _CURRENT.set(_Budget(limit=steps, left=steps))
    try:
        yield
    finally:
        _CURRENT.reset(before)


def spend(steps: int) -> None:
    """Take steps from what is left, before they are taken; WorkLimitReached when there are not so many."""
    budget = _CURRENT.get()
    if budget is None:
        return
    budget.left -= int(steps)
    if budget.left < 0:
        raise WorkLimitReached(f"More than {budget.limit:,} steps of work are needed.")
