"""How far published points are from where their trajectory really was at that time."""

from __future__ import annotations

import math

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["displacements"]


@kernel
def displacements(offsets, t, x, y, to_offsets, to_t, to_x, to_y):
    """Return the distance of each row of the second data from the motion of the same trajectory of the first.

    Trajectory i has the rows ``offsets[i]:offsets[i + 1]`` of the first data (`t` in int64, `x` and `y` in float64),
    and those of `to_offsets` of the second.  Between samples the motion is linear; before the first and after the last
    it rests there.  NaN where the trajectory has no rows in the first data.  O(rows of both) time, O(rows of the
    second) memory.

    Examples
    --------
    >>> one, x = np.array([0, 2]), np.array([0.0, 10.0])
    >>> displacements(one, np.array([0, 10]), x, x * 0, np.array([0, 2]), np.array([5, 20]), x, x * 0 + 3).tolist()
    [5.830951894845301, 3.0]
    """
    found = np.empty(to_t.size, np.float64)
    for trajectory in range(offsets.size - 1):
        j = offsets[trajectory]
        last = offsets[trajectory + 1] - 1
        # Both are in the order of time: j is the last sample that is not after the row, or the first of all.
        for row in range(to_offsets[trajectory], to_offsets[trajectory + 1]):
            if j > last:
                found[row] = np.nan
                continue
            while j < last and t[j + 1] <= to_t[row]:
                j += 1
            true_x = x[j]
            true_y = y[j]
            if j < last and t[j] < to_t[row]:
                u = (float(to_t[row]) - float(t[j])) / (float(t[j + 1]) - float(t[j]))
                true_x = (1.0 - u) * x[j] + u * x[j + 1]
                true_y = (1.0 - u) * y[j] + u * y[j + 1]
            found[row] = math.hypot(to_x[row] - true_x, to_y[row] - true_y)
    return found
