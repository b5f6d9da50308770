"""A curve through the plane that visits near places one after the other."""

from __future__ import annotations

import numpy as np

from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["z_curve"]

_CELL_M = 50.0
_HALF = 1 << 30  # cells on either side of zero


def z_curve(x: FloatArray, y: FloatArray) -> IntArray:
    """Return positions on a Z curve (Morton order) through cells of 50 metres.

    Examples
    --------
    >>> order = z_curve(np.array([0.0, 60.0, 0.0, 60.0]), np.array([0.0, 0.0, 60.0, 60.0]))
    >>> (order - order[0]).tolist()
    [0, 1, 2, 3]
    """
    cells = [np.clip(np.floor(v / _CELL_M) + _HALF, 0, 2 * _HALF - 1).astype(np.uint64) for v in (x, y)]
    position: IntArray = (_spread(cells[0]) | (_spread(cells[1]) << np.uint64(1))).astype(np.int64)
    return position


def _spread(values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Put a zero between any two bits of 31-bit numbers."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        values = (values | (values << np.uint64(shift))) & np.uint64(mask)
    return values
