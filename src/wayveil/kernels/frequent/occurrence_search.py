"""The loops behind `maximal_sequences`: a depth-first search over lists of occurrences.

Every record is sorted by rising support of its items.  A sequence is grown by items that come later in the records that
hold it, its *occurrences*, so every frequent sequence has one way to be met, from its rarest item on.  The paper mines
maximal frequent sequences with MAFIA; this is the same search, with lists instead of bitmaps.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.common.sequence_table import grown

__all__ = ["Occurrences", "Records", "search_best", "search_maximal"]

Records = namedtuple("Records", ["offsets", "items", "owner", "weight"])
"""Records without their infrequent items; nobody writes to them.  All arrays are int64.

offsets, items
    Record r has ``items[offsets[r]:offsets[r + 1]]``: ranks by (support, item), ascending.
owner : one per record
    Whose it is; records of one owner are neighbours.
weight : one per record
    For how many owners it stands: more than one only where equal records of owners who have no other were merged.
"""

Occurrences = namedtuple("Occurrences", ["first", "record", "at", "support"])
"""Where single items are: rank j has ``support[j]`` owners and is in the rows ``at[o]`` of ``record[o]`` for o in
``first[j]:first[j + 1]``.  All arrays are int64."""

Counters = namedtuple("Counters", ["owners", "last", "n", "seen", "job", "inside"])
"""What follows a sequence, int64, one entry per item; cleared after each use.

