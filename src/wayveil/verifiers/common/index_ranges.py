"""Many ranges of numbers at once, and many pairs a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wayveil.model.data.ragged import IntArray

__all__ = ["CHUNK_ROWS", "chunks", "distinct", "expand"]

CHUNK_ROWS = 2_000_000
"""About so many pairs are in memory at once; no result depends on it."""

Number = TypeVar("Number", bound=np.generic)


def chunks(sizes: IntArray) -> Iterator[IntArray]:
    """Cut the places of `sizes` into ranges, each with a sum of about `CHUNK_ROWS` at most, or a single large one.

    Examples
    --------
    >>> [part.tolist() for part in chunks(np.array([1_500_000, 400_000, 900_000]))]
    [[0, 1], [2]]
    """
    if len(sizes):
        block = (np.cumsum(sizes) - 1) // CHUNK_ROWS
        yield from np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(block)) + 1)


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the different values in order; sorting is several times faster here than the hashing of `np.unique`.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def expand(begin: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of all ranges of `lengths` from `begin`, one after the other, and the range of each.

    Examples
    --------
    >>> numbers, which = expand(np.array([5, 0, 8]), np.array([2, 0, 1]))
    >>> numbers.tolist(), which.tolist()
    ([5, 6, 8], [0, 0, 2])
    """
    which = np.repeat(np.arange(len(lengths)), lengths)
    until = np.cumsum(lengths)
    return np.arange(len(which)) + (begin - until + lengths)[which], which
