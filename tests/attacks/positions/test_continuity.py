"""continuity against a slow restatement: integer ways tried one by one, and interpolation by hand."""

from __future__ import annotations

from dataclasses import replace
from math import hypot, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks import Continuity
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Boxes, Points


def run(truth, target, **parameters):
    attack = Continuity(**parameters)
    return attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine()).measured


def known_rows(truth, i):
    begin = int(truth.offsets[i])
    return [row for j, row in enumerate(truth.record(i)) if truth.known is None or truth.known[begin + j]]


def contains(box, t, x, y):
    return box[0] <= t <= box[1] and box[2] <= x <= box[3] and box[4] <= y <= box[5]


def has_way(places, speed):
    """Whether an integer way keeps the ranges [(t, low, high)], in order: every place is tried from every one before.

    Where all numbers are whole, a way exists exactly if one of whole numbers does.
    """
    here, now = None, 0
    for t, low, high in sorted(places):
        reach = set(range(int(low), int(high) + 1))
        if here is not None:
            reach = {x for x in reach if any(abs(x - before) <= speed * (t - now) for before in here)}
        here, now = reach, t
        if not reach:
            return False
    return True


def is_possible(known, boxes, speed):
    for t, x, y in known:
        if not any(contains(box, t, x, y) for box in boxes):
            return False
        for box in boxes:
            wait = max(box[0] - t, t - box[1], 0)
            away = hypot(max(box[2] - x, x - box[3], 0), max(box[4] - y, y - box[5], 0))
            if wait and away > speed * wait + 1e-5:
                return False
    first = has_way([(b[0], b[2], b[3]) for b in boxes] + [(t, x, x) for t, x, _ in known], speed)
    return first and has_way([(b[0], b[4], b[5]) for b in boxes] + [(t, y, y) for t, _, y in known], speed)


def on_cycles(edges, n):
    """What is left if everybody has an own edge: an edge of two who reach each other."""
    if any((i, i) not in edges for i in range(n)):
        return edges
    reach = {i: {i} for i in range(n)}
    for _ in range(n):
        for i, o in edges:
            for start in range(n):
                if i in reach[start]:
                    reach[start].add(o)
    return {(i, o) for i, o in edges if i in reach[o]}


@st.composite
def scenes(draw):
    """Whole numbers, boxes at single times around the truth of their own people, some of them shared."""
    n, times = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    number = st.integers(0, 8)
    truth = [[(2 * t, float(draw(number)), float(draw(number))) for t in range(times)] for _ in range(n)]
    boxes = []
    for way in truth:
        more = [draw(st.integers(0, 4)) for _ in way]
        boxes.append([(t, t, x - m, x + m, y - m, y + m) for (t, x, y), m in zip(way, more, strict=True)])
    if draw(st.booleans()):
        shared = draw(st.integers(0, times - 1))
        for way in boxes:
            way[shared] = (2 * shared, 2 * shared, 0.0, 8.0, 0.0, 8.0)
    owner = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    known = np.array([draw(st.booleans()) for _ in range(n * times)], bool)
    points = replace(Points.from_records(truth, owner=owner), known=known if draw(st.booleans()) else None)
    return points, Boxes.from_records(boxes, owner=owner)


@settings(deadline=None, max_examples=150)
@given(scenes(), st.integers(0, 6))
def test_candidates_are_those_with_a_way(made, speed):
    truth, target = made
    n = len(truth)
    edges = {(i, o) for i in range(n) for o in range(n)
             if is_possible(known_rows(truth, i), target.record(o), speed)}  # fmt: skip
    left = on_cycles(edges, n)
    owner = truth.owner.tolist()
    sets = [[owner[o] for i, o in sorted(left) if i == node] for node in range(n)]
    fewest = {p: min(len(set(s)) for s, who in zip(sets, owner, strict=True) if who == p) for p in owner}
    measured = run(truth, target, top_speed=speed, k=2)
    assert measured["min_candidate_people"] == min(fewest.values())
    assert measured["below_k_share"] == pytest.approx(sum(few < 2 for few in fewest.values()) / len(fewest))
    assert measured["below_k_share_trajectories"] == pytest.approx(sum(len(set(s)) < 2 for s in sets) / n)
    largest = max(max((s.count(p) / len(s) for p in s), default=0) for s in sets)
    assert measured["largest_share_of_one_person"] == pytest.approx(largest)


def pair(before, after, known=5.0, **more):
    """Two people in one box at time 1, and in cells before and after, on a line; both known at time 1."""
    box = (1, 1, 0.0, 10.0, 0.0, 1.0)
    boxes, truth = [], []
    for at, (start, end) in enumerate(zip(before, after, strict=True)):
        cells = [(t, t, x - 0.5, x + 0.5, 0.0, 1.0) for t, x in ((0, start), (2, end))]
        boxes.append([cells[0], box, cells[1]])
        truth.append([(0, start, 0.5), (1, known if at == 0 else 10.0 - known, 0.5), (2, end, 0.5)])
    points = Points.from_records(truth, **more)
    return replace(points, known=points.t == 1), Boxes.from_records(boxes, **more)


