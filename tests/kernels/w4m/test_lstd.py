"""The linear walk against its definition as a recursion."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.w4m.lstd import lstd_of
from wayveil.kernels.w4m.w4m_measure import Measure, TimedPoints

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "w4m" / "pair.json").read_text())

Point = tuple[float, float, float]


def walk(p: list[Point], q: list[Point], unit: float, cap: int) -> tuple[int, float, list[int]]:
    """Return cost, largest planar distance and match, one pair after the other."""

    def cost(i: int, j: int) -> int:
        return min(int(math.dist(p[i], q[j]) / unit), cap)

    def rest(i: int, j: int) -> list[tuple[int, int]]:
        if i + 1 == len(p) and j + 1 == len(q):
            return []
        if i + 1 == len(p):
            step = (i, j + 1)
        elif j + 1 == len(q):
            step = (i + 1, j)
        else:
            step = min([(i + 1, j + 1), (i, j + 1), (i + 1, j)], key=lambda pair: cost(*pair))
        return [step, *rest(*step)]

    pairs = [(0, 0), *rest(0, 0)]
    match: dict[int, int] = {}
    for i, j in pairs:
        match.setdefault(i, j)
    planar = max(math.dist(p[i][:2], q[j][:2]) for i, j in pairs)
    return sum(cost(i, j) for i, j in pairs), planar, [match[i] for i in range(len(p))]


def fast(p: list[Point], q: list[Point], unit: float, cap: int) -> tuple[int, float, list[int]]:
    x, y, s = np.array([*q, *p], float).T.copy()
    points = TimedPoints(np.array([0, len(q), len(q) + len(p)]), x, y, np.zeros(len(s), np.int64), s)
    cost, wide, match = lstd_of(points, Measure(False, unit, cap, 0.0, 0.0, 0), 1, 0)
    return cost, wide, match.tolist()


ways = st.lists(st.tuples(*[st.integers(0, 12).map(float)] * 3), min_size=1, max_size=7)


@settings(deadline=None, max_examples=300)
@given(ways, ways, st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([1, 3, 10]))
def test_the_walk_is_that_of_the_definition(p: list[Point], q: list[Point], unit: float, cap: int) -> None:
    cost, wide, match = fast(p, q, unit, cap)
    expected = walk(p, q, unit, cap)
    assert (cost, match) == (expected[0], expected[2])
    assert wide == pytest.approx(expected[1])
    assert wide >= max(math.dist(p[0][:2], q[0][:2]), math.dist(p[-1][:2], q[-1][:2])) - 1e-9


@pytest.mark.parametrize("case", ["lstd", "lstd_longer"])
def test_worked_examples(case: str) -> None:
    found = GOLDEN[case]
    pivot, member = ([(x, y, float(t)) for t, x, y in GOLDEN[name]] for name in ("pivot", found["member"]))
    assert fast(pivot, member, found["delta"], 10)[0] == found["clustering_distance"]
    cost, _, match = fast(pivot, member, found["delta"] / 2, 10)
    assert (cost, match) == (found["editing_distance"], found["match"])


def test_huge_distances_cost_the_cap() -> None:
    assert fast([(0.0, 0.0, 0.0)], [(1e12, 1e12, 1e15)], 1e-9, 10)[0] == 10
    assert fast([(0.0, 0.0, 0.0)], [(30.0, 0.0, 0.0)], 3.0, 10)[0] == 10
    assert fast([(0.0, 0.0, 0.0)], [(29.9, 0.0, 0.0)], 3.0, 10)[0] == 9
