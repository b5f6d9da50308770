"""The clusters of a block against the rule, with both distances from their definitions."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.w4m.w4m_block import block_clusters
from wayveil.kernels.w4m.w4m_measure import Block, Known, Measure, TimedPoints

Row = tuple[int, float, float]
Record = tuple[Row, ...]


def edr(q: Record, p: Record, limits: tuple[float, float, int]) -> int:
    @cache
    def rest(i: int, j: int) -> int:
        if i == len(q) or j == len(p):
            return len(q) - i + len(p) - j
        off = [abs(q[i][1] - p[j][1]), abs(q[i][2] - p[j][2]), abs(q[i][0] - p[j][0])]
        same = 0 if all(a <= b for a, b in zip(off, limits, strict=True)) else 1
        return min(rest(i + 1, j) + 1, rest(i, j + 1) + 1, rest(i + 1, j + 1) + same)

    return rest(0, 0)


def lstd(p: Record, q: Record, unit: float, cap: int) -> tuple[int, float]:
    def cost(pair: tuple[int, int]) -> int:
        return min(int(math.dist(p[pair[0]], q[pair[1]]) / unit), cap)

    at = (0, 0)
    pairs = [at]
    while at != (len(p) - 1, len(q) - 1):
        steps = [(at[0] + 1, at[1] + 1), (at[0], at[1] + 1), (at[0] + 1, at[1])]
        at = min([s for s in steps if s[0] < len(p) and s[1] < len(q)], key=cost)
        if pairs[-1][0] == len(p) - 1 or pairs[-1][1] == len(q) - 1:
            at = (min(pairs[-1][0] + 1, len(p) - 1), min(pairs[-1][1] + 1, len(q) - 1))
        pairs.append(at)
    return sum(map(cost, pairs)), max(math.dist(p[i][1:], q[j][1:]) for i, j in pairs)


def middle(record: Record) -> tuple[float, float]:
    return sum(r[1] for r in record) / len(record), sum(r[2] for r in record) / len(record)


def oracle(records: list[Record], owner: list[int], measure: Measure, k: int, radius: float, order: list[int],
           farthest: bool) -> list[int]:  # fmt: skip
    n = len(records)
    key: dict[tuple[int, int], tuple[float, float]] = {}
    for p in range(n):
        for q in range(n):
            if measure.is_edr:
                far = round(math.dist(middle(records[p]), middle(records[q])), 6)  # to a micrometre
                key[p, q] = edr(records[q], records[p], (measure.dx, measure.dy, measure.dt)), far
            else:
                key[p, q] = lstd(records[p], records[q], measure.unit, measure.cap)

    def within(p: int, q: int) -> bool:
        return key[p, q][0 if measure.is_edr else 1] <= radius + 1e-9

    label, unvisited, active, tried = [-1] * n, set(range(n)), set(range(n)), []
    pivot: int | None = order[0]
    while pivot is not None:
        tried.append(pivot)
        active.discard(pivot)
        taken, met = [pivot], {owner[pivot]}
        for i in sorted(unvisited - {pivot}, key=lambda i: (key[pivot, i], i)):
            if len(met) < k and owner[i] not in met:
                taken.append(i)
                met.add(owner[i])
        if len(met) == k and all(within(pivot, i) for i in taken):
            for i in taken:
                label[i] = pivot
            unvisited -= set(taken)
        left = active & unvisited
        if farthest:
            pivot = max(left, key=lambda i: (min(key[p, i][0] for p in tried), -i), default=None)
        else:
            pivot = next((i for i in order if i in left), None)
    leaders = [p for p in range(n) if label[p] == p]
    for i in unvisited:
        if leaders:
            nearest = min(leaders, key=lambda p: (key[p, i], p))
            if within(nearest, i):
                label[i] = nearest
    return label


def block_of(records: list[Record], owner: list[int]) -> tuple[Block, Known]:
    rows = [r for record in records for r in record]
    t = np.array([r[0] for r in rows], np.int64)
    x, y = (np.array([r[i] for r in rows], float) for i in (1, 2))
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    middles = np.array([middle(r) for r in records])
    n = len(records)
    points = TimedPoints(offsets, x, y, t, t.astype(float))
    block = Block(points, middles[:, 0].copy(), middles[:, 1].copy(), np.array(owner, np.int64))
    return block, Known(np.zeros(n, np.int64), np.full((n, n), np.nan), np.full((n, n), np.nan))


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Record], list[int]]:
    n, span = draw(st.integers(2, 9)), draw(st.sampled_from([2, 8, 30]))
    records = []
    for _ in range(n):
        times = sorted(draw(st.sets(st.integers(0, 8), min_size=1, max_size=5)))
        cells = st.tuples(st.integers(0, span), st.integers(0, span))
        places = draw(st.lists(cells, min_size=len(times), max_size=len(times)))
        records.append(tuple((t, float(a), float(b)) for t, (a, b) in zip(times, places, strict=True)))
    people = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) if draw(st.booleans()) else list(range(n))
    return records, people


@pytest.mark.parametrize("farthest", [False, True])
@pytest.mark.parametrize("is_edr", [False, True])
def test_the_clusters_are_those_of_the_rule(is_edr: bool, farthest: bool) -> None:
    @settings(deadline=None, max_examples=120, derandomize=True)
    @given(scenes(), st.integers(2, 4), st.sampled_from([0.0, 1.0, 3.0]), st.randoms(use_true_random=False))
    def check(scene: tuple[list[Record], list[int]], k: int, radius: float, random: object) -> None:
        records, owner = scene
        order = list(range(len(records)))
        random.shuffle(order)  # type: ignore[attr-defined]
        measure = Measure(is_edr, 2.0, 4, 1.0, 1.0, 1)
        block, known = block_of(records, owner)
        for _ in range(4):  # what is known from one radius serves the next
            found = block_clusters(block, measure, known, k, radius, np.array(order, np.int64), farthest)
            assert found.tolist() == oracle(records, owner, measure, k, radius, order, farthest)
            radius = radius * 2 + 1

    check()


def test_middles_at_equal_distances_are_taken_in_the_order_of_the_input() -> None:
    """Found by random trials: a third is no number of a computer, and rounding decided which of two was nearer."""
    ones: list[Record] = [((6, 2.0, 2.0),), ((0, 2.0, 0.0), (2, 1.0, 1.0), (3, 0.0, 0.0), (4, 2.0, 0.0), (5, 1.0, 2.0)),
                          ((1, 0.0, 1.0), (3, 0.0, 1.0), (8, 0.0, 2.0)), ((1, 2.0, 2.0), (2, 1.0, 2.0), (5, 2.0, 0.0)),
                          ((3, 1.0, 0.0),), ((0, 2.0, 2.0), (2, 1.0, 0.0), (4, 0.0, 1.0), (6, 2.0, 2.0)),
                          ((1, 2.0, 2.0),), ((0, 2.0, 0.0), (2, 0.0, 0.0), (3, 2.0, 2.0), (4, 2.0, 0.0), (8, 1.0, 0.0)),
                          ((1, 2.0, 2.0), (2, 1.0, 1.0), (3, 1.0, 2.0), (7, 2.0, 2.0), (8, 2.0, 2.0))]  # fmt: skip
    block, known = block_of(ones, list(range(9)))
    measure, order = Measure(True, 2.0, 4, 1.0, 1.0, 1), [2, 1, 5, 7, 8, 3, 4, 0, 6]
    found = block_clusters(block, measure, known, 3, 3.0, np.array(order, np.int64), True)
    assert found.tolist() == oracle(ones, list(range(9)), measure, 3, 3.0, order, True)
    # thirds: 1/3 - 0 and 1 - 2/3 are the same, but not for a computer; the first of the two must be taken
    ways = ([0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    thirds: list[Record] = [tuple((t, x, 9.0) for t, x in enumerate(way)) for way in ways]
    block, known = block_of(thirds, [0, 1, 2])
    exact = Measure(True, 2.0, 4, 0.0, 0.0, 1)
    assert block_clusters(block, exact, known, 2, 3.0, np.arange(3), False).tolist() == [0, 0, 0]
    assert known.tie[0].tolist() == [0.0, 333333.0, 333333.0]


def test_a_pivot_that_cannot_lead_is_not_compared() -> None:
    """Its last point is far from all others: no distances are needed to set it aside."""
    records: list[Record] = [((0, 0.0, 0.0), (1, 90.0, 0.0)), ((0, 0.0, 0.0), (1, 1.0, 0.0)), ((0, 0.0, 0.0),)]
    block, known = block_of(records, [0, 1, 2])
    label = block_clusters(block, Measure(False, 1.0, 9, 0.0, 0.0, 0), known, 2, 5.0, np.arange(3), False)
    assert label.tolist() == [-1, 1, 1]
    assert known.ready.tolist() == [0, 1, 0]


def test_trajectories_of_one_person_do_not_make_a_crowd() -> None:
    records: list[Record] = [((0, 0.0, 0.0),), ((0, 1.0, 0.0),), ((0, 90.0, 0.0),)]
    block, known = block_of(records, [0, 0, 1])
    label = block_clusters(block, Measure(False, 1.0, 9, 0.0, 0.0, 0), known, 2, 5.0, np.arange(3), False)
    assert label.tolist() == [-1, -1, -1]
    assert known.ready.tolist() == [0, 0, 0]
