from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayveil.comparison.finished_runs import Finished, compare_finished, headline, risk_headline, yardstick_of
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError
from wayveil.pipeline.publish import publish
from wayveil.recipe.catalog import describe, entries
from wayveil.recipe.defaults import attacks_of, metrics_of
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
        # Little is measured besides what is compared: the rest takes its time.
        measured = {"attacks": [{"name": "uniqueness"}], "metrics": [{"name": "visit_support"}]}
        recipe = recipe_of(table, folder / name, method, **measured, **more)
        publish(recipe, engine=LocalEngine(workers=1), yardstick=yardstick_of(recipe))
        scores = json.loads((folder / name / "private/results.json").read_text())
        found[name] = Finished(id=name, title=name.title(), recipe=recipe, scores=scores, source="table1")
    return found


def test_the_yardstick_is_the_same_whatever_is_promised(table1: Path, tmp_path: Path) -> None:
    for length in (1, 2, 3):
        recipe = recipe_of(table1, tmp_path, {"name": "kcl", "k": 2, "l": length})
        yardstick = yardstick_of(recipe)
        assert yardstick is not None
        assert (yardstick.attack.name, yardstick.attack.m, yardstick.attack.choice) == ("known_visits", 3, "random")
        assert yardstick.metric.name == "instance_loss"
        # Only for l = 3 does the run play this attacker anyway; then nothing is measured twice.
        assert (yardstick.attack in attacks_of(recipe)) == (length == 3)
        assert yardstick.metric in metrics_of(recipe)


def test_what_is_compared_changes_nothing_else(table1: Path, tmp_path: Path) -> None:
    found = {}
    for name in ("with", "without"):
        recipe = recipe_of(table1, tmp_path / name, {"name": "kcl", "k": 2, "l": 1}, max_risk="1/4")
        yardstick = yardstick_of(recipe) if name == "with" else None
        publish(recipe, engine=LocalEngine(workers=1), yardstick=yardstick)
        found[name] = json.loads((tmp_path / name / "private/results.json").read_text())
    compared = found["with"].pop("compared_by")
    assert "compared_by" not in found["without"]
    assert "3 visits" in compared["attack"]["published"]["adversary"]
    assert compared["attack"]["raw"]["charts"] == compared["score"]["charts"] == []
    for part in ("head", "marks", "risks", "attacks", "scores", "questions", "verdict"):
        assert found["with"][part] == found["without"][part], part
    assert not any("3 visits" in pair["raw"]["adversary"] for pair in found["with"]["attacks"])


@pytest.mark.parametrize("name", list(entries("method")))
def test_methods_that_publish_rows_with_times_have_a_yardstick(table1: Path, tmp_path: Path, name: str) -> None:
    recipe = recipe_of(table1, tmp_path, {"name": name, **describe(name)["example"]})
    method = recipe.method
    comparable = method.publishes.individual and method.keeps_times
    assert (yardstick_of(recipe) is not None) == comparable


def test_runs_are_put_on_one_pair_of_axes(finished: dict[str, Finished]) -> None:
    found = compare_finished([finished["two"], finished["four"], finished["coarse"]])
    assert found["risk"] == {"name": "known_visits", "label": "mean probability that a person is found"}
    assert found["loss"]["name"] == "instance_loss"
    assert found["loss"]["percent"] is True
    two, four = found["points"]
    assert (two["id"], two["title"], two["method"], two["parameters"]["k"]) == ("two", "Two", "kcl", 2)
    for point, run in ((two, finished["two"]), (four, finished["four"])):
        attack = run.scores["compared_by"]["attack"]
        assert "3 visits" in attack["published"]["adversary"]
        assert point["risk"] == attack["published"]["measured"]["identity_mean"]
        assert point["risk_raw"] == attack["raw"]["measured"]["identity_mean"]
        assert point["loss"] == run.scores["compared_by"]["score"]["value"]
    assert four["risk"] < two["risk"]
    assert four["loss"] > two["loss"]
    assert two["on_frontier"]
    assert four["on_frontier"]
    assert [entry["id"] for entry in found["refused"]] == ["coarse"]
    assert "prepares the data in another way" in found["refused"][0]["why"]


def test_a_run_that_is_beaten_is_not_on_the_frontier(finished: dict[str, Finished]) -> None:
    worse = json.loads(json.dumps(finished["two"].scores))
    worse["compared_by"]["attack"]["published"]["measured"]["identity_mean"] = 1.0
    beaten = Finished(id="beaten", title="", recipe=finished["two"].recipe, scores=worse, source="table1")
    found = compare_finished([beaten, finished["two"]])
    assert {point["id"]: point["on_frontier"] for point in found["points"]} == {"beaten": False, "two": True}


def test_another_input_or_no_number_is_refused(finished: dict[str, Finished]) -> None:
    two = finished["two"]
    other = Finished(id="other", title="", recipe=two.recipe, scores=two.scores, source="another")
    blank = json.loads(json.dumps(two.scores))
    blank["compared_by"]["score"]["value"] = None
    empty = Finished(id="empty", title="", recipe=two.recipe, scores=blank, source="table1")
    found = compare_finished([two, other, empty])
    why = {entry["id"]: entry["why"] for entry in found["refused"]}
    assert why["other"] == "It reads another file, or reads it in another way."
    assert "could not be measured" in why["empty"]
    assert [point["id"] for point in found["points"]] == ["two"]


def test_runs_without_a_common_measure_are_refused(finished: dict[str, Finished], tmp_path: Path, table1: Path) -> None:
    two = finished["two"]
    untimed = {"name": "gsup", "p": "0.5", "adversaries": {"A": ["a", "b"]}, "times": "order"}
    recipe = recipe_of(table1, tmp_path, untimed)
    odd = Finished(id="odd", title="", recipe=recipe, scores=two.scores, source="table1")
    found = compare_finished([two, odd])
    assert [entry["id"] for entry in found["refused"]] == ["odd"]
    with pytest.raises(UsageError):
        compare_finished([odd, two])


def test_the_headline_is_that_of_the_head(finished: dict[str, Finished]) -> None:
    run = finished["two"]
    told = headline(run.scores)
    head = run.scores["head"]
    assert told["risk"]["name"] == head["risk"]["attack"]
    assert told["risk"]["published"] == head["risk"]["mean"]["value"]
    assert (told["loss"]["name"], told["loss"]["value"]) == (head["loss"]["name"], head["loss"]["number"]["value"])
    assert told["head"]["label"] == head["label"] == compare_finished([run])["points"][0]["head"]["label"]


def test_a_run_of_an_earlier_version_is_not_compared(finished: dict[str, Finished]) -> None:
    two = finished["two"]
    scores = {name: value for name, value in two.scores.items() if name != "compared_by"}
    former = Finished(id="former", title="", recipe=two.recipe, scores=scores, source="table1")
    found = compare_finished([former, two])
    assert found["refused"] == [{"id": "former", "why": "It was not measured for a comparison; run it again."}]
    assert [point["id"] for point in found["points"]] == ["two"]
    with pytest.raises(UsageError, match="run it again"):
        compare_finished([former])


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
