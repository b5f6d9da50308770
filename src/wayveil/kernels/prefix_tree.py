"""The prefix tree of routes: which prefixes enough people share, and which of them is most like another route."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["kept_prefixes"]


class _Tree(NamedTuple):
    """Nodes of a prefix tree; 0 is the root.

    Per node: the node above, the road that leads here, how many roads lead here, and a route with this prefix.  Per
    route: the node where it ends.  In the order of a walk through the tree, roads ascending: the nodes, and the first
    place after all that is below.  Per road: the places in this order, from `first` on.
    """

    parent: Any
    road: Any
    depth: Any
    example: Any
    end: Any
    walk: Any
    after: Any
    first: Any
    places: Any


@kernel
def kept_prefixes(offsets, road, owner_first, owner, by_owner, n_roads, k, reattach):
    """Return (route, length) per route: it is published as this long a prefix of that route; length 0 if not at all.

    Without `reattach` a route becomes its longest prefix that `k` people share.  With it, routes are taken out until
    `k` people share every prefix of those that stay; one that was taken out becomes the shortest prefix with which it
    has the longest common subsequence, of equal ones the first by its roads.

    Parameters
    ----------
    offsets, road : int64
        The distinct routes: row by row the roads, as codes from 0.
    owner_first, owner, by_owner : int64
        The distinct people of each route, and the positions of these pairs in ascending order of people.

    Notes
    -----
    O(rows) memory, O(rows) time for the tree and for each round of taking out, and per route that was taken out
    ``g log g`` for the ``g`` nodes of the tree that have one of its roads.

    Examples
    --------
    >>> offsets, road = np.array([0, 2, 3, 5]), np.array([0, 1, 0, 2, 1])  # ab, a, cb
    >>> pairs = np.array([0, 2, 3, 4]), np.array([0, 1, 2, 3]), np.array([0, 1, 2, 3])
    >>> [found.tolist() for found in kept_prefixes(offsets, road, *pairs, 3, 2, True)]
    [[0, 1, 0], [2, 1, 2]]
    """
    n = offsets.size - 1
    tree, n_nodes = _built(offsets, road, n_roads)
    keeps, route, length = np.ones(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    people = _people(tree, n_nodes, owner_first, owner, by_owner, keeps)
    while reattach:
        n_cut = np.int64(0)
        for s in range(n):
            if keeps[s] and people[tree.end[s]] < k:
                keeps[s] = 0
                n_cut += 1
        if n_cut == 0:
            break
        people = _people(tree, n_nodes, owner_first, owner, by_owner, keeps)
    if reattach:
        _number(tree, n_nodes, people, n_roads)
        _most_similar(tree, offsets, road, keeps, n_roads, route, length)
    for s in range(n):
        if keeps[s]:
            node = tree.end[s]
            while node and people[node] < k:
                node = tree.parent[node]
            route[s], length[s] = s, tree.depth[node]
    return route, length


@inner
def _built(offsets, road, n_roads):
    n, rows = offsets.size - 1, road.size
    size = np.int64(4)
    while size < 2 * rows:
        size *= 2
    table, per_node = np.zeros(size, np.int64), np.zeros(rows + 1, np.int64)
    tree = _Tree(
        per_node.copy(), per_node.copy(), per_node.copy(), per_node.copy(), np.zeros(n, np.int64),
        per_node.copy(), per_node.copy(), np.zeros(n_roads + 1, np.int64), per_node,
    )  # fmt: skip
    n_nodes = np.int64(1)
    for s in range(n):
        node = np.int64(0)
        for row in range(offsets[s], offsets[s + 1]):
            slot = (((node * n_roads + road[row]) * 0x2545F4914F6CDD1D) >> 20) & (size - 1)
            while table[slot] and (tree.parent[table[slot]] != node or tree.road[table[slot]] != road[row]):
                slot = (slot + 1) & (size - 1)
            if table[slot] == 0:
                table[slot] = n_nodes
                tree.parent[n_nodes], tree.road[n_nodes], tree.example[n_nodes] = node, road[row], s
                tree.depth[n_nodes] = tree.depth[node] + 1
                n_nodes += 1
            node = table[slot]
        tree.end[s] = node
    return tree, n_nodes


@inner
def _people(tree, n_nodes, owner_first, owner, by_owner, keeps):
    """Return the distinct people of the routes through each node; only routes that stay count."""
    people, last = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    route_of = np.empty(owner.size, np.int64)
    for s in range(owner_first.size - 1):
        for pair in range(owner_first[s], owner_first[s + 1]):
            route_of[pair] = s
    for at in range(by_owner.size):
        person, route = owner[by_owner[at]] + 1, route_of[by_owner[at]]
        node = tree.end[route] if keeps[route] else np.int64(0)
        while node and last[node] != person:  # where this person was counted, all above was counted as well
            last[node] = person
            people[node] += 1
            node = tree.parent[node]
    return people


@inner
def _number(tree, n_nodes, people, n_roads):
    """Walk through the nodes with people, roads ascending, and note the order."""
    child, sibling, first = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64), tree.first
    for node in range(1, n_nodes):
        first[tree.road[node] + 1] += people[node] > 0
    for r in range(n_roads):
        first[r + 1] += first[r]
    fill, by_road = first.copy(), np.empty(first[n_roads], np.int64)
    for node in range(1, n_nodes):
        if people[node]:
            by_road[fill[tree.road[node]]] = node
            fill[tree.road[node]] += 1
    for at in range(by_road.size - 1, -1, -1):
        node = by_road[at]
        sibling[node], child[tree.parent[node]] = child[tree.parent[node]], node
    fill[:], place, node = first, np.int64(0), child[0]
    at_place = np.zeros(n_nodes, np.int64)
    while node:
        tree.walk[place], at_place[node] = node, place
        tree.places[fill[tree.road[node]]] = place
        fill[tree.road[node]] += 1
        place += 1
        below = child[node]
        while below == 0 and node:
            tree.after[at_place[node]] = place
            below, node = sibling[node], tree.parent[node]
        node = below


@inner
def _most_similar(tree, offsets, road, keeps, n_roads, route, length):
    """Find for each route that was taken out the prefix with the longest common subsequence.

    Walks through the nodes that have a road of the route.  `ends[i]` is the shortest beginning of the route that has a
    common subsequence of i + 1 roads with the way to the node; what a node changes is undone when it is left.
    """
    n, longest = offsets.size - 1, np.int64(0)
    for s in range(n):
        longest = max(longest, offsets[s + 1] - offsets[s])
    latest, before = np.zeros(n_roads, np.int64) - 1, np.zeros(longest, np.int64)
    places, ends = np.empty(tree.walk.size, np.int64), np.empty(longest + 1, np.int64)
    left, undo_to = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    changed, was = np.empty(16, np.int64), np.empty(16, np.int64)
    for s in range(n):
        if keeps[s]:
            continue
        begin, size, n_places = offsets[s], offsets[s + 1] - offsets[s], np.int64(0)
        for i in range(size):
            r = road[begin + i]
            if latest[r] < 0:
                for at in range(tree.first[r], tree.first[r + 1]):
                    places[n_places] = tree.places[at]
                    n_places += 1
            before[i], latest[r] = latest[r], i
        places[:n_places].sort()
        n_ends, depth, n_log = np.int64(0), np.int64(0), np.int64(0)
        best, best_depth = np.int64(0), np.int64(0)
        for at in range(n_places):
            node = tree.walk[places[at]]
            while depth and left[depth - 1] <= places[at]:
                depth -= 1
                while n_log > undo_to[depth]:
                    n_log -= 1
                    ends[changed[n_log]] = was[n_log]
                    n_ends -= was[n_log] == longest
            left[depth], undo_to[depth] = tree.after[places[at]], n_log
            depth += 1
            i = latest[tree.road[node]]
            while i >= 0:
                low, high = np.int64(0), n_ends
                while low < high:
                    middle = (low + high) // 2
                    if ends[middle] < i:
                        low = middle + 1
                    else:
                        high = middle
                if low == n_ends:
                    ends[low] = longest
                    n_ends += 1
                if n_log == was.size:
                    more, more_was = np.empty(2 * n_log, np.int64), np.empty(2 * n_log, np.int64)
                    more[:n_log], more_was[:n_log] = changed, was
                    changed, was = more, more_was
                changed[n_log], was[n_log], ends[low] = low, ends[low], i
                n_log += 1
                i = before[i]
            if n_ends > best or (n_ends == best and tree.depth[node] < best_depth):
                best, best_depth = n_ends, tree.depth[node]
                route[s], length[s] = tree.example[node], best_depth
        for i in range(size):
            latest[road[begin + i]] = -1
