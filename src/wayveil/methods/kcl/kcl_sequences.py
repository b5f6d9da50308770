"""Common and violating sequences of records in pieces: workers count, add up, judge and locate them.

Everybody is whole in one piece, so the owners of a sequence add up.  Sequences are counted length by length: every
piece is counted once, and all that begins with the same items is added up by one task.  What it finds common is known
to all tasks of the next length.  No task holds more than a piece, the sequences of a range, and what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.kcl.candidate_counts import (
    CLEAN,
    COMMON,
    THREAT,
    Counts,
    count_candidates,
    fill_table,
    judge_candidates,
    locate_threats,
)
from wayveil.kernels.kcl.projected_lists import Privacy, inverted
from wayveil.kernels.kcl.violating_sequences import Common, Violating
from wayveil.methods.kcl.kcl_solver import KclSolver
from wayveil.methods.kcl.kcl_strategies import EncodedVisits, Sequences
from wayveil.model import BlockStore, Engine
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of
from wayveil.model.lazy_module import lazy_module

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")

__all__ = ["Counted", "Counting", "Hits", "count_sequences", "joined_sequences", "locate", "save_threats"]

special = lazy_module("scipy.special")

_MOST_RANGES = 256
"""Every range is one more walk through the records of a piece."""

_MANY = 1e15
"""So many sequences that it does not matter how many more they are."""

Cells = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Counting:
    """What is counted: the sequences of `EncodedVisits` blocks in a store, as `solver` asks for, among so many people.

    About `occurrences` of sequences begin with the items of a range, so that a task can hold them.
    """

    solver: KclSolver
    people: int
    n_items: int
    n_values: int
    occurrences: int
    store: BlockStore


@dataclass(frozen=True, kw_only=True, eq=False)
class Level:
    """Common sequences of one length, one per row: items, owners, owners of each sensitive value, whether clean."""

    items: Cells
    support: Cells
    having: Cells
    clean: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """What all pieces have together; without violating sequences where only their number was wanted."""

    longest: int
    n_violating: int
    common: tuple[Level, ...]
    violating: tuple[Cells, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """Where violating sequences occur in a piece: threat ``threat[i]`` in record ``record[i]``."""

    threat: IntArray
    record: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Piece:
    """What the task of a piece tells: the longest record, and how many longer sequences can begin with each item."""

    longest: int
    ahead: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Added:
    """What the task of a range tells."""

    n_common: int
    n_violating: int
    common: Level
    violating: Cells


def count_sequences(counting: Counting, names: Sequence[str], engine: Engine, *, listed: bool) -> Counted:
    """Count the sequences of all pieces; violating ones are `listed`, or only their number is told."""
    solver = counting.solver
    common = list[Level]()
    violating = list[Cells]()
    n_common = 0
    n_violating = 0
    length = 1
    longest = 1
    ahead: FloatArray = np.ones(counting.n_items)
    # Level by level, as in Apriori: before each round all common sequences (at least k owners) shorter than `length`
    # are known everywhere. A round counts the candidates of this length, those all of whose parts are common; the
    # blocks count their own, by ranges of the first item so that a task stays small, and one task per range adds up. It
    # ends at L, at the longest record, or when no sequence of a length is common, as then no longer one is.
    while length <= longest:
        ranges = _ranges(ahead, counting.occurrences)
        folder = f"sequences/{length}"
        counting.store.save(tuple(common), f"{folder}/known")
        task = partial(_count_piece, counting.store, folder, length, ranges)
        pieces: list[_Piece] = engine.map(task, list(enumerate(names)))
        longest = solver.longest(max(piece.longest for piece in pieces))
        outputs = listed, listed or length < longest
        added: list[_Added] = engine.map(partial(_add_up, counting, folder, length, outputs), list(range(len(ranges))))
        counting.store.remove(folder)
        n_common += sum(one.n_common for one in added)
        n_violating += sum(one.n_violating for one in added)
        solver.refuse_too_many(n_common, solver.most_common(longest, counting.n_values))
        common.append(_joined([one.common for one in added]))
        violating.append(np.concatenate([one.violating for one in added]))
        if not len(common[-1].items):
            break
        # How many candidates of the next length can begin with each item decides how its ranges are cut.
        ahead = np.sum([piece.ahead for piece in pieces], axis=0)
        length += 1
    return Counted(longest=longest, n_violating=n_violating, common=tuple(common), violating=tuple(violating))


def _ranges(ahead: FloatArray, occurrences: int) -> list[tuple[int, int]]:
    """Cut the items into ranges with which about so many occurrences of sequences begin.

    Examples
    --------
    >>> _ranges(np.array([3.0, 1.0, 1.0, 3.0]), 4)
    [(0, 2), (2, 4)]
    """
    # Ranges of about equal work, not of equal width: a few popular items begin most of the sequences.
    total = float(ahead.sum())
    n = int(np.clip(np.ceil(total / occurrences), 1, _MOST_RANGES))
    ends = np.searchsorted(np.cumsum(ahead), total * np.arange(1, n) / n) + 1
    cuts = np.unique([0, *np.minimum(ends, len(ahead)).tolist(), len(ahead)]).tolist()
    return list(pairwise(cuts))


def _count_piece(
    store: BlockStore, folder: str, length: int, ranges: Sequence[tuple[int, int]], numbered: tuple[int, str]
) -> _Piece:
    """Count the candidates of one length in a piece, and write them range by range."""
    number, name = numbered
    piece: EncodedVisits = store.load(name)
    records, _ = piece.records()
    table, _ = _table(store.load(f"{folder}/known"))
    where = inverted(records)
    for part, (first, until) in enumerate(ranges):
        counts = count_candidates(records, where, table, length, first, until)
        n = len(counts.support)
        if n:
            columns = counts.items.reshape(n, length), counts.support[:, None], counts.having.reshape(n, piece.n_values)
            cells = np.hstack(columns, dtype=np.int32, casting="same_kind")
            store.save(cells, f"{folder}/{part}/{number:06d}")
    lengths = np.diff(records.offsets)
    # A visit with `left` visits behind it begins binomial(left, length) sequences of one item more.
    left = np.repeat(records.offsets[1:], lengths) - 1 - np.arange(len(records.items))
    ahead: FloatArray = np.bincount(
        records.items, np.minimum(special.comb(left, length), _MANY), minlength=piece.n_items
    ).astype(np.float64)
    return _Piece(longest=int(lengths.max(initial=1)), ahead=ahead)


def _add_up(counting: Counting, folder: str, length: int, outputs: tuple[bool, bool], part: int) -> _Added:
    """Add up what all pieces counted in a range, and judge it."""
    solver = counting.solver
    store = counting.store
    width = length + 1 + counting.n_values
    names = store.names(f"{folder}/{part}")
    cells: Cells = np.concatenate([np.empty((0, width), np.int32), *(store.load(name) for name in names)])
    # Nobody is in two pieces, so owners of a sequence in one and in another are different people, and counts add up.
    if len(names) > 1:
        columns = [str(i) for i in range(width)]
        frame = pl.from_numpy(cells, schema=columns)
        cells = frame.group_by(columns[:length], maintain_order=True).agg(pl.all().sum()).select(columns).to_numpy()
    table, clean = _table(store.load(f"{folder}/known"))
    items, support, having = (np.ascontiguousarray(some) for some in np.hsplit(cells, [length, length + 1]))
    counts = Counts(*(column.astype(np.int64).ravel() for column in (items, support, having)))
    privacy = Privacy(length, solver.params.k, solver.allowed(counting.people))
    verdict = judge_candidates(counts, length, table, clean, privacy)
    common = verdict & COMMON > 0
    threat = verdict & THREAT > 0
    list_threats, list_common = outputs
    shown = common if list_common else np.zeros_like(common)
    return _Added(
        n_common=int(common.sum()),
        n_violating=int(threat.sum()),
        common=Level(
            items=items[shown], support=support[shown, 0], having=having[shown], clean=(verdict & CLEAN > 0)[shown]
        ),
        violating=items[threat & list_threats],
    )


def _joined(levels: Sequence[Level]) -> Level:
    return Level(
        items=np.concatenate([level.items for level in levels]),
        support=np.concatenate([level.support for level in levels]),
        having=np.concatenate([level.having for level in levels]),
        clean=np.concatenate([level.clean for level in levels]),
    )


def _table(levels: Sequence[Level]) -> tuple[Any, IntArray]:
    """Return the table of common sequences that kernels look into, and which of them are clean."""
    clean = np.concatenate([np.zeros(0, bool), *(level.clean for level in levels)])
    return _filled([level.items for level in levels], max(1, len(levels))), clean.astype(np.int64)


def _filled(levels: Sequence[Cells], longest: int) -> Any:
    return fill_table(_laid_out(levels, longest).ravel(), longest)


def _laid_out(levels: Sequence[Cells], longest: int) -> IntArray:
    """Return sequences as tables have them: the length, then the items."""
    rows = np.zeros((sum(len(items) for items in levels), longest + 1), np.int64)
    begin = 0
    for items in levels:
        n, length = items.shape
        rows[begin : begin + n, 0] = length
        rows[begin : begin + n, 1 : 1 + length] = items
        begin += n
    return rows


def save_threats(counting: Counting, counted: Counted) -> str:
    """Keep the violating sequences in the order in which one search through everything finds them."""
    rows = _laid_out(counted.violating, counted.longest)
    value = rows[_search_order(rows)].ravel(), counted
    return counting.store.save(value, "sequences/threats")


def _search_order(rows: IntArray) -> IntArray:
    """Return the order of a depth-first search that takes items descending, and lists them before it goes deeper."""
    n = len(rows)
    longest = rows.shape[1] - 1
    length = rows[:, 0]
    item = -rows[:, 1:]
    before = np.int64(np.iinfo(np.int64).min)
    # The kernel that searches everything at once lists threats in the order of its recursion. Ties of the greedy choice
    # are broken by this order, so blocks must produce the same one: first item descending, then the path, and at equal
    # paths the shorter sequence first.
    inner = np.arange(longest)[None, 1:] < length[:, None] - 1
    path = np.where(inner, item[:, 1:], before)
    last = np.where(length > 1, item[np.arange(n), length - 1], before)
    order: IntArray = np.lexsort((last, *path.T[::-1], item[:, 0]))
    return order


def locate(threats: tuple[IntArray, Counted], numbered: EncodedVisits) -> Hits:
    """Return where the violating sequences occur, by record."""
    rows, counted = threats
    table, clean = _table(counted.common)
    records, _ = numbered.records()
    threat, record = locate_threats(records, table, clean, fill_table(rows, counted.longest), counted.longest)
    return Hits(threat=threat, record=record)


def joined_sequences(threats: tuple[IntArray, Counted], hits: Sequence[Hits], n_records: Sequence[int]) -> Sequences:
    """Return everything that was counted and located, with records numbered one piece after the other."""
    rows, counted = threats
    begin = offsets_of(np.array(n_records))
    threat = np.concatenate([one.threat for one in hits])
    record = np.concatenate([one.record + at for one, at in zip(hits, begin[:-1], strict=True)])
    order = np.lexsort((record, threat))
    n = len(rows) // (counted.longest + 1)
    violating = Violating(
        fill_table(rows, counted.longest), offsets_of(np.bincount(threat, minlength=n)), record[order]
    )
    level = [level.items for level in counted.common]
    having = np.concatenate([level.having for level in counted.common]).astype(np.int64)
    entry, value = np.nonzero(having)
    common = Common(
        _filled(level, counted.longest),
        np.concatenate([level.clean for level in counted.common]).astype(np.int64),
        np.concatenate([level.support for level in counted.common]).astype(np.int64),
        offsets_of(np.bincount(entry, minlength=len(having))),
        value,
        having[entry, value],
    )
    return Sequences(n_violating=counted.n_violating, violating=violating, common=common)
