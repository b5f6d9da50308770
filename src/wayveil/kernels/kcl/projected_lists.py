"""Records, and lists of their places from which sequences are grown by one item.

A list holds, for every record with a sequence, the position of its last visit: the projection of the records on the
sequence, as in PrefixSpan.  Counting what follows there, one row of counters per item, costs a step per visit; handing
out makes the lists of the sequences that are grown further.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import grown

__all__ = [
    "HAVING",
    "JOB",
    "NO_LIMIT",
    "OWNERS",
    "PER_VALUE",
    "RECORDS",
    "THREAT",
    "VALUES",
    "Lists",
    "Privacy",
    "Records",
    "Span",
    "Takers",
    "clear_counters",
    "count_next",
    "gather",
    "grow_lists",
    "hand_out",
    "inverted",
    "list_first_visits",
    "new_counters",
]

Records = namedtuple(
    "Records",
    "offsets items alive owner owner_first sensitive n_items n_values n_attributes most_common",
)
"""The trajectory database T, sorted by owner.  Only `alive` is ever written to, by suppressing and restoring.

Visits and records that are many are held in smaller types for `restore`, which compiles for these, too: `items`,
`owner` and `sensitive` in int32, `alive` in int8.  There are fewer than 2^31 of either then.

offsets : int64, one more than there are records
    Record r has the visits ``offsets[r]:offsets[r + 1]``.
items : int64, one per visit
    Doublets (location and time), numbered by time: ascending within a record, none of them twice.
alive : int64, one per visit
    1 until the visit is suppressed, then 0.
owner : int64, one per record
    Whose it is, ascending from 0 on.
owner_first : int64, one more than there are owners
    Owner o has the records ``owner_first[o]:owner_first[o + 1]``.
sensitive : int64, records x attributes, flat
    Record r has the sensitive values from ``sensitive[r * n_attributes]`` on, one per attribute, -1 where it has none;
    values are numbered over all attributes.
n_items, n_values, n_attributes : int
most_common : int
    The number of common sequences at which the search gives up; `NO_LIMIT` where it never does.
"""

Privacy = namedtuple("Privacy", ["longest", "k", "allowed"])
"""(K,C)_L-privacy (Definition 3.1): a sequence of at most `longest` (L) doublets must have `k` owners at least, and at
most ``allowed[n]`` of its n owners (C times n) may have the same sensitive value.  `allowed` is int64, from 0 owners to
all of them."""

NO_LIMIT = 1 << 62

# The columns of the counters: one row per item that could make a sequence longer.
RECORDS = 0  # the records in which it follows
OWNERS = 1  # their owners
LAST_OWNER = 2  # the last owner that was counted: records are sorted by owner, so nobody is counted twice
THREAT = 3  # the threat that lists its records, -1 for none
JOB = 4  # the job that lists its records, -1 for none
VALUES = 5  # from here on two columns for every sensitive value:
HAVING = 0  # its owners who have the value
LAST_HAVING = 1  # the last of these
PER_VALUE = 2

Lists = namedtuple("Lists", ["record", "at"])
"""Lists of occurrences, one behind the other: record ``record[o]`` has the sequence, and its last visit is ``at[o]``.
Both int64; lists lie on a stack, so those of longer sequences are behind those of shorter ones."""

Takers = namedtuple("Takers", ["threat_first", "threat_record", "job_end"])
"""Who waits for occurrences, and where they go.  All int64.

threat_first, threat_record
    Threat m takes the entries ``threat_first[m]:threat_first[m + 1]``, as many as its counter RECORDS says.
job_end : one per job
    Where the next occurrence of a job goes in `Lists`.
