"""Window: long tracks of points cut into windows of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Points, Step, duration_units, parameter
from wayveil.model.data.ragged import IntArray, trajectory_of_row
from wayveil.steps.points.split import check_spans, make_parts

__all__ = ["Window"]


@dataclass(frozen=True, kw_only=True)
class Window(Step):
    """Cut every trajectory of points where a new window of time begins, for example every hour.

    A method that hides a trajectory among k others of the same time has to find people who move together for as long as
    it lasts.  Hardly anybody does so for a day; for an hour some do.

    Parameters
    ----------
    width : str
        A duration such as "1h"; for times that are plain integers a positive integer, in their unit.  For epoch seconds
        an integer means seconds.
    min_points : int, >= 1
        Pieces with fewer points are left out.

    Notes
    -----
    Windows begin at multiples of `width`, counted from 0 as in `bucket`, so that they are the same for everybody.  The
    pieces keep owner and attributes: pieces of one person count as one.  Published pieces have new ids, but their ends
    meet: somebody may join the piece that ends here at ten o'clock with the one that begins here at ten.  Then a
    promise about a piece is no promise about the whole trip.  O(n) time and memory.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> data = Points.from_records([[(1, 0, 0), (8, 10, 0), (12, 20, 0)], [(25, 5, 5)]])
    >>> pieces, notes = Window(width=10).run(data)
    >>> [len(pieces.record(i)) for i in range(len(pieces))]
    [2, 1, 1]
    >>> notes
    ('2 trajectories were cut into 3 of at most 10 each.',)
    """

    width: str = parameter(kind="duration", help="length of a window of time")
    min_points: int = parameter(kind="int", low=1, default=1, help="fewest points of a piece")

    name: ClassVar[str] = "window"
    summary: ClassVar[str] = "cut long tracks of points into windows of time"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Points]] = Points

    def run(self, data: Points) -> tuple[Points, tuple[str, ...]]:
        """Return the pieces, and notes that count them."""
        pieces, notes, _ = self.run_with_origin(data)
        return pieces, notes

    def run_with_origin(self, data: Points) -> tuple[Points, tuple[str, ...], IntArray]:
        """Return the pieces, notes, and for every piece the trajectory that it comes from."""
        check_spans(self.name, data)
        width = duration_units(self.name, "width", self.width, data.time_format)
        if data.n_rows and int(data.t.min()) - width < np.iinfo(np.int64).min:
            raise InputError("window: a time is too close to the smallest 64-bit integer; shift the times.")
        trajectory = trajectory_of_row(data.offsets)
        # Windows begin at multiples of the width, the same for everybody.
        window = data.t // width
        begins = np.ones(data.n_rows, np.bool_)
        begins[1:] = (trajectory[1:] != trajectory[:-1]) | (window[1:] != window[:-1])
        first = np.flatnonzero(begins)
        lengths = np.diff(np.append(first, data.n_rows))
        long_enough = lengths >= self.min_points
        rows = np.repeat(long_enough, lengths)
        source = trajectory[first[long_enough]]
        pieces = make_parts(data, source, lengths[long_enough], data.t[rows], data.x[rows], data.y[rows])
        return pieces, self._notes(data, pieces, int(np.count_nonzero(~long_enough))), source

    def _notes(self, data: Points, pieces: Points, short: int) -> tuple[str, ...]:
        before = int(np.count_nonzero(np.diff(data.offsets)))
        many = "1 trajectory was" if before == 1 else f"{before:,} trajectories were"
        notes = [f"{many} cut into {len(pieces) + short:,} of at most {self.width} each."]
        if short:
            lost = data.n_rows - pieces.n_rows
            verb = "1 piece was" if short == 1 else f"{short:,} pieces were"
            notes.append(f"{verb} left out with {lost:,} of {data.n_rows:,} points: fewer than {self.min_points} each.")
        return tuple(notes)
