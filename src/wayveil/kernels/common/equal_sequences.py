"""Which trajectories are the same, row by row."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["first_equal"]


@kernel
def first_equal(offsets, columns):
    """Return for each trajectory the first one with the same rows; -1 for those without rows.

    O(rows) time expected, O(trajectories) memory.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory i has the rows ``offsets[i]:offsets[i + 1]``.
    columns : tuple of int64 arrays, one value per row
        What is compared; floats are given by their bits.

    Examples
    --------
    >>> first_equal(np.array([0, 2, 2, 4, 5]), (np.array([1, 2, 1, 2, 1]),)).tolist()
    [0, -1, 0, 3]
    """
    n = offsets.size - 1
    n_slots = 4
    while n_slots < 2 * n:
        n_slots *= 2
    slots = np.empty(n_slots, np.int64)
    first = np.empty(n, np.int64)
    for slot in range(n_slots):
        slots[slot] = -1
    # A hash table with linear probing.  Before each round it holds one trajectory, the first, for each content that was
    # met.  A round goes from the home slot on until it meets an equal one, or an empty slot, which it takes: then the
    # trajectory is the first of its content, and equal to itself.
    for trajectory in range(n):
        first[trajectory] = -1
        if offsets[trajectory] == offsets[trajectory + 1]:
            continue
        slot = _hash_rows(offsets, columns, trajectory) & (n_slots - 1)
        while first[trajectory] < 0:
            other = slots[slot]
            if other < 0:
                slots[slot] = trajectory
                other = trajectory
            if _have_same_rows(offsets, columns, trajectory, other):
                first[trajectory] = other
            slot = (slot + 1) & (n_slots - 1)
    return first


@inner
def _hash_rows(offsets, columns, trajectory):
    """Return a number that equal trajectories share and others hardly ever."""
    code = offsets[trajectory + 1] - offsets[trajectory]
    for column in columns:
        for row in range(offsets[trajectory], offsets[trajectory + 1]):
            code = (code ^ column[row]) * 0x2545F4914F6CDD1D  # overflow wraps, which is what mixes
            code ^= code >> 29
    return code


@inner
def _have_same_rows(offsets, columns, one, other):
    """Return whether two trajectories are equal in all columns: a hash alone would mix up people."""
    length = offsets[one + 1] - offsets[one]
    same = offsets[other + 1] - offsets[other] == length
    for column in columns:
        row = 0
        while same and row < length:
            same = column[offsets[other] + row] == column[offsets[one] + row]
            row += 1
    return same
