"""Matching the points of two sequences in order, at the least cost of the boxes around what is matched.

A sequence is an array of boxes with the rows x from, x to, y from, y to, t from, t to.  A box with the sides X, Y and T
costs ``g = space * ln((1 + X) * (1 + Y)) + time * ln(1 + T)``.  To match a box of one sequence, which stands for m
trajectories, with a box of another one, which stands for m', costs m + m' times the g of the box around both; to drop
it costs m times `drop`.  ``A(i, j)``, the least cost of the first i and the first j boxes, is the least of
A(i - 1, j - 1) and a match, A(i - 1, j) and a drop, A(i, j - 1) and a drop.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.heap import new_heap, pop, push
from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.tga.cost_bounds import (
    SURE,
    T_FROM,
    T_TO,
    X_FROM,
    X_TO,
    Y_FROM,
    Y_TO,
    Known,
    Scratch,
    coarse_bounds,
    longer,
    rest_bounds,
)

__all__ = ["Choice", "match_points", "nearest"]

# The steps of a matching.
_MATCH = 0
_DROP_ONE = 1
_DROP_TWO = 2

Choice = namedtuple("Choice", ["free", "banned", "wanted"])
"""Who may be chosen: sequences with a ``free[i]`` (int64) of 1 whose owner is not in `banned` (int64, any number); and
how many are `wanted`."""


@kernel
def nearest(one, m_one, sequences, coarse, choice, rule):
    """Return (sequences, costs): the wanted cheapest to match with `one`, of different owners, the cheapest first.

    `one` (float64, 6 x boxes) stands for `m_one` trajectories.  Ties go to the smaller number.  The time of
    `coarse_bounds`, and at most O(product of the lengths) for each sequence that is matched.
    """
    n_wanted = choice.wanted
    is_banned = np.zeros(sequences.owner.size, np.int64)
    longest = np.int64(1)
    for b in range(choice.banned.size):
        is_banned[choice.banned[b]] = 1
    bound, least = coarse_bounds(one, m_one, sequences, coarse, rule)
    heap = new_heap(coarse.which.size)
    for c in range(coarse.which.size):
        i = coarse.which[c]
        if choice.free[i] == 1 and is_banned[sequences.owner[i]] == 0:
            heap = push(heap, bound[c], c)
            longest = max(longest, sequences.end[i] - sequences.begin[i])
    best = np.empty(n_wanted, np.int64)
    cost = np.empty(n_wanted)
    n_found = np.int64(0)
    most = np.inf
    scratch = Scratch(np.empty(one.shape[1] + 1), np.empty(longest + 1), np.empty((2, longest)), np.empty(longest + 1))
    # Step 2 of TGA: who is cheapest to match.  Sequences are visited by increasing bound.  Before each round the list
    # has the cheapest of those that were visited, and `most` is what its last one costs, once it is full.  A round
    # matches the next one.  It ends when the next bound is above `most`: then all that follow are, too.
    while heap.size[0] > 0 and heap.key[0] * SURE <= most:
        _, c = pop(heap)
        i = coarse.which[c]
        value = _cost(one, m_one, sequences, i, rule, Known(bound[c], least[c], most), scratch)
        if value <= most:
            n_found = _insert(best, cost, n_found, i, value, sequences.owner)
            if n_found == n_wanted:
                most = cost[n_found - 1]
    return best[:n_found].copy(), cost[:n_found].copy()


@kernel
def match_points(one, m_one, two, m_two, rule):
    """Return (cost, pairs) of the cheapest matching; among equal ones match, then drop of `one`, then of `two`.

    `one` and `two` (float64, 6 x boxes) stand for `m_one` and `m_two` trajectories; column i of the pairs (int64) tells
    which boxes are matched.  O(product of the lengths) time, and one byte for each pair of boxes.
    """
    n = one.shape[1]
    m = two.shape[1]
    line = np.empty(m + 1)
    way = np.zeros((n + 1, m + 1), np.int8)
    line[0] = 0.0
    for j in range(1, m + 1):
        line[j] = line[j - 1] + m_two * rule.drop
        way[0, j] = _DROP_TWO
    # The recurrence line by line.  Before round i, `line` is A(i - 1, .); inside it, `before` is A(i - 1, j - 1), which
    # the line itself no longer has.  The order of the comparisons decides among equals.
    for i in range(1, n + 1):
        before = line[0]
        line[0] = before + m_one * rule.drop
        way[i, 0] = _DROP_ONE
        for j in range(1, m + 1):
            value = before + (m_one + m_two) * _g(one, i - 1, two, j - 1, rule)
            step = _MATCH
            before = line[j]
            if before + m_one * rule.drop < value:
                value = before + m_one * rule.drop
                step = _DROP_ONE
            if line[j - 1] + m_two * rule.drop < value:
                value = line[j - 1] + m_two * rule.drop
                step = _DROP_TWO
            line[j] = value
            way[i, j] = step
    # The way back from A(n, m) gives the pairs, the last first.
    pairs = np.empty((2, min(n, m)), np.int64)
    at = np.int64(min(n, m))
    i = n
    j = m
    while i > 0 or j > 0:
        step = way[i, j]
        if step != _DROP_TWO:
            i -= 1
        if step != _DROP_ONE:
            j -= 1
        if step == _MATCH:
            at -= 1
            pairs[0, at] = i
            pairs[1, at] = j
    return line[m], pairs[:, at:].copy()


@inner
def _g(one, i, two, j, rule):
    """Return the cost of the box around two boxes."""
    x = max(one[X_TO, i], two[X_TO, j]) - min(one[X_FROM, i], two[X_FROM, j])
    y = max(one[Y_TO, i], two[Y_TO, j]) - min(one[Y_FROM, i], two[Y_FROM, j])
    t = max(one[T_TO, i], two[T_TO, j]) - min(one[T_FROM, i], two[T_FROM, j])
    return rule.space * np.log((1.0 + x) * (1.0 + y)) + rule.time * np.log(1.0 + t)


@inner
def _cost(one, m_one, sequences, number, rule, known, scratch):
    """Return A(n, m), or infinity where it is above `most`; an A(i, j) that can only lead there counts as infinity."""
    most = known.most
    rest_one = scratch.rest_one
    rest_two = scratch.rest_two
    line = scratch.line
    two = sequences.boxes
    a = sequences.begin[number]
    m_two = sequences.size[number]
    n = one.shape[1]
    m = sequences.end[number] - a
    low = np.int64(0)
    high = np.int64(0)
    extra_one, extra_two = rest_bounds(one, m_one, sequences, number, rule, known, scratch)
    if extra_one == np.inf:
        return np.inf
    if (rest_one[0] + rest_two[0] + longer(n, m, extra_one, extra_two)) * SURE > most:
        return np.inf
    # The recurrence of `match_points`, cut down to what can still end at `most` or below.  Before round i the numbers
    # of A(i - 1, .) that can are those from `low` to `high`.  A round computes the next line from `low` on, as far as
    # there is a number above or to the left, and leaves out what together with the bound of the rest is too dear.  It
    # ends early when nothing is left of a line.
    drop_one = m_one * rule.drop
    drop_two = m_two * rule.drop
    line[0] = 0.0
    for j in range(1, m + 1):
        line[j] = line[j - 1] + drop_two
        if (line[j] + rest_one[0] + rest_two[j] + longer(n, m - j, extra_one, extra_two)) * SURE > most:
            break
        high = j
    for i in range(1, n + 1):
        first = np.int64(-1)
        last = np.int64(-1)
        before = np.inf
        left = np.inf
        for j in range(low, m + 1):
            if j > high + 1 and left == np.inf:
                break
            above = line[j] if j <= high else np.inf
            value = min(above + drop_one, left + drop_two)
            if before < np.inf:
                value = min(value, before + (m_one + m_two) * _g(one, i - 1, two, a + j - 1, rule))
            if (value + rest_one[i] + rest_two[j] + longer(n - i, m - j, extra_one, extra_two)) * SURE > most:
                value = np.inf
            else:
                first = first if first >= 0 else j
                last = j
            before = above
            left = value
            line[j] = value
        if first < 0:
            return np.inf
        low = first
        high = last
    return line[m] if high == m else np.inf


@inner
def _insert(best, cost, n_found, i, value, owner):
    """Put a sequence into the list of the cheapest, one per owner, if it belongs there; return how many are in it.

    ``best[:found]`` (int64) are the sequences, ``cost[:found]`` (float64) what they cost, ascending; both are written.
    """
    at = n_found  # where it goes: behind the others, or in place of the one of the same owner, or of the last
    for b in range(n_found):
        if owner[best[b]] == owner[i]:
            at = b
    at = min(at, best.size - 1)
    if at < n_found and (cost[at] < value or (cost[at] == value and best[at] < i)):
        return n_found
    n_found = max(n_found, at + 1)
    while at > 0 and (value < cost[at - 1] or (value == cost[at - 1] and i < best[at - 1])):
        best[at] = best[at - 1]
        cost[at] = cost[at - 1]
        at -= 1
    best[at] = i
    cost[at] = value
    return n_found
