"""The straight line: read, prepare, run the method, write, read back, judge, and only then publish.

There is one line.  A table in memory is one block, data on disk are several, and both go through the same stages.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.model import Attack, Engine, Score
from wayveil.model.accumulators import join_results
from wayveil.pipeline.account import Attacks, Findings, make_account
from wayveil.pipeline.blocks.attack_pieces import attack_pieces
from wayveil.pipeline.blocks.block import (
    NOTHING_LEFT,
    BlockResult,
    MadeBlock,
    WrittenPart,
    attack_block,
    count_block,
    countable,
    load_compared,
    make_block,
    picture_block,
    write_part,
)
from wayveil.pipeline.blocks.block_job import Job
from wayveil.pipeline.blocks.block_source import Blocks, fits_at_once, read_blocks
from wayveil.pipeline.blocks.combine import score_blocks
from wayveil.pipeline.blocks.part_dealer import Part, deal_blocks
from wayveil.pipeline.blocks.resume import Journal, RunRecord, key_run
from wayveil.pipeline.blocks.store import Disk
from wayveil.pipeline.blocks.task_files import reporting_full_disks
from wayveil.pipeline.compile import compile_kernels
from wayveil.pipeline.evaluate import measure
from wayveil.pipeline.folder.bucket_copy import BucketCopy
from wayveil.pipeline.folder.fetched_files import fetched_recipe
from wayveil.pipeline.folder.manifest import boxes_name, published_name
from wayveil.pipeline.folder.outlines import write_zone_outlines
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.signing import load_signer
from wayveil.pipeline.folder.staging import Workspace, clear_folder, open_workspace
from wayveil.pipeline.input import Prepared
from wayveil.pipeline.judge import judge_parts
from wayveil.pipeline.outcome import NotPublished, Outcome
from wayveil.pipeline.readback import nothing_left_error
from wayveil.pipeline.release import Clock, Compared, finish, join_hashes
from wayveil.pipeline.seeds import sequence_for
from wayveil.recipe.defaults import attacks_of, sensitive_of
from wayveil.recipe.measuring import Yardstick, plan_measuring
from wayveil.recipe.protections import confirm_protections
from wayveil.recipe.recipe import Recipe
from wayveil.report.views.pictures import Pictures

__all__ = ["NotPublished", "Outcome", "publish"]

# Folders of the store by stage: what each stage leaves there, and what is removed when no later one needs it.
_READING = ("input", "raw", "prepared", "renumbered", "owned", "taxonomies", "groups", "blocks")
_PLANNING = ("numbered", "kept", "sequences")
_BLOCKS = "blocks-read"  # the value that says that reading is over
_DEALING = ("parts", "published", "reconciled", "alike", "lost")
"""What reading, planning and dealing leave on disk; that of the first two may go when blocks are made."""


def publish(
    recipe: Recipe,
    *,
    engine: Engine | None = None,
    source: Prepared | None = None,
    secret: Secret | None = None,
    resume: bool = True,
    yardstick: Yardstick | None = None,
) -> Outcome:
    """Publish what a recipe asks for, if it keeps its promise; NotPublished if it does not.

    Parameters
    ----------
    recipe : Recipe
        From `load_recipe` or `make_recipe`.
    engine : Engine, optional
        Where the work runs; by default all cores of this machine.
    source : Prepared, optional
        The data, prepared already; by default they are read and prepared as the recipe says.
    secret : Secret, optional
        That of an earlier run, to repeat it to the byte; a fresh one by default.
    resume : bool
        Whether to go on with a run of the same recipe, input and version that was killed in this output folder, where
        it had several blocks.  Its seed and secret are taken over, so the bytes are those that it would have published.
    yardstick : Yardstick, optional
        What this run will be compared with others by; measured besides, where there is one block, and kept in the
        results.  The head and the report say nothing of it: they are those of the recipe.

    Guarantee
    ---------
    Nothing appears in ``OUT/public`` unless the verifier of the claim accepted the very files on disk.

    Notes
    -----
    One seed serves the method and the attacks, each through a sequence of its own, so that asking for another attack
    does not change what is published.  New ids, the order of rows and draws that hide people come from the secret.

    Where everything fits into one block, it is measured and told as if no blocks had been asked for.  Of several, what
    does not add up over blocks is left out, and a note says so.
    """
    # Whatever can be refused is refused before the input is read: a key that does not sign, a folder that is in use.
    if recipe.output.sign_key is not None:
        load_signer(recipe.output.sign_key)  # before any work is done that could not be signed
    engine = engine or LocalEngine()
    copy = BucketCopy.of(recipe.output)
    if copy is not None:
        copy.check()
    with fetched_recipe(recipe) as fetched:
        outcome = _publish_here(fetched, engine, source, secret, resume, yardstick)
    if copy is None or outcome.public is None:
        return outcome
    engine.progress("copying to object storage")
    return replace(outcome, address=copy.write(outcome.public))


def _publish_here(
    recipe: Recipe,
    engine: Engine,
    source: Prepared | None,
    secret: Secret | None,
    resume: bool,
    yardstick: Yardstick | None,
) -> Outcome:
    """Publish to a folder on this machine what lies on this machine."""
    clock = Clock(engine=engine)
    out = recipe.output.folder
    # Only blocks on disk outlive their process; whether there will be some, the recipe and the input say.
    on_disk = source is None and recipe.blocks is not None and not fits_at_once(recipe.input, recipe.blocks.rows)
    key = key_run(recipe) if on_disk else None

    def can_resume(root: Path) -> bool:
        record = RunRecord.read(root) if resume else None
        # A secret that was given must be that of the killed run, or two secrets would meet in one publication.
        return record is not None and record.key == key and secret in (None, record.secret)

    with (
        open_workspace(out, overwrite=recipe.output.overwrite, can_resume=can_resume) as space,
        reporting_full_disks(out),
    ):
        seed, secret = _take_over(space, recipe, secret, key)
        # Each stage below reads what the one before left in the store, so that a stage of several blocks can run
        # anywhere, and a run that was killed goes on with the first that was not over.
        with clock("read and prepare"):
            blocks = _read(recipe, source, seed=seed, scratch=space.scratch, engine=engine)
        recipe = recipe.for_kind(blocks.example.kind)
        journal = Journal(store=blocks.store)
        measuring = plan_measuring(recipe, blocks.rows)
        # What cannot be added over blocks is not even compiled.
        measured = measuring.with_metrics(countable(measuring.metrics)) if blocks.several else measuring
        job = Job(
            recipe=recipe,
            seed=seed,
            secret=secret,
            staged=space.staged,
            store=blocks.store,
            several=blocks.several,
            measuring=measured,
        )
        together = blocks.several and recipe.blocks is not None and recipe.blocks.by == "whole"
        # Compiled while nothing else runs, so that neither times of stages nor tasks of workers wait for compilers.
        with clock("compile kernels"):
            also = recipe.method.plan_kernels if together else ()
            compile_kernels(recipe.method, measured.attacks, measured.metrics, engine, also)
        with clock("run the method"):
            here = LocalEngine(progress=engine.progress)
            # Only a method that decides over everybody plans; the others see one block at a time.
            plan = None
            if together:
                plan = journal.stage(
                    "plan", lambda: recipe.method.plan(blocks, engine=engine, here=here), leaves=_PLANNING
                )
            made_blocks = _each(journal, "make", engine, partial(make_block, job, plan), range(len(blocks.names)))
            _free(job, (*_READING, *_PLANNING))
            numbers = [one.number for one in made_blocks if one.why is None]
            parts = journal.stage(
                "deal", lambda: deal_blocks(job, blocks, numbers, planned=together, engine=engine), leaves=_DEALING
            )
            # Not one block came to anything: there is no verdict on nothing, and the reason of a block is the best
            # answer.
            if not parts:
                raise _nothing_made(recipe, made_blocks)
        with clock("write and read back"):
            written = _each(journal, "write", engine, partial(write_part, job), parts)
            _tidy(space)
        with clock("verify"):
            # Given here, by this process, on files that it hashes itself: a worker must not be able to vouch for its
            # own work.  Never taken over from a run that was killed.
            verdict = judge_parts(job, blocks, parts, [one.hashes for one in written], engine)
        with clock("attack"):
            played, attacks, left_out = _attack(job, journal, blocks, numbers, together, engine)
            # An attack of this run that breaks a sentence of the claim makes the verdict fail, whatever the verifier
            # said.
            verdict = confirm_protections(verdict, played, [after for _, after in attacks])
        with clock("measure"):
            results = _each(journal, "count", engine, partial(count_block, job), made_blocks)
            scores = _score(job, measured.metrics, results, engine)
            compared = None
            if yardstick is not None and not blocks.several:
                compared = _compare(job, yardstick, attacks, scores, results, engine)
            # Pictures show the first block only; with one block that is everything.
            first = [number for number in numbers if number == 0]
            pictures = _each(
                journal, f"picture-{verdict.holds}", engine, partial(picture_block, job, verdict.holds), first
            )
        # Only now parts get their final names, and hashes move with them.
        hashes = _name_parts(space, recipe.output.format, parts, written)
        # A method keeps the kind of the data, unless it makes something else of them.
        kind = blocks.example.kind if recipe.method.publishes.individual else recipe.method.publishes.kind
        hashes |= write_zone_outlines(recipe, space.staged, hashes, kind)
        findings = Findings(
            blocks=made_blocks,
            written=written,
            hashes=hashes,
            results=results,
            verdict=verdict,
            attacks=attacks,
            scores=scores,
            pictures=pictures[0] if pictures else Pictures(),
            plan=plan,
            compared=compared,
            left_out=(*(one.name for one in measuring.metrics if one not in measured.metrics), *left_out),
        )
        return finish(space, replace(make_account(job, blocks, findings, clock.seconds), usage=clock.usage))


def _take_over(space: Workspace, recipe: Recipe, secret: Secret | None, key: str | None) -> tuple[int, Secret]:
    """Return the seed and the secret of this run: those of the killed one that it goes on with, or its own.

    A run that could be gone on with leaves a record of them, before anything depends on them.
    """
    record = RunRecord.read(space.root) if space.is_resumed else None
    if record is None:
        seed = secrets.randbits(128) if recipe.seed is None else recipe.seed
        record = RunRecord(key=key or "", seed=seed, secret=secret or Secret.fresh())
        if key is not None:
            record.write(space.root)
    return record.seed, record.secret


def _read(recipe: Recipe, source: Prepared | None, *, seed: int, scratch: Path, engine: Engine) -> Blocks:
    """Read and prepare the input, unless the run that this one goes on with had ended that."""
    store = Disk(folder=scratch)
    if store.has(_BLOCKS):
        blocks: Blocks = store.load(_BLOCKS)
        engine.progress("going on with a run that was killed")
        return blocks
    clear_folder(scratch)  # half of what was read is of no use
    blocks = read_blocks(recipe, source, seed=seed, scratch=scratch, engine=engine)
    if blocks.several:
        store.save(blocks, _BLOCKS)
    return blocks


def _each(
    journal: Journal, name: str, engine: Engine, stage: Callable[[Engine, Any], Any], items: Iterable[Any]
) -> list[Any]:
    """Run a stage on every block or part: the one in memory here, on all cores; several as tasks with a core each."""
    # Memory means one block: stages use all cores themselves.  On disk each task has one core, and there are many
    # tasks.
    if not isinstance(journal.store, Disk):
        return [stage(engine, item) for item in items]
    return journal.tasks(name, partial(stage, LocalEngine(workers=1)), items, engine)


def _attack(
    job: Job, journal: Journal, blocks: Blocks, numbers: Sequence[int], together: bool, engine: Engine
) -> tuple[tuple[Attack, ...], Attacks, list[str]]:
    """Return the attacks that were played, what they found before and after, and the names of those that were not.

    Where parts are public one by one, attackers are taken to know in which one a victim is, and look there.  Where only
    all of them together keep the promise, they look everywhere, which not every attack can do block by block.
    """
    attacks = job.measuring.attacks
    # A plan was made over everybody, and parts were dealt at random: victims must be looked for in all of them.
    if together and blocks.pieces is not None and isinstance(job.store, Disk):
        published = [job.store.path_of(f"published/{number}") for number in range(len(blocks.names))]
        findings, left_out = attack_pieces(
            attacks,
            blocks.pieces,
            (blocks.pieces.files, published),
            sensitive=sensitive_of(job.recipe),
            seed=sequence_for(job.seed, "attacks"),
            engine=engine,
            positions=job.measuring.positions,
        )
        played = tuple(attack for attack in attacks if attack.name not in left_out)
        return played, tuple((before, after) for before, after in findings), left_out
    results = _each(journal, "attack", engine, partial(attack_block, job), numbers)
    if len(results) == 1:
        return attacks, results[0], []
    # Each block was attacked by itself; results are joined as each number says.
    joined = tuple(
        (join_results([raw for raw, _ in same]), join_results([published for _, published in same]))
        for same in zip(*results, strict=True)
    )
    return attacks, joined, []


def _score(job: Job, metrics: tuple[Any, ...], results: Sequence[BlockResult], engine: Engine) -> tuple[Score, ...]:
    """Return the score of every metric: of one block all at once, of several from what was counted in each."""
    if not job.several:
        data = job.store.load("data/0")
        return measure(metrics, data, partial(load_compared, job.store, 0), engine)
    return score_blocks(metrics, job.store, [one.counts for one in results if one.counts is not None])


def _compare(
    job: Job,
    yardstick: Yardstick,
    attacks: Attacks,
    scores: tuple[Score, ...],
    results: Sequence[BlockResult],
    engine: Engine,
) -> Compared:
    """Return what the yardstick measures; what the run measured anyway is not measured again."""
    played = job.measuring.attacks
    if yardstick.attack in played:
        pair = attacks[played.index(yardstick.attack)]
    else:
        # It draws from a position behind all attacks of the recipe, so that these find what they find without it.
        alone = replace(
            job.measuring, attacks=(yardstick.attack,), positions=(len(attacks_of(job.recipe)),), metrics=()
        )
        pair = attack_block(replace(job, measuring=alone), engine, 0)[0]
    if yardstick.metric in job.measuring.metrics:
        score = scores[job.measuring.metrics.index(yardstick.metric)]
    else:
        score = _score(job, (yardstick.metric,), results, engine)[0]
    return Compared(attack=pair, score=score)


def _nothing_made(recipe: Recipe, made_blocks: Sequence[MadeBlock]) -> Exception:
    """Return the error for blocks of which none can be published: what was wrong with one of them, if anything was."""
    why = next((one.why for one in made_blocks if one.why not in (None, NOTHING_LEFT)), None)
    return nothing_left_error(recipe.method.publishes) if why is None else InputError(why)


def _free(job: Job, folders: Iterable[str]) -> None:
    """Delete what no later stage needs: several blocks take a lot of disk."""
    for folder in folders if job.several else ():
        job.store.remove(folder)


def _tidy(space: Workspace) -> None:
    """Remove what a task left that was killed while it wrote: another one wrote the whole file."""
    for file in space.staged.glob(".*"):
        file.unlink()


def _name_parts(space: Workspace, form: str, parts: Sequence[Part], written: Sequence[WrittenPart]) -> dict[str, str]:
    """Number the parts one after the other: a gap would say that a block was not published; return the hashes."""
    named = []
    for number, (part, one) in enumerate(zip(parts, written, strict=True)):
        hashes = dict(one.hashes)
        for name in (published_name, boxes_name):
            before = name(form, part.number)
            after = name(form, number)
            if number != part.number and before in hashes:
                (space.staged / before).rename(space.staged / after)
                hashes[after] = hashes.pop(before)
        named.append(hashes)
    return join_hashes(named)
