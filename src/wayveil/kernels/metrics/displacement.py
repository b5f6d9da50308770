"""How far published points are from where their trajectory really was at that time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import kernel

__all__ = ["Motions", "displacements"]


class Motions(NamedTuple):
    """Trajectories of points: i has the rows ``offsets[i]:offsets[i + 1]``, by rising `t`; x and y are metres."""

    offsets: NDArray[Any]
    t: NDArray[Any]
    x: NDArray[Any]
    y: NDArray[Any]


@kernel
def displacements(true: Motions, published: Motions) -> Any:
    """Return the distance of each published row from the true motion of the same trajectory.

    Between samples the motion is linear; before the first and after the last it rests there.  NaN where the trajectory
    has no true rows.  O(rows of both) time, O(published rows) memory.

    Examples
    --------
    >>> two, x = np.array([0, 2]), np.array([0.0, 10.0])
    >>> displacements(Motions(two, np.array([0, 10]), x, x * 0), Motions(two, np.array([5, 20]), x, x * 0 + 3)).tolist()
    [5.830951894845301, 3.0]
    """
    distance = np.empty(published.t.size, np.float64)
    for trajectory in range(true.offsets.size - 1):
        j = true.offsets[trajectory]
        last = true.offsets[trajectory + 1] - 1
        # Both are in the order of time: j is the last sample that is not after the row, or the first of all.  So one
        # walk along the two is enough.
        for row in range(published.offsets[trajectory], published.offsets[trajectory + 1]):
            if j > last:
                distance[row] = np.nan
                continue
            t = published.t[row]
            while j < last and true.t[j + 1] <= t:
                j += 1
            true_x = true.x[j]
            true_y = true.y[j]
            if j < last and true.t[j] < t:
                u = (float(t) - float(true.t[j])) / (float(true.t[j + 1]) - float(true.t[j]))
                true_x = (1.0 - u) * true.x[j] + u * true.x[j + 1]
                true_y = (1.0 - u) * true.y[j] + u * true.y[j + 1]
            distance[row] = math.hypot(published.x[row] - true_x, published.y[row] - true_y)
    return distance
