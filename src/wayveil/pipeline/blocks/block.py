"""The stages of one block: run the method, write its part, read it back, attack it, count what was lost.

A stage takes a block out of the store and leaves there what the next one needs; what it returns is small.  The one
block of a table in memory and each of many on disk go through the same stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model import AttackResult, Data, Engine, MethodResult
from wayveil.pipeline.alignment import aligned, cut_at_parts, rejoin
from wayveil.pipeline.blocks.block_cutter import read_block
from wayveil.pipeline.blocks.block_job import Job
from wayveil.pipeline.blocks.part_dealer import Part, load_made, load_part
from wayveil.pipeline.blocks.store import Store
from wayveil.pipeline.evaluate import attack_targets
from wayveil.pipeline.folder.manifest import Described, Parts, described
from wayveil.pipeline.folder.outlines import zone_rings
from wayveil.pipeline.output_frame import settle
from wayveil.pipeline.readback import check_made, nothing_left_error, write_and_read_back
from wayveil.pipeline.seeds import method_rng, sequence_for
from wayveil.recipe.defaults import sensitive_of
from wayveil.report.text import summary
from wayveil.report.views.counted import bare_names
from wayveil.report.views.overview import balance
from wayveil.report.views.pictures import Pictures, make_pictures

__all__ = [
    "NOTHING_LEFT",
    "BlockResult",
    "MadeBlock",
    "WrittenPart",
    "attack_block",
    "count_block",
    "countable",
    "load_compared",
    "make_block",
    "picture_block",
    "write_part",
]

NOTHING_LEFT = "nothing was left of it."


@dataclass(frozen=True, kw_only=True)
class MadeBlock:
    """Whether the method made something of a block; `why` says why it did not."""

    number: int
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class WrittenPart:
    """What is known of a part that was written and read back."""

    number: int
    rows: int
    trajectories: int
    table: Described
    facts: Mapping[str, str]
    hashes: Mapping[str, str]
    """Of the files, before they were read back: what is published must have these."""


@dataclass(frozen=True, kw_only=True)
class BlockResult:
    """What one block adds to what is told of all; what metrics counted may be long, and stays in the store."""

    number: int
    balance: Mapping[str, Mapping[str, int | None]]
    facts: Mapping[str, int | float | str] = field(default_factory=dict)
    counts: str | None = None


def make_block(job: Job, plan: Any, engine: Engine, number: int) -> MadeBlock:
    """Run the method on a block, or do what it planned for all; of several blocks, one may come to nothing."""
    method = job.recipe.method
    # Everything goes through the store under a name with the number of the block; a worker needs nothing else.
    name = f"data/{number}"
    data = read_block(job.store, name)
    # A plan was made over all blocks, and holds what is to be done in this one.
    if plan is not None:
        job.store.save(method.apply(plan, data, number, job.store), f"made/{number}")
        return MadeBlock(number=number)
    try:
        # A method works in the frame of what it publishes. Which that is follows from what is published, so `settle`
        # runs it until the frame is the one that its own result has.
        fitting, result = settle(
            method,
            data,
            lambda some: method.run(
                some, rng=method_rng(method, job.seed, job.secret, *job.number_of(number)), engine=engine
            ),
            one_slice=not any(step.name == "slices" for step in job.recipe.prepare),
        )
    except InputError as error:
        # A table that is one block is refused with the reason; of many blocks, one may be too small, and the others go
        # on.
        if not job.several:
            raise
        job.store.save(data, name)
        return MadeBlock(number=number, why=str(error))
    check_made(method, fitting, result)
    job.store.save(fitting, name)
    if not result.data.n_rows:
        if not job.several:
            raise nothing_left_error(type(result.data))
        return MadeBlock(number=number, why=NOTHING_LEFT)
    job.store.save(result, f"made/{number}")
    return MadeBlock(number=number)


def write_part(job: Job, engine: Engine, part: Part) -> WrittenPart:
    """Write a part under new ids in an order that tells nothing, and keep what is read back from the file."""
    data, result = load_part(job.store, part, job.recipe.method)
    number = part.number
    key = job.secret.key("ids", *job.number_of(number))
    written = write_and_read_back(job.recipe, job.staged, data, result, key, part=number if job.several else None)
    # `order` leads from a written trajectory to that of the input. Only the owner's machine has it; attacks and metrics
    # need it to know who is who, and nothing of it is published.
    order = written.order if result.source is None else result.source[written.order]
    # From here on the result of the method is not looked at any more: verdict, attacks and metrics see what was read
    # back from disk.
    if part.together:
        job.store.save(written.data, f"readback/{number}")
    else:
        job.store.save(written, f"written/{number}")
    # Attacks and metrics compare trajectory by trajectory, so what was read back is put into the order of the block.
    if part.block is not None:
        matched = written.data
        if result.source is None:
            matched = aligned(written.data, order, data)
        elif job.recipe.method.parts_in_time:
            pieces, piece = cut_at_parts(data, result)
            matched = aligned(written.data, piece[written.order], pieces)
            job.store.save((pieces, rejoin(matched, pieces, data)), f"pieces/{part.block}")
        boxes = None if written.boxes is None else aligned(written.boxes, order, data)
        job.store.save((matched, boxes), f"matched/{part.block}")
    parts: Parts = "one"
    if job.several:
        parts = "together" if part.together else "each"
    return WrittenPart(
        number=number,
        rows=written.data.n_rows,
        trajectories=len(written.data),
        table=described(written.data, source_owners=data.owners, parts=parts),
        facts={} if job.several else summary.output_facts(written.data, result),
        hashes=written.hashes,
    )


def attack_block(job: Job, engine: Engine, number: int) -> tuple[tuple[AttackResult, AttackResult], ...]:
    """Attack a block, as it was and as it is published, with what its own trajectories say."""
    raw: Data = job.store.load(f"data/{number}")
    # A method that cuts trajectories in time publishes pieces; an attacker who knows a true piece looks for its like.
    if job.store.has(f"pieces/{number}"):  # attackers see pieces, and know true ones
        raw, _ = job.store.load(f"pieces/{number}")
    published, boxes = _published(job.store, number)
    before, after = attack_targets(
        job.measuring.attacks,
        raw,
        [(raw, None), (published, boxes)],
        sensitive=sensitive_of(job.recipe),
        seed=sequence_for(job.seed, "attacks", *job.number_of(number)),
        engine=engine,
        positions=job.measuring.positions,
    )
    return tuple(zip(before, after, strict=True))


def count_block(job: Job, engine: Engine, made_block: MadeBlock) -> BlockResult:
    """Count what of a block was lost, for what is told of all blocks together."""
    number = made_block.number
    data: Any = job.store.load(f"data/{number}")
    if made_block.why is not None:
        return BlockResult(number=number, balance=_nothing_left(data))
    result: MethodResult = load_made(job.store, number)
    counts = None
    if job.several:
        # Of several blocks each metric leaves its counts; one block is scored at once, with everything at hand.
        counted = tuple(
            metric.count(data, load_compared(job.store, number, metric)) for metric in job.measuring.metrics
        )
        counts = job.store.save(counted, f"counts/{number}")
    return BlockResult(
        number=number,
        balance=balance(data, result.data, result.source, result.counted),
        facts={"trajectories not published": int((np.diff(result.data.offsets) == 0).sum()), **result.facts},
        counts=counts,
    )


def picture_block(job: Job, holds: bool, engine: Engine, number: int) -> Pictures:
    """Return what a block looks like before and after; what was not published is told as rejected."""
    data: Any = job.store.load(f"data/{number}")
    result: MethodResult = load_made(job.store, number)
    before = "prepared data" if job.recipe.prepare else "raw data"
    names = before, "published data" if holds else "rejected data"
    with_raw = job.recipe.output.with_raw
    named = [name for one in (data, result.data) if one.places() is not None for name in bare_names(one)]
    return make_pictures(
        data,
        result.data,
        result.groups,
        names=names,
        with_raw=with_raw,
        published=holds,
        zones=zone_rings(job.recipe, named),
        cells=job.recipe.method.metric_settings.get("count_error"),
    )


def load_compared(store: Store, number: int, metric: Any) -> Any:
    """Return what a metric compares the data of a block with: one trajectory for each of them where it needs that."""
    if metric.matched and store.has(f"pieces/{number}"):
        return store.load(f"pieces/{number}")[1]
    return _published(store, number)[0]


def countable(metrics: Sequence[Any]) -> tuple[Any, ...]:
    """Return the metrics that can be counted block by block."""
    return tuple(metric for metric in metrics if metric.additive)


def _published(store: Store, number: int) -> tuple[Any, Any]:
    """Return what is public of a block, with the boxes beside it: one trajectory for each of the block.

    It is what was read back.  Only where trajectories of several blocks are in one part, it is what was made, which
    reading back has shown to be the same.
    """
    if store.has(f"matched/{number}"):
        published, boxes = store.load(f"matched/{number}")
        return published, boxes
    return load_made(store, number).data, None


def _nothing_left(data: Data) -> dict[str, dict[str, int | None]]:
    """Return the balance of data of which nothing is published."""
    n = int((np.diff(data.offsets) > 0).sum())
    return {
        "trajectories": {"in": n, "out": 0, "suppressed": n, "invented": 0},
        data.row_word: {"in": data.n_rows, "out": 0, "suppressed": data.n_rows, "invented": 0},
    }
