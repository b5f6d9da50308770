"""Whether a local suppression makes a new violating sequence, exactly (Definition 4.3 of the paper).

There is a *new* minimal violating sequence if and only if some sequence is violating afterwards and no part of it is an
old threat that still is.  Taking item p out of a group of records can bring that about in two ways.

* A sequence with p that occurs in the group becomes violating.  It was common before, so its counts are at hand, and
  what it loses inside the group is subtracted.
* A common threat with p loses owners with a sensitive value and stops being violating, though it still occurs.  Then
  sequences around it, which were violating all along, may have no other threat in them.  They occur only in the
  records that keep the threat, and are looked for there.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import find_row, grown
from wayveil.kernels.kcl.suppression_state import contains

__all__ = ["Scratch", "is_valid", "is_violating", "lose", "new_scratch", "settle"]

Scratch = namedtuple("Scratch", ["lost", "seen_for", "lost_having", "touched", "n", "flags", "part"])
"""What common sequences lose: counters that are zero (`seen_for`: -1) between calls; `n[0]` counts `touched`."""


@inner
def new_scratch(common, n_values, longest):
    """Return counters for every common sequence."""
    rows = common.table.meta[0]
    seen_for = np.empty(rows, np.int64)
    for row in range(rows):
        seen_for[row] = -1
    return Scratch(
        np.zeros(rows, np.int64), seen_for, np.zeros(common.entry[rows], np.int64), np.empty(rows, np.int64),
        np.zeros(1, np.int64), np.zeros(n_values, np.int64), np.empty(longest, np.int64),
    )  # fmt: skip


@inner
def _common_with(records, common, record, item, longest, out, work):
    """List in `out` (returned, it may grow) the common sequences with `item` that the record has; also their number.

    Depth first over the record's other visits: parts of common sequences are common, so a miss ends a branch.
    """
    end, n, zero = records.offsets[record + 1], np.int64(0), np.int64(0)
    work[0] = item
    row = find_row(common.table, work, zero, np.int64(1))
    if row < 0:
        return out, n
    out[n] = row
    n += 1
    depth, at = np.int64(0), records.offsets[record]
    while longest > 1:
        if at == end:
            if depth == 0:
                break
            depth -= 1
            at = work[longest + depth] + 1
            continue
        if records.alive[at] == 0 or records.items[at] == item:
            at += 1
            continue
        work[longest + depth] = at
        length, placed = np.int64(0), False
        for d in range(depth + 1):
            other = records.items[work[longest + d]]
            if not placed and item < other:
                work[length] = item
                length, placed = length + 1, True
            work[length] = other
            length += 1
        if not placed:
            work[length] = item
            length += 1
        row = find_row(common.table, work, zero, length)
        if row >= 0:
            out = grown(out, n + 1)
            out[n] = row
            n += 1
            if length < longest:
                depth += 1
        at += 1
    return out, n


@inner
def lose(records, common, item, group, first, n, longest, scratch):
    """Add up in `scratch` what common sequences lose when `item` leaves the records ``group[first:first + n]``."""
    out, work = np.empty(64, np.int64), np.empty(2 * longest, np.int64)
    start, n_attributes = first, records.meta[2]
    while start < first + n:
        who, end = records.owner[group[start]], start
        while end < first + n and records.owner[group[end]] == who:
            end += 1
        only = records.owner_first[who + 1] - records.owner_first[who] == 1
        for g in range(start, end):
            r = group[g]
            out, found = _common_with(records, common, r, item, longest, out, work)
            for x in range(found):
                row = out[x]
                if scratch.seen_for[row] < 0:
                    scratch.touched[scratch.n[0]] = row
                    scratch.n[0] += 1
                if scratch.seen_for[row] == who:
                    continue
                scratch.seen_for[row] = who
                if only:
                    scratch.lost[row] += 1
                    for a in range(r * n_attributes, r * n_attributes + n_attributes):
                        for e in range(common.entry[row], common.entry[row + 1]):
                            if common.value[e] == records.sensitive[a]:
                                scratch.lost_having[e] += 1
                else:
                    _lose_owner(records, common, row, who, group, start, end, scratch)
        start = end


@inner
def _lose_owner(records, common, row, who, group, start, end, scratch):
    """The same for an owner of several records: lost is what none of the other records still shows."""
    begin = row * common.table.meta[1]
    n_attributes, keeps = records.meta[2], False
    for e in range(common.entry[row], common.entry[row + 1]):
        scratch.flags[common.value[e]] = 0
    g = start
    for r in range(records.owner_first[who], records.owner_first[who + 1]):
        leaves = g < end and group[g] == r
        g += leaves
        if contains(records, r, common.table.rows, begin + 1, common.table.rows[begin]):
            keeps |= not leaves
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                if records.sensitive[a] >= 0:
                    scratch.flags[records.sensitive[a]] |= 1 if leaves else 2
    scratch.lost[row] += not keeps
    for e in range(common.entry[row], common.entry[row + 1]):
        scratch.lost_having[e] += scratch.flags[common.value[e]] == 1


@inner
def settle(common, scratch, apply):
    """Clear what `lose` counted; where `apply` is 1, subtract it first."""
    for x in range(scratch.n[0]):
        row = scratch.touched[x]
        common.support[row] -= apply * scratch.lost[row]
        scratch.lost[row], scratch.seen_for[row] = 0, -1
        for e in range(common.entry[row], common.entry[row + 1]):
            common.having[e] -= apply * scratch.lost_having[e]
            scratch.lost_having[e] = 0
    scratch.n[0] = 0


@inner
def is_violating(common, row, scratch, k, allowed):
    """Return whether a common sequence is violating once it has lost what `scratch` says."""
    owners = common.support[row] - scratch.lost[row]
    violating = 0 < owners < k
    for e in range(common.entry[row], common.entry[row + 1]):
        violating |= common.having[e] - scratch.lost_having[e] > allowed[owners]
    return violating


@kernel
def is_valid(records, common, threats, item, threat, longest, k, allowed, scratch):
    """Return whether taking `item` out of the records of `threat` makes no new minimal violating sequence.

    The list of `threat` must be compact.  O(occurrences of common sequences with the item in the group).
    """
    lose(records, common, item, threats.record, threats.first[threat], threats.listed[threat], longest, scratch)
    valid, width, rows = True, common.table.meta[1], common.table.rows
    for x in range(scratch.n[0]):
        row = scratch.touched[x]
        if not valid:
            break
        if is_violating(common, row, scratch, k, allowed):
            valid = common.clean[row] == 0 and _has_old_threat(
                common, threats, rows, row * width + 1, rows[row * width], item, k, allowed, scratch
            )
        elif common.clean[row] == 0 and common.support[row] > scratch.lost[row]:
            old = find_row(threats.table, rows, row * width + 1, rows[row * width])
            if old >= 0 and threats.live[old] > 0 and rows[row * width] < longest:
                valid = not _uncovers(records, common, threats, old, item, threat, longest, k, allowed, scratch)
    settle(common, scratch, np.int64(0))
    return valid


@inner
def _uncovers(records, common, threats, old, item, threat, longest, k, allowed, scratch):
    """Return whether a violating sequence was not minimal only because of the threat `old`, which ends here.

    `old` is no longer violating but still occurs.  What grows from it in the records that keep it is judged depth
    first; a sequence that contains another threat ends a branch, and so does one that is not common.
    """
    width, rows = threats.table.meta[1], threats.table.rows
    begin, size = old * width + 1, rows[old * width]
    work, chosen = np.empty(longest, np.int64), np.empty(longest, np.int64)
    g, g_end = threats.first[threat], threats.first[threat] + threats.listed[threat]
    for e in range(threats.first[old], threats.first[old] + threats.listed[old]):
        r = threats.record[e]
        while g < g_end and threats.record[g] < r:
            g += 1
        if (g < g_end and threats.record[g] == r) or not contains(records, r, rows, begin, size):
            continue
        depth, at, end = np.int64(0), records.offsets[r], records.offsets[r + 1]
        while True:
            if at == end:
                if depth == 0:
                    break
                depth -= 1
                at = chosen[depth] + 1
                continue
            skip = records.alive[at] == 0
            for i in range(begin, begin + size):
                skip |= rows[i] == records.items[at]
            if skip:
                at += 1
                continue
            chosen[depth] = at
            i, d, n = begin, np.int64(0), np.int64(0)
            while i < begin + size or d <= depth:
                if d > depth or (i < begin + size and rows[i] < records.items[chosen[d]]):
                    work[n] = rows[i]
                    i += 1
                else:
                    work[n] = records.items[chosen[d]]
                    d += 1
                n += 1
            if not _has_old_threat(common, threats, work, np.int64(0), n, item, k, allowed, scratch):
                row = find_row(common.table, work, np.int64(0), n)
                if row < 0 or is_violating(common, row, scratch, k, allowed):
                    return True
                if n < longest:
                    depth += 1
            at += 1
    return False


@inner
def _has_old_threat(common, threats, sequence, begin, size, item, k, allowed, scratch):
    """Return whether a part of a sequence that still occurs is a threat that is still violating after the loss."""
    part = scratch.part
    for chosen in range(1, 1 << size):
        n, touched = np.int64(0), False
        for i in range(size):
            if chosen >> i & 1:
                part[n] = sequence[begin + i]
                touched |= part[n] == item
                n += 1
        m = find_row(threats.table, part, np.int64(0), n)
        if m >= 0 and threats.live[m] > 0:
            row = threats.row[m]
            if not touched or row < 0 or is_violating(common, row, scratch, k, allowed):
                return True
    return False
