"""Promises on routes as programs: every route, every part of one, every pair of roads, with sets and fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise, product

from wayveil.model import Routes, StrictK, SubsequenceK

__all__ = ["find_exposed", "is_path", "is_shared", "is_strict", "is_true", "span"]


def span(data: Routes, i: int) -> tuple[int, int]:
    return int(data.t_start[i]), int(data.t_end[i])


def is_path(data: Routes, i: int) -> bool:
    ends = {name: (data.network.from_node[r], data.network.to_node[r]) for r, name in enumerate(data.network.roads)}
    return all(ends[a][1] == ends[b][0] for a, b in pairwise(data.record(i)))


def is_true(data: Routes, truth: Routes, k: int) -> bool:
    """Owners drove on a road of theirs in that slice, routes are parts of trips, and k people are on each road."""
    trips = defaultdict(list)
    for j in range(len(truth)):
        trips[span(truth, j)].append((int(truth.owner[j]), truth.record(j)))
    for i in range(len(data)):
        route, there = data.record(i), trips[span(data, i)]
        n = len(route)
        if data.owner[i] >= 0 and not any(who == data.owner[i] and set(trip) & set(route) for who, trip in there):
            return False
        if not any(trip[at : at + n] == route for _, trip in there for at in range(len(trip))):
            return False
        if any(len({who for who, trip in there if road in trip}) < k for road in route):
            return False
    return True


def is_strict(data: Routes, truth: Routes, claim: StrictK) -> bool:
    groups = defaultdict(list)
    for i in range(len(data)):
        groups[span(data, i), *data.record(i)].append(int(data.owner[i]))
    for owners in groups.values():
        people = Counter(who for who in owners if who >= 0)
        dummies = len(owners) - sum(people.values())
        if claim.pad == "no":
            owners, dummies = [who for who in owners if who >= 0], 0
        if len(people) + dummies < claim.k or (claim.pad == "yes" and 2 * len(people) <= claim.k):
            return False
        if any(Fraction(n, len(owners)) > claim.owner_share for n in people.values()):
            return False
    return bool(groups) and all(is_path(data, i) for i in range(len(data))) and is_true(data, truth, claim.k)


def is_shared(data: Routes, truth: Routes, claim: SubsequenceK) -> bool:
    having = defaultdict(list)
    for i in range(len(data)):
        route = data.record(i)
        for part in {part for n in range(1, len(route) + 1) for part in combinations(route, n)}:
            having[span(data, i), part].append(int(data.owner[i]))
    for owners in having.values():
        people = Counter(who for who in owners if who >= 0)
        rows = sum(people.values())
        if len(people) < claim.k or any(Fraction(n, rows) > claim.owner_share for n in people.values()):
            return False
    return bool(having) and all(is_path(data, i) for i in range(len(data))) and is_true(data, truth, claim.k)


def find_exposed(data: Routes, k: int, share: Fraction) -> tuple[set, set, set]:
    """Definition 2, counted both ways: (intersections, pairs with a side, people), per slice; a dummy is one more."""
    nodes, pairs, exposed = set(), set(), set()
    names = data.network.roads
    ends = zip(data.network.from_node.tolist(), data.network.to_node.tolist(), strict=True)
    roads = [(name, begin, end) for name, (begin, end) in zip(names, ends, strict=True)]
    for moment in set(zip(data.t_start.tolist(), data.t_end.tolist(), strict=True)):
        on: dict[str, set[int]] = {name: set() for name, _, _ in roads}
        for t in range(len(data)):
            if (int(data.t_start[t]), int(data.t_end[t])) == moment:
                for road in data.record(t):
                    on[road].add(t)

        def people(of: set[int]) -> set[int]:
            return set(owners(of))

        def owners(of: set[int]) -> Counter[int]:
            return Counter(int(data.owner[t]) if data.owner[t] >= 0 else -1 - t for t in of)

        for (i, _, node), (j, start, _) in product(roads, roads):
            if node == start and len(people(on[i])) >= k and len(people(on[j])) >= k:
                for side, these in (("i", on[i] - on[j]), ("j", on[j] - on[i])):
                    few = people(these)
                    if len(few) >= k:
                        few = {one for one, n in owners(these).items() if one >= 0 and Fraction(n, len(these)) > share}
                    if few:
                        nodes.add((moment, node))
                        pairs.add((moment, i, j, side))
                        exposed |= {one for one in few if one >= 0}
    return nodes, pairs, exposed
