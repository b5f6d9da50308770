"""Which sequential patterns are covered by more general ones, and how far these are.

The coverage and distance coefficients of the c-safety paper (Definition 16 and after) are computed from these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Ancestry", "Growth", "cover_patterns"]


class Growth(NamedTuple):
    """Patterns as a tree: pattern `p` (-1: the empty one) with one item more is pattern ``child[e]``, the item is
    ``item[e]``, ascending, for e in ``offsets[p + 1]:offsets[p + 2]``."""

    child: NDArray[Any]
    item: NDArray[Any]
    offsets: NDArray[Any]


class Ancestry(NamedTuple):
    """A taxonomy, one entry per item: the item `above` it (-1: it is the root), its `depth`, and the leaves below."""

    above: NDArray[Any]
    depth: NDArray[Any]
    n_leaves: NDArray[Any]


@kernel
def cover_patterns(before, last, covering, tree):
    """Return per pattern the least roots in a pattern that covers it (-1: none does), steps up and leaves more.

    A pattern covers one of the same length if each item is at or above the other's in the tree.  The last two are
    sums over the items, of the differences of `depth` and of `n_leaves`; each of the three is the least by itself.

    Parameters
    ----------
    before, last : int64, one per pattern
        The patterns, as from `mine_patterns`: pattern `p` is ``before[p]`` (-1: none) and then item ``last[p]``.
    covering : Growth
        The patterns that cover.
    tree : Ancestry
        What is above what.

    Notes
    -----
    O(patterns that cover a beginning of it, times nodes above an item, times log children) time for each pattern.
    """
    n = before.size
    roots = np.empty(n, np.int64)
    hops = np.zeros(n, np.int64)
    leaves = np.zeros(n, np.int64)
    length = np.empty(n, np.int64)
    longest = np.int64(0)
    for p in range(n):
        length[p] = 1
        if before[p] >= 0:
            length[p] += length[before[p]]  # patterns come after the ones before them
        longest = max(longest, length[p])
    # Per level, the position of an item in the pattern.
    path = np.empty(longest + 1, np.int64)  # the item
    node = np.empty(longest + 1, np.int64)  # the node at or above it that is tried next, -1 for none
    reached = np.empty(longest + 1, np.int64)  # the covering pattern of the items before it, and what that one sums up:
    n_roots = np.zeros(longest + 1, np.int64)
    n_up = np.zeros(longest + 1, np.int64)
    n_more = np.zeros(longest + 1, np.int64)
    reached[0] = -1
    for p in range(n):
        roots[p] = -1
        q = p
        for level in range(length[p] - 1, -1, -1):
            path[level] = last[q]
            q = before[q]
        # Depth first over the patterns that cover a beginning of p.  Before each round, reached[level] covers the first
        # `level` items.  The round goes one node up from the item of this level: if there is a pattern with that node
        # as the next one, the items behind it are tried, and at the last one the sums are compared.  When there is
        # nothing above any more, the level before goes on.
        level = np.int64(0)
        node[0] = path[0]
        while level >= 0:
            x = node[level]
            if x < 0:
                level -= 1
                continue
            node[level] = tree.above[x]
            q = _find_child(reached[level], x, covering)
            if q < 0:
                continue
            new_roots = n_roots[level] + np.int64(tree.above[x] < 0)
            new_up = n_up[level] + tree.depth[path[level]] - tree.depth[x]
            new_more = n_more[level] + tree.n_leaves[x] - tree.n_leaves[path[level]]
            if level + 1 < length[p]:
                level += 1
                node[level] = path[level]
                reached[level] = q
                n_roots[level] = new_roots
                n_up[level] = new_up
                n_more[level] = new_more
            elif roots[p] < 0:
                roots[p] = new_roots
                hops[p] = new_up
                leaves[p] = new_more
            else:
                roots[p] = min(roots[p], new_roots)
                hops[p] = min(hops[p], new_up)
                leaves[p] = min(leaves[p], new_more)
    return roots, hops, leaves


@inner
def _find_child(pattern, x, covering):
    """Return the pattern with one item more, or -1: a binary search, as the items are ascending."""
    low = covering.offsets[pattern + 1]
    high = covering.offsets[pattern + 2]
    while low < high:
        middle = (low + high) // 2
        if covering.item[middle] < x:
            low = middle + 1
        else:
            high = middle
    if low < covering.offsets[pattern + 2] and covering.item[low] == x:
        return covering.child[low]
    return np.int64(-1)
