"""Different values of a column of integers, and different rows of several, found by sorting one key."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.model.data.ragged import IntArray

__all__ = ["DistinctRows", "distinct_rows", "distinct_values"]

_LARGEST = 2**62


class DistinctRows(NamedTuple):
    """The different rows in lexicographic order: where each comes first, which one each row is, and how often."""

    first: IntArray
    code: IntArray
    n_rows: IntArray


def distinct_rows(*columns: NDArray[Any]) -> DistinctRows:
    """Return what ``np.unique(..., axis=0)`` would say of rows of integers, in a fraction of the time.

    Rows become one integer each: columns are shifted to begin with 0 and take as much room as they need, or are
    replaced by ranks where that would be more than 62 bits.  O(n log n) for n rows, one sort in the usual case.

    Examples
    --------
    >>> found = distinct_rows(np.array([2, 1, 2]), np.array([7, -9, 7]))
    >>> found.first.tolist(), found.code.tolist(), found.n_rows.tolist()
    ([1, 0], [1, 0, 1], [1, 2])
    """
    key, size = _compact(columns[0])
    for column in columns[1:]:
        digit, room = _compact(column)
        if size * room > _LARGEST:
            key, size = _rank(key)
        if size * room > _LARGEST:
            digit, room = _rank(digit)
        key = key * room + digit
        size *= room
    _, first, code, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return DistinctRows(first, code.reshape(-1), count)


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return what ``np.unique`` says of integers: the different ones, ascending.

    NumPy puts them into a hash table since its version 2.3.  Where most are different, as keys of rows are, sorting
    takes a twentieth of the time: a million of them 0.05 instead of 1.0 s.  O(n log n) time.

    Examples
    --------
    >>> distinct_values(np.array([7, -1, 7])).tolist()
    [-1, 7]
    """
    ordered = np.sort(values, axis=None)
    is_new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def _compact(column: NDArray[Any]) -> tuple[IntArray, int]:
    """Return a column that begins with 0, and how many values it could have; ranks where its range is too wide."""
    if not len(column):
        return column.astype(np.int64), 1
    low = int(column.min())
    room = int(column.max()) - low + 1
    if room > _LARGEST:
        return _rank(column)
    return column.astype(np.int64) - low, room


def _rank(column: NDArray[Any]) -> tuple[IntArray, int]:
    values, rank = np.unique(column, return_inverse=True)
    return rank.reshape(-1).astype(np.int64), len(values)
