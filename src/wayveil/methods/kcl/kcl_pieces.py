"""What of one crowd in pieces must go: workers number and count, the driver chooses.

Doublets that fewer than k people have are violating sequences by themselves, whatever else is suppressed: the workers
count them, and they never travel.  The rest travels as numbers: all of it where visits are given back, because those of
anybody can be what others hide among; otherwise only that of people in whose records something is violating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wayveil.engines import LocalEngine
from wayveil.io.publish.atomic import make_folders, whole_file
from wayveil.methods.kcl.kcl_choosing import Choosing
from wayveil.methods.kcl.kcl_sequences import (
    Counting,
    Hits,
    count_sequences,
    joined_sequences,
    locate,
    save_threats,
)
from wayveil.methods.kcl.kcl_ways import Numbered, Sequences
from wayveil.model import Engine, Visits
from wayveil.model.ragged import BoolArray, IntArray, keep_rows, offsets_of, take, trajectory_of_row
from wayveil.pipeline.blocks.block import Job
from wayveil.pipeline.blocks.input_pieces import Pieces
from wayveil.pipeline.blocks.task_files import load_data, load_value, save
from wayveil.pipeline.readback import refuse_nothing

__all__ = ["Decided", "block_rows", "decide", "kept_visits", "number_doublets"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decided:
    """What may stay: a file per piece for `kept_visits`, and what to tell."""

    files: tuple[Path, ...]
    facts: dict[str, int | float | str]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Travelled:
    """What the driver sees of a piece: trajectories `who` (None: all), and where threats are in them; in how many of
    the other trajectories each item is."""

    numbered: Numbered
    who: IntArray | None = None
    hits: Hits | None = None
    elsewhere: IntArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kept:
    """Which visits of a piece may stay: those that travelled, as bits; of the others, all but the items `gone`."""

    who: IntArray | None
    bits: NDArray[np.uint8]
    gone: IntArray


def number_doublets(job: Job, pieces: Pieces, engine: Engine) -> Path:
    """Write the doublets that at least k people have, numbered in the order of time and name."""
    choosing = Choosing(asked=job.recipe.method)
    choosing.check_pieces()
    choosing.check_people(pieces.people)
    counts = engine.map(_count_doublets, list(pieces.files))
    total = pl.concat(counts).group_by("t", "location").agg(pl.col("people").sum())
    kept = total.filter(pl.col("people") >= choosing.asked.k).select("t", "location").sort("t", "location")
    if kept.is_empty():
        raise refuse_nothing(Visits)
    target = job.scratch / "doublets.parquet"
    with whole_file(target, private=True) as part:
        kept.with_row_index("item").with_columns(pl.col("item").cast(pl.Int32)).write_parquet(part)
    return target


def _count_doublets(file: Path) -> pl.DataFrame:
    """Return how many people have each doublet of a piece; nobody is in two pieces, so these numbers add up."""
    data: Visits = load_data(file, None)
    frame = pl.DataFrame({"t": data.t, "place": data.location, "who": data.owner[trajectory_of_row(data.offsets)]})
    found = frame.unique().group_by("t", "place").agg(pl.len().alias("people"))
    return found.with_columns(_names(data).gather(found["place"]).alias("location")).drop("place")


def _names(data: Visits) -> pl.Series:
    return pl.Series("location", data.locations, dtype=pl.String)


def _items(data: Visits, doublets: Path) -> IntArray:
    """Return the number of the doublet of every visit, -1 where too few people have it."""
    table = pl.read_parquet(doublets)
    code = pl.DataFrame({"location": _names(data), "place": np.arange(len(data.locations), dtype=np.int32)})
    known = table.join(code, on="location").select("t", "place", "item")
    visits = pl.DataFrame({"t": data.t, "place": data.location})
    found = visits.join(known, on=["t", "place"], how="left", maintain_order="left")["item"]
    items: IntArray = found.fill_null(-1).to_numpy()
    return items


def _as_numbers(job: Job, doublets: Path, numbered: tuple[int, Path]) -> Path:
    """Write a piece without the doublets that too few people have, and without names."""
    number, file = numbered
    choosing = Choosing(asked=job.recipe.method)
    data: Visits = load_data(file, None)
    item = _items(data, doublets)
    kept = item >= 0
    value, n_values = choosing.sensitive_codes(data)
    piece = Numbered(
        offsets=keep_rows(data.offsets, kept),
        item=item[kept].astype(np.int32),
        owner=data.owner,
        value=value.astype(np.int32),
        n_items=int(pl.scan_parquet(doublets).select(pl.len()).collect().item()),
        n_values=n_values,
    )
    return save(piece, job.scratch / "numbered" / f"{number}.pickle")


def decide(job: Job, doublets: Path, pieces: Pieces, engine: Engine) -> Decided:
    """Return what may stay of every piece."""
    choosing = Choosing(asked=job.recipe.method)
    make_folders(job.scratch / "numbered", job.scratch / "kept")
    files: list[Path] = engine.map(partial(_as_numbers, job, doublets), list(enumerate(pieces.files)))
    first: Numbered = load_value(files[0])
    counting = Counting(
        choosing=choosing,
        people=pieces.people,
        n_items=first.n_items,
        n_values=first.n_values,
        occurrences=2 * block_rows(job),
        scratch=job.scratch,
    )
    here = LocalEngine(progress=engine.progress)
    if choosing.needs_everybody(pieces.trajectories, pieces.people):
        seen = [_Travelled(numbered=load_value(file)) for file in files]
        crowd = choosing.crowd(_joined(seen), people=pieces.people)
        listed = not choosing.builds_up(len(crowd.rows))
        choice = choosing.choose(crowd, partial(_count_all, counting, files, engine, listed=listed), here)
    else:
        engine.progress("finding violating sequences")
        threats = save_threats(counting, count_sequences(counting, files, engine, listed=True))
        seen = engine.map(partial(_concerned, threats), files)
        elsewhere = np.sum([one.elsewhere for one in seen if one.elsewhere is not None], axis=0)
        crowd = choosing.crowd(_joined(seen), people=pieces.people, elsewhere=elsewhere)
        choice = choosing.choose(crowd, partial(_found, threats, seen), here)
    ends = np.cumsum([len(one.numbered.item) for one in seen])
    kept = [
        save(_Kept(who=one.who, bits=np.packbits(keep), gone=choice.gone), job.scratch / "kept" / f"{i}.pickle")
        for i, (one, keep) in enumerate(zip(seen, np.split(choice.keep, ends[:-1]), strict=True))
    ]
    rare = pieces.rows - len(crowd.rows) - int(crowd.elsewhere.sum())
    told = {"visits that fewer than k people have": rare, **choice.facts}
    told["visits suppressed"] = int(told["visits suppressed"]) + rare
    return Decided(files=tuple(kept), facts=told)


def _joined(seen: Sequence[_Travelled]) -> Numbered:
    """Return what travelled, one piece after the other; nobody is in two of them, and people ascend."""
    pieces = [one.numbered for one in seen]
    return replace(
        pieces[0],
        offsets=offsets_of(np.concatenate([np.diff(piece.offsets) for piece in pieces])),
        item=np.concatenate([piece.item for piece in pieces]),
        owner=np.concatenate([piece.owner for piece in pieces]),
        value=np.concatenate([piece.value for piece in pieces]),
    )


def _count_all(counting: Counting, files: Sequence[Path], engine: Engine, *, listed: bool) -> Sequences:
    """Count the sequences of everybody, and find out where the violating ones are, if they are to be `listed`."""
    counted = count_sequences(counting, files, engine, listed=listed)
    if not listed:
        return Sequences(n_violating=counted.n_violating)
    threats = save_threats(counting, counted)
    located: list[tuple[Hits, int]] = engine.map(partial(_locate_piece, threats), files)
    return joined_sequences(threats, [hits for hits, _ in located], [n for _, n in located])


def _locate_piece(threats: Path, file: Path) -> tuple[Hits, int]:
    numbered: Numbered = load_value(file)
    return locate(threats, numbered), len(numbered.owner)


def _concerned(threats: Path, file: Path) -> _Travelled:
    """Return the people of a piece in whose records something is violating, with all their records."""
    whole: Numbered = load_value(file)
    hits = locate(threats, whole)
    by_owner = np.argsort(whole.owner, kind="stable")
    concerned = np.isin(whole.owner, whole.owner[by_owner[hits.record]])
    new = np.cumsum(concerned[by_owner]) - 1
    who = np.flatnonzero(concerned)
    offsets, rows = take(whole.offsets, who)
    everywhere, here = (np.bincount(item, minlength=whole.n_items) for item in (whole.item, whole.item[rows]))
    return _Travelled(
        numbered=replace(whole, offsets=offsets, item=whole.item[rows], owner=whole.owner[who], value=whole.value[who]),
        who=who,
        hits=Hits(threat=hits.threat, record=new[hits.record]),
        elsewhere=everywhere - here,
    )


def _found(threats: Path, seen: Sequence[_Travelled]) -> Sequences:
    hits = [one.hits for one in seen if one.hits is not None]
    return joined_sequences(threats, hits, [len(one.numbered.owner) for one in seen])


def kept_visits(file: Path, data: Visits, doublets: Path) -> BoolArray:
    """Return which visits of a piece may stay, by the file of `decide`."""
    kept: _Kept = load_value(file)
    item = _items(data, doublets)
    stays = ~np.isin(item, np.append(kept.gone, -1))
    travelled = item >= 0
    if kept.who is not None:
        whose = np.zeros(len(data), np.bool_)
        whose[kept.who] = True
        travelled &= whose[trajectory_of_row(data.offsets)]
    stays[travelled] = np.unpackbits(kept.bits, count=int(travelled.sum())).astype(np.bool_)
    return stays


def block_rows(job: Job) -> int:
    """Return about how many rows a task may hold."""
    return 2_000_000 if job.recipe.blocks is None else job.recipe.blocks.rows
