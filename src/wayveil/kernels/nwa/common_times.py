"""Which trajectories have the same timestamps."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["same_times"]


@kernel
def same_times(t, begin, end):
    """Return, for every trajectory but the first, 1 if its timestamps are those of the one before it, else 0.

    Trajectory i has the timestamps ``t[begin[i]:end[i]]`` (all int64).  O(rows) time, O(trajectories) memory.
    """
    same = np.zeros(begin.size, np.int64)
    for i in range(1, begin.size):
        length = end[i] - begin[i]
        if length == end[i - 1] - begin[i - 1]:
            same[i] = 1
            for j in range(length):
                if t[begin[i] + j] != t[begin[i - 1] + j]:
                    same[i] = 0
                    break
    return same
