"""Find violating sequences where no one holds all records: count candidates in parts of them, add up, judge, locate.

Nobody is in two parts, so the owners of a sequence add up.  Lengths are counted one after the other, as in Procedure 1
of the paper: a sequence can be common only if all its parts are, and those that are one item shorter are known by then.
What comes out is what `violating_sequences` finds in all records at once.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import find_row, grown, insert_row, new_table
from wayveil.kernels.kcl.projected_lists import (
    HAVING,
    JOB,
    OWNERS,
    PER_VALUE,
    RECORDS,
    VALUES,
    Lists,
    Span,
    Takers,
    clear_counters,
    count_next,
    gather,
    grow_lists,
    hand_out,
    list_first_visits,
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
``having[i * values + s]`` have the sensitive value s.  All three are int64 and flat."""

# What `judge_candidates` says, added up.
COMMON = 1  # at least k owners have the sequence
CLEAN = 2  # nothing in it is violating
THREAT = 4  # it is violating, and no part of it is

_ROOM = np.int64(1024)  # entries of an array that grows


@kernel
def fill_table(rows, longest):
    """Return the table of sequences that are laid out like its rows (int64, flat): length, then `longest` items."""
    width = longest + 1
    n = rows.size // width
    table = new_table(np.int64(max(1, n)), longest)
    for row in range(n):
        insert_row(table, rows, row * width + 1, rows[row * width])
    return table


@kernel
def count_candidates(records, where, known, length, first, until):
    """Count the sequences of `length` items that begin with an item of ``first <= item < until``.

    Only those whose parts, one item shorter, are all in the table `known` are counted.  `where` is what `inverted`
    returns.  Time O(occurrences of known sequences, extended by one item), memory O(output + the largest list).
    """
    zero = np.int64(0)
    n_items = records.n_items
    n_values = records.n_values
    item_first, item_record, item_at = where
    counters = new_counters(n_items, n_values)
    seen = np.empty(n_items, np.int64)

    # The columns of `Counts`; n candidates were counted.
    items = np.empty(_ROOM, np.int64)
    support = np.empty(_ROOM, np.int64)
    having = np.empty(_ROOM, np.int64)
    n = zero

    # Stacks of jobs and of their lists, as in `find_sequences`.
    lists = Lists(np.empty(_ROOM, np.int64), np.empty(_ROOM, np.int64))
    list_top = np.empty(length, np.int64)
    job_item = np.empty(_ROOM, np.int64)
    job_from = np.empty(_ROOM, np.int64)
    job_to = np.empty(_ROOM, np.int64)
    job_next = np.empty(length, np.int64)
    job_end = np.empty(length, np.int64)
    no_threats = np.empty(0, np.int64)
    path = np.empty(length, np.int64)
    part = np.empty(length, np.int64)

    for first_item in range(first, until):
        true_record = item_record[item_first[first_item] : item_first[first_item + 1]]
        near = gather(records, true_record, item_at[item_first[first_item] : item_first[first_item + 1]])
        lists = list_first_visits(lists, near)
        depth = zero
        begin = zero
        end = true_record.size
        # Line 4 of Procedure 1 for the candidates of one length.  Before each round, path[:depth] is known, and its
        # list is begin:end.  A round counts what follows: shorter sequences are grown further if they are known (line
        # 13: nothing violating grows), those of the right length are candidates if all their parts are known (line 11).
        while True:
            span = Span(begin, end, depth)
            n_seen = count_next(near, lists, span, counters, seen)
            n_jobs = zero
            top = end
            if depth > 0:
                n_jobs = job_end[depth - 1]
                top = list_top[depth - 1]
            job_next[depth] = n_jobs

            # Room for whatever the round may add.
            items = grown(items, (n + n_seen) * length)
            support = grown(support, n + n_seen)
            having = grown(having, (n + n_seen) * n_values)
            job_item = grown(job_item, n_jobs + n_seen)
            job_from = grown(job_from, n_jobs + n_seen)
            job_to = grown(job_to, n_jobs + n_seen)

            for x in range(n_seen):
                item = seen[x]
                path[depth] = item
                if depth + 1 < length:
                    if find_row(known, path, zero, depth + 1) >= 0:
                        job_item[n_jobs] = item
                        job_from[n_jobs] = top
                        job_to[n_jobs] = top
                        counters[item, JOB] = n_jobs
                        top += counters[item, RECORDS]
                        n_jobs += 1
                elif _parts_are_known(known, path, length, part):
                    for i in range(length):
                        items[n * length + i] = path[i]
                    support[n] = counters[item, OWNERS]
                    for s in range(n_values):
                        having[n * n_values + s] = counters[item, VALUES + PER_VALUE * s + HAVING]
                    n += 1
            lists = grow_lists(lists, top)
            job_end[depth] = n_jobs
            list_top[depth] = top
            if n_jobs > job_next[depth]:
                hand_out(near, true_record, lists, span, counters, Takers(no_threats, no_threats, job_to))
            clear_counters(counters, seen, n_seen, n_values)

            # The deepest job that waits is next.
            while depth >= 0 and job_next[depth] == job_end[depth]:
                depth -= 1
            if depth < 0:
                break
            job = job_next[depth]
            job_next[depth] += 1
            path[depth] = job_item[job]
            begin = job_from[job]
            end = job_to[job]
            depth += 1
    return Counts(items[: n * length], support[:n], having[: n * n_values])


