"""Samples of one time that are made equal: classes by union-find, boxes around them, and what is asymmetric."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.qid.timed_samples import row_at

__all__ = ["class_boxes", "unite", "unite_asymmetric", "unite_groups"]


@kernel
def unite_groups(samples, group_first, member, parent):
    """Make the members of each group equal at every time that is known of one of them.

    Members without a sample at a time are passed over.  `parent` is the forest of rows that is changed.  O(members of
    a group squared) time per known time.
    """
    for g in range(group_first.size - 1):
        low, high = group_first[g], group_first[g + 1]
        for i in range(low, high):
            for known in range(samples.known_first[member[i]], samples.known_first[member[i] + 1]):
                row = samples.known_row[known]
                for j in range(low, high):
                    other = row_at(samples.first, samples.code, member[j], samples.code[row])
                    if other >= 0:
                        unite(parent, row, other)


@kernel
def class_boxes(parent, x, y):
    """Return (root of every row, boxes): the columns of boxes are the lowest and highest x and y of the row's class."""
    n = parent.size
    root, box = np.empty(n, np.int64), np.empty((4, n), np.int64)
    for row in range(n):
        root[row] = _root(parent, row)
        box[0, row], box[1, row], box[2, row], box[3, row] = x[row], x[row], y[row], y[row]
    for row in range(n):
        top = root[row]
        box[0, top], box[1, top] = min(box[0, top], x[row]), max(box[1, top], x[row])
        box[2, top], box[3, top] = min(box[2, top], y[row]), max(box[3, top], y[row])
    for row in range(n):
        for side in range(4):
            box[side, row] = box[side, root[row]]
    return root, box


@kernel
def unite_asymmetric(samples, active, x, y, sides, parent):
    """Make two trajectories equal at all that is known of them where only one could be taken for the other.

    `sides` are the boxes (x_min, x_max, y_min, y_max) of all rows.  Return how many pairs were made equal, and how many
    cannot be, because one has no sample at a known time of the other.  O(n) time per trajectory and more where many
    positions are in many boxes.
    """
    n, done, never = samples.first.size - 1, np.int64(0), np.int64(0)
    row_of = np.empty(samples.track.size, np.int64)
    for row in range(row_of.size):
        row_of[samples.place[row]] = row
    for m in range(n):
        begin, end = samples.known_first[m], samples.known_first[m + 1]
        if not active[m]:
            continue
        low, high = np.int64(0), n
        if begin < end:
            t = samples.code[samples.known_row[begin]]
            low, high = samples.time_first[t], samples.time_first[t + 1]
        for at in range(low, high):
            other = at
            if begin < end:
                if not _inside(sides, row_of[at], x[samples.known_row[begin]], y[samples.known_row[begin]]):
                    continue
                other = samples.track[at]
            if other == m or not active[other] or _fits(samples, m, other, x, y, sides) < 1:
                continue
            back = _fits(samples, other, m, x, y, sides)
            if back == 0:
                done += 1
                _unite_pair(samples, m, other, parent)
                _unite_pair(samples, other, m, parent)
            elif back < 0:
                never += 1
    return done, never


@inner
def _fits(samples, m, other, x, y, sides):
    """Tell whether all that is known of m is in the boxes of another one: 1, 0, or -1 where there is no box."""
    found = np.int64(1)
    for known in range(samples.known_first[m], samples.known_first[m + 1]):
        mine = samples.known_row[known]
        row = row_at(samples.first, samples.code, other, samples.code[mine])
        if row < 0:
            return np.int64(-1)
        if not _inside(sides, row, x[mine], y[mine]):
            found = np.int64(0)
    return found


@inner
def _inside(sides, row, x, y):
    return sides[0, row] <= x and x <= sides[1, row] and sides[2, row] <= y and y <= sides[3, row]


@inner
def _unite_pair(samples, m, other, parent):
    for known in range(samples.known_first[m], samples.known_first[m + 1]):
        row = samples.known_row[known]
        unite(parent, row, row_at(samples.first, samples.code, other, samples.code[row]))


@inner
def unite(parent, one, other):
    """Join the classes of two rows under the lower root, so that the order of joining does not matter."""
    one, other = _root(parent, one), _root(parent, other)
    if one < other:
        parent[other] = one
    elif other < one:
        parent[one] = other


@inner
def _root(parent, row):
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row
