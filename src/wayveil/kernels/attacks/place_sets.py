"""Who was at all of the places that an attacker knows: lists of records per place, intersected from the rarest on.

An item is a place with a value (how often, how likely, how far up in a ranking).  A record has one row per place, and
fits the items ``low[row]`` to ``high[row] - 1`` of that place; items of a place are neighbours, by rising value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel

__all__ = [
    "OF_VICTIM",
    "OWNERS",
    "RECORDS",
    "Items",
    "Lists",
    "PlaceIndex",
    "Rows",
    "count_sets",
    "fitting_items",
    "in_proportion",
    "keep_fitting",
    "start_fitting",
    "values_at",
]

Ints = NDArray[Any]
Floats = NDArray[Any]


class Rows(NamedTuple):
    """Record i has the rows ``offsets[i]:offsets[i + 1]``, by rising place; owners never fall."""

    offsets: Ints
    place: Ints
    value: Floats
    low: Ints
    high: Ints
    owner: Ints


class Lists(NamedTuple):
    """The same by place: ``record[starts[p]:starts[p + 1]]`` rises, with what each record fits."""

    starts: Ints
    record: Ints
    low: Ints
    high: Ints


class Items(NamedTuple):
    """Place and value of each item, the number of visits that it takes to know it, and its turn, the rarest first."""

    place: Ints
    value: Floats
    cost: Ints
    turn: Ints


class PlaceIndex(NamedTuple):
    """What is attacked, by record and by place, and the items that may be known of it."""

    rows: Rows
    lists: Lists
    items: Items


@kernel
def fitting_items(place: Ints, least: Floats, most: Floats, first: Ints, value: Floats, low: Ints, high: Ints) -> None:
    """Write the items of ``place[i]`` with a value from ``least[i]`` to ``most[i]`` as ``low[i]:high[i]``; items of
    place p are ``value[first[p]:first[p + 1]]``.  O(rows x log items of a place)."""
    for i in range(place.size):
        a = first[place[i]]
        b = first[place[i] + 1]
        end = b
        while a < b:
            middle = (a + b) >> 1
            if value[middle] < least[i]:
                a = middle + 1
            else:
                b = middle
        low[i] = a
        b = end
        while a < b:
            middle = (a + b) >> 1
            if value[middle] <= most[i]:
                a = middle + 1
            else:
                b = middle
        high[i] = a


OWNERS = 0
RECORDS = 1
OF_VICTIM = 2
"""Columns of what `count_sets` and `count_orders` find."""


@kernel
def count_sets(
    index: PlaceIndex, sets: Ints, width: int, tolerance: float, victim: Ints, stack: Ints, counts: Ints
) -> None:
    """Write who fits set i of `width` items, padded with -1 at the end, to ``counts[i]``: owners who have a record that
    fits, records that fit, and those of them that are of the owner ``victim[i]``.

    With a `tolerance` of 0 or more, values are known as proportions only.  Fast where the rarest item comes first and
    sets that begin alike are neighbours, and equal sets are counted once; `stack` has room for `width` times the
    longest list.
    """
    rows = index.rows
    lists = index.lists
    items = index.items
    n_held = np.zeros(width + 1, np.int64)
    values = np.empty(width)
    room = stack.size // max(1, width)
    # One set per round.  Level l of `stack`, its entries from l * room on, holds the ``n_held[l]`` records that fit the
    # first l + 1 items of the set before; so the levels that this set shares with it need not be made again, and a new
    # level is what the one below has in common with the list of one more item.
    for i in range(counts.shape[0]):
        now = i * width
        before = (i - 1) * width
        level = 0
        while i > 0 and level < width and sets[now + level] >= 0 and sets[now + level] == sets[before + level]:
            level += 1
        again = i > 0 and (level == width or (sets[now + level] < 0 and sets[before + level] < 0))
        while level < width and sets[now + level] >= 0:
            item = sets[now + level]
            if level == 0:
                n_held[0] = start_fitting(lists, items.place[item], item, stack)
            else:
                at = (level - 1) * room
                out = level * room
                n_held[level] = keep_fitting(lists, items.place[item], item, stack, at, n_held[level - 1], out)
            level += 1
        start = (level - 1) * room
        stop = (level - 1) * room + n_held[level - 1]
        last = np.int64(-1)
        if again:  # the same set for another victim
            counts[i, OWNERS] = counts[i - 1, OWNERS]
            counts[i, RECORDS] = counts[i - 1, RECORDS]
        else:
            for j in range(start, stop):
                if tolerance >= 0:
                    values_at(rows, items, stack[j], sets, now, level, values)
                    if not in_proportion(items, sets, now, level, values, tolerance):
                        continue
                counts[i, OWNERS] += rows.owner[stack[j]] != last
                counts[i, RECORDS] += 1
                last = rows.owner[stack[j]]
        # Records rise and their owners never fall, so those of the victim are neighbours.
        low = start
        high = stop
        while low < high:
            middle = (low + high) >> 1
            if rows.owner[stack[middle]] < victim[i]:
                low = middle + 1
            else:
                high = middle
        while low < stop and rows.owner[stack[low]] == victim[i]:
            if tolerance >= 0:
                values_at(rows, items, stack[low], sets, now, level, values)
            if tolerance < 0 or in_proportion(items, sets, now, level, values, tolerance):
                counts[i, OF_VICTIM] += 1
            low += 1


@inner
def start_fitting(lists: Lists, place: int, item: int, stack: Ints) -> np.int64:
    """Write the records that fit an item to `stack`; return how many.  O(list)."""
    n_held = np.int64(0)
    for at in range(lists.starts[place], lists.starts[place + 1]):
        if lists.low[at] <= item < lists.high[at]:
            stack[n_held] = lists.record[at]
            n_held += 1
    return n_held


@inner
def keep_fitting(lists: Lists, place: int, item: int, stack: Ints, start: int, n_held: int, out: int) -> np.int64:
    """Write the records of ``stack[start:start + held]`` that fit an item to ``stack[out:]``; return how many."""
    at = lists.starts[place]
    stop = lists.starts[place + 1]
    n_kept = np.int64(0)
    # Both sides rise.  Before each round everything of the list before `at` is smaller than the records still to come,
    # so `at` never goes back; it leaps in steps of 1, 2, 4, ..., then halves the last leap (a galloping search).
    for i in range(start, start + n_held):
        record = stack[i]
        step = np.int64(1)
        while at + step < stop and lists.record[at + step] < record:
            at += step
            step *= 2
        end = min(at + step, stop)
        while at < end:
            middle = (at + end) >> 1
            if lists.record[middle] < record:
                at = middle + 1
            else:
                end = middle
        if at == stop:
            break
        if lists.record[at] == record and lists.low[at] <= item < lists.high[at]:
            stack[out + n_kept] = record
            n_kept += 1
    return n_kept


@inner
def values_at(rows: Rows, items: Items, record: int, sets: Ints, start: int, size: int, values: Floats) -> None:
    """Write the values that a record has at the places of ``sets[start:start + size]``.  O(size x log rows)."""
    for j in range(size):
        a = rows.offsets[record]
        b = rows.offsets[record + 1]
        while a < b:
            middle = (a + b) >> 1
            if rows.place[middle] < items.place[sets[start + j]]:
                a = middle + 1
            else:
                b = middle
        values[j] = rows.value[a]


@inner
def in_proportion(items: Items, sets: Ints, start: int, size: int, values: Floats, tolerance: float) -> bool:
    """Return whether `values` are in the same proportion to their largest as those of a set, up to `tolerance`."""
    most_known = 0.0
    most_found = 0.0
    for j in range(size):
        most_known = max(most_known, items.value[sets[start + j]])
        most_found = max(most_found, values[j])
    for j in range(size):
        known = items.value[sets[start + j]] / most_known
        ratio = values[j] / most_found
        if known < ratio - ratio * tolerance or known > ratio + ratio * tolerance:
            return False
    return True
