"""Strict k-anonymity of routes, word for word: every whole route in every slice of time."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

from wayveil.model import Routes, StrictK
from wayveil.verifiers.common.both_ways import find_break, list_published
from wayveil.verifiers.common.routes_driven import find_break_of_truth, slice_of

__all__ = ["find_break_of_strict_k"]


def find_break_of_strict_k(published: Routes, claim: StrictK, *, original: Routes | None = None, **_: Any) -> str:
    """Return how the publication breaks strict k-anonymity, "" if it keeps it.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> find_break_of_strict_k(Routes.from_records([["ab", "bc"], ["ab"]], network=network), StrictK(k=2))
    'Only 1 people look alike.'
    """
    looking_alike = defaultdict(list)
    for i in list_published(published):
        looking_alike[slice_of(published, i), *published.record(i)].append(_person(published, i))
    if not looking_alike:
        return "Nothing is published."
    for people in looking_alike.values():
        real = [who for who in people if who >= 0]
        if claim.pad == "no":
            sentence = find_break([real], claim.k, claim.owner_share)
        else:
            sentence = _find_break_with_dummies(real, len(people) - len(real), claim)
        if sentence:
            return sentence
    return find_break_of_truth(published, original, claim.k)


def _person(published: Routes, i: int) -> int:
    """Return who owns a trajectory, a negative number for a dummy; one person each where owners are not known."""
    return int(published.owner[i]) if published.owners == "given" or published.owner[i] < 0 else i


def _find_break_with_dummies(real: list[int], dummies: int, claim: StrictK) -> str:
    """Return how people and dummies break the promise: k together, more than k / 2 people, nobody dominates."""
    owned = Counter(real)
    if len(owned) + dummies < claim.k or 2 * len(owned) <= claim.k:
        return f"{len(owned)} people and {dummies} dummies look alike."
    if any(Fraction(n, len(real) + dummies) > claim.owner_share for n in owned.values()):
        return "One person owns too many of the trajectories that look alike."
    return ""
