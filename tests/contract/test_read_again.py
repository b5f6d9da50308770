"""What Wayveil publishes it reads again: with the declaration who the person is, and no other option, the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tables import write_inputs
from test_frozen_bytes import SECRET, case_id, cases, make_content

from wayveil.commands.inspect import Inspection, inspect_file
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.io import to_polars
from wayveil.model import Boxes
from wayveil.pipeline.folder.manifest import read_manifest, tables
from wayveil.pipeline.input import load, load_published
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_input, make_recipe

Case = tuple[str, str, str | None]


def whole_cases() -> Iterator[Case]:
    """Yield every method and kind that it takes, as csv and as parquet."""
    yield from (case for case in cases() if case[2] is None)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def published(content: dict[str, Any], **given: Any) -> Path:
    recipe = make_recipe({**content, "attacks": [], "metrics": [], **given})
    public = publish(recipe, engine=LocalEngine(workers=1), secret=SECRET).public
    assert public is not None
    return public


def rows_in(public: Path) -> pl.DataFrame:
    """Return the rows as the manifest describes them."""
    said = load_published(public, read_manifest(public)[0])
    return to_polars(said.data, ids=said.ids.to_list())


def read_again(public: Path, **beside: str) -> Any:
    """Read the published table as anybody's table."""
    table = public / tables(read_manifest(public)[0])[0]
    return load(make_input({"path": str(table), "owners": "each-trajectory", **beside}), attributes=None)


def inspect_again(public: Path) -> Inspection:
    """Look at the published folder with the declaration who the person is, and no other option."""
    return inspect_file(make_input({"path": str(public), "owners": "each-trajectory"}))


def check_inspection(public: Path, kind: str) -> None:
    """Check that the recipe of an inspection reads every row as it was published; of some kinds there is none."""
    seen = inspect_again(public)
    if kind in ("routes", "stops"):
        assert f"this is a table of {kind}" in seen.refusal
        return
    assert seen.questions == ()
    assert seen.content is not None, seen.refusal
    spec = make_input(dict(seen.content["input"]))
    assert (spec.kind, spec.bad_rows) == (kind, "refuse")
    again = load(spec, attributes=None)
    rows = to_polars(again.data, ids=again.ids.to_list())
    assert rows.equals(rows_in(public))


@pytest.mark.parametrize("case", list(whole_cases()), ids=case_id)
def test_published_rows_are_read_again(case: Case, inputs: Path, tmp_path: Path) -> None:
    public = published(make_content(case, inputs, tmp_path / "out"))
    made = load_published(public, read_manifest(public)[0]).data
    if isinstance(made, Boxes):
        with pytest.raises(InputError, match="a published table of boxes"):
            read_again(public)
        assert "a published table of boxes" in inspect_again(public).refusal
        return
    if not made.individual:
        with pytest.raises(InputError, match="a published table of counts"):
            read_again(public)
        assert "a published table of counts" in inspect_again(public).refusal
        return
    again = read_again(public, **({"network": str(inputs / "network.csv")} if made.kind == "routes" else {}))
    assert (again.data.kind, again.data.owners, again.data.time_format) == (made.kind, "declared", made.time_format)
    rows = to_polars(again.data, ids=again.ids.to_list())
    if made.kind == "stops":
        # A stop at an inner node is put below it, so that it can be generalised again; a note says so.
        assert any("(unspecified)" in note for note in again.notes)
        rows = rows.with_columns(pl.col("place").str.strip_suffix(" (unspecified)"))
    assert rows.height > 0
    assert rows.equals(rows_in(public))
    check_inspection(public, made.kind)


METRES = (470_000.0, 4_200_000.0)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("names", "origin", "scale", "crs"),
    [
        ("lon,lat", (23.7, 37.9), 1e-5, None),
        ("lon,lat", (23.7, 37.9), 1e-5, "EPSG:4258"),
        ("x,y", METRES, 1.0, None),
        ("x,y", METRES, 1.0, "EPSG:2100"),
        ("x,y", (0.0, 0.0), 0.1, "planar"),
    ],
    ids=["degrees", "other degrees", "metres", "projected", "metres that could be degrees"],
)
def test_published_points_are_where_they_were(
    names: str, origin: tuple[float, float], scale: float, crs: str | None, form: str, tmp_path: Path
) -> None:
    rows = [
        f"T{person},P{person},2024-05-06T08:0{t}:00Z,{origin[0] + scale * 100 * t:.7f},{origin[1] + scale * person:.7f}"
        for person in range(6)
        for t in range(4)
    ]
    table = tmp_path / "input.csv"
    table.write_text("\n".join([f"traj_id,user_id,t,{names}", *rows]) + "\n")
    content = {
        "seed": 1,
        "input": {"path": str(table), "crs": crs},
        "method": {"name": "nwa", "k": 2, "delta": 0},
        "output": {"path": str(tmp_path / "out"), "format": form},
    }
    public = published(content)
    again = read_again(public)
    assert again.data.frame.crs == (crs or ("EPSG:4326" if names == "lon,lat" else "planar"))
    assert to_polars(again.data, ids=again.ids.to_list()).equals(rows_in(public))
    check_inspection(public, "points")
    # An edited table is not what the manifest describes.
    if crs == "planar" and form == "csv":
        (public / "published.csv").write_text((public / "published.csv").read_text() + "\n")
        with pytest.raises(InputError, match="all of them could be degrees"):
            read_again(public)


def test_what_was_read_again_can_be_published_again(inputs: Path, tmp_path: Path) -> None:
    """Routes keep their slices, so that people are hidden among the same others."""
    content = make_content(("prefix", "csv", None), inputs, tmp_path / "first")
    public = published(content)
    again = {"path": str(public / "published.csv"), "owners": "each-trajectory", "network": str(inputs / "network.csv")}
    for name, blocks in (("at-once", {}), ("blocks", {"blocks": {"by": "slice", "rows": 140}})):
        twice = published(content, input=again, output={"path": str(tmp_path / name), "format": "csv"}, **blocks)
        assert rows_in(twice).drop("traj_id").sort(pl.all()).equals(rows_in(public).drop("traj_id").sort(pl.all()))
