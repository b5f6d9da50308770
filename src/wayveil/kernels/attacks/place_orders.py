"""Who was at the places that an attacker knows, in this order; and the orders of a person that fit the fewest people.

A visit is a key: record x 2^shift + position, with 2^shift above every position.  The keys of a place rise, so that the
next visit of a record to a place is found by leaps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.place_set_search import DEEPEST, Fewest, Limits, Room, rarest_first
from wayveil.kernels.attacks.place_sets import OF_VICTIM, OWNERS, RECORDS
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Orders", "count_orders", "rarest_orders"]

Ints = NDArray[Any]


class Orders(NamedTuple):
    """Record i, of ``owner[i]`` (never falling), visits ``place[offsets[i]:offsets[i + 1]]`` in this order; the keys of
    the visits to place p are ``key[starts[p]:starts[p + 1]]``, and `shift` is what makes them."""

    offsets: Ints
    place: Ints
    owner: Ints
    starts: Ints
    key: Ints
    shift: int


@kernel
def count_orders(rows: Orders, sets: Ints, size: int, victim: Ints, stack: Ints, counts: Ints) -> None:
    """Write who visits the `size` places of row i of `sets`, padded with -1 at the end, in this order, to
    ``counts[i]``: owners who have a record that does, records that do, and those of the owner ``victim[i]``.

    Rows that begin alike should be neighbours; `stack` has room for `size` times the longest list.
    """
    shift = rows.shift
    n_held = np.zeros(size + 1, np.int64)
    room = stack.size // max(1, size)
    # As `count_sets`: level l of `stack` holds, for each record that visits the first l + 1 places of the row before in
    # this order, the earliest visit at which it has done so.  The earliest is never wrong: what can follow a later one
    # can follow it, too.
    for i in range(counts.shape[0]):
        now = i * size
        before = (i - 1) * size
        level = 0
        while i > 0 and level < size and sets[now + level] >= 0 and sets[now + level] == sets[before + level]:
            level += 1
        again = i > 0 and (level == size or (sets[now + level] < 0 and sets[before + level] < 0))
        while level < size and sets[now + level] >= 0:
            if level == 0:
                n_held[0] = _first(rows, sets[now], stack)
            else:
                at = (level - 1) * room
                out = level * room
                n_held[level] = _next(rows, sets[now + level], stack, at, n_held[level - 1], out)
            level += 1
        start = (level - 1) * room
        stop = (level - 1) * room + n_held[level - 1]
        last = np.int64(-1)
        if again:  # the same places for another victim
            counts[i, OWNERS] = counts[i - 1, OWNERS]
            counts[i, RECORDS] = counts[i - 1, RECORDS]
        else:
            for j in range(start, stop):
                who = rows.owner[stack[j] >> shift]
                counts[i, OWNERS] += who != last
                last = who
            counts[i, RECORDS] = stop - start
        # Records rise and their owners never fall, so those of the victim are neighbours.
        low = start
        high = stop
        while low < high:
            middle = (low + high) >> 1
            if rows.owner[stack[middle] >> shift] < victim[i]:
                low = middle + 1
            else:
                high = middle
        while low < stop and rows.owner[stack[low] >> shift] == victim[i]:
            counts[i, OF_VICTIM] += 1
            low += 1


@kernel
def rarest_orders(rows: Orders, known: Orders, roots: Ints, limits: Limits, room: Room, fewest: Fewest) -> None:
    """Lower ``fewest.best[person]`` to the fewest owners (at least 1) who visit places in an order in which a record of
    the person (the owner in `known`) visits them, over the orders of 2 to `limits.m` places that begin with a root.

    As `rarest_sets`: who has a best of 1 is done, and a root is left after `limits.budget` steps.
    """
    shift = rows.shift
    m = limits.m
    levels = room.levels
    best = fewest.best
    # Depth first, as in `rarest_sets`: before each round the levels 1 to `depth` hold, for the beginnings of one order
    # of places, the earliest visits at which records have made them, those of the attacked and those of the victims.
    for root in roots:
        n = _undone(known, best, room.victims, 0, _first(known, root, room.victims))
        n_held = _first(rows, root, room.stack) if n > 0 and m > 1 else np.int64(0)
        if n_held == 0:
            continue
        depth = 1
        levels.records[depth] = 0
        levels.n_records[depth] = n_held
        levels.victims[depth] = 0
        levels.n_victims[depth] = n
        levels.next_item[depth] = 0
        spent = _try(rows, known, depth, m > 2, room, best)
        while depth > 0:
            if levels.next_item[depth] == levels.end_item[depth]:
                depth -= 1
                continue
            if spent > limits.budget or depth == DEEPEST:
                for i in range(levels.victims[depth], levels.victims[depth] + levels.n_victims[depth]):
                    fewest.cut[known.owner[room.victims[i] >> shift]] = 1
                depth -= 1
                continue
            place = room.ahead[levels.next_item[depth]]
            levels.next_item[depth] += 1
            start = levels.victims[depth]
            out = levels.victims[depth] + levels.n_victims[depth]
            n = _next(known, place, room.victims, start, levels.n_victims[depth], out)
            n = _undone(known, best, room.victims, out, n)
            if n == 0:
                continue
            start = levels.records[depth]
            n_held = levels.n_records[depth]
            n_kept = _next(rows, place, room.stack, start, n_held, start + n_held)
            depth += 1
            levels.records[depth] = start + n_held
            levels.n_records[depth] = n_kept
            levels.victims[depth] = out
            levels.n_victims[depth] = n
            levels.next_item[depth] = levels.end_item[depth - 1]
            spent += _try(rows, known, depth, m > depth + 1, room, best)


@inner
def _try(rows: Orders, known: Orders, depth: int, more: bool, room: Room, best: Ints) -> np.int64:
    """Count the owners of every order with one place more, lower `best`, and note the places to go on with; return the
    steps that it took."""
    shift = rows.shift
    levels = room.levels
    seen = np.int64(0)
    steps = np.int64(0)
    end = levels.next_item[depth]
    # First the records that made the order: each place that they visit later is one more way for their owner to fit.
    for i in range(levels.records[depth], levels.records[depth] + levels.n_records[depth]):
        record = room.stack[i] >> shift
        at = room.stack[i] & ((1 << shift) - 1)
        who = rows.owner[record]
        for row in range(rows.offsets[record] + at + 1, rows.offsets[record + 1]):
            place = rows.place[row]
            steps += 1
            if room.last[place] != who:
                if room.last[place] < 0:
                    room.seen[seen] = place
                    seen += 1
                room.last[place] = who
                room.owners[place] += 1
    # Then the victims: each looks up the places that it visits later.
    for i in range(levels.victims[depth], levels.victims[depth] + levels.n_victims[depth]):
        victim = room.victims[i] >> shift
        at = room.victims[i] & ((1 << shift) - 1)
        person = known.owner[victim]
        first = known.offsets[victim] + at + 1
        stop = known.offsets[victim + 1]
        steps += stop - first
        for row in range(first, stop):
            owners = room.owners[known.place[row]]
            if 0 < owners < best[person]:
                best[person] = owners
        if more and best[person] > 1:
            for row in range(first, stop - 1):  # nothing comes after the last visit
                place = known.place[row]
                if room.last[place] >= 0:
                    room.ahead[end] = place
                    end += 1
                    room.last[place] = -2  # once is enough
    levels.end_item[depth] = end
    rarest_first(room, levels.next_item[depth], end)
    for j in range(seen):
        room.last[room.seen[j]] = -1
        room.owners[room.seen[j]] = 0
    return steps


@inner
def _first(rows: Orders, place: int, stack: Ints) -> np.int64:
    """Write the first visit of every record to a place to `stack`; return how many.  O(list)."""
    n_held = np.int64(0)
    last = np.int64(-1)
    for at in range(rows.starts[place], rows.starts[place + 1]):
        if rows.key[at] >> rows.shift != last:
            last = rows.key[at] >> rows.shift
            stack[n_held] = rows.key[at]
            n_held += 1
    return n_held


@inner
def _next(rows: Orders, place: int, stack: Ints, start: int, n_held: int, out: int) -> np.int64:
    """Write the next visit to a place after each of ``stack[start:start + held]``, in the same record, to
    ``stack[out:]``; return how many there are."""
    at = rows.starts[place]
    stop = rows.starts[place + 1]
    n_kept = np.int64(0)
    # Both sides rise, so `at` never goes back: a galloping search, as in `keep_fitting`.
    for i in range(start, start + n_held):
        now = stack[i]
        step = np.int64(1)
        while at + step < stop and rows.key[at + step] <= now:
            at += step
            step *= 2
        end = min(at + step, stop)
        while at < end:
            middle = (at + end) >> 1
            if rows.key[middle] <= now:
                at = middle + 1
            else:
                end = middle
        if at == stop:
            break
        if rows.key[at] >> rows.shift == now >> rows.shift:
            stack[out + n_kept] = rows.key[at]
            n_kept += 1
    return n_kept


@inner
def _undone(known: Orders, best: Ints, stack: Ints, start: int, n_held: int) -> np.int64:
    """Keep the visits of people whose best is above 1 in ``stack[start:]``; return how many."""
    n_kept = np.int64(0)
    for i in range(start, start + n_held):
        if best[known.owner[stack[i] >> known.shift]] > 1:
            stack[start + n_kept] = stack[i]
            n_kept += 1
    return n_kept
