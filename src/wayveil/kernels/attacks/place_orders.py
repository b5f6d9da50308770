"""Who was at the places that an attacker knows, in this order; and the orders of a person that fit the fewest people.

A visit is a key: record x 2^`shift` + position, with 2^`shift` above every position.  The keys of a place rise, so that
the next visit of a record to a place is found by leaps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.place_set_search import DEEPEST, Room, rarest_first
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Orders", "count_orders", "rarest_orders"]

Ints = NDArray[Any]


class Orders(NamedTuple):
    """Record i, of ``owner[i]``, visits ``place[offsets[i]:offsets[i + 1]]`` in this order; the keys of place p are
    ``key[starts[p]:starts[p + 1]]``."""

    offsets: Ints
    place: Ints
    owner: Ints
    starts: Ints
    key: Ints


@kernel
def count_orders(rows: Orders, shift: int, sets: Ints, size: int, victim: Ints, stack: Ints, counts: Ints) -> None:
    """Write who visits the `size` places of row i of `sets`, padded with -1 at the end, in this order, to
    ``counts[i]``: owners who have a record that does, records that do, and those of the owner ``victim[i]``.

    Rows that begin alike should be neighbours; `stack` has room for `size` times the longest list.
    """
    held = np.zeros(size + 1, np.int64)
    room = stack.size // max(1, size)
    for i in range(counts.shape[0]):
        now = i * size
        before = (i - 1) * size
        level = 0
        while i > 0 and level < size and sets[now + level] >= 0 and sets[now + level] == sets[before + level]:
            level += 1
        again = i > 0 and (level == size or (sets[now + level] < 0 and sets[before + level] < 0))
        while level < size and sets[now + level] >= 0:
            if level == 0:
                held[0] = _first(rows, shift, sets[now], stack)
            else:
                at = (level - 1) * room
                out = level * room
                held[level] = _next(rows, shift, sets[now + level], stack, at, held[level - 1], out)
            level += 1
        start = (level - 1) * room
        stop = (level - 1) * room + held[level - 1]
        last = np.int64(-1)
        if again:  # the same places for another victim
            counts[i, 0] = counts[i - 1, 0]
            counts[i, 1] = counts[i - 1, 1]
        else:
            for j in range(start, stop):
                who = rows.owner[stack[j] >> shift]
                counts[i, 0] += who != last
                last = who
            counts[i, 1] = stop - start
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
            counts[i, 2] += 1
            low += 1


@kernel
def rarest_orders(
    rows: Orders, known: Orders, shift: int, roots: Ints, m: int, budget: int, room: Room, best: Ints, cut: Ints
) -> None:
    """Lower ``best[person]`` to the fewest owners (at least 1) who visit places in an order in which a record of the
    person (the owner in `known`) visits them, over the orders of 2 to `m` places that begin with one of `roots`.

    As `rarest_sets`: who has a best of 1 is done, and a root is left after `budget` steps.
    """
    deep = np.zeros((6, DEEPEST + 2), np.int64)  # per level: start, held, victims' start, held, next, end
    for root in roots:
        n = _undone(known, shift, best, room.victims, 0, _first(known, shift, root, room.victims))
        held = _first(rows, shift, root, room.stack) if n > 0 and m > 1 else np.int64(0)
        if held == 0:
            continue
        deep[:, 1] = 0
        deep[1, 1] = held
        deep[3, 1] = n
        depth = 1
        spent = _try(rows, known, shift, deep, 1, m > 2, room, best)
        while depth > 0:
            if deep[4, depth] == deep[5, depth]:
                depth -= 1
                continue
            if spent > budget or depth == DEEPEST:
                for i in range(deep[2, depth], deep[2, depth] + deep[3, depth]):
                    cut[known.owner[room.victims[i] >> shift]] = 1
                depth -= 1
                continue
            place = room.ahead[deep[4, depth]]
            deep[4, depth] += 1
            start = deep[2, depth]
            out = deep[2, depth] + deep[3, depth]
            n = _next(known, shift, place, room.victims, start, deep[3, depth], out)
            n = _undone(known, shift, best, room.victims, out, n)
            if n == 0:
                continue
            start = deep[0, depth]
            held = deep[1, depth]
            kept = _next(rows, shift, place, room.stack, start, held, start + held)
            depth += 1
            deep[0, depth] = start + held
            deep[1, depth] = kept
            deep[2, depth] = out
            deep[3, depth] = n
            deep[4, depth] = deep[5, depth - 1]
            spent += _try(rows, known, shift, deep, depth, m > depth + 1, room, best)


@inner
def _try(
    rows: Orders, known: Orders, shift: int, deep: Ints, depth: int, more: bool, room: Room, best: Ints
) -> np.int64:
    """Count the owners of every order with one place more, lower `best`, and note the places to go on with; return the
    steps that it took."""
    seen = np.int64(0)
    steps = np.int64(0)
    end = deep[4, depth]
    for i in range(deep[0, depth], deep[0, depth] + deep[1, depth]):
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
    for i in range(deep[2, depth], deep[2, depth] + deep[3, depth]):
        victim = room.victims[i] >> shift
        at = room.victims[i] & ((1 << shift) - 1)
        person = known.owner[victim]
        first = known.offsets[victim] + at + 1
        stop = known.offsets[victim + 1]
        steps += stop - first
        for row in range(first, stop):
            found = room.owners[known.place[row]]
            if 0 < found < best[person]:
                best[person] = found
        if more and best[person] > 1:
            for row in range(first, stop - 1):  # nothing comes after the last visit
                place = known.place[row]
                if room.last[place] >= 0:
                    room.ahead[end] = place
                    end += 1
                    room.last[place] = -2  # once is enough
    deep[5, depth] = end
    rarest_first(room, deep[4, depth], end)
    for j in range(seen):
        room.last[room.seen[j]] = -1
        room.owners[room.seen[j]] = 0
    return steps


@inner
def _first(rows: Orders, shift: int, place: int, stack: Ints) -> np.int64:
    """Write the first visit of every record to a place to `stack`; return how many.  O(list)."""
    held = np.int64(0)
    last = np.int64(-1)
    for at in range(rows.starts[place], rows.starts[place + 1]):
        if rows.key[at] >> shift != last:
            last = rows.key[at] >> shift
            stack[held] = rows.key[at]
            held += 1
    return held


@inner
def _next(rows: Orders, shift: int, place: int, stack: Ints, start: int, held: int, out: int) -> np.int64:
    """Write the next visit to a place after each of ``stack[start:start + held]``, in the same record, to
    ``stack[out:]``; return how many there are."""
    at = rows.starts[place]
    stop = rows.starts[place + 1]
    kept = np.int64(0)
    for i in range(start, start + held):
        now = stack[i]
        step = np.int64(1)
        while at + step < stop and rows.key[at + step] <= now:  # leap, as most of a long list is skipped
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
        if rows.key[at] >> shift == now >> shift:
            stack[out + kept] = rows.key[at]
            kept += 1
    return kept


@inner
def _undone(known: Orders, shift: int, best: Ints, stack: Ints, start: int, held: int) -> np.int64:
    """Keep the visits of people whose best is above 1 in ``stack[start:]``; return how many."""
    kept = np.int64(0)
    for i in range(start, start + held):
        if best[known.owner[stack[i] >> shift]] > 1:
            stack[start + kept] = stack[i]
            kept += 1
    return kept
