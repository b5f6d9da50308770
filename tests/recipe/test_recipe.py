"""Recipes: checked before any data is read, with one sentence for what is wrong."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from wayveil.errors import UsageError
from wayveil.recipe.recipe import load_recipe, make_recipe
from wayveil.recipe.toml import recipe_text

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize(
    "path", sorted(p for p in RECIPES.glob("*.toml") if not p.stem.startswith("compare_")), ids=lambda path: path.stem
)
def test_the_recipes_of_the_project_are_valid(path: Path) -> None:
    recipe = load_recipe(path)
    assert load_recipe(str(path)) == recipe
    assert recipe.input.path.is_relative_to(path.parent)
    assert recipe.output.path.parent == path.parent


def test_every_part_is_configured(content: dict[str, Any]) -> None:
    content["method"]["c"] = 0.6
    content["prepare"] = [{"step": "bucket", "width": "1h"}]
    content["attacks"] = [{"name": "known_visits", "m": 2}]
    content["metrics"] = []
    content["input"]["columns"] = {"traj_id": "card"}
    recipe = make_recipe(content)
    assert recipe.method.c == Fraction(3, 5)
    assert recipe.prepare[0].name == "bucket"
    assert recipe.attacks is not None
    assert recipe.attacks[0].m == 2
    assert recipe.metrics == ()
    assert recipe.input.columns == {"traj_id": "card"}


def changed(content: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    *path, last = where.split(".")
    table = content
    for part in path:
        table = table.setdefault(part, {})
    if value is None:
        del table[last]
    else:
        table[last] = value
    return content


@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        ("metod", {}, "there is no key 'metod' in the recipe; known: .* Did you mean 'method'\\?"),
        ("input.colums", {}, "no key 'colums' in \\[input\\].* Did you mean 'columns'\\?"),
        ("output.formt", "csv", "no key 'formt' in \\[output\\].* Did you mean 'format'\\?"),
        (
            "output.format",
            "xlsx",
            "'format' in \\[output\\] is wrong: input should be 'parquet', 'csv' or 'geojson', got 'xlsx'",
        ),
        ("output.overwrite", "yes", "'overwrite' in \\[output\\] is wrong"),
        ("output.path", "", "'path' in \\[output\\] is wrong: a path must not be empty"),
        ("input.path", None, "\\[input\\] must have the key 'path'"),
        ("input", None, "must have the key 'input'"),
        ("method", None, "must have the key 'method'"),
        ("method", [], "every method must be a table with the key 'name'"),
        ("method.name", None, "every method must be a table with the key 'name'"),
        ("method.name", "klc", "There is no method 'klc'; known: .* Did you mean 'kcl'\\?"),
        ("method.kk", 3, "kcl: there is no parameter 'kk'"),
        ("method.supression", "local", "Did you mean 'suppression'\\?"),
        ("method.k", None, "kcl: k must be given"),
        ("method.k", 0, "kcl: k must be an integer >= 1, got 0"),
        ("method.k", "2", "kcl: k must be an integer"),
        ("method.c", 1.5, "kcl: c must be a number from 0 to 1, got 1.5"),
        ("method.l", 0, "kcl: l must be an integer >= 1 or 'all', got 0"),
        ("method.sensitive", ["HIV"], "kcl: sensitive must map"),
        ("prepare", {"step": "bucket"}, "every step must be a table with the key 'step'"),
        ("prepare", [{"step": "buckt"}], "Did you mean 'bucket'\\?"),
        ("attacks", [{"name": "known_visit"}], "Did you mean 'known_visits'\\?"),
        ("metrics", [{"name": "instance_los"}], "Did you mean 'instance_loss'\\?"),
        ("seed", -1, "'seed' in the recipe is wrong"),
        ("engine", "spark", "'engine' in the recipe is wrong"),
        ("input.kind", "boxes", "'kind' in \\[input\\] is wrong"),
        ("input.kind", "points", "kcl needs visits or trips, the input is said to be points"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(content: dict[str, Any], where: str, value: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        make_recipe(changed(content, where, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"[input\n", "not valid TOML"), (b"title = '\xff'", "not UTF-8"), (None, "cannot be read")],
)
def test_unreadable_recipes(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "recipe.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=sentence):
        load_recipe(path)


@pytest.mark.parametrize(
    ("method", "kind"), [({"name": "kcl", "k": 2, "l": 1}, "visits"), ({"name": "icba", "k": 2}, "routes")]
)
def test_geojson_is_for_points_and_boxes(method: dict[str, Any], kind: str) -> None:
    content = {"input": {"path": "x.csv"}, "method": method, "output": {"path": "out", "format": "geojson"}}
    with pytest.raises(UsageError, match=f"{kind} are published as parquet or csv"):
        make_recipe(content)


@pytest.mark.parametrize(
    ("owners", "tables", "declared"),
    [
        ("each-trajectory", (), True),
        ("people.csv", (Path("people.csv"),), False),
        (["a.csv", "b.csv"], (Path("a.csv"), Path("b.csv")), False),
        ([], (), False),
    ],
)
def test_owners_are_tables_or_a_declaration(content: dict[str, Any], owners: Any, tables: Any, declared: bool) -> None:
    content["input"]["owners"] = owners
    recipe = make_recipe(content)
    assert (recipe.input.owner_tables, recipe.input.each_trajectory) == (tables, declared)
    again = make_recipe(tomllib.loads(recipe_text(recipe)))
    assert again.input == recipe.input
    below = recipe.input.below(Path("x"))
    assert (below.owner_tables, below.each_trajectory) == (tuple(Path("x") / t for t in tables), declared)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"owners": ["each-trajectory", "a.csv"]}, "not both"),
        ({"owners": 7}, "a table or a list of tables"),
        ({"owners": "each-trajectory", "columns": {"user_id": "card"}}, "give one of them"),
    ],
)
def test_owners_that_say_nothing_or_two_things(content: dict[str, Any], more: dict[str, Any], words: str) -> None:
    content["input"].update(more)
    with pytest.raises(UsageError, match=words):
        make_recipe(content)


@pytest.mark.parametrize("text", ["seed = " + "9" * 5000, "seed = " + "[" * 100_000, "[method]\nk = 1e-999999999"])
def test_numbers_that_no_machine_holds_are_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    with pytest.raises(UsageError):
        load_recipe(path)
