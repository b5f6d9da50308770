"""Greedy k-node partition of a trajectory graph: Algorithms 2 and 3 of Huo, Huang and Meng (2011)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.knode.overlap_graph import NO_EDGE

__all__ = ["partition"]

_FREE, _DROPPED = -2, -1


class _Graph(NamedTuple):
    """The graph, what became of its vertices (`label`), and room for walks.

    ``walks[0]`` counts walks; `seen` and `owner_seen` hold the number of the last walk that came by.  `near` has the
    lightest neighbour of a vertex, `reach` the weight of the lightest edge to the group that grows, and `held` the last
    group that took a vertex of an owner.
    """

    weights: NDArray[np.float64]
    owner: NDArray[np.int64]
    label: NDArray[np.int64]
    near: NDArray[np.int64]
    reach: NDArray[np.float64]
    seen: NDArray[np.int64]
    owner_seen: NDArray[np.int64]
    held: NDArray[np.int64]
    piece: NDArray[np.int64]
    walks: NDArray[np.int64]


@kernel
def partition(weights, owner, k):
    """Return the group of every vertex, -1 where it is dropped; every group is connected and has exactly k owners.

    `owner` holds codes below the number of vertices.  Components do not touch each other, so the lightest edge that is
    left anywhere comes next.  Ties go to the vertex with the smaller number.  O(n^2) time per group and per interchange
    that is tried, O(n) memory beside the weights.
    """
    n = owner.size
    label, near, held = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        label[v], near[v], held[v] = _FREE, -1, -1
    component, groups = np.empty(n, np.int64), np.int64(0)
    graph = _Graph(
        weights, owner, label, near, np.empty(n, np.float64), np.zeros(n, np.int64), np.zeros(n, np.int64), held,
        np.empty(n, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    while True:
        v = _lightest_edge(graph)
        if v < 0:
            break
        owners, size = _walk(graph, v, graph.walks[0] + 1, component)
        if owners >= k:
            _find_group(graph, v, near[v], component[:size], groups, k)
            groups += 1
        else:
            for i in range(size):
                label[component[i]] = _DROPPED
    for v in range(n):
        label[v] = max(label[v], _DROPPED)
    return label


@inner
def _lightest_edge(graph):
    """Return the first end of the lightest edge between free vertices, or -1; `near` has the other end."""
    best, least = np.int64(-1), NO_EDGE
    for v in range(graph.owner.size):
        if graph.label[v] != _FREE:
            continue
        if graph.near[v] < 0 or graph.label[graph.near[v]] != _FREE:
            found = NO_EDGE
            graph.near[v] = -1
            for u in range(graph.owner.size):
                if graph.label[u] == _FREE and graph.weights[v, u] < found:
                    graph.near[v], found = u, graph.weights[v, u]
        if graph.near[v] >= 0 and graph.weights[v, graph.near[v]] < least:
            best, least = v, graph.weights[v, graph.near[v]]
    return best


@inner
def _walk(graph, v, since, found):
    """Write to `found` what free vertices connect to v and were not seen `since` a walk; return its owners and size."""
    graph.walks[0] += 1
    number, owners, size, at = graph.walks[0], np.int64(0), np.int64(1), np.int64(0)
    found[0], graph.seen[v] = v, number
    while at < size:
        u = found[at]
        at += 1
        if graph.owner_seen[graph.owner[u]] != number:
            graph.owner_seen[graph.owner[u]] = number
            owners += 1
        for w in range(graph.owner.size):
            if graph.label[w] == _FREE and graph.seen[w] < since and graph.weights[u, w] < NO_EDGE:
                graph.seen[w] = number
                found[size] = w
                size += 1
    return owners, size


@inner
def _find_group(graph, v, u, component, group, k):
    """Algorithm 3: grow from the edge (v, u) by lightest edges until there are k owners."""
    for w in component:
        graph.reach[w] = NO_EDGE
    owners = _take(graph, v, component, group) + _take(graph, u, component, group)
    while owners < k:
        w = _next(graph, component, -1.0, -1, -1)
        if owners == k - 1 and graph.held[graph.owner[w]] != group:
            w = _last(graph, component, group, w, k)
        owners += _take(graph, w, component, group)


@inner
def _take(graph, v, component, group):
    """Put v into the group; return 1 if its owner is new there, else 0."""
    new = 0 if graph.held[graph.owner[v]] == group else 1
    graph.label[v], graph.held[graph.owner[v]] = group, group
    for w in component:
        graph.reach[w] = min(graph.reach[w], graph.weights[v, w])
    return new


@inner
def _next(graph, component, weight, vertex, group):
    """Return the free vertex that is next to (weight, vertex) in the order of reach; of owners new to the group."""
    best, least = np.int64(-1), NO_EDGE
    for w in component:
        reach = graph.reach[w]
        if graph.label[w] != _FREE or (group >= 0 and graph.held[graph.owner[w]] == group):
            continue
        after = reach > weight or (reach == weight and w > vertex)
        if after and (reach < least or (reach == least and w < best)):
            best, least = w, reach
    return best


@inner
def _last(graph, component, group, first, k):
    """Return the k-th owner's vertex: the lightest that strands nobody, or the `first` choice if all do."""
    stranded, who = _stranded(graph, component, k)
    if stranded > 1:  # one vertex more cannot empty these pieces
        return first
    if stranded == 1:  # only this very vertex will do
        return first if graph.held[graph.owner[who]] == group else who
    w = first
    while w >= 0:
        graph.label[w] = group
        stranded, _ = _stranded(graph, component, k)
        graph.label[w] = _FREE
        if stranded == 0:
            return w
        w = _next(graph, component, graph.reach[w], w, group)
    return first


@inner
def _stranded(graph, component, k):
    """Return how many free vertices are left in pieces of fewer than k owners, and one of them."""
    since, stranded, who = graph.walks[0] + 1, np.int64(0), np.int64(-1)
    for w in component:
        if graph.label[w] == _FREE and graph.seen[w] < since:
            owners, size = _walk(graph, w, since, graph.piece)
            if owners < k:
                stranded, who = stranded + size, w
    return stranded, who
