import tomllib
from pathlib import Path

from wayveil.recipe.recipe import make_recipe
from wayveil.recipe.toml import recipe_text, to_toml

CONTENT = {
    "title": 'A "quoted" title \\ ü',
    "seed": 7,
    "input": {
        "path": "data/trips.csv", "columns": {"traj_id": "card no", "t": "time"}, "owners": ["people.csv"],
        "kind": "points",
    },
    "prepare": [{"step": "clean"}, {"step": "grid", "cell": 500, "bucket": "1h"}],
    "method": {"name": "kcl", "k": 3, "c": "1/3", "l": 2, "sensitive": {"ill": ["HIV", "flu, mild"]}},
    "attacks": [],
    "output": {"path": "out", "format": "csv", "keep": ["ill"]},
}  # fmt: skip


def test_the_text_gives_the_same_recipe():
    recipe = make_recipe(CONTENT)
    again = make_recipe(tomllib.loads(recipe_text(recipe)))
    assert again == recipe


def test_what_travels_has_no_seed_and_no_folders():
    recipe = make_recipe(CONTENT)
    text = recipe_text(recipe, seed=False, names_only=True)
    content = tomllib.loads(text)
    assert "seed" not in content
    assert content["input"]["path"] == "trips.csv"
    assert content["output"]["path"] == "out"
    assert str(Path("data")) + "/" not in text


def test_metrics_that_are_all_by_default_are_left_out():
    recipe = make_recipe(CONTENT)
    content = tomllib.loads(recipe_text(recipe))
    assert "metrics" not in content
    assert content["attacks"] == []


def test_odd_keys_and_values():
    content = {"a b": {"x.y": [1, 2.5, True, "\x7f\n"]}, "rows": [{"k": {"m": "n"}}, {"k": {}}]}
    assert tomllib.loads(to_toml(content)) == content
