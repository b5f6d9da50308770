"""The road network as `match` searches it: by place and by connection, in the frame of the points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.roads.near_roads import RoadTree, road_pieces, road_tree
from wayveil.kernels.roads.shortest_paths import RoadGraph, opposite_roads, road_graph
from wayveil.model import Points, RoadNetwork
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["MatchingRoads", "matching_roads"]


class MatchingRoads(NamedTuple):
    """A network in the frame of the points."""

    tree: RoadTree
    graph: RoadGraph
    length: FloatArray
    opposite: IntArray


def matching_roads(data: Points, network: RoadNetwork, u_turn_m: float) -> MatchingRoads:
    """Return the roads in the frame of the points, to be searched by place and by connection."""
    if not isinstance(network, RoadNetwork) or len(network) == 0:
        raise InputError("match: a road network with at least one road is needed; give it with --network.")
    shape, x, y = _drawn(network)
    if data.frame.degrees != network.frame.degrees:
        one, other = ("degrees", "metres") if data.frame.degrees else ("metres", "degrees")
        raise InputError(
            f"match: the points are in {one} and the road network is in {other}. Bring both into one coordinate "
            "system, and say with --crs what that of the points is."
        )
    if data.frame != network.frame:
        x, y = data.frame.to_metres(*network.frame.to_file(x, y))
    with np.errstate(over="ignore"):  # a road that is too long for numbers is near no point
        pieces = road_pieces(shape, x, y)
        last = np.cumsum(np.diff(shape) - 1) - 1
        length = pieces.before[last] + pieces.size[last]
        tree = road_tree(pieces)
    opposite = opposite_roads(network.from_node, network.to_node, length)
    banned = None
    if network.banned_from is not None and network.banned_to is not None:
        banned = (network.banned_from, network.banned_to)
    graph = road_graph(network.from_node, network.to_node, length, u_turn_m=u_turn_m, opposite=opposite, banned=banned)
    return MatchingRoads(tree, graph, length, opposite)


def _drawn(network: RoadNetwork) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the shapes of roads; without any, straight lines between nodes."""
    if network.shape is not None and network.shape_x is not None and network.shape_y is not None:
        return network.shape, network.shape_x, network.shape_y
    if network.node_x is None or network.node_y is None:
        raise InputError("match: the road network has no coordinates; its nodes or the shapes of its roads are needed.")
    ends = np.column_stack([network.from_node, network.to_node]).ravel()
    return np.arange(0, len(ends) + 1, 2), network.node_x[ends], network.node_y[ends]
