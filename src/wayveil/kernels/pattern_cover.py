"""Which sequential patterns are covered by more general ones, and how far these are."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["cover_patterns"]


@kernel
def cover_patterns(before, last, child, child_item, child_offsets, above, depth, n_leaves):
    """Return per pattern the least roots in a pattern that covers it (-1: none does), steps up and leaves more.

    Patterns are as from `mine_patterns`; those that cover are given by their ``child`` patterns in ascending order of
    ``child_item``, those of pattern `p` from ``child_offsets[p + 1]``.  A pattern covers one of the same length if each
    item is at or above the other's in the tree `above` (-1: the root has none).  The two sums are the least ones, of
    the differences of `depth` and of `n_leaves` over the items.  Depth first: O(patterns that cover a beginning of it,
    times nodes above an item, times log children) time for each pattern.
    """
    n = before.size
    roots, hops, leaves = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    longest, length = np.int64(0), np.empty(n, np.int64)
    for p in range(n):
        length[p] = 1
        if before[p] >= 0:
            length[p] += length[before[p]]
        longest = max(longest, length[p])
    path, node = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    reached, n_roots = np.empty(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    up, more = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    reached[0] = -1
    for p in range(n):
        roots[p] = -1
        q = p
        for level in range(length[p] - 1, -1, -1):
            path[level] = last[q]
            q = before[q]
        level = np.int64(0)
        node[0] = path[0]
        while level >= 0:
            x = node[level]
            if x < 0:
                level -= 1
                continue
            node[level] = above[x]
            q = _child(reached[level], x, child, child_item, child_offsets)
            if q < 0:
                continue
            some_roots = n_roots[level] + np.int64(above[x] < 0)
            some_up = up[level] + depth[path[level]] - depth[x]
            some_more = more[level] + n_leaves[x] - n_leaves[path[level]]
            level += 1
            if level < length[p]:
                node[level], reached[level], n_roots[level] = path[level], q, some_roots
                up[level], more[level] = some_up, some_more
                continue
            level -= 1
            if roots[p] < 0:
                roots[p], hops[p], leaves[p] = some_roots, some_up, some_more
            roots[p], hops[p], leaves[p] = min(roots[p], some_roots), min(hops[p], some_up), min(leaves[p], some_more)
    return roots, hops, leaves


@inner
def _child(pattern, x, child, child_item, child_offsets):
    """Return the pattern with one item more, or -1."""
    low, high = child_offsets[pattern + 1], child_offsets[pattern + 2]
    while low < high:
        middle = (low + high) // 2
        if child_item[middle] < x:
            low = middle + 1
        else:
            high = middle
    if low < child_offsets[pattern + 2] and child_item[low] == x:
        return child[low]
    return np.int64(-1)
