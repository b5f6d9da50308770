"""Tables beside the data: what is known, where places are, whose places they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.io import ReadOptions, locate, mark_known, read_groups
from wayveil.io import read_points as read_points_asking
from wayveil.io import read_visits as read_visits_asking
from wayveil.io.read.loaded import Loaded


def read_points(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_points_asking(path, replace(options or ReadOptions(), owners="not-asked"))


def read_visits(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_visits_asking(path, replace(options or ReadOptions(), owners="not-asked"))


POINTS = "traj_id,t,x,y\n7,1,0,500\n7,2,1,0\n8,1,5,5\n8,3,6,5\n"
VISITS = "traj_id,t,location\na,1,home\na,2,work\nb,1,work\n"


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "side.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_rows_are_marked_by_trajectory_and_time(file) -> None:
    loaded = read_points(file(POINTS, "points.csv"))
    marked = mark_known(loaded, file("t,traj_id,more\n3,8,x\n1,7,x\n3,8,x\n"))
    assert marked.data.known.tolist() == [True, False, False, True]
    assert marked.notes[-1] == "2 positions of 4 were marked as known to an attacker."
    assert mark_known(loaded, file("traj_id,t\n")).data.known.tolist() == [False] * 4


def test_times_of_another_form_are_compared(file) -> None:
    points = "traj_id,t,x,y\na,2024-05-01T10:00:00Z,0,500\na,2024-05-01T11:00:00Z,0,0\n"
    loaded = read_points(file(points, "points.csv"))
    assert mark_known(loaded, file("traj_id,t\na,2024-05-01T13:00:00+02:00\n")).data.known.tolist() == [False, True]
    with pytest.raises(InputError, match="must be of the form 'utc'"):
        mark_known(loaded, file("traj_id,t\na,2024-05-01T11:00:00\n"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("traj_id,t\n7,3\n", "a trajectory and a time that the input does not have"),
        ("traj_id,t\n9,1\n", "a trajectory and a time that the input does not have"),
        ("traj_id,time\n7,1\n", "the columns must be 'traj_id', 't'; 't' was not found"),
        ("traj_id,t\n7,\n", "column 't' is empty"),
        ("traj_id,t\n,1\n", "column 'traj_id' is empty"),
        ("traj_id,t\n7,noon\n", "t"),
    ],
)
def test_what_is_known_must_be_in_the_data(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        mark_known(read_points(file(POINTS, "points.csv")), file(text))


def test_marks_go_with_points_and_places_with_visits(file) -> None:
    with pytest.raises(InputError, match="goes with points only"):
        mark_known(read_visits(file(VISITS, "visits.csv")), file("traj_id,t\n"))
    with pytest.raises(InputError, match="goes with visits only"):
        locate(read_points(file(POINTS, "points.csv")), file("location,x,y\n"))


def test_places_in_metres_and_in_degrees(file) -> None:
    loaded = read_visits(file(VISITS, "visits.csv"), ReadOptions())
    there = locate(loaded, file("location,x,y\nwork,3,4\nclub,900,900\nhome,1,2\n")).data
    assert there.locations == ("home", "work")
    assert (there.place_x.tolist(), there.place_y.tolist()) == ([1.0, 3.0], [2.0, 4.0])
    turned = locate(loaded, file("location,lon,lat\nhome,16,48\nwork,16,49\n")).data
    apart = np.hypot(np.diff(turned.place_x), np.diff(turned.place_y))[0]
    assert 110_000 < apart < 112_500


def test_places_that_could_be_degrees_are_refused_until_somebody_says_what_they_are(file) -> None:
    loaded = read_visits(file(VISITS, "visits.csv"), ReadOptions())
    places = file("location,x,y\nhome,16,48\nwork,16,49\n")
    with pytest.raises(InputError, match=r"all of them could be degrees.*every place.*--crs degrees.*--crs planar"):
        locate(loaded, places)
    degrees = locate(loaded, places, crs="degrees").data
    assert degrees.place_frame.degrees
    assert 110_000 < abs(np.diff(degrees.place_y)[0]) < 112_500
    assert locate(loaded, places, crs="planar").data.place_y.tolist() == [48.0, 49.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("location,x,y\nhome,1,200\n", "1 location of the input was not found"),
        ("location,x,y\nhome,1,2\nhome,1,2\nwork,1,1\n", "a location that is named twice"),
        ("location,x,y\nhome,1,nan\nwork,1,1\n", "column 'y' is not a finite number"),
        ("location,x,y\nhome,1,\nwork,1,1\n", "column 'y' is empty"),
        ("location,lon,lat\nhome,1,91\nwork,1,1\n", "not a longitude and a latitude"),
        ("location,x\nhome,1\n", "'y' was not found"),
    ],
)
def test_places_that_cannot_be_used(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        locate(read_visits(file(VISITS, "visits.csv")), file(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("location,adversary\n", "there are no rows"),
        ("location,who\na,b\n", "'adversary' was not found"),
        ("location,adversary\na,\n", "column 'adversary' is empty"),
    ],
)
def test_groups_that_cannot_be_used(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_groups(file(text))
