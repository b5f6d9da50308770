from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wayveil.commands.first_look import preview
from wayveil.errors import UsageError, WayveilError
from wayveil.io import sample


def look(folder: Path, text: str, name: str = "a.csv", **options: Any) -> dict[str, Any]:
    path = folder / name
    path.write_text(text)
    return preview(path, **options)


def roles(seen: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["role"] for column in seen["columns"]}


def problems(seen: dict[str, Any]) -> dict[str, list[str]]:
    return {column["name"]: column["problems"] for column in seen["columns"] if column["problems"]}


@pytest.mark.parametrize(
    ("header", "kind", "mapping"),
    [
        ("traj_id,t,location", "visits", {}),
        ("card,time,station", "visits", {"traj_id": "card", "t": "time", "location": "station"}),
        ("traj_id,t,x,y", "points", {}),
        ("trip,timestamp,Longitude,Latitude", "points", {"traj_id": "trip", "t": "timestamp"}),
        ("traj_id,seq,road", "routes", {}),
        ("trip,step,edge", "routes", {"traj_id": "trip", "seq": "step", "road": "edge"}),
        ("traj_id,t,place", "stops", {}),
        ("traj_id,seq,place", "stops", {}),
        ("person,trip,time,station", "visits", {"traj_id": "trip", "t": "time", "location": "station"}),
        ("traj_id,t,location,uid", "visits", {}),
        ("a,b,c", None, {}),
    ],
)  # fmt: skip
def test_the_kind_and_the_columns_are_guessed(tmp_path: Path, header: str, kind: str | None, mapping: Any) -> None:
    row = ",".join("1000" if name == "y" else "1" for name in header.split(","))
    seen = look(tmp_path, f"{header}\n{row}\n")
    assert (seen["kind"], seen["mapping"]) == (kind, mapping)
    people = [name for name in header.split(",") if name in ("card", "person", "uid")]
    assert seen["people"] == people  # who it is, is asked and never guessed
    assert bool(seen["problems"]) == (kind is None)
    assert roles(seen).keys() == set(header.split(","))
    if kind is None:
        assert set(roles(seen).values()) == {"ignored"}


def test_what_is_given_is_not_guessed(tmp_path: Path) -> None:
    text = "card,time,station,day\n1,2,x,4\n"
    seen = look(tmp_path, text, columns={"traj_id": "card", "t": "day", "location": "station"}, kind="visits")
    assert roles(seen) == {"card": "traj_id", "time": "attribute", "station": "location", "day": "t"}
    assert seen["mapping"] == {"traj_id": "card", "t": "day", "location": "station"}
    seen = look(tmp_path, text, columns={"traj_id": "card"})
    assert seen["kind"] is None
    assert roles(seen)["card"] == "traj_id"
    assert len(seen["problems"]) == 1


def test_degrees_and_geometries_have_roles(tmp_path: Path) -> None:
    assert list(roles(look(tmp_path, "traj_id,t,lon,lat\na,1,16.4,48.2\n")).values()) == ["traj_id", "t", "lon", "lat"]
    seen = look(tmp_path, "traj_id,t,geometry\na,1,POINT (16.4 48.2)\n", crs="EPSG:4326")
    assert roles(seen)["geometry"] == "geometry"
    assert seen["problems"] == []


def test_degrees_that_nobody_declared_are_a_problem(tmp_path: Path) -> None:
    text = "traj_id,t,x,y\na,1,16.4,48.2\n"
    assert ["could be degrees" in problem for problem in look(tmp_path, text)["problems"]] == [True]
    assert look(tmp_path, text, crs="planar")["problems"] == look(tmp_path, text, crs="degrees")["problems"] == []


def test_a_column_is_described(tmp_path: Path) -> None:
    rows = "".join(f"{i % 3},{i},{'' if i == 4 else f'p{i}'},2026-01-0{i + 1},{i}.5,\n" for i in range(5))
    seen = look(tmp_path, f"traj_id,t,location,day,speed,nothing\n{rows}")
    assert [column["type"] for column in seen["columns"]] == ["integer", "integer", "text", "time", "number", "empty"]
    location = seen["columns"][2]
    assert (location["examples"], location["missing"], location["distinct"]) == (["p0", "p1", "p2"], 1, 4)
    assert seen["rows"] == seen["at_least"] == 5
    assert seen["preview"][0] == ["0", "0", "p0", "2026-01-01", "0.5", None]
    assert seen["attributes"]["day"] == [f"2026-01-0{i}" for i in range(1, 6)]
    assert all("position" not in column for column in seen["columns"])


def test_problems_are_told_per_column_and_without_values(tmp_path: Path) -> None:
    text = "traj_id,t,x,y,colour\na,1,1,2,red\n,2,far,2,red\na,soon,3,inf,blue\n"
    seen = look(tmp_path, text)
    told = problems(seen)
    assert sorted(told) == ["colour", "t", "traj_id", "x", "y"]
    assert told["traj_id"] == [
        "column 'traj_id' has no value in 1 row, at line 3. Fill in the value or remove the row."
    ]
    assert "not a number in 1 row, at line 3" in told["x"][0]
    assert "line 4" in told["y"][0]
    assert "changes within a trajectory" in told["colour"][0]
    assert not [s for sentences in told.values() for s in sentences if "far" in s or "soon" in s or str(tmp_path) in s]


