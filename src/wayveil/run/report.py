"""The private report: one self-contained HTML file that a data owner can read, print and hand to a lawyer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wayveil.errors import UsageError
from wayveil.model.guarantees import Guarantee
from wayveil.model.results import AttackResult, Chart, Score, Verdict
from wayveil.run.charts import draw, overlay
from wayveil.run.numbers import clean, format_number, format_percent
from wayveil.run.wording import (
    as_fraction,
    bound_words,
    date_words,
    duration,
    is_share,
    measured_words,
    name_parts,
    one_in,
    sentence,
    words,
)

__all__ = ["ReportContext", "render_report"]


@dataclass(frozen=True, kw_only=True)
class ReportContext:
    """Everything that the report says.

    Parameters
    ----------
    parameters : tuple of (name, value, help)
    counted : str
        How people were counted, in one sentence.
    notes : tuple of str
        What was assumed or cleaned.
    attacks : tuple of (AttackResult, AttackResult)
        The same attack on the raw and on the published data.
    timings : mapping of str to float
        Seconds per step.
    created : str
        ISO 8601 time.
    published_ok : bool
        Whether the files were moved to `public/`; cannot be true when the verdict fails.
    manifest_sha256 : str or None
        Hash of the public manifest, if there is one.
    views : tuple of Chart
        What the data look like before and after.
    recipe : str
        The recipe as TOML, without the seed.
    """

    title: str
    method_name: str
    method_summary: str
    parameters: tuple[tuple[str, str, str], ...]
    claim: Guarantee
    verdict: Verdict
    counted: str
    notes: tuple[str, ...]
    input_facts: Mapping[str, str]
    output_facts: Mapping[str, str]
    attacks: tuple[tuple[AttackResult, AttackResult], ...]
    scores: tuple[Score, ...]
    timings: Mapping[str, float]
    versions: Mapping[str, str]
    created: str
    published_ok: bool
    manifest_sha256: str | None = None
    views: tuple[Chart, ...] = ()
    recipe: str = ""

    def __post_init__(self) -> None:
        if self.published_ok and not self.verdict.holds:
            raise UsageError("The report cannot say that data were published whose verdict fails.")
        if self.verdict.claim != self.claim:
            raise UsageError("The report needs a verdict on the claim that it states, not on another one.")


def render_report(context: ReportContext) -> str:
    """Return the report as HTML: no script, nothing loaded from anywhere, every text escaped."""
    after = "published data" if context.published_ok else "rejected data"
    view: dict[str, Any] = {
        "context": context,
        "created": date_words(context.created),
        "after": after,
        "marks": _marks(context),
        "judged": _judged(context.verdict),
        "witness": _witness(context.verdict),
        "attacks": [_attack(raw, published, after) for raw, published in context.attacks],
        "scores": [_score(score) for score in context.scores],
        "maps": [draw(chart) for chart in context.views if chart.kind in ("cells", "roads")],
        "views": [draw(chart) for chart in context.views if chart.kind not in ("cells", "roads")],
        "facts": _facts(context.input_facts, context.output_facts),
        "timings": _timings(context.timings),
        "total_time": duration(sum(context.timings.values())),
        "versions": context.versions,
    }
    return _environment().get_template("report.html.j2").render(view)


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """A key number beside what was promised."""

    label: str
    value: str
    unit: str = ""
    promised: str = ""
    meaning: str = ""
    state: Literal["kept", "broken", "plain"] = "plain"


@dataclass(frozen=True, kw_only=True)
class _Change:
    """One number before and after; shares also as the width of a bar in percent."""

    label: str
    before: str
    after: str
    before_odds: str = ""
    after_odds: str = ""
    before_bar: float | None = None
    after_bar: float | None = None


# What a measured value is held against: a word of its name, the claim's parameter, and how to read them.
_PROMISES = (
    ("support", "k", "at least", "the fewest {people} that share what an attacker may know; more is safer"),
    ("confidence", "c", "at most", "the largest share of them with one sensitive value; less is safer"),
    ("min_candidates", "k", "at least", "fewest {people} whose trajectory can be that of one person"),
    ("max_share", "p", "at most", "largest share of those who fit with one place that is not the adversary's"),
)

# The numbers of an attack are told in groups: by the first word of their name, or as listed here.
_GROUPS = {
    "identity": "Finding the person (identity linkage); lower is safer",
    "attribute": "Inferring a sensitive value (attribute linkage); lower is safer",
    "": "Reach of the attack",
}
_PLACES = {
    "identity_mean": ("identity", "Mean over people"),
    "identity_mean_if_published": ("identity", "Mean over those published"),
    "identity_max": ("identity", "Person most at risk"),
    "attribute_mean": ("attribute", "Mean over people"),
    "attribute_max": ("attribute", "Person most at risk"),
    "unique_share": ("identity", "Exactly one person matches"),
    "identity_share_above": ("identity", "People with a risk above {bound}"),
    "attribute_share_above": ("attribute", "People with a risk above {bound}"),
    "unmatched_share": ("", "Nothing matches"),
}
_THRESHOLD = "_threshold"  # not a result: it is told in the label of the share above it


def _marks(context: ReportContext) -> list[_Mark]:
    """Return the headline: each promised value with the measured one, then the first score."""
    promised = context.claim.to_json()
    people = "people" if context.verdict.counted == "owners" else "trajectories"
    found = []
    for word, parameter, side, meaning in _PROMISES:
        key = next((key for key in context.verdict.measured if word in key.lower()), None)
        if key is None or parameter not in promised or (word == "confidence" and not promised.get("sensitive", True)):
            continue
        measured = as_fraction(_best(context.verdict.measured, key))
        bound = as_fraction(promised[parameter])
        share = word in ("confidence", "max_share")
        broken = not context.verdict.holds and None not in (measured, bound)
        if broken and measured is not None and bound is not None:
            broken = measured < bound if side == "at least" else measured > bound
        value, fraction = measured_words(measured, share, bound)
        found.append(
            _Mark(
                label=words(key),
                value=value,
                unit=fraction if share else people if measured is not None else "",
                promised=f"promised: {side} {measured_words(bound, share)[0]}",
                meaning="nothing could be counted" if measured is None else meaning.format(people=people),
                state="broken" if broken else "kept" if context.verdict.holds else "plain",
            )
        )
    found += [_unbounded(result) for _, result in context.attacks if result.name in context.claim.unbounded]
    for score in context.scores[:1]:
        found.append(_Mark(label=words(score.name), value=_score_value(score), meaning=score.meaning))
    return found


def _unbounded(result: AttackResult) -> _Mark:
    """Return what an attack achieved that the promise does not stop, beside the promise."""
    once = result.measured.get("identity_mean_with_1_sample")
    less = "" if once is None else f"; {format_percent(once)} with one known position"
    return _Mark(
        label="Not promised: measured attack",
        value=format_percent(result.measured.get("identity_mean", result.measured.get("exposed_people_share"))),
        unit="of people found" if "identity_mean" in result.measured else "of people exposed",
        meaning=f"an attacker who {result.adversary}{less}",
    )


def _judged(verdict: Verdict) -> list[tuple[str, str]]:
    """Return every measured value in words; nothing is rounded so far that it crosses a bound."""
    rows = []
    for key in verdict.measured:
        if key.endswith("_exact") and key.removesuffix("_exact") in verdict.measured:
            continue
        value = _best(verdict.measured, key)
        exact = as_fraction(value)
        if exact is None:
            rows.append((words(key), "–" if value is None or isinstance(value, float) else str(value)))
        else:
            text, fraction = measured_words(exact, "confidence" in key.lower())
            rows.append((words(key), f"{text} ({fraction})" if fraction else text))
    return rows


def _best(measured: Mapping[str, Any], key: str) -> Any:
    """Return a measured value, or its exact form where the verifier gives both."""
    exact = measured.get(f"{key}_exact")
    return measured[key] if exact is None else exact


def _attack(raw: AttackResult, published: AttackResult, after: str) -> dict[str, Any]:
    drawn = []
    partners = {chart.title: chart for chart in published.charts}
    for chart in raw.charts:
        partner = partners.pop(chart.title, None)
        drawn.append(draw(overlay(chart, partner, ("raw data", after)) if partner else chart))
    drawn += [draw(chart) for chart in partners.values()]
    names = list(raw.measured) + [name for name in published.measured if name not in raw.measured]
    people = f"{format_number(raw.victims)} {'person' if raw.victims == 1 else 'people'}"
    return {
        "title": sentence(raw.adversary).removesuffix("."),
        "name": words(raw.name),
        "extent": f"an estimate from random draws, {people}" if raw.sampled else f"exact, for all {people}",
        "groups": _grouped(names, raw.measured, published.measured),
        "charts": drawn,
    }


def _grouped(
    names: list[str], raw: Mapping[str, float | None], published: Mapping[str, float | None]
) -> list[tuple[str, list[_Change]]]:
    groups: dict[str, list[_Change]] = {group: [] for group in _GROUPS}
    for name in names:
        before, after = raw.get(name), published.get(name)
        base, known = _known_samples(name)
        first, _, rest = base.partition("_")
        group, label = _PLACES.get(base, (first, words(rest)) if first in _GROUPS and rest else ("", words(base)))
        label += known
        if not name.endswith(_THRESHOLD) and (before is not None or after is not None):
            bound = raw.get(f"{group}{_THRESHOLD}")
            told = "the threshold" if bound is None else bound_words(bound, odds=group == "identity")
            groups[group].append(_change(name, label.replace("{bound}", told), before, after))
    return [(_GROUPS[group], rows) for group, rows in groups.items() if rows]


def _known_samples(name: str) -> tuple[str, str]:
    """Return the name of a number without how much was known, and that in words.

    Examples
    --------
    >>> _known_samples("identity_mean_with_2_samples"), _known_samples("identity_mean")
    (('identity_mean', ', 2 positions known'), ('identity_mean', ''))
    """
    found = re.fullmatch(r"(.+)_with_(\d+)_(sample|place)s?", name)
    if found is None:
        return name, ""
    what = "position" if found[3] == "sample" else "place"
    return found[1], f", {found[2]} {what}{'' if found[2] == '1' else 's'} known"


def _change(name: str, label: str, before: float | None, after: float | None) -> _Change:
    share = is_share(name, before, after)
    odds = share and not {"share", "loss", "attribute"} & set(name_parts(name))

    def bar(value: float | None) -> float | None:
        return round(value * 100, 1) if share and value is not None and math.isfinite(value) else None

    return _Change(
        label=label,
        before=format_percent(before) if share else format_number(before),
        after=format_percent(after) if share else format_number(after),
        before_odds=one_in(before) if odds else "",
        after_odds=one_in(after) if odds else "",
        before_bar=bar(before),
        after_bar=bar(after),
    )


def _score(score: Score) -> dict[str, Any]:
    rows = []
    for name, value in score.measured.items():
        if value is not None:
            rows.append((words(name), format_percent(value) if is_share(name, value) else format_number(value)))
    return {
        "title": words(score.name),
        "meaning": sentence(score.meaning),
        "value": _score_value(score),
        "better": f"{score.better} is better",
        "rows": rows,
        "charts": [draw(chart) for chart in score.charts],
    }


def _score_value(score: Score) -> str:
    return format_percent(score.value) if score.percent else format_number(score.value)


def _facts(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = list(before) + [name for name in after if name not in before]
    return [(words(name), str(before.get(name, "–")), str(after.get(name, "–"))) for name in names]


def _timings(timings: Mapping[str, float]) -> list[tuple[str, str, float]]:
    longest = max(timings.values(), default=0.0) or 1.0
    return [(words(step), duration(s), round(100 * s / longest, 1)) for step, s in timings.items()]


def _witness(verdict: Verdict) -> list[tuple[str, list[str]]]:
    return [(words(key), _lines(value)) for key, value in (verdict.witness or {}).items() if value is not None]


def _lines(value: Any) -> list[str]:
    """Return a part of a witness as lines of text."""
    if isinstance(value, Mapping):
        return [f"{key}: {', '.join(_lines(part))}" for key, part in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [", ".join(_lines(part)) for part in value]
    return [str(value)]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("wayveil.run", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else clean(value),
    )