@inner
def _parts_are_known(known, path, n, part):
    """Return whether every part of ``path[:n]`` that is one item shorter is known.

    The one without the last item is not asked for: it was grown, so it is.
    """
    for drop in range(n - 1):
        _leave_out(path, np.int64(0), n, drop, part)
        if find_row(known, part, np.int64(0), n - 1) < 0:
            return False
    return True


@inner
def _leave_out(path, begin, n, drop, part):
    """Write ``path[begin:begin + n]`` without its item number `drop` to `part`."""
    for i in range(n - 1):
        part[i] = path[begin + i] if i < drop else path[begin + i + 1]


@kernel
def judge_candidates(counts, length, known, clean, privacy):
    """Return what each candidate is, by its counts in all records: COMMON, CLEAN and THREAT added up.

    All parts of a candidate that are one item shorter are `known`; row r of that table is clean if ``clean[r]`` is 1.
    """
    support = counts.support
    having = counts.having
    n = support.size
    n_values = having.size // max(1, n)
    verdict = np.zeros(n, np.int64)
    part = np.empty(length, np.int64)
    # Lines 5 to 9 of Procedure 1.  A candidate with a part that is not clean is not minimal, whatever its counts are.
    for i in range(n):
        minimal = True
        for drop in range(length if length > 1 else 0):
            _leave_out(counts.items, i * length, length, drop, part)
            minimal &= clean[find_row(known, part, np.int64(0), length - 1)] == 1
        common = support[i] >= privacy.k
        confident = False
        for s in range(i * n_values, (i + 1) * n_values):
            confident |= having[s] > privacy.allowed[support[i]]
        if common:
            verdict[i] = COMMON
            if minimal and not confident:
                verdict[i] += CLEAN
        if minimal and (confident or not common):
            verdict[i] += THREAT
    return verdict


@kernel
def locate_threats(records, known, clean, threats, longest):
    """Return which threats occur in which records: two arrays, by record.

    `known` and `threats` are tables, ``clean[r]`` is 1 where row r of `known` is clean.  Time O(occurrences of clean
    sequences, extended by one item).
    """
    zero = np.int64(0)
    n = zero
    threat = np.empty(_ROOM, np.int64)
    record = np.empty(_ROOM, np.int64)
    path = np.empty(longest, np.int64)
    visit = np.empty(longest, np.int64)
    for r in range(records.offsets.size - 1):
        at = records.offsets[r]
        end = records.offsets[r + 1]
        depth = zero
        # All sequences of a record, depth first: path[:depth] is clean, and its visits are visit[:depth].  A round
        # looks at the next visit behind them.  All parts of a threat are clean, so only clean sequences are grown; at
        # the end of the record the last visit of the path is given up for the one behind it.
        while True:
            if at == end:
                if depth == 0:
                    break
                depth -= 1
                at = visit[depth] + 1
                continue
            path[depth] = records.items[at]
            visit[depth] = at
            at += 1
            row = find_row(threats, path, zero, depth + 1)
            if row >= 0:
                threat = grown(threat, n + 1)
                record = grown(record, n + 1)
                threat[n] = row
                record[n] = r
                n += 1
            elif depth + 1 < longest:
                row = find_row(known, path, zero, depth + 1)
                if row >= 0 and clean[row] == 1:
                    depth += 1
    return threat[:n], record[:n]
