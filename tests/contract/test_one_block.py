"""Blocks that were never needed change nothing: one block is published, attacked and measured like a whole table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tables import CONFIGURED, write_inputs

from wayveil.engines import LocalEngine
from wayveil.errors import UsageError
from wayveil.methods import METHODS
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.outcome import Outcome
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

CASES = [(name, key) for name in sorted(METHODS) for key in METHODS[name].blocks]
TIMED = ("timings_s", "usage", "total_s", "created")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def content(name: str, inputs: Path, out: Path, **others: Any) -> dict[str, Any]:
    """Return a recipe; routes are of one slice of time, which several blocks would not allow."""
    kind = METHODS[name].accepts.__name__.lower()
    beside = {"routes": {"network": "network.csv"}, "stops": {"taxonomy": "taxonomy.csv"}}.get(kind, {})
    return {
        "seed": 1,
        "input": {"path": str(inputs / f"{kind}.csv"), **{k: str(inputs / v) for k, v in beside.items()}},
        "method": {"name": name, **CONFIGURED[name]},
        "output": {"path": str(out), "format": "csv", "keep_mapping": True},
        **others,
    }


def run(asked: dict[str, Any]) -> Outcome:
    return publish(make_recipe(asked), engine=LocalEngine(workers=1), secret=Secret(bytes(32)))


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def results_of(out: Path) -> dict[str, Any]:
    found = json.loads((out / "private/results.json").read_text())
    return {name: value for name, value in found.items() if name not in TIMED}


@pytest.fixture(scope="module")
def whole(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every method with blocks, published without them."""
    found = {}
    for name in sorted({name for name, _ in CASES}):
        found[name] = tmp_path_factory.mktemp(name) / "out"
        run(content(name, inputs, found[name]))
    return found


@pytest.mark.parametrize(("name", "key"), CASES, ids=[f"{name}-{key}" for name, key in CASES])
def test_one_block_is_published_and_measured_like_a_whole_table(
    name: str, key: str, inputs: Path, whole: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(content(name, inputs, out, blocks={"by": key, "rows": 10_000}))
    assert files_of(out / "public") == files_of(whole[name] / "public")
    got, expected = results_of(out), results_of(whole[name])
    # attacks, metrics and views are there by name, and are the same in every number
    assert [pair["raw"]["name"] for pair in got["attacks"]] == [pair["raw"]["name"] for pair in expected["attacks"]]
    assert [score["name"] for score in got["scores"]] == [score["name"] for score in expected["scores"]]
    assert got["views"]
    assert got == expected
    private = {"mapping.csv", "seed.txt", "secret.txt"}
    one, other = files_of(out / "private"), files_of(whole[name] / "private")
    assert {file: one[file] for file in private} == {file: other[file] for file in private}


def test_a_block_of_just_so_many_rows_is_one_and_with_a_row_less_there_are_several(
    inputs: Path, tmp_path: Path
) -> None:
    rows = pl.read_csv(inputs / "visits.csv").height
    for n, several in ((rows, False), (rows - 1, True)):
        asked = content("kcl", inputs, tmp_path / str(n), blocks={"by": "whole", "rows": n})
        asked["output"]["keep_mapping"] = False
        outcome = run(asked)
        assert any("takes all data at once" in note for note in outcome.notes) is several
        assert ("Parts" in outcome.output_facts) is several


def test_trips_that_fit_into_one_block_are_published_as_without_blocks(inputs: Path, tmp_path: Path) -> None:
    given = {"path": str(inputs / "trips.csv")}
    more = {"input": given, "attacks": [], "metrics": []}
    run(content("kcl", inputs, tmp_path / "whole", **more))
    run(content("kcl", inputs, tmp_path / "block", blocks={"by": "whole", "rows": 10_000}, **more))
    assert files_of(tmp_path / "block/public") == files_of(tmp_path / "whole/public")
    asked = content("kcl", inputs, tmp_path / "several", blocks={"by": "whole", "rows": 20}, **more)
    asked["output"]["keep_mapping"] = False
    assert "Parts" in run(asked).output_facts


def test_one_block_can_be_gzipped_or_have_its_owners_in_another_table(inputs: Path, tmp_path: Path) -> None:
    table = pl.read_csv(inputs / "visits.csv")
    table.drop("user_id").write_csv(tmp_path / "visits.csv.gz", compression="gzip")
    table.select("traj_id", "user_id").unique(maintain_order=True).write_csv(tmp_path / "owners.csv")
    given = {"path": str(tmp_path / "visits.csv.gz"), "owners": str(tmp_path / "owners.csv")}
    more = {"attacks": [], "metrics": []}
    run(content("kcl", inputs, tmp_path / "whole", input=given, **more))
    run(content("kcl", inputs, tmp_path / "block", input=given, blocks={"by": "whole", "rows": 10_000}, **more))
    assert files_of(tmp_path / "block/public") == files_of(tmp_path / "whole/public")
    with pytest.raises(UsageError, match="leave --keep-mapping out"):
        run(content("kcl", inputs, tmp_path / "several", input=given, blocks={"by": "whole", "rows": 100}, **more))
    assert not (tmp_path / "several").exists()


def test_one_block_can_be_geojson_and_have_known_times(inputs: Path, tmp_path: Path) -> None:
    table = pl.read_csv(inputs / "points.csv")
    degrees = table.select(
        "traj_id",
        "user_id",
        t=1_700_000_000 + pl.col("t"),
        lon=11 + pl.col("x") / 70_000,
        lat=45 + pl.col("y") / 111_000,
    )
    degrees.write_csv(tmp_path / "points.csv")
    degrees.select("traj_id", "t").gather_every(5).write_csv(tmp_path / "known.csv")
    more = {
        "input": {"path": str(tmp_path / "points.csv"), "known": str(tmp_path / "known.csv")},
        "attacks": [],
        "metrics": [],
    }
    for out, blocks in (("whole", None), ("block", {"by": "place", "rows": 10_000})):
        asked = content("tga", inputs, tmp_path / out, blocks=blocks, **more)
        asked["output"]["format"] = "geojson"
        run(asked)
    assert set(files_of(tmp_path / "block/public")) == {"README.html", "manifest.json", "published.geojson"}
    assert files_of(tmp_path / "block/public") == files_of(tmp_path / "whole/public")
