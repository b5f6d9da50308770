"""Clusters of routes on a road network, made one route after the other."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.routes.cluster_candidates import CTREE, GLOBAL, Clusters, Query, best_cluster
from wayveil.kernels.routes.ctree import add_cluster, grown_tree, new_tree, widen_cluster

__all__ = ["cluster_routes"]


@kernel
def cluster_routes(offsets, road, owner_first, owner, fixed, people_on, options, bound):
    """Return (cluster of each route or -1; and per cluster: begin and end of its representative in `road`, people).

    Routes come one after the other, those with most people first.  One with at least k people, or with no cluster that
    it fits, begins a cluster.  The representative of a cluster is its first route, without the roads at its ends on
    which the people of the cluster would be more than twice those who were there.

    Parameters
    ----------
    offsets, road : int64
        The distinct routes: row by row the roads, as codes from 0.
    owner_first, owner : int64
        The distinct people of each route, as codes from 0.
    fixed : int64, one per route
        The cluster that it is put into without search, or -1; clusters are numbered by their first route.
    people_on : int64, one per road
        The people on it; at least one.
    options : int64
        Number of people, k, index, error (see `best_cluster`), share of roads as numerator and denominator, and
        whether routes may begin clusters that are not given by `fixed`.
    bound : float
        The largest error, see `best_cluster`.

    Notes
    -----
    Memory O(rows + people of routes); with the C-tree also a bit per cluster and road.  Time: the rows, and per route
    the clusters that are looked at.

    Examples
    --------
    >>> offsets, road = np.array([0, 2, 3]), np.array([0, 1, 0])
    >>> owner_first, owner, fixed = np.array([0, 3, 4]), np.array([0, 1, 2, 3]), np.array([-1, -1])
    >>> options = np.array([4, 3, 1, 0, 3, 5, 1])
    >>> label, begin, end, people = cluster_routes(
    ...     offsets, road, owner_first, owner, fixed, np.array([4, 3]), options, 2.25)
    >>> label.tolist(), begin.tolist(), end.tolist(), people.tolist()
    ([0, 0], [0], [2], [4])
    """
    n, n_roads = offsets.size - 1, people_on.size
    n_people, k, index, error, share, begins = (
        options[0],
        options[1],
        options[2],
        options[3],
        options[4:6],
        options[6],
    )
    clusters, query = _empty_clusters(offsets, road, n_roads), _empty_query(n, n_roads)
    tree = new_tree(64, n if index == CTREE else 0, n_roads)
    size = np.int64(4)
    while size < 2 * owner.size:
        size *= 2
    members, label = np.zeros(size, np.int64), np.empty(n, np.int64)
    for s in range(n):
        support, length = owner_first[s + 1] - owner_first[s], offsets[s + 1] - offsets[s]
        n_distinct, c = _set_query(query, offsets, road, s), fixed[s]
        if c < 0 and (support < k or not begins):
            c = best_cluster(
                clusters, tree, query, road, n_distinct, length, support, people_on, index, error, share, bound
            )
        if c < 0 and begins:
            c = clusters.meta[0]
        label[s] = c
        if c >= 0:
            new = c == clusters.meta[0]
            if new:
                clusters.meta[0] += 1
                clusters.creator[c], clusters.head[c] = s, -1
            if error == GLOBAL:
                _change(clusters, query, road, c, -clusters.people[c])
                for at in range(n_distinct):
                    clusters.change[query.roads[at]] -= support
            for at in range(owner_first[s], owner_first[s + 1]):
                clusters.people[c] += _is_new_member(members, c * n_people + owner[at] + 1)
            n_added = _add_roads(clusters, query, n_distinct, c)
            _trim(clusters, offsets, road, people_on, c)
            if error == GLOBAL:
                _change(clusters, query, road, c, clusters.people[c])
            if index == CTREE and new:
                tree = grown_tree(tree)
                add_cluster(tree, c, query.found, n_added)
            elif index == CTREE:
                widen_cluster(tree, c, query.found, n_added)
        for row in range(offsets[s], offsets[s + 1]):
            query.times[road[row]] = 0
    m = clusters.meta[0]
    return label, clusters.begin[:m].copy(), clusters.end[:m].copy(), clusters.people[:m].copy()


@inner
def _empty_clusters(offsets, road, n_roads):
    n, rows = offsets.size - 1, road.size
    first = np.zeros(n_roads + 1, np.int64)
    for row in range(rows):
        first[road[row] + 1] += 1
    for r in range(n_roads):
        first[r + 1] += first[r]
    each, per_road, per_row = np.zeros(n, np.int64), np.zeros(n_roads, np.int64), np.zeros(rows, np.int64)
    return Clusters(
        each.copy(), each.copy(), each.copy(), each.copy(), each.copy(), each,
        per_row.copy(), per_row.copy(), first, per_row, per_road.copy(), per_road, np.zeros(2, np.int64),
    )  # fmt: skip


@inner
def _empty_query(n, n_roads):
    each = np.zeros(n_roads, np.int64)
    return Query(each.copy(), each.copy(), np.zeros(max(n, n_roads), np.int64), np.zeros(n, np.int64), each)


@inner
def _set_query(query, offsets, road, s):
    """Take a route as the query; return how many distinct roads it has."""
    n_distinct = np.int64(0)
    for row in range(offsets[s], offsets[s + 1]):
        if query.times[road[row]] == 0:
            query.roads[n_distinct] = road[row]
            n_distinct += 1
        query.times[road[row]] += 1
    return n_distinct


@inner
def _is_new_member(members, key):
    """Return 1 and keep the key (a cluster and a person) if it is not in the table yet, else 0."""
    slot = ((key * 0x2545F4914F6CDD1D) >> 20) & (members.size - 1)
    while members[slot] != 0:
        if members[slot] == key:
            return 0
        slot = (slot + 1) & (members.size - 1)
    members[slot] = key
    return 1


@inner
def _add_roads(clusters, query, n_distinct, c):
    """Add the roads of the query to a cluster; leave those that it did not have in ``query.found``, return how many."""
    place, n_added = clusters.head[c], np.int64(0)
    while place >= 0:
        query.mark[clusters.listed[place]] = 1
        place = clusters.next[place]
    for at in range(n_distinct):
        r = query.roads[at]
        if query.mark[r] == 0:
            query.found[n_added] = r
            n_added += 1
    place = clusters.head[c]
    while place >= 0:
        query.mark[clusters.listed[place]] = 0
        place = clusters.next[place]
    for at in range(n_added):
        r, place = query.found[at], clusters.meta[1]
        clusters.listed[place], clusters.next[place], clusters.head[c] = r, clusters.head[c], place
        clusters.meta[1] += 1
        clusters.clusters[clusters.first[r] + clusters.n_clusters[r]] = c
        clusters.n_clusters[r] += 1
    clusters.n_roads[c] += n_added
    return n_added


@inner
def _trim(clusters, offsets, road, people_on, c):
    """Take roads from both ends of the first route while its people are too many for them; one road stays."""
    first, last = offsets[clusters.creator[c]], offsets[clusters.creator[c] + 1] - 1
    people, again = clusters.people[c], True
    while first < last and again:
        again = False
        if people_on[road[first]] < people - people_on[road[first]]:
            first += 1
            again = True
        if first < last and people_on[road[last]] < people - people_on[road[last]]:
            last -= 1
            again = True
    clusters.begin[c], clusters.end[c] = first, last + 1


@inner
def _change(clusters, query, road, c, people):
    """Count people on every road of the representative once."""
    for row in range(clusters.begin[c], clusters.end[c]):
        if query.mark[road[row]] == 0:
            clusters.change[road[row]] += people
            query.mark[road[row]] = 1
    for row in range(clusters.begin[c], clusters.end[c]):
        query.mark[road[row]] = 0
