"""Which trajectories are the same, row by row."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["first_equal"]


@kernel
def first_equal(offsets, columns):
    """Return for each trajectory the first one with the same rows; -1 for those without rows.

    `columns` is a tuple of int64 columns; floats are given by their bits.  A table of all trajectories, placed by a
    hash of their rows and compared value by value: O(rows) time, O(trajectories) memory.

    Examples
    --------
    >>> first_equal(np.array([0, 2, 2, 4, 5]), (np.array([1, 2, 1, 2, 1]),)).tolist()
    [0, -1, 0, 3]
    """
    n = offsets.size - 1
    size = 4
    while size < 2 * n:
        size *= 2
    table, found = np.empty(size, np.int64), np.empty(n, np.int64)
    for slot in range(size):
        table[slot] = -1
    for trajectory in range(n):
        first, length = offsets[trajectory], offsets[trajectory + 1] - offsets[trajectory]
        found[trajectory] = -1
        if length == 0:
            continue
        code = length
        for column in columns:
            for row in range(first, first + length):
                code = (code ^ column[row]) * 0x2545F4914F6CDD1D  # overflow wraps, which is what mixes
                code ^= code >> 29
        slot = code & (size - 1)
        while found[trajectory] < 0:
            other = table[slot]
            if other < 0:
                table[slot] = trajectory
                other = trajectory
            same = offsets[other + 1] - offsets[other] == length
            for column in columns:
                row = 0
                while same and row < length:
                    same = column[offsets[other] + row] == column[first + row]
                    row += 1
            if same:
                found[trajectory] = other
            slot = (slot + 1) & (size - 1)
    return found
