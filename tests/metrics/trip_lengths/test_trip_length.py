"""Lengths and durations of trips that are small enough to measure by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from wayveil.errors import InputError
from wayveil.metrics.trip_lengths import TripLength
from wayveil.model import Boxes, Frame, Points


def ways(*lengths, **more):
    """One trip per length: straight east from where the last one ended, a unit of time per ten metres."""
    start, records = 0.0, []
    for length in lengths:
        records.append([(0, start, 0.0), (max(1, round(length / 10)), start + length, 0.0)])
        start += length
    return Points.from_records(records, **more)


def run(before, after):
    return TripLength().run(before, after)


def test_all_numbers_of_a_small_set():
    score = run(ways(10, 20, 30, 40), ways(10, 50))
    # Shares of trips up to 10, 20, 30, 40 and 50: 1/4 1/2 3/4 1 1 against 1/2 1/2 1/2 1/2 1.
    assert score.value == 0.5
    assert (score.name, score.better, score.percent) == ("trip_length", "lower", True)
    assert score.measured == pytest.approx(
        {
            "trips_before": 4,
            "trips_after": 2,
            "average_length_before_m": 25,
            "average_length_after_m": 30,
            "length_change_m": 10 * (1 / 4 + 0 + 1 / 4 + 1 / 2),
            "average_duration_before": 2.5,
            "average_duration_after": 3,
            "duration_change": 1 / 4 + 0 + 1 / 4 + 1 / 2,
            "durations_apart_share": 0.5,
        }
    )


values = st.lists(st.integers(1, 20), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(values, values)
def test_the_distances_are_the_textbook_ones(before, after):
    score = run(ways(*before), ways(*after))
    up_to = [[sum(v <= w for v in side) / len(side) for w in before + after] for side in (before, after)]
    assert score.value == pytest.approx(max(abs(a - b) for a, b in zip(*up_to, strict=True)))
    assert score.measured["length_change_m"] == pytest.approx(wasserstein_distance(before, after))


def test_the_length_is_that_of_the_whole_path():
    bent = Points.from_records([[(0, 0.0, 0.0), (1, 3.0, 4.0), (2, 3.0, 0.0)], [(5, 900.0, 900.0)]])
    assert run(bent, bent).measured["average_length_before_m"] == pytest.approx(9 / 2)
    assert run(bent, bent).value == 0


def test_boxes_stand_for_their_centres():
    after = Boxes.from_records([[(0, 2, 0.0, 2.0, 0.0, 2.0), (7, 9, 3.0, 5.0, 4.0, 6.0)], []])
    score = run(ways(10), after)
    assert score.measured["trips_after"] == 1
    assert score.measured["average_length_after_m"] == 5
    assert score.measured["average_duration_after"] == 7


@pytest.mark.parametrize(("time_format", "seconds"), [("integer", 3e6), ("epoch", 3e6), ("utc", 3), ("local", 3)])
def test_durations_are_in_seconds_where_the_unit_is_known(time_format, seconds):
    data = Points.from_records([[(0, 0.0, 0.0), (3_000_000, 0.0, 0.0)]], time_format=time_format)
    assert run(data, data).measured["average_duration_before"] == pytest.approx(seconds)


def test_both_distributions_are_drawn():
    lengths, times = run(ways(10, 20), ways(10)).charts
    assert lengths.x_label == "length in m"
    assert times.x_label == "duration in units of time"
    assert [s.name for s in lengths.series] == [s.name for s in times.series] == ["original", "published"]
    assert sum(lengths.series[0].values) == sum(lengths.series[1].values) == 1
    assert lengths.series[0].values != lengths.series[1].values


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing_published(records):
    score = run(ways(10, 20), Points.from_records(records))
    assert score.value is None
    assert score.measured["trips_after"] == 0
    assert score.measured["average_length_after_m"] is None
    assert len(score.charts) == 2
    nothing = Points.from_records(records)
    assert run(nothing, nothing).charts == ()


def test_one_point_is_a_trip_of_no_length_and_all_equal_points_too():
    data = Points.from_records([[(0, 5.0, 5.0)], [(0, 5.0, 5.0), (9, 5.0, 5.0)], []])
    score = run(data, data)
    assert score.value == 0
    assert score.measured["trips_before"] == 2
    assert score.measured["average_length_before_m"] == 0


def test_huge_coordinates():
    far = Points.from_records([[(0, -1e12, 0.0), (1, 1e12, 0.0)]])
    assert run(far, far).measured["average_length_before_m"] == 2e12
    beyond = Points.from_records([[(0, -1e308, 0.0), (1, 1e308, 0.0)]])
    assert run(beyond, beyond).measured["average_length_before_m"] is None


def test_data_that_cannot_be_compared():
    with pytest.raises(InputError, match="different frames"):
        run(ways(10), ways(10, frame=Frame(crs="EPSG:2100")))
