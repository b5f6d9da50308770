"""One block, on one worker: run the method, write its part, read it back, judge it, attack it, count what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.io.publish.atomic import make_folders
from wayveil.io.scatter import groups_of
from wayveil.model import AttackResult, Chart, Data, Published, Verdict, concat
from wayveil.model.ragged import IntArray
from wayveil.pipeline.alignment import aligned
from wayveil.pipeline.blocks.task_files import load_data, load_value, save, save_data
from wayveil.pipeline.evaluate import run_attacks
from wayveil.pipeline.folder.manifest import Described, described
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.output_frame import settle
from wayveil.pipeline.readback import Written, check_made, write_and_read_back
from wayveil.pipeline.seeds import method_rng, sequence_for
from wayveil.recipe import catalog
from wayveil.recipe.defaults import attacks_of, metrics_of, sensitive_of
from wayveil.recipe.recipe import Recipe
from wayveil.report.charts.drawings import Drawing, drawings
from wayveil.report.views.overview import balance, views

__all__ = [
    "NOTHING_LEFT",
    "Done",
    "Job",
    "counting",
    "make_block",
    "make_block_folders",
    "publish_part",
    "read_block",
    "run_block",
    "scatter_group",
    "scatter_piece",
    "tell_block",
]


NOTHING_LEFT = "nothing was left of it."


@dataclass(frozen=True, kw_only=True)
class Job:
    """What every task of a run needs to know; small, because it goes to every worker."""

    recipe: Recipe
    seed: int
    secret: Secret
    scratch: Path
    staged: Path
    shared: Path


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of one block; `why` says why nothing did.  Without a verdict no part of its own was published.

    What metrics counted is in the file `counts`: it may be as long as the block has trajectories.
    """

    number: int
    balance: Mapping[str, Mapping[str, int | None]]
    why: str | None = None
    verdict: Verdict | None = None
    table: Described | None = None
    rows: int = 0
    trajectories: int = 0
    facts: Mapping[str, int | float | str] = field(default_factory=dict)
    attacks: tuple[tuple[AttackResult, AttackResult], ...] = ()
    counts: Path | None = None
    views: tuple[Chart, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    classes: IntArray | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)


def make_block_folders(job: Job, n_blocks: int) -> None:
    """Make the folders that tasks of blocks write to."""
    groups = range(len(groups_of(n_blocks)))
    make_folders(job.scratch / "counts", *(job.scratch / "blocks" / str(number) for number in range(n_blocks)))
    make_folders(*(_group(job, group) / name for group in groups for name in ("data", "block")))


