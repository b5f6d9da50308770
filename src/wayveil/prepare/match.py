"""Match: GPS points become routes on a road network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.roads.map_matching import Candidates, choose_candidates, thin
from wayveil.kernels.roads.near_roads import RoadTree, near_roads, road_pieces, road_tree
from wayveil.kernels.roads.road_paths import join_candidates
from wayveil.kernels.roads.shortest_paths import RoadGraph, road_graph
from wayveil.model import Points, RoadNetwork, Routes, Step, check_parameters, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of
from wayveil.prepare.split import check_spans

__all__ = ["Match"]

_MOST_CANDIDATES = 64
_POINTS_OF_A_BLOCK = 5_000


@dataclass(frozen=True, kw_only=True)
class Match(Step):
    """Find the roads that people drove along, from noisy points and a road network.

    Parameters
    ----------
    radius : float, > 0
        Metres.  Only roads that come so near to a point can be the road of that point; a point without any is left out.
    noise : float, > 0
        Standard deviation of the points from the road, in metres.
    beta : float, > 0
        By how many metres the way between two points usually differs from the straight line between them.  The larger,
        the more detours are believed rather than noise.
    max_detour : float, >= 0
        Metres.  A way that is longer than the straight line by more than that is no way; where there is none, the
        trajectory is cut.

    Notes
    -----
    The hidden Markov model of Newson and Krumm, *Hidden Markov map matching through noise and sparseness* (2009): of
    all sequences of positions on roads, one for each point, the one with the smallest sum of ``(distance / noise)^2 /
    2`` over points and ``|way - straight line| / beta`` over pairs of consecutive points, by Viterbi's algorithm.  As
    there, points within ``2 * noise`` of the last one used are passed over.  The way is the shortest on the directed
    network; turning around is possible at nodes.  Going back by up to ``2 * radius`` on one road is taken for noise
    and the way for 0, which is not so there: points that come late would else mean a way around the block.  For each
    point the 64 nearest roads are tried.  Lengths are those of the drawn roads, in the frame of the points.

    A route has all roads on the way, also those without a point, so each road begins where the one before ends.  A road
    that is only touched by the first or the last point, at its node, is left out.  A part in which nobody moves along a
    road, such as a single point, has no direction and is dropped.  The time of entering a road is interpolated by
    length; the first road of a part is entered at the time of its first point.  The slice of time of a route goes from
    its first to its last time, as in routes that are read from a file: `slices` makes slices that people share.

    O(points x candidates^2) time and as many short searches; the trajectories are cut into blocks for all cores, and
    the result does not depend on the number of cores.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> network = RoadNetwork.from_roads(
    ...     [("ab", "a", "b"), ("ba", "b", "a"), ("bc", "b", "c"), ("cb", "c", "b")],
    ...     places={"a": (0, 0), "b": (100, 0), "c": (200, 0)},
    ... )
    >>> data = Points.from_records([[(0, 20, 4), (10, 70, -3), (20, 170, 5)]])
    >>> routes, notes = Match().run(data, network=network)
    >>> routes.record(0), routes.t.tolist()
    (['ab', 'bc'], [0, 13])
    >>> notes
    ('3 points became 2 roads in 1 trajectory.',)
    """

    radius: float = parameter(
        kind="number", low=0, default=50.0, help="metres from a point to the farthest road that it may be on"
    )
    noise: float = parameter(
        kind="number", low=0, default=10.0, help="standard deviation of points from the road, in metres"
    )
    beta: float = parameter(
        kind="number",
        low=0,
        default=10.0,
        help="metres by which the way between two points usually differs from the straight line",
    )
    max_detour: float = parameter(
        kind="number",
        low=0,
        default=2000.0,
        help="metres by which a way may be longer than the straight line; cut where there is none",
    )

    name: ClassVar[str] = "match"
    summary: ClassVar[str] = "find the roads that people drove along, from points and a road network"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Routes]] = Routes
    needs_network: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        for name in ("radius", "noise", "beta"):
            if getattr(self, name) == 0:
                raise ParameterError(f"match: {name} must be greater than 0, got 0.")

    def run(self, data: Points, *, network: RoadNetwork) -> tuple[Routes, tuple[str, ...]]:
        """Return the routes, and notes that count what was done."""
        routes, notes, _ = self.run_with_origin(data, network=network)
        return routes, notes

    def run_with_origin(self, data: Points, *, network: RoadNetwork) -> tuple[Routes, tuple[str, ...], IntArray]:
        """Return the routes, notes, and for every route the trajectory that it comes from."""
        check_spans(self.name, data)
        tree, graph = _roads(data, network)
        blocks = list(_blocks(data.offsets))
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = list(pool.map(lambda block: self._match(data, block, tree, graph), blocks))
        source, lengths, road, t, near, breaks = (np.concatenate(column) for column in zip(*found, strict=True))
        if data.n_rows and near.sum() == 0:
            raise InputError(
                f"match: none of {data.n_rows:,} points lies within {self.radius:g} m of a road. Points and network "
                "must be of one area and in one coordinate system."
            )
        moved = lengths > 0
        kept = source[moved]
        offsets = offsets_of(lengths[moved])
        routes = Routes(
            offsets=offsets,
            road=road,
            t=t,
            t_start=t[offsets[:-1]],
            t_end=t[offsets[1:] - 1],
            network=network,
            owner=data.owner[kept],
            attributes={name: a.take(kept) for name, a in data.attributes.items()},
            time_format=data.time_format,
            owners=data.owners,
        )
        counts = (int(near.sum()), int(breaks.sum()), int(np.count_nonzero(~moved)))
        return routes, self._notes(data, routes, kept, *counts), kept

    def _match(
        self, data: Points, block: tuple[int, int], tree: RoadTree, graph: RoadGraph
    ) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Match trajectories from one to another; return parts as `join_candidates` does, and two counts."""
        begin, end = block
        rows = slice(data.offsets[begin], data.offsets[end])
        offsets = data.offsets[begin : end + 1] - rows.start
        t = data.t[rows]
        x = data.x[rows]
        y = data.y[rows]
        candidates = Candidates(*near_roads(x, y, tree, self.radius, _MOST_CANDIDATES))
        track = thin(offsets, x, y, candidates.first, 2 * self.noise)
        slack = 2 * self.radius
        model = (self.noise, self.beta, self.max_detour, slack)
        chosen, begins = choose_candidates(track, x, y, candidates, graph, *model)
        source, lengths, road, entered = join_candidates(track, t, candidates, chosen, begins, graph, slack)
        near = np.count_nonzero(np.diff(candidates.first))
        breaks = np.count_nonzero(begins) - np.count_nonzero(np.diff(track.start))
        return source + begin, lengths, road, entered, np.array([near]), np.array([breaks])

    def _notes(
        self, data: Points, routes: Routes, source: IntArray, near: int, breaks: int, still: int
    ) -> tuple[str, ...]:
        many = f"{len(routes):,} {'trajectory' if len(routes) == 1 else 'trajectories'}"
        notes = [f"{data.n_rows:,} points became {routes.n_rows:,} road{'s' * (routes.n_rows != 1)} in {many}."]
        far = data.n_rows - near
        if far:
            verb = "was left out: it has" if far == 1 else "were left out: they have"
            notes.append(f"{far:,} of {data.n_rows:,} points {verb} no road within {self.radius:g} m.")
        if breaks:
            place = "place" if breaks == 1 else "places"
            notes.append(f"Trajectories were cut at {breaks:,} {place} where no way on the network fits the points.")
        if still:
            parts = "1 part of a trajectory was" if still == 1 else f"{still:,} parts of trajectories were"
            notes.append(f"{parts} dropped: {'it shows' if still == 1 else 'they show'} no way along a road.")
        gone = len(data) - len(np.unique(source))
        if gone:
            notes.append(f"{gone:,} of {len(data):,} trajectories {'has' if gone == 1 else 'have'} no route.")
        return tuple(notes)


def _roads(data: Points, network: RoadNetwork) -> tuple[RoadTree, RoadGraph]:
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
        return road_tree(pieces), road_graph(network.from_node, network.to_node, length, len(network.nodes))


def _drawn(network: RoadNetwork) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the shapes of roads; without any, straight lines between nodes."""
    if network.shape is not None and network.shape_x is not None and network.shape_y is not None:
        return network.shape, network.shape_x, network.shape_y
    if network.node_x is None or network.node_y is None:
        raise InputError("match: the road network has no coordinates; its nodes or the shapes of its roads are needed.")
    ends = np.column_stack([network.from_node, network.to_node]).ravel()
    return np.arange(0, len(ends) + 1, 2), network.node_x[ends], network.node_y[ends]


def _blocks(offsets: IntArray) -> Iterator[tuple[int, int]]:
    """Cut trajectories into at least one block, of about equally many points; the cuts depend on the data alone."""
    begin = 0
    n = len(offsets) - 1
    while begin < n or begin == 0:
        full = int(np.searchsorted(offsets, offsets[begin] + _POINTS_OF_A_BLOCK, side="right")) - 1
        end = min(max(full, begin + 1), n)
        yield begin, end
        begin = max(end, 1)
