"""The validity test of a local suppression as printed in the paper (Procedure 2), kept for study.

It is wrong in both directions: from three known visits on it accepts suppressions that make new violating sequences,
and it rejects some that make none.  The product tests by `wayveil.kernels.kcl.exact_validity`.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.common.sequence_table import has_part
from wayveil.kernels.kcl.suppression_state import contains

__all__ = ["is_valid_as_printed"]


@kernel
def is_valid_as_printed(records, threats, item, threat, privacy, scratch):
    """Return what Procedure 2 returns for `item` (p) in `threat` (m), whose list must be compact.

    `scratch` is that of `exact_validity`; only its `part` is used.  O(records x threats x sequences), for small tables.
    """
    group = threats.record[threats.first[threat] : threats.first[threat] + threats.listed[threat]]  # T(m)
    rest, n_rest = _records_outside(records, group, item, scratch.part)  # T(p) - T(m)

    # Lines 1 to 3: P, the doublets on both sides, without those of the MVS of size one and of the MVS with p.
    shared = np.empty(records.n_items, np.int64)
    n_shared = np.int64(0)
    for other in range(records.n_items):
        in_group = _have_item(records, group, group.size, other, scratch.part)
        in_rest = _have_item(records, rest, n_rest, other, scratch.part)
        if in_group and in_rest and (other == item or not _is_named(threats, other, item)):
            shared[n_shared] = other
            n_shared += 1

    # Line 4: every sequence of shared items, depth first, as sequence[:depth + 1] with the numbers chosen[:depth + 1].
    # Lines 5 to 8: it is counted in the rest; the first that is violating there decides.  A sequence that nobody has,
    # or that contains an MVS without p, is in no longer one that counts, so that it is not grown.
    longest = privacy.longest
    chosen = np.empty(longest, np.int64)
    sequence = np.empty(longest, np.int64)
    having = np.empty(n_rest, np.int64)
    depth = np.int64(0)
    at = np.int64(0)
    while True:
        if at == n_shared:
            if depth == 0:
                return True  # line 9
            depth -= 1
            at = chosen[depth] + 1
            continue
        chosen[depth] = at
        sequence[depth] = shared[at]
        n_having = np.int64(0)
        for x in range(n_rest):
            if contains(records, rest[x], sequence, np.int64(0), depth + 1):
                having[n_having] = rest[x]
                n_having += 1
        if n_having > 0 and not _covers_other_threat(threats, sequence, depth + 1, item):
            if _is_violating_group(records, having, n_having, privacy):
                return False
            if depth + 1 < longest:
                depth += 1
        at += 1


@inner
def _records_outside(records, group, item, part):
    """Return the records with `item` that are not in the group, and their number; `part` is scratch."""
    n_records = records.offsets.size - 1
    rest = np.empty(n_records, np.int64)
    n_rest = np.int64(0)
    part[0] = item
    for r in range(n_records):
        inside = False
        for e in range(group.size):
            inside |= group[e] == r
        if not inside and contains(records, np.int64(r), part, np.int64(0), np.int64(1)):
            rest[n_rest] = r
            n_rest += 1
    return rest, n_rest


@inner
def _have_item(records, group, n, item, part):
    """Return whether one of the records ``group[:n]`` has an item; `part` is scratch."""
    part[0] = item
    found = False
    for e in range(n):
        found |= contains(records, group[e], part, np.int64(0), np.int64(1))
    return found


@inner
def _is_named(threats, other, item):
    """Return whether `other` is a threat by itself, or stands in one together with `item`: line 2."""
    width = threats.table.width
    for m in range(threats.table.n_rows[0]):
        if threats.live[m] > 0:
            length = threats.table.rows[m * width]
            has_other = _has(threats, m, other)
            has_item = _has(threats, m, item)
            if has_other and (length == 1 or has_item):
                return True
    return False


@inner
def _has(threats, m, item):
    """Return whether an item stands in threat m."""
    begin = m * threats.table.width + 1
    found = False
    for i in range(begin, begin + threats.table.rows[begin - 1]):
        found |= threats.table.rows[i] == item
    return found


@inner
def _covers_other_threat(threats, sequence, n, item):
    """Return whether ``sequence[:n]`` contains a threat without `item`, one of V(T) - V(p)."""
    width = threats.table.width
    for m in range(threats.table.n_rows[0]):
        if threats.live[m] == 0 or _has(threats, m, item):
            continue
        length = threats.table.rows[m * width]
        if has_part(sequence, np.int64(0), n, threats.table.rows, m * width + 1, length):
            return True
    return False


@inner
def _is_violating_group(records, group, n, privacy):
    """Return whether the records ``group[:n]`` (ascending) have too few owners, or too many with one value: line 7."""
    n_values = records.n_values
    n_attributes = records.n_attributes
    having = np.zeros(n_values, np.int64)
    last_having = np.zeros(n_values, np.int64)  # one more than the last owner with a value, as owners begin with 0
    owners = np.int64(0)
    last_owner = np.int64(-1)
    for e in range(n):
        r = group[e]
        who = records.owner[r]
        owners += who != last_owner
        last_owner = who
        for a in range(r * n_attributes, r * n_attributes + n_attributes):
            s = records.sensitive[a]
            if s >= 0 and last_having[s] != who + 1:
                last_having[s] = who + 1
                having[s] += 1
    violating = owners < privacy.k
    for s in range(n_values):
        violating |= having[s] > privacy.allowed[owners]
    return violating
