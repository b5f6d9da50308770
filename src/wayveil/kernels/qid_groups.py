"""Who can hide a trajectory: the nearest trajectories of other people, by what is known of it."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.qid.timed_samples import has_known

__all__ = ["nearest_people"]


@kernel
def nearest_people(samples, which, owner, active, a, b, by_area, most):
    """Return for each of `which` trajectories the nearest one of each of the `most` nearest other people, or -1.

    Only active trajectories are returned that have samples at all known times of the one, which in turn has samples
    at all known times of theirs.  The distance is summed over its known times: that of `a`, or with `by_area` the loss
    ``1 - 1 / area`` of the smallest rectangle of cells around (a, b) of both; a and b are in the order of `track`.
    Where nothing is known of a trajectory, it is the number of known samples of the other one.  The lower index wins
    ties.  O(n) time per known time and trajectory, O(n) memory.
    """
    n = samples.first.size - 1
    found = np.empty((which.size, most), np.int64)
    near = np.empty(most, np.float64)
    candidate, score = np.empty(n, np.int64), np.empty(n, np.float64)
    for w in range(which.size):
        count = _distances(samples, which[w], a, b, by_area, candidate, score)
        size = np.int64(0)
        for c in range(count):
            if size == most and score[c] >= near[most - 1]:
                continue
            other = candidate[c]
            if owner[other] == owner[which[w]] or not active[other] or not has_known(samples, which[w], other):
                continue
            size = _insert(found[w], near, size, other, score[c], owner)
        for i in range(size, most):
            found[w, i] = -1
    return found


@inner
def _distances(samples, m, a, b, by_area, candidate, score):
    """Fill in the trajectories with samples at all known times of m, by index, and their distances from m."""
    n, begin, end = candidate.size, samples.known_first[m], samples.known_first[m + 1]
    if begin == end:
        for i in range(n):
            candidate[i] = i
            score[i] = samples.known_first[i + 1] - samples.known_first[i]
        return n
    rarest = begin
    for i in range(begin, end):
        if _people_at(samples, i) < _people_at(samples, rarest):
            rarest = i
    low = samples.time_first[samples.code[samples.known_row[rarest]]]
    count = _people_at(samples, rarest)
    for c in range(count):
        candidate[c] = samples.track[low + c]
        score[c] = 0.0
    _add(samples, rarest, a, b, by_area, candidate, score, count)
    for i in range(begin, end):
        if i != rarest:
            count = _add(samples, i, a, b, by_area, candidate, score, count)
    return count


@inner
def _people_at(samples, known):
    t = samples.code[samples.known_row[known]]
    return samples.time_first[t + 1] - samples.time_first[t]


@inner
def _add(samples, known, a, b, by_area, candidate, score, count):
    """Add the distances at one known time; candidates without a sample then are dropped.  Return how many are left."""
    row = samples.known_row[known]
    low, high = samples.time_first[samples.code[row]], samples.time_first[samples.code[row] + 1]
    x, y = a[samples.place[row]], b[samples.place[row]]
    if high - low == count and count == candidate.size:  # everybody is there: straight through, without a comparison
        if by_area:
            for c in range(count):
                score[c] += 1.0 - 1.0 / ((abs(a[low + c] - x) + 1.0) * (abs(b[low + c] - y) + 1.0))
        else:
            for c in range(count):
                score[c] += abs(a[low + c] - x)
        return count
    left, at = np.int64(0), low
    for c in range(count):
        while at < high and samples.track[at] < candidate[c]:
            at += 1
        if at == high:
            break
        if samples.track[at] == candidate[c]:
            candidate[left] = candidate[c]
            step = abs(a[at] - x)
            if by_area:
                step = 1.0 - 1.0 / ((step + 1.0) * (abs(b[at] - y) + 1.0))
            score[left] = score[c] + step
            left += 1
    return left


@inner
def _insert(found, near, size, other, distance, owner):
    """Insert a trajectory into a list by distance that has one of each person.  Return the new size."""
    old = np.int64(0)
    while old < size and owner[found[old]] != owner[other]:
        old += 1
    if old < size and near[old] <= distance:
        return size
    if old == size:
        size = min(size + 1, found.size)
    at = min(old, size - 1)
    while at > 0 and near[at - 1] > distance:
        found[at], near[at] = found[at - 1], near[at - 1]
        at -= 1
    found[at], near[at] = other, distance
    return size
