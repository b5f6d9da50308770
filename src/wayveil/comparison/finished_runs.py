"""Finished runs side by side: measured in the same way, as far as they can be compared at all.

`compare.py` runs a grid of settings of its own; here the runs exist already.  So that they can be compared later, each
is run with `with_measures`: all that an ordinary run measures, and what runs of its kind are compared by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wayveil.comparison.comparison_measures import ComparisonMeasures, choose_measures
from wayveil.comparison.comparison_recipe import Setting
from wayveil.comparison.frontier import Candidate, dominated
from wayveil.errors import UsageError
from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.defaults import attacks_of, metrics_of
from wayveil.recipe.purpose import set_limit
from wayveil.recipe.recipe import Recipe
from wayveil.report.results_json import is_percent, measured_values

__all__ = ["Finished", "compare_finished", "headline", "risk_headline", "short_head", "with_measures"]

_WITHOUT_EFFECT = (
    "threshold",
    "confidence",
    "delta",
)  # on the means that are compared, or on what they are expected to be
_RISK_WORDS = {
    "identity_mean": "mean probability that a person is found",
    "attribute_mean": "mean confidence in a sensitive value of a person",
    "exposed_people_share": "share of people who are exposed",
}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run that published: its recipe from `with_measures`, the content of its ``results.json``, and its input.

    `source` is the same for runs that read the same files in the same way.
    """

    id: str
    title: str
    recipe: Recipe
    scores: Mapping[str, Any]
    source: str


def with_measures(recipe: Recipe) -> Recipe:
    """Return the recipe with all its attacks and metrics listed, those of the yardstick among them."""
    attacks = attacks_of(recipe)
    metrics = metrics_of(recipe)
    measures = _measures([recipe])
    if isinstance(measures, ComparisonMeasures):
        if _position(measures.attack, attacks) is None:
            # It is judged like the others: above the risk that the recipe accepts, not above the one of a comparison.
            same = [plain_parameters(one) for one in attacks if one.name == measures.attack.name]
            limits = [Fraction(given["threshold"]) for given in same if "threshold" in given]
            attacks += set_limit((measures.attack,), limits[0] if limits else None)
        metrics += () if measures.metric in metrics else (measures.metric,)
    return recipe.model_copy(update={"attacks": attacks, "metrics": metrics})


