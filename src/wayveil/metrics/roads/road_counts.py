"""What measures of routes share: roads and slices of two data sets side by side, counts, and rows that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Routes, TimeFormat
from wayveil.model.accumulators import Tally, side_by_side
from wayveil.model.data.ragged import trajectory_of_row

__all__ = [
    "aligned_roads",
    "by_slice",
    "counts",
    "distinct",
    "follows",
    "slices_of",
    "tally_of_roads",
]

Array = NDArray[Any]

_PLAIN = {"integer", "epoch"}


def aligned_roads(original: Routes, published: Routes) -> tuple[tuple[str, ...], Array]:
    """Return the roads of both networks, those of `original` first, and the codes of the published rows in them.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> before = Routes.from_records([["b"]], network=RoadNetwork.from_roads([("b", "1", "2"), ("c", "2", "1")]))
    >>> after = Routes.from_records([["a", "c"]], network=RoadNetwork.from_roads([("a", "1", "2"), ("c", "2", "1")]))
    >>> names, codes = aligned_roads(before, after)
    >>> names, codes.tolist()
    (('b', 'c', 'a'), [2, 1])
    """
    code = {name: i for i, name in enumerate(original.network.roads)}
    for name in published.network.roads:
        code.setdefault(name, len(code))
    recode = np.array([code[name] for name in published.network.roads], np.int64)
    return tuple(code), recode[published.road] if published.n_rows else np.zeros(0, np.int64)


def tally_of_roads(data: Routes, *rows: Array) -> Tally:
    """Count roads, or pairs of roads, per slice of time; `rows` are where the first, the second ... of them is.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> data = Routes.from_records([["ab", "bc"], ["ab"]], network=network, slices=[(0, 5), (0, 5)])
    >>> found = tally_of_roads(data, np.arange(3))
    >>> found.names, [column.tolist() for column in found.columns], found.counts.tolist()
    (('ab', 'bc'), [[0, 1], [0, 0], [5, 5]], [2, 1])
    """
    trajectory = trajectory_of_row(data.offsets)[rows[0]]
    roads = [data.road[row] for row in rows]
    slices = (data.t_start[trajectory], data.t_end[trajectory])
    return Tally.of(*roads, *slices, names=data.network.roads, named=len(roads))


def slices_of(before: Tally, after: Tally, formats: tuple[TimeFormat, TimeFormat]) -> int | None:
    """Return how many slices the original has; None where the published data have one that the original has not.

    Both are counts as `tally_of_roads` gives them, of all roads.
    """
    if len(set(formats)) > 1 and not set(formats) <= _PLAIN:
        return None
    _, old, new = side_by_side(before.only(1, 2), after.only(1, 2))
    return int((old > 0).sum()) if not new[old == 0].any() else None


def by_slice(side: Tally, *, apart: bool) -> Tally:
    """Return the counts per slice, or without the two columns of the slice."""
    return side if apart else side.only(*range(side.named))


def counts(before: Array, after: Array) -> tuple[Array, Array, Array]:
    """Return the different values of both (none below 0), in order, and how often each occurs before and after.

    Examples
    --------
    >>> [column.tolist() for column in counts(np.array([7, 3, 7]), np.array([9, 7]))]
    [[3, 7, 9], [1, 2, 0], [0, 1, 1]]
    >>> [column.tolist() for column in counts(np.array([7, 3, 7]), np.array([900, 7]))]
    [[3, 7, 900], [1, 2, 0], [0, 1, 1]]
    """
    highest = max((int(side.max()) for side in (before, after) if len(side)), default=-1)
    if highest < 2 * (len(before) + len(after)):  # few enough to count without sorting
        table = np.stack([np.bincount(side, minlength=highest + 1) for side in (before, after)])
        values = np.flatnonzero(table.any(axis=0))
        return values, table[0, values], table[1, values]
    sides = [np.unique(side, return_counts=True) for side in (before, after)]
    values = distinct(np.concatenate([own for own, _ in sides]))
    table = np.zeros((2, len(values)), np.int64)
    for i, (own, number) in enumerate(sides):
        table[i, np.searchsorted(values, own)] = number
    return values, table[0], table[1]


def distinct(values: Array) -> Array:
    """Return the different values in order; sorting is several times faster here than the table of np.unique.

    Examples
    --------
    >>> distinct(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def follows(data: Routes) -> Array:
    """Return for every row whether the next row is of the same trajectory and begins where this road ends.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> follows(Routes.from_records([["ab", "bc", "ab"], ["bc"]], network=network)).tolist()
    [True, False, False, False]
    """
    trajectory = trajectory_of_row(data.offsets)
    network = data.network
    is_next = np.zeros(data.n_rows, np.bool_)
    connected = network.to_node[data.road[:-1]] == network.from_node[data.road[1:]]
    is_next[:-1] = (trajectory[1:] == trajectory[:-1]) & connected
    return is_next
