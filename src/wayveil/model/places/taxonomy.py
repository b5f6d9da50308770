"""A taxonomy: which place is a kind of what, and which kinds are sensitive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.ragged import BoolArray, IntArray, frozen

__all__ = ["Taxonomy"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Taxonomy:
    """A tree of places: leaves are places, inner nodes are kinds of places.

    Parameters
    ----------
    nodes : tuple of str
        The names, without repetition.
    parent : int64, one per node
        Codes into `nodes`; -1 for the root, of which there is one.
    sensitive : bool, one per node
        A node below a sensitive one is sensitive too, whatever is said here.  The root cannot be.
    added : frozenset of str
        Leaves that nobody declared: they are there because stops of the data are at them.  See `without_unused`.
    root : int
    depth : int64, one per node
        Edges to the root.
    n_leaves : int64, one per node
        Leaves at or below it.
    first, last : int64, one per node
        The nodes at or below node `v` are ``order[first[v]:last[v]]``.
    order : int64, one per node
        The nodes, every one before those below it, and the children of a node in the order of `nodes`.
    shallowest : int32, (steps, nodes)
        ``shallowest[j, i]`` is the parent of the shallowest of the nodes ``order[i:i + 2**j]``: what `common` needs.

    Notes
    -----
    Built in O(n log n) time and memory; everything asked of it takes O(1) per node.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Health", "Place"), ("C1", "Health"), ("Park", "Place")],
    ...                              sensitive=["Health"])
    >>> tree.sensitive.tolist(), tree.n_leaves.tolist(), tree.depth.tolist()
    ([False, True, True, False], [2, 1, 1, 1], [0, 1, 2, 1])
    >>> tree.nodes[tree.common(np.array([2]), np.array([3]))[0]]
    'Place'
    """

    nodes: tuple[str, ...]
    parent: IntArray
    sensitive: BoolArray
    added: frozenset[str] = frozenset()
    root: int = field(init=False)
    depth: IntArray = field(init=False, repr=False)
    n_leaves: IntArray = field(init=False, repr=False)
    first: IntArray = field(init=False, repr=False)
    last: IntArray = field(init=False, repr=False)
    order: IntArray = field(init=False, repr=False)
    shallowest: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "nodes", tuple(self.nodes))
        set_(self, "added", frozenset(self.added))
        set_(self, "parent", frozen(self.parent, np.int64))
        self._check()
        set_(self, "root", int(np.flatnonzero(self.parent < 0)[0]))
        # A walk from the root reaches every node of a tree, and not one of a cycle.
        order = _order(self.parent, self.root)
        if len(order) < len(self.nodes):
            raise InputError(
                f"The taxonomy has a cycle: {len(self.nodes) - len(order):,} nodes are not below the root. Correct "
                "their parents."
            )
        depth, n_leaves, size, sensitive = _derived(self.parent, order, self.sensitive)
        if sensitive[self.root]:
            raise InputError(
                "The root of the taxonomy is sensitive, so every place would be: nothing would be left that an "
                "attacker may know. Label the sensitive kinds below it."
            )
        # `first` is the inverse of `order`.  All nodes below v follow it directly, so with the size of its subtree the
        # range is known: that makes `covers` two comparisons.
        first = np.empty(len(order), np.int64)
        first[order] = np.arange(len(order))
        for name, values in (("depth", depth), ("n_leaves", n_leaves), ("first", first), ("last", first + size)):
            set_(self, name, frozen(values, np.int64))
        set_(self, "order", frozen(order, np.int64))
        set_(self, "sensitive", frozen(sensitive, np.bool_))
        set_(self, "shallowest", frozen(_shallowest(order, depth, self.parent), np.int32))

    def _check(self) -> None:
        n = len(self.nodes)
        if len(set(self.nodes)) != n or "" in self.nodes:
            raise InputError("The taxonomy must give every node a name of its own.")
        if len(self.parent) != n or len(self.sensitive) != n:
            raise InputError("Taxonomy: parent and sensitive must have one value per node.")
        if n and not -1 <= self.parent.min() <= self.parent.max() < n:
            raise InputError("Taxonomy: every parent must be a node, or -1.")
        roots = int(np.count_nonzero(self.parent < 0))
        if roots != 1:
            raise InputError(
                f"The taxonomy has {roots:,} roots, but must have one: a node without a parent, above all others."
            )

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def is_leaf(self) -> BoolArray:
        """Whether a node has nothing below it: a place."""
        is_single: BoolArray = self.last - self.first == 1
        return is_single

    @property
    def height(self) -> int:
        """Edges from the root to the deepest node."""
        return int(self.depth.max())

    def covers(self, above: IntArray, below: IntArray) -> BoolArray:
        """Return whether nodes are equal to, or above, others: element by element."""
        # v is at or below u exactly if its position lies in the range of u.
        place = self.first[below]
        is_below: BoolArray = (self.first[above] <= place) & (place < self.last[above])
        return is_below

    def common(self, one: IntArray, other: IntArray) -> IntArray:
        """Return the lowest common ancestors, element by element."""
        # Lowest common ancestor as a range minimum (Bender and Farach-Colton 2000, on the order of the tree): between
        # the positions of two different nodes, the parent of the shallowest node is the ancestor of both.  Two
        # stretches of a power of two that overlap cover the range, so a look-up takes O(1).
        low = np.minimum(self.first[one], self.first[other]) + 1
        high = np.maximum(self.first[one], self.first[other]) + 1
        step = np.frexp(np.maximum(high - low, 1).astype(np.float64))[1] - 1
        # Where both are the same node, the range is empty: any valid index will do, as the answer is the node itself.
        left = self.shallowest[step, low - (low == high)]
        right = self.shallowest[step, high - (1 << step)]
        ancestor = np.where(self.depth[left] < self.depth[right], left, right)
        return np.where(low == high, one, ancestor).astype(np.int64)

    def without_unused(self, used: IntArray) -> Taxonomy:
        """Return the tree without the leaves that were added for stops and are none of the nodes that are `used`.

        Others would tell where somebody stopped of whom nothing is left.

        Examples
        --------
        >>> tree = Taxonomy(nodes=("Place", "a", "b"), parent=[-1, 0, 0], sensitive=[False] * 3, added={"a", "b"})
        >>> tree.without_unused(np.array([2])).nodes
        ('Place', 'b')
        """
        # A leaf that was added for the stop of somebody who was suppressed would tell of that stop.
        names = {self.nodes[node] for node in np.unique(used).tolist()}
        stays = np.array([name in names or name not in self.added for name in self.nodes], np.bool_)
        if stays.all():
            return self
        # New codes are how many nodes stay before each; parents always stay, as only leaves are taken out.
        code = np.cumsum(stays) - 1
        above = self.parent[stays]
        return Taxonomy(
            nodes=tuple(name for name, stay in zip(self.nodes, stays.tolist(), strict=True) if stay),
            parent=np.where(above < 0, -1, code[above]),
            sensitive=self.sensitive[stays],
            added=self.added & names,
        )

    def same_nodes(self, other: Taxonomy) -> bool:
        """Return whether two taxonomies have the same nodes, in any order, with the same parents and labels."""
        return self._described() == other._described()

    def _described(self) -> dict[str, tuple[str, bool]]:
        """Return the parent of every node by name, and whether it is sensitive."""
        return {
            name: ("" if above < 0 else self.nodes[above], sensitive)
            for name, above, sensitive in zip(self.nodes, self.parent.tolist(), self.sensitive.tolist(), strict=True)
        }

    @classmethod
    def union(cls, trees: Sequence[Taxonomy]) -> Taxonomy:
        """Return the taxonomy with all nodes: a piece of the data may add leaves that others do not need.

        Of the union none counts as added, so that all pieces keep the same nodes.
        """
        # The same name must have the same parent everywhere; labels are joined.
        parents: dict[str, str] = {}
        labelled: set[str] = set()
        for tree in trees:
            for name, (above, sensitive) in tree._described().items():
                if parents.setdefault(name, above) != above:
                    raise InputError(
                        "A node of the taxonomy is below another one in one part of the data than in another."
                    )
                if sensitive:
                    labelled.add(name)
        return cls.from_parents(parents.items(), sensitive=sorted(labelled))

    @classmethod
    def from_parents(cls, parents: Iterable[tuple[str, str]], *, sensitive: Iterable[str] = ()) -> Taxonomy:
        """Build from (node, parent) by name, the parent of the root empty; InputError if a name is not there."""
        pairs = list(parents)
        code = {name: i for i, (name, _) in enumerate(pairs)}
        orphans = sum(above != "" and above not in code for _, above in pairs)
        if orphans:
            raise InputError(f"The taxonomy has {orphans:,} nodes whose parent is not in it. Add the parents.")
        labels = set(sensitive)
        unknown = sorted(labels - set(code))
        if unknown:
            raise InputError(f"The taxonomy has no node {unknown[0]!r} that could be sensitive; check the spelling.")
        return cls(
            nodes=tuple(name for name, _ in pairs),
            parent=np.array([-1 if above == "" else code[above] for _, above in pairs], np.int64),
            sensitive=np.array([name in labels for name, _ in pairs], np.bool_),
        )


def _order(parent: IntArray, root: int) -> IntArray:
    """Return the nodes below the root, every one before its children."""
    # Sorting by parent puts the children of each node side by side; two searches say from where to where.
    children = np.argsort(parent, kind="stable")
    begin = np.searchsorted(parent[children], np.arange(len(parent)))
    end = np.searchsorted(parent[children], np.arange(len(parent)), side="right")
    below = [children[a:b].tolist() for a, b in zip(begin.tolist(), end.tolist(), strict=True)]
    order = []
    # Depth first with a stack.  Children are pushed in reverse, so that they are popped in the order of `nodes`.
    waiting = [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(below[node]))
    return np.array(order, np.int64)


def _derived(parent: IntArray, order: IntArray, labelled: BoolArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Return depth, number of leaves, number of nodes at or below, and inherited sensitivity."""
    n = len(order)
    depth = np.zeros(n, np.int64)
    size = np.ones(n, np.int64)
    sensitive = np.array(labelled, np.bool_)
    # Parents come before children in `order`: depth and labels go down in one pass.  In the reverse order children come
    # first, and sizes go up in another.
    for node in order[1:].tolist():
        depth[node] = depth[parent[node]] + 1
        sensitive[node] |= sensitive[parent[node]]
    inner = np.zeros(n, np.bool_)
    inner[parent[order[1:]]] = True
    n_leaves = (~inner).astype(np.int64)
    for node in order[:0:-1].tolist():
        size[parent[node]] += size[node]
        n_leaves[parent[node]] += n_leaves[node]
    return depth, n_leaves, size, sensitive


def _shallowest(order: IntArray, depth: IntArray, parent: IntArray) -> IntArray:
    """Return, for stretches of `order` of 1, 2, 4, ... nodes, the parent of a shallowest; the root is its own."""
    # The parent of the root is -1, which is no index: the root stands for it.
    above = np.maximum(parent[order], order[0] * (parent[order] < 0))
    rows = [above]
    step = 1
    # The table of a sparse range minimum.  Row j is made of two halves of row j - 1; beyond the end the last entry is
    # repeated.
    while 2 * step <= len(order):
        left = rows[-1]
        right = np.append(rows[-1][step:], rows[-1][-1:].repeat(step))
        rows.append(np.where(depth[right] < depth[left], right, left))
        step *= 2
    return np.stack(rows)
