"""Find the minimal violating sequences of (K,C)_L-privacy, and count every common sequence on the way.

Doublets are numbered by time, so a record is an ascending list of items and a sequence is a set of them.  A sequence
is *common* if at least k owners have it; it is *violating* if it is not common, or if more than ``allowed[owners]`` of
its owners have one sensitive value; it is *clean* if neither it nor any part of it is violating.  Parts of common
sequences are common, so the search grows common sequences only.  It takes items in descending order at every depth:
then every part of a sequence has been judged before the sequence itself, and whether a sequence is minimal is a
look-up of the parts that are one item shorter.

This is Procedure 1 of the paper, depth first instead of length by length: the lists of one path fit into memory, and no
candidate is made that no record has.  Violating sequences that are not minimal are grown as well, as long as they are
common, because the suppression needs the counts of all common sequences.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import find_row, grown, insert_row, new_table, roomy
from wayveil.kernels.kcl.projected_lists import (
    HAVING,
    JOB,
    OWNERS,
    PER_VALUE,
    RECORDS,
    THREAT,
    VALUES,
    Lists,
    Span,
    Takers,
    clear_counters,
    count_next,
    gather,
    grow_lists,
    hand_out,
    inverted,
    list_first_visits,
    new_counters,
)

__all__ = ["Common", "Violating", "find_sequences"]

Common = namedtuple("Common", ["table", "clean", "support", "entry", "value", "having"])
"""Common sequences, and how many owners have them.  The suppression subtracts from `support` and `having`.

table : Table
    The sequences; all arrays go by its rows, and may be longer.
clean : int64, one per row
    1 if neither the sequence nor any part of it is violating, else 0.
support : int64, one per row
    Its owners.
entry : int64, one more than there are rows
    Row r has the entries ``entry[r]:entry[r + 1]`` of the next two.
value, having : int64, one per entry
    So many of the owners have this sensitive value; values that nobody has are left out.
