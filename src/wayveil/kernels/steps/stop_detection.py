"""Where people stop: the place that a point is in, and stretches of low speed."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["PlaceShapes", "Steps", "place_of_points", "slow_stretches"]

PlaceShapes = namedtuple("PlaceShapes", ["centre_x", "centre_y", "reach", "first_ring", "ring", "ring_x", "ring_y"])
"""Where places are; nobody writes to it.

centre_x, centre_y, reach : float64, one per place
    The middle of a place, and how far around its middle or its rings it goes.
first_ring : int64, one per place and one more
    Place p has the rings ``first_ring[p]:first_ring[p + 1]``, or none.
ring : int64, one per ring and one more
    Ring r has the corners ``ring[r]:ring[r + 1]``.
ring_x, ring_y : float64, one per corner
    Where it is.
"""

Steps = namedtuple("Steps", ["trajectory", "t", "length", "speed", "order"])
"""Steps of trajectories: step i leads from row i to row i + 1; the last row of a trajectory begins none.

trajectory, t : int64, one per row
    Whose row it is, and when.
length, speed : float64, one per row
    Of the step that it begins.
order : int64
    The steps from which stretches grow, those of a trajectory by ascending speed.
"""

# What became of a step.
_UNTRIED = 0
_GIVEN_UP = 1  # no stretch grows from it any more, but one may take it in
_TAKEN = 2


@kernel
def place_of_points(x, y, low, high, candidate, shapes):
    """Return, for every point, the place that it is in, or -1; of several, the one with the nearest centre.

    The places to be tried for the point at x[i], y[i] (float64) are ``candidate[low[i]:high[i]]`` (all int64); of
    centres as near, the first one wins.  With rings, a place holds what is inside one or within its `reach` of one;
    without, what is within its `reach` of its centre.
    O(candidates and their corners) time.
    """
    place = np.empty(x.size, np.int64)
    for i in range(x.size):
        best = np.inf
        place[i] = -1
        for j in range(low[i], high[i]):
            p = candidate[j]
            dx = x[i] - shapes.centre_x[p]
            dy = y[i] - shapes.centre_y[p]
            far = dx * dx + dy * dy
            if far >= best:
                continue
            reach = shapes.reach[p]
            if shapes.first_ring[p] == shapes.first_ring[p + 1]:
                inside = far <= reach * reach
            else:
                inside = False
                for r in range(shapes.first_ring[p], shapes.first_ring[p + 1]):
                    inside = inside or _in_ring(x[i], y[i], shapes, r, reach)
            if inside:
                best = far
                place[i] = p
    return place


@kernel
def slow_stretches(offsets, steps, mean_share, step_share, duration):
    """Return the first and the last rows of stretches whose speed is low beside that of their trajectory.

    A stretch takes in the slower one of the two steps beside it, the earlier one of equals, else the other one, as long
    as its mean speed stays at or below `mean_share` and that step at or below `step_share` of the mean speed of the
    trajectory, and no other stretch has the step.  One that ends up shorter than `duration` is given up, and no other
    grows from its steps.  Trajectory i has the rows ``offsets[i]:offsets[i + 1]`` (int64).

    O(rows) memory, and O(rows) time but for steps that are tried again: at most as many as fall into `duration`.
    """
    t = steps.t
    length = steps.length
    order = steps.order
    became = np.zeros(t.size, np.int64)  # of each step: `_UNTRIED`, `_GIVEN_UP` or `_TAKEN`
    total = np.zeros(offsets.size - 1, np.float64)
    for tr in range(offsets.size - 1):
        for i in range(offsets[tr], offsets[tr + 1] - 1):
            total[tr] += length[i]
    first = np.empty(order.size, np.int64)
    last = np.empty(order.size, np.int64)
    count = np.int64(0)
    # CB-SMoT (Palma et al. 2008), as stretches that grow.  Before each round stretches that are long enough have their
    # steps for good.  A round starts with the slowest step that was not tried and takes in one neighbour after the
    # other.  Speeds are compared as products of lengths and times, so that nothing is divided by zero.
    for at in range(order.size):
        seed = order[at]
        if became[seed] != _UNTRIED:
            continue
        tr = steps.trajectory[seed]
        begin = offsets[tr]
        end = offsets[tr + 1] - 1
        span = np.float64(t[end] - t[begin])
        mean = mean_share * total[tr]
        step = step_share * total[tr]
        low = seed
        high = seed + 1
        way = length[seed]
        if way * span > min(mean, step) * (t[high] - t[low]):
            continue
        growing = True
        while growing:
            growing = False
            left = low > begin and became[low - 1] != _TAKEN and _is_slow(length, t, low - 1, span, step)
            right = high < end and became[high] != _TAKEN and _is_slow(length, t, high, span, step)
            later_first = right and (not left or steps.speed[high] < steps.speed[low - 1])
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
        is_long = t[high] - t[low] >= duration
        for i in range(low, high):
            became[i] = _TAKEN if is_long else _GIVEN_UP
        if is_long:
            first[count] = low
            last[count] = high
            count += 1
    return first[:count], last[:count]


@inner
def _is_slow(length, t, i, span, step):
    """Tell whether step i is at most as fast as `step` in the time `span`."""
    return length[i] * span <= step * (t[i + 1] - t[i])


@inner
def _in_ring(x, y, shapes, r, reach):
    """Tell whether a point is inside ring r, or within `reach` of its border."""
    begin = shapes.ring[r]
    end = shapes.ring[r + 1]
    ring_x = shapes.ring_x
    ring_y = shapes.ring_y
    # A ray from the point crosses the border an odd number of times if the point is inside.  Side by side, seen from
    # the point: does the side cross the ray, and how near does it come?
    inside = False
    before = end - 1
    for i in range(begin, end):
        ax = ring_x[before] - x
        ay = ring_y[before] - y
        bx = ring_x[i] - x
        by = ring_y[i] - y
        if (ay > 0) != (by > 0) and (ax * by - bx * ay > 0) == (by > ay):
            inside = not inside
        dx = bx - ax
        dy = by - ay
        size = dx * dx + dy * dy
        share = 0.0 if size == 0 else min(max(-(ax * dx + ay * dy) / size, 0.0), 1.0)
        ax = ax + share * dx
        ay = ay + share * dy
        if ax * ax + ay * ay <= reach * reach:
            return True
        before = i
    return inside
