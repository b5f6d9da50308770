"""Visits and places per trip against counting."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from wayveil.metrics.trip_lengths import TripVisits
from wayveil.model import Visits


def visits(*records):
    """Each record is text such as "aba": places, one after the other."""
    return Visits.from_records([[(p, t) for t, p in enumerate(r)] for r in records])


def test_all_numbers_of_a_small_set():
    score = TripVisits().run(visits("aba", "a", "bcd", ""), visits("aa", "a"))
    assert (score.name, score.better, score.percent) == ("trip_visits", "lower", True)
    assert score.value == pytest.approx(2 / 3)
    assert score.measured == pytest.approx(
        {
            "trips_before": 3,
            "trips_after": 2,
            "average_visits_before": 7 / 3,
            "average_visits_after": 3 / 2,
            "visits_change": wasserstein_distance([3, 1, 3], [2, 1]),
            "average_places_before": 2,
            "average_places_after": 1,
            "places_change": wasserstein_distance([2, 1, 3], [1, 1]),
            "places_apart_share": 2 / 3,
        }
    )
    number, places = score.charts
    assert (number.title, number.labels, number.x_label) == ("Visits per trip", ("1", "2", "3"), "number of visits")
    assert number.series[0].values == pytest.approx((1 / 3, 0, 2 / 3))
    assert number.series[1].values == pytest.approx((1 / 2, 1 / 2, 0))
    assert places.title == "Different places per trip"
    assert places.series[1].values == (1, 0, 0)


records = st.lists(st.text("abc", max_size=6), max_size=6)


@settings(deadline=None, max_examples=100)
@given(records, records)
def test_against_counting(before, after):
    score = TripVisits().run(visits(*before), visits(*after))
    for of, apart, change in (
        (len, score.value, score.measured["visits_change"]),
        (lambda r: len(set(r)), score.measured["places_apart_share"], score.measured["places_change"]),
    ):
        sides = [[of(r) for r in side if r] for side in (before, after)]
        if not all(sides):
            assert apart is change is None
            continue
        up_to = [[sum(v <= w for v in side) / len(side) for w in range(7)] for side in sides]
        assert apart == pytest.approx(max(abs(a - b) for a, b in zip(*up_to, strict=True)))
        assert change == pytest.approx(wasserstein_distance(*sides))


def test_long_trips_share_the_last_bar_or_are_drawn_in_classes():
    few = visits(*["a"] * 30, "ab" * 8)
    (number, _) = TripVisits().run(few, few).charts
    assert (number.labels[0], number.labels[-1], len(number.labels)) == ("1", "≥ 12", 12)
    assert number.series[0].values[-1] == pytest.approx(1 / 31)
    many = visits("ab" * 20, "a")
    (number, _) = TripVisits().run(many, visits("a")).charts
    assert number.x_label == "number of visits"
    assert "-" in number.labels[0]


@pytest.mark.parametrize("nothing", [visits(), visits("", "")])
def test_nothing(nothing):
    score = TripVisits().run(visits("ab"), nothing)
    assert (score.value, score.measured["trips_after"], len(score.charts)) == (None, 0, 2)
    assert TripVisits().run(nothing, nothing).charts == ()
