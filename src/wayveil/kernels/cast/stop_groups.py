"""Groups of trajectories whose places are near to each other in a taxonomy.

This is FindBestGroup of Algorithm 1 (CAST).  The paper tries all permutations of m trajectories; here groups grow
greedily, and then members are exchanged between groups.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.cast.member_swaps import exchange
from wayveil.kernels.cast.taxonomy_cover import cover
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["near_groups"]


@kernel
def near_groups(places, owner, secrets, most, m, tree, rounds, tries):
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
    tree : WeightedTree
    rounds, tries : int
        At most so many rounds of exchanges.  With fewer than `tries` trajectories the greedy search begins at several
        of them, and the best result counts.

    Notes
    -----
    A group costs, per member and place, the weight of the lowest common ancestor less that of the place: the hops or
    leaves of Definitions 11 and 12.  O((n + tries) x n x width) time without the exchanges, O(n x width) memory.

    Examples
    --------
    >>> from wayveil.kernels.cast.taxonomy_cover import WeightedTree
    >>> last, parent = np.array([5, 3, 3, 5, 5]), np.array([-1, 0, 1, 0, 3])  # node 0 above 1 above 2, and 3 above 4
    >>> tree = WeightedTree(last, parent, np.array([2, 1, 0, 1, 0]))
    >>> places, none, two = np.array([[2], [4], [2], [4]]), np.empty((4, 0), np.int64), np.array([[0], [1], [0], [1]])
    >>> near_groups(places, np.arange(4), none, 2, 2, tree, 1, 1).tolist()
    [0, 1, 0, 1]
    >>> near_groups(places, np.arange(4), two, 1, 2, tree, 1, 1).tolist()  # no secret twice
    [0, 0, 1, 1]
    """
    n, width = places.shape
    n_starts = min(n, max(np.int64(1), tries // max(n, 1)))
    label = np.empty(n, np.int64)
    least = np.int64(-1)
    turned_places = np.empty((n, width), np.int64)
    turned_owner = np.empty(n, np.int64)
    turned_secrets = np.empty(secrets.shape, np.int64)
    n_secrets = np.int64(0)
    for i in range(n):
        for s in range(secrets.shape[1]):
            n_secrets = max(n_secrets, secrets[i, s] + 1)
    times = np.zeros(n_secrets, np.int64)
    # The greedy search begins with the first trajectory, and what it finds depends on that.  Each try turns the table,
    # so that another one is the first, and the cheapest groups of all tries are kept.
    for start in range(n_starts):
        first = start * n // n_starts
        for i in range(n):
            at = (first + i) % n
            turned_owner[i] = owner[at]
            for p in range(width):
                turned_places[i, p] = places[at, p]
            for s in range(secrets.shape[1]):
                turned_secrets[i, s] = secrets[at, s]
        member = np.empty((n // m, m), np.int64)
        n_groups = _grow_groups(turned_places, turned_owner, turned_secrets, most, tree, member, times)
        cost, members = exchange(turned_places, turned_owner, turned_secrets, most, member[:n_groups], tree, rounds)
        if least < 0 or cost < least:
            least = cost
            for i in range(n):
                label[(first + i) % n] = members[i]
    return label


@inner
def _grow_groups(places, owner, secrets, most, tree, member, times):
    """Begin groups with the first that is left, and add whoever makes them least heavy; return how many were made.

    Group g is written to ``member[g]`` (int64, one column per member).  A group for which nobody is left who may join
    is given up: its first member is left over, the others go back.  `times` (int64, one per secret) is all 0 before
    and after.
    """
    n, width = places.shape
    m = member.shape[1]
    last = tree.last
    parent = tree.parent
    weight = tree.weight
    follow = np.empty(n + 1, np.int64)  # follow[0] is the first that is left, follow[i + 1] the one after i
    for i in range(n + 1):
        follow[i] = i
    left = np.zeros(n, np.int64)  # per person, the trajectories that are left
    n_people = np.int64(0)  # who have one left
    for i in range(n):
        n_people += left[owner[i]] == 0
        left[owner[i]] += 1
    grouped = np.zeros(n, np.int64)  # per person, the last round in which one of theirs was taken
    node = np.empty(width, np.int64)  # the lowest common ancestors of the group
    linked = np.empty(m, np.int64)  # per member, what it followed
    n_groups = np.int64(0)
    round_ = np.int64(0)
    # Before each round, a trajectory is left, or in one of the groups that were made, or given up.  A round makes a
    # group around the first that is left, or gives this one up; either way fewer are left.  Members leave the list one
    # by one; taken back in the opposite order, each finds its place again (Knuth's dancing links).
    while n_people >= m:
        round_ += 1
        for p in range(width):
            node[p] = places[follow[0], p]
        n_taken = np.int64(0)
        while n_taken < m:
            # Whoever makes the group least heavy; the first member is the first that is left.
            nearest = np.int64(-1)
            least = np.int64(-1)
            before = np.int64(0)
            link = np.int64(0)
            i = follow[0]
            while i < n and not (n_taken == 0 and nearest >= 0):
                if grouped[owner[i]] != round_ and (n_taken == 0 or _may_join(secrets, i, times, most)):
                    cost = np.int64(0)
                    p = 0
                    while p < width and (nearest < 0 or cost < least):
                        cost += weight[cover(node[p], places[i, p], last, parent)]
                        p += 1
                    if nearest < 0 or cost < least:
                        nearest = i
                        least = cost
                        before = link
                link = i + 1
                i = follow[i + 1]
            if nearest < 0:
                break
            for p in range(width):
                node[p] = cover(node[p], places[nearest, p], last, parent)
            member[n_groups, n_taken] = nearest
            linked[n_taken] = before
            follow[before] = follow[nearest + 1]
            grouped[owner[nearest]] = round_
            _count_secrets(secrets, nearest, times, 1)
            n_taken += 1
        # The first member was not asked whether it may join: its own secrets can be those of too many.
        is_group = n_taken == m and _may_join(secrets, member[n_groups, 0], times, most + 1)
        for s in range(n_taken - 1, -1, -1):
            i = member[n_groups, s]
            _count_secrets(secrets, i, times, -1)
            if is_group or s == 0:
                left[owner[i]] -= 1
                n_people -= left[owner[i]] == 0
            if not is_group and s > 0:
                follow[linked[s]] = i
        n_groups += is_group
    return n_groups


@inner
def _may_join(secrets, i, times, most):
    """Return whether fewer than `most` have each of the secrets of a trajectory."""
    fits = True
    for s in range(secrets.shape[1]):
        if secrets[i, s] >= 0:
            fits &= times[secrets[i, s]] < most
    return fits


@inner
def _count_secrets(secrets, i, times, step):
    """Count the secrets of a trajectory, or take them back."""
    for s in range(secrets.shape[1]):
        if secrets[i, s] >= 0:
            times[secrets[i, s]] += step
