"""How many people have a trip whose ends fit: all trips in a window, one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import kernel

__all__ = ["AttackedTrips", "KnownEnds", "fitting_owners"]

Ints = NDArray[Any]
Floats = NDArray[Any]


class AttackedTrips(NamedTuple):
    """Trip j, of ``owner[j]`` (numbers from 0), reaches from ``low[s, j]`` to ``high[s, j]`` in span s."""

    low: Floats
    high: Floats
    owner: Ints


class KnownEnds(NamedTuple):
    """Known trip i, of ``victim[i]``, is from ``start[s, i]`` to ``stop[s, i]`` in span s, and the middle of its disc d
    is ``at[2 * d, i], at[2 * d + 1, i]``.  Only the attacked trips ``first[i]:last[i]`` can fit it."""

    start: Floats
    stop: Floats
    at: Floats
    victim: Ints
    first: Ints
    last: Ints


def fitting_owners(
    trips: AttackedTrips, known: KnownEnds, discs: Ints, radius: float, n_owners: int
) -> tuple[Ints, Ints]:
    """Return per known trip how many owners have a trip that fits, and 1 if its victim is one of them.

    An attacked trip fits if it overlaps the known one in every span, and is within `radius` of the middle of every disc
    d, which is made of the spans ``discs[2 * d]`` and ``discs[2 * d + 1]``.  O(sum of last - first) time, O(owners)
    memory.
    """
    fitting = np.zeros(len(known.victim), np.int64)
    hit = np.zeros(len(known.victim), np.int64)
    _count_owners(trips, known, discs, float(radius), np.zeros(n_owners, np.int64), fitting, hit)
    return fitting, hit


@kernel
def _count_owners(
    trips: AttackedTrips, known: KnownEnds, discs: Ints, radius: float, seen: Ints, fitting: Ints, hit: Ints
) -> None:
    """Write what `fitting_owners` returns to `fitting` and `hit`; ``seen[o]`` is the last known trip of o, plus 1."""
    # Each known trip looks at all trips of its window, and asks what tells most first: the spans come in that order,
    # and discs, which are inside squares that are spans, come after them.
    for i in range(known.victim.size):
        for j in range(known.first[i], known.last[i]):
            fits = True
            for s in range(trips.low.shape[0]):
                if trips.low[s, j] > known.stop[s, i] or trips.high[s, j] < known.start[s, i]:
                    fits = False
                    break
            if not fits:
                continue
            who = trips.owner[j]
            if seen[who] == i + 1:  # counted already, for another trip; asked late, as this is far in memory
                continue
            for d in range(discs.size // 2):
                x = known.at[2 * d, i]
                y = known.at[2 * d + 1, i]
                on_x = discs[2 * d]
                on_y = discs[2 * d + 1]
                dx = max(trips.low[on_x, j] - x, x - trips.high[on_x, j], 0.0)
                dy = max(trips.low[on_y, j] - y, y - trips.high[on_y, j], 0.0)
                if dx * dx + dy * dy > radius * radius:
                    fits = False
                    break
            if fits:
                seen[who] = i + 1
                fitting[i] += 1
                if who == known.victim[i]:
                    hit[i] = 1
