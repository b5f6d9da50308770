"""Who fits what an attacker knows: lists of trajectories per visit, intersected from the rarest on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.jit import kernel

__all__ = ["doublet_codes", "inverted_lists", "match_sets"]

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
    codes, n = location.astype(np.int64) * len(moments) + moment, places * len(moments)
    if n > room:
        found, codes = np.unique(codes, return_inverse=True)
        n = len(found)
    return codes, n


@kernel
def inverted_lists(offsets: Ints, doublet: Ints, order: Ints, n: int) -> tuple[Ints, Ints]:
    """Return (starts, slots): the places in `order` of the trajectories that hold doublet d, rising, are
    ``slots[starts[d]:starts[d + 1]]``.  O(rows + n) time and memory."""
    starts = np.zeros(n + 1, np.int64)
    for row in range(doublet.size):
        starts[doublet[row] + 1] += 1
    for d in range(n):
        starts[d + 1] += starts[d]
    ends, slots = starts[:-1].copy(), np.empty(doublet.size, np.int64)
    for slot in range(order.size):
        for row in range(offsets[order[slot]], offsets[order[slot] + 1]):
            slots[ends[doublet[row]]] = slot
            ends[doublet[row]] += 1
    return starts, slots


@kernel
def match_sets(starts: Ints, slots: Ints, owner: Ints, value: Ints, n_values: int, sets: Ints) -> tuple[Ints, Ints]:
    """Return (owners, best) per row of `sets`, doublets padded with -1: how many owners have a trajectory that holds
    all of them, and how many of these owners share the most frequent value.

    `owner` and `value` (one column per attribute, -1 for none of the `n_values` values) are per slot; `owner` never
    falls.  Fast where the rarest doublet comes first and rows that begin alike are neighbours, as what the rows share
    is matched once: O(shortest list x log of the others) per row; O(width x longest first list) memory.
    """
    n, width = sets.shape
    owners, best = np.zeros(n, np.int64), np.zeros(n, np.int64)
    seen, count = np.empty(n_values, np.int64), np.empty(n_values, np.int64)
    longest = 0
    for i in range(n):
        longest = max(longest, starts[sets[i, 0] + 1] - starts[sets[i, 0]])
    found, held = np.empty((width, longest), np.int64), np.zeros(width, np.int64)
    for i in range(n):
        level = 0
        while i > 0 and level < width and sets[i, level] >= 0 and sets[i, level] == sets[i - 1, level]:
            level += 1
        while level < width and sets[i, level] >= 0:
            low, high = starts[sets[i, level]], starts[sets[i, level] + 1]
            if level == 0:
                held[0] = high - low
                found[0, : high - low] = slots[low:high]
            else:
                held[level] = _common(found[level - 1], held[level - 1], slots, low, high, found[level])
            level += 1
        owners[i], best[i] = _count(found[level - 1], held[level - 1], owner, value, seen, count)
    return owners, best


@kernel
def _common(found: Ints, held: int, slots: Ints, low: int, high: int, out: Ints) -> int:
    """Write what ``found[:held]`` and ``slots[low:high]``, both rising, share to `out`; return how many."""
    kept = 0
    for i in range(held):
        step = 1
        while low + step < high and slots[low + step] < found[i]:  # leap, as most of the longer list is skipped
            low += step
            step *= 2
        end = min(low + step, high)
        while low < end:
            middle = (low + end) // 2
            if slots[middle] < found[i]:
                low = middle + 1
            else:
                end = middle
        if low == high:
            break
        if slots[low] == found[i]:
            out[kept] = found[i]
            kept += 1
    return kept


@kernel
def _count(found: Ints, held: int, owner: Ints, value: Ints, seen: Ints, count: Ints) -> tuple[int, int]:
    """Return (owners, best) of ``found[:held]``; `seen` and `count` are room to work in."""
    seen[:] = -1
    count[:] = 0
    owners, last = 0, -1
    for i in range(held):
        who = owner[found[i]]
        if who != last:
            owners += 1
            last = who
        for a in range(value.shape[1]):
            v = value[found[i], a]
            if v >= 0 and seen[v] != who:
                seen[v] = who
                count[v] += 1
    best = 0
    for v in range(count.size):
        best = max(best, count[v])
    return owners, best
