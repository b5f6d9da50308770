"""What of one crowd in pieces must go: workers number and count, the driver chooses.

Doublets that fewer than k people have are violating sequences by themselves, whatever else is suppressed: the workers
count them, and they never travel.  The rest travels as numbers: all of it where visits are given back, because those of
anybody can be what others hide among; otherwise only that of people in whose records something is violating.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wayveil.methods.kcl.kcl_joined import NumberedPiece, join_records, split_by_piece
from wayveil.methods.kcl.kcl_sequences import (
    Counting,
    Hits,
    count_sequences,
    joined_sequences,
    locate,
    save_threats,
)
from wayveil.methods.kcl.kcl_solver import KclSolver
from wayveil.methods.kcl.kcl_strategies import EncodedVisits, Sequences
from wayveil.model import BlockStore, Engine, PlannedBlocks, Visits
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, offsets_of, take, trajectory_of_row
from wayveil.model.lazy_module import lazy_module

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")

__all__ = ["Plan", "kept_visits", "plan_visits"]

_DOUBLETS = "doublets"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What may stay: the name of a value per block, for `kept_visits`, and what to tell."""

    names: tuple[str, ...]
    facts: dict[str, int | float | str]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shipped:
    """What the driver sees of a block: trajectories `who` (None: all), and where threats are in them; in how many of
    the other trajectories each item is."""

    numbered: EncodedVisits
    who: IntArray | None = None
    hits: Hits | None = None
    elsewhere: IntArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kept:
    """Which visits of a block may stay: those that travelled, as bits; of the others, all but the items `gone`."""

    who: IntArray | None
    bits: NDArray[np.uint8]
    gone: IntArray


def plan_visits(solver: KclSolver, blocks: PlannedBlocks, engine: Engine, here: Engine) -> Plan:
    """Return what may stay of every block."""
    solver.check_pieces()
    solver.check_people(blocks.people)
    store = blocks.store
    if not _number_doublets(solver, blocks, engine):
        nothing = _Kept(who=None, bits=np.zeros(0, np.uint8), gone=np.zeros(0, np.int64))
        return Plan(names=(store.save(nothing, "kept/nothing"),) * len(blocks.names), facts={})
    pieces: list[NumberedPiece] = engine.map(partial(_as_numbers, solver, store), list(enumerate(blocks.names)))
    return _decide(solver, blocks, pieces, engine, here)


def _number_doublets(solver: KclSolver, blocks: PlannedBlocks, engine: Engine) -> int:
    """Keep the doublets that at least k people have, numbered in the order of time and name; return how many."""
    # A doublet that fewer than k people have is a violating sequence of length one and must go everywhere; that makes
    # no new one (Theorem 4.3). Dropping these first makes the numbered blocks small, and needs one sum over all blocks.
    counts = engine.map(partial(_count_doublets, blocks.store), list(blocks.names))
    total = pl.concat(counts).group_by("t", "location").agg(pl.col("people").sum())
    shared = total.filter(pl.col("people") >= solver.params.k).select("t", "location").sort("t", "location")
    blocks.store.save(shared.with_row_index("item").with_columns(pl.col("item").cast(pl.Int32)), _DOUBLETS)
    return shared.height


def _count_doublets(store: BlockStore, name: str) -> pl.DataFrame:
    """Return how many people have each doublet of a block; nobody is in two blocks, so these numbers add up."""
    data: Visits = store.load(name)
    frame = pl.DataFrame({"t": data.t, "place": data.location, "who": data.owner[trajectory_of_row(data.offsets)]})
    doublets = frame.unique().group_by("t", "place").agg(pl.len().alias("people"))
    return doublets.with_columns(_names(data).gather(doublets["place"]).alias("location")).drop("place")


def _names(data: Visits) -> pl.Series:
    return pl.Series("location", data.locations, dtype=pl.String)


