"""Who fits what an attacker knows: lists of trajectories per visit, intersected from the rarest on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import kernel

__all__ = ["COUNTS", "count_fitting", "doublet_codes", "inverted_lists", "match_sets"]

Ints = NDArray[np.int64]


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
        found, codes = np.unique(codes, return_inverse=True)
        n = len(found)
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
"""Numbers that `count_fitting` finds for a set."""


def match_sets(starts: Ints, slots: Ints, owner: Ints, value: Ints, n_values: int, sets: Ints) -> tuple[Ints, Ints]:
    """Return the first two columns of `count_fitting`: owners, and those who share the most frequent value."""
    found = count_fitting(starts, slots, owner, value, n_values, sets, np.zeros(len(sets), np.int64))
    return found[:, 0], found[:, 1]


def count_fitting(starts: Ints, slots: Ints, owner: Ints, value: Ints, n_values: int, sets: Ints, victim: Ints) -> Ints:
    """Return, per row of `sets` (doublets padded with -1), who has a trajectory that holds all of them, in six columns:

    the owners; those of them who share the most frequent value; the trajectories; those of them with the most frequent
    value; the trajectories of the owner ``victim[i]``; and those of the owner who has most.

    `owner` and `value` (one column per attribute, -1 for none of the `n_values` values) are per slot; `owner` never
    falls.  Fast where the rarest doublet comes first and rows that begin alike are neighbours, as what the rows share
    is matched once, and rows that are equal are counted once: O(shortest list x log of the others) per row; O(width x
    longest first list) memory.
    """
    n, width = sets.shape
    counts = np.zeros(COUNTS * n, np.int64)
    longest = int((starts[sets[:, 0] + 1] - starts[sets[:, 0]]).max(initial=0))
    found = np.empty(width * longest, np.int64)
    room = np.zeros(width + 3 * n_values, np.int64)
    shape = np.array([n, width, longest, value.shape[1], n_values], np.int64)
    _match(starts, slots, owner, value.ravel(), sets.ravel(), victim, shape, found, room, counts)
    return counts.reshape(n, COUNTS)


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
def _match(
    starts: Ints,
    slots: Ints,
    owner: Ints,
    value: Ints,
    sets: Ints,
    victim: Ints,
    shape: Ints,
    found: Ints,
    room: Ints,
    counts: Ints,
) -> None:
    """Write what `count_fitting` returns of set i to ``counts[6 * i:]``; `shape` is (sets, width, longest, attributes,
    values).

    `found` has `longest` places per level for what fits the first visits of a set; ``room[:width]`` says how many
    are held, and behind it are, per value, the last owner seen and the owners and trajectories counted.
    """
    n = shape[0]
    width = shape[1]
    longest = shape[2]
    for i in range(n):
        now = i * width
        before = (i - 1) * width
        level = 0
        while i > 0 and level < width and sets[now + level] >= 0 and sets[now + level] == sets[before + level]:
            level += 1
        # The same set again, for another victim: what fits it is still held, and counted.
        again = i > 0 and (level == width or (sets[now + level] < 0 and sets[before + level] < 0))
        while level < width and sets[now + level] >= 0:
            low = starts[sets[now + level]]
            high = starts[sets[now + level] + 1]
            if level == 0:
                for at in range(low, high):
                    found[at - low] = slots[at]
                room[0] = high - low
            else:
                room[level] = _common(found, (level - 1) * longest, room[level - 1], level * longest, slots, low, high)
            level += 1
        start = (level - 1) * longest
        held = room[level - 1]
        if again:
            for column in range(6):
                counts[6 * i + column] = counts[6 * (i - 1) + column]
        else:
            _count(found, start, held, owner, value, shape, room, counts, i)
        first = _first_of(found, start, held, owner, victim[i])
        counts[6 * i + 4] = 0
        while first < start + held and owner[found[first]] == victim[i]:
            counts[6 * i + 4] += 1
            first += 1


@kernel
def _first_of(found: Ints, start: int, held: int, owner: Ints, who: int) -> int:
    """Return the first place in ``found[start:start + held]`` whose owner is not before `who`.  O(log held)."""
    low = start
    high = start + held
    while low < high:
        middle = (low + high) >> 1
        if owner[found[middle]] < who:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _common(found: Ints, start: int, held: int, out: int, slots: Ints, low: int, high: int) -> int:
    """Write what ``found[start:start + held]`` and ``slots[low:high]``, both rising, share to ``found[out:]``; return
    how many."""
    kept = 0
    for i in range(start, start + held):
        slot = found[i]
        step = 1
        while low + step < high and slots[low + step] < slot:  # leap, as most of the longer list is skipped
            low += step
            step *= 2
        end = low + step
        if end > high:
            end = high
        while low < end:
            middle = (low + end) >> 1
            if slots[middle] < slot:
                low = middle + 1
            else:
                end = middle
        if low == high:
            break
        if slots[low] == slot:
            found[out + kept] = slot
            kept += 1
    return kept


@kernel
def _count(
    found: Ints, start: int, held: int, owner: Ints, value: Ints, shape: Ints, room: Ints, counts: Ints, i: int
) -> None:
    """Write what is counted of ``found[start:start + held]`` to ``counts[6 * i:]``, but for the victim's own."""
    width = shape[1]
    n_attributes = shape[3]
    n_values = shape[4]
    for v in range(n_values):
        room[width + 3 * v] = -1
        room[width + 3 * v + 1] = 0
        room[width + 3 * v + 2] = 0
    owners = 0
    best = 0
    best_trajectories = 0
    own = 0
    most = 0
    for j in range(start, start + held):
        who = owner[found[j]]
        own += 1
        if j == start or who != owner[found[j - 1]]:
            owners += 1
            own = 1
        if own > most:
            most = own
        for a in range(n_attributes):
            v = value[found[j] * n_attributes + a]
            if v < 0:
                continue
            at = width + 3 * v
            # The last place that was seen stands for its owner: codes of owners may be any number.
            if room[at] < 0 or owner[room[at]] != who:
                room[at] = found[j]
                room[at + 1] += 1
                if room[at + 1] > best:
                    best = room[at + 1]
            room[at + 2] += 1
            if room[at + 2] > best_trajectories:
                best_trajectories = room[at + 2]
    counts[6 * i] = owners
    counts[6 * i + 1] = best
    counts[6 * i + 2] = held
    counts[6 * i + 3] = best_trajectories
    counts[6 * i + 5] = most
