"""Which published box stands for a true sample."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["smallest_cover"]


@kernel
def smallest_cover(offsets, t, box_offsets, t_min, t_max, area):
    """Return for each sample the smallest area of its trajectory's boxes whose time covers it; -1 where there is none.

    Trajectory i of the samples has the boxes of trajectory i.  O(samples + boxes + pairs that cover) time.

    Examples
    --------
    >>> one = np.array([0, 3])
    >>> smallest_cover(one, np.array([0, 2, 9]), one, np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([4.0, 6, 5]))
    array([ 4.,  5., -1.])
    """
    found = np.empty(t.size, np.float64)
    for trajectory in range(offsets.size - 1):
        box, stop = box_offsets[trajectory], box_offsets[trajectory + 1]
        for row in range(offsets[trajectory], offsets[trajectory + 1]):
            while box < stop and t_max[box] < t[row]:
                box += 1
            found[row] = -1.0
            at = box
            while at < stop and t_min[at] <= t[row]:
                if found[row] < 0.0 or area[at] < found[row]:
                    found[row] = area[at]
                at += 1
    return found
