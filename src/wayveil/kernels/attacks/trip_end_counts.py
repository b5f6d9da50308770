"""How many people have a trip whose ends fit: all trips in a window, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import kernel

__all__ = ["fitting_owners"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def fitting_owners(
    trips: tuple[Floats, Floats, Ints],
    known: tuple[Floats, Floats, Floats, Ints, Ints, Ints],
    discs: Ints,
    radius: float,
    n_owners: int,
) -> tuple[Ints, Ints]:
    """Return per known trip how many owners have a trip that fits, and 1 if its victim is one of them.

    `trips` are ``(low, high, owner)`` with one line of low and high per span, `known` are ``(start, stop, at, victim,
    first, last)``: attacked trip j fits known trip i in span s if ``low[s, j] <= stop[s, i]`` and ``high[s, j] >=
    start[s, i]``, and in disc d, which is made of the spans ``discs[2 * d]`` and ``discs[2 * d + 1]``, if it is within
    `radius` of ``at[2 * d, i], at[2 * d + 1, i]``.  Only trips ``first[i] <= j < last[i]`` are looked at.
    O(sum of last - first) time, O(owners) memory.
    """
    low, high, owner = trips
    start, stop, at, victim, first, last = known
    counts = np.zeros(2 * len(victim), np.int64)
    seen = np.zeros(n_owners, np.int64)
    flat: list[Any] = [part.ravel() for part in (low, high, start, stop, at)]
    shape = np.array([len(low), len(owner), len(victim), len(discs) // 2], np.int64)
    _fitting(*flat, owner, victim, first, last, discs, float(radius), shape, seen, counts)
    return counts[::2], counts[1::2]


@kernel
def _fitting(
    low: Floats,
    high: Floats,
    start: Floats,
    stop: Floats,
    at: Floats,
    owner: Ints,
    victim: Ints,
    first: Ints,
    last: Ints,
    discs: Ints,
    radius: float,
    shape: Ints,
    seen: Ints,
    counts: Ints,
) -> None:
    """Write (owners, hit) of known trip i to ``counts[2 * i:]``; `shape` is (spans, trips, known trips, discs)."""
    n_spans = shape[0]
    n = shape[1]
    m = shape[2]
    n_discs = shape[3]
    for i in range(m):
        for j in range(first[i], last[i]):
            fits = True
            for s in range(n_spans):
                if low[s * n + j] > stop[s * m + i] or high[s * n + j] < start[s * m + i]:
                    fits = False
                    break
            if not fits:
                continue
            who = owner[j]
            if seen[who] == i + 1:  # counted already, for another trip; asked late, as this is far in memory
                continue
            for d in range(n_discs):
                x = at[2 * d * m + i]
                y = at[(2 * d + 1) * m + i]
                on_x = discs[2 * d] * n + j
                on_y = discs[2 * d + 1] * n + j
                dx = max(low[on_x] - x, x - high[on_x], 0.0)
                dy = max(low[on_y] - y, y - high[on_y], 0.0)
                if dx * dx + dy * dy > radius * radius:
                    fits = False
                    break
            if fits:
                seen[who] = i + 1
                counts[2 * i] += 1
                if who == victim[i]:
                    counts[2 * i + 1] = 1
