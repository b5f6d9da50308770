"""The private report: one self-contained HTML file that a data owner can read, print and hand to a lawyer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from markupsafe import Markup

from wayveil.errors import UsageError
from wayveil.model import Number
from wayveil.model.claims import Guarantee
from wayveil.model.numbers import headline
from wayveil.model.results import AttackResult, Chart, Score, Verdict
from wayveil.report.attack_section import attack_in_full, attack_in_short
from wayveil.report.charts.bars import draw
from wayveil.report.charts.drawings import Drawing, draw_trajectories
from wayveil.report.page_templates import environment
from wayveil.report.text.display_number import DisplayNumber, display, display_count
from wayveil.report.text.head import Head
from wayveil.report.text.number_format import clean
from wayveil.report.text.wording import (
    as_fraction,
    date_words,
    duration,
    exact_text,
    measured_words,
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
    head : Head, optional
        What it came to in one sentence; without it the band says no more than the verdict.
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
    head: Head | None = None
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
        "total_time": DisplayNumber(duration(total), exact_text(total)),
        "versions": context.versions,
    }
    return environment().get_template("report.html.j2").render(view)


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """A key number beside what was promised."""

    label: str
    value: DisplayNumber
    unit: str = ""
    promised: str = ""
    meaning: str = ""
    state: Literal["kept", "broken", "plain"] = "plain"


def _marks(context: ReportContext) -> list[_Mark]:
    """Return the headline: each promised value with the measured one, then the first score."""
    people = "people" if context.verdict.counted == "owners" else "trajectories"
    promised = context.claim.to_json()
    found = []
    for number in context.verdict.numbers.values():
        if number.promised not in promised or (number.promised == "c" and not promised.get("sensitive", True)):
            continue
        measured = _exact(number)
        bound = as_fraction(promised[number.promised])
        broken = not context.verdict.holds and None not in (measured, bound)
        if broken and measured is not None and bound is not None:
            broken = measured < bound if number.keeps == "at least" else measured > bound
        value, fraction = measured_words(measured, number.percent, bound)
        found.append(
            _Mark(
                label=number.label,
                value=DisplayNumber(value, exact_text(number.value)),
                unit=fraction if number.percent else people if measured is not None else "",
                promised=f"promised: {number.keeps} {measured_words(bound, number.percent)[0]}",
                meaning="nothing could be counted" if measured is None else number.meaning.format(people=people),
                state="broken" if broken else "kept" if context.verdict.holds else "plain",
            )
        )
    found += [_unbounded(result) for _, result in context.attacks if result.name in context.claim.unbounded]
    for score in context.scores[:1]:
        found.append(_Mark(label=words(score.name), value=display(score.number), meaning=score.meaning))
    return found


def _unbounded(result: AttackResult) -> _Mark:
    """Return what an attack achieved that the promise does not stop, beside the promise."""
    number = headline(result.numbers)
    more = [one for name, one in result.numbers.items() if name in ("base_rate", "identity_mean_with_1_sample")]
    told = "".join(f"; {one.label.lower()}: {one.text}" for one in more if one.value is not None)
    return _Mark(
        label="Not promised: measured attack",
        value=display(number),
        unit="" if number is None else number.label.lower(),
        meaning=f"an attacker who {result.adversary}{told}",
    )


def _judged(verdict: Verdict) -> list[tuple[str, DisplayNumber]]:
    """Return every measured value with its label; nothing is rounded so far that it crosses a bound."""
    rows = []
    for number in verdict.numbers.values():
        exact = _exact(number)
        if exact is None:
            rows.append((number.label, DisplayNumber(number.exact or number.text)))
            continue
        text, fraction = measured_words(exact, number.percent)
        shown = f"{text} ({fraction})" if fraction else text if number.percent else number.format(number.value)
        rows.append((number.label, DisplayNumber(shown, exact_text(number.value))))
        if number.note:
            rows.append((f"{number.label}: note", DisplayNumber(number.note)))
    return rows


def _exact(number: Number) -> Fraction | None:
    """Return a measured value as an exact number, by its exact form where the verifier gives one."""
    exact = as_fraction(number.exact)
    return as_fraction(number.value) if exact is None else exact


def _score(score: Score) -> dict[str, Any]:
    return {
        "title": words(score.name),
        "meaning": sentence(score.meaning),
        "value": display(score.number),
        "better": f"{score.better} is better",
        "rows": [(number.label, display(number)) for number in score.numbers.values() if number.value is not None],
        "charts": [draw(chart) for chart in score.charts],
    }


def _balance(balance: Mapping[str, Mapping[str, int | None]]) -> list[tuple[str, list[tuple[str, DisplayNumber]]]]:
    columns = ("in", "out", "suppressed", "invented")
    return [
        (words(what), [(words(column), display_count(row.get(column))) for column in columns])
        for what, row in balance.items()
    ]


def _facts(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = list(before) + [name for name in after if name not in before]
    return [(words(name), str(before.get(name, "–")), str(after.get(name, "–"))) for name in names]


def _timings(timings: Mapping[str, float]) -> list[tuple[str, DisplayNumber]]:
    longest = max(timings.values(), default=0.0) or 1.0
    return [
        (words(step), DisplayNumber(duration(s), exact_text(s), bar=round(100 * s / longest, 1)))
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
