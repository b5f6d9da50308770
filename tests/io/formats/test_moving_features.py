"""OGC Moving Features JSON, and layers of points through pyogrio."""

from __future__ import annotations

import json

import pytest

from wayveil.errors import InputError
from wayveil.io import ReadOptions, read_points
from wayveil.io.formats.vector_files import convert_vector


def _moving(*parts: tuple[list, list]) -> dict:
    prisms = [{"type": "MovingPoint", "coordinates": places, "datetimes": times} for places, times in parts]
    moving = prisms[0] if len(prisms) == 1 else {"type": "MovingGeometryCollection", "prisms": prisms}
    return {"type": "Feature", "temporalGeometry": moving, "properties": {"name": "storm"}}


def test_a_moving_point_is_a_trajectory(tmp_path) -> None:
    one = ([[8.5, 50.1], [8.6, 50.2]], ["2021-01-01T10:00:00Z", "2021-01-01T11:00:00Z"])
    two = ([[8.7, 50.3]], ["2021-01-01T12:00:00Z"])
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [_moving(one), _moving(one, two)]}))
    data = read_points(path, ReadOptions(owners="each-trajectory")).data
    assert [len(data.record(i)) for i in range(len(data))] == [2, 3]


def test_a_moving_point_without_times_is_refused(tmp_path) -> None:
    path = tmp_path / "a.json"
    feature = _moving(([[8.5, 50.1]], []))
    path.write_text(json.dumps(feature))
    with pytest.raises(InputError, match="not as many times as positions"):
        read_points(path, ReadOptions(owners="each-trajectory"))


@pytest.mark.parametrize("suffix", [".gpkg", ".fgb", ".shp"])
def test_layers_of_points_are_read(tmp_path, suffix) -> None:
    geopandas = pytest.importorskip("geopandas")
    pytest.importorskip("pyogrio")
    from shapely.geometry import Point

    content = {"traj_id": ["a", "a", "b"], "user_id": ["u", "u", "v"], "t": [1, 2, 1]}
    frame = geopandas.GeoDataFrame(content, geometry=[Point(8.5, 50.1), Point(8.6, 50.1), Point(8.5, 50.2)], crs=4326)
    path = tmp_path / f"layer{suffix}"
    frame.to_file(path)
    data = read_points(convert_vector(path, tmp_path, shown="layer")).data
    assert data.frame.degrees
    assert sorted(len(data.record(i)) for i in range(len(data))) == [1, 2]


def test_a_damaged_layer_is_one_sentence(tmp_path) -> None:
    pytest.importorskip("pyogrio")
    path = tmp_path / "a.gpkg"
    path.write_bytes(b"SQLite format 3\0 and then nothing")
    with pytest.raises(InputError, match="cannot be read"):
        convert_vector(path, tmp_path, shown="a.gpkg")
