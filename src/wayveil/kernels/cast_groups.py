"""Groups of trajectories whose places are near to each other in a taxonomy."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.cast.member_swaps import exchange
from wayveil.kernels.cast.taxonomy_cover import cover
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["near_groups"]


@kernel
def near_groups(places, owner, secrets, most, m, last, parent, weight, rounds, tries):
    """Return the group of each trajectory, or -1: groups of `m` people each, until fewer people are left.

    No more than `most` members of a group have the same secret, so some of those left over may find no group.
    Exchanges with those left over may change whose they are; if they are of `m` people again, call again for these.

    Parameters
    ----------
    places : int64, (trajectories, width)
        Their places, as nodes in preorder; those next to each other should be near.
    owner : int64, one per trajectory
        Codes from 0 on, each smaller than the number of trajectories.
    secrets : int64, (trajectories, width)
        Different codes from 0 on, and -1 where there are fewer; the width may be 0.
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
    >>> weight, nobody, all_ = np.array([2, 1, 0, 1, 0]), np.empty((4, 0), np.int64), np.array([[0], [1], [0], [1]])
    >>> near_groups(places, np.arange(4), nobody, 2, 2, last, parent, weight, 1, 1).tolist()
    [0, 1, 0, 1]
    >>> near_groups(places, np.arange(4), all_, 1, 2, last, parent, weight, 1, 1).tolist()  # no secret twice
    [0, 0, 1, 1]
    """
    n, width = places.shape
    starts = min(n, max(np.int64(1), tries // max(n, 1)))
    label, least = np.empty(n, np.int64), np.int64(-1)
    turned, who = np.empty((n, width), np.int64), np.empty(n, np.int64)
    kept = np.empty(secrets.shape, np.int64)
    n_secrets = np.int64(0)
    for i in range(n):
        for s in range(secrets.shape[1]):
            n_secrets = max(n_secrets, secrets[i, s] + 1)
    times = np.zeros(n_secrets, np.int64)
    for start in range(starts):
        first = start * n // starts
        for i in range(n):
            at = (first + i) % n
            who[i] = owner[at]
            for p in range(width):
                turned[i, p] = places[at, p]
            for s in range(secrets.shape[1]):
                kept[i, s] = secrets[at, s]
        member = np.empty((n // m, m), np.int64)
        made = _greedy(turned, who, kept, most, m, last, parent, weight, member, times)
        cost, found = exchange(turned, who, kept, most, member, made, last, parent, weight, rounds)
        if least < 0 or cost < least:
            least = cost
            for i in range(n):
                label[(first + i) % n] = found[i]
    return label


@inner
def _greedy(places, owner, secrets, most, m, last, parent, weight, member, times):
    """Begin groups with the first that is left, and add whoever makes them least heavy; return how many were made.

    A group for which nobody is left who may join is given up: its first member is left over, the others go back.
    `times` is all 0 before and after.
    """
    n, width = places.shape
    follow = np.empty(n + 1, np.int64)  # follow[0] is the first that is left, follow[i + 1] the one after i
    for i in range(n + 1):
        follow[i] = i
    left, grouped = np.zeros(n, np.int64), np.zeros(n, np.int64)
    people, made, tried = np.int64(0), np.int64(0), np.int64(0)
    for i in range(n):
        people += left[owner[i]] == 0
        left[owner[i]] += 1
    node = np.empty(width, np.int64)
    linked = np.empty(m, np.int64)
    # Before each round, a trajectory is left, or in one of the groups that were made, or given up.  A round makes a
    # group around the first that is left, or gives this one up; either way fewer are left.  Members leave the list one
    # by one; taken back in the opposite order, each finds its place again (Knuth's dancing links).
    while people >= m:
        tried += 1
        for p in range(width):
            node[p] = places[follow[0], p]
        taken = np.int64(0)
        while taken < m:
            found, best, before = np.int64(-1), np.int64(-1), np.int64(0)
            link, i = np.int64(0), follow[0]
            while i < n and not (taken == 0 and found >= 0):
                if grouped[owner[i]] != tried and (taken == 0 or _may_join(secrets, i, times, most)):
                    cost, p = np.int64(0), 0
                    while p < width and (found < 0 or cost < best):
                        cost += weight[cover(node[p], places[i, p], last, parent)]
                        p += 1
                    if found < 0 or cost < best:
                        found, best, before = i, cost, link
                link, i = i + 1, follow[i + 1]
            if found < 0:
                break
            for p in range(width):
                node[p] = cover(node[p], places[found, p], last, parent)
            member[made, taken] = found
            linked[taken] = before
            follow[before] = follow[found + 1]
            grouped[owner[found]] = tried
            _count(secrets, found, times, 1)
            taken += 1
        whole = taken == m and _may_join(secrets, member[made, 0], times, most + 1)
        for s in range(taken - 1, -1, -1):
            found = member[made, s]
            _count(secrets, found, times, -1)
            if whole or s == 0:
                left[owner[found]] -= 1
                people -= left[owner[found]] == 0
            if not whole and s > 0:
                follow[linked[s]] = found
        made += whole
    return made


@inner
def _may_join(secrets, i, times, most):
    """Return whether fewer than `most` have each of the secrets of a trajectory."""
    fits = True
    for s in range(secrets.shape[1]):
        if secrets[i, s] >= 0:
            fits &= times[secrets[i, s]] < most
    return fits


@inner
def _count(secrets, i, times, step):
    """Count the secrets of a trajectory, or take them back."""
    for s in range(secrets.shape[1]):
        if secrets[i, s] >= 0:
            times[secrets[i, s]] += step
