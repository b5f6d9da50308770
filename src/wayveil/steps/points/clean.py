"""Clean: points that cannot be true or say nothing, and trajectories that are too short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import ParameterError
from wayveil.kernels.steps.longest_chains import longest_chains
from wayveil.model import Points, Step, check_parameters, parameter, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.steps.points.split import check_spans, first_rows

__all__ = ["Clean"]

_LOOK_BACK = 1000
_KMH_PER_M_S = 3.6


@dataclass(frozen=True, kw_only=True)
class Clean(Step):
    """Drop points that cannot be reached at a speed, repeated positions, and trajectories with few points.

    Parameters
    ----------
    max_speed : float, > 0, or "none"
        In km/h.  For times that are plain integers, which have no unit: in metres per unit of time.
    repeats : {"keep", "ends", "drop"}
        What to do with consecutive points at exactly one position: keep all; keep the first and the last, so that the
        movement between all points stays the same; or keep the first only.
    min_points : int, >= 0
        Trajectories that have fewer points, after the rest of the cleaning, are removed altogether.

    Notes
    -----
    What is kept of a trajectory is a longest sequence of points each of which can be reached from the one before at
    `max_speed` in a straight line.  So a wrong point takes away itself and not what comes after it, whether it stands
    at the beginning, in the middle or at the end.  Of sequences of one length, the one that ends first is kept.  If
    more than 1,000 consecutive points are wrong, the longest sequence before them is the only one that is tried for
    going on.  Then repeated positions are dropped, then short trajectories.

    A time that repeats inside a trajectory and rows out of order are dealt with on reading.  About O(points) time.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0, 0), (1, 9000, 0), (2, 20, 0), (3, 20, 0)], [(0, 5, 5)]])
    >>> cleaned, notes = Clean(max_speed=15, repeats="drop", min_points=2).run(data)
    >>> [cleaned.record(i) for i in range(len(cleaned))]
    [[(0, 0.0, 0.0), (2, 20.0, 0.0)]]
    >>> for note in notes:
    ...     print(note)
    1 of 5 points was dropped: it cannot be reached at 15 metres per unit of time.
    1 of 5 points was dropped: it repeats the position before.
    1 of 2 trajectories was removed: it has fewer than 2 points.
    """

    max_speed: float | str = parameter(
        kind="number",
        choices=("none",),
        default="none",
        help="fastest possible speed in km/h; in metres per unit for times that are plain integers",
    )
    repeats: str = parameter(
        kind="choice",
        choices=("keep", "ends", "drop"),
        default="keep",
        help="consecutive points at one position: keep all, the first and the last, or the first",
    )
    min_points: int = parameter(kind="int", low=0, default=1, help="fewest points of a trajectory")

    name: ClassVar[str] = "clean"
    summary: ClassVar[str] = "drop points at impossible speeds, repeated positions and short trajectories"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Points]] = Points

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.max_speed == 0:
            raise ParameterError("clean: max_speed must be greater than 0, got 0. At 0 nobody could move.")

    def run(self, data: Points) -> tuple[Points, tuple[str, ...]]:
        """Return the data without what was dropped, and notes that count it."""
        cleaned, notes, _ = self.run_with_origin(data)
        return cleaned, notes

    def run_with_origin(self, data: Points) -> tuple[Points, tuple[str, ...], IntArray]:
        """Return the cleaned data, notes, and for every trajectory that is left the one it was."""
        check_spans(self.name, data)
        before = data.n_rows
        n_before = len(data)
        notes: tuple[str, ...] = ()
        if isinstance(self.max_speed, float):
            seconds = seconds_per_unit(data.time_format)
            # km/h to metres per unit of the data's times; plain integers have no hours.
            speed = self.max_speed if seconds is None else self.max_speed / _KMH_PER_M_S * seconds
            unit = "metres per unit of time" if seconds is None else "km/h"
            # The longest chain of points of which each can be reached from the one before: a single wrong point is
            # dropped, not all that follow it.
            keep = longest_chains(data.offsets, data.t, data.x, data.y, speed, _LOOK_BACK) > 0
            notes += _dropped(keep, before, "points", "dropped", f"cannot be reached at {self.max_speed:g} {unit}")
            data = data.where(keep)
        if self.repeats != "keep":
            keep = ~_repeated(data, ends=self.repeats == "ends")
            same = "repeats the position before" + " and after" * (self.repeats == "ends")
            notes += _dropped(keep, before, "points", "dropped", same)
            data = data.where(keep)
        # Only now: cleaning may have left too few.
        enough = np.diff(data.offsets) >= self.min_points
        few = f"has fewer than {self.min_points} point{'s' * (self.min_points != 1)}"
        notes += _dropped(enough, n_before, "trajectories", "removed", few)
        source = np.flatnonzero(enough)
        return data.take(source), notes, source


def _repeated(data: Points, *, ends: bool) -> BoolArray:
    """Return which rows have the position of the row before, and with `ends` also that of the row after."""
    same = np.zeros(data.n_rows + 1, np.bool_)
    # Equal to the row before, within a trajectory.
    same[1:-1] = ~first_rows(data)[1:] & (data.x[1:] == data.x[:-1]) & (data.y[1:] == data.y[:-1])
    return same[:-1] & same[1:] if ends else same[:-1]


def _dropped(keep: BoolArray, total: int, what: str, done: str, why: str) -> tuple[str, ...]:
    """Return a note on what is not kept, or none; `why` begins with a verb in the singular."""
    n_dropped = int(np.count_nonzero(~keep))
    if n_dropped == 0:
        return ()
    if n_dropped == 1:
        return (f"1 of {total:,} {what} was {done}: it {why}.",)
    verb, rest = why.split(" ", 1)
    plural = {"has": "have", "cannot": "cannot", "repeats": "repeat"}[verb]
    return (f"{n_dropped:,} of {total:,} {what} were {done}: they {plural} {rest}.",)
