"""The C-tree (Gurung et al. 2014, section 4.2): which clusters share enough roads with a route, by unions of roads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["MOST_ENTRIES", "Tree", "add_cluster", "grown_tree", "new_tree", "similar_in_tree", "widen_cluster"]

MOST_ENTRIES = 16
"""How many entries a node holds before it is split."""


class Tree(NamedTuple):
    """Items are nodes and clusters; both have a set of roads, one bit per road.

    Parameters
    ----------
    bits : int64, `words` per item
        The roads that occur in the item, 64 per word.
    parent, cluster, n_entries : int64, one per item
        The node above, -1 for the root; the cluster, -1 for nodes; how many entries a node has.
    entry : int64, `MOST_ENTRIES` + 1 per item
        The items below a node; room for one more than may stay, for the entry that makes it split.
    of_cluster : int64, one per cluster
        The item of a cluster.
    stack : int64, one per item
        Room for the nodes still to be visited.
    words : int
        How many words an item has.
    n_items, root, depth : int64, arrays of one
        Number of items, the node at the top, and how many levels of nodes there are.
    """

    bits: Any
    parent: Any
    cluster: Any
    n_entries: Any
    entry: Any
    of_cluster: Any
    stack: Any
    words: Any
    n_items: Any
    root: Any
    depth: Any


@inner
def new_tree(n_items, n_clusters, n_roads):
    """Return a tree of one empty node, with room for `n_items` items."""
    words = (n_roads >> 6) + 1
    one = np.zeros(n_items, np.int64)
    tree = Tree(
        np.zeros(n_items * words, np.int64),
        one.copy(),
        one.copy(),
        one,
        np.zeros(n_items * (MOST_ENTRIES + 1), np.int64),
        np.zeros(n_clusters, np.int64),
        np.zeros(n_items, np.int64),
        words,
        np.ones(1, np.int64),
        np.zeros(1, np.int64),
        np.ones(1, np.int64),
    )
    tree.parent[0] = -1
    tree.cluster[0] = -1
    return tree


@inner
def grown_tree(tree):
    """Return the tree, in twice the room if one more cluster and the splits that it may cause need it."""
    n = tree.parent.size
    need = tree.n_items[0] + tree.depth[0] + 2
    if need <= n:
        return tree
    bigger = new_tree(2 * need, tree.of_cluster.size, 64 * (tree.words - 1))
    bigger.bits[: tree.bits.size] = tree.bits
    bigger.parent[:n] = tree.parent
    bigger.cluster[:n] = tree.cluster
    bigger.n_entries[:n] = tree.n_entries
    bigger.entry[: tree.entry.size] = tree.entry
    bigger.of_cluster[:] = tree.of_cluster
    bigger.n_items[0] = tree.n_items[0]
    bigger.root[0] = tree.root[0]
    bigger.depth[0] = tree.depth[0]
    return bigger


@inner
def similar_in_tree(tree, roads, n_roads, share, candidates, common):
    """Write the clusters that have more than a share of these distinct roads to `candidates`; return how many.

    `roads` (int64) has the `n_roads` roads first; `share` is a numerator and a denominator.  `candidates` and `common`
    (int64, one per cluster) are written: how many roads a cluster shares goes to `common`.
    """
    # Before each round, a cluster that shares enough is found or lies below a node on the stack.  A node is passed by
    # if its union of roads does not have enough of them: no cluster below it can have more.
    n_found = np.int64(0)
    n_stack = np.int64(1)
    tree.stack[0] = tree.root[0]
    while n_stack:
        n_stack -= 1
        node = tree.stack[n_stack]
        for at in range(tree.n_entries[node]):
            item = tree.entry[node * (MOST_ENTRIES + 1) + at]
            shared = _n_shared(tree, item, roads, n_roads)
            if shared * share[1] > share[0] * n_roads:
                if tree.cluster[item] < 0:
                    tree.stack[n_stack] = item
                    n_stack += 1
                else:
                    candidates[n_found] = tree.cluster[item]
                    common[tree.cluster[item]] = shared
                    n_found += 1
    return n_found


@inner
def add_cluster(tree, cluster, roads, n_roads):
    """Add a new cluster with these distinct roads below the most similar leaf; full nodes are split, up to the root."""
    item = _new_item(tree, cluster)
    tree.of_cluster[cluster] = item
    for at in range(n_roads):
        _add_road(tree, item, roads[at])
    # Down to a leaf, always to the entry that shares most roads, of equal ones the first.
    node = tree.root[0]
    while tree.n_entries[node] and tree.cluster[tree.entry[node * (MOST_ENTRIES + 1)]] < 0:
        best = np.int64(-1)
        most = np.int64(-1)
        for at in range(tree.n_entries[node]):
            child = tree.entry[node * (MOST_ENTRIES + 1) + at]
            shared = _n_shared(tree, child, roads, n_roads)
            if shared > most:
                best = child
                most = shared
        node = best
    _put(tree, node, item)
    widen_cluster(tree, cluster, roads, n_roads)
    # Up again while nodes are too full: each split gives the node above one entry more, and the root a node above it.
    while tree.n_entries[node] > MOST_ENTRIES:
        above = tree.parent[node]
        if above < 0:
            above = _new_item(tree, -1)
            tree.parent[above] = -1
            tree.root[0] = above
            tree.depth[0] += 1
            _put(tree, above, node)
            _unite(tree, above, node)
        _split(tree, node, above)
        node = above


@inner
def widen_cluster(tree, cluster, roads, n_roads):
    """Add roads to a cluster and to the nodes above it, as far up as this changes anything."""
    item = tree.of_cluster[cluster]
    for at in range(n_roads):
        _add_road(tree, item, roads[at])
    item = tree.parent[item]
    # Where a union has the roads, all unions above have them.
    changed = True
    while item >= 0 and changed:
        changed = _n_shared(tree, item, roads, n_roads) < n_roads
        for at in range(n_roads):
            _add_road(tree, item, roads[at])
        item = tree.parent[item]


@inner
def _split(tree, node, above):
    """Move the entries that are no more similar to the first one than the average to a new node beside this one."""
    width = MOST_ENTRIES + 1
    n = tree.n_entries[node]
    words = tree.words
    seed = tree.entry[node * width]
    similarity = np.zeros(n, np.float64)
    mean = 0.0
    for at in range(1, n):
        item = tree.entry[node * width + at]
        own = np.int64(0)
        shared = np.int64(0)
        for word in range(words):
            own += _n_bits(tree.bits[item * words + word])
            shared += _n_bits(tree.bits[item * words + word] & tree.bits[seed * words + word])
        similarity[at] = shared / own
        mean += similarity[at] / (n - 1)
    beside = _new_item(tree, -1)
    left = np.int64(1)
    for at in range(1, n):
        item = tree.entry[node * width + at]
        if similarity[at] > mean and left < MOST_ENTRIES:  # rounding must not leave the new node empty
            tree.entry[node * width + left] = item
            left += 1
        else:
            _put(tree, beside, item)
            _unite(tree, beside, item)
    tree.n_entries[node] = left
    for word in range(words):
        tree.bits[node * words + word] = 0
    for at in range(left):
        _unite(tree, node, tree.entry[node * width + at])
    _put(tree, above, beside)


@inner
def _new_item(tree, cluster):
    """Add an item without roads, for a cluster or, with -1, a node; return it."""
    item = tree.n_items[0]
    tree.n_items[0] += 1
    tree.cluster[item] = cluster
    return item


@inner
def _put(tree, node, item):
    """Make an item an entry of a node; the roads of the node stay as they are."""
    tree.entry[node * (MOST_ENTRIES + 1) + tree.n_entries[node]] = item
    tree.n_entries[node] += 1
    tree.parent[item] = node


@inner
def _unite(tree, node, item):
    """Add the roads of an item to those of a node."""
    words = tree.words
    for word in range(words):
        tree.bits[node * words + word] |= tree.bits[item * words + word]


@inner
def _add_road(tree, item, road):
    """Add a road to those of an item."""
    tree.bits[item * tree.words + (road >> 6)] |= np.int64(1) << (road & 63)


@inner
def _n_shared(tree, item, roads, n_roads):
    """Return how many of ``roads[:n_roads]`` an item has."""
    first = item * tree.words
    shared = np.int64(0)
    for at in range(n_roads):
        shared += (tree.bits[first + (roads[at] >> 6)] >> (roads[at] & 63)) & 1
    return shared


@inner
def _n_bits(word):
    """Return how many bits of a word are set."""
    n = np.int64(0)
    while word:
        word &= word - 1  # takes the lowest bit away
        n += 1
    return n
