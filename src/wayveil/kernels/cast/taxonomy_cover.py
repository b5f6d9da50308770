"""Covering places by nodes of a taxonomy whose nodes are numbered in preorder."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["WeightedTree", "cheapest_cover", "cover"]

WeightedTree = namedtuple("WeightedTree", ["last", "parent", "weight"])
"""A taxonomy of places; nobody writes to it.  All arrays are int64, one entry per node, and node 0 is the root.

last : the nodes at or below v are those from v to before ``last[v]``, as they are numbered in preorder
parent : the node above; that of the root is not looked at
weight : what it costs to publish the node; grows upwards
"""


@inner
def cover(node, place, last, parent):
    """Return the lowest node at or above `node` that is at or above `place`: O(height) time, mostly O(1).

    `last` and `parent` are as in `WeightedTree`, and given one by one: this is the innermost loop.
    """
    while place < node or place >= last[node]:
        node = parent[node]
    return node


@kernel
def cheapest_cover(places, nodes, last, weight):
    """Return for each sequence of places the first of the cheapest sequences of nodes that covers it, or -1.

    Parameters
    ----------
    places : int64, (sequences, width)
        Places, as nodes.
    nodes : int64, (groups, width)
        What groups publish.  Node `v` covers the places from `v` to before ``last[v]``.
    last, weight : int64, one per node
        As in `WeightedTree`; a sequence of nodes costs the sum of its weights.

    Notes
    -----
    O(len(places) x len(nodes) x width) time at most, O(len(places)) memory.

    Examples
    --------
    >>> last, weight = np.array([4, 3, 3, 4]), np.array([3, 1, 0, 0])  # node 0 has 1 and 3 below it, 1 has 2
    >>> cheapest_cover(np.array([[2], [3]]), np.array([[0], [1]]), last, weight).tolist()
    [1, 0]
    """
    n, width = places.shape
    n_groups = nodes.shape[0]
    costs = np.zeros(n_groups, np.int64)
    for group in range(n_groups):
        for p in range(width):
            costs[group] += weight[nodes[group, p]]
    cheapest = np.empty(n, np.int64)
    for i in range(n):
        cheapest[i] = -1
        for group in range(n_groups):
            if cheapest[i] >= 0 and costs[group] >= costs[cheapest[i]]:
                continue  # it would not be better: no need to look at its nodes
            p = 0
            while p < width and nodes[group, p] <= places[i, p] < last[nodes[group, p]]:
                p += 1
            if p == width:
                cheapest[i] = group
    return cheapest
