"""The distance of true visits to the line through the published ones."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.metrics.points.mean_deviation import Deviation
from wayveil.model import Visits

WHERE = {"a": (0.0, 0.0), "b": (5.0, 3.0), "c": (10.0, 0.0), "d": (10.0, 4.0), "e": (0.0, -7.0)}


def visits(records: Any, placed: bool = True) -> Visits:
    data = Visits.from_records([[(place, 10 * t) for t, place in enumerate(r)] for r in records])
    x, y = (np.array([WHERE[name][i] for name in data.locations]) for i in range(2))
    return replace(data, place_x=x, place_y=y) if placed else data


def to_segment(p: Any, a: Any, b: Any) -> float:
    """By golden-section search on the segment: no formula in common with the kernel."""
    low, high = 0.0, 1.0

    def far(s: float) -> float:
        return math.hypot(a[0] + s * (b[0] - a[0]) - p[0], a[1] + s * (b[1] - a[1]) - p[1])

    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if far(left) < far(right) else (left, high)
    return far((low + high) / 2)


def oracle(records: list[list[str]], kept: list[list[bool]]) -> float | None:
    used = {place for record in records for place in record}
    if not used:
        return None
    spans = [max(WHERE[p][i] for p in used) - min(WHERE[p][i] for p in used) for i in range(2)]
    diameter, found = math.hypot(*spans), []
    for record, keep in zip(records, kept, strict=True):
        if not record:
            continue
        left = [i for i, k in enumerate(keep) if k]
        distances = []
        for i, place in enumerate(record):
            before, after = [j for j in left if j <= i], [j for j in left if j >= i]
            if not left:
                distances.append(diameter)
            else:
                a, b = (before or after)[-1 if before else 0], (after or before)[0 if after else -1]
                distances.append(to_segment(WHERE[place], WHERE[record[a]], WHERE[record[b]]))
        found.append(sum(distances) / len(distances))
    return sum(found) / len(found)


def test_the_distance_to_the_segment_to_the_ends_and_to_nothing() -> None:
    data = visits([["a", "b", "c"], ["a", "b", "c", "d"], ["a", "e"]])
    after = data.where(np.array([1, 0, 1, 0, 0, 1, 0, 0, 0], bool))
    score = Deviation().run(data, after)
    second = (10 + math.hypot(5, 3) + 0 + 4) / 4
    diameter = math.hypot(10, 11)
    assert score.value == pytest.approx((1.0 + second + diameter) / 3)
    assert score.measured == {
        "visits": 9,
        "visits_suppressed": 6,
        "suppressed_share": pytest.approx(6 / 9),
        "trajectories_without_visits": 1,
        "visits_not_original": 0,
        "places_with_coordinates": 5,
        "largest_deviation_m": pytest.approx(diameter),
        "diameter_m": pytest.approx(diameter),
    }
    assert score.charts[0].series[0].name == "trajectories"


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=4), st.data())
def test_it_equals_the_oracle(records: list[list[str]], draw: Any) -> None:
    kept = [draw.draw(st.lists(st.booleans(), min_size=len(r), max_size=len(r))) for r in records]
    data = visits(records)
    after = data.where(np.array([k for row in kept for k in row], bool))
    expected, value = oracle(records, kept), Deviation().run(data, after).value
    assert value == (None if expected is None else pytest.approx(expected, abs=1e-6))


def test_visits_are_found_again_by_their_order_where_times_are_replaced() -> None:
    data = replace(visits([["a", "b", "c", "a"]]), time_format="epoch")
    after = data.where(np.array([True, False, True, True]))
    after = replace(after, t=np.array([1, 2, 3]), time_format="integer")
    score = Deviation().run(data, after)
    assert score.value == pytest.approx(3 / 4)
    assert score.measured["visits_suppressed"] == 1
    # Times of the same form that are positions and not times: 1, 2, 3 instead of 0, 10, 20, 30.
    again = Deviation().run(visits([["a", "b", "c", "a"]]), replace(after, time_format="integer"))
    assert again.value == pytest.approx(3 / 4)


def test_times_say_which_of_two_visits_is_left() -> None:
    data = visits([["a", "b", "a", "d"]])
    assert Deviation().run(data, data.where(np.array([False, False, True, True]))).value == pytest.approx(
        (0 + math.hypot(5, 3)) / 4
    )
    first = Deviation().run(data, data.where(np.array([True, False, False, True]))).value
    assert first == pytest.approx((to_segment(WHERE["b"], WHERE["a"], WHERE["d"])) / 4)


def test_nothing_lost_is_no_deviation() -> None:
    data = visits([["a", "b"], []])
    assert Deviation().run(data, data).value == 0.0


def test_without_coordinates_only_the_share_is_told() -> None:
    data = visits([["a", "b"]], placed=False)
    score = Deviation().run(data, data.where(np.array([True, False])))
    assert score.value is None
    assert score.measured["suppressed_share"] == 0.5
    assert score.measured["places_with_coordinates"] == 0
    assert score.charts == ()


def test_visits_that_were_never_made_are_counted() -> None:
    score = Deviation().run(visits([["a", "b"]]), visits([["a", "c"]]))
    assert score.measured["visits_not_original"] == 1
    assert score.measured["visits_suppressed"] == 1


def test_data_without_visits() -> None:
    for data in (Visits.from_records([]), visits([[], []])):
        score = Deviation().run(data, data)
        assert score.value is None
        assert score.measured["suppressed_share"] is None


def test_huge_coordinates() -> None:
    data = visits([["a", "b", "c"]])
    assert data.place_x is not None
    assert data.place_y is not None
    far = replace(data, place_x=1e12 * data.place_x, place_y=1e12 * data.place_y)
    assert Deviation().run(far, far.where(np.array([True, False, True]))).value == pytest.approx(1e12)
    farther = replace(data, place_x=1e200 * data.place_x, place_y=1e200 * data.place_y)
    assert Deviation().run(farther, farther.where(np.array([True, False, True]))).value is None


def test_both_must_have_the_same_trajectories() -> None:
    with pytest.raises(InputError, match="deviation: the original has 2 trajectories and the published data 1"):
        Deviation().run(visits([["a"], ["b"]]), visits([["a"]]))
