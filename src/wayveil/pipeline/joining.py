"""Several data of one kind as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Coded, Points, Regions, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.model.ragged import IntArray, offsets_of

__all__ = ["join_data", "join_taxonomies", "with_taxonomy"]

_BY_ROW: dict[type, tuple[str, ...]] = {
    Visits: ("t",),
    Points: ("t", "x", "y"),
    Regions: ("t_min", "t_max", "x_min", "x_max", "y_min", "y_max"),
    Routes: ("road", "t"),
    Stops: ("place", "t", "t_end"),
}
_BY_TRAJECTORY: dict[type, tuple[str, ...]] = {Routes: ("t_start", "t_end")}


def join_data(parts: Sequence[Any]) -> Any:
    """Return the trajectories of several data of one kind as one; owners keep their codes.

    Places of visits and values of attributes have codes of their own in every part; in the result they are coded in
    sorted order, so that it does not depend on how the trajectories were cut.  So it is with roads of published routes,
    each part of which has a network of its own.

    Examples
    --------
    >>> one = Visits.from_records([[("b", 1)]], attributes={"s": ["x"]})
    >>> both = join_data([one, Visits.from_records([[("a", 1)], []], attributes={"s": [None, "w"]})])
    >>> [both.record(i) for i in range(3)], both.attributes["s"].values()
    ([[('b', 1)], [('a', 1)], []], ['x', None, 'w'])
    """
    first, kind = parts[0], type(parts[0])
    if any(part.time_format != first.time_format for part in parts):
        raise InputError("The times in one part of the input are written in another way than in the rest.")
    if any(part.owners != first.owners for part in parts):
        raise InputError("The owners of one part of the data come from elsewhere than those of the rest.")
    if isinstance(first, Routes) and any(part.network is not first.network for part in parts):
        parts = _on_one_network(parts)
        first = parts[0]
    if isinstance(first, Stops) and any(part.taxonomy is not first.taxonomy for part in parts):
        tree = join_taxonomies([part.taxonomy for part in parts])
        parts = [with_taxonomy(part, tree) for part in parts]
        first = parts[0]
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _BY_ROW[kind]}
    own = {name: np.concatenate([getattr(p, name) for p in parts]) for name in _BY_TRAJECTORY.get(kind, ())}
    if isinstance(first, Visits):
        rows |= _named_places(parts)
    if isinstance(first, Points) and first.known is not None:
        rows["known"] = np.concatenate([part.known for part in parts])
    if isinstance(first, Regions) and first.declared is not None:
        rows["declared"] = np.concatenate([part.declared for part in parts])
    return replace(
        first,
        offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        owner=np.concatenate([part.owner for part in parts]),
        attributes={name: _joined([part.attributes[name] for part in parts]) for name in first.attributes},
        **rows,
        **own,
    )


def join_taxonomies(trees: Sequence[Taxonomy]) -> Taxonomy:
    """Return the taxonomy with all nodes: a piece of the data may add leaves that others do not need."""
    parents: dict[str, str] = {}
    sensitive: set[str] = set()
    for tree in trees:
        for name, above in zip(tree.nodes, tree.parent.tolist(), strict=True):
            here = "" if above < 0 else tree.nodes[above]
            if parents.setdefault(name, here) != here:
                raise InputError("A node of the taxonomy is below another one in one part of the data than in another.")
        sensitive |= {tree.nodes[i] for i in np.flatnonzero(tree.sensitive).tolist()}
    return Taxonomy.from_parents(parents.items(), sensitive=sorted(sensitive))


def with_taxonomy(data: Stops, tree: Taxonomy) -> Stops:
    """Return the same stops with the codes of a larger taxonomy."""
    code = {name: i for i, name in enumerate(tree.nodes)}
    translate = np.array([code[name] for name in data.taxonomy.nodes], np.int64)
    return replace(data, place=translate[data.place], taxonomy=tree)


def _on_one_network(parts: Sequence[Routes]) -> list[Routes]:
    """Return the same routes on the network of all roads by name; where it is, only the networks of the parts know."""
    ends: dict[str, tuple[str, str]] = {}
    for part in parts:
        network = part.network
        for road, a, b in zip(network.roads, network.from_node.tolist(), network.to_node.tolist(), strict=True):
            here = network.nodes[a], network.nodes[b]
            if ends.setdefault(road, here) != here:
                raise InputError("A road leads from or to another node in one part of the data than in another.")
    joined = RoadNetwork.from_roads([(road, *ends[road]) for road in sorted(ends)])
    code = {road: i for i, road in enumerate(joined.roads)}
    return [
        replace(part, road=np.array([code[road] for road in part.network.roads], np.int64)[part.road], network=joined)
        for part in parts
    ]


def _named_places(parts: Sequence[Visits]) -> dict[str, Any]:
    used = [np.unique(part.location).tolist() for part in parts]
    names = sorted({part.locations[i] for part, codes in zip(parts, used, strict=True) for i in codes})
    code = {name: i for i, name in enumerate(names)}
    found: dict[str, Any] = {
        "locations": tuple(names),
        "location": np.concatenate([_translated(part.location, part.locations, code) for part in parts]),
    }
    if parts[0].place_x is not None:
        for axis in ("place_x", "place_y"):
            at = np.zeros(len(names))
            for part, codes in zip(parts, used, strict=True):
                at[[code[part.locations[i]] for i in codes]] = getattr(part, axis)[codes]
            found[axis] = at
    return found


def _joined(columns: Sequence[Coded]) -> Coded:
    labels = sorted({label for column in columns for label in column.labels})
    code = {label: i for i, label in enumerate(labels)}
    codes = [_translated(column.codes, column.labels, code) for column in columns]
    return Coded(codes=np.concatenate(codes), labels=tuple(labels))


def _translated(codes: IntArray, labels: Sequence[str], code: dict[str, int]) -> IntArray:
    """Return codes of the same labels in another order; -1 stays -1."""
    table = np.array([*(code.get(label, -1) for label in labels), -1], np.int32)
    found: IntArray = table[codes]
    return found
