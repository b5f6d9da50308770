"""The validity test of a local suppression as printed in the paper (Procedure 2), kept for study.

It is wrong in both directions: from three known visits on it accepts suppressions that make new violating sequences,
and it rejects some that make none.  What rests on it may be published only if the verifier agrees.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import has_part
from wayveil.kernels.kcl.suppression_state import contains

__all__ = ["is_valid_as_printed"]


@kernel
def is_valid_as_printed(records, threats, item, threat, longest, k, allowed, scratch):
    """Return what Procedure 2 returns for `item` in `threat`; O(records x threats x sequences), for small tables."""
    first, size, n_records = threats.first[threat], threats.listed[threat], records.offsets.size - 1
    rest, n_rest = np.empty(n_records, np.int64), np.int64(0)  # T(p) - T(m)
    scratch.part[0] = item
    for r in range(n_records):
        inside = False
        for e in range(first, first + size):
            inside |= threats.record[e] == r
        if not inside and contains(records, np.int64(r), scratch.part, np.int64(0), np.int64(1)):
            rest[n_rest] = r
            n_rest += 1
    shared, n_shared = np.empty(records.meta[0], np.int64), np.int64(0)
    for other in range(records.meta[0]):  # lines 1 to 3
        scratch.part[0] = other
        in_group, in_rest = False, False
        for e in range(first, first + size):
            in_group |= contains(records, threats.record[e], scratch.part, np.int64(0), np.int64(1))
        for x in range(n_rest):
            in_rest |= contains(records, rest[x], scratch.part, np.int64(0), np.int64(1))
        if in_group and in_rest and (other == item or not _is_named(threats, other, item)):
            shared[n_shared] = other
            n_shared += 1
    chosen, sequence = np.empty(longest, np.int64), np.empty(longest, np.int64)
    listed, depth, at = np.empty(n_rest, np.int64), np.int64(0), np.int64(0)
    while True:  # line 4, every sequence of shared items; lines 5 to 8, each counted in the rest
        if at == n_shared:
            if depth == 0:
                return True
            depth -= 1
            at = chosen[depth] + 1
            continue
        chosen[depth], sequence[depth] = at, shared[at]
        n = np.int64(0)
        for x in range(n_rest):
            if contains(records, rest[x], sequence, np.int64(0), depth + 1):
                listed[n] = rest[x]
                n += 1
        if n > 0 and not _covers_other_threat(threats, sequence, depth + 1, item):
            if _judge(records, listed, n, k, allowed):
                return False
            if depth + 1 < longest:
                depth += 1
        at += 1


@inner
def _is_named(threats, other, item):
    """Return whether `other` is a threat by itself, or stands in one together with `item`."""
    width = threats.table.meta[1]
    for m in range(threats.table.meta[0]):
        if threats.live[m] > 0:
            length, has_other, has_item = threats.table.rows[m * width], False, False
            for i in range(m * width + 1, m * width + 1 + length):
                has_other |= threats.table.rows[i] == other
                has_item |= threats.table.rows[i] == item
            if has_other and (length == 1 or has_item):
                return True
    return False


@inner
def _covers_other_threat(threats, sequence, n, item):
    """Return whether the sequence contains a threat without `item`."""
    width = threats.table.meta[1]
    for m in range(threats.table.meta[0]):
        length, has_item = threats.table.rows[m * width], False
        for i in range(m * width + 1, m * width + 1 + length):
            has_item |= threats.table.rows[i] == item
        alive = threats.live[m] > 0 and not has_item
        if alive and has_part(sequence, np.int64(0), n, threats.table.rows, m * width + 1, length):
            return True
    return False


@inner
def _judge(records, listed, n, k, allowed):
    """Return whether the records ``listed[:n]`` (ascending) form a violating group."""
    n_values, n_attributes = records.meta[1], records.meta[2]
    having, last = np.zeros(n_values, np.int64), np.zeros(n_values, np.int64)
    owners, before = np.int64(0), np.int64(-1)
    for e in range(n):
        r = listed[e]
        who = records.owner[r]
        owners += who != before
        before = who
        for a in range(r * n_attributes, r * n_attributes + n_attributes):
            s = records.sensitive[a]
            if s >= 0 and last[s] != who + 1:
                last[s] = who + 1
                having[s] += 1
    violating = owners < k
    for s in range(n_values):
        violating |= having[s] > allowed[owners]
    return violating
