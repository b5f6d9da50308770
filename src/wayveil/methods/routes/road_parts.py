"""What the methods on road networks share: slices of time, frequent roads, parts of trajectories, the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.kernels.routes.frequent_roads import cut_parts, people_on_roads
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.model import BlockKey, Engine, Guarantee, Method, MethodResult, Routes
from wayveil.model.data.ragged import IntArray, offsets_of, take

__all__ = ["OnRoutes", "Parts", "Release", "parts_of", "publish_slices", "published", "slices_of"]


class OnRoutes(Method):
    """A method that publishes routes slice by slice, each in parts if it must."""

    accepts: ClassVar[type[Routes]] = Routes
    publishes: ClassVar[type[Routes]] = Routes
    blocks: ClassVar[tuple[BlockKey, ...]] = ("slice", "place")
    splits_trajectories: ClassVar[bool] = True

    k: int

    @property
    def metric_settings(self) -> Mapping[str, Mapping[str, Any]]:
        return {"road_error": {"k": self.k}, "road_patterns": {"min_support": self.k}}


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The parts of the trajectories of one slice that lie on frequent roads, and the distinct routes among them.

    Parameters
    ----------
    roads, people_on : int64, one per frequent road
        Its code in the network, ascending, and how many people took it.
    n_roads_removed, n_rows_removed, n_people : int
        Roads with traffic that are not frequent, rows on them, and people in the slice.
    trajectory, person, route : int64, one per part
        The input trajectory that it is of, whose it is as a code from 0, and which of the distinct routes it is.
    offsets, road : int64
        The distinct routes: row by row the roads, as positions in `roads`.  Those of most people come first.
    owner_first, owner : int64
        The distinct people of each route, ascending, as codes from 0.
    """

    roads: IntArray
    people_on: IntArray
    n_roads_removed: int
    n_rows_removed: int
    n_people: int
    trajectory: IntArray
    person: IntArray
    route: IntArray
    offsets: IntArray
    road: IntArray
    owner_first: IntArray
    owner: IntArray

    def __len__(self) -> int:
        return len(self.trajectory)


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What is published of one slice.

    Parameters
    ----------
    source : int64, one per published trajectory
        The input trajectory that it is of, -1 for a dummy.
    like : int64, one per published trajectory
        The input trajectory that has its slice and attributes: the source, or for a dummy one that it stands beside.
    offsets, road : int64
        The published trajectories, as codes of the network.
    facts : mapping
        What was done, as numbers that can be added over slices.
    """

    source: IntArray
    like: IntArray
    offsets: IntArray
    road: IntArray
    facts: Mapping[str, int]


def publish_slices(
    data: Routes, k: int, claim: Guarantee, engine: Engine, release: Callable[[Parts], Release]
) -> MethodResult:
    """Publish what `release` makes of the parts in each slice; slices of fewer than `k` trajectories are left out."""
    slices = slices_of(data)
    large = [trajectories for trajectories in slices if len(trajectories) >= k]
    small = [trajectories for trajectories in slices if len(trajectories) < k]
    if not large:  # one is looked at all the same, as it tells what there is to count
        large = small[:1]
        small = small[1:]
    ends = data.network.from_node, data.network.to_node
    results = engine.map(
        lambda part: release(_parts_of(part, k, *ends)), [_Slice.of(data, trajectories) for trajectories in large]
    )
    if small:
        results.append(_left_out(data, small, results[0].facts))
    return published(data, results, claim, {"slices": len(slices)})


def slices_of(data: Routes) -> list[IntArray]:
    """Return the trajectories of each slice of time, in the order of their owners.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b")])
    >>> data = Routes.from_records([["ab"]] * 3, network=network, slices=[(0, 5), (5, 9), (0, 5)], owner=[2, 1, 0])
    >>> [trajectories.tolist() for trajectories in slices_of(data)]
    [[2, 0], [1]]
    """
    if not len(data):
        return []
    order = np.lexsort((data.owner, data.t_end, data.t_start))
    begins = data.t_start[order]
    ends = data.t_end[order]
    return np.split(order, np.flatnonzero((begins[1:] != begins[:-1]) | (ends[1:] != ends[:-1])) + 1)


def parts_of(data: Routes, trajectories: IntArray, k: int) -> Parts:
    """Take out the roads that fewer than `k` people of a slice took, and cut trajectories there and at gaps.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("bd", "b", "d")])
    >>> data = Routes.from_records([["ab", "bc"], ["ab", "bc"], ["ab", "bd"]], network=network)
    >>> found = parts_of(data, np.arange(3), 2)
    >>> found.roads.tolist(), found.people_on.tolist(), found.route.tolist(), found.offsets.tolist()
    ([0, 1], [3, 2], [0, 0, 1], [0, 2, 3])
    """
    return _parts_of(_Slice.of(data, trajectories), k, data.network.from_node, data.network.to_node)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Slice:
    """The trajectories of a slice: which, their owners, and their roads."""

    trajectories: IntArray
    owner: IntArray
    rows: TrajectoryRows

    @classmethod
    def of(cls, data: Routes, trajectories: IntArray) -> _Slice:
        begin = data.offsets[trajectories]
        end = data.offsets[trajectories + 1]
        rows = TrajectoryRows(begin=begin, end=end, columns=(data.road,))
        return cls(trajectories=trajectories, owner=data.owner[trajectories], rows=rows)


def _parts_of(part: _Slice, k: int, from_node: IntArray, to_node: IntArray) -> Parts:
    row_offsets, (row_road,) = part.rows.packed()
    own = np.arange(len(part.trajectories))
    people = people_on_roads(own, row_offsets, row_road, part.owner, len(from_node))
    # A road with fewer than k people in a slice is taken out of it, because who is seen there is one of few. A route
    # falls into parts where a road is missing.
    frequent = people >= k
    code = np.where(frequent, np.cumsum(frequent) - 1, -1)
    offsets, road, at = cut_parts(own, row_offsets, row_road, code, from_node, to_node)
    first, route = np.unique(first_equal(offsets, (road,)), return_inverse=True)
    # Trajectories of a slice are sorted by owner, so a new number begins wherever the owner changes.
    number = np.cumsum(np.append(0, part.owner[1:] != part.owner[:-1]))
    by_route = np.argsort(route, kind="stable")
    of_route = route[by_route]
    of_person = number[at[by_route]]
    # Distinct people per route: a stable sort by route keeps people in order, so that repeats of a person stand side by
    # side.
    once = np.append(True, (of_route[1:] != of_route[:-1]) | (of_person[1:] != of_person[:-1]))[: len(of_route)]
    support = np.bincount(of_route[once], minlength=len(first))
    # Clustering takes routes in this order: what most people drive begins the clusters.
    most = np.argsort(-support, kind="stable")
    place = np.empty(len(most), np.int64)
    place[most] = np.arange(len(most))
    route_offsets, rows = take(offsets, first[most])
    owner_first, pairs = take(offsets_of(support), most)
    return Parts(
        roads=np.flatnonzero(frequent),
        people_on=people[frequent],
        n_roads_removed=int(np.count_nonzero(people) - np.count_nonzero(frequent)),
        n_rows_removed=len(row_road) - len(road),
        n_people=int(number[-1]) + 1,
        trajectory=part.trajectories[at],
        person=number[at],
        route=place[route],
        offsets=route_offsets,
        road=road[rows],
        owner_first=owner_first,
        owner=of_person[once][pairs],
    )


def published(data: Routes, releases: list[Release], claim: Guarantee, facts: Mapping[str, int]) -> MethodResult:
    """Put the slices together: parts in the order of their trajectories, then dummies; nothing tells exact times."""
    source, like = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(routes, name) for routes in releases)])
        for name in ("source", "like")
    )
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(routes.offsets) for routes in releases)])
    road = np.concatenate([np.zeros(0, np.int64), *(routes.road for routes in releases)])
    dummy = source < 0
    # The order of the result follows the input; what is published is shuffled and renamed by the secret later on.
    order = np.lexsort((np.where(dummy, like, source), dummy))
    offsets, rows = take(offsets_of(lengths), order)
    source = source[order]
    like = like[order]
    dummy = dummy[order]
    t_start = data.t_start[like]
    routes = replace(
        data,
        offsets=offsets,
        road=road[rows],
        t=np.repeat(t_start, np.diff(offsets)),
        t_start=t_start,
        t_end=data.t_end[like],
        owner=np.where(dummy, -np.cumsum(dummy, dtype=np.int64), data.owner[like]),
        attributes={name: values.take(like) for name, values in data.attributes.items()},
    )
    names = dict.fromkeys(name for release in releases for name in release.facts)
    summed = {name: sum(release.facts[name] for release in releases) for name in names}
    return MethodResult(data=routes, claim=claim, facts={**facts, **summed}, source=source)


def _left_out(data: Routes, slices: list[IntArray], names: Mapping[str, int]) -> Release:
    """Count the roads of slices in which none can be frequent."""
    nothing = np.zeros(0, np.int64)
    trajectories = np.concatenate([nothing, *slices])
    number = np.repeat(np.arange(len(slices)), [len(part) for part in slices])
    offsets, rows = take(data.offsets, trajectories)
    roads = np.unique(np.repeat(number, np.diff(offsets)) * len(data.network) + data.road[rows])
    counted = {"rare roads taken out": len(roads), "rows on rare roads": len(rows)}
    facts = {name: counted.get(name, 0) for name in names}
    return Release(source=nothing, like=nothing, offsets=np.zeros(1, np.int64), road=nothing, facts=facts)
