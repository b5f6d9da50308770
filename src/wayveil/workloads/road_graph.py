"""Road networks to move on: read from two files or generated, with a class of speed per road."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.model.lazy_module import lazy_module
from wayveil.workloads.network_files import are_numbers, read_lines

__all__ = ["ROAD_SPEEDS_M_S", "RoadGraph", "Ways", "generated_graph", "read_graph", "ways_to"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROAD_SPEEDS_M_S = (70 / 3.6, 50 / 3.6, 30 / 3.6)
"""Speed on main roads, on collecting roads and on local ones."""

_SHARES = (0.05, 0.20)  # of the roads are main roads; are main or collecting roads
_SIDE = 60  # crossings per side of the generated network, and the distance of two
_BLOCK_M = 170.0
_SHORTEST_S = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadGraph:
    """A connected network of roads, each of which can be used both ways.

    Parameters
    ----------
    x, y : float64, one per node
        Position in metres; roads are straight.
    start, end : int64, one per road
        The nodes that it connects.
    length_m : float64, one per road
        What it takes to pass it, in metres; not less than 0.
    road_class : int64, one per road
        Position in `ROAD_SPEEDS_M_S`.
    """

    x: Floats
    y: Floats
    start: Ints
    end: Ints
    length_m: Floats
    road_class: Ints

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ways:
    """The fastest ways to some nodes: from node `v` to target `d` by ``towards[d, v]``, in ``left_s[d, v]`` seconds."""

    towards: Ints
    left_s: Floats


def ways_to(graph: RoadGraph, targets: Ints, *, top_speed_m_s: float) -> Ways:
    """Return the fastest ways to `targets` for objects that drive at the speed of the road, or at theirs if less.

    O(targets x roads log nodes) time, O(targets x nodes) memory.
    """
    speed = np.minimum(np.array(ROAD_SPEEDS_M_S), top_speed_m_s)[graph.road_class]
    seconds = np.maximum(graph.length_m / speed, _SHORTEST_S)
    return _shortest(graph, seconds, targets)


def read_graph(prefix: str) -> RoadGraph:
    """Read the network of ``<prefix>.cnode.txt`` (id x y) and ``<prefix>.cedge.txt`` (id start end length).

    Of a network in pieces the largest is used.  The files have no classes: the roads that most of the shortest ways
    between evenly picked nodes use are main roads (5 %), the next (15 %) collecting ones.
    """
    nodes = _table(f"{prefix}.cnode.txt", "id x y")
    edges = _table(f"{prefix}.cedge.txt", "id start end length")
    order = np.argsort(nodes[:, 0], kind="stable")
    known = nodes[order, 0]
    if (known[1:] == known[:-1]).any():
        raise InputError(f"network_movers: two nodes of the network {prefix!r} have the same id.")
    ends = edges[:, 1:3]
    at = np.minimum(np.searchsorted(known, ends), len(known) - 1)
    unknown = int(np.count_nonzero((known[at] != ends).any(axis=1)))
    if unknown:
        raise InputError(f"network_movers: {unknown:,} roads of the network {prefix!r} begin or end at unknown nodes.")
    if (edges[:, 3] < 0).any():
        raise InputError(f"network_movers: a road of the network {prefix!r} has a negative length.")
    ids = order[at]
    graph = _largest_piece(
        RoadGraph(
            x=nodes[:, 1].copy(),
            y=nodes[:, 2].copy(),
            start=ids[:, 0],
            end=ids[:, 1],
            length_m=edges[:, 3].copy(),
            road_class=np.zeros(len(edges), np.int64),
        )
    )
    if len(graph) < 2:
        raise InputError(f"network_movers: the network {prefix!r} has no road between two nodes.")
    return replace(graph, road_class=_classes_by_use(graph))


def generated_graph() -> RoadGraph:
    """Return a planar network of about 3,600 crossings on 10 x 10 km, always the same one.

    A grid whose crossings are moved about at random by less than a quarter of a block, so that no two roads cross.
    Every 12th street is a main road, every 4th a collecting one; of the local streets, one in four is missing.
    """
    rng = np.random.default_rng(1)
    node = np.arange(_SIDE * _SIDE).reshape(_SIDE, _SIDE)
    row, column = np.divmod(node.ravel(), _SIDE)
    x, y = ((at + rng.uniform(-0.24, 0.24, node.size)) * _BLOCK_M for at in (column, row))
    start = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    end = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    street = np.concatenate([row[node[:, :-1]].ravel(), column[node[:-1]].ravel()])
    road_class = np.where(street % 12 == 6, 0, np.where(street % 4 == 2, 1, 2))
    keep = (road_class < 2) | (rng.random(len(start)) < 0.75)
    start = start[keep]
    end = end[keep]
    return _largest_piece(
        RoadGraph(
            x=x,
            y=y,
            start=start,
            end=end,
            length_m=np.hypot(x[start] - x[end], y[start] - y[end]),
            road_class=road_class[keep],
        )
    )


def _table(path: str, columns: str) -> Floats:
    """Return the numbers of a file with these columns; anything else is one clear sentence."""
    width = len(columns.split())
    rows = read_lines("network_movers", path, "or as 'generated'")
    if not rows:
        raise InputError(f"network_movers: the file {path!r} of the road network is empty.")
    wrong = next((number for number, words in rows if len(words) != width or not are_numbers(words)), None)
    if wrong is not None:
        raise InputError(f"network_movers: line {wrong} of {path!r} must have {width} numbers: {columns}.")
    return np.array([words for _, words in rows], np.float64)


def _largest_piece(graph: RoadGraph) -> RoadGraph:
    """Return the part of the network with most nodes; of equal ones the first."""
    _, piece = csgraph.connected_components(_matrix(graph, np.ones(len(graph.start))), directed=False)
    inside = piece == np.argmax(np.bincount(piece))
    new = np.cumsum(inside) - 1
    roads = inside[graph.start] & (graph.start != graph.end)
    return RoadGraph(
        x=graph.x[inside],
        y=graph.y[inside],
        start=new[graph.start[roads]],
        end=new[graph.end[roads]],
        length_m=graph.length_m[roads],
        road_class=graph.road_class[roads],
    )


def _matrix(graph: RoadGraph, weight: Floats) -> Any:
    """Return the weights as a symmetric sparse matrix; of parallel roads the least weight."""
    n = len(graph)
    one = np.concatenate([graph.start, graph.end])
    other = np.concatenate([graph.end, graph.start])
    both = np.concatenate([weight, weight])
    order = np.lexsort((both, other, one))
    key = one[order] * n + other[order]
    order = order[np.append(True, key[1:] != key[:-1])]
    return sparse.csr_matrix((both[order], (one[order], other[order])), shape=(n, n))


def _shortest(graph: RoadGraph, weight: Floats, targets: Ints) -> Ways:
    left, before = csgraph.dijkstra(_matrix(graph, weight), indices=targets, return_predecessors=True)
    towards = before.astype(np.int64)
    towards[np.arange(len(targets)), targets] = targets
    return Ways(towards=towards, left_s=left)


def _classes_by_use(graph: RoadGraph) -> Ints:
    """Return the classes of roads by the number of shortest ways that use them."""
    n = len(graph)
    targets = np.unique(np.linspace(0, n - 1, 64).astype(np.int64))
    towards = _shortest(graph, np.maximum(graph.length_m, _SHORTEST_S), targets).towards
    used = np.zeros((len(targets), n), np.int64)
    way = np.repeat(np.arange(len(targets)), min(n, 200))
    at = np.tile(np.linspace(0, n - 1, min(n, 200)).astype(np.int64), len(targets))
    while len(at):
        moving = at != targets[way]
        way = way[moving]
        at = at[moving]
        np.add.at(used, (way, at), 1)
        at = towards[way, at]
    one = np.where(towards[:, graph.start] == graph.end, used[:, graph.start], 0)
    other = np.where(towards[:, graph.end] == graph.start, used[:, graph.end], 0)
    rank = np.empty(len(graph.start), np.int64)
    rank[np.argsort(-(one + other).sum(axis=0), kind="stable")] = np.arange(len(rank))
    return np.searchsorted(np.array(_SHARES) * len(rank), rank, side="right").astype(np.int64)
