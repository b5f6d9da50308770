"""Reading points from tables: every rule, every error, and that no error repeats a value of the data."""

from __future__ import annotations

import gzip
import json
import struct
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA

from wayveil.errors import InputError, UsageError, WayveilError
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import read_points as read_points_asking
from wayveil.io.tabular.columns import ReadOptions


def read_points(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_points_asking(path, replace(options or ReadOptions(), owners="not-asked"))


SECRETS = ("SECRET", "987654", "16.37")


def csv(folder: Path, *rows: str, header: str = "traj_id,t,x,y", name: str = "in.csv") -> Path:
    (folder / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return folder / name


def refused(path: Path, *words: str, **options: object) -> str:
    with pytest.raises(WayveilError) as caught:
        read_points(path, ReadOptions(**options))  # type: ignore[arg-type]
    message = str(caught.value)
    assert isinstance(caught.value, (InputError, UsageError))
    for word in words:
        assert word in message
    assert not any(secret in message for secret in SECRETS)
    assert "\n" not in message
    assert len(message) < 500
    return message


def records(loaded: Loaded) -> list:
    return [loaded.data.record(i) for i in range(len(loaded.data))]


# Planar tables


def test_plain_csv(tmp_path: Path) -> None:
    loaded = read_points(csv(tmp_path, "b,1,1000.5,2", "b,2,-3e2,.5", "a,1, 7 ,8."))
    assert records(loaded) == [[(1, 1000.5, 2.0), (2, -300.0, 0.5)], [(1, 7.0, 8.0)]]
    assert loaded.ids.to_list() == ["b", "a"]
    assert loaded.rows == 3
    data = loaded.data
    assert (data.time_format, data.owners, data.owner.tolist()) == ("integer", "declared", [0, 1])
    assert not data.frame.degrees
    assert data.frame.crs == ""
    assert loaded.notes == ()


def test_one_point_and_all_points_equal(tmp_path: Path) -> None:
    assert records(read_points(csv(tmp_path, "a,1,5,500"))) == [[(1, 5.0, 500.0)]]
    loaded = read_points(csv(tmp_path, "a,1,16.3,48", "a,2,16.3,48", "b,1,16.3,48", header="traj_id,t,lon,lat"))
    assert np.ptp(loaded.data.x) == 0
    assert np.isfinite(loaded.data.x).all()


def test_gzip_owner_and_attributes(tmp_path: Path) -> None:
    text = "traj_id,t,x,y,user_id,kind,speed\na,1,1,200,p,bus,3\na,2,1,200,p,bus,4\nb,1,0,0,p,,5\n"
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(text.encode()))
    loaded = read_points(tmp_path / "in.csv.gz")
    assert loaded.data.owners == "given"
    assert loaded.data.owner.tolist() == [0, 0]
    assert {name: a.values() for name, a in loaded.data.attributes.items()} == {"kind": ["bus", None]}
    assert "Column 'speed' varies inside trajectories and was left out." in loaded.notes
    assert "Taken as attributes: 'kind'." in loaded.notes
    refused(tmp_path / "in.csv.gz", "'speed' must be constant", "line 3", attributes=("speed",))
    assert not read_points(tmp_path / "in.csv.gz", ReadOptions(attributes=())).data.attributes


def test_an_attribute_missing_in_part_of_a_trajectory_varies(tmp_path: Path) -> None:
    loaded = read_points(csv(tmp_path, "a,1,1,200,k", "a,2,1,200,", header="traj_id,t,x,y,kind"))
    assert not loaded.data.attributes


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame(
        {"traj_id": [2**63 + 1, 2**63 + 1], "t": [1, 2], "x": pl.Series([1, 2], dtype=pl.Int32), "y": [0.5, 1e6]},
        schema_overrides={"traj_id": pl.UInt64, "y": pl.Float32},
    ).write_parquet(tmp_path / "a.parquet")
    loaded = read_points(tmp_path / "a.parquet")
    assert records(loaded) == [[(1, 1.0, 0.5), (2, 2.0, 1e6)]]
    assert loaded.ids.to_list() == [str(2**63 + 1)]


def test_non_ascii_and_huge_ids(tmp_path: Path) -> None:
    big = "9" * 40
    loaded = read_points(csv(tmp_path, "Žofie 東京,1,1e3,1", f"{big},1,1e3,1", f"{big}0,1,1e3,1"))
    assert loaded.ids.to_list() == ["Žofie 東京", big, big + "0"]


def test_huge_coordinates_pass_and_impossible_ones_do_not(tmp_path: Path) -> None:
    assert read_points(csv(tmp_path, "a,1,1e12,-1e12")).data.record(0) == [(1, 1e12, -1e12)]
    assert read_points(csv(tmp_path, "a,1,1e13,0")).data.record(0) == [(1, 1e13, 0.0)]
    refused(csv(tmp_path, "a,1,0,0", "a,2,1,1.1e13"), "'y' holds a number that is too large", "1 row, at line 3")
    refused(csv(tmp_path, "a,1,-1e300,0"), "'x' holds a number that is too large")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("nan", "is not a finite number (NaN or infinite)"),
        ("NaN", "is not a finite number"),
        ("inf", "is not a finite number"),
        ("-Infinity", "is not a finite number"),
        ("1e999", "is not a finite number"),
        ("", "is empty"),
        ("SECRET", "is not a number"),
        ('"16,37"', "is not a number"),
        ("16.37 m", "is not a number"),
    ],
)
@pytest.mark.parametrize("column", ["x", "y"])
def test_values_that_are_no_coordinates(tmp_path: Path, value: str, words: str, column: str) -> None:
    row = f"a,2,{value},0" if column == "x" else f"a,2,0,{value}"
    refused(csv(tmp_path, "a,1,0,0", row, row.replace(",2,", ",3,")), f"'{column}' {words}", "2 rows, first at line 3")


