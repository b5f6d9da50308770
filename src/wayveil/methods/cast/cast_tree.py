"""A taxonomy with its nodes numbered in preorder, as the kernels of `cast` want it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.model import Taxonomy
from wayveil.model.data.ragged import IntArray

__all__ = ["Preorder"]

_MOST_KEYS = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Preorder:
    """Node `v` has the nodes from `v` to before ``last[v]`` at or below it; the root is 0.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("B", "Place"), ("A", "Place"), ("B1", "B"), ("B2", "B")])
    >>> numbered = Preorder.of(tree)
    >>> numbered.code.tolist(), numbered.last.tolist(), numbered.parent.tolist()
    ([0, 1, 3, 4, 2], [5, 4, 3, 4, 5], [-1, 0, 1, 1, 0])
    >>> numbered.lowest(np.array([2, 2]), np.array([3, 4])).tolist()
    [1, 0]
    """

    code: IntArray
    last: IntArray
    parent: IntArray
    depth: IntArray
    leaves: IntArray
    sensitive: IntArray

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Preorder:
        """Number the nodes of a taxonomy; `code` says which they are there, ``taxonomy.first`` the way back."""
        order = np.array(taxonomy.order)  # a copy: kernels are compiled once, for arrays that can be written to
        above = taxonomy.parent[order]
        return cls(
            code=order,
            last=taxonomy.last[order],
            parent=np.where(above < 0, -1, taxonomy.first[above]),
            depth=taxonomy.depth[order],
            leaves=taxonomy.n_leaves[order],
            sensitive=taxonomy.sensitive[order].astype(np.int64),
        )

    def weight(self, distance: str) -> IntArray:
        """Return what a node costs, up to a constant: grows towards the root."""
        return self.depth.max() - self.depth if distance == "hops" else self.leaves

    def lowest(self, low: IntArray, high: IntArray) -> IntArray:
        """Return the lowest common ancestors of places of which `low` are the first and `high` the last."""
        node = low.copy()
        climbing = np.flatnonzero(high >= self.last[node])
        while len(climbing):
            node[climbing] = self.parent[node[climbing]]
            climbing = climbing[high[climbing] >= self.last[node[climbing]]]
        return node

    def near(self, places: IntArray) -> IntArray:
        """Return an order of sequences of places, the rows, in which similar ones are near each other.

        They are sorted by their ancestors on the first level, one place after the other, then by those on the second.
        """
        keys: list[IntArray] = []
        for level in range(1, int(self.depth.max()) + 1):
            # the ancestor on this level, or the place itself if it is higher up: the last one before it in preorder
            up = np.maximum.accumulate(np.where(self.depth <= level, np.arange(len(self.depth)), 0))
            keys += [up[places[:, p]] for p in range(min(places.shape[1], _MOST_KEYS - len(keys)))]
        return np.lexsort(keys[::-1]) if keys else np.arange(len(places))
