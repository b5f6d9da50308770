"""One crowd that no machine holds: (K,C)_L-privacy of visits in pieces.

Workers read, count, suppress, write and judge; the driver decides, and sees the visits only as numbers.  Doublets that
fewer than k people have are violating sequences by themselves, whatever else is suppressed: the workers count them, and
they never travel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wayveil.engines import LocalEngine
from wayveil.model import KCL, Chart, Coded, Engine, Published, Verdict, Visits
from wayveil.model.ragged import BoolArray, IntArray, keep_rows, offsets_of, trajectory_of_row
from wayveil.run import facts
from wayveil.run.asked import attacks_of, metrics_of, rng_for, sensitive_of, sequence_for
from wayveil.run.blocks.adding import add_balances, add_counts, described_input, left_out_note, score_all
from wayveil.run.blocks.asking import attack_pieces
from wayveil.run.blocks.files import load_data, save_data
from wayveil.run.blocks.part import Job, counting
from wayveil.run.blocks.reading import Pieces
from wayveil.run.drawing import Drawing, drawings
from wayveil.run.finishing import Clock, Run
from wayveil.run.joining import join_data
from wayveil.run.manifest import described
from wayveil.run.shares import count_pairs, count_times, spans_of_time
from wayveil.run.views import balance, views
from wayveil.run.writing import refuse_nothing, write_and_read_back
from wayveil.verify import check_kcl, cut_share, join_shares, judge_share

__all__ = ["publish_whole"]

_NAMES = ("raw data", "published data")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Compact:
    """The visits of a piece as numbers of doublets, without those that too few people have."""

    lengths: IntArray
    item: IntArray
    owner: IntArray
    attributes: dict[str, IntArray]


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
    numbered = list(enumerate(pieces.files))
    with clock("count doublets"):
        table = _frequent(engine.map(partial(_count_doublets, job), numbered), method.k)
        doublets = job.scratch / "doublets.parquet"
        table.write_parquet(doublets)
    with clock("run the method"):
        labels = {name: values for name, (values, _) in pieces.values.items()}
        compact = engine.map(partial(_as_numbers, job, doublets, labels), numbered)
        keep, told = _decide(job, compact, labels, pieces, engine)
        del compact
    with clock("suppress"):
        n_parts = max(1, -(-pieces.rows // _rows(job)))
        todo = [(number, file, np.packbits(mask)) for (number, file), mask in zip(numbered, keep, strict=True)]
        del keep
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
    metrics = metrics_of(recipe)
    scores = score_all(counting(metrics), [one.counts for one in applied])
    rows, trajectories = sum(part.rows for part in parts), sum(part.trajectories for part in parts)
    return Run(
        recipe=recipe,
        seed=job.seed,
        verdict=verdict,
        attacks=tuple((before, after) for before, after in attacks),
        scores=scores,
        shown=tuple(replace(score, charts=()) for score in scores),
        timings=clock.seconds,
        notes=(
            *pieces.notes,
            *([] if len(pieces.files) == 1 else ["The pictures show the first piece of the data."]),
            *left_out_note([*(m.name for m in metrics if not hasattr(m, "count")), *without]),
        ),
        counted=facts.counted_note(pieces.example.owners, people=pieces.people, trajectories=pieces.trajectories),
        input_facts=described_input(recipe, pieces),
        output_facts={
            "Trajectories": f"{trajectories:,}",
            "Visits": f"{rows:,}",
            "Parts": f"{len(parts):,}",
            **{name: facts.value_text(value) for name, value in told.items()},
        },
        views=applied[0].views,
        balance=add_balances([one.balance for one in applied]),
        drawings=applied[0].drawings,
        table=described(
            parts[0].example,
            source_owners=pieces.example.owners,
            rows=rows,
            trajectories=trajectories,
            parts="together",
        ),
    )


def _rows(job: Job) -> int:
    return 2_000_000 if job.recipe.blocks is None else job.recipe.blocks.rows


def _count_doublets(job: Job, numbered: tuple[int, Path]) -> pl.DataFrame:
    """Return how many people have each doublet of a piece; nobody is in two pieces, so these numbers add up."""
    data: Visits = load_data(numbered[1], None)
    frame = pl.DataFrame({"t": data.t, "place": data.location, "who": data.owner[trajectory_of_row(data.offsets)]})
    found = frame.unique().group_by("t", "place").agg(pl.len().alias("people"))
    return found.with_columns(_names(data).gather(found["place"]).alias("location")).drop("place")


def _names(data: Visits) -> pl.Series:
    return pl.Series("location", data.locations, dtype=pl.String)


def _frequent(counts: Sequence[pl.DataFrame], k: int) -> pl.DataFrame:
    """Return the doublets that at least k people have, numbered in the order of time and name."""
    total = pl.concat(counts).group_by("t", "location").agg(pl.col("people").sum())
    kept = total.filter(pl.col("people") >= k).select("t", "location").sort("t", "location")
    return kept.with_row_index("item").with_columns(pl.col("item").cast(pl.Int32))


def _items(data: Visits, doublets: Path) -> IntArray:
    """Return the number of the doublet of every visit, -1 where too few people have it."""
    table = pl.read_parquet(doublets)
    code = pl.DataFrame({"location": _names(data), "place": np.arange(len(data.locations), dtype=np.int32)})
    known = table.join(code, on="location").select("t", "place", "item")
    visits = pl.DataFrame({"t": data.t, "place": data.location})
    found = visits.join(known, on=["t", "place"], how="left", maintain_order="left")["item"]
    items: IntArray = found.fill_null(-1).to_numpy()
    return items


def _as_numbers(job: Job, doublets: Path, labels: dict[str, tuple[str, ...]], numbered: tuple[int, Path]) -> _Compact:
    data: Visits = load_data(numbered[1], None)
    item = _items(data, doublets)
    kept = item >= 0
    attributes: dict[str, IntArray] = {}
    for name, _ in job.recipe.method.sensitive:
        column, code = data.attributes[name], {label: i for i, label in enumerate(labels[name])}
        translate = np.array([*(code.get(label, -1) for label in column.labels), -1], np.int32)
        attributes[name] = translate[column.codes]
    return _Compact(
        lengths=np.diff(keep_rows(data.offsets, kept)).astype(np.int32),
        item=item[kept].astype(np.int32),
        owner=data.owner,
        attributes=attributes,
    )


def _decide(
    job: Job, compact: Sequence[_Compact], labels: dict[str, tuple[str, ...]], pieces: Pieces, engine: Engine
) -> tuple[list[BoolArray], dict[str, int | float | str]]:
    """Return which of the visits that travelled may stay, piece by piece, and what was done.

    A doublet is a time of its own, at one and the same place: sequences of doublets are sequences of such visits.
    """
    item = np.concatenate([one.item for one in compact])
    ends = np.cumsum([len(one.item) for one in compact])
    data = Visits(
        offsets=offsets_of(np.concatenate([one.lengths for one in compact])),
        location=np.zeros(len(item), np.int32),
        t=item,
        locations=("",),
        owner=np.concatenate([one.owner for one in compact]),
        attributes={
            name: Coded(codes=np.concatenate([one.attributes[name] for one in compact]), labels=labels[name])
            for name, _ in job.recipe.method.sensitive
        },
        owners=pieces.example.owners,
    )
    here = LocalEngine(progress=engine.progress)
    made = job.recipe.method.run(data, rng=rng_for(job.seed, "method"), engine=here)
    if not made.data.n_rows:
        raise refuse_nothing(Visits)
    rare = pieces.rows - len(item)
    told = {"visits that fewer than k people have": rare, **made.facts}
    told["visits suppressed"] = int(told.get("visits suppressed", 0)) + rare
    return np.split(_kept(data, made.data), ends[:-1]), told


def _kept(before: Visits, after: Visits) -> BoolArray:
    """Return which rows of `before` are in `after`, which has the same trajectories with some rows less."""
    keep = np.zeros(before.n_rows, np.bool_)
    step = 1 << 20
    for a in range(0, len(before), step):
        b = min(a + step, len(before))
        rows, left = (slice(data.offsets[a], data.offsets[b]) for data in (before, after))
        size = np.int64(max(1, int(before.t[rows].max(initial=0)) + 1))
        whole, some = (
            trajectory_of_row(data.offsets[a : b + 1] - data.offsets[a]) * size + data.t[span]
            for data, span in ((before, rows), (after, left))
        )
        keep[rows.start + np.searchsorted(whole, some)] = True
    return keep


def _apply(job: Job, doublets: Path, n_parts: int, todo: tuple[int, Path, NDArray[np.uint8]]) -> _Applied:
    """Suppress the visits of a piece, and deal its trajectories out to parts at random."""
    number, file, packed = todo
    data: Visits = load_data(file, None)
    travelled = _items(data, doublets) >= 0
    keep = np.zeros(data.n_rows, np.bool_)
    keep[travelled] = np.unpackbits(packed, count=int(travelled.sum())).astype(np.bool_)
    published = data.where(keep)
    part = rng_for(job.seed, "pieces", number).integers(0, n_parts, len(data))
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
    data = join_data([load_data(file, None) for file in files])
    made = Published(data=data, claim=job.recipe.method.claim)
    written = write_and_read_back(job.recipe, job.staged, data, made, rng_for(job.seed, "ids", number), part=number)
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
    spans = spans_of_time(times, rows=_rows(job))
    shares = engine.map(partial(_judge_span, claim, files), spans)
    return join_shares(
        shares,
        claim,
        owners=pieces.example.owners,
        trajectories=sum(part.trajectories for part in parts),
        visits=sum(part.rows for part in parts),
        pairs=sum(part.pairs for part in parts),
    )


def _judge_all(claim: KCL, files: Sequence[Path]) -> Verdict:
    return check_kcl(join_data([load_data(file, None) for file in files]), claim)


def _judge_span(claim: KCL, files: Sequence[Path], span: tuple[int, int]) -> Any:
    first, until = span
    some = [cut_share(load_data(file, None), first=first, until=until) for file in files]
    return judge_share(join_data(some), claim, first=first, until=until)
