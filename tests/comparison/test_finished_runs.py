from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from wayveil.comparison.finished_runs import Finished, compare_finished, headline, risk_headline, with_measures
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError
from wayveil.pipeline.publish import publish
from wayveil.recipe.catalog import describe, entries
from wayveil.recipe.recipe import Recipe, make_recipe


def recipe_of(path: Path, out: Path, method: dict[str, Any], **more: Any) -> Recipe:
    return make_recipe(
        {
            "seed": 1,
            "input": {"path": str(path), "owners": "each-trajectory"},
            "method": method,
            "output": {"path": str(out), "format": "csv"},
            **more,
        }
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finished]:
    """Three runs on one file, two of which can be compared."""
    folder = tmp_path_factory.mktemp("lineup")
    table = Path(__file__).parents[2] / "recipes/table1.csv"
    asked: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "two": ({"name": "kcl", "k": 2, "l": 1}, {}),
        "four": ({"name": "kcl", "k": 4, "l": 1}, {}),
        "coarse": ({"name": "kcl", "k": 2, "l": 1}, {"prepare": [{"step": "bucket", "width": "3"}]}),
    }
    found = {}
    for name, (method, more) in asked.items():
        recipe = with_measures(recipe_of(table, folder / name, method, **more))
        # Only what is compared is measured: the rest takes its time.
        kept = [a for a in recipe.attacks or () if a.name in ("known_visits", "uniqueness")]
        metrics = [m for m in recipe.metrics or () if m.name in ("visit_support", "instance_loss")]
        recipe = recipe.model_copy(update={"attacks": tuple(kept), "metrics": tuple(metrics)})
        publish(recipe, engine=LocalEngine(workers=1))
        scores = json.loads((folder / name / "private/results.json").read_text())
        found[name] = Finished(id=name, title=name.title(), recipe=recipe, scores=scores, source="table1")
    return found


def test_all_that_is_measured_is_listed_and_the_yardstick_is_among_it(table1: Path, tmp_path: Path) -> None:
    recipe = with_measures(recipe_of(table1, tmp_path, {"name": "kcl", "k": 2, "l": 2}))
    known = [(a.m, a.choice) for a in recipe.attacks or () if a.name == "known_visits"]
    assert known == [(2, "random"), (2, "worst"), (3, "random")]
    assert [m.name for m in recipe.metrics or ()].count("instance_loss") == 1
    same = with_measures(recipe_of(table1, tmp_path, {"name": "kcl", "k": 2, "l": 3}))
    assert [(a.m, a.choice) for a in same.attacks or () if a.name == "known_visits"] == [(3, "random"), (3, "worst")]


@pytest.mark.parametrize("name", list(entries("method")))
def test_every_method_gets_attacks_and_metrics(table1: Path, tmp_path: Path, name: str) -> None:
    recipe = with_measures(recipe_of(table1, tmp_path, {"name": name, **describe(name)["example"]}))
    assert recipe.attacks
    assert recipe.metrics
    assert len(set(recipe.metrics)) == len(recipe.metrics)


def test_runs_are_put_on_one_pair_of_axes(finished: dict[str, Finished]) -> None:
    found = compare_finished([finished["two"], finished["four"], finished["coarse"]])
    assert found["risk"] == {"name": "known_visits", "label": "mean probability that a person is found"}
    assert found["loss"]["name"] == "instance_loss"
    assert found["loss"]["percent"] is True
    two, four = found["points"]
    assert (two["id"], two["title"], two["method"], two["parameters"]["k"]) == ("two", "Two", "kcl", 2)
    for point, run in ((two, finished["two"]), (four, finished["four"])):
        attack = next(
            pair for pair, a in zip(run.scores["attacks"], run.recipe.attacks or (), strict=True)
            if a.name == "known_visits" and (a.m, a.choice) == (3, "random")
        )  # fmt: skip
        assert point["risk"] == attack["published"]["measured"]["identity_mean"]
        assert point["risk_raw"] == attack["raw"]["measured"]["identity_mean"]
        assert point["loss"] == next(s["value"] for s in run.scores["scores"] if s["name"] == "instance_loss")
    assert four["risk"] < two["risk"]
    assert four["loss"] > two["loss"]
    assert two["on_frontier"]
    assert four["on_frontier"]
    assert [entry["id"] for entry in found["refused"]] == ["coarse"]
    assert "prepares the data in another way" in found["refused"][0]["why"]


