"""A hash table of short integer sequences, exact: keys are compared item by item, never by hash alone.

Kernels that work together here use one array type (flat int64) and plain loops: every further type or NumPy function
is another specialization for numba to compile, and compiling is what a first run waits for.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Table", "find_row", "grown", "has_part", "insert_row", "new_table", "roomy"]

Table = namedtuple("Table", ["slots", "rows", "meta"])
"""``meta = (number of rows, width)``; row r is ``rows[r * width:]``: its length, then its items.  `slots` is an open
addressing index into the rows, at most half full."""


@kernel
def new_table(capacity, longest):
    """Return an empty table for `capacity` sequences of at most `longest` items."""
    n_slots = np.int64(16)
    while n_slots < 2 * capacity:
        n_slots *= 2
    slots, meta = np.empty(n_slots, np.int64), np.empty(2, np.int64)
    for at in range(n_slots):
        slots[at] = -1
    meta[0], meta[1] = 0, longest + 1
    return Table(slots, np.empty(capacity * (longest + 1), np.int64), meta)


@inner
def _slot(sequence, begin, n, n_slots):
    h = np.uint64(14695981039346656037)
    for i in range(begin, begin + n):
        h = (h ^ np.uint64(sequence[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
    h *= np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(n_slots - 1))


@kernel
def find_row(table, sequence, begin, n):
    """Return the row of ``sequence[begin:begin + n]``, or -1; O(n) expected."""
    n_slots, width = table.slots.size, table.meta[1]
    at = _slot(sequence, begin, n, n_slots)
    while True:
        row = table.slots[at]
        if row < 0:
            return row
        if table.rows[row * width] == n:
            i = np.int64(0)
            while i < n and table.rows[row * width + 1 + i] == sequence[begin + i]:
                i += 1
            if i == n:
                return row
        at = (at + 1) & (n_slots - 1)


@kernel
def insert_row(table, sequence, begin, n):
    """Append ``sequence[begin:begin + n]``, which must be absent, and return its row; the table must have room."""
    row, width, n_slots = table.meta[0], table.meta[1], table.slots.size
    table.meta[0] = row + 1
    table.rows[row * width] = n
    for i in range(n):
        table.rows[row * width + 1 + i] = sequence[begin + i]
    at = _slot(sequence, begin, n, n_slots)
    while table.slots[at] >= 0:
        at = (at + 1) & (n_slots - 1)
    table.slots[at] = row
    return row


@kernel
def roomy(table, extra):
    """Return a table with room for `extra` more rows: the same one, or a copy at least twice as large."""
    size, width = table.meta[0], table.meta[1]
    if (size + extra) * width <= table.rows.size:
        return table
    bigger = new_table(2 * (size + extra), width - 1)
    for row in range(size):
        insert_row(bigger, table.rows, row * width + 1, table.rows[row * width])
    return bigger


@kernel
def grown(array, need):
    """Return `array` if it has `need` entries, else a copy with at least twice as many."""
    if need <= array.size:
        return array
    bigger = np.empty(2 * need, np.int64)
    for i in range(array.size):
        bigger[i] = array[i]
    return bigger


@kernel
def has_part(whole, whole_begin, n_whole, part, part_begin, n_part):
    """Return whether an ascending sequence contains every item of another ascending sequence."""
    at, end = whole_begin, whole_begin + n_whole
    for i in range(part_begin, part_begin + n_part):
        while at < end and whole[at] < part[i]:
            at += 1
        if at == end or whole[at] != part[i]:
            return False
        at += 1
    return True
