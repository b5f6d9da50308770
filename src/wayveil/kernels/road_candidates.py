"""Which clusters of routes a further route could join, and which of them is the best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.routes.ctree import similar_in_tree

__all__ = ["CTREE", "GLOBAL", "INVERTED", "LITERAL", "REPAIRED", "SCAN", "Clusters", "Query", "best_cluster"]

SCAN, INVERTED, CTREE = 0, 1, 2
"""How clusters are looked for: all of them, by the roads that they have, or in the C-tree."""

REPAIRED, LITERAL, GLOBAL = 0, 1, 2
"""What is to be small: see `best_cluster`."""


class Clusters(NamedTuple):
    """The clusters so far.

    Parameters
    ----------
    creator, begin, end, people, n_roads : int64, one per cluster
        The route that it began with; which rows of it are the representative; distinct owners; distinct roads.
    head, next, listed : int64
        The distinct roads of a cluster as a chain: `listed` at ``head[c]``, then at the `next` of this place, to -1.
    first, clusters, n_clusters : int64, one per road (one more; one per row)
        The clusters with a road: ``clusters[first[r]:first[r] + n_clusters[r]]``.
    change : int64, one per road
        How many more people are published on a road than there were, if all other routes stayed as they are.
    meta : int64
        Number of clusters, number of places in chains.
    """

    creator: Any
    begin: Any
    end: Any
    people: Any
    n_roads: Any
    head: Any
    next: Any
    listed: Any
    first: Any
    clusters: Any
    n_clusters: Any
    change: Any
    meta: Any


class Query(NamedTuple):
    """Room for one search: distinct roads of the route, how often each occurs in it, clusters found, marks."""

    roads: Any
    times: Any
    found: Any
    common: Any
    mark: Any


@inner
def best_cluster(clusters, tree, query, road, n_distinct, length, support, people_on, index, error, share, bound):
    """Return the cluster that a route should join, or -1: of those with more than a share of its roads the best one.

    With the number D of roads that differ from the representative (repeated roads count as often as they occur):
    LITERAL is the least D / (roads of the cluster and the route), if ``support^2`` times this is below `bound`;
    REPAIRED the least D / (roads of the representative and the route), if ``support^2 D`` is below `bound`, or, with a
    negative bound, if D is below the length of the route; GLOBAL the least mean relative change of the traffic on the
    roads of the cluster and the route, if it is below `bound`.  Of equal ones the oldest cluster.
    """
    n_found = _similar(clusters, tree, query, n_distinct, index, share)
    best, least, fits = np.int64(-1), 0.0, False
    for at in range(n_found):
        c = query.found[at]
        shared = query.common[c]
        query.common[c] = 0
        size = clusters.end[c] - clusters.begin[c]
        if error == GLOBAL:
            score = _global_error(clusters, query, road, c, n_distinct, shared, support, people_on)
            fit = score < bound
        else:
            roads = clusters.n_roads[c] + n_distinct - shared if error == LITERAL else np.int64(0)
            most = min(size, shared + length - n_distinct)  # no more than this can be in both
            if best >= 0 and _local_error(size + length, most, roads) > least:
                continue
            both = _in_both(clusters, query, road, c)
            differ = size + length - 2 * both
            score = _local_error(size + length, both, roads)
            if error == LITERAL:
                fit = support * support * differ < bound * roads
            else:
                fit = differ < length if bound < 0 else support * support * differ < bound
        if best < 0 or score < least or (score == least and c < best):
            best, least, fits = c, score, fit
    return best if fits else np.int64(-1)


@inner
def _similar(clusters, tree, query, n_distinct, index, share):
    """Write the clusters that have more than a share of the roads of the query; return how many."""
    n_found = np.int64(0)
    if index == CTREE:
        return similar_in_tree(tree, query.roads, n_distinct, share, query.found, query.common)
    if index == SCAN:
        for c in range(clusters.meta[0]):
            shared, place = np.int64(0), clusters.head[c]
            while place >= 0:
                shared += query.times[clusters.listed[place]] > 0
                place = clusters.next[place]
            if shared * share[1] > share[0] * n_distinct:
                query.found[n_found], query.common[c] = c, shared
                n_found += 1
        return n_found
    n_touched = np.int64(0)
    for at in range(n_distinct):
        begin = clusters.first[query.roads[at]]
        for place in range(begin, begin + clusters.n_clusters[query.roads[at]]):
            c = clusters.clusters[place]
            if query.common[c] == 0:
                query.found[n_touched] = c
                n_touched += 1
            query.common[c] += 1
    for at in range(n_touched):
        c = query.found[at]
        if query.common[c] * share[1] > share[0] * n_distinct:
            query.found[n_found] = c
            n_found += 1
        else:
            query.common[c] = 0
    return n_found


@inner
def _local_error(sizes, both, roads):
    """Return the share of differing roads among `roads`, or among those of the two routes if this is 0."""
    return (sizes - 2 * both) / (roads if roads else sizes - both)


@inner
def _in_both(clusters, query, road, c):
    """Return how many roads the representative and the route have in common, each as often as in both."""
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
def _global_error(clusters, query, road, c, n_distinct, shared, support, people_on):
    """Return Equation 1 over the roads of the cluster and the route, if the route joined it."""
    for row in range(clusters.begin[c], clusters.end[c]):
        query.mark[road[row]] = support
    total, place = 0.0, clusters.head[c]
    while place >= 0:
        r = clusters.listed[place]
        moved = query.mark[r] - (support if query.times[r] > 0 else 0)
        total += abs(clusters.change[r] + moved) / people_on[r]
        query.times[r] = -query.times[r]  # seen, so that only roads outside of the cluster are left
        place = clusters.next[place]
    for at in range(n_distinct):
        r = query.roads[at]
        if query.times[r] > 0:
            total += abs(clusters.change[r] - support) / people_on[r]
        else:
            query.times[r] = -query.times[r]
    for row in range(clusters.begin[c], clusters.end[c]):
        query.mark[road[row]] = 0
    return total / (clusters.n_roads[c] + n_distinct - shared)
