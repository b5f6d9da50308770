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
from wayveil.model.results import AttackResult, Score, Verdict
from wayveil.recipe.purpose import TELLING, Use, lost_share
from wayveil.report.attack_section import AttackLine, attack_in_full, attack_lines, risk_rows
from wayveil.report.figures import Drawn, page_parts
from wayveil.report.page_templates import environment, page_style
from wayveil.report.text.display_number import DisplayNumber, display, display_count
from wayveil.report.text.head import Head, StrongestAttack
from wayveil.report.text.number_format import clean, format_percent
from wayveil.report.text.wording import (
    as_fraction,
    date_words,
    duration,
    exact_text,
    measured_words,
    sentence,
    words,
)
from wayveil.report.views.pictures import Pictures

__all__ = ["ReportContext", "key_numbers", "render_report", "use_questions"]


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
    pictures : Pictures
        What the data look like before and after; raw trajectories only if the data owner asked for them.
    balance : mapping
        What went in, came out, was suppressed and was invented: see `views.balance`.
    flow : tuple of mapping
        What there is after each step, from the file to the publication: see `results_schema.StageData`.
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
    pictures: Pictures = field(default_factory=Pictures)
    balance: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    flow: tuple[Mapping[str, Any], ...] = ()
    recipe: str = ""

    # A page must not be able to contradict the verdict; a mistake here would be printed.
    def __post_init__(self) -> None:
        if self.published_ok and not self.verdict.holds:
            raise UsageError("The report cannot say that data were published whose verdict fails.")
        if self.verdict.claim != self.claim:
            raise UsageError("The report needs a verdict on the claim that it states, not on another one.")


def render_report(context: ReportContext) -> str:
    """Return the report as HTML: three pages and an appendix.

    Nothing is loaded from anywhere and every text is escaped.  One script, named by its hash, draws charts and maps;
    all texts and tables can be read without it.
    """
    after = "published data" if context.published_ok else "rejected data"
    total = sum(context.timings.values())
    # Figures are collected while the parts are rendered, so parts that draw come before the page is put together.
    drawn = Drawn(names=("raw data", after), risks=risk_rows(context.attacks), flow=[dict(one) for one in context.flow])
    lines = attack_lines(context.attacks)
    pictures = context.pictures
    view: dict[str, Any] = {
        "context": context,
        "created": date_words(context.created),
        "after": after,
        "marks": _marks(context),
        "judged": _judged(context.verdict),
        "witness": _witness(context.verdict),
        "attacks": [_attack(pair, after, drawn, i) for i, pair in enumerate(context.attacks)],
        "risks": [_risk(line) for line in lines],
        "risk_finding": _risk_finding(lines, after),
        "open_risks": [_risk(line) for line in lines if line.attack not in _stopped(context.claim)],
        "scores": [_score(score, drawn, i) for i, score in enumerate(context.scores)],
        "questions": _questions(context.scores, None if context.head is None else context.head.use),
        "trips": pictures.trips,
        "with_raw": pictures.with_raw,
        "balance": _balance(context.balance),
        "maps": [drawn.map(one) for one in pictures.maps],
        "views": [drawn.chart(chart, f"view-{i}") for i, chart in enumerate(pictures.views)],
        "page": page_parts(page_style("report.css")),
        "drawn": drawn,
        "percent": format_percent,
        "recipe": Markup("\n").join(clean(line) for line in context.recipe.splitlines()),
        "facts": _facts(context.input_facts, context.output_facts),
        "timings": _timings(context.timings),
        "total_time": DisplayNumber(duration(total), exact_text(total)),
        "versions": context.versions,
    }
    return environment().get_template("report.html.j2").render(view)


def key_numbers(context: ReportContext) -> list[dict[str, str]]:
    """Return the numbers beside the head as texts: see `results_schema.MarkData`."""
    return [{**vars(mark), "value": mark.value.text} for mark in _marks(context)]


