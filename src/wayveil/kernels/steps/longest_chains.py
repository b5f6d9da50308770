"""The longest part of each trajectory that a speed allows."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["longest_chains"]


@kernel
def longest_chains(offsets, t, x, y, speed, look_back):
    """Mark (with 1) the rows of a longest chain of each trajectory: each next row can be reached at `speed`.

    Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]`` (int64) of `t` (int64), `x` and `y` (float64); times increase
    strictly inside a trajectory.

    Of chains of one length, the one that ends first; of predecessors of one length, the latest.  Where more than
    `look_back` rows in a row are left out, only the longest chain before them is tried for going on.  O(rows) time
    where everything can be reached and about that with few outliers, O(rows x look_back) at worst; O(rows) memory.
    """
    longest = np.int64(0)
    for i in range(offsets.size - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    length = np.empty(longest, np.int64)  # of a longest chain that ends with a row
    before = np.empty(longest, np.int64)  # the row before it in this chain, -1 at its beginning
    best = np.empty(longest, np.int64)  # up to a row, the end of the longest chain
    keep = np.empty(t.size, np.int64)
    for row in range(t.size):
        keep[row] = 1
    for i in range(offsets.size - 1):
        low = offsets[i]
        size = offsets[i + 1] - offsets[i]
        # Nearly all trajectories are one chain: look at this first.
        at = np.int64(1)
        while at < size and _reaches(t, x, y, low + at - 1, low + at, speed):
            at += 1
        if at >= size:
            continue
        # Dynamic programming, as for the longest increasing subsequence.  Before round j the longest chains that end
        # with each earlier row are known.  A round looks back for the longest of them that j can be reached from, the
        # latest of equal ones; it stops where nothing further back is longer than what it has.
        for j in range(size):
            length[j] = 1
            before[j] = -1
            at = j - 1
            first = max(np.int64(0), j - look_back)
            while at >= first and length[best[at]] >= length[j]:  # else nothing from here back is longer
                if length[at] >= length[j] and _reaches(t, x, y, low + at, low + j, speed):
                    length[j] = length[at] + 1
                    before[j] = at
                at -= 1
            if first > 0:
                at = best[first - 1]
                if length[at] >= length[j] and _reaches(t, x, y, low + at, low + j, speed):
                    length[j] = length[at] + 1
                    before[j] = at
            best[j] = j
            if j > 0 and length[best[j - 1]] >= length[j]:
                best[j] = best[j - 1]
            keep[low + j] = 0
        at = best[size - 1]
        while at >= 0:
            keep[low + at] = 1
            at = before[at]
    return keep


@inner
def _reaches(t, x, y, one, other, speed):
    """Tell whether one gets from a row to a later one at `speed`."""
    dx = x[other] - x[one]
    dy = y[other] - y[one]
    reach = speed * (t[other] - t[one])
    return dx * dx + dy * dy <= reach * reach
