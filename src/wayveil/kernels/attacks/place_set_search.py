"""The items of a person that fit the fewest people: a search over all sets at once, shared by all who have them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.place_sets import (
    Items,
    PlaceIndex,
    Rows,
    in_proportion,
    keep_fitting,
    start_fitting,
    values_at,
)
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["DEEPEST", "Fewest", "Known", "Levels", "Limits", "Room", "count_items", "rarest_first", "rarest_sets"]

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


class Limits(NamedTuple):
    """How far to search: sets of at most the cost `m`; `budget` steps below one root.  With a `tolerance` of 0 or more,
    values are known as proportions only.  `alone` says that every record is of another owner."""

    m: int
    budget: int
    tolerance: float
    alone: bool


class Fewest(NamedTuple):
    """What is found per person: how few owners fit (`best`; a person with 1 is done), and 1 in `cut` for those for whom
    the search was left early."""

    best: Ints
    cut: Ints


class Levels(NamedTuple):
    """The way from the root to the set that is being grown; entry d belongs to its first d items (entry 0 is not used).

    ``stack[records[d]:records[d] + n_records[d]]`` of the room are the records that fit, ``victims[victims[d]:...]``
    those of victims who have these items, ``ahead[next_item[d]:end_item[d]]`` the items to grow with; ``left[d]`` is
    what further items may cost.
    """

    records: Ints
    n_records: Ints
    victims: Ints
    n_victims: Ints
    next_item: Ints
    end_item: Ints
    left: Ints


class Room(NamedTuple):
    """Memory of a search.  Per item: `owners` counted, the `last` one (0 and -1 between steps), and the items `seen`.
    Below one another for all levels: items to try next (`ahead`), records that fit (`stack`), and `victims`.  And the
    set itself (`path`) with the `values` that a record has at its places."""

    owners: Ints
    last: Ints
    seen: Ints
    ahead: Ints
    stack: Ints
    victims: Ints
    path: Ints
    values: NDArray[Any]
    levels: Levels


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
def rarest_sets(index: PlaceIndex, known: Known, roots: Ints, limits: Limits, room: Room, fewest: Fewest) -> None:
    """Lower ``fewest.best[person]`` to the fewest owners (at least 1) that fit a set of items that a record of theirs
    has and that costs at most `limits.m`, over the sets of two items or more whose first one is in `roots`.

    O(budget) and one pass over the records of its list for each root; memory as in `room`.
    """
    lists = index.lists
    items = index.items
    levels = room.levels
    best = fewest.best
    # Depth first over all sets that a victim has, each reached once, as items are added by rising turn.  Before each
    # round `path` is a set of `depth` items, and the levels 1 to `depth` say for each of its beginnings which records
    # fit, which victims have it, and which items are still to be added.  A round adds one item, or goes back where none
    # is left.  All victims who have a set share its round; a victim who is unique is searched for no further.  It ends,
    # as every round takes an item from a list, and lists only grow with the depth, which is bounded.
    for root in roots:
        n = np.int64(0)
        for i in range(known.starts[root], known.starts[root + 1]):
            if best[known.person[known.record[i]]] > 1:
                room.victims[n] = known.record[i]
                n += 1
        left = limits.m - items.cost[root]
        n_held = start_fitting(lists, items.place[root], root, room.stack) if n > 0 and left > 0 else np.int64(0)
        if n_held == 0:
            continue
        room.path[0] = root
        depth = 1
        levels.records[depth] = 0
        levels.n_records[depth] = n_held
        levels.victims[depth] = 0
        levels.n_victims[depth] = n
        levels.next_item[depth] = 0
        levels.left[depth] = left
        spent = _try(index, known, depth, limits, room, best)
        while depth > 0:
            if levels.next_item[depth] == levels.end_item[depth]:
                depth -= 1
                continue
            if spent > limits.budget or depth == DEEPEST:
                for i in range(levels.victims[depth], levels.victims[depth] + levels.n_victims[depth]):
                    fewest.cut[known.person[room.victims[i]]] = 1
                depth -= 1
                continue
            item = room.ahead[levels.next_item[depth]]
            levels.next_item[depth] += 1
            start = levels.victims[depth]
            out = levels.victims[depth] + levels.n_victims[depth]
            n = np.int64(0)
            for i in range(start, out):
                victim = room.victims[i]
                if best[known.person[victim]] > 1 and _has(known, items, victim, item):
                    room.victims[out + n] = victim
                    n += 1
            if n == 0:
                continue
            start = levels.records[depth]
            n_held = levels.n_records[depth]
            n_kept = keep_fitting(lists, items.place[item], item, room.stack, start, n_held, start + n_held)
            room.path[depth] = item
            depth += 1
            levels.records[depth] = start + n_held
            levels.n_records[depth] = n_kept
            levels.victims[depth] = out
            levels.n_victims[depth] = n
            levels.next_item[depth] = levels.end_item[depth - 1]
            levels.left[depth] = levels.left[depth - 1] - items.cost[item]
            spent += _try(index, known, depth, limits, room, best)


@inner
def _try(index: PlaceIndex, known: Known, depth: int, limits: Limits, room: Room, best: Ints) -> np.int64:
    """Count the owners of every set with one item more, lower `best`, and note the items to go on with; return the
    steps that it took."""
    rows = index.rows
    items = index.items
    levels = room.levels
    tolerance = limits.tolerance
    turn = items.turn[room.path[depth - 1]]
    seen = np.int64(0)
    steps = np.int64(0)
    owners = np.int64(0)
    before = np.int64(-1)
    least = (1.0 - _ROUNDING) * (1.0 - tolerance) / (1.0 + tolerance) if tolerance >= 0 else 0.0
    # First pass, over the records that fit the set: count the owners that would still fit with each further item.
    for i in range(levels.records[depth], levels.records[depth] + levels.n_records[depth]):
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
    # Second pass, over the victims: each looks up the items that it has.  An item is worth going on with if it can
    # still lead to fewer owners than the victim's best.  If no owner has two records, a set that grows by n items loses
    # at most n times what the rarest item takes away (`owners - fewest`), which bounds what can still be found.
    end = levels.next_item[depth]
    left = levels.left[depth]
    for i in range(levels.victims[depth], levels.victims[depth] + levels.n_victims[depth]):
        victim = room.victims[i]
        person = known.person[victim]
        stop = known.offsets[victim + 1]
        later = _after(known, items, victim, turn)
        fewest = owners
        for at in range(later, stop):
            behind = room.owners[known.item[at]]
            steps += 1
            fewest = min(fewest, behind)
            counts = known.size[victim] == 0 or known.size[victim] == depth + 1
            if counts and 0 < behind < best[person] and items.cost[known.item[at]] <= left:
                best[person] = behind
        if best[person] > 1:
            for at in range(later, stop):
                item = known.item[at]
                more = left - items.cost[item]
                if more < 1 or at + 1 == stop or room.last[item] < -1:
                    continue
                behind = room.owners[item]
                hopeless = limits.alone and behind - more * (owners - fewest) >= best[person]
                if not hopeless and (behind > 0 or tolerance > 0):
                    room.ahead[end] = item
                    end += 1
                    room.last[item] = -2  # once is enough
    levels.end_item[depth] = end
    rarest_first(room, levels.next_item[depth], end)
    for j in range(levels.next_item[depth], end):
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
    """Return whether a record of a victim has an item."""
    at = _after(known, items, victim, items.turn[item] - 1)
    return at < known.offsets[victim + 1] and known.item[at] == item
