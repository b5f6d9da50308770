"""Find violating sequences where no one holds all records: count candidates in parts of them, add up, judge, locate.

Nobody is in two parts, so the owners of a sequence add up.  Lengths are counted one after the other: a sequence can be
common only if all its parts are, and those that are one item shorter are known by then.  What comes out is what
`kcl_find` finds in all records at once.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import find_row, grown, insert_row, new_table
from wayveil.kernels.kcl_lists import (
    HAVING,
    JOB,
    OWNERS,
    VALUES,
    N,
    clear,
    count_next,
    gather,
    hand_out,
    new_counters,
)

__all__ = [
    "CLEAN",
    "COMMON",
    "THREAT",
    "Counts",
    "count_candidates",
    "fill_table",
    "judge_candidates",
    "locate_threats",
]

Counts = namedtuple("Counts", ["items", "support", "having"])
"""Sequences of one length in some of the records: ``items[i * length:]`` has ``support[i]`` owners there, of whom
``having[i * values + s]`` have the sensitive value s."""

COMMON, CLEAN, THREAT = 1, 2, 4
"""What `judge_candidates` says, added up: at least k owners have the sequence; nothing in it is violating; it is
violating, and no part of it is."""


@kernel
def fill_table(rows, longest):
    """Return the table of sequences that are laid out like its rows: their length, then `longest` items."""
    n = rows.size // (longest + 1)
    table = new_table(np.int64(max(1, n)), longest)
    for row in range(n):
        insert_row(table, rows, row * (longest + 1) + 1, rows[row * (longest + 1)])
    return table


@kernel
def count_candidates(records, where, known, length, first, until):
    """Count the sequences of `length` items that begin with an item of ``first <= item < until``.

    Only those whose parts, one item shorter, are all in the table `known` are counted.  `where` is what `inverted`
    returns.  Time O(occurrences of known sequences, extended by one item), memory O(output + the largest list).
    """
    n_items, n_values, zero, start = records.meta[0], records.meta[1], np.int64(0), np.int64(1024)
    inv, inv_record, inv_at = where
    c, seen = new_counters(n_items, n_values), np.empty(n_items, np.int64)
    items, support, having, n = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(start, np.int64), zero
    # a stack: the jobs of depth d grow path[:d] by one item, from the occurrences of path[:d]
    list_record, list_at, list_top = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(length, np.int64)
    job_item, job_from, job_to = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(start, np.int64)
    job_next, job_end, none = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(0, np.int64)
    path, part = np.empty(length, np.int64), np.empty(length, np.int64)
    for item in range(first, until):
        size, true = inv[item + 1] - inv[item], inv_record[inv[item] : inv[item + 1]]
        near = gather(records, true, inv_at[inv[item] : inv[item + 1]])
        list_record, list_at = grown(list_record, size), grown(list_at, size)
        for o in range(size):
            list_record[o], list_at[o] = o, near.offsets[o]
        depth, begin, end = zero, zero, size
        while True:
            n_seen = count_next(near, list_record, list_at, begin, end, depth, c, seen)
            jobs, top = (job_end[depth - 1], list_top[depth - 1]) if depth > 0 else (zero, size)
            job_next[depth] = jobs
            items, support = grown(items, (n + n_seen) * length), grown(support, n + n_seen)
            having = grown(having, (n + n_seen) * n_values)
            job_item, job_from = grown(job_item, jobs + n_seen), grown(job_from, jobs + n_seen)
            job_to = grown(job_to, jobs + n_seen)
            for x in range(n_seen):
                j = seen[x]
                path[depth] = j
                if depth + 1 < length:
                    if find_row(known, path, zero, depth + 1) >= 0:
                        job_item[jobs], job_from[jobs], job_to[jobs] = j, top, top
                        c[j, JOB] = jobs
                        top += c[j, N]
                        jobs += 1
                elif _parts_are_in(known, path, length, part):
                    for i in range(length):
                        items[n * length + i] = path[i]
                    support[n] = c[j, OWNERS]
                    for s in range(n_values):
                        having[n * n_values + s] = c[j, VALUES + 2 * s + HAVING]
                    n += 1
            list_record, list_at = grown(list_record, top), grown(list_at, top)
            job_end[depth], list_top[depth] = jobs, top
            if jobs > job_next[depth]:
                hand_out(near, true, list_record, list_at, begin, end, depth, c, none, none, job_to)
            clear(c, seen, n_seen, n_values)
            while depth >= 0 and job_next[depth] == job_end[depth]:
                depth -= 1
            if depth < 0:
                break
            job = job_next[depth]
            job_next[depth] += 1
            path[depth] = job_item[job]
            begin, end = job_from[job], job_to[job]
            depth += 1
    return Counts(items[: n * length], support[:n], having[: n * n_values])


@inner
def _parts_are_in(known, path, n, part):
    """Return whether every part of ``path[:n]`` that is one item shorter is known, but for the one without the last."""
    for drop in range(n - 1):
        _leave_out(path, np.int64(0), n, drop, part)
        if find_row(known, part, np.int64(0), n - 1) < 0:
            return False
    return True


@inner
def _leave_out(path, begin, n, drop, part):
    for i in range(n - 1):
        part[i] = path[begin + i] if i < drop else path[begin + i + 1]


@kernel
def judge_candidates(items, length, support, having, known, clean, k, allowed):
    """Return what each candidate is, by its counts in all records: COMMON, CLEAN and THREAT added up.

    Candidate i has the items ``items[i * length:]``, and all its parts that are one item shorter are `known`.
    """
    n, zero = support.size, np.int64(0)
    n_values, verdict, part = having.size // max(1, n), np.zeros(n, np.int64), np.empty(length, np.int64)
    for i in range(n):
        minimal, fine, common = True, True, support[i] >= k
        for drop in range(length if length > 1 else 0):
            _leave_out(items, i * length, length, drop, part)
            minimal &= clean[find_row(known, part, zero, length - 1)] == 1
        for s in range(i * n_values, (i + 1) * n_values):
            fine &= having[s] <= allowed[support[i]]
        if common:
            verdict[i] = COMMON + CLEAN if minimal and fine else COMMON
        if minimal and not (common and fine):
            verdict[i] += THREAT
    return verdict


@kernel
def locate_threats(records, known, clean, threats, longest):
    """Return which threats occur in which records: two arrays, by record.

    All parts of a threat are clean, so only clean sequences are grown.  Time O(occurrences of clean sequences, extended
    by one item).
    """
    zero, n, start = np.int64(0), np.int64(0), np.int64(1024)
    threat, record = np.empty(start, np.int64), np.empty(start, np.int64)
    path, place = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for r in range(records.offsets.size - 1):
        at, end, depth = records.offsets[r], records.offsets[r + 1], zero
        while True:
            if at == end:
                if depth == 0:
                    break
                depth -= 1
                at = place[depth] + 1
                continue
            path[depth], place[depth] = records.items[at], at
            at += 1
            row = find_row(threats, path, zero, depth + 1)
            if row >= 0:
                threat, record = grown(threat, n + 1), grown(record, n + 1)
                threat[n], record[n] = row, r
                n += 1
            elif depth + 1 < longest:
                row = find_row(known, path, zero, depth + 1)
                if row >= 0 and clean[row] == 1:
                    depth += 1
    return threat[:n], record[:n]
