"""A binary heap of (key, tie, class, ticket): the smallest key first, among equal keys the smallest tie."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["Heap", "larger_heap", "pop", "push"]

Heap = namedtuple("Heap", ["key", "tie", "cls", "ticket", "size", "n_tickets"])
"""Unsafe classes by what their best operation is worth; `push` and `pop` write to it.

key : float64, (capacity,)
    Node i has the children ``2 * i + 1`` and ``2 * i + 2``, and neither comes before it; so it is for all columns.
tie : int64, (capacity,)
    What decides between equal keys.
cls : int64, (capacity,)
    The class.
ticket : int64, (capacity,)
    Numbers entries as they come.  A class knows its newest ticket; older ones stay until they come up, and are ignored.
size : int64, (1,)
    How many entries there are.
n_tickets : int64, (1,)
    How many tickets were given out.
"""


def larger_heap(heap, capacity):
    """Return the same heap with room for `capacity`; an empty one for None."""
    if heap is None:
        columns = [np.empty(capacity), *(np.empty(capacity, np.int64) for _ in range(3))]
        return Heap(*columns, np.zeros(1, np.int64), np.zeros(1, np.int64))
    columns = [np.concatenate([a, np.empty(capacity - a.size, a.dtype)]) for a in heap[:4]]
    return Heap(*columns, heap.size, heap.n_tickets)


@inner
def push(heap, key, tie, cls):
    """Add a class and return its ticket, 1, 2, ...  There must be room.  O(log n)."""
    keys = heap.key
    ties = heap.tie
    hole = heap.size[0]
    ticket = heap.n_tickets[0] + 1
    heap.size[0] = hole + 1
    heap.n_tickets[0] = ticket
    # Sift up: the new leaf is a hole, which rises while its parent comes after the new entry.
    while hole > 0:
        parent = (hole - 1) >> 1
        if keys[parent] < key or (keys[parent] == key and ties[parent] <= tie):
            break
        _copy(heap, parent, hole)
        hole = parent
    keys[hole] = key
    ties[hole] = tie
    heap.cls[hole] = cls
    heap.ticket[hole] = ticket
    return ticket


@inner
def pop(heap):
    """Remove the class at the top and return its ticket.  O(log n)."""
    keys = heap.key
    ties = heap.tie
    n = heap.size[0] - 1
    heap.size[0] = n
    top = heap.ticket[0]
    # Sift down: the root is a hole, which sinks below the smaller child until the last entry, number n, fits into it.
    hole = np.int64(0)
    child = np.int64(1)
    while child < n:
        if child + 1 < n and (
            keys[child + 1] < keys[child] or (keys[child + 1] == keys[child] and ties[child + 1] < ties[child])
        ):
            child += 1
        if keys[n] < keys[child] or (keys[n] == keys[child] and ties[n] <= ties[child]):
            break
        _copy(heap, child, hole)
        hole = child
        child = 2 * hole + 1
    _copy(heap, n, hole)
    return top


@inner
def _copy(heap, source, target):
    """Copy an entry of the heap over another."""
    heap.key[target] = heap.key[source]
    heap.tie[target] = heap.tie[source]
    heap.cls[target] = heap.cls[source]
    heap.ticket[target] = heap.ticket[source]
