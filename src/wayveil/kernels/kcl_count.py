"""Find violating sequences where no one holds all records: count candidates in parts of them, add up, judge, locate.

Nobody is in two parts, so the owners of a sequence add up.  Lengths are counted one after the other: a sequence can be
common only if all its parts are, and those that are one item shorter are known by then.  What comes out is what
`kcl_find` finds in all records at once.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.jit import inner, kernel
from wayveil.kernels.sequence_table import find_row, grown, insert_row, new_table, roomy

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

Counts = namedtuple("Counts", ["table", "support", "having"])
"""Sequences of one length in some of the records: row r has ``support[r]`` owners there, of whom
``having[r * values + s]`` have the sensitive value s."""

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
def count_candidates(records, known, length, first, until):
    """Count the sequences of `length` items that begin with an item of ``first <= item < until``.

    Only those whose parts, one item shorter, are all in the table `known` are counted.  Time O(their occurrences, and
    those of their parts), memory O(output).
    """
    n_values, n_attributes, zero, start = records.meta[1], records.meta[2], np.int64(0), np.int64(1024)
    table, support, last = new_table(start, length), np.empty(start, np.int64), np.empty(start, np.int64)
    having, last_having = np.empty(start * n_values, np.int64), np.empty(start * n_values, np.int64)
    path, place, part = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    for r in range(records.offsets.size - 1):
        at, end, depth = records.offsets[r], records.offsets[r + 1], zero
        while True:
            if end - at < length - depth:  # too few visits are left
                if depth == 0:
                    break
                depth -= 1
                at = place[depth] + 1
                continue
            item = records.items[at]
            path[depth], place[depth] = item, at
            at += 1
            if depth == 0 and (item < first or item >= until):
                continue
            if depth + 1 < length:
                if find_row(known, path, zero, depth + 1) >= 0:
                    depth += 1
                continue
            if not _parts_are_in(known, path, length, part):
                continue
            row = find_row(table, path, zero, length)
            if row < 0:
                table = roomy(table, np.int64(1))
                row = insert_row(table, path, zero, length)
                support, last = grown(support, row + 1), grown(last, row + 1)
                having = grown(having, (row + 1) * n_values)
                last_having = grown(last_having, (row + 1) * n_values)
                support[row], last[row] = 0, -1
                for s in range(row * n_values, (row + 1) * n_values):
                    having[s], last_having[s] = 0, -1
            who = records.owner[r]
            if last[row] != who:
                last[row] = who
                support[row] += 1
            for a in range(r * n_attributes, (r + 1) * n_attributes):
                s = row * n_values + records.sensitive[a]
                if records.sensitive[a] >= 0 and last_having[s] != who:
                    last_having[s] = who
                    having[s] += 1
    return Counts(table, support, having)


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