def test_a_run_that_is_beaten_is_not_on_the_frontier(finished: dict[str, Finished]) -> None:
    worse = json.loads(json.dumps(finished["two"].scores))
    for pair in worse["attacks"]:
        pair["published"]["measured"]["identity_mean"] = 1.0
    beaten = Finished(id="beaten", title="", recipe=finished["two"].recipe, scores=worse, source="table1")
    found = compare_finished([beaten, finished["two"]])
    assert {point["id"]: point["on_frontier"] for point in found["points"]} == {"beaten": False, "two": True}


def test_another_input_or_no_number_is_refused(finished: dict[str, Finished]) -> None:
    two = finished["two"]
    other = Finished(id="other", title="", recipe=two.recipe, scores=two.scores, source="another")
    blank = json.loads(json.dumps(two.scores))
    for score in blank["scores"]:
        score["value"] = None
    empty = Finished(id="empty", title="", recipe=two.recipe, scores=blank, source="table1")
    found = compare_finished([two, other, empty])
    why = {entry["id"]: entry["why"] for entry in found["refused"]}
    assert why["other"] == "It reads another file, or reads it in another way."
    assert "could not be measured" in why["empty"]
    assert [point["id"] for point in found["points"]] == ["two"]


def test_runs_without_a_common_measure_are_refused(finished: dict[str, Finished], tmp_path: Path, table1: Path) -> None:
    two = finished["two"]
    untimed = {"name": "gsup", "p": "0.5", "adversaries": {"A": ["a", "b"]}, "times": "order"}
    recipe = with_measures(recipe_of(table1, tmp_path, untimed))
    odd = Finished(id="odd", title="", recipe=recipe, scores=two.scores, source="table1")
    found = compare_finished([two, odd])
    assert [entry["id"] for entry in found["refused"]] == ["odd"]
    with pytest.raises(UsageError):
        compare_finished([odd, two])


def test_the_headline_is_that_of_the_head(finished: dict[str, Finished]) -> None:
    run = finished["two"]
    told = headline(run.recipe, run.scores)
    head = run.scores["head"]
    assert told["risk"]["name"] == head["risk"]["attack"]
    assert told["risk"]["published"] == head["risk"]["mean"]["value"]
    assert (told["loss"]["name"], told["loss"]["value"]) == (head["loss"]["name"], head["loss"]["number"]["value"])
    assert told["head"]["label"] == head["label"] == compare_finished([run])["points"][0]["head"]["label"]


def test_the_headline_of_an_earlier_version_is_the_risk_and_the_loss_of_the_yardstick(
    finished: dict[str, Finished],
) -> None:
    run = finished["two"]
    former = {name: value for name, value in run.scores.items() if name != "head"}
    told = headline(run.recipe, former)
    point = compare_finished([run])["points"][0]
    assert told["risk"]["name"] == "known_visits"
    assert (told["risk"]["raw"], told["risk"]["published"]) == (point["risk_raw"], point["risk"])
    assert (told["loss"]["name"], told["loss"]["value"]) == ("instance_loss", point["loss"])
    assert told["loss"]["better"] == "lower"


def test_the_headline_of_a_risk_is_the_attack_that_learns_most() -> None:
    results = [
        {"name": "one", "measured": {"identity_mean": 0.2}},
        {"name": "two", "measured": {"identity_mean": None, "attribute_mean": 0.4}},
        {"name": "three", "measured": {"other": 0.9}},
    ]
    told = risk_headline(results)
    assert (told["risk"]["name"], told["risk"]["number"], told["risk"]["raw"]) == ("two", "attribute_mean", 0.4)
    assert told["loss"] is None
    assert risk_headline(results[2:]) == {"risk": None, "loss": None}


def test_the_attack_of_a_comparison_is_judged_by_the_limit_of_the_recipe(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path / "t.csv", tmp_path, {"name": "kcl", "k": 5, "l": 2})
    attacks = with_measures(recipe).attacks or ()
    assert {attack.threshold for attack in attacks if attack.name == "known_visits"} == {Fraction(1, 5)}
    assert len([attack for attack in attacks if attack.name == "known_visits"]) == 3
