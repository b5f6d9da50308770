"""Which trajectory goes into which block: decided by the data and the recipe alone, never by the machines.

Trajectories with the same key belong together.  Groups that are too large are cut in the order of where they are, so
that near ones stay together; groups that are too small are packed with their neighbours in the order of keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.model import BlockKey, Data
from wayveil.model.data.ragged import IntArray

__all__ = ["Keys", "keys_of", "plan_blocks"]


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
    >>> from wayveil.model import Points
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 1.0, 0.0)], [(0, 9.0, 0.0), (2, 9.0, 0.0)]])
    >>> keys_of(data, "times").key[:, :3].tolist()
    [[0, 1, 2], [0, 2, 2]]
    """
    # What an attacker could tell people apart by must be the same within a block, or blocks would tear groups apart:
    # the exact times, the slice, or the number of known stops.
    if by == "times":
        key = np.column_stack([*_ends(data), data.lengths, _times(data)])
    elif by == "slice" and data.slices():
        key = np.column_stack(data.slices())
    elif by == "length":
        key = data.known_lengths()[:, None]
    else:
        key = np.zeros((len(data), 1), np.int64)
    return Keys(key=key.astype(np.int64), place=data.curve_keys(), rows=data.lengths, person=data.owner)


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
    # By key first, then by where on a curve: what can be confused with each other gets into one block, and of that what
    # is near.
    order = np.lexsort((keys.place, *keys.key.T[::-1]))  # stable: what is equal stays in the order of the data
    # People in the order of the first of their trajectories, each with everything of theirs behind it.
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
    # A group that is too large is cut into equal pieces along the curve; one that is small shares a block with its
    # neighbours.
    pieces = np.maximum(1, -(-size // rows))
    # Piece p of a group begins where p / pieces of its rows are before.
    piece = (before - start[group]) * pieces[group] // np.maximum(size[group], 1)
    piece = np.minimum(piece, pieces[group] - 1)  # a trajectory without rows may stand behind all rows of its group
    # what belongs to one unit is not torn apart: it goes where its first part goes
    piece = piece[_firsts(unit)]
    new = np.concatenate([[True], (group[1:] != group[:-1]) | (piece[1:] != piece[:-1])])
    part = np.cumsum(new) - 1
    weights = np.bincount(part, weights=weight).astype(np.int64)
    block = np.empty(len(weights), np.int64)
    filled = 0
    number = 0
    # First fit in order: a block is closed when it is half full and the next part would not fit, so that what lies
    # together stays together, and a block has at most about one and a half times `rows`.
    for i, one in enumerate(weights.tolist()):
        if 2 * filled >= rows and filled + one > rows:
            number = number + 1
            filled = 0
        block[i] = number
        filled += one
    # The last block would be small, and hide few: it joins the one before.
    if number and 2 * filled < rows:
        block[block == number] = number - 1
    block_of_part: IntArray = block[part]
    return block_of_part


def _firsts(unit: IntArray) -> IntArray:
    """Return, for everything in order, where the first of its unit is."""
    first = np.concatenate([[True], unit[1:] != unit[:-1]])
    firsts: IntArray = np.maximum.accumulate(np.where(first, np.arange(len(unit)), 0))
    return firsts


def _first_seen(values: IntArray) -> IntArray:
    """Return, for every value, where it is first."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    numbers: IntArray = first[inverse]
    return numbers


def _ends(data: Data) -> tuple[IntArray, IntArray]:
    t = data.times()
    first = data.offsets[:-1]
    last = data.offsets[1:] - 1
    nonempty = last >= first
    if not len(t):
        return np.zeros(len(nonempty), np.int64), np.zeros(len(nonempty), np.int64)
    zero = np.zeros(len(nonempty), np.int64)
    return np.where(nonempty, t[np.where(nonempty, first, 0)], zero), np.where(
        nonempty, t[np.where(nonempty, last, 0)], zero
    )


def _times(data: Data) -> IntArray:
    """Return a number that is the same for the same timestamps, and almost never for others."""
    # Finalizer of splitmix64 per time, added up per trajectory: the order of times does not matter, and it need not, as
    # they rise.
    t = data.times()
    mixed = t.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    times: IntArray = (sums[data.offsets[1:]] - sums[data.offsets[:-1]]).view(np.int64)
    return times
