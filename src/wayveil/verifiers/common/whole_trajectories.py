"""Whole trajectories: whether they can be judged, who is behind them, and which are the same."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import FloatArray, IntArray, trajectory_of_row

__all__ = ["FARTHEST_M", "TOLERANCE_CAP_M", "columns_of", "counted", "people_of", "refusal", "same", "tolerance_m"]

FARTHEST_M = 1e100
"""Coordinates beyond this are refused: their squares do not fit a floating-point number."""

TOLERANCE_CAP_M = 1e-3
"""No tolerance is ever larger than a millimetre."""

DEGREES_M = 1.5e-4
"""What rounding to nine decimals of a degree may do to the distance of two positions."""


def refusal(data: Points | Boxes) -> str | None:
    """Why the data cannot be judged, or None; trusts nothing that a constructor may have checked.

    Examples
    --------
    >>> refusal(Points.from_records([[], []]))
    'There is no published position, so there is nothing to judge.'
    """
    n = len(data.offsets) - 1
    offsets = data.offsets
    times = _times(data)
    places = _places(data)
    if n < 0 or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any() or len(data.owner) != n:
        return "The trajectories do not add up to the rows and owners, so nothing can be judged."
    if any(len(column) != offsets[-1] for column in (*times, *places)):
        return "The columns differ in length, so nothing can be judged."
    if data.owners not in ("given", "declared", "hidden"):
        return "It is not said where the owners come from, so nobody can be counted."
    if not len(times[0]):
        return "There is no published position, so there is nothing to judge."
    if not all((np.abs(column) <= FARTHEST_M).all() for column in places):
        return f"A coordinate is not a number, or larger than {FARTHEST_M:g} m, so distances cannot be judged."
    if data.owners == "given" and (data.owner[offsets[:-1] < offsets[1:]] < 0).any():
        return "A published trajectory has a negative owner code, which stands for nobody, so people cannot be counted."
    if isinstance(data, Points):
        trajectory = trajectory_of_row(offsets)
        if ((data.t[1:] <= data.t[:-1]) & (trajectory[1:] == trajectory[:-1])).any():
            return "The time does not increase strictly inside a trajectory, so it is no motion."
    elif any((low > high).any() for low, high in (times, places[:2], places[2:])):
        return "A box ends before it begins, so nothing can be in it."
    return None


def columns_of(data: Points | Boxes) -> list[IntArray | FloatArray]:
    """Return the columns that make a published row; -0.0 is 0.0, because a reader cannot tell them apart.

    Examples
    --------
    >>> [str(column[0]) for column in columns_of(Points.from_records([[(5, -0.0, 1.0)]]))]
    ['5', '0.0', '1.0']
    """
    return [*_times(data), *(column + 0.0 for column in _places(data))]


def people_of(data: Points | Boxes) -> IntArray:
    """Return the person behind every trajectory; where owners are not given each trajectory is one of its own."""
    return data.owner if data.owners == "given" else np.arange(len(data.offsets) - 1)


def counted(data: Points | Boxes) -> Literal["owners", "trajectories"]:
    """Return what a count of people counts."""
    return "owners" if data.owners == "given" else "trajectories"


def same(offsets: IntArray, columns: Sequence[IntArray | FloatArray], which: IntArray) -> tuple[IntArray, IntArray]:
    """Tell which of the trajectories `which` are the same, row by row and bit by bit, in all columns.

    Returns
    -------
    code : int64, one per trajectory in `which`
        Equal for equal sequences.
    first : int64, one per code
        The first trajectory with this code.

    Notes
    -----
    Sequences are compared by their 256-bit BLAKE2 digests, for which nobody can make two sequences that collide, and
    codes are in the order of digests: it looks random, and does not depend on the order of trajectories.

    Examples
    --------
    >>> offsets, t = np.array([0, 2, 3, 5]), np.array([1, 2, 1, 1, 2])
    >>> code, first = same(offsets, [t], np.array([0, 1, 2]))
    >>> bool(code[0] == code[2] != code[1]), sorted(first.tolist())
    (True, [0, 1])
    """
    flat = [np.ascontiguousarray(column) for column in columns]
    spend((3_000 + 500 * len(flat)) * len(which) + sum(column.nbytes for column in flat))
    first: dict[bytes, int] = {}
    keys = []
    # Columns of one trajectory have the same number of rows, so hashing them one after the other cannot mix them up.
    for i, begin, end in zip(which.tolist(), offsets[which].tolist(), offsets[which + 1].tolist(), strict=True):
        digest = blake2b(digest_size=32)
        for column in flat:
            digest.update(column[begin:end].data)
        key = digest.digest()
        keys.append(key)
        first.setdefault(key, i)
    code = {key: i for i, key in enumerate(sorted(first))}
    return (
        np.fromiter((code[key] for key in keys), np.int64, len(keys)),
        np.fromiter((first[key] for key in code), np.int64, len(code)),
    )


def tolerance_m(data: Points | Boxes) -> float:
    """Return what rounding may do to a distance between published positions, in metres.

    Examples
    --------
    >>> tolerance_m(Points.from_records([[(0, -5e4, 20.0)]])), tolerance_m(Points.from_records([[(0, 1e12, 0.0)]]))
    (5e-05, 0.001)
    """
    largest = max(float(np.abs(column).max(initial=1.0)) for column in _places(data))
    return min(TOLERANCE_CAP_M, max(1e-9 * largest, DEGREES_M if data.frame.degrees else 0.0))


def _times(data: Points | Boxes) -> list[IntArray]:
    return [getattr(data, name) for name, dtype in data.row_columns.items() if dtype is np.int64]


def _places(data: Points | Boxes) -> list[FloatArray]:
    return [getattr(data, name) for name, dtype in data.row_columns.items() if dtype is np.float64]
