"""Frequent sequences that a suppression should keep, and how many of them it would lose.

The paper keeps them in a tree with a table of links (Definition 4.4).  A list per item does the same work: the patterns
with an item are all that a suppression of the item can touch, and most of them have so many owners that the size of
the group alone shows that they stay.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.kcl.suppression_state import contains

__all__ = ["Patterns", "lose_patterns", "new_patterns", "pattern_loss", "visits_to_mend"]

Patterns = namedtuple("Patterns", ["first", "item", "support", "of_first", "of_pattern", "n_of_item", "bar"])
"""Pattern q is ``item[first[q]:first[q + 1]]``, ascending; it is frequent while its `support[q]` owners are at least
``bar[0]``.  The patterns with item i are ``of_pattern[of_first[i]:of_first[i + 1]]``; `n_of_item` counts the frequent
ones."""


@kernel
def new_patterns(first, item, support, n_items, bar):
    """Index maximal frequent sequences by item."""
    n = first.size - 1
    of_first, fill = np.zeros(n_items + 1, np.int64), np.zeros(n_items + 1, np.int64)
    n_of_item, bars = np.zeros(n_items, np.int64), np.empty(1, np.int64)
    bars[0] = bar
    for e in range(first[n]):
        of_first[item[e] + 1] += 1
        n_of_item[item[e]] += 1
    for i in range(n_items):
        of_first[i + 1] += of_first[i]
        fill[i + 1] = of_first[i + 1]
    of_pattern = np.empty(first[n], np.int64)
    for q in range(n):
        for e in range(first[q], first[q + 1]):
            of_pattern[fill[item[e]]] = q
            fill[item[e]] += 1
    return Patterns(first, item, support, of_first, of_pattern, n_of_item, bars)


@kernel
def pattern_loss(records, patterns, item, group, begin, n):
    """Count the frequent patterns that would not be frequent without `item` in ``group[begin:begin + n]``."""
    loss, bar = np.int64(0), patterns.bar[0]
    for x in range(patterns.of_first[item], patterns.of_first[item + 1]):
        q = patterns.of_pattern[x]
        if bar <= patterns.support[q] < bar + n:
            loss += patterns.support[q] - _owners_lost(records, patterns, q, group, begin, n) < bar
    return loss


@kernel
def lose_patterns(records, patterns, item, group, begin, n, dead):
    """Take the loss of `item` in a group into account, before it happens; list in `dead` what stops being frequent."""
    n_dead, bar = np.int64(0), patterns.bar[0]
    for x in range(patterns.of_first[item], patterns.of_first[item + 1]):
        q = patterns.of_pattern[x]
        if patterns.support[q] >= bar:
            patterns.support[q] -= _owners_lost(records, patterns, q, group, begin, n)
            if patterns.support[q] < bar:
                dead[n_dead] = q
                n_dead += 1
                for e in range(patterns.first[q], patterns.first[q + 1]):
                    patterns.n_of_item[patterns.item[e]] -= 1
    return n_dead


@kernel
def visits_to_mend(records, patterns, lost):
    """Say, with 1 or 0 per visit, what records should have before anything else, so that patterns `lost` come back.

    A record in which a lost pattern is broken, because a visit of it is switched off, should have the visits of these
    patterns, and of what it has now only what belongs to some pattern, lost or not: its other visits are in the way.
    All other records should have what they have now.  O(visits x patterns that begin with their items).
    """
    n_items, n_rows = patterns.of_first.size - 1, records.items.size
    begin, by_begin = _by_first_item(patterns, n_items)
    wanted, in_pattern = np.empty(n_rows, np.int64), np.zeros(n_rows, np.int64)
    at = np.empty(n_items, np.int64)  # the last row of every item so far: it is in this record if it is not before it
    for i in range(n_items):
        at[i] = -1
    for r in range(records.offsets.size - 1):
        start, end, broken = records.offsets[r], records.offsets[r + 1], False
        for v in range(start, end):
            at[records.items[v]], wanted[v] = v, records.alive[v]
        for v in range(start, end):
            for x in range(begin[records.items[v]], begin[records.items[v] + 1]):
                q, there = by_begin[x], True
                e, last = patterns.first[q], patterns.first[q + 1]
                while there and e < last:
                    there = at[patterns.item[e]] >= start
                    e += 1
                for e in range(patterns.first[q], last if there else patterns.first[q]):
                    u = at[patterns.item[e]]
                    in_pattern[u] = 1
                    if lost[q] == 1:
                        broken |= records.alive[u] == 0
                        wanted[u] = 1
        for v in range(start, end if broken else start):
            wanted[v] *= in_pattern[v]
    return wanted


@inner
def _by_first_item(patterns, n_items):
    """List the patterns by their first item: those of item i are ``listed[begin[i]:begin[i + 1]]``."""
    n = patterns.first.size - 1
    begin, fill, listed = np.zeros(n_items + 1, np.int64), np.zeros(n_items, np.int64), np.empty(n, np.int64)
    for q in range(n):
        begin[patterns.item[patterns.first[q]] + 1] += 1
    for i in range(n_items):
        begin[i + 1] += begin[i]
        fill[i] = begin[i]
    for q in range(n):
        i = patterns.item[patterns.first[q]]
        listed[fill[i]] = q
        fill[i] += 1
    return begin, listed


@inner
def _owners_lost(records, patterns, q, group, begin, n):
    """Count the owners in the group whose records outside of it do not contain pattern q, but one inside does."""
    lost, start = np.int64(0), begin
    first, size = patterns.first[q], patterns.first[q + 1] - patterns.first[q]
    while start < begin + n:
        who, end, had = records.owner[group[start]], start, False
        while end < begin + n and records.owner[group[end]] == who:
            had |= contains(records, group[end], patterns.item, first, size)
            end += 1
        if had and records.owner_first[who + 1] - records.owner_first[who] > end - start:
            g = start
            for r in range(records.owner_first[who], records.owner_first[who + 1]):
                if g < end and group[g] == r:
                    g += 1
                elif contains(records, r, patterns.item, first, size):
                    had = False
        lost += had
        start = end
    return lost
