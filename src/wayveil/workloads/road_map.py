"""Road networks to make routes on: a random map, or one of two files; with the shortest ways to some nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.model import RoadNetwork
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.model.lazy_module import lazy_module
from wayveil.workloads.network_files import are_numbers, read_lines

__all__ = ["RoadWays", "file_map", "largest_piece", "random_map", "road_ways"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")
spatial = lazy_module("scipy.spatial")


_SPACING_M = 500.0  # of neighbouring intersections of the random map, about


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadWays:
    """The shortest ways to some nodes.

    From node `v` the way to target `d` begins with the road ``by[d, v]`` and has ``roads[d, v]`` roads; both are -1
    where there is no way, and at the target itself `by` is -1 and `roads` is 0.
    """

    by: NDArray[np.int32]
    roads: NDArray[np.int32]


def random_map(streets: int, rng: np.random.Generator) -> RoadNetwork:
    """Return a connected, planar network of about this many streets, each a road in either direction.

    Intersections are random points, half as many as streets, so that four streets meet at one on average.  Of all
    streets of their Delaunay triangulation, those of the shortest spanning tree and the shortest others are there.
    Street number 7 is the roads "7" and "7-back".
    """
    n = max(4, streets // 2)
    xy = rng.random((n, 2)) * np.sqrt(n) * _SPACING_M
    corners = spatial.Delaunay(xy).simplices
    pairs = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    pairs = np.unique(pairs, axis=0)
    length = np.hypot(*(xy[pairs[:, 0]] - xy[pairs[:, 1]]).T)
    tree = csgraph.minimum_spanning_tree(sparse.csr_matrix((length, (pairs[:, 0], pairs[:, 1])), shape=(n, n))).tocoo()
    in_tree = np.isin(pairs[:, 0] * n + pairs[:, 1], tree.row.astype(np.int64) * n + tree.col)
    chosen = np.sort(np.lexsort((length, ~in_tree))[: max(streets, n - 1)])
    names = [str(i) for i in range(len(chosen))]
    start, end = pairs[chosen].T
    return _both_ways(names, start, end, [str(i) for i in range(n)], xy[:, 0], xy[:, 1], length[chosen])


def file_map(prefix: str) -> RoadNetwork:
    """Read the network of ``<prefix>.cnode.txt`` (id x y) and ``<prefix>.cedge.txt`` (id start end length).

    Edge 7 is the roads "7" and "7-back".  Coordinates are taken as metres.
    """
    nodes = _rows(f"{prefix}.cnode.txt", "id x y", 1)
    edges = _rows(f"{prefix}.cedge.txt", "id start end length", 3)
    code = {row[0]: i for i, row in enumerate(nodes)}
    unknown = sum(row[1] not in code or row[2] not in code for row in edges)
    if unknown:
        raise InputError(f"road_movers: {unknown:,} roads of the network {prefix!r} begin or end at unknown nodes.")
    length = np.array([row[3] for row in edges], np.float64)
    if len(code) < len(nodes) or len({row[0] for row in edges}) < len(edges) or (length < 0).any():
        raise InputError(
            f"road_movers: the network {prefix!r} repeats the id of a node or an edge, or has a length < 0."
        )
    start, end = (np.array([code[row[i]] for row in edges], np.int64) for i in (1, 2))
    x, y = (np.array([row[i] for row in nodes], np.float64) for i in (1, 2))
    return _both_ways([row[0] for row in edges], start, end, [row[0] for row in nodes], x, y, length)


def largest_piece(network: RoadNetwork) -> IntArray:
    """Return the nodes of the largest part in which every node can be reached from every other."""
    n = len(network.nodes)
    ones = np.ones(len(network))
    graph = sparse.csr_matrix((ones, (network.from_node, network.to_node)), shape=(n, n))
    _, piece = csgraph.connected_components(graph, connection="strong")
    return np.flatnonzero(piece == np.argmax(np.bincount(piece)))


def road_ways(network: RoadNetwork, targets: IntArray) -> RoadWays:
    """Return the shortest ways to `targets`.  O(targets x roads log nodes) time, O(targets x nodes) memory."""
    n = len(network.nodes)
    best = _shortest_roads(network)
    start = network.from_node[best]
    end = network.to_node[best]
    # Ways to a target are ways from it against the direction of the roads.
    weight = _lengths(network)[best]
    _, after = csgraph.dijkstra(
        sparse.csr_matrix((weight, (end, start)), shape=(n, n)), indices=targets, return_predecessors=True
    )
    reached = after >= 0
    key = np.broadcast_to(np.arange(n), after.shape)[reached] * n + after[reached]
    by = np.full(after.shape, -1, np.int32)
    by[reached] = best[np.searchsorted(start * n + end, key)]
    return RoadWays(by=by, roads=_count_roads(after, targets))


def _count_roads(after: Any, targets: IntArray) -> NDArray[np.int32]:
    """Return how many steps `after` needs to each target, by doubling the step: O(size log steps)."""
    to = after.astype(np.int32)
    row = np.arange(len(targets))
    to[row, targets] = targets
    lost = to < 0
    steps = np.where(lost, -1, 1).astype(np.int32)
    steps[row, targets] = 0
    to[lost] = 0
    while True:
        more = np.where(lost, 0, np.take_along_axis(steps, to, axis=1))
        if not more.any():
            return steps
        steps += more
        to = np.take_along_axis(to, to, axis=1)


def _shortest_roads(network: RoadNetwork) -> IntArray:
    """Return the shortest road of each pair of nodes, sorted by the pair; loops are left out."""
    length = _lengths(network)
    roads = np.flatnonzero(network.from_node != network.to_node)
    start = network.from_node[roads]
    end = network.to_node[roads]
    order = np.lexsort((length[roads], end, start))
    first = np.append(True, (np.diff(start[order]) != 0) | (np.diff(end[order]) != 0))[: len(order)]
    return roads[order[first]]


def _lengths(network: RoadNetwork) -> FloatArray:
    return np.ones(len(network)) if network.length_m is None else np.asarray(network.length_m, np.float64)


def _both_ways(
    names: list[str],
    start: IntArray,
    end: IntArray,
    nodes: list[str],
    x: FloatArray,
    y: FloatArray,
    length_m: FloatArray,
) -> RoadNetwork:
    return RoadNetwork(
        roads=tuple(road for name in names for road in (name, f"{name}-back")),
        from_node=np.stack([start, end], axis=1).ravel(),
        to_node=np.stack([end, start], axis=1).ravel(),
        nodes=tuple(nodes),
        node_x=x,
        node_y=y,
        length_m=np.repeat(length_m, 2),
    )


def _rows(path: str, columns: str, names: int) -> list[list[str]]:
    """Return the fields of a text file; all but the first `names` are finite numbers."""
    width = len(columns.split())
    rows = read_lines("road_movers", path, "or leave it out for a random map")
    wrong = [number for number, words in rows if len(words) != width or not are_numbers(words[names:])]
    if wrong or not rows:
        where = f"line {wrong[0]:,} of {path!r}" if wrong else f"every line of {path!r}"
        raise InputError(f"road_movers: {where} must have {width} fields: {columns}.")
    return [words for _, words in rows]
