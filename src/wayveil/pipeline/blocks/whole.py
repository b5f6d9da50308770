"""One crowd that no machine holds: (K,C)_L-privacy of visits in pieces.

Workers read, count, suppress, write and judge; the driver decides, and sees the visits only as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from wayveil.methods.kcl.kcl_pieces import block_rows, decide, kept_visits, number_doublets
from wayveil.model import KCL, Chart, Engine, Published, Verdict, Visits, concat
from wayveil.pipeline.blocks.block import Job, counting
from wayveil.pipeline.blocks.combine import add_balances, add_counts, described_input, left_out_note, score_all
from wayveil.pipeline.blocks.input_pieces import Pieces
from wayveil.pipeline.blocks.queries import attack_pieces
from wayveil.pipeline.blocks.task_files import load_data, save_data
from wayveil.pipeline.folder.manifest import described
from wayveil.pipeline.folder.shares import count_pairs, count_times, spans_of_time
from wayveil.pipeline.readback import refuse_nothing, write_and_read_back
from wayveil.pipeline.release import Clock, Run
from wayveil.pipeline.remaining import Remaining, name_remedies
from wayveil.pipeline.seeds import sequence_for
from wayveil.recipe.defaults import attacks_of, metrics_of, sensitive_of
from wayveil.recipe.protections import confirm_protections
from wayveil.report.charts.drawings import Drawing, drawings
from wayveil.report.text import summary
from wayveil.report.views.overview import balance, views
from wayveil.verify import check_kcl, cut_share, join_shares, judge_share

__all__ = ["publish_whole"]

_NAMES = ("raw data", "published data")


@dataclass(frozen=True, kw_only=True)
class _Applied:
    """What a worker tells of a piece after suppression."""

    balance: dict[str, dict[str, int | None]]
    counts: tuple[Any, ...]
    published: Path
    views: tuple[Chart, ...] = ()
    drawings: tuple[Drawing, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Part:
    """What a worker tells of a published part: where it is read back, and how large it is."""

    file: Path
    rows: int
    trajectories: int
    times: dict[int, int]
    pairs: int
    example: Any


def publish_whole(job: Job, pieces: Pieces, clock: Clock) -> Run:
    """Run the method on all data at once, everything else piece by piece, and tell what came of it."""
    recipe, method, engine = job.recipe, job.recipe.method, clock.engine
    with clock("count doublets"):
        doublets = number_doublets(job, pieces, engine)
    with clock("run the method"):
        decided = decide(job, doublets, pieces, engine)
    with clock("suppress"):
        n_parts = max(1, -(-pieces.rows // block_rows(job)))
        todo = list(zip(range(len(pieces.files)), pieces.files, decided.files, strict=True))
        applied: list[_Applied] = engine.map(partial(_apply, job, doublets, n_parts), todo)
    with clock("write and read back"):
        held = [p for p in range(n_parts) if (job.scratch / "parts" / str(p)).is_dir()]
        if not held:
            raise refuse_nothing(Visits)
        parts: list[_Part] = engine.map(partial(_write_part, job), list(enumerate(held)))
    with clock("verify"):
        verdict = _judge(job, method.claim, parts, pieces, engine)
    with clock("attack"):
        attacks, without = attack_pieces(
            attacks_of(recipe),
            pieces,
            (pieces.files, [one.published for one in applied]),
            sensitive=sensitive_of(recipe),
            seed=sequence_for(job.seed, "attacks"),
            engine=engine,
        )
        asked = [attack for attack in attacks_of(recipe) if attack.additive]
        verdict = confirm_protections(verdict, asked, [after for _, after in attacks])
    metrics = metrics_of(recipe)
    scores = score_all(counting(metrics), [one.counts for one in applied])
    rows, trajectories = sum(part.rows for part in parts), sum(part.trajectories for part in parts)
    return Run(
        recipe=recipe,
        seed=job.seed,
        secret=job.secret,
        verdict=verdict,
        attacks=tuple((before, after) for before, after in attacks),
        scores=scores,
        shown=tuple(replace(score, charts=()) for score in scores),
        timings=clock.seconds,
        notes=(
            *pieces.notes,
            *([] if len(pieces.files) == 1 else ["The pictures show the first piece of the data."]),
            *left_out_note([*(m.name for m in metrics if not m.additive), *without]),
        ),
        counted=summary.counted_note(
            pieces.example.owners,
            people=pieces.people,
            trajectories=pieces.trajectories,
            each_trajectory=recipe.input.each_trajectory,
        ),
        input_facts=described_input(recipe, pieces),
        output_facts={
            "Trajectories": f"{trajectories:,}",
            "Visits": f"{rows:,}",
            "Parts": f"{len(parts):,}",
            **{name: summary.value_text(value) for name, value in decided.facts.items()},
        },
        views=applied[0].views,
        balance=add_balances([one.balance for one in applied]),
        remaining=Remaining(remedies=name_remedies(pieces.example, recipe.prepare, recipe.method.name)),
        drawings=applied[0].drawings,
        table=described(
            parts[0].example,
            source_owners=pieces.example.owners,
            rows=rows,
            trajectories=trajectories,
            parts="together",
        ),
    )


def _apply(job: Job, doublets: Path, n_parts: int, todo: tuple[int, Path, Path]) -> _Applied:
    """Suppress the visits of a piece, and deal its trajectories out to parts at random."""
    number, file, kept = todo
    data: Visits = load_data(file, None)
    published = data.where(kept_visits(kept, data, doublets))
    part = job.secret.rng("pieces", number).integers(0, n_parts, len(data))
    held = np.diff(published.offsets) > 0
    for one in np.unique(part[held]).tolist():
        save_data(
            published.take(np.flatnonzero(held & (part == one))),
            job.scratch / "parts" / str(one) / f"{number:06d}.pickle",
        )
    pictured = number == 0
    return _Applied(
        balance=balance(data, published),
        counts=tuple(metric.count(data, published) for metric in counting(metrics_of(job.recipe))),
        published=save_data(published, job.scratch / "published" / f"{number}.pickle"),
        views=views(data, published, None, names=_NAMES, published=True) if pictured else (),
        drawings=drawings(
            data, published, names=_NAMES, with_raw=job.recipe.output.with_raw, published=True
        ) if pictured else (),
    )  # fmt: skip


def _write_part(job: Job, numbered: tuple[int, int]) -> _Part:
    """Write one part under new ids in an order that tells nothing, and keep what is read back for the verdict."""
    number, dealt = numbered
    files = sorted((job.scratch / "parts" / str(dealt)).glob("[0-9]*.pickle"))
    data = concat([load_data(file, None) for file in files])
    made = Published(data=data, claim=job.recipe.method.claim)
    written = write_and_read_back(job.recipe, job.staged, data, made, job.secret.key("ids", number), part=number)
    back: Visits = written.data
    return _Part(
        file=save_data(back, job.scratch / "readback" / f"{number}.pickle"),
        rows=back.n_rows,
        trajectories=len(back),
        times=count_times([back]),
        pairs=count_pairs(back),
        example=back.take(np.zeros(0, np.int64)),
    )


def _judge(job: Job, claim: KCL, parts: Sequence[_Part], pieces: Pieces, engine: Engine) -> Verdict:
    files = [part.file for part in parts]
    if isinstance(claim.l, str):
        verdict: Verdict = engine.map(partial(_judge_all, claim), [files])[0]
        return verdict
    times: dict[int, int] = add_counts([part.times for part in parts])
    spans = spans_of_time(times, rows=block_rows(job))
    engine.map(partial(_cut_part, job, spans), list(enumerate(files)))
    shares = engine.map(partial(_judge_span, job, claim), list(enumerate(spans)))
    rmtree(_share_folder(job, 0).parent)
    return join_shares(
        shares,
        claim,
        owners=pieces.example.owners,
        trajectories=sum(part.trajectories for part in parts),
        visits=sum(part.rows for part in parts),
        pairs=sum(part.pairs for part in parts),
    )


def _judge_all(claim: KCL, files: Sequence[Path]) -> Verdict:
    return check_kcl(concat([load_data(file, None) for file in files]), claim)


def _cut_part(job: Job, spans: Sequence[tuple[int, int]], numbered: tuple[int, Path]) -> None:
    """Write what each span needs of a part, so that nobody has to read all parts for a span."""
    number, file = numbered
    data: Visits = load_data(file, None)
    for at, (first, until) in enumerate(spans):
        save_data(cut_share(data, first=first, until=until), _share_folder(job, at) / f"{number:06d}.pickle")


def _judge_span(job: Job, claim: KCL, numbered: tuple[int, tuple[int, int]]) -> Any:
    at, (first, until) = numbered
    some = [load_data(file, None) for file in sorted(_share_folder(job, at).glob("[0-9]*.pickle"))]
    return judge_share(concat(some), claim, first=first, until=until)


def _share_folder(job: Job, span: int) -> Path:
    return job.scratch / "shares" / str(span)
