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
from wayveil.kernels.kcl_lists import inverted
from wayveil.kernels.sequence_table import grown

__all__ = ["restore"]

Offer = namedtuple("Offer", ["offsets", "items", "record", "owner", "sensitive", "asks"])
"""The records that have an item or ask for it, close together in memory: the item first, then what else they have.
`record` is their number among all records."""

_N, _ASKING, _OWNERS, _LAST, _JOB, _VALUES = 0, 1, 2, 3, 4, 5
_HAVING, _LAST_HAVING, _EXCESS = 0, 1, 2
"""A row of counters per item that makes a sequence longer: its records, how many of them ask, its owners and the last
one, and the job that lists its records, `_NO_JOB`, or `_ALL_GO` if all that ask must be struck off.  Then for every
sensitive value its owners, the last one, and how many asking records of that value are too many."""

_NO_JOB, _ALL_GO = -1, -2
_ASKS, _STRUCK = 1, 2


@kernel
def restore(records, order, longest, k, allowed):
    """Switch visits of the items `order` on again in ``records.alive``, one item after the other; return how many.

    Time O(rounds x occurrences of sequences of at most `longest` visits with the item), memory O(the same for one
    item and two lengths).
    """
    inv, inv_record, inv_at = inverted(records)
    n_items, n_values, restored, round_ = records.meta[0], records.meta[1], np.int64(0), np.int64(0)
    tally, seen = _new_tally(n_items, n_values), np.empty(n_items, np.int64)
    dirty = np.zeros((n_items, 2), np.int64)
    for item in order:
        first, end = inv[item], inv[item + 1]
        if _n_owners(records, inv_record[first:end]) < k:
            continue
        offer, asking = _gather(records, item, inv_record[first:end], inv_at[first:end])
        struck, all_items = asking, True
        while asking > 0 and struck > 0:
            round_ += 1
            struck, all_items = _strike(offer, longest, k, allowed, tally, seen, dirty, n_values, round_, all_items)
            offer = _without_struck(offer)
            asking -= struck
        restored += asking
        for x in range(offer.asks.size if asking > 0 else 0):
            if offer.asks[x] == _ASKS:
                records.alive[inv_at[first + offer.record[x]]] = 1
    return restored


@inner
def _new_tally(n_items, n_values):
    tally = np.zeros((n_items, _VALUES + 3 * n_values), np.int64)
    tally[:, _LAST], tally[:, _JOB] = -1, _NO_JOB
    for s in range(n_values):
        tally[:, _VALUES + 3 * s + _LAST_HAVING] = -1
    return tally


@inner
def _n_owners(records, record):
    n, last = 0, -1
    for r in record:
        n += records.owner[r] != last
        last = records.owner[r]
    return n


@inner
def _gather(records, item, record, at):
    """Return the Offer of an item, and how many of its records ask."""
    n, n_attributes, top, asking = record.size, records.meta[2], np.int64(0), np.int64(0)
    for r in record:
        top += records.offsets[r + 1] - records.offsets[r]
    offsets, items = np.zeros(n + 1, np.int64), np.empty(top, np.int64)
    owner, asks = np.empty(n, np.int64), np.zeros(n, np.int64)
    sensitive, top = np.empty(n * n_attributes, np.int64), np.int64(0)
    for x in range(n):
        r = record[x]
        owner[x] = records.owner[r]
        for a in range(n_attributes):
            sensitive[x * n_attributes + a] = records.sensitive[r * n_attributes + a]
        if records.alive[at[x]] == 0:
            asks[x] = _ASKS
            asking += 1
        items[top] = item
        top += 1
        for v in range(records.offsets[r], records.offsets[r + 1]):
            if records.alive[v] == 1 and records.items[v] != item:
                items[top] = records.items[v]
                top += 1
        offsets[x + 1] = top
    return Offer(offsets, items, np.arange(n), owner, sensitive, asks), asking


@inner
def _without_struck(offer):
    """Return the Offer to the records that are still in it, in the same memory."""
    n, top, n_attributes = np.int64(0), np.int64(0), offer.sensitive.size // max(1, offer.owner.size)
    for x in range(offer.asks.size):
        if offer.asks[x] == _STRUCK:
            continue
        first, end = offer.offsets[x], offer.offsets[x + 1]
        for v in range(first, end):
            offer.items[top] = offer.items[v]
            top += 1
        for a in range(n_attributes):
            offer.sensitive[n * n_attributes + a] = offer.sensitive[x * n_attributes + a]
        offer.record[n], offer.owner[n], offer.asks[n] = offer.record[x], offer.owner[x], offer.asks[x]
        n += 1
        offer.offsets[n] = top
    return Offer(
        offer.offsets[: n + 1], offer.items[:top], offer.record[:n], offer.owner[:n],
        offer.sensitive[: n * n_attributes], offer.asks[:n],
    )  # fmt: skip


