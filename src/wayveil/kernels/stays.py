"""Where somebody stays: rows near one another for some time."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["find_stays"]


@kernel
def find_stays(offsets, t, x, y, duration, radius):
    """Return the part that each row has in a stay: 0 none, 1 the first row, 2 inside, 3 the last row.

    Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; times increase strictly inside a trajectory.

    A stay begins at the first row, not in an earlier stay, from which all rows for at least `duration` are no farther
    than `radius`; it ends before the first row that is.  O(rows) memory; O(rows) time where people either move or
    stay, since one row that is too far away answers for many, and O(rows x rows per `duration`) at worst.
    """
    part = np.zeros(t.size, np.int64)
    for trajectory in range(offsets.size - 1):
        i, high = offsets[trajectory], offsets[trajectory + 1]
        enough, far = i, i
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
                part[row] = 2
            part[i], part[last] = 1, 3
            i = last + 1
    return part


@inner
def _is_far(x, y, one, other, radius):
    dx, dy = x[other] - x[one], y[other] - y[one]
    return dx * dx + dy * dy > radius * radius
