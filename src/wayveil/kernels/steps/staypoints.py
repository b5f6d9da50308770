"""Stays: stretches of points that remain near one place for a while, whatever the speed of the rest of the trip."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["stay_stretches"]


@kernel
def stay_stretches(offsets, t, x, y, radius, duration, max_stray, gap):
    """Return the first and the last rows of stays, in order.

    Parameters
    ----------
    offsets : int64, one per trajectory and one more
        Trajectory i has the rows ``offsets[i]:offsets[i + 1]``.
    t : int64; x, y : float64; one per row
        When and where, in metres.
    radius : float
        A point belongs to a stay if it is within the radius of the mean of those before it, and the box around all of
        them stays at most twice the radius wide and high.
    duration : int
        A stay lasts at least so long from its first to its last point.
    max_stray : int
        So many points in a row may lie outside, if the next one is inside again.
    gap : int
        Two stays are one if at most so much time passes between them, the mean of the second is within the radius of
        that of the first, and the box around both is small enough.

    Notes
    -----
    O(rows x points that fall into `duration`) time, O(rows) memory.

    Examples
    --------
    >>> t = np.arange(0, 70, 10)
    >>> x = np.array([0.0, 1.0, 90.0, 0.0, 1.0, 500.0, 900.0])  # one stray point, then the person leaves
    >>> first, last = stay_stretches(np.array([0, 7]), t, x, np.zeros(7), 50.0, 40, 1, 0)
    >>> first.tolist(), last.tolist()
    ([0], [4])
    """
    first = np.empty(t.size, np.int64)
    last = np.empty(t.size, np.int64)
    middle_x = np.empty(t.size, np.float64)
    middle_y = np.empty(t.size, np.float64)
    box = np.empty((t.size, 4), np.float64)
    grown = np.empty(4, np.float64)
    count = np.int64(0)
    # Staypoints by distance and time (Li et al. 2008), with a mean instead of the first point, and strays.  Before each
    # round everything before `begin` is in a stay or in none for good.  A round grows a stay from `begin` as far as it
    # goes; a long one is kept and the next begins behind it, otherwise the next begins one point later.
    for tr in range(offsets.size - 1):
        end = offsets[tr + 1]
        begin = offsets[tr]
        own = count
        while begin < end:
            until, mean_x, mean_y = _grow(begin, end, x, y, radius, max_stray, grown)
            if t[until] - t[begin] < duration:
                begin += 1
                continue
            joins = count > own and t[begin] - t[last[count - 1]] <= gap
            if joins:
                before = count - 1
                joins = _within(mean_x - middle_x[before], mean_y - middle_y[before], radius) and _fits(
                    min(grown[0], box[before, 0]), max(grown[1], box[before, 1]),
                    min(grown[2], box[before, 2]), max(grown[3], box[before, 3]), radius,
                )  # fmt: skip
            if joins:
                last[before] = until
                box[before, 0] = min(grown[0], box[before, 0])
                box[before, 1] = max(grown[1], box[before, 1])
                box[before, 2] = min(grown[2], box[before, 2])
                box[before, 3] = max(grown[3], box[before, 3])
            else:
                first[count] = begin
                last[count] = until
                middle_x[count] = mean_x
                middle_y[count] = mean_y
                for side in range(4):
                    box[count, side] = grown[side]
                count += 1
            begin = until + 1
    return first[:count], last[:count]


@inner
def _grow(begin, end, x, y, radius, max_stray, box):
    """Return the last row of the stay that begins at a row, and its mean; `box` (float64, 4) becomes its box."""
    mean_x = x[begin]
    mean_y = y[begin]
    box[0] = x[begin]
    box[1] = x[begin]
    box[2] = y[begin]
    box[3] = y[begin]
    inside = np.int64(1)
    until = begin
    row = begin + 1
    while row < end and row - until <= max_stray + 1:
        low_x = min(box[0], x[row])
        high_x = max(box[1], x[row])
        low_y = min(box[2], y[row])
        high_y = max(box[3], y[row])
        if _within(x[row] - mean_x, y[row] - mean_y, radius) and _fits(low_x, high_x, low_y, high_y, radius):
            inside += 1
            mean_x += (x[row] - mean_x) / inside
            mean_y += (y[row] - mean_y) / inside
            box[0] = low_x
            box[1] = high_x
            box[2] = low_y
            box[3] = high_y
            until = row
        row += 1
    return until, mean_x, mean_y


@inner
def _within(dx, dy, radius):
    """Tell whether a way is at most as long as the radius."""
    return dx * dx + dy * dy <= radius * radius


@inner
def _fits(low_x, high_x, low_y, high_y, radius):
    """Tell whether a box is at most twice the radius wide and high."""
    return high_x - low_x <= 2.0 * radius and high_y - low_y <= 2.0 * radius