def test_interpolation_finds_who_is_between_the_cells() -> None:
    measured = run(*pair([1.0, 9.0], [1.0, 9.0], known=1.0), top_speed=100, k=2)
    assert measured["identity_mean"] == measured["identity_max_trajectories"] == 1.0
    assert measured["min_candidate_people"] == 2  # the speed rules out nobody
    assert measured["below_k_share"] == 0


def test_the_speed_limit_rules_out_who_is_too_far() -> None:
    measured = run(*pair([1.0, 9.0], [1.0, 9.0], known=1.0), top_speed=2, k=2)
    assert measured["min_candidate_people"] == 1
    assert measured["below_k_share"] == 1
    assert run(*pair([1.0, 9.0], [1.0, 9.0], known=1.0), top_speed=8, k=2)["min_candidate_people"] == 2


def test_two_who_are_equally_near_are_a_guess() -> None:
    measured = run(*pair([2.0, 2.0], [8.0, 8.0]), top_speed=100, k=2)
    assert measured["identity_max"] == measured["identity_max_trajectories"] == 0.5


def test_trajectories_count_too() -> None:
    """Nineteen of twenty equally near trajectories are one person's: a chance of 1/2 by people, 19/20 by trajectory."""
    truth, target = pair([2.0] * 20, [8.0] * 20, owner=[0] * 19 + [1])
    measured = run(truth, target, top_speed=100, k=2)
    assert measured["identity_max"] == 0.5
    assert measured["identity_max_trajectories"] == measured["largest_share_of_one_person"] == 0.95


def test_boxes_that_a_group_shares_are_looked_past() -> None:
    """A guard of shared boxes on both sides of the known time does not help: beyond it the cells still tell."""
    boxes, truth = [], []
    for x in (1.0, 9.0):
        shared = [(t, t, 0.0, 10.0, 0.0, 1.0) for t in (1, 2, 3)]
        boxes.append([(0, 0, x - 0.5, x + 0.5, 0.0, 1.0), *shared, (4, 4, x - 0.5, x + 0.5, 0.0, 1.0)])
        truth.append([(t, x, 0.5) for t in range(5)])
    points = Points.from_records(truth)
    points = replace(points, known=points.t == 2)
    assert run(points, Boxes.from_records(boxes), top_speed=100, k=2)["identity_max"] == 1.0
    cut = [way[1:4] for way in boxes]  # nothing but what is shared
    assert run(points, Boxes.from_records(cut), top_speed=100, k=2)["identity_max"] == 0.5


def test_auto_is_the_rounded_speed_of_the_data() -> None:
    measured = run(*pair([1.0, 9.0], [1.0, 9.0], known=4.0))
    assert measured["top_speed"] == 5.0  # 3 along an axis, times the square root of 2, is 4.24
    assert measured["usual_speed"] == 3.0


def test_seconds_are_those_of_the_clock() -> None:
    truth, target = pair([1.0, 9.0], [1.0, 9.0], known=1.0)
    micro = 1_000_000
    truth = replace(truth, t=truth.t * micro, time_format="utc")
    target = replace(target, t_min=target.t_min * micro, t_max=target.t_max * micro, time_format="utc")
    assert run(truth, target, top_speed=2, k=2)["min_candidate_people"] == 1
    assert run(truth, target, top_speed=8, k=2)["min_candidate_people"] == 2


def test_who_is_left_out_is_not_found() -> None:
    truth, target = pair([1.0, 9.0], [1.0, 9.0], known=1.0)
    target = target.where(np.arange(6) < 3)
    measured = run(truth, target, top_speed=100, k=2)
    assert measured["victims_published_share"] == 0.5
    assert measured["identity_mean"] == 0.5
    assert measured["identity_mean_if_published"] == 1.0


def test_nothing_is_published() -> None:
    truth, target = pair([1.0, 9.0], [1.0, 9.0])
    measured = run(truth, target.where(np.zeros(6, bool)), k=2)
    assert measured["identity_max"] == 0
    assert measured["min_candidate_people"] is None


def test_a_sample_where_too_many_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, target = pair([2.0] * 8, [8.0] * 8)
    monkeypatch.setattr("wayveil.attacks.positions.fitting.MOST_EDGES", 10)
    attack = Continuity(victims=3, top_speed=100, k=2)
    found = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    assert found.sampled
    assert found.victims == 3
    assert found.measured["min_candidate_people"] == 8


def test_a_speed_is_not_negative() -> None:
    with pytest.raises(ParameterError, match="top_speed"):
        Continuity(top_speed=-inf)
