"""Taxonomies put together from names and parents: labels, an order that depends on the tree alone, leaves to add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wayveil.errors import InputError, closest
from wayveil.model import Taxonomy
from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.model.normal import normal_text, similar_key

__all__ = ["ROOT", "UNSPECIFIED", "grown", "in_tree_order", "labelled", "with_own_leaves"]

ROOT = "Place"
"""What the root is called where a file has none."""

UNSPECIFIED = " (unspecified)"
"""What the name of a leaf ends in that stands for a kind of place of which nobody knows more."""


def labelled(shown: str, taxonomy: Taxonomy, sensitive_nodes: Sequence[str]) -> Taxonomy:
    """Return the taxonomy with these nodes, and all below them, sensitive too; `shown` is its file, for messages.

    Raises
    ------
    InputError
        If there is no node of that name, or it is the root, or a sensitive node is spelt like another one.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place")])
    >>> labelled("tree.csv", tree, ["Prk"])
    Traceback (most recent call last):
    wayveil.errors.InputError: tree.csv: the taxonomy has no node 'Prk' to label as sensitive. Did you mean 'Park'?
    """
    code = {name: i for i, name in enumerate(taxonomy.nodes)}
    sensitive = np.array(taxonomy.sensitive)
    for name in map(normal_text, sensitive_nodes):
        if name not in code:
            raise InputError(
                f"{shown}: the taxonomy has no node {name!r} to label as sensitive.{closest(name, list(code))}"
            )
        if code[name] == taxonomy.root:
            raise InputError(
                f"{shown}: {name!r} is the root of the taxonomy and cannot be sensitive, or every place would be; "
                "label the sensitive kinds below it."
            )
        sensitive[code[name]] = True
    tree = Taxonomy(nodes=taxonomy.nodes, parent=taxonomy.parent, sensitive=sensitive)
    _refuse_alike(shown, tree)
    return tree


def _refuse_alike(shown: str, taxonomy: Taxonomy) -> None:
    """Refuse sensitive nodes with another node that is alike: stops at one of them would not count for the other."""
    keys = [similar_key(name) for name in taxonomy.nodes]
    times = Counter(keys)
    sensitive_keys = {key for key, sensitive in zip(keys, taxonomy.sensitive.tolist(), strict=True) if sensitive}
    alike = sum(times[key] for key in sensitive_keys if times[key] > 1)
    if alike:
        raise InputError(
            f"{shown}: {alike:,} nodes of the taxonomy, sensitive ones among them, differ from another only by case, "
            "white space, leading zeros or letter forms; make them one node, or give them other names."
        )


def in_tree_order(taxonomy: Taxonomy) -> Taxonomy:
    """Return the same tree with its nodes in an order that depends on the tree alone.

    Every node stands before those below it, and the children of a node by their names.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Park", "Place"), ("Zoo", "Park"), ("Place", ""), ("Bar", "Place")])
    >>> in_tree_order(tree).nodes
    ('Place', 'Bar', 'Park', 'Zoo')
    """
    rank = sorted(range(len(taxonomy)), key=lambda node: taxonomy.nodes[node])
    # With the nodes by name, the children of a node come by name in the order of the model, too.
    # Twice reordered: by name, and then as the tree has it, which keeps names among siblings.
    by_name = _reordered(taxonomy, np.array(rank, np.int64))
    return _reordered(by_name, by_name.order)


def grown(taxonomy: Taxonomy, leaves: Sequence[tuple[str, int]]) -> Taxonomy:
    """Return the taxonomy with more leaves, given as (name, code of the parent), in the order of the tree."""
    nodes = (*taxonomy.nodes, *(name for name, _ in leaves))
    parent = np.append(taxonomy.parent, np.array([above for _, above in leaves], np.int64))
    sensitive: BoolArray = np.append(taxonomy.sensitive, np.zeros(len(leaves), np.bool_))
    return in_tree_order(Taxonomy(nodes=nodes, parent=parent, sensitive=sensitive, added=taxonomy.added))


def with_own_leaves(taxonomy: Taxonomy, inner_nodes: Sequence[str]) -> Taxonomy:
    """Return the taxonomy with a leaf ``NAME (unspecified)`` below each of these inner nodes that has none yet.

    Stops of raw data are at leaves; such a leaf is where a stop is of which only the kind is known.

    Raises
    ------
    InputError
        If another node has that name already.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bakery", "Food")])
    >>> with_own_leaves(tree, ["Food"]).nodes
    ('Place', 'Food', 'Bakery', 'Food (unspecified)')
    """
    code = {name: i for i, name in enumerate(taxonomy.nodes)}
    added: list[tuple[str, int]] = []
    for name in dict.fromkeys(inner_nodes):
        own = name + UNSPECIFIED
        if own not in code:
            # An added leaf is remembered as such: if nobody is left at it, it must not be published.
            added.append((own, code[name]))
        elif taxonomy.parent[code[own]] != code[name] or not taxonomy.is_leaf[code[own]]:
            raise InputError(
                f"The taxonomy has a node {own!r} that is no leaf directly below {name!r}; rename it, because stops "
                "of which only the kind is known need this name."
            )
    names = taxonomy.added | {name for name, _ in added}
    return grown(replace(taxonomy, added=names), added) if added else taxonomy


def _reordered(taxonomy: Taxonomy, order: IntArray) -> Taxonomy:
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    above = taxonomy.parent[order]
    return Taxonomy(
        nodes=tuple(taxonomy.nodes[node] for node in order.tolist()),
        parent=np.where(above < 0, -1, rank[above]),
        sensitive=taxonomy.sensitive[order],
        added=taxonomy.added,
    )