def headline(recipe: Recipe, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one risk and the one loss that say most of a run: those of its head.

    Of a run of an earlier version, whose head does not say them, those of the yardstick; `recipe` is from
    `with_measures`.
    """
    head = scores.get("head") or {}
    if head.get("risk") is not None or head.get("loss") is not None:
        return {"risk": _head_risk(head["risk"]), "loss": _head_loss(head["loss"]), "head": short_head(head)}
    measures = _measures([recipe])
    if not isinstance(measures, ComparisonMeasures):
        raws = [pair["raw"] for pair in scores["attacks"]]
        raw_risk = risk_headline(raws)["risk"]
        if raw_risk is not None:
            pair = next(p for p in scores["attacks"] if p["raw"]["name"] == raw_risk["name"])
            raw_risk["published"] = measured_values(pair["published"]).get(raw_risk["number"])
        return {"risk": raw_risk, "loss": _loss(next(iter(scores["scores"]), None))}
    pair = _pair(measures, recipe, scores)
    number = measures.risk
    return {
        "risk": {
            "name": measures.attack.name,
            "number": number,
            "label": _RISK_WORDS.get(number, number.replace("_", " ")),
            "raw": measured_values(pair["raw"]).get(number),
            "published": measured_values(pair["published"]).get(number),
        },
        "loss": _loss(_score(measures, recipe, scores)),
    }


def short_head(head: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return of a head (as JSON holds it) what stands in a list: its state, and risk and loss in words."""
    if not head or "label" not in head:
        return None
    risk, loss = ((head.get(name) or {}).get("sentence", "") for name in ("risk", "loss"))
    return {**{name: head[name] for name in ("state", "label", "sentence")}, "risk": risk, "loss": loss}


def _head_risk(risk: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if risk is None:
        return None
    raw = None if risk["raw"] is None else risk["raw"]["value"]
    published = risk["mean"]["value"]
    return {"name": risk["attack"], "label": risk["mean"]["label"], "raw": raw, "published": published}


def _head_loss(loss: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if loss is None:
        return None
    number = loss["number"]
    entry = {"value": number["value"], "better": number.get("better", "lower"), "percent": is_percent(number)}
    return {"name": loss["name"], "label": loss["meaning"], **entry}


def risk_headline(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the attack (as JSON holds it) that learns most from data as they are."""
    candidates = [
        (measured[number], position, number)
        for position, measured in enumerate(map(measured_values, results))
        for number in _RISK_WORDS
        if measured.get(number) is not None
    ]
    if not candidates:
        return {"risk": None, "loss": None}
    value, position, number = max(candidates, key=lambda item: (item[0], -item[1]))
    name = results[position]["name"]
    risk = {"name": name, "number": number, "label": _RISK_WORDS[number], "raw": value, "published": None}
    return {"risk": risk, "loss": None}


def compare_finished(runs: Sequence[Finished]) -> dict[str, Any]:
    """Return risk and loss of runs on one pair of axes, and which of them no other beats.

    A run that does not fit the first is refused with the reason; UsageError if the first fits nothing.
    """
    first, *others = runs
    measures = _measures([first.recipe])
    if not isinstance(measures, ComparisonMeasures):
        raise UsageError(measures)
    taken = [first]
    refused = []
    for run in others:
        why = _misfit(run, taken)
        if why:
            refused.append({"id": run.id, "why": why})
        else:
            taken.append(run)
    points = [_point(measures, run) for run in taken]
    refused += [
        {"id": point["id"], "why": "The risk or the loss could not be measured: there was too little to compare."}
        for point in points
        if point["risk"] is None or point["loss"] is None
    ]
    points = [point for point in points if point["risk"] is not None and point["loss"] is not None]
    candidates = [Candidate(number=i, name="", risk=p["risk"], loss=p["loss"]) for i, p in enumerate(points)]
    beaten = dominated(candidates)
    for i, point in enumerate(points):
        point["on_frontier"] = i not in beaten
    score = _score(measures, first.recipe, first.scores)
    return {
        "risk": {"name": measures.attack.name, "label": _RISK_WORDS.get(measures.risk, measures.risk)},
        "loss": {"name": measures.metric.name, "label": measures.metric.summary, "percent": is_percent(score)},
        "points": points,
        "limit": _limit([run.recipe for run in taken]),
        "refused": refused,
    }


def _limit(recipes: Sequence[Recipe]) -> float | None:
    """Return the accepted risk that all runs were made with; None where they differ, or nobody said one."""
    limits = {recipe.max_risk for recipe in recipes}
    only = next(iter(limits))
    return None if len(limits) > 1 or only is None else float(only)


def _measures(recipes: Sequence[Recipe]) -> ComparisonMeasures | str:
    """Return the yardstick for these recipes, or why there is none."""
    settings = [Setting(name="", title="", steps=recipe.prepare, method=recipe.method) for recipe in recipes]
    try:
        return choose_measures(settings, None, None)
    except UsageError as error:
        return str(error)


def _misfit(run: Finished, taken: Sequence[Finished]) -> str:
    """Return why a run cannot be compared with others, or nothing."""
    if run.source != taken[0].source:
        return "It reads another file, or reads it in another way."
    if run.recipe.prepare != taken[0].recipe.prepare:
        return "It prepares the data in another way, so its loss is measured against another original."
    measures = _measures([*(other.recipe for other in taken), run.recipe])
    return measures if isinstance(measures, str) else ""


def _point(measures: ComparisonMeasures, run: Finished) -> dict[str, Any]:
    pair = _pair(measures, run.recipe, run.scores)
    measured = measured_values(pair["published"])
    return {
        "id": run.id,
        "title": run.title,
        "method": run.recipe.method.name,
        "parameters": plain_parameters(run.recipe.method),
        "risk": measures.risk_of(measured),
        "risk_low": measures.risk_of(measured, "_low"),
        "risk_high": measures.risk_of(measured, "_high"),
        "risk_raw": measures.risk_of(measured_values(pair["raw"])),
        "loss": measures.loss_of(_score(measures, run.recipe, run.scores)),
        "head": short_head(run.scores.get("head")),
    }


def _pair(measures: ComparisonMeasures, recipe: Recipe, scores: Mapping[str, Any]) -> dict[str, Any]:
    pair: dict[str, Any] = scores["attacks"][_position(measures.attack, recipe.attacks or ()) or 0]
    return pair


def _score(measures: ComparisonMeasures, recipe: Recipe, scores: Mapping[str, Any]) -> dict[str, Any]:
    score: dict[str, Any] = scores["scores"][(recipe.metrics or ()).index(measures.metric)]
    return score


def _position(attack_name: Any, attacks: Sequence[Any]) -> int | None:
    """Return where an attack is that measures the same mean as the one wanted."""

    def means(attack: Any) -> tuple[str, dict[str, Any]]:
        given = plain_parameters(attack)
        return attack.name, {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}

    return next((i for i, attack in enumerate(attacks) if means(attack) == means(attack_name)), None)


def _loss(score: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if score is None:
        return None
    return {
        **{name: score[name] for name in ("name", "value", "better")},
        "percent": is_percent(score),
        "label": score["meaning"],
    }
