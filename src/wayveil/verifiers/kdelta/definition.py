"""(k,delta)-anonymity, word for word: every set of trajectories that stay near each other."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import hypot
from typing import Any

from wayveil.model import KDelta, Points
from wayveil.verifiers.common.both_ways import find_break_of_wishes, list_people, list_published

__all__ = ["find_break_of_kdelta"]

ROUNDING_M = 1e-3
"""Positions are computed in floating point: a millimetre is no distance."""


def find_break_of_kdelta(published: Points, claim: KDelta, *, original: Points | None = None, **_: Any) -> str:
    """Return how the publication breaks (k,delta)-anonymity, "" if it keeps it.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0)], [(0, 0.0, 3.0)]])
    >>> find_break_of_kdelta(data, KDelta(k=2, delta=3)), find_break_of_kdelta(data, KDelta(k=2, delta=2))
    ('', 'A trajectory is in no set of 2 people who stay together.')
    """
    people = list_people(published)
    trajectories = list_published(published)
    if not trajectories:
        return "Nothing is published."
    near = {i: {j for j in trajectories if j != i and stay_together(published, i, j, claim)} for i in trajectories}

    def completes(owners: frozenset[int], candidates: frozenset[int]) -> bool:
        """Tell whether some candidates, all near each other, make these owners k people."""
        if len(owners) >= claim.k:
            return True
        return any(
            completes(owners | {people[j]}, frozenset(candidates & near[j]))
            for j in candidates
            if people[j] not in owners
        )

    for i in trajectories:
        if not completes(frozenset({people[i]}), frozenset(near[i])):
            return f"A trajectory is in no set of {claim.k} people who stay together."
    # Nobody dominates: whichever trajectories of one person are taken, with all those of others near one of them.
    for person in {people[i] for i in trajectories}:
        own = [i for i in trajectories if people[i] == person]
        for some in (some for size in range(1, len(own) + 1) for some in combinations(own, size)):
            others = {j for i in some for j in near[i] if people[j] != person}
            if Fraction(len(some), len(some) + len(others)) > claim.owner_share:
                return f"{len(some)} trajectories of one person are near {len(others)} of others."
    # Members may be promised more, with delta = 0: then a set is all that are the same.
    if original is not None and claim.has_wishes:
        return find_break_of_wishes([sorted({i, *near[i]}) for i in trajectories], people, claim, original)
    return ""


def stay_together(published: Points, i: int, j: int, claim: KDelta) -> bool:
    """Tell whether two trajectories have the same times and are at most delta apart at each of them.

    Where members were placed at random, each must also keep one offset to the other: another curve tells them apart.
    """
    one = published.record(i)
    other = published.record(j)
    if [t for t, _, _ in one] != [t for t, _, _ in other]:
        return False
    if claim.delta == 0:
        return one == other
    offsets = [(a[1] - b[1], a[2] - b[2]) for a, b in zip(one, other, strict=True)]
    if any(hypot(dx, dy) > claim.delta + ROUNDING_M for dx, dy in offsets):
        return False
    along_one_curve = all(hypot(dx - offsets[0][0], dy - offsets[0][1]) <= ROUNDING_M for dx, dy in offsets)
    return along_one_curve or claim.placement != "random"
