"""Remove every minimal violating sequence by suppressing visits, greedily by score: Algorithm 1 of the paper.

The score of a suppression is the number of threats that it removes, divided by one more than what it costs.  A heap
holds entries for all possible suppressions; keys are never too low: whatever can raise a score pushes a new entry, with
an upper bound of the score, and what lowers one is noticed when its entry comes up.  A local suppression that comes up
and turns out to make a new violating sequence is set aside until its group changes, or a record of its group loses a
visit or a threat.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.heap import new_heap, pop, push
from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import grown
from wayveil.kernels.kcl.exact_validity import Taken, is_valid, is_violating, lose, new_scratch, settle
from wayveil.kernels.kcl.pattern_loss import lose_patterns, pattern_loss
from wayveil.kernels.kcl.projected_lists import inverted
from wayveil.kernels.kcl.suppression_state import compact, contains, new_threats, position

__all__ = ["suppress"]

Scores = namedtuple("Scores", ["aside", "gain", "cost", "speaker"])
"""What is known of local suppressions.  The first three have a cell per threat and item, laid out like the rows of the
table of threats: threat m and its item number i have the cell ``m * width + 1 + i``.  All are int64.

aside : 1 while the suppression waits, because it would make a new violating sequence, else 0
gain : the threats that it removes, never too low
cost : the records, or patterns, that it costs, never too high
speaker : one per visit, not per cell
    The first of the threats through the visit that have no other record: taking the visit out removes them all, so one
    entry in the heap speaks for all of them.  -1 where there are none.
