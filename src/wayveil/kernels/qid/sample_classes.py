"""Samples of one time that are made equal: classes by union-find, boxes around them, and what is asymmetric."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.qid.timed_samples import row_at

__all__ = ["class_boxes", "unite", "unite_asymmetric", "unite_groups"]

# The rows of boxes.
_X_MIN = 0
_X_MAX = 1
_Y_MIN = 2
_Y_MAX = 3


@kernel
def unite_groups(samples, group_first, member, parent):
    """Make the members of each group equal at every time that is known of one of them.

    Group g has the trajectories ``member[group_first[g]:group_first[g + 1]]`` (both int64).  Members without a sample
    at a time are passed over.  `parent` (int64, one per row) is the forest of rows, in which a root is its own parent;
    it is changed.  O(members of a group squared) time per known time.
    """
    for g in range(group_first.size - 1):
        low = group_first[g]
        high = group_first[g + 1]
        for i in range(low, high):
            for sample in range(samples.known_first[member[i]], samples.known_first[member[i] + 1]):
                row = samples.known_row[sample]
                for j in range(low, high):
                    other = row_at(samples.first, samples.code, member[j], samples.code[row])
                    if other >= 0:
                        unite(parent, row, other)


@kernel
def class_boxes(parent, x, y):
    """Return (root of every row, boxes): the columns of boxes are the lowest and highest x and y of the row's class.

    `parent` is a forest of rows, `x` and `y` (int64) have their positions.
    """
    n = parent.size
    root = np.empty(n, np.int64)
    box = np.empty((4, n), np.int64)
    for row in range(n):
        root[row] = _root(parent, row)
        box[_X_MIN, row] = x[row]
        box[_X_MAX, row] = x[row]
        box[_Y_MIN, row] = y[row]
        box[_Y_MAX, row] = y[row]
    for row in range(n):
        top = root[row]
        box[_X_MIN, top] = min(box[_X_MIN, top], x[row])
        box[_X_MAX, top] = max(box[_X_MAX, top], x[row])
        box[_Y_MIN, top] = min(box[_Y_MIN, top], y[row])
        box[_Y_MAX, top] = max(box[_Y_MAX, top], y[row])
    for row in range(n):
        for side in range(4):
            box[side, row] = box[side, root[row]]
    return root, box


@kernel
def unite_asymmetric(samples, active, x, y, sides, parent):
    """Make two trajectories equal at all that is known of them where only one could be taken for the other.

    ``active[m]`` is true for trajectories that count; `x` and `y` are the positions of all rows and `sides` their boxes
    (x_min, x_max, y_min, y_max); `parent` is the forest of rows, which is changed.  Return how many pairs were made
    equal, and how many cannot be, because one has no sample at a known time of the other.  O(n) time per trajectory and
    more where many positions are in many boxes.
    """
    n = samples.first.size - 1
    done = np.int64(0)
    never = np.int64(0)
    row_of = np.empty(samples.track.size, np.int64)  # the other way round than `samples.entry`
    for row in range(row_of.size):
        row_of[samples.entry[row]] = row
    # The literal condition of Yarovoy et al. (2009) is symmetric: m may hide behind another only if that one may hide
    # behind m.  A round looks for all that m could be taken for, of those with a sample at its first known time, and
    # makes them equal to m where it is not so the other way round.
    for m in range(n):
        begin = samples.known_first[m]
        end = samples.known_first[m + 1]
        if not active[m]:
            continue
        low = np.int64(0)
        high = n
        if begin < end:
            t = samples.code[samples.known_row[begin]]
            low = samples.time_first[t]
            high = samples.time_first[t + 1]
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
    fits = np.int64(1)
    for sample in range(samples.known_first[m], samples.known_first[m + 1]):
        mine = samples.known_row[sample]
        row = row_at(samples.first, samples.code, other, samples.code[mine])
        if row < 0:
            return np.int64(-1)
        if not _inside(sides, row, x[mine], y[mine]):
            fits = np.int64(0)
    return fits


@inner
def _inside(sides, row, x, y):
    """Tell whether a position is in the box of a row."""
    east_west = sides[_X_MIN, row] <= x and x <= sides[_X_MAX, row]
    return east_west and sides[_Y_MIN, row] <= y and y <= sides[_Y_MAX, row]


@inner
def _unite_pair(samples, m, other, parent):
    """Make two trajectories equal at the known times of m, at all of which the other one has a sample."""
    for sample in range(samples.known_first[m], samples.known_first[m + 1]):
        row = samples.known_row[sample]
        unite(parent, row, row_at(samples.first, samples.code, other, samples.code[row]))


@inner
def unite(parent, one, other):
    """Join the classes of two rows under the lower root, so that the order of joining does not matter."""
    one = _root(parent, one)
    other = _root(parent, other)
    if one < other:
        parent[other] = one
    elif other < one:
        parent[one] = other


@inner
def _root(parent, row):
    """Return the root of a row; every second row on the way is hung one higher, so that ways stay short."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row
