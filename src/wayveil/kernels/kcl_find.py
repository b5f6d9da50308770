"""Find the minimal violating sequences of (K,C)_L-privacy, and count every common sequence on the way.

Doublets are numbered by time, so a record is an ascending list of items and a sequence is a set of them.  A sequence
is *common* if at least k owners have it; it is *violating* if it is not common, or if more than ``allowed[owners]`` of
its owners have one sensitive value; it is *clean* if neither it nor any part of it is violating.  Parts of common
sequences are common, so the search grows common sequences only.  It takes items in descending order at every depth:
then every part of a sequence has been judged before the sequence itself, and whether a sequence is minimal is a
look-up of the parts that are one item shorter.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.jit import inner, kernel
from wayveil.kernels.sequence_table import find_row, grown, insert_row, new_table, roomy

__all__ = ["Common", "Records", "Violating", "find_sequences", "inverted"]

Records = namedtuple("Records", ["offsets", "items", "alive", "owner", "owner_first", "sensitive", "meta"])
"""Records sorted by owner; owner o has records ``owner_first[o]:owner_first[o + 1]``.  `alive` is 1 per visit until it
is suppressed.  ``meta = (number of items, of sensitive values, of attributes)``, and after these, if wanted, the number
of common sequences at which the search gives up; record r has the sensitive values
``sensitive[r * attributes:]``, one per attribute, -1 where it has none."""

Common = namedtuple("Common", ["table", "clean", "support", "entry", "value", "having"])
"""Common sequences: row r is clean or not, and has `support[r]` owners, of whom ``having[e]`` have the sensitive value
``value[e]`` for e in ``entry[r]:entry[r + 1]``; values that nobody has are left out."""

Violating = namedtuple("Violating", ["table", "first", "record"])
"""Minimal violating sequences: row m occurs in the records ``record[first[m]:first[m + 1]]``, ascending."""

_N, _OWNERS, _LAST, _THREAT, _JOB, _VALUES = 0, 1, 2, 3, 4, 5
_HAVING, _LAST_HAVING = 0, 1
"""A row of counters per item that makes a sequence longer: its records, its owners and the last one, the threat and the
job that list its records, -1 for none.  Then for every sensitive value its owners and the last one."""


@kernel
def find_sequences(records, longest, k, allowed):
    """Return (Violating, Common) for sequences of at most `longest` items.

    Where there are more common sequences than ``records.meta[3]``, the search stops and both are incomplete.
    Time O(occurrences of common sequences, extended by one item); memory O(output + the largest projected list).
    """
    n_items, n_values, zero, start = records.meta[0], records.meta[1], np.int64(0), np.int64(1024)
    inv, inv_record, inv_at = inverted(records)
    c, seen = _new_counters(n_items, n_values), np.empty(n_items, np.int64)
    table, clean = new_table(start, longest), np.empty(start, np.int64)
    support, entry = np.empty(start, np.int64), np.empty(start + 1, np.int64)
    value, having, used = np.empty(start, np.int64), np.empty(start, np.int64), zero
    bad, bad_first, bad_record = new_table(start, longest), np.empty(start + 1, np.int64), np.empty(start, np.int64)
    bad_first[0], entry[0] = 0, 0
    # a stack: the jobs of depth d grow path[:d] by one item, from the occurrences of path[:d]
    list_record, list_at, list_top = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(longest, np.int64)
    job_item, job_from, job_to = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(start, np.int64)
    job_next, job_end = np.empty(longest, np.int64), np.empty(longest, np.int64)
    path, part = np.empty(longest, np.int64), np.empty(longest, np.int64)
    most = records.meta[3] if records.meta.size > 3 else np.int64(1) << 62
    for item in range(n_items - 1, -1, -1):
        n, true = inv[item + 1] - inv[item], inv_record[inv[item] : inv[item + 1]]
        near = _gather(records, true, inv_at[inv[item] : inv[item + 1]])
        list_record, list_at = grown(list_record, n), grown(list_at, n)
        for o in range(n):
            list_record[o], list_at[o] = o, near.offsets[o]
        depth, begin, end = zero, zero, n
        while True:
            n_seen = _count(near, list_record, list_at, begin, end, depth, c, seen)
            wanted = False
            jobs, top = (job_end[depth - 1], list_top[depth - 1]) if depth > 0 else (zero, n)
            job_next[depth] = jobs
            table, bad = roomy(table, n_seen), roomy(bad, n_seen)
            rows = table.meta[0] + n_seen
            clean, support, entry = grown(clean, rows), grown(support, rows), grown(entry, rows + 1)
            bad_first = grown(bad_first, bad.meta[0] + n_seen + 1)
            value, having = grown(value, used + n_seen * n_values), grown(having, used + n_seen * n_values)
            job_item, job_from = grown(job_item, jobs + n_seen), grown(job_from, jobs + n_seen)
            job_to = grown(job_to, jobs + n_seen)
            for x in range(n_seen - 1, -1, -1):
                j = seen[x]
                path[depth] = j
                owners, fine = c[j, _OWNERS], True
                for s in range(n_values):
                    fine &= c[j, _VALUES + 2 * s + _HAVING] <= allowed[owners]
                minimal = _parts_are_clean(table, clean, path, depth + 1, part)
                if minimal and (owners < k or not fine):
                    m = insert_row(bad, path, zero, depth + 1)
                    bad_first[m + 1] = bad_first[m] + c[j, _N]
                    bad_record = grown(bad_record, bad_first[m + 1])
                    c[j, _THREAT], wanted = m, True
                if owners >= k:
                    row = insert_row(table, path, zero, depth + 1)
                    clean[row], support[row] = minimal and fine, owners
                    for s in range(n_values):
                        if c[j, _VALUES + 2 * s + _HAVING] > 0:
                            value[used], having[used] = s, c[j, _VALUES + 2 * s + _HAVING]
                            used += 1
                    entry[row + 1] = used
                    if depth + 1 < longest:
                        job_item[jobs], job_from[jobs], job_to[jobs] = j, top, top
                        c[j, _JOB], wanted = jobs, True
                        top += c[j, _N]
                        jobs += 1
            list_record, list_at = grown(list_record, top), grown(list_at, top)
            job_end[depth], list_top[depth] = jobs, top
            if wanted:
                _hand_out(near, true, list_record, list_at, begin, end, depth, c, bad_first, bad_record, job_to)
            _clear(c, seen, n_seen, n_values)
            while depth >= 0 and job_next[depth] == job_end[depth]:
                depth -= 1
            if depth < 0:
                break
            if table.meta[0] > most:
                return Violating(bad, bad_first, bad_record), Common(table, clean, support, entry, value, having)
            job = job_next[depth]
            job_next[depth] += 1
            path[depth] = job_item[job]
            begin, end = job_from[job], job_to[job]
            depth += 1
    return Violating(bad, bad_first, bad_record), Common(table, clean, support, entry, value, having)


@inner
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
def _new_counters(n_items, n_values):
    c = np.zeros((n_items, _VALUES + 2 * n_values), np.int64)
    for j in range(n_items):
        _clear_row(c, j, n_values)
    return c


@inner
def _clear(c, seen, n_seen, n_values):
    for x in range(n_seen):
        _clear_row(c, seen[x], n_values)


@inner
def _clear_row(c, j, n_values):
    c[j, _N], c[j, _OWNERS], c[j, _LAST], c[j, _THREAT], c[j, _JOB] = 0, 0, -1, -1, -1
    for s in range(_VALUES, _VALUES + 2 * n_values, 2):
        c[j, s + _HAVING], c[j, s + _LAST_HAVING] = 0, -1


@inner
def _gather(records, record, at):
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
def _count(records, list_record, list_at, begin, end, depth, c, seen):
    """Count records, owners and sensitive owners per item that follows in a list; depth 0 counts the item itself."""
    n_attributes, n_seen = records.meta[2], np.int64(0)
    for o in range(begin, end):
        r, at = list_record[o], list_at[o]
        who = records.owner[r]
        stop = records.offsets[r + 1] if depth > 0 else at + 1
        for next_at in range(at + 1 if depth > 0 else at, stop):
            j = records.items[next_at]
            if c[j, _N] == 0:
                seen[n_seen] = j
                n_seen += 1
            c[j, _N] += 1
            if c[j, _LAST] != who:
                c[j, _LAST] = who
                c[j, _OWNERS] += 1
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                s = _VALUES + 2 * records.sensitive[a]
                if s >= _VALUES and c[j, s + _LAST_HAVING] != who:
                    c[j, s + _LAST_HAVING] = who
                    c[j, s + _HAVING] += 1
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
def _parts_are_clean(table, clean, path, n, part):
    """Return whether every part of ``path[:n]`` that is one item shorter is clean."""
    for drop in range(n - 1, -1, -1):
        size = np.int64(0)
        for i in range(n):
            if i != drop:
                part[size] = path[i]
                size += 1
        row = find_row(table, part, np.int64(0), size) if n > 1 else np.int64(0)
        if n > 1 and (row < 0 or clean[row] == 0):
            return False
    return True


@inner
def _hand_out(records, true, list_record, list_at, begin, end, depth, c, bad_first, bad_record, job_to):
    """Give the occurrences to the threats and jobs that were found; `true` are the numbers of the records."""
    for o in range(begin, end):
        r, at = list_record[o], list_at[o]
        stop = records.offsets[r + 1] if depth > 0 else at + 1
        for next_at in range(at + 1 if depth > 0 else at, stop):
            j = records.items[next_at]
            m, job = c[j, _THREAT], c[j, _JOB]
            if m >= 0:
                bad_record[bad_first[m + 1] - c[j, _N]] = true[r]
                c[j, _N] -= 1
            if job >= 0:
                list_record[job_to[job]], list_at[job_to[job]] = r, next_at
                job_to[job] += 1
