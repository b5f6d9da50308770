"""Give suppressed visits back where nobody is hurt: a greedy suppression takes more than it must.

A global suppression takes an item out of every record, also out of those in which it was no threat.  Afterwards each
item is offered back to all records that lost it.  Sequences with the item are counted as if all of them had it again;
records that would make one of these sequences violating are struck off, and the rest is counted again, until nothing
has to be struck off.  Sequences without the item are not affected, so no violating sequence can come back.

People and records are both counted.  Where one owner has too many of the records with a sequence, the extra records of
that owner are struck off first; only then those with a sensitive value that is too frequent.  Before the offer nothing
was violating, and more records of others only make a share smaller.  So whatever is violating has a record that asks
and can be struck off, and every round but the last strikes one off: the rounds end.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import grown
from wayveil.kernels.kcl_lists import inverted

__all__ = ["Bounds", "restore", "restore_singly"]

Bounds = namedtuple("Bounds", ["k", "allowed", "beside"])
"""What is asked of a sequence: at least `k` owners; at most ``allowed[n]`` of n owners, and of n records, with one
sensitive value; at most ``beside[n]`` records of one owner where the others have n together."""

Offer = namedtuple("Offer", ["offsets", "items", "record", "owner", "sensitive", "asks"])
"""The records that have an item or ask for it, close together in memory: the item first, then what else they have.
They are sorted by owner; of an owner's records those that ask come last.  `record` is their number among all records
with the item."""

_N, _ASKING, _OWNERS, _LAST, _RUN, _LONGEST_RUN, _MOST, _JOB, _VALUES = 0, 1, 2, 3, 4, 5, 6, 7, 8
_HAVING, _LAST_HAVING, _RECORDS, _EXCESS, _PER_VALUE = 0, 1, 2, 3, 4
"""A row of counters per item that makes a sequence longer: its records, how many of them ask, its owners and the last
one, the records of that one so far, the most records of one owner, and how many each may keep (`_NO_LIMIT`: all); then
the job that lists its records, `_NO_JOB`, or `_ALL_GO` if all that ask must be struck off.  Then for every
sensitive value its owners, the last one, its records, and how many asking records of that value are too many."""

_NO_JOB, _ALL_GO, _NO_LIMIT = -1, -2, -1
_ASKS, _STRUCK = 1, 2


@kernel
def restore(records, order, longest, bounds, whole):
    """Switch visits of the items `order` on again in ``records.alive``, one item after the other; return how many.

    Nothing that is on may be violating.  Where `whole` is true, an item comes back to all records that ask for it, or
    to none.  Time O(rounds x occurrences of sequences of at most `longest` visits with the item), memory O(the same for
    one item and two lengths).
    """
    inv, inv_record, inv_at = inverted(records)
    n_items, n_values, restored, round_ = records.meta[0], records.meta[1], np.int64(0), np.int64(0)
    tally, seen = _new_tally(n_items, n_values), np.empty(n_items, np.int64)
    dirty = np.zeros((n_items, 2), np.int64)
    for item in order:
        first, end = inv[item], inv[item + 1]
        if _n_owners(records, inv_record[first:end]) < bounds.k:
            continue
        offer, asking = _gather(records, item, inv_record[first:end], inv_at[first:end], np.int64(-1), seen)
        struck, all_items = asking, True
        while asking > 0 and struck > 0:
            round_ += 1
            struck, all_items = _strike(offer, longest, bounds, tally, seen, dirty, n_values, round_, all_items)
            offer = _without_struck(offer)
            asking = np.int64(0) if whole and struck > 0 else asking - struck
        restored += asking
        for x in range(offer.asks.size if asking > 0 else 0):
            if offer.asks[x] == _ASKS:
                records.alive[inv_at[first + offer.record[x]]] = 1
    return restored


@kernel
def restore_singly(records, order, longest, bounds):
    """The same, but an item is offered to one record after the other: nothing that could come back alone is left out.

    Where an item is offered to many records at once, more of them can be struck off than would have to be.  Time
    O(suppressed visits x visits of the records with the same item, and the sequences they share).
    """
    inv, inv_record, inv_at = inverted(records)
    n_items, n_values, restored, round_ = records.meta[0], records.meta[1], np.int64(0), np.int64(0)
    tally, seen = _new_tally(n_items, n_values), np.empty(n_items, np.int64)
    dirty, mark = np.zeros((n_items, 2), np.int64), np.zeros(n_items, np.int64)
    for item in order:
        first, end = inv[item], inv[item + 1]
        if _n_owners(records, inv_record[first:end]) < bounds.k:
            continue
        for x in range(first, end):
            r = inv_record[x]
            if records.alive[inv_at[x]] == 1:
                continue
            for v in range(records.offsets[r], records.offsets[r + 1]):
                mark[records.items[v]] = records.alive[v]
            offer, _ = _gather(records, item, inv_record[first:end], inv_at[first:end], np.int64(x - first), mark)
            for v in range(records.offsets[r], records.offsets[r + 1]):
                mark[records.items[v]] = 0
            round_ += 1
            struck, _ = _strike(offer, longest, bounds, tally, seen, dirty, n_values, round_, True)
            if struck == 0:
                records.alive[inv_at[x]] = 1
                restored += 1
    return restored


@inner
def _new_tally(n_items, n_values):
    tally = np.empty((n_items, _VALUES + _PER_VALUE * n_values), np.int64)
    for j in range(n_items):
        _clear(tally, j, n_values)
    return tally


@inner
def _clear(tally, j, n_values):
    tally[j, :] = 0
    tally[j, _LAST], tally[j, _JOB], tally[j, _MOST] = -1, _NO_JOB, _NO_LIMIT
    for e in range(_VALUES, _VALUES + _PER_VALUE * n_values, _PER_VALUE):
        tally[j, e + _LAST_HAVING] = -1


@inner
def _n_owners(records, record):
    n, last = 0, -1
    for r in record:
        n += records.owner[r] != last
        last = records.owner[r]
    return n


@inner
def _gather(records, item, record, at, only, mark):
    """Return the Offer of an item, and how many of its records ask.

    Where `only` is not negative, only that record asks, and of the others those are gathered that have the item, with
    no items but those that are marked: what the asking record does not have makes no sequence with it.
    """
    n, n_attributes, top, asking = record.size, records.meta[2], np.int64(0), np.int64(0)
    for r in record:
        top += records.offsets[r + 1] - records.offsets[r]
    offsets, items = np.zeros(n + 1, np.int64), np.empty(top, np.int64)
    owner, asks = np.empty(n, np.int64), np.zeros(n, np.int64)
    sensitive, top = np.empty(n * n_attributes, np.int64), np.int64(0)
    entry, n = _asking_last(records, record, at, only)
    for x in range(n):
        r = record[entry[x]]
        owner[x] = records.owner[r]
        for a in range(n_attributes):
            sensitive[x * n_attributes + a] = records.sensitive[r * n_attributes + a]
        if records.alive[at[entry[x]]] == 0:
            asks[x] = _ASKS
            asking += 1
        items[top] = item
        top += 1
        for v in range(records.offsets[r], records.offsets[r + 1]):
            if records.alive[v] == 1 and records.items[v] != item and (only < 0 or mark[records.items[v]] == 1):
                items[top] = records.items[v]
                top += 1
        offsets[x + 1] = top
    return Offer(
        offsets[: n + 1], items[:top], entry[:n], owner[:n], sensitive[: n * n_attributes], asks[:n]
    ), asking  # fmt: skip


@inner
def _asking_last(records, record, at, only):
    """Return the numbers of the records with an item, by owner, those of an owner in which it is off at the end.

    Of those in which it is off, all are returned, or `only` one; also returns how many there are.
    """
    entry, n, first = np.empty(record.size, np.int64), np.int64(0), np.int64(0)
    while first < record.size:
        end = first + 1
        while end < record.size and records.owner[record[end]] == records.owner[record[first]]:
            end += 1
        for alive in (1, 0):
            for x in range(first, end):
                if records.alive[at[x]] == alive and (alive == 1 or only < 0 or x == only):
                    entry[n] = x
                    n += 1
        first = end
    return entry, n


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
def _strike(offer, longest, bounds, tally, seen, dirty, n_values, round_, all_items):
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
            if not _is_fine(tally, j, n_values, bounds):
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
            _clear(tally, j, n_values)
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
                tally[j, _RUN] = 0
            tally[j, _RUN] += 1
            tally[j, _LONGEST_RUN] = max(tally[j, _LONGEST_RUN], tally[j, _RUN])
            for a in range(r * n_attributes, (r + 1) * n_attributes):
                if offer.sensitive[a] >= 0:
                    e = _VALUES + _PER_VALUE * offer.sensitive[a]
                    tally[j, e + _RECORDS] += 1
                    if tally[j, e + _LAST_HAVING] != who:
                        tally[j, e + _LAST_HAVING] = who
                        tally[j, e + _HAVING] += 1
    return n_seen


@inner
def _is_fine(tally, j, n_values, bounds):
    """Return whether a sequence is not violating; if it is, note which of the asking records must go."""
    owners, n, run = tally[j, _OWNERS], tally[j, _N], tally[j, _LONGEST_RUN]
    if owners < bounds.k:
        tally[j, _JOB] = _ALL_GO
        return False
    if run > bounds.beside[n - run]:
        # Nobody can keep more than this in the end: the others have n - run records at most, and so has whoever else
        # has too many now.  Counting begins again when the records are handed out.
        tally[j, _MOST] = bounds.beside[n - run]
        tally[j, _LAST] = -1
        return False
    fine = True
    for e in range(_VALUES, _VALUES + _PER_VALUE * n_values, _PER_VALUE):
        excess = np.int64(0)
        while tally[j, e + _HAVING] - excess > bounds.allowed[owners - excess]:
            excess += 1
        while tally[j, e + _RECORDS] - excess > bounds.allowed[n - excess]:
            excess += 1
        tally[j, e + _EXCESS] = excess
        fine &= excess == 0
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
            too_many = False
            if tally[j, _MOST] != _NO_LIMIT:
                if tally[j, _LAST] != offer.owner[r]:
                    tally[j, _LAST] = offer.owner[r]
                    tally[j, _RUN] = 0
                tally[j, _RUN] += 1
                too_many = tally[j, _RUN] > tally[j, _MOST]
            if offer.asks[r] == _ASKS:
                go = job == _ALL_GO or too_many
                for a in range(r * n_attributes, (r + 1) * n_attributes):
                    e = _VALUES + _PER_VALUE * offer.sensitive[a]
                    if offer.sensitive[a] >= 0 and tally[j, e + _EXCESS] > 0:
                        tally[j, e + _EXCESS] -= 1
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
