import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.model import Taxonomy


@st.composite
def trees(draw):
    """Parents of a random tree in which a parent may come after its children, and labels of its nodes."""
    n = draw(st.integers(1, 24))
    names = draw(st.permutations(range(n)))
    parent = [-1] * n
    for i in range(1, n):
        parent[names[i]] = names[draw(st.integers(0, i - 1))]
    labels = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return parent, [label and above >= 0 for label, above in zip(labels, parent, strict=True)]


def path_up(parent, node):
    found = [node]
    while parent[node] >= 0:
        node = parent[node]
        found.append(node)
    return found


@given(trees())
@settings(deadline=None, max_examples=150)
def test_everything_derived_is_as_walking_up_the_tree_says(tree):
    parent, labels = tree
    n = len(parent)
    taxonomy = Taxonomy(nodes=tuple(f"n{i}" for i in range(n)), parent=parent, sensitive=np.array(labels))
    up = [path_up(parent, node) for node in range(n)]
    assert taxonomy.root == parent.index(-1)
    assert taxonomy.depth.tolist() == [len(path) - 1 for path in up]
    assert taxonomy.height == max(len(path) - 1 for path in up)
    assert taxonomy.sensitive.tolist() == [any(labels[node] for node in path) for path in up]
    leaves = [node for node in range(n) if node not in parent]
    assert np.flatnonzero(taxonomy.is_leaf).tolist() == leaves
    assert taxonomy.n_leaves.tolist() == [sum(node in up[leaf] for leaf in leaves) for node in range(n)]
    below = [set(taxonomy.order[a:b].tolist()) for a, b in zip(taxonomy.first, taxonomy.last, strict=True)]
    assert below == [{other for other in range(n) if node in up[other]} for node in range(n)]
    one, other = (side.ravel() for side in np.meshgrid(np.arange(n), np.arange(n)))
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    assert taxonomy.covers(one, other).tolist() == [a in up[b] for a, b in pairs]
    assert taxonomy.common(one, other).tolist() == [next(v for v in up[a] if v in up[b]) for a, b in pairs]


def test_children_come_in_the_order_of_the_nodes():
    taxonomy = Taxonomy.from_parents([("c", "a"), ("b", "a"), ("a", ""), ("d", "c"), ("e", "a")])
    assert [taxonomy.nodes[node] for node in taxonomy.order] == ["a", "c", "d", "b", "e"]


@pytest.mark.parametrize(
    ("parents", "said"),
    [
        ([], "0 roots"),
        ([("a", ""), ("b", "")], "2 roots"),
        ([("a", ""), ("b", "c"), ("c", "b")], "cycle: 2 nodes"),
        ([("a", "b"), ("b", "a")], "0 roots"),
        ([("a", ""), ("b", "x"), ("c", "y")], "2 nodes whose parent is not in it"),
        ([("a", ""), ("b", "a"), ("b", "a")], "name of its own"),
    ],
)
def test_what_is_no_tree_is_refused(parents, said):
    with pytest.raises(InputError, match=said):
        Taxonomy.from_parents(parents)


def test_a_sensitive_root_is_refused():
    with pytest.raises(InputError, match="root of the taxonomy is sensitive"):
        Taxonomy.from_parents([("a", ""), ("b", "a")], sensitive=["a"])


def test_an_unknown_sensitive_node_is_refused():
    with pytest.raises(InputError, match="no node 'x'"):
        Taxonomy.from_parents([("a", ""), ("b", "a")], sensitive=["x"])


@pytest.mark.parametrize(
    ("parent", "sensitive"), [([-1], [False, False]), ([-1, 2], [False] * 2), ([-1, -2], [False] * 2), ([-1], [False])]
)
def test_columns_that_do_not_fit_are_refused(parent, sensitive):
    with pytest.raises(InputError):
        Taxonomy(nodes=("a", "b"), parent=parent, sensitive=np.array(sensitive))
