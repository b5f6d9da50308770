"""Coordinates through the file and back: equal stays equal, boxes keep what they contain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.io.publish.canonical import DECIMALS, SLACK_DEG, boxes_to_file, boxes_to_metres, points_to_file
from wayveil.io.publish.layouts import as_published
from wayveil.model import Boxes, Frame, Points, Visits

PLANAR = Frame(crs="EPSG:2100")


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    middle = draw(st.floats(-180, 180) | st.sampled_from([0.0, 179.9, -180.0, 1e-3]))
    width = draw(st.sampled_from([0.01, 0.5, 20.0, 120.0]))
    lat = draw(st.floats(-89, 89) | st.sampled_from([0.0, 48.2]))
    lon = (middle + np.array([-width, width]) + 180) % 360 - 180
    return Frame.for_degrees(lon, np.array([lat, min(lat + 0.5, 90)]))


@st.composite
def places(draw: st.DrawFn) -> tuple[Frame, np.ndarray, np.ndarray]:
    """Metres inside the range in which a frame is used, mostly where rounding is worst."""
    frame = draw(frames())
    share = st.floats(-0.99, 0.99) | st.sampled_from([0.0, 1e-12, -1e-9, 0.5])
    east = draw(st.lists(share, min_size=2, max_size=8))
    north = draw(st.lists(share, min_size=len(east), max_size=len(east)))
    lat = np.clip(frame.lat_0 + np.array(north) * 5, -89.999, 89.999)
    return frame, np.array(east) * 180 * frame.x_scale, (lat - frame.lat_0) * frame.y_scale


def box(frame: Frame, x: np.ndarray, y: np.ndarray) -> Boxes:
    sides = (float(x.min()), float(x.max()), float(y.min()), float(y.max()))
    return Boxes.from_records([[(0, 0, *sides)], [(0, 0, *sides)]], frame=frame)


@given(places())
@settings(deadline=None, max_examples=400)
def test_boxes_still_contain_what_they_contained(drawn: tuple[Frame, np.ndarray, np.ndarray]) -> None:
    frame, x, y = drawn
    after = as_published(box(frame, x, y))
    points = Points.from_records([[(i, a, b) for i, (a, b) in enumerate(zip(x, y, strict=True))]], frame=frame)
    through = frame.to_metres(*points_to_file(points))
    for some_x, some_y in ((x, y), through):
        assert (after.x_min[0] <= some_x + 2e-7).all()
        assert (some_x <= after.x_max[0] + 2e-7).all()
        assert (after.y_min[0] <= some_y + 2e-7).all()
        assert (some_y <= after.y_max[0] + 2e-7).all()
    for name, values in (("x_min", x.min()), ("x_max", x.max()), ("y_min", y.min()), ("y_max", y.max())):
        side = getattr(after, name)
        assert side[0] == side[1]
        assert abs(side[0] - values) < 2.5e-4


@given(places())
@settings(deadline=None, max_examples=200)
def test_points_come_back_to_a_tenth_of_a_millimetre(drawn: tuple[Frame, np.ndarray, np.ndarray]) -> None:
    frame, x, y = drawn
    data = Points.from_records([[(i, a, b) for i, (a, b) in enumerate(zip(x, y, strict=True))]] * 2, frame=frame)
    after = as_published(data)
    assert np.abs(after.x - data.x).max() < 1e-4
    assert np.abs(after.y - data.y).max() < 1e-4
    half = data.n_rows // 2
    assert after.x[:half].tobytes() == after.x[half:].tobytes()
    assert after.y[:half].tobytes() == after.y[half:].tobytes()


@given(places())
@settings(deadline=None, max_examples=100)
def test_degrees_are_in_range(drawn: tuple[Frame, np.ndarray, np.ndarray]) -> None:
    frame, x, y = drawn
    sides = boxes_to_file(box(frame, x, y))
    assert sides["x_min"][0] <= sides["x_max"][0]
    assert (np.abs(sides["x_min"]) <= 180 + SLACK_DEG).all()
    assert (sides["x_max"] - sides["x_min"] <= 360 + SLACK_DEG).all()
    for side in sides.values():
        assert [round(value, DECIMALS) for value in side.tolist()] == side.tolist()


def test_boxes_beyond_the_ends_of_the_earth_are_cut() -> None:
    frame = Frame.for_degrees(np.array([10.0, 10.5]), np.array([89.0, 90.0]))
    far = Boxes.from_records([[(0, 0, -1e12, 1e12, -1e12, 1e12)]], frame=frame)
    sides = boxes_to_file(far)
    np.testing.assert_allclose(
        [sides[name][0] for name in ("x_min", "x_max", "y_min", "y_max")],
        [frame.lon_0 - 180, frame.lon_0 + 180, -90, 90],
        atol=2 * SLACK_DEG,
    )
    pole = frame.to_metres(np.array([10.0]), np.array([90.0]))
    at_pole = as_published(box(frame, *pole))
    assert at_pole.y_max[0] >= pole[1][0] - 2e-7
    assert boxes_to_file(at_pole)["y_max"][0] <= 90 + SLACK_DEG


def test_boxes_across_the_antimeridian_are_not_wrapped() -> None:
    lon, lat = np.array([179.5, -179.5]), np.array([-17.0, -16.5])
    frame = Frame.for_degrees(lon, lat)
    sides = boxes_to_file(box(frame, *frame.to_metres(lon, lat)))
    assert sides["x_max"][0] - sides["x_min"][0] == pytest.approx(1, abs=1e-9)
    assert sides["x_min"][0] % 360 == pytest.approx(179.5, abs=1e-9)
    assert sides["x_max"][0] % 360 == pytest.approx(180.5, abs=1e-9)


def test_degrees_of_a_file_do_not_depend_on_the_middle_of_the_frame() -> None:
    """Frames that are wide because of somebody far away write the same numbers, on the other side of the earth too."""
    lon, lat = np.array([139.7312345, 139.9, 141.25]), np.array([35.6, 35.6754321, 36.0])
    alone = Frame.for_degrees(lon, lat)
    written = []
    for frame in (alone, Frame.for_degrees(np.append(lon, -118.2), np.append(lat, 69.6))):
        x, y = frame.to_metres(lon, lat)
        points = Points.from_records([[(i, a, b) for i, (a, b) in enumerate(zip(x, y, strict=True))]], frame=frame)
        sides = boxes_to_file(box(frame, x, y))
        written.append(([c.tolist() for c in points_to_file(points)], {k: v.tolist() for k, v in sides.items()}))
    assert written[0] == written[1]
    assert written[0][0] == [lon.tolist(), lat.tolist()]
    assert written[0][1]["x_min"] == [139.7312345] * 2


def test_planar_coordinates_stay_as_they_are() -> None:
    regions = Boxes.from_records([[(0, 1, -0.0, 0.2, -1e12, 5.5)]], frame=PLANAR)
    assert str(as_published(regions).record(0)) == "[(0, 1, 0.0, 0.2, -1000000000000.0, 5.5)]"
    assert boxes_to_metres(PLANAR, boxes_to_file(regions))["y_min"][0] == -1e12
    odd = Frame(lon_0=5.0, x_scale=2.0)  # a projection that is not in use
    assert boxes_to_metres(odd, {"x_min": np.array([1.0])})["x_min"].tolist() == [1.0]
    points = Points.from_records([[(0, 0.1, -0.0)]])
    assert str(as_published(points).record(0)) == "[(0, 0.1, 0.0)]"  # a sign of nothing tells something
    visits = Visits.from_records([[("a", 1)]])
    assert as_published(visits) is visits


@pytest.mark.parametrize("degrees", [False, True])
def test_nothing_at_all(degrees: bool) -> None:
    frame = Frame.for_degrees(np.zeros(0), np.zeros(0)) if degrees else PLANAR
    assert as_published(Boxes.from_records([[]], frame=frame)).n_rows == 0
    assert as_published(Points.from_records([[]], frame=frame)).n_rows == 0
