"""The C-tree: what its nodes hold, however it was split."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from wayveil.kernels.routes.ctree import MOST_ENTRIES, add_cluster, grown_tree, new_tree, similar_in_tree, widen_cluster


@numba.njit
def build(sets, sizes, more, more_sizes, n_roads):  # type: ignore[no-untyped-def]
    tree = new_tree(4, len(sizes), n_roads)
    for c in range(len(sizes)):
        tree = grown_tree(tree)
        add_cluster(tree, c, sets[c], sizes[c])
        if c % 2 == 1:
            widen_cluster(tree, c // 2, more[c], more_sizes[c])
    return tree


@numba.njit
def look(tree, roads, share, n):  # type: ignore[no-untyped-def]
    found, common = np.zeros(n, np.int64), np.zeros(n, np.int64)
    n_found = similar_in_tree(tree, roads, len(roads), share, found, common)
    return found[:n_found], common


CASES = [(1, 5, False), (17, 200, False), (400, 200, False), (400, 64, True)]


@pytest.mark.parametrize(("n", "n_roads", "alike"), CASES)
def test_every_node_holds_the_union_of_what_is_below(n: int, n_roads: int, alike: bool) -> None:
    rng = np.random.default_rng(n)
    sizes, more_sizes = rng.integers(1, 6, n), rng.integers(1, 4, n)
    sets = np.array([rng.choice(n_roads, 5, replace=False) for _ in range(n)])
    more = np.array([rng.choice(n_roads, 5, replace=False) for _ in range(n)])
    if alike:  # nothing to separate them by
        sets[:], sizes[:] = np.array([0, 1, 2, 62, 63]), 5
    tree = build(sets, sizes, more, more_sizes, n_roads)
    held = [set(sets[c, : sizes[c]].tolist()) for c in range(n)]
    for c in range(1, n, 2):
        held[c // 2] |= set(more[c, : more_sizes[c]].tolist())
    words = int(tree.words)

    def roads_of(item: int) -> set[int]:
        row = tree.bits[item * words : (item + 1) * words]
        return {r for r in range(64 * words) if (int(row[r // 64]) >> (r % 64)) & 1}

    depths, seen = set(), []

    def visit(item: int, depth: int) -> set[int]:
        if tree.cluster[item] >= 0:
            depths.add(depth)
            seen.append(int(tree.cluster[item]))
            assert tree.of_cluster[tree.cluster[item]] == item
            assert roads_of(item) == held[tree.cluster[item]]
            return roads_of(item)
        below = tree.entry[item * (MOST_ENTRIES + 1) :][: tree.n_entries[item]].tolist()
        assert 1 <= len(below) <= MOST_ENTRIES
        assert all(tree.parent[child] == item for child in below)
        assert roads_of(item) == set().union(*(visit(child, depth + 1) for child in below))
        return roads_of(item)

    root = int(tree.root[0])
    assert tree.parent[root] == -1
    visit(root, 0)
    assert sorted(seen) == list(range(n))
    assert depths == {int(tree.depth[0])}
    for _ in range(20):
        roads = rng.choice(n_roads, 4, replace=False)
        found, common = look(tree, roads, np.array([1, 4]), n)
        expected = {c: len(held[c] & set(roads.tolist())) for c in range(n)}
        assert sorted(found.tolist()) == [c for c in range(n) if expected[c] > 1]
        assert all(common[c] == expected[c] for c in found)
