"""People and trajectories counted both ways, as `wayveil.model.claims.counting` defines it, with lists and fractions.

The definitions of all claims use this, and nothing else does: what is fast counts by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["find_break", "find_break_of_wishes", "list_people", "list_published"]


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


def find_break_of_wishes(
    sets: Iterable[Sequence[int]],
    people: Sequence[int],
    claim: Any,
    original: Any,
    until: Sequence[int] | None = None,
) -> str:
    """Return how a set of trajectories breaks what its members were promised beyond k, "" if none does.

    Each set lists trajectories; `people` are those behind all trajectories, `original` has the true ones, and `until`
    the times up to which they are published.
    """
    own_k = dict.fromkeys(people, 0)
    if claim.k_column != "none":
        for person, value in zip(people, original.attributes[claim.k_column].values(), strict=True):
            own_k[person] = max(own_k[person], int((value or "").strip() or 0))
    for members in sets:
        crowd = [people[i] for i in members]
        for person in crowd:
            share = Fraction(crowd.count(person), len(crowd))
            if len(set(crowd)) < own_k[person] or share * own_k[person] > 1:
                return f"Somebody asked for {own_k[person]} people who look alike."
        if claim.destination_share == "none":
            continue
        side = claim.destination_cell
        last = [original.record(i)[-1] for i in members]
        then = [[row for row in original.record(i) if until is None or row[0] <= until[i]][-1] for i in members]
        for moments in (last, then):
            ends = [(x // side, y // side) for _, x, y in moments]
            for place in set(ends):
                here = [person for person, end in zip(crowd, ends, strict=True) if end == place]
                shares = Fraction(len(here), len(crowd)), Fraction(len(set(here)), len(set(crowd)))
                if max(shares) > claim.destination_share:
                    return "Too many of those who look alike end in one square."
    return ""
