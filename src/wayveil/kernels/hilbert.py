"""The Hilbert curve: a number for every cell of a square grid, near each other for cells that are."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["hilbert_index"]


@kernel
def hilbert_index(x, y, order):
    """Return the place of cells (x, y) on the curve of 2**order by 2**order cells, in O(cells x order) time.

    The curve starts at (0, 0) and ends at (2**order - 1, 0); that of order 1 is (0, 0), (0, 1), (1, 1), (1, 0).
    """
    found = np.zeros(x.size, np.int64)
    top = (np.int64(1) << order) - 1
    for i in range(x.size):
        cx, cy = x[i], y[i]
        side = np.int64(1) << order >> 1
        while side > 0:
            right, upper = cx & side != 0, cy & side != 0
            quarter = (3 if right else 0) ^ (1 if upper else 0)
            found[i] += side * side * quarter
            if not upper:
                if right:
                    cx, cy = top - cx, top - cy
                cx, cy = cy, cx
            side >>= 1
    return found