owners, last, n : its owners, the last of them, and its occurrences
seen : the items that were counted, listed
job : the job that takes the occurrences, -1 for none
inside : 1 for the items of a path and its tail, while they are looked at together
"""

# Jobs and lists of occurrences are stacks in one flat array each, as fewer arrays compile faster.
# A job is a sequence that waits to be grown; these are its numbers.
_ITEM = 0  # its last item; those before it are on the path
_DEPTH = 1  # where that item is on the path
_OWNERS = 2
_FROM = 3  # where its occurrences begin
_TO = 4  # and end
_JOB = 5  # how many numbers a job has

# An occurrence is a record and a row in it.
_RECORD = 0
_ROW = 1
_OCCURRENCE = 2

_ROOM = np.int64(1024)  # entries of an array that grows


@kernel
def search_maximal(records, occurs, min_support, most_steps):
    """Return (first, items, supports, steps) of the maximal frequent sequences; incomplete if steps > most_steps.

    Sequence s is ``items[first[s]:first[s + 1]]``; a step is a look at a row.
    """
    n_items = occurs.first.size - 1
    counters = _new_counters(n_items)
    first = np.zeros(_ROOM, np.int64)
    out = np.empty(_ROOM, np.int64)
    support = np.empty(_ROOM, np.int64)
    n_out = np.int64(0)
    lists = np.empty(_ROOM, np.int64)
    job = np.empty(_ROOM, np.int64)
    path = np.empty(_ROOM, np.int64)
    steps = np.int64(0)
    # All that a path can grow to lies inside the path and its *tail*, the items that are frequent after it.  A round
    # takes the last job, counts its tail, and looks whether path and tail together are frequent.  If so, nothing else
    # in there is maximal, and the search need not go on below (the FHUT pruning of MAFIA); path and tail are maximal
    # if no other item is frequent with them.  Otherwise the path with each item of the tail becomes a job.  So that a
    # sequence is maximal is counted, and found ones are not looked up.
    for item in range(n_items):
        lists = _first_job(occurs, item, lists, job)
        n_jobs = np.int64(1)
        while n_jobs > 0 and steps <= most_steps:
            n_jobs -= 1
            now = _JOB * n_jobs
            depth = job[now + _DEPTH]
            begin = job[now + _FROM]
            end = job[now + _TO]
            path = grown(path, depth + 1)
            path[depth] = job[now + _ITEM]

            # The tail: jobs from here on, of which the first takes the place of this one.
            n_seen, longest, looks = _count(records, lists, begin, end, counters)
            job = grown(job, now + _JOB * n_seen)
            n_kept = n_jobs
            top = end
            for x in range(n_seen):
                if counters.owners[counters.seen[x]] >= min_support:
                    top = _push(job, n_jobs, counters.seen[x], depth + 1, top, counters)
                    n_jobs += 1
            _clear(counters, n_seen)
            n_tail = n_jobs - n_kept

            # Path and tail together; no need to look if no record is long enough.
            owners = np.int64(0)
            if n_tail <= longest:
                at = first[n_out]
                n = depth + 1 + n_tail
                out = grown(out, at + n)
                for d in range(n):
                    out[at + d] = path[d] if d <= depth else job[now + _JOB * (d - depth - 1) + _ITEM]
                    counters.inside[out[at + d]] = 1
                owners, maximal, more = _together(records, lists, begin, end, counters, n_tail, min_support)
                looks += more
                for d in range(n):
                    counters.inside[out[at + d]] = 0
                if owners >= min_support and maximal:
                    first = grown(first, n_out + 2)
                    support = grown(support, n_out + 1)
                    support[n_out] = owners
                    first[n_out + 1] = at + n
                    n_out += 1
            steps += looks

            if owners < min_support:
                lists = grown(lists, _OCCURRENCE * top)
                _hand_out(records, lists, begin, end, counters, job)
            for x in range(n_kept, n_jobs):
                counters.job[job[_JOB * x + _ITEM]] = -1
            if owners >= min_support:
                n_jobs = n_kept
    return first[: n_out + 1].copy(), out[: first[n_out]].copy(), support[:n_out].copy(), steps


# Where the numbers of a row of `search_best` are.
_BEST_SUPPORT = 0
_BEST_LENGTH = 1
_BEST_ITEMS = 2


@kernel
def search_best(records, occurs, most, longest):
    """Return `most` rows, or as many as there are, of (support, length, items and room up to `longest`), flat."""
    n_items = occurs.first.size - 1
    width = longest + _BEST_ITEMS
    counters = _new_counters(n_items)
    best = np.zeros(most * width, np.int64)
    n_best = np.int64(0)
    worst = np.int64(0)  # the row that makes room for a better one, once there are enough
    bar = np.int64(0)  # its support
    lists = np.empty(_ROOM, np.int64)
    job = np.empty(_ROOM, np.int64)
    path = np.empty(longest, np.int64)
    # A longer sequence has no more owners than a shorter one, so that what does not beat the worst of `most` sequences
    # need not be grown.  The most frequent items come first: then the bar is high soon, and when an item does not reach
    # it, neither does any that follows.
    for item in range(n_items - 1, -1, -1):
        if occurs.support[item] <= bar:
            break
        lists = _first_job(occurs, item, lists, job)
        n_jobs = np.int64(1)
        while n_jobs > 0:
            n_jobs -= 1
            now = _JOB * n_jobs
            depth = job[now + _DEPTH]
            begin = job[now + _FROM]
            end = job[now + _TO]
            path[depth] = job[now + _ITEM]
            if job[now + _OWNERS] <= bar:
                continue  # the bar has risen since
            n_seen, _, _ = _count(records, lists, begin, end, counters)
            job = grown(job, now + _JOB * n_seen)
            n_kept = n_jobs
            top = end
            for j in range(path[depth] + 1, n_items):
                if counters.owners[j] > bar:
                    row = (n_best if n_best < most else worst) * width
                    best[row + _BEST_SUPPORT] = counters.owners[j]
                    best[row + _BEST_LENGTH] = depth + 2
                    for d in range(depth + 1):
                        best[row + _BEST_ITEMS + d] = path[d]
                    best[row + _BEST_ITEMS + depth + 1] = j
                    n_best = min(n_best + 1, most)
                    if n_best == most:
                        worst = np.int64(0)
                        for b in range(most):
                            worst = b if best[b * width] <= best[worst * width] else worst
                        bar = best[worst * width]
                    top = _push(job, n_jobs, j, depth + 1, top, counters)
                    n_jobs += 1
            _clear(counters, n_seen)
            lists = grown(lists, _OCCURRENCE * top)
            _hand_out(records, lists, begin, end, counters, job)
            for x in range(n_kept, n_jobs):
                counters.job[job[_JOB * x + _ITEM]] = -1
    return best[: n_best * width].copy()


@kernel
def _new_counters(n_items):
    """Return counters with nothing counted."""
    last = np.empty(n_items, np.int64)
    job = np.empty(n_items, np.int64)
    for i in range(n_items):
        last[i] = -1
        job[i] = -1
    inside = np.zeros(n_items, np.int64)
    owners = np.zeros(n_items, np.int64)
    return Counters(owners, last, np.zeros(n_items, np.int64), np.empty(n_items, np.int64), job, inside)


@kernel
def _first_job(occurs, item, lists, job):
    """Make one item the only job; return `lists` with its occurrences."""
    begin = occurs.first[item]
    n = occurs.first[item + 1] - begin
    lists = grown(lists, _OCCURRENCE * n)
    for o in range(n):
        lists[_OCCURRENCE * o + _RECORD] = occurs.record[begin + o]
        lists[_OCCURRENCE * o + _ROW] = occurs.at[begin + o]
    job[_ITEM] = item
    job[_DEPTH] = 0
    job[_OWNERS] = occurs.support[item]
    job[_FROM] = 0
    job[_TO] = n
    return lists


@kernel
def _push(job, n_jobs, item, depth, top, counters):
    """Add a job whose occurrences begin at `top`; return where they end."""
    at = _JOB * n_jobs
    job[at + _ITEM] = item
    job[at + _DEPTH] = depth
    job[at + _OWNERS] = counters.owners[item]
    job[at + _FROM] = top
    job[at + _TO] = top
    counters.job[item] = n_jobs
    return top + counters.n[item]


@kernel
def _clear(counters, n_seen):
    """Clear what was counted of the items that were seen."""
    for x in range(n_seen):
        item = counters.seen[x]
        counters.owners[item] = 0
        counters.last[item] = -1
        counters.n[item] = 0


@kernel
def _count(records, lists, begin, end, counters):
    """Count owners and occurrences of the items that follow; return (items seen, longest rest of a record, looks)."""
    n_seen = np.int64(0)
    longest = np.int64(0)
    looks = np.int64(0)
    for o in range(begin, end):
        r = lists[_OCCURRENCE * o + _RECORD]
        row = lists[_OCCURRENCE * o + _ROW]
        who = records.owner[r]
        stop = records.offsets[r + 1]
        longest = max(longest, stop - row - 1)
        looks += stop - row
        for at in range(row + 1, stop):
            item = records.items[at]
            if counters.n[item] == 0:
                counters.seen[n_seen] = item
                n_seen += 1
            counters.n[item] += 1
            if counters.last[item] != who:
                counters.last[item] = who
                counters.owners[item] += records.weight[r]
    return n_seen, longest, looks


@kernel
def _together(records, lists, begin, end, counters, n_tail, min_support):
    """Return (owners with path and whole tail, whether no item outside is frequent with them, looks)."""
    owners = np.int64(0)
    last_owner = np.int64(-1)
    n_seen = np.int64(0)
    looks = np.int64(0)
    for o in range(begin, end):
        r = lists[_OCCURRENCE * o + _RECORD]
        row = lists[_OCCURRENCE * o + _ROW]
        who = records.owner[r]
        stop = records.offsets[r + 1]
        looks += stop - row
        n_inside = np.int64(0)
        for at in range(row + 1, stop):
            n_inside += counters.inside[records.items[at]]
        if n_inside < n_tail:
            continue
        if who != last_owner:
            last_owner = who
            owners += records.weight[r]
        # the items outside, also those before the path: they were not in any tail
        looks += stop - records.offsets[r]
        for at in range(records.offsets[r], stop):
            item = records.items[at]
            if counters.inside[item] == 0 and counters.last[item] != who:
                if counters.owners[item] == 0:
                    counters.seen[n_seen] = item
                    n_seen += 1
                counters.last[item] = who
                counters.owners[item] += records.weight[r]
    maximal = True
    for x in range(n_seen):
        maximal &= counters.owners[counters.seen[x]] < min_support
    _clear(counters, n_seen)
    return owners, maximal, looks


@kernel
def _hand_out(records, lists, begin, end, counters, job):
    """Give each job its occurrences, which lie behind those of the list ``begin:end``."""
    for o in range(begin, end):
        r = lists[_OCCURRENCE * o + _RECORD]
        for at in range(lists[_OCCURRENCE * o + _ROW] + 1, records.offsets[r + 1]):
            to = counters.job[records.items[at]]
            if to >= 0:
                free = job[_JOB * to + _TO]
                lists[_OCCURRENCE * free + _RECORD] = r
                lists[_OCCURRENCE * free + _ROW] = at
                job[_JOB * to + _TO] = free + 1
