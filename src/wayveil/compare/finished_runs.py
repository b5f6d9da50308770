"""Finished runs side by side: measured in the same way, as far as they can be compared at all.

`compare.py` runs a grid of settings of its own; here the runs exist already.  So that they can be compared later, each
is run with `with_yardstick`: all that an ordinary run measures, and what runs of its kind are compared by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wayveil.compare.comparison_measures import Yardstick, make_yardstick
from wayveil.compare.comparison_recipe import Setting
from wayveil.compare.frontier import Spot, dominated
from wayveil.errors import UsageError
from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.defaults import attacks_of, metrics_of
from wayveil.recipe.recipe import Recipe
from wayveil.report.results_json import is_percent, measured_values

__all__ = ["Finished", "headline", "line_up", "risk_headline", "short_head", "with_yardstick"]

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
    """A run that published: its recipe from `with_yardstick`, the content of its ``results.json``, and its input.

    `source` is the same for runs that read the same files in the same way.
    """

    id: str
    title: str
    recipe: Recipe
    scores: Mapping[str, Any]
    source: str


def with_yardstick(recipe: Recipe) -> Recipe:
    """Return the recipe with all its attacks and metrics listed, those of the yardstick among them."""
    attacks = attacks_of(recipe)
    metrics = metrics_of(recipe)
    yardstick = _yardstick([recipe])
    if isinstance(yardstick, Yardstick):
        attacks += () if _position(yardstick.attack, attacks) is not None else (yardstick.attack,)
        metrics += () if yardstick.metric in metrics else (yardstick.metric,)
    return recipe.model_copy(update={"attacks": attacks, "metrics": metrics})


def headline(recipe: Recipe, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one risk and the one loss that say most of a run: those of its head.

    Of a run of an earlier version, whose head does not say them, those of the yardstick; `recipe` is from
    `with_yardstick`.
    """
    head = scores.get("head") or {}
    if head.get("risk") is not None or head.get("loss") is not None:
        return {"risk": _head_risk(head["risk"]), "loss": _head_loss(head["loss"]), "head": short_head(head)}
    yardstick = _yardstick([recipe])
    if not isinstance(yardstick, Yardstick):
        raws = [pair["raw"] for pair in scores["attacks"]]
        found = risk_headline(raws)["risk"]
        if found is not None:
            pair = next(p for p in scores["attacks"] if p["raw"]["name"] == found["name"])
            found["published"] = measured_values(pair["published"]).get(found["number"])
        return {"risk": found, "loss": _loss(next(iter(scores["scores"]), None))}
    pair = _pair(yardstick, recipe, scores)
    number = yardstick.risk
    return {
        "risk": {
            "name": yardstick.attack.name,
            "number": number,
            "label": _RISK_WORDS.get(number, number.replace("_", " ")),
            "raw": measured_values(pair["raw"]).get(number),
            "published": measured_values(pair["published"]).get(number),
        },
        "loss": _loss(_score(yardstick, recipe, scores)),
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
    told = {"value": number["value"], "better": number.get("better", "lower"), "percent": is_percent(number)}
    return {"name": loss["name"], "label": loss["meaning"], **told}


def risk_headline(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the attack (as JSON holds it) that learns most from data as they are."""
    found = [
        (measured[number], position, number)
        for position, measured in enumerate(map(measured_values, results))
        for number in _RISK_WORDS
        if measured.get(number) is not None
    ]
    if not found:
        return {"risk": None, "loss": None}
    value, position, number = max(found, key=lambda item: (item[0], -item[1]))
    name = results[position]["name"]
    risk = {"name": name, "number": number, "label": _RISK_WORDS[number], "raw": value, "published": None}
    return {"risk": risk, "loss": None}


def line_up(runs: Sequence[Finished]) -> dict[str, Any]:
    """Return risk and loss of runs on one pair of axes, and which of them no other beats.

    A run that does not fit the first is refused with the reason; UsageError if the first fits nothing.
    """
    first, *others = runs
    yardstick = _yardstick([first.recipe])
    if not isinstance(yardstick, Yardstick):
        raise UsageError(yardstick)
    taken = [first]
    refused = []
    for run in others:
        why = _misfit(run, taken)
        if why:
            refused.append({"id": run.id, "why": why})
        else:
            taken.append(run)
    points = [_point(yardstick, run) for run in taken]
    refused += [
        {"id": point["id"], "why": "The risk or the loss could not be measured: there was too little to compare."}
        for point in points
        if point["risk"] is None or point["loss"] is None
    ]
    points = [point for point in points if point["risk"] is not None and point["loss"] is not None]
    spots = [Spot(number=i, name="", risk=p["risk"], loss=p["loss"]) for i, p in enumerate(points)]
    beaten = dominated(spots)
    for i, point in enumerate(points):
        point["on_frontier"] = i not in beaten
    score = _score(yardstick, first.recipe, first.scores)
    return {
        "risk": {"name": yardstick.attack.name, "label": _RISK_WORDS.get(yardstick.risk, yardstick.risk)},
        "loss": {"name": yardstick.metric.name, "label": yardstick.metric.summary, "percent": is_percent(score)},
        "points": points,
        "limit": _limit([run.recipe for run in taken]),
        "refused": refused,
    }


def _limit(recipes: Sequence[Recipe]) -> float | None:
    """Return the accepted risk that all runs were made with; None where they differ, or nobody said one."""
    limits = {recipe.max_risk for recipe in recipes}
    only = next(iter(limits))
    return None if len(limits) > 1 or only is None else float(only)


def _yardstick(recipes: Sequence[Recipe]) -> Yardstick | str:
    """Return the yardstick for these recipes, or why there is none."""
    settings = [Setting(name="", title="", steps=recipe.prepare, method=recipe.method) for recipe in recipes]
    try:
        return make_yardstick(settings, None, None)
    except UsageError as error:
        return str(error)


def _misfit(run: Finished, taken: Sequence[Finished]) -> str:
    """Return why a run cannot be compared with others, or nothing."""
    if run.source != taken[0].source:
        return "It reads another file, or reads it in another way."
    if run.recipe.prepare != taken[0].recipe.prepare:
        return "It prepares the data in another way, so its loss is measured against another original."
    found = _yardstick([*(other.recipe for other in taken), run.recipe])
    return found if isinstance(found, str) else ""


def _point(yardstick: Yardstick, run: Finished) -> dict[str, Any]:
    pair = _pair(yardstick, run.recipe, run.scores)
    measured = measured_values(pair["published"])
    return {
        "id": run.id,
        "title": run.title,
        "method": run.recipe.method.name,
        "parameters": plain_parameters(run.recipe.method),
        "risk": yardstick.risk_of(measured),
        "risk_low": yardstick.risk_of(measured, "_low"),
        "risk_high": yardstick.risk_of(measured, "_high"),
        "risk_raw": yardstick.risk_of(measured_values(pair["raw"])),
        "loss": yardstick.loss_of(_score(yardstick, run.recipe, run.scores)),
        "head": short_head(run.scores.get("head")),
    }


def _pair(yardstick: Yardstick, recipe: Recipe, scores: Mapping[str, Any]) -> dict[str, Any]:
    pair: dict[str, Any] = scores["attacks"][_position(yardstick.attack, recipe.attacks or ()) or 0]
    return pair


def _score(yardstick: Yardstick, recipe: Recipe, scores: Mapping[str, Any]) -> dict[str, Any]:
    score: dict[str, Any] = scores["scores"][(recipe.metrics or ()).index(yardstick.metric)]
    return score


def _position(wanted: Any, attacks: Sequence[Any]) -> int | None:
    """Return where an attack is that measures the same mean as the one wanted."""

    def means(attack: Any) -> tuple[str, dict[str, Any]]:
        given = plain_parameters(attack)
        return attack.name, {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}

    return next((i for i, attack in enumerate(attacks) if means(attack) == means(wanted)), None)


def _loss(score: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if score is None:
        return None
    return {
        **{name: score[name] for name in ("name", "value", "better")},
        "percent": is_percent(score),
        "label": score["meaning"],
    }
