"""The private report: one self-contained HTML file that a data owner can read, print and hand to a lawyer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from markupsafe import Markup

from wayveil.errors import UsageError
from wayveil.model.claims import Guarantee
from wayveil.model.results import AttackResult, Chart, Score, Verdict
from wayveil.report.attack_section import attack_in_full, attack_in_short
from wayveil.report.charts.bars import draw
from wayveil.report.charts.drawings import Drawing, draw_trajectories
from wayveil.report.text.display_number import Number, number
from wayveil.report.text.number_format import clean, format_percent
from wayveil.report.text.wording import (
    as_fraction,
    date_words,
    duration,
    exact_text,
    is_share,
    measured_words,
    sentence,
    words,
)
from wayveil.run.pages import environment

__all__ = ["ReportContext", "render_report"]


@dataclass(frozen=True, kw_only=True)
class ReportContext:
    """Everything that the report says.

    Parameters
    ----------
    parameters : tuple of (name, value, help)
    promise : str
        The claim in words, with the declaration of the publisher where each trajectory counts as a person.
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
    promise: str
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
        "attacks": [attack_in_full(raw, published, after) for raw, published in context.attacks],
        "risks": [attack_in_short(raw, published) for raw, published in context.attacks],
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
        "total_time": Number(duration(total), exact_text(total)),
        "versions": context.versions,
    }
    return environment().get_template("report.html.j2").render(view)


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """A key number beside what was promised."""

    label: str
    value: Number
    unit: str = ""
    promised: str = ""
    meaning: str = ""
    state: Literal["kept", "broken", "plain"] = "plain"


# What a measured value is held against: a word of its name, the claim's parameter, and how to read them.
_PROMISES = (
    ("support", "k", "at least", "the fewest {people} that share what an attacker may know; more is safer"),
    ("confidence", "c", "at most", "the largest share of them with one sensitive value; less is safer"),
    ("min_candidates", "k", "at least", "fewest {people} whose trajectory can be that of one person"),
    ("max_share", "p", "at most", "largest share of those who fit with one place that is not the adversary's"),
    ("max_inference", "p", "at most", "how surely one such place is inferred of a person, over all their trajectories"),
    ("max_probability", "c", "at most", "the largest probability of one sensitive place; less is safer"),
    ("min_people", "m", "at least", "fewest {people} who share all places of a trip that are not sensitive"),
)
_SHARES = ("confidence", "max_share", "max_inference", "probability")


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
                value=Number(value, exact_text(context.verdict.measured[key])),
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
    if "posterior_aggregate" in result.measured:
        base = result.measured.get("base_rate")
        usual = "" if base is None else f"; of all, {format_percent(base)} have the value"
        return _Mark(
            label="Not promised: measured attack",
            value=number(result.measured["posterior_aggregate"], True),
            unit="probability of a sensitive value",
            meaning=f"an attacker who {result.adversary}{usual}",
        )
    once = result.measured.get("identity_mean_with_1_sample")
    less = "" if once is None else f"; {format_percent(once)} with one known position"
    return _Mark(
        label="Not promised: measured attack",
        value=number(result.measured.get("identity_mean", result.measured.get("exposed_people_share")), True),
        unit="of people found" if "identity_mean" in result.measured else "of people exposed",
        meaning=f"an attacker who {result.adversary}{less}",
    )


def _judged(verdict: Verdict) -> list[tuple[str, Number]]:
    """Return every measured value in words; nothing is rounded so far that it crosses a bound."""
    rows = []
    for key in verdict.measured:
        if key.endswith("_exact") and key.removesuffix("_exact") in verdict.measured:
            continue
        value = _best(verdict.measured, key)
        exact = as_fraction(value)
        if exact is None:
            rows.append((words(key), Number("–" if value is None or isinstance(value, float) else str(value))))
        else:
            text, fraction = measured_words(exact, any(part in key.lower() for part in _SHARES))
            shown = f"{text} ({fraction})" if fraction else text
            rows.append((words(key), Number(shown, exact_text(verdict.measured[key]))))
    return rows


def _best(measured: Mapping[str, Any], key: str) -> Any:
    """Return a measured value, or its exact form where the verifier gives both."""
    exact = measured.get(f"{key}_exact")
    return measured[key] if exact is None else exact


def _score(score: Score) -> dict[str, Any]:
    return {
        "title": words(score.name),
        "meaning": sentence(score.meaning),
        "value": _score_value(score),
        "better": f"{score.better} is better",
        "rows": [
            (words(name), number(value, name not in score.units and is_share(name, value), score.units.get(name, "")))
            for name, value in score.measured.items()
            if value is not None
        ],
        "charts": [draw(chart) for chart in score.charts],
    }


def _score_value(score: Score) -> Number:
    return number(score.value, score.percent)


def _balance(balance: Mapping[str, Mapping[str, int | None]]) -> list[tuple[str, list[tuple[str, Number]]]]:
    columns = ("in", "out", "suppressed", "invented")
    return [
        (words(what), [(words(column), number(row.get(column), False)) for column in columns])
        for what, row in balance.items()
    ]


def _facts(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = list(before) + [name for name in after if name not in before]
    return [(words(name), str(before.get(name, "–")), str(after.get(name, "–"))) for name in names]


def _timings(timings: Mapping[str, float]) -> list[tuple[str, Number]]:
    longest = max(timings.values(), default=0.0) or 1.0
    return [
        (words(step), Number(duration(s), exact_text(s), bar=round(100 * s / longest, 1)))
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