"""

Violating = namedtuple("Violating", ["table", "first", "record"])
"""Minimal violating sequences: row m of the table occurs in the records ``record[first[m]:first[m + 1]]``, ascending.
Both arrays are int64."""

_ROOM = np.int64(1024)  # entries of an array that grows: enough for small data, and no cost


@kernel
def find_sequences(records, longest, k, allowed):
    """Return (Violating, Common) for sequences of at most `longest` items; `allowed` is as in `Privacy`.

    Where there are more common sequences than ``records.most_common``, the search stops and both are incomplete.
    Time O(occurrences of common sequences, extended by one item); memory O(output + the largest projected list).
    """
    zero = np.int64(0)
    n_items = records.n_items
    n_values = records.n_values
    item_first, item_record, item_at = inverted(records)
    counters = new_counters(n_items, n_values)
    seen = np.empty(n_items, np.int64)

    # The columns of `Common`; `n_entries` are in use.
    table = new_table(_ROOM, longest)
    clean = np.empty(_ROOM, np.int64)
    support = np.empty(_ROOM, np.int64)
    entry = np.empty(_ROOM + 1, np.int64)
    value = np.empty(_ROOM, np.int64)
    having = np.empty(_ROOM, np.int64)
    n_entries = zero
    entry[0] = 0

    # The columns of `Violating`.
    threats = new_table(_ROOM, longest)
    threat_first = np.empty(_ROOM + 1, np.int64)
    threat_record = np.empty(_ROOM, np.int64)
    threat_first[0] = 0

    # Two stacks.  A job of depth d grows path[:d] by its item, and its list has the occurrences of path[:d] with it.
    # The jobs of depth d that wait are job_next[d]:job_end[d]; list_top[d] is where the lists of this depth end.
    lists = Lists(np.empty(_ROOM, np.int64), np.empty(_ROOM, np.int64))
    list_top = np.empty(longest, np.int64)
    job_item = np.empty(_ROOM, np.int64)
    job_from = np.empty(_ROOM, np.int64)
    job_to = np.empty(_ROOM, np.int64)
    job_next = np.empty(longest, np.int64)
    job_end = np.empty(longest, np.int64)
    path = np.empty(longest, np.int64)
    part = np.empty(longest, np.int64)

    for first_item in range(n_items - 1, -1, -1):
        # All sequences that begin with this item lie in the records that have it, from there on.
        true_record = item_record[item_first[first_item] : item_first[first_item + 1]]
        near = gather(records, true_record, item_at[item_first[first_item] : item_first[first_item + 1]])
        lists = list_first_visits(lists, near)
        depth = zero
        begin = zero
        end = true_record.size
        # Procedure 1, depth first.  Before each round, path[:depth] is common, and its list is begin:end.  The round
        # counts all sequences with one item more (line 4), judges them (lines 5 to 9), and puts those that are common
        # and may grow on the stack (lines 11 to 14).  Then it takes the next job of the deepest level: there, too,
        # items come in descending order.  It ends, as paths have at most `longest` items.
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
            table = roomy(table, n_seen)
            threats = roomy(threats, n_seen)
            n_rows = table.n_rows[0] + n_seen
            clean = grown(clean, n_rows)
            support = grown(support, n_rows)
            entry = grown(entry, n_rows + 1)
            value = grown(value, n_entries + n_seen * n_values)
            having = grown(having, n_entries + n_seen * n_values)
            threat_first = grown(threat_first, threats.n_rows[0] + n_seen + 1)
            job_item = grown(job_item, n_jobs + n_seen)
            job_from = grown(job_from, n_jobs + n_seen)
            job_to = grown(job_to, n_jobs + n_seen)

            waits = False  # whether a threat or a job waits for occurrences
            for x in range(n_seen - 1, -1, -1):
                item = seen[x]
                path[depth] = item
                owners = counters[item, OWNERS]
                confident = _is_confident(counters, item, n_values, allowed[owners])
                minimal = _parts_are_clean(table, clean, path, depth + 1, part)
                if minimal and (owners < k or confident):
                    threat = insert_row(threats, path, zero, depth + 1)
                    threat_first[threat + 1] = threat_first[threat] + counters[item, RECORDS]
                    threat_record = grown(threat_record, threat_first[threat + 1])
                    counters[item, THREAT] = threat
                    waits = True
                if owners >= k:
                    row = insert_row(table, path, zero, depth + 1)
                    clean[row] = minimal and not confident
                    support[row] = owners
                    for s in range(n_values):
                        n_having = counters[item, VALUES + PER_VALUE * s + HAVING]
                        if n_having > 0:
                            value[n_entries] = s
                            having[n_entries] = n_having
                            n_entries += 1
                    entry[row + 1] = n_entries
                    if depth + 1 < longest:
                        job_item[n_jobs] = item
                        job_from[n_jobs] = top
                        job_to[n_jobs] = top
                        counters[item, JOB] = n_jobs
                        waits = True
                        top += counters[item, RECORDS]
                        n_jobs += 1
            lists = grow_lists(lists, top)
            job_end[depth] = n_jobs
            list_top[depth] = top
            if waits:
                hand_out(near, true_record, lists, span, counters, Takers(threat_first, threat_record, job_to))
            clear_counters(counters, seen, n_seen, n_values)

            # The deepest job that waits is next.
            while depth >= 0 and job_next[depth] == job_end[depth]:
                depth -= 1
            if depth < 0:
                break
            if table.n_rows[0] > records.most_common:
                return (
                    Violating(threats, threat_first, threat_record),
                    Common(table, clean, support, entry, value, having),
                )
            job = job_next[depth]
            job_next[depth] += 1
            path[depth] = job_item[job]
            begin = job_from[job]
            end = job_to[job]
            depth += 1
    return Violating(threats, threat_first, threat_record), Common(table, clean, support, entry, value, having)


@inner
def _is_confident(counters, item, n_values, n_allowed):
    """Return whether more than `n_allowed` owners have one sensitive value: Conf(s|T(q)) > C for some s."""
    confident = False
    for s in range(n_values):
        confident |= counters[item, VALUES + PER_VALUE * s + HAVING] > n_allowed
    return confident


@inner
def _parts_are_clean(table, clean, path, n, part):
    """Return whether every part of ``path[:n]`` that is one item shorter is clean; `part` is scratch, n - 1 items.

    If a part is clean, all parts of it are; so a violating sequence with clean parts is minimal (Definition 4.2).
    """
    if n == 1:
        return True
    for drop in range(n - 1, -1, -1):
        size = np.int64(0)
        for i in range(n):
            if i != drop:
                part[size] = path[i]
                size += 1
        row = find_row(table, part, np.int64(0), size)
        if row < 0 or clean[row] == 0:
            return False
    return True
