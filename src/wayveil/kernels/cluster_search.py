"""Searches in a tree of trajectories: the nearest people of a trajectory, and from which radius on it can be grouped.

All distances are sums of squares, see `cluster_tree`.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.clusters.nearest_people import is_before, new_people, offer, reset
from wayveil.kernels.clusters.trajectory_tree import box_gap, reach, row_distance, sketch_gap
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Search", "core_distances", "find_lowest", "group_distances", "nearest", "new_search"]

Search = namedtuple("Search", ["people", "place", "far", "nodes", "gaps"])
"""Room for a search: what was found lies in `place` and `far`; the rest is for the search itself."""

INF = np.inf


@inner
def new_search(n, n_nodes, others):
    """Return room for a search for `others` people among `n` trajectories."""
    places, far = np.empty(n, np.int64), np.empty(n, np.float64)
    return Search(new_people(others), places, far, np.empty(n_nodes, np.int64), np.empty(n_nodes, np.float64))


@inner
def find_lowest(tree, free, lowest):
    """Note for every node the smallest number of a free trajectory in it, or n where there is none."""
    n, n_nodes = tree.order.size, tree.first.size
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        if node < n_nodes >> 1:
            lowest[node] = min(lowest[2 * node + 1], lowest[2 * node + 2])
        else:
            lowest[node] = n
            for place in range(tree.first[node], tree.last[node]):
                if free[place] == 1:
                    lowest[node] = min(lowest[node], tree.order[place])


@inner
def nearest(tree, rows, free, lowest, owner, at, most, search):
    """Find the nearest other people of the trajectory at place `at`, and of each the nearest free trajectory.

    Returns how many were found, which is as many as wanted, or -1 if some lie beyond `most`; among equal distances the
    smaller number counts as nearer.  ``free[place]`` says who counts, and `lowest` is from `find_lowest`.
    """
    n, leaves_from = tree.order.size, tree.first.size >> 1
    people = search.people
    reset(people)
    far, index = most, n  # the key of the last person, once there are enough
    allowed = reach(far, tree.slack)
    held, full, top = np.int64(0), False, np.int64(1)
    search.nodes[0], search.gaps[0] = 0, 0.0
    while top > 0:
        top -= 1
        node = search.nodes[top]
        if search.gaps[top] > allowed or lowest[node] == n or (far == 0.0 and lowest[node] > index):
            continue
        if node < leaves_from:
            near = 2 * node + 1
            near_gap, gap = box_gap(tree, at, near), box_gap(tree, at, near + 1)
            further = near + 1
            if gap < near_gap or (gap == near_gap and lowest[further] < lowest[near]):
                near, further, near_gap, gap = further, near, gap, near_gap
            search.nodes[top], search.gaps[top] = further, gap
            search.nodes[top + 1], search.gaps[top + 1] = near, near_gap
            top += 2
            continue
        for place in range(tree.first[node], tree.last[node]):
            if free[place] == 0 or place == at or sketch_gap(tree.sketch, at, place) > allowed:
                continue
            d, number = row_distance(rows, at, place, far), tree.order[place]
            if d > far or (d == far and number > index):
                continue
            search.place[held], search.far[held] = place, d
            held += 1
            if owner[place] != owner[at] and offer(people, owner[place], d, 0.0, number):
                full, last = True, people.state[2]
                far, index = people.far[last], people.index[last]
                allowed = reach(far, tree.slack)
    if not full:
        return np.int64(-1)
    kept = np.int64(0)
    for i in range(held):
        place, d = search.place[i], search.far[i]
        if is_before(far, 0.0, index, d, 0.0, tree.order[place]):
            continue
        for person in range(people.state[0]):
            if people.index[person] == tree.order[place]:
                search.place[kept], search.far[kept] = place, d
                kept += 1
    return kept


@kernel
def core_distances(tree, rows, owner, others, begin, end):
    """Return, for the places from `begin` to `end`, how far the trajectories of `others` more people are.

    Infinite where there are not so many.  A search each: about O(log n) nodes where trajectories form clusters.
    """
    n, n_nodes = tree.order.size, tree.first.size
    search, found = new_search(n, n_nodes, others), np.empty(end - begin, np.float64)
    free, lowest = np.ones(n, np.int64), np.empty(n_nodes, np.int64)
    find_lowest(tree, free, lowest)
    for at in range(begin, end):
        held = nearest(tree, rows, free, lowest, owner, at, INF, search)
        found[at - begin] = INF
        if held >= 0:
            found[at - begin] = search.people.far[search.people.state[2]]
    return found


@kernel
def group_distances(tree, rows, core, begin, end):
    """Return, for the places from `begin` to `end`, the smallest radius at which a cluster can hold the trajectory.

    The centre j of a cluster needs a radius of ``core[j]``, and reaches i with their distance: the least over j of
    the larger of the two.  No radius below it can keep i out of the trash, whatever the order of pivots.
    """
    n_nodes = tree.first.size
    leaves_from = n_nodes >> 1
    least = np.empty(n_nodes, np.float64)
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        if node < leaves_from:
            least[node] = min(least[2 * node + 1], least[2 * node + 2])
        else:
            least[node] = INF
            for place in range(tree.first[node], tree.last[node]):
                least[node] = min(least[node], core[place])
    found, nodes = np.empty(end - begin, np.float64), np.empty(n_nodes, np.int64)
    for at in range(begin, end):
        best, top = core[at], np.int64(1)
        nodes[0] = 0
        while top > 0:
            top -= 1
            node = nodes[top]
            if least[node] >= best or box_gap(tree, at, node) > reach(best, tree.slack):
                continue
            if node < leaves_from:
                nodes[top], nodes[top + 1] = 2 * node + 1, 2 * node + 2
                top += 2
                continue
            for place in range(tree.first[node], tree.last[node]):
                if core[place] < best and sketch_gap(tree.sketch, at, place) <= reach(best, tree.slack):
                    best = min(best, max(core[place], row_distance(rows, at, place, best)))
        found[at - begin] = best
    return found
