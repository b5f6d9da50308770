"""Bucket: times floored to a width, one visit per trajectory and bucket."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Step, Trips, Visits, duration_units, parameter
from wayveil.model.data.ragged import keep_rows, trajectory_of_row

__all__ = ["Bucket"]


@dataclass(frozen=True, kw_only=True)
class Bucket(Step):
    """Floor every time to its bucket and keep one visit of each trajectory in each bucket.

    Timestamps by the second make almost every visit unique, and a method that hides people in a crowd would then
    have to drop almost everything.  By the hour, people meet.

    Parameters
    ----------
    width : str
        A duration such as "15min", "1h" or "1d"; for times that are plain integers a positive integer, in their
        unit.  For epoch seconds an integer means seconds.
    keep : {"first", "last"}
        Which visit of a trajectory to keep when several fall into one bucket.

    Notes
    -----
    Both ends of a trip stay, also in one bucket.  Buckets start at 0, which is the midnight that began 1970, on the
    clock that the times are written in: UTC for times with an offset, the clock on the wall for times without.  So "1d"
    is a calendar day.  O(n) time and memory.

    Guarantee
    ---------
    None: coarser times are easier to hide, but hide nobody by themselves.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 4), ("c", 11)]])
    >>> coarse, notes = Bucket(width=10).run(data)
    >>> coarse.record(0)
    [('a', 0), ('c', 10)]
    >>> notes
    ('Times were floored to 10.', '1 of 3 visits was dropped: its trajectory has an earlier one in the same bucket.')
    """

    width: str = parameter(kind="duration", help="width of a bucket of time")
    keep: str = parameter(
        kind="choice", choices=("first", "last"), default="first", help="which visit of a bucket to keep"
    )

    name: ClassVar[str] = "bucket"
    summary: ClassVar[str] = "floor times to a width and keep one visit of each trajectory in each bucket"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Visits], ...]] = (Trips,)

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:
        """Return the data with coarser times, and notes that count what was dropped."""
        width = duration_units(self.name, "width", self.width, data.time_format)
        if data.n_visits and int(data.t.min()) - width < np.iinfo(np.int64).min:
            raise InputError("bucket: a time is too close to the smallest 64-bit integer; shift the times.")
        t = data.t // width * width
        trajectory = trajectory_of_row(data.offsets)
        follows = np.zeros(len(t), np.bool_)
        if data.one_per_time:
            follows[1:] = (t[1:] == t[:-1]) & (trajectory[1:] == trajectory[:-1])
        keep = ~follows if self.keep == "first" else ~np.append(follows[1:], np.zeros(min(1, len(t)), np.bool_))
        coarse = replace(data, offsets=keep_rows(data.offsets, keep), location=data.location[keep], t=t[keep])
        return coarse, (f"Times were floored to {self.width}.", *self._dropped(data.n_visits, coarse.n_visits))

    def _dropped(self, before: int, after: int) -> tuple[str, ...]:
        if before == after:
            return ()
        other = "an earlier" if self.keep == "first" else "a later"
        verb, whose = ("was", "its") if before - after == 1 else ("were", "their")
        return (
            f"{before - after:,} of {before:,} visits {verb} dropped: {whose} trajectory has {other} one in the same "
            "bucket.",
        )
