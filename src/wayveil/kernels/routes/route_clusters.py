"""Clusters of routes on a road network, made one route after the other."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.routes.cluster_candidates import CTREE, GLOBAL, Clusters, Query, best_cluster
from wayveil.kernels.routes.ctree import add_cluster, grown_tree, new_tree, widen_cluster

__all__ = ["cluster_routes"]


@kernel
def cluster_routes(offsets, road, owner_first, owner, fixed, people_on, rule):
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
    rule : Rule
        How clusters are looked for and compared.

    Notes
    -----
    Memory O(rows + people of routes); with the C-tree also a bit per cluster and road.  Time: the rows, and per route
    the clusters that are looked at.

    Examples
    --------
    >>> offsets, road = np.array([0, 2, 3]), np.array([0, 1, 0])
    >>> owner_first, owner, fixed = np.array([0, 3, 4]), np.array([0, 1, 2, 3]), np.array([-1, -1])
    >>> from wayveil.kernels.routes.cluster_candidates import Rule
    >>> rule = Rule(n_people=4, k=3, lookup=1, error=0, share=(3, 5), begins=True, bound=2.25)
    >>> label, begin, end, people = cluster_routes(
    ...     offsets, road, owner_first, owner, fixed, np.array([4, 3]), rule)
    >>> label.tolist(), begin.tolist(), end.tolist(), people.tolist()
    ([0, 0], [0], [2], [4])
    """
    n = offsets.size - 1
    n_roads = people_on.size
    clusters = _empty_clusters(offsets, road, people_on)
    query = _empty_query(n, n_roads)
    tree = new_tree(64, n if rule.lookup == CTREE else 0, n_roads)
    # A hash table of (cluster, person), at most half full.
    size = np.int64(4)
    while size < 2 * owner.size:
        size *= 2
    members = np.zeros(size, np.int64)
    label = np.empty(n, np.int64)
    # Figure 3 of the paper, the outline of clustering-based anonymization.  Before each round the clusters of all
    # routes before are known, with their people, roads and representatives.  A round looks for the best cluster of a
    # route, unless enough people took it, or it is told where to go; with no cluster that fits it begins one.  Then the
    # representative is trimmed anew, as the cluster has more people.
    for s in range(n):
        support = owner_first[s + 1] - owner_first[s]
        length = offsets[s + 1] - offsets[s]
        _set_query(query, offsets, road, s)
        c = fixed[s]
        if c < 0 and (support < rule.k or not rule.begins):
            c = best_cluster(clusters, tree, query, length, support, rule)
        if c < 0 and rule.begins:
            c = clusters.n_clusters[0]
        label[s] = c
        if c >= 0:
            is_new = c == clusters.n_clusters[0]
            if is_new:
                clusters.n_clusters[0] += 1
                clusters.creator[c] = s
                clusters.head[c] = -1
            # What is published changes: the cluster goes with its people so far, and comes back with all of them.
            if rule.error == GLOBAL:
                _count_representative(clusters, query, c, -clusters.people[c])
                for at in range(query.n_distinct[0]):
                    clusters.change[query.roads[at]] -= support
            for at in range(owner_first[s], owner_first[s + 1]):
                clusters.people[c] += _is_new_member(members, c * rule.n_people + owner[at] + 1)
            n_added = _add_roads(clusters, query, c)
            _trim(clusters, offsets, c)
            if rule.error == GLOBAL:
                _count_representative(clusters, query, c, clusters.people[c])
            if rule.lookup == CTREE and is_new:
                tree = grown_tree(tree)
                add_cluster(tree, c, query.hits, n_added)
            elif rule.lookup == CTREE:
                widen_cluster(tree, c, query.hits, n_added)
        for row in range(offsets[s], offsets[s + 1]):
            query.times[road[row]] = 0
    m = clusters.n_clusters[0]
    return label, clusters.begin[:m].copy(), clusters.end[:m].copy(), clusters.people[:m].copy()


@inner
def _empty_clusters(offsets, road, people_on):
    """Return no clusters, with room for one per route; a road has room for as many as there are rows with it."""
    n = offsets.size - 1
    n_roads = people_on.size
    rows = road.size
    first = np.zeros(n_roads + 1, np.int64)
    for row in range(rows):
        first[road[row] + 1] += 1
    for r in range(n_roads):
        first[r + 1] += first[r]
    each = np.zeros(n, np.int64)
    per_road = np.zeros(n_roads, np.int64)
    per_row = np.zeros(rows, np.int64)
    return Clusters(
        road, people_on, each.copy(), each.copy(), each.copy(), each.copy(), each.copy(), each,
        per_row.copy(), per_row.copy(), first, per_row, per_road.copy(), per_road,
        np.zeros(1, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip


@inner
def _empty_query(n, n_roads):
    """Return room for searches among n clusters."""
    each = np.zeros(n_roads, np.int64)
    return Query(
        each.copy(),
        each.copy(),
        np.zeros(max(n, n_roads), np.int64),
        np.zeros(n, np.int64),
        each,
        np.zeros(1, np.int64),
    )


@inner
def _set_query(query, offsets, road, s):
    """Take route s as the query."""
    n_distinct = np.int64(0)
    for row in range(offsets[s], offsets[s + 1]):
        if query.times[road[row]] == 0:
            query.roads[n_distinct] = road[row]
            n_distinct += 1
        query.times[road[row]] += 1
    query.n_distinct[0] = n_distinct


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
def _add_roads(clusters, query, c):
    """Add the roads of the query to a cluster; leave those that it did not have in ``query.hits``, return how many."""
    link = clusters.head[c]
    n_added = np.int64(0)
    while link >= 0:
        query.mark[clusters.listed[link]] = 1
        link = clusters.next[link]
    for at in range(query.n_distinct[0]):
        r = query.roads[at]
        if query.mark[r] == 0:
            query.hits[n_added] = r
            n_added += 1
    link = clusters.head[c]
    while link >= 0:
        query.mark[clusters.listed[link]] = 0
        link = clusters.next[link]
    for at in range(n_added):
        r = query.hits[at]
        link = clusters.n_links[0]
        clusters.n_links[0] += 1
        clusters.listed[link] = r
        clusters.next[link] = clusters.head[c]
        clusters.head[c] = link
        clusters.road_clusters[clusters.road_first[r] + clusters.road_n[r]] = c
        clusters.road_n[r] += 1
    clusters.n_roads[c] += n_added
    return n_added


@inner
def _trim(clusters, offsets, c):
    """Take roads from both ends of the first route while its people are too many for them; one road stays."""
    # Figure 7 of the paper: a road is taken where it would gain more people than it had, an error of more than 100 %.
    # Only from the ends: what is published must be a way that one can drive.
    road = clusters.road
    people_on = clusters.people_on
    first = offsets[clusters.creator[c]]
    last = offsets[clusters.creator[c] + 1] - 1
    people = clusters.people[c]
    again = True
    while first < last and again:
        again = False
        if people_on[road[first]] < people - people_on[road[first]]:
            first += 1
            again = True
        if first < last and people_on[road[last]] < people - people_on[road[last]]:
            last -= 1
            again = True
    clusters.begin[c] = first
    clusters.end[c] = last + 1


@inner
def _count_representative(clusters, query, c, people):
    """Add people to the change of every road of the representative, once where a road comes twice."""
    road = clusters.road
    for row in range(clusters.begin[c], clusters.end[c]):
        if query.mark[road[row]] == 0:
            clusters.change[road[row]] += people
            query.mark[road[row]] = 1
    for row in range(clusters.begin[c], clusters.end[c]):
        query.mark[road[row]] = 0
