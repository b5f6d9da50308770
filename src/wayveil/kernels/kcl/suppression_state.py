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
"""Minimal violating sequences, V(T), while they are being removed.  All arrays are int64.

table : Table
    The sequences; a threat is a row of it.
row : one per threat
    Its row among the common sequences, -1 if it has too few owners for that.
first, listed, record
    Threat m is listed in the `listed[m]` records from ``record[first[m]]`` on, ascending.  Some of them may have lost
    it; `compact` drops those.
live : one per threat
    In how many records it still occurs; it is gone when that is zero.
visit_first, visit_n, visit_threat
    The threats that run through visit v are the `visit_n[v]` entries from ``visit_threat[visit_first[v]]`` on.
n_of_item, n_records : one per item
    The threats, |V(p)|, and the records, |T(p)|, that still have it; with records that are not at hand.
"""


@inner
def new_threats(violating, common, records, elsewhere):
    """Index the violating sequences by visit; O(sum of their lengths times their records).

    `elsewhere` (int64, one per item) counts the records with an item that are not at hand.
    """
    n = violating.table.n_rows[0]
    width = violating.table.width
    rows = violating.table.rows
    first = violating.first
    n_visits = records.items.size
    n_items = records.n_items

    n_records = np.zeros(n_items, np.int64)
    for item in range(n_items):
        n_records[item] = elsewhere[item]
    for v in range(n_visits):
        n_records[records.items[v]] += 1  # an item comes once in a record

    # First count the threats through each visit, then make room for them, then list them.
    row = np.empty(n, np.int64)
    listed = np.empty(n, np.int64)
    live = np.empty(n, np.int64)
    record = np.empty(first[n], np.int64)
    n_of_item = np.zeros(n_items, np.int64)
    visit_first = np.zeros(n_visits + 1, np.int64)
    for m in range(n):
        listed[m] = first[m + 1] - first[m]
        live[m] = first[m + 1] - first[m]
        row[m] = find_row(common.table, rows, m * width + 1, rows[m * width])
        for i in range(m * width + 1, m * width + 1 + rows[m * width]):
            n_of_item[rows[i]] += 1
            for e in range(first[m], first[m + 1]):
                record[e] = violating.record[e]
                visit_first[position(records, record[e], rows[i]) + 1] += 1
    for v in range(n_visits):
        visit_first[v + 1] += visit_first[v]
    visit_n = np.zeros(n_visits, np.int64)
    visit_threat = np.empty(visit_first[n_visits], np.int64)
    for m in range(n):
        for i in range(m * width + 1, m * width + 1 + rows[m * width]):
            for e in range(first[m], first[m + 1]):
                v = position(records, record[e], rows[i])
                visit_threat[visit_first[v] + visit_n[v]] = m
                visit_n[v] += 1
    return Threats(
        violating.table, row, first, listed, record, live, visit_first, visit_n, visit_threat, n_of_item, n_records
    )


@inner
def compact(records, threats, m):
    """Drop from the list of threat m the records that no longer have it."""
    if threats.listed[m] > threats.live[m]:
        begin = m * threats.table.width
        first = threats.first[m]
        n = np.int64(0)
        for e in range(first, first + threats.listed[m]):
            if contains(records, threats.record[e], threats.table.rows, begin + 1, threats.table.rows[begin]):
                threats.record[first + n] = threats.record[e]
                n += 1
        threats.listed[m] = n


@inner
def position(records, record, item):
    """Return the visit of `item` in a non-empty record; where the record never had it, some other visit."""
    # A binary search: items are ascending.
    low = records.offsets[record]
    high = records.offsets[record + 1] - 1
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
    # Both are ascending: one walk along the record.
    at = records.offsets[record]
    end = records.offsets[record + 1]
    for i in range(begin, begin + n):
        while at < end and records.items[at] < sequence[i]:
            at += 1
        if at == end or records.items[at] != sequence[i] or records.alive[at] == 0:
            return False
        at += 1
    return True
