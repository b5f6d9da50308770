"""Which clusters of routes a further route could join, and which of them is the best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.routes.ctree import similar_in_tree

__all__ = ["CTREE", "GLOBAL", "INVERTED", "LITERAL", "REPAIRED", "SCAN", "Clusters", "Query", "Rule", "best_cluster"]

SCAN = 0
INVERTED = 1
CTREE = 2
"""How clusters are looked for: all of them, by the roads that they have, or in the C-tree of the paper."""

REPAIRED = 0
LITERAL = 1
GLOBAL = 2
"""What is to be small: see `best_cluster`."""


class Rule(NamedTuple):
    """How routes are clustered.

    Parameters
    ----------
    n_people, k : int
        Number of people; how many of them let a route begin a cluster without a search.
    lookup, error : int
        How clusters are looked for, and what is to be small: see above.
    share : (int, int)
        Numerator and denominator: a candidate has more than this share of the distinct roads of a route.
    begins : bool
        Whether routes may begin clusters that are not given.
    bound : float
        The largest error, see `best_cluster`.
    """

    n_people: int
    k: int
    lookup: int
    error: int
    share: tuple[int, int]
    begins: bool
    bound: float


class Clusters(NamedTuple):
    """The clusters so far, written by `cluster_routes`, and the roads that they are made of.

    Parameters
    ----------
    road : int64, one per row
        The roads of all routes, as codes from 0; nobody writes to it.
    people_on : int64, one per road
        The people on it, at least one; nobody writes to it.
    creator, begin, end, people, n_roads : int64, one per cluster
        The route that it began with; which rows of it are the representative; distinct owners; distinct roads.
    head, next, listed : int64, one per cluster, one per row, one per row
        The distinct roads of a cluster as a chain: `listed` at ``head[c]``, then at the `next` of this link, to -1.
    road_first, road_clusters, road_n : int64, one per road (one more), one per row, one per road
        The clusters with a road: ``road_clusters[road_first[r]:road_first[r] + road_n[r]]``.
    change : int64, one per road
        How many more people are published on a road than there were, if all other routes stayed as they are.
    n_clusters, n_links : int64, arrays of one
        Number of clusters, number of links in chains.
    """

    road: Any
    people_on: Any
    creator: Any
    begin: Any
    end: Any
    people: Any
    n_roads: Any
    head: Any
    next: Any
    listed: Any
    road_first: Any
    road_clusters: Any
    road_n: Any
    change: Any
    n_clusters: Any
    n_links: Any


class Query(NamedTuple):
    """Room for one search after the other.

    Parameters
    ----------
    roads : int64, one per road
        The distinct roads of the route: the first ``n_distinct[0]``.
    times : int64, one per road
        How often each road occurs in the route; all 0 between routes.
    hits : int64, one per cluster or road
        The clusters that were found, or the roads that were added.
    common : int64, one per cluster
        How many distinct roads it shares with the route; all 0 between searches.
    mark : int64, one per road
        Scratch, all 0 between its uses.
    n_distinct : int64, array of one
        How many distinct roads the route has.
    """

    roads: Any
    times: Any
    hits: Any
    common: Any
    mark: Any
    n_distinct: Any


@inner
def best_cluster(clusters, tree, query, length, support, rule):
    """Return the cluster that a route should join, or -1: of those with more than a share of its roads the best one.

    With the number D of roads that differ from the representative (repeated roads count as often as they occur):
    LITERAL is the least D / (roads of the cluster and the route), if ``support^2`` times this is below `bound`;
    REPAIRED the least D / (roads of the representative and the route), if ``support^2 D`` is below `bound`, or, with a
    negative bound, if D is below the length of the route; GLOBAL the least mean relative change of the traffic on the
    roads of the cluster and the route, if it is below `bound`.  Of equal ones the oldest cluster.

    `length` is that of the route, `support` the number of people who took it.
    """
    n_distinct = query.n_distinct[0]
    error = rule.error
    bound = rule.bound
    n_found = _find_similar(clusters, tree, query, rule.lookup, rule.share)
    # Figure 5 of the paper: of the candidates the one with the least error.  Whether it is small enough is asked of the
    # best one alone, so a worse one that fits does not help.
    best = np.int64(-1)
    least = 0.0
    fits = False
    for at in range(n_found):
        c = query.hits[at]
        shared = query.common[c]
        query.common[c] = 0
        size = clusters.end[c] - clusters.begin[c]
        if error == GLOBAL:
            score = _global_error(clusters, query, c, shared, support)
            fit = score < bound
        else:
            roads = clusters.n_roads[c] + n_distinct - shared if error == LITERAL else np.int64(0)
            most = min(size, shared + length - n_distinct)  # no more than this can be in both
            if best >= 0 and _local_error(size + length, most, roads) > least:
                continue
            both = _in_both(clusters, query, c)
            differ = size + length - 2 * both
            score = _local_error(size + length, both, roads)
            if error == LITERAL:
                fit = support * support * differ < bound * roads
            else:
                fit = differ < length if bound < 0 else support * support * differ < bound
        if best < 0 or score < least or (score == least and c < best):
            best = c
            least = score
            fits = fit
    return best if fits else np.int64(-1)


@inner
def _find_similar(clusters, tree, query, index, share):
    """Write the clusters that have more than a share of the roads of the query to ``query.hits``; return how many.

    How many roads each shares goes to ``query.common``; that of all others is 0.
    """
    n_distinct = query.n_distinct[0]
    n_found = np.int64(0)
    if index == CTREE:
        return similar_in_tree(tree, query.roads, n_distinct, share, query.hits, query.common)
    if index == SCAN:
        for c in range(clusters.n_clusters[0]):
            shared = np.int64(0)
            link = clusters.head[c]
            while link >= 0:
                shared += query.times[clusters.listed[link]] > 0
                link = clusters.next[link]
            if shared * share[1] > share[0] * n_distinct:
                query.hits[n_found] = c
                query.common[c] = shared
                n_found += 1
        return n_found
    # By the roads of the route: count in how many of their lists a cluster stands, then forget those with too few.
    n_touched = np.int64(0)
    for at in range(n_distinct):
        begin = clusters.road_first[query.roads[at]]
        for entry in range(begin, begin + clusters.road_n[query.roads[at]]):
            c = clusters.road_clusters[entry]
            if query.common[c] == 0:
                query.hits[n_touched] = c
                n_touched += 1
            query.common[c] += 1
    for at in range(n_touched):
        c = query.hits[at]
        if query.common[c] * share[1] > share[0] * n_distinct:
            query.hits[n_found] = c
            n_found += 1
        else:
            query.common[c] = 0
    return n_found


@inner
def _local_error(sizes, both, roads):
    """Return the share of differing roads among `roads`, or among those of the two routes if this is 0."""
    return (sizes - 2 * both) / (roads if roads else sizes - both)


@inner
def _in_both(clusters, query, c):
    """Return how many roads the representative and the route have in common, each as often as in both."""
    # A road is counted in both as long as the route has one left; `mark` notes what was taken, to put it back.
    road = clusters.road
    both = np.int64(0)
    for row in range(clusters.begin[c], clusters.end[c]):
        if query.times[road[row]] > 0:
            both += 1
            query.times[road[row]] -= 1
            query.mark[road[row]] += 1
    for row in range(clusters.begin[c], clusters.end[c]):
        query.times[road[row]] += query.mark[road[row]]
        query.mark[road[row]] = 0
    return both


@inner
def _global_error(clusters, query, c, shared, support):
    """Return Equation 1 of the paper over the roads of the cluster and the route, if the route joined it.

    The people of the route leave its own roads and come to those of the representative.
    """
    road = clusters.road
    people_on = clusters.people_on
    n_distinct = query.n_distinct[0]
    for row in range(clusters.begin[c], clusters.end[c]):
        query.mark[road[row]] = support
    total = 0.0
    link = clusters.head[c]
    while link >= 0:
        r = clusters.listed[link]
        moved = query.mark[r] - (support if query.times[r] > 0 else 0)
        total += abs(clusters.change[r] + moved) / people_on[r]
        query.times[r] = -query.times[r]  # seen, so that only roads outside of the cluster are left
        link = clusters.next[link]
    for at in range(n_distinct):
        r = query.roads[at]
        if query.times[r] > 0:
            total += abs(clusters.change[r] - support) / people_on[r]
        else:
            query.times[r] = -query.times[r]
    for row in range(clusters.begin[c], clusters.end[c]):
        query.mark[road[row]] = 0
    return total / (clusters.n_roads[c] + n_distinct - shared)
