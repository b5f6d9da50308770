"""Who fits what an attacker knows: lists of trajectories per visit, intersected from the rarest on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["COUNTS", "VisitLists", "count_fitting", "doublet_codes", "inverted_lists", "match_sets"]

Ints = NDArray[np.int64]


class VisitLists(NamedTuple):
    """Trajectories in slots, those of one owner next to each other, and the slots that hold each doublet.

    The slots that hold doublet d are ``slots[starts[d]:starts[d + 1]]``, rising; slot s is of ``owner[s]``, which never
    falls, and ``value[s, a]`` is its value of attribute a: 0 to `n_values` - 1, or -1 for none of them.
    """

    starts: Ints
    slots: Ints
    owner: Ints
    value: Ints
    n_values: int


def doublet_codes(location: NDArray[Any], t: NDArray[Any]) -> tuple[Ints, int]:
    """Return (codes, n): codes in 0..n-1 that are equal exactly where location (>= 0) and t are equal.

    O(rows) where places x time span is of the order of the rows, else O(rows log rows); O(rows) memory.  Plain
    NumPy: nothing here is a loop.
    """
    if len(t) == 0:
        return np.zeros(0, np.int64), 0
    room = max(4 * len(t), 1 << 16)
    places = int(location.max()) + 1
    span = int(t.max()) - int(t.min()) + 1
    if places * span <= room:
        return location.astype(np.int64) * span + (t - t.min()), places * span
    moments, moment = np.unique(t, return_inverse=True)
    codes = location.astype(np.int64) * len(moments) + moment
    n = places * len(moments)
    if n > room:
        doublets, codes = np.unique(codes, return_inverse=True)
        n = len(doublets)
    return codes, n


def inverted_lists(offsets: Ints, doublet: Ints, order: Ints, n: int) -> tuple[Ints, Ints]:
    """Return (starts, slots): the places in `order` of the trajectories that hold doublet d, rising, are
    ``slots[starts[d]:starts[d + 1]]``.  O(rows + n) time and memory."""
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(doublet, minlength=n), out=starts[1:])
    slots = np.empty(len(doublet), np.int64)
    _fill_slots(offsets, doublet, order, starts[:-1].copy(), slots)
    return starts, slots


COUNTS = 6
"""Numbers that `count_fitting` finds for a set; the columns are these:"""

OWNERS, OWNERS_WITH, TRAJECTORIES, TRAJECTORIES_WITH, OF_VICTIM, OF_ONE_OWNER = range(COUNTS)


def match_sets(lists: VisitLists, sets: Ints) -> tuple[Ints, Ints]:
    """Return the first two columns of `count_fitting`: owners, and those who share the most frequent value."""
    counts = count_fitting(lists, sets, np.zeros(len(sets), np.int64))
    return counts[:, OWNERS], counts[:, OWNERS_WITH]


def count_fitting(lists: VisitLists, sets: Ints, victim: Ints) -> Ints:
    """Return, per row of `sets` (doublets padded with -1), who has a trajectory that holds all of them, in six columns:

    the owners; those of them who share the most frequent value; the trajectories; those of them with the most frequent
    value; the trajectories of the owner ``victim[i]``; and those of the owner who has most.

    Fast where the rarest doublet comes first and rows that begin alike are neighbours, as what the rows share is
    matched once, and rows that are equal are counted once: O(shortest list x log of the others) per row; O(width x
    longest first list) memory.
    """
    n, width = sets.shape
    counts = np.zeros((n, COUNTS), np.int64)
    starts = lists.starts
    longest = int((starts[sets[:, 0] + 1] - starts[sets[:, 0]]).max(initial=0))
    none = np.zeros((3, lists.n_values), np.int64)
    room = _Room(np.empty((width, longest), np.int64), np.zeros(width, np.int64), *none)
    _match(lists, sets, victim, room, counts)
    return counts


class _Room(NamedTuple):
    """Memory of a search: ``slots[l, :n_slots[l]]`` are the slots that hold the first l + 1 doublets of a set; and per
    value the last slot seen with it, the owners and the trajectories counted."""

    slots: Ints
    n_slots: Ints
    last: Ints
    owners: Ints
    trajectories: Ints


# The loops below are plain, on flat int64 arrays that the caller makes: each array function of NumPy inside a kernel
# costs up to a second when it is compiled, and the first attack on a new machine waits for that.


@kernel
def _fill_slots(offsets: Ints, doublet: Ints, order: Ints, ends: Ints, slots: Ints) -> None:
    """Append each slot to the lists of its doublets; ``ends[d]`` is where list d goes on.  O(rows)."""
    for slot in range(order.size):
        for row in range(offsets[order[slot]], offsets[order[slot] + 1]):
            slots[ends[doublet[row]]] = slot
            ends[doublet[row]] += 1


@kernel
def _match(lists: VisitLists, sets: Ints, victim: Ints, room: _Room, counts: Ints) -> None:
    """Write what `count_fitting` returns of set i to ``counts[i]``."""
    n, width = sets.shape
    owner = lists.owner
    # One set per round.  Level l of the room holds the slots that have the first l + 1 doublets of the set before.  The
    # levels that this set shares with it stay; each further one is what the level below has in common with the list of
    # one more doublet.  What the last level holds fits the set, and is counted.
    for i in range(n):
        level = 0
        while i > 0 and level < width and sets[i, level] >= 0 and sets[i, level] == sets[i - 1, level]:
            level += 1
        # The same set again, for another victim: what fits it is still held, and counted.
        again = i > 0 and (level == width or (sets[i, level] < 0 and sets[i - 1, level] < 0))
        while level < width and sets[i, level] >= 0:
            low = lists.starts[sets[i, level]]
            high = lists.starts[sets[i, level] + 1]
            if level == 0:
                for at in range(low, high):
                    room.slots[0, at - low] = lists.slots[at]
                room.n_slots[0] = high - low
            else:
                room.n_slots[level] = _common(room, level, lists.slots, low, high)
            level += 1
        last = level - 1
        if again:
            for column in range(COUNTS):
                counts[i, column] = counts[i - 1, column]
        else:
            _count(lists, room, last, counts, i)
        first = _first_of(room, last, owner, victim[i])
        counts[i, OF_VICTIM] = 0
        while first < room.n_slots[last] and owner[room.slots[last, first]] == victim[i]:
            counts[i, OF_VICTIM] += 1
            first += 1


@inner
def _first_of(room: _Room, level: int, owner: Ints, who: int) -> Any:
    """Return the first place in a level whose owner is not before `who`.  O(log held)."""
    low = np.int64(0)
    high = room.n_slots[level]
    while low < high:
        middle = (low + high) >> 1
        if owner[room.slots[level, middle]] < who:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _common(room: _Room, level: int, slots: Ints, low: Any, high: Any) -> Any:
    """Write what the level below and ``slots[low:high]``, both rising, share to a level; return how many."""
    n_common = np.int64(0)
    # Before each round everything before `low` is smaller than the slots still to come, so `low` never goes back; it
    # leaps in steps of 1, 2, 4, ..., as most of the longer list is skipped, then halves the last leap.
    for i in range(room.n_slots[level - 1]):
        slot = room.slots[level - 1, i]
        step = np.int64(1)
        while low + step < high and slots[low + step] < slot:
            low += step
            step *= 2
        end = min(low + step, high)
        while low < end:
            middle = (low + end) >> 1
            if slots[middle] < slot:
                low = middle + 1
            else:
                end = middle
        if low == high:
            break
        if slots[low] == slot:
            room.slots[level, n_common] = slot
            n_common += 1
    return n_common


@inner
def _count(lists: VisitLists, room: _Room, level: int, counts: Ints, i: int) -> None:
    """Write what is counted of the slots of a level to ``counts[i]``, but for the victim's own."""
    for v in range(lists.n_values):
        room.last[v] = -1
        room.owners[v] = 0
        room.trajectories[v] = 0
    owners = 0
    best = np.int64(0)
    best_trajectories = np.int64(0)
    own = 0
    most = 0
    for j in range(room.n_slots[level]):
        slot = room.slots[level, j]
        who = lists.owner[slot]
        own += 1
        if j == 0 or who != lists.owner[room.slots[level, j - 1]]:
            owners += 1
            own = 1
        most = max(most, own)
        for a in range(lists.value.shape[1]):
            v = lists.value[slot, a]
            if v < 0:
                continue
            # The last slot that was seen stands for its owner: codes of owners may be any number.
            if room.last[v] < 0 or lists.owner[room.last[v]] != who:
                room.last[v] = slot
                room.owners[v] += 1
                best = max(best, room.owners[v])
            room.trajectories[v] += 1
            best_trajectories = max(best_trajectories, room.trajectories[v])
    counts[i, OWNERS] = owners
    counts[i, OWNERS_WITH] = best
    counts[i, TRAJECTORIES] = room.n_slots[level]
    counts[i, TRAJECTORIES_WITH] = best_trajectories
    counts[i, OF_ONE_OWNER] = most
