"""Greedy clusters in a small block of trajectories, by a distance that is no metric.

Distances are computed row by row when a pivot first needs them, and kept for the next radius: O(n^2) memory for a block
of n trajectories, which is why blocks are small.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.clusters.nearest_people import is_before, new_people, offer, reset
from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.w4m.w4m_measure import can_lead, compute_distances

__all__ = ["block_clusters"]


@kernel
def block_clusters(block, measure, known, k, radius, order, farthest):
    """Return, for every trajectory, the pivot of its cluster, or -1.

    Pivots come in the given order (int64, a permutation of the trajectories); with `farthest` only the first one does,
    and the next is always the one whose least distance to all pivots so far is largest, among equals the smallest
    number.  A pivot takes the nearest trajectory in no cluster of each of the `k` - 1 nearest other people, and if all
    are within the radius this is a cluster.  In the end, whoever is in no cluster joins the nearest pivot of one if it
    is within the radius.  Within the radius means: edits for EDR, and for LSTD the largest planar distance of two
    paired points.  `known` is extended.  O(n^2) besides the distances.
    """
    n = block.owner.size
    label = np.empty(n, np.int64)
    free = np.ones(n, np.int64)  # 1: in no cluster ("unvisited")
    active = np.ones(n, np.int64)  # 1: free, and was no pivot
    to_pivots = np.empty(n, np.float64)  # the distance to the nearest pivot so far
    seen_for = np.empty(n, np.int64)
    longest = np.int64(0)
    for i in range(n):
        label[i] = -1
        to_pivots[i] = np.inf
        seen_for[i] = -1
        longest = max(longest, block.points.offsets[i + 1] - block.points.offsets[i])
    scratch = np.empty(longest + 1, np.int64)
    people = new_people(k - 1)

    # Greedy clustering, as in NWA (Bonchi's survey, section on NWA; steps 3a to 3c of the specification) with the
    # distances of W4M.  Before each round, whoever is active may still become a pivot.  A round takes the next pivot,
    # which founds a cluster or is set aside; set aside, it may still become a member.  One trajectory less is active
    # after each round, so it ends.
    turn = np.int64(0)
    pivot = order[0]
    while pivot >= 0:
        active[pivot] = 0
        # With `farthest` the distances are needed anyway, to find the next pivot.
        if farthest or can_lead(block, measure, free, pivot, k, radius, seen_for):
            compute_distances(block, measure, known, pivot, scratch)
            if _found_cluster(block, measure, known, free, pivot, radius, people, label):
                for i in range(n):
                    if label[i] == pivot:
                        free[i] = 0
                        active[i] = 0
        following = np.int64(-1)
        if farthest:
            for i in range(n):
                to_pivots[i] = min(to_pivots[i], known.cost[pivot, i])
                if active[i] == 1 and (following < 0 or to_pivots[i] > to_pivots[following]):
                    following = i
        else:
            while turn < n and active[order[turn]] == 0:
                turn += 1
            if turn < n:
                following = order[turn]
        pivot = following
    _join_nearest_pivot(measure, known, label, free, radius)
    return label


@inner
def _found_cluster(block, measure, known, free, pivot, radius, people, label):
    """Let a pivot take the nearest free trajectory of each of the people who are nearest; return whether it can."""
    cost = known.cost[pivot]
    tie = known.tie[pivot]
    owner = block.owner
    reset(people)
    full = False
    for i in range(free.size):
        if free[i] == 1 and owner[i] != owner[pivot] and offer(people, owner[i], cost[i], tie[i], i):
            full = True
    if not full:
        return False
    for slot in range(people.n_people[0]):
        i = people.index[slot]
        within = cost[i] if measure.is_edr else tie[i]
        if within > radius:
            return False
    for slot in range(people.n_people[0]):
        label[people.index[slot]] = pivot
    label[pivot] = pivot
    return True


@inner
def _join_nearest_pivot(measure, known, label, free, radius):
    """Let whoever is free join the nearest pivot of a cluster within the radius (step 3d); `label` is written."""
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
