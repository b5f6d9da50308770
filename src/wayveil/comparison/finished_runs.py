"""Finished runs side by side: measured in the same way, as far as they can be compared at all.

`compare.py` runs a grid of settings of its own; here the runs exist already.  So that they can be compared later, each
is run with `yardstick_of` its recipe: what runs of its kind are compared by is measured besides all that an ordinary
run measures, and no head counts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wayveil.comparison.comparison_measures import ComparisonMeasures, choose_measures
from wayveil.comparison.comparison_recipe import Setting
from wayveil.comparison.frontier import Candidate, dominated
from wayveil.errors import UsageError
from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.defaults import attacks_of
from wayveil.recipe.measuring import Yardstick
from wayveil.recipe.recipe import Recipe
from wayveil.report.results_json import is_percent, measured_values

__all__ = ["Finished", "compare_finished", "headline", "risk_headline", "short_head", "yardstick_of"]

_WITHOUT_EFFECT = (
    "threshold",
    "confidence",
    "delta",
)  # on the means that are compared, or on what they are expected to be
_EARLIER = "It was not measured for a comparison; run it again."
_RISK_WORDS = {
    "identity_mean": "mean probability that a person is found",
    "attribute_mean": "mean confidence in a sensitive value of a person",
    "exposed_people_share": "share of people who are exposed",
}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run that published: its recipe, the content of its ``results.json``, and its input.

    `source` is the same for runs that read the same files in the same way.
    """

    id: str
    title: str
    recipe: Recipe
    scores: Mapping[str, Any]
    source: str


def yardstick_of(recipe: Recipe) -> Yardstick | None:
    """Return what a run is compared with others by, measured besides what its recipe asks for; None where nothing is.

    An attack of the recipe that measures the same mean is taken as it is.
    """
    measures = _measures([recipe])
    if not isinstance(measures, ComparisonMeasures):
        return None
    same = (attack for attack in attacks_of(recipe) if _means(attack) == _means(measures.attack))
    return Yardstick(attack=next(same, measures.attack), metric=measures.metric)


def headline(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one risk and the one loss that say most of a run: those of its head."""
    head = scores.get("head") or {}
    return {
        "risk": _head_risk(head.get("risk")),
        "loss": _head_loss(head.get("loss")),
        "head": short_head(head),
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
    # The highest; of equals the attack that is listed first.
    value, position, number = max(candidates, key=lambda item: (item[0], -item[1]))
    name = results[position]["name"]
    risk = {"name": name, "number": number, "label": _RISK_WORDS[number], "raw": value, "published": None}
    return {"risk": risk, "loss": None}


def compare_finished(runs: Sequence[Finished]) -> dict[str, Any]:
    """Return risk and loss of runs on one pair of axes, and which of them no other beats.

    A run that does not fit the first is refused with the reason; UsageError if the first fits nothing.
    """
    measured = [run for run in runs if run.scores.get("compared_by")]
    first, *others = measured or runs
    measures = _measures([first.recipe])
    if not isinstance(measures, ComparisonMeasures):
        raise UsageError(measures)
    if not measured:
        raise UsageError(_EARLIER)
    taken = [first]
    refused = [{"id": run.id, "why": _EARLIER} for run in runs if not run.scores.get("compared_by")]
    # Runs are taken in their order; one that does not fit those before is left out, and the reason is told.
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
    percent = is_percent(first.scores["compared_by"]["score"])
    return {
        "risk": {"name": measures.attack.name, "label": _RISK_WORDS.get(measures.risk, measures.risk)},
        "loss": {"name": measures.metric.name, "label": measures.metric.summary, "percent": percent},
        "points": points,
        "limit": _limit([run.recipe for run in taken]),
        "refused": refused,
    }


def _limit(recipes: Sequence[Recipe]) -> float | None:
    """Return the accepted risk that all runs were made with; None where they differ, or nobody said one."""
    # One line is drawn for all, so it must be the limit of all.
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
    # Loss is measured from the prepared data on, so runs must begin with the same.
    if run.recipe.prepare != taken[0].recipe.prepare:
        return "It prepares the data in another way, so its loss is measured against another original."
    measures = _measures([*(other.recipe for other in taken), run.recipe])
    return measures if isinstance(measures, str) else ""


def _point(measures: ComparisonMeasures, run: Finished) -> dict[str, Any]:
    pair = run.scores["compared_by"]["attack"]
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
        "loss": measures.loss_of(run.scores["compared_by"]["score"]),
        "head": short_head(run.scores.get("head")),
    }


def _means(attack: Any) -> tuple[str, dict[str, Any]]:
    """Return what of an attack makes its mean what it is."""
    given = plain_parameters(attack)
    return attack.name, {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}
