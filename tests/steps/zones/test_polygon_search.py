"""Points in polygons against a brute-force count of crossings, and what becomes of every kind of data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points, Trips, Visits
from wayveil.model.places.zone_polygons import ZonePolygons
from wayveil.steps import Zones
from wayveil.steps.zones.polygon_search import find_zones

Ring = list[tuple[float, float]]


def crossings(ring: Ring, x: float, y: float) -> int:
    """Count the sides of a ring that a ray to the right crosses."""
    many = 0
    for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            many += 1
    return many


def polygons(shapes: dict[str, object]) -> ZonePolygons:
    return ZonePolygons(name=tuple(shapes), shape=tuple(shapely.to_wkb(shape) for shape in shapes.values()))


def box(x: float, y: float, side: float) -> Ring:
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]


@given(
    seed=st.integers(0, 10_000),
    at=st.lists(st.tuples(st.integers(0, 63), st.integers(0, 63)), min_size=1, max_size=60),
)
@settings(deadline=None, max_examples=150)
def test_the_zone_is_the_one_with_an_odd_number_of_crossings(seed: int, at: list[tuple[int, int]]) -> None:
    """Zones are squares of a grid, some with a hole, some in two parts, some missing; points lie on no border."""
    rng = np.random.default_rng(seed)
    squares = [box(16.0 * i, 16.0 * j, 16.0) for i in range(4) for j in range(4)]
    rng.shuffle(squares)  # type: ignore[arg-type]
    rings: dict[str, list[Ring]] = {}
    while len(squares) > rng.integers(0, 6):
        own = [squares.pop() for _ in range(min(len(squares), int(rng.integers(1, 3))))]
        hole = [box(own[0][0][0] + 4, own[0][0][1] + 4, float(rng.integers(3, 9)))] if rng.random() < 0.5 else []
        rings[f"z{len(rings)}"] = own + hole
    shapes = {}
    for name, own in rings.items():
        holes = [ring for ring in own if ring[1][0] - ring[0][0] < 16]
        outer = [ring for ring in own if ring not in holes]
        parts = [shapely.Polygon(ring, holes if i == 0 else []) for i, ring in enumerate(outer)]
        shapes[name] = shapely.MultiPolygon(parts) if len(parts) > 1 else parts[0]
    if not shapes:
        return
    x = np.array([a + 0.5 for a, _ in at])
    y = np.array([b + 0.25 for _, b in at])
    found = find_zones(polygons(shapes), x, y, None)
    for i in range(len(at)):
        holding = [n for n, own in enumerate(rings.values()) if sum(crossings(r, x[i], y[i]) for r in own) % 2]
        assert holding == ([] if found[i] < 0 else [found[i]])


TWO = {"b": shapely.box(0, 0, 10, 10), "a": shapely.box(10, 0, 20, 10)}


def test_a_border_belongs_to_the_id_that_comes_first_and_outside_is_none() -> None:
    assert find_zones(polygons(TWO), np.array([10.0, 5, 15, 30]), np.full(4, 5.0), None).tolist() == [1, 0, 1, -1]


def test_visits_trips_and_points_go_to_their_zones_and_others_are_counted() -> None:
    zones = polygons(TWO)
    visits = Visits.from_records([[("p", 1), ("q", 2), ("r", 3)], [("r", 1)]])
    visits = replace(visits, place_x=np.array([5.0, 15, 90]), place_y=np.full(3, 5.0))
    after, notes = Zones().run(visits, zones)
    assert [after.record(i) for i in range(2)] == [[("b", 1), ("a", 2)], []]
    assert notes == (
        "2 of 4 visits lie outside of every zone and were left out.",
        "2 places became 2 zones; some have visits of one person only.",
    )
    trips = Trips.from_ends([("p", 1, "q", 4), ("q", 2, "r", 9), ("r", 3, "r", 3)])
    at = {"p": 5.0, "q": 15.0, "r": 90.0}
    trips = replace(
        trips, place_x=np.array([at[name] for name in trips.place_names()]), place_y=np.full(len(trips.locations), 5.0)
    )
    moved, notes = Zones().run(trips, zones)
    assert isinstance(moved, Trips)
    assert [moved.record(i) for i in range(3)] == [[("from b", 1), ("to a", 4)], [("from a", 2)], []]
    assert notes[0] == "3 of 6 ends lie outside of every zone and were left out."
    points = Points.from_records([[(0, 5.0, 5.0), (7, 15.0, 5.0), (9, 99.0, 0.0)]])
    seen, _ = Zones().run(points, zones)
    assert type(seen) is Visits
    assert seen.record(0) == [("b", 0), ("a", 7)]
    with pytest.raises(InputError, match=r"2 of 4 visits lie outside of every zone; give zones that hold them"):
        Zones(outside="refuse").run(visits, zones)
    with pytest.raises(InputError, match="it is not known which zones"):
        Zones().run(visits)


def test_degrees_are_compared_with_degrees() -> None:
    frame = Frame.for_degrees(np.array([23.7, 23.8]), np.array([37.9, 38.0]), crs="EPSG:4326")
    x, y = frame.to_metres(np.array([23.75, 23.6]), np.array([37.95, 37.95]))
    data = Visits.from_records([[("p", 1), ("q", 2)]])
    data = replace(data, place_x=x, place_y=y, place_frame=frame)
    after, _ = Zones().run(data, polygons({"in": shapely.box(23.7, 37.9, 23.8, 38.0)}))
    assert after.record(0) == [("in", 1)]
    assert after.place_x is not None
    assert after.place_frame == frame
    lon, _ = frame.to_file(after.place_x, np.zeros(1))
    assert 23.7 < lon[0] < 23.8


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ({"cell": 100, "h3": 8}, "cell or h3, not both"),
        ({"people": 5}, "people goes with cell or h3"),
        ({"cell": 100, "levels": 3}, "levels and time go with people"),
        ({"cell": 100, "time": "1h"}, "levels and time go with people"),
        ({"h3": 8, "people": 5, "levels": 3, "time": "1h"}, "time goes with cell"),
        ({"h3": 2, "people": 5, "levels": 4}, "3 levels from 2 down to 0"),
        ({"h3": 8, "people": 5}, "needs levels"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given_: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Zones(**given_)  # type: ignore[arg-type]
