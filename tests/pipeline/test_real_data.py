"""The recipes for data that are not part of Wayveil: from the raw file to a verified publication."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wayveil.commands.generate import generate
from wayveil.model import Verdict
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.defaults import attacks_of
from wayveil.recipe.protections import plays
from wayveil.recipe.recipe import Recipe, load_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize(
    ("name", "counted", "people"),
    [
        ("trucks_athens", "owners", 3),
        ("trucks_athens_boxes", "owners", 3),
        ("trucks_athens_matched", "owners", 3),
        ("trucks_athens_known", "owners", 3),
        ("bikes_jersey_city", "owners", 5),
        ("bikes_jersey_city_stations", "owners", None),
        ("bikes_jersey_city_trips", "owners", 5),
        ("foursquare_nyc", "owners", 5),
    ],
)
def test_a_recipe_goes_from_the_raw_file_to_a_verified_publication(
    name: str, counted: str, people: int | None, tmp_path: Path
) -> None:
    recipe = load_recipe(RECIPES / f"{name}.toml")
    if not recipe.input.path.exists():
        pytest.skip("the data are not here")
    output = recipe.output.model_copy(update={"path": tmp_path / "out"})
    played = promised_attacks(recipe)
    outcome = publish(recipe.model_copy(update={"output": output, "seed": 1, "attacks": played, "metrics": ()}))
    assert len(outcome.attacks) >= len({protection.attack for protection in outcome.verdict.claim.protects})
    assert_kept(outcome.verdict)
    assert outcome.verdict.counted == counted
    measured = outcome.verdict.measured
    if people is not None:
        assert measured.get("min_support", measured.get("min_candidates", measured.get("min_people"))) >= people  # type: ignore[operator]
    judgement = verify_folder(tmp_path / "out")
    assert judgement.failures == ()
    if judgement.verdict is not None:
        assert_kept(judgement.verdict)


def promised_attacks(recipe: Recipe) -> tuple[Any, ...]:
    """Return the attacks that play whom the promise stops: if one breaks it, nothing is published."""
    protects = recipe.method.claim.protects
    return tuple(attack for attack in attacks_of(recipe) if any(plays(attack, one) for one in protects))


def assert_kept(verdict: Verdict) -> None:
    """Compare every number of a verdict that has a bound in the claim with it, over people and over trajectories."""
    claim: Any = verdict.claim
    most = {
        "max_owner_share": getattr(claim, "owner_share", 1),
        "max_confidence": getattr(claim, "c", 1),
        "max_probability": getattr(claim, "c", 1),
        "max_share": getattr(claim, "p", 1),
        "max_inference": getattr(claim, "p", 1),
    }
    for name, value in verdict.measured.items():
        bounds = [bound for start, bound in most.items() if name.startswith(start) and not name.endswith("_exact")]
        if bounds and isinstance(value, (int, float)):
            assert value <= float(bounds[0]) + 1e-9, name


def test_points_of_cars_become_routes(tmp_path: Path) -> None:
    recipe = load_recipe(RECIPES / "oberfranken.toml")
    if not recipe.input.path.exists():
        pytest.skip("the data are not here")
    network = tmp_path / "network.csv"
    script = RECIPES.parent / "benchmarks" / "bench_match.py"
    asked = [sys.executable, str(script), "lines", "--tracks", str(recipe.input.path.parent), "--out", str(network)]
    subprocess.run(asked, check=True, timeout=300)
    outcome = publish(moved(recipe, tmp_path, network=network))
    assert outcome.verdict.measured["inference_routes"] == 0
    assert outcome.verdict.measured["min_support"] >= 5  # type: ignore[operator]
    assert outcome.verdict.measured["trajectories"] > 150  # type: ignore[operator]
    assert verify_folder(tmp_path / "out").failures == ()


def test_trips_through_a_town_become_routes(tmp_path: Path) -> None:
    recipe = load_recipe(RECIPES / "oldenburg.toml")
    network = recipe.input.network
    if network is None or not Path(f"{network}.cnode.txt").exists():
        pytest.skip("the data are not here")
    given = {"objects": 2000, "trips": 1, "duration": "2min", "noise": 8, "network": str(network)}
    generate("network_movers", given, tmp_path / "trips.csv", seed=1)
    outcome = publish(moved(recipe, tmp_path, path=tmp_path / "trips.csv"))
    assert outcome.verdict.measured["inference_routes"] == 0
    assert outcome.verdict.measured["trajectories"] > 200  # type: ignore[operator]
    assert verify_folder(tmp_path / "out").failures == ()


def moved(recipe: Recipe, folder: Path, **input_: Any) -> Recipe:
    """Return a recipe with another input and output, without attacks and metrics."""
    output = recipe.output.model_copy(update={"path": folder / "out"})
    changed = {"input": recipe.input.model_copy(update=input_), "output": output}
    return recipe.model_copy(update={**changed, "seed": 1, "attacks": (), "metrics": ()})
