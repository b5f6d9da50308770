"""Complementary suppression: which further numbers of a table with totals must go, so that small cells stay unknown.

The table is a matrix with its totals as a last row and a last column.  Multiply every entry by -1 for being a row total
and by -1 for being a column total: then each row and each column sums to 0.  Take an entry p, any other row and any
other column, and the four corners where they cross.  Adding a to p and to the corner opposite, and subtracting it from
the other two, leaves all sums at 0: it is another table that fits everything outside these corners.  So p is unknown if
the four corners are not published and can bear an a that makes p 0, and one that makes it k - 1.

For every small cell the cheapest such corners are taken (the hypercube method: Repsilber 1994; Giessing and Repsilber
2002, in Inference Control in Statistical Databases).  Entries are only ever taken away, so what was unknown stays so.
There always is a choice: the totals of its row and column and the sum of all.
"""

from __future__ import annotations

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["MOST_WORK", "hide_small_cells"]

MOST_WORK = 20_000_000_000
"""So many corners are looked at, at most: about a minute."""

_NEVER = np.iinfo(np.int64).max


def hide_small_cells(value: IntArray, small: BoolArray, k: int) -> BoolArray:
    """Return which entries of a table with totals are not published.

    Parameters
    ----------
    value : int64, (rows + 1) x (columns + 1)
        The cells; in the last column the totals of rows, in the last row those of columns, in the corner that of all.
    small : bool, the same shape
        Cells that count too few people; no total is small.
    k : int
        The smallest number of people.

    Notes
    -----
    O(small cells x entries) time.

    Examples
    --------
    >>> cells = np.array([[9, 1, 10], [8, 7, 15], [17, 8, 25]])
    >>> hide_small_cells(cells, cells == 1, 5).astype(int).tolist()
    [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    """
    n_small = int(small.sum())
    if n_small * value.size > MOST_WORK:
        raise InputError(
            f"counts: with totals, {n_small:,} small cells in a table of {value.size:,} would have to be hidden from "
            "each other, which takes too long. Use coarser zones or times, or margins=no."
        )
    hidden = small.copy()
    sign = np.ones(value.shape, np.int64)
    sign[-1, :] *= -1
    sign[:, -1] *= -1
    rows, columns = np.nonzero(small)
    # Large ones first: they need the most room, and what hides them often hides small ones too.
    for at in np.lexsort((columns, rows, -value[rows, columns])).tolist():
        row = int(rows[at])
        column = int(columns[at])
        other_row, other_column = _cheapest_corners(value, hidden, sign, row, column, k)
        hidden[row, other_column] = True
        hidden[other_row, column] = True
        hidden[other_row, other_column] = True
    return hidden


def _cheapest_corners(
    value: IntArray, hidden: BoolArray, sign: IntArray, row: int, column: int, k: int
) -> tuple[int, int]:
    """Return the row and the column of the opposite corner that costs least.

    What is lost is what an entry counts, and nothing for one that is hidden already.
    """
    own = int(value[row, column])
    more = max(0, k - 1 - own)
    cost = np.where(hidden, 0, value)
    # A corner beside p moves against p if it is a cell, with it if it is a total.  An empty cell cannot move: an
    # attacker may know that it is empty.
    beside_row = np.where(sign[row, :] > 0, value[row, :] >= more, value[row, :] >= own) & (value[row, :] > 0)
    beside_column = np.where(sign[:, column] > 0, value[:, column] >= more, value[:, column] >= own)
    beside_column &= value[:, column] > 0
    opposite = np.where(sign > 0, value >= own, value >= more) & (value > 0)
    fits = opposite & beside_row[None, :] & beside_column[:, None]
    fits[row, :] = False
    fits[:, column] = False
    total = np.where(fits, cost + cost[row, :][None, :] + cost[:, column][:, None], _NEVER)
    best = int(np.argmin(total))
    return best // value.shape[1], best % value.shape[1]
