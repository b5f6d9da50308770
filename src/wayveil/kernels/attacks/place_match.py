"""Which classes of published trajectories contain a known sequence of places, and what they tell of sensitive ones."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["match_places"]


@kernel
def match_places(
    known, known_offsets, asked, asked_offsets, above, end,
    item, class_offsets, index, signs, index_offsets, people, told, weight, told_offsets,
):  # fmt: skip
    """Return per known sequence the people who fit and the largest probability of a leaf, and that of each asked leaf.

    Nodes are numbered so that ``v <= u < end[v]`` says that `u` is at or below `v`; ``above[v]`` is its parent, -1 of
    the root.  Class `c` is the sequence ``item[class_offsets[c]:class_offsets[c + 1]]`` of ``people[c]`` people and
    adds ``weight[j]`` to every leaf below ``told[j]``; ``index`` lists the classes that have a node, and ``signs``
    beside it bit ``v % 63`` for every node of the class.  All classes that could have the rarest known place are looked
    at, those without a sign of the others only there: O(their rows) time per sequence, O(classes + nodes) memory.
    """
    n = known_offsets.size - 1
    fitting = np.zeros(n, np.int64)
    largest = np.zeros(n, np.float64)
    found = np.zeros(asked.size, np.float64)
    seen = np.zeros(people.size, np.int64)
    total = np.zeros(end.size, np.float64)
    touched = np.empty(end.size, np.int64)
    need = np.empty(known.size, np.int64)
    for q in range(n):
        begin = known_offsets[q]
        stop = known_offsets[q + 1]
        n_touched = np.int64(0)
        node = _rarest(known, begin, stop, above, index_offsets, need)
        while node >= 0:
            for at in range(index_offsets[node], index_offsets[node + 1]):
                i = begin
                while i < stop and signs[at] & need[i] != 0:
                    i += 1
                c = index[at]
                if i < stop or seen[c] == q + 1:  # seen: it has another node above the same place, too
                    continue
                seen[c] = q + 1
                if not _contains(item, class_offsets[c], class_offsets[c + 1], known, begin, stop, end):
                    continue
                fitting[q] += people[c]
                for j in range(told_offsets[c], told_offsets[c + 1]):
                    if total[told[j]] == 0.0:
                        touched[n_touched] = told[j]
                        n_touched += 1
                    total[told[j]] += weight[j]
            node = above[node]
        for i in range(n_touched):
            largest[q] = max(largest[q], _sum_above(touched[i], total, above) / fitting[q])
        if fitting[q] > 0:
            for j in range(asked_offsets[q], asked_offsets[q + 1]):
                found[j] = _sum_above(asked[j], total, above) / fitting[q]
        for i in range(n_touched):
            total[touched[i]] = 0.0
    return fitting, largest, found


@inner
def _rarest(known, begin, stop, above, index_offsets, need):
    """Return the known place for which fewest classes must be looked at; write the signs of what has each place."""
    best = known[begin]
    fewest = np.int64(-1)
    for i in range(begin, stop):
        n = np.int64(0)
        node = known[i]
        need[i] = 0
        while node >= 0:
            if index_offsets[node] < index_offsets[node + 1]:
                n += index_offsets[node + 1] - index_offsets[node]
                need[i] |= np.int64(1) << (node % 63)
            node = above[node]
        if fewest < 0 or n < fewest:
            best = known[i]
            fewest = n
    return best


@inner
def _contains(item, row, row_end, known, begin, stop, end):
    """Return whether nodes, in order, are at or above the known places; taking the earliest is never wrong."""
    while begin < stop:
        while row < row_end and not item[row] <= known[begin] < end[item[row]]:
            row += 1
        if row == row_end:
            return False
        row += 1
        begin += 1
    return True


@inner
def _sum_above(node, total, above):
    """Return the sum over a node and all above it."""
    found = 0.0
    while node >= 0:
        found += total[node]
        node = above[node]
    return found
