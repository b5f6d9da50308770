"""Places as leaves of a taxonomy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wayveil.errors import InputError, closest
from wayveil.io.places.taxonomy_build import ROOT, grown, labelled
from wayveil.io.places.taxonomy_json import tree_of_keys
from wayveil.io.tabular.messages import count
from wayveil.model import Taxonomy
from wayveil.model.places.places import Places

__all__ = ["attach_places", "taxonomy_of_places"]


def attach_places(taxonomy: Taxonomy, places: Places) -> Taxonomy:
    """Return the taxonomy with the places that are not in it as leaves, each below its node.

    Where the node of a place is a key such as amenity/pharmacy and not in the taxonomy, the longest beginning that is a
    node takes the place: amenity.

    Raises
    ------
    InputError
        If a place has no node, or one that is not in the taxonomy, or the name of an inner node.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("shop", "Place")], sensitive=["shop"])
    >>> places = Places(name=("n1",), node=("shop/sex",), x=[0.0], y=[0.0], radius_m=[0.0], min_stay=[1.0])
    >>> attach_places(tree, places).nodes
    ('Place', 'shop', 'n1')
    """
    code = {name: i for i, name in enumerate(taxonomy.nodes)}
    new = [i for i, name in enumerate(places.name) if name not in code]
    alone = sum(not places.node[i] for i in new)
    if alone:
        raise InputError(
            f"{count(alone, 'place')} of {len(places):,} {_is(alone)} not in the taxonomy and {_has(alone)} no node to "
            "be put below; give the column 'node'."
        )
    below = {node: _beginning(node, code) for node in dict.fromkeys(places.node[i] for i in new)}
    unknown = [node for node, above in below.items() if above < 0]
    if unknown:
        raise InputError(
            f"{count(len(unknown), 'kind')} of places {_is(len(unknown))} not in the taxonomy, first {unknown[0]!r}; "
            f"add what is missing, or correct the column 'node'.{closest(unknown[0], list(code))}"
        )
    tree = grown(taxonomy, [(places.name[i], below[places.node[i]]) for i in new])
    named = set(places.name)
    # A place with the name of a kind would be a leaf and an inner node at once.
    inner = [name for name, leaf in zip(tree.nodes, tree.is_leaf.tolist(), strict=True) if not leaf and name in named]
    if inner:
        raise InputError(
            f"{count(len(inner), 'place')}, first {inner[0]!r}, {_has(len(inner))} the name of a kind of places; give "
            "places names of their own."
        )
    return tree


def taxonomy_of_places(places: Places, sensitive_nodes: Sequence[str] = ()) -> Taxonomy:
    """Return a taxonomy of nothing but these places: a root, the keys that are their nodes, and each place as a leaf.

    Places without a node are directly below the root.

    Raises
    ------
    InputError
        If a place has the name of a kind of places, or a node to label is not there.

    Examples
    --------
    >>> places = Places(name=("n1", "n2"), node=("shop/toys", ""), x=[0, 1], y=[0, 1], radius_m=[0, 0], min_stay=[1, 1])
    >>> tree = taxonomy_of_places(places, ["shop"])
    >>> tree.nodes, tree.sensitive.tolist()
    (('Place', 'n2', 'shop', 'shop/toys', 'n1'), [False, False, True, True, True])
    """
    kinds = [(node, "a place") for node in dict.fromkeys(places.node) if node not in ("", ROOT)]
    if kinds:
        tree = tree_of_keys("The nodes of the places", kinds)
    else:
        tree = Taxonomy(nodes=(ROOT,), parent=np.array([-1]), sensitive=np.zeros(1, np.bool_))
    if not len(places):
        raise InputError("There are no places, so that there is no taxonomy of them.")
    rooted = Places(
        name=places.name,
        node=tuple(node or ROOT for node in places.node),
        x=places.x,
        y=places.y,
        radius_m=places.radius_m,
        min_stay=places.min_stay,
    )
    return labelled("The taxonomy of the places", attach_places(tree, rooted), sensitive_nodes)


def _beginning(node: str, code: dict[str, int]) -> int:
    """Return the longest beginning of a key that is a node, -1 where none is."""
    parts = node.split("/")
    for end in range(len(parts), 0, -1):
        leaf = code.get("/".join(parts[:end]), -1)
        if leaf >= 0:
            return leaf
    return -1


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"
