"""Degrees to metres and back: no distance is understated, and nothing is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from wayveil.errors import UsageError
from wayveil.model import Frame

GEOD = Geod(ellps="WGS84")
LON, LAT = st.floats(-180, 180), st.floats(-89, 89)


@settings(deadline=None, max_examples=300)
@given(LON, LAT, st.floats(-3, 3), st.floats(-3, 3))
def test_no_distance_is_understated(lon: float, lat: float, east: float, north: float) -> None:
    lons, lats = np.array([lon, lon + east]), np.clip([lat, lat + north], -90, 90)
    lons = (lons + 180) % 360 - 180
    frame = Frame.for_degrees(lons, lats)
    x, y = frame.to_metres(lons, lats)
    true = GEOD.inv(lons[0], lats[0], lons[1], lats[1])[2]
    planar = float(np.hypot(x[1] - x[0], y[1] - y[0]))
    assert planar >= true * (1 - 1e-9) - 1e-6
    assert planar <= (true + 1e-3) * (1 + frame.overstatement) * 1.02 or frame.overstatement > 1


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.floats(170, 190), st.floats(-60, 60)), min_size=1, max_size=8))
def test_there_and_back_across_the_antimeridian(places: list[tuple[float, float]]) -> None:
    lon = (np.array([place[0] for place in places]) + 180) % 360 - 180
    lat = np.array([place[1] for place in places])
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    back_lon, back_lat = frame.to_file(x, y)
    assert np.abs((back_lon - lon + 180) % 360 - 180).max() < 1e-11
    assert np.abs(back_lat - lat).max() < 1e-11
    assert np.ptp(x) <= 21 * 111_400
    assert ((back_lon >= -180) & (back_lon <= 180)).all()


def test_the_scales_are_those_of_the_ellipsoid() -> None:
    # a degree of longitude: 111,319.49 m at the equator, 55,800 m at 60 degrees; of latitude: 110,574 m to 111,694 m
    equator = Frame.for_degrees(np.array([0.0, 1.0]), np.array([-0.05, 0.05]))
    assert equator.x_scale == pytest.approx(111_319.49, abs=0.01)
    assert equator.y_scale == pytest.approx(110_574.4, abs=0.5)
    north = Frame.for_degrees(np.array([20.0, 21.0]), np.array([60.0, 61.0]))
    assert north.x_scale == pytest.approx(55_800, abs=1)
    assert north.y_scale == pytest.approx(111_431, abs=15)
    south = Frame.for_degrees(np.array([20.0, 21.0]), np.array([-61.0, -60.0]))
    assert (south.x_scale, south.y_scale) == (north.x_scale, north.y_scale)
    assert north.overstatement == pytest.approx(np.cos(np.radians(60)) / np.cos(np.radians(61)) - 1, rel=0.01)
    both = Frame.for_degrees(np.array([20.0, 21.0]), np.array([-60.0, 10.0]))
    assert both.x_scale == equator.x_scale


def test_the_middle_says_little_of_the_data() -> None:
    frame = Frame.for_degrees(np.array([10.123456, 10.987654]), np.array([50.123456, 50.987654]))
    for value in (frame.lon_0, frame.lat_0):
        assert round(value * 20) == pytest.approx(value * 20, abs=1e-9)
    assert frame == Frame.for_degrees(np.array([10.11, 10.98]), np.array([50.11, 50.99]))


def test_planar_coordinates_stay_as_they_are() -> None:
    frame, x = Frame(crs="EPSG:2100"), np.array([1.5])
    assert frame.to_metres(x, x)[0] is x
    assert frame.to_file(x, x)[1] is x
    assert frame.to_json() == {"crs": "EPSG:2100", "degrees": False}
    assert Frame.from_json(frame.to_json()) == frame
    assert Frame.for_degrees(np.zeros(0), np.zeros(0)).degrees


@pytest.mark.parametrize(
    "found",
    [
        None, [], "x", {"crs": 1}, {"degrees": "yes"}, {"degrees": True, "x_scale": 0}, {"y_scale": -1},
        {"lon_0": float("nan")}, {"lat_0": float("inf")}, {"x_scale": "wide"}, {"other": 1},
    ],
)  # fmt: skip
def test_a_frame_that_was_not_written_here(found: object) -> None:
    with pytest.raises(UsageError, match="frame of coordinates"):
        Frame.from_json(found)
