"""Do published boxes contain where people really were?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.model.points import Points
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.model.regions import Regions
from wayveil.verify.whole import tolerance_m

__all__ = ["DEGREES_TOLERANCE_M", "Containment", "contain", "mismatch"]

DEGREES_TOLERANCE_M = 1e-6
"""What writing degrees and reading them back may do to the side of a box."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Containment:
    """What is wrong with every box, if anything.

    Parameters
    ----------
    outside : bool, one per box
        Whether a position in the time of the box is not in it.
    nowhere : bool, one per box
        Whether the person has no position at all in the time of the box.
    """

    outside: BoolArray
    nowhere: BoolArray

    @property
    def wrong(self) -> BoolArray:
        """Which boxes are not true."""
        return self.outside | self.nowhere


def contain(published: Regions, original: Points) -> Containment:
    """Compare every box of trajectory i with the positions of trajectory i of the original.

    A box of a time from t_min to t_max is true if

    1. every recorded position with t_min <= t <= t_max is in it, or,
    2. where there is none, the person was recorded both before and after, and the straight line between the two is in
       the box at t_min and at t_max, and so in between, because a box is convex.

    Notes
    -----
    Recorded positions are compared exactly, or up to a micrometre where the file has degrees; positions on a line also
    up to the tolerance for rounding.  Time is O(rows log rows), plus one step per box and position in its time; memory
    is a small multiple of the data.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 0.0, 0.0), (10, 10.0, 0.0)]])
    >>> boxes = [(0, 0, 0.0, 1.0, 0.0, 1.0), (4, 5, 4.0, 4.5, 0.0, 1.0), (11, 12, 9.0, 11.0, 0.0, 1.0)]
    >>> found = contain(Regions.from_records([boxes]), truth)
    >>> found.outside.tolist(), found.nowhere.tolist()
    ([False, True, False], [False, False, True])
    """
    begin, end = _rows_in_time(published, original)
    exact = DEGREES_TOLERANCE_M if published.frame.degrees else 0.0
    outside = _outside(published, original, begin, end, exact)

    empty = np.flatnonzero(begin == end)
    trajectory = trajectory_of_row(published.offsets)[empty]
    before, after = begin[empty] - 1, begin[empty]
    between = (before >= original.offsets[trajectory]) & (after < original.offsets[trajectory + 1])
    nowhere = np.zeros(published.n_rows, bool)
    nowhere[empty[~between]] = True
    boxes, before, after = empty[between], before[between], after[between]
    rounding = max(exact, tolerance_m(original))
    for t in (published.t_min, published.t_max):
        x, y = _on_line(original, before, after, t[boxes])
        outside[boxes] |= ~_inside(published, boxes, x, y, rounding)
    return Containment(outside=outside, nowhere=nowhere)


def mismatch(published: Regions, original: Points) -> str | None:
    """Why the original cannot be that of the published data, or None."""
    if len(original) != len(published):
        return "The original does not have one trajectory per published one, so the boxes cannot be compared with it."
    given = published.owners == original.owners == "given"
    if given and not np.array_equal(published.owner, original.owner):
        return "The original has other owners than the published data, so the boxes cannot be compared with it."
    if original.frame != published.frame or original.time_format != published.time_format:
        return "The original has another frame of coordinates or format of times, so the boxes cannot be compared."
    return None


def _rows_in_time(published: Regions, original: Points) -> tuple[IntArray, IntArray]:
    """Return, for every box, the range of rows of its original trajectory with t_min <= t <= t_max."""
    times = np.unique(original.t)
    width = len(times) + 1
    row = trajectory_of_row(original.offsets) * width + np.searchsorted(times, original.t)
    box = trajectory_of_row(published.offsets) * width
    begin = np.searchsorted(row, box + np.searchsorted(times, published.t_min, side="left"))
    end = np.searchsorted(row, box + np.searchsorted(times, published.t_max, side="right"))
    return begin, end


def _outside(published: Regions, original: Points, begin: IntArray, end: IntArray, tolerance: float) -> BoolArray:
    """Tell for which boxes the extremes of the rows in their ranges are outside; ranges may overlap."""
    found = np.zeros(published.n_rows, bool)
    boxes = np.flatnonzero(begin < end)
    if len(boxes):
        ranges = np.stack([begin[boxes], end[boxes]], axis=1).ravel()
        x, y = (np.append(values, 0.0) for values in (original.x, original.y))  # a range may end after the last row
        for extreme in (np.minimum, np.maximum):
            corner = (extreme.reduceat(x, ranges)[::2], extreme.reduceat(y, ranges)[::2])
            found[boxes] |= ~_inside(published, boxes, *corner, tolerance)
    return found


def _inside(published: Regions, box: IntArray, x: FloatArray, y: FloatArray, tolerance: float) -> BoolArray:
    found: BoolArray = (
        (published.x_min[box] - tolerance <= x)
        & (x <= published.x_max[box] + tolerance)
        & (published.y_min[box] - tolerance <= y)
        & (y <= published.y_max[box] + tolerance)
    )
    return found


def _on_line(original: Points, before: IntArray, after: IntArray, t: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the positions at `t` on the straight lines between two rows; differences of times cannot overflow."""
    start = original.t[before].view(np.uint64)
    share = (t.view(np.uint64) - start).astype(np.float64) / (original.t[after].view(np.uint64) - start)
    x, y = (values[before] * (1 - share) + values[after] * share for values in (original.x, original.y))
    return x, y
