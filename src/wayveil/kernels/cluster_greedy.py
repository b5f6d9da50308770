"""Greedy clusters around pivots that are far from each other, in a tree of trajectories with common timestamps.

All distances are sums of squares, see `cluster_tree`.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.clusters.radius_search import find_lowest, nearest, new_search
from wayveil.kernels.clusters.trajectory_tree import box_gap, reach, row_distance, sketch_gap
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["greedy_clusters"]

INF = np.inf


@kernel
def greedy_clusters(tree, rows, owner, core, k, most, first):
    """Return, for every place, the place of the pivot of its cluster, or -1.

    The first pivot is at place `first`; the next one is the trajectory farthest from all pivots so far, among those
    that are in no cluster and were no pivot; among equals the smallest number.  A pivot takes the nearest trajectory in
    no cluster of each of the `k` - 1 nearest other people.  If they lie within `most` this is a cluster, else the pivot
    is set aside.
    In the end, whoever is in no cluster joins the nearest pivot of a cluster within `most`.

    Exactly this rule, but a pivot looks only at the parts of the tree where it may change the distance to the nearest
    pivot.  O(n) memory besides the tree; time grows with the number of trajectories that are nearer to a new pivot
    than the distance of the next one, which is about O(n log n) where trajectories have few degrees of freedom.
    """
    n, n_nodes = tree.order.size, tree.first.size
    search, label = new_search(n, n_nodes, k - 1), np.empty(n, np.int64)
    free, lowest = np.ones(n, np.int64), np.empty(n_nodes, np.int64)
    apart, best, best_number = np.empty(n, np.float64), np.empty(n_nodes, np.float64), np.empty(n_nodes, np.int64)
    place_of, stack = np.empty(n, np.int64), np.empty(2 * n_nodes, np.int64)
    for place in range(n):
        label[place], apart[place], place_of[tree.order[place]] = -1, INF, place
    for back in range(n_nodes):
        _sum_up(tree, apart, free, best, best_number, lowest, n_nodes - 1 - back)
    pivot = first
    while True:
        held = np.int64(-1)
        if core[pivot] <= most:
            held = nearest(tree, rows, free, lowest, owner, pivot, most, search)
        apart[pivot] = -1.0
        if held >= 0:
            free[pivot], label[pivot] = 0, pivot
            for i in range(held):
                place = search.place[i]
                free[place], apart[place], label[place] = 0, -1.0, pivot
                _refresh(tree, apart, free, best, best_number, lowest, place)
        _refresh(tree, apart, free, best, best_number, lowest, pivot)
        _come_nearer(tree, rows, apart, free, best, best_number, lowest, pivot, stack)
        if best[0] < 0.0:
            break
        pivot = place_of[best_number[0]]
    _join_nearest(tree, rows, free, label, lowest, most, search)
    return label


@inner
def _sum_up(tree, apart, free, best, best_number, lowest, node):
    """Note who of a node is farthest from all pivots, and the smallest number of those in no cluster."""
    n = tree.order.size
    far, number, low = -1.0, n, n
    if node < tree.first.size >> 1:
        for child in range(2 * node + 1, 2 * node + 3):
            low = min(low, lowest[child])
            if best[child] > far or (best[child] == far and best_number[child] < number):
                far, number = best[child], best_number[child]
    else:
        for place in range(tree.first[node], tree.last[node]):
            if free[place] == 1:
                low = min(low, tree.order[place])
            if apart[place] > far or (apart[place] == far and tree.order[place] < number):
                far, number = apart[place], tree.order[place]
    best[node], best_number[node], lowest[node] = far, number, low


@inner
def _refresh(tree, apart, free, best, best_number, lowest, place):
    """Sum up again the nodes above a place.  O(log n)."""
    node, leaves_from = np.int64(0), tree.first.size >> 1
    while node < leaves_from:
        node = 2 * node + 1
        if place >= tree.last[node]:
            node += 1
    while True:
        _sum_up(tree, apart, free, best, best_number, lowest, node)
        if node == 0:
            return
        node = (node - 1) >> 1


@inner
def _come_nearer(tree, rows, apart, free, best, best_number, lowest, pivot, stack):
    """Lower the distance to the nearest pivot wherever the new pivot is nearer than all before."""
    leaves_from, top = tree.first.size >> 1, np.int64(1)
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        if node < 0:
            _sum_up(tree, apart, free, best, best_number, lowest, -node - 1)
        elif best[node] > 0.0 and box_gap(tree, pivot, node) <= reach(best[node], tree.slack):
            if node < leaves_from:
                stack[top], stack[top + 1], stack[top + 2] = -node - 1, 2 * node + 2, 2 * node + 1
                top += 3
                continue
            for place in range(tree.first[node], tree.last[node]):
                if apart[place] > 0.0 and sketch_gap(tree.sketch, pivot, place) <= reach(apart[place], tree.slack):
                    apart[place] = min(apart[place], row_distance(rows, pivot, place, apart[place]))
            _sum_up(tree, apart, free, best, best_number, lowest, node)


@inner
def _join_nearest(tree, rows, free, label, lowest, most, search):
    """Let everybody in no cluster join the nearest pivot of a cluster within `most`."""
    n = tree.order.size
    is_pivot = np.zeros(n, np.int64)
    for place in range(n):
        if label[place] == place:
            is_pivot[place] = 1
    find_lowest(tree, is_pivot, lowest)
    search.people.state[1] = 1  # one pivot is enough, whoever owns it
    for place in range(n):
        if free[place] == 1 and nearest(tree, rows, is_pivot, lowest, tree.order, place, most, search) > 0:
            label[place] = label[search.place[0]]
