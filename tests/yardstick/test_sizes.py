"""Sizes of what is published, in metres and minutes, for each kind of data."""

from __future__ import annotations

import numpy as np
import pytest

from wayveil.model import Boxes, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.steps import Bucket, Grid, Resample, Zones
from wayveil.yardstick.sizes import describe_sizes, interpolated_share, length_text, time_text


def test_boxes_are_told_by_their_median_sides_and_time() -> None:
    raw = Points.from_records([[(0, 0.0, 0.0)]] * 3, time_format="epoch")
    boxes = [(0, 60 * s, 0.0, 2400.0 * s, 0.0, 3200.0 * s) for s in (1, 1, 9)]
    made = Boxes.from_records([[box] for box in boxes], time_format="epoch")
    assert describe_sizes(raw, made, ()) == "median box 2.4 x 3.2 km and 1 min"
    small = Boxes.from_records([[(0, 0, 0.0, 400.0, 0.0, 3200.0)]], time_format="epoch")
    assert describe_sizes(raw, small, ()) == "median box 400 m x 3.2 km"


def test_points_are_told_by_how_far_they_were_moved() -> None:
    raw = Points.from_records([[(0, 0.0, 0.0), (600, 100.0, 0.0)]] * 2, time_format="epoch")
    made = Points.from_records([[(540, 0.0, 430.0), (1140, 100.0, 430.0)], []], time_format="epoch")
    assert describe_sizes(raw, made, ()) == "points moved by 430 m and 9 min (median)"
    # Of two trajectories made of one, each is compared with the one that it is of; a dummy with none.
    twice = Points.from_records([[(0, 0.0, 50.0)], [(0, 9.0, 9.0)]], time_format="epoch")
    assert describe_sizes(raw, twice, (), np.array([1, -1])) == "points moved by 50 m and 0 s (median)"


def test_visits_are_told_by_their_zones_and_times() -> None:
    raw = Points.from_records([[(3700, 120.0, -5.0)]] * 4, time_format="epoch")
    grid = Grid(cell=300, bucket="1h")
    assert describe_sizes(raw, grid.run(raw)[0], [grid]) == "median zone 300 x 300 m, times by 1 h"
    zones = Zones(cell=2500)
    assert describe_sizes(raw, zones.run(raw)[0], [zones]) == "median zone 2.5 x 2.5 km"
    named = Visits.from_records([[("a", 4000)]], time_format="epoch")
    bucket = Bucket(width="4h")
    assert describe_sizes(named, bucket.run(named)[0], [bucket]) == "places as they are, times by 4 h"
    assert describe_sizes(named, named, ()) == ""


def test_routes_and_stops_have_sizes_of_their_own() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b")])
    routes = Routes.from_records([["ab"]], network=network)
    assert describe_sizes(routes, routes, ()) == ""
    parents = [("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Cafe", "Food"), ("Park", "Place")]
    tree = Taxonomy.from_parents(parents)
    stops = Stops.from_records([["Food"]], taxonomy=tree)
    assert describe_sizes(stops, stops, ()) == "the median stop stands for 2 of 3 places"


def test_nothing_has_no_size() -> None:
    raw = Points.from_records([[(0, 0.0, 0.0)]])
    assert describe_sizes(raw, Points.from_records([[]]), ()) == ""


def test_what_nobody_recorded_is_counted() -> None:
    raw = Points.from_records([[(0, 0.0, 0.0), (60, 1.0, 0.0), (300, 2.0, 0.0)]], time_format="epoch")
    made = Resample(period="1min").run(raw)[0]
    recorded = {(0, t) for t in (0, 60, 300)}
    expected = 1 - sum((0, t) in recorded for t in made.t.tolist()) / made.n_rows
    assert interpolated_share(raw, made) == pytest.approx(expected)
    assert interpolated_share(raw, raw) == 0.0


@pytest.mark.parametrize(("metres", "text"), [(0.4, "0 m"), (999.0, "999 m"), (1000.0, "1.0 km"), (12_345.0, "12 km")])
def test_lengths(metres: float, text: str) -> None:
    assert length_text(metres) == text


@pytest.mark.parametrize(("seconds", "text"), [(59, "59 s"), (60, "1 min"), (3600, "1 h"), (100_000, "27.8 h")])
def test_durations(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
