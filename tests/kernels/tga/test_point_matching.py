"""Matching of points: the same as trying everything, and the search for the cheapest as computing all costs."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.tga.cost_bounds import Coarse, Rule, Sequences
from wayveil.kernels.tga.point_matching import Choice, match_points, nearest

PAIR = json.loads((Path(__file__).parents[2] / "golden" / "tga" / "pair.json").read_text())

Box = tuple[tuple[float, float], ...]

interval = st.tuples(st.integers(0, 9), st.integers(0, 3)).map(lambda p: (float(p[0]), float(p[0] + p[1])))
boxes = st.lists(st.tuples(interval, interval, interval), min_size=1, max_size=4)
weight = st.sampled_from([0.0, 0.5, 1.0, 3.0])
rules = st.tuples(st.floats(0.1, 9), weight, weight).map(lambda r: Rule(*r))


def array(sequence: list[Box]) -> Any:
    return np.array([[side for pair in box for side in pair] for box in sequence], np.float64).T.copy()


def union(a: Box, b: Box) -> Box:
    return tuple((min(p[0], q[0]), max(p[1], q[1])) for p, q in zip(a, b, strict=True))


def g(box: Box, rule: Rule) -> float:
    x, y, t = (math.log(1 + high - low) for low, high in box)
    return rule.space * (x + y) + rule.time * t


def exhaustive(one: list[Box], m_one: int, two: list[Box], m_two: int, rule: Rule) -> float:
    """The least cost over all matchings that keep the order."""
    best = math.inf
    for r in range(min(len(one), len(two)) + 1):
        for mine in itertools.combinations(range(len(one)), r):
            for its in itertools.combinations(range(len(two)), r):
                matched = sum(g(union(one[i], two[j]), rule) for i, j in zip(mine, its, strict=True))
                dropped = m_one * (len(one) - r) + m_two * (len(two) - r)
                best = min(best, (m_one + m_two) * matched + dropped * rule.drop)
    return best


@settings(deadline=None, max_examples=200)
@given(boxes, st.integers(1, 4), boxes, st.integers(1, 4), rules)
def test_matching_is_the_best_of_all(one: list[Box], m_one: int, two: list[Box], m_two: int, rule: Rule) -> None:
    cost, pairs = match_points(array(one), m_one, array(two), m_two, rule)
    assert cost == pytest.approx(exhaustive(one, m_one, two, m_two, rule), abs=1e-9)
    assert (np.diff(pairs, axis=1) > 0).all()
    matched = sum(g(union(one[i], two[j]), rule) for i, j in pairs.T.tolist())
    left = m_one * (len(one) - pairs.shape[1]) + m_two * (len(two) - pairs.shape[1])
    assert cost == pytest.approx((m_one + m_two) * matched + left * rule.drop, abs=1e-9)


def test_the_worked_pair() -> None:
    one, two = ([tuple((v, v) for v in p) for p in rows] for rows in PAIR["trajectories"].values())
    cost, pairs = match_points(array(one), 1, array(two), 1, Rule(math.log(162), 1.0, 1.0))
    assert pairs.T.tolist() == PAIR["matched"]
    assert cost == pytest.approx(math.log(2592), rel=1e-12) == PAIR["cost"]
    assert [list(map(list, union(one[i], two[j]))) for i, j in pairs.T.tolist()] == PAIR["boxes"]


def point(x: float) -> Box:
    return ((x, x), (0.0, 0.0), (0.0, 0.0))


def test_among_equal_matchings_match_comes_before_drops() -> None:
    free = Rule(0.0, 0.0, 0.0)
    assert match_points(array([point(0), point(1)]), 1, array([point(5)]), 1, free)[1].tolist() == [[1], [0]]
    assert match_points(array([point(5)]), 1, array([point(0), point(1)]), 1, free)[1].tolist() == [[0], [1]]
    dear = Rule(math.log(2.0), 1.0, 1.0)
    assert match_points(array([point(0)]), 1, array([point(1)]), 1, dear)[1].shape == (2, 1)


def test_a_drop_of_the_first_comes_before_one_of_the_second() -> None:
    # The far points must not be matched; which of the near ones is matched depends on what is dropped first.
    rule = Rule(1.0, 1.0, 1.0)
    one, two = array([point(0), point(0)]), array([point(90), point(0), point(90)])
    assert match_points(one, 1, two, 1, rule)[1].tolist() == [[0], [1]]
    assert match_points(two, 1, one, 1, rule)[1].tolist() == [[1], [1]]
    assert match_points(array([point(0)]), 1, array([point(90)]), 1, rule)[1].shape == (2, 0)


def sequences_of(records: list[list[Box]], size: list[int], owner: list[int]) -> Sequences:
    ends = np.cumsum([len(record) for record in records])
    flat = array([box for record in records for box in record])
    return Sequences(flat, ends - [len(r) for r in records], ends, np.array(size, np.int64), np.array(owner, np.int64))


def coarse_of(records: list[list[Box]], pieces: int) -> Coarse:
    """Pieces by their definition: as many boxes in each as possible; an empty piece has any box of the sequence."""
    low, high, count = np.zeros((3, pieces, len(records))), np.zeros((3, pieces, len(records))), []
    for i, record in enumerate(records):
        cuts = [p * len(record) // max(1, pieces) for p in range(pieces + 1)]
        count.append(np.diff(cuts))
        for p in range(pieces):
            part = record[cuts[p] : cuts[p + 1]] or [record[cuts[p]]]
            for d in range(3):
                low[d, p, i], high[d, p, i] = min(box[d][0] for box in part), max(box[d][1] for box in part)
    return Coarse(
        np.arange(len(records)), low, high, np.array(count, np.float64).reshape(len(records), pieces).T.copy()
    )


@settings(deadline=None, max_examples=150)
@given(
    st.data(), boxes, st.integers(1, 5), st.lists(boxes, min_size=1, max_size=12), rules, st.integers(0, 5),
    st.integers(1, 4),
)  # fmt: skip
def test_the_nearest_are_those_of_all_costs(
    data: Any, one: list[Box], m_one: int, records: list[list[Box]], rule: Rule, pieces: int, wanted: int
) -> None:
    n = len(records)
    numbers = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    owner, free = data.draw(numbers.map(lambda o: [v % n for v in o])), data.draw(numbers)
    banned = data.draw(st.lists(st.integers(0, n - 1), max_size=1))
    size = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    cost = [match_points(array(one), m_one, array(r), s, rule)[0] for r, s in zip(records, size, strict=True)]
    best: dict[int, tuple[float, int]] = {}
    for i in range(n):
        if free[i] > 0 and owner[i] not in banned:
            best[owner[i]] = min(best.get(owner[i], (math.inf, 0)), (cost[i], i))
    expected = sorted(best.values())[:wanted]
    choice = Choice(np.minimum(np.array(free, np.int64), 1), np.array(banned, np.int64), wanted)
    sequences = sequences_of(records, size, owner)
    found, costs = nearest(array(one), m_one, sequences, coarse_of(records, pieces), choice, rule)
    assert list(zip(costs.tolist(), found.tolist(), strict=True)) == expected


def test_long_sequences_in_more_than_one_tile() -> None:
    rng = np.random.default_rng(3)
    records = []
    for _ in range(600):
        way = np.cumsum(rng.normal(0, 30, (int(rng.integers(3, 24)), 2)), axis=0) + rng.uniform(0, 400, 2)
        records.append([((x, x), (y, y), (60.0 * i, 60.0 * i)) for i, (x, y) in enumerate(way.tolist())])
    sequences, rule = sequences_of(records, [1] * 600, list(range(600))), Rule(20.0, 1.0, 0.7)
    one = array([union(box, records[1][min(i, 2)]) for i, box in enumerate(records[0])])
    cost = np.array([match_points(one, 2, array(record), 1, rule)[0] for record in records])
    expected = np.argsort(cost, kind="stable")[:5]
    for pieces in (0, 1, 7, 16):
        choice = Choice(np.ones(600, np.int64), np.zeros(0, np.int64), 5)
        found, costs = nearest(one, 2, sequences, coarse_of(records, pieces), choice, rule)
        assert found.tolist() == expected.tolist()
        assert costs.tolist() == cost[expected].tolist()


def test_nobody_to_choose_from() -> None:
    records = [[point(0)], [point(1)]]
    sequences = sequences_of(records, [1, 1], [0, 0])
    choice = Choice(np.ones(2, np.int64), np.array([0]), 3)
    found, costs = nearest(array(records[0]), 1, sequences, coarse_of(records, 2), choice, Rule(1.0, 1.0, 1.0))
    assert found.tolist() == costs.tolist() == []
