"""Records, and lists of their places from which sequences are grown by one item.

A list holds, for every record with a sequence, the place of its last visit.  Counting what follows there, one row of
counters per item, costs a step per visit; handing out makes the lists of the sequences that are grown further.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = [
    "HAVING",
    "JOB",
    "OWNERS",
    "THREAT",
    "VALUES",
    "N",
    "Records",
    "clear",
    "count_next",
    "gather",
    "hand_out",
    "inverted",
    "new_counters",
]

Records = namedtuple("Records", ["offsets", "items", "alive", "owner", "owner_first", "sensitive", "meta"])
"""Records sorted by owner; owner o has records ``owner_first[o]:owner_first[o + 1]``.  `alive` is 1 per visit until it
is suppressed.  ``meta = (number of items, of sensitive values, of attributes)``, and after these, if wanted, the number
of common sequences at which the search gives up; record r has the sensitive values
``sensitive[r * attributes:]``, one per attribute, -1 where it has none."""

N, OWNERS, LAST, THREAT, JOB, VALUES = 0, 1, 2, 3, 4, 5
HAVING, LAST_HAVING = 0, 1
"""A row of counters per item that makes a sequence longer: its records, its owners and the last one, the threat and the
job that list its records, -1 for none.  Then for every sensitive value its owners and the last one."""


@kernel
def inverted(records):
    """Return, per item, where it occurs: offsets, records in order, rows."""
    n_items, n_rows = records.meta[0], records.items.size
    inv, fill = np.zeros(n_items + 1, np.int64), np.zeros(n_items + 1, np.int64)
    for at in range(n_rows):
        inv[records.items[at] + 1] += 1
    for i in range(n_items):
        inv[i + 1] += inv[i]
        fill[i + 1] = inv[i + 1]
    inv_record, inv_at = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    for r in range(records.offsets.size - 1):
        for at in range(records.offsets[r], records.offsets[r + 1]):
            to = fill[records.items[at]]
            inv_record[to], inv_at[to] = r, at
            fill[records.items[at]] = to + 1
    return inv, inv_record, inv_at


@inner
def new_counters(n_items, n_values):
    c = np.zeros((n_items, VALUES + 2 * n_values), np.int64)
    for j in range(n_items):
        _clear_row(c, j, n_values)
    return c


@inner
def clear(c, seen, n_seen, n_values):
    for x in range(n_seen):
        _clear_row(c, seen[x], n_values)


@inner
def _clear_row(c, j, n_values):
    c[j, N], c[j, OWNERS], c[j, LAST], c[j, THREAT], c[j, JOB] = 0, 0, -1, -1, -1
    for s in range(VALUES, VALUES + 2 * n_values, 2):
        c[j, s + HAVING], c[j, s + LAST_HAVING] = 0, -1


@inner
def gather(records, record, at):
    """Return records from a visit on, close together in memory: they are looked at again and again."""
    n, n_attributes = record.size, records.meta[2]
    offsets, owner = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    for x in range(n):
        offsets[x + 1] = offsets[x] + records.offsets[record[x] + 1] - at[x]
    items, sensitive = np.empty(offsets[n], np.int64), np.empty(n * n_attributes, np.int64)
    for x in range(n):
        owner[x] = records.owner[record[x]]
        for v in range(offsets[x + 1] - offsets[x]):
            items[offsets[x] + v] = records.items[at[x] + v]
        for a in range(n_attributes):
            sensitive[x * n_attributes + a] = records.sensitive[record[x] * n_attributes + a]
    return Records(offsets, items, records.alive, owner, records.owner_first, sensitive, records.meta)


@inner
def count_next(records, list_record, list_at, begin, end, depth, c, seen):
    """Count records, owners and sensitive owners per item that follows in a list; depth 0 counts the item itself."""
    n_attributes, n_seen = records.meta[2], np.int64(0)
    for o in range(begin, end):
        r, at = list_record[o], list_at[o]
        who = records.owner[r]
        stop = records.offsets[r + 1] if depth > 0 else at + 1
        for next_at in range(at + 1 if depth > 0 else at, stop):
            j = records.items[next_at]
            if c[j, N] == 0:
                seen[n_seen] = j
                n_seen += 1
            c[j, N] += 1
            if c[j, LAST] != who:
                c[j, LAST] = who
                c[j, OWNERS] += 1
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                s = VALUES + 2 * records.sensitive[a]
                if s >= VALUES and c[j, s + LAST_HAVING] != who:
                    c[j, s + LAST_HAVING] = who
                    c[j, s + HAVING] += 1
    gap = n_seen
    while gap > 1:  # a comb sort, ascending
        gap = gap * 10 // 13 if gap > 2 else np.int64(1)
        for x in range(n_seen - gap):
            if seen[x] > seen[x + gap]:
                seen[x], seen[x + gap] = seen[x + gap], seen[x]
    x = np.int64(1)
    while x < n_seen:
        if seen[x - 1] > seen[x]:
            seen[x - 1], seen[x] = seen[x], seen[x - 1]
            x = max(x - 1, np.int64(1))
        else:
            x += 1
    return n_seen


@inner
def hand_out(records, true, list_record, list_at, begin, end, depth, c, bad_first, bad_record, job_to):
    """Give the occurrences to the threats and jobs that were found; `true` are the numbers of the records."""
    for o in range(begin, end):
        r, at = list_record[o], list_at[o]
        stop = records.offsets[r + 1] if depth > 0 else at + 1
        for next_at in range(at + 1 if depth > 0 else at, stop):
            j = records.items[next_at]
            m, job = c[j, THREAT], c[j, JOB]
            if m >= 0:
                bad_record[bad_first[m + 1] - c[j, N]] = true[r]
                c[j, N] -= 1
            if job >= 0:
                list_record[job_to[job]], list_at[job_to[job]] = r, next_at
                job_to[job] += 1