def test_parquet_values_that_are_no_coordinates(tmp_path: Path) -> None:
    for bad, words in (
        ([1.0, float("nan")], "'x' is not a finite number"),
        ([1.0, float("-inf")], "'x' is not a finite number"),
        ([1.0, None], "'x' is empty"),
        ([True, False], "'x' has the type boolean"),
        ([[1.0], [2.0]], "'x' has the type list"),
    ):
        pl.DataFrame({"traj_id": ["a", "a"], "t": [1, 2], "x": bad, "y": [0, 0]}).write_parquet(tmp_path / "a.parquet")
        refused(tmp_path / "a.parquet", words)


def test_empty_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")
    refused(tmp_path / "a.csv", "is empty")
    refused(csv(tmp_path), "header but no rows")
    refused(tmp_path / "none.csv", "no such file")
    refused(tmp_path / "none.xyz", "no such file")
    (tmp_path / "a.xlsx").write_text("x")
    refused(tmp_path / "a.xlsx", ".geojsonl, .gpx or .plt file, or a folder")
    refused(Path("a\0b.csv"), "not usable")


# Cleaning


def test_order_duplicates_and_clashes(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,3,1,1", "a,1,0,0", "a,3,1,1", "b,1,0,0", "a,1,0,0")
    loaded = read_points(file, ReadOptions(crs="planar"))
    assert records(loaded) == [[(1, 0.0, 0.0), (3, 1.0, 1.0)], [(1, 0.0, 0.0)]]
    assert "1 trajectory was not in time order and was sorted." in loaded.notes
    assert "2 exact duplicate rows were dropped." in loaded.notes
    for clash in ("a,3,1,987654", "a,3,987654,1"):
        file = csv(tmp_path, "a,3,1,1", "b,1,0,0", clash)
        refused(file, "different positions at one time, 1 time at line 2 and line 4", "--on-duplicate-time")
        x, y = (float(v) for v in clash.split(",")[2:])
        assert read_points(file, ReadOptions(on_duplicate_time="first")).data.record(0) == [(3, 1.0, 1.0)]
        last = read_points(file, ReadOptions(on_duplicate_time="last"))
        assert last.data.record(0) == [(3, x, y)]
        assert any("1 position was dropped" in note and "last" in note for note in last.notes)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("abc"), st.integers(-3, 3), st.sampled_from([0.0, 0.1, -1e-9, 1e5]), st.integers(0, 1)
        ),
        min_size=1,
        max_size=20,
    ),
    keep=st.sampled_from(["first", "last"]),
)
@settings(deadline=None, max_examples=80)
def test_cleaning_matches_the_definition(tmp_path_factory: pytest.TempPathFactory, rows: list, keep: str) -> None:
    file = csv(tmp_path_factory.getbasetemp(), *(",".join(map(repr, row)).replace("'", "") for row in rows))
    expected: dict[str, dict] = {}
    for card, t, x, y in rows:
        points = expected.setdefault(card, {})
        if keep == "last" or t not in points:
            points[t] = (x, float(y))
    loaded = read_points(file, ReadOptions(on_duplicate_time=keep, crs="planar"))  # type: ignore[arg-type]
    assert loaded.ids.to_list() == list(expected)
    assert records(loaded) == [[(t, x, y) for t, (x, y) in sorted(p.items())] for p in expected.values()]


