"""The attacks in a report: what attackers learn from the raw and from the published data, beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wayveil.model import Number, Numbers
from wayveil.model.numbers import ABOUT, About, threshold_text
from wayveil.model.results import AttackResult
from wayveil.report.charts.bars import draw, overlay
from wayveil.report.text.display_number import DisplayNumber, display
from wayveil.report.text.wording import adversary_words, extent_words, sentence, words

__all__ = ["attack_in_full", "attack_in_short", "find_number"]


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
    sides = (raw.numbers, published.numbers)
    rows = []
    for about, (_, doing) in ABOUT.items():
        means = [find_number(side, about, "mean") for side in sides]
        if not about or all(mean is None or mean.value is None for mean in means):
            continue
        worst = [find_number(side, about, "largest") for side in sides]
        above = [find_number(side, about, "share above") for side in sides]
        bound = None if above[0] is None else above[0].threshold
        rows.append(
            {
                "what": doing,
                "sides": [(display(mean), display(most)) for mean, most in zip(means, worst, strict=True)],
                "above": [] if above[0] is None else [display(number) for number in above],
                "bound": "" if bound is None else threshold_text(bound, odds=about == "identity"),
            }
        )
    if not rows:
        first = next(
            (name for name, number in raw.numbers.items() if number.percent and number.value is not None), None
        )
        shown = [(display(side.get(first)), None) for side in sides] if first else []
        rows = [{"what": raw.numbers[first].label.lower() if first else "", "sides": shown, "above": [], "bound": ""}]
    return {"name": words(raw.name), "adversary": adversary_words(raw.adversary, published.adversary), "rows": rows}


def find_number(numbers: Numbers, about: About, statistic: str) -> Number | None:
    """Return the number of an attack that is this statistic of what it is about, if there is one."""
    return next((one for one in numbers.values() if one.about == about and one.statistic == statistic), None)


@dataclass(frozen=True, kw_only=True)
class _Change:
    """One number before and after."""

    label: str
    before: DisplayNumber
    after: DisplayNumber


def _grouped(raw: AttackResult, published: AttackResult) -> list[tuple[str, list[_Change]]]:
    groups: dict[About, list[_Change]] = {about: [] for about in ABOUT}
    for name in dict.fromkeys((*raw.numbers, *published.numbers)):
        before = raw.numbers.get(name)
        after = published.numbers.get(name)
        told = [number for number in (before, after) if number is not None and number.value is not None]
        if told:
            change = _Change(label=told[0].label, before=display(before), after=display(after))
            groups[told[0].about].append(change)
    return [(ABOUT[about][0], rows) for about, rows in groups.items() if rows]
