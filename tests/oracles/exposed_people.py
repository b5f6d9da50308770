"""People on inference routes, as a program: every pair of roads at every intersection, with sets and fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

from wayveil.model import Routes

__all__ = ["find_exposed"]


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
