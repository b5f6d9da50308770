"""k-anonymity of parts of routes, word for word: every subsequence of every route."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

from wayveil.model import Routes, SubsequenceK
from wayveil.verifiers.common.both_ways import find_break, list_people, list_published
from wayveil.verifiers.common.routes_driven import find_break_of_truth, slice_of

__all__ = ["find_break_of_subsequence_k"]


def find_break_of_subsequence_k(
    published: Routes, claim: SubsequenceK, *, original: Routes | None = None, **_: Any
) -> str:
    """Return how the publication breaks k-anonymity of subsequences, "" if it keeps it.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> find_break_of_subsequence_k(Routes.from_records([["ab", "bc"], ["ab"]], network=network), SubsequenceK(k=2))
    'Only 1 people look alike.'
    """
    people = list_people(published)
    containing: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for i in list_published(published):
        route = published.record(i)
        parts = {part for size in range(1, len(route) + 1) for part in combinations(route, size)}
        for part in parts:
            owners = containing[slice_of(published, i), part]
            # A negative owner is nobody: such a trajectory hides no one.
            owners += [people[i]] if published.owner[i] >= 0 else []
    if not containing:
        return "Nothing is published."
    sentence = find_break(containing.values(), claim.k, claim.owner_share)
    return sentence or find_break_of_truth(published, original, claim.k)
