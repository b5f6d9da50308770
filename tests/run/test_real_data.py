"""The recipes for data that are not part of Wayveil: from the raw file to a verified publication."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.run.judging import judge
from wayveil.run.pipeline import publish
from wayveil.run.recipe import load_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize(
    ("name", "counted", "people"),
    [
        ("trucks_athens", "owners", 3),
        ("trucks_athens_boxes", "owners", 3),
        ("trucks_athens_matched", "owners", 3),
        ("trucks_athens_known", "owners", 3),
        ("bikes_jersey_city", "trajectories", 5),
        ("bikes_jersey_city_stations", "owners", None),
    ],
)
def test_a_recipe_goes_from_the_raw_file_to_a_verified_publication(
    name: str, counted: str, people: int | None, tmp_path: Path
) -> None:
    recipe = load_recipe(RECIPES / f"{name}.toml")
    if not recipe.input.path.exists():
        pytest.skip("the data are not here")
    output = recipe.output.model_copy(update={"path": tmp_path / "out"})
    outcome = publish(recipe.model_copy(update={"output": output, "seed": 1, "attacks": (), "metrics": ()}))
    assert outcome.verdict.counted == counted
    measured = outcome.verdict.measured
    if people is not None:
        assert measured.get("min_support", measured.get("min_candidates")) >= people  # type: ignore[operator]
    assert judge(tmp_path / "out").holds == outcome.verdict.claim.judged_alone
