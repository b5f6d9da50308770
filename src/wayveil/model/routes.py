"""Routes: which directed roads people drove along, in which order, on a road network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_offsets, check_order
from wayveil.model.frame import Frame
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, frozen, keep_rows, offsets_of, take
from wayveil.model.times import TimeFormat
from wayveil.model.visits import Coded, Owners

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
    frame: Frame = Frame()

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "roads", tuple(self.roads))
        set_(self, "nodes", tuple(self.nodes))
        for name in ("from_node", "to_node", "shape"):
            if getattr(self, name) is not None:
                set_(self, name, frozen(getattr(self, name), np.int64))
        for name in ("node_x", "node_y", "length_m", "shape_x", "shape_y"):
            if getattr(self, name) is not None:
                set_(self, name, frozen(getattr(self, name), np.float64))
        self._check()

    def _check(self) -> None:
        n, m = len(self.roads), len(self.nodes)
        if len(set(self.roads)) != n or len(set(self.nodes)) != m:
            raise InputError("RoadNetwork: every road and every node must have a name of its own.")
        for ends in (self.from_node, self.to_node):
            if len(ends) != n or (n and not 0 <= ends.min() <= ends.max() < m):
                raise InputError("RoadNetwork: every road must lead from one node to another that exists.")
        for places, size in ((self.node_x, m), (self.node_y, m), (self.length_m, n)):
            if places is not None and (len(places) != size or not np.isfinite(places).all()):
                raise InputError("RoadNetwork: places and lengths must be finite, one per node or road.")
        if (self.node_x is None) != (self.node_y is None):
            raise InputError("RoadNetwork: node_x and node_y must be given together.")
        if self.length_m is not None and n and self.length_m.min() < 0:
            raise InputError("RoadNetwork: a length must not be negative.")
        if self.shape is not None:
            self._check_shape(n)

    def _check_shape(self, n: int) -> None:
        shape, x, y = self.shape, self.shape_x, self.shape_y
        if shape is None or x is None or y is None or len(shape) != n + 1 or shape[0] != 0:
            raise InputError("RoadNetwork: shape, shape_x and shape_y must describe every road.")
        if (np.diff(shape) < 2).any() or not shape[-1] == len(x) == len(y):
            raise InputError("RoadNetwork: the shape of a road must have at least its two ends.")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InputError("RoadNetwork: shapes must be finite.")

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
        nodes = sorted({node for _, *ends in roads for node in ends})
        code = {name: i for i, name in enumerate(nodes)}
        there = None if places is None else np.array([places[name] for name in nodes], float).reshape(-1, 2)
        return cls(
            roads=tuple(name for name, _, _ in roads),
            from_node=np.array([code[a] for _, a, _ in roads], np.int64),
            to_node=np.array([code[b] for _, _, b in roads], np.int64),
            nodes=tuple(nodes),
            node_x=None if there is None else there[:, 0],
            node_y=None if there is None else there[:, 1],
            frame=frame or Frame(),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Routes:
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

    offsets: IntArray
    road: IntArray
    t: IntArray
    t_start: IntArray
    t_end: IntArray
    network: RoadNetwork
    owner: IntArray
    attributes: Mapping[str, Coded] = field(default_factory=dict)
    time_format: TimeFormat = "integer"
    owners: Owners = "declared"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for name in ("offsets", "t", "t_start", "t_end", "owner"):
            set_(self, name, frozen(getattr(self, name), np.int64))
        set_(self, "road", frozen(self.road, np.int32))
        set_(self, "attributes", MappingProxyType(dict(self.attributes)))
        self._check()

    def _check(self) -> None:
        check_offsets("Routes", self.offsets)
        n = len(self.offsets) - 1
        if not self.offsets[-1] == len(self.road) == len(self.t):
            raise InputError("Routes: road and t must have as many rows as offsets say.")
        if any(len(column) != n for column in (self.owner, self.t_start, self.t_end)):
            raise InputError("Routes: owner, t_start and t_end must have one value per trajectory.")
        if any(len(a.codes) != n for a in self.attributes.values()):
            raise InputError("Routes: attributes must have one value per trajectory.")
        if (self.t_start > self.t_end).any():
            raise InputError("Routes: a slice must not end before it begins.")
        if len(self.road) and not 0 <= self.road.min() <= self.road.max() < len(self.network):
            raise InputError("Routes: a road is not in the network.")
        check_order("Routes", self.offsets, self.t, strictly=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.road)

    @property
    def n_owners(self) -> int:
        """Number of distinct people."""
        return len(np.unique(self.owner))

    def record(self, trajectory: int) -> list[str]:
        """Return one trajectory as names of roads; for people and tests, not for loops over data."""
        rows = slice(self.offsets[trajectory], self.offsets[trajectory + 1])
        return [self.network.roads[road] for road in self.road[rows].tolist()]

    def where(self, keep: BoolArray) -> Routes:
        """Return the same trajectories with only the rows where `keep` is true."""
        return replace(self, offsets=keep_rows(self.offsets, keep), road=self.road[keep], t=self.t[keep])

    def take(self, trajectories: IntArray) -> Routes:
        """Return these trajectories, in this order."""
        offsets, rows = take(self.offsets, trajectories)
        return replace(
            self,
            offsets=offsets,
            road=self.road[rows],
            t=self.t[rows],
            t_start=self.t_start[trajectories],
            t_end=self.t_end[trajectories],
            owner=self.owner[trajectories],
            attributes={name: a.take(trajectories) for name, a in self.attributes.items()},
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
    ) -> Routes:
        """Build from names of roads, all at time 0 or at the beginning of their slice; for examples and tests."""
        code = {name: i for i, name in enumerate(network.roads)}
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