@inner
def _strike(offer, longest, k, allowed, tally, seen, dirty, n_values, round_, all_items):
    """Strike off records in which a sequence with the item would be violating; return how many.

    Also returns whether the next round must look at all items: where a sequence tells too much, those that are longer
    were not looked at in this one.

    Depth first, over lists of records with the place of the last visit that was added to the sequence; sequences that
    no asking record has are not grown.  The first job is the item alone.
    """
    n, struck, open_ = offer.asks.size, np.int64(0), False
    record, at = np.arange(n), np.empty(n, np.int64)
    for x in range(n):
        at[x] = offer.offsets[x] - 1
    job_from, job_to, job_depth = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    n_jobs, job_from[0], job_to[0], job_depth[0] = np.int64(1), 0, n, 0
    while n_jobs > 0:
        n_jobs -= 1
        start, stop, depth = job_from[n_jobs], job_to[n_jobs], job_depth[n_jobs]
        n_seen = _count(offer, record, at, start, stop, depth, tally, seen, dirty, n_values, round_, all_items)
        top, all_fine = stop, True
        for s in range(n_seen):
            j = seen[s]
            if tally[j, _ASKING] == 0:
                continue
            if not _is_fine(tally, j, n_values, k, allowed):
                all_fine = False
                open_ |= tally[j, _JOB] != _ALL_GO
            elif depth + 1 < longest:
                job_from, job_to = grown(job_from, n_jobs + 1), grown(job_to, n_jobs + 1)
                job_depth = grown(job_depth, n_jobs + 1)
                job_from[n_jobs], job_to[n_jobs], job_depth[n_jobs] = top, top, depth + 1
                tally[j, _JOB] = n_jobs
                top += tally[j, _N]
                n_jobs += 1
        if top > stop or not all_fine:
            record, at = grown(record, top), grown(at, top)
            struck += _hand_out(
                offer, record, at, start, stop, depth, tally, dirty, n_values, job_to, round_, all_items
            )
        for s in range(n_seen):
            j = seen[s]
            tally[j, :] = 0
            tally[j, _LAST], tally[j, _JOB] = -1, _NO_JOB
            for e in range(_VALUES, _VALUES + 3 * n_values, 3):
                tally[j, e + _LAST_HAVING] = -1
    return struck, open_


@inner
def _count(offer, record, at, start, stop, depth, tally, seen, dirty, n_values, round_, all_items):
    """Count what the sequences of a list become with one more visit; at depth 0 that visit is the item itself."""
    n_attributes, n_seen = offer.sensitive.size // offer.owner.size, np.int64(0)
    for o in range(start, stop):
        r = record[o]
        if offer.asks[r] == _STRUCK:
            continue
        who = offer.owner[r]
        for v in range(at[o] + 1, offer.offsets[r + 1] if depth > 0 else at[o] + 2):
            j = offer.items[v]
            if depth > 0 and not all_items and dirty[j, round_ & 1] != round_:
                continue
            if tally[j, _N] == 0:
                seen[n_seen] = j
                n_seen += 1
            tally[j, _N] += 1
            tally[j, _ASKING] += offer.asks[r]
            if tally[j, _LAST] != who:
                tally[j, _LAST] = who
                tally[j, _OWNERS] += 1
            for a in range(r * n_attributes, (r + 1) * n_attributes):
                if offer.sensitive[a] >= 0:
                    e = _VALUES + 3 * offer.sensitive[a]
                    if tally[j, e + _LAST_HAVING] != who:
                        tally[j, e + _LAST_HAVING] = who
                        tally[j, e + _HAVING] += 1
    return n_seen


@inner
def _is_fine(tally, j, n_values, k, allowed):
    """Return whether a sequence is not violating; if it is, note which of the asking records must go."""
    owners = tally[j, _OWNERS]
    if owners < k:
        tally[j, _JOB] = _ALL_GO
        return False
    fine = True
    for e in range(_VALUES, _VALUES + 3 * n_values, 3):
        while tally[j, e + _HAVING] - tally[j, e + _EXCESS] > allowed[owners - tally[j, e + _EXCESS]]:
            tally[j, e + _EXCESS] += 1
            fine = False
    return fine


@inner
def _hand_out(offer, record, at, start, stop, depth, tally, dirty, n_values, job_to, round_, all_items):
    """Strike off the asking records that must go, list the others for the jobs; return how many were struck off."""
    n_attributes, struck = offer.sensitive.size // offer.owner.size, np.int64(0)
    for o in range(start, stop):
        r = record[o]
        if offer.asks[r] == _STRUCK:
            continue
        for v in range(at[o] + 1, offer.offsets[r + 1] if depth > 0 else at[o] + 2):
            j = offer.items[v]
            if depth > 0 and not all_items and dirty[j, round_ & 1] != round_:
                continue
            job = tally[j, _JOB]
            if offer.asks[r] == _ASKS:
                go = job == _ALL_GO
                for a in range(r * n_attributes, (r + 1) * n_attributes):
                    if offer.sensitive[a] >= 0 and tally[j, _VALUES + 3 * offer.sensitive[a] + _EXCESS] > 0:
                        tally[j, _VALUES + 3 * offer.sensitive[a] + _EXCESS] -= 1
                        go = True
                if go:
                    offer.asks[r] = _STRUCK
                    struck += 1
                    for e in range(offer.offsets[r], offer.offsets[r + 1]):
                        dirty[offer.items[e], (round_ + 1) & 1] = round_ + 1
                    break
            if job >= 0:
                record[job_to[job]], at[job_to[job]] = r, v
                job_to[job] += 1
    return struck
