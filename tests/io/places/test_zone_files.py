"""Zones from files: what is read, what is guessed and said, and what is refused with one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import shapely

from wayveil.errors import InputError
from wayveil.io.places.zone_files import read_zones
from wayveil.model import Frame

DEGREES = Frame(crs="EPSG:4326", degrees=True)


def square(x: float, y: float, side: float = 1.0) -> list[list[float]]:
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]


def polygon(*rings: list[list[float]]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def write(path: Path, shapes: list[Any], properties: list[dict[str, Any]], **more: Any) -> Path:
    features = [
        {"type": "Feature", "geometry": shape, "properties": said}
        for shape, said in zip(shapes, properties, strict=True)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **more}))
    return path


def test_holes_and_several_polygons_stay(tmp_path: Path) -> None:
    several = {"type": "MultiPolygon", "coordinates": [[square(10, 0)], [square(20, 0)]]}
    ring = polygon(square(0, 0, 4), square(1, 1, 1))
    zones = read_zones(write(tmp_path / "z.geojson", [ring, several], [{"taz": 1}, {"taz": 2.0}]), frame=DEGREES)
    assert zones.name == ("1", "2")
    assert shapely.area(shapely.from_wkb(list(zones.shape))).tolist() == [15.0, 2.0]


@pytest.mark.parametrize(
    ("properties", "column"),
    [
        ([{"a": 1, "GEOID": "x"}, {"a": 2, "GEOID": "y"}], "GEOID"),
        ([{"GEOID": "x", "b": "p"}, {"GEOID": "x", "b": "q"}], "b"),
        ([{"name": "x", "area": [1]}, {"name": "y", "area": [2]}], "name"),
    ],
)
def test_the_id_is_guessed_and_said(tmp_path: Path, properties: list[dict[str, Any]], column: str) -> None:
    file = write(tmp_path / "z.geojson", [polygon(square(0, 0)), polygon(square(1, 0))], properties)
    zones = read_zones(file, frame=DEGREES)
    assert zones.name == tuple(str(row[column]) for row in properties)
    assert zones.notes == (f"The ids of the zones were taken from column {column!r}; name another with id=COLUMN.",)
    assert read_zones(file, id_column=column, frame=DEGREES).notes == ()


@pytest.mark.parametrize(
    ("shapes", "properties", "id_column", "sentence"),
    [
        (
            [square(0, 0), square(0.5, 0)],
            [{"i": 1}, {"i": 2}],
            "auto",
            "overlaps, first features 1 and 2; a",
        ),
        ([square(0, 0), square(0, 0)], [{"i": 1}, {"i": 2}], "auto", "1 pair of zones overlaps"),
        ([square(0, 0), square(2, 0)], [{"i": 1}, {"i": 1}], "auto", "no column tells the zones apart"),
        ([square(0, 0), square(2, 0)], [{"i": 1}, {"i": 1}], "i", "in column 'i' an id stands twice"),
        ([square(0, 0), square(2, 0)], [{"i": 1}, {"i": None}], "i", "in column 'i' 1 zone has no id"),
        ([square(0, 0), square(2, 0)], [{"zone": 1}, {"zone": 2}], "zones", "there is no column 'zones'"),
        ([[[0, 0], [1, 1], [0, 0], [0, 0]]], [{"i": 1}], "auto", "no area"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, shapes: list[Any], properties: list[dict[str, Any]], id_column: str, sentence: str
) -> None:
    file = write(tmp_path / "z.geojson", [polygon(ring) for ring in shapes], properties)
    with pytest.raises(InputError, match=sentence):
        read_zones(file, id_column=id_column, frame=DEGREES)


def test_other_shapes_empty_files_and_other_endings_are_refused(tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}
    for shape in (line, {"type": "Point", "coordinates": [0, 0]}, None, {"type": "Polygon", "coordinates": "x"}):
        with pytest.raises(InputError, match="1 feature is no polygon of finite numbers, at feature 2"):
            read_zones(write(tmp_path / "z.geojson", [polygon(square(0, 0)), shape], [{"i": 1}, {"i": 2}]))
    with pytest.raises(InputError, match="there are no zones"):
        read_zones(write(tmp_path / "z.geojson", [], []))
    with pytest.raises(InputError, match="is told by the suffix"):
        read_zones(tmp_path / "z.kml")
    with pytest.raises(InputError, match="no such file"):
        read_zones(tmp_path / "none.geojson")


def test_a_sliver_between_neighbours_is_no_overlap(tmp_path: Path) -> None:
    near = [polygon(square(0, 0)), polygon(square(0.9999, 0))]
    assert len(read_zones(write(tmp_path / "z.geojson", near, [{"i": 1}, {"i": 2}]), frame=DEGREES)) == 2


def test_a_bow_tie_is_repaired_and_counted(tmp_path: Path) -> None:
    tie = polygon([[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]])
    zones = read_zones(write(tmp_path / "z.geojson", [tie], [{"i": 1}]), frame=DEGREES)
    assert zones.notes[-1] == "Borders that cross themselves were repaired in 1 zone."
    assert shapely.area(shapely.from_wkb(zones.shape[0])) == pytest.approx(2)


def test_degrees_and_metres_do_not_meet(tmp_path: Path) -> None:
    degrees = write(tmp_path / "d.geojson", [polygon(square(0, 0))], [{"i": 1}])
    with pytest.raises(InputError, match="the zones are in degrees, the data in planar"):
        read_zones(degrees, frame=Frame())
    far = write(tmp_path / "m.geojson", [polygon(square(4e5, 4e6, 100))], [{"i": 1}])
    with pytest.raises(InputError, match="no longitudes and latitudes"):
        read_zones(far, frame=DEGREES)


def test_geopackage_and_shapefile_in_another_system_are_the_same_zones(tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    pytest.importorskip("pyogrio")
    plain = write(
        tmp_path / "z.geojson",
        [polygon(square(-74.05, 40.71, 0.01)), polygon(square(-74.04, 40.71, 0.01), square(-74.037, 40.713, 0.002))],
        [{"TRACT": "a"}, {"TRACT": "b"}],
    )
    frame = geopandas.read_file(plain).to_crs(32618)
    first = read_zones(plain, frame=DEGREES)
    for ending in ("gpkg", "shp"):
        frame.to_file(tmp_path / f"z.{ending}")
        other = read_zones(tmp_path / f"z.{ending}", frame=DEGREES)
        assert other.name == first.name
        mine = shapely.from_wkb(list(first.shape))
        theirs = shapely.from_wkb(list(other.shape))
        assert (shapely.hausdorff_distance(mine, theirs) < 1e-7).all()
