"""The searches in the tree against looking at every pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.nwa.radius_search import core_distances, find_lowest, group_distances, nearest, new_search
from wayveil.kernels.nwa.trajectory_tree import Tree, build_tree


@kernel
def look(tree, rows, free, lowest, owner, at, most, others):
    search = new_search(tree.order.size, tree.first.size, others)
    held = nearest(tree, rows, free, lowest, owner, at, most, search)
    return held, search.slot, search.far


@kernel
def lowest_found(tree, free):
    lowest = np.empty(tree.first.size, np.int64)
    find_lowest(tree, free, lowest)
    return lowest


def tree_of(rows: np.ndarray, width: int, levels: int) -> tuple[Tree, np.ndarray]:
    """Sketch rows by their first coordinates, which never overstates a distance."""
    sketch = np.ascontiguousarray(rows[:, :width])
    order, first, last, low, high = build_tree(sketch, levels)
    tree = Tree(order, first, last, low, high, np.ascontiguousarray(sketch[order]), 0.0)
    return tree, np.ascontiguousarray(rows[order])


def lowest_of(tree: Tree, free: np.ndarray) -> np.ndarray:
    n = len(tree.order)
    return np.array(
        [min([tree.order[p] for p in range(a, b) if free[p]], default=n)
         for a, b in zip(tree.first, tree.last, strict=True)]
    )  # fmt: skip


@st.composite
def scenes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, int]:
    n, half = draw(st.integers(2, 24)), draw(st.integers(1, 2))
    span = draw(st.sampled_from([1, 4, 20]))
    cells = st.integers(0, span)
    rows = np.array(draw(st.lists(st.lists(cells, min_size=2 * half, max_size=2 * half), min_size=n, max_size=n)))
    owner = np.array(draw(st.lists(st.integers(0, n // 2 + 1), min_size=n, max_size=n)))
    return rows.astype(float), owner, draw(st.integers(1, 2)), draw(st.integers(0, int(np.log2(n))))


def take_nearest(rows: np.ndarray, owner: np.ndarray, free: list[int], at: int, others: int) -> list[int] | None:
    """Go through the free trajectories from near to far until `others` other people are met; take one of each."""
    met: set[int] = set()
    taken = []
    for _, i in sorted((((rows[i] - rows[at]) ** 2).sum(), i) for i in free if i != at):
        if int(owner[i]) not in met | {int(owner[at])}:
            taken.append(i)
            met.add(int(owner[i]))
        if len(met) == others:
            return taken
    return None


@settings(deadline=None, max_examples=200)
@given(scenes(), st.data())
def test_nearest_people(scene: tuple[np.ndarray, np.ndarray, int, int], data: st.DataObject) -> None:
    rows, owner, width, levels = scene
    tree, placed = tree_of(rows, width, levels)
    n, others = len(rows), data.draw(st.integers(1, 4))
    at = data.draw(st.integers(0, n - 1))
    free = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    expected = take_nearest(rows, owner, np.flatnonzero(free).tolist(), at, others)
    radius = data.draw(st.sampled_from([0.0, 1.0, 2.0, 8.0, 9.0, np.inf]))
    if expected is not None and ((rows[expected[-1]] - rows[at]) ** 2).sum() > radius:
        expected = None
    in_place = free[tree.order]
    assert lowest_found(tree, in_place).tolist() == lowest_of(tree, in_place).tolist()
    place = int(np.flatnonzero(tree.order == at)[0])
    held, places, far = look(
        tree, placed, in_place, lowest_of(tree, in_place), owner[tree.order], place, radius, others
    )
    if expected is None:
        assert held == -1
    else:
        assert sorted(tree.order[places[:held]]) == sorted(expected)
        assert far[:held].tolist() == [((placed[p] - placed[place]) ** 2).sum() for p in places[:held]]


@settings(deadline=None, max_examples=150)
@given(scenes(), st.integers(1, 4))
def test_from_which_radius_on_one_can_lead_or_be_in_a_cluster(
    scene: tuple[np.ndarray, np.ndarray, int, int], others: int
) -> None:
    rows, owner, width, levels = scene
    tree, placed = tree_of(rows, width, levels)
    n = len(rows)
    split = n // 2
    owners = owner[tree.order]
    core = np.concatenate([core_distances(tree, placed, owners, others, a, b) for a, b in ((0, split), (split, n))])
    group = np.concatenate([group_distances(tree, placed, core, a, b) for a, b in ((0, split), (split, n))])
    expected = []
    for at in tree.order:
        taken = take_nearest(rows, owner, list(range(n)), at, others)
        expected.append(np.inf if taken is None else ((rows[taken[-1]] - rows[at]) ** 2).sum())
    assert core.tolist() == expected
    between = ((placed[:, None] - placed[None]) ** 2).sum(axis=2)
    assert group.tolist() == np.maximum(between, np.array(expected)[None]).min(axis=1).tolist()


def test_slack_keeps_what_rounding_would_lose() -> None:
    """A sketch that overstates by less than the slack must not hide the nearest trajectory."""
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [6.0, 0.0]])
    order, first, last, low, high = build_tree(rows[:, :1] * 1.001, 2)
    tree = Tree(order, first, last, low, high, rows[order][:, :1] * 1.001, 1.0)
    assert core_distances(tree, rows[order], order.copy(), 1, 0, 4).tolist() == [1.0] * 4
    free = np.ones(4, np.int64)
    assert look(tree, rows[order], free, lowest_of(tree, free), order.copy(), 0, 1.0, 1)[0] == 1
    tight = tree._replace(slack=0.0)
    assert look(tight, rows[order], free, lowest_of(tree, free), order.copy(), 0, 1.0, 1)[0] == -1
