"""How coarse what is published is, as steps and names of zones say it."""

from __future__ import annotations

import numpy as np
import pytest

from wayveil.errors import UsageError
from wayveil.model import Frame, Points, RoadNetwork, Routes, Visits
from wayveil.steps import Bucket, Fold, Grid, Zones
from wayveil.yardstick.footprint import blur_times, make_space, trace


def square(side: float = 1000.0) -> Points:
    places = [(0.0, 0.0), (side, 0.0), (0.0, side), (side, side)]
    return Points.from_records([[(i, x, y)] for i, (x, y) in enumerate(places * 5)], time_format="epoch")


def test_a_cell_reaches_as_far_as_it_is_wide_and_a_bucket_as_long() -> None:
    raw = Points.from_records([[(3700, 120.0, -5.0)]], time_format="epoch")
    step = Grid(cell=100, bucket="1h")
    found = trace(step.run(raw)[0], make_space(raw), steps=[step])
    assert [side.tolist() for pair in (found.x, found.y, found.t) for side in pair] == [
        [100.0], [200.0], [-100.0], [0.0], [3600.0], [7200.0]]  # fmt: skip


def test_open_zones_end_where_people_end() -> None:
    raw = square()
    step = Zones(cell=100, people=5)
    made = step.run(raw)[0]
    assert any(".._" in name or "x.." in name for name in made.locations)
    found = trace(made, make_space(raw), steps=[step])
    assert np.isfinite(found.x).all()
    assert found.x[0].min() == 0.0
    assert found.x[1].max() == 1000.0
    for sides, at in ((found.x, raw.x), (found.y, raw.y)):
        assert (sides[0] <= at).all()
        assert (at <= sides[1]).all()


def test_zones_in_degrees_and_h3_hold_their_positions() -> None:
    pytest.importorskip("h3")
    rng = np.random.default_rng(2)
    lon = 8.5 + rng.random(60) / 20
    lat = 50 + rng.random(60) / 20
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    raw = Points.from_records([[(i, float(a), float(b))] for i, (a, b) in enumerate(zip(x, y, strict=True))],
                              time_format="epoch", frame=frame)  # fmt: skip
    space = make_space(raw)
    for step, share in ((Zones(cell=500), 1.0), (Zones(cell=500, people=4), 0.9), (Zones(h3=7), 0.7)):
        found = trace(step.run(raw)[0], space, steps=[step])
        inside = (found.x[0] <= raw.x + 2) & (raw.x - 2 <= found.x[1])
        inside &= (found.y[0] <= raw.y + 2) & (raw.y - 2 <= found.y[1])
        assert inside.mean() >= share  # an open zone ends with the middle 95 %, a hexagon is a rectangle
        assert (found.x[1] > found.x[0]).all()


def test_a_fold_says_what_its_dates_stand_for() -> None:
    assert blur_times([Bucket(width="15min"), Fold(to="week", part="4h", start=0)], "utc").dates == "week"
    assert blur_times([Grid(cell=10, bucket="1h"), Bucket(width="5min")], "epoch").width == 3600


def test_places_without_coordinates_are_numbers() -> None:
    raw = Visits.from_records([[("b", 1), ("a", 2)]])
    found = trace(raw, make_space(raw))
    assert found.x[0].tolist() == [1.0, 0.0]
    assert not found.metres


def test_published_routes_are_of_their_slice() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b")], places={"a": (0.0, 0.0), "b": (100.0, 0.0)})
    raw = Routes.from_records([["ab"]], network=network)
    found = trace(raw, make_space(raw))
    assert found.x[0].tolist() == [50.0]


def test_what_cannot_be_measured_is_said() -> None:
    raw = square()
    nowhere = Visits.from_records([[("a", 1)]] * len(raw))
    with pytest.raises(UsageError, match="not known where the published places are"):
        trace(nowhere, make_space(raw))
