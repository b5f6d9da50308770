"""Network movers: people who travel on a road network, seen by a positioning device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import ParameterError
from wayveil.kernels.roads.walks import Walkers, WaysToTargets, sample_walks
from wayveil.model import Points, Workload, check_parameters, duration_units, parameter
from wayveil.model.data.ragged import IntArray, offsets_of
from wayveil.workloads.road_graph import (
    ROAD_SPEEDS_M_S,
    Floats,
    Ints,
    RoadGraph,
    Ways,
    generated_graph,
    read_graph,
    ways_to,
)

__all__ = ["NetworkMovers"]

_BEGIN_S = 1_704_067_200  # Monday, 1 January 2024, 0:00 UTC
_DAY_S = 86_400
_LONGEST_S = 2_000 * 365 * _DAY_S
_MOST_TARGETS = 500
_MOST_WAYS = 20_000_000
_MOST_TRIPS = 20_000_000
_MOST_POINTS = 500_000_000
_MOST_TRAVEL_S = 10**10
_LEGS = 8


@dataclass(frozen=True, kw_only=True)
class NetworkMovers(Workload):
    """Objects that move on a road network by the fastest ways, as in the generator of Brinkhoff (2002).

    Parameters
    ----------
    objects : int, 1 to 10,000,000
        Number of people: the owners of the trajectories.
    trips : float, 1 to 1,000
        Mean number of trips, and so of trajectories, of a person.  There are ``round(objects * trips)`` in all, and
        everybody has this mean rounded down or up.
    network : str
        "generated", or the path of a network without the endings of its two files: ``<path>.cnode.txt`` with the
        columns id, x, y and ``<path>.cedge.txt`` with id, start, end, length, separated by blanks.  Coordinates are
        taken as metres.
    classes : int, 1 to 6
        Number of object classes.  Class i of n drives at most at ``70 * (n - i) / n`` km/h, i from 0 on, and nobody
        drives faster than the road allows: 70, 50 or 30 km/h by its class.
    period : str
        Time between two points; an integer means seconds, as for all durations here.  All times are multiples of it.
    duration : str, or "arrival"
        How long each trip is observed.  Who arrives earlier goes on to another place.  With "arrival" each trip is
        observed until its first destination.
    windows : int, 1 to 100,000
        Number of time windows, one after the other from midnight on, in which trips begin.
    window : str
        Length of a window, not less than `period`.
    noise : float, >= 0
        Standard deviation of the error of x and y, in metres.

    Notes
    -----
    Homes are nodes, drawn evenly.  Destinations are 500 nodes (fewer where there are fewer trips, and in networks with
    more than 40,000 nodes), some more popular than others.  A trip begins where the last one of its person was heading
    to, and a person is never on two trips at once: trips are moved to other windows for that, or to the next day where
    a day is full.  More trips begin in the windows around the first third and the third quarter of the span than in
    others.  People of a class have the same speeds but for a pace of their own, from 85 % to 100 %.  Of a network in
    pieces the largest is used.

    A set like OLDENBURG of Huo, Huang and Meng (2011), with 10,000 objects, 26,471 trajectories in 132 equivalence
    classes by start and end windows of ten minutes, and 151 points per trajectory::

        NetworkMovers(network=".../OL", objects=10_000, trips=2.6471, classes=6, windows=132, window="10min",
                      duration="10min", period="4s")

    As `duration` is a multiple of `window`, all trips that begin in one window end in one window, so that classes are
    windows of the start.  Theirs have from 72 to 388 members; with the seeds 0, 1 and 2, those made here
    have from 69 to 401.

    Time: one Dijkstra tree per destination and object class, in scipy, then O(points + nodes on the ways).

    References
    ----------
    T. Brinkhoff, *A framework for generating network-based moving objects*, GeoInformatica 6 (2002).

    Examples
    --------
    >>> data = NetworkMovers(objects=20, trips=1.5).generate(rng=np.random.default_rng(1))
    >>> len(data), data.n_owners, data.n_rows, data.owners, data.time_format
    (30, 20, 1830, 'given', 'epoch')
    """

    objects: int = parameter(kind="int", low=1, high=10_000_000, default=1000, help="number of people")
    trips: float = parameter(
        kind="number", low=1, high=1000, default=2.0, help="mean number of trips, each a trajectory, of a person"
    )
    network: str = parameter(
        kind="text",
        default="generated",
        help="generated, or the path of a network without .cnode.txt and .cedge.txt",
    )
    classes: int = parameter(kind="int", low=1, high=6, default=3, help="number of object classes, by their top speed")
    period: str = parameter(kind="duration", default="10s", help="time between two points")
    duration: str = parameter(
        kind="duration", choices=("arrival",), default="10min", help="how long each trip is observed"
    )
    windows: int = parameter(
        kind="int", low=1, high=100_000, default=12, help="number of time windows in which trips begin"
    )
    window: str = parameter(kind="duration", default="10min", help="length of such a window, at least the period")
    noise: float = parameter(
        kind="number", low=0, high=1e6, default=0.0, help="standard deviation of the error of x and y in metres"
    )

    name: ClassVar[str] = "network_movers"
    summary: ClassVar[str] = "people who travel on a road network by the fastest ways, as points of a GPS device"
    accepts: ClassVar[type[Points]] = Points
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self._seconds("window") < self._seconds("period"):
            raise ParameterError(
                f"network_movers: window must not be shorter than period, got {self.window} and {self.period}."
            )
        self._check_most(self._total, _MOST_TRIPS, "trips")
        if self.duration != "arrival":
            seconds = self._seconds("duration")
            self._check_most(self._total * (seconds // self._seconds("period") + 1), _MOST_POINTS, "points")
            self._check_most(self._total * seconds, _MOST_TRAVEL_S, "seconds of travel")

    def generate(self, *, rng: np.random.Generator) -> Points:
        """Return the trips as points; owners are given, times are epoch seconds."""
        graph = generated_graph() if self.network == "generated" else read_graph(self.network)
        target, popularity = _targets(graph, self._total, rng)
        people = self._people(len(graph), popularity, rng)
        # Classes one after the other: the table of ways to all destinations is large and differs by top speed.
        walks = [self._walk(graph, target, people, number) for number in range(self.classes)]
        takes, lengths, x, y = (np.concatenate(column) for column in zip(*walks, strict=True))
        begin = self._begins(people.first_trip, takes, rng)
        offsets = offsets_of(lengths)
        step = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        data = Points(
            offsets=offsets,
            t=np.repeat(begin, lengths) + step * self._seconds("period"),
            x=x + self._errors(len(x), rng),
            y=y + self._errors(len(y), rng),
            owner=np.repeat(people.number, np.diff(people.first_trip)),
            time_format="epoch",
            owners="given",
        )
        return data.take(np.argsort(data.owner, kind="stable"))

    def _people(self, n_nodes: int, popularity: Floats, rng: np.random.Generator) -> _People:
        classes = np.sort(rng.integers(self.classes, size=self.objects))
        number = rng.permutation(self.objects)
        each, more = divmod(self._total, self.objects)
        drawn = rng.random((self._total, _LEGS))
        return _People(
            number=number,
            first_of_class=np.searchsorted(classes, np.arange(self.classes + 1)),
            first_trip=offsets_of(each + (rng.permutation(self.objects) < more)),
            home=rng.integers(n_nodes, size=self.objects),
            pace=rng.uniform(0.85, 1.0, self.objects),
            plan=np.searchsorted(np.cumsum(popularity), drawn).clip(max=len(popularity) - 1),
        )

    def _walk(
        self, graph: RoadGraph, target: Ints, people: _People, number: int
    ) -> tuple[Floats, Ints, Floats, Floats]:
        """Return the trips of one class of objects: seconds and number of points of each, then x and y."""
        who = slice(people.first_of_class[number], people.first_of_class[number + 1])
        trips = slice(people.first_trip[who.start], people.first_trip[who.stop])
        first = people.first_trip[who.start : who.stop + 1] - people.first_trip[who.start]
        home = people.home[who]
        pace = people.pace[who]
        plan = people.plan[trips]
        top = ROAD_SPEEDS_M_S[0] * (self.classes - number) / self.classes
        ways = ways_to(graph, target, top_speed_m_s=top)
        period = self._seconds("period")
        takes = self._takes(first, home, pace, plan, target, ways)
        points = (takes // period).astype(np.int64) + 1
        self._check_most(int(points.sum()), _MOST_POINTS, "points")
        arrive = self.duration == "arrival"
        walkers = Walkers(first, home, pace, plan, points)
        xy = sample_walks(
            walkers, arrive, float(period), WaysToTargets(target, ways.towards, ways.left_s, graph.x, graph.y)
        )
        return takes, points, *xy

    @property
    def _total(self) -> int:
        return round(self.objects * self.trips)

    def _seconds(self, name: str) -> int:
        return duration_units(self.name, name, getattr(self, name), "epoch")

    def _check_most(self, number: int, most: int, what: str) -> None:
        if number > most:
            raise ParameterError(
                f"network_movers: this would make more than {most:,} {what}; choose fewer objects or trips, a shorter "
                "duration or a longer period."
            )

    def _takes(self, first_trip: IntArray, home: Ints, pace: Floats, plan: Ints, target: Ints, ways: Ways) -> Floats:
        """Return the seconds that each trip is observed; the destinations are those that `sample_walks` takes."""
        takes = np.zeros(len(plan))
        if self.duration != "arrival":
            return takes + self._seconds("duration")
        n_trips = np.diff(first_trip)
        at = home.copy()
        # Trip by trip of everybody at once: where the last one ended is where the next begins.
        for rank in range(int(n_trips.max(initial=0))):
            people = np.flatnonzero(n_trips > rank)
            trip = first_trip[people] + rank
            to = plan[trip, 0]
            to = np.where(target[to] == at[people], (to + 1) % len(target), to)
            takes[trip] = ways.left_s[to, at[people]] / pace[people]
            at[people] = target[to]
        return takes

    def _begins(self, first_trip: IntArray, seconds: Floats, rng: np.random.Generator) -> Ints:
        """Return when each trip begins: in a window of its own that the trip before of its person leaves free."""
        window = self._seconds("window")
        period = self._seconds("period")
        # A trip needs a window to begin in, and as many as it lasts.
        needs = 1 + np.ceil(seconds / window).astype(np.int64)
        per_day = max(1, self.windows // int(needs.max()))
        person = np.repeat(np.arange(len(first_trip) - 1), np.diff(first_trip))
        rank = np.arange(len(person)) - first_trip[person]
        day = rank // per_day
        wish = rng.choice(self.windows, size=len(person), p=_profile(self.windows))
        # Wishes of a person's day in order, so that trips do not overtake each other.
        wish = wish[np.lexsort((wish, day, person))]
        head = np.flatnonzero(rank % per_day == 0)
        together = np.repeat(np.arange(len(head)), np.diff(np.append(head, len(person))))
        used = np.cumsum(needs) - needs
        used -= used[head][together]
        # Free windows before a trip must not become fewer from trip to trip of a day: the least of all later ones.
        apart = 2 * (self.windows + int(used.max()) + 1)
        free = np.minimum.accumulate((wish - used + together * apart)[::-1])[::-1] - together * apart
        slot = np.maximum(free, 0) + used
        day_s = -(-(self.windows * window + int(seconds.max())) // _DAY_S) * _DAY_S
        if (int(day.max()) + 1) * day_s > _LONGEST_S:
            raise ParameterError("network_movers: all trips take longer than 2,000 years; choose shorter windows.")
        opens = _BEGIN_S + day * day_s + slot * window
        low = -(-opens // period)
        high = -(-(opens + window) // period)
        return (low + (rng.random(len(low)) * (high - low)).astype(np.int64)) * period

    def _errors(self, n: int, rng: np.random.Generator) -> Floats | float:
        return rng.normal(0.0, self.noise, n) if self.noise else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class _People:
    """People by class; `number` is what they are called, so that it says nothing of the class.

    Class `c` has the people from ``first_of_class[c]`` on, person `p` the trips from ``first_trip[p]`` on; `plan` has a
    row of destinations per trip.
    """

    number: Ints
    first_of_class: Ints
    first_trip: IntArray
    home: Ints
    pace: Floats
    plan: Ints


def _targets(graph: RoadGraph, trips: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return the nodes that people go to, and how popular each is."""
    n = max(1, min(_MOST_TARGETS, trips, len(graph), _MOST_WAYS // len(graph)))
    weight = 1 / np.sqrt(np.arange(1, n + 1))
    return rng.permutation(len(graph))[:n], weight / weight.sum()


def _profile(windows: int) -> Floats:
    """Return the share of trips that begin in each window: two peaks over a base."""
    at = (np.arange(windows) + 0.5) / windows
    weight = 0.42 + np.exp(-(((at - 0.33) / 0.12) ** 2)) + np.exp(-(((at - 0.75) / 0.12) ** 2))
    return weight / weight.sum()
