"""Whether a moving box is inside a region of the plane in an interval of time: possibly or definitely, ever or always.

A trajectory is a sequence of boxes.  From `t_min` to `t_max` it rests in its box; from there to `t_min` of the next box
every side moves evenly.  A point is a box without extent, so sampled positions are linear motion between samples.
Around all that is an uncertainty: the object may be up to a radius away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner
from wayveil.kernels.metrics.moving_box import is_within, piece_at, stays_near, stays_within

__all__ = ["DAI", "PAI", "PSI", "SDI", "BoxColumns", "Queries", "decide"]

PSI = 1
PAI = 2
SDI = 4
DAI = 8
"""Possibly sometime, possibly always, sometime definitely, definitely always inside; as bits."""


class BoxColumns(NamedTuple):
    """Columns of boxes; nobody writes to them.

    offsets : int64, one per trajectory and one more
        Trajectory i owns rows ``offsets[i]:offsets[i + 1]``.
    t_min, t_max : int64, one per box
        From when to when it rests; times never decrease inside a trajectory.
    x_min, x_max, y_min, y_max : float64, one per box
        Its sides.
    """

    offsets: NDArray[Any]
    t_min: NDArray[Any]
    t_max: NDArray[Any]
    x_min: NDArray[Any]
    x_max: NDArray[Any]
    y_min: NDArray[Any]
    y_max: NDArray[Any]


class Queries(NamedTuple):
    """Ranges with centre (x, y), squares of side 2 x `half` or discs of radius `half`, from `begin` to `end`.

    All columns are float64, and nobody writes to them.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    half: NDArray[Any]
    begin: NDArray[Any]
    end: NDArray[Any]


@inner
def decide(b, trajectory, q, i, radius, disc, predicates):
    """Return those of the bits PAI, SDI and DAI that are wanted and hold for query i.

    "Always" needs all the time of the query to be inside the life of the trajectory.

    O(log rows + rows in the interval) time.
    """
    x = q.x[i]
    y = q.y[i]
    half = q.half[i]
    begin = q.begin[i]
    end = q.end[i]
    first = b.offsets[trajectory]
    last = b.offsets[trajectory + 1] - 1
    if first > last:
        return 0
    open_bits = predicates & (PAI | SDI | DAI)
    answers = 0
    if float(b.t_min[first]) > begin or float(b.t_max[last]) < end:
        open_bits &= SDI
    # A binary search for the first row that ends at `begin` or later; the motion from the one before it may reach in.
    low = first
    high = last
    while low < high:
        middle = (low + high) // 2
        if float(b.t_max[middle]) < begin:
            low = middle + 1
        else:
            high = middle
    # The predicates of Trajcevski et al. (2004), piece by piece: each row rests, then moves to the next.  Before each
    # round `answers` has what holds for good, and `open_bits` what may still hold: "sometime" needs one piece where it
    # is so, "always" must not meet one where it is not.  What is convex needs a look at the ends of a piece alone.
    row = max(first, low - 1)
    while row <= last and open_bits & ~answers and float(b.t_min[row]) <= end:
        box = b.x_min[row], b.x_max[row], b.y_min[row], b.y_max[row]
        for moves in range(2):
            start = float(b.t_min[row])
            stop = float(b.t_max[row])
            to = row
            if moves:
                if row == last or b.t_max[row] >= b.t_min[row + 1]:
                    continue
                start = stop
                stop = float(b.t_min[row + 1])
                to = row + 1
            if start <= end and stop >= begin:
                p = piece_at(start, stop, box, (b.x_min[to], b.x_max[to], b.y_min[to], b.y_max[to]), begin, end)
                if open_bits & SDI and is_within(p, x, y, half - radius, disc):
                    answers |= SDI
                if open_bits & PAI and not stays_near(p, x, y, half, radius, disc):
                    open_bits &= ~PAI
                if open_bits & DAI and not stays_within(p, x, y, half - radius, disc):
                    open_bits &= ~DAI
        row += 1
    return answers | (open_bits & (PAI | DAI))