@given(st.lists(st.floats(-1e13, 1e13), min_size=1, max_size=30))
@settings(deadline=None, max_examples=60)
def test_numbers_are_read_bit_by_bit(tmp_path_factory: pytest.TempPathFactory, numbers: list[float]) -> None:
    file = csv(tmp_path_factory.getbasetemp(), *(f"a,{i},{x!r},{-x!r}" for i, x in enumerate(numbers)))
    data = read_points(file, ReadOptions(crs="planar")).data
    assert data.x.tobytes() == (np.array(numbers) + 0.0).tobytes()
    assert data.y.tolist() == [-x for x in numbers]


# Columns


@pytest.mark.parametrize(
    "names", ["lon,lat", "longitude,latitude", "lng,lat", "Long,Lat", "LON,LAT", " Longitude , Latitude "]
)
def test_names_of_degrees(tmp_path: Path, names: str) -> None:
    loaded = read_points(csv(tmp_path, "a,1,16.37,48.2", header=f"traj_id,t,{names}"))
    frame = loaded.data.frame
    assert frame.degrees
    assert frame.crs == "EPSG:4326"
    lon, lat = frame.to_file(loaded.data.x, loaded.data.y)
    np.testing.assert_allclose([lon[0], lat[0]], [16.37, 48.2], atol=1e-12)
    assert any("taken to be degrees (EPSG:4326)" in note for note in loaded.notes)


@pytest.mark.parametrize(
    ("name", "value"), [("latlon", "48.2,16.37"), ("latlng", "(48.2; 16.37)"), ("lonlat", "16.37 48.2")]
)
def test_both_in_one_text(tmp_path: Path, name: str, value: str) -> None:
    file = csv(tmp_path, f'a,1,"{value}"', header=f"traj_id,t,{name}")
    loaded = read_points(file)
    np.testing.assert_allclose(loaded.data.frame.to_file(loaded.data.x, loaded.data.y), [[16.37], [48.2]], atol=1e-12)
    first = "latitude" if name != "lonlat" else "longitude"
    assert any(f"degrees (EPSG:4326), {first} first" in note for note in loaded.notes)
    refused(csv(tmp_path, "a,1,SECRET", header=f"traj_id,t,{name}"), "is not a point (two numbers)", "line 2")


