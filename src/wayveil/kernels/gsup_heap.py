"""A binary heap of (key, tie, class, ticket): the smallest key first, among equal keys the smallest tie."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["Heap", "larger_heap", "pop", "push"]

Heap = namedtuple("Heap", ["key", "tie", "cls", "ticket", "size"])
"""At the top is ``key[0]``, ``tie[0]``, ...; `size[0]` counts what is in the heap, `size[1]` the tickets given out."""


def larger_heap(heap, capacity):
    """Return the same heap with room for `capacity`; an empty one for None."""
    if heap is None:
        return Heap(np.empty(capacity), *(np.empty(capacity, np.int64) for _ in range(3)), np.zeros(2, np.int64))
    return Heap(*(np.concatenate([a, np.empty(capacity - a.size, a.dtype)]) for a in heap[:4]), heap.size)


@inner
def push(heap, key, tie, cls):
    """Add a class and return its ticket, 1, 2, ...  There must be room.  O(log n)."""
    keys, ties = heap.key, heap.tie
    at, ticket = heap.size[0], heap.size[1] + 1
    heap.size[0], heap.size[1] = at + 1, ticket
    while at > 0:
        up = (at - 1) >> 1
        if keys[up] < key or (keys[up] == key and ties[up] <= tie):
            break
        _copy(heap, up, at)
        at = up
    keys[at], ties[at], heap.cls[at], heap.ticket[at] = key, tie, cls, ticket
    return ticket


@inner
def pop(heap):
    """Remove the class at the top and return its ticket.  O(log n)."""
    keys, ties, n = heap.key, heap.tie, heap.size[0] - 1
    heap.size[0] = n
    top, at, down = heap.ticket[0], np.int64(0), np.int64(1)
    while down < n:
        if down + 1 < n and (
            keys[down + 1] < keys[down] or (keys[down + 1] == keys[down] and ties[down + 1] < ties[down])
        ):
            down += 1
        if keys[n] < keys[down] or (keys[n] == keys[down] and ties[n] <= ties[down]):
            break
        _copy(heap, down, at)
        at, down = down, 2 * down + 1
    _copy(heap, n, at)
    return top


@inner
def _copy(heap, a, b):
    heap.key[b], heap.tie[b], heap.cls[b], heap.ticket[b] = heap.key[a], heap.tie[a], heap.cls[a], heap.ticket[a]
