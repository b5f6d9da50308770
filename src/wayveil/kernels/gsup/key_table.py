"""A hash table of int64 keys, numbered 0, 1, 2, ... as they come, of which the last can be taken out again."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Table", "add", "drop_last", "find", "larger_table", "new_table"]

Table = namedtuple("Table", ["slots", "keys", "used"])
"""A table as it lies in memory; `add` and `drop_last` write to it.

slots : int64, (a power of two,)
    Open addressing: the number of a key, or -1 where the slot is empty.  At least twice as long as `keys`.
keys : int64, (capacity,)
    Key number i is ``keys[i]``.
used : int64, (1,)
    How many keys there are.
"""

_MIXER = 0x2545F4914F6CDD1D  # an odd number without a pattern: keys are products of small numbers, and much alike


def new_table(capacity):
    """Return an empty table with room for `capacity` keys."""
    slots = np.full(1 << max(3, int(2 * capacity - 1).bit_length()), -1, np.int64)
    return Table(slots, np.empty(capacity, np.int64), np.zeros(1, np.int64))


def larger_table(table, capacity):
    """Return a table with the same numbers and room for `capacity` keys."""
    larger = new_table(capacity)
    _refill(larger, table.keys[: table.used[0]])
    return larger


@inner
def find(slots, keys, key):
    """Return the number of `key`, or -1 - s where it is not there and s is the slot in which it would be.

    The arrays of a table are passed one by one: a tuple of arrays costs a count of references for each, every time.
    """
    mask = slots.size - 1
    code = key * _MIXER  # overflow wraps, which is what mixes
    slot = (code ^ (code >> 29)) & mask
    while slots[slot] >= 0:
        if keys[slots[slot]] == key:
            return slots[slot]
        slot = (slot + 1) & mask
    return -1 - slot


@inner
def add(table, key, missing):
    """Add a key that `find` did not find (`missing` is what it returned) and return its number."""
    number = table.used[0]
    table.slots[-1 - missing] = number
    table.keys[number] = key
    table.used[0] = number + 1
    return number


@inner
def drop_last(table):
    """Take the last key out; no key that came before it has its slot on the way, so nothing else has to move."""
    number = table.used[0] - 1
    mask = table.slots.size - 1
    code = table.keys[number] * _MIXER
    slot = (code ^ (code >> 29)) & mask
    while table.slots[slot] != number:
        slot = (slot + 1) & mask
    table.slots[slot] = -1
    table.used[0] = number


@kernel
def _refill(table, keys):
    """Add keys to an empty table."""
    for key in keys:
        add(table, key, find(table.slots, table.keys, key))
