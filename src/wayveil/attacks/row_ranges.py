"""Ranges of positions: all their elements at once, and in parts of bounded size."""

from __future__ import annotations

import numpy as np

from wayveil.attacks.positions.known_positions import Array
from wayveil.model.data.ragged import offsets_of

__all__ = ["expanded", "parts"]


def expanded(first: Array, size: Array) -> tuple[Array, Array]:
    """Return, for all elements of ranges, the range and the position.

    Examples
    --------
    >>> [column.tolist() for column in expanded(np.array([5, 0, 7]), np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [5, 6, 7, 8, 9]]
    """
    starts = offsets_of(size)
    which = np.repeat(np.arange(len(size)), size)
    return which, np.arange(starts[-1]) + np.repeat(first - starts[:-1], size)


def parts(size: Array, most: int) -> list[slice]:
    """Return slices of about `most` elements of ranges in all; a range is never cut.

    Examples
    --------
    >>> parts(np.array([2, 2, 5, 1]), 4)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends = np.cumsum(size)
    if not len(ends) or ends[-1] == 0:
        return []
    # Where the running sum passes each multiple of `most`.
    cuts = np.searchsorted(ends, np.arange(most, ends[-1] + most, most)) + 1
    cuts = np.unique(np.minimum(cuts, len(size)))
    return [slice(int(a), int(b)) for a, b in zip(np.append(0, cuts[:-1]), cuts, strict=True)]
