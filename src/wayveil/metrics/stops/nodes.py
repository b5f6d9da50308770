"""What measures of stops share: original and published stops as nodes of one taxonomy, and their kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.model import Stops, Taxonomy

__all__ = ["aligned_nodes", "height_of", "kinds_of_nodes"]

Array = NDArray[Any]


def aligned_nodes(component: str, original: Stops, published: Stops) -> Array:
    """Return the published stops as nodes of the original's taxonomy, by name; InputError where one is not in it.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> one = Taxonomy.from_parents([("Place", ""), ("Park", "Place")])
    >>> other = Taxonomy.from_parents([("Park", "Place"), ("Place", "")])
    >>> before, after = Stops.from_records([["Park"]], taxonomy=one), Stops.from_records([["Park"]], taxonomy=other)
    >>> aligned_nodes("metric", before, after).tolist()
    [1]
    """
    if published.taxonomy.nodes == original.taxonomy.nodes:
        return published.place.astype(np.int64)
    code = {name: i for i, name in enumerate(original.taxonomy.nodes)}
    recode = np.array([code.get(name, -1) for name in published.taxonomy.nodes], np.int64)
    nodes = recode[published.place]
    unknown = len(np.unique(published.place[nodes < 0]))
    if unknown:
        raise InputError(
            f"{component}: the taxonomy of the original does not have all nodes of the published data ({unknown:,} "
            "are not "
            "in it). Give both with the same taxonomy."
        )
    return nodes


def height_of(taxonomy: Taxonomy) -> int:
    """Return the edges from the root to the deepest node, and 1 where there is only the root: what hops are divided by.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> height_of(Taxonomy.from_parents([("Place", "")]))
    1
    """
    return max(1, taxonomy.height)


def kinds_of_nodes(tree: Taxonomy) -> Array:
    """Return for every node the one right below the root that it is or belongs to; -1 for the root.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Bar", "Food"), ("Place", ""), ("Food", "Place"), ("Park", "Place")])
    >>> kinds_of_nodes(tree).tolist()
    [2, -1, 2, 3]
    """
    kinds = tree.order[tree.depth[tree.order] == 1]
    kind_of_node = np.full(len(tree), -1, np.int64)
    if len(kinds):
        below = tree.order[1:]
        # Nodes below a kind follow it directly in the order of the tree, so each kind is repeated over its range.
        kind_of_node[below] = np.repeat(kinds, tree.last[kinds] - tree.first[kinds])
    return kind_of_node
