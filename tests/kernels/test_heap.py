"""The array heap against heapq."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.heap import new_heap, pop, push


@kernel
def play(capacity, is_push, key, order):
    """Push or pop, step by step, then pop all; return what was popped and how much room the heap had in the end."""
    heap, n = new_heap(capacity), np.int64(0)
    keys, orders = np.empty(key.size, np.float64), np.empty(key.size, np.int64)
    for step in range(key.size):
        if is_push[step] == 1:
            heap = push(heap, key[step], order[step])
        elif heap.size[0] > 0:
            keys[n], orders[n] = pop(heap)
            n += 1
    while heap.size[0] > 0:
        keys[n], orders[n] = pop(heap)
        n += 1
    return keys[:n], orders[:n], heap.key.size


def played(capacity, steps):
    """Return the pairs that `play` pops, and the room; a step is (key, order), or None to pop."""
    pairs = [(0.0, 0) if step is None else step for step in steps]
    keys, orders, room = play(
        capacity,
        np.array([step is not None for step in steps], np.int64),
        np.array([key for key, _ in pairs], np.float64),
        np.array([order for _, order in pairs], np.int64),
    )
    return list(zip(keys.tolist(), orders.tolist(), strict=True)), room


def expected(steps):
    heap, out = [], []
    for step in steps:
        if step is not None:
            heapq.heappush(heap, step)
        elif heap:
            out.append(heapq.heappop(heap))
    return out + [heapq.heappop(heap) for _ in range(len(heap))]


KEYS = st.one_of(st.sampled_from([-2.0, -1.0, -0.5, -1 / 3, 0.0]), st.floats(-1e6, 0))
STEPS = st.lists(st.one_of(st.none(), st.tuples(KEYS, st.integers(0, 6))), max_size=120)


@given(st.integers(0, 40), STEPS)
@settings(deadline=None, max_examples=400)
def test_pairs_come_out_as_from_heapq(capacity, steps):
    assert played(capacity, steps)[0] == expected(steps)


@given(st.integers(0, 3), st.permutations(range(200)), st.integers(1, 4))
@settings(deadline=None, max_examples=50)
def test_among_equal_keys_the_smallest_order_comes_first(capacity, orders, n_keys):
    steps = [(float(-(order % n_keys)), order) for order in orders]
    assert played(capacity, steps)[0] == sorted(steps)


def test_a_full_heap_grows_and_keeps_all():
    steps = [(float(-i), i) for i in range(5000)]
    pairs, room = played(0, steps)
    assert pairs == sorted(steps)
    assert 5000 <= room <= 2 * 5000 + 16
    assert played(10, steps[:10])[1] == 10


def test_equal_pairs_all_come_out():
    assert played(1, [(-1.0, 3)] * 20)[0] == [(-1.0, 3)] * 20


def test_nothing():
    assert played(0, []) == ([], 0)
    assert played(4, [None, None]) == ([], 4)
