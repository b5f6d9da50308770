"""Positions at a steady pace along the ways that people go through a network."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["sample_walks"]


@kernel
def sample_walks(first_trip, home, pace, plan, arrive, n_points, period, target, towards, left, node_x, node_y):
    """Return x and y every `period` seconds on the trips of people; trip `i` has ``n_points[i]`` positions.

    Person `p` makes the trips ``first_trip[p]:first_trip[p + 1]``: the first from node ``home[p]``, each next one from
    where the one before was heading, to the targets that its row of `plan` lists, over and over; with `arrive` only to
    the first one, where it ends.  From node `v` the way to the node ``target[d]`` goes by ``towards[d, v]`` and takes
    ``left[d, v]`` seconds at pace 1.  O(positions + nodes on the way) time, O(positions) memory.
    """
    rows = np.int64(0)
    for trip in range(n_points.size):
        rows += n_points[trip]
    x = np.empty(rows, np.float64)
    y = np.empty(rows, np.float64)
    row = np.int64(0)
    for p in range(home.size):
        v = home[p]
        for trip in range(first_trip[p], first_trip[p + 1]):
            leg = np.int64(0)
            now = 0.0
            step = 1.0
            after = v
            d = _other_target(plan[trip, 0], v, target)
            for k in range(n_points[trip]):
                due = k * period * pace[p]
                while v != target[d]:
                    after = towards[d, v]
                    step = left[d, v] - left[d, after]
                    if now + step > due:
                        break
                    now += step
                    v = after
                    if v == target[d] and not arrive:
                        leg = (leg + 1) % plan.shape[1]
                        d = _other_target(plan[trip, leg], v, target)
                share = 0.0 if v == target[d] else (due - now) / step
                x[row] = node_x[v] + (node_x[after] - node_x[v]) * share
                y[row] = node_y[v] + (node_y[after] - node_y[v]) * share
                row += 1
            v = target[d]
    return x, y


@inner
def _other_target(d, v, target):
    """Return target `d`, or the next one where `d` is the node `v` itself; of one target there is no other."""
    return d if target[d] != v else (d + 1) % target.size
