"""Do published boxes contain where people really were?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.verifiers.common.index_ranges import expand
from wayveil.verifiers.common.whole_trajectories import tolerance_m

__all__ = ["DEGREES_TOLERANCE_M", "Containment", "beyond", "contain", "exact_m", "mismatch", "touched"]

DEGREES_TOLERANCE_M = 1e-6
"""What writing degrees and reading them back may do to the side of a box."""

_CHUNK_ROWS = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Containment:
    """What is wrong with every box, if anything; at most one of these.

    Parameters
    ----------
    outside : bool, one per box
        Whether no position in the time of the box is in it.
    again : bool, one per box
        Whether there are such positions, but none later than that of the box before.
    nowhere : bool, one per box
        Whether the person has no position at all in the time of the box.
    """

    outside: BoolArray
    again: BoolArray
    nowhere: BoolArray

    @property
    def wrong(self) -> BoolArray:
        """Which boxes are not true."""
        return self.outside | self.again | self.nowhere


def contain(published: Boxes, original: Points) -> Containment:
    """Compare every box of trajectory i with the positions of trajectory i of the original.

    A box of a time from t_min to t_max is true if

    1. a recorded position with t_min <= t <= t_max is in it, a later one for each box of a trajectory, or,
    2. where none is recorded in this time, the person was recorded both before and after, and the straight line between
       the two is in the box at t_min and at t_max, and so in between, because a box is convex.

    Notes
    -----
    Each box takes the first position that it can, in the sequence of boxes; one of the second kind, or one that is not
    true, takes none.  If there is any choice of a later position for each box, then this is one: it leaves as many
    positions as possible to the boxes that follow.  Once a box is not true, what is said of later ones depends on this
    choice; that one is not true does not.

    Recorded positions are compared exactly, or up to a micrometre where the file has degrees; positions on a line also
    up to the tolerance for rounding.  Time is O(rows log rows), plus at most one step per box and position in its time;
    memory is a small multiple of the data.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 0.0, 0.0), (10, 10.0, 0.0)]])
    >>> boxes = [(0, 0, 0.0, 1.0, 0.0, 1.0), (0, 5, 0.0, 9.0, 0.0, 1.0), (4, 5, 4.0, 4.5, 0.0, 1.0)]
    >>> found = contain(Boxes.from_records([[*boxes, (11, 12, 9.0, 11.0, 0.0, 1.0)]]), truth)
    >>> found.outside.tolist(), found.again.tolist(), found.nowhere.tolist()
    ([False, False, True, False], [False, True, False, False], [False, False, False, True])
    """
    begin, end = _rows_in_time(published, original)
    outside, again, nowhere = np.zeros((3, published.n_rows), bool)
    # Boxes in the order of a trajectory take positions in order: what comes back lies in no position that is left.  If
    # an earlier position would have done, the box is true but out of turn.
    for boxes, start in _in_turn(published, original, begin, end):
        late = boxes[start > begin[boxes]]
        outside[boxes] = True
        again[late] = _first(published, original, late, begin[late], end[late]) >= 0
    outside &= ~again

    # A box in whose time nothing was recorded stands between two positions: then somebody is taken to have moved along
    # the straight line, and must be inside at the beginning and at the end of the box.  Before the first and after the
    # last position nobody knows where they were.
    empty = np.flatnonzero(begin == end)
    trajectory = trajectory_of_row(published.offsets)[empty]
    before = begin[empty] - 1
    after = begin[empty]
    between = (before >= original.offsets[trajectory]) & (after < original.offsets[trajectory + 1])
    nowhere[empty[~between]] = True
    boxes = empty[between]
    before = before[between]
    after = after[between]
    rounding = max(exact_m(published), tolerance_m(original))
    for t in (published.t_min, published.t_max):
        x, y = _on_line(original, before, after, t[boxes])
        outside[boxes] |= ~_inside(published, boxes, x, y, rounding)
    return Containment(outside=outside, again=again, nowhere=nowhere)


def touched(published: Boxes, original: Points) -> BoolArray:
    """Tell which boxes contain a recorded position of their trajectory in their time, whatever other boxes contain.

    Examples
    --------
    >>> boxes = Boxes.from_records([[(0, 5, 0.0, 1.0, 0.0, 1.0), (0, 5, 0.0, 9.0, 0.0, 1.0)]])
    >>> touched(boxes, Points.from_records([[(3, 5.0, 1.0)]])).tolist()
    [False, True]
    """
    return _first(published, original, np.arange(published.n_rows), *_rows_in_time(published, original)) >= 0


def beyond(boxes: Boxes, points: Points) -> BoolArray:
    """Tell which points are not in the box of the same row, in space or in time.

    Examples
    --------
    >>> boxes = Boxes.from_records([[(0, 5, 0.0, 1.0, 0.0, 1.0)] * 3])
    >>> beyond(boxes, Points.from_records([[(0, 1.0, 0.0), (5, 1.1, 0.0), (6, 1.0, 0.0)]])).tolist()
    [False, True, True]
    """
    in_time = (boxes.t_min <= points.t) & (points.t <= boxes.t_max)
    return ~(in_time & _inside(boxes, np.arange(boxes.n_rows), points.x, points.y, exact_m(boxes)))


def exact_m(published: Boxes) -> float:
    """Return by how much a recorded position may be beyond the side of a box: nothing, but for degrees."""
    return DEGREES_TOLERANCE_M if published.frame.degrees else 0.0


def mismatch(published: Boxes, original: Points) -> str | None:
    """Why the original cannot be that of the published data, or None."""
    if len(original) != len(published):
        return "The original does not have one trajectory per published one, so the boxes cannot be compared with it."
    given = published.owners == original.owners == "given"
    if given and not np.array_equal(published.owner, original.owner):
        return "The original has other owners than the published data, so the boxes cannot be compared with it."
    if original.frame != published.frame or original.time_format != published.time_format:
        return "The original has another frame of coordinates or format of times, so the boxes cannot be compared."
    return None


def _rows_in_time(published: Boxes, original: Points) -> tuple[IntArray, IntArray]:
    """Return, for every box, the range of rows of its original trajectory with t_min <= t <= t_max."""
    times = np.unique(original.t)
    width = len(times) + 1
    row = trajectory_of_row(original.offsets) * width + np.searchsorted(times, original.t)
    box = trajectory_of_row(published.offsets) * width
    begin = np.searchsorted(row, box + np.searchsorted(times, published.t_min, side="left"))
    end = np.searchsorted(row, box + np.searchsorted(times, published.t_max, side="right"))
    return begin, end


def _in_turn(published: Boxes, original: Points, begin: IntArray, end: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Let every box take its first position after that of the box before; yield those that get none, and their starts.

    Boxes that share no position in time with any before them begin a run, and runs do not depend on each other: the
    loop is over the place of a box in its run, which is the first one for all boxes of separate times.
    """
    boxes = np.flatnonzero(begin < end)
    first = np.ones(len(boxes), bool)
    first[1:] = begin[boxes[1:]] >= np.maximum.accumulate(end[boxes])[:-1]
    run = np.cumsum(first) - 1
    place = np.arange(len(boxes)) - np.flatnonzero(first)[run]
    order = np.argsort(place, kind="stable")
    free = np.zeros(int(first.sum()), np.int64)
    for chosen in np.split(order, np.cumsum(np.bincount(place))[:-1]):
        box = boxes[chosen]
        start = np.maximum(begin[box], free[run[chosen]])
        row = _first(published, original, box, start, end[box])
        taken = row >= 0
        free[run[chosen[taken]]] = row[taken] + 1
        yield box[~taken], start[~taken]


