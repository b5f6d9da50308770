"""GeoJSON: documents, lines, points, lines with times, coordinate systems, and damage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError, WayveilError
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import read_points as read_points_asking
from wayveil.io.tabular.columns import ReadOptions


def read_points(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_points_asking(path, replace(options or ReadOptions(), owners="not-asked"))


DEFAULTS = ReadOptions()


def refused(path: Path, *words: str, options: ReadOptions = DEFAULTS) -> str:
    with pytest.raises(WayveilError) as caught:
        read_points(path, options)
    message = str(caught.value)
    for word in words:
        assert word in message
    assert "SECRET" not in message
    assert "\n" not in message
    return message


def feature(lon: Any, lat: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [lon, lat]}, "properties": properties}


def line(*positions: list[float], **properties: Any) -> dict[str, Any]:
    geometry = {"type": "LineString", "coordinates": list(positions)}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def lines(folder: Path, *features: Any, name: str = "a.geojsonl") -> Path:
    (folder / name).write_text("".join(json.dumps(f, ensure_ascii=False) + "\n" for f in features), encoding="utf-8")
    return folder / name


def document(folder: Path, *features: Any, name: str = "a.geojson", **members: Any) -> Path:
    (folder / name).write_text(
        json.dumps({"type": "FeatureCollection", **members, "features": list(features)}, indent=1)
    )
    return folder / name


def places(path: Path, options: ReadOptions = DEFAULTS) -> list[list[tuple[int, float, float]]]:
    data = read_points(path, options).data
    x, y = data.frame.to_file(data.x, data.y)
    rows = list(zip(data.t.tolist(), np.round(x, 9).tolist(), np.round(y, 9).tolist(), strict=True))
    return [rows[data.offsets[i] : data.offsets[i + 1]] for i in range(len(data))]


POINTS = [feature(16, 48.5, traj_id="a", t=2), feature(16.25, 48, traj_id="a", t=1), feature(1, 2, traj_id="b", t=1)]


@pytest.mark.parametrize(
    "name", ["a.geojsonl", "a.ndjson", "a.jsonl", "a.geojsons", "a.geojson", "a.json", "A.GeoJSONL"]
)
def test_points(tmp_path: Path, name: str) -> None:
    make = document if name in ("a.geojson", "a.json") else lines
    file = make(tmp_path, *POINTS, name=name)
    assert places(file) == [[(1, 16.25, 48.0), (2, 16.0, 48.5)], [(1, 1.0, 2.0)]]
    loaded = read_points(file)
    assert loaded.ids.to_list() == ["a", "b"]
    assert loaded.rows == 3
    assert loaded.data.frame.crs == "EPSG:4326"
    assert not any("degrees" in note for note in loaded.notes if "overstated" not in note)


def test_lines_in_a_file_called_geojson_and_one_feature(tmp_path: Path) -> None:
    assert len(places(lines(tmp_path, *POINTS, name="a.geojson"))) == 2
    (tmp_path / "one.geojson").write_text(json.dumps(POINTS[0]))
    assert places(tmp_path / "one.geojson") == [[(2, 16.0, 48.5)]]
    text = "\ufeff\n" + "\n\n".join("\x1e" + json.dumps(f) for f in POINTS)
    (tmp_path / "rs.geojsonl").write_text(text, encoding="utf-8")
    assert len(places(tmp_path / "rs.geojsonl")) == 2
    (tmp_path / "two.geojsonl").write_text(2 * (json.dumps({"type": "FeatureCollection", "features": POINTS}) + "\n"))
    assert read_points(tmp_path / "two.geojsonl").rows == 6


def test_properties_become_columns(tmp_path: Path) -> None:
    big = 10**40
    rows = [
        feature(1, 2, trip=big, time="2024-05-31T08:15:00Z", who="東京", ok=True, deep={"a": 1}),
        feature(1, 2.5, trip=big, time="2024-05-31T08:16:00Z", who="東京", ok=True),
        {**feature(1, 2, trip=7.5, time="2024-05-31T08:16:00Z", speed=3), "id": 5},
    ]
    columns = {"traj_id": "trip", "t": "time", "user_id": "who"}
    rows[2]["properties"] |= {"who": "p", "lon": 9, "lat": 8}
    loaded = read_points(lines(tmp_path, *rows), ReadOptions(columns=columns))
    assert loaded.ids.to_list() == [str(big), "7.5"]
    values = {name: a.values() for name, a in loaded.data.attributes.items()}
    assert values == {"ok": ["true", None], "speed": [None, "3"]}
    assert "Property 'deep' holds lists or objects and was left out." in loaded.notes
    refused(lines(tmp_path, *rows), "missing: traj_id, t", "'trip'", "'time'")
    by_id = lines(tmp_path, {**feature(1, 2, t=1), "id": "x"}, {**feature(1, 2, t=1), "id": "y"})
    assert read_points(by_id, ReadOptions(columns={"traj_id": "id"})).ids.to_list() == ["x", "y"]


@pytest.mark.parametrize("key", ["times", "coordTimes"])
def test_lines_with_times(tmp_path: Path, key: str) -> None:
    first = line([16, 48, 300], [16.5, 48], **{key: [5, 6]}, kind="bus")
    second = line([1, 2], **{key: [7]}, kind="car")
    loaded = read_points(document(tmp_path, first, second))
    assert places(tmp_path / "a.geojson") == [[(5, 16.0, 48.0), (6, 16.5, 48.0)], [(7, 1.0, 2.0)]]
    assert loaded.data.attributes["kind"].values() == ["bus", "car"]
    assert list(loaded.data.attributes) == ["kind"]
    named = line([16, 48], [16.5, 48], **{key: [5, 6]}, traj_id="z", trip="q")
    assert read_points(lines(tmp_path, named)).ids.to_list() == ["z"]
    options = ReadOptions(columns={"traj_id": "trip"})
    assert read_points(lines(tmp_path, named), options).ids.to_list() == ["q"]


def bad(**changes: Any) -> dict[str, Any]:
    return {**feature(1, 2, traj_id="SECRET", t=1), **changes}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (bad(geometry=None), "1 feature has no geometry"),
        (bad(geometry={"type": "Polygon", "coordinates": []}), "neither a point nor a line with 'times'"),
        (line([1, 2], [2, 3], traj_id="SECRET"), "neither a point nor a line with 'times'"),
        (line([1, 2], [2, 3], traj_id="SECRET", times=[1]), "not as many times as positions"),
        (bad(geometry={"type": "Point", "coordinates": [1]}), "coordinates that are not numbers"),
        (bad(geometry={"type": "Point", "coordinates": ["SECRET", 1]}), "coordinates that are not numbers"),
        (bad(geometry={"type": "Point", "coordinates": [True, 1]}), "coordinates that are not numbers"),
        (bad(geometry={"type": "Point", "coordinates": [10**400, 1]}), "coordinates that are not numbers"),
        (bad(geometry={"type": "Point"}), "coordinates that are not numbers"),
        (bad(geometry={"type": "LineString", "coordinates": [1, 2]}, properties={"times": [1]}), "not numbers"),
        (bad(properties=[1]), "no geometry, or is no feature"),
        (feature(float("nan"), 1, traj_id="a", t=9), "'lon' is not a finite number"),
        (feature(1, float("-inf"), traj_id="a", t=9), "'lat' is not a finite number"),
        (feature(1, 91, traj_id="a", t=9), "latitude from -90 to 90"),
        (feature(1, 1, traj_id="a"), "'t' is empty"),
        (feature(1, 1, traj_id=None, t=9), "'traj_id' is empty"),
        (feature(1, 1, traj_id="a", t="SECRET"), "'t' is neither a whole number"),
        (line([1, 2], traj_id="a", times=[1]), "mixes points and lines"),
    ],
)
def test_bad_features(tmp_path: Path, wrong: dict[str, Any], words: str) -> None:
    in_lines = refused(lines(tmp_path, POINTS[0], wrong), words)
    in_document = refused(document(tmp_path, POINTS[0], wrong), words)
    if "mixes" not in words:
        assert "at line 2" in in_lines
        assert "at feature 2" in in_document


def test_bad_features_are_counted(tmp_path: Path) -> None:
    refused(
        lines(tmp_path, *POINTS, bad(geometry=None), bad(geometry=None)),
        "2 features have no geometry",
        "first at line 4",
    )


def test_broken_files(tmp_path: Path) -> None:
    whole = lines(tmp_path, *POINTS).read_text()
    (tmp_path / "cut.geojsonl").write_text(whole[:-20])
    refused(tmp_path / "cut.geojsonl", "line 3 is not valid JSON", "cut short")
    text = document(tmp_path, *POINTS).read_text()
    (tmp_path / "cut.geojson").write_text(text[: len(text) // 2])
    refused(tmp_path / "cut.geojson", "not valid JSON from line", "cut short")
    for content, words in (
        ("", "is empty"),
        ("[1, 2]", "not GeoJSON"),
        ('{"type": "Point", "coordinates": [1, 2]}', "not GeoJSON"),
        ('{"type": "FeatureCollection"}', "not GeoJSON"),
        ('{"type": "FeatureCollection", "features": []}', "no points"),
        ('{"type": "FeatureCollection", "features": ["SECRET"]}', "no feature at all"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a": ' + "1" * 5000 + "}", "too long to read"),
    ):
        (tmp_path / "bad.geojson").write_text(content)
        refused(tmp_path / "bad.geojson", words)
    for content, words in (
        (b"\n\n", "no points"),
        (b"[" * 200_000, "line 1 is not valid JSON"),
        (b'"\xff"', "UTF-8 at line 1"),
    ):
        (tmp_path / "bad.geojsonl").write_bytes(content)
        refused(tmp_path / "bad.geojsonl", words)
    (tmp_path / "bad.geojson").write_bytes(b'{\n"a": "\xff"}')
    refused(tmp_path / "bad.geojson", "not UTF-8 at line 2")
    refused(tmp_path / "none.geojson", "no such file")


def named(name: str) -> dict[str, Any]:
    return {"type": "name", "properties": {"name": name}}


def test_coordinate_systems(tmp_path: Path) -> None:
    crs84 = named("urn:ogc:def:crs:OGC:1.3:CRS84")
    assert read_points(document(tmp_path, *POINTS, crs=crs84)).data.frame.crs == "EPSG:4326"
    both = [{**POINTS[0], "crs": crs84}, POINTS[1]]
    assert read_points(lines(tmp_path, *both)).data.frame.degrees
    greek = feature(486253.8, 4207588.1, traj_id="a", t=1)
    mixed = [{**greek, "crs": named("EPSG:2100")}, {**greek, "crs": named("EPSG:32634")}]
    refused(lines(tmp_path, *mixed), "mixes the coordinate systems 'EPSG:2100', 'EPSG:32634'")
    refused(lines(tmp_path, mixed[0], POINTS[0]), "mixes the coordinate systems 'EPSG:2100', 'EPSG:4326'")
    refused(lines(tmp_path, {**greek, "crs": {"type": "link"}}), "'crs' has no name")
    refused(lines(tmp_path, {**greek, "crs": None}), "'crs' has no name")
    file = document(tmp_path, greek, crs=named("urn:ogc:def:crs:EPSG::2100"))
    assert read_points(file, ReadOptions(crs="planar")).data.record(0) == [(1, 486253.8, 4207588.1)]
    refused(file, "--crs says 'EPSG:4326', but the file says", options=ReadOptions(crs="EPSG:4326"))
    unsaid = document(tmp_path, greek)
    refused(unsaid, "If these are metres, say --crs planar")
    assert read_points(unsaid, ReadOptions(crs="planar")).data.record(0) == [(1, 486253.8, 4207588.1)]


def test_systems_that_are_looked_up(tmp_path: Path) -> None:
    greek = feature(486253.8, 4207588.1, traj_id="a", t=1)
    file = document(tmp_path, greek, crs=named("urn:ogc:def:crs:EPSG::2100"))
    assert read_points(file).data.frame.crs == "EPSG:2100"
    assert read_points(file, ReadOptions(crs="EPSG:2100")).data.frame.crs == "EPSG:2100"
    feet = document(tmp_path, greek, name="b.geojson", crs=named("EPSG:2263"))
    refused(feet, "coordinate system is 'EPSG:2263', but its unit is us survey foot")
    refused(file, "--crs says 'EPSG:32634', but the file says", options=ReadOptions(crs="EPSG:32634"))
    assert read_points(file, ReadOptions(crs="planar")).data.frame.crs == "EPSG:2100"


def test_any_damage_is_an_input_error_or_harmless(tmp_path: Path) -> None:
    raw = lines(tmp_path, *POINTS).read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(200):
        spoiled = bytearray(raw)
        spoiled[rng.integers(0, len(raw))] = rng.integers(0, 256)
        (tmp_path / "spoiled.geojsonl").write_bytes(bytes(spoiled))
        try:
            read_points(tmp_path / "spoiled.geojsonl")
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
