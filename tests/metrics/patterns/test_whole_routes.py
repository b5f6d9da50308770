"""Maximal stretches against all stretches of all trajectories, and Equation 9 by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.patterns.road_patterns import RoadPatterns
from wayveil.metrics.patterns.whole_routes import list_maximal_stretches
from wayveil.model import RoadNetwork, Routes


@settings(deadline=None, max_examples=200)
@given(
    routes=st.lists(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=6), max_size=6),
    support=st.integers(1, 3),
)
def test_maximal_stretches_are_those_of_trying_all(routes: list[list[tuple[int, bool]]], support: int) -> None:
    stretches: Counter[tuple[int, ...]] = Counter()
    for route in routes:
        mine = set()
        for a in range(len(route)):
            for b in range(a + 1, len(route) + 1):
                if all(goes_on for _, goes_on in route[a : b - 1]):
                    mine.add(tuple(road for road, _ in route[a:b]))
        stretches.update(mine)
    frequent = {one for one, n in stretches.items() if n >= support}
    parts = {part for one in frequent if len(one) > 1 for part in (one[1:], one[:-1])}
    rows = [row for route in routes for row in route]
    offsets = np.cumsum([0, *map(len, routes)])
    ends = np.zeros(len(rows), bool)
    ends[offsets[1:][np.diff(offsets) > 0] - 1] = True
    goes_on = np.array([on for _, on in rows], bool) & ~ends
    road = np.array([road for road, _ in rows], np.int64)
    assert list_maximal_stretches(offsets, road, goes_on, support) == frequent - parts


def test_equation_9_by_hand() -> None:
    """Two maximal stretches, three different published routes, of which one is the same: 2 * 1 / (2 + 3)."""
    names = ["ab", "bc", "cd", "de"]
    network = RoadNetwork.from_roads([(name, name[0], name[1]) for name in names])
    before = Routes.from_records([names[:2]] * 2 + [names[2:]] * 2, network=network)
    assert [a[1] == b[0] for a, b in pairwise(names)] == [True] * 3
    after = Routes.from_records([names[:2], names[:2], names[:1], names[1:3]], network=network)
    measured = RoadPatterns(min_support=2).run(before, after).measured
    assert (measured["stretches_before"], measured["routes_after"], measured["routes_matched"]) == (2, 3, 1)
    assert measured["routes_f_measure"] == 2 / 5