def test_what_the_reader_says_of_no_column_is_a_problem_of_the_file(tmp_path: Path) -> None:
    text = "traj_id,t,location\na,1,x\na,1,y\n"
    seen = look(tmp_path, text)
    assert len(seen["problems"]) + len(problems(seen)) == 1
    fixed = look(tmp_path, text, on_duplicate_time="first")
    assert fixed["problems"] == []
    assert problems(fixed) == {}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.gpx", "a.geojson", "a.csv.gz", "a.txt", "a.plt"])
@pytest.mark.parametrize("text", ["", "\x00\x01", "traj_id,t,location", "<gpx", "{", "1,2,3\n4,5,6\n", "one\n1\n"])
def test_any_file_gives_columns_or_a_sentence(tmp_path: Path, name: str, text: str) -> None:
    seen = look(tmp_path, text, name)
    assert seen["problems"]
    assert not [sentence for sentence in seen["problems"] if str(tmp_path) in sentence or "\n" in sentence]


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    seen = look(tmp_path, "traj_id,t,location\n")
    assert seen["problems"] == ["The file has a header but no rows."]
    assert seen["preview"] == []


def test_tracks_and_features_are_points(tmp_path: Path) -> None:
    point = '<trkpt lat="48.2" lon="16.4"><time>2026-01-01T00:00:0{}Z</time></trkpt>'
    track = "<gpx><trk><trkseg>" + "".join(point.format(i) for i in range(3)) + "</trkseg></trk></gpx>"
    seen = look(tmp_path, track, "a.gpx")
    assert (seen["kind"], seen["rows"], seen["problems"]) == ("points", 3, [])
    feature = {"type": "Feature", "properties": {"traj_id": "a", "t": 1},
               "geometry": {"type": "Point", "coordinates": [16.4, 48.2]}}  # fmt: skip
    seen = look(tmp_path, json.dumps({"type": "FeatureCollection", "features": [feature]}), "a.geojson")
    assert (seen["kind"], seen["rows"]) == ("points", 1)


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    frame = pl.DataFrame({"traj_id": [1, 2], "t": [3, 4], "location": ["a", "b"], "raw": [b"x", None], "v": [0.5, 1.5]})
    frame.write_parquet(tmp_path / "a.parquet")
    seen = preview(tmp_path / "a.parquet")
    assert [column["type"] for column in seen["columns"]] == ["integer", "integer", "text", "binary", "number"]
    assert seen["columns"][3]["examples"] == ["(binary)"]
    assert seen["columns"][3]["missing"] == 1


def test_only_the_head_of_a_large_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "_BYTES", 1000)
    body = "".join(f"{i},{i},x\n" for i in range(1000)) + "bad line,,,,,\n"
    seen = look(tmp_path, f"traj_id,t,location\n{body}")
    assert (seen["kind"], seen["rows"], seen["problems"]) == ("visits", None, [])
    assert 50 < seen["at_least"] < 200
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(f"traj_id,t,location\n{body}".encode()))
    assert preview(tmp_path / "a.csv.gz") == seen


def test_more_rows_than_are_looked_at_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.io.preview.ROWS", 10)
    seen = look(tmp_path, "traj_id,t,location\n" + "".join(f"{i},{i},x\n" for i in range(50)))
    assert seen["rows"] == seen["at_least"] == 50
    assert seen["columns"][0]["distinct"] == 10


def test_files_beside_the_data_are_only_shown(tmp_path: Path) -> None:
    seen = look(tmp_path, "road,from_node,to_node\nr,a,b\n", role="network")
    assert (seen["kind"], set(roles(seen).values()), seen["problems"]) == (None, {"ignored"}, [])
    seen = look(tmp_path, "<graphml/>", "a.graphml", role="network")
    assert (seen["columns"], seen["problems"]) == ([], [])


def test_the_nodes_of_a_taxonomy_are_listed(tmp_path: Path) -> None:
    rows = "node,parent,sensitive\nClinic,Health,\nHealth,Place,yes\nPlace,,\n"
    seen = look(tmp_path, rows, role="taxonomy")
    nodes = [
        {"name": "Place", "parent": None, "sensitive": False},
        {"name": "Health", "parent": "Place", "sensitive": True},
        {"name": "Clinic", "parent": "Health", "sensitive": True},
    ]
    assert seen["nodes"] == nodes
    assert look(tmp_path, "amenity/bar\namenity/clinic\n", "a.txt", role="taxonomy")["nodes"]
    wrong = look(tmp_path, "node,parent\na,b\n", role="taxonomy")
    assert len(wrong["problems"]) == 1
    assert wrong["columns"] == []


def test_too_many_columns_are_not_shown(tmp_path: Path) -> None:
    seen = look(tmp_path, ",".join(f"c{i}" for i in range(501)) + "\n" + "1," * 500 + "1\n")
    assert seen["columns"] == []
    assert seen["problems"] == ["the table has 501 columns; tables of up to 500 can be shown."]


def test_unknown_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no kind of data 'cars'"):
        look(tmp_path, "a,b\n1,2\n", kind="cars")
    with pytest.raises(WayveilError, match="on_duplicate_time"):
        look(tmp_path, "a,b\n1,2\n", on_duplicate_time="both")
