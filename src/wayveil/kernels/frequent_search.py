"""The loops behind `frequent`: a depth-first search over lists of occurrences.

Every record is sorted by rising support of its items.  A sequence is grown by items that come later in the records that
hold it, its *occurrences*, so every frequent sequence has one way to be met, from its rarest item on.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.common.sequence_table import grown

__all__ = ["Occurrences", "Records", "search_best", "search_maximal"]

Records = namedtuple("Records", ["offsets", "items", "owner", "weight"])
"""Records without their infrequent items; the others are ranks by (support, item), ascending.  Record r stands for
``weight[r]`` owners: more than one only where equal records of owners who have no other record were merged."""

Occurrences = namedtuple("Occurrences", ["first", "record", "at", "support"])
"""Rank j has ``support[j]`` owners and is in the rows ``at[o]`` of ``record[o]`` for o in ``first[j]:first[j + 1]``."""

Counters = namedtuple("Counters", ["owners", "last", "n", "seen", "job"])
"""Per item: owners, the last of them, occurrences, and the job that takes these (-1: none); `seen` lists the items."""

_JOB, _DEPTH, _OWNERS, _FROM, _TO = 5, 1, 2, 3, 4
# A job is (item, its place in the path, owners, begin and end of its occurrences), an occurrence (record, row); jobs
# and lists of occurrences are stacks in one flat array each, as fewer arrays compile faster.


@kernel
def search_maximal(records, occurs, min_support, most_steps):
    """Return (first, items, supports, steps) of the maximal frequent sequences; incomplete if steps > most_steps.

    All that a path can grow to lies inside the path and its *tail*, the items that are frequent after it.  If path and
    tail together are frequent, nothing else in there is maximal, and the search need not go on; they are maximal
    if no other item is frequent with them.  So that a sequence is maximal is counted, and found ones are not looked up.
    """
    start, n_items = np.int64(1024), occurs.first.size - 1
    c, inside = _new_counters(n_items), np.zeros(n_items, np.int64)
    first, out, support = np.zeros(start, np.int64), np.empty(start, np.int64), np.empty(start, np.int64)
    lists, job, path = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(start, np.int64)
    n_out, steps = np.int64(0), np.int64(0)
    for item in range(n_items):
        lists = _first_job(occurs, item, lists, job)
        jobs = np.int64(1)
        while jobs > 0 and steps <= most_steps:
            jobs -= 1
            now = _JOB * jobs
            depth, begin, end = job[now + _DEPTH], job[now + _FROM], job[now + _TO]
            path = grown(path, depth + 1)
            path[depth] = job[now]
            n_seen, longest, looks = _count(records, lists, begin, end, c)
            job = grown(job, now + _JOB * n_seen)
            kept, top = jobs, end
            for x in range(n_seen):
                if c.owners[c.seen[x]] >= min_support:
                    top = _push(job, jobs, c.seen[x], depth + 1, top, c)
                    jobs += 1
            _clear(c, n_seen)
            owners, n_tail = np.int64(0), jobs - kept
            if n_tail <= longest:
                at, n = first[n_out], depth + 1 + n_tail
                out = grown(out, at + n)
                for d in range(n):
                    out[at + d] = path[d] if d <= depth else job[now + _JOB * (d - depth - 1)]
                    inside[out[at + d]] = 1
                owners, maximal, more = _together(records, lists, begin, end, c, n_tail, inside, min_support)
                looks += more
                for d in range(n):
                    inside[out[at + d]] = 0
                if owners >= min_support and maximal:
                    first, support = grown(first, n_out + 2), grown(support, n_out + 1)
                    support[n_out], first[n_out + 1] = owners, at + n
                    n_out += 1
            steps += looks
            if owners < min_support:
                lists = grown(lists, 2 * top)
                _hand_out(records, lists, begin, end, c, job)
            for x in range(kept, jobs):
                c.job[job[_JOB * x]] = -1
            if owners >= min_support:
                jobs = kept
    return first[: n_out + 1].copy(), out[: first[n_out]].copy(), support[:n_out].copy(), steps


@kernel
def search_best(records, occurs, most, longest):
    """Return `most` rows, or as many as there are, of (support, length, items and room up to `longest`), flat.

    The most frequent items come first, and what does not beat the worst of `most` sequences is not looked at.
    """
    start, n_items, width = np.int64(1024), occurs.first.size - 1, longest + 2
    c, best = _new_counters(n_items), np.zeros(most * width, np.int64)
    lists, job, path = np.empty(start, np.int64), np.empty(start, np.int64), np.empty(longest, np.int64)
    n_best, worst, bar = np.int64(0), np.int64(0), np.int64(0)
    for item in range(n_items - 1, -1, -1):
        if occurs.support[item] <= bar:
            break
        lists = _first_job(occurs, item, lists, job)
        jobs = np.int64(1)
        while jobs > 0:
            jobs -= 1
            now = _JOB * jobs
            depth, begin, end = job[now + _DEPTH], job[now + _FROM], job[now + _TO]
            path[depth] = job[now]
            if job[now + _OWNERS] <= bar:
                continue
            n_seen, _, _ = _count(records, lists, begin, end, c)
            job = grown(job, now + _JOB * n_seen)
            kept, top = jobs, end
            for j in range(path[depth] + 1, n_items):
                if c.owners[j] > bar:
                    at = (n_best if n_best < most else worst) * width
                    best[at], best[at + 1], best[at + 3 + depth] = c.owners[j], depth + 2, j
                    for d in range(depth + 1):
                        best[at + 2 + d] = path[d]
                    n_best = min(n_best + 1, most)
                    if n_best == most:
                        worst = np.int64(0)
                        for b in range(most):
                            worst = b if best[b * width] <= best[worst * width] else worst
                        bar = best[worst * width]
                    top = _push(job, jobs, j, depth + 1, top, c)
                    jobs += 1
            _clear(c, n_seen)
            lists = grown(lists, 2 * top)
            _hand_out(records, lists, begin, end, c, job)
            for x in range(kept, jobs):
                c.job[job[_JOB * x]] = -1
    return best[: n_best * width].copy()


@kernel
def _new_counters(n_items):
    last, job = np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    for i in range(n_items):
        last[i], job[i] = -1, -1
    return Counters(np.zeros(n_items, np.int64), last, np.zeros(n_items, np.int64), np.empty(n_items, np.int64), job)


@kernel
def _first_job(occurs, item, lists, job):
    """Make one item the only job; return `lists` with its occurrences."""
    begin, n = occurs.first[item], occurs.first[item + 1] - occurs.first[item]
    lists = grown(lists, 2 * n)
    for o in range(n):
        lists[2 * o], lists[2 * o + 1] = occurs.record[begin + o], occurs.at[begin + o]
    job[0], job[_DEPTH], job[_OWNERS], job[_FROM], job[_TO] = item, 0, occurs.support[item], 0, n
    return lists


@kernel
def _push(job, jobs, item, depth, top, c):
    """Add a job whose occurrences begin at `top`; return where they end."""
    at = _JOB * jobs
    job[at], job[at + _DEPTH], job[at + _OWNERS] = item, depth, c.owners[item]
    job[at + _FROM], job[at + _TO], c.job[item] = top, top, jobs
    return top + c.n[item]


@kernel
def _clear(c, n_seen):
    for x in range(n_seen):
        c.owners[c.seen[x]], c.last[c.seen[x]], c.n[c.seen[x]] = 0, -1, 0


@kernel
def _count(records, lists, begin, end, c):
    """Count owners and occurrences of the items that follow; return (items seen, longest rest of a record, looks)."""
    n_seen, longest, looks = np.int64(0), np.int64(0), np.int64(0)
    for o in range(begin, end):
        r, here = lists[2 * o], lists[2 * o + 1]
        who, stop = records.owner[r], records.offsets[r + 1]
        longest = max(longest, stop - here - 1)
        looks += stop - here
        for at in range(here + 1, stop):
            j = records.items[at]
            if c.n[j] == 0:
                c.seen[n_seen] = j
                n_seen += 1
            c.n[j] += 1
            if c.last[j] != who:
                c.last[j] = who
                c.owners[j] += records.weight[r]
    return n_seen, longest, looks


@kernel
def _together(records, lists, begin, end, c, n_tail, inside, min_support):
    """Return (owners with path and whole tail, whether no item outside is frequent with them, looks)."""
    owners, last, n_seen, looks, maximal = np.int64(0), np.int64(-1), np.int64(0), np.int64(0), True
    for o in range(begin, end):
        r, here = lists[2 * o], lists[2 * o + 1]
        who, stop, found = records.owner[r], records.offsets[r + 1], np.int64(0)
        looks += stop - here
        for at in range(here + 1, stop):
            found += inside[records.items[at]]
        if found == n_tail:
            if who != last:
                last = who
                owners += records.weight[r]
            looks += stop - records.offsets[r]
            for at in range(records.offsets[r], stop):
                j = records.items[at]
                if inside[j] == 0 and c.last[j] != who:
                    if c.owners[j] == 0:
                        c.seen[n_seen] = j
                        n_seen += 1
                    c.last[j] = who
                    c.owners[j] += records.weight[r]
    for x in range(n_seen):
        maximal &= c.owners[c.seen[x]] < min_support
    _clear(c, n_seen)
    return owners, maximal, looks


@kernel
def _hand_out(records, lists, begin, end, c, job):
    """Give each job its occurrences."""
    for o in range(begin, end):
        r = lists[2 * o]
        for at in range(lists[2 * o + 1] + 1, records.offsets[r + 1]):
            to = c.job[records.items[at]]
            if to >= 0:
                free = job[_JOB * to + _TO]
                lists[2 * free], lists[2 * free + 1] = r, at
                job[_JOB * to + _TO] = free + 1