def _items(data: Visits, table: pl.DataFrame) -> IntArray:
    """Return the number of the doublet of every visit, -1 where too few people have it."""
    code = pl.DataFrame({"location": _names(data), "place": np.arange(len(data.locations), dtype=np.int32)})
    known = table.join(code, on="location").select("t", "place", "item")
    visits = pl.DataFrame({"t": data.t, "place": data.location})
    numbers = visits.join(known, on=["t", "place"], how="left", maintain_order="left")["item"]
    items: IntArray = numbers.fill_null(-1).to_numpy()
    return items


def _as_numbers(solver: KclSolver, store: BlockStore, numbered: tuple[int, str]) -> NumberedPiece:
    """Keep a block without the doublets that too few people have, and without names."""
    number, name = numbered
    data: Visits = store.load(name)
    table: pl.DataFrame = store.load(_DOUBLETS)
    item = _items(data, table)
    is_shared = item >= 0
    value, n_values = solver.sensitive_codes(data)
    block = EncodedVisits(
        offsets=keep_rows(data.offsets, is_shared),
        item=item[is_shared].astype(np.int32),
        owner=data.owner,
        value=value.astype(np.int32),
        n_items=table.height,
        n_values=n_values,
    )
    name_in_store = store.save(block, f"numbered/{number}")
    return NumberedPiece(name=name_in_store, visits=len(block.item), trajectories=len(block.owner))


def _decide(
    solver: KclSolver, blocks: PlannedBlocks, pieces: Sequence[NumberedPiece], engine: Engine, here: Engine
) -> Plan:
    store = blocks.store
    names = [piece.name for piece in pieces]
    first: EncodedVisits = store.load(names[0])
    counting = Counting(
        solver=solver,
        people=blocks.people,
        n_items=first.n_items,
        n_values=first.n_values,
        occurrences=2 * blocks.block_rows,
        store=store,
    )
    # Three ways, by what the choice looks at. Restoring looks at the records of everybody: where they are many they are
    # held in few bytes, and given back from nothing. Or only people with a violating sequence travel, and of the others
    # one number per item is enough: how many records have it.
    staying: Iterable[tuple[IntArray | None, BoolArray]]
    if solver.builds_up(sum(piece.visits for piece in pieces)) and solver.params.preserve == "instances":
        instance = solver.instance_of(join_records(store, pieces), None, people=blocks.people, only_shared=True)
        choice = solver.choose(instance, partial(_count_all, counting, names, engine, listed=False), here)
        staying = ((None, stays) for stays in split_by_piece(store, pieces, choice.keep))
    elif solver.needs_everybody(blocks.trajectories, blocks.people):
        seen = [_Shipped(numbered=store.load(name)) for name in names]
        instance = solver.instance(_joined(seen), people=blocks.people)
        listed = not solver.builds_up(instance.n_visits)
        choice = solver.choose(instance, partial(_count_all, counting, names, engine, listed=listed), here)
        staying = _in_order_sent(seen, choice.keep)
    else:
        engine.progress("finding violating sequences")
        threats = save_threats(counting, count_sequences(counting, names, engine, listed=True))
        seen = engine.map(partial(_concerned, store, threats), names)
        elsewhere = np.sum([one.elsewhere for one in seen if one.elsewhere is not None], axis=0)
        instance = solver.instance(_joined(seen), people=blocks.people, elsewhere=elsewhere)
        choice = solver.choose(instance, partial(_found, store, threats, seen), here)
        staying = _in_order_sent(seen, choice.keep)
    plan_names = [
        store.save(_Kept(who=who, bits=np.packbits(stays), gone=choice.gone), f"kept/{i}")
        for i, (who, stays) in enumerate(staying)
    ]
    # What never was in the instance: visits to doublets that fewer than k people have.
    rare = blocks.rows - instance.n_visits - int(instance.elsewhere.sum())
    facts = {"visits that fewer than k people have": rare, **choice.facts}
    facts["visits suppressed"] = int(facts["visits suppressed"]) + rare
    return Plan(names=tuple(plan_names), facts=facts)


