"""A k-d tree over trajectories with common timestamps, cut by a few coordinates that never overstate a distance.

A trajectory is one row of 2 x m numbers, and the distance of two is the sum of squares of their differences: m times
the squared root mean square.  A sketch is a row of few numbers whose distances are at most those of the full rows, so
whatever is too far by its sketch is too far.  Rounding is allowed for: see `reach`.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Tree", "box_gap", "build_tree", "reach", "row_distance", "sketch_gap"]

Tree = namedtuple("Tree", ["order", "first", "last", "low", "high", "sketch", "slack"])
"""Node i has the places ``first[i]:last[i]`` of `order`, the box ``low[i], high[i]`` and the children 2i + 1, 2i + 2.

`order` tells the trajectory at each place.  `sketch` is in the order of places, and so are the rows that go with it.
`slack` is the square of what rounding can add to the distance of two sketches, see `reach`.
"""

RELATIVE = 1e-6


@inner
def reach(most, slack):
    """Return the largest squared distance that sketches of rows at distance `most` can show.

    With an error of e the sketches may show (sqrt(most) + e)^2, which is at most most (1 + c) + e^2 (1 + 1/c) for any
    c; `slack` must be the second term for c = `RELATIVE`.
    """
    return most * (1.0 + RELATIVE) + slack


@inner
def row_distance(rows, a, b, most):
    """Return the sum of squared differences of two rows, or something larger than `most` if it is.  O(width)."""
    width = rows.shape[1]
    s0, s1, s2, s3, j = 0.0, 0.0, 0.0, 0.0, 0
    while j + 16 <= width:
        for i in range(j, j + 16, 4):
            d0, d1 = rows[a, i] - rows[b, i], rows[a, i + 1] - rows[b, i + 1]
            d2, d3 = rows[a, i + 2] - rows[b, i + 2], rows[a, i + 3] - rows[b, i + 3]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        j += 16
        if (s0 + s1) + (s2 + s3) > most:
            return (s0 + s1) + (s2 + s3)
    while j < width:
        d0, d1 = rows[a, j] - rows[b, j], rows[a, j + 1] - rows[b, j + 1]
        s0 += d0 * d0
        s1 += d1 * d1
        j += 2
    return (s0 + s1) + (s2 + s3)


@inner
def sketch_gap(sketch, a, b):
    """Return the squared distance of two sketches."""
    gap = 0.0
    for j in range(sketch.shape[1]):
        d = sketch[a, j] - sketch[b, j]
        gap += d * d
    return gap


@inner
def box_gap(tree, place, node):
    """Return the squared distance from a sketch to the box of a node."""
    gap = 0.0
    for j in range(tree.sketch.shape[1]):
        v = tree.sketch[place, j]
        d = max(tree.low[node, j] - v, v - tree.high[node, j])
        if d > 0.0:
            gap += d * d
    return gap


@kernel
def build_tree(sketch, levels):
    """Return (order, first, last, low, high) of a tree with ``2 ** levels`` leaves; every leaf gets a trajectory.

    O(n x (levels + dimensions)) time, O(n + nodes x dimensions) memory.  Every node is cut in the middle of its widest
    side; equal coordinates are cut by number, so that trajectories that are all the same lie in order.
    """
    n, width = sketch.shape
    inner_nodes = (np.int64(1) << levels) - 1
    nodes = 2 * inner_nodes + 1
    order, first, last = np.arange(n), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    low, high = np.empty((nodes, width), np.float64), np.empty((nodes, width), np.float64)
    last[0] = n
    for node in range(nodes):
        begin, end = first[node], last[node]
        for j in range(width):
            low[node, j] = high[node, j] = sketch[order[begin], j]
        for place in range(begin + 1, end):
            for j in range(width):
                v = sketch[order[place], j]
                low[node, j], high[node, j] = min(low[node, j], v), max(high[node, j], v)
        if node < inner_nodes:
            widest = np.int64(0)
            for j in range(1, width):
                if high[node, j] - low[node, j] > high[node, widest] - low[node, widest]:
                    widest = j
            middle = (begin + end) >> 1
            _halve(sketch, widest, order, begin, end, middle)
            first[2 * node + 1], last[2 * node + 1] = begin, middle
            first[2 * node + 2], last[2 * node + 2] = middle, end
    return order, first, last, low, high


@inner
def _halve(sketch, j, order, begin, end, middle):
    """Bring the smallest of ``order[begin:end]`` before `middle`, by coordinate `j` and then by number."""
    left, right = begin, end - 1
    while left < right:
        c = order[(left + right) >> 1]
        cut, a, b = sketch[c, j], left, right
        while a <= b:
            while sketch[order[a], j] < cut or (sketch[order[a], j] == cut and order[a] < c):
                a += 1
            while sketch[order[b], j] > cut or (sketch[order[b], j] == cut and order[b] > c):
                b -= 1
            if a <= b:
                order[a], order[b] = order[b], order[a]
                a += 1
                b -= 1
        if middle <= b:
            right = b
        elif middle >= a:
            left = a
        else:
            return
