"""Which trajectories are published in which file: a block in a part of its own, unless that would tell something.

Where a method decided over everybody, a block is a piece of the input, and who is in it with whom is nobody's business:
trajectories are dealt out to parts at random.  Where a claim needs classes apart, `reconcile` sees to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wayveil.model import Engine, Method, MethodResult, concat
from wayveil.pipeline.blocks.block_cutter import parts_need
from wayveil.pipeline.blocks.block_job import Job
from wayveil.pipeline.blocks.block_source import Blocks
from wayveil.pipeline.blocks.reconcile import reconcile_blocks
from wayveil.pipeline.blocks.store import Store

__all__ = ["Part", "deal_blocks", "load_made", "load_part"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One file to be published: all of a `block`, or what blocks have left for it in a `folder` of the store.

    Parts that keep the claim `together` are judged together; others keep it one by one.
    """

    number: int
    block: int | None = None
    folder: str = ""
    together: bool = False


def deal_blocks(job: Job, blocks: Blocks, numbers: Sequence[int], *, planned: bool, engine: Engine) -> list[Part]:
    """Return the parts in which the blocks of these numbers, of which something was made, are published."""
    if not numbers:
        return []
    # Dealt at random, with draws from the secret: a part must not tell which piece of the input somebody was in.
    if planned:
        n_parts = max(1, -(-blocks.rows // blocks.block_rows))
        engine.map(partial(_deal_block, job, n_parts), numbers)
        folders = [f"parts/{number}" for number in range(n_parts) if job.store.names(f"parts/{number}")]
        return [Part(number=number, folder=folder, together=True) for number, folder in enumerate(folders)]
    if job.several and parts_need(job.recipe.method.claim) == "classes apart":
        parts = reconcile_blocks(job, len(blocks.names), numbers, engine)
        return [Part(number=number, folder=folder) for number, folder in parts]
    return [Part(number=number, block=number) for number in numbers]


def load_part(store: Store, part: Part, method: Method) -> tuple[Any, MethodResult]:
    """Return the trajectories of a part, as they were and as they are to be published."""
    if part.block is not None:
        return store.load(f"data/{part.block}"), store.load(f"made/{part.block}")
    pairs = [store.load(name) for name in store.names(part.folder)]
    data = concat([data for data, _ in pairs])
    # After a plan, data and result are the same object: both were dealt as what is published.
    if all(data is published for data, published in pairs):
        return data, MethodResult(data=data, claim=method.claim_of(data))
    published = concat([published for _, published in pairs])
    return data, MethodResult(data=published, claim=method.claim_of(data))


def load_made(store: Store, number: int) -> MethodResult:
    """Return what became of a block in the end."""
    result: MethodResult = store.load(f"{'reconciled' if store.has(f'reconciled/{number}') else 'made'}/{number}")
    return result


def _deal_block(job: Job, n_parts: int, number: int) -> None:
    """Deal the trajectories of a block out to parts at random; those without rows are published nowhere."""
    published: Any = job.store.load(f"made/{number}").data
    part = job.secret.rng("pieces", number).integers(0, n_parts, len(published))
    nonempty = np.diff(published.offsets) > 0
    for one in np.unique(part[nonempty]).tolist():
        some = published.take(np.flatnonzero(nonempty & (part == one)))
        job.store.save((some, some), f"parts/{one}/{number:06d}")
    job.store.save(published, f"published/{number}")