def _in_order_sent(seen: Sequence[_Shipped], keep: BoolArray) -> Iterator[tuple[IntArray | None, BoolArray]]:
    """Yield who travelled of each block, and which of their visits stay, in the order in which it sent them."""
    ends = np.cumsum([len(one.numbered.item) for one in seen])
    for one, stays in zip(seen, np.split(keep, ends[:-1]), strict=True):
        yield one.who, stays


def _joined(seen: Sequence[_Shipped]) -> EncodedVisits:
    """Return what travelled, one piece after the other; nobody is in two of them, and people ascend."""
    pieces = [one.numbered for one in seen]
    return replace(
        pieces[0],
        offsets=offsets_of(np.concatenate([np.diff(piece.offsets) for piece in pieces])),
        item=np.concatenate([piece.item for piece in pieces]),
        owner=np.concatenate([piece.owner for piece in pieces]),
        value=np.concatenate([piece.value for piece in pieces]),
    )


def _count_all(counting: Counting, names: Sequence[str], engine: Engine, *, listed: bool) -> Sequences:
    """Count the sequences of everybody, and find out where the violating ones are, if they are to be `listed`."""
    counted = count_sequences(counting, names, engine, listed=listed)
    if not listed:
        return Sequences(n_violating=counted.n_violating)
    threats = save_threats(counting, counted)
    located: list[tuple[Hits, int]] = engine.map(partial(_locate_piece, counting.store, threats), names)
    return joined_sequences(counting.store.load(threats), [hits for hits, _ in located], [n for _, n in located])


def _locate_piece(store: BlockStore, threats: str, name: str) -> tuple[Hits, int]:
    numbered: EncodedVisits = store.load(name)
    return locate(store.load(threats), numbered), len(numbered.owner)


def _concerned(store: BlockStore, threats: str, name: str) -> _Shipped:
    """Return the people of a block in whose records something is violating, with all their records."""
    whole: EncodedVisits = store.load(name)
    hits = locate(store.load(threats), whole)
    by_owner = np.argsort(whole.owner, kind="stable")
    # Kernels number records by owner; `by_owner` leads back. All records of a concerned person travel, because owners
    # are counted, not records.
    concerned = np.isin(whole.owner, whole.owner[by_owner[hits.record]])
    new = np.cumsum(concerned[by_owner]) - 1
    who = np.flatnonzero(concerned)
    offsets, rows = take(whole.offsets, who)
    everywhere, here = (np.bincount(item, minlength=whole.n_items) for item in (whole.item, whole.item[rows]))
    return _Shipped(
        numbered=replace(whole, offsets=offsets, item=whole.item[rows], owner=whole.owner[who], value=whole.value[who]),
        who=who,
        hits=Hits(threat=hits.threat, record=new[hits.record]),
        elsewhere=everywhere - here,
    )


def _found(store: BlockStore, threats: str, seen: Sequence[_Shipped]) -> Sequences:
    hits = [one.hits for one in seen if one.hits is not None]
    return joined_sequences(store.load(threats), hits, [len(one.numbered.owner) for one in seen])


def kept_visits(plan: Plan, data: Visits, number: int, store: BlockStore) -> BoolArray:
    """Return which visits of a block may stay."""
    block: _Kept = store.load(plan.names[number])
    item = _items(data, store.load(_DOUBLETS))
    # Who did not travel has no violating sequence: of theirs only rare doublets (-1) and items that were suppressed
    # everywhere go.
    stays = ~np.isin(item, np.append(block.gone, -1))
    travelled = item >= 0
    if block.who is not None:
        whose = np.zeros(len(data), np.bool_)
        whose[block.who] = True
        travelled &= whose[trajectory_of_row(data.offsets)]
    stays[travelled] = np.unpackbits(block.bits, count=int(travelled.sum())).astype(np.bool_)
    return stays
