"""Covering places by nodes, against sets of places."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.cast.taxonomy_cover import cheapest_cover


def preorder(above: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return last and parent of a tree whose node i + 1 hangs below the node that is `above[i]` steps up from i."""
    parent = [-1]
    for i, steps in enumerate(above):
        node = i
        for _ in range(steps):
            node = max(parent[node], 0)
        parent.append(node)
    n = len(parent)
    last = [max([i, *(j for j in range(n) if i in ancestors(j, parent))]) + 1 for i in range(n)]
    return np.array(last), np.array(parent)


def ancestors(node: int, parent: list[int]) -> set[int]:
    found = set()
    while node >= 0:
        found.add(node)
        node = parent[node]
    return found


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(0, 3), max_size=12), st.data())
def test_the_cheapest_cover_is_that_of_a_search(above: list[int], data: st.DataObject) -> None:
    last, parent = preorder(above)
    n = len(last)
    width, some = data.draw(st.integers(1, 3)), st.integers(0, n - 1)
    rows = st.lists(st.lists(some, min_size=width, max_size=width), min_size=1, max_size=6)
    places, nodes = data.draw(rows), data.draw(rows)
    weight = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    expected = []
    for sequence in places:
        covering = [
            (sum(weight[v] for v in group), g)
            for g, group in enumerate(nodes)
            if all(v in ancestors(p, parent.tolist()) for v, p in zip(group, sequence, strict=True))
        ]
        expected.append(min(covering)[1] if covering else -1)
    assert cheapest_cover(np.array(places), np.array(nodes), last, np.array(weight)).tolist() == expected


def test_nothing_to_cover_and_nothing_that_covers() -> None:
    last, weight = np.array([1]), np.array([0])
    assert cheapest_cover(np.zeros((0, 2), np.int64), np.zeros((1, 2), np.int64), last, weight).tolist() == []
    assert cheapest_cover(np.zeros((2, 2), np.int64), np.zeros((0, 2), np.int64), last, weight).tolist() == [-1, -1]
