"""People and trajectories counted both ways, as `wayveil.model.claims.counting` defines it, with lists and fractions.

The definitions of all claims use this, and nothing else does: what is fast counts by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["find_break", "list_people", "list_published"]


def list_published(data: Any) -> list[int]:
    """Return the trajectories that are published: those with rows."""
    return [i for i in range(len(data)) if data.offsets[i] < data.offsets[i + 1]]


def list_people(data: Any) -> list[int]:
    """Return the person behind each trajectory: the owner where it is known, and otherwise one for each trajectory."""
    if data.owners == "given":
        return [int(owner) for owner in data.owner]
    return list(range(len(data)))


def find_break(sets: Iterable[Sequence[Hashable]], k: int, share: Fraction) -> str:
    """Return how a set of trajectories that look alike breaks the promise, "" if none does.

    Each set is the list of the people behind its trajectories, one entry for each trajectory.

    Examples
    --------
    >>> find_break([["ann", "bob"]], 2, Fraction(1, 2)), find_break([["ann", "ann", "bob"]], 2, Fraction(1, 2))
    ('', 'One person owns 2 of 3 trajectories that look alike.')
    """
    for people in sets:
        owned = Counter(people)
        if len(owned) < k:
            return f"Only {len(owned)} people look alike."
        largest = max(owned.values())
        if Fraction(largest, len(people)) > share:
            return f"One person owns {largest} of {len(people)} trajectories that look alike."
    return ""