"""

Marks = namedtuple("Marks", ["hits", "changed"])
"""Scratch, int64, one entry per threat: `hits` is zero between calls, `changed` lists what a step changed."""

_GLOBAL = -1  # in place of a threat: the item leaves all records

# The numbers of a step in the log.
_LOG_IS_GLOBAL, _LOG_ITEM, _LOG_THREAT, _LOG_GAIN, _LOG_RECORDS, _LOG_STEP = range(6)


@kernel
def suppress(records, elsewhere, violating, common, privacy, local, validity, patterns):
    """Switch visits off in ``records.alive`` until no threat is left; return the log, flat, five numbers a step.

    A step is (0 local or 1 global, item, threat or -1, threats in the score, records touched).

    Parameters
    ----------
    records : Records
    elsewhere : int64, one per item
        Records without a threat need not be at hand: so many of these have the item.  `common` counts them, too.
    violating, common : Violating, Common
        What `find_sequences` returns; the counts of `common` go down.
    privacy : Privacy
    local : bool
        Whether items may leave only the records of a threat; otherwise they leave all records.
    validity : None or kernel
        What tests a local suppression in place of `is_valid`: called with records, threats, item, threat, privacy and
        scratch, all records at hand.  Studies put the paper's own test here; published data never rest on one.
    patterns : None or Patterns
        The cost in the score is the number of records touched, or of patterns lost where these are given; then all
        records must be at hand.  Their counts go down.  Where this or `validity` is None, numba leaves the code out.
    """
    threats = new_threats(violating, common, records, elsewhere)
    item_first, item_record, _ = inverted(records)
    n_threats = threats.live.size
    n_local = records.n_items * n_threats
    scratch = new_scratch(common, records.n_values, privacy.longest)
    marks = Marks(np.zeros(n_threats, np.int64), np.empty(n_threats, np.int64))
    heap, scores = _new_scores(records, threats, patterns, marks.hits, local)
    log = np.empty(64, np.int64)
    n_log = np.int64(0)
    # Algorithm 1, lines 4 to 15.  Before each round, every suppression that is possible and not set aside has an entry
    # in the heap whose key is its score or better.  A round takes the best entry (line 5).  If its threat is gone, or
    # it waits aside, nothing is lost; if its score is lower by now, it goes back with the right key.  Otherwise it is
    # done, provided that it makes no new threat.  Each step removes a threat, and each entry that goes back has a lower
    # key, so the heap becomes empty; then no threat is left, as a global suppression is always possible.
    while heap.size[0] > 0:
        key, order = pop(heap)
        item, m = _decode(order, n_threats, n_local)
        cell = _cell(threats, m, item)
        if threats.n_of_item[item] == 0:
            continue
        if m != _GLOBAL and (threats.live[m] == 0 or scores.aside[cell] == 1):
            continue
        if m != _GLOBAL:
            compact(records, threats, m)
            if threats.live[m] > 1:
                scores.gain[cell] = _gain(records, threats, item, m, marks.hits)
            else:
                speaker, singles = _speaker(threats, position(records, threats.record[threats.first[m]], item))
                scores.gain[cell] = singles
                if speaker != m:
                    continue  # another entry speaks for this visit
            scores.cost[cell] = _cost(records, threats, patterns, item, m)
            score = scores.gain[cell] / (scores.cost[cell] + 1)
        else:
            score = _global_score(threats, patterns, item)
        if score != -key:
            if score < -key:
                heap = push(heap, -score, order)
            continue  # where it is higher, a newer entry says so
        if m != _GLOBAL:
            # Line 3: only a valid suppression is in the score table; here it is tested when it is about to be done.
            if validity is None:
                valid = is_valid(records, common, threats, item, m, privacy, scratch)
            else:
                valid = validity(records, threats, item, m, privacy, scratch)
            if not valid:
                scores.aside[cell] = 1
                continue
            taken = Taken(item, threats.record, threats.first[m], threats.listed[m])
            lose(records, common, taken, privacy.longest, scratch)
            settle(common, scratch, np.int64(1))
        group = _group(records, threats, item_first, item_record, item, m)
        log = grown(log, n_log + _LOG_STEP)
        _write_step(log, n_log, threats, item, m, scores.gain[cell], group.size)
        n_log += _LOG_STEP
        if patterns is not None:  # lines 9 and 13
            dead = np.empty(patterns.of_first[item + 1] - patterns.of_first[item], np.int64)
            n_dead = lose_patterns(records, patterns, item, group, np.int64(0), group.size, dead)
        # Lines 7, 8, 11, 12 and 15; then line 14.
        taken = Taken(item, group, np.int64(0), group.size)
        n_changed, touched, n_touched = _take_out(records, common, threats, taken, marks, privacy, scratch)
        if local:
            heap = _push_raised(records, threats, marks.changed, n_changed, scores, heap)
            heap = _push_reopened(records, threats, touched, n_touched, scores, heap)
        if patterns is not None:
            heap = _push_cheaper(threats, patterns, dead, n_dead, scores, local, heap)
        heap = _push_global(threats, patterns, item, heap)
    return log[:n_log]


@inner
def _decode(order, n_threats, n_local):
    """Return the item and the threat, or `_GLOBAL`, of an entry in the heap; see `_push_local` and `_push_global`."""
    if order < n_local:
        return order // n_threats, order % n_threats
    return order - n_local, np.int64(_GLOBAL)


@inner
def _write_step(log, at, threats, item, m, gain, n_records):
    """Write a step to the log, before it changes the counts of the threats."""
    log[at + _LOG_IS_GLOBAL] = m == _GLOBAL
    log[at + _LOG_ITEM] = item
    log[at + _LOG_THREAT] = m
    log[at + _LOG_GAIN] = gain
    log[at + _LOG_RECORDS] = n_records
    if m == _GLOBAL:  # records elsewhere lose the item as well
        log[at + _LOG_GAIN] = threats.n_of_item[item]
        log[at + _LOG_RECORDS] = threats.n_records[item]


@inner
def _new_scores(records, threats, patterns, hits, local):
    """Return the heap with an entry for every suppression, and their scores: lines 2 and 3 of Algorithm 1."""
    n_threats = threats.live.size
    width = threats.table.width
    n_visits = records.items.size
    heap = new_heap(n_threats + records.n_items + 16)
    speaker = np.empty(n_visits, np.int64)
    aside = np.zeros(n_threats * width, np.int64)
    gain = np.zeros(n_threats * width, np.int64)
    cost = np.zeros(n_threats * width, np.int64)
    if local:
        # Threats with one record: one entry per visit.
        for v in range(n_visits):
            first, singles = _speaker(threats, np.int64(v))
            speaker[v] = first
            if singles > 0:
                cell = _cell(threats, first, records.items[v])
                gain[cell] = singles
                cost[cell] = _cost(records, threats, patterns, records.items[v], first)
                heap = _push_local(threats, gain, cost, cell, heap)
        # Threats with several: one entry per item.
        for m in range(n_threats):
            if threats.live[m] > 1:
                for cell in range(m * width + 1, m * width + 1 + threats.table.rows[m * width]):
                    gain[cell] = _gain(records, threats, threats.table.rows[cell], np.int64(m), hits)
                    cost[cell] = _cost(records, threats, patterns, threats.table.rows[cell], np.int64(m))
                    heap = _push_local(threats, gain, cost, np.int64(cell), heap)
    for item in range(records.n_items):
        heap = _push_global(threats, patterns, np.int64(item), heap)
    return heap, Scores(aside, gain, cost, speaker)


@inner
def _cost(records, threats, patterns, item, m):
    """Return what it costs to take `item` out of the records of threat m, whose list must be compact."""
    if patterns is None:
        return threats.live[m]
    return pattern_loss(records, patterns, item, threats.record, threats.first[m], threats.listed[m])


@inner
def _global_score(threats, patterns, item):
    """Return the score of taking an item out of all records: |V(p)| over the records or patterns with it, plus one."""
    if patterns is None:
        return threats.n_of_item[item] / (threats.n_records[item] + 1)
    return threats.n_of_item[item] / (patterns.n_of_item[item] + 1)


@inner
def _push_global(threats, patterns, item, heap):
    """Push the global suppression of an item, if it has a threat; it comes after local ones with the same score."""
    if threats.n_of_item[item] > 0:
        score = _global_score(threats, patterns, item)
        heap = push(heap, -score, threats.n_of_item.size * threats.live.size + item)
    return heap


@inner
def _push_local(threats, gain, cost, cell, heap):
    """Push the suppression of a cell; among equal scores local ones come first, then smaller items and threats."""
    m = cell // threats.table.width
    return push(heap, -(gain[cell] / (cost[cell] + 1)), threats.table.rows[cell] * threats.live.size + m)


@inner
def _push_cheaper(threats, patterns, dead, n_dead, scores, local, heap):
    """Push what costs less because the patterns ``dead[:n_dead]`` are lost already: suppressions of their items."""
    width = threats.table.width
    rows = threats.table.rows
    if n_dead > 0 and local:
        fewer = np.zeros(patterns.n_of_item.size, np.int64)  # per item, by how much its cost falls at most
        for d in range(n_dead):
            for e in range(patterns.first[dead[d]], patterns.first[dead[d] + 1]):
                fewer[patterns.item[e]] += 1
        for m in range(threats.live.size):
            if threats.live[m] == 0:
                continue
            for cell in range(m * width + 1, m * width + 1 + rows[m * width]):
                if fewer[rows[cell]] > 0:
                    scores.cost[cell] = max(scores.cost[cell] - fewer[rows[cell]], np.int64(0))
                    if scores.aside[cell] == 0 and scores.gain[cell] > 0:
                        heap = _push_local(threats, scores.gain, scores.cost, np.int64(cell), heap)
    for d in range(n_dead):
        for e in range(patterns.first[dead[d]], patterns.first[dead[d] + 1]):
            heap = _push_global(threats, patterns, patterns.item[e], heap)
    return heap


@inner
def _cell(threats, m, item):
    """Return the cell of a threat and one of its items; 0, which belongs to none, for a global suppression."""
    if m == _GLOBAL:
        return np.int64(0)
    cell = m * threats.table.width + 1
    while threats.table.rows[cell] != item:
        cell += 1
    return cell


@inner
def _speaker(threats, v):
    """Return the first threat through visit v that has no other record, or -1, and how many such threats there are."""
    first = np.int64(-1)
    singles = np.int64(0)
    for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
        m = threats.visit_threat[x]
        if threats.live[m] == 1:
            singles += 1
            if first < 0 or m < first:
                first = m
    return first, singles


@inner
def _gain(records, threats, item, m, hits):
    """Count the threats with `item` all of whose records are records of threat m, whose list must be compact.

    The paper counts those with T(m') = T(m) (line 7); those with fewer records are removed as well.
    """
    # A threat is hit once per record of m that has it: it is removed if it is hit as often as it occurs.
    gain = np.int64(0)
    begin = threats.first[m]
    end = threats.first[m] + threats.listed[m]
    for e in range(begin, end):
        v = position(records, threats.record[e], item)
        for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
            other = threats.visit_threat[x]
            hits[other] += 1
            gain += hits[other] == threats.live[other]
    for e in range(begin, end):
        v = position(records, threats.record[e], item)
        for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
            hits[threats.visit_threat[x]] = 0
    return gain


@inner
def _group(records, threats, item_first, item_record, item, m):
    """Return the records to be changed: a copy of those of threat m, or all that still have the item."""
    if m != _GLOBAL:
        group = np.empty(threats.listed[m], np.int64)
        for x in range(group.size):
            group[x] = threats.record[threats.first[m] + x]
        return group
    group = np.empty(item_first[item + 1] - item_first[item], np.int64)
    n = np.int64(0)
    for e in range(item_first[item], item_first[item + 1]):
        if records.alive[position(records, item_record[e], item)]:
            group[n] = item_record[e]
            n += 1
    return group[:n]


@inner
def _take_out(records, common, threats, taken, marks, privacy, scratch):
    """Take an item out of a group of records, and these out of its threats.

    A common threat that is no longer violating, though some records still have it, is gone as well.  Returns the number
    of changed threats, which are listed in ``marks.changed``; and the records that lost a visit or a threat, with their
    number.
    """
    item = taken.item
    group = taken.record[taken.first : taken.first + taken.n]
    width = threats.table.width
    rows = threats.table.rows
    hits = marks.hits
    changed = marks.changed
    n_changed = np.int64(0)
    touched = np.empty(group.size, np.int64)
    n_touched = group.size
    # The visits go, and every threat through one of them loses this record.
    for y in range(group.size):
        v = position(records, group[y], item)
        touched[y] = group[y]
        records.alive[v] = 0
        threats.n_records[item] -= 1
        for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
            m = threats.visit_threat[x]
            threats.live[m] -= 1
            if hits[m] == 0:
                hits[m] = 1
                changed[n_changed] = m
                n_changed += 1
            for i in range(m * width + 1, m * width + 1 + rows[m * width]):
                if rows[i] != item:
                    _unlist(threats, position(records, group[y], rows[i]), m)
        threats.visit_n[v] = 0
    # Threats that are not violating any more go out of the records that still have them.
    for x in range(n_changed):
        m = changed[x]
        hits[m] = 0
        common_row = threats.row[m] if threats.live[m] > 0 else np.int64(-1)
        if common_row >= 0 and not is_violating(common, common_row, scratch, privacy):
            compact(records, threats, m)
            touched = grown(touched, n_touched + threats.listed[m])
            for e in range(threats.first[m], threats.first[m] + threats.listed[m]):
                touched[n_touched] = threats.record[e]
                n_touched += 1
                for i in range(m * width + 1, m * width + 1 + rows[m * width]):
                    _unlist(threats, position(records, threats.record[e], rows[i]), m)
            threats.live[m] = 0
        if threats.live[m] == 0:
            for i in range(m * width + 1, m * width + 1 + rows[m * width]):
                threats.n_of_item[rows[i]] -= 1
    return n_changed, touched, n_touched


@inner
def _unlist(threats, v, m):
    """Take threat m out of the list of visit v."""
    # The last one takes its place: the order in these lists is of no meaning.
    at = threats.visit_first[v]
    last = threats.visit_first[v] + threats.visit_n[v] - 1
    while threats.visit_threat[at] != m:
        at += 1
    threats.visit_threat[at] = threats.visit_threat[last]
    threats.visit_n[v] -= 1


@inner
def _push_raised(records, threats, changed, n_changed, scores, heap):
    """Push what a shrunk threat m can make better: suppressions for m, and those whose group may now cover m's."""
    width = threats.table.width
    rows = threats.table.rows
    gain = scores.gain
    cost = scores.cost
    for c in range(n_changed):
        m = changed[c]
        if threats.live[m] == 0:
            continue
        # One record of m is enough to look at: a group that covers all records of m covers this one.
        at = threats.first[m]  # its list need not be compact
        while not contains(records, threats.record[at], rows, m * width + 1, rows[m * width]):
            at += 1
        for i in range(m * width + 1, m * width + 1 + rows[m * width]):
            scores.aside[i] = 0
            cost[i] = 0  # never too high
            v = position(records, threats.record[at], rows[i])
            if threats.live[m] == 1:
                speaker, singles = _speaker(threats, v)
                scores.speaker[v] = speaker
                cell = _cell(threats, speaker, rows[i])
                gain[cell] = singles
                if scores.aside[cell] == 0:
                    heap = _push_local(threats, gain, cost, cell, heap)
            for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
                other = threats.visit_threat[x]
                if threats.live[other] < max(2, threats.live[m]):
                    continue  # too few records to cover those of m; those with one have a speaker
                if other == m or _covers(records, threats, other, m, at, rows[i]):
                    cell = _cell(threats, other, rows[i])
                    gain[cell] += other != m
                    if scores.aside[cell] == 0:
                        heap = _push_local(threats, gain, cost, cell, heap)
    return heap


@inner
def _covers(records, threats, other, m, at, item):
    """Return whether every record of threat m, from entry `at` of its list on, is a record of threat `other`."""
    begin = m * threats.table.width
    for e in range(at + 1, threats.first[m] + threats.listed[m]):
        if contains(records, threats.record[e], threats.table.rows, begin + 1, threats.table.rows[begin]):
            v = position(records, threats.record[e], item)
            x = threats.visit_first[v]
            end = threats.visit_first[v] + threats.visit_n[v]
            while x < end and threats.visit_threat[x] != other:
                x += 1
            if x == end:
                return False
    return True


@inner
def _push_reopened(records, threats, touched, n_touched, scores, heap):
    """Push again what was set aside and is about a touched record, and for visits whose speaker is gone."""
    for y in range(n_touched):
        for v in range(records.offsets[touched[y]], records.offsets[touched[y] + 1]):
            if records.alive[v] == 0:
                continue
            for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
                m = threats.visit_threat[x]
                cell = _cell(threats, m, records.items[v])
                if scores.aside[cell]:
                    scores.aside[cell] = 0
                    if threats.live[m] > 1 or m == scores.speaker[v]:
                        heap = _push_local(threats, scores.gain, scores.cost, cell, heap)
            speaker, singles = _speaker(threats, v)
            if speaker != scores.speaker[v]:
                scores.speaker[v] = speaker
                if singles > 0:
                    cell = _cell(threats, speaker, records.items[v])
                    scores.gain[cell] = singles
                    scores.cost[cell] = 0  # never too high; the right one is found when the entry comes up
                    heap = _push_local(threats, scores.gain, scores.cost, cell, heap)
    return heap
