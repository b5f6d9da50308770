"""Flat columns plus offsets: trajectory `i` owns rows ``offsets[i]:offsets[i + 1]`` of every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "frozen",
    "keep_rows",
    "mean_per_trajectory",
    "offsets_of",
    "take",
    "trajectory_of_row",
]

IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.floating[Any]]


def frozen(values: Any, dtype: Any) -> NDArray[Any]:
    """Return `values` as a contiguous, read-only array; copies only what could still be written to."""
    # `ascontiguousarray` copies only if type or layout differ.  What may still be written to by somebody else (the
    # array that was passed, or a view into one) is copied before it is locked.
    array = np.ascontiguousarray(values, dtype=dtype)
    if array.flags.writeable:
        array = array.copy() if array is values or array.base is not None else array
        array.flags.writeable = False
    return array


def offsets_of(lengths: IntArray) -> IntArray:
    """Return the offsets of trajectories with these numbers of rows.

    Examples
    --------
    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def trajectory_of_row(offsets: IntArray) -> IntArray:
    """Return, for every row, the trajectory that it belongs to.

    Examples
    --------
    >>> trajectory_of_row(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def keep_rows(offsets: IntArray, keep: BoolArray) -> IntArray:
    """Return the offsets after dropping the rows where `keep` is false; no trajectory is dropped.

    Examples
    --------
    >>> keep_rows(np.array([0, 2, 3]), np.array([True, False, False])).tolist()
    [0, 1, 1]
    """
    # kept_before[r] rows are left in front of row r, so an old offset is looked up to give the new one.
    kept_before = np.zeros(len(keep) + 1, np.int64)
    np.cumsum(keep, out=kept_before[1:])
    return kept_before[offsets]


def take(offsets: IntArray, trajectories: IntArray) -> tuple[IntArray, IntArray]:
    """Return (new offsets, row indices) that pick `trajectories` in the order given.

    Examples
    --------
    >>> new, rows = take(np.array([0, 2, 3]), np.array([1, 0]))
    >>> new.tolist(), rows.tolist()
    ([0, 1, 3], [2, 0, 1])
    """
    lengths = np.diff(offsets)[trajectories]
    new = offsets_of(lengths)
    # Row j of the result is j minus where its trajectory begins in the result, plus where it began: the difference is
    # constant within a trajectory and repeated over its rows.
    rows = np.arange(new[-1]) + np.repeat(offsets[:-1][trajectories] - new[:-1], lengths)
    return new, rows


def mean_per_trajectory(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Return the mean of the rows of every trajectory, 0 where there are none.

    Examples
    --------
    >>> mean_per_trajectory(np.array([1.0, 3.0, 5.0]), np.array([0, 2, 2, 3])).tolist()
    [2.0, 0.0, 5.0]
    """
    # Sums of stretches by differences of one running sum: O(rows) without a loop.
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means: FloatArray = (sums[offsets[1:]] - sums[offsets[:-1]]) / np.maximum(np.diff(offsets), 1)
    return means
