"""A hash table of int64 keys, numbered 0, 1, 2, ... as they come, of which the last can be taken out again."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Table", "add", "drop_last", "find", "larger_table", "new_table"]

Table = namedtuple("Table", ["slots", "keys", "used"])
"""Key number i is ``keys[i]``; `used[0]` counts them.  `slots` is at least twice as long and holds numbers, or -1."""


def new_table(capacity):
    """Return an empty table with room for `capacity` keys."""
    slots = np.full(1 << max(3, int(2 * capacity - 1).bit_length()), -1, np.int64)
    return Table(slots, np.empty(capacity, np.int64), np.zeros(1, np.int64))


def larger_table(table, capacity):
    """Return a table with the same numbers and room for `capacity` keys."""
    grown = new_table(capacity)
    _refill(grown, table.keys[: table.used[0]])
    return grown


@inner
def find(slots, keys, key):
    """Return the number of `key`, or -1 - s where it is not there and s is the slot in which it would be.

    The arrays of a table are passed one by one: a tuple of arrays costs a count of references for each, every time.
    """
    mask = slots.size - 1
    code = key * 0x2545F4914F6CDD1D  # overflow wraps, which is what mixes
    at = (code ^ (code >> 29)) & mask
    while slots[at] >= 0:
        if keys[slots[at]] == key:
            return slots[at]
        at = (at + 1) & mask
    return -1 - at


@inner
def add(table, key, found):
    """Add a key that `find` did not find (`found` is what it returned) and return its number."""
    number = table.used[0]
    table.slots[-1 - found] = number
    table.keys[number] = key
    table.used[0] = number + 1
    return number


@inner
def drop_last(table):
    """Take the last key out; no key that came before it has its slot on the way."""
    number = table.used[0] - 1
    mask = table.slots.size - 1
    code = table.keys[number] * 0x2545F4914F6CDD1D
    at = (code ^ (code >> 29)) & mask
    while table.slots[at] != number:
        at = (at + 1) & mask
    table.slots[at] = -1
    table.used[0] = number


@kernel
def _refill(table, keys):
    for key in keys:
        add(table, key, find(table.slots, table.keys, key))
