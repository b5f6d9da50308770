"""Tables with one row per trip: as publishers ship them, and as Wayveil writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.io import ReadOptions, guess_kind, read_published, read_trips, write_published, write_trips
from wayveil.model import Frame, Trips

EACH = ReadOptions(owners="each-trajectory")


def write(folder: Path, *lines: str) -> Path:
    path = folder / "trips.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


HEADERS = {
    "ours": "traj_id,user_id,t_start,origin,t_end,destination",
    "citibike": "ride_id,user_id,started_at,start_station_name,ended_at,end_station_name",
    "older": "Trip Id,user_id,Start Time,Start Station Name,Stop Time,End Station Name",
    "taxi": "trip,user_id,tpep_pickup_datetime,PULocationID,tpep_dropoff_datetime,DOLocationID",
    "short": "n,user_id,Stime,from,Etime,to",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_usual_names(header: str, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        header,
        "r1,ann,2024-05-01 08:00:00,Park,2024-05-01 08:09:00,Quay",
        "r2,ann,2024-05-01 09:00:00,Quay,,",
    )
    assert guess_kind(path) == "trips"
    loaded = read_trips(path)
    data: Any = loaded.data
    start, end = 1714550400 * 10**6, 1714550940 * 10**6
    assert [data.record(0), data.record(1)] == [
        [("from Park", start), ("to Quay", end)],
        [("from Quay", start + 3600 * 10**6)],
    ]
    assert (data.time_format, data.owners, data.n_owners, len(data)) == ("local", "given", 1, 2)
    assert any(note.startswith("Taken by their usual names: ") for note in loaded.notes) == (header != HEADERS["ours"])


def test_copies_of_places_and_times_are_no_attributes(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "Trip Duration,Start Time,Stop Time,Start Station ID,Start Station Name,Start Station Latitude,"
        "Start Station Longitude,End Station ID,End Station Name,End Station Latitude,End Station Longitude,"
        "Bike ID,t,sex",
        "362,2016-01-01 00:02:52,2016-01-01 00:08:54,1,Grove,40.72,-74.04,2,Brunswick,40.73,-74.05,24647,5,f",
    )
    loaded = read_trips(path, ReadOptions(columns={"user_id": "Bike ID"}))
    data: Any = loaded.data
    assert list(data.attributes) == ["sex"]
    where = data.positions()
    assert where is not None
    assert np.hypot(*(np.diff(axis)[0] for axis in where)) == pytest.approx(1396, rel=0.01)


def test_places_without_names_are_called_by_their_coordinates(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "user_id,started_at,ended_at,start_lng,start_lat,end_lng,end_lat",
        "ann,1,2,16.1,48.2,16.2,48.2",
        "bob,1,2,16.1,48.2,,",
    )
    assert guess_kind(path) == "trips"
    data: Any = read_trips(path).data
    assert data.record(0) == [("from 16.1 48.2", 1), ("to 16.2 48.2", 2)]
    assert data.record(1) == [("from 16.1 48.2", 1)]
    assert data.place_x is not None


def test_only_the_end_says_that_it_is_one(tmp_path: Path) -> None:
    path = write(tmp_path, "VehicleNum,Stime,Lng,Lat,Etime,ELng,ELat", "7,1,114.1,22.5,2,114.2,22.6")
    assert guess_kind(path) == "trips"
    data: Any = read_trips(path, ReadOptions(columns={"user_id": "VehicleNum"})).data
    assert data.record(0) == [("from 114.1 22.5", 1), ("to 114.2 22.6", 2)]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("origin,destination,t_start,t_end", "a,b,2,1"), "a trip ends before it begins in 1 row, at line 2"),
        (("origin,destination,t_start", "a,b,2"), "the column is missing: t_end"),
        (("origin,destination,t_start,t_end", "a,b,1,"), "column 't_end' holds no times"),
        (("origin,destination,t_start,t_end", "a,b,1,x"), "neither a whole number nor an ISO 8601 time"),
        (("origin,destination,t_start,t_end", "a,b,1,2024-05-01"), "are written in different ways"),
        (("traj_id,origin,destination,t_start,t_end", "i,a,b,1,2", "i,b,a,3,4"), "1 row was not the first with its"),
        (("t_start,t_end,origin_x,origin_y,destination_x,destination_y", "1,2,3,4,5,6"), "say --crs EPSG:4326 or"),
        (("t_start,t_end,start_lon,start_lat,end_lon,end_lat", "1,2,300,4,5,6"), "no longitudes and latitudes"),
        (("t_start,t_end,start_lon,start_lat,end_lon,end_lat", "1,2,here,4,5,6"), "'start_lon' is not a number"),
        (("origin,destination,t_start,t_end",), "has a header but no rows"),
    ],
)
def test_what_is_wrong_is_said(lines: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        read_trips(write(tmp_path, *lines), EACH)


def test_nobody_said_who_the_person_is(tmp_path: Path) -> None:
    path = write(tmp_path, "origin,destination,t_start,t_end,Bike ID", "a,b,1,2,7")
    with pytest.raises(InputError, match=r"--columns user_id=Bike ID"):
        read_trips(path)


def test_ends_that_are_left_out_are_counted(tmp_path: Path) -> None:
    loaded = read_trips(write(tmp_path, "origin,destination,t_start,t_end", "a,,1,2", ",,,", "a,b,1,2", ",b,,"), EACH)
    assert loaded.data.lengths.tolist() == [1, 2, 0]
    assert "2 trips had only one of destination and t_end: this end was left out." in loaded.notes
    assert "1 trip was left without any end." in loaded.notes
    assert loaded.ids.to_list() == ["1", "2", "3"]


def random_trips(seed: int) -> Trips:
    numbers = np.random.default_rng(seed)
    trips: list[Any] = []
    for _ in range(30):
        start = int(numbers.integers(-5, 50))
        row = [str(numbers.choice(["a", "to b", "from", 'é,"', "x x"])), start, "a", start + int(numbers.integers(3))]
        gone = int(numbers.integers(6))
        if gone < 2:
            row[2 * gone : 2 * gone + 2] = [None, None]
        trips.append(tuple(row))
    owner = numbers.integers(0, 9, 30).tolist()
    return Trips.from_ends(trips, owner=owner, attributes={"s": [str(numbers.choice(["x", "y"])) for _ in trips]})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("seed", range(3))
def test_published_trips_are_read_back(suffix: str, seed: int, tmp_path: Path) -> None:
    data = random_trips(seed)
    less = data.where(np.random.default_rng(seed).random(data.n_rows) < 0.7)
    path = tmp_path / f"published.{suffix}"
    source = write_published(less, path, key=b"0123456789abcdef")
    assert sorted(source.tolist()) == np.flatnonzero(less.nonempty).tolist()
    back = read_published(
        path, kind="trips", time_format="integer", attributes=("s",), owners="hidden", frame=Frame(), exact=True
    )
    assert back.data.same_content(less.take(source))
    assert back.rows == len(source)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_raw_trips_are_written_and_read(suffix: str, tmp_path: Path) -> None:
    data = random_trips(5)
    data = data.take(
        np.flatnonzero(np.array([not any(" x" in place for place, _ in data.record(i)) for i in range(30)]))
    )
    path = tmp_path / f"raw.{suffix}"
    write_trips(data, path)
    assert guess_kind(path) == "trips"
    back = read_trips(path).data
    assert back.same_content(data)
    assert (back.owners, back.n_owners) == ("given", data.n_owners)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("0000000000000001,1,a,,b", "only one of destination and t_end is there"),
        ("0000000000000001,,,,", "a trip has neither end"),
        ("0000000000000001,3,a,2,b", "a trip ends before it begins"),
        ("0000000000000000,3,a,3,b", "a trip has more than one line"),
    ],
)
def test_a_published_table_forgives_nothing(row: str, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path, "traj_id,t_start,origin,t_end,destination", "0000000000000000,1,a,2,b", row)
    with pytest.raises(InputError, match=f"not a published table: {sentence}"):
        read_published(path, kind="trips", time_format="integer", attributes=(), owners="hidden", frame=Frame())
