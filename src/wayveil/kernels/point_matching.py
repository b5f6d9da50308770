"""Matching the points of two sequences in order, at the least cost of the boxes around what is matched.

A sequence is an array of boxes with the rows x from, x to, y from, y to, t from, t to.  A box with the sides X, Y and T
costs ``g = space * ln((1 + X) * (1 + Y)) + time * ln(1 + T)``.  To match a box of one sequence, which stands for m
trajectories, with a box of another one, which stands for m', costs m + m' times the g of the box around both; to drop
it costs m times `drop`.  ``A(i, j)``, the least cost of the first i and the first j boxes, is the least of
A(i - 1, j - 1) and a match, A(i - 1, j) and a drop, A(i, j - 1) and a drop.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.heap import new_heap, pop, push
from wayveil.kernels.tga.cost_bounds import SURE, coarse_bounds, longer, rest_bounds

__all__ = ["match_points", "nearest"]


@kernel
def nearest(one, m_one, banned, sequences, free, coarse, wanted, rule):
    """Return (sequences, costs): the `wanted` cheapest to match with `one`, of different owners, the cheapest first.

    `one` stands for `m_one` trajectories; owners in `banned`, and sequences that are not `free`, are left out.  Ties go
    to the smaller number.  Sequences are visited by increasing bound until it is above what was found: the time of
    `coarse_bounds`, and at most O(product of the lengths) for each visit.
    """
    is_banned, longest = np.zeros(sequences.owner.size, np.int64), np.int64(1)
    for b in range(banned.size):
        is_banned[banned[b]] = 1
    bound, heap = coarse_bounds(one, m_one, sequences, coarse, rule), new_heap(coarse.which.size)
    for c in range(coarse.which.size):
        i = coarse.which[c]
        if free[i] == 1 and is_banned[sequences.owner[i]] == 0:
            heap = push(heap, bound[c], i)
            longest = max(longest, sequences.end[i] - sequences.begin[i])
    best, cost, found, most = np.empty(wanted, np.int64), np.empty(wanted), np.int64(0), np.inf
    rest_one, rest_two, line = np.empty(one.shape[1] + 1), np.empty(longest + 1), np.empty(longest + 1)
    sides = np.empty((2, longest))
    while heap.size[0] > 0 and heap.key[0] * SURE <= most:
        _, i = pop(heap)
        value = _cost(one, m_one, sequences, i, rule, most, rest_one, rest_two, sides, line)
        if value <= most:
            found = _insert(best, cost, found, i, value, sequences.owner)
            if found == wanted:
                most = cost[found - 1]
    return best[:found].copy(), cost[:found].copy()


@kernel
def match_points(one, m_one, two, m_two, rule):
    """Return (cost, pairs) of the cheapest matching; among equal ones match, then drop of `one`, then of `two`.

    O(product of the lengths) time, and one byte for each pair of boxes.
    """
    n, m = one.shape[1], two.shape[1]
    line, way = np.empty(m + 1), np.zeros((n + 1, m + 1), np.int8)
    line[0] = 0.0
    for j in range(1, m + 1):
        line[j], way[0, j] = line[j - 1] + m_two * rule.drop, 2
    for i in range(1, n + 1):
        before = line[0]
        line[0], way[i, 0] = before + m_one * rule.drop, 1
        for j in range(1, m + 1):
            value, step = before + (m_one + m_two) * _g(one, i - 1, two, j - 1, rule), 0
            before = line[j]
            if before + m_one * rule.drop < value:
                value, step = before + m_one * rule.drop, 1
            if line[j - 1] + m_two * rule.drop < value:
                value, step = line[j - 1] + m_two * rule.drop, 2
            line[j], way[i, j] = value, step
    pairs, at, i, j = np.empty((2, min(n, m)), np.int64), np.int64(min(n, m)), n, m
    while i > 0 or j > 0:
        step = way[i, j]
        if step != 2:
            i -= 1
        if step != 1:
            j -= 1
        if step == 0:
            at -= 1
            pairs[0, at], pairs[1, at] = i, j
    return line[m], pairs[:, at:].copy()


@inner
def _g(one, i, two, j, rule):
    """Return the cost of the box around two boxes."""
    x = max(one[1, i], two[1, j]) - min(one[0, i], two[0, j])
    y = max(one[3, i], two[3, j]) - min(one[2, i], two[2, j])
    t = max(one[5, i], two[5, j]) - min(one[4, i], two[4, j])
    return rule.space * np.log((1.0 + x) * (1.0 + y)) + rule.time * np.log(1.0 + t)


@inner
def _cost(one, m_one, sequences, number, rule, most, rest_one, rest_two, sides, line):
    """Return A(n, m), or infinity where it is above `most`; an A(i, j) that can only lead there is taken as infinity.

    `low` to `high` is where a line of A(i, .) has numbers.
    """
    two, a, m_two = sequences.boxes, sequences.begin[number], sequences.size[number]
    n, m, low, high = one.shape[1], sequences.end[number] - a, np.int64(0), np.int64(0)
    extra_one, extra_two = rest_bounds(one, m_one, sequences, number, rule, rest_one, rest_two, sides)
    if (rest_one[0] + rest_two[0] + longer(n, m, extra_one, extra_two)) * SURE > most:
        return np.inf
    drop_one, drop_two = m_one * rule.drop, m_two * rule.drop
    line[0] = 0.0
    for j in range(1, m + 1):
        line[j] = line[j - 1] + drop_two
        if (line[j] + rest_one[0] + rest_two[j] + longer(n, m - j, extra_one, extra_two)) * SURE > most:
            break
        high = j
    for i in range(1, n + 1):
        first, last, before, left = np.int64(-1), np.int64(-1), np.inf, np.inf
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
                first, last = (first if first >= 0 else j), j
            before, left, line[j] = above, value, value
        if first < 0:
            return np.inf
        low, high = first, last
    return line[m] if high == m else np.inf


@inner
def _insert(best, cost, found, i, value, owner):
    """Put a sequence into the list of the cheapest, one per owner, if it belongs there; return how many are in it."""
    at = found
    for b in range(found):
        if owner[best[b]] == owner[i]:
            at = b
    at = min(at, best.size - 1)
    if at < found and (cost[at] < value or (cost[at] == value and best[at] < i)):
        return found
    found = max(found, at + 1)
    while at > 0 and (value < cost[at - 1] or (value == cost[at - 1] and i < best[at - 1])):
        best[at], cost[at] = best[at - 1], cost[at - 1]
        at -= 1
    best[at], cost[at] = i, value
    return found
