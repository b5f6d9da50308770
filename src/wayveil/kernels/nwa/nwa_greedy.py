"""Greedy clusters around pivots that are far from each other, in a tree of trajectories with common timestamps.

All distances are sums of squares, see `trajectory_tree`.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.nwa.radius_search import find_lowest, nearest, new_search
from wayveil.kernels.nwa.trajectory_tree import box_gap, reach, row_distance, sketch_gap

__all__ = ["greedy_clusters"]

INF = np.inf

_Candidates = namedtuple("_Candidates", ["to_pivots", "free", "farthest", "farthest_number", "lowest"])
"""Who may be the next pivot and who may be a member; for nodes as `_summarize` leaves it.

to_pivots : float64, one per slot
    The distance to the nearest pivot so far; -1 for whoever cannot be a pivot any more.
free : int64, one per slot
    1 for whoever is in no cluster.
farthest, farthest_number : float64 and int64, one per node
    The largest of `to_pivots` in the node and the trajectory that has it, among equals the smallest number; -1 and n
    where there is none.
lowest : int64, one per node
    The smallest number of a free trajectory in the node, n where there is none.
"""


@kernel
def greedy_clusters(tree, rows, owner, core, k, most, first):
    """Return, for every slot, the slot of the pivot of its cluster, or -1.

    The first pivot is in the slot `first`; the next one is the trajectory farthest from all pivots so far, among those
    that are in no cluster and were no pivot; among equals the smallest number.  A pivot takes the nearest trajectory in
    no cluster of each of the `k` - 1 nearest other people.  If they lie within `most` this is a cluster, else the pivot
    is set aside.
    In the end, whoever is in no cluster joins the nearest pivot of a cluster within `most`.

    `rows` and `owner` are as in `radius_search`, `core` (float64, one per slot) is from its `core_distances`.
    Exactly this rule, but a pivot looks only at the parts of the tree where it may change the distance to the nearest
    pivot.  O(n) memory besides the tree; time grows with the number of trajectories that are nearer to a new pivot
    than the distance of the next one, which is about O(n log n) where trajectories have few degrees of freedom.
    """
    n = tree.order.size
    n_nodes = tree.first.size
    search = new_search(n, n_nodes, k - 1)
    label = np.empty(n, np.int64)
    slot_of = np.empty(n, np.int64)
    stack = np.empty(2 * n_nodes, np.int64)
    candidates = _Candidates(
        np.empty(n, np.float64), np.ones(n, np.int64), np.empty(n_nodes, np.float64), np.empty(n_nodes, np.int64),
        np.empty(n_nodes, np.int64),
    )  # fmt: skip
    for slot in range(n):
        label[slot] = -1
        candidates.to_pivots[slot] = INF
        slot_of[tree.order[slot]] = slot
    for back in range(n_nodes):
        _summarize(tree, candidates, n_nodes - 1 - back)

    # Greedy clustering (NWA as in Bonchi's survey; steps 3a to 3c of the specification).  Before each round every
    # trajectory is a member of a cluster, set aside, or may be a pivot, and `to_pivots` is true for the latter.  A
    # round makes the farthest of them a pivot: it founds a cluster or is set aside, to be a member of a later one
    # perhaps.  Who is nearer to it than to all pivots before learns that.  With each round there is a candidate less.
    pivot = first
    while True:
        n_members = np.int64(-1)
        if core[pivot] <= most:  # else too few people are near, whoever is free: no need to search
            n_members = nearest(tree, rows, candidates.free, candidates.lowest, owner, pivot, most, search)
        candidates.to_pivots[pivot] = -1.0
        if n_members >= 0:
            candidates.free[pivot] = 0
            label[pivot] = pivot
            for i in range(n_members):
                slot = search.slot[i]
                candidates.free[slot] = 0
                candidates.to_pivots[slot] = -1.0
                label[slot] = pivot
                _refresh_above(tree, candidates, slot)
        _refresh_above(tree, candidates, pivot)
        _come_nearer(tree, rows, candidates, pivot, stack)
        if candidates.farthest[0] < 0.0:
            break
        pivot = slot_of[candidates.farthest_number[0]]
    _join_nearest_pivot(tree, rows, candidates, label, most, search)
    return label


@inner
def _summarize(tree, candidates, node):
    """Note who of a node is farthest from all pivots, and the smallest number of those in no cluster."""
    n = tree.order.size
    far = -1.0
    number = n
    low = n
    if node < tree.first.size >> 1:
        for child in range(2 * node + 1, 2 * node + 3):
            low = min(low, candidates.lowest[child])
            child_far = candidates.farthest[child]
            child_number = candidates.farthest_number[child]
            if child_far > far or (child_far == far and child_number < number):
                far = child_far
                number = child_number
    else:
        for slot in range(tree.first[node], tree.last[node]):
            if candidates.free[slot] == 1:
                low = min(low, tree.order[slot])
            slot_far = candidates.to_pivots[slot]
            if slot_far > far or (slot_far == far and tree.order[slot] < number):
                far = slot_far
                number = tree.order[slot]
    candidates.farthest[node] = far
    candidates.farthest_number[node] = number
    candidates.lowest[node] = low


@inner
def _refresh_above(tree, candidates, slot):
    """Summarize again the nodes above a slot.  O(log n)."""
    node = np.int64(0)
    leaves_from = tree.first.size >> 1
    while node < leaves_from:
        node = 2 * node + 1
        if slot >= tree.last[node]:
            node += 1
    while True:
        _summarize(tree, candidates, node)
        if node == 0:
            return
        node = (node - 1) >> 1


@inner
def _come_nearer(tree, rows, candidates, pivot, stack):
    """Lower the distance to the nearest pivot wherever the new pivot is nearer than all before.

    `stack` (int64, two per node) is scratch.
    """
    leaves_from = tree.first.size >> 1
    to_pivots = candidates.to_pivots
    # Depth first over the nodes that the pivot can reach: a node whose box is farther from it than its farthest
    # candidate is from the pivots before cannot change.  A node is on the stack twice: on its way down as itself, and
    # on its way up, when its children are done, as -1 - node.
    top = np.int64(1)
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        if node < 0:
            _summarize(tree, candidates, -node - 1)
        elif candidates.farthest[node] > 0.0 and (
            box_gap(tree, pivot, node) <= reach(candidates.farthest[node], tree.slack)
        ):
            if node < leaves_from:
                stack[top] = -node - 1
                stack[top + 1] = 2 * node + 2
                stack[top + 2] = 2 * node + 1
                top += 3
                continue
            for slot in range(tree.first[node], tree.last[node]):
                if to_pivots[slot] > 0.0 and (
                    sketch_gap(tree.sketch, pivot, slot) <= reach(to_pivots[slot], tree.slack)
                ):
                    to_pivots[slot] = min(to_pivots[slot], row_distance(rows, pivot, slot, to_pivots[slot]))
            _summarize(tree, candidates, node)


@inner
def _join_nearest_pivot(tree, rows, candidates, label, most, search):
    """Let everybody in no cluster join the nearest pivot of a cluster within `most` (step 3d); `label` is written."""
    n = tree.order.size
    is_pivot = np.zeros(n, np.int64)
    for slot in range(n):
        if label[slot] == slot:
            is_pivot[slot] = 1
    # From here on those that are found are pivots, not free trajectories.
    find_lowest(tree, is_pivot, candidates.lowest)
    search.people.n_wanted[0] = 1  # one pivot is enough, whoever owns it
    for slot in range(n):
        if candidates.free[slot] == 1 and (
            nearest(tree, rows, is_pivot, candidates.lowest, tree.order, slot, most, search) > 0
        ):
            label[slot] = label[search.slot[0]]
