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

Patterns = namedtuple("Patterns", ["first", "item", "support", "of_first", "of_pattern", "n_of_item", "min_support"])
"""Maximal frequent sequences (MFS, Definition 3.2).  All arrays are int64; `lose_patterns` writes to `support` and
`n_of_item`.

first, item
    Pattern q is ``item[first[q]:first[q + 1]]``, ascending.
support : one per pattern
    Its owners; no longer counted once it is not frequent.
of_first, of_pattern
    The patterns with item i are ``of_pattern[of_first[i]:of_first[i + 1]]``.
n_of_item : one per item
    How many of these are frequent.
min_support : int
    How many owners a frequent pattern has at least: K' of the paper.
"""


@kernel
def new_patterns(first, item, support, n_items, min_support):
    """Index maximal frequent sequences by item."""
    # A counting sort by item: count, add up, fill.
    n = first.size - 1
    of_first = np.zeros(n_items + 1, np.int64)
    n_of_item = np.zeros(n_items, np.int64)
    for e in range(first[n]):
        of_first[item[e] + 1] += 1
        n_of_item[item[e]] += 1
    free = np.zeros(n_items + 1, np.int64)
    for i in range(n_items):
        of_first[i + 1] += of_first[i]
        free[i + 1] = of_first[i + 1]
    of_pattern = np.empty(first[n], np.int64)
    for q in range(n):
        for e in range(first[q], first[q + 1]):
            of_pattern[free[item[e]]] = q
            free[item[e]] += 1
    return Patterns(first, item, support, of_first, of_pattern, n_of_item, np.int64(min_support))


@kernel
def pattern_loss(records, patterns, item, group, begin, n):
    """Count the frequent patterns that would not be frequent without `item` in the records ``group[begin:begin + n]``.

    `group` is int64 and ascending there.
    """
    loss = np.int64(0)
    enough = patterns.min_support
    for x in range(patterns.of_first[item], patterns.of_first[item + 1]):
        q = patterns.of_pattern[x]
        # n records are of n owners at most: a pattern with more to spare stays, and nothing has to be counted
        if enough <= patterns.support[q] < enough + n:
            loss += patterns.support[q] - _owners_lost(records, patterns, q, group, begin, n) < enough
    return loss


@kernel
def lose_patterns(records, patterns, item, group, begin, n, dead):
    """Take the loss of `item` in a group into account, before it happens; list in `dead` what stops being frequent.

    Returns how many these are.  Lines 9 and 13 of Algorithm 1.
    """
    n_dead = np.int64(0)
    enough = patterns.min_support
    for x in range(patterns.of_first[item], patterns.of_first[item + 1]):
        q = patterns.of_pattern[x]
        if patterns.support[q] >= enough:  # what is lost already does not count again
            patterns.support[q] -= _owners_lost(records, patterns, q, group, begin, n)
            if patterns.support[q] < enough:
                dead[n_dead] = q
                n_dead += 1
                for e in range(patterns.first[q], patterns.first[q + 1]):
                    patterns.n_of_item[patterns.item[e]] -= 1
    return n_dead


@kernel
def visits_to_mend(records, patterns, lost):
    """Say, with 1 or 0 per visit, what records should have before anything else, so that patterns `lost` come back.

    `lost` is int64, 1 for the patterns that were lost.  A record in which a lost pattern is broken, because a visit of
    it is switched off, should have the visits of these patterns, and of what it has now only what belongs to some
    pattern, lost or not: its other visits are in the way.  All other records should have what they have now.
    O(visits x patterns that begin with their items).
    """
    n_items = patterns.of_first.size - 1
    n_visits = records.items.size
    begin, by_begin = _by_first_item(patterns, n_items)
    to_mend = np.empty(n_visits, np.int64)
    in_pattern = np.zeros(n_visits, np.int64)
    # The last visit of every item so far: it is in this record if it is not before it.  So nothing has to be cleared.
    visit_of = np.empty(n_items, np.int64)
    for i in range(n_items):
        visit_of[i] = -1
    for r in range(records.offsets.size - 1):
        start = records.offsets[r]
        end = records.offsets[r + 1]
        for v in range(start, end):
            visit_of[records.items[v]] = v
            to_mend[v] = records.alive[v]
        # Every pattern that the record had is met once, at the visit of its first item.
        broken = False
        for v in range(start, end):
            for x in range(begin[records.items[v]], begin[records.items[v] + 1]):
                q = by_begin[x]
                if not _had_pattern(patterns, q, visit_of, start):
                    continue
                for e in range(patterns.first[q], patterns.first[q + 1]):
                    u = visit_of[patterns.item[e]]
                    in_pattern[u] = 1
                    if lost[q] == 1:
                        broken |= records.alive[u] == 0
                        to_mend[u] = 1
        if broken:
            for v in range(start, end):
                to_mend[v] *= in_pattern[v]
    return to_mend


@inner
def _had_pattern(patterns, q, visit_of, start):
    """Return whether all items of pattern q have a visit in the record that begins at visit `start`."""
    e = patterns.first[q]
    while e < patterns.first[q + 1] and visit_of[patterns.item[e]] >= start:
        e += 1
    return e == patterns.first[q + 1]


@inner
def _by_first_item(patterns, n_items):
    """List the patterns by their first item: those of item i are ``listed[begin[i]:begin[i + 1]]``."""
    n = patterns.first.size - 1
    begin = np.zeros(n_items + 1, np.int64)
    for q in range(n):
        begin[patterns.item[patterns.first[q]] + 1] += 1
    free = np.zeros(n_items, np.int64)
    for i in range(n_items):
        begin[i + 1] += begin[i]
        free[i] = begin[i]
    listed = np.empty(n, np.int64)
    for q in range(n):
        i = patterns.item[patterns.first[q]]
        listed[free[i]] = q
        free[i] += 1
    return begin, listed


@inner
def _owners_lost(records, patterns, q, group, begin, n):
    """Count the owners in the group whose records outside of it do not contain pattern q, but one inside does."""
    lost = np.int64(0)
    first = patterns.first[q]
    size = patterns.first[q + 1] - first
    # Records are in the order of their owners, so those of an owner are neighbours in the group: one round takes the
    # owner from `start` on.
    start = begin
    while start < begin + n:
        who = records.owner[group[start]]
        end = start
        had = False
        while end < begin + n and records.owner[group[end]] == who:
            had |= contains(records, group[end], patterns.item, first, size)
            end += 1
        n_outside = records.owner_first[who + 1] - records.owner_first[who] - (end - start)
        if had and n_outside > 0:
            g = start
            for r in range(records.owner_first[who], records.owner_first[who + 1]):
                if g < end and group[g] == r:
                    g += 1
                elif contains(records, r, patterns.item, first, size):
                    had = False  # the owner keeps the pattern in a record outside
        lost += had
        start = end
    return lost
