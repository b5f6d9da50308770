"""Which original stop each published one stands for, as cheaply as can be."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["PlaceTree", "align_stops"]

PlaceTree = namedtuple("PlaceTree", ["first", "last", "kind", "weight"])
"""A taxonomy of places, with an int64 of each for every place; nobody writes to it.

first, last
    Place p is at or below place g if ``first[g] <= first[p] < last[g]``.
kind
    Sensitive places and others stand for their own kind only.
weight
    Generalizing one place to another costs the difference of their weights.
"""


@kernel
def align_stops(offsets, place, new_offsets, new_place, tree, left_out):
    """Return per trajectory the least cost of reading the published stops as a part of the original ones, in order.

    Trajectory i has the original stops ``place[offsets[i]:offsets[i + 1]]`` and, with the other two arrays, the
    published ones (all int64).  A published stop can stand for an original one of the same kind at or below it, and
    costs the difference of their weights; an original stop that none stands for costs `left_out`.  -1 where it cannot
    be done.  O(n * (n - r + 1)) time for r published of n stops, O(longest) memory.
    """
    n = offsets.size - 1
    most = np.int64(0)
    for i in range(n):
        most = max(most, new_offsets[i + 1] - new_offsets[i])
    cost = np.empty(n, np.int64)
    best = np.empty(most + 1, np.int64)
    for i in range(n):
        a = offsets[i]
        n_old = offsets[i + 1] - offsets[i]
        b = new_offsets[i]
        n_new = new_offsets[i + 1] - new_offsets[i]
        # Dynamic programming.  Before round k, best[j] is the least cost of the first k original stops with j published
        # ones used, -1 where that cannot be.  A round leaves stop k out, or lets the j-th published one stand for it;
        # from large j to small, so that best[j - 1] is still that of the round before.
        best[0] = 0
        for j in range(1, n_new + 1):
            best[j] = -1
        for k in range(n_old):
            p = place[a + k]
            # With fewer used than this, those that are left could not all be used.
            for j in range(min(k + 1, n_new), max(0, n_new - n_old + k + 1) - 1, -1):
                match = np.int64(-1)
                if best[j] >= 0:
                    match = best[j] + left_out
                if j > 0 and best[j - 1] >= 0:
                    g = new_place[b + j - 1]
                    if tree.kind[g] == tree.kind[p] and tree.first[g] <= tree.first[p] < tree.last[g]:
                        used = best[j - 1] + abs(tree.weight[p] - tree.weight[g])
                        if match < 0 or used < match:
                            match = used
                best[j] = match
        cost[i] = best[n_new]
    return cost
