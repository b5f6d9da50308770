"""Frequent sequences: the maximal ones, the most frequent ones, and the supports of given ones.

Doublets carry their time, so a record is a set of items and a sequence is a set too: items may be taken in any order.
Support is the number of distinct owners.  Records must be sorted by owner; their items are distinct, in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.visit_matching import VisitLists, inverted_lists, match_sets
from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.frequent.occurrence_search import Occurrences, Records, search_best, search_maximal

__all__ = ["mine_maximal", "mine_maximal_within", "most_frequent", "sequence_supports"]

Ints = NDArray[np.int64]
Sequences = tuple[Ints, Ints, Ints]


def mine_maximal(offsets: Any, items: Any, owner: Any, n_items: int, min_support: int) -> Sequences:
    """Return all maximal frequent sequences: those of at least `min_support` owners that no longer one contains.

    Sequence s is ``item[first[s]:first[s + 1]]``, ascending, with `support[s]` owners; sequences are in lexicographic
    order.  Time O(occurrences of the frequent sequences that are met x record length), which can be exponential in
    the length of the longest sequence; memory O(rows + the lists of one path + output).

    Examples
    --------
    >>> offsets, items = np.array([0, 3, 5, 7]), np.array([0, 1, 2, 0, 1, 1, 2])
    >>> [found.tolist() for found in mine_maximal(offsets, items, np.arange(3), 3, 2)]
    [[0, 2, 4], [0, 1, 1, 2], [2, 2]]
    """
    records, occurs, item_of = _ranked(offsets, items, owner, n_items, min_support)
    first, rank, support, _ = search_maximal(records, occurs, min_support, 1 << 62)  # no limit
    return _in_order(first, rank, support, item_of)


def mine_maximal_within(
    offsets: Any, items: Any, owner: Any, n_items: int, min_support: int, most_steps: int
) -> Sequences | None:
    """Return what `mine_maximal` does, or None where it takes more than `most_steps` looks at a row."""
    records, occurs, item_of = _ranked(offsets, items, owner, n_items, min_support)
    first, rank, support, steps = search_maximal(records, occurs, min_support, most_steps)
    return None if steps > most_steps else _in_order(first, rank, support, item_of)


def most_frequent(offsets: Any, items: Any, owner: Any, n_items: int, most: int) -> Sequences:
    """Return the `most` sequences of two items or more with the largest supports, the largest first.

    Form as in `mine_maximal`.  Of equal supports at the end some are left out, by a rule that does not depend on the
    order of the records.
    """
    support = np.sort(np.bincount(items, minlength=1))
    bar = max(1, int(support[-min(len(support), 8 * most)]))  # a guess: rare items cost time, and are not needed
    # Before each round, items of less than `bar` owners are left out.  If enough sequences reach the bar without them,
    # nothing better was left out; otherwise the bar is lowered, down to 1.
    while True:
        records, occurs, item_of = _ranked(offsets, items, owner, n_items, bar)
        longest = int(np.diff(records.offsets).max(initial=1))
        patterns = search_best(records, occurs, most, longest).reshape(-1, longest + 2)
        if bar == 1 or (len(patterns) == most and patterns[:, 0].min() >= bar):
            break
        bar = max(1, bar // 8)
    length = patterns[:, 1]
    first = np.concatenate([[0], np.cumsum(length)])
    rank = patterns[:, 2:][np.arange(longest) < length[:, None]]
    first, item, support = _in_order(first, rank, patterns[:, 0], item_of)
    rows = np.lexsort((np.diff(first), -support))
    parts = [item[first[row] : first[row + 1]] for row in rows]
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return first, np.concatenate([np.zeros(0, np.int64), *parts]), support[rows]


def sequence_supports(offsets: Any, items: Any, owner: Any, n_items: int, first: Ints, item: Ints) -> Ints:
    """Return how many owners have a record with all items of each sequence ``item[first[s]:first[s + 1]]``.

    O(rows) to invert the records; then per sequence about the occurrences of its rarest item x log of the others'.

    Examples
    --------
    >>> offsets, items = np.array([0, 3, 5, 7]), np.array([0, 1, 2, 0, 1, 1, 2])
    >>> sequence_supports(offsets, items, np.array([0, 0, 1]), 3, np.array([0, 2, 3]), np.array([0, 1, 1])).tolist()
    [1, 2]
    """
    offsets, items, owner = (np.require(a, np.int64, ["C", "W"]) for a in (offsets, items, owner))
    starts, slots = inverted_lists(offsets, items, np.arange(len(owner)), n_items)
    item_of = np.argsort(np.diff(starts), kind="stable")
    rank = np.empty(n_items, np.int64)
    rank[item_of] = np.arange(n_items)
    lengths = np.diff(first)
    supports = np.zeros(len(first) - 1, np.int64)
    # Sequences of one length at a time, those that begin alike together: what they share is intersected once.
    lists = VisitLists(starts, slots, owner, np.empty((len(owner), 0), np.int64), 0)
    for length in np.unique(lengths[lengths > 0]).tolist():
        which = np.flatnonzero(lengths == length)
        ranks = np.sort(rank[item[first[which][:, None] + np.arange(length)]], axis=1)
        alike = np.lexsort(ranks.T[::-1])
        sets = np.ascontiguousarray(item_of[ranks[alike]])
        supports[which[alike]] = match_sets(lists, sets)[0]
    return supports


def _ranked(offsets: Any, items: Any, owner: Any, n_items: int, min_support: int) -> tuple[Records, Occurrences, Ints]:
    """Return the records by rank, where the ranks are, and the item of each rank.

    Ranks are by (support, item), so that rare items come first and the search below them is short.
    """
    offsets, items, owner = (np.require(a, np.int64, ["C", "W"]) for a in (offsets, items, owner))
    support = _owners_per_item(offsets, items, owner, n_items)
    item_of = np.argsort(support, kind="stable")
    item_of = item_of[np.searchsorted(support[item_of], max(min_support, 1)) :]
    rank = np.full(n_items, -1, np.int64)
    rank[item_of] = np.arange(len(item_of))
    merge = bool((owner[1:] != owner[:-1]).all())  # nobody has two records: equal ones may be counted together
    starts, ranks, weight, first, record, at = _sorted_by_rank(offsets, items, rank, len(item_of), merge)
    records = Records(starts, ranks, np.arange(len(weight)) if merge else owner, weight)
    return records, Occurrences(first, record, at, support[item_of]), item_of


def _in_order(first: Ints, rank: Ints, support: Ints, item_of: Ints) -> Sequences:
    """Return sequences of ranks as sequences of ascending items, in lexicographic order."""
    lengths = np.diff(first)
    item = item_of[rank]
    item = item[np.lexsort((item, np.repeat(np.arange(len(lengths)), lengths)))].tolist()
    bounds = first.tolist()
    parts = [item[bounds[s] : bounds[s + 1]] for s in range(len(lengths))]
    rows = sorted(range(len(parts)), key=parts.__getitem__)
    flat = np.array([i for row in rows for i in parts[row]], np.int64)
    return np.concatenate([[0], np.cumsum(lengths[rows])]).astype(np.int64), flat, support[rows]


@kernel
def _owners_per_item(offsets, items, owner, n_items):
    """Return how many owners each item has.  O(rows)."""
    support = np.zeros(n_items, np.int64)
    last_owner = np.empty(n_items, np.int64)  # records are sorted by owner, so nobody is counted twice
    for i in range(n_items):
        last_owner[i] = -1
    for r in range(offsets.size - 1):
        for at in range(offsets[r], offsets[r + 1]):
            if last_owner[items[at]] != owner[r]:
                last_owner[items[at]] = owner[r]
                support[items[at]] += 1
    return support


@kernel
def _sorted_by_rank(offsets, items, rank, n, merge):
    """Return the columns of `Records` and `Occurrences`; with `merge`, records with the same items become one.

    `rank` (int64, one per item) is that of the n frequent items, and -1 for the others.  O(rows) time and memory: what
    is transposed twice is sorted.
    """
    # Transpose once: the records of each rank, record[first[j]:free[j]].
    n_records = offsets.size - 1
    first = np.zeros(n + 1, np.int64)
    for r in range(n_records):
        for at in range(offsets[r], offsets[r + 1]):
            if rank[items[at]] >= 0:
                first[rank[items[at]] + 1] += 1
    free = np.zeros(n + 1, np.int64)
    for j in range(n):
        first[j + 1] += first[j]
        free[j + 1] = first[j + 1]
    record = np.empty(first[n], np.int64)
    for r in range(n_records):
        for at in range(offsets[r], offsets[r + 1]):
            j = rank[items[at]]
            if j >= 0:
                record[free[j]] = r
                free[j] += 1

    number, weight, n_new = _number_records(first, record, n_records, merge)

    # Leave out the records that were merged into others; those of a rank still lie at its old place, before free[j].
    new_offsets = np.zeros(n_new + 1, np.int64)
    size = np.int64(0)
    begin = np.int64(0)
    for j in range(n):
        first[j] = size
        for o in range(begin, free[j]):
            if number[record[o]] >= 0:
                record[size] = number[record[o]]
                new_offsets[record[size] + 1] += 1
                size += 1
        begin = free[j]
    first[n] = size
    for r in range(n_new):
        new_offsets[r + 1] += new_offsets[r]

    # Transpose again: ranks come in ascending order, so every record gets them so.
    next_at = new_offsets.copy()
    ranks = np.empty(size, np.int64)
    row = np.empty(size, np.int64)
    for j in range(n):
        for o in range(first[j], first[j + 1]):
            at = next_at[record[o]]
            ranks[at] = j
            row[o] = at
            next_at[record[o]] = at + 1
    return new_offsets, ranks, weight[:n_new].copy(), first, record[:size].copy(), row


@inner
def _number_records(first, record, n_records, merge):
    """Return the new number of each record (-1: merged into an earlier one), how many each stands for, and how many.

    Rank j is in the records ``record[first[j]:first[j + 1]]``.
    """
    n_rows = first[first.size - 1]
    node = np.zeros(n_records, np.int64)
    if merge:
        # Every record walks down a tree by its ranks, all records at once, rank by rank; equal ones end at the same
        # node.  A node needs only the child of the rank under way: no record comes back to an earlier rank.
        child = np.empty(n_rows + 1, np.int64)
        child_rank = np.zeros(n_rows + 1, np.int64)  # one more than the rank, so that 0 is none
        n_nodes = np.int64(1)
        for j in range(first.size - 1):
            for o in range(first[j], first[j + 1]):
                at = node[record[o]]
                if child_rank[at] != j + 1:
                    child_rank[at] = j + 1
                    child[at] = n_nodes
                    n_nodes += 1
                node[record[o]] = child[at]
    record_at = np.empty(n_rows + 1, np.int64)  # the number of the first record that ends there
    for at in range(n_rows + 1):
        record_at[at] = -1
    number = np.empty(n_records, np.int64)
    weight = np.zeros(n_records, np.int64)
    n_new = np.int64(0)
    for r in range(n_records):
        if merge and record_at[node[r]] >= 0:
            number[r] = -1
            weight[record_at[node[r]]] += 1
        else:
            record_at[node[r]] = n_new
            number[r] = n_new
            weight[n_new] = 1
            n_new += 1
    return number, weight, n_new
