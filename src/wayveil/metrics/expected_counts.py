"""Expected counts: what stands for an area is in each cell of a grid with the share of its area that lies there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model.data.ragged import offsets_of

__all__ = ["DECIMALS", "CellShares", "expand_ranges", "expected_pairs", "share_of_cells"]

Array = NDArray[Any]

DECIMALS = 9
"""Sums of shares are rounded: their last digits depend on the order of rows, and that says nothing."""
_FLAT = 1e-9  # of a side of a cell: what is narrower is a point
_MOST_PRODUCTS = 100_000_000


@dataclass(frozen=True, eq=False)
class CellShares:
    """How much of each of some areas lies in each of some cells: rows of a sparse matrix.

    offsets : one per area and one more
        Area i has the entries ``offsets[i]:offsets[i + 1]``.
    cell, share : one per entry
        The number of a cell, and how much of the area is in it; the shares of an area add up to at most 1.
    """

    offsets: Array
    cell: Array
    share: Array

    @property
    def area(self) -> Array:
        """The area of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def totals(self, n_cells: int) -> Array:
        """Return the sum of the shares in each cell: the number of areas to be expected there."""
        return np.round(np.bincount(self.cell, weights=self.share, minlength=n_cells), DECIMALS)


def share_of_cells(columns: Array, rows: Array, x: tuple[Array, Array], y: tuple[Array, Array]) -> CellShares:
    """Return how much of each box lies in each of the given cells; the rest of it lies in cells that nobody asked for.

    Parameters
    ----------
    columns, rows : int64, one per cell
        The cells, each once, in the order of columns and then rows; cell (i, j) goes from (i, j) to (i + 1, j + 1).
    x, y : pairs of float64, one per box
        Lower and upper sides, in units of a cell.  A box without extent lies in the cell above its border.

    Notes
    -----
    Boxes may be wide and cells few, so cells are looked up and not walked: first the columns in which there is any
    cell, then the rows in each.  O((boxes + hits) log cells) time.

    Examples
    --------
    >>> found = share_of_cells(np.array([0, 2]), np.array([0, 0]), (np.array([0.5]), np.array([2.5])),
    ...                        (np.array([0.0]), np.array([1.0])))
    >>> found.cell.tolist(), found.share.tolist()
    ([0, 1], [0.25, 0.25])
    """
    (x_low, x_high), (y_low, y_high) = (_with_extent(*side) for side in (x, y))
    # Cells as sorted keys (column, row), so that those of a box are found by searching: first its columns, then, in
    # each of these, the rows from its lower to its upper side.
    different, line = np.unique(columns, return_inverse=True)
    line = line.reshape(-1)
    n_rows = 1 + int(rows.max(initial=0)) - (lowest := int(rows.min(initial=0)))
    key = line.astype(np.int64) * n_rows + (rows - lowest)
    first = np.searchsorted(different, np.floor(x_low), side="left")
    last = np.searchsorted(different, np.ceil(x_high) - 1, side="right")
    box, column = expand_ranges(first, last)
    below = np.clip(np.floor(y_low) - lowest, 0, n_rows).astype(np.int64)[box]
    above = np.clip(np.ceil(y_high) - 1 - lowest, -1, n_rows - 1).astype(np.int64)[box]
    begin = np.searchsorted(key, column * n_rows + below, side="left")
    end = np.searchsorted(key, column * n_rows + above, side="right")
    pair, cell = expand_ranges(begin, np.maximum(begin, end))
    box = box[pair]
    # The share of an area is the product of the shares of its sides.
    share = _covered(x_low[box], x_high[box], columns[cell]) * _covered(y_low[box], y_high[box], rows[cell])
    return CellShares(offsets_of(np.bincount(box, minlength=len(x_low))), cell, share)


def expected_pairs(begins: CellShares, ends: CellShares, begin: Array, end: Array, n_cells: int) -> Array:
    """Return, for pairs of a first and a last cell, how many trips are to be expected between them.

    `begins` and `ends` have a row per trip: where it may have begun and ended.  A trip that may have begun in 10 cells
    and ended in 20 counts in 200 pairs; beyond a hundred million of these, every n-th trip stands for n.

    Examples
    --------
    >>> sure = CellShares(np.array([0, 1]), np.array([0]), np.array([1.0]))
    >>> open_ = CellShares(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> expected_pairs(sure, open_, np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [0.5, 0.5, 0.0]
    """
    # Pairs that somebody asked for, each once; `place` leads back to the order of the question.
    pairs, place = np.unique(begin * n_cells + end, return_inverse=True)
    expected = np.zeros(len(pairs))
    n_begins = np.diff(begins.offsets)
    n_ends = np.diff(ends.offsets)
    products = n_begins * n_ends
    # Every n-th trip stands for n, where the products of all would not be countable.
    every = max(1, -(-int(products.sum()) // _MOST_PRODUCTS))
    trips = np.arange(len(products))[::every]
    # So many trips at a time that their products fit into memory.
    for some in np.array_split(trips, max(1, -(-int(products[trips].sum()) // 4_000_000))):
        trip, one = expand_ranges(begins.offsets[some], begins.offsets[some + 1])
        which = some[trip]
        pair, other = expand_ranges(ends.offsets[which], ends.offsets[which + 1])
        one = one[pair]
        # All pairs of a first and a last cell of these trips, as keys; those that are asked for are found by searching.
        key = begins.cell[one] * n_cells + ends.cell[other]
        at = np.searchsorted(pairs, key)
        at[at == len(pairs)] = 0
        hit = pairs[at] == key if len(pairs) else np.zeros(0, np.bool_)
        weights = (begins.share[one] * ends.share[other])[hit]
        expected += np.bincount(at[hit], weights=weights, minlength=len(pairs))
    return np.round(expected * every, DECIMALS)[place.reshape(-1)]


def expand_ranges(first: Array, last: Array) -> tuple[Array, Array]:
    """Return the numbers of many ranges one after the other, and for each the range that it is from.

    Examples
    --------
    >>> [part.tolist() for part in expand_ranges(np.array([5, 9, 2]), np.array([7, 9, 3]))]
    [[0, 0, 2], [5, 6, 2]]
    """
    width = np.maximum(last - first, 0)
    owner = np.repeat(np.arange(len(width)), width)
    step = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
    return owner, first[owner] + step


def _with_extent(low: Array, high: Array) -> tuple[Array, Array]:
    """Return sides that are at least a little apart, so that a point, too, has a share of 1 in its cell."""
    flat = high - low < _FLAT
    # A point on a border lies above it, and must not reach below by rounding.
    return low, np.where(flat, np.minimum(np.maximum(low + _FLAT, np.nextafter(low, np.inf)), np.floor(low) + 1), high)


def _covered(low: Array, high: Array, cell: Array) -> Array:
    part = np.minimum(high, cell + 1) - np.maximum(low, cell)
    return np.clip(part / (high - low), 0.0, 1.0)
