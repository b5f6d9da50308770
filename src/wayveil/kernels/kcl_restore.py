"""Give suppressed visits back where nobody is hurt: a greedy suppression takes more than it must.

A global suppression takes an item out of every record, also out of those in which it was no threat.  Afterwards each
item is offered back to all records that lost it.  Sequences with the item are counted as if all of them had it again;
records that would make one of these sequences violating are struck off, and the rest is counted again, until nothing
has to be struck off.  Sequences without the item are not affected, so no violating sequence can come back.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.jit import inner, kernel
from wayveil.kernels.kcl_find import inverted
from wayveil.kernels.sequence_table import grown

__all__ = ["restore"]

Tally = namedtuple(
    "Tally", ["n", "asking", "owners", "last", "having", "last_having", "excess", "job", "seen", "dirty"]
)
"""Counters per item that makes a sequence longer: its records, how many of them ask, its owners, its owners per
sensitive value, how many asking records of that value are too many, and the job that lists its records, -1 for none or
-2 if all that ask must be struck off.  `dirty` says, for odd and even rounds, when an item is looked at: after
the first round only sequences that lost a record can have become violating."""

ASKS, STRUCK = 1, 2


@kernel
def restore(records, order, longest, k, allowed):
    """Switch visits of the items `order` on again in ``records.alive``, one item after the other; return how many.

    Time O(rounds x occurrences of sequences of at most `longest` visits with the item), memory O(the same for one
    item and two lengths).
    """
    inv, inv_record, inv_at = inverted(records)
    asks, restored = np.zeros(records.offsets.size - 1, np.int64), np.int64(0)
    tally, round_ = _new_tally(records.meta[0], records.meta[1]), np.int64(0)
    for o in range(order.size):
        item, asking = order[o], np.int64(0)
        for e in range(inv[item], inv[item + 1]):
            if records.alive[inv_at[e]] == 0:
                asks[inv_record[e]] = ASKS
                asking += 1
        struck, all_items = asking, True
        while asking > 0 and struck > 0:
            round_ += 1
            struck, all_items = _strike(
                records, asks, item, inv, inv_record, inv_at, longest, k, allowed, tally, round_, all_items
            )
            asking -= struck
        restored += asking
        for e in range(inv[item], inv[item + 1]):
            if asks[inv_record[e]] == ASKS:
                records.alive[inv_at[e]] = 1
            asks[inv_record[e]] = 0
    return restored


@inner
def _new_tally(n_items, n_values):
    last, last_having = np.empty(n_items, np.int64), np.empty(n_items * n_values, np.int64)
    job = np.empty(n_items, np.int64)
    for i in range(n_items):
        last[i], job[i] = -1, -1
    for i in range(n_items * n_values):
        last_having[i] = -1
    return Tally(
        np.zeros(n_items, np.int64), np.zeros(n_items, np.int64), np.zeros(n_items, np.int64), last,
        np.zeros(n_items * n_values, np.int64), last_having, np.zeros(n_items * n_values, np.int64),
        job, np.empty(n_items, np.int64), np.zeros(2 * n_items, np.int64),
    )  # fmt: skip


@inner
def _strike(records, asks, item, inv, inv_record, inv_at, longest, k, allowed, tally, round_, all_items):
    """Strike off records in which a sequence with `item` would be violating; return how many.

    Also returns whether the next round must look at all items: where a sequence tells too much, those that are longer
    were not looked at in this one.

    Depth first, over lists of records with the row of the last visit that was added to the sequence; sequences that no
    asking record has are not grown.  The first job is the item alone.
    """
    n, struck, open_ = inv[item + 1] - inv[item], np.int64(0), False
    record, at = np.empty(n, np.int64), np.empty(n, np.int64)
    for x in range(n):
        record[x], at[x] = inv_record[inv[item] + x], inv_at[inv[item] + x]
    job_from, job_to, job_depth = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    n_jobs, job_from[0], job_to[0], job_depth[0] = np.int64(1), 0, n, 0
    while n_jobs > 0:
        n_jobs -= 1
        start, stop, depth = job_from[n_jobs], job_to[n_jobs], job_depth[n_jobs]
        n_seen = _count(records, asks, item, record, at, start, stop, depth, tally, round_, all_items)
        top = stop
        for s in range(n_seen):
            j = tally.seen[s]
            fine = tally.asking[j] == 0 or _is_fine(j, records.meta[1], k, allowed, tally)
            open_ |= not fine and tally.job[j] != -2
            if fine and tally.asking[j] > 0 and depth + 1 < longest:
                job_from, job_to = grown(job_from, n_jobs + 1), grown(job_to, n_jobs + 1)
                job_depth = grown(job_depth, n_jobs + 1)
                job_from[n_jobs], job_to[n_jobs], job_depth[n_jobs] = top, top, depth + 1
                tally.job[j] = n_jobs
                top += tally.n[j]
                n_jobs += 1
        record, at = grown(record, top), grown(at, top)
        struck += _hand_out(records, asks, item, record, at, start, stop, depth, tally, job_to, round_, all_items)
        for s in range(n_seen):
            j = tally.seen[s]
            tally.n[j], tally.asking[j], tally.owners[j], tally.last[j], tally.job[j] = 0, 0, 0, -1, -1
            for e in range(j * records.meta[1], (j + 1) * records.meta[1]):
                tally.having[e], tally.last_having[e], tally.excess[e] = 0, -1, 0
    return struck, open_


@inner
def _count(records, asks, item, record, at, start, stop, depth, tally, round_, all_items):
    """Count what the sequences of a list become with one more visit; at depth 0 that visit is the item itself."""
    n_values, n_attributes, n_seen = records.meta[1], records.meta[2], np.int64(0)
    now = (round_ & 1) * records.meta[0]
    for o in range(start, stop):
        r = record[o]
        if asks[r] == STRUCK:
            continue
        who = records.owner[r]
        for v in range(_next(records, at[o], r, depth), records.offsets[r + 1] if depth > 0 else at[o] + 1):
            j = records.items[v]
            if depth > 0 and (j == item or records.alive[v] == 0):
                continue
            if depth > 0 and not all_items and tally.dirty[now + j] != round_:
                continue
            if tally.n[j] == 0:
                tally.seen[n_seen] = j
                n_seen += 1
            tally.n[j] += 1
            tally.asking[j] += asks[r]
            if tally.last[j] != who:
                tally.last[j] = who
                tally.owners[j] += 1
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                e = j * n_values + records.sensitive[a]
                if records.sensitive[a] >= 0 and tally.last_having[e] != who:
                    tally.last_having[e] = who
                    tally.having[e] += 1
    return n_seen


@inner
def _next(records, at, record, depth):
    """Return the first row that can make a sequence longer: the item itself, then all rows, then those behind."""
    if depth == 1:
        return records.offsets[record]
    return at + 1 if depth > 1 else at


@inner
def _is_fine(j, n_values, k, allowed, tally):
    """Return whether a sequence is not violating; if it is, note which of the asking records must go."""
    owners = tally.owners[j]
    if owners < k:
        tally.job[j] = -2
        return False
    fine = True
    for e in range(j * n_values, (j + 1) * n_values):
        while tally.having[e] - tally.excess[e] > allowed[owners - tally.excess[e]]:
            tally.excess[e] += 1
            fine = False
    return fine


@inner
def _hand_out(records, asks, item, record, at, start, stop, depth, tally, job_to, round_, all_items):
    """Strike off the asking records that must go, list the others for the jobs; return how many were struck off."""
    n_values, n_attributes, struck = records.meta[1], records.meta[2], np.int64(0)
    now, then = (round_ & 1) * records.meta[0], (1 - (round_ & 1)) * records.meta[0]
    for o in range(start, stop):
        r = record[o]
        if asks[r] == STRUCK:
            continue
        for v in range(_next(records, at[o], r, depth), records.offsets[r + 1] if depth > 0 else at[o] + 1):
            j = records.items[v]
            if depth > 0 and (j == item or records.alive[v] == 0):
                continue
            if depth > 0 and not all_items and tally.dirty[now + j] != round_:
                continue
            go = tally.job[j] == -2
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                e = j * n_values + records.sensitive[a]
                if records.sensitive[a] >= 0 and tally.excess[e] > 0 and asks[r] == ASKS:
                    tally.excess[e] -= 1
                    go = True
            if go and asks[r] == ASKS:
                asks[r] = STRUCK
                struck += 1
                for e in range(records.offsets[r], records.offsets[r + 1]):
                    tally.dirty[then + records.items[e]] = round_ + 1
                break
            job = tally.job[j]
            if job >= 0:
                record[job_to[job]], at[job_to[job]] = r, v
                job_to[job] += 1
    return struck
