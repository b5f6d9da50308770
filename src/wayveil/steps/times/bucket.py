"""Bucket: times floored to a width, every place of a bucket kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Step, Trips, Visits, duration_units, parameter
from wayveil.model.data.ragged import IntArray, keep_rows, trajectory_of_row
from wayveil.steps.times.visit_buckets import place_in_buckets

__all__ = ["Bucket", "left_out_note"]


@dataclass(frozen=True, kw_only=True)
class Bucket(Step):
    """Floor every time to its bucket, and keep every place that a trajectory visits in it.

    Timestamps by the second make almost every visit unique, and a method that hides people in a crowd would then
    have to drop almost everything.  By the hour, people meet.

    Parameters
    ----------
    width : str
        A duration such as "15min", "1h" or "1d"; for times that are plain integers a positive integer, in their
        unit.  For epoch seconds an integer means seconds.
    keep : {"all", "first", "last"}
        What to keep when several visits of a trajectory fall into one bucket: every place, or one visit.

    Notes
    -----
    Both ends of a trip stay, also in one bucket.  Buckets start at 0, which is the midnight that began 1970, on the
    clock that the times are written in: UTC for times with an offset, local time for times without.  So "1d"
    is a calendar day.

    With "all", the second place of a bucket is a second (for plain integers, a unit) behind its beginning, the third
    two, and so on; a later visit to the same place in the same bucket is left out and counted.  What this means for who
    knows only place and bucket: see `visit_buckets`.  O(n log n) time, O(n) memory.

    Guarantee
    ---------
    None: coarser times are easier to hide, but hide nobody by themselves.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 4), ("a", 5), ("c", 11)]])
    >>> coarse, notes = Bucket(width=10).run(data)
    >>> coarse.record(0)
    [('a', 0), ('b', 1), ('c', 10)]
    >>> notes[2]
    '1 of 4 visits was left out: its trajectory has an earlier one to the same place in the same bucket.'
    >>> Bucket(width=10, keep="first").run(data)[0].record(0)
    [('a', 0), ('c', 10)]
    """

    width: str = parameter(kind="duration", help="width of a bucket of time")
    keep: str = parameter(
        kind="choice",
        choices=("all", "first", "last"),
        default="all",
        help="what to keep of several visits in a bucket: every place, the first visit, or the last",
    )

    name: ClassVar[str] = "bucket"
    summary: ClassVar[str] = "floor times to a width and keep every place that a trajectory visits in a bucket"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Visits], ...]] = (Trips,)

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:
        """Return the data with coarser times, and notes that count what was left out."""
        width = duration_units(self.name, "width", self.width, data.time_format)
        if data.n_visits and int(data.t.min()) - width < np.iinfo(np.int64).min:
            raise InputError("bucket: a time is too close to the smallest 64-bit integer; shift the times.")
        floored = data.t // width * width
        # Ends of trips may share a time; visits may not, so places in one bucket are told apart by small steps.
        if not data.one_per_time:
            return replace(data, t=floored), (f"Times were floored to {self.width}.",)
        stay, t = place_in_buckets(
            trajectory_of_row(data.offsets),
            data.location,
            floored,
            width=width,
            time_format=data.time_format,
            keep=self.keep,
        )
        coarse = replace(data, offsets=keep_rows(data.offsets, stay), location=data.location[stay], t=t)
        note = left_out_note(data.n_visits, coarse.n_visits, self.keep)
        return coarse, (f"Times were floored to {self.width}.", *order_note(t, width), *note)


def order_note(t: IntArray, width: int) -> tuple[str, ...]:
    """Say that some times hold an order inside a bucket, if any do."""
    later = int(np.count_nonzero(t % width))
    if not later:
        return ()
    verb = "1 visit is" if later == 1 else f"{later:,} visits are"
    return (
        f"{verb} not the first of a bucket: a second (a unit of plain integers) behind its beginning for each place "
        "visited before in it, which keeps their order.",
    )


def left_out_note(before: int, after: int, keep: str) -> tuple[str, ...]:
    """Say how many visits were left out because of others in the same bucket, if any were."""
    if before == after:
        return ()
    other = {"all": "an earlier one to the same place", "first": "an earlier one", "last": "a later one"}[keep]
    verb, whose = ("was", "its") if before - after == 1 else ("were", "their")
    return (
        f"{before - after:,} of {before:,} visits {verb} left out: {whose} trajectory has {other} in the same bucket.",
    )
