"""The straight line for data in blocks: no step ever holds all of them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from wayveil.errors import InputError, UsageError
from wayveil.io.scatter import groups_of
from wayveil.model import AttackResult, Engine
from wayveil.model.accumulators import join_results
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.blocks.block import NOTHING_LEFT, Done, Job, counting, run_block, scatter_group, scatter_piece
from wayveil.pipeline.blocks.combine import add_balances, described_input, left_out_note, score_files
from wayveil.pipeline.blocks.input_pieces import Pieces, read_pieces, wanted
from wayveil.pipeline.blocks.memory import check_planning, limit_of
from wayveil.pipeline.blocks.plan import Keys, plan_blocks
from wayveil.pipeline.blocks.reconcile import publish_classes
from wayveil.pipeline.blocks.task_files import reporting_full_disks
from wayveil.pipeline.blocks.whole import publish_whole
from wayveil.pipeline.compile import compile_kernels
from wayveil.pipeline.folder.manifest import boxes_name, published_name
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.staging import Workspace, open_workspace
from wayveil.pipeline.input import check_values
from wayveil.pipeline.outcome import Outcome
from wayveil.pipeline.readback import refuse_nothing
from wayveil.pipeline.release import Clock, Run, finish
from wayveil.pipeline.remaining import Remaining, name_remedies
from wayveil.recipe.defaults import attacks_of, metrics_of, sensitive_of
from wayveil.recipe.protections import confirm_protections
from wayveil.recipe.recipe import Recipe
from wayveil.report.text import summary
from wayveil.verify import Need, apart, join_verdicts, union_condition

__all__ = ["publish_blocks"]


def publish_blocks(recipe: Recipe, *, engine: Engine, secret: Secret | None = None) -> Outcome:
    """Publish block by block, if every part keeps the promise; NotPublished if one does not."""
    if recipe.blocks is None:
        raise UsageError("The recipe names no blocks.")
    clock = Clock(engine=engine)
    seed = secrets.randbits(128) if recipe.seed is None else recipe.seed
    secret = secret or Secret.fresh()
    sensitive = sensitive_of(recipe)
    out = recipe.output.path
    with open_workspace(out, overwrite=recipe.output.overwrite) as space, reporting_full_disks(out):
        with clock("read and prepare"):
            pieces = read_pieces(wanted(recipe), seed=seed, scratch=space.scratch, engine=engine)
            check_values(pieces.values, pieces.trajectories, sensitive, keep=recipe.output.keep)
        with clock("compile kernels"):
            also = ("kcl_count",) if recipe.blocks.by == "whole" else ()
            compile_kernels(recipe.method, attacks_of(recipe), counting(metrics_of(recipe)), engine, also)
        job = Job(
            recipe=recipe,
            seed=seed,
            secret=secret,
            scratch=space.scratch,
            staged=space.staged,
            shared=pieces.shared,
        )
        if recipe.blocks.by == "whole":
            run = publish_whole(job, pieces, clock)
            _tidy(space)
            return finish(space, run)
        with clock("cut into blocks"):
            if not pieces.trajectories:
                raise InputError("The preparation left no trajectory, so there is nothing to publish.")
            check_planning(limit_of(recipe.blocks), pieces.trajectories)
            need = union_condition(recipe.method.claim)
            keys = _all_keys(pieces.keys)
            pieces = replace(pieces, keys=_only_who(keys, [len(one.rows) for one in pieces.keys]))
            block = plan_blocks(keys, rows=recipe.blocks.rows, people_apart=need == "people apart").astype(np.int32)
            del keys  # blocks are worked on while what is left is held: 12 bytes per trajectory
            n_blocks = int(block.max()) + 1
            _scatter(job, pieces, block, n_blocks, engine)
        with clock("publish and judge every block"):
            if need == "classes apart":
                done = publish_classes(job, n_blocks, engine)
            else:
                done = engine.map(partial(run_block, job), range(n_blocks))
        return finish(space, _told(job, pieces, done, _met(pieces, block, done), clock, space))


def _all_keys(keys: Sequence[Keys]) -> Keys:
    return Keys(**{name: np.concatenate([getattr(one, name) for one in keys]) for name in Keys.__annotations__})


def _only_who(keys: Keys, lengths: Sequence[int]) -> tuple[Keys, ...]:
    """Return the keys of pieces of these lengths, without anything but whose a trajectory is."""
    nothing = np.zeros(0, np.int64)
    people = np.split(keys.person, np.cumsum(lengths)[:-1])
    return tuple(Keys(key=nothing[:, None], place=nothing, rows=nothing, person=one) for one in people)


def _scatter(job: Job, pieces: Pieces, block: IntArray, n_blocks: int, engine: Engine) -> None:
    own = np.split(block, np.cumsum([len(keys.person) for keys in pieces.keys])[:-1])
    engine.progress("cutting into blocks")
    engine.map(partial(scatter_piece, job, n_blocks), list(zip(range(len(own)), pieces.files, own, strict=True)))
    engine.map(partial(scatter_group, job), range(len(groups_of(n_blocks))))


def _told(job: Job, pieces: Pieces, done: list[Done], met: Sequence[Need], clock: Clock, space: Workspace) -> Run:
    recipe = job.recipe
    published = [one for one in done if one.verdict is not None]
    told = [one for one in done if one.balance]
    if not published:
        why = next((one.why for one in done if one.why not in (None, NOTHING_LEFT)), None)
        raise refuse_nothing(recipe.method.publishes) if why is None else InputError(why)
    _tidy(space)
    for part, one in enumerate(published):
        _rename(space, recipe.output.format, one.number, part)
    verdict = join_verdicts([one.verdict for one in published if one.verdict is not None], met=met)
    attacks = _attacks([one.attacks for one in told if not one.why])
    verdict = confirm_protections(verdict, attacks_of(recipe), [after for _, after in attacks])
    metrics = metrics_of(recipe)
    scores = score_files(counting(metrics), [one.counts for one in told if one.counts is not None])
    rows, trajectories = sum(one.rows for one in published), sum(one.trajectories for one in published)
    tables = [one.table for one in published if one.table is not None]
    word = "block" if len(told) == 1 else "blocks"
    return Run(
        recipe=recipe,
        seed=job.seed,
        secret=job.secret,
        verdict=verdict,
        attacks=attacks,
        scores=scores,
        shown=tuple(replace(score, charts=()) for score in scores),
        timings=clock.seconds,
        notes=(*pieces.notes, *_notes(told, metrics)),
        counted=summary.counted_note(
            pieces.example.owners,
            people=pieces.people,
            trajectories=pieces.trajectories,
            each_trajectory=recipe.input.each_trajectory,
        ),
        input_facts=described_input(recipe, pieces),
        output_facts={
            "Trajectories": f"{trajectories:,}",
            "Rows": f"{rows:,}",
            "Parts": f"{len(published):,}, made of {len(told):,} {word}",
            **{name: summary.value_text(value) for name, value in _facts(told).items()},
        },
        views=told[0].views,
        balance=add_balances([one.balance for one in told]),
        remaining=Remaining(remedies=name_remedies(pieces.example, recipe.prepare, recipe.method.name)),
        drawings=told[0].drawings,
        table=replace(tables[0], rows=rows, trajectories=trajectories),
    )


def _met(pieces: Pieces, block: IntArray, done: Sequence[Done]) -> list[Need]:
    """Return what is true of the parts: looked up, not taken for granted."""
    found: list[Need] = []
    person = np.concatenate([keys.person for keys in pieces.keys])
    order = np.argsort(person, kind="stable")
    same = person[order][1:] == person[order][:-1]
    if not (same & (np.diff(block[order]) != 0)).any():
        found.append("people apart")
    classes = [one.classes for one in done if one.verdict is not None]
    if all(one is not None for one in classes) and apart(one for one in classes if one is not None):
        found.append("classes apart")
    return found


def _tidy(space: Workspace) -> None:
    """Remove what a task left that was killed while it wrote: another one wrote the whole file."""
    for file in space.staged.glob(".*"):
        file.unlink()


def _rename(space: Workspace, form: str, number: int, part: int) -> None:
    """Number the parts one after the other: a gap would say that a block was not published."""
    for name in (published_name, boxes_name):
        file = space.staged / name(form, number)
        if file.exists() and number != part:
            file.rename(space.staged / name(form, part))


def _attacks(
    results: Sequence[tuple[tuple[AttackResult, AttackResult], ...]],
) -> tuple[tuple[AttackResult, AttackResult], ...]:
    return tuple(
        (join_results([raw for raw, _ in same]), join_results([published for _, published in same]))
        for same in zip(*results, strict=True)
    )


def _facts(published: Sequence[Done]) -> dict[str, int | float | str]:
    """Return what was done: counts added up, the largest of what is largest, and the span of other numbers."""
    found: dict[str, int | float | str] = {}
    for name in dict.fromkeys(name for one in published for name in one.facts):
        values = [one.facts[name] for one in published if name in one.facts]
        numbers = [value for value in values if isinstance(value, (int, float))]
        if len(numbers) < len(values):
            found[name] = str(values[0])
        elif name.startswith("largest"):
            found[name] = max(numbers)
        elif all(isinstance(number, int) for number in numbers):
            found[name] = sum(numbers)
        elif min(numbers) == max(numbers):
            found[name] = numbers[0]
        else:
            found[name] = f"{min(numbers):.4g} to {max(numbers):.4g}, by block"
    return found


def _notes(done: Sequence[Done], metrics: Sequence[Any]) -> list[str]:
    notes = []
    empty = [one for one in done if one.why]
    if empty:
        lost = sum(one.balance["trajectories"]["in"] or 0 for one in empty)
        notes.append(
            f"{len(empty):,} of {len(done):,} blocks ({lost:,} trajectories) could not be published; of the first it "
            f"is said: {empty[0].why}"
        )
    if len(done) > 1:
        notes.append(
            f"The data were cut into {len(done):,} blocks. Each part keeps the promise by itself; attackers are taken "
            "to know in which part a victim is; the pictures show the first block."
        )
    return [*notes, *left_out_note(metric.name for metric in metrics if not metric.additive)]
