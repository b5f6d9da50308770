"""Greedy k-node partition of a trajectory graph: Algorithms 2 and 3 of Huo, Huang and Meng (2011)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.knode.overlap_graph import NO_EDGE

__all__ = ["partition"]

# What became of a vertex that is in no group.
_FREE = -2
_DROPPED = -1

# The entries of `span`.
_FROM = 0
_UNTIL = 1

_TRIES = 16  # edges of one trajectory around which a group is looked for in vain


class _Graph(NamedTuple):
    """The graph, what became of its vertices, and room for walks.  All arrays but the weights have an entry per vertex.

    weights
        Vertices x vertices, symmetric, with `NO_EDGE` where there is no edge.  Edges around which there is no group are
        taken out.
    owner
        Whose trajectory a vertex is: codes below the number of vertices.  Nobody writes to it.
    start, end
        The first and the last timestamp of the trajectory of a vertex.  Nobody writes to it.
    span
        The first and the last timestamp that the group shares which grows now.
    failed
        From how many edges of a vertex a group was looked for in vain.
    label
        The group of a vertex, `_FREE` or `_DROPPED`.
    near
        The lightest neighbour of a vertex when `_lightest_edge` last looked for one, or -1.
    reach
        The weight of the lightest edge from a vertex to the group that grows.
    seen, owner_seen
        The number of the last walk that came by a vertex, or a vertex of an owner.
    last_group
        The last group that took a vertex of an owner.
    piece
        Scratch: the vertices of a walk.
    walks
        An array of one: how many walks there were.
    """

    weights: NDArray[np.float64]
    owner: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    span: NDArray[np.int64]
    failed: NDArray[np.int64]
    label: NDArray[np.int64]
    near: NDArray[np.int64]
    reach: NDArray[np.float64]
    seen: NDArray[np.int64]
    owner_seen: NDArray[np.int64]
    last_group: NDArray[np.int64]
    piece: NDArray[np.int64]
    walks: NDArray[np.int64]


@kernel
def partition(weights, owner, start, end, k):
    """Return the group of every vertex, -1 where it is dropped.

    Every group is connected, has exactly k owners, and its trajectories share a timestamp.  The arrays are as in
    `_Graph`; edges are taken out of `weights`.  Ties go to the vertex with the smaller number.  O(n^2) time per group,
    per interchange that is tried and per edge that is taken out (at most `_TRIES` of a vertex), O(n) memory beside the
    weights.
    """
    n = owner.size
    label = np.empty(n, np.int64)
    near = np.empty(n, np.int64)
    last_group = np.empty(n, np.int64)
    for v in range(n):
        label[v] = _FREE
        near[v] = -1
        last_group[v] = -1
    component = np.empty(n, np.int64)
    groups = np.int64(0)
    graph = _Graph(
        weights, owner, start, end, np.zeros(2, np.int64), np.zeros(n, np.int64), label, near,
        np.empty(n, np.float64), np.zeros(n, np.int64), np.zeros(n, np.int64), last_group,
        np.empty(n, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    # Algorithm 2.  Before each round every group has k owners, and components that can have no group are dropped, but
    # for those not yet looked at.  The paper takes one component after the other; they do not touch, so the lightest
    # edge that is left anywhere may come next.  A round finds a group around it (line 2), which leaves the graph
    # (line 3), or drops its whole component if this has too few owners (lines 5 and 8).  Where those around the edge
    # share no time, so that there is no group, the edge leaves the graph, and a vertex that had many such edges is
    # dropped.  Either way vertices stop to be free or edges go, so it ends; vertices without any edge are dropped
    # behind the loop.
    while True:
        v = _lightest_edge(graph)
        if v < 0:
            break
        owners, size = _walk(graph, v, graph.walks[0] + 1, component)
        if owners >= k:
            if _find_group(graph, v, near[v], component[:size], groups, k):
                groups += 1
            else:
                _take_out(graph, v, near[v])
        else:
            for i in range(size):
                label[component[i]] = _DROPPED
    for v in range(n):
        label[v] = max(label[v], _DROPPED)
    return label


@inner
def _lightest_edge(graph):
    """Return the first end of the lightest edge between free vertices, or -1; `near` has the other end."""
    best = np.int64(-1)
    least = NO_EDGE
    for v in range(graph.owner.size):
        if graph.label[v] != _FREE:
            continue
        # Vertices only ever stop to be free: the nearest one stays the nearest until it does.
        if graph.near[v] < 0 or graph.label[graph.near[v]] != _FREE:
            lightest = NO_EDGE
            graph.near[v] = -1
            for u in range(graph.owner.size):
                if graph.label[u] == _FREE and graph.weights[v, u] < lightest:
                    graph.near[v] = u
                    lightest = graph.weights[v, u]
        if graph.near[v] >= 0 and graph.weights[v, graph.near[v]] < least:
            best = v
            least = graph.weights[v, graph.near[v]]
    return best


@inner
def _walk(graph, v, since, component):
    """Write to `component` the free vertices that v reaches, not seen `since` a walk; return its owners and size."""
    # Breadth first: component[:at] were looked at, component[at:size] wait.
    graph.walks[0] += 1
    number = graph.walks[0]
    owners = np.int64(0)
    size = np.int64(1)
    at = np.int64(0)
    component[0] = v
    graph.seen[v] = number
    while at < size:
        u = component[at]
        at += 1
        if graph.owner_seen[graph.owner[u]] != number:
            graph.owner_seen[graph.owner[u]] = number
            owners += 1
        for w in range(graph.owner.size):
            if graph.label[w] == _FREE and graph.seen[w] < since and graph.weights[u, w] < NO_EDGE:
                graph.seen[w] = number
                component[size] = w
                size += 1
    return owners, size


@inner
def _find_group(graph, v, u, component, group, k):
    """Grow a group from the edge (v, u) by lightest edges until there are k owners; `component` has at least as many.

    Two trajectories of one person are two vertices but one owner, so a group may have more than k vertices.  Returns
    whether there is such a group; if not, all of `component` is free as before.
    """
    for w in component:
        graph.reach[w] = NO_EDGE
    # Algorithm 3.  Before each round the group C is connected, and `reach` has the lightest edge of each vertex to it
    # (the set X of the paper).  A round adds the vertex with the lightest of all (lines 9 to 12).  Only the vertex that
    # completes the group is chosen with care: it must not leave a piece that is too small (lines 13 to 25).  All of the
    # paper's trajectories are synchronized; ours must share a timestamp with the whole group, so there may be no next.
    graph.span[_FROM] = max(graph.start[v], graph.start[u])
    graph.span[_UNTIL] = min(graph.end[v], graph.end[u])
    owners = _take(graph, v, component, group) + _take(graph, u, component, group)
    while owners < k:
        w = _next(graph, component, -1.0, -1, -1)
        if w < 0:
            for w in component:
                if graph.label[w] == group:
                    graph.label[w] = _FREE
                    graph.last_group[graph.owner[w]] = -1
            return False
        if owners == k - 1 and graph.last_group[graph.owner[w]] != group:
            w = _last(graph, component, group, w, k)
        owners += _take(graph, w, component, group)
    return True


@inner
def _take_out(graph, v, u):
    """Take an edge out of the graph; drop an end of which many were taken out."""
    graph.weights[v, u] = NO_EDGE
    graph.weights[u, v] = NO_EDGE
    for w in (v, u):
        graph.near[w] = -1
        graph.failed[w] += 1
        if graph.failed[w] == _TRIES:
            graph.label[w] = _DROPPED


@inner
def _take(graph, v, component, group):
    """Put v into the group; return 1 if its owner is new there, else 0."""
    new = 0 if graph.last_group[graph.owner[v]] == group else 1
    graph.label[v] = group
    graph.last_group[graph.owner[v]] = group
    graph.span[_FROM] = max(graph.span[_FROM], graph.start[v])
    graph.span[_UNTIL] = min(graph.span[_UNTIL], graph.end[v])
    for w in component:
        graph.reach[w] = min(graph.reach[w], graph.weights[v, w])
    return new


@inner
def _next(graph, component, weight, vertex, group):
    """Return the free vertex that comes after (weight, vertex) in the order of reach, or -1.

    Only vertices that share a timestamp with the group that grows count.  With a group, only vertices of owners who are
    new to it count; with -1 all do.
    """
    best = np.int64(-1)
    least = NO_EDGE
    for w in component:
        reach = graph.reach[w]
        if graph.label[w] != _FREE or (group >= 0 and graph.last_group[graph.owner[w]] == group):
            continue
        if graph.start[w] > graph.span[_UNTIL] or graph.end[w] < graph.span[_FROM]:
            continue
        after = reach > weight or (reach == weight and w > vertex)
        if after and (reach < least or (reach == least and w < best)):
            best = w
            least = reach
    return best


@inner
def _last(graph, component, group, first, k):
    """Return the k-th owner's vertex: the lightest that strands nobody, or the `first` choice if all do."""
    stranded, who = _stranded(graph, component, k)
    if stranded > 1:  # one vertex more cannot empty these pieces
        return first
    if stranded == 1:  # only this very vertex will do
        shares_time = graph.start[who] <= graph.span[_UNTIL] and graph.end[who] >= graph.span[_FROM]
        return who if shares_time and graph.last_group[graph.owner[who]] != group else first
    # The interchanges of lines 15 to 17: one vertex after the other is put in and taken out again, until one leaves no
    # piece with fewer than k owners.  If all of them do, the first choice stands (lines 18 to 21).
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
    since = graph.walks[0] + 1
    stranded = np.int64(0)
    who = np.int64(-1)
    for w in component:
        if graph.label[w] == _FREE and graph.seen[w] < since:
            owners, size = _walk(graph, w, since, graph.piece)
            if owners < k:
                stranded = stranded + size
                who = w
    return stranded, who
