"""Visits of one bucket of time: which of them stay, and at what time."""

from __future__ import annotations

import numpy as np

from wayveil.model import TimeFormat, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["place_in_buckets"]


def place_in_buckets(
    trajectory: IntArray, location: IntArray, start: IntArray, *, width: int, time_format: TimeFormat, keep: str
) -> tuple[BoolArray, IntArray]:
    """Return which visits stay, and the new times of those that do.

    Parameters
    ----------
    trajectory, location, start : int64, one per row
        The trajectory of a visit, its place, and where its bucket begins; rows of a trajectory are adjacent, and
        `start` never decreases in it.
    width : int
        Width of a bucket, in units of time.
    time_format : TimeFormat
        What a unit is.
    keep : {"all", "first", "last"}
        Every place of a bucket, or one visit of it.

    Notes
    -----
    A trajectory has one visit at a time.  The first place of a bucket gets the time at which the bucket begins, the
    next one a second later, and so on, in the order in which the places were first visited in it.  So a place and a
    time are the same for everybody who was there in that bucket after as many other places.  A later visit to the same
    place in the same bucket is left out: so a trajectory has a place of a bucket at one time only, and those that fit a
    place and a bucket are cut by their times into parts without overlap.  What holds for each part, at least k people
    and nobody with more than 1/k of the trajectories, holds for all of them.

    Seconds fit: times are whole units and differ, so a bucket has no more visits than units.  Where dates are finer
    than seconds and a bucket has more visits than seconds, microseconds are counted instead.  O(n log n) for "all",
    else O(n).

    Examples
    --------
    >>> rows = (np.zeros(4, np.int64), np.array([7, 3, 7, 3]), np.array([0, 0, 0, 60]))
    >>> stay, t = place_in_buckets(*rows, width=60, time_format="epoch", keep="all")
    >>> stay.tolist(), t.tolist()
    ([True, True, False, True], [0, 1, 60])
    """
    n = len(start)
    follows = np.zeros(n, np.bool_)
    follows[1:] = (start[1:] == start[:-1]) & (trajectory[1:] == trajectory[:-1])
    if keep != "all":
        stay = ~follows if keep == "first" else ~np.append(follows[1:], np.zeros(min(1, n), np.bool_))
        return stay, start[stay]
    # Visits of one trajectory in one bucket have one number.
    bucket = np.cumsum(~follows)
    # Equal places of a bucket side by side, the earliest first: later ones are left out.
    order = np.lexsort((np.arange(n), location, bucket))
    again = np.zeros(n, np.bool_)
    again[order[1:]] = (bucket[order[1:]] == bucket[order[:-1]]) & (location[order[1:]] == location[order[:-1]])
    stay = ~again
    # The first visit of a bucket always stays, so places are counted from it.
    number = np.cumsum(stay)
    rank: IntArray = (number - number[np.maximum.accumulate(np.where(follows, 0, np.arange(n)))])[stay]
    seconds = seconds_per_unit(time_format)
    second = 1 if seconds is None else round(1 / seconds)
    # Places of a bucket get consecutive times, a second apart where they fit into the bucket, else a unit.
    unit = second if n == 0 or int(rank.max()) * second < width else 1
    return stay, start[stay] + rank * unit
