"""Resample: positions at common times, so that trajectories can be compared point by point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Points, Step, duration_units, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, trajectory_of_row
from wayveil.steps.points.split import check_spans, first_rows, make_parts

__all__ = ["Resample"]

_MOST_POINTS = 500_000_000


@dataclass(frozen=True, kw_only=True)
class Resample(Step):
    """Replace the points of each trajectory by its positions at the multiples of a period.

    Parameters
    ----------
    period : str
        A duration such as "30s" or "5min"; for times that are plain integers a positive integer, in their unit.  For
        epoch seconds an integer means seconds.
    method : {"linear", "nearest", "previous"}
        The position between two points: on the straight line between them at constant speed; that of the point nearer
        in time (of two, the earlier); or that of the point before.
    max_gap : str, or "none"
        A duration.  Between points that are more than that apart nothing is made up: the trajectory is split there.

    Notes
    -----
    The multiples are counted from 0, the midnight that began 1970, on the clock that the times are written in; only
    those from the first to the last time of a trajectory (or of a part) get a position.  So trajectories have the same
    times wherever they overlap.  A trajectory or part without a multiple in its time is dropped and counted.  Parts
    keep owner and attributes.  O(points before and after) time and memory.

    Guarantee
    ---------
    None: the points between which a position was made up are gone, but the way is still there.

    Examples
    --------
    >>> data = Points.from_records([[(1, 0.0, 0.0), (5, 8.0, 4.0), (30, 0.0, 0.0), (31, 0.0, 1.0)]])
    >>> regular, notes = Resample(period=2, max_gap=10).run(data)
    >>> [regular.record(i) for i in range(len(regular))]
    [[(2, 2.0, 1.0), (4, 6.0, 3.0)], [(30, 0.0, 0.0)]]
    >>> for note in notes:
    ...     print(note)
    4 points became 3 at multiples of 2 (linear).
    Splitting at 1 gap made 2 trajectories of 1.
    """

    period: str = parameter(kind="duration", help="time between two points")
    method: str = parameter(
        kind="choice",
        choices=("linear", "nearest", "previous"),
        default="linear",
        help="position between two points: on the line, that of the nearer one, or that of the one before",
    )
    max_gap: str = parameter(
        kind="duration", choices=("none",), default="none", help="split between points that are more than this apart"
    )

    name: ClassVar[str] = "resample"
    summary: ClassVar[str] = "give all trajectories positions at the same regular times"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Points]] = Points

    def run(self, data: Points) -> tuple[Points, tuple[str, ...]]:
        """Return the positions at regular times, and notes that count what was done."""
        regular, notes, _ = self.run_with_origin(data)
        return regular, notes

    def run_with_origin(self, data: Points) -> tuple[Points, tuple[str, ...], IntArray]:
        """Return the positions, notes, and for every trajectory the one that it comes from."""
        check_spans(self.name, data)
        period = duration_units(self.name, "period", self.period, data.time_format)
        begins = first_rows(data)
        gaps = 0
        if self.max_gap != "none":
            gap = duration_units(self.name, "max_gap", self.max_gap, data.time_format)
            # A long gap cuts a trajectory: nobody knows where the person was meanwhile.
            apart = ~begins[1:] & (data.t[1:] - data.t[:-1] > gap)
            begins[1:] |= apart
            gaps = int(np.count_nonzero(apart))
        when, row = self._times(data.t, begins, period)
        lengths = np.bincount((np.cumsum(begins) - 1)[row], minlength=int(np.count_nonzero(begins)))
        source = trajectory_of_row(data.offsets)[begins][lengths > 0]
        x, y = self._positions(data, when, row)
        regular = make_parts(data, source, lengths[lengths > 0], when, x, y)
        notes = [f"{data.n_rows:,} points became {regular.n_rows:,} at multiples of {self.period} ({self.method})."]
        if gaps:
            became = f"{len(lengths):,} trajectories of {int(np.count_nonzero(np.diff(data.offsets))):,}"
            notes.append(f"Splitting at {gaps:,} gap{'s' * (gaps != 1)} made {became}.")
        empty = len(lengths) - len(source) + int(np.count_nonzero(np.diff(data.offsets) == 0))
        if empty:
            verb, its = ("was dropped", "its") if empty == 1 else ("were dropped", "their")
            whole = "1 trajectory" if empty == 1 else f"{empty:,} trajectories"
            notes.append(f"{whole} {verb}: no multiple of {self.period} lies in {its} time.")
        return regular, tuple(notes), source

    def _times(self, t: IntArray, begins: np.ndarray, period: int) -> tuple[IntArray, IntArray]:
        """Return the new times, and for each the first row that is not earlier."""
        # How many multiples of the period lie between each row and the one before: these are the new points.
        tick = t // period
        count = np.empty(len(t), np.int64)
        count[1:] = tick[1:] - tick[:-1]
        count[begins] = t[begins] % period == 0
        total = count.sum(dtype=np.float64)
        if total > _MOST_POINTS:
            raise InputError(
                f"resample: a period of {self.period} makes about {total:.2g} points of {len(t):,}, more than "
                f"{_MOST_POINTS:,}. Choose a longer period, or a max_gap."
            )
        row = np.repeat(np.arange(len(t)), count)
        # Counted back from the row: the last of them is at or before its time.
        later = np.cumsum(count)[row] - 1 - np.arange(len(row))
        return (tick[row] - later) * period, row

    def _positions(self, data: Points, when: IntArray, row: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the positions at these times; `row` is the first row of the data that is not earlier."""
        # The row before, or the row itself where it is exactly at the time.
        before = row - (data.t[row] > when)
        passed = when - data.t[before]
        whole = data.t[row] - data.t[before]
        if self.method == "linear":
            share = passed / np.maximum(whole, 1)
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by Points
                x = data.x[before] + (data.x[row] - data.x[before]) * share
                y = data.y[before] + (data.y[row] - data.y[before]) * share
            return x, y
        chosen = before if self.method == "previous" else np.where(passed <= whole - passed, before, row)
        return data.x[chosen], data.y[chosen]
