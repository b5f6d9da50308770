"""The verdict on what was read back: part by part, or on all parts together where the claim holds of all of them.

The only place in the pipeline that asks a verifier.  What makes published data never does.  Verdicts are given in the
process that publishes, not by workers of a cluster, and on bytes that this process has read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.engines.local import cores
from wayveil.errors import InputError
from wayveil.model import BlockStore, Engine, Guarantee, KclPrivacy, Owners, Stops, Verdict, Visits, concat
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.blocks.block_job import Job
from wayveil.pipeline.blocks.block_source import Blocks
from wayveil.pipeline.blocks.combine import add_counts
from wayveil.pipeline.blocks.memory import WORKERS
from wayveil.pipeline.blocks.part_dealer import Part, load_part
from wayveil.pipeline.readback import confirm_read_back
from wayveil.recipe import catalog
from wayveil.verifiers import (
    KclShare,
    Need,
    apart,
    check_kcl,
    class_keys,
    cut_share,
    join_shares,
    join_verdicts,
    judge_share,
)

__all__ = ["judge_parts", "judge_together"]


def judge_parts(
    job: Job, blocks: Blocks, parts: Sequence[Part], hashes: Sequence[Mapping[str, str]], engine: Engine
) -> Verdict:
    """Judge the files of a publication by what was read back from them; the verdict on one part is that on all.

    Where other processes wrote and read back, this one reads every file again and compares, and it judges by itself: a
    worker with a fault cannot pass what it made.  `hashes` are those of the files of each part.
    """
    claim = job.recipe.method.claim_of(blocks.example)
    # Other processes wrote and read the files.  Here they are read again, by threads of this one, before any verdict.
    if job.several and not isinstance(engine, LocalEngine):
        engine = LocalEngine(workers=min(WORKERS, cores()), progress=engine.progress)
        engine.map(partial(_confirm_part, job), list(zip(parts, hashes, strict=True)))
    # Some claims are about all parts at once (kcl decides over everybody); their parts were dealt at random and mean
    # nothing alone.
    if parts[0].together:
        names = [f"readback/{part.number}" for part in parts]
        owners = blocks.example.owners
        return judge_together(claim, job.store, names, rows=blocks.block_rows, owners=owners, engine=engine)
    judged = engine.map(partial(_judge_part, job), parts) if job.several else [_judge_part(job, part) for part in parts]
    met: list[Need] = ["people apart"] if blocks.people_apart else []
    # A verdict per part speaks for the whole only where people, or classes, are not in two parts: what must be apart is
    # shown here, by the verifier's own keys, not assumed of the code that made the parts.
    classes = [keys for _, keys in judged if keys is not None]
    if len(classes) == len(judged) and apart(classes):
        met.append("classes apart")
    return join_verdicts([verdict for verdict, _ in judged], met=met)


def _confirm_part(job: Job, numbered: tuple[Part, Mapping[str, str]]) -> None:
    """Compare what a worker left as read back with the files on disk."""
    part, hashes = numbered
    stored = job.store.load(f"{'readback' if part.together else 'written'}/{part.number}")
    data = stored if part.together else stored.data
    boxes = None if part.together else stored.boxes
    confirm_read_back(job.staged, job.recipe.output.format, part.number, data=data, boxes=boxes, hashes=hashes)


def _judge_part(job: Job, part: Part) -> tuple[Verdict, IntArray | None]:
    """Return the verdict on one part, and of stops the classes that are in it."""
    data, result = load_part(job.store, part, job.recipe.method)
    written = job.store.load(f"written/{part.number}")
    # A verifier that needs the truth gets it in the order of the published trajectories, where each has a true one.
    original = data
    if result.source is None:
        original = data.take(written.order)
    elif job.recipe.method.parts_in_time:
        original = data.take(result.source[written.order])
    verdict = catalog.verify(written.data, result.claim, original, written.boxes)
    return verdict, np.unique(class_keys(written.data)) if isinstance(written.data, Stops) else None


def judge_together(
    claim: Guarantee, store: BlockStore, names: Sequence[str], *, rows: int, owners: Owners, engine: Engine
) -> Verdict:
    """Judge a claim about all parts together, which are values in a store; no task holds more than about `rows` rows.

    Sequences are judged in shares, by the time at which they begin.
    """
    if not isinstance(claim, KclPrivacy):
        raise InputError(f"Parts that keep {claim.name} only together cannot be judged.")
    # Sequences of any length cannot be cut by the time at which they begin: one task looks at everything.
    if isinstance(claim.l, str):
        verdict: Verdict = engine.map(partial(_judge_all, claim, store), [names])[0]
        return verdict
    sizes = engine.map(partial(_measure_part, store), names)
    # A sequence is judged in the span in which its first visit lies. A span needs all visits from its begin on of those
    # who have one inside, and counting pairs of visits proves at the end that no share lost any.
    times: dict[int, int] = add_counts([size[0] for size in sizes])
    spans = _spans_of_time(times, rows=rows)
    engine.map(partial(_cut_part, store, spans), list(enumerate(names)))
    shares: list[KclShare] = engine.map(partial(_judge_span, store, claim), list(enumerate(spans)))
    store.remove("shares")
    return join_shares(
        shares,
        claim,
        owners=owners,
        trajectories=sum(size[1] for size in sizes),
        visits=sum(size[2] for size in sizes),
        pairs=sum(size[3] for size in sizes),
    )


def _measure_part(store: BlockStore, name: str) -> tuple[dict[int, int], int, int, int]:
    """Return the visits at every time, and the numbers of trajectories, of visits and of pairs of visits.

    A share that lacks visits shows in the number of pairs.
    """
    data: Visits = store.load(name)
    times, visits = np.unique(data.t, return_counts=True)
    lengths = np.diff(data.offsets)
    # n visits have n (n - 1) / 2 pairs; the sum over all shares must be that of the whole.
    pairs = int((lengths * (lengths - 1) // 2).sum())
    return dict(zip(times.tolist(), visits.tolist(), strict=True)), int((lengths > 0).sum()), data.n_visits, pairs


def _spans_of_time(visits: dict[int, int], *, rows: int) -> list[tuple[int, int]]:
    """Cut all times into spans ``first <= t < until`` of about `rows` visits, at least one time in each.

    Examples
    --------
    >>> _spans_of_time({5: 3, 1: 2, 9: 1}, rows=3)
    [(1, 5), (5, 9), (9, 10)]
    """
    spans: list[tuple[int, int]] = []
    first = None
    n_rows = 0
    last = 0
    # Times in order; a span is closed when the next time would make it too large.  A single time is never split, as
    # visits at it belong together.
    for t in sorted(visits):
        if first is None:
            first = t
        elif n_rows + visits[t] > rows:
            spans.append((first, t))
            first = t
            n_rows = 0
        n_rows = n_rows + visits[t]
        last = t
    return spans if first is None else [*spans, (first, last + 1)]


def _judge_all(claim: KclPrivacy, store: BlockStore, names: Sequence[str]) -> Verdict:
    return check_kcl(concat([store.load(name) for name in names]), claim)


def _cut_part(store: BlockStore, spans: Sequence[tuple[int, int]], numbered: tuple[int, str]) -> None:
    """Keep what each span needs of a part, so that nobody has to read all parts for a span."""
    number, name = numbered
    data: Visits = store.load(name)
    for at, (first, until) in enumerate(spans):
        store.save(cut_share(data, first=first, until=until), f"shares/{at}/{number:06d}")


def _judge_span(store: BlockStore, claim: KclPrivacy, numbered: tuple[int, tuple[int, int]]) -> KclShare:
    at, (first, until) = numbered
    some: Any = [store.load(name) for name in store.names(f"shares/{at}")]
    return judge_share(concat(some), claim, first=first, until=until)
