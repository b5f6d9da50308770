"""Kinds of places: the nodes right below the root of a taxonomy, to which raw and generalized stops belong alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Taxonomy

__all__ = ["kinds_of_nodes"]

Array = NDArray[Any]


def kinds_of_nodes(tree: Taxonomy) -> Array:
    """Return for every node the one right below the root that it is or belongs to; -1 for the root.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Bar", "Food"), ("Place", ""), ("Food", "Place"), ("Park", "Place")])
    >>> kinds_of_nodes(tree).tolist()
    [2, -1, 2, 3]
    """
    kinds = tree.order[tree.depth[tree.order] == 1]
    found = np.full(len(tree), -1, np.int64)
    if len(kinds):
        below = tree.order[1:]
        found[below] = np.repeat(kinds, tree.last[kinds] - tree.first[kinds])
    return found
