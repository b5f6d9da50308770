"""The state of a suppression: records whose visits can be switched off, and the threats that run through them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.jit import kernel
from wayveil.kernels.sequence_table import find_row

__all__ = ["Threats", "contains", "new_threats", "position"]

Threats = namedtuple(
    "Threats", ["table", "row", "first", "size", "record", "visit_first", "visit_threat", "n_of_item", "n_records"]
)
"""Minimal violating sequences while they are being removed.  Threat m still occurs in the `size[m]` records from
``record[first[m]]`` on, ascending; it is gone when `size[m]` is zero.  `row[m]` is its row among the common sequences,
-1 if it has too few owners for that.  The threats through visit v are
``visit_threat[visit_first[v]:visit_first[v + 1]]``; `n_of_item` and `n_records` count, per item, the threats and the
records that still have it."""


@kernel
def new_threats(found, common, records):
    """Index the violating sequences by visit; O(sum of their lengths times their records)."""
    n, width, n_rows = found.table.meta[0], found.table.meta[1], records.items.size
    row, size, record = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(found.first[n], np.int64)
    visit_first, fill = np.zeros(n_rows + 1, np.int64), np.zeros(n_rows + 1, np.int64)
    n_of_item, n_records = np.zeros(records.meta[0], np.int64), np.zeros(records.meta[0], np.int64)
    for v in range(n_rows):
        n_records[records.items[v]] += 1
    for m in range(n):
        size[m] = found.first[m + 1] - found.first[m]
        row[m] = find_row(common.table, found.table.rows, m * width + 1, found.table.rows[m * width])
        for i in range(found.table.rows[m * width]):
            item = found.table.rows[m * width + 1 + i]
            n_of_item[item] += 1
            for e in range(found.first[m], found.first[m + 1]):
                record[e] = found.record[e]
                visit_first[position(records, record[e], item) + 1] += 1
    for v in range(n_rows):
        visit_first[v + 1] += visit_first[v]
        fill[v + 1] = visit_first[v + 1]
    visit_threat = np.empty(visit_first[n_rows], np.int64)
    for m in range(n):
        for i in range(found.table.rows[m * width]):
            item = found.table.rows[m * width + 1 + i]
            for e in range(found.first[m], found.first[m + 1]):
                v = position(records, record[e], item)
                visit_threat[fill[v]] = m
                fill[v] += 1
    return Threats(found.table, row, found.first, size, record, visit_first, visit_threat, n_of_item, n_records)


@kernel
def position(records, record, item):
    """Return the row of `item` in a non-empty record; where the record never had it, some other row."""
    low, high = records.offsets[record], records.offsets[record + 1] - 1
    while low < high:
        middle = (low + high) >> 1
        if records.items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def contains(records, record, sequence, begin, n):
    """Return whether the record still has every item of ``sequence[begin:begin + n]``."""
    at, end = records.offsets[record], records.offsets[record + 1]
    for i in range(begin, begin + n):
        while at < end and records.items[at] < sequence[i]:
            at += 1
        if at == end or records.items[at] != sequence[i] or records.alive[at] == 0:
            return False
        at += 1
    return True
