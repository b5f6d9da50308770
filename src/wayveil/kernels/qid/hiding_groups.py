"""Who can hide a trajectory: the nearest trajectories of other people, by what is known of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.qid.timed_samples import has_known

__all__ = ["Distance", "nearest_people"]


class Distance(NamedTuple):
    """What tells how far samples of one time are from each other: `a` and `b` have an entry for each sample, in the
    order of `samples.track`.

    The distance is that of `a`, or with `by_area` the loss ``1 - 1 / area`` of the smallest rectangle of cells around
    (a, b) of both.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    by_area: bool


@kernel
def nearest_people(samples, which, owner, active, distance, most):
    """Return for each of `which` trajectories the nearest one of each of the `most` nearest other people, or -1.

    Only active trajectories are returned that have samples at all known times of the one, which in turn has samples
    at all known times of theirs.  The distance is summed over its known times.  Where nothing is known of a trajectory,
    it is the number of known samples of the other one.  The lower index wins ties.
    `which` and `owner` are int64, ``active[i]`` is true for trajectories that count.  O(n) time per known time and
    trajectory, O(n) memory.
    """
    n = samples.first.size - 1
    nearest = np.empty((which.size, most), np.int64)
    near = np.empty(most, np.float64)
    candidate = np.empty(n, np.int64)
    score = np.empty(n, np.float64)
    # The candidate hiding groups of Yarovoy et al. (2009): for each trajectory, who is near where it can be known.  The
    # cheap test comes first, that for samples at all known times last.
    for w in range(which.size):
        count = _distances(samples, which[w], distance, candidate, score)
        size = np.int64(0)
        for c in range(count):
            if size == most and score[c] >= near[most - 1]:
                continue
            other = candidate[c]
            if owner[other] == owner[which[w]] or not active[other] or not has_known(samples, which[w], other):
                continue
            size = _insert(nearest[w], near, size, other, score[c], owner)
        for i in range(size, most):
            nearest[w, i] = -1
    return nearest


@inner
def _distances(samples, m, distance, candidate, score):
    """Write to `candidate` (int64) who has samples at all known times of m, by index, and to `score` how far they are.

    Both have room for all trajectories; returns how many were written.
    """
    n = candidate.size
    begin = samples.known_first[m]
    end = samples.known_first[m + 1]
    if begin == end:
        for i in range(n):
            candidate[i] = i
            score[i] = samples.known_first[i + 1] - samples.known_first[i]
        return n
    # Begin with the time at which the fewest have a sample: nobody else can be a candidate.
    rarest = begin
    for i in range(begin, end):
        if _people_at(samples, i) < _people_at(samples, rarest):
            rarest = i
    low = samples.time_first[samples.code[samples.known_row[rarest]]]
    count = _people_at(samples, rarest)
    for c in range(count):
        candidate[c] = samples.track[low + c]
        score[c] = 0.0
    _add(samples, rarest, distance, candidate, score, count)
    for i in range(begin, end):
        if i != rarest:
            count = _add(samples, i, distance, candidate, score, count)
    return count


@inner
def _people_at(samples, known):
    """Return how many trajectories have a sample at the time of a known sample."""
    t = samples.code[samples.known_row[known]]
    return samples.time_first[t + 1] - samples.time_first[t]


@inner
def _add(samples, known, distance, candidate, score, count):
    """Add the distances at one known time; candidates without a sample then are dropped.  Return how many are left."""
    a = distance.a
    b = distance.b
    row = samples.known_row[known]
    low = samples.time_first[samples.code[row]]
    high = samples.time_first[samples.code[row] + 1]
    x = a[samples.entry[row]]
    y = b[samples.entry[row]]
    if high - low == count and count == candidate.size:  # everybody is there: straight through, without a comparison
        if distance.by_area:
            for c in range(count):
                score[c] += 1.0 - 1.0 / ((abs(a[low + c] - x) + 1.0) * (abs(b[low + c] - y) + 1.0))
        else:
            for c in range(count):
                score[c] += abs(a[low + c] - x)
        return count
    # Candidates and the trajectories of a time are both ascending: one walk along the two.
    left = np.int64(0)
    at = low
    for c in range(count):
        while at < high and samples.track[at] < candidate[c]:
            at += 1
        if at == high:
            break
        if samples.track[at] == candidate[c]:
            candidate[left] = candidate[c]
            step = abs(a[at] - x)
            if distance.by_area:
                step = 1.0 - 1.0 / ((step + 1.0) * (abs(b[at] - y) + 1.0))
            score[left] = score[c] + step
            left += 1
    return left


@inner
def _insert(nearest, near, size, other, distance, owner):
    """Insert a trajectory into a list by distance that has one of each person.  Return the new size.

    ``nearest[:size]`` (int64) is the list and ``near[:size]`` (float64) the distances; both are written.
    """
    old = np.int64(0)
    while old < size and owner[nearest[old]] != owner[other]:
        old += 1
    if old < size and near[old] <= distance:
        return size
    if old == size:
        size = min(size + 1, nearest.size)
    at = min(old, size - 1)
    while at > 0 and near[at - 1] > distance:
        nearest[at] = nearest[at - 1]
        near[at] = near[at - 1]
        at -= 1
    nearest[at] = other
    near[at] = distance
    return size
