"""How many people fit what is known of places: for sets that are given, and for the worst sets of every person."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.places.place_records import Index
from wayveil.attacks.visits.knowledge import Fitting
from wayveil.kernels.attacks.place_orders import Orders, count_orders, rarest_orders
from wayveil.kernels.attacks.place_set_search import DEEPEST, Fewest, Known, Levels, Limits, Room, rarest_sets
from wayveil.kernels.attacks.place_sets import count_sets
from wayveil.model import Engine
from wayveil.model.data.ragged import offsets_of, trajectory_of_row

__all__ = [
    "NOBODY",
    "fewest_in_order",
    "fewest_owners",
    "fitting_in_order",
    "fitting_sets",
    "orders_of",
    "owners_in_order",
    "owners_of_sets",
]

Array = NDArray[Any]

NOBODY = 1 << 62
"""The number of people who fit where nothing fits: larger than every true one."""

_SETS_PER_TASK = 2048
_TASKS = 8
_ROUNDS = (1 / 16, 1 / 4, 1 / 2, 1.0)  # of the roots; who is done after a round is not searched for in the next
_STEPS = 1_000_000_000
_LEAST_STEPS = 100_000


def owners_of_sets(index: Index, sets: Array, engine: Engine) -> Array:
    """Return how many owners fit each row of items, padded with -1."""
    return fitting_sets(index, sets, np.full(len(sets), -1), engine).people


def fitting_sets(index: Index, sets: Array, victim: Array, engine: Engine) -> Fitting:
    """Return who fits each row of items, padded with -1; ``victim[i]`` is the owner of whom it is known, or -1."""
    if not sets.size:
        return _fitting(np.zeros((len(sets), 3), np.int64))
    turn = np.append(index.places.items.turn, len(index.places.items.turn))
    back = np.append(np.argsort(index.places.items.turn), -1)
    # The rarest item first.
    return _each_row(np.sort(turn[sets], axis=1), victim, back, partial(_count_sets, index), engine)


def owners_in_order(rows: Orders, sets: Array, engine: Engine) -> Array:
    """Return how many owners visit the places of each row, padded with -1 at the end, in this order."""
    return fitting_in_order(rows, sets, np.full(len(sets), -1), engine).people


def fitting_in_order(rows: Orders, sets: Array, victim: Array, engine: Engine) -> Fitting:
    """Return who visits the places of each row, padded with -1 at the end, in this order; see `fitting_sets`."""
    if not sets.size:
        return _fitting(np.zeros((len(sets), 3), np.int64))
    return _each_row(sets, victim, None, partial(_count_orders, rows), engine)


def fewest_owners(
    index: Index, offsets: Array, person: Array, people: int, m: int, *, exactly: bool, engine: Engine
) -> tuple[Array, Array]:
    """Return (best, cut) per person: how few owners, at least one, fit a set of items of one record that costs at most
    `m`, or NOBODY; and whether the search was cut short.

    Record i of the victims has the rows ``offsets[i]:offsets[i + 1]`` of the index and is of ``person[i]``.  With
    `exactly`, only sets of `m` items count (or of all items of a record, where there are fewer).
    """
    record = trajectory_of_row(offsets)
    size = np.minimum(np.diff(offsets), m) if exactly else np.zeros(len(person), np.int64)
    # An item that nobody published fits nobody, and sets with it are no answer; one that costs more than m can be in no
    # set.
    is_possible = (index.support[index.item] > 0) & (index.places.items.cost[index.item] <= m)
    record = record[is_possible]
    item = index.item[is_possible]
    # Items of a record from the rarest on: the first of a set decides how many can fit it.
    item = item[np.lexsort((index.places.items.turn[item], record))]
    best = np.full(people, NOBODY, np.int64)
    alone = size[record] <= 1
    # Sets of one item need no search.
    np.minimum.at(best, person[record][alone], index.support[item][alone])
    order = np.argsort(item, kind="stable")
    starts = offsets_of(np.bincount(item, minlength=len(index.support)))
    ends = offsets_of(np.bincount(record, minlength=len(person)))
    known = Known(ends, item, person.astype(np.int64), size, starts, record[order])
    roots = np.unique(item)
    roots = roots[np.argsort(index.places.items.turn[roots])]

    def search(roots: Array, best: Array, cut: Array, budget: int) -> None:
        place = index.places.items.place[roots]
        longest = (index.places.lists.starts[place + 1] - index.places.lists.starts[place]).max(initial=1)
        victims = (starts[roots + 1] - starts[roots]).max(initial=1)
        room = _room(len(index.support), int(longest), int(victims), m)
        limits = Limits(m, budget, index.tolerance, index.alone and index.tolerance < 0)
        rarest_sets(index.places, known, roots, limits, room, Fewest(best, cut))

    return _search(search, roots, best, m, engine)


def fewest_in_order(
    rows: Orders, known: Orders, people: int, m: int, *, support: Array, engine: Engine
) -> tuple[Array, Array]:
    """Return (best, cut) as `fewest_owners` does, for orders of at most `m` visits; `support` is per place, and the
    owners of `known` are the people."""
    best = np.full(people, NOBODY, np.int64)
    person = np.repeat(known.owner, np.diff(known.offsets))
    occurring = support[known.place] > 0
    np.minimum.at(best, person[occurring], support[known.place[occurring]])
    roots = np.unique(known.place[occurring])
    roots = roots[np.argsort(support[roots], kind="stable")]

    def search(roots: Array, best: Array, cut: Array, budget: int) -> None:
        longest_list, victims = ((side.starts[roots + 1] - side.starts[roots]).max(initial=1) for side in (rows, known))
        room = _room(len(support), int(longest_list), int(victims), m)
        rarest_orders(rows, known, roots, Limits(m, budget, -1.0, False), room, Fewest(best, cut))

    return _search(search, roots, best, m, engine)


def orders_of(offsets: Array, place: Array, owner: Array, n_places: int, shift: int) -> Orders:
    """Return records with their visits by place; 2^`shift` is above the number of visits of every record."""
    record = trajectory_of_row(offsets)
    key = (record << shift) + np.arange(len(place)) - offsets[record]
    starts = offsets_of(np.bincount(place, minlength=n_places))
    return Orders(offsets, place, owner, starts, key[np.argsort(place, kind="stable")], shift)


def _search(
    search: Callable[[Array, Array, Array, int], None], roots: Array, best: Array, m: int, engine: Engine
) -> tuple[Array, Array]:
    """Run a search from all roots, the rarest first; tasks do not depend on the number of workers."""
    cut = np.zeros(len(best), np.int64)
    if m < 2 or not len(roots):
        return best, cut > 0
    # The steps are shared among roots, and every root gets at least some.
    budget = max(_LEAST_STEPS, _STEPS // len(roots))

    def task(part: Array) -> tuple[Array, Array]:
        deepest = best.copy()
        left = np.zeros_like(cut)
        # a copy without gaps: another layout of memory would be another kernel to compile
        search(np.ascontiguousarray(part), deepest, left, budget)
        return deepest, left

    start = 0
    # Rarest roots first, in rounds: what the first round finds is a bound for the next, which then gives up most
    # branches at once. Inside a round tasks do not share their bounds, so that the result does not depend on how many
    # run at a time.
    for share in _ROUNDS:
        stop = int(np.ceil(share * len(roots)))
        parts = [part for i in range(_TASKS) if len(part := roots[start:stop][i::_TASKS])]
        for answer, left in engine.map(task, parts):
            best = np.minimum(best, answer)
            cut = np.maximum(cut, left)
        start = stop
    return best, (cut > 0) & (best > 1)


def _room(n: int, longest: int, victims: int, m: int) -> Room:
    levels = min(max(1, m - 1), DEEPEST)
    return Room(
        owners=np.zeros(n, np.int64),
        last=np.full(n, -1, np.int64),
        seen=np.empty(n, np.int64),
        ahead=np.empty(n * levels, np.int64),
        stack=np.empty(longest * levels, np.int64),
        victims=np.empty(victims * levels, np.int64),
        path=np.zeros(DEEPEST + 2, np.int64),
        values=np.zeros(DEEPEST + 2),
        levels=Levels(*np.zeros((len(Levels._fields), DEEPEST + 2), np.int64)),
    )


def _each_row(
    codes: Array,
    victim: Array,
    back: Array | None,
    count: Callable[[tuple[Array, Array]], Array],
    engine: Engine,
) -> Fitting:
    """Return who fits each row: equal rows are counted once for a victim, and those that begin alike side by side."""
    sorting = np.lexsort((victim, *codes.T[::-1]))
    codes = codes[sorting]
    # Sorted, equal rows are counted once, and rows that begin alike share what was merged.
    victim = victim[sorting]
    new = np.ones(len(codes), bool)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1) | (victim[1:] != victim[:-1])
    tried = codes[new] if back is None else back[codes[new]]
    whose = victim[new]
    cuts = [slice(i, i + _SETS_PER_TASK) for i in range(0, len(tried), _SETS_PER_TASK)]
    tasks = [(np.ascontiguousarray(tried[part]), np.ascontiguousarray(whose[part])) for part in cuts]
    done = np.concatenate([np.zeros((0, 3), np.int64), *engine.map(count, tasks)])
    counts = np.empty((len(codes), 3), np.int64)
    counts[sorting] = done[np.cumsum(new) - 1]
    return _fitting(counts)


def _fitting(counts: Array) -> Fitting:
    people, records, own = counts.T
    none = np.zeros_like(people)
    return Fitting(people=people, people_with=none, trajectories=records, trajectories_with=none, own=own, most=own)


def _count_sets(index: Index, task: tuple[Array, Array]) -> Array:
    sets, victim = task
    place = index.places.items.place[sets[:, 0]]
    longest = int((index.places.lists.starts[place + 1] - index.places.lists.starts[place]).max(initial=1))
    counts = np.zeros((len(sets), 3), np.int64)
    width = sets.shape[1]
    stack = np.empty(width * longest, np.int64)
    count_sets(index.places, sets.ravel(), width, index.tolerance, victim, stack, counts)
    return counts


def _count_orders(rows: Orders, task: tuple[Array, Array]) -> Array:
    sets, victim = task
    longest = int((rows.starts[sets[:, 0] + 1] - rows.starts[sets[:, 0]]).max(initial=1))
    counts = np.zeros((len(sets), 3), np.int64)
    size = sets.shape[1]
    count_orders(rows, sets.ravel(), size, victim, np.empty(size * longest, np.int64), counts)
    return counts
