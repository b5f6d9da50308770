"""Remove every minimal violating sequence by suppressing visits, greedily by score.

The score of a suppression is the number of threats that it removes, divided by one more than what it costs.  A heap
holds entries for all possible suppressions; keys are never too low: whatever can raise a score pushes a new entry, with
an upper bound of the score, and what lowers one is noticed when its entry comes up.  A local suppression that comes up
and turns out to make a new violating sequence is set aside until its group changes, or a record of its group loses a
visit or a threat.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import grown
from wayveil.kernels.heap import new_heap, pop, push
from wayveil.kernels.kcl.exact_validity import is_valid, is_violating, lose, new_scratch, settle
from wayveil.kernels.kcl.pattern_loss import lose_patterns, pattern_loss
from wayveil.kernels.kcl.suppression_state import compact, contains, new_threats, position
from wayveil.kernels.kcl_lists import inverted
from wayveil.kernels.kcl_literal import is_valid_as_printed

__all__ = ["suppress"]

Queue = namedtuple("Queue", ["heap", "aside", "gain", "cost", "speaker"])
"""Suppressions by score.  `aside`, `gain` (never too low) and `cost` (never too high) have one cell per threat and
item, laid out like the rows of the table of threats; `speaker` has one entry per visit."""


@kernel
def suppress(records, elsewhere, found, common, longest, k, allowed, local, printed, patterns):
    """Switch visits off in ``records.alive`` until no threat is left; return the log, flat, five numbers a step.

    Records without a threat need not be at hand: ``elsewhere[i]`` counts those with item i, and `common` counts them,
    too.  A step is (0 local or 1 global, item, threat or -1, threats in the score, records touched).  The cost in the
    score is the number of records touched, or of `patterns` lost where these are given; then all must be at hand.
    `printed` is None, or True for the validity test as printed in the paper, for which all must be at hand as well.
    Where `printed` or `patterns` is None, numba leaves their code out.
    """
    threats = new_threats(found, common, records, elsewhere)
    inv, inv_record, _ = inverted(records)
    n_threats = threats.live.size
    scratch = new_scratch(common, records.meta[1], longest)
    hits, changed = np.zeros(n_threats, np.int64), np.empty(n_threats, np.int64)
    queue = _new_queue(records, threats, patterns, hits, local)
    heap, aside, gain, cost = queue.heap, queue.aside, queue.gain, queue.cost
    log, n_log, n_local = np.empty(64, np.int64), np.int64(0), records.meta[0] * n_threats
    while heap.size[0] > 0:
        key, order = pop(heap)
        item, m = (order // n_threats, order % n_threats) if order < n_local else (order - n_local, np.int64(-1))
        cell = _cell(threats, m, item)
        if threats.n_of_item[item] == 0 or (m >= 0 and (threats.live[m] == 0 or aside[cell] == 1)):
            continue
        if m >= 0:
            compact(records, threats, m)
            if threats.live[m] > 1:
                gain[cell] = _gain(records, threats, item, m, hits)
            else:
                first, gain[cell] = _speaker(threats, position(records, threats.record[threats.first[m]], item))
                if first != m:
                    continue
            cost[cell] = _cost(records, threats, patterns, item, m)
            score = gain[cell] / (cost[cell] + 1)
        else:
            score = _global_score(threats, patterns, item)
        if score != -key:
            if score < -key:
                heap = push(heap, -score, order)
            continue
        if m >= 0:
            if printed is None:
                valid = is_valid(records, common, threats, item, m, longest, k, allowed, scratch)
            else:
                valid = is_valid_as_printed(records, threats, item, m, longest, k, allowed, scratch)
            if not valid:
                aside[cell] = 1
                continue
            lose(records, common, item, threats.record, threats.first[m], threats.listed[m], longest, scratch)
            settle(common, scratch, np.int64(1))
        group = _group(records, threats, inv, inv_record, item, m)
        log = grown(log, n_log + 5)
        log[n_log], log[n_log + 1], log[n_log + 2] = m < 0, item, m
        log[n_log + 3], log[n_log + 4] = gain[cell], group.size
        if m < 0:  # records elsewhere lose the item as well
            log[n_log + 3], log[n_log + 4] = threats.n_of_item[item], threats.n_records[item]
        n_log += 5
        if patterns is not None:
            dead = np.empty(patterns.of_first[item + 1] - patterns.of_first[item], np.int64)
            n_dead = lose_patterns(records, patterns, item, group, np.int64(0), group.size, dead)
        n_changed, touched, n_touched = _take_out(
            records, common, threats, item, group, changed, hits, k, allowed, scratch
        )
        if local:
            heap = _push_raised(records, threats, changed, n_changed, queue, heap)
            heap = _push_reopened(records, threats, touched, n_touched, queue, heap)
        if patterns is not None:
            heap = _push_cheaper(threats, patterns, dead, n_dead, queue, local, heap)
        heap = _push_global(threats, patterns, item, heap)
    return log[:n_log]


@inner
def _new_queue(records, threats, patterns, hits, local):
    """Return the queue with an entry for every suppression."""
    n_threats, width, n_rows = threats.live.size, threats.table.meta[1], records.items.size
    heap, speaker = new_heap(n_threats + records.meta[0] + 16), np.empty(n_rows, np.int64)
    aside, gain = np.zeros(n_threats * width, np.int64), np.zeros(n_threats * width, np.int64)
    cost = np.zeros(n_threats * width, np.int64)
    if local:
        for v in range(n_rows):
            speaker[v], singles = _speaker(threats, np.int64(v))
            if singles > 0:
                cell = _cell(threats, speaker[v], records.items[v])
                gain[cell] = singles
                cost[cell] = _cost(records, threats, patterns, records.items[v], speaker[v])
                heap = _push_local(threats, gain, cost, cell, heap)
        for m in range(n_threats):
            if threats.live[m] > 1:
                for cell in range(m * width + 1, m * width + 1 + threats.table.rows[m * width]):
                    gain[cell] = _gain(records, threats, threats.table.rows[cell], np.int64(m), hits)
                    cost[cell] = _cost(records, threats, patterns, threats.table.rows[cell], np.int64(m))
                    heap = _push_local(threats, gain, cost, np.int64(cell), heap)
    for item in range(records.meta[0]):
        heap = _push_global(threats, patterns, np.int64(item), heap)
    return Queue(heap, aside, gain, cost, speaker)


@inner
def _cost(records, threats, patterns, item, m):
    """Return what it costs to take `item` out of the records of threat m, whose list must be compact."""
    if patterns is None:
        return threats.live[m]
    return pattern_loss(records, patterns, item, threats.record, threats.first[m], threats.listed[m])


@inner
def _global_score(threats, patterns, item):
    if patterns is None:
        return threats.n_of_item[item] / (threats.n_records[item] + 1)
    return threats.n_of_item[item] / (patterns.n_of_item[item] + 1)


@inner
def _push_global(threats, patterns, item, heap):
    if threats.n_of_item[item] > 0:
        score = _global_score(threats, patterns, item)
        heap = push(heap, -score, threats.n_of_item.size * threats.live.size + item)
    return heap


@inner
def _push_local(threats, gain, cost, cell, heap):
    """Push the suppression of a cell; among equal scores local ones come first, then smaller items and threats."""
    m = cell // threats.table.meta[1]
    return push(heap, -(gain[cell] / (cost[cell] + 1)), threats.table.rows[cell] * threats.live.size + m)


@inner
def _push_cheaper(threats, patterns, dead, n_dead, queue, local, heap):
    """Push what costs less because a pattern is lost already: every suppression of one of its items."""
    width, rows = threats.table.meta[1], threats.table.rows
    if n_dead > 0 and local:
        fewer = np.zeros(patterns.n_of_item.size, np.int64)
        for d in range(n_dead):
            for e in range(patterns.first[dead[d]], patterns.first[dead[d] + 1]):
                fewer[patterns.item[e]] += 1
        for m in range(threats.live.size):
            if threats.live[m] > 0:
                for cell in range(m * width + 1, m * width + 1 + rows[m * width]):
                    if fewer[rows[cell]] > 0:
                        queue.cost[cell] = max(queue.cost[cell] - fewer[rows[cell]], np.int64(0))
                        if queue.aside[cell] == 0 and queue.gain[cell] > 0:
                            heap = _push_local(threats, queue.gain, queue.cost, np.int64(cell), heap)
    for d in range(n_dead):
        for e in range(patterns.first[dead[d]], patterns.first[dead[d] + 1]):
            heap = _push_global(threats, patterns, patterns.item[e], heap)
    return heap


@inner
def _cell(threats, m, item):
    """Return the cell of a threat and one of its items; 0, which belongs to none, where m is -1."""
    if m < 0:
        return np.int64(0)
    cell = m * threats.table.meta[1] + 1
    while threats.table.rows[cell] != item:
        cell += 1
    return cell


@inner
def _speaker(threats, v):
    """Return the first threat through visit v that has no other record, or -1, and how many such threats there are.

    Taking the visit out removes them all, so one entry in the heap speaks for them.
    """
    first, singles = np.int64(-1), np.int64(0)
    for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
        m = threats.visit_threat[x]
        if threats.live[m] == 1:
            singles += 1
            if first < 0 or m < first:
                first = m
    return first, singles


@inner
def _gain(records, threats, item, m, hits):
    """Count the threats with `item` all of whose records are records of threat m, whose list must be compact."""
    gain, begin, end = np.int64(0), threats.first[m], threats.first[m] + threats.listed[m]
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
def _group(records, threats, inv, inv_record, item, m):
    """Return a copy of the records of threat m, or of all records that still have the item where m is -1."""
    if m >= 0:
        group = np.empty(threats.listed[m], np.int64)
        for x in range(group.size):
            group[x] = threats.record[threats.first[m] + x]
        return group
    group, n = np.empty(inv[item + 1] - inv[item], np.int64), np.int64(0)
    for e in range(inv[item], inv[item + 1]):
        if records.alive[position(records, inv_record[e], item)]:
            group[n] = inv_record[e]
            n += 1
    return group[:n]


@inner
def _take_out(records, common, threats, item, group, changed, hits, k, allowed, scratch):
    """Take `item` out of the records `group`, and these out of its threats.

    A common threat that is no longer violating, though some records still have it, is gone as well.  Returns the number
    of changed threats, which are listed in `changed`; and the records that lost a visit or a threat, with their number.
    """
    touched, n_touched = np.empty(group.size, np.int64), group.size
    n_changed, width, rows = np.int64(0), threats.table.meta[1], threats.table.rows
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
    for c in range(n_changed):
        m = changed[c]
        hits[m] = 0
        common_row = threats.row[m] if threats.live[m] > 0 else np.int64(-1)
        if common_row >= 0 and not is_violating(common, common_row, scratch, k, allowed):
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
    at, last = threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v] - 1
    while threats.visit_threat[at] != m:
        at += 1
    threats.visit_threat[at] = threats.visit_threat[last]
    threats.visit_n[v] -= 1


@inner
def _push_raised(records, threats, changed, n_changed, queue, heap):
    """Push what a shrunk threat m can make better: suppressions for m, and those whose group may now cover m's."""
    width, rows, gain, cost = threats.table.meta[1], threats.table.rows, queue.gain, queue.cost
    for c in range(n_changed):
        m = changed[c]
        if threats.live[m] == 0:
            continue
        at = threats.first[m]
        while not contains(records, threats.record[at], rows, m * width + 1, rows[m * width]):
            at += 1
        for i in range(m * width + 1, m * width + 1 + rows[m * width]):
            queue.aside[i], cost[i] = 0, 0
            # a group that covers all records of m covers this one
            v = position(records, threats.record[at], rows[i])
            if threats.live[m] == 1:
                queue.speaker[v], singles = _speaker(threats, v)
                cell = _cell(threats, queue.speaker[v], rows[i])
                gain[cell] = singles
                if queue.aside[cell] == 0:
                    heap = _push_local(threats, gain, cost, cell, heap)
            for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
                other = threats.visit_threat[x]
                if threats.live[other] < max(2, threats.live[m]):
                    continue
                if other == m or _covers(records, threats, other, m, at, rows[i]):
                    cell = _cell(threats, other, rows[i])
                    gain[cell] += other != m
                    if queue.aside[cell] == 0:
                        heap = _push_local(threats, gain, cost, cell, heap)
    return heap