def use_questions(context: ReportContext) -> list[dict[str, str]]:
    """Return the everyday questions of use as texts: see `results_schema.QuestionData`."""
    questions = _questions(context.scores, None if context.head is None else context.head.use)
    return [{**one, "value": one["value"].text} for one in questions]


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
    """Return the headline: each promised value with the measured one, the strongest attack, and the telling loss."""
    people = "people" if context.verdict.counted == "owners" else "trajectories"
    promised = context.claim.to_json()
    marks = []
    for number in context.verdict.numbers.values():
        # Only what a claim declares with a meaning is a headline; without sensitive values a bound on them says
        # nothing.
        if (
            not number.meaning
            or number.promised not in promised
            or (number.promised == "c" and not promised.get("sensitive", True))
        ):
            continue
        measured = _exact(number)
        bound = as_fraction(promised[number.promised])
        # Measured against promised as exact fractions: 1/3 and 0.333 differ.
        broken = not context.verdict.holds and None not in (measured, bound)
        if broken and measured is not None and bound is not None:
            broken = measured < bound if number.keeps == "at least" else measured > bound
        value, fraction = measured_words(measured, number.percent, bound)
        marks.append(
            _Mark(
                label=number.label,
                value=DisplayNumber(value, exact_text(number.value)),
                unit=fraction if number.percent else people if measured is not None else "",
                promised=f"promised: {number.keeps} {measured_words(bound, number.percent)[0]}",
                meaning="nothing could be counted" if measured is None else number.meaning.format(people=people),
                state="broken" if broken else "kept" if context.verdict.holds else "plain",
            )
        )
    if context.head is not None and context.head.risk is not None:
        marks.append(_strongest(context.head.risk))
    strongest = "" if context.head is None or context.head.risk is None else context.head.risk.attack
    # An attack that the promise does not stop is told beside it, with the largest risk that was measured.
    open_ones = [result for _, result in context.attacks if result.name in context.claim.unbounded]
    worst = max(open_ones, key=lambda result: _mean(result), default=None)
    if worst is not None and worst.name != strongest:
        marks.append(_unbounded(worst))
    score = context.head.loss if context.head is not None else next(iter(context.scores), None)
    if score is not None:
        use = f", for {context.head.use}" if context.head is not None and context.head.use else ""
        marks.append(_Mark(label=f"{words(score.name)}{use}", value=display(score.number), meaning=score.meaning))
    return marks


def _strongest(risk: StrongestAttack) -> _Mark:
    """Return the attack that says most: on average, at worst, and for how many above the limit."""
    sentences = []
    if risk.raw is not None and risk.raw.value is not None:
        sentences.append(f"{risk.raw.text} in the raw data")
    if risk.largest is not None and risk.largest.value is not None:
        sentences.append(f"{risk.largest.text} for the person most at risk")
    if risk.above is not None and risk.above.value is not None:
        sentences.append(f"{risk.above.text}: {risk.above.label[:1].lower()}{risk.above.label[1:]}")
    if risk.mean.interval_text:
        sentences.append(risk.mean.interval_text)
    return _Mark(
        label=f"Strongest attack: {words(risk.attack).lower()}",
        value=display(risk.mean),
        unit="on average",
        meaning="; ".join(sentences),
    )


def _mean(result: AttackResult) -> float:
    number = headline(result.numbers)
    return -1.0 if number is None or number.value is None else float(number.value)


def _unbounded(result: AttackResult) -> _Mark:
    """Return what an attack achieved that the promise does not stop, beside the promise."""
    number = headline(result.numbers)
    more = [one for name, one in result.numbers.items() if name in ("base_rate", "identity_mean_with_1_sample")]
    details = "".join(f"; {one.label.lower()}: {one.text}" for one in more if one.value is not None)
    return _Mark(
        label="Not promised: measured attack",
        value=display(number),
        unit="" if number is None else number.label.lower(),
        meaning=f"an attacker who {result.adversary}{details}",
    )


def _judged(verdict: Verdict) -> list[tuple[str, DisplayNumber]]:
    """Return every measured value with its label; nothing is rounded so far that it crosses a bound."""
    rows = []
    for number in verdict.numbers.values():
        # The exact form of the verifier, where there is one.
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


