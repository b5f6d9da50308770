"""Samples of trajectories, by trajectory and by time, and who has a sample at which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Samples", "has_known", "keep_compatible", "row_at"]


class Samples(NamedTuple):
    """Samples of trajectories, by trajectory and by time.  All arrays are int64; no kernel writes to them.

    first : one per trajectory and one more
        Trajectory m has the rows ``first[m]:first[m + 1]``, in the order of time.
    code : one per row
        The rank of its time among all times.
    known_first, known_row : one per trajectory and one more; one per known sample
        What an adversary knows of trajectory m, its quasi-identifier, are the rows
        ``known_row[known_first[m]:known_first[m + 1]]``.
    time_first, track : one per time and one more; one per row
        The trajectories with a sample at time t are ``track[time_first[t]:time_first[t + 1]]``, ascending.
    entry : one per row
        Where in `track` it is.
    """

    first: np.ndarray
    code: np.ndarray
    known_first: np.ndarray
    known_row: np.ndarray
    time_first: np.ndarray
    track: np.ndarray
    entry: np.ndarray


@kernel
def keep_compatible(samples, start, candidate, most):
    """Return a trajectory and the first `most` others that have samples at all known times of each other.

    Candidates (int64) are taken in the order given.  O(most) time per candidate and known time.
    """
    compatible = np.empty(most + 1, np.int64)
    compatible[0] = start
    size = np.int64(1)
    for c in range(candidate.size):
        if size == most + 1:
            break
        fits = True
        for i in range(size):
            fits = (
                fits
                and has_known(samples, compatible[i], candidate[c])
                and has_known(samples, candidate[c], compatible[i])
            )
        if fits:
            compatible[size] = candidate[c]
            size += 1
    return compatible[:size]


@inner
def has_known(samples, m, other):
    """Tell whether m has samples at all known times of another trajectory."""
    for i in range(samples.known_first[other], samples.known_first[other + 1]):
        if row_at(samples.first, samples.code, m, samples.code[samples.known_row[i]]) < 0:
            return False
    return True


@inner
def row_at(first, code, m, t):
    """Return the row of trajectory m at time t, or -1; O(1) where no time is missing, O(log rows) otherwise."""
    low = first[m]
    if low == first[m + 1] or t < code[low]:
        return np.int64(-1)
    high = min(low + t - code[low], first[m + 1] - 1)  # codes differ by 1 at least, so that it is not behind this
    if code[high] == t:
        return high
    # Times are missing: a binary search.
    while low < high:
        middle = (low + high) // 2
        if code[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low if code[low] == t else np.int64(-1)
