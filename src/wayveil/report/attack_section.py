"""The attacks in a report: what attackers learn from the raw and from the published data, beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wayveil.model.results import AttackResult
from wayveil.report.charts.bars import draw, overlay
from wayveil.report.text.display_number import Number, number
from wayveil.report.text.number_format import format_value
from wayveil.report.text.wording import (
    adversary_words,
    bound_words,
    exact_text,
    extent_words,
    is_share,
    knowledge_words,
    name_parts,
    one_in,
    sentence,
    words,
)

__all__ = ["attack_in_full", "attack_in_short"]

# The numbers of an attack are told in groups: by the first word of their name, or as listed here.
_GROUPS = {
    "identity": "Finding the person (identity linkage); lower is safer",
    "attribute": "Inferring a sensitive value (attribute linkage); lower is safer",
    "inference": "Inferring where a person was; lower is safer",
    "posterior": "Inferring something sensitive, knowing the method; lower is safer",
    "": "Reach of the attack",
}
_SHORT = {
    "identity": "find the person",
    "attribute": "infer a sensitive value",
    "inference": "infer a place",
    "posterior": "infer a place",
}
_PLACES = {
    "identity_mean": ("identity", "Mean over people"),
    "identity_mean_if_published": ("identity", "Mean over those published"),
    "identity_mean_if_matched": ("identity", "Mean over those who fit"),
    "identity_max": ("identity", "Person most at risk"),
    "identity_min": ("identity", "Person least at risk"),
    "inference_mean": ("inference", "Mean over people"),
    "inference_max": ("inference", "Person most at risk"),
    "inference_share_above": ("inference", "People with a risk above {bound}"),
    "attribute_mean": ("attribute", "Mean over people"),
    "attribute_max": ("attribute", "Person most at risk"),
    "attribute_true_mean": ("attribute", "Mean, for a place where the person was"),
    "attribute_true_max": ("attribute", "Largest, for a place where the person was"),
    "unique_share": ("identity", "Exactly one person matches"),
    "identity_share_above": ("identity", "People with a risk above {bound}"),
    "attribute_share_above": ("attribute", "People with a risk above {bound}"),
    "unmatched_share": ("", "Nothing matches"),
    "posterior_mean": ("posterior", "Mean over trips with a sensitive stop"),
    "posterior_max": ("posterior", "Most probable place, by popularity"),
    "posterior_share_above": ("posterior", "Trips with a place above {bound}"),
    "posterior_certain_share": ("posterior", "Trips of which a place is certain"),
    "composition_max": ("posterior", "Largest true share of those who look alike"),
    "composition_share_above": ("posterior", "Trips with a true share above {bound}"),
}
_THRESHOLD = "_threshold"


def attack_in_full(raw: AttackResult, published: AttackResult, after: str) -> dict[str, Any]:
    """Return all numbers of an attack, in groups, with its charts; `after` is what the published data are called."""
    drawn = []
    partners = {chart.title: chart for chart in published.charts}
    for chart in raw.charts:
        partner = partners.pop(chart.title, None)
        drawn.append(draw(overlay(chart, partner, ("raw data", after)) if partner else chart))
    drawn += [draw(chart) for chart in partners.values()]
    return {
        "title": sentence(adversary_words(raw.adversary, published.adversary)).removesuffix("."),
        "name": words(raw.name),
        "extent": extent_words(raw.victims, sampled=raw.sampled),
        "groups": _grouped(raw, published),
        "charts": drawn,
    }


def attack_in_short(raw: AttackResult, published: AttackResult) -> dict[str, Any]:
    """Return an attack in one or a few lines: the mean, the worst, and how many people are above the threshold."""
    before = raw.measured
    after = published.measured
    rows = []
    for group in _SHORT:
        mean = f"{group}_mean"
        worst = f"{group}_max"
        above = f"{group}_share_above"
        if before.get(mean) is None and after.get(mean) is None:
            continue
        bound = before.get(f"{group}_threshold")
        rows.append(
            {
                "what": _SHORT[group],
                "sides": [(number(side.get(mean), True), number(side.get(worst), True)) for side in (before, after)],
                "above": [number(side.get(above), True) for side in (before, after)] if above in before else [],
                "bound": "" if bound is None else bound_words(bound, odds=group == "identity"),
            }
        )
    if not rows:
        first = next((name for name in before if is_share(name, before[name])), None)
        sides = [(number(side.get(first), True), None) for side in (before, after)] if first else []
        rows = [{"what": words(first).lower() if first else "", "sides": sides, "above": [], "bound": ""}]
    return {"name": words(raw.name), "adversary": adversary_words(raw.adversary, published.adversary), "rows": rows}


@dataclass(frozen=True, kw_only=True)
class _Change:
    """One number before and after."""

    label: str
    before: Number
    after: Number


def _grouped(raw: AttackResult, published: AttackResult) -> list[tuple[str, list[_Change]]]:
    groups: dict[str, list[_Change]] = {group: [] for group in _GROUPS}
    what = "visit" if "visit" in raw.adversary else "position"
    for name in dict.fromkeys((*raw.measured, *published.measured)):
        before = raw.measured.get(name)
        after = published.measured.get(name)
        if name.endswith(_THRESHOLD) or (before is None and after is None) or _is_end(name, raw.measured):
            continue  # a threshold and the ends of an interval are told with the number that they belong to
        base, known = knowledge_words(name, what)
        first, _, rest = base.partition("_")
        group, label = _PLACES.get(base, (first, words(rest)) if first in _GROUPS and rest else ("", words(base)))
        bound = raw.measured.get(f"{group}{_THRESHOLD}")
        told = "the threshold" if bound is None else bound_words(bound, odds=group == "identity")
        sides = [_side(name, side.measured, (before, after)) for side in (raw, published)]
        groups[group].append(_Change(label=label.replace("{bound}", told) + known, before=sides[0], after=sides[1]))
    return [(_GROUPS[group], rows) for group, rows in groups.items() if rows]


def _is_end(name: str, measured: Mapping[str, Any]) -> bool:
    return name.endswith(("_low", "_high")) and name.rpartition("_")[0] in measured


def _side(name: str, measured: Mapping[str, float | None], both: tuple[float | None, ...]) -> Number:
    """Return a number of an attack with its odds, its bar and its interval of confidence, where it has these."""
    value = measured.get(name)
    share = is_share(name, *both)
    odds = share and not {"share", "loss", "attribute"} & set(name_parts(name))
    ends = [measured.get(name + end) for end in ("_low", "_high")]
    return Number(
        text=format_value(value, percent=share),
        value=exact_text(value),
        odds=one_in(value) if odds else "",
        bar=round(value * 100, 1) if share and value is not None and math.isfinite(value) else None,
        span=() if None in ends else tuple(number(end, share) for end in ends),
    )
