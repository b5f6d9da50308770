"""The Hilbert curve: a number for every cell of a square grid, near each other for cells that are."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["hilbert_index"]


@kernel
def hilbert_index(x, y, order):
    """Return the position of cells (x, y) on the curve of 2**order by 2**order cells, in O(cells x order) time.

    The curve starts at (0, 0) and ends at (2**order - 1, 0); that of order 1 is (0, 0), (0, 1), (1, 1), (1, 0).

    Parameters
    ----------
    x, y : int64, one per cell
        Column and row, from 0 to 2**order - 1; they are only read.
    """
    position = np.zeros(x.size, np.int64)
    top = (np.int64(1) << order) - 1
    # From the largest square down: a square of `side` cells has four quarters, which the curve goes through one after
    # the other.  The bits of this size say in which quarter the cell is, so side * side cells of the curve lie in each
    # quarter before it.  The curve inside the two lower quarters is turned over, and the cell is turned with it, so
    # that the next round sees a curve of the usual orientation.  Ends when a square is a cell.
    for i in range(x.size):
        column = x[i]
        row = y[i]
        side = np.int64(1) << order >> 1
        while side > 0:
            right = column & side != 0
            upper = row & side != 0
            quarter = (3 if right else 0) ^ (1 if upper else 0)
            position[i] += side * side * quarter
            if not upper:
                if right:
                    column = top - column
                    row = top - row
                column, row = row, column
            side >>= 1
    return position