@inner
def _covers(records, threats, other, m, at, item):
    """Return whether every record of threat m, from entry `at` of its list on, is a record of threat `other`."""
    begin = m * threats.table.meta[1]
    for e in range(at + 1, threats.first[m] + threats.listed[m]):
        if contains(records, threats.record[e], threats.table.rows, begin + 1, threats.table.rows[begin]):
            v = position(records, threats.record[e], item)
            x, end = threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]
            while x < end and threats.visit_threat[x] != other:
                x += 1
            if x == end:
                return False
    return True


@inner
def _push_reopened(records, threats, touched, n_touched, queue, heap):
    """Push again what was set aside and is about a touched record, and for visits whose speaker is gone."""
    for y in range(n_touched):
        for v in range(records.offsets[touched[y]], records.offsets[touched[y] + 1]):
            if records.alive[v] == 0:
                continue
            for x in range(threats.visit_first[v], threats.visit_first[v] + threats.visit_n[v]):
                m = threats.visit_threat[x]
                cell = _cell(threats, m, records.items[v])
                if queue.aside[cell]:
                    queue.aside[cell] = 0
                    if threats.live[m] > 1 or m == queue.speaker[v]:
                        heap = _push_local(threats, queue.gain, queue.cost, cell, heap)
            first, singles = _speaker(threats, v)
            if first != queue.speaker[v]:
                queue.speaker[v] = first
                if singles > 0:
                    cell = _cell(threats, first, records.items[v])
                    queue.gain[cell], queue.cost[cell] = singles, 0
                    heap = _push_local(threats, queue.gain, queue.cost, cell, heap)
    return heap
