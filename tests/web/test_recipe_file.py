from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.errors import UsageError
from wayveil.web.recipe_file import open_recipe

RECIPES = Path(__file__).parents[2] / "recipes"
RUN = """
title = "T"
seed = 4
engine = "local"
[input]
path = "../far/away/cards.csv"
owners = ["a/one.csv", "two.csv"]
zones = "zones.geojson"
[[prepare]]
step = "bucket"
width = "1h"
[method]
name = "kcl"
k = 2
l = 1
[[attacks]]
name = "known_visits"
m = 2
[output]
path = "out"
keep_mapping = true
"""


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_recipe_is_opened(path: Path) -> None:
    opened = open_recipe(path.read_text())
    assert opened["files"][0]["role"] == "data"
    assert len(opened["runs"]) == (12 if path.stem == "compare_demo" else 1)
    assert "shared" not in str(opened)  # names, no paths


def test_files_are_named_and_not_looked_for() -> None:
    opened = open_recipe(RUN)
    assert [(one["key"], one["role"], one["name"]) for one in opened["files"]] == [
        ("path", "data", "cards.csv"),
        ("zones", "zones", "zones.geojson"),
        ("owners", "owners", "one.csv"),
        ("owners", "owners", "two.csv"),
    ]
    (run,) = opened["runs"]
    assert run["recipe"]["input"] == {}
    assert run["recipe"]["attacks"] == [{"name": "known_visits", "m": 2}]
    assert (run["recipe"]["seed"], run["recipe"]["output"]) == (4, {"format": "parquet"})
    assert len(opened["notes"]) == 2  # the engine, and the mapping that is kept


def test_a_comparison_has_a_run_per_setting_and_its_measures() -> None:
    opened = open_recipe((RECIPES / "compare_demo.toml").read_text())
    first = opened["runs"][0]["recipe"]
    assert first["attacks"] == [{"name": "known_visits"}]
    assert first["metrics"] == [{"name": "instance_loss"}]
    assert {(run["recipe"]["method"]["k"], run["recipe"]["method"]["l"]) for run in opened["runs"]} >= {(2, 1), (20, 2)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = [", "not valid TOML"),
        ("a = nan\n[input]\npath = 'x'", "not valid TOML"),
        ("a = 1", "which file is read"),
        (RUN.replace('"1h"', '"@steps.csv"'), "another file"),
        (RUN.replace("k = 2", "k = 1"), "k"),
        (RUN.replace('name = "kcl"', 'name = "nothing"'), "nothing"),
    ],
)
def test_what_cannot_be_opened_is_told(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        open_recipe(text)
