"""The items of a person that fit the fewest people: a search over all sets at once, shared by all who have them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.place_sets import Items, Lists, Rows, in_proportion, keep_fitting, start_fitting, values_at
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["DEEPEST", "Known", "Room", "count_items", "rarest_first", "rarest_sets"]

Ints = NDArray[Any]

DEEPEST = 16
"""Items in a set, at most."""

_ROUNDING = 1e-9  # what is left out early must not depend on how numbers are rounded


class Known(NamedTuple):
    """Records of victims: ``item[offsets[i]:offsets[i + 1]]`` by rising turn, of `person`; sets of exactly ``size[i]``
    items count, or those of every size where it is 0.  The records with item y are ``record[starts[y]:starts[y + 1]]``.
    """

    offsets: Ints
    item: Ints
    person: Ints
    size: Ints
    starts: Ints
    record: Ints


class Room(NamedTuple):
    """Memory of a search: owners counted and the last one per item (0 and -1), items seen, those of a set to try next,
    records and victims per level, and the set itself with the values that a record has at its places."""

    owners: Ints
    last: Ints
    seen: Ints
    ahead: Ints
    stack: Ints
    victims: Ints
    path: Ints
    values: NDArray[Any]


@kernel
def count_items(rows: Rows, count: Ints, last: Ints) -> None:
    """Count the owners of whom a record fits each item, with `last` -1 to begin with.  O(rows x items fitted)."""
    for record in range(rows.offsets.size - 1):
        for row in range(rows.offsets[record], rows.offsets[record + 1]):
            for item in range(rows.low[row], rows.high[row]):
                if last[item] != rows.owner[record]:
                    last[item] = rows.owner[record]
                    count[item] += 1


@kernel
def rarest_sets(
    rows: Rows, lists: Lists, items: Items, known: Known, roots: Ints, m: int, tolerance: float, alone: bool,
    budget: int, room: Room, best: Ints, cut: Ints,
) -> None:  # fmt: skip
    """Lower ``best[person]`` to the fewest owners (at least 1) that fit a set of items that a record of theirs has and
    that costs at most `m`, over the sets of two items or more whose first one is in `roots`.

    A person with a best of 1 is done.  `alone` says that every record is of another owner: then a set that grows by n
    items loses at most n times what the rarest item takes away, which bounds what can still be found.  After `budget`
    steps a root is left, and ``cut[person]`` is 1 for those who were not done.  O(budget) and one pass over the records
    of its list for each root; memory as in `room`.
    """
    deep = np.zeros((7, DEEPEST + 2), np.int64)  # per level: start, held, victims' start, held, next, end, left
    for root in roots:
        n = np.int64(0)
        for i in range(known.starts[root], known.starts[root + 1]):
            if best[known.person[known.record[i]]] > 1:
                room.victims[n] = known.record[i]
                n += 1
        left = m - items.cost[root]
        held = start_fitting(lists, items.place[root], root, room.stack) if n > 0 and left > 0 else np.int64(0)
        if held == 0:
            continue
        room.path[0] = root
        deep[:, 1] = 0
        deep[1, 1] = held
        deep[3, 1] = n
        deep[6, 1] = left
        depth = 1
        spent = _try(rows, items, known, deep, 1, tolerance, alone, room, best)
        while depth > 0:
            if deep[4, depth] == deep[5, depth]:
                depth -= 1
                continue
            if spent > budget or depth == DEEPEST:
                for i in range(deep[2, depth], deep[2, depth] + deep[3, depth]):
                    cut[known.person[room.victims[i]]] = 1
                depth -= 1
                continue
            item = room.ahead[deep[4, depth]]
            deep[4, depth] += 1
            start = deep[2, depth]
            out = deep[2, depth] + deep[3, depth]
            n = np.int64(0)
            for i in range(start, out):
                victim = room.victims[i]
                if best[known.person[victim]] > 1 and _has(known, items, victim, item):
                    room.victims[out + n] = victim
                    n += 1
            if n == 0:
                continue
            start = deep[0, depth]
            held = deep[1, depth]
            kept = keep_fitting(lists, items.place[item], item, room.stack, start, held, start + held)
            left = deep[6, depth] - items.cost[item]
            room.path[depth] = item
            depth += 1
            deep[0, depth] = start + held
            deep[1, depth] = kept
            deep[2, depth] = out
            deep[3, depth] = n
            deep[4, depth] = deep[5, depth - 1]
            deep[6, depth] = left
            spent += _try(rows, items, known, deep, depth, tolerance, alone, room, best)


@inner
def _try(
    rows: Rows, items: Items, known: Known, deep: Ints, depth: int, tolerance: float, alone: bool, room: Room,
    best: Ints,
) -> np.int64:  # fmt: skip
    """Count the owners of every set with one item more, lower `best`, and note the items to go on with; return the
    steps that it took."""
    turn = items.turn[room.path[depth - 1]]
    seen = np.int64(0)
    steps = np.int64(0)
    owners = np.int64(0)
    before = np.int64(-1)
    least = (1.0 - _ROUNDING) * (1.0 - tolerance) / (1.0 + tolerance) if tolerance >= 0 else 0.0
    for i in range(deep[0, depth], deep[0, depth] + deep[1, depth]):
        record = room.stack[i]
        who = rows.owner[record]
        owners = owners + (who != before)
        before = who
        if tolerance >= 0:
            values_at(rows, items, record, room.path, 0, depth, room.values)
        for row in range(rows.offsets[record], rows.offsets[record + 1]):
            first = rows.low[row]
            most = np.inf
            if tolerance >= 0:
                # Proportions to the largest are off by at most the tolerance, so those to the first item are bounded.
                even = items.value[room.path[0]] * rows.value[row] / room.values[0]
                first = _from_value(items, first, rows.high[row], even * least)
                most = even / least if least > 0 else np.inf
                steps += 8  # about what this costs, in steps of the loop below
            for item in range(first, rows.high[row]):
                steps += 1
                if items.value[item] > most:
                    break
                if items.turn[item] <= turn or room.last[item] == who:
                    continue
                if tolerance >= 0:
                    room.path[depth] = item
                    room.values[depth] = rows.value[row]
                    if not in_proportion(items, room.path, 0, depth + 1, room.values, tolerance):
                        continue
                if room.last[item] < 0:
                    room.seen[seen] = item
                    seen += 1
                room.last[item] = who
                room.owners[item] += 1
    end = deep[4, depth]
    left = deep[6, depth]
    for i in range(deep[2, depth], deep[2, depth] + deep[3, depth]):
        victim = room.victims[i]
        person = known.person[victim]
        stop = known.offsets[victim + 1]
        later = _after(known, items, victim, turn)
        fewest = owners
        for at in range(later, stop):
            found = room.owners[known.item[at]]
            steps += 1
            fewest = min(fewest, found)
            counts = known.size[victim] == 0 or known.size[victim] == depth + 1
            if counts and 0 < found < best[person] and items.cost[known.item[at]] <= left:
                best[person] = found
        if best[person] > 1:
            for at in range(later, stop):
                item = known.item[at]
                more = left - items.cost[item]
                if more < 1 or at + 1 == stop or room.last[item] < -1:
                    continue
                found = room.owners[item]
                hopeless = alone and found - more * (owners - fewest) >= best[person]
                if not hopeless and (found > 0 or tolerance > 0):
                    room.ahead[end] = item
                    end += 1
                    room.last[item] = -2  # once is enough
    deep[5, depth] = end
    rarest_first(room, deep[4, depth], end)
    for j in range(deep[4, depth], end):
        room.last[room.ahead[j]] = -1
    for j in range(seen):
        room.last[room.seen[j]] = -1
        room.owners[room.seen[j]] = 0
    return steps


@inner
def rarest_first(room: Room, start: int, end: int) -> None:
    """Sort ``room.ahead[start:end]`` by the owners counted; a shell sort, as lists are short."""
    gap = (end - start) >> 1
    while gap > 0:
        for i in range(start + gap, end):
            item = room.ahead[i]
            j = i
            while j >= start + gap and room.owners[room.ahead[j - gap]] > room.owners[item]:
                room.ahead[j] = room.ahead[j - gap]
                j -= gap
            room.ahead[j] = item
        gap >>= 1


@inner
def _after(known: Known, items: Items, victim: int, turn: int) -> int:
    """Return the first item of a victim that comes after a turn."""
    a = known.offsets[victim]
    b = known.offsets[victim + 1]
    while a < b:
        middle = (a + b) >> 1
        if items.turn[known.item[middle]] <= turn:
            a = middle + 1
        else:
            b = middle
    return a


@inner
def _from_value(items: Items, a: int, b: int, value: float) -> int:
    """Return the first of the items a to b - 1, all of one place, with at least this value."""
    while a < b:
        middle = (a + b) >> 1
        if items.value[middle] < value:
            a = middle + 1
        else:
            b = middle
    return a


@inner
def _has(known: Known, items: Items, victim: int, item: int) -> bool:
    at = _after(known, items, victim, items.turn[item] - 1)
    return at < known.offsets[victim + 1] and known.item[at] == item
