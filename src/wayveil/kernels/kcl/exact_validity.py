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

__all__ = ["Scratch", "Taken", "is_valid", "is_violating", "lose", "new_scratch", "settle"]

Taken = namedtuple("Taken", ["item", "record", "first", "n"])
"""A suppression: `item` leaves the records ``record[first:first + n]`` (int64, ascending)."""

Scratch = namedtuple("Scratch", ["lost", "seen_for", "lost_having", "touched", "n_touched", "flags", "part"])
"""What common sequences would lose: written by `lose`, and cleared by `settle`.  All arrays are int64.

lost : one per common sequence
    Owners that it loses; 0 between calls.
seen_for : one per common sequence
    The last owner for whom it was counted; -1 between calls.
lost_having : one per entry of `Common.having`
    Owners with the value of the entry that it loses; 0 between calls.
touched, n_touched
    The common sequences with an item in the group: ``touched[:n_touched[0]]``; none between calls.
flags : one per sensitive value
    For an owner of several records: `_LEAVES` if one that leaves shows the value, `_STAYS` if one that stays does.
part : `longest` items
    A sequence that is being put together.
"""

_LEAVES = 1
_STAYS = 2


@inner
def new_scratch(common, n_values, longest):
    """Return counters for every common sequence."""
    n_rows = common.table.n_rows[0]
    seen_for = np.empty(n_rows, np.int64)
    for row in range(n_rows):
        seen_for[row] = -1
    return Scratch(
        np.zeros(n_rows, np.int64), seen_for, np.zeros(common.entry[n_rows], np.int64), np.empty(n_rows, np.int64),
        np.zeros(1, np.int64), np.zeros(n_values, np.int64), np.empty(longest, np.int64),
    )  # fmt: skip


@inner
def _common_with(records, common, record, item, longest, out, work):
    """List in `out` (returned, it may grow) the common sequences with `item` that the record has; also their number.

    `work` is scratch of ``2 * longest`` entries: first a sequence, then the visits that were chosen for it.
    """
    zero = np.int64(0)
    n = zero
    work[0] = item
    row = find_row(common.table, work, zero, np.int64(1))
    if row < 0:
        return out, n
    out[n] = row
    n += 1
    # Depth first over the record's other visits: work[longest:longest + depth] are chosen, and with the item they are
    # common.  A round adds the visit `at`.  Parts of common sequences are common, so a miss ends the branch; at the end
    # of the record the last chosen visit is given up for the one behind it.
    depth = zero
    at = records.offsets[record]
    end = records.offsets[record + 1]
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
        length = _merge_item(records, item, work, longest, depth + 1)
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
def _merge_item(records, item, work, longest, n_chosen):
    """Write the items of the chosen visits, and `item` among them, to the front of `work`; return how many."""
    length = np.int64(0)
    placed = False
    for d in range(n_chosen):
        other = records.items[work[longest + d]]
        if not placed and item < other:
            work[length] = item
            length += 1
            placed = True
        work[length] = other
        length += 1
    if not placed:
        work[length] = item
        length += 1
    return length


@inner
def lose(records, common, taken, longest, scratch):
    """Add up in `scratch` what common sequences lose by a suppression."""
    group = taken.record
    n_attributes = records.n_attributes
    out = np.empty(64, np.int64)
    work = np.empty(2 * longest, np.int64)
    # One owner per round: records are in the order of their owners, so the owner's records in the group are neighbours,
    # group[start:end].  A sequence loses an owner only once, however many of these records have it.
    start = taken.first
    stop = taken.first + taken.n
    while start < stop:
        who = records.owner[group[start]]
        end = start
        while end < stop and records.owner[group[end]] == who:
            end += 1
        has_one_record = records.owner_first[who + 1] - records.owner_first[who] == 1
        for g in range(start, end):
            r = group[g]
            out, n_out = _common_with(records, common, r, taken.item, longest, out, work)
            for x in range(n_out):
                row = out[x]
                if scratch.seen_for[row] < 0:
                    scratch.touched[scratch.n_touched[0]] = row
                    scratch.n_touched[0] += 1
                if scratch.seen_for[row] == who:
                    continue
                scratch.seen_for[row] = who
                if has_one_record:
                    scratch.lost[row] += 1
                    for a in range(r * n_attributes, r * n_attributes + n_attributes):
                        for e in range(common.entry[row], common.entry[row + 1]):
                            if common.value[e] == records.sensitive[a]:
                                scratch.lost_having[e] += 1
                else:
                    _lose_owner(records, common, row, who, Taken(taken.item, group, start, end - start), scratch)
        start = end


@inner
def _lose_owner(records, common, row, who, taken, scratch):
    """Do the same for an owner of several records: lost is what none of the records that stay still shows.

    The records of `taken`, all of this owner, leave the sequence `row`.
    """
    end = taken.first + taken.n
    begin = row * common.table.width
    n_attributes = records.n_attributes
    for e in range(common.entry[row], common.entry[row + 1]):
        scratch.flags[common.value[e]] = 0
    # Both lists are ascending: g is the next record of the owner that leaves.
    keeps = False
    g = taken.first
    for r in range(records.owner_first[who], records.owner_first[who + 1]):
        leaves = g < end and taken.record[g] == r
        g += leaves
        if contains(records, r, common.table.rows, begin + 1, common.table.rows[begin]):
            keeps |= not leaves
            for a in range(r * n_attributes, r * n_attributes + n_attributes):
                if records.sensitive[a] >= 0:
                    scratch.flags[records.sensitive[a]] |= _LEAVES if leaves else _STAYS
    scratch.lost[row] += not keeps
    for e in range(common.entry[row], common.entry[row + 1]):
        scratch.lost_having[e] += scratch.flags[common.value[e]] == _LEAVES


