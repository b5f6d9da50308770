"""A binary heap of (key, order) pairs in two arrays: the smallest key first, among equal keys the smallest order."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["Heap", "new_heap", "pop", "push"]

Heap = namedtuple("Heap", ["key", "order", "size"])
"""A heap as it lies in memory; only `push` and `pop` write to it.

key : float64, (capacity,)
    The pair at node i; its children are at ``2 * i + 1`` and ``2 * i + 2``, and neither comes before it.
order : int64, (capacity,)
    What decides between equal keys; also what the caller recognizes a pair by.
size : int64, (1,)
    How many pairs there are: an array, so that a heap which is not full can be changed in place.
"""


@inner
def new_heap(capacity):
    """Return an empty heap with room for `capacity` pairs."""
    key = np.empty(capacity, np.float64)
    order = np.empty(capacity, np.int64)
    size = np.zeros(1, np.int64)
    return Heap(key, order, size)


@inner
def push(heap, key, order):
    """Add a pair; return the heap, which is a larger copy when it was full.  O(log n)."""
    n = heap.size[0]
    if n == heap.order.size:
        heap = _larger_copy(heap)
    keys = heap.key
    orders = heap.order
    # Sift up: the new leaf is a hole that rises.  Before each round everything but the hole is a heap; a round moves
    # the parent down into the hole if the new pair comes before it, and ends at the root or at a parent that may stay.
    hole = n
    while hole > 0:
        parent = (hole - 1) >> 1
        if keys[parent] < key or (keys[parent] == key and orders[parent] <= order):
            break
        keys[hole] = keys[parent]
        orders[hole] = orders[parent]
        hole = parent
    keys[hole] = key
    orders[hole] = order
    heap.size[0] = n + 1
    return heap


@inner
def pop(heap):
    """Remove and return the pair at the top.  O(log n)."""
    keys = heap.key
    orders = heap.order
    n = heap.size[0] - 1
    heap.size[0] = n
    top_key = keys[0]
    top_order = orders[0]
    # The last leaf has to go somewhere else, as the array gets shorter.
    key = keys[n]
    order = orders[n]
    # Sift down: the root is a hole that sinks.  A round moves the smaller child up into the hole, and ends where the
    # pair of the last leaf fits above both children, or where there are none.
    hole = np.int64(0)
    child = np.int64(1)
    while child < n:
        if child + 1 < n and (
            keys[child + 1] < keys[child] or (keys[child + 1] == keys[child] and orders[child + 1] < orders[child])
        ):
            child += 1
        if key < keys[child] or (key == keys[child] and order <= orders[child]):
            break
        keys[hole] = keys[child]
        orders[hole] = orders[child]
        hole = child
        child = 2 * hole + 1
    keys[hole] = key
    orders[hole] = order
    return top_key, top_order


@inner
def _larger_copy(heap):
    """Return the same heap with more than twice the room: adding n pairs copies O(n) in all."""
    n = heap.size[0]
    larger = new_heap(2 * n + 16)
    for i in range(n):
        larger.key[i] = heap.key[i]
        larger.order[i] = heap.order[i]
    larger.size[0] = n
    return larger
