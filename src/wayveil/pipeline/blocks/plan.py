"""Which trajectory goes into which block: decided by the data and the recipe alone, never by the machines.

Trajectories with the same key belong together.  Groups that are too large are cut in the order of where they are, so
that near ones stay together; groups that are too small are packed with their neighbours in the order of keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.model import BlockKey, Data, Points, Routes, Stops, Visits
from wayveil.model.ragged import FloatArray, IntArray

__all__ = ["Keys", "keys_of", "plan_blocks"]

_CELL_M = 50.0
_HALF = 1 << 30


@dataclass(frozen=True, kw_only=True, eq=False)
class Keys:
    """What is known of every trajectory when blocks are planned; 8 bytes per trajectory and column.

    Parameters
    ----------
    key : int64, one row per trajectory
        Equal rows belong together; they are packed in lexicographic order.
    place : int64
        Where a trajectory is, on a curve that visits near places one after the other.
    rows : int64
        How large it is.
    person : int64
        Whose it is.
    """

    key: IntArray
    place: IntArray
    rows: IntArray
    person: IntArray


def keys_of(data: Data, by: BlockKey) -> Keys:
    """Return the keys of every trajectory.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 1.0, 0.0)], [(0, 9.0, 0.0), (2, 9.0, 0.0)]])
    >>> keys_of(data, "times").key[:, :3].tolist()
    [[0, 1, 2], [0, 2, 2]]
    """
    lengths = np.diff(data.offsets)
    n = len(lengths)
    if by == "times":
        key = np.column_stack([*_ends(data), lengths, _times(data)])
    elif by == "slice" and isinstance(data, Routes):
        key = np.column_stack([data.t_start, data.t_end])
    elif by == "length":
        key = _known_length(data)[:, None]
    else:
        key = np.zeros((n, 1), np.int64)
    return Keys(key=key.astype(np.int64), place=_place(data), rows=lengths, person=data.owner)


def plan_blocks(keys: Keys, *, rows: int, people_apart: bool) -> IntArray:
    """Return the block of every trajectory, from 0; half of `rows` to twice `rows` are in each.

    With `people_apart` everything of one person goes where the first of it goes.  A trajectory (or with `people_apart`
    a person) is not torn apart, so a block may be larger or smaller by one of them; it is smaller otherwise only if
    there is no other.

    Examples
    --------
    >>> keys = Keys(key=np.array([[1], [2], [1], [3]]), place=np.array([5, 0, 4, 0]), rows=np.array([4, 1, 4, 2]),
    ...             person=np.arange(4))
    >>> plan_blocks(keys, rows=4, people_apart=False).tolist()
    [1, 2, 0, 2]
    """
    n = len(keys.rows)
    if n == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((keys.place, *keys.key.T[::-1]))  # stable: what is equal stays in the order of the data
    if people_apart:
        order = order[np.argsort(_first_seen(keys.person[order]), kind="stable")]
        unit = keys.person[order]
    else:
        unit = np.arange(n)
    leader = order[_firsts(unit)]
    new = np.zeros(n, np.bool_)
    for column in keys.key.T:  # one after the other: all at once would take several times their memory
        of_leader = column[leader]
        new[1:] |= of_leader[1:] != of_leader[:-1]
    del leader
    group = np.cumsum(new, dtype=np.int64)
    size = np.bincount(group, weights=keys.rows[order]).astype(np.int64)
    block = np.empty(n, np.int64)
    block[order] = _pack(group, size, keys.rows[order], unit, rows)
    return block


def _pack(group: IntArray, size: IntArray, weight: IntArray, unit: IntArray, rows: int) -> IntArray:
    """Return the block of everything in order: a group is cut where it is too large, and packed where it is small."""
    before = np.cumsum(weight) - weight
    start = before[np.searchsorted(group, np.arange(len(size)))]
    pieces = np.maximum(1, -(-size // rows))
    piece = (before - start[group]) * pieces[group] // np.maximum(size[group], 1)
    piece = np.minimum(piece, pieces[group] - 1)  # a trajectory without rows may stand behind all rows of its group
    # what belongs to one unit is not torn apart: it goes where its first part goes
    piece = piece[_firsts(unit)]
    new = np.concatenate([[True], (group[1:] != group[:-1]) | (piece[1:] != piece[:-1])])
    part = np.cumsum(new) - 1
    weights = np.bincount(part, weights=weight).astype(np.int64)
    block, filled, number = np.empty(len(weights), np.int64), 0, 0
    for i, one in enumerate(weights.tolist()):
        if 2 * filled >= rows and filled + one > rows:
            number, filled = number + 1, 0
        block[i] = number
        filled += one
    if number and 2 * filled < rows:
        block[block == number] = number - 1
    found: IntArray = block[part]
    return found


def _firsts(unit: IntArray) -> IntArray:
    """Return, for everything in order, where the first of its unit is."""
    first = np.concatenate([[True], unit[1:] != unit[:-1]])
    found: IntArray = np.maximum.accumulate(np.where(first, np.arange(len(unit)), 0))
    return found


def _first_seen(values: IntArray) -> IntArray:
    """Return, for every value, where it is first."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    found: IntArray = first[inverse]
    return found