def _first(published: Boxes, original: Points, box: IntArray, begin: IntArray, end: IntArray) -> IntArray:
    """Return, for every box listed, the first of the rows from `begin` to `end` that is in it, or -1.

    Looks at 1, 4, 16, ... rows of each range at a time, and goes on with those that have met none.
    """
    first_row = np.full(len(box), -1)
    at = begin.copy()
    tolerance = exact_m(published)
    width = 1
    active = np.flatnonzero(at < end)
    # Before each round no row before `at` is in the box, for all boxes that are active.  A round looks at the next
    # `width` rows of each, and notes the first that is in the box.  A box stays active until a row is in it or its
    # range is over.  Four times as many rows a round: most boxes are done after one row, and long ranges take few
    # rounds.
    while len(active):
        for part in np.array_split(active, -(-len(active) * width // _CHUNK_ROWS)):
            lengths = np.minimum(width, end[part] - at[part])
            rows, place = expand(at[part], lengths)
            which = part[place]
            hit = np.flatnonzero(_inside(published, box[which], original.x[rows], original.y[rows], tolerance))
            met, earliest = np.unique(which[hit], return_index=True)
            first_row[met] = rows[hit[earliest]]
            at[part] += lengths
        active = active[(first_row[active] < 0) & (at[active] < end[active])]
        width = min(4 * width, _CHUNK_ROWS)
    return first_row


def _inside(published: Boxes, box: IntArray, x: FloatArray, y: FloatArray, tolerance: float) -> BoolArray:
    is_inside: BoolArray = (
        (published.x_min[box] - tolerance <= x)
        & (x <= published.x_max[box] + tolerance)
        & (published.y_min[box] - tolerance <= y)
        & (y <= published.y_max[box] + tolerance)
    )
    return is_inside


def _on_line(original: Points, before: IntArray, after: IntArray, t: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the positions at `t` on the straight lines between two rows; differences of times cannot overflow."""
    start = original.t[before].view(np.uint64)
    share = (t.view(np.uint64) - start).astype(np.float64) / (original.t[after].view(np.uint64) - start)
    x, y = (values[before] * (1 - share) + values[after] * share for values in (original.x, original.y))
    return x, y
