"""Lengths of trips on roads, by hand and against the textbook."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from wayveil.metrics.trip_lengths import RouteLength
from wayveil.model import RoadNetwork, Routes

LENGTH = {"ab": 10.0, "bc": 20.0, "ca": 40.0}
NETWORK = RoadNetwork.from_roads([(name, *name) for name in LENGTH])
MEASURED = replace(NETWORK, length_m=np.array(list(LENGTH.values())))
OTHER = RoadNetwork.from_roads([("ca", "c", "a"), ("xy", "x", "y"), ("bc", "b", "c"), ("ab", "a", "b")])


def routes(*records, network=NETWORK):
    return Routes.from_records([r.split() for r in records], network=network)


def test_numbers_of_roads_where_no_length_is_known():
    score = RouteLength().run(routes("ab bc", "ab bc", "ab", ""), routes("ab", "ab"))
    assert (score.name, score.better, score.percent) == ("route_length", "lower", True)
    assert score.value == pytest.approx(2 / 3)
    assert "number of roads" in score.meaning
    assert score.measured == pytest.approx(
        {
            "trips_before": 3,
            "trips_after": 2,
            "average_roads_before": 5 / 3,
            "average_roads_after": 1,
            "roads_change": 2 / 3,
            "roads_apart_share": 2 / 3,
            "average_length_before_m": None,
            "average_length_after_m": None,
            "length_change_m": None,
            "lengths_apart_share": None,
        }
    )
    (chart,) = score.charts
    assert (chart.title, chart.labels) == ("Roads per trip", ("1", "2"))


def test_metres_by_the_network_of_the_original():
    score = RouteLength().run(
        routes("ab bc", "ca", network=MEASURED), routes("", "bc", "ca ab", "xy ab", network=OTHER)
    )
    assert score.value == 0.5
    assert "any length" in score.meaning
    assert score.measured["average_length_before_m"] == 35
    assert score.measured["average_length_after_m"] == 35  # 20 and 50; the length of xy is not known
    assert score.measured["length_change_m"] == 10
    assert score.measured["lengths_apart_share"] == 0.5
    assert (score.measured["trips_after"], score.measured["average_roads_after"]) == (3, pytest.approx(5 / 3))
    assert [c.title for c in score.charts] == ["Lengths of trips", "Roads per trip"]


records = st.lists(st.lists(st.sampled_from(sorted(LENGTH)), max_size=5), max_size=6)


@settings(deadline=None, max_examples=100)
@given(records, records)
def test_against_the_textbook(before, after):
    score = RouteLength().run(Routes.from_records(before, network=MEASURED), Routes.from_records(after, network=OTHER))
    for of, apart, change in (
        (len, score.measured["roads_apart_share"], score.measured["roads_change"]),
        (lambda r: sum(LENGTH[x] for x in r), score.value, score.measured["length_change_m"]),
    ):
        sides = [[of(r) for r in side if r] for side in (before, after)]
        if not all(sides):
            assert apart is change is None
            continue
        up_to = [[sum(v <= w for v in side) / len(side) for w in sides[0] + sides[1]] for side in sides]
        assert apart == pytest.approx(max(abs(a - b) for a, b in zip(*up_to, strict=True)))
        assert change == pytest.approx(wasserstein_distance(*sides))


def test_nothing_and_roads_without_end():
    nothing = routes("", "")
    assert RouteLength().run(routes("ab"), nothing).value is None
    assert RouteLength().run(nothing, nothing).charts == ()
    endless = replace(NETWORK, length_m=np.array([1.5e308] * 3))
    score = RouteLength().run(routes("ab bc", network=endless), routes("ab bc", network=endless))
    assert score.measured["average_length_before_m"] is None
    assert score.value == 0