def _ends(data: Data) -> tuple[IntArray, IntArray]:
    t = data.t_min if not hasattr(data, "t") else data.t
    first, last = data.offsets[:-1], data.offsets[1:] - 1
    held = last >= first
    if not len(t):
        return np.zeros(len(held), np.int64), np.zeros(len(held), np.int64)
    zero = np.zeros(len(held), np.int64)
    return np.where(held, t[np.where(held, first, 0)], zero), np.where(held, t[np.where(held, last, 0)], zero)


def _times(data: Data) -> IntArray:
    """Return a number that is the same for the same timestamps, and almost never for others."""
    t = data.t_min if not hasattr(data, "t") else data.t
    mixed = t.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    found: IntArray = (sums[data.offsets[1:]] - sums[data.offsets[:-1]]).view(np.int64)
    return found


def _known_length(data: Data) -> IntArray:
    """Return how many rows a trajectory has that an attacker may know: all, or the stops that are not sensitive."""
    if not isinstance(data, Stops):
        return np.diff(data.offsets)
    counted = np.concatenate([[0], np.cumsum(~data.sensitive)])
    return np.diff(counted[data.offsets])


def _place(data: Data) -> IntArray:
    """Return where trajectories are, as a number that is near for near ones."""
    lengths = np.diff(data.offsets)
    first = np.where(lengths > 0, data.offsets[:-1], 0)
    if not data.n_rows:
        return np.zeros(len(lengths), np.int64)
    if isinstance(data, Points):
        return _curve(*(_mean(values, data.offsets) for values in (data.x, data.y)))
    if isinstance(data, Routes):
        road, network = data.road[first], data.network
        if network.node_x is None or network.node_y is None:
            return road.astype(np.int64)
        node = network.from_node[road]
        return _curve(network.node_x[node], network.node_y[node])
    if isinstance(data, Stops):
        found: IntArray = data.taxonomy.first[data.place[first]]
        return found
    if isinstance(data, Visits):
        text = [name.encode()[:7].ljust(7, b"\0") for name in data.locations]
        return np.array([int.from_bytes(name, "big") for name in text], np.int64)[data.location[first]]
    return np.zeros(len(lengths), np.int64)


def _mean(values: FloatArray, offsets: IntArray) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    found: FloatArray = (sums[offsets[1:]] - sums[offsets[:-1]]) / np.maximum(np.diff(offsets), 1)
    return found


def _curve(x: FloatArray, y: FloatArray) -> IntArray:
    """Return positions on a Z curve through cells of 50 metres."""
    cells = [np.clip(np.floor(v / _CELL_M) + _HALF, 0, 2 * _HALF - 1).astype(np.uint64) for v in (x, y)]
    found: IntArray = (_spread(cells[0]) | (_spread(cells[1]) << np.uint64(1))).astype(np.int64)
    return found


def _spread(values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Put a zero between any two bits of 31-bit numbers."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        values = (values | (values << np.uint64(shift))) & np.uint64(mask)
    return values
