"""Which trajectory of a publication is which of the original: known to whoever publishes, to nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.io import as_published
from wayveil.model import Coded, Data, Routes, Stops, Visits
from wayveil.model.ragged import IntArray

__all__ = ["aligned", "join_owners"]


def join_owners(readback: Data, written: Data, source: IntArray, owner: IntArray) -> Any:
    """Return the data read back with the true owners, or None where the file does not hold what was written."""
    expected = as_published(written.take(source))
    same = (
        type(readback) is type(expected)
        and np.array_equal(readback.offsets, expected.offsets)
        and _same_rows(readback, expected)
        and set(readback.attributes) == set(expected.attributes)
        and all(_same_values(readback.attributes[name], expected.attributes[name]) for name in expected.attributes)
    )
    return replace(readback, owner=owner[source], owners=written.owners) if same else None


def aligned(readback: Any, source: IntArray, original: Data) -> Any:
    """Return published data with one trajectory per original one, in its order; without rows if not published."""
    nobody = len(readback)
    place = np.full(len(original), nobody, np.int64)
    place[source] = np.arange(nobody)
    padded = replace(
        readback,
        offsets=np.append(readback.offsets, readback.offsets[-1]),
        owner=np.append(readback.owner, -1),
        attributes={
            name: Coded(codes=np.append(column.codes, -1), labels=column.labels)
            for name, column in readback.attributes.items()
        },
    )
    return replace(padded.take(place), owner=original.owner)


def _same_rows(one: Any, other: Any) -> bool:
    if isinstance(one, Visits):
        names = _same_names(one.location, one.locations, other.location, other.locations)
        return names and np.array_equal(one.t, other.t)
    if isinstance(one, Routes):
        return (
            _same_names(one.road, one.network.roads, other.road, other.network.roads)
            and _same_ends(one, other)
            and np.array_equal(one.t_start, other.t_start)
            and np.array_equal(one.t_end, other.t_end)
        )
    if isinstance(one, Stops):
        return _same_names(one.place, one.taxonomy.nodes, other.place, other.taxonomy.nodes) and _same_tree(one, other)
    times = [name for name in ("t", "t_min", "t_max") if hasattr(one, name)]
    places = [name for name in ("x", "y", "x_min", "x_max", "y_min", "y_max") if hasattr(one, name)]
    told = [] if getattr(other, "declared", None) is None else ["declared"]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in (*times, *places, *told))


def _same_ends(one: Routes, other: Routes) -> bool:
    """Return whether the roads lead from the same nodes to the same nodes."""
    return all(
        _same_names(
            getattr(one.network, end)[one.road], one.network.nodes, getattr(other.network, end)[other.road],
            other.network.nodes,
        )
        for end in ("from_node", "to_node")
    )  # fmt: skip


def _same_tree(one: Stops, other: Stops) -> bool:
    """Return whether two taxonomies have the same nodes, in any order, with the same parents and labels."""
    trees = [
        {
            name: ("" if above < 0 else tree.nodes[above], sensitive)
            for name, above, sensitive in zip(tree.nodes, tree.parent.tolist(), tree.sensitive.tolist(), strict=True)
        }
        for tree in (one.taxonomy, other.taxonomy)
    ]
    return trees[0] == trees[1]


def _same_values(one: Coded, other: Coded) -> bool:
    missing = np.array_equal(one.codes < 0, other.codes < 0)
    has = one.codes >= 0
    return missing and _same_names(one.codes[has], one.labels, other.codes[has], other.labels)


def _same_names(one: IntArray, one_names: tuple[str, ...], other: IntArray, other_names: tuple[str, ...]) -> bool:
    code = {name: i for i, name in enumerate(other_names)}
    translate = np.array([code.get(name, -1) for name in one_names], np.int64)
    return np.array_equal(translate[one], other) if len(one) else len(other) == 0