def scatter_piece(job: Job, n_blocks: int, numbered: tuple[int, Path, IntArray]) -> None:
    """Write what a piece has of every block, or of every group of blocks, to a file of its own."""
    number, file, block = numbered
    data = load_data(file, load_value(job.shared))
    groups = groups_of(n_blocks)
    if not groups:
        _scatter(job, data, block, number)
        return
    for group, rows in _by_number(block // len(groups[0])):
        folder = _group(job, group)
        save_data(data.take(rows), folder / "data" / f"{number:06d}.pickle")
        save(block[rows], folder / "block" / f"{number:06d}.pickle")


def scatter_group(job: Job, group: int) -> None:
    """Write what all pieces have of every block of a group to files of its own, about a block of rows at a time."""
    shared, folder = load_value(job.shared), _group(job, group)
    size = 0 if job.recipe.blocks is None else job.recipe.blocks.rows
    files = sorted((folder / "data").glob("[0-9]*.pickle"))
    held: list[tuple[Any, IntArray]] = []
    for number, file in enumerate(files):
        held.append((load_data(file, shared), load_value(folder / "block" / file.name)))
        if sum(data.n_rows for data, _ in held) >= size or file is files[-1]:
            data, block = concat([data for data, _ in held]), np.concatenate([block for _, block in held])
            held.clear()
            _scatter(job, data, block, number)


def _group(job: Job, group: int) -> Path:
    return job.scratch / "groups" / str(group)


def _scatter(job: Job, data: Any, block: IntArray, number: int) -> None:
    for name, part in _by_number(block):
        save_data(data.take(part), job.scratch / "blocks" / str(name) / f"{number:06d}.pickle")


def _by_number(numbers: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Return every number that occurs, and where."""
    order = np.argsort(numbers, kind="stable")
    names, first = np.unique(numbers[order], return_index=True)
    return zip(names.tolist(), np.split(order, first[1:]), strict=True)


def run_block(job: Job, number: int) -> Done:
    """Publish one block into the staging folder, and tell what came of it."""
    data = read_block(job, number)
    result = make_block(job, data, number)
    if isinstance(result, Done):
        return result
    data, made = result
    written, verdict = publish_part(job, data, made, number)
    order = written.order if made.source is None else made.source[written.order]
    matched = aligned(written.data, order, data) if made.source is None else written.data
    boxes = None if written.boxes is None else aligned(written.boxes, order, data)
    return tell_block(job, number, data, made, matched, (written, verdict), boxes)


def read_block(job: Job, number: int) -> Any:
    """Return the data of a block."""
    shared = load_value(job.shared)
    files = sorted((job.scratch / "blocks" / str(number)).glob("[0-9]*.pickle"))
    return concat([load_data(file, shared) for file in files])


def make_block(job: Job, data: Any, number: int) -> tuple[Any, Published] | Done:
    """Return a block and what the method makes of it, or what is to be told where it can make nothing."""
    method = job.recipe.method
    try:
        data, made = settle(
            method,
            data,
            lambda some: method.run(
                some, rng=method_rng(method, job.seed, job.secret, number), engine=LocalEngine(workers=1)
            ),
        )
    except InputError as error:
        return Done(number=number, balance=_nothing_left(data), why=str(error))
    check_made(method, data, made)
    return (data, made) if made.data.n_rows else Done(number=number, balance=_nothing_left(data), why=NOTHING_LEFT)


def publish_part(job: Job, data: Any, made: Published, number: int) -> tuple[Written, Verdict]:
    """Write one part into the staging folder, read it back, and judge it."""
    written = write_and_read_back(job.recipe, job.staged, data, made, job.secret.key("ids", number), part=number)
    original = data.take(written.order) if made.source is None else data
    return written, catalog.verify(written.data, made.claim, original, written.boxes)


def tell_block(
    job: Job,
    number: int,
    data: Any,
    made: Published,
    matched: Any,
    part: tuple[Written, Verdict] | None,
    boxes: Any = None,
) -> Done:
    """Attack a block, count what was lost, and tell it; `part` is what of it was published as a part of its own.

    `boxes` are those beside published points, matched like these.
    """
    recipe, pictured = job.recipe, number == 0
    holds = part is None or part[1].holds
    named = "raw data", "published data" if holds else "rejected data"
    back = None if part is None else part[0].data
    return Done(
        number=number,
        balance=balance(data, made.data, made.source),
        verdict=None if part is None else part[1],
        hashes={} if part is None else part[0].hashes,
        table=None if back is None else described(back, source_owners=data.owners, parts="each"),
        rows=0 if back is None else back.n_rows,
        trajectories=0 if back is None else len(back),
        facts={"trajectories not published": int((np.diff(made.data.offsets) == 0).sum()), **made.facts},
        attacks=_attack(job, data, matched, boxes, number),
        counts=save(
            tuple(metric.count(data, matched) for metric in counting(metrics_of(recipe))),
            job.scratch / "counts" / f"{number}.pickle",
        ),
        views=views(data, made.data, made.groups, names=named, published=holds) if pictured else (),
        drawings=drawings(
            data, made.data, names=named, with_raw=recipe.output.with_raw, published=holds
        ) if pictured else (),
    )  # fmt: skip


def counting(metrics: Sequence[Any]) -> tuple[Any, ...]:
    """Return the metrics that can be counted piece by piece."""
    return tuple(metric for metric in metrics if metric.additive)


def _nothing_left(data: Data) -> dict[str, dict[str, int | None]]:
    """Return the balance of data of which nothing is published."""
    n = int((np.diff(data.offsets) > 0).sum())
    return {
        "trajectories": {"in": n, "out": 0, "suppressed": n, "invented": 0},
        data.row_word: {"in": data.n_rows, "out": 0, "suppressed": data.n_rows, "invented": 0},
    }


def _attack(
    job: Job, raw: Data, published: Data, boxes: Data | None, number: int
) -> tuple[tuple[AttackResult, AttackResult], ...]:
    before, after = (
        run_attacks(
            attacks_of(job.recipe), raw, target, sensitive=sensitive_of(job.recipe),
            seed=sequence_for(job.seed, "attacks", number), engine=LocalEngine(workers=1),
            boxes=beside,
        )
        for target, beside in ((raw, None), (published, boxes))
    )  # fmt: skip
    return tuple(zip(before, after, strict=True))
