"""Positions at a steady pace along the ways that people go through a network."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Walkers", "WaysToTargets", "sample_walks"]

Walkers = namedtuple("Walkers", ["first_trip", "home", "pace", "plan", "n_points"])
"""Who goes where; nobody writes to it.

first_trip : int64, one per person and one more
    Person p makes the trips ``first_trip[p]:first_trip[p + 1]``.
home : int64, one per person
    The node where the first trip begins.
pace : float64, one per person
    How fast somebody goes, 1 as fast as roads allow.
plan : int64, trips x legs
    The targets of a trip, over and over.
n_points : int64, one per trip
    How many positions are sampled.
"""

WaysToTargets = namedtuple("WaysToTargets", ["target", "towards", "left", "x", "y"])
"""The shortest ways through the network to a few targets; nobody writes to it.

target : int64, one per target
    The node of a target.
towards, left : int64 and float64, targets x nodes
    The next node on the way from a node to a target, and how many seconds are left from there at pace 1.
x, y : float64, one per node
"""


@kernel
def sample_walks(trips, arrive, period, ways):
    """Return x and y every `period` seconds on `trips` along `ways`.

    The first trip of a person begins at home, each next one where the one before was heading.  It goes to the targets
    of its plan, over and over; with `arrive` only to the first one, where it ends.  O(positions + nodes on the way)
    time, O(positions) memory.
    """
    first_trip = trips.first_trip
    home = trips.home
    pace = trips.pace
    plan = trips.plan
    n_points = trips.n_points
    target = ways.target
    towards = ways.towards
    left = ways.left
    node_x = ways.x
    node_y = ways.y
    rows = np.int64(0)
    for trip in range(n_points.size):
        rows += n_points[trip]
    x = np.empty(rows, np.float64)
    y = np.empty(rows, np.float64)
    row = np.int64(0)
    # Before each position of a trip somebody has left node v at `now` seconds of the trip at pace 1, on the way to
    # target d, and `step` seconds lead to the node `after`.  A round passes the nodes that are reached before the
    # position is due, goes on to the next target where one is reached, and puts the position between two nodes.
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
