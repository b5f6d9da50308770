"""What is told of a run when the verdict is in: of one block everything, of several what adds up over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from wayveil.model import AttackResult, MethodResult, Score, Verdict
from wayveil.pipeline.blocks.block import BlockResult, MadeBlock, WrittenPart
from wayveil.pipeline.blocks.block_job import Job
from wayveil.pipeline.blocks.block_source import Blocks
from wayveil.pipeline.blocks.combine import add_balances, add_facts, described_input, left_out_note
from wayveil.pipeline.release import Compared, Run
from wayveil.pipeline.remaining import Remaining, count_published, name_remedies
from wayveil.report.suppression import MIN_PEOPLE, suppress_small_counts
from wayveil.report.text import summary
from wayveil.report.views.pictures import Pictures
from wayveil.yardstick.sizes import describe_sizes

__all__ = ["Attacks", "Findings", "make_account"]

Attacks = tuple[tuple[AttackResult, AttackResult], ...]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the stages found; `left_out` are attacks and metrics that do not add up over several blocks.

    `plan` is what a method decided over all blocks, if it did; `compared` what the yardstick of a comparison measured.
    """

    blocks: Sequence[MadeBlock]
    written: Sequence[WrittenPart]
    hashes: Mapping[str, str]
    results: Sequence[BlockResult]
    verdict: Verdict
    attacks: Attacks
    scores: tuple[Score, ...]
    pictures: Pictures
    plan: Any
    left_out: Sequence[str]
    compared: Compared | None = None


def make_account(job: Job, blocks: Blocks, findings: Findings, timings: Mapping[str, float]) -> Run:
    """Put together what is told of a run."""
    recipe = job.recipe
    run = Run(
        recipe=recipe,
        seed=job.seed,
        secret=job.secret,
        verdict=findings.verdict,
        attacks=findings.attacks,
        scores=findings.scores,
        shown=findings.scores,
        timings=timings,
        notes=blocks.notes,
        counted=summary.counted_note(
            blocks.example.owners,
            people=blocks.people,
            trajectories=blocks.trajectories,
            each_trajectory=recipe.input.each_trajectory,
        ),
        input_facts={},
        output_facts={},
        balance=findings.results[0].balance,
        pictures=findings.pictures,
        table=findings.written[0].table,
        hashes=findings.hashes,
        remaining=_count_remaining(job, blocks),
        sampled_attacks=job.measuring.sampled_attacks,
        missing_attacks=job.measuring.missing_attacks,
        missing_metrics=job.measuring.missing_metrics,
        compared=findings.compared,
    )
    # Of one block everything is known and told.  Of several only what adds up is: counts, and what a plan says of all.
    return _tell_several(run, blocks, findings) if blocks.several else _tell_one(run, job, blocks, findings)


def _tell_one(run: Run, job: Job, blocks: Blocks, findings: Findings) -> Run:
    raw = job.store.load("data/0")
    output = run.recipe.output
    return replace(
        run,
        # Charts of the raw data show bars of few people; whoever may not see the raw data sees them withheld.
        shown=suppress_small_counts(findings.scores, raw, fewest=0 if output.with_raw else MIN_PEOPLE),
        notes=(*run.notes, *_told_by_method(run.recipe.method.name, findings.results[0].facts)),
        input_facts=summary.input_facts(run.recipe.input.path, raw),
        output_facts=findings.written[0].facts,
        mapping=_mapping(job, blocks) if output.keep_mapping else None,
    )


def _count_remaining(job: Job, blocks: Blocks) -> Remaining:
    """Return what is left of the file after every step and the method; of several blocks only what to try."""
    method = job.recipe.method
    remedies = name_remedies(blocks.example, job.recipe.prepare, method.name)
    # Stages are counted from trajectory to trajectory, which blocks on disk do not keep; a note says what to try
    # anyway.
    if blocks.several or blocks.origin is None:
        return Remaining(remedies=remedies, synthetic=method.synthetic)
    data = job.store.load("data/0")
    result: MethodResult = job.store.load("made/0")
    if method.synthetic:  # nothing of the data is left, and nothing was taken from them
        return Remaining(stages=blocks.stages, remedies=remedies, synthetic=True)
    last = count_published(method.name, data, result, blocks.origin)
    sizes = describe_sizes(data, result.data, job.recipe.prepare, result.source)
    return Remaining(stages=(*blocks.stages, last), remedies=remedies, sizes=sizes)


def _mapping(job: Job, blocks: Blocks) -> str | None:
    """Return the table of new ids and ids of the input; a dummy has none there."""
    if blocks.ids is None:
        return None
    written = job.store.load("written/0")
    result: MethodResult = job.store.load("made/0")
    # Written trajectory -> trajectory of the result -> trajectory of the input.  A dummy leads to -1 and gets no id.
    order = written.order if result.source is None else result.source[written.order]
    known = blocks.ids.gather(np.where(order < 0, 0, order))
    return summary.mapping_csv(written.ids, known.set(pl.Series(order < 0), None))


def _tell_several(run: Run, blocks: Blocks, findings: Findings) -> Run:
    rows = sum(part.rows for part in findings.written)
    trajectories = sum(part.trajectories for part in findings.written)
    n_parts = len(findings.written)
    n_blocks = len(blocks.names)
    # Without a plan each part is judged by itself and facts of blocks are added; a plan has facts about everybody.
    if findings.plan is None:
        facts = add_facts([one.facts for one in findings.results])
        notes = _notes(findings)
        sizes = {"Rows": f"{rows:,}", "Parts": f"{n_parts:,}, made of {n_blocks:,} blocks"}
    else:
        facts = findings.plan.facts
        notes = ["The pictures show the first piece of the data."]
        sizes = {"Visits": f"{rows:,}", "Parts": f"{n_parts:,}"}
    sentences = _told_by_method(run.recipe.method.name, facts)
    return replace(
        run,
        # Charts of single blocks do not add up to one.
        shown=tuple(replace(score, charts=()) for score in findings.scores),
        notes=(*run.notes, *notes, *sentences, *left_out_note(findings.left_out)),
        input_facts=described_input(run.recipe, blocks),
        output_facts={
            "Trajectories": f"{trajectories:,}",
            **sizes,
            **{name: summary.value_text(value) for name, value in facts.items()},
        },
        balance=add_balances([one.balance for one in findings.results]),
        table=replace(run.table, rows=rows, trajectories=trajectories),
    )


def _told_by_method(name: str, facts: Mapping[str, int | float | str]) -> list[str]:
    """Return, as notes, what a method chose from the data and what it advises; of several blocks, the first one's."""
    sentences = [f"{name} chose from the data: {facts['chosen']}"] if "chosen" in facts else []
    return [*sentences, f"{name}: {facts['advice']}"] if "advice" in facts else sentences


def _notes(findings: Findings) -> list[str]:
    """Say what became of blocks that are published one by one."""
    notes = []
    empty = [one for one in findings.blocks if one.why is not None]
    if empty:
        balances = {one.number: one.balance for one in findings.results}
        lost = sum(balances[one.number]["trajectories"]["in"] or 0 for one in empty)
        notes.append(
            f"{len(empty):,} of {len(findings.blocks):,} blocks ({lost:,} trajectories) could not be published; of the "
            f"first it is said: {empty[0].why}"
        )
    notes.append(
        f"The data were cut into {len(findings.blocks):,} blocks. Each part keeps the promise by itself; attackers are "
        "taken to know in which part a victim is; the pictures show the first block."
    )
    return notes
