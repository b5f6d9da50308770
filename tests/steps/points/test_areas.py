"""Sensitive areas: what is inside is gone or at one position, for everybody; the rest is as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import WayveilError
from wayveil.model import Points
from wayveil.model.places.zone_polygons import ZonePolygons
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.steps import Areas

BOXES = {"clinic": (2, 2, 4, 5), "church": (6, 0, 7, 9)}
ZONES = ZonePolygons(
    name=tuple(BOXES), shape=tuple(shapely.to_wkb(shapely.box(*corners)) for corners in BOXES.values())
)
tracks = st.lists(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=6), min_size=1, max_size=5)


def is_inside(x: float, y: float) -> bool:
    return any(a <= x <= c and b <= y <= d for a, b, c, d in BOXES.values())


@settings(deadline=None, max_examples=100)
@given(tracks)
def test_pieces_are_the_stretches_outside(drawn: list[list[tuple[int, int]]]) -> None:
    records = [[(t, float(x), float(y)) for t, (x, y) in enumerate(track)] for track in drawn]
    data = Points.from_records(records, owner=list(range(len(records))))
    expected: list[tuple[int, list[tuple[int, float, float]]]] = []
    for who, record in enumerate(records):
        if not record:
            expected.append((who, []))
        piece: list[tuple[int, float, float]] = []
        for row in [*record, (99, 3.0, 3.0)]:  # the last one is inside, and ends the last piece
            if not is_inside(row[1], row[2]):
                piece.append(row)
            elif piece:
                expected.append((who, piece))
                piece = []
    pieces, _, source = Areas().run_with_origin(data, zones=ZONES)
    assert [(int(pieces.owner[i]), pieces.record(i)) for i in range(len(pieces))] == expected
    assert source.tolist() == [who for who, _ in expected]
    moved, _ = Areas(do="move").run(data, zones=ZONES)
    for before, after in zip(records, [moved.record(i) for i in range(len(moved))], strict=True):
        for (t, x, y), (t_after, x_after, y_after) in zip(before, after, strict=True):
            assert t == t_after
            assert is_inside(x_after, y_after) if is_inside(x, y) else (x, y) == (x_after, y_after)
    at = {(x, y) for i in range(len(moved)) for _, x, y in moved.record(i) if is_inside(x, y)}
    assert len(at) <= len(BOXES)  # one position of each area, the same for everybody


def test_published_from_a_file_of_areas(tmp_path: Path) -> None:
    """Four people who go through an area side by side: nothing of it is published, and a file must be given."""
    rows = [f"T{who},P{who},{t},{23.7 + 0.001 * t:.4f},{37.95 + who / 1e5:.5f}" for who in range(4) for t in range(10)]
    (tmp_path / "points.csv").write_text("\n".join(["traj_id,user_id,t,lon,lat", *rows]) + "\n")
    ring = [[23.7035, 37.9], [23.7065, 37.9], [23.7065, 38.0], [23.7035, 38.0], [23.7035, 37.9]]
    area = {"type": "Feature", "properties": {"id": "clinic"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    (tmp_path / "areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [area]}))
    content: dict[str, Any] = {
        "input": {"path": str(tmp_path / "points.csv"), "zones": str(tmp_path / "areas.geojson")},
        "prepare": [{"step": "areas"}],
        "method": {"name": "nwa", "k": 4},
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }
    outcome = publish(make_recipe(content))
    assert outcome.public is not None
    lines = (outcome.public / "published.csv").read_text().splitlines()[1:]
    x = np.array([float(line.split(",")[2]) for line in lines])
    assert len(x) == 4 * 7
    assert not ((x >= 23.7035) & (x <= 23.7065)).any()
    assert "linked_pieces" in [after.name for _, after in outcome.attacks]
    content["input"] = {"path": str(tmp_path / "points.csv")}
    content["output"] = {"path": str(tmp_path / "other")}
    with pytest.raises(WayveilError, match="areas needs zones: give a file of polygons with --zones"):
        publish(make_recipe(content))