def _attack(pair: tuple[AttackResult, AttackResult], after: str, drawn: Drawn, i: int) -> dict[str, Any]:
    section = attack_in_full(*pair, after)
    charts = [drawn.chart(chart, f"attack-{i}-{j}") for j, chart in enumerate(section["charts"])]
    return {**section, "charts": charts}


def _risk(line: AttackLine) -> dict[str, Any]:
    """Return a line of the table of risks, as people read it."""
    return {
        "name": line.name,
        "attack": line.attack,
        "adversary": line.adversary,
        "what": line.what,
        "sides": [(display(mean), display(worst)) for mean, worst in zip(line.mean, line.worst, strict=True)],
        "above": [] if line.above[0] is None and line.above[1] is None else [display(number) for number in line.above],
        "bound": line.limit_text,
    }


def _risk_finding(lines: Sequence[AttackLine], after: str) -> str:
    """Say how many attacks find people above their limit, and which is the worst."""
    # Attacks that count people above a limit; the others are told in the table.
    counted = [line for line in lines if line.above[1] is not None and line.above[1].value is not None]
    over = [line for line in counted if line.above[1] is not None and line.above[1].value]
    if not counted:
        return "Risk before and after"
    if not over:
        return f"No attack finds anybody in the {after} above the limit"
    share = over[0].above[1]
    detail = "" if share is None else f"; {over[0].name.lower()} does so for {share.text} of the people"
    return f"{len(over)} of {len(counted)} attacks find people in the {after} above the limit{detail}"


def _stopped(claim: Guarantee) -> frozenset[str]:
    """Return the attacks that play an attacker whom the claim stops."""
    return frozenset(protection.attack for protection in claim.protects) - frozenset(claim.unbounded)


_QUESTIONS: Mapping[Use, str] = {
    "flows": "Do trips still begin and end in the same places?",
    "hours": "Are places still as busy at the same hours?",
    "routes": "Is the traffic, or the next place, still the same?",
    "patterns": "Are the sequences that many share still there?",
    "points": "Do counts of an area, or of a kind, still come out right?",
}


def _questions(scores: Sequence[Score], use: Use | None) -> list[dict[str, Any]]:
    """Return three everyday questions with what was measured, that of the purpose first."""
    questions: list[dict[str, Any]] = []
    # The purpose of the data comes first, then the other questions in their order.
    order = sorted(_QUESTIONS, key=lambda one: one != use)
    measured = {score.name: score for score in scores if score.value is not None}
    names: set[str] = set()
    for purpose in order:
        # A metric answers one question only.
        score = next((measured[name] for name in TELLING[purpose] if name in measured and name not in names), None)
        if score is None or len(questions) == 3:
            continue
        names.add(score.name)
        lost = lost_share(score)
        answer = "" if lost is None else "mostly" if lost <= 0.1 else "partly" if lost <= 0.5 else "hardly"
        word = "lost" if score.better == "lower" else "kept"
        questions.append(
            {
                "question": _QUESTIONS[purpose],
                "answer": answer,
                "value": display(score.number),
                "kept": word if score.percent else f"{score.better} is better",
                "meaning": sentence(score.meaning),
            }
        )
    return questions


def _score(score: Score, drawn: Drawn, i: int) -> dict[str, Any]:
    return {
        "title": words(score.name),
        "meaning": sentence(score.meaning),
        "value": display(score.number),
        "better": f"{score.better} is better",
        "rows": [(number.label, display(number)) for number in score.numbers.values() if number.value is not None],
        "charts": [drawn.chart(chart, f"score-{i}-{j}") for j, chart in enumerate(score.charts)],
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
    return [(words(step), DisplayNumber(duration(s), exact_text(s))) for step, s in timings.items()]


def _witness(verdict: Verdict) -> list[tuple[str, list[str]]]:
    return [(words(key), _lines(value)) for key, value in (verdict.witness or {}).items() if value is not None]


def _lines(value: Any) -> list[str]:
    """Return a part of a witness as lines of text."""
    if isinstance(value, Mapping):
        return [f"{key}: {', '.join(_lines(part))}" for key, part in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [", ".join(_lines(part)) for part in value]
    return [str(value)]
