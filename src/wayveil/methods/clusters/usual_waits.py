"""How long one has to wait until enough people were on the way, and who is on the way at a time."""

from __future__ import annotations

import numpy as np

from wayveil.model import Points
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["people_at_once", "usual_step", "wait_for_people"]

_ASKED = 500
"""Trips whose waits are measured."""


def wait_for_people(data: Points, people: int) -> float:
    """Return how many times the length of a usual trip one waits until `people` were on the way; 0 if they are.

    The wait of a trip is the shortest time between its middle and the middles of trips of `people` - 1 others, beyond
    half of the time that both last.  Both the usual wait and the usual trip are medians, rounded to one digit: one
    trip more changes them little or not at all.

    At most 500 trips are asked, evenly along time, and others are looked at outwards from each.

    Examples
    --------
    >>> hour = [[(t, 0.0, 0.0), (t + 60, 1.0, 0.0)] for t in (0, 10, 20)]
    >>> wait_for_people(Points.from_records(hour), 3)
    0.0
    >>> weeks = [[(t * 600, 0.0, 0.0), (t * 600 + 60, 1.0, 0.0)] for t in range(5)]
    >>> wait_for_people(Points.from_records(weeks), 2)
    9.0
    """
    nonempty = np.flatnonzero(np.diff(data.offsets) > 0)
    first = data.t[data.offsets[nonempty]]
    last = data.t[data.offsets[nonempty + 1] - 1]
    lasts = np.median(last - first) if len(nonempty) else 0
    if lasts <= 0:
        return 0.0
    middle = first + (last - first) // 2
    order = np.argsort(middle, kind="stable")
    waits = _waits(middle[order], (last - first)[order], data.owner[nonempty][order], people - 1)
    return float(f"{float(np.median(waits)) / float(lasts):.1g}")


def _waits(middle: IntArray, lasts: IntArray, owner: IntArray, others: int) -> IntArray:
    """Return the waits of some trips, given in the order of their middles, for so many other people."""
    n = len(middle)
    sampled = np.unique(np.linspace(0, n - 1, min(n, _ASKED)).astype(np.int64))
    waits = np.empty(len(sampled), np.int64)
    # Outwards from trip i: before each round the trips from `low` + 1 to `high` - 1 were looked at, the nearest middle
    # comes next.  It ends when enough other people were met, or everybody was.
    for number, i in enumerate(sampled.tolist()):
        met: set[int] = set()
        low = i - 1
        high = i + 1
        wait = 0
        while len(met) < others and (low >= 0 or high < n):
            before = low >= 0 and (high == n or middle[i] - middle[low] <= middle[high] - middle[i])
            j = low if before else high
            low -= before
            high += not before
            if owner[j] != owner[i] and int(owner[j]) not in met:
                met.add(int(owner[j]))
                apart = abs(int(middle[j]) - int(middle[i])) - (int(lasts[i]) + int(lasts[j])) // 2
                wait = max(wait, apart)
        waits[number] = wait
    return waits


def people_at_once(data: Points) -> int:
    """Return the largest number of people who are on the way at one time.

    Examples
    --------
    >>> people_at_once(Points.from_records([[(0, 0.0, 0.0), (9, 0.0, 0.0)], [(9, 1.0, 1.0)], [(10, 1.0, 1.0)]]))
    2
    """
    nonempty = np.flatnonzero(np.diff(data.offsets) > 0)
    begins = data.t[data.offsets[nonempty]]
    ends = data.t[data.offsets[nonempty + 1] - 1]
    owner = data.owner[nonempty].tolist()
    on_the_way: dict[int, int] = {}
    most = 0
    order = np.lexsort(
        (np.repeat([0, 1], len(nonempty)), np.concatenate([begins, ends]))
    )  # who begins comes before who ends
    for event in order.tolist():
        who = owner[event % len(nonempty)]
        on_the_way[who] = on_the_way.get(who, 0) + (1 if event < len(nonempty) else -1)
        if not on_the_way[who]:
            del on_the_way[who]
        most = max(most, len(on_the_way))
    return most


def usual_step(data: Points) -> int:
    """Return the median time between two points of a trajectory, at least 1.

    Examples
    --------
    >>> usual_step(Points.from_records([[(0, 0.0, 0.0), (30, 0.0, 0.0), (60, 0.0, 0.0)], [(7, 1.0, 1.0)]]))
    30
    """
    trajectory = trajectory_of_row(data.offsets)
    steps = np.diff(data.t)[trajectory[1:] == trajectory[:-1]]
    return max(1, int(np.median(steps))) if len(steps) else 1
