"""Guards around declared times: what must be made equal so that nobody is ruled out by a top speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.qid.sample_classes import unite
from wayveil.kernels.qid.timed_samples import has_known, row_at

__all__ = ["Boxed", "candidate_edges", "mutual_pairs", "unite_guards"]

# The rows of `Boxed.sides`.
_X_MIN = 0
_X_MAX = 1
_Y_MIN = 2
_Y_MAX = 3


class Boxed(NamedTuple):
    """Samples with the boxes in which they are published.  All arrays have an entry for each row.

    t, x, y
        Times and positions, as they are.
    sides : 4 x rows
        The boxes: x_min, x_max, y_min, y_max.
    dropped : bool
        Whether a sample is not published; written by `unite_guards` alone.
    marked : bool
        Whether a box can be that of a declared time, as far as an attacker sees.  Not used by `unite_guards`.
    """

    t: np.ndarray
    x: np.ndarray
    y: np.ndarray
    sides: np.ndarray
    dropped: np.ndarray
    marked: np.ndarray


@kernel
def unite_guards(samples, group_first, member, boxed, speed, guard, parent):
    """Make members equal, or drop samples, wherever a known position of one is out of reach of a sample of another.

    For members i and j, a known position of i at time s and a sample of j at time r, the cell of that sample must be
    within ``speed * |r - s|`` of the position, along each axis; and |r - s| must be more than `guard`.  Otherwise the
    samples of both at r are made equal: the box around them contains where i was at r, and that is within reach.  Where
    i has no sample at r, that of j is dropped.

    Groups are as in `unite_groups`; the boxes are single cells.  `parent` is the forest of rows, which is changed.
    O(rows) time per known sample and pair of members, less where all is within reach after a while.
    """
    t = boxed.t
    sides = boxed.sides
    west = sides[_X_MIN].min()
    east = sides[_X_MAX].max()
    south = sides[_Y_MIN].min()
    north = sides[_Y_MAX].max()
    far = max(east - west, north - south)  # beyond the time that this takes, everything is within reach
    for g in range(group_first.size - 1):
        for a in range(group_first[g], group_first[g + 1]):
            for b in range(group_first[g], group_first[g + 1]):
                i = member[a]
                j = member[b]
                if i == j or not has_known(samples, i, j) or not has_known(samples, j, i):
                    continue
                for sample in range(samples.known_first[i], samples.known_first[i + 1]):
                    row = samples.known_row[sample]
                    middle = row_at(samples.first, samples.code, j, samples.code[row])
                    # From the known time on, back and then forward, until all that is further away is within reach.
                    for step in (-1, 1):
                        r = middle + step
                        while samples.first[j] <= r < samples.first[j + 1]:
                            wait = abs(t[r] - t[row])
                            if wait > guard and speed * wait >= far:
                                break
                            if wait <= guard or not _is_near(sides, r, boxed.x[row], boxed.y[row], speed * wait):
                                other = row_at(samples.first, samples.code, i, samples.code[r])
                                if other >= 0:
                                    unite(parent, r, other)
                                else:
                                    boxed.dropped[r] = True
                            r += step


@kernel
def mutual_pairs(samples, group_first, member, boxed, speed):
    """Return pairs (one, other) of members of a group who can be taken for each other, both ways, some perhaps twice.

    All that is known of either must be in a marked box of the other, and within reach of all its boxes.
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
                if i == j or not _fits(samples, i, j, boxed, speed):
                    continue
                if _fits(samples, j, i, boxed, speed):
                    pairs[0, size] = i
                    pairs[1, size] = j
                    pairs[0, size + 1] = j
                    pairs[1, size + 1] = i
                    size += 2
    return pairs[:, :size].copy()


@kernel
def candidate_edges(samples, active, boxed, speed, most):
    """Return all (one, other) of active trajectories of which the other contains all that is known of the one.

    As in `mutual_pairs`, but of all trajectories and one way; nothing, with a width of 0 and False, if there are more
    than `most`.  ``active[m]`` is true for trajectories that count.  O(n) time per trajectory, and O(rows) per known
    sample of those whose first known position fits.
    """
    n = samples.first.size - 1
    row_of = np.empty(samples.track.size, np.int64)
    for row in range(row_of.size):
        row_of[samples.entry[row]] = row
    edges = np.empty((2, 1024), np.int64)
    size = np.int64(0)
    # The attack graph.  Where something is known of i, only those with a sample at its first known time can be others,
    # and of these only those whose box then contains it are looked at in full.
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
            other = at
            if is_known:
                other = samples.track[at]
                row = samples.known_row[begin]
                if not boxed.marked[row_of[at]] or not _is_near(
                    boxed.sides, row_of[at], boxed.x[row], boxed.y[row], 0.0
                ):
                    continue
            if not active[other] or not _fits(samples, i, other, boxed, speed):
                continue
            if size == most:
                return edges[:, :0].copy(), False
            if size == edges.shape[1]:
                longer = np.empty((2, 2 * size), np.int64)
                longer[:, :size] = edges
                edges = longer
            edges[0, size] = i
            edges[1, size] = other
            size += 1
    return edges[:, :size].copy(), True


@inner
def _fits(samples, i, j, boxed, speed):
    """Tell whether all that is known of i is in marked boxes of j, and within reach of all its other boxes."""
    sides = boxed.sides
    for sample in range(samples.known_first[i], samples.known_first[i + 1]):
        row = samples.known_row[sample]
        x = boxed.x[row]
        y = boxed.y[row]
        middle = row_at(samples.first, samples.code, j, samples.code[row])
        if middle < 0 or boxed.dropped[middle] or not boxed.marked[middle]:
            return False
        if not _is_near(sides, middle, x, y, 0.0):
            return False
        if speed == np.inf:
            continue
        for r in range(samples.first[j], samples.first[j + 1]):
            if not boxed.dropped[r] and not _is_near(sides, r, x, y, speed * abs(boxed.t[r] - boxed.t[row])):
                return False
    return True


@inner
def _is_near(sides, row, x, y, reach):
    """Tell whether a position is at most `reach` from the box of a row, along each axis."""
    east_west = sides[_X_MIN, row] - reach <= x and x <= sides[_X_MAX, row] + reach
    return east_west and sides[_Y_MIN, row] - reach <= y and y <= sides[_Y_MAX, row] + reach
