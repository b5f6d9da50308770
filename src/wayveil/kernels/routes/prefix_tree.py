"""The prefix tree of routes: which prefixes enough people share, and which of them is most like another route."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["kept_prefixes"]


class _Tree(NamedTuple):
    """A prefix tree of routes; node 0 is the root.  Made by `_build` and, from `walk` on, by `_number`.

    Parameters
    ----------
    parent, road, depth, example : int64, one per node
        The node above, the road that leads here, how many roads lead here, and a route with this prefix.
    end : int64, one per route
        The node where it ends.
    walk, after : int64, one per node with people
        In the order of a walk through the tree, roads ascending: the node, and the rank of the first one behind all
        that are below it.
    first, ranks : int64, one per road (one more), one per node with people
        The ranks, in this order, of the nodes with road r: ``ranks[first[r]:first[r + 1]]``, ascending.
    """

    parent: Any
    road: Any
    depth: Any
    example: Any
    end: Any
    walk: Any
    after: Any
    first: Any
    ranks: Any


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
    tree, n_nodes = _build(offsets, road, n_roads)
    keeps = np.ones(n, np.int64)
    route = np.zeros(n, np.int64)
    length = np.zeros(n, np.int64)
    people = _count_people(tree, n_nodes, owner_first, owner, by_owner, keeps)
    # BF-P2kA (Pensa et al. 2008): anonymize the prefix tree.  Before each round `people` counts those of the routes
    # that are still in it.  A round takes out every route whose whole way fewer than k people share; as this takes
    # people from shorter prefixes, it is done again until nothing goes.
    while reattach:
        n_cut = np.int64(0)
        for s in range(n):
            if keeps[s] and people[tree.end[s]] < k:
                keeps[s] = 0
                n_cut += 1
        if n_cut == 0:
            break
        people = _count_people(tree, n_nodes, owner_first, owner, by_owner, keeps)
    if reattach:
        _number(tree, n_nodes, people, n_roads)
        _most_similar(tree, offsets, road, keeps, n_roads, route, length)
    # Whoever stays is cut back to what k people share; with `reattach` this is the whole route.
    for s in range(n):
        if keeps[s]:
            node = tree.end[s]
            while node and people[node] < k:
                node = tree.parent[node]
            route[s] = s
            length[s] = tree.depth[node]
    return route, length


@inner
def _build(offsets, road, n_roads):
    """Return the tree of all routes, and how many nodes it has.  O(rows)."""
    n = offsets.size - 1
    rows = road.size
    size = np.int64(4)
    while size < 2 * rows:
        size *= 2
    table = np.zeros(size, np.int64)  # a hash table of (node above, road): the node, 0 where there is none
    per_node = np.zeros(rows + 1, np.int64)
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
                tree.parent[n_nodes] = node
                tree.road[n_nodes] = road[row]
                tree.example[n_nodes] = s
                tree.depth[n_nodes] = tree.depth[node] + 1
                n_nodes += 1
            node = table[slot]
        tree.end[s] = node
    return tree, n_nodes


@inner
def _count_people(tree, n_nodes, owner_first, owner, by_owner, keeps):
    """Return the distinct people of the routes through each node; only routes s with a ``keeps[s]`` of 1 count."""
    people = np.zeros(n_nodes, np.int64)
    last = np.zeros(n_nodes, np.int64)  # the last person who was counted at a node, and one more
    route_of = np.empty(owner.size, np.int64)
    for s in range(owner_first.size - 1):
        for pair in range(owner_first[s], owner_first[s + 1]):
            route_of[pair] = s
    for at in range(by_owner.size):
        person = owner[by_owner[at]] + 1
        route = route_of[by_owner[at]]
        node = tree.end[route] if keeps[route] else np.int64(0)
        while node and last[node] != person:  # where this person was counted, all above was counted as well
            last[node] = person
            people[node] += 1
            node = tree.parent[node]
    return people


@inner
def _number(tree, n_nodes, people, n_roads):
    """Walk through the nodes with people, roads ascending, and note the order; O(nodes + roads)."""
    # Children as chains, in ascending order of roads because they are put in front in descending order: `child` is the
    # first child of a node and `sibling` the next one, 0 where there is none.
    child = np.zeros(n_nodes, np.int64)
    sibling = np.zeros(n_nodes, np.int64)
    first = tree.first
    for node in range(1, n_nodes):
        first[tree.road[node] + 1] += people[node] > 0
    for r in range(n_roads):
        first[r + 1] += first[r]
    fill = first.copy()
    by_road = np.empty(first[n_roads], np.int64)
    for node in range(1, n_nodes):
        if people[node]:
            by_road[fill[tree.road[node]]] = node
            fill[tree.road[node]] += 1
    for at in range(by_road.size - 1, -1, -1):
        node = by_road[at]
        sibling[node] = child[tree.parent[node]]
        child[tree.parent[node]] = node
    # Depth first, without a stack: down to the first child, else to the next sibling of the nearest node that has one.
    fill[:] = first
    rank = np.int64(0)
    node = child[0]
    rank_of = np.zeros(n_nodes, np.int64)
    while node:
        tree.walk[rank] = node
        rank_of[node] = rank
        tree.ranks[fill[tree.road[node]]] = rank
        fill[tree.road[node]] += 1
        rank += 1
        below = child[node]
        while below == 0 and node:
            tree.after[rank_of[node]] = rank
            below = sibling[node]
            node = tree.parent[node]
        node = below


@inner
def _most_similar(tree, offsets, road, keeps, n_roads, route, length):
    """Write for each route that was taken out the prefix with the longest common subsequence to `route`, `length`."""
    n = offsets.size - 1
    longest = np.int64(0)
    for s in range(n):
        longest = max(longest, offsets[s + 1] - offsets[s])
    # Where a road comes last in the route, and for each position where the same road comes before it; -1 if nowhere.
    latest = np.zeros(n_roads, np.int64) - 1
    before = np.zeros(longest, np.int64)
    ranks = np.empty(tree.walk.size, np.int64)
    ends = np.empty(longest + 1, np.int64)
    # The nodes on the way to the one that is looked at: where each is left, and how long the log was before it.
    left = np.empty(longest + 1, np.int64)
    undo_to = np.empty(longest + 1, np.int64)
    # The log: which entries of `ends` were changed, and what they were.
    changed = np.empty(16, np.int64)
    was = np.empty(16, np.int64)
    for s in range(n):
        if keeps[s]:
            continue
        begin = offsets[s]
        size = offsets[s + 1] - offsets[s]
        n_ranks = np.int64(0)
        for i in range(size):
            r = road[begin + i]
            if latest[r] < 0:
                for at in range(tree.first[r], tree.first[r + 1]):
                    ranks[n_ranks] = tree.ranks[at]
                    n_ranks += 1
            before[i] = latest[r]
            latest[r] = i
        ranks[:n_ranks].sort()
        # The longest common subsequence of the route with every prefix at once (Hunt and Szymanski), in one walk
        # through the nodes that have a road of the route; the others change nothing.  ends[i] is the shortest beginning
        # of the route that has a common subsequence of i + 1 roads with the way to the node, so `n_ends` is the length
        # of the longest.  A node puts each position of its road, the last first, in the place of the first that is not
        # before it; what it changed is undone when the walk leaves it.
        n_ends = np.int64(0)
        depth = np.int64(0)
        n_log = np.int64(0)
        best = np.int64(0)
        best_depth = np.int64(0)
        for at in range(n_ranks):
            node = tree.walk[ranks[at]]
            while depth and left[depth - 1] <= ranks[at]:
                depth -= 1
                while n_log > undo_to[depth]:
                    n_log -= 1
                    ends[changed[n_log]] = was[n_log]
                    n_ends -= was[n_log] == longest
            left[depth] = tree.after[ranks[at]]
            undo_to[depth] = n_log
            depth += 1
            i = latest[tree.road[node]]
            while i >= 0:
                low = np.int64(0)
                high = n_ends
                while low < high:  # a binary search: `ends` ascends
                    middle = (low + high) // 2
                    if ends[middle] < i:
                        low = middle + 1
                    else:
                        high = middle
                if low == n_ends:
                    ends[low] = longest
                    n_ends += 1
                if n_log == was.size:
                    more = np.empty(2 * n_log, np.int64)
                    more_was = np.empty(2 * n_log, np.int64)
                    more[:n_log] = changed
                    more_was[:n_log] = was
                    changed = more
                    was = more_was
                changed[n_log] = low
                was[n_log] = ends[low]
                ends[low] = i
                n_log += 1
                i = before[i]
            if n_ends > best or (n_ends == best and tree.depth[node] < best_depth):
                best = n_ends
                best_depth = tree.depth[node]
                route[s] = tree.example[node]
                length[s] = best_depth
        for i in range(size):
            latest[road[begin + i]] = -1
