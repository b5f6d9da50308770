"""The state of a suppression: records whose visits can be switched off, and the threats that run through them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.common.sequence_table import find_row

__all__ = ["Threats", "compact", "contains", "new_threats", "position"]

Threats = namedtuple(
    "Threats",
    "table row first listed record live visit_first visit_n visit_threat n_of_item n_records",
)
"""Minimal violating sequences while they are being removed.  Threat m still occurs in `live[m]` records and is gone
when that is zero; they are among the `listed[m]` records from ``record[first[m]]`` on, ascending, and `compact` drops
the others.  `row[m]` is its row among the common sequences, -1 if it has too few owners for that.  The threats that run
through visit v are the `visit_n[v]` entries from ``visit_threat[visit_first[v]]`` on.  `n_of_item` and `n_records`
count, per item, the threats and the records that still have it, with records that are not at hand."""


@inner
def new_threats(found, common, records, elsewhere):
    """Index the violating sequences by visit; O(sum of their lengths times their records)."""
    n, width, n_rows, n_items = found.table.meta[0], found.table.meta[1], records.items.size, records.meta[0]
    rows, first = found.table.rows, found.first
    row, listed, live = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    record, visit_n = np.empty(first[n], np.int64), np.zeros(n_rows, np.int64)
    visit_first = np.zeros(n_rows + 1, np.int64)
    n_of_item, n_records = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    for i in range(n_items):
        n_records[i] = elsewhere[i]
    for v in range(n_rows):
        n_records[records.items[v]] += 1
    for m in range(n):
        listed[m], live[m] = first[m + 1] - first[m], first[m + 1] - first[m]
        row[m] = find_row(common.table, rows, m * width + 1, rows[m * width])
        for i in range(m * width + 1, m * width + 1 + rows[m * width]):
            n_of_item[rows[i]] += 1
            for e in range(first[m], first[m + 1]):
                record[e] = found.record[e]
                visit_first[position(records, record[e], rows[i]) + 1] += 1
    for v in range(n_rows):
        visit_first[v + 1] += visit_first[v]
    visit_threat = np.empty(visit_first[n_rows], np.int64)
    for m in range(n):
        for i in range(m * width + 1, m * width + 1 + rows[m * width]):
            for e in range(first[m], first[m + 1]):
                v = position(records, record[e], rows[i])
                visit_threat[visit_first[v] + visit_n[v]] = m
                visit_n[v] += 1
    return Threats(
        found.table, row, first, listed, record, live, visit_first, visit_n, visit_threat, n_of_item, n_records
    )


@inner
def compact(records, threats, m):
    """Drop from the list of threat m the records that no longer have it."""
    begin = m * threats.table.meta[1]
    if threats.listed[m] > threats.live[m]:
        n, first = np.int64(0), threats.first[m]
        for e in range(first, first + threats.listed[m]):
            if contains(records, threats.record[e], threats.table.rows, begin + 1, threats.table.rows[begin]):
                threats.record[first + n] = threats.record[e]
                n += 1
        threats.listed[m] = n


@inner
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


@inner
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
