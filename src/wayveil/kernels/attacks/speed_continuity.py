"""Who could have been in all boxes of a published trajectory in time, if nobody is faster than a top speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["KnownRows", "PublishedRows", "keep_reachable"]


class KnownRows(NamedTuple):
    """What is known: rows ``first[i]:first[i + 1]`` of person i, ascending in t; float64 but for `first`."""

    first: np.ndarray
    t: np.ndarray
    x: np.ndarray
    y: np.ndarray


class PublishedRows(NamedTuple):
    """Boxes: rows ``first[o]:first[o + 1]`` of trajectory o in their sequence; float64 but for `first`."""

    first: np.ndarray
    t_min: np.ndarray
    t_max: np.ndarray
    x_min: np.ndarray
    x_max: np.ndarray
    y_min: np.ndarray
    y_max: np.ndarray


@kernel
def keep_reachable(known, rows, person, trajectory, speed, slack):
    """Tell for each pair of a person and a trajectory whether its boxes can be kept at no more than `speed`.

    Two things must hold.  Each known position is within ``speed * time`` of every box, in a straight line.  And there
    is a way through all boxes and known positions on which neither coordinate changes faster than `speed`; as the two
    coordinates do not depend on each other then, it is enough to know from where to where each can be at a time.
    `slack` metres are for rounding.  O(known rows x boxes) time per pair, no memory.
    """
    is_reachable = np.ones(person.size, np.bool_)
    for e in range(person.size):
        i = person[e]
        o = trajectory[e]
        for at in range(known.first[i], known.first[i + 1]):
            is_reachable[e] = is_reachable[e] and _near_all(known, rows, at, o, speed, slack)
        is_reachable[e] = is_reachable[e] and _has_way(known, rows, i, o, speed, slack)
    return is_reachable


@inner
def _near_all(known, rows, at, o, speed, slack):
    """Return whether a known position is near enough to every box of a trajectory for the time between them."""
    for row in range(rows.first[o], rows.first[o + 1]):
        wait = max(rows.t_min[row] - known.t[at], known.t[at] - rows.t_max[row], 0.0)
        if wait == 0.0:
            continue
        x = max(rows.x_min[row] - known.x[at], known.x[at] - rows.x_max[row], 0.0)
        y = max(rows.y_min[row] - known.y[at], known.y[at] - rows.y_max[row], 0.0)
        if np.sqrt(x * x + y * y) > speed * wait + slack:
            return False
    return True


@inner
def _has_way(known, rows, i, o, speed, slack):
    """Follow boxes and known positions in the order of time.  Where the person can be is a box, too, and only shrinks.

    A box that lasts takes part at its end, so that whoever is in it at any time passes.
    """
    west = -np.inf
    east = np.inf
    south = -np.inf
    north = np.inf
    now = 0.0
    at = known.first[i]
    row = rows.first[o]
    # Before each round the person can be anywhere from west to east and from south to north at the time `now`, and
    # nowhere else.  A round takes the earlier one of the next box and the next known position, lets that area grow by
    # what can be travelled until then, and cuts it with where the person was or may have been.  Nothing left: no way.
    while at < known.first[i + 1] or row < rows.first[o + 1]:
        box = at == known.first[i + 1] or (row < rows.first[o + 1] and rows.t_max[row] < known.t[at])
        if box and rows.t_min[row] < rows.t_max[row]:
            row += 1
            continue
        t = rows.t_max[row] if box else known.t[at]
        step = speed * max(t - now, 0.0) + slack if west > -np.inf else np.inf
        west = max(west - step, (rows.x_min[row] if box else known.x[at]) - slack)
        east = min(east + step, (rows.x_max[row] if box else known.x[at]) + slack)
        south = max(south - step, (rows.y_min[row] if box else known.y[at]) - slack)
        north = min(north + step, (rows.y_max[row] if box else known.y[at]) + slack)
        if west > east or south > north:
            return False
        now = t
        if box:
            row += 1
        else:
            at += 1
    return True
