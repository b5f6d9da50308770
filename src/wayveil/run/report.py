"""The private report: one self-contained HTML file that a data owner can read, print and hand to a lawyer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wayveil.errors import UsageError
from wayveil.model.guarantees import Guarantee
from wayveil.model.results import AttackResult, Chart, Score, Verdict
from wayveil.run.charts import draw, overlay
from wayveil.run.drawing import Drawing, draw_trajectories
from wayveil.run.numbers import clean, format_number, format_percent
from wayveil.run.wording import (
    as_fraction,
    bound_words,
    date_words,
    duration,
    exact_text,
    is_share,
    knowledge_words,
    measured_words,
    name_parts,
    one_in,
    sentence,
    words,
)

__all__ = ["ReportContext", "environment", "render_report"]


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
    balance : mapping
        What went in, came out, was suppressed and was invented: see `views.balance`.
    drawings : tuple of Drawing
        Published trajectories, and raw ones only if the data owner asked for them.
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
    balance: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()
    recipe: str = ""

    def __post_init__(self) -> None:
        if self.published_ok and not self.verdict.holds:
            raise UsageError("The report cannot say that data were published whose verdict fails.")
        if self.verdict.claim != self.claim:
            raise UsageError("The report needs a verdict on the claim that it states, not on another one.")


def render_report(context: ReportContext) -> str:
    """Return the report as HTML: no script, nothing loaded from anywhere, every text escaped."""
    after = "published data" if context.published_ok else "rejected data"
    total = sum(context.timings.values())
    view: dict[str, Any] = {
        "context": context,
        "created": date_words(context.created),
        "after": after,
        "marks": _marks(context),
        "judged": _judged(context.verdict),
        "witness": _witness(context.verdict),
        "attacks": [_attack(raw, published, after) for raw, published in context.attacks],
        "risks": [_risks(raw, published) for raw, published in context.attacks],
        "scores": [_score(score) for score in context.scores],
        "drawings": [draw_trajectories(drawing) for drawing in context.drawings if drawing.kind != "names"],
        "told": [draw_trajectories(drawing) for drawing in context.drawings if drawing.kind == "names"],
        "with_raw": any(panel.raw for drawing in context.drawings for panel in drawing.panels),
        "balance": _balance(context.balance),
        "maps": [draw(chart) for chart in context.views if chart.kind in ("cells", "roads")],
        "views": [draw(chart) for chart in context.views if chart.kind not in ("cells", "roads")],
        "recipe": Markup("\n").join(clean(line) for line in context.recipe.splitlines()),
        "facts": _facts(context.input_facts, context.output_facts),
        "timings": _timings(context.timings),
        "total_time": _Number(duration(total), exact_text(total)),
        "versions": context.versions,
    }
    return environment().get_template("report.html.j2").render(view)


@dataclass(frozen=True)
class _Number:
    """A number as people read it and, for machines, as it was measured; a share also as the width of a bar."""

    text: str
    value: str | None = None
    odds: str = ""
    bar: float | None = None
    span: tuple[_Number, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """A key number beside what was promised."""

    label: str
    value: _Number
    unit: str = ""
    promised: str = ""
    meaning: str = ""
    state: Literal["kept", "broken", "plain"] = "plain"


@dataclass(frozen=True, kw_only=True)
class _Change:
    """One number before and after."""

    label: str
    before: _Number
    after: _Number


# What a measured value is held against: a word of its name, the claim's parameter, and how to read them.
_PROMISES = (
    ("support", "k", "at least", "the fewest {people} that share what an attacker may know; more is safer"),
    ("confidence", "c", "at most", "the largest share of them with one sensitive value; less is safer"),
    ("min_candidates", "k", "at least", "fewest {people} whose trajectory can be that of one person"),
    ("max_share", "p", "at most", "largest share of those who fit with one place that is not the adversary's"),
    ("max_probability", "c", "at most", "the largest probability of one sensitive place; less is safer"),
    ("min_people", "m", "at least", "fewest {people} who share all places of a trip that are not sensitive"),
)
_SHARES = ("confidence", "max_share", "probability")

# The numbers of an attack are told in groups: by the first word of their name, or as listed here.
_GROUPS = {
    "identity": "Finding the person (identity linkage); lower is safer",
    "attribute": "Inferring a sensitive value (attribute linkage); lower is safer",
    "inference": "Inferring where a person was; lower is safer",
    "": "Reach of the attack",
}
_SHORT = {"identity": "find the person", "attribute": "infer a sensitive value", "inference": "infer a place"}
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
}
_THRESHOLD = "_threshold"


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
        share = any(part in word for part in _SHARES)
        broken = not context.verdict.holds and None not in (measured, bound)
        if broken and measured is not None and bound is not None:
            broken = measured < bound if side == "at least" else measured > bound
        value, fraction = measured_words(measured, share, bound)
        found.append(
            _Mark(
                label=words(key),
                value=_Number(value, exact_text(context.verdict.measured[key])),
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


def _number(value: float | None, percent: bool) -> _Number:
    return _Number(format_percent(value) if percent else format_number(value), exact_text(value))


def _unbounded(result: AttackResult) -> _Mark:
    """Return what an attack achieved that the promise does not stop, beside the promise."""
    once = result.measured.get("identity_mean_with_1_sample")
    less = "" if once is None else f"; {format_percent(once)} with one known position"
    return _Mark(
        label="Not promised: measured attack",
        value=_number(result.measured.get("identity_mean", result.measured.get("exposed_people_share")), True),
        unit="of people found" if "identity_mean" in result.measured else "of people exposed",
        meaning=f"an attacker who {result.adversary}{less}",
    )


def _judged(verdict: Verdict) -> list[tuple[str, _Number]]:
    """Return every measured value in words; nothing is rounded so far that it crosses a bound."""
    rows = []
    for key in verdict.measured:
        if key.endswith("_exact") and key.removesuffix("_exact") in verdict.measured:
            continue
        value = _best(verdict.measured, key)
        exact = as_fraction(value)
        if exact is None:
            rows.append((words(key), _Number("–" if value is None or isinstance(value, float) else str(value))))
        else:
            text, fraction = measured_words(exact, any(part in key.lower() for part in _SHARES))
            shown = f"{text} ({fraction})" if fraction else text
            rows.append((words(key), _Number(shown, exact_text(verdict.measured[key]))))
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
    people = f"{format_number(raw.victims)} {'person' if raw.victims == 1 else 'people'}"
    return {
        "title": sentence(raw.adversary).removesuffix("."),
        "name": words(raw.name),
        "extent": f"an estimate from random draws, {people}" if raw.sampled else f"exact, for all {people}",
        "groups": _grouped(raw, published),
        "charts": drawn,
    }


def _risks(raw: AttackResult, published: AttackResult) -> dict[str, Any]:
    """Return an attack in one or a few lines: the mean, the worst, and how many people are above the threshold."""
    before, after = raw.measured, published.measured
    rows = []
    for group in _SHORT:
        mean, worst, above = f"{group}_mean", f"{group}_max", f"{group}_share_above"
        if before.get(mean) is None and after.get(mean) is None:
            continue
        bound = before.get(f"{group}_threshold")
        rows.append(
            {
                "what": _SHORT[group],
                "sides": [(_number(side.get(mean), True), _number(side.get(worst), True)) for side in (before, after)],
                "above": [_number(side.get(above), True) for side in (before, after)] if above in before else [],
                "bound": "" if bound is None else bound_words(bound, odds=group == "identity"),
            }
        )
    if not rows:
        first = next((name for name in before if is_share(name, before[name])), None)
        sides = [(_number(side.get(first), True), None) for side in (before, after)] if first else []
        rows = [{"what": words(first).lower() if first else "", "sides": sides, "above": [], "bound": ""}]
    return {"name": words(raw.name), "adversary": raw.adversary, "rows": rows}


def _grouped(raw: AttackResult, published: AttackResult) -> list[tuple[str, list[_Change]]]:
    groups: dict[str, list[_Change]] = {group: [] for group in _GROUPS}
    what = "visit" if "visit" in raw.adversary else "position"
    for name in dict.fromkeys((*raw.measured, *published.measured)):
        before, after = raw.measured.get(name), published.measured.get(name)
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


def _side(name: str, measured: Mapping[str, float | None], both: tuple[float | None, ...]) -> _Number:
    """Return a number of an attack with its odds, its bar and its interval of confidence, where it has these."""
    value, share = measured.get(name), is_share(name, *both)
    odds = share and not {"share", "loss", "attribute"} & set(name_parts(name))
    ends = [measured.get(name + end) for end in ("_low", "_high")]
    return _Number(
        text=format_percent(value) if share else format_number(value),
        value=exact_text(value),
        odds=one_in(value) if odds else "",
        bar=round(value * 100, 1) if share and value is not None and math.isfinite(value) else None,
        span=() if None in ends else tuple(_number(end, share) for end in ends),
    )


def _score(score: Score) -> dict[str, Any]:
    return {
        "title": words(score.name),
        "meaning": sentence(score.meaning),
        "value": _score_value(score),
        "better": f"{score.better} is better",
        "rows": [
            (words(name), _number(value, is_share(name, value)))
            for name, value in score.measured.items()
            if value is not None
        ],
        "charts": [draw(chart) for chart in score.charts],
    }


def _score_value(score: Score) -> _Number:
    return _number(score.value, score.percent)


def _balance(balance: Mapping[str, Mapping[str, int | None]]) -> list[tuple[str, list[tuple[str, _Number]]]]:
    columns = ("in", "out", "suppressed", "invented")
    return [
        (words(what), [(words(column), _number(row.get(column), False)) for column in columns])
        for what, row in balance.items()
    ]


def _facts(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = list(before) + [name for name in after if name not in before]
    return [(words(name), str(before.get(name, "–")), str(after.get(name, "–"))) for name in names]


def _timings(timings: Mapping[str, float]) -> list[tuple[str, _Number]]:
    longest = max(timings.values(), default=0.0) or 1.0
    return [
        (words(step), _Number(duration(s), exact_text(s), bar=round(100 * s / longest, 1)))
        for step, s in timings.items()
    ]


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
def environment() -> Environment:
    """Return the templates of all pages: everything that is filled in is escaped, and a missing name is an error."""
    return Environment(
        loader=PackageLoader("wayveil.run", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else clean(value),
    )
