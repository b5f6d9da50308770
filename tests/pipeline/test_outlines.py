"""Outlines of zones: published with the data, from published names and declared polygons alone, and checked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.pipeline.folder.outlines import zone_rings
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

SECRET = Secret(bytes(32))


def square(x: float, y: float) -> dict[str, Any]:
    ring = [[x, y], [x + 0.01, y], [x + 0.01, y + 0.01], [x, y + 0.01], [x, y]]
    return {"type": "Polygon", "coordinates": [ring]}


def recipe(folder: Path, *, stranger: bool, step: dict[str, Any], form: str = "csv") -> Any:
    rows = [(f"T{i}", f"P{i}", t, f"stop-{i % 2}") for i in range(12) for t in (1, 2)]
    rows += [("TX", "PX", 1, "stop-0"), ("TX", "PX", 7, "hut" if stranger else "shed")]
    folder.mkdir()
    table = folder / "visits.csv"
    table.write_text("traj_id,user_id,t,location\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in rows))
    at = {"stop-0": (23.701, 37.951), "stop-1": (23.712, 37.952), "hut": (23.775, 37.985), "shed": (23.785, 37.995)}
    places = folder / "places.csv"
    places.write_text("location,lon,lat\n" + "".join(f"{name},{x},{y}\n" for name, (x, y) in at.items()))
    zones = folder / "zones.geojson"
    drawn = [square(23.70 + 0.01 * i, 37.95 + 0.01 * j) for i in range(10) for j in range(5)]
    features = [
        {"type": "Feature", "geometry": shape, "properties": {"taz": f"zone {i:02d}"}} for i, shape in enumerate(drawn)
    ]
    zones.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return make_recipe(
        {
            "input": {"path": str(table), "places": str(places), "zones": str(zones)},
            "prepare": [{"step": "zones", **step}],
            "method": {"name": "kcl", "k": 3, "l": 1},
            "attacks": [],
            "metrics": [],
            "seed": 1,
            "output": {"path": str(folder / "out"), "format": form},
        }
    )


STEPS: list[dict[str, Any]] = [{}, {"cell": 500}, {"h3": 8}]


@pytest.mark.parametrize("step", STEPS, ids=["polygons", "cells", "h3"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_who_is_not_published_changes_no_byte(tmp_path: Path, step: dict[str, Any], form: str) -> None:
    """Somebody's own zone, which is suppressed, is not among the outlines, and no other byte tells of it."""
    if "h3" in step:
        pytest.importorskip("h3")
    found = []
    for stranger in (False, True):
        one = recipe(tmp_path / str(stranger), stranger=stranger, step=step, form=form)
        publish(one, secret=SECRET)
        public = one.output.path / "public"
        found.append({path.name: path.read_bytes() for path in sorted(public.iterdir())})
        judged = verify_folder(public)
        assert not judged.failures
        table = public / f"published.{form}"
        rows = pl.read_csv(table) if form == "csv" else pl.read_parquet(table)
        outlines = pl.read_csv(public / "zones.csv") if form == "csv" else pl.read_parquet(public / "zones.parquet")
        assert outlines["zone"].to_list() == sorted(set(rows["location"]))
        assert outlines["geometry"].str.starts_with("POLYGON ((").all()
    assert set(found[0]) == {"README.html", "manifest.json", f"published.{form}", f"zones.{form}"}
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("POLYGON", "LINESTRING"), "no polygon|its name says"),
        (lambda text: text + 'hidden,"POLYGON ((0 0, 1 0, 1 1, 0 0))"\n', "not those of the published zones"),
        (lambda text: "\n".join(text.splitlines()[:-1]) + "\n", "not those of the published zones"),
        (lambda text: text.replace("zone,", "place,", 1), "other columns"),
        (lambda text: text.replace("0 ", "1 ", 1), "its name says"),
        (lambda text: text.replace(",", ",,", 1), "cannot be read|other columns"),
    ],
)
def test_other_outlines_fail(tmp_path: Path, change: Any, sentence: str) -> None:
    one = recipe(tmp_path / "run", stranger=False, step={"cell": 500})
    publish(one, secret=SECRET)
    public = one.output.path / "public"
    file = public / "zones.csv"
    file.write_text(change(file.read_text()))
    judged = verify_folder(public)
    assert judged.holds is False
    assert any(re.search(sentence, failure) for failure in judged.failures), judged.failures


def test_the_original_gives_the_same_outlines_again(tmp_path: Path) -> None:
    one = recipe(tmp_path / "run", stranger=False, step={"id": "taz"})
    publish(one, secret=SECRET)
    assert verify_folder(one.output.path / "public", original=one.input.path).holds


def test_rings_of_zones_for_a_map_are_closed_and_in_metres(tmp_path: Path) -> None:
    def recipe(**step: Any) -> Any:
        source = {"path": "x.csv", "zones": "z.geojson"} if step.get("by") == "polygons" else {"path": "x.csv"}
        output = {"path": str(tmp_path)}
        method = {"name": "kcl", "k": 2, "l": 1}
        return make_recipe({"input": source, "prepare": [step], "method": method, "output": output})

    rings = zone_rings(recipe(step="grid", cell=250, bucket="1h"), ["x2_y-1", "Park"])
    assert {name: (x.tolist(), y.tolist()) for name, (x, y) in rings.items()} == {
        "x2_y-1": ([500, 750, 750, 500, 500], [-250, -250, 0, 0, -250])
    }
    rings = zone_rings(recipe(step="zones", cell=500), ["x0..1000_y0..1000", "x1000.._y0..1000"])
    assert rings["x1000.._y0..1000"][0].max() == 1100  # an open side ends a little outside
    degrees = zone_rings(recipe(step="zones", cell=500), ["lon11..12_lat60..61"])["lon11..12_lat60..61"]
    assert np.ptp(degrees[1]) == pytest.approx(111_195)
    assert np.ptp(degrees[0]) == pytest.approx(111_195 * np.cos(np.radians(60.4)), rel=0.01)
    assert zone_rings(recipe(step="bucket", width="1h"), ["x2_y-1"]) == {}
