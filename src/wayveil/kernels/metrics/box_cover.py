"""Which published box stands for a true sample."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["smallest_cover"]


@kernel
def smallest_cover(offsets, t, box_offsets, t_min, t_max, area):
    """Return for each sample the smallest area of its trajectory's boxes whose time covers it; -1 where there is none.

    Trajectory i has the samples ``offsets[i]:offsets[i + 1]``, at the times `t`, and the boxes
    ``box_offsets[i]:box_offsets[i + 1]``, each from `t_min` to `t_max` (all int64) and with its `area` (float64).  Both
    are in the order of time.  O(samples + boxes + pairs that cover) time.

    Examples
    --------
    >>> one = np.array([0, 3])
    >>> smallest_cover(one, np.array([0, 2, 9]), one, np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([4.0, 6, 5]))
    array([ 4.,  5., -1.])
    """
    cover = np.empty(t.size, np.float64)
    for trajectory in range(offsets.size - 1):
        box = box_offsets[trajectory]
        stop = box_offsets[trajectory + 1]
        # Before each round, boxes before `box` ended before the sample, and so before all later ones.
        for row in range(offsets[trajectory], offsets[trajectory + 1]):
            while box < stop and t_max[box] < t[row]:
                box += 1
            cover[row] = -1.0
            at = box
            while at < stop and t_min[at] <= t[row]:
                if cover[row] < 0.0 or area[at] < cover[row]:
                    cover[row] = area[at]
                at += 1
    return cover
