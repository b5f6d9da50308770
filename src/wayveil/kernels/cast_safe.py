"""Generalizing sensitive stops until no sensitive place is too probable in its class."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["safe_nodes"]


@kernel
def safe_nodes(first, stop, owner, trip, people, trips, last, parent, leaves, sensitive, c, m):
    """Return the node at which each sensitive stop may be published, or -1 where it must be suppressed.

    Parameters
    ----------
    first : int64, one more than there are classes
        Class `i` has stops ``first[i]:first[i + 1]``.
    stop, owner, trip : int64, one per stop
        Its node, numbered in preorder and ascending in a class; whose it is, and of which trajectory, codes from 0 on.
    people, trips : int64, one per class
        The number of people and of trajectories; 0 for a class of which nothing else is published: people count there
        while they have a stop, and where fewer than `m` have one, all are suppressed.
    last, parent, leaves, sensitive : int64, one per node
    c : int64, (2,)
        Numerator and denominator of the largest probability.

    Notes
    -----
    A node is too probable if it is as the mean over people, or as the mean over trajectories.
    All stops of a class below a node that becomes too probable, and those below its parent, go to the parent.  At any
    moment no node of a class is above another one, so a place is below one of them at most, all places below one are
    equally probable, and the stops at one are neighbours.  In what order nodes are lifted makes no difference.
    O(stops x height) time at most where no stop is suppressed, O(stops + people) memory.

    Examples
    --------
    >>> last, parent, leaves = np.array([4, 4, 3, 4]), np.array([-1, 0, 1, 1]), np.array([2, 2, 1, 1])
    >>> stop, owner = np.array([2, 2, 3]), np.array([0, 1, 2])  # two of four people at 2, one at 3, both below 1
    >>> safe_nodes(np.array([0, 3]), stop, owner, owner, np.array([4]), np.array([4]), last, parent, leaves,
    ...            np.array([0, 1, 1, 1]), np.array([2, 5]), 2).tolist()
    [1, 1, 1]
    """
    node = stop.copy()
    n_codes = np.int64(0)
    for row in range(owner.size):
        n_codes = max(n_codes, owner[row] + 1, trip[row] + 1)
    times, met = np.zeros(n_codes, np.int64), np.empty(n_codes, np.int64)
    for group in range(first.size - 1):
        low, high = first[group], first[group + 1]
        for row in range(low + 1, high):  # raw data may hold inner nodes
            if stop[row] < last[node[row - 1]]:
                node[row] = node[row - 1]
        again = True
        while again:
            again = False
            crowd, rows = people[group], trips[group]
            if crowd == 0:
                crowd = _units_left(node, owner, low, high, times, met)
                rows = _units_left(node, trip, low, high, times, met)
            begin = low
            while begin < high:
                here, end = node[begin], begin + 1
                while end < high and node[end] == here:
                    end += 1
                bad = here >= 0 and (
                    crowd < m
                    or _too_probable(owner, begin, end, leaves[here], crowd, c, times, met)
                    or _too_probable(trip, begin, end, leaves[here], rows, c, times, met)
                )
                above = parent[here] if bad and crowd >= m and sensitive[parent[here]] else np.int64(-1)
                if bad and above >= 0:
                    while begin > low and stop[begin - 1] >= above:
                        begin -= 1
                    while end < high and stop[end] < last[above]:
                        end += 1
                if bad:
                    for row in range(begin, end):
                        node[row] = above
                    if above < 0 and people[group] == 0:
                        again = True
                if above < 0:
                    begin = end
    return node


@inner
def _units_left(node, owner, low, high, times, met):
    """Return how many people, or trajectories, still have a stop."""
    n = np.int64(0)
    for row in range(low, high):
        if node[row] >= 0 and times[owner[row]] == 0:
            times[owner[row]] = 1
            met[n] = owner[row]
            n += 1
    for i in range(n):
        times[met[i]] = 0
    return n


@inner
def _too_probable(owner, begin, end, leaves, people, c, times, met):
    """Return whether the mean, over people or trajectories, of the probability of a leaf below a node is more than c.

    A person with `o` stops at a node of `l` leaves was at one of them with probability 1 - ((l - 1) / l)^o.  Decided by
    floats where they are far enough from c, else by integers; where these would be too large, the answer is yes.
    """
    n, most = np.int64(0), np.int64(0)
    for row in range(begin, end):
        who = owner[row]
        if times[who] == 0:
            met[n] = who
            n += 1
        times[who] += 1
        most = max(most, times[who])
    few = n * c[1] <= c[0] * people  # then even certainty about each of them would not be too much
    total = lost = 0.0
    for i in range(n):  # Kahan's sum: its error does not grow with the number of people
        term = 1.0 - ((leaves - 1) / leaves) ** float(times[met[i]]) - lost
        lost = (total + term) - total - term
        total += term
    apart = total - people * (c[0] / c[1])
    sure = few or abs(apart) > 1e-15 * people * (most + 16)
    small = float(leaves) ** float(most) * people * c[1] < 4e18
    exact, scale = np.int64(0), np.int64(1)
    if not sure and small:
        for _ in range(most):
            scale *= leaves
    for i in range(n):
        if not sure and small:
            missed = scale
            for _ in range(times[met[i]]):
                missed = missed // leaves * (leaves - 1)
            exact += scale - missed
        times[met[i]] = 0
    if sure:
        return not few and apart > 0
    return not small or exact * c[1] > c[0] * people * scale
