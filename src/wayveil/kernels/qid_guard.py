"""Guards around declared times: what must be made equal so that nobody is ruled out by a top speed."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.qid.sample_classes import unite
from wayveil.kernels.qid.timed_samples import has_known, row_at

__all__ = ["candidate_edges", "mutual_pairs", "unite_guards"]


@kernel
def unite_guards(samples, group_first, member, t, x, y, sides, speed, guard, parent, dropped):
    """Make members equal, or drop samples, wherever a known position of one is out of reach of a sample of another.

    For members i and j, a known position of i at time s and a sample of j at time r, the cell of that sample must be
    within ``speed * |r - s|`` of the position, along each axis; and |r - s| must be more than `guard`.  Otherwise the
    samples of both at r are made equal: the box around them contains where i was at r, and that is within reach.  Where
    i has no sample at r, that of j is dropped.

    `t`, `x` and `y` are times and positions of all rows, and `sides` the cells (x_min, x_max, y_min, y_max) of these.
    `parent` is the forest of rows, and `dropped` (bool, one per row) what is dropped; both are changed.  O(rows) time
    per known sample and pair of members, less where all is within reach after a while.
    """
    west = sides[0].min()
    east = sides[1].max()
    south = sides[2].min()
    north = sides[3].max()
    far = max(east - west, north - south)  # beyond the time that this takes, everything is within reach
    for g in range(group_first.size - 1):
        for a in range(group_first[g], group_first[g + 1]):
            for b in range(group_first[g], group_first[g + 1]):
                i = member[a]
                j = member[b]
                if i == j or not has_known(samples, i, j) or not has_known(samples, j, i):
                    continue
                for known in range(samples.known_first[i], samples.known_first[i + 1]):
                    row = samples.known_row[known]
                    middle = row_at(samples.first, samples.code, j, samples.code[row])
                    for step in (-1, 1):
                        r = middle + step
                        while samples.first[j] <= r < samples.first[j + 1]:
                            wait = abs(t[r] - t[row])
                            if wait > guard and speed * wait >= far:
                                break
                            if wait <= guard or not _is_near(sides, r, x[row], y[row], speed * wait):
                                other = row_at(samples.first, samples.code, i, samples.code[r])
                                if other >= 0:
                                    unite(parent, r, other)
                                else:
                                    dropped[r] = True
                            r += step


@kernel
def mutual_pairs(samples, group_first, member, t, x, y, sides, speed, dropped):
    """Return pairs (one, other) of members of a group who can be taken for each other, both ways, some perhaps twice.

    All that is known of either must be in a box of the other, `sides` of its row, and within reach of all its boxes.
    A speed of infinity rules nothing out.  O(rows) time per known sample and pair of members.
    """
    count = np.int64(0)
    for g in range(group_first.size - 1):
        count += (group_first[g + 1] - group_first[g]) ** 2
    pairs = np.empty((2, count), np.int64)
    size = np.int64(0)
    for g in range(group_first.size - 1):
        for a in range(group_first[g], group_first[g + 1]):
            for b in range(a + 1, group_first[g + 1]):
                i = member[a]
                j = member[b]
                if i == j or not _fits(samples, i, j, t, x, y, sides, speed, dropped):
                    continue
                if _fits(samples, j, i, t, x, y, sides, speed, dropped):
                    pairs[0, size] = i
                    pairs[1, size] = j
                    pairs[0, size + 1] = j
                    pairs[1, size + 1] = i
                    size += 2
    return pairs[:, :size].copy()


@kernel
def candidate_edges(samples, active, t, x, y, sides, speed, dropped, most):
    """Return all (one, other) of active trajectories of which the other contains all that is known of the one.

    As in `mutual_pairs`, but of all trajectories and one way; nothing, with a width of 0 and False, if there are more
    than `most`.  O(n) time per trajectory, and O(rows) per known sample of those whose first known position fits.
    """
    n = samples.first.size - 1
    row_of = np.empty(samples.track.size, np.int64)
    for row in range(row_of.size):
        row_of[samples.place[row]] = row
    edges = np.empty((2, 1024), np.int64)
    size = np.int64(0)
    for i in range(n):
        if not active[i]:
            continue
        begin = samples.known_first[i]
        is_known = begin < samples.known_first[i + 1]
        low = np.int64(0)
        high = n
        if is_known:
            moment = samples.code[samples.known_row[begin]]
            low = samples.time_first[moment]
            high = samples.time_first[moment + 1]
        for at in range(low, high):
            o = at
            if is_known:
                o = samples.track[at]
                row = samples.known_row[begin]
                if not _is_near(sides, row_of[at], x[row], y[row], 0.0):
                    continue
            if not active[o] or not _fits(samples, i, o, t, x, y, sides, speed, dropped):
                continue
            if size == most:
                return edges[:, :0].copy(), False
            if size == edges.shape[1]:
                longer = np.empty((2, 2 * size), np.int64)
                longer[:, :size] = edges
                edges = longer
            edges[0, size] = i
            edges[1, size] = o
            size += 1
    return edges[:, :size].copy(), True


@inner
def _fits(samples, i, j, t, x, y, sides, speed, dropped):
    """Tell whether all that is known of i is in boxes of j, and within reach of all its other boxes."""
    for known in range(samples.known_first[i], samples.known_first[i + 1]):
        row = samples.known_row[known]
        middle = row_at(samples.first, samples.code, j, samples.code[row])
        if middle < 0 or dropped[middle] or not _is_near(sides, middle, x[row], y[row], 0.0):
            return False
        if speed == np.inf:
            continue
        for r in range(samples.first[j], samples.first[j + 1]):
            if not dropped[r] and not _is_near(sides, r, x[row], y[row], speed * abs(t[r] - t[row])):
                return False
    return True


@inner
def _is_near(sides, row, x, y, reach):
    """Tell whether a position is at most `reach` from the box of a row, along each axis."""
    east_west = sides[0, row] - reach <= x and x <= sides[1, row] + reach
    return east_west and sides[2, row] - reach <= y and y <= sides[3, row] + reach
