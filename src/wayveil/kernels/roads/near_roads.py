"""Which roads lie near a point: a tree of boxes over the pieces of all roads.

Roads are drawn by straight pieces.  The pieces are sorted so that neighbours in the plane are mostly neighbours in the
order; eight pieces, then eight boxes, and so on, share a box, up to one box around everything.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Pieces", "RoadTree", "near_roads", "road_pieces", "road_tree"]

_FAN = 8

Pieces = namedtuple("Pieces", ["ax", "ay", "bx", "by", "road", "before", "size"])
"""Straight pieces of roads: both ends, the road, its length before the piece, and the length of the piece."""

RoadTree = namedtuple("RoadTree", ["pieces", "low_x", "low_y", "high_x", "high_y", "level"])
"""Pieces in their order, and boxes: those of level `i` are at ``level[i]:level[i + 1]``; level 0 are the pieces."""


def road_pieces(shape: Any, x: Any, y: Any) -> Pieces:
    """Return the pieces of roads; road `r` is drawn by the points ``shape[r]:shape[r + 1]``, at least two."""
    road = np.repeat(np.arange(len(shape) - 1), np.diff(shape))
    first = np.flatnonzero(road[1:] == road[:-1])
    ax = x[first]
    ay = y[first]
    bx = x[first + 1]
    by = y[first + 1]
    size = np.hypot(bx - ax, by - ay)
    passed = np.concatenate([[0.0], np.cumsum(size)])
    road = road[first]
    before = passed[:-1] - passed[np.searchsorted(road, road)]
    return Pieces(ax, ay, bx, by, road, before, size)


def road_tree(pieces: Pieces) -> RoadTree:
    """Return the tree over at least one piece.  O(n log n) time, O(n) memory."""
    n = len(pieces.road)
    strips = max(1, int(np.sqrt(n / _FAN)))
    strip = np.empty(n, np.int64)
    strip[np.argsort(pieces.ax + pieces.bx, kind="stable")] = np.arange(n) * strips // n
    order = np.lexsort((pieces.ay + pieces.by, strip))
    pieces = Pieces(*(np.ascontiguousarray(column[order]) for column in pieces))
    low_x = [np.minimum(pieces.ax, pieces.bx)]
    low_y = [np.minimum(pieces.ay, pieces.by)]
    high_x = [np.maximum(pieces.ax, pieces.bx)]
    high_y = [np.maximum(pieces.ay, pieces.by)]
    level = [0, n]
    while len(low_x[-1]) > 1:
        groups = np.arange(0, len(low_x[-1]), _FAN)
        for lows in (low_x, low_y):
            lows.append(np.minimum.reduceat(lows[-1], groups))
        for highs in (high_x, high_y):
            highs.append(np.maximum.reduceat(highs[-1], groups))
        level.append(level[-1] + len(groups))
    lows = [np.concatenate(side) for side in (low_x, low_y)]
    highs = [np.concatenate(side) for side in (high_x, high_y)]
    return RoadTree(pieces, lows[0], lows[1], highs[0], highs[1], np.array(level, np.int64))


@kernel
def near_roads(x, y, tree, radius, most):
    """Return the roads within `radius` of each point, nearest first, `most` at most: (first, road, along, away).

    Those of point `i` are at ``first[i]:first[i + 1]``.  A road counts once, with its nearest position: `along` metres
    from its beginning, `away` metres from the point.  Of equal distances the road with the smaller number comes first.
    About O(log pieces + found) time for each point; O(points + found) memory.
    """
    n_levels = tree.level.size - 1
    stack_level = np.empty(_FAN * n_levels + 1, np.int64)
    stack_at = np.empty(_FAN * n_levels + 1, np.int64)
    first = np.zeros(x.size + 1, np.int64)
    road = np.empty(64, np.int64)
    along = np.empty(64, np.float64)
    away = np.empty(64, np.float64)
    reach = radius * radius
    # Each point walks down the tree of boxes with a stack.  Before each round the stack holds the boxes that may have a
    # piece within the radius, and ``begin:end`` the nearest roads so far.  A round takes one box: if it is too far, all
    # below it is dropped; inside the tree, its children are put on the stack; a leaf is a piece of a road.
    for i in range(x.size):
        begin = first[i]
        end = first[i]
        if begin + most > road.size:
            road, along, away = _longer(road, along, away, 2 * road.size + most)
        depth = np.int64(1)
        stack_level[0] = n_levels - 1
        stack_at[0] = 0
        while depth > 0:
            depth -= 1
            level = stack_level[depth]
            at = stack_at[depth]
            box = tree.level[level] + at
            dx = max(tree.low_x[box] - x[i], 0.0, x[i] - tree.high_x[box])
            dy = max(tree.low_y[box] - y[i], 0.0, y[i] - tree.high_y[box])
            if not dx * dx + dy * dy <= reach:
                continue
            if level > 0:
                size = tree.level[level] - tree.level[level - 1]
                for child in range(at * _FAN, min(at * _FAN + _FAN, size)):
                    stack_level[depth] = level - 1
                    stack_at[depth] = child
                    depth += 1
                continue
            square, on = _nearest(tree.pieces, at, x[i], y[i])
            if square <= reach:
                end = _insert((road, along, away), begin, end, most, tree.pieces.road[at], on, square)
        for at in range(begin, end):
            away[at] = np.sqrt(away[at])
        first[i + 1] = end
    return first, road[: first[x.size]].copy(), along[: first[x.size]].copy(), away[: first[x.size]].copy()


@inner
def _nearest(pieces, at, x, y):
    """Return the squared distance from a point to a piece, and where on its road the nearest position is."""
    dx = pieces.bx[at] - pieces.ax[at]
    dy = pieces.by[at] - pieces.ay[at]
    px = x - pieces.ax[at]
    py = y - pieces.ay[at]
    square = dx * dx + dy * dy
    share = 0.0
    if square > 0.0:
        share = min(max((px * dx + py * dy) / square, 0.0), 1.0)
    px = px - share * dx
    py = py - share * dy
    return px * px + py * py, pieces.before[at] + share * pieces.size[at]


@inner
def _insert(lists, begin, end, most, new, on, square):
    """Put a road into the sorted list at ``begin:end``, unless it is there already and nearer; return the new end.

    `lists` are the columns road, along and away of `near_roads`, which are written; away is squared here.
    """
    road, along, away = lists
    at = begin
    while at < end and road[at] != new:
        at += 1
    if at < end and (away[at] < square or (away[at] == square and along[at] <= on)):
        return end
    if at == end:
        if end == begin + most:
            at -= 1  # the list is full: the last one makes room, unless it is better
            if away[at] < square or (away[at] == square and road[at] < new):
                return end
        else:
            end += 1
    # One step of insertion sort: entries that are farther, or as far with a larger number, move up.
    while at > begin and (away[at - 1] > square or (away[at - 1] == square and road[at - 1] > new)):
        road[at] = road[at - 1]
        along[at] = along[at - 1]
        away[at] = away[at - 1]
        at -= 1
    road[at] = new
    along[at] = on
    away[at] = square
    return end


@inner
def _longer(road, along, away, size):
    """Return the three columns with room for `size` entries."""
    longer = np.empty(size, np.int64), np.empty(size, np.float64), np.empty(size, np.float64)
    for i in range(road.size):
        longer[0][i] = road[i]
        longer[1][i] = along[i]
        longer[2][i] = away[i]
    return longer
