"""Searches in a tree of trajectories: the nearest people of a trajectory, and from which radius on it can be grouped.

All distances are sums of squares, see `trajectory_tree`.  In every function `tree` is a `Tree`, `rows` (float64, slots
x 2 m) has the trajectories in the order of its slots, and `owner` (int64, one per slot) tells whose they are.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.clusters.nearest_people import is_before, new_people, offer, reset
from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.nwa.trajectory_tree import box_gap, reach, row_distance, sketch_gap

__all__ = ["Search", "core_distances", "find_lowest", "group_distances", "nearest", "new_search"]

Search = namedtuple("Search", ["people", "slot", "far", "nodes", "gaps"])
"""Room for one search after the other, written by `nearest`.

people : People
    The nearest people so far.
slot, far : int64 and float64, one per trajectory
    What was found: slots, and how far they are.
nodes, gaps : int64 and float64, one per node
    A stack of nodes to look at, and how far their boxes are.
"""

INF = np.inf


@inner
def new_search(n, n_nodes, others):
    """Return room for a search for `others` people among `n` trajectories."""
    slots = np.empty(n, np.int64)
    far = np.empty(n, np.float64)
    return Search(new_people(others), slots, far, np.empty(n_nodes, np.int64), np.empty(n_nodes, np.float64))


@inner
def find_lowest(tree, free, lowest):
    """Write to `lowest` for every node the smallest number of a free trajectory in it, or n where there is none.

    ``free[slot]`` (int64) is 1 for those that count; `lowest` (int64) has one entry per node.
    """
    n = tree.order.size
    n_nodes = tree.first.size
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        if node < n_nodes >> 1:
            lowest[node] = min(lowest[2 * node + 1], lowest[2 * node + 2])
        else:
            lowest[node] = n
            for slot in range(tree.first[node], tree.last[node]):
                if free[slot] == 1:
                    lowest[node] = min(lowest[node], tree.order[slot])


@inner
def nearest(tree, rows, free, lowest, owner, at, most, search):
    """Find the nearest other people of the trajectory at slot `at`, and of each the nearest free trajectory.

    Returns how many were found, which is as many as wanted, or -1 if some lie beyond `most`; among equal distances the
    smaller number counts as nearer.  ``free[slot]`` says who counts, and `lowest` is from `find_lowest`.
    """
    n = tree.order.size
    leaves_from = tree.first.size >> 1
    people = search.people
    reset(people)
    # The key of the last of the nearest people, once there are enough; until then the farthest that counts.
    far = most
    index = n
    allowed = reach(far, tree.slack)
    n_held = np.int64(0)
    full = False
    top = np.int64(1)
    search.nodes[0] = 0
    search.gaps[0] = 0.0
    # Branch and bound, nearest child first.  Before each round, whoever belongs to the answer is held or lies in a node
    # on the stack.  A round takes the last node: it is left out if its box is too far, if nobody in it is free, or if
    # all it could add are trajectories at distance 0 with larger numbers than the last person's; an inner node is
    # replaced by its children, the nearer one on top.  Each person who comes nearer pulls `far` in.
    while top > 0:
        top -= 1
        node = search.nodes[top]
        if search.gaps[top] > allowed or lowest[node] == n or (far == 0.0 and lowest[node] > index):
            continue
        if node < leaves_from:
            near = 2 * node + 1
            near_gap = box_gap(tree, at, near)
            gap = box_gap(tree, at, near + 1)
            further = near + 1
            if gap < near_gap or (gap == near_gap and lowest[further] < lowest[near]):
                near, further, near_gap, gap = further, near, gap, near_gap
            search.nodes[top] = further
            search.gaps[top] = gap
            search.nodes[top + 1] = near
            search.gaps[top + 1] = near_gap
            top += 2
            continue
        for slot in range(tree.first[node], tree.last[node]):
            if free[slot] == 0 or slot == at or sketch_gap(tree.sketch, at, slot) > allowed:
                continue
            d = row_distance(rows, at, slot, far)
            number = tree.order[slot]
            if d > far or (d == far and number > index):
                continue
            search.slot[n_held] = slot
            search.far[n_held] = d
            n_held += 1
            if owner[slot] != owner[at] and offer(people, owner[slot], d, 0.0, number):
                full = True
                last = people.last[0]
                far = people.far[last]
                index = people.index[last]
                allowed = reach(far, tree.slack)
    if not full:
        return np.int64(-1)
    # Of all that were held on the way, those stay that are the nearest of one of the people.
    n_kept = np.int64(0)
    for i in range(n_held):
        slot = search.slot[i]
        d = search.far[i]
        if is_before(far, 0.0, index, d, 0.0, tree.order[slot]):
            continue
        for person in range(people.n_people[0]):
            if people.index[person] == tree.order[slot]:
                search.slot[n_kept] = slot
                search.far[n_kept] = d
                n_kept += 1
    return n_kept


@kernel
def core_distances(tree, rows, owner, others, begin, end):
    """Return, for the slots from `begin` to `end`, how far the trajectories of `others` more people are.

    Infinite where there are not so many.  A search each: about O(log n) nodes where trajectories form clusters.
    """
    n = tree.order.size
    n_nodes = tree.first.size
    search = new_search(n, n_nodes, others)
    distance = np.empty(end - begin, np.float64)
    free = np.ones(n, np.int64)
    lowest = np.empty(n_nodes, np.int64)
    find_lowest(tree, free, lowest)
    for at in range(begin, end):
        n_held = nearest(tree, rows, free, lowest, owner, at, INF, search)
        distance[at - begin] = INF
        if n_held >= 0:
            distance[at - begin] = search.people.far[search.people.last[0]]
    return distance


@kernel
def group_distances(tree, rows, core, begin, end):
    """Return, for the slots from `begin` to `end`, the smallest radius at which a cluster can hold the trajectory.

    The centre j of a cluster needs a radius of ``core[j]`` (float64, one per slot, see `core_distances`), and reaches i
    with their distance: the least over j of the larger of the two.  No radius below it can keep i out of the trash,
    whatever the order of pivots.
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
            for slot in range(tree.first[node], tree.last[node]):
                least[node] = min(least[node], core[slot])
    distance = np.empty(end - begin, np.float64)
    nodes = np.empty(n_nodes, np.int64)
    for at in range(begin, end):
        # As in `nearest`: before each round, a centre that is better than `best` can only lie in a node on the stack.
        best = core[at]
        top = np.int64(1)
        nodes[0] = 0
        while top > 0:
            top -= 1
            node = nodes[top]
            if least[node] >= best or box_gap(tree, at, node) > reach(best, tree.slack):
                continue
            if node < leaves_from:
                nodes[top] = 2 * node + 1
                nodes[top + 1] = 2 * node + 2
                top += 2
                continue
            for slot in range(tree.first[node], tree.last[node]):
                if core[slot] < best and sketch_gap(tree.sketch, at, slot) <= reach(best, tree.slack):
                    best = min(best, max(core[slot], row_distance(rows, at, slot, best)))
        distance[at - begin] = best
    return distance