@inner
def settle(common, scratch, apply):
    """Clear what `lose` counted; where `apply` is 1, subtract it first."""
    for x in range(scratch.n_touched[0]):
        row = scratch.touched[x]
        common.support[row] -= apply * scratch.lost[row]
        scratch.lost[row] = 0
        scratch.seen_for[row] = -1
        for e in range(common.entry[row], common.entry[row + 1]):
            common.having[e] -= apply * scratch.lost_having[e]
            scratch.lost_having[e] = 0
    scratch.n_touched[0] = 0


@inner
def is_violating(common, row, scratch, privacy):
    """Return whether a common sequence is violating once it has lost what `scratch` says (Definition 4.1)."""
    owners = common.support[row] - scratch.lost[row]
    violating = 0 < owners < privacy.k  # what nobody has any more is no sequence of T
    for e in range(common.entry[row], common.entry[row + 1]):
        violating |= common.having[e] - scratch.lost_having[e] > privacy.allowed[owners]
    return violating


@kernel
def is_valid(records, common, threats, item, threat, privacy, scratch):
    """Return whether taking `item` out of the records of `threat` makes no new minimal violating sequence.

    The list of `threat` must be compact.  O(occurrences of common sequences with the item in the group).
    """
    taken = Taken(item, threats.record, threats.first[threat], threats.listed[threat])
    lose(records, common, taken, privacy.longest, scratch)
    width = common.table.width
    rows = common.table.rows
    # Every common sequence that loses something is looked at, until one of them decides.  Nothing else can change: what
    # is not common is violating before and after, and its threats do not end here but in the second case.
    valid = True
    for x in range(scratch.n_touched[0]):
        row = scratch.touched[x]
        if not valid:
            break
        begin = row * width + 1
        length = rows[row * width]
        if is_violating(common, row, scratch, privacy):
            # The first way: it is violating afterwards.  A clean one was not before, and has no threat in it.
            sequence = rows[begin : begin + length]
            valid = common.clean[row] == 0 and _has_old_threat(common, threats, sequence, item, privacy, scratch)
        elif common.clean[row] == 0 and common.support[row] > scratch.lost[row]:
            # The second way: perhaps it is a threat that ends, though somebody still has it.
            old = find_row(threats.table, rows, begin, length)
            if old >= 0 and threats.live[old] > 0 and length < privacy.longest:
                valid = not _uncovers(records, common, threats, old, taken, privacy, scratch)
    settle(common, scratch, np.int64(0))
    return valid


@inner
def _uncovers(records, common, threats, old, taken, privacy, scratch):
    """Return whether a violating sequence was not minimal only because of the threat `old`, which ends here.

    `old` is no longer violating but still occurs, in records that are not `taken`, as these lose the item.
    """
    width = threats.table.width
    rows = threats.table.rows
    begin = old * width + 1
    size = rows[old * width]
    work = np.empty(privacy.longest, np.int64)
    chosen = np.empty(privacy.longest, np.int64)
    g = taken.first
    g_end = taken.first + taken.n
    for e in range(threats.first[old], threats.first[old] + threats.listed[old]):
        r = threats.record[e]
        # Both lists are ascending: g is the first record of the group that is not before r.
        while g < g_end and taken.record[g] < r:
            g += 1
        if (g < g_end and taken.record[g] == r) or not contains(records, r, rows, begin, size):
            continue
        # What grows from `old` in this record is judged depth first: chosen[:depth] are the visits beside it.  A
        # sequence that contains another threat ends a branch, as all that grow from it do; one that is not common, or
        # violating otherwise, is what was looked for.
        depth = np.int64(0)
        at = records.offsets[r]
        end = records.offsets[r + 1]
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
            n = _merge_visits(records, rows, begin, size, chosen, depth + 1, work)
            if not _has_old_threat(common, threats, work[:n], taken.item, privacy, scratch):
                row = find_row(common.table, work, np.int64(0), n)
                if row < 0 or is_violating(common, row, scratch, privacy):
                    return True
                if n < privacy.longest:
                    depth += 1
            at += 1
    return False


@inner
def _merge_visits(records, rows, begin, size, chosen, n_chosen, work):
    """Write ``rows[begin:begin + size]`` and the items of the chosen visits, ascending, to `work`; return how many."""
    i = begin
    d = np.int64(0)
    n = np.int64(0)
    while i < begin + size or d < n_chosen:
        if d == n_chosen or (i < begin + size and rows[i] < records.items[chosen[d]]):
            work[n] = rows[i]
            i += 1
        else:
            work[n] = records.items[chosen[d]]
            d += 1
        n += 1
    return n


@inner
def _has_old_threat(common, threats, sequence, item, privacy, scratch):
    """Return whether a part of a sequence is a threat that is still violating after the loss."""
    part = scratch.part
    # All parts, by the bits of a number: sequences have at most L items, which are few.
    for subset in range(1, 1 << sequence.size):
        n = np.int64(0)
        has_item = False
        for i in range(sequence.size):
            if subset >> i & 1:
                part[n] = sequence[i]
                has_item |= part[n] == item
                n += 1
        threat = find_row(threats.table, part, np.int64(0), n)
        if threat >= 0 and threats.live[threat] > 0:
            row = threats.row[threat]
            # without the item nothing changes; one that is not common stays violating with fewer owners
            if not has_item or row < 0 or is_violating(common, row, scratch, privacy):
                return True
    return False
