"""Greedy clusters in a small block of trajectories, by a distance that is no metric.

Distances are computed row by row when a pivot first needs them, and kept for the next radius: O(n^2) memory for a block
of n trajectories, which is why blocks are small.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.clusters.nearest_people import is_before, new_people, offer, reset
from wayveil.kernels.clusters.w4m_measure import could_lead, know
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["block_clusters"]


@kernel
def block_clusters(block, measure, known, k, radius, order, farthest):
    """Return, for every trajectory, the pivot of its cluster, or -1.

    Pivots come in the given order; with `farthest` only the first one does, and the next is always the one whose least
    distance to all pivots so far is largest, among equals the smallest number.  A pivot takes the nearest trajectory in
    no cluster of each of the `k` - 1 nearest other people, and if all are within the radius this is a cluster.  In the
    end, whoever is in no cluster joins the nearest pivot of one if it is within the radius.  Within the radius means:
    edits for EDR, and for LSTD the largest planar distance of two paired points.  O(n^2) besides the distances.
    """
    n = block.owner.size
    label, free, may_lead = np.empty(n, np.int64), np.ones(n, np.int64), np.ones(n, np.int64)
    people, apart = new_people(k - 1), np.empty(n, np.float64)
    seen, longest = np.empty(n, np.int64), np.int64(0)
    for i in range(n):
        label[i], apart[i], seen[i] = -1, np.inf, -1
        longest = max(longest, block.offsets[i + 1] - block.offsets[i])
    room, turn, pivot = np.empty(longest + 1, np.int64), np.int64(0), order[0]
    while pivot >= 0:
        may_lead[pivot] = 0
        if farthest or could_lead(block, measure, free, pivot, k, radius, seen):
            know(block, measure, known, pivot, room)
            if _lead(block, measure, known, free, pivot, radius, people, label):
                for i in range(n):
                    if label[i] == pivot:
                        free[i], may_lead[i] = 0, 0
        following = np.int64(-1)
        if farthest:
            for i in range(n):
                apart[i] = min(apart[i], known.cost[pivot, i])
                if may_lead[i] == 1 and (following < 0 or apart[i] > apart[following]):
                    following = i
        else:
            while turn < n and may_lead[order[turn]] == 0:
                turn += 1
            if turn < n:
                following = order[turn]
        pivot = following
    _join(measure, known, label, free, radius)
    return label


@inner
def _lead(block, measure, known, free, pivot, radius, people, label):
    """Let a pivot take the nearest free trajectory of each of the people who are nearest; return whether it can."""
    cost, tie, owner = known.cost[pivot], known.tie[pivot], block.owner
    reset(people)
    full = False
    for i in range(free.size):
        if free[i] == 1 and owner[i] != owner[pivot] and offer(people, owner[i], cost[i], tie[i], i):
            full = True
    if not full:
        return False
    for place in range(people.state[0]):
        i = people.index[place]
        within = cost[i] if measure.is_edr else tie[i]
        if within > radius:
            return False
    for place in range(people.state[0]):
        label[people.index[place]] = pivot
    label[pivot] = pivot
    return True


@inner
def _join(measure, known, label, free, radius):
    for i in range(free.size):
        if free[i] == 0:
            continue
        best = np.int64(-1)
        for p in range(free.size):
            if label[p] == p and (
                best < 0
                or is_before(known.cost[p, i], known.tie[p, i], p, known.cost[best, i], known.tie[best, i], best)
            ):
                best = p
        if best >= 0:
            within = 1.0 * known.cost[best, i] if measure.is_edr else known.tie[best, i]
            if within <= radius:
                label[i] = best