"""

Span = namedtuple("Span", ["begin", "end", "depth"])
"""The list of one sequence of `depth` items, entries ``begin:end`` of `Lists`; at depth 0 the visit itself is next."""


@kernel
def inverted(records):
    """Return, per item, where it occurs: offsets into the other two, records in order, visits.

    The other two have the type of ``records.items``, so that of many visits the small type is kept.
    """
    n_items = records.n_items
    n_visits = records.items.size
    # A counting sort by item: count, add up, fill.  Records are filled in their order, so they stay in order per item.
    first = np.zeros(n_items + 1, np.int64)
    for visit in range(n_visits):
        first[records.items[visit] + 1] += 1
    free = np.zeros(n_items + 1, np.int64)
    for item in range(n_items):
        first[item + 1] += first[item]
        free[item + 1] = first[item + 1]
    record = np.empty(n_visits, records.items.dtype)
    at = np.empty(n_visits, records.items.dtype)
    for r in range(records.offsets.size - 1):
        for visit in range(records.offsets[r], records.offsets[r + 1]):
            slot = free[records.items[visit]]
            record[slot] = r
            at[slot] = visit
            free[records.items[visit]] = slot + 1
    return first, record, at


@inner
def new_counters(n_items, n_values):
    """Return counters with nothing counted: int64, (n_items, VALUES + PER_VALUE * n_values)."""
    counters = np.zeros((n_items, VALUES + PER_VALUE * n_values), np.int64)
    for item in range(n_items):
        _clear_row(counters, item, n_values)
    return counters


@inner
def clear_counters(counters, seen, n_seen, n_values):
    """Clear the rows of the items ``seen[:n_seen]``: clearing all would cost more than counting a short list."""
    for x in range(n_seen):
        _clear_row(counters, seen[x], n_values)


@inner
def _clear_row(counters, item, n_values):
    """Make a row of counters as new."""
    counters[item, RECORDS] = 0
    counters[item, OWNERS] = 0
    counters[item, LAST_OWNER] = -1
    counters[item, THREAT] = -1
    counters[item, JOB] = -1
    for column in range(VALUES, VALUES + PER_VALUE * n_values, PER_VALUE):
        counters[item, column + HAVING] = 0
        counters[item, column + LAST_HAVING] = -1


@inner
def gather(records, record, at):
    """Return records from a visit on, close together in memory: they are looked at again and again.

    `record` and `at` are int64 and say which records, and from which visit on.  What is returned is numbered by these
    entries; its `alive` and `owner_first` are still those of all records.
    """
    n = record.size
    n_attributes = records.n_attributes
    offsets = np.zeros(n + 1, np.int64)
    for x in range(n):
        offsets[x + 1] = offsets[x] + records.offsets[record[x] + 1] - at[x]
    items = np.empty(offsets[n], np.int64)
    owner = np.empty(n, np.int64)
    sensitive = np.empty(n * n_attributes, np.int64)
    for x in range(n):
        owner[x] = records.owner[record[x]]
        for v in range(offsets[x + 1] - offsets[x]):
            items[offsets[x] + v] = records.items[at[x] + v]
        for a in range(n_attributes):
            sensitive[x * n_attributes + a] = records.sensitive[record[x] * n_attributes + a]
    return Records(
        offsets, items, records.alive, owner, records.owner_first, sensitive,
        records.n_items, records.n_values, n_attributes, records.most_common,
    )  # fmt: skip


@inner
def grow_lists(lists, need):
    """Return lists with room for `need` occurrences."""
    return Lists(grown(lists.record, need), grown(lists.at, need))


@inner
def list_first_visits(lists, records):
    """Return lists that begin with the first visit of every record, for sequences of the items there."""
    n = records.owner.size
    lists = grow_lists(lists, n)
    for r in range(n):
        lists.record[r] = r
        lists.at[r] = records.offsets[r]
    return lists


@inner
def count_next(records, lists, span, counters, seen):
    """Count records, owners and sensitive owners per item that follows in a list; return how many items these are.

    They are written to `seen` (int64, one entry per item), ascending, and their rows of `counters` must be cleared
    before the next list.
    """
    n_attributes = records.n_attributes
    n_seen = np.int64(0)
    # Line 4 of Procedure 1: one scan of T(q) computes |T(q')| and the confidences of all q' that are one doublet
    # longer.  Records are in the order of their owners, so it is enough to remember the last owner that was counted.
    for o in range(span.begin, span.end):
        r = lists.record[o]
        at = lists.at[o]
        who = records.owner[r]
        stop = records.offsets[r + 1] if span.depth > 0 else at + 1
        for visit in range(at + 1 if span.depth > 0 else at, stop):
            item = records.items[visit]
            if counters[item, RECORDS] == 0:
                seen[n_seen] = item
                n_seen += 1
            counters[item, RECORDS] += 1
            if counters[item, LAST_OWNER] != who:
                counters[item, LAST_OWNER] = who
                counters[item, OWNERS] += 1
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                column = VALUES + PER_VALUE * records.sensitive[a]  # before VALUES where there is no value
                if column >= VALUES and counters[item, column + LAST_HAVING] != who:
                    counters[item, column + LAST_HAVING] = who
                    counters[item, column + HAVING] += 1
    _sort(seen, n_seen)
    return n_seen


@inner
def _sort(values, n):
    """Sort the first n values: a comb sort, as sorting functions of libraries take seconds to compile."""
    # Values that are far from where they belong jump over a gap, which shrinks by 1.3; then few are out of order.
    gap = n
    while gap > 1:
        gap = gap * 10 // 13 if gap > 2 else np.int64(1)
        for x in range(n - gap):
            if values[x] > values[x + gap]:
                values[x], values[x + gap] = values[x + gap], values[x]
    # Those few go back step by step (gnome sort): before each round ``values[:x]`` is sorted.
    x = np.int64(1)
    while x < n:
        if values[x - 1] > values[x]:
            values[x - 1], values[x] = values[x], values[x - 1]
            x = max(x - 1, np.int64(1))
        else:
            x += 1


@inner
def hand_out(records, true_record, lists, span, counters, takers):
    """Give the occurrences of a list, made longer by one item, to the threats and jobs that wait for this item.

    ``true_record[r]`` (int64) is the number of a record among all records, which is what threats list; `lists` must
    have room.
    """
    for o in range(span.begin, span.end):
        r = lists.record[o]
        at = lists.at[o]
        stop = records.offsets[r + 1] if span.depth > 0 else at + 1
        for visit in range(at + 1 if span.depth > 0 else at, stop):
            item = records.items[visit]
            threat = counters[item, THREAT]
            job = counters[item, JOB]
            if threat >= 0:
                # The counter is no longer needed: it says how many entries are still free.
                takers.threat_record[takers.threat_first[threat + 1] - counters[item, RECORDS]] = true_record[r]
                counters[item, RECORDS] -= 1
            if job >= 0:
                free = takers.job_end[job]
                lists.record[free] = r
                lists.at[free] = visit
                takers.job_end[job] = free + 1
