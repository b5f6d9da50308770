"""Small words for messages: counts and lists of column names."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["count", "listed", "was"]

_SHOWN = 12
_LONGEST = 40


def count(number: int, noun: str) -> str:
    """Return the number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1200, "trajectory")
    ('1 row', '1,200 trajectories')
    """
    if number == 1:
        return f"1 {noun}"
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {plural}"


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, shortened where a message would become unreadable.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    short = [f"'{n}'" if len(n) <= _LONGEST else f"'{n[:_LONGEST]}…'" for n in names]
    more = len(short) - _SHOWN
    return ", ".join(short[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def was(number: int) -> str:
    """Return "was" or "were".

    Examples
    --------
    >>> was(1), was(0)
    ('was', 'were')
    """
    return "was" if number == 1 else "were"
