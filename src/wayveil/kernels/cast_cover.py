"""Covering places by nodes of a taxonomy whose nodes are numbered in preorder."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["cheapest_cover", "cover"]


@inner
def cover(node, place, last, parent):
    """Return the lowest node at or above `node` that is at or above `place`: O(height) time, mostly O(1)."""
    while place < node or place >= last[node]:
        node = parent[node]
    return node


@kernel
def cheapest_cover(places, nodes, last, weight):
    """Return for each sequence of places the first of the cheapest sequences of nodes that covers it, or -1.

    Node `v` covers the places from `v` to before ``last[v]``; a sequence of nodes costs the sum of its weights.
    O(len(places) x len(nodes) x width) time at most, O(len(places)) memory.

    Examples
    --------
    >>> last, weight = np.array([4, 3, 3, 4]), np.array([3, 1, 0, 0])  # node 0 has 1 and 3 below it, 1 has 2
    >>> cheapest_cover(np.array([[2], [3]]), np.array([[0], [1]]), last, weight).tolist()
    [1, 0]
    """
    n, width = places.shape
    found, costs = np.empty(n, np.int64), np.zeros(nodes.shape[0], np.int64)
    for group in range(nodes.shape[0]):
        for p in range(width):
            costs[group] += weight[nodes[group, p]]
    for i in range(n):
        found[i] = -1
        for group in range(nodes.shape[0]):
            if found[i] >= 0 and costs[group] >= costs[found[i]]:
                continue
            p = 0
            while p < width and nodes[group, p] <= places[i, p] < last[nodes[group, p]]:
                p += 1
            if p == width:
                found[i] = group
    return found
