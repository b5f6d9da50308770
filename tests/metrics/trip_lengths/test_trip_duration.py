"""Durations of trips that are small enough to measure by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from wayveil.errors import InputError
from wayveil.metrics.trip_lengths import TripDuration
from wayveil.model import Visits


def trips(*durations, start=5, **more):
    """One trip per duration, with a visit on the way; one of duration 0 has a single visit."""
    records = []
    for duration in durations:
        times = sorted({0, duration // 2, duration})
        records.append([("a", start + t) for t in times])
    return Visits.from_records(records, **more)


def run(before, after):
    return TripDuration().run(before, after)


def test_all_numbers_of_a_small_set():
    score = run(trips(10, 20, 30, 40), trips(10, 50, 0, 0))
    assert (score.name, score.better, score.percent) == ("trip_duration", "lower", True)
    assert score.value == 0.5
    assert score.measured == pytest.approx(
        {
            "trips_before": 4,
            "trips_after": 4,
            "average_duration_before": 25,
            "average_duration_after": 15,
            "duration_change": wasserstein_distance([10, 20, 30, 40], [10, 50, 0, 0]),
            "single_visit_share_before": 0,
            "single_visit_share_after": 0.5,
        }
    )
    (chart,) = score.charts
    assert chart.x_label == "duration in units of time"
    assert [sum(s.values) for s in chart.series] == [1, 1]


values = st.lists(st.integers(0, 20), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(values, values)
def test_the_distances_are_the_textbook_ones(before, after):
    score = run(trips(*before), trips(*after, start=70))
    up_to = [[sum(v <= w for v in side) / len(side) for w in before + after] for side in (before, after)]
    assert score.value == pytest.approx(max(abs(a - b) for a, b in zip(*up_to, strict=True)))
    assert score.measured["duration_change"] == pytest.approx(wasserstein_distance(before, after))


@pytest.mark.parametrize(("time_format", "seconds"), [("integer", 3e6), ("epoch", 3e6), ("utc", 3), ("local", 3)])
def test_durations_are_in_seconds_where_the_unit_is_known(time_format, seconds):
    data = trips(3_000_000, time_format=time_format)
    assert run(data, data).measured["average_duration_after"] == pytest.approx(seconds)


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing(records):
    nothing = Visits.from_records(records)
    score = run(trips(10), nothing)
    assert (score.value, score.measured["trips_after"], score.measured["single_visit_share_after"]) == (None, 0, None)
    assert run(nothing, nothing).charts == ()


def test_very_long_times_and_times_that_cannot_be_compared():
    long = Visits.from_records([[("a", -(2**62)), ("b", 2**62)]])
    assert run(long, long).measured["average_duration_before"] == 2.0**63
    with pytest.raises(InputError, match="trip_duration: the times"):
        run(trips(1, time_format="utc"), trips(1))
