"""Results as a few lines that a person reads, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import typer

from wayveil.cli.terminal import harmless

__all__ = [
    "demo_lines",
    "generated_json",
    "generated_lines",
    "head_lines",
    "judgement_lines",
    "method_lines",
    "method_list",
    "outcome_json",
    "outcome_lines",
    "prepared_json",
    "prepared_lines",
    "refusal_lines",
    "risk_lines",
    "score_lines",
]

_JUDGED = {
    True: ("Verified: the files are those of the manifest, and keep its promise.", "green"),
    False: ("Not verified.", "red"),
    None: (
        "Cannot be judged from these files: they are those of the manifest, and nothing that was judged breaks its "
        "promise, but a part of it was not judged.",
        "yellow",
    ),
}
_ALWAYS = ("The attribute ",)  # beginnings of notes on what the promise does not cover: these are never left out
_MOST_STEPS = 3  # lines for preparation steps


def outcome_json(outcome: Any) -> dict[str, Any]:
    """Return a publication as JSON can hold it; the witness of a failed verdict is for the data owner."""
    from wayveil.report.results_json import results_json, verdict_json

    return {
        "published": outcome.public is not None,
        "public": None if outcome.public is None else str(outcome.public),
        **({} if outcome.address is None else {"address": outcome.address}),
        "report": str(outcome.report),
        "manifest_sha256": outcome.manifest_sha256,
        "promise": outcome.promise,
        "head": outcome.head.to_json(),
        "verdict": verdict_json(outcome.verdict, witness=True),
        "remaining": outcome.remaining.to_json(),
        "attacks": [
            {"raw": results_json((raw,))[0], "published": results_json((published,))[0]}
            for raw, published in outcome.attacks
        ],
        "scores": results_json(outcome.scores),
        "notes": [outcome.counted, *outcome.notes],
        "timings_s": dict(outcome.timings),
    }


def outcome_lines(outcome: Any, *, verbose: bool = False) -> Iterator[str]:
    """Say what came in, what is left, how coarse it is and who learns what, in twelve lines; then where the files are.

    With `verbose` every measured risk and loss and every note comes, too.
    """
    yield from head_lines(outcome.head, outcome.remaining)
    yield _row("promise", outcome.promise)
    if verbose:
        yield _row("verdict", f"holds, counting {outcome.verdict.counted}: {_verdict_numbers(outcome.verdict.numbers)}")
        yield from _effects(outcome)
    # A declared promise says itself how people were counted.
    notes = [] if outcome.promise != outcome.verdict.claim.promise else [outcome.counted]
    notes += outcome.notes  # otherwise the promise says how people were counted
    for note in notes:
        # What the promise does not cover is always told; other notes are many and stand in the report.
        if verbose or note.startswith(_ALWAYS):
            yield _row("note", note)
    if not verbose:
        many = f"{len(notes)} notes and every" if len(notes) > 1 else "every"
        yield _row("more", f"{many} measured risk and loss: in the report, or with --verbose")
    yield _row("public", f"{outcome.public} (may be handed out)")
    if outcome.address is not None:
        yield _row("copy", f"{outcome.address} (the same files, the manifest written last)")
    yield _row("report", f"{outcome.report} (stays with you)")
    yield _row("manifest", f"sha256 {outcome.manifest_sha256} (hand it over separately)")


def refusal_lines(outcome: Any) -> Iterator[str]:
    """Say why nothing was published."""
    yield typer.style("Not published.", fg="red", bold=True)
    yield _row("promise", outcome.promise)
    yield _row("verdict", f"fails, counting {outcome.verdict.counted}: {_verdict_numbers(outcome.verdict.numbers)}")
    if outcome.verdict.witness is not None:
        yield _row("witness", _measured(outcome.verdict.witness))
    yield _row("report", f"{outcome.report} (stays with you)")


def demo_lines(table: Path, outcome: Any) -> Iterator[str]:
    """Say what the demo did, step by step, and what to open."""
    yield f"Generated smart-card data: {table}"
    yield from outcome_lines(outcome)
    yield ""
    again = f"wayveil verify {outcome.public} --original {table}"
    yield f"Open {outcome.report} in a browser, or judge the result again: {again}"


def judgement_lines(judgement: Any) -> Iterator[str]:
    """Say what was checked, everything that is wrong, and what could not be repeated."""
    first, colour = _JUDGED[judgement.holds]
    yield typer.style(first, fg=colour, bold=True)
    for failure in judgement.failures:
        yield _row("failure", failure)
    yield _row("promise", judgement.promise)
    for part in judgement.not_judged:
        yield _row("not judged", part)
    for note in judgement.notes:
        yield _row("note", note)
    for part in judgement.assumed:
        yield _row("assumed", part)
    verdict = judgement.verdict
    if verdict is not None:
        word = "fails" if not verdict.holds else "nothing broken" if judgement.not_judged else "holds"
        yield _row("verdict", f"{word}, counting {verdict.counted}: {_verdict_numbers(verdict.numbers)}")
        if verdict.witness is not None:
            yield _row("witness", _measured(verdict.witness))
    if judgement.by_definition is not None:
        yield _row("by definition:", judgement.by_definition, width=15)
    if judgement.signature in ("right", "wrong"):
        yield _row("signature", f"{judgement.signature}, by the given key")
    yield _row("manifest", f"sha256 {judgement.manifest_sha256} (compare it with the one you were given)")


def method_list(listed: list[dict[str, Any]]) -> Iterator[str]:
    """One line per method."""
    width = max((len(method["name"]) for method in listed), default=0)
    for method in listed:
        yield f"{method['name']:<{width}}  {method['summary']} [{method['accepts']} -> {method['claim']}]"
    yield ""
    yield "More on one of them: wayveil methods NAME"


def method_lines(method: dict[str, Any]) -> Iterator[str]:
    """All of one method."""
    yield f"{method['name']}: {method['summary']}"
    example = ", ".join(f"{name}={_value(value)}" for name, value in method["example"].items())
    yield f"accepts {method['accepts']}, claims {method['claim']}"
    yield ""
    yield _row("promise", f"{method['promise']} (example: {example})")
    for attacker in method["covered"]:
        yield _row("covered", attacker)
    for attacker in method["not_covered"]:
        yield _row("not covered", attacker)
    yield ""
    for p in method["parameters"]:
        default = "required" if p["required"] else f"default {_value(p['default'])}"
        yield _row(f"--{p['name'].replace('_', '-')}", f"{p['help']} [{p['range']}; {default}]", width=16)


def risk_lines(results: Any) -> Iterator[str]:
    """What each attacker learns."""
    for result in results.results:
        sampled = ", a sample" if result.sampled else ""
        yield f"{result.name}: an attacker who {result.adversary} ({result.victims:,} people{sampled})"
        # Numbers that say what an attacker achieves come alone where there are any.
        first = [number for number in result.numbers.values() if number.statistic] or list(result.numbers.values())
        for number in first:
            if number.value is not None:
                between = f" ({number.interval_text})" if number.interval_text else ""
                yield _row(number.label, f"{number.text}{between}", width=34)
    for note in results.notes:
        yield _row("note", note)


def score_lines(scores: Any) -> Iterator[str]:
    """What was lost, by each metric."""
    width = max((len(score.name) for score in scores), default=0) + 2
    for score in scores:
        yield _row(score.name, f"{_score(score)}; {score.meaning}", width=width)


def generated_json(generated: Any) -> dict[str, Any]:
    """Return what was generated, with the seed that makes it again."""
    return {
        "path": str(generated.path),
        "trajectories": len(generated.data),
        _rows(generated.data): generated.data.n_rows,
        "seed": generated.seed,
        "sensitive": {name: list(values) for name, values in generated.sensitive.items()},
    }


def generated_lines(generated: Any) -> Iterator[str]:
    """Say what was generated and how to make it again."""
    data = generated.data
    yield f"{generated.path}: {len(data):,} trajectories, {data.n_rows:,} {_rows(data)}, seed {generated.seed}"
    for name, values in generated.sensitive.items():
        yield _row("sensitive", f"{name}={','.join(values)}")


def prepared_json(out: Path, prepared: Any) -> dict[str, Any]:
    """Return what a preparation step wrote."""
    data = prepared.data
    return {
        "path": str(out),
        "trajectories": len(data),
        _rows(data): data.n_rows,
        "notes": list(prepared.notes),
    }


def prepared_lines(out: Path, prepared: Any) -> Iterator[str]:
    """Say what a preparation step wrote."""
    yield f"{out}: {len(prepared.data):,} trajectories, {prepared.data.n_rows:,} {_rows(prepared.data)}"
    for note in prepared.notes:
        yield _row("note", note)


def _rows(data: Any) -> str:
    return str(data.row_word)


def _effects(outcome: Any) -> Iterator[str]:
    from wayveil.report.text.wording import adversary_words

    if outcome.attacks:
        yield _row("risk", "before -> after; the report has more numbers")
    for raw, published in outcome.attacks:
        # The same numbers before and after, in the order of the raw result.
        names = [name for name, number in raw.numbers.items() if number.statistic] or list(raw.numbers)[:2]
        changes = [
            f"{raw.numbers[name].label.lower()} {raw.numbers[name].text} -> {_text(published.numbers.get(name))}"
            for name in names
            if raw.numbers[name].value is not None or name in published.numbers
        ]
        who = adversary_words(raw.adversary, published.adversary)
        yield _row("", f"{raw.name}: an attacker who {who}: {', '.join(changes) or 'nothing to measure'}")
    for score in outcome.scores:
        if score.value is not None:
            yield _row("lost" if score.better == "lower" else "kept", f"{score.name} {_score(score)}: {score.meaning}")


def head_lines(head: Any, left: Any) -> Iterator[str]:
    """Say what it came to and what to do: twelve lines at most, of which a long one may be wrapped.

    They are: the verdict with its reasons; what came in, what each step and the method left; how coarse it is; the
    worst attacker before and after; the loss; who is not stopped; what to do next.
    """
    shares = left.shares
    shares_text = ", ".join(f"{_percent(share)} of the {what}" for what, share in shares.items())
    if head.state == "but":
        first = typer.style(head.sentence.replace("\N{NO-BREAK SPACE}", " "), fg="yellow", bold=True)
    else:
        first = typer.style(f"{head.label}. {head.title}.", fg="green", bold=True)
    yield first + (f" Left: {shares_text}." if shares_text and not left.synthetic else "")
    if head.state == "but":
        yield _row("try", head.next_step)
    if shares:
        yield from _stage_rows(left.stages)
    if head.sizes:
        yield _row("sizes", head.sizes)
    if head.risk is not None:
        drawn = f". {head.drawn_sentence}" if head.drawn_sentence and head.state == "kept" else ""
        yield _row("worst risk", f"{head.risk.sentence}{drawn}")
    if head.loss is not None:
        yield _row("loss", f"{head.loss_sentence}; {head.loss.meaning}")
    if head.not_stopped:
        yield _row("not stopped", head.not_stopped_sentence)
    if head.state != "but":
        yield _row("next", head.next_step)


def _stage_rows(stages: Sequence[Any]) -> Iterator[str]:
    """One line for what came in and was read, one for the method, and up to three for the steps between."""
    first, *steps, last = stages
    came = _stage(first, None)
    # Rows of the file and rows that were read are told in one line.
    if steps and first.name == "file":
        read, *steps = steps
        came += f"; read {_stage(read, first)}"
        first = read
    yield _row("came in", came)
    yield from _step_rows(first, steps)
    yield _row(last.name, _stage(last, steps[-1] if steps else first))


def _step_rows(before: Any, steps: list[Any]) -> Iterator[str]:
    """One line for each of three steps; of more, the first two, and the others together."""
    shown = steps if len(steps) <= _MOST_STEPS else steps[: _MOST_STEPS - 1]
    for stage in shown:
        yield _row(stage.name, _stage(stage, before))
        before = stage
    if len(shown) < len(steps):
        yield _row("other steps", _stage(steps[-1], before))


def _stage(stage: Any, before: Any) -> str:
    """Return the counts of a stage, and how many rows it took from the one before."""
    words = [f"{stage.rows:,} {stage.row_word}"]
    if before is not None and before.row_word in (stage.row_word, "rows") and stage.rows < before.rows:
        words[0] += f" ({before.rows - stage.rows:,} fewer)"
    words += [
        f"{count:,} {what}" for what, count in (("trips", stage.trips), ("people", stage.people)) if count is not None
    ]
    return ", ".join(words) + (f"; {stage.note}" if stage.note else "")


def _percent(share: float) -> str:
    """Return a share in percent that never rounds a loss away."""
    if share >= 1:
        return "100 %"
    # Near 0 and near 1 a decimal more: 99.6 % must not read as all of it.
    return f"{min(share * 100, 99.9):.1f} %" if share < 0.1 or share > 0.99 else f"{share * 100:.0f} %"


def _row(label: str, text: str, *, width: int = 12) -> str:
    # A path or a hash must stay in one piece, so that it can be copied.
    line = fill(
        harmless(text),
        width=110,
        initial_indent=f"  {label:<{width - 1}} ",
        subsequent_indent=" " * (width + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return line.replace("\N{NO-BREAK SPACE}", " ")


def _score(score: Any) -> str:
    if score.value is None:
        return "not defined"
    text: str = score.number.text
    return text


def _text(number: Any) -> str:
    """Return a measured number as people read it; a dash where there is none."""
    return "–" if number is None else str(number.text)


def _verdict_numbers(numbers: Mapping[str, Any]) -> str:
    """Return the numbers of a verdict that could be measured, in one line."""
    measured = [n for n in numbers.values() if n.exact or n.value is not None]
    texts = [
        n.text if n.label.lower() == n.of else f"{n.label.lower()} {n.short or n.exact or n.text}" for n in measured
    ]
    return ", ".join(texts) or "nothing could be measured"


def _measured(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {', '.join(map(str, listed))}" for name, listed in value.items()) or "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