def test_the_place_is_told_once(tmp_path: Path) -> None:
    """Copies of the place never become attributes, even where they are constant."""
    header = "traj_id,t,x,y,lon,lat,geometry,end_lat"
    loaded = read_points(csv(tmp_path, "a,1,1000,2000,16,48,POINT (16 48),3", header=header))
    assert loaded.data.record(0) == [(1, 1000.0, 2000.0)]
    assert not loaded.data.attributes
    assert (
        "Column 'lon', 'lat', 'geometry', 'end_lat' was left out: where a point is, is told by 'x', 'y'."
        in loaded.notes
    )
    options = ReadOptions(columns={"geometry": "geometry"})
    by_geometry = read_points(csv(tmp_path, "a,1,1000,2000,16,48,POINT (16 48),3", header=header), options)
    assert by_geometry.data.frame.degrees
    assert not by_geometry.data.attributes


def test_mapped_columns(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,5,600,9", header="card,time,east,north,t")
    options = ReadOptions(columns={"traj_id": "card", "t": "time", "x": "east", "y": "north"})
    loaded = read_points(file, options)
    assert loaded.data.record(0) == [(1, 5.0, 600.0)]
    assert "Column 't' was left out: --columns names another column for it." in loaded.notes
    refused(file, "missing: traj_id", "traj_id=card", columns={"x": "east", "y": "north", "t": "time"})
    refused(file, "'loc' is not a column of points", "geometry", columns={"loc": "east"})
    refused(file, "x is the column 'est'", "Did you mean 'east'", columns={**options.columns, "x": "est"})
    refused(file, "missing: x, y", columns={"traj_id": "card", "x": "east"})
    refused(file, "either geometry or x and y", columns={**options.columns, "geometry": "east"})
    refused(file, "'east' for two things", columns={**options.columns, "y": "east"})
    refused(file, "x must be a whole column", columns={**options.columns, "x": "east[:-1]"})


def test_missing_columns_are_suggested(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,5,6", header="trip_id,timestamp,easting,northing")
    refused(file, "missing: traj_id, t, x, y", "--columns traj_id=trip_id,t=timestamp,x=easting,y=northing")
    refused(csv(tmp_path, "a,1,5,6", header="traj_id,t,x,z"), "missing: x, y")
    file = csv(tmp_path, "a,1,5,6", header="traj_id,t,from_lon,from_lat")
    refused(file, "--columns x=from_lon,y=from_lat")


def test_parts_of_ids(tmp_path: Path) -> None:
    header = "tid,t,x,y"
    file = csv(tmp_path, "86201,1,0,500", "86202,1,0,500", "4201,1,0,500", header=header)
    loaded = read_points(file, ReadOptions(columns={"traj_id": "tid", "user_id": "tid[:-2]"}))
    assert loaded.data.owner.tolist() == [0, 0, 1]
    assert loaded.data.owners == "given"
    assert not loaded.data.attributes
    loaded = read_points(file, ReadOptions(columns={"traj_id": "tid[0:2]"}, on_duplicate_time="first"))
    assert loaded.ids.to_list() == ["86", "42"]
    refused(
        file, "'tid' is too short for the part", "1 row, at line 4", columns={"traj_id": "tid", "user_id": "tid[4:]"}
    )
    refused(file, "user_id is the column 'td'", columns={"traj_id": "tid", "user_id": "td[:-2]"})


# Degrees and coordinate systems


def test_degrees_become_metres(tmp_path: Path) -> None:
    loaded = read_points(csv(tmp_path, "a,1,16,48", "a,2,16,48.5", "a,3,16.5,48", header="traj_id,t,lon,lat"))
    x, y = loaded.data.x, loaded.data.y
    # One degree of latitude is 111.2 km at 48 degrees, one of longitude 74.6 km.
    assert abs((y[1] - y[0]) / 0.5 - 111_200) < 150
    assert abs((x[2] - x[0]) / 0.5 - 74_630) < 150


@pytest.mark.parametrize("crs", ["EPSG:4326", "epsg:4326", "OGC:CRS84", "WGS84", "WGS 84", "degrees", "CRS84"])
def test_names_of_wgs84(tmp_path: Path, crs: str) -> None:
    loaded = read_points(csv(tmp_path, "a,1,16.37,48.2"), ReadOptions(crs=crs))
    assert loaded.data.frame.degrees
    assert loaded.data.frame.crs == "EPSG:4326"
    assert not loaded.notes


@pytest.mark.parametrize("row", ["a,2,16.37,91", "a,2,16.37,-90.001", "a,2,360.5,0", "a,2,-180.5,0"])
def test_outside_the_range_of_degrees(tmp_path: Path, row: str) -> None:
    file = csv(tmp_path, "a,1,16.37,48.2", row, header="traj_id,t,lon,lat")
    words = (": columns 'lon' and 'lat': not", "latitude from -90 to 90 in 1 row, at line 3")
    refused(file, *words, "If these are metres, say --crs planar")
    refused(file, *words, "Correct or remove these rows, or the --crs", crs="EPSG:4326")
    assert read_points(file, ReadOptions(crs="planar")).data.n_rows == 2


def test_the_ends_of_the_range(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,-180,90", "a,2,180,-90", "a,3,360,0", header="traj_id,t,lon,lat")
    assert read_points(file).data.n_rows == 3


def test_metres_in_columns_called_degrees(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,4207588.1,486253.8", header="traj_id,t,lat,lon")
    refused(file, "--crs planar", "--crs EPSG:2100")
    for crs in ("planar", "EPSG:2100"):
        loaded = read_points(file, ReadOptions(crs=crs))
        assert loaded.data.record(0) == [(1, 486253.8, 4207588.1)]
        assert loaded.data.frame.crs == crs


def test_x_must_be_the_longitude(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,48,16", header="traj_id,t,lat,lon")
    swapped = {"x": "lat", "y": "lon"}
    refused(file, "turn them around: --columns x=lon,y=lat", columns=swapped)
    refused(file, "turn them around", columns=swapped, crs="degrees")
    assert read_points(file, ReadOptions(columns=swapped, crs="planar")).data.record(0) == [(1, 48.0, 16.0)]


@pytest.mark.parametrize(("x", "y"), [("16", "48"), ("-180", "90"), ("359.9", "-90"), ("0", "0")])
def test_x_and_y_that_could_be_degrees_are_refused_until_somebody_says_what_they_are(
    tmp_path: Path, x: str, y: str
) -> None:
    file = csv(tmp_path, f"a,1,{x},{y}")
    refused(file, "all of them could be degrees", "--crs degrees", "EPSG:4326", "--crs planar")
    assert read_points(file, ReadOptions(crs="degrees")).data.frame.degrees
    assert read_points(file, ReadOptions(crs="planar")).data.record(0) == [(1, float(x), float(y))]
    mapped = csv(tmp_path, f"a,1,{x},{y}", header="traj_id,t,east,north")
    refused(mapped, "all of them could be degrees", columns={"x": "east", "y": "north"})


@pytest.mark.parametrize(("x", "y"), [("16", "90.5"), ("361", "48"), ("-181", "48"), ("473000", "4200000")])
def test_one_coordinate_that_is_no_degree_is_enough(tmp_path: Path, x: str, y: str) -> None:
    loaded = read_points(csv(tmp_path, "a,1,16,48", f"a,2,{x},{y}"))
    assert not loaded.data.frame.degrees
    assert loaded.notes == ()


def test_wide_ranges_of_latitude_are_pointed_out(tmp_path: Path) -> None:
    wide = read_points(csv(tmp_path, "a,1,16,40", "a,2,16,50", header="traj_id,t,lon,lat"))
    assert wide.data.frame.overstatement > 0.01
    assert any("overstated by up to 19" in note for note in wide.notes)
    narrow = read_points(csv(tmp_path, "a,1,16,48", "a,2,16,48.1", header="traj_id,t,lon,lat"))
    assert not any("overstated" in note for note in narrow.notes)


def test_the_antimeridian_is_no_border(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,179.9,-17", "a,2,-179.9,-17", "a,3,180.2,-17", header="traj_id,t,lon,lat")
    x = read_points(file).data.x
    steps = np.diff(x)
    np.testing.assert_allclose(steps, steps[0] * np.array([1, 0.5]), rtol=1e-6)
    assert 20_000 < steps[0] < 22_300


def test_other_systems(tmp_path: Path) -> None:
    file = csv(tmp_path, "a,1,500000,5300000")
    utm = read_points(file, ReadOptions(crs="EPSG:32633"))
    assert utm.data.frame.crs == "EPSG:32633"
    assert not utm.notes
    assert any("EPSG:3857" in note for note in read_points(file, ReadOptions(crs="EPSG:3857")).notes)
    refused(file, "--crs EPSG:2263", "us survey foot", crs="EPSG:2263")
    refused(file, "not a coordinate system that is known", crs="EPSG:99999999")
    refused(file, "neither a geographic nor a projected", crs="EPSG:4978")
    degrees = csv(tmp_path, "a,1,10,50")
    frame = read_points(degrees, ReadOptions(crs="EPSG:4258")).data.frame
    assert (frame.degrees, frame.crs) == (True, "EPSG:4258")


def test_codes_work_in_the_base_install() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    base = tomllib.loads(text)["project"]["dependencies"]
    assert any(name.startswith("pyproj") for name in base)


# Geometry columns


def test_wkt(tmp_path: Path) -> None:
    rows = [
        "a,1,POINT (16.37 48.2)",
        "a,2,point(16.37 48.2)",
        "a,3,POINT Z (16.37 4.82e1 170)",
        "a,4, POINT ZM(16.37 48.2 1 2) ",
    ]
    loaded = read_points(csv(tmp_path, *rows, header="traj_id,t,geometry"))
    lon, lat = loaded.data.frame.to_file(loaded.data.x, loaded.data.y)
    np.testing.assert_allclose(lon, 16.37, atol=1e-12)
    np.testing.assert_allclose(lat, 48.2, atol=1e-12)
    assert "The points in column 'geometry' are taken to be degrees (EPSG:4326), longitude first." in loaded.notes


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("LINESTRING (0 0, 1 1)", "is not a point (POINT (x y))"),
        ("POINT EMPTY", "is not a point"),
        ("POINT (16.37)", "is not a point"),
        ("SECRET", "is not a point"),
        ("", "is empty"),
        ("POINT (nan 0)", "is not a finite number"),
        ("POINT (0 inf)", "is not a finite number"),
        ("POINT (0 91)", ": column 'WKT': not a longitude from -180 to 180 with a latitude from -90 to 90"),
        ("POINT (486253 4207588)", "say --crs planar"),
    ],
)
def test_wkt_that_is_no_point(tmp_path: Path, value: str, words: str) -> None:
    file = csv(tmp_path, "a,1,POINT (0 0)", f'a,2,"{value}"', header="traj_id,t,WKT")
    refused(file, "'WKT'", words, "1 row, at line 3")


def wkb(x: float, y: float, order: str = "<", kind: int = 1, more: tuple[float, ...] = ()) -> bytes:
    return struct.pack(f"{order}BI{2 + len(more)}d", order == "<", kind, x, y, *more)


def geoparquet(
    folder: Path, values: list, *, crs: object = "missing", encoding: str = "WKB", geo: object = None
) -> Path:
    column = {"encoding": encoding, "geometry_types": ["Point"]} | ({} if crs == "missing" else {"crs": crs})
    meta = geo if geo is not None else {"version": "1.1.0", "primary_column": "geom", "columns": {"geom": column}}
    frame = pl.DataFrame({"traj_id": ["a"] * len(values), "t": range(len(values)), "geom": values, "x": 5.0})
    text = meta if isinstance(meta, str) else json.dumps(meta)
    frame.write_parquet(folder / "geo.parquet", metadata={"geo": text})
    return folder / "geo.parquet"


DEGREE = {"axis": [{"unit": "degree"}, {"unit": "degree"}]}
METRE = {"axis": [{"unit": "metre"}, {"unit": {"type": "LinearUnit", "name": "metre"}}]}
FOOT = {"axis": [{"unit": {"type": "LinearUnit", "name": "US survey foot"}}] * 2}
CRS84 = {"type": "GeographicCRS", "name": "WGS 84 (CRS84)", "coordinate_system": DEGREE,
         "id": {"authority": "OGC", "code": "CRS84"}}  # fmt: skip
UTM = {
    "type": "ProjectedCRS",
    "name": "UTM 33N",
    "coordinate_system": METRE,
    "id": {"authority": "EPSG", "code": 32633},
}


def test_geoparquet(tmp_path: Path) -> None:
    kinds = (("<", 1, ()), (">", 1, ()), ("<", 1001, (5.0,)), (">", 2001, (5.0,)), ("<", 3001, (5.0, 6.0)))
    values = [wkb(16.37, 48.2, *kind) for kind in kinds]
    for crs in ("missing", CRS84):
        loaded = read_points(geoparquet(tmp_path, values, crs=crs))
        assert loaded.data.frame.crs == "EPSG:4326"
        lon, lat = loaded.data.frame.to_file(loaded.data.x, loaded.data.y)
        np.testing.assert_allclose(lon, [16.37] * 5, atol=1e-12)
        np.testing.assert_allclose(lat, [48.2] * 5, atol=1e-12)
        assert not loaded.data.attributes
    planar = read_points(geoparquet(tmp_path, [wkb(5e5, 5.3e6)], crs=UTM))
    assert planar.data.record(0) == [(0, 5e5, 5.3e6)]
    assert planar.data.frame.crs == "EPSG:32633"
    compound = {"type": "CompoundCRS", "components": [UTM, {"type": "VerticalCRS"}]}
    assert read_points(geoparquet(tmp_path, [wkb(5e5, 5.3e6)], crs=compound)).data.frame.crs == "EPSG:32633"
    bound = {"type": "BoundCRS", "source_crs": CRS84}
    assert read_points(geoparquet(tmp_path, [wkb(1, 2)], crs=bound)).data.frame.degrees


def test_geoparquet_of_structs(tmp_path: Path) -> None:
    loaded = read_points(geoparquet(tmp_path, [{"x": 5e5, "y": 5.3e6}], crs=UTM, encoding="point"))
    assert loaded.data.record(0) == [(0, 5e5, 5.3e6)]
    refused(geoparquet(tmp_path, [{"x": 5e5, "y": None}], crs=UTM, encoding="point"), "not a finite number")
    refused(geoparquet(tmp_path, [{"a": 5e5, "b": 1.0}], crs=UTM, encoding="point"), "has the type struct")


def test_geoparquet_systems(tmp_path: Path) -> None:
    file = geoparquet(tmp_path, [wkb(5e5, 5.3e6)], crs=UTM)
    refused(
        file, "--crs says 'EPSG:4326', but the file says that its coordinate system is 'EPSG:32633'", crs="EPSG:4326"
    )
    refused(file, "but the file says", crs="degrees")
    for crs in ("planar", "EPSG:32633", "epsg:32633", "urn:ogc:def:crs:EPSG::32633"):
        assert read_points(file, ReadOptions(crs=crs)).data.frame.crs == "EPSG:32633"
    degrees = geoparquet(tmp_path, [wkb(1, 2)])
    refused(degrees, "--crs says 'planar', but the file says", crs="planar")
    refused(degrees, "--crs says 'EPSG:32633', but the file says", crs="EPSG:32633")
    unknown = geoparquet(tmp_path, [wkb(1, 2)], crs=None)
    refused(unknown, "nobody knows the coordinate system", "--crs EPSG:4326")
    assert read_points(unknown, ReadOptions(crs="planar")).data.record(0) == [(0, 1.0, 2.0)]
    feet = {"type": "ProjectedCRS", "name": "NY", "coordinate_system": FOOT}
    refused(geoparquet(tmp_path, [wkb(1, 2)], crs=feet), "the unit us survey foot, not degrees or metres")
    refused(geoparquet(tmp_path, [wkb(1, 91)]), "latitude from -90 to 90")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (wkb(1, 2)[:-1], "is not a point (WKB)"),
        (wkb(1, 2, "<", 2), "is not a point (WKB)"),
        (wkb(1, 2, "<", 1001), "is not a point (WKB)"),
        (b"\x02" + wkb(1, 2)[1:], "is not a point (WKB)"),
        (b"", "is not a point (WKB)"),
        (None, "is empty"),
        (wkb(float("nan"), float("nan")), "is not a finite number"),
        (wkb(0, float("inf")), "is not a finite number"),
    ],
)
def test_wkb_that_is_no_point(tmp_path: Path, value: bytes | None, words: str) -> None:
    refused(geoparquet(tmp_path, [wkb(0, 0), value]), "'geom'", words, "1 row, at row 2")


def test_damaged_geoparquet(tmp_path: Path) -> None:
    good = [wkb(1, 2)]
    for geo in ("{", "[]", "{}", '{"primary_column": "geom", "columns": {}}'):
        refused(geoparquet(tmp_path, good, geo=geo), "metadata are damaged")
    missing = {"primary_column": "other", "columns": {"other": {"encoding": "WKB"}}}
    refused(geoparquet(tmp_path, good, geo=missing), "name the column 'other'")
    refused(geoparquet(tmp_path, good, encoding="linestring"), "neither WKB nor points")
    for crs in ("EPSG:4326", [1], {"coordinate_system": {"axis": [1, 2]}}, {"coordinate_system": [1]}):
        refused(
            geoparquet(tmp_path, good, crs=crs),
            "file cannot be used" if crs == "EPSG:4326" or crs == [1] else "damaged",
        )
    refused(geoparquet(tmp_path, good, crs={"type": "GeographicCRS"}), "the unit unknown")
    refused(geoparquet(tmp_path, [5]), "'geom' has the type int64, which is no point")


# Real data


def test_trucks() -> None:
    file = DATA / "trucks_athens" / "trucks.csv.gz"
    if not file.exists():
        pytest.skip("the data are not here")
    columns = {"traj_id": "tid", "t": "time", "user_id": "tid[:-2]"}
    refused(file, "'lon' and 'lat'", "112,203 rows", "--crs EPSG:2100", columns=columns)
    loaded = read_points(file, ReadOptions(columns=columns, crs="planar"))
    data = loaded.data
    assert (len(data), data.n_rows, data.n_owners) == (273, 112_203, 50)
    assert 400_000 < data.x.min() < data.x.max() < 600_000
    assert data.y.min() > 4_000_000


def test_floating_cars() -> None:
    file = DATA / "fcd_oberfranken" / "points.csv.gz"
    if not file.exists():
        pytest.skip("the data are not here")
    columns = {"traj_id": "id", "t": "time"}
    refused(file, "different positions at one time, 269 times", columns=columns)
    data = read_points(file, ReadOptions(columns=columns, on_duplicate_time="first")).data
    assert len(data) == 263
    assert data.time_format == "utc"
    assert np.ptp(data.x) < 10_000
    assert np.ptp(data.y) < 7_000


def test_bicycles() -> None:
    file = DATA / "citibike_jc2016" / "JC-201601-citibike-tripdata.csv.gz"
    if not file.exists():
        pytest.skip("the data are not here")
    columns = {"traj_id": "Bike ID", "t": "Start Time", "x": "Start Station Longitude", "y": "Start Station Latitude"}
    data = read_points(file, ReadOptions(columns=columns)).data
    assert data.frame.degrees
    assert (len(data), data.n_rows) == (241, 7479)
