"""Where people stop: the place that a point is in, and stretches of low speed."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["place_of_points", "slow_stretches"]


@kernel
def place_of_points(x, y, low, high, candidate, centre_x, centre_y, reach, first_ring, ring, ring_x, ring_y):
    """Return, for every point, the place that it is in, or -1; of several, the one with the nearest centre.

    The places to be tried for point `i` are ``candidate[low[i]:high[i]]``; of centres as near, the first one wins.
    Place `p` has the rings ``first_ring[p]:first_ring[p + 1]``, with corners ``ring[r]:ring[r + 1]``.  With rings, it
    holds what is inside one or within its `reach` of one; without, what is within its `reach` of its centre.
    O(candidates and their corners) time.
    """
    found = np.empty(x.size, np.int64)
    for i in range(x.size):
        best, found[i] = np.inf, -1
        for j in range(low[i], high[i]):
            p = candidate[j]
            dx, dy = x[i] - centre_x[p], y[i] - centre_y[p]
            far = dx * dx + dy * dy
            if far >= best:
                continue
            if first_ring[p] == first_ring[p + 1]:
                inside = far <= reach[p] * reach[p]
            else:
                inside = False
                for r in range(first_ring[p], first_ring[p + 1]):
                    if not inside:
                        inside = _in_ring(x[i], y[i], ring_x, ring_y, ring[r], ring[r + 1], reach[p])
            if inside:
                best, found[i] = far, p
    return found


@kernel
def slow_stretches(offsets, trajectory, t, length, speed, order, mean_share, step_share, duration):
    """Return the first and the last rows of stretches whose speed is low beside that of their trajectory.

    Step `i` leads from row i to row i + 1, `length` long; the last row of a trajectory begins none.  `order` has the
    steps from which stretches grow, those of a trajectory by ascending speed.  A stretch takes in the slower one of the
    two steps beside it, the earlier one of equals, else the other one, as long as its mean speed stays at or below
    `mean_share` and that step at or below `step_share` of the mean speed of the trajectory, and no other stretch has
    the step.  One that ends up shorter than `duration` is given up, and no other grows from its steps.

    O(rows) memory, and O(rows) time but for steps that are tried again: at most as many as fall into `duration`.
    """
    n = t.size
    state = np.zeros(n, np.int64)  # 1: no stretch grows from it any more, 2: taken
    total = np.zeros(offsets.size - 1, np.float64)
    for tr in range(offsets.size - 1):
        for i in range(offsets[tr], offsets[tr + 1] - 1):
            total[tr] += length[i]
    first, last = np.empty(order.size, np.int64), np.empty(order.size, np.int64)
    count = np.int64(0)
    for at in range(order.size):
        seed = order[at]
        if state[seed] != 0:
            continue
        tr = trajectory[seed]
        begin, end = offsets[tr], offsets[tr + 1] - 1
        span = np.float64(t[end] - t[begin])
        mean, step = mean_share * total[tr], step_share * total[tr]
        low, high, way = seed, seed + 1, length[seed]
        if way * span > min(mean, step) * (t[high] - t[low]):
            continue
        growing = True
        while growing:
            growing = False
            left = low > begin and state[low - 1] != 2 and _slow(length, t, low - 1, span, step)
            right = high < end and state[high] != 2 and _slow(length, t, high, span, step)
            later_first = right and (not left or speed[high] < speed[low - 1])
            for turn in range(2):
                if growing:
                    break
                if later_first == (turn == 0):
                    if right and (way + length[high]) * span <= mean * (t[high + 1] - t[low]):
                        way += length[high]
                        high += 1
                        growing = True
                elif left and (way + length[low - 1]) * span <= mean * (t[high] - t[low - 1]):
                    low -= 1
                    way += length[low]
                    growing = True
        long = t[high] - t[low] >= duration
        for i in range(low, high):
            state[i] = 2 if long else 1
        if long:
            first[count], last[count] = low, high
            count += 1
    return first[:count], last[:count]


@inner
def _slow(length, t, i, span, step):
    return length[i] * span <= step * (t[i + 1] - t[i])


@inner
def _in_ring(x, y, ring_x, ring_y, begin, end, reach):
    """Tell whether a point is inside a ring by counting crossings, or within `reach` of its border."""
    inside = False
    before = end - 1
    for i in range(begin, end):
        ax, ay, bx, by = ring_x[before] - x, ring_y[before] - y, ring_x[i] - x, ring_y[i] - y
        if (ay > 0) != (by > 0) and (ax * by - bx * ay > 0) == (by > ay):
            inside = not inside
        dx, dy = bx - ax, by - ay
        size = dx * dx + dy * dy
        share = 0.0 if size == 0 else min(max(-(ax * dx + ay * dy) / size, 0.0), 1.0)
        ax, ay = ax + share * dx, ay + share * dy
        if ax * ax + ay * ay <= reach * reach:
            return True
        before = i
    return inside
