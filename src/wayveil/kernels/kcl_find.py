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

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import find_row, grown, insert_row, new_table, roomy
from wayveil.kernels.kcl_lists import (
    HAVING,
    JOB,
    OWNERS,
    THREAT,
    VALUES,
    N,
    clear,
    count_next,
    gather,
    hand_out,
    inverted,
    new_counters,
)

__all__ = ["Common", "Violating", "find_sequences"]

Common = namedtuple("Common", ["table", "clean", "support", "entry", "value", "having"])
"""Common sequences: row r is clean or not, and has `support[r]` owners, of whom ``having[e]`` have the sensitive value
``value[e]`` for e in ``entry[r]:entry[r + 1]``; values that nobody has are left out."""

Violating = namedtuple("Violating", ["table", "first", "record"])
"""Minimal violating sequences: row m occurs in the records ``record[first[m]:first[m + 1]]``, ascending."""


@kernel
def find_sequences(records, longest, k, allowed):
    """Return (Violating, Common) for sequences of at most `longest` items.

    Where there are more common sequences than ``records.meta[3]``, the search stops and both are incomplete.
    Time O(occurrences of common sequences, extended by one item); memory O(output + the largest projected list).
    """
    n_items, n_values, zero, start = records.meta[0], records.meta[1], np.int64(0), np.int64(1024)
    inv, inv_record, inv_at = inverted(records)
    c, seen = new_counters(n_items, n_values), np.empty(n_items, np.int64)
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
        near = gather(records, true, inv_at[inv[item] : inv[item + 1]])
        list_record, list_at = grown(list_record, n), grown(list_at, n)
        for o in range(n):
            list_record[o], list_at[o] = o, near.offsets[o]
        depth, begin, end = zero, zero, n
        while True:
            n_seen = count_next(near, list_record, list_at, begin, end, depth, c, seen)
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
                owners, fine = c[j, OWNERS], True
                for s in range(n_values):
                    fine &= c[j, VALUES + 2 * s + HAVING] <= allowed[owners]
                minimal = _parts_are_clean(table, clean, path, depth + 1, part)
                if minimal and (owners < k or not fine):
                    m = insert_row(bad, path, zero, depth + 1)
                    bad_first[m + 1] = bad_first[m] + c[j, N]
                    bad_record = grown(bad_record, bad_first[m + 1])
                    c[j, THREAT], wanted = m, True
                if owners >= k:
                    row = insert_row(table, path, zero, depth + 1)
                    clean[row], support[row] = minimal and fine, owners
                    for s in range(n_values):
                        if c[j, VALUES + 2 * s + HAVING] > 0:
                            value[used], having[used] = s, c[j, VALUES + 2 * s + HAVING]
                            used += 1
                    entry[row + 1] = used
                    if depth + 1 < longest:
                        job_item[jobs], job_from[jobs], job_to[jobs] = j, top, top
                        c[j, JOB], wanted = jobs, True
                        top += c[j, N]
                        jobs += 1
            list_record, list_at = grown(list_record, top), grown(list_at, top)
            job_end[depth], list_top[depth] = jobs, top
            if wanted:
                hand_out(near, true, list_record, list_at, begin, end, depth, c, bad_first, bad_record, job_to)
            clear(c, seen, n_seen, n_values)
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
