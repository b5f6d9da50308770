"""The tree over trajectories: every trajectory in one leaf, boxes around all, distances from the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.nwa.trajectory_tree import (
    RELATIVE,
    Tree,
    box_gap,
    build_tree,
    reach,
    row_distance,
    sketch_gap,
)


@kernel
def distance(rows, a, b, most):
    return row_distance(rows, a, b, most)


@kernel
def gaps(tree, place, node, other):
    return box_gap(tree, place, node), sketch_gap(tree.sketch, place, other)


@kernel
def widened(most, slack):
    return reach(most, slack)


small = st.integers(-4, 4).map(float)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 30).flatmap(lambda n: arrays(float, (n, 2), elements=small)), st.data())
def test_a_tree_holds_everybody_once_and_its_boxes_fit(sketch: np.ndarray, data: st.DataObject) -> None:
    levels = data.draw(st.integers(0, int(np.log2(len(sketch)))))
    order, first, last, low, high = build_tree(sketch, levels)
    assert sorted(order) == list(range(len(sketch)))
    assert len(first) == 2 ** (levels + 1) - 1
    assert (first[0], last[0]) == (0, len(sketch))
    for node in range(len(first)):
        own = sketch[order[first[node] : last[node]]]
        assert len(own) >= 1
        assert np.array_equal(low[node], own.min(axis=0))
        assert np.array_equal(high[node], own.max(axis=0))
        if node < 2**levels - 1:
            left, right = 2 * node + 1, 2 * node + 2
            assert (first[left], last[left], last[right]) == (first[node], first[right], last[node])
            assert 0 <= (last[right] - first[right]) - (last[left] - first[left]) <= 1
            j = int(np.argmax(high[node] - low[node]))
            keys = [(sketch[i, j], i) for i in order[first[node] : last[node]]]
            assert max(keys[: last[left] - first[left]]) < min(keys[last[left] - first[left] :])


def test_equal_trajectories_lie_in_the_order_of_the_input() -> None:
    order, first, *_ = build_tree(np.zeros((8, 1)), 3)
    assert order.tolist() == list(range(8))
    assert first[7:].tolist() == list(range(8))


@pytest.mark.parametrize("width", [2, 14, 16, 18, 34, 200])
def test_the_distance_is_the_sum_of_squares_or_beyond_the_limit(width: int) -> None:
    rows = np.random.default_rng(width).integers(-9, 9, (2, width)).astype(float)
    true = float(((rows[0] - rows[1]) ** 2).sum())
    assert distance(rows, 0, 1, np.inf) == distance(rows, 1, 0, true) == true
    assert distance(rows, 0, 1, true / 2) > true / 2
    assert distance(rows, 0, 0, 0.0) == 0


def test_a_far_row_is_left_early() -> None:
    rows = np.zeros((2, 64))
    rows[1, :] = 3.0
    assert distance(rows, 0, 1, 1.0) == 16 * 9.0
    assert distance(rows, 0, 1, 16 * 9.0) == 32 * 9.0  # at the limit one must look on: what is left may be nothing


def test_gaps_are_distances_to_boxes_and_points() -> None:
    sketch = np.array([[0.0, 0.0], [1.0, 2.0], [4.0, 6.0]])
    tree = Tree(np.arange(3), np.array([0]), np.array([3]), np.array([[1.0, 2.0]]), np.array([[4.0, 6.0]]), sketch, 0.0)
    assert gaps(tree, 0, 0, 2) == (5.0, 52.0)
    assert gaps(tree, 1, 0, 2) == (0.0, 25.0)
    far = tree._replace(sketch=np.array([[9.0, 3.0], [5.0, 8.0]]))
    assert gaps(far, 0, 0, 1) == (25.0, 41.0)
    assert gaps(far, 1, 0, 1) == (5.0, 0.0)


@given(st.floats(0, 1e12), st.floats(0, 1e3))
def test_reach_allows_for_the_error(most: float, error: float) -> None:
    slack = error * error * (1 + 1 / RELATIVE)
    assert (np.sqrt(most) + error) ** 2 <= widened(most, slack) * (1 + 1e-12)
