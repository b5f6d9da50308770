"""The greedy clusters against the rule, step by step over all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.nwa.nwa_greedy import greedy_clusters
from wayveil.kernels.nwa.radius_search import core_distances
from wayveil.kernels.nwa.trajectory_tree import Tree, build_tree


def oracle(rows: np.ndarray, owner: np.ndarray, k: int, most: float, first: int) -> list[int]:
    """The pivot of the cluster of every trajectory, or -1."""
    n = len(rows)
    d = [[float(((rows[i] - rows[j]) ** 2).sum()) for j in range(n)] for i in range(n)]
    unvisited, active, pivots = set(range(n)), set(range(n)), []
    label = [-1] * n
    pivot = first
    while True:
        pivots.append(pivot)
        taken, met = [pivot], {int(owner[pivot])}
        for i in sorted(unvisited - {pivot}, key=lambda i: (d[pivot][i], i)):
            if len(met) < k and int(owner[i]) not in met:
                taken.append(i)
                met.add(int(owner[i]))
        if len(met) == k and max(d[pivot][i] for i in taken) <= most:
            for i in taken:
                label[i] = pivot
            unvisited -= set(taken)
        active.discard(pivot)
        left = sorted(active & unvisited)
        if not left:
            break
        pivot = max(left, key=lambda i: (min(d[p][i] for p in pivots), -i))
    leaders = [p for p in range(n) if label[p] == p]
    for i in sorted(unvisited):
        if leaders:
            nearest = min(leaders, key=lambda p: (d[p][i], p))
            if d[nearest][i] <= most:
                label[i] = nearest
    return label


def fast(rows: np.ndarray, owner: np.ndarray, k: int, most: float, first: int, width: int, levels: int) -> list[int]:
    sketch = np.ascontiguousarray(rows[:, :width])
    order, begins, ends, low, high = build_tree(sketch, levels)
    tree = Tree(order, begins, ends, low, high, np.ascontiguousarray(sketch[order]), 0.0)
    placed, owners = np.ascontiguousarray(rows[order]), np.ascontiguousarray(owner[order])
    core = core_distances(tree, placed, owners, k - 1, 0, len(rows))
    label = greedy_clusters(tree, placed, owners, core, k, most, int(np.flatnonzero(order == first)[0]))
    found = np.empty(len(rows), np.int64)
    found[order] = np.where(label < 0, -1, order[label])
    return found.tolist()


@st.composite
def scenes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, float, int, int, int]:
    n, half, span = draw(st.integers(2, 28)), draw(st.integers(1, 2)), draw(st.sampled_from([1, 3, 9, 40]))
    cells = st.lists(st.integers(0, span), min_size=2 * half, max_size=2 * half)
    rows = np.array(draw(st.lists(cells, min_size=n, max_size=n))).astype(float)
    several = draw(st.booleans())
    owner = np.array(draw(st.lists(st.integers(0, n // 2 + 1), min_size=n, max_size=n))) if several else np.arange(n)
    most = draw(st.sampled_from([0.0, 0.1, 0.5, 1.5, 10.0])) * span * span
    return (
        rows, owner, draw(st.integers(2, 5)), most, draw(st.integers(0, n - 1)),
        draw(st.integers(1, 2)), draw(st.integers(0, int(np.log2(n)))),
    )  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(scenes())
def test_the_clusters_are_those_of_the_rule(scene: tuple[np.ndarray, np.ndarray, int, float, int, int, int]) -> None:
    rows, owner, k, most, first, width, levels = scene
    found = fast(rows, owner, k, most, first, width, levels)
    assert found == oracle(rows, owner, k, most, first)
    for pivot in {p for p in found if p >= 0}:
        members = [i for i, p in enumerate(found) if p == pivot]
        assert pivot in members
        assert len({int(owner[i]) for i in members}) >= k
        assert all(((rows[i] - rows[pivot]) ** 2).sum() <= most for i in members)


def test_scattered_trajectories_one_to_a_leaf() -> None:
    """Members of a cluster far from its pivot must not stay behind as candidates in parts of the tree left alone."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, k, most = int(rng.integers(6, 20)), int(rng.integers(2, 4)), float(rng.choice([4, 20, 100, 300]))
        rows = rng.integers(0, int(rng.choice([10, 30])), (n, 2)).astype(float)
        owner = np.arange(n) if rng.random() < 0.5 else rng.integers(0, n, n)
        first = int(rng.integers(n))
        assert fast(rows, owner, k, most, first, 2, int(np.log2(n))) == oracle(rows, owner, k, most, first)


def test_many_trajectories_in_a_deep_tree() -> None:
    rng = np.random.default_rng(4)
    rows = (rng.integers(0, 6, (300, 1)) * 40 + rng.integers(0, 12, (300, 4))).astype(float)
    owner = rng.integers(0, 120, 300)
    for k, most in ((3, 60.0), (5, 200.0), (20, 4000.0)):
        assert fast(rows, owner, k, most, 17, 2, 6) == oracle(rows, owner, k, most, 17)


def test_trajectories_that_are_all_the_same_are_taken_in_order() -> None:
    label = fast(np.zeros((7, 2)), np.arange(7), 3, 0.0, 4, 1, 2)
    assert label == [4, 4, 2, 2, 4, 2, 2]
