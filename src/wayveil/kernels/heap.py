"""A binary heap of (key, order) pairs in two arrays: the smallest key first, among equal keys the smallest order."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["Heap", "new_heap", "pop", "push"]

Heap = namedtuple("Heap", ["key", "order", "size"])
"""The pair at the top is ``key[0], order[0]``; `size[0]` counts the pairs."""


@inner
def new_heap(capacity):
    """Return an empty heap with room for `capacity` pairs."""
    return Heap(np.empty(capacity, np.float64), np.empty(capacity, np.int64), np.zeros(1, np.int64))


@inner
def push(heap, key, order):
    """Add a pair; return the heap, which is a larger copy when it was full.  O(log n)."""
    n = heap.size[0]
    if n == heap.order.size:
        bigger = new_heap(2 * n + 16)
        for i in range(n):
            bigger.key[i], bigger.order[i] = heap.key[i], heap.order[i]
        bigger.size[0] = n
        heap = bigger
    keys, orders, at = heap.key, heap.order, n
    while at > 0:
        up = (at - 1) >> 1
        if keys[up] < key or (keys[up] == key and orders[up] <= order):
            break
        keys[at], orders[at] = keys[up], orders[up]
        at = up
    keys[at], orders[at] = key, order
    heap.size[0] = n + 1
    return heap


@inner
def pop(heap):
    """Remove and return the pair at the top.  O(log n)."""
    keys, orders, n = heap.key, heap.order, heap.size[0] - 1
    heap.size[0] = n
    top_key, top_order, key, order = keys[0], orders[0], keys[n], orders[n]
    at, down = np.int64(0), np.int64(1)
    while down < n:
        if down + 1 < n and (
            keys[down + 1] < keys[down] or (keys[down + 1] == keys[down] and orders[down + 1] < orders[down])
        ):
            down += 1
        if key < keys[down] or (key == keys[down] and order <= orders[down]):
            break
        keys[at], orders[at] = keys[down], orders[down]
        at, down = down, 2 * down + 1
    keys[at], orders[at] = key, order
    return top_key, top_order
