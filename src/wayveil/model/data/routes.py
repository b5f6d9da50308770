"""Routes: which directed roads people drove along, in which order, on a road network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_order
from wayveil.model.data.coded import common_codes, same_names
from wayveil.model.data.curve import z_curve
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import FloatArray, IntArray, frozen, offsets_of, trajectory_of_row
from wayveil.model.data.times import TimeFormat
from wayveil.model.data.trajectories import Columns, Sites, Trajectories

__all__ = ["RoadNetwork", "Routes"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadNetwork:
    """A directed graph of roads.

    Parameters
    ----------
    roads : tuple of str
        The names of the directed roads, without repetition: a street with two directions is two roads.
    from_node, to_node : int64, one per road
        Codes into `nodes`.
    nodes : tuple of str
        The names of the intersections, without repetition.
    node_x, node_y : float64, one per node, or None
        Where the intersections are, in metres of `frame`, if that is known.
    length_m : float64, one per road, or None
        The lengths; at least 0.
    shape : int64, one more than there are roads, or None
        Road `r` is drawn by the points ``shape[r]:shape[r + 1]`` of `shape_x` and `shape_y`, from its first to its last
        node, both included.  None where roads are straight lines, or nothing is known of them.
    shape_x, shape_y : float64, or None
    banned_from, banned_to : int64, one per turn that is not allowed, or None
        Codes of the road that it leads out of and of the one that it leads into.
    frame : Frame
        What coordinates were in the file.

    Examples
    --------
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("ba", "b", "a")])
    >>> network.roads, network.nodes, network.to_node.tolist()
    (('ab', 'bc', 'ba'), ('a', 'b', 'c'), [1, 2, 0])
    """

    roads: tuple[str, ...]
    from_node: IntArray
    to_node: IntArray
    nodes: tuple[str, ...]
    node_x: FloatArray | None = None
    node_y: FloatArray | None = None
    length_m: FloatArray | None = None
    shape: IntArray | None = None
    shape_x: FloatArray | None = None
    shape_y: FloatArray | None = None
    banned_from: IntArray | None = None
    banned_to: IntArray | None = None
    frame: Frame = Frame()

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "roads", tuple(self.roads))
        set_(self, "nodes", tuple(self.nodes))
        for name in ("from_node", "to_node", "shape", "banned_from", "banned_to"):
            if getattr(self, name) is not None:
                set_(self, name, frozen(getattr(self, name), np.int64))
        for name in ("node_x", "node_y", "length_m", "shape_x", "shape_y"):
            if getattr(self, name) is not None:
                set_(self, name, frozen(getattr(self, name), np.float64))
        self._check()

    def _check(self) -> None:
        n = len(self.roads)
        m = len(self.nodes)
        # Names are how roads and nodes are found again in other files and in the published network.
        if len(set(self.roads)) != n or len(set(self.nodes)) != m:
            raise InputError("RoadNetwork: every road and every node must have a name of its own.")
        for ends in (self.from_node, self.to_node):
            if len(ends) != n or (n and not 0 <= ends.min() <= ends.max() < m):
                raise InputError("RoadNetwork: every road must lead from one node to another that exists.")
        # A coordinate that is not a number would make every distance to it false, silently; lengths are checked below.
        for places, size in ((self.node_x, m), (self.node_y, m), (self.length_m, n)):
            if places is not None and (len(places) != size or not np.isfinite(places).all()):
                raise InputError("RoadNetwork: places and lengths must be finite, one per node or road.")
        if (self.node_x is None) != (self.node_y is None):
            raise InputError("RoadNetwork: node_x and node_y must be given together.")
        if self.length_m is not None and n and self.length_m.min() < 0:
            raise InputError("RoadNetwork: a length must not be negative.")
        if self.shape is not None:
            self._check_shape(n)
        if self.banned_from is not None or self.banned_to is not None:
            self._check_turns(n)

    def _check_shape(self, n: int) -> None:
        shape = self.shape
        x = self.shape_x
        y = self.shape_y
        if shape is None or x is None or y is None or len(shape) != n + 1 or shape[0] != 0:
            raise InputError("RoadNetwork: shape, shape_x and shape_y must describe every road.")
        # Two points at least: a road is drawn from its first to its last node, and kernels walk along segments.
        if (np.diff(shape) < 2).any() or not shape[-1] == len(x) == len(y):
            raise InputError("RoadNetwork: the shape of a road must have at least its two ends.")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InputError("RoadNetwork: shapes must be finite.")

    def _check_turns(self, n: int) -> None:
        one = self.banned_from
        other = self.banned_to
        if one is None or other is None or len(one) != len(other):
            raise InputError("RoadNetwork: banned_from and banned_to must be given together, one of each per turn.")
        for roads in (one, other):
            if len(roads) and not 0 <= roads.min() <= roads.max() < n:
                raise InputError("RoadNetwork: a turn that is not allowed must be between two roads that exist.")

    def __len__(self) -> int:
        return len(self.roads)

    @classmethod
    def from_roads(
        cls,
        roads: Sequence[tuple[str, str, str]],
        *,
        places: Mapping[str, tuple[float, float]] | None = None,
        frame: Frame | None = None,
    ) -> RoadNetwork:
        """Build from (road, from_node, to_node); `places` are nodes in metres.  For examples and tests."""
        # Sorted, so that the same roads give the same codes in whatever order they are listed.
        nodes = sorted({node for _, *ends in roads for node in ends})
        code = {name: i for i, name in enumerate(nodes)}
        coordinates = None if places is None else np.array([places[name] for name in nodes], float).reshape(-1, 2)
        return cls(
            roads=tuple(name for name, _, _ in roads),
            from_node=np.array([code[a] for _, a, _ in roads], np.int64),
            to_node=np.array([code[b] for _, _, b in roads], np.int64),
            nodes=tuple(nodes),
            node_x=None if coordinates is None else coordinates[:, 0],
            node_y=None if coordinates is None else coordinates[:, 1],
            frame=frame or Frame(),
        )

    @classmethod
    def union(cls, networks: Sequence[RoadNetwork]) -> RoadNetwork:
        """Return the network of all roads by name, in sorted order; where nodes are, only the networks know."""
        # Roads are matched by name, and their ends must agree.  Coordinates are not carried over: each network has its
        # own frame, and what is joined here is compared by name only.
        ends: dict[str, tuple[str, str]] = {}
        for network in networks:
            for road, a, b in zip(network.roads, network.from_node.tolist(), network.to_node.tolist(), strict=True):
                nodes = network.nodes[a], network.nodes[b]
                if ends.setdefault(road, nodes) != nodes:
                    raise InputError("A road leads from or to another node in one part of the data than in another.")
        return cls.from_roads([(road, *ends[road]) for road in sorted(ends)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Routes(Trajectories):
    """Directed roads of trajectories, as flat read-only columns.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; it may own none.
    road : int32, one per row
        A code into ``network.roads``.
    t : int64, one per row
        When the road was entered; it never decreases inside a trajectory.  0 where no times are known.
    t_start, t_end : int64, one per trajectory
        The slice of time that the trajectory belongs to.  Trajectories of the same slice can be confused with each
        other.
    network : RoadNetwork
    owner, attributes, time_format, owners
        As in `Visits`.

    Notes
    -----
    Whether consecutive roads are connected is not checked here: raw data may have gaps.

    Examples
    --------
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> data = Routes.from_records([["ab", "bc"], ["ab"]], network=network)
    >>> len(data), data.n_rows, data.record(0)
    (2, 3, ['ab', 'bc'])
    """

    road: IntArray
    t: IntArray
    t_start: IntArray
    t_end: IntArray
    network: RoadNetwork

    kind: ClassVar[str] = "routes"
    row_word: ClassVar[str] = "roads"
    row_columns: ClassVar[Columns] = {"road": np.int32, "t": np.int64}
    trajectory_columns: ClassVar[Columns] = {"t_start": np.int64, "t_end": np.int64}
    code_columns: ClassVar[tuple[str, ...]] = ("road",)
    names_field: ClassVar[str] = "network"
    name_word: ClassVar[Literal["places", "roads"] | None] = "roads"
    shared: ClassVar[str | None] = "network"

    def _check_rows(self) -> None:
        if (self.t_start > self.t_end).any():
            raise InputError("Routes: a slice must not end before it begins.")
        if len(self.road) and not 0 <= self.road.min() <= self.road.max() < len(self.network):
            raise InputError("Routes: a road is not in the network.")
        check_order("Routes", self.offsets, self.t, strictly=False)

    def record(self, trajectory: int) -> list[str]:
        """Return one trajectory as names of roads; for people and tests, not for loops over data."""
        rows = self.rows(trajectory)
        return [self.network.roads[road] for road in self.road[rows].tolist()]

    @classmethod
    def tiny(cls) -> Self:
        """Return two people on the same two roads."""
        network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
        return cls.from_records([["ab", "bc"]] * 2, network=network)

    def times(self) -> IntArray:
        """Return when each road was entered."""
        return self.t

    def moments(self) -> None:
        """Return None: published routes have the slice of a trip, not its times."""

    def slices(self) -> tuple[IntArray, ...]:
        """Return where the slice of time of each trip begins and ends."""
        return self.t_start, self.t_end

    def sites(self) -> Sites:
        """Return the roads, each by its middle where that is known."""
        network = self.network
        if network.node_x is None or network.node_y is None:
            return Sites(names=network.roads, code=self.road, frame=network.frame)
        # A road is put where its middle is: the mean of its two ends, on a straight line, whatever its shape.
        x = (network.node_x[network.from_node] + network.node_x[network.to_node]) / 2
        y = (network.node_y[network.from_node] + network.node_y[network.to_node]) / 2
        return Sites(
            names=network.roads,
            code=self.road,
            sides=(x, x, y, y),
            reach=(network.node_x, network.node_y),
            frame=network.frame,
        )

    def size_text(self, sides: str, lasting: str, *, has_extent: bool) -> str:
        """Return how long slices are: roads stay as they are."""
        return f"slices of {lasting}" if lasting else ""

    def curve_keys(self) -> IntArray:
        """Return where each route begins on a curve through the plane, or its first road where nothing is known."""
        # Blocks are cut along this number, so that trips which begin near each other come into the same block and find
        # others to hide among.
        if not self.n_rows:
            return super().curve_keys()
        road = self.road[self._first_rows()]
        network = self.network
        if network.node_x is None or network.node_y is None:
            return road.astype(np.int64)
        node = network.from_node[road]
        return z_curve(network.node_x[node], network.node_y[node])

    def equal_columns(self) -> tuple[IntArray, tuple[IntArray, ...]]:
        """Return the roads, and with them the slice of time, which must be the same as well."""
        # Two routes are the same to an attacker only within one slice of time: the slice is made part of every code, as
        # a digit in front of the road.
        slices = distinct_rows(*self.slices()).code
        passage = slices[trajectory_of_row(self.offsets)] * len(self.network) + self.road
        # The kernel is compiled for arrays that can be written to, as methods give them, and need not be once more.
        return self.offsets.copy(), (passage,)

    def row_keys(self, other: Self) -> tuple[IntArray, IntArray]:
        """Return the roads: a passage stays the same where its road does."""
        return common_codes(self.network.roads, self.road, other.network.roads, other.road)

    @staticmethod
    def _list_names(names: RoadNetwork) -> Sequence[str]:
        return names.roads

    @classmethod
    def _unify(cls, parts: Sequence[Self]) -> Sequence[Self]:
        """Return parts on one network: theirs, if they share it already, or that of all roads by name."""
        # Parts that were cut from one table share the very same network, and so the same codes; comparing names would
        # cost more.
        if all(part.network is parts[0].network for part in parts):
            return parts
        network = RoadNetwork.union([part.network for part in parts])
        return [part.recode(network) for part in parts]

    def _same_codes(self, other: Self) -> bool:
        """Return whether the roads have the same names, and lead from the same nodes to the same nodes."""
        one = self.network
        two = other.network
        # The same name may lead elsewhere in another network, so both ends are compared as well.
        return super()._same_codes(other) and all(
            same_names(getattr(one, end)[self.road], one.nodes, getattr(two, end)[other.road], two.nodes)
            for end in ("from_node", "to_node")
        )

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[str]],
        *,
        network: RoadNetwork,
        slices: Sequence[tuple[int, int]] | None = None,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
    ) -> Self:
        """Build from names of roads, all at time 0 or at the beginning of their slice; for examples and tests."""
        code = {name: i for i, name in enumerate(network.roads)}
        # Without slices, all trips are in one: from 0 to 0.
        times = np.array(slices if slices is not None else [(0, 0)] * len(records), np.int64).reshape(-1, 2)
        lengths = np.array([len(r) for r in records], np.int64)
        return cls(
            offsets=offsets_of(lengths),
            road=np.array([code[name] for r in records for name in r], np.int32),
            t=np.repeat(times[:, 0], lengths),
            t_start=times[:, 0],
            t_end=times[:, 1],
            network=network,
            owner=np.arange(len(records)) if owner is None else np.array(owner, np.int64),
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )
