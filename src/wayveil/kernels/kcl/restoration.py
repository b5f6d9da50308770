"""Give suppressed visits back where nobody is hurt: a greedy suppression takes more than it must.

A global suppression takes an item out of every record, also out of those in which it was no threat.  Afterwards each
item is offered back to all records that lost it.  Sequences with the item are counted as if all of them had it again;
records that would make one of these sequences violating are struck off, and the rest is counted again, until nothing
has to be struck off.  Sequences without the item are not affected, so no violating sequence can come back.

People and records are both counted.  Where one owner has too many of the records with a sequence, the extra records of
that owner are struck off first; only then those with a sensitive value that is too frequent.  Before the offer nothing
was violating, and more records of others only make a share smaller.  So whatever is violating has a record that asks
and can be struck off, and every round but the last strikes one off: the rounds end.

The paper has no such step; what it publishes and what comes out here satisfy the same definition (Definition 3.1).
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import grown
from wayveil.kernels.kcl.projected_lists import Lists, Span, grow_lists, inverted

__all__ = ["Bounds", "restore", "restore_singly"]

Bounds = namedtuple("Bounds", ["k", "allowed", "beside"])
"""What is asked of a sequence: at least `k` owners; at most ``allowed[n]`` of n owners, and of n records, with one
sensitive value; at most ``beside[n]`` records of one owner where the others have n together.  Both arrays are int64."""

Offer = namedtuple("Offer", ["offsets", "items", "record", "owner", "sensitive", "asks"])
"""The records that have an item or ask for it, close together in memory, sorted by owner; of an owner's records those
that ask come last.  All arrays are int64.

offsets, items
    Record x has ``items[offsets[x]:offsets[x + 1]]``: the item that is offered, then what else it has.
record : one per record
    Its number among all records with the item.
owner : one per record
sensitive : records x attributes, flat
    Its sensitive values, or -1.
asks : one per record
    0 if it has the item anyway, `_ASKS`, or `_STRUCK`, which `_hand_out` writes.
"""

Work = namedtuple("Work", ["tally", "seen", "dirty", "n_values"])
"""What is used again for every item.  All arrays are int64.

tally : (items, columns)
    Counters of the sequence with one item more; cleared after each use.
seen : one per item
    The items that were counted.
dirty : (items, 2)
    For rounds of even and odd numbers the last one that must look at the item, because a record with it was struck off.
n_values : int
    How many sensitive values there are.
"""

Round = namedtuple("Round", ["number", "all_items"])
"""One count of an offer: its number, over all offers, and whether all items are looked at, or only the dirty ones."""

# The columns of the tally: one row per item that makes a sequence longer.
_RECORDS = 0  # the records with the sequence
_ASKING = 1  # how many of these ask
_OWNERS = 2  # their owners
_LAST_OWNER = 3  # the last owner that was counted
_RUN = 4  # the records of that one so far
_LONGEST_RUN = 5  # the most records of one owner
_MOST = 6  # how many each owner may keep, or `_NO_LIMIT`
_JOB = 7  # the job that lists its records, `_NO_JOB`, or `_ALL_GO` if all that ask must be struck off
_VALUES = 8  # from here on four columns for every sensitive value:
_HAVING = 0  # its owners
_LAST_HAVING = 1  # the last of them
_HAVING_RECORDS = 2  # its records
_EXCESS = 3  # how many asking records with it are too many
_PER_VALUE = 4

_NO_JOB = -1
_ALL_GO = -2
_NO_LIMIT = -1

_ASKS = 1
_STRUCK = 2


@kernel
def restore(records, order, longest, bounds, whole):
    """Switch visits of the items `order` on again in ``records.alive``, one item after the other; return how many.

    Nothing that is on may be violating.  `order` is int64.  Where `whole` is true, an item comes back to all records
    that ask for it, or to none.  Time O(rounds x occurrences of sequences of at most `longest` visits with the item),
    memory O(the same for one item and two lengths).
    """
    item_first, item_record, item_at = inverted(records)
    work = _new_work(records.n_items, records.n_values)
    restored = np.int64(0)
    number = np.int64(0)
    for item in order:
        first = item_first[item]
        end = item_first[item + 1]
        if _n_owners(records, item_record[first:end]) < bounds.k:
            continue  # even if all had it again, they would be too few
        offer, asking = _gather(records, item, item_record[first:end], item_at[first:end], np.int64(-1), work.seen)
        # Before each round, `asking` records ask, and the others are as they were.  A round counts all sequences with
        # the item and strikes off who would be hurt; then fewer ask.  When nobody was struck off, the item comes back.
        struck = asking
        all_items = True
        while asking > 0 and struck > 0:
            number += 1
            struck, all_items = _strike(offer, longest, bounds, work, Round(number, all_items))
            offer = _without_struck(offer)
            asking = np.int64(0) if whole and struck > 0 else asking - struck
        restored += asking
        if asking > 0:
            for x in range(offer.asks.size):
                if offer.asks[x] == _ASKS:
                    records.alive[item_at[first + offer.record[x]]] = 1
    return restored


@kernel
def restore_singly(records, order, longest, bounds):
    """Do the same, but offer an item to one record after the other: nothing that could come back alone is left out.

    Where an item is offered to many records at once, more of them can be struck off than would have to be.  Time
    O(suppressed visits x visits of the records with the same item, and the sequences they share).
    """
    item_first, item_record, item_at = inverted(records)
    work = _new_work(records.n_items, records.n_values)
    marked = np.zeros(records.n_items, np.int64)  # 1 for the items that the asking record has
    restored = np.int64(0)
    number = np.int64(0)
    for item in order:
        first = item_first[item]
        end = item_first[item + 1]
        if _n_owners(records, item_record[first:end]) < bounds.k:
            continue
        for x in range(first, end):
            r = item_record[x]
            if records.alive[item_at[x]] == 1:
                continue
            for v in range(records.offsets[r], records.offsets[r + 1]):
                marked[records.items[v]] = records.alive[v]
            offer, _ = _gather(records, item, item_record[first:end], item_at[first:end], np.int64(x - first), marked)
            for v in range(records.offsets[r], records.offsets[r + 1]):
                marked[records.items[v]] = 0
            number += 1
            struck, _ = _strike(offer, longest, bounds, work, Round(number, True))
            if struck == 0:
                records.alive[item_at[x]] = 1
                restored += 1
    return restored


@inner
def _new_work(n_items, n_values):
    """Return `Work` with nothing counted."""
    tally = np.empty((n_items, _VALUES + _PER_VALUE * n_values), np.int64)
    for item in range(n_items):
        _clear(tally, item, n_values)
    return Work(tally, np.empty(n_items, np.int64), np.zeros((n_items, 2), np.int64), n_values)


@inner
def _clear(tally, item, n_values):
    """Make a row of the tally as new."""
    tally[item, :] = 0
    tally[item, _LAST_OWNER] = -1
    tally[item, _JOB] = _NO_JOB
    tally[item, _MOST] = _NO_LIMIT
    for column in range(_VALUES, _VALUES + _PER_VALUE * n_values, _PER_VALUE):
        tally[item, column + _LAST_HAVING] = -1


@inner
def _n_owners(records, record):
    """Return how many owners the records (ascending) have."""
    n = 0
    last = -1
    for r in record:
        n += records.owner[r] != last
        last = records.owner[r]
    return n


@inner
def _gather(records, item, record, at, only, marked):
    """Return the Offer of an item, and how many of its records ask.

    `record` and `at` are the records with the item, on or off, and its visits in them.  Where `only` is not negative,
    only that record asks, and of the others those are gathered that have the item, with no items but those that are
    marked: what the asking record does not have makes no sequence with it.
    """
    n = record.size
    n_attributes = records.n_attributes
    n_visits = np.int64(0)
    for r in record:
        n_visits += records.offsets[r + 1] - records.offsets[r]
    offsets = np.zeros(n + 1, np.int64)
    items = np.empty(n_visits, np.int64)
    owner = np.empty(n, np.int64)
    asks = np.zeros(n, np.int64)
    sensitive = np.empty(n * n_attributes, np.int64)
    asking = np.int64(0)
    top = np.int64(0)
    entry, n = _asking_last(records, record, at, only)
    for x in range(n):
        r = record[entry[x]]
        owner[x] = records.owner[r]
        for a in range(n_attributes):
            sensitive[x * n_attributes + a] = records.sensitive[r * n_attributes + a]
        if records.alive[at[entry[x]]] == 0:
            asks[x] = _ASKS
            asking += 1
        # the item first, whatever its time: all sequences that are counted have it
        items[top] = item
        top += 1
        for v in range(records.offsets[r], records.offsets[r + 1]):
            if records.alive[v] == 1 and records.items[v] != item and (only < 0 or marked[records.items[v]] == 1):
                items[top] = records.items[v]
                top += 1
        offsets[x + 1] = top
    return Offer(
        offsets[: n + 1], items[:top], entry[:n], owner[:n], sensitive[: n * n_attributes], asks[:n]
    ), asking  # fmt: skip


@inner
def _asking_last(records, record, at, only):
    """Return the numbers of the records with an item, by owner, those of an owner in which it is off at the end.

    Of those in which it is off, all are returned, or `only` one; also returns how many there are.  They come last so
    that an owner who has too many records keeps those that have the item already.
    """
    entry = np.empty(record.size, np.int64)
    n = np.int64(0)
    first = np.int64(0)
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
    n_attributes = offer.sensitive.size // max(1, offer.owner.size)
    n = np.int64(0)
    top = np.int64(0)
    for x in range(offer.asks.size):
        if offer.asks[x] == _STRUCK:
            continue
        # both ends first: offsets[n] may be the entry that is read next
        first = offer.offsets[x]
        end = offer.offsets[x + 1]
        for v in range(first, end):
            offer.items[top] = offer.items[v]
            top += 1
        for a in range(n_attributes):
            offer.sensitive[n * n_attributes + a] = offer.sensitive[x * n_attributes + a]
        offer.record[n] = offer.record[x]
        offer.owner[n] = offer.owner[x]
        offer.asks[n] = offer.asks[x]
        n += 1
        offer.offsets[n] = top
    return Offer(
        offer.offsets[: n + 1], offer.items[:top], offer.record[:n], offer.owner[:n],
        offer.sensitive[: n * n_attributes], offer.asks[:n],
    )  # fmt: skip


@inner
def _strike(offer, longest, bounds, work, round_):
    """Strike off records in which a sequence with the item would be violating; return how many.

    Also returns whether the next round must look at all items: where a sequence tells too much, those that are longer
    were not looked at in this one.
    """
    tally = work.tally
    seen = work.seen
    n = offer.asks.size
    struck = np.int64(0)
    unfinished = False
    lists = Lists(np.arange(n), np.empty(n, np.int64))
    for x in range(n):
        lists.at[x] = offer.offsets[x] - 1
    job_from = np.empty(16, np.int64)
    job_to = np.empty(16, np.int64)
    job_depth = np.empty(16, np.int64)
    job_from[0] = 0
    job_to[0] = n
    job_depth[0] = 0
    n_jobs = np.int64(1)
    # Depth first over lists of records with the last visit that was added to the sequence, on a stack; the first job is
    # the item alone.  A round takes the last job and counts its sequences with one item more.  Those that no asking
    # record has were safe before and are not grown; those that are violating strike records off; the others wait as
    # jobs.  Sequences have at most `longest` items, so the stack becomes empty.
    while n_jobs > 0:
        n_jobs -= 1
        span = Span(job_from[n_jobs], job_to[n_jobs], job_depth[n_jobs])
        n_seen = _count(offer, lists, span, work, round_)
        top = span.end
        all_fine = True
        for x in range(n_seen):
            item = seen[x]
            if tally[item, _ASKING] == 0:
                continue
            if not _is_fine(tally, item, work.n_values, bounds):
                all_fine = False
                unfinished |= tally[item, _JOB] != _ALL_GO
            elif span.depth + 1 < longest:
                job_from = grown(job_from, n_jobs + 1)
                job_to = grown(job_to, n_jobs + 1)
                job_depth = grown(job_depth, n_jobs + 1)
                job_from[n_jobs] = top
                job_to[n_jobs] = top
                job_depth[n_jobs] = span.depth + 1
                tally[item, _JOB] = n_jobs
                top += tally[item, _RECORDS]
                n_jobs += 1
        if top > span.end or not all_fine:
            lists = grow_lists(lists, top)
            struck += _hand_out(offer, lists, span, work, job_to, round_)
        for x in range(n_seen):
            _clear(tally, seen[x], work.n_values)
    return struck, unfinished


@inner
def _is_skipped(work, item, depth, round_):
    """Return whether a round need not look at an item: no record with it was struck off in the one before."""
    return depth > 0 and not round_.all_items and work.dirty[item, round_.number & 1] != round_.number


@inner
def _count(offer, lists, span, work, round_):
    """Count what the sequences of a list become with one more visit; at depth 0 that visit is the item itself.

    Returns how many items were seen.
    """
    tally = work.tally
    n_attributes = offer.sensitive.size // offer.owner.size
    n_seen = np.int64(0)
    for o in range(span.begin, span.end):
        r = lists.record[o]
        if offer.asks[r] == _STRUCK:
            continue
        who = offer.owner[r]
        for v in range(lists.at[o] + 1, offer.offsets[r + 1] if span.depth > 0 else lists.at[o] + 2):
            item = offer.items[v]
            if _is_skipped(work, item, span.depth, round_):
                continue
            if tally[item, _RECORDS] == 0:
                work.seen[n_seen] = item
                n_seen += 1
            tally[item, _RECORDS] += 1
            tally[item, _ASKING] += offer.asks[r]
            if tally[item, _LAST_OWNER] != who:
                tally[item, _LAST_OWNER] = who
                tally[item, _OWNERS] += 1
                tally[item, _RUN] = 0
            tally[item, _RUN] += 1
            tally[item, _LONGEST_RUN] = max(tally[item, _LONGEST_RUN], tally[item, _RUN])
            for a in range(r * n_attributes, (r + 1) * n_attributes):
                if offer.sensitive[a] >= 0:
                    column = _VALUES + _PER_VALUE * offer.sensitive[a]
                    tally[item, column + _HAVING_RECORDS] += 1
                    if tally[item, column + _LAST_HAVING] != who:
                        tally[item, column + _LAST_HAVING] = who
                        tally[item, column + _HAVING] += 1
    return n_seen


@inner
def _is_fine(tally, item, n_values, bounds):
    """Return whether a sequence is not violating; if it is, note which of the asking records must go."""
    owners = tally[item, _OWNERS]
    n = tally[item, _RECORDS]
    run = tally[item, _LONGEST_RUN]
    if owners < bounds.k:
        tally[item, _JOB] = _ALL_GO
        return False
    if run > bounds.beside[n - run]:
        # Nobody can keep more than this in the end: the others have n - run records at most, and so has whoever else
        # has too many now.  Counting begins again when the records are handed out.
        tally[item, _MOST] = bounds.beside[n - run]
        tally[item, _LAST_OWNER] = -1
        return False
    # One record less of a value is one owner less at most, of all and of those with it: count down until it fits.
    fine = True
    for column in range(_VALUES, _VALUES + _PER_VALUE * n_values, _PER_VALUE):
        excess = np.int64(0)
        while tally[item, column + _HAVING] - excess > bounds.allowed[owners - excess]:
            excess += 1
        while tally[item, column + _HAVING_RECORDS] - excess > bounds.allowed[n - excess]:
            excess += 1
        tally[item, column + _EXCESS] = excess
        fine &= excess == 0
    return fine


@inner
def _hand_out(offer, lists, span, work, job_to, round_):
    """Strike off the asking records that must go, list the others for the jobs; return how many were struck off.

    `job_to` (int64, one per job) says where the next occurrence of a job goes in `lists`.
    """
    tally = work.tally
    struck = np.int64(0)
    for o in range(span.begin, span.end):
        r = lists.record[o]
        if offer.asks[r] == _STRUCK:
            continue
        for v in range(lists.at[o] + 1, offer.offsets[r + 1] if span.depth > 0 else lists.at[o] + 2):
            item = offer.items[v]
            if _is_skipped(work, item, span.depth, round_):
                continue
            too_many = False
            if tally[item, _MOST] != _NO_LIMIT:
                if tally[item, _LAST_OWNER] != offer.owner[r]:
                    tally[item, _LAST_OWNER] = offer.owner[r]
                    tally[item, _RUN] = 0
                tally[item, _RUN] += 1
                too_many = tally[item, _RUN] > tally[item, _MOST]
            if offer.asks[r] == _ASKS and _must_go(offer, tally, r, item, too_many):
                offer.asks[r] = _STRUCK
                struck += 1
                # the next round must look at whatever the record has
                for e in range(offer.offsets[r], offer.offsets[r + 1]):
                    work.dirty[offer.items[e], (round_.number + 1) & 1] = round_.number + 1
                break
            job = tally[item, _JOB]
            if job >= 0:
                free = job_to[job]
                lists.record[free] = r
                lists.at[free] = v
                job_to[job] = free + 1
    return struck


@inner
def _must_go(offer, tally, r, item, too_many):
    """Return whether an asking record must be struck off because of a sequence; if so, it counts for its values."""
    n_attributes = offer.sensitive.size // offer.owner.size
    go = tally[item, _JOB] == _ALL_GO or too_many
    for a in range(r * n_attributes, (r + 1) * n_attributes):
        column = _VALUES + _PER_VALUE * offer.sensitive[a]
        if offer.sensitive[a] >= 0 and tally[item, column + _EXCESS] > 0:
            tally[item, column + _EXCESS] -= 1
            go = True
    return go
