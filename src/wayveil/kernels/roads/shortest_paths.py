"""Shortest ways on a network of directed roads, with a bound, for many questions about nodes near each other."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from wayveil.kernels.common.heap import new_heap, pop, push
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["RoadGraph", "Search", "new_search", "road_graph", "search", "ways_to"]

RoadGraph = namedtuple("RoadGraph", ["first", "out", "from_node", "to_node", "length"])
"""Roads by their number, and ``out[first[v]:first[v + 1]]``, the roads that leave node `v`."""

Search = namedtuple("Search", ["way", "by_road", "seen", "done", "wanted", "run", "key", "known", "bound"])
"""The latest search is number ``run[0]``: where ``done[v]`` is that number, the way to node `v` is ``way[v]`` long and
ends with the road ``by_road[v]`` (-1 at the source).  `key`, `known` and `bound` remember answers of earlier ones."""

_REMEMBERED = 1 << 14


def road_graph(from_node: Any, to_node: Any, length: Any, n_nodes: int) -> RoadGraph:
    """Return the graph of roads; lengths are at least 0."""
    first = np.zeros(n_nodes + 1, np.int64)
    np.cumsum(np.bincount(from_node, minlength=n_nodes), out=first[1:])
    out = np.argsort(from_node, kind="stable").astype(np.int64)
    return RoadGraph(first, out, np.array(from_node, np.int64), np.array(to_node, np.int64), np.array(length, float))


@kernel
def new_search(n_nodes):
    """Return the memory of searches on a network, O(nodes)."""
    seen = np.zeros(n_nodes, np.int64)
    done = np.zeros(n_nodes, np.int64)
    wanted = np.zeros(n_nodes, np.int64)
    key = np.zeros(_REMEMBERED, np.int64)
    known = np.empty(_REMEMBERED)
    bound = np.empty(_REMEMBERED)
    run = np.zeros(1, np.int64)
    way = np.empty(n_nodes)
    by_road = np.empty(n_nodes, np.int64)
    return Search(way, by_road, seen, done, wanted, run, key, known, bound)


@kernel
def search(graph, memory, source, target, n_targets, bound):
    """Find the shortest ways of at most `bound` from a node to the first `n_targets` of `target`.

    Dijkstra's algorithm; it ends when all targets are found.  What is found of a node depends neither on the bound nor
    on the targets: of ways of equal length always the same.  O(roads within the bound x log) time.
    """
    memory.run[0] += 1
    run = memory.run[0]
    left = np.int64(0)
    for i in range(n_targets):
        if memory.wanted[target[i]] != run:
            memory.wanted[target[i]] = run
            left += 1
    memory.way[source] = 0.0
    memory.by_road[source] = -1
    memory.seen[source] = run
    heap = push(new_heap(64), 0.0, source)
    while left > 0 and heap.size[0] > 0:
        way, v = pop(heap)
        if memory.done[v] == run:
            continue
        memory.done[v] = run
        if memory.wanted[v] == run:
            left -= 1
        for at in range(graph.first[v], graph.first[v + 1]):
            road = graph.out[at]
            w = graph.to_node[road]
            longer = way + graph.length[road]
            if longer <= bound and (memory.seen[w] != run or longer < memory.way[w]):
                memory.way[w] = longer
                memory.by_road[w] = road
                memory.seen[w] = run
                heap = push(heap, longer, w)


@inner
def ways_to(graph, memory, source, goal, limit, n_goals, asked, found):
    """Write the lengths of the shortest ways from a node to each node of `goal` into `found`, inf beyond its limit.

    Answers are remembered, each in one of few places, where a later one may replace it; so the memory does not grow,
    and nothing but time depends on what is remembered.  `asked` is room for two rows of as many numbers as goals.
    """
    n = np.int64(0)
    n_nodes = graph.first.size - 1
    bound = -1.0
    for i in range(n_goals):
        found[i] = np.inf
        slot = (source * 7919 + goal[i]) % _REMEMBERED
        same = memory.key[slot] == source * n_nodes + goal[i] + 1
        if same and memory.known[slot] <= limit[i]:
            found[i] = memory.known[slot]
        elif limit[i] >= 0.0 and not (same and (memory.known[slot] < np.inf or memory.bound[slot] >= limit[i])):
            asked[0, n] = goal[i]
            asked[1, n] = i
            n += 1
            bound = max(bound, limit[i])
    if n == 0:
        return
    search(graph, memory, source, asked[0], n, bound)
    for j in range(n):
        v = asked[0, j]
        i = asked[1, j]
        slot = (source * 7919 + v) % _REMEMBERED
        way = np.inf
        if memory.done[v] == memory.run[0]:
            way = memory.way[v]
        memory.key[slot] = source * n_nodes + v + 1
        memory.known[slot] = way
        memory.bound[slot] = bound
        if way <= limit[i]:
            found[i] = way
