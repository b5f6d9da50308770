"""Which sequential patterns are covered by more general ones, and how far these are.

The coverage and distance coefficients of the c-safety paper (Definition 16 and after) are computed from these.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["cover_patterns"]


@kernel
def cover_patterns(before, last, child, child_item, child_offsets, above, depth, n_leaves):
    """Return per pattern the least roots in a pattern that covers it (-1: none does), steps up and leaves more.

    A pattern covers one of the same length if each item is at or above the other's in the tree.  The last two are
    sums over the items, of the differences of `depth` and of `n_leaves`; each of the three is the least by itself.

    Parameters
    ----------
    before, last : int64, one per pattern
        The patterns, as from `mine_patterns`: pattern `p` is ``before[p]`` (-1: none) and then item ``last[p]``.
    child, child_item, child_offsets : int64
        The patterns that cover, as a tree: pattern `p` (-1: the empty one) with one item more is pattern ``child[e]``,
        the item is ``child_item[e]``, ascending, for e in ``child_offsets[p + 1]:child_offsets[p + 2]``.
    above, depth, n_leaves : int64, one per item
        The item above it in the taxonomy (-1: it is the root), its depth, and the leaves below it.

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
            node[level] = above[x]
            q = _find_child(reached[level], x, child, child_item, child_offsets)
            if q < 0:
                continue
            new_roots = n_roots[level] + np.int64(above[x] < 0)
            new_up = n_up[level] + depth[path[level]] - depth[x]
            new_more = n_more[level] + n_leaves[x] - n_leaves[path[level]]
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
def _find_child(pattern, x, child, child_item, child_offsets):
    """Return the pattern with one item more, or -1: a binary search, as the items are ascending."""
    low = child_offsets[pattern + 1]
    high = child_offsets[pattern + 2]
    while low < high:
        middle = (low + high) // 2
        if child_item[middle] < x:
            low = middle + 1
        else:
            high = middle
    if low < child_offsets[pattern + 2] and child_item[low] == x:
        return child[low]
    return np.int64(-1)
