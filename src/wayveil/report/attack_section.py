"""The attacks in a report: what attackers learn from the raw and from the published data, beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wayveil.model import Chart, Number, Numbers
from wayveil.model.numbers import ABOUT, About, threshold_text
from wayveil.model.results import AttackResult
from wayveil.report.chart_axis import overlay
from wayveil.report.text.display_number import DisplayNumber, display
from wayveil.report.text.wording import adversary_words, extent_words, sentence, words

__all__ = ["AttackLine", "attack_in_full", "attack_lines", "find_number", "raw_risk_rows", "risk_rows"]


@dataclass(frozen=True, kw_only=True)
class AttackLine:
    """What one attack does, before and after, each side a number or None."""

    attack: str
    adversary: str
    what: str
    mean: tuple[Number | None, Number | None]
    worst: tuple[Number | None, Number | None] = (None, None)
    above: tuple[Number | None, Number | None] = (None, None)

    @property
    def name(self) -> str:
        """The attack in words."""
        return words(self.attack)

    @property
    def limit(self) -> float | None:
        """The risk above which people were counted."""
        return next((number.threshold for number in reversed(self.above) if number is not None), None)

    @property
    def limit_text(self) -> str:
        """The limit as people read it."""
        if self.limit is None:
            return ""
        return threshold_text(self.limit, odds=any(n is not None and n.about == "identity" for n in self.above))

    @property
    def danger(self) -> tuple[float, float]:
        """How much there is left to fear: the share above the limit in the published data, then the mean."""
        return tuple(0.0 if n is None or n.value is None else float(n.value) for n in (self.above[1], self.mean[1]))  # type: ignore[return-value]


def attack_lines(pairs: Sequence[tuple[AttackResult, AttackResult]]) -> list[AttackLine]:
    """Return every attack in one line or a few, those with most to fear first."""
    lines = [line for raw, published in pairs for line in _lines(raw, published)]
    # Most to fear first: who is above the limit counts more than a high mean.
    return sorted(lines, key=lambda line: line.danger, reverse=True)


def risk_rows(pairs: Sequence[tuple[AttackResult, AttackResult]]) -> list[dict[str, Any]]:
    """Return the same lines as JSON can hold them: see `results_schema.RiskRow`."""
    return [_row(line) for line in attack_lines(pairs)]


def _row(line: AttackLine) -> dict[str, Any]:
    return {
        "attack": line.attack,
        "name": line.name,
        "adversary": line.adversary,
        "what": line.what,
        "raw": _json(line.mean[0]),
        "published": _json(line.mean[1]),
        "raw_worst": _json(line.worst[0]),
        "published_worst": _json(line.worst[1]),
        "raw_above": _json(line.above[0]),
        "published_above": _json(line.above[1]),
        "limit": line.limit,
        "limit_text": line.limit_text,
    }


def raw_risk_rows(results: Sequence[AttackResult]) -> list[dict[str, Any]]:
    """Return the same lines of attacks on one data set: the published side stays empty."""
    # The same result on both sides, of which one is then emptied: lines are made for pairs.
    lines = [line for result in results for line in _lines(result, result)]
    lines = sorted(lines, key=lambda line: line.danger, reverse=True)
    rows = [_row(line) for line in lines]
    return [{**row, "published": None, "published_worst": None, "published_above": None} for row in rows]


def attack_in_full(raw: AttackResult, published: AttackResult, after: str) -> dict[str, Any]:
    """Return all numbers of an attack, in groups, with its charts; `after` is what the published data are called."""
    return {
        "title": sentence(adversary_words(raw.adversary, published.adversary)).removesuffix("."),
        "name": words(raw.name),
        "extent": extent_words(raw.victims, sampled=raw.sampled),
        "groups": _grouped(raw, published),
        "charts": overlaid(raw, published, after),
    }


def overlaid(raw: AttackResult, published: AttackResult, after: str) -> list[Chart]:
    """Return the charts of both sides, those of the same thing as one."""
    drawn = []
    # Charts with the same title show the same thing and are laid over each other; others stand alone.
    partners = {chart.title: chart for chart in published.charts}
    for chart in raw.charts:
        partner = partners.pop(chart.title, None)
        drawn.append(overlay(chart, partner, ("raw data", after)) if partner else chart)
    return [*drawn, *partners.values()]


def find_number(numbers: Numbers, about: About, statistic: str) -> Number | None:
    """Return the number of an attack that is this statistic of what it is about, if there is one."""
    return next((one for one in numbers.values() if one.about == about and one.statistic == statistic), None)


def _lines(raw: AttackResult, published: AttackResult) -> list[AttackLine]:
    """Return the lines of one attack: one for each thing that it is about, or else its first share."""
    sides = (raw.numbers, published.numbers)
    line: dict[str, Any] = {"attack": raw.name, "adversary": adversary_words(raw.adversary, published.adversary)}
    lines = []
    # An attack may be about several things, finding people and inferring values; each has its own line.
    for about, (_, doing) in ABOUT.items():
        mean = _pair(sides, about, "mean")
        if about and any(number is not None and number.value is not None for number in mean):
            lines.append((doing, mean, _pair(sides, about, "largest"), _pair(sides, about, "share above")))
    if lines:
        several = len(lines) > 1
        return [
            AttackLine(what=doing if several else "", mean=mean, worst=worst, above=above, **line)
            for doing, mean, worst, above in lines
        ]
    # Attacks without a mean over people are told by their first share.
    first = next((name for name, number in raw.numbers.items() if number.percent and number.value is not None), None)
    if first is None:
        return [AttackLine(what="nothing to measure", mean=(None, None), **line)]
    label = raw.numbers[first].label.lower()
    return [AttackLine(what=label, mean=(raw.numbers[first], published.numbers.get(first)), **line)]


def _pair(sides: tuple[Numbers, Numbers], about: About, statistic: str) -> tuple[Number | None, Number | None]:
    return find_number(sides[0], about, statistic), find_number(sides[1], about, statistic)


def _json(number: Number | None) -> dict[str, Any] | None:
    return None if number is None else number.to_json()


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
        values = [number for number in (before, after) if number is not None and number.value is not None]
        if values:
            change = _Change(label=values[0].label, before=display(before), after=display(after))
            groups[values[0].about].append(change)
    return [(ABOUT[about][0], rows) for about, rows in groups.items() if rows]
