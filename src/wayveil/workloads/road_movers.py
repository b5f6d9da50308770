"""Road movers: people who travel on a road network, as the roads that they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import RoadNetwork, Routes, Workload, check_parameters, duration_units, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of
from wayveil.workloads.road_map import RoadWays, file_map, largest_piece, random_map, road_ways

__all__ = ["RoadMovers"]

_BEGIN_S = 1_704_067_200  # Monday, 1 January 2024, 0:00 UTC
_MOST_WAYS = 20_000_000
_MOST_TRIPS = 20_000_000
_MOST_ROWS = 500_000_000
_SPEED_M_S = 50 / 3.6


@dataclass(frozen=True, kw_only=True)
class RoadMovers(Workload):
    """Objects that move on a road network by the shortest ways to popular places; the roads they use are the data.

    Parameters
    ----------
    objects : int, 1 to 10,000,000
        Number of people: the owners of the trajectories.
    roads : int, 10 to 1,000,000
        Number of streets of the random map, each with a road in either direction; about, where it is small.
    network : str
        Empty for a random map, or the path of a network without the endings of its two files: ``<path>.cnode.txt`` with
        the columns id, x, y and ``<path>.cedge.txt`` with id, start, end, length, separated by blanks.
    trip_length : float, 1 to 10,000
        Mean number of roads of a trip.
    trips : float, 1 to 1,000
        Mean number of trips, and so of trajectories, of a person.  There are ``round(objects * trips)`` in all.
    places : int, 2 to 10,000
        Number of intersections that people go to; fewer where there are not so many, or the map is very large.
    wander : float, 0 to 1
        Probability of a random turn at an intersection: 0 for shortest ways only, 1 for random walks.
    span : str
        The time in which trips begin; an integer means seconds.

    Notes
    -----
    The map is as in section 5 of Lin et al. (2010): random points connected to near ones, with four streets at an
    intersection on average.  The same seed gives the same map for any number of objects.

    Of the places that people go to, the popularity of number i falls off as one by the square root of i.  A trip of n
    roads, 1 plus a Poisson number, heads to one of them and begins at one of the intersections from which the shortest
    way has exactly n roads; these are not equally popular either.  Where the map has no way of n roads to that place,
    it begins as far away as possible, and goes on to other places until it has n roads.  So trips share ways, parts of
    ways and whole ways, as trips in cities do.  With probability `wander`, an object takes any road at an intersection
    instead, but does not turn round unless it must, and goes on from there.

    A person drives at 60 to 100 % of 50 km/h, and trips of one person do not overlap.  Times are epoch seconds, and the
    time of a road is when it is entered.

    Time: one Dijkstra tree per place in scipy, then O(rows); a million trips of 10 roads take seconds.

    References
    ----------
    D. Lin, S. Gurung, W. Jiang, A. Hurson, *Privacy-preserving location publishing under road-network constraints*,
    DASFAA (2010).

    Examples
    --------
    >>> data = RoadMovers(objects=30, roads=60, trip_length=4).generate(rng=np.random.default_rng(1))
    >>> len(data), data.n_owners, len(data.network), data.owners, data.time_format
    (30, 30, 120, 'given', 'epoch')
    """

    objects: int = parameter(kind="int", low=1, high=10_000_000, default=5000, help="number of people")
    roads: int = parameter(
        kind="int", low=10, high=1_000_000, default=700, help="number of streets of the random map, each with two roads"
    )
    network: str = parameter(
        kind="text",
        default="",
        help="empty for a random map, or the path of a network without .cnode.txt and .cedge.txt",
    )
    trip_length: float = parameter(
        kind="number", low=1, high=10_000, default=10.0, help="mean number of roads of a trip"
    )
    trips: float = parameter(
        kind="number", low=1, high=1000, default=1.0, help="mean number of trips, each a trajectory, of a person"
    )
    places: int = parameter(
        kind="int", low=2, high=10_000, default=50, help="number of intersections that people go to"
    )
    wander: float = parameter(
        kind="number", low=0, high=1, default=0.02, help="probability of a random turn at an intersection"
    )
    span: str = parameter(kind="duration", default="1h", help="the time in which trips begin")

    name: ClassVar[str] = "road_movers"
    summary: ClassVar[str] = "people who travel on a road network by the shortest ways, as the roads they use"
    accepts: ClassVar[type[Routes]] = Routes
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        for number, most, what in (
            (self._total, _MOST_TRIPS, "trips"),
            (self._total * self.trip_length, _MOST_ROWS, "roads in all trips"),
        ):
            if number > most:
                raise ParameterError(
                    f"road_movers: this would make more than {most:,} {what}; choose fewer objects or trips, or a "
                    "shorter trip_length."
                )

    def generate(self, *, rng: np.random.Generator) -> Routes:
        """Return the trips as roads; owners are given, times are epoch seconds."""
        network = file_map(self.network) if self.network else random_map(self.roads, rng)
        # Only nodes that can reach each other: every trip must find a way.
        inside = largest_piece(network)
        if len(inside) < 2:
            raise InputError(f"road_movers: the network {self.network!r} has no road between two nodes and back.")
        # Of a huge map with many places the ways would not fit into memory.
        n_places = max(2, min(self.places, len(inside), _MOST_WAYS // len(network.nodes)))
        places = rng.permutation(inside)[:n_places]
        # The n-th most popular place is drawn with a weight of 1/sqrt(n).
        popularity = np.cumsum(1 / np.sqrt(np.arange(1, len(places) + 1)))
        ways = road_ways(network, places)
        lengths = 1 + rng.poisson(self.trip_length - 1, self._total)
        offsets = offsets_of(lengths)
        to = _drawn(popularity, self._total, rng)
        start = _starts(ways, to, lengths, rng)
        road = self._walk(network, ways, places, popularity, start, to, lengths, rng)
        # Everybody has the same number of trips, and some drawn people one more for what remains.
        each, more = divmod(self._total, self.objects)
        n_trips = each + (rng.permutation(self.objects) < more)
        owner = np.repeat(np.arange(self.objects), n_trips)
        # A pace per person, not per trip: 60 to 100 % of 50 km/h.
        pace_m_s = rng.uniform(0.6, 1.0, self.objects)[owner] * _SPEED_M_S
        since = _since_start(network, offsets, road, pace_m_s)
        t = self._begins(offsets_of(n_trips), network, offsets, road, since, pace_m_s, rng)
        t = np.repeat(t, lengths) + since.astype(np.int64)
        return Routes(
            offsets=offsets,
            road=road,
            t=t,
            t_start=t[offsets[:-1]],
            t_end=t[offsets[1:] - 1],
            network=network,
            owner=owner,
            time_format="epoch",
            owners="given",
        )

    def _walk(
        self,
        network: RoadNetwork,
        ways: RoadWays,
        places: IntArray,
        popularity: FloatArray,
        start: IntArray,
        to: IntArray,
        lengths: IntArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """Return the roads of all trips.  O(roads) time, in one pass per road of the longest trip."""
        longest_first = np.argsort(-lengths, kind="stable")
        at = start[longest_first]
        heading = to[longest_first]
        before: IntArray = np.full(len(at), -1)
        row = offsets_of(lengths)[:-1][longest_first]
        still = np.searchsorted(-lengths[longest_first], -np.arange(int(lengths.max())), side="left")
        road = np.empty(int(lengths.sum()), np.int64)
        turns = _Turns(network)
        for step, n in enumerate(still.tolist()):
            at = at[:n]
            before = before[:n]
            heading = heading[:n]
            arrived = np.flatnonzero(at == places[heading])
            if len(arrived):
                other = _drawn(popularity, len(arrived), rng)
                heading[arrived] = np.where(other == heading[arrived], (other + 1) % len(places), other)
            by = ways.by[heading, at].astype(np.int64)
            if self.wander:
                stray = np.flatnonzero(rng.random(n) < self.wander)
                by[stray] = turns.any_of(at[stray], before[stray], rng)
            road[row[:n] + step] = by
            at, before = network.to_node[by], at
        return road

    @property
    def _total(self) -> int:
        return round(self.objects * self.trips)

    def _begins(
        self,
        first_trip: IntArray,
        network: RoadNetwork,
        offsets: IntArray,
        road: IntArray,
        since: FloatArray,
        pace_m_s: FloatArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """Return when each trip begins: in the span, or when the trip before of the person ends, if that is later."""
        span = duration_units(self.name, "span", self.span, "epoch")
        n_trips = np.diff(first_trip)
        person = np.repeat(np.arange(len(n_trips)), n_trips)
        wish = rng.integers(0, span, self._total)
        wish = wish[np.lexsort((wish, person))]
        last = offsets[1:] - 1
        takes = np.ceil(since[last] + _seconds(network, road[last], pace_m_s)).astype(np.int64)
        begin = _BEGIN_S + wish
        for rank in range(1, int(n_trips.max())):
            trip = first_trip[:-1][n_trips > rank] + rank
            begin[trip] = np.maximum(begin[trip], begin[trip - 1] + takes[trip - 1])
        return begin


def _drawn(popularity: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    return np.searchsorted(popularity, rng.random(n) * popularity[-1], side="right").clip(max=len(popularity) - 1)


def _starts(ways: RoadWays, to: IntArray, lengths: IntArray, rng: np.random.Generator) -> IntArray:
    """Return a node for each trip from which the way to its place has as many roads as wanted, or the most there are.

    Of nodes as far away, those first in a random order of all nodes are more popular.
    """
    n_places, n_nodes = ways.roads.shape
    rank = rng.permutation(n_nodes)
    farthest = int(ways.roads.max())
    # Nodes by place, number of roads and rank; those without a way, and the place itself, come in classes of their own.
    key = np.arange(n_places)[:, None] * (farthest + 2) + ways.roads + 1
    order = np.lexsort((np.broadcast_to(rank, key.shape).ravel(), key.ravel()))
    first = np.searchsorted(key.ravel()[order], np.arange(n_places * (farthest + 2) + 1))
    keys = to * (farthest + 2) + np.minimum(lengths, ways.roads.max(axis=1)[to]) + 1
    many = first[keys + 1] - first[keys]
    return order[first[keys] + (many * rng.random(len(to)) ** 2).astype(np.int64)] % n_nodes


class _Turns:
    """The roads that leave each node, for random turns."""

    def __init__(self, network: RoadNetwork) -> None:
        self.network = network
        self.roads = np.argsort(network.from_node, kind="stable")
        self.first = offsets_of(np.bincount(network.from_node, minlength=len(network.nodes)))

    def any_of(self, node: IntArray, before: IntArray, rng: np.random.Generator) -> IntArray:
        """Return a road from each node, not to the node `before` if there is another."""
        many = self.first[node + 1] - self.first[node]
        pick = (many * rng.random(len(node))).astype(np.int64)
        back = self.network.to_node[self.roads[self.first[node] + pick]] == before
        return self.roads[self.first[node] + np.where(back, (pick + 1) % many, pick)]


def _seconds(network: RoadNetwork, road: IntArray, pace_m_s: FloatArray) -> FloatArray:
    length = np.zeros(len(network)) if network.length_m is None else network.length_m
    return length[road] / pace_m_s


def _since_start(network: RoadNetwork, offsets: IntArray, road: IntArray, pace_m_s: FloatArray) -> FloatArray:
    """Return the seconds from the beginning of the trip to the entering of each road."""
    takes = _seconds(network, road, np.repeat(pace_m_s, np.diff(offsets)))
    before = np.append(0.0, np.cumsum(takes)[:-1])
    return before - np.repeat(before[offsets[:-1]], np.diff(offsets))
