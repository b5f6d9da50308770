"""Publications of points and regions: they read back as written, and anything else is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, OutputError
from wayveil.io.publish.layouts import as_published
from wayveil.io.publish.published import read_published, write_published
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import read_points
from wayveil.io.tabular.columns import ReadOptions
from wayveil.model import Boxes, Frame, Points, TimeFormat, Visits

WORLD = Frame.for_degrees(np.array([11.8, 12.0]), np.array([50.2, 50.4]))
FIJI = Frame.for_degrees(np.array([179.5, -179.5]), np.array([-17.5, -16.5]))
PLANAR = Frame(crs="EPSG:2100")
TABLES = ["csv", "parquet"]
FEATURES = ["geojson", "geojsonl"]


@st.composite
def times(draw: st.DrawFn, time_format: TimeFormat, n: int) -> list[int]:
    low, high = {"integer": (-(2**62), 2**62), "epoch": (10**8, 10**10)}.get(time_format, (-(6 * 10**16), 2 * 10**17))
    return sorted(draw(st.sets(st.integers(low, high), min_size=n, max_size=n)))


@st.composite
def datasets(draw: st.DrawFn, *, regions: bool) -> Points | Boxes:
    frame = draw(st.sampled_from([WORLD, FIJI, PLANAR, Frame()]))
    time_format: TimeFormat = draw(st.sampled_from(["integer", "epoch", "utc", "local"]))
    reach = st.floats(-8e3, 8e3) if frame.degrees else st.floats(-1e12, 1e12)
    value = reach | st.sampled_from([0.0, -0.0, 0.1, 1e-300])
    records: list = []
    for _ in range(draw(st.integers(0, 5))):
        when = draw(times(time_format, draw(st.integers(0, 3))))
        if regions:
            boxes = [sorted([draw(value), draw(value)]) + sorted([draw(value), draw(value)]) for _ in when]
            records.append([(t, t + draw(st.sampled_from([0, 0])), *b) for t, b in zip(when, boxes, strict=True)])
        else:
            records.append([(t, draw(value), draw(value)) for t in when])
    if regions:
        return Boxes.from_records(records, time_format=time_format, frame=frame)
    n = len(records)
    kinds = {"kind, ü": draw(st.lists(st.sampled_from([None, "p", 'q"\n']), min_size=n, max_size=n))}
    return Points.from_records(records, time_format=time_format, frame=frame, attributes=kinds)


def back(path: Path, data: Points | Boxes) -> Loaded:
    return read_published(
        path,
        kind="points" if isinstance(data, Points) else "regions",
        time_format=data.time_format,
        attributes=list(data.attributes),
        owners="hidden",
        frame=data.frame,
    )


def check_round_trip(path: Path, data: Points | Boxes) -> None:
    source = write_published(data, path, key=bytes([1]) * 32)
    loaded = back(path, data)
    expected = as_published(data).take(source)
    assert sorted(source.tolist()) == np.flatnonzero(np.diff(data.offsets)).tolist()
    names = ("t", "x", "y") if isinstance(data, Points) else ("t_min", "t_max", "x_min", "x_max", "y_min", "y_max")
    for name in ("offsets", *names):
        np.testing.assert_array_equal(getattr(loaded.data, name), getattr(expected, name))
    assert {n: a.values() for n, a in loaded.data.attributes.items()} == {
        n: a.values() for n, a in expected.attributes.items()
    }
    assert (loaded.data.frame, loaded.data.time_format, loaded.data.owners) == (data.frame, data.time_format, "hidden")
    assert loaded.rows == data.n_rows
    assert loaded.ids.to_list() == sorted(set(loaded.ids.to_list()))


@pytest.mark.parametrize("form", [*TABLES, *FEATURES])
@pytest.mark.parametrize("regions", [False, True])
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, form: str, regions: bool, data: st.DataObject) -> None:
    drawn = data.draw(datasets(regions=regions))
    path = tmp_path_factory.getbasetemp() / f"round.{form}"
    if form in FEATURES and not drawn.frame.degrees:
        with pytest.raises(OutputError, match="GeoJSON holds degrees, but these coordinates are metres"):
            write_published(drawn, path, key=bytes([1]) * 32)
        return
    check_round_trip(path, drawn)


def some_points(frame: Frame = WORLD) -> Points:
    return Points.from_records(
        [[(1, 0.0, 0.0), (2, 10.0, -5.5)], [], [(1, 0.0, 0.0)]],
        attributes={"kind": ["a", "SECRETVALUE", None]},
        owner=[777_111_777, 5, 5],
        frame=frame,
    )


def some_regions(frame: Frame = WORLD) -> Boxes:
    return Boxes.from_records(
        [[(1, 2, 0.0, 10.0, -5.0, 5.0), (2, 2, 0.0, 0.0, 0.0, 0.0)], [(1, 2, 0.0, 10.0, -5.0, 5.0)]], frame=frame
    )


@pytest.mark.parametrize("form", [*TABLES, *FEATURES])
def test_only_what_is_published_leaves(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    write_published(some_points(), path, key=bytes([1]) * 32)
    again = tmp_path / f"b.{form}"
    write_published(some_points(), again, key=bytes([1]) * 32)
    assert path.read_bytes() == again.read_bytes()
    for secret in (b"SECRET", b"777111777", b"user"):
        assert secret not in path.read_bytes()
    if form in TABLES:
        frame = pl.read_csv(path) if form == "csv" else pl.read_parquet(path)
        assert frame.columns == ["traj_id", "t", "lon", "lat", "kind"]
        assert frame["lon"].is_between(11.8, 12.0).all()


def test_columns_of_regions(tmp_path: Path) -> None:
    write_published(some_regions(PLANAR), tmp_path / "a.parquet", key=bytes([1]) * 32)
    frame = pl.read_parquet(tmp_path / "a.parquet")
    assert dict(frame.schema) == {
        "traj_id": pl.String, "seq": pl.Int64, "t_min": pl.Int64, "t_max": pl.Int64,
        "x_min": pl.Float64, "x_max": pl.Float64, "y_min": pl.Float64, "y_max": pl.Float64,
    }  # fmt: skip
    assert sorted(frame["seq"].to_list()) == [0, 0, 1]


def test_features(tmp_path: Path) -> None:
    write_published(some_points(), tmp_path / "a.geojson", key=bytes([1]) * 32)
    found = json.loads((tmp_path / "a.geojson").read_text())
    assert found["type"] == "FeatureCollection"
    assert len(found["features"]) == 3
    first = found["features"][0]
    assert list(first) == ["type", "geometry", "properties"]
    assert first["geometry"]["type"] == "Point"
    assert list(first["properties"]) == ["traj_id", "t", "kind"]
    write_published(some_regions(FIJI), tmp_path / "b.geojsonl", key=bytes([1]) * 32)
    lines = [json.loads(line) for line in (tmp_path / "b.geojsonl").read_text().splitlines()]
    ring = lines[0]["geometry"]["coordinates"][0]
    assert len(ring) == 5
    assert ring[0] == ring[4]
    area = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(ring))
    assert area >= 0  # counterclockwise, as RFC 7946 wants outer rings


def test_times_of_regions_share_a_form(tmp_path: Path) -> None:
    data = Boxes.from_records([[(0, 1, 0.0, 1.0, 0.0, 1.0)]], time_format="utc")
    write_published(data, tmp_path / "a.csv", key=bytes([1]) * 32)
    row = (tmp_path / "a.csv").read_text().splitlines()[1].split(",")
    assert row[2:4] == ["1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.000001Z"]


@pytest.mark.parametrize("form", [*TABLES, *FEATURES])
@pytest.mark.parametrize("kind", ["points", "regions"])
def test_a_publication_without_rows(tmp_path: Path, form: str, kind: str) -> None:
    data = (Points if kind == "points" else Boxes).from_records([[], []], time_format="utc", frame=WORLD)
    write_published(data, tmp_path / f"a.{form}", key=bytes([1]) * 32)
    loaded = back(tmp_path / f"a.{form}", data)
    assert (len(loaded.data), loaded.rows) == (0, 0)


def test_suffixes_and_names(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.csv, \.parquet, \.geojson or \.geojsonl"):
        write_published(some_points(), tmp_path / "a.shp", key=bytes([1]) * 32)
    with pytest.raises(OutputError, match=r"end the name in \.csv or \.parquet"):
        write_published(Visits.from_records([[("a", 1)]]), tmp_path / "a.geojson", key=bytes([1]) * 32)
    clash = Points.from_records([[(0, 1.0, 1.0)]], attributes={"x": ["a"]})
    with pytest.raises(OutputError, match="cannot be called x"):
        write_published(clash, tmp_path / "a.csv", key=bytes([1]) * 32)
    fine = Visits.from_records([[("a", 1)]], attributes={"x": ["a"]})
    write_published(fine, tmp_path / "a.csv", key=bytes([1]) * 32)


# The strict reader

POINTS = "traj_id,t,x,y\n000000000000000a,1,0.5,1.0\n000000000000000a,2,0.5,1.0\n000000000000000b,1,7.0,8.0\n"
BOXES = (
    "traj_id,seq,t_min,t_max,x_min,x_max,y_min,y_max\n000000000000000a,0,1,2,0.5,1.0,0.0,3.0\n"
    "000000000000000a,1,2,2,0.5,0.5,0.0,3.0\n000000000000000b,0,1,1,7.0,8.0,0.0,0.0\n"
)


def strict(folder: Path, text: str, frame: Frame = PLANAR) -> Loaded:
    (folder / "p.csv").write_text(text)
    kind = "regions" if "seq" in text else "points"
    return read_published(
        folder / "p.csv",
        kind=kind,  # type: ignore[arg-type]
        time_format="integer",
        attributes=[],
        owners="declared",
        frame=frame,
    )


def test_good_files_are_read(tmp_path: Path) -> None:
    assert strict(tmp_path, POINTS).data.record(0) == [(1, 0.5, 1.0), (2, 0.5, 1.0)]
    assert strict(tmp_path, BOXES).data.record(0) == [(1, 2, 0.5, 1.0, 0.0, 3.0), (2, 2, 0.5, 0.5, 0.0, 3.0)]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("t,x,y", "t,y,x", "columns must be"),
        ("a,2,0.5", "a,1,0.5", "t does not increase inside a trajectory in 1 row, at line 3"),
        ("a,2,0.5", "a,,0.5", "t is empty"),
        ("a,2,0.5", "a,2,", "x is not a finite number in 1 row, at line 3"),
        ("a,2,0.5", "a,2,nan", "x is not a finite number"),
        ("a,2,0.5", "a,2,inf", "x is not a finite number"),
        ("a,2,0.5", "a,2, 0.5", "x is not a finite number"),
        ("7.0,8.0", "7.0,SECRET", "y is not a finite number in 1 row, at line 4"),
        ("7.0,8.0", "7.0,-inf", "y is not a finite number"),
        ("000000000000000b", "0000000000000009", "ascending order"),
        ("000000000000000b", "SECRET", "16 hexadecimal digits"),
        ("8.0\n", "8.0\n\n", "empty rows"),
    ],
)
def test_other_points_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in POINTS
    with pytest.raises(InputError, match=words) as caught:
        strict(tmp_path, POINTS.replace(old, new))
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("a,1,2,2,", "a,2,2,2,", "seq does not count 0, 1, 2, ... inside a trajectory in 1 row, at line 3"),
        ("a,1,2,2,", "a,0,2,2,", "seq does not count"),
        ("a,1,2,2,", "a,,2,2,", "seq does not count"),
        ("a,1,2,2,", "a,1.0,2,2,", "seq does not count"),
        ("b,0,1,1", "b,1,1,1", "seq does not count 0, 1, 2, ... inside a trajectory in 1 row, at line 4"),
        ("a,0,1,2,", "a,0,3,2,", "t_min is larger than t_max in 1 row, at line 2"),
        ("a,1,2,2,", "a,1,0,2,", "t_min decreases inside a trajectory in 1 row, at line 3"),
        ("a,1,2,2,", "a,1,1,1,", "t_max decreases inside a trajectory in 1 row, at line 3"),
        ("a,1,2,2,", "a,1,,2,", "t_min is empty"),
        ("7.0,8.0", "8.0,7.0", "x_min is larger than x_max in 1 row, at line 4"),
        ("0.0,0.0", "0.1,0.0", "y_min is larger than y_max in 1 row, at line 4"),
        ("7.0,8.0", "nan,8.0", "x_min is not a finite number"),
        ("7.0,8.0", "7.0,inf", "x_max is not a finite number"),
        ("0.0,0.0", "0.0,SECRET", "y_max is not a finite number"),
        ("0.0,0.0", "-inf,0.0", "y_min is not a finite number"),
    ],
)
def test_other_regions_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in BOXES
    with pytest.raises(InputError) as caught:
        strict(tmp_path, BOXES.replace(old, new))
    assert words in str(caught.value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(("old", "new"), [("7.0,8.0", "7.0,90.1"), ("7.0,8.0", "180.1,8.0"), ("7.0,8.0", "-181,8.0")])
def test_points_outside_the_range_of_degrees(tmp_path: Path, old: str, new: str) -> None:
    degrees = POINTS.replace("x,y", "lon,lat")
    strict(tmp_path, degrees, WORLD)
    with pytest.raises(InputError, match="not a longitude and a latitude in 1 row, at line 4"):
        strict(tmp_path, degrees.replace(old, new), WORLD)
    with pytest.raises(InputError, match="the columns must be 'traj_id', 't', 'lon', 'lat', in this order"):
        strict(tmp_path, POINTS, WORLD)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("7.0,8.0", "7.0,541", "lon_max is not a longitude"),
        ("7.0,8.0", "7.0,368", "a box goes around the earth more than once"),
        ("7.0,8.0", "-181,8.0", "lon_min is not a longitude"),
        ("0.0,0.0", "-90.1,0.0", "lat_min is not a latitude"),
        ("0.0,0.0", "0.0,91", "lat_max is not a latitude"),
    ],
)
def test_boxes_outside_the_range_of_degrees(tmp_path: Path, old: str, new: str, words: str) -> None:
    degrees = BOXES.replace("x_", "lon_").replace("y_", "lat_")
    strict(tmp_path, degrees, WORLD)
    with pytest.raises(InputError, match=f"{words} in 1 row, at line 4"):
        strict(tmp_path, degrees.replace(old, new), WORLD)


def test_published_degrees_are_read_as_input_without_an_option(tmp_path: Path) -> None:
    write_published(some_points(), tmp_path / "a.csv", key=bytes([1]) * 32)
    again = read_points(tmp_path / "a.csv", ReadOptions(owners="each-trajectory")).data
    assert again.frame.degrees
    assert again.n_rows == some_points().n_rows


def test_types_in_parquet(tmp_path: Path) -> None:
    write_published(some_points(PLANAR), tmp_path / "a.parquet", key=bytes([1]) * 32)
    frame = pl.read_parquet(tmp_path / "a.parquet")
    for name, dtype in (("x", pl.Float32), ("y", pl.String), ("t", pl.Int32), ("traj_id", pl.Binary)):
        frame.with_columns(pl.col(name).cast(dtype)).write_parquet(tmp_path / "b.parquet")
        with pytest.raises(InputError, match=f"type of column '{name}'"):
            back(tmp_path / "b.parquet", some_points(PLANAR))
    write_published(some_regions(PLANAR), tmp_path / "a.parquet", key=bytes([1]) * 32)
    pl.read_parquet(tmp_path / "a.parquet").with_columns(seq=pl.lit(0.0)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="type of column 'seq'"):
        back(tmp_path / "b.parquet", some_regions(PLANAR))


def test_an_attribute_may_have_the_name_of_another_kind(tmp_path: Path) -> None:
    data = Points.from_records([[(0, 1.0, 1.0)]], attributes={"seq": ["5"], "t_min": ["a"]})
    for form in TABLES:
        check_round_trip(tmp_path / f"a.{form}", data)


@pytest.mark.parametrize("form", FEATURES)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"Point"', '"MultiPoint"', "is not a feature as it is written"),
        ('"kind":"a"', '"kind":5', "type that is written"),
        ('"t":1', '"t":"1"', "type that is written"),
        ('"t":1', '"t":1.5', "type that is written"),
        ('"t":1', '"t":99999999999999999999', "type that is written"),
        ('"t":1', '"t":null', "t is empty"),
        ('"t":1', '"t":3', "t does not increase"),
        ('"t":1', '"u":1', "is not a feature as it is written"),
        ('"kind":"a"', '"kind":"b"', "'kind' varies inside a trajectory"),
        ('"coordinates":[', '"coordinates":[1.0,', "is not a feature as it is written"),
        ('"coordinates":[', '"coordinates":["SECRET",', "is not a feature as it is written"),
        ('"coordinates":[1', '"coordinates":[NaN,1', "is not a feature as it is written"),
        ('"type":"Feature",', '"type":"SECRET",', "is not"),
        ('"properties":{', '"properties":null,"other":{', "is not a feature as it is written"),
        ('"properties":{', '"id":"SECRET","properties":{', "is not a feature as it is written"),
    ],
)
def test_other_features_are_refused(tmp_path: Path, form: str, old: str, new: str, words: str) -> None:
    path = tmp_path / f"a.{form}"
    data = some_points().take(np.array([0]))
    write_published(data, path, key=bytes([1]) * 32)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        back(path, data)
    assert words in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_polygons_that_are_no_boxes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.geojsonl"
    data = some_regions().take(np.array([0]))
    write_published(data, path, key=bytes([1]) * 32)
    good = [json.loads(line) for line in path.read_text().splitlines()]
    for corner in range(5):
        for axis in range(2):
            spoiled = json.loads(json.dumps(good))
            spoiled[0]["geometry"]["coordinates"][0][corner][axis] += 1e-9
            path.write_text("\n".join(json.dumps(f, separators=(",", ":")) for f in spoiled))
            with pytest.raises(InputError, match="line 1 is not a feature as it is written"):
                back(path, data)
    for change in ([], [[]], [good[0]["geometry"]["coordinates"][0]] * 2, None, [None], [[1, 2, 3, 4, 5]]):
        spoiled = json.loads(json.dumps(good))
        spoiled[0]["geometry"]["coordinates"] = change
        path.write_text("\n".join(json.dumps(f, separators=(",", ":")) for f in spoiled))
        with pytest.raises(InputError, match="line 1 is not a feature as it is written"):
            back(path, data)
