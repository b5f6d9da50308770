"""Remove every minimal violating sequence by suppressing visits, greedily by score.

The score of a suppression is the number of threats that it removes, divided by one more than what it costs.  A heap
holds one entry per possible suppression; keys are never too low: whatever can raise a score pushes a new entry, and
what lowers one is noticed when its entry comes up.  A local suppression that comes up and turns out to make a new
violating sequence is set aside until a record that it touches changes.
"""

from __future__ import annotations

import heapq

import numpy as np

from wayveil.kernels.jit import kernel
from wayveil.kernels.kcl_find import inverted
from wayveil.kernels.kcl_literal import is_valid_as_printed
from wayveil.kernels.kcl_state import new_threats, position
from wayveil.kernels.kcl_validity import is_valid, is_violating, lose, new_scratch, settle
from wayveil.kernels.sequence_table import grown

__all__ = ["suppress"]

LOCAL, GLOBAL = np.int64(0), np.int64(1)


@kernel
def suppress(records, found, common, longest, k, allowed, local, printed):
    """Switch visits off in ``records.alive`` until no threat is left; return the log, flat, five numbers a step.

    A step is (0 local or 1 global, item, threat or -1, threats in the score, records touched).  `printed` is None, or
    True for the validity test as printed in the paper; None lets numba leave that code out.
    """
    threats = new_threats(found, common, records)
    inv, inv_record, _ = inverted(records)
    n_threats, width = threats.size.size, threats.table.meta[1]
    scratch = new_scratch(common, records.meta[1], longest)
    aside, hits = np.zeros(n_threats * width, np.int64), np.zeros(n_threats, np.int64)
    changed = np.empty(n_threats, np.int64)
    heap = [(0.0, np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    if local:
        for m in range(n_threats):
            for i in range(m * width + 1, m * width + 1 + threats.table.rows[m * width]):
                heap.append(_local_entry(records, threats, threats.table.rows[i], np.int64(m), hits))
    for item in range(records.meta[0]):
        if threats.n_of_item[item] > 0:
            heap.append(_global_entry(threats, np.int64(item)))
    heapq.heapify(heap)
    log, n_log = np.empty(64, np.int64), np.int64(0)
    while len(heap) > 0:
        entry = heapq.heappop(heap)
        kind, item, m = entry[1], entry[2], entry[3]
        if threats.n_of_item[item] == 0:
            continue
        if kind == LOCAL:
            if threats.size[m] == 0 or aside[_cell(threats, m, item)]:
                continue
            now = _local_entry(records, threats, item, m, hits)
        else:
            now = _global_entry(threats, item)
        if now[0] != entry[0]:
            if now[0] > entry[0]:
                heapq.heappush(heap, now)
            continue
        if kind == LOCAL:
            if printed is None:
                valid = is_valid(records, common, threats, item, m, longest, k, allowed, scratch)
            else:
                valid = is_valid_as_printed(records, threats, item, m, longest, k, allowed, scratch)
            if not valid:
                aside[_cell(threats, m, item)] = 1
                continue
            lose(records, common, item, threats.record, threats.first[m], threats.size[m], longest, scratch)
            settle(common, scratch, np.int64(1))
        group = _group(records, threats, inv, inv_record, item, m)
        log = grown(log, n_log + 5)
        log[n_log], log[n_log + 1], log[n_log + 2] = kind, item, m
        log[n_log + 3], log[n_log + 4] = np.int64(round(-entry[0] * (group.size + 1))), group.size
        n_log += 5
        n_changed = _take_out(records, common, threats, item, group, changed, hits, k, allowed, scratch)
        if local:
            _push_raised(records, threats, changed, n_changed, aside, hits, heap)
            _push_reopened(records, threats, group, aside, hits, heap)
            if threats.n_of_item[item] > 0:
                heapq.heappush(heap, _global_entry(threats, item))
    return log[:n_log]


@kernel
def _global_entry(threats, item):
    score = threats.n_of_item[item] / (threats.n_records[item] + 1)
    return -score, GLOBAL, item, np.int64(-1)


@kernel
def _local_entry(records, threats, item, m, hits):
    """Return the heap entry for taking `item` out of the records of threat m; `hits` is scratch, left zero.

    It removes the threats with the item all of whose records are records of m.
    """
    gain, begin, end = np.int64(0), threats.first[m], threats.first[m] + threats.size[m]
    for e in range(begin, end):
        v = position(records, threats.record[e], item)
        for x in range(threats.visit_first[v], threats.visit_first[v + 1]):
            other = threats.visit_threat[x]
            hits[other] += 1
            gain += hits[other] == threats.size[other]
    for e in range(begin, end):
        v = position(records, threats.record[e], item)
        for x in range(threats.visit_first[v], threats.visit_first[v + 1]):
            hits[threats.visit_threat[x]] = 0
    return -(gain / (threats.size[m] + 1)), LOCAL, item, m


@kernel
def _cell(threats, m, item):
    """Return where the pair (threat, item) stands in arrays that are laid out like the rows of the table."""
    at = m * threats.table.meta[1] + 1
    while threats.table.rows[at] != item:
        at += 1
    return at


@kernel
def _group(records, threats, inv, inv_record, item, m):
    """Return a copy of the records of threat m, or of all records that still have the item where m is -1."""
    if m >= 0:
        group = np.empty(threats.size[m], np.int64)
        for x in range(group.size):
            group[x] = threats.record[threats.first[m] + x]
        return group
    group, n = np.empty(threats.n_records[item], np.int64), np.int64(0)
    for e in range(inv[item], inv[item + 1]):
        if records.alive[position(records, inv_record[e], item)]:
            group[n] = inv_record[e]
            n += 1
    return group


@kernel
def _take_out(records, common, threats, item, group, changed, hits, k, allowed, scratch):
    """Take `item` out of the records `group` and these out of its threats; list the changed ones, return their number.

    A common threat that is no longer violating, though some records still have it, is gone as well.
    """
    n_changed, width = np.int64(0), threats.table.meta[1]
    for y in range(group.size):
        v = position(records, group[y], item)
        records.alive[v] = 0
        threats.n_records[item] -= 1
        for x in range(threats.visit_first[v], threats.visit_first[v + 1]):
            m = threats.visit_threat[x]
            if threats.size[m] > 0 and hits[m] == 0:
                hits[m] = 1
                changed[n_changed] = m
                n_changed += 1
    for c in range(n_changed):
        m = changed[c]
        hits[m] = 0
        begin, n = threats.first[m], np.int64(0)
        for e in range(begin, begin + threats.size[m]):
            if records.alive[position(records, threats.record[e], item)]:
                threats.record[begin + n] = threats.record[e]
                n += 1
        if threats.row[m] >= 0 and n > 0 and not is_violating(common, threats.row[m], scratch, k, allowed):
            n = np.int64(0)
        threats.size[m] = n
        if n == 0:
            for i in range(m * width + 1, m * width + 1 + threats.table.rows[m * width]):
                threats.n_of_item[threats.table.rows[i]] -= 1
    return n_changed


@kernel
def _push_raised(records, threats, changed, n_changed, aside, hits, heap):
    """Push what a shrunk threat m can make better: suppressions for m, and those whose group now covers m's."""
    for c in range(n_changed):
        m = changed[c]
        if threats.size[m] == 0:
            continue
        at = m * threats.table.meta[1]
        for i in range(at + 1, at + 1 + threats.table.rows[at]):
            item = threats.table.rows[i]
            # a group that covers all records of m covers its first one
            v = position(records, threats.record[threats.first[m]], item)
            for x in range(threats.visit_first[v], threats.visit_first[v + 1]):
                other = threats.visit_threat[x]
                if threats.size[other] > 0 and not aside[_cell(threats, other, item)]:
                    heapq.heappush(heap, _local_entry(records, threats, item, other, hits))


@kernel
def _push_reopened(records, threats, group, aside, hits, heap):
    """Push again what was set aside and touches a record of `group`."""
    for y in range(group.size):
        for v in range(records.offsets[group[y]], records.offsets[group[y] + 1]):
            if records.alive[v] == 0:
                continue
            item = records.items[v]
            for x in range(threats.visit_first[v], threats.visit_first[v + 1]):
                m = threats.visit_threat[x]
                if threats.size[m] > 0 and aside[_cell(threats, m, item)]:
                    aside[_cell(threats, m, item)] = 0
                    heapq.heappush(heap, _local_entry(records, threats, item, m, hits))
