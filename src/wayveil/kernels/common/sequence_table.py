"""A hash table of short integer sequences, exact: keys are compared item by item, never by hash alone.

Kernels that work together here use one array type (flat int64) and plain loops: every further type or NumPy function
is another specialization for numba to compile, and compiling is what a first run waits for.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Table", "find_row", "grown", "has_part", "insert_row", "new_table", "roomy"]

Table = namedtuple("Table", ["slots", "rows", "n_rows", "width"])
"""A table as it lies in memory; only `insert_row` writes to it.

slots : int64, (a power of two,)
    Open addressing: a row, or -1 where the slot is empty.  At most half of them are in use, so that a search is short.
rows : int64, (capacity * width,)
    Row r is ``rows[r * width:(r + 1) * width]``: the length of its sequence, its items, and unused room.
n_rows : int64, (1,)
    How many rows there are: an array, so that a table with room can be changed in place.
width : int64
    One more than the longest sequence that fits.
"""


@kernel
def new_table(capacity, longest):
    """Return an empty table for `capacity` sequences of at most `longest` items."""
    n_slots = np.int64(16)
    while n_slots < 2 * capacity:
        n_slots *= 2
    slots = np.empty(n_slots, np.int64)
    for slot in range(n_slots):
        slots[slot] = -1
    width = np.int64(longest + 1)
    rows = np.empty(capacity * width, np.int64)
    return Table(slots, rows, np.zeros(1, np.int64), width)


@inner
def _home_slot(sequence, begin, n, n_slots):
    """Return the slot where the search for ``sequence[begin:begin + n]`` begins."""
    # FNV-1a over whole items instead of bytes.  Items are small numbers, which differ in their low bits only, so every
    # step and the end fold the high bits of the product back: the mask below takes nothing but low bits.
    code = np.uint64(14695981039346656037)
    for i in range(begin, begin + n):
        code = (code ^ np.uint64(sequence[i])) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
    code *= np.uint64(0x9E3779B97F4A7C15)
    code ^= code >> np.uint64(32)
    return np.int64(code & np.uint64(n_slots - 1))


@kernel
def find_row(table, sequence, begin, n):
    """Return the row of ``sequence[begin:begin + n]``, or -1; O(n) expected."""
    n_slots = table.slots.size
    width = table.width
    slot = _home_slot(sequence, begin, n, n_slots)
    # Linear probing: a sequence that is in the table lies before the first empty slot from its home slot on.
    while True:
        row = table.slots[slot]
        if row < 0:
            return row
        if table.rows[row * width] == n:
            i = np.int64(0)
            while i < n and table.rows[row * width + 1 + i] == sequence[begin + i]:
                i += 1
            if i == n:
                return row
        slot = (slot + 1) & (n_slots - 1)


@kernel
def insert_row(table, sequence, begin, n):
    """Append ``sequence[begin:begin + n]``, which must be absent, and return its row; the table must have room."""
    row = table.n_rows[0]
    width = table.width
    n_slots = table.slots.size
    table.n_rows[0] = row + 1
    table.rows[row * width] = n
    for i in range(n):
        table.rows[row * width + 1 + i] = sequence[begin + i]
    slot = _home_slot(sequence, begin, n, n_slots)
    while table.slots[slot] >= 0:
        slot = (slot + 1) & (n_slots - 1)
    table.slots[slot] = row
    return row


@kernel
def roomy(table, extra):
    """Return a table with room for `extra` more rows: the same one, or a copy at least twice as large."""
    n_rows = table.n_rows[0]
    width = table.width
    if (n_rows + extra) * width <= table.rows.size:
        return table
    # Rows keep their numbers, as they are inserted in the same order.
    larger = new_table(2 * (n_rows + extra), width - 1)
    for row in range(n_rows):
        insert_row(larger, table.rows, row * width + 1, table.rows[row * width])
    return larger


@kernel
def grown(array, need):
    """Return `array` if it has `need` entries, else a copy with at least twice as many."""
    if need <= array.size:
        return array
    larger = np.empty(2 * need, np.int64)
    for i in range(array.size):
        larger[i] = array[i]
    return larger


@kernel
def has_part(whole, whole_begin, n_whole, part, part_begin, n_part):
    """Return whether an ascending sequence contains every item of another ascending sequence.

    The sequences are ``whole[whole_begin:whole_begin + n_whole]`` and ``part[part_begin:part_begin + n_part]``.
    O(n_whole + n_part): both are ascending, so one walk along both finds all there is to find.
    """
    at = whole_begin
    end = whole_begin + n_whole
    for i in range(part_begin, part_begin + n_part):
        while at < end and whole[at] < part[i]:
            at += 1
        if at == end or whole[at] != part[i]:
            return False
        at += 1
    return True
