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
"""A tree over n trajectories, complete: node i has the children 2i + 1 and 2i + 2.  Nobody writes to it.

order : int64, one per slot
    The trajectory in each of the n slots; those of a node lie side by side.
first, last : int64, one per node
    Node i has the slots ``first[i]:last[i]``.
low, high : float64, nodes x dimensions of the sketch
    The box around the sketches of a node.
sketch : float64, slots x dimensions
    The sketch of the trajectory in each slot.  The rows that go with a tree are in the order of slots, too.
slack : float
    The square of what rounding can add to the distance of two sketches, see `reach`.
"""

RELATIVE = 1e-6  # the c of `reach`: small, as it makes every search a little wider


@inner
def reach(most, slack):
    """Return the largest squared distance that sketches of rows at distance `most` can show.

    With an error of e the sketches may show (sqrt(most) + e)^2, which is at most most (1 + c) + e^2 (1 + 1/c) for any
    c; `slack` must be the second term for c = `RELATIVE`.
    """
    return most * (1.0 + RELATIVE) + slack


@inner
def row_distance(rows, a, b, most):
    """Return the sum of squared differences of two rows, or something larger than `most` if it is.  O(width).

    `rows` (float64) has an even number of columns.
    """
    # Four sums, so that the processor need not wait for one addition to begin the next; and now and then a look whether
    # the rest matters at all.
    width = rows.shape[1]
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    j = 0
    while j + 16 <= width:
        for i in range(j, j + 16, 4):
            d0 = rows[a, i] - rows[b, i]
            d1 = rows[a, i + 1] - rows[b, i + 1]
            d2 = rows[a, i + 2] - rows[b, i + 2]
            d3 = rows[a, i + 3] - rows[b, i + 3]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
        j += 16
        if (s0 + s1) + (s2 + s3) > most:
            return (s0 + s1) + (s2 + s3)
    while j < width:
        d0 = rows[a, j] - rows[b, j]
        d1 = rows[a, j + 1] - rows[b, j + 1]
        s0 += d0 * d0
        s1 += d1 * d1
        j += 2
    return (s0 + s1) + (s2 + s3)


@inner
def sketch_gap(sketch, a, b):
    """Return the squared distance of two rows of `sketch` (float64): at most that of the trajectories, to rounding."""
    gap = 0.0
    for j in range(sketch.shape[1]):
        d = sketch[a, j] - sketch[b, j]
        gap += d * d
    return gap


@inner
def box_gap(tree, slot, node):
    """Return the squared distance from the sketch in a slot to the box of a node: at most that to any sketch in it."""
    gap = 0.0
    for j in range(tree.sketch.shape[1]):
        value = tree.sketch[slot, j]
        d = max(tree.low[node, j] - value, value - tree.high[node, j])
        if d > 0.0:
            gap += d * d
    return gap


@kernel
def build_tree(sketch, levels):
    """Return (order, first, last, low, high) of a tree with ``2 ** levels`` leaves; every leaf gets a trajectory.

    Row i of `sketch` (float64) is that of trajectory i.
    O(n x (levels + dimensions)) time, O(n + nodes x dimensions) memory.
    """
    n, width = sketch.shape
    inner_nodes = (np.int64(1) << levels) - 1
    nodes = 2 * inner_nodes + 1
    order = np.arange(n)
    first = np.zeros(nodes, np.int64)
    last = np.zeros(nodes, np.int64)
    low = np.empty((nodes, width), np.float64)
    high = np.empty((nodes, width), np.float64)
    last[0] = n
    # A k-d tree from the root down.  Before each round the node knows its slots, and all their trajectories lie on its
    # side of every cut above.  A round draws the box around them and cuts the node in the middle of the widest side, so
    # that its children have equally many; equal coordinates are cut by number, so that trajectories that are all the
    # same lie in order.
    for node in range(nodes):
        begin = first[node]
        end = last[node]
        for j in range(width):
            low[node, j] = sketch[order[begin], j]
            high[node, j] = sketch[order[begin], j]
        for slot in range(begin + 1, end):
            for j in range(width):
                value = sketch[order[slot], j]
                low[node, j] = min(low[node, j], value)
                high[node, j] = max(high[node, j], value)
        if node < inner_nodes:
            widest = np.int64(0)
            for j in range(1, width):
                if high[node, j] - low[node, j] > high[node, widest] - low[node, widest]:
                    widest = j
            middle = (begin + end) >> 1
            _halve(sketch, widest, order, begin, end, middle)
            first[2 * node + 1] = begin
            last[2 * node + 1] = middle
            first[2 * node + 2] = middle
            last[2 * node + 2] = end
    return order, first, last, low, high


@inner
def _halve(sketch, j, order, begin, end, middle):
    """Bring the smallest of ``order[begin:end]`` before `middle`, by coordinate `j` and then by number.  O(n)."""
    # Quickselect (Hoare).  Before each round what is left of left:right is smaller, what is right of it larger, and
    # `middle` is inside.  A round parts it by one of its members and goes on with the side that holds `middle`.
    left = begin
    right = end - 1
    while left < right:
        parting = order[(left + right) >> 1]
        cut = sketch[parting, j]
        a = left
        b = right
        while a <= b:
            while sketch[order[a], j] < cut or (sketch[order[a], j] == cut and order[a] < parting):
                a += 1
            while sketch[order[b], j] > cut or (sketch[order[b], j] == cut and order[b] > parting):
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
