"""Where somebody stays: rows near one another for some time."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["find_stays"]

# The part that a row has in a stay.
_FIRST = 1
_INSIDE = 2
_LAST = 3


@kernel
def find_stays(offsets, t, x, y, duration, radius):
    """Return the part that each row has in a stay: 0 none, 1 the first row, 2 inside, 3 the last row.

    Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]`` (int64) of `t` (int64), `x` and `y` (float64); times increase
    strictly inside a trajectory.

    A stay begins at the first row, not in an earlier stay, from which all rows for at least `duration` are no farther
    than `radius`; it ends before the first row that is.  O(rows) memory; O(rows) time where people either move or
    stay, since one row that is too far away answers for many, and O(rows x rows per `duration`) at worst.
    """
    part = np.zeros(t.size, np.int64)
    for trajectory in range(offsets.size - 1):
        i = offsets[trajectory]
        high = offsets[trajectory + 1]
        enough = i
        far = i
        # Before each round no stay holds row i.  `enough` is the first row at least `duration` later, and `far` a row
        # up to there that was too far from an earlier one, if any.  A round ends the search if nothing is late enough,
        # goes on to the next row if one in between is too far, which often is the same as before, and else begins a
        # stay that lasts as long as rows are near.
        while i < high:
            while enough < high and t[enough] - t[i] < duration:
                enough += 1
            if enough == high:
                break
            if far <= i or not _is_far(x, y, i, far, radius):
                far = enough
                while far > i and not _is_far(x, y, i, far, radius):
                    far -= 1
            if far > i:
                i += 1
                continue
            last = enough
            while last + 1 < high and not _is_far(x, y, i, last + 1, radius):
                last += 1
            for row in range(i, last):
                part[row] = _INSIDE
            part[i] = _FIRST
            part[last] = _LAST
            i = last + 1
    return part


@inner
def _is_far(x, y, one, other, radius):
    """Tell whether two rows are farther than `radius` from each other."""
    dx = x[other] - x[one]
    dy = y[other] - y[one]
    return dx * dx + dy * dy > radius * radius
