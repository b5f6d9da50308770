"""Groups of trajectories whose places are near to each other in a taxonomy."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.cast_cover import cover
from wayveil.kernels.cast_swaps import exchange
from wayveil.kernels.jit import inner, kernel

__all__ = ["near_groups"]


@kernel
def near_groups(places, owner, m, last, parent, weight, rounds, tries):
    """Return the group of each trajectory, or -1: groups of `m` people each, until fewer people are left.

    Exchanges with those left over may change whose they are; if they are of `m` people again, call again for these.

    Parameters
    ----------
    places : int64, (trajectories, width)
        Their places, as nodes in preorder; those next to each other should be near.
    owner : int64, one per trajectory
        Codes from 0 on, each smaller than the number of trajectories.
    last, parent, weight : int64, one per node
        The nodes at or below `v` are those from `v` to before ``last[v]``.  Weights grow upwards.
    rounds, tries : int
        At most so many rounds of exchanges.  With fewer than `tries` trajectories the greedy search begins at several
        of them, and the best result counts.

    Notes
    -----
    A group costs, per member and place, the weight of the lowest common ancestor less that of the place.
    O((n + tries) x n x width) time without the exchanges, O(n x width) memory.

    Examples
    --------
    >>> last, parent = np.array([5, 3, 3, 5, 5]), np.array([-1, 0, 1, 0, 3])  # node 0 above 1 above 2, and 3 above 4
    >>> places = np.array([[2], [4], [2], [4]])
    >>> near_groups(places, np.arange(4), 2, last, parent, np.array([2, 1, 0, 1, 0]), 1, 1).tolist()
    [0, 1, 0, 1]
    """
    n, width = places.shape
    starts = min(n, max(np.int64(1), tries // max(n, 1)))
    label, least = np.empty(n, np.int64), np.int64(-1)
    turned, who = np.empty((n, width), np.int64), np.empty(n, np.int64)
    for start in range(starts):
        first = start * n // starts
        for i in range(n):
            at = (first + i) % n
            who[i] = owner[at]
            for p in range(width):
                turned[i, p] = places[at, p]
        member = np.empty((n // m, m), np.int64)
        made = _greedy(turned, who, m, last, parent, weight, member)
        cost, found = exchange(turned, who, member, made, last, parent, weight, rounds)
        if least < 0 or cost < least:
            least = cost
            for i in range(n):
                label[(first + i) % n] = found[i]
    return label


@inner
def _greedy(places, owner, m, last, parent, weight, member):
    """Begin groups with the first that is left, and add whoever makes them least heavy; return how many were made."""
    n, width = places.shape
    follow = np.empty(n + 1, np.int64)  # follow[0] is the first that is left, follow[i + 1] the one after i
    for i in range(n + 1):
        follow[i] = i
    left, grouped = np.zeros(n, np.int64), np.zeros(n, np.int64)
    people, made = np.int64(0), np.int64(0)
    for i in range(n):
        people += left[owner[i]] == 0
        left[owner[i]] += 1
    node = np.empty(width, np.int64)
    while people >= m:
        for p in range(width):
            node[p] = places[follow[0], p]
        for s in range(m):
            found, best, before = np.int64(-1), np.int64(-1), np.int64(0)
            link, i = np.int64(0), follow[0]
            while i < n and not (s == 0 and found >= 0):
                if grouped[owner[i]] != made + 1:
                    cost, p = np.int64(0), 0
                    while p < width and (found < 0 or cost < best):
                        cost += weight[cover(node[p], places[i, p], last, parent)]
                        p += 1
                    if found < 0 or cost < best:
                        found, best, before = i, cost, link
                link, i = i + 1, follow[i + 1]
            for p in range(width):
                node[p] = cover(node[p], places[found, p], last, parent)
            member[made, s] = found
            follow[before] = follow[found + 1]
            grouped[owner[found]] = made + 1
            left[owner[found]] -= 1
            people -= left[owner[found]] == 0
        made += 1
    return made
