"""Errands: people with a home, work and habits, as the places where they stop, over a taxonomy of any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wayveil.errors import ParameterError
from wayveil.model import Stops, Taxonomy, Workload, check_parameters, parameter
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.workloads.errands_kinds import Kind, kinds_of, taxonomy_of

__all__ = ["Errands"]

_BEGIN_S = 1_704_067_200  # Monday, 1 January 2024, 0:00 UTC
_DAY_S = 86_400
_MOST_ROWS = 200_000_000
_WORKS = 0.6  # probability that a trip on a weekday begins with work
_HABITS = 6  # places of a person's habit, sensitive ones and others
_ROOM = 20  # leaves per area of the city


class _Shape(NamedTuple):
    """What a preset says."""

    trajectories: int
    trips: int
    stops: float
    sensitive_stops: float
    leaves: int


_SHAPES = {
    "none": _Shape(10_000, 5, 6.0, 1.5, 500),
    "milano": _Shape(6_225, 1, 5.2, 1.28, 530),
    "pisa": _Shape(7_231, 1, 7.1, 1.63, 851),
}


@dataclass(frozen=True, kw_only=True)
class Errands(Workload):
    """People who run errands in a city: the places where they stop, in order, with times.

    Parameters
    ----------
    preset : {"none", "milano", "pisa"}
        What is taken for everything that is "auto".  ``milano``: 6,225 trajectories of 5.2 stops, 1.28 of them
        sensitive, at 530 places; ``pisa``: 7,231 of 7.1, 1.63 of them sensitive, at 851 places of a deeper taxonomy;
        each trajectory of a person of its own.  ``none``: 10,000 of 6 stops, 1.5 of them sensitive, at 500 places, five
        trajectories a person.
    trajectories : int, 1 to 10,000,000, or "auto"
    people : int, 1 to 10,000,000, or "auto"
        Number of people, who make equally many trips (or one more).  At most as many as there are trajectories.
    stops : float, 1 to 1,000, or "auto"
        Mean number of stops of a trajectory; each has one at least.
    sensitive_stops : float, 0 to 1,000, or "auto"
        Mean number of sensitive ones among them.
    leaves : int, 2 to 1,000,000, or "auto"
        Number of places.
    depth : int, 2 to 20, or "auto"
        Edges from the root to a place; "auto" is 3 without a preset.  With a preset it replaces the taxonomy.
    branching : int, 2 to 1,000, or "auto"
        Kinds below a kind; "auto" is 4 without a preset.  With a preset it replaces the taxonomy.
    zipf : float, 0 to 3
        The popularity of the place of rank r falls off as ``r ** -zipf``.
    habit : float, 0 to 1
        Probability that a stop is at one of the places that are this person's habit.
    days : int, 1 to 10,000
        Length of the observation.  Nobody makes two trips on one day, so it is longer where a person makes more trips.
    sensitive_workers : float, 0 to 1
        Share of people whose workplace is a sensitive place.

    Notes
    -----
    The two presets are shaped after Table 1 of Monreale et al. (2011); the shape of the Milano taxonomy is that of the
    figure there as far as the text tells it, and that of Pisa is made up: deeper and larger.  Their data were not
    published, so nothing but these numbers is taken over.

    The city has an area for every 20 places.  People live in one area and work in one, have a workplace there, and six
    places of habit that are sensitive and six that are not, most of them near home or work.  A trip has 1 plus a
    Poisson number of stops, none at the place of the stop before unless there is no other.  On six of ten weekdays it
    begins with four to nine hours of work; everything else takes minutes, and fits into a day.  The share of sensitive
    places among the other stops makes up for those who work at one, so that the mean is as asked; it is larger only
    where these already make more stops at work than that.

    Without a preset, one in four of the kinds below the root is sensitive, and everything below it.  Times are epoch
    seconds from Monday, 1 January 2024, and mean UTC.  O(people + stops) time and memory.

    References
    ----------
    A. Monreale, R. Trasarti, D. Pedreschi, C. Renso, V. Bogorny, *C-safety: a framework for the anonymization of
    semantic trajectories*, Transactions on Data Privacy 4 (2011).

    Examples
    --------
    >>> data = Errands(preset="milano").generate(rng=np.random.default_rng(1))
    >>> len(data), data.n_owners, int(data.taxonomy.is_leaf.sum()), data.time_format
    (6225, 6225, 530, 'epoch')
    >>> round(data.n_rows / len(data), 1), round(int(data.sensitive.sum()) / len(data), 1)
    (5.2, 1.3)
    """

    preset: str = parameter(
        kind="choice", choices=("none", "milano", "pisa"), default="none", help="what auto means for the others"
    )
    trajectories: int | str = parameter(
        kind="int", low=1, high=10_000_000, choices=("auto",), default="auto", help="number of trips, each a trajectory"
    )
    people: int | str = parameter(
        kind="int",
        low=1,
        high=10_000_000,
        choices=("auto",),
        default="auto",
        help="number of people who make the trips",
    )
    stops: float | str = parameter(
        kind="number", low=1, high=1000, choices=("auto",), default="auto", help="mean number of stops of a trip"
    )
    sensitive_stops: float | str = parameter(
        kind="number", low=0, high=1000, choices=("auto",), default="auto", help="mean number of sensitive ones of them"
    )
    leaves: int | str = parameter(
        kind="int", low=2, high=1_000_000, choices=("auto",), default="auto", help="number of places"
    )
    depth: int | str = parameter(
        kind="int", low=2, high=20, choices=("auto",), default="auto", help="edges of the taxonomy from root to place"
    )
    branching: int | str = parameter(
        kind="int", low=2, high=1000, choices=("auto",), default="auto", help="kinds of places below a kind"
    )
    zipf: float = parameter(
        kind="number", low=0, high=3, default=1.0, help="how fast popularity falls off with the rank of a place"
    )
    habit: float = parameter(
        kind="number", low=0, high=1, default=0.6, help="probability that a stop is at a place of habit"
    )
    days: int = parameter(kind="int", low=1, high=10_000, default=28, help="length of the observation in days")
    sensitive_workers: float = parameter(
        kind="number", low=0, high=1, default=0.02, help="share of people who work at a sensitive place"
    )

    name: ClassVar[str] = "errands"
    summary: ClassVar[str] = "people with home, work and habits, as the places where they stop; some are sensitive"
    accepts: ClassVar[type[Stops]] = Stops
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        shape = self._shape
        if self.people != "auto" and int(self.people) > shape.trajectories:
            raise ParameterError(
                f"errands: people must not be more than the {shape.trajectories:,} trajectories, got {self.people}; "
                "everybody makes a trip."
            )
        if shape.sensitive_stops > shape.stops:
            raise ParameterError(
                f"errands: sensitive_stops must not be more than stops, got {shape.sensitive_stops:g} of "
                f"{shape.stops:g}."
            )
        if shape.trajectories * shape.stops > _MOST_ROWS:
            raise ParameterError(f"errands: this would make more than {_MOST_ROWS:,} stops; choose fewer.")
        kinds = sum(kind.share > 0 for kind in self._kinds)
        if kinds > shape.leaves:
            raise ParameterError(
                f"errands: leaves must be at least {kinds:,}, one for every kind of the taxonomy, got {shape.leaves}; "
                "or choose a smaller depth or branching."
            )

    def generate(self, *, rng: np.random.Generator) -> Stops:
        """Return the trips as stops at leaves; owners are given, times are epoch seconds."""
        shape = self._shape
        taxonomy = taxonomy_of(self._kinds, shape.leaves)
        # The order of draws is part of the result: the same seed must give the same data in every version.
        city = _City(taxonomy, self.zipf, rng)
        owner, n_trips = _owners(shape.trajectories, self._n_people, rng)
        people = _People(city, self._n_people, self.sensitive_workers, rng)
        day = _days(n_trips, self.days, rng)
        lengths = 1 + rng.poisson(shape.stops - 1, shape.trajectories)
        offsets = offsets_of(lengths)
        works = (day % 7 < 5) & (rng.random(shape.trajectories) < _WORKS)
        # How many other stops are sensitive is balanced against workplaces, so that the mean is the one asked for.
        works, share = _balanced(
            works, city.sensitive[people.workplace[owner]], shape.sensitive_stops, int(offsets[-1])
        )
        trip = trajectory_of_row(offsets)
        person = owner[trip]
        sensitive = rng.random(len(trip)) < share
        place = np.empty(len(trip), np.int64)
        for kind in (False, True):
            rows = np.flatnonzero(sensitive == kind)
            place[rows] = people.stop(person[rows], kind, self.habit, rng)
        at_work = np.zeros(len(trip), np.bool_)
        at_work[offsets[:-1][works]] = True
        place[at_work] = people.workplace[person[at_work]]
        _move_on(place, trip, city, rng)
        t, t_end = _times(offsets, day, works, rng)
        return Stops(
            offsets=offsets,
            place=city.leaf[place],
            t=t,
            t_end=t_end,
            taxonomy=taxonomy,
            owner=owner,
            time_format="epoch",
            owners="given",
        )

    @property
    def _shape(self) -> _Shape:
        """What was asked for, with the preset for what is "auto"."""
        shape = _SHAPES[self.preset]
        return _Shape(
            shape.trajectories if self.trajectories == "auto" else int(self.trajectories),
            shape.trips,
            shape.stops if self.stops == "auto" else float(self.stops),
            shape.sensitive_stops if self.sensitive_stops == "auto" else float(self.sensitive_stops),
            shape.leaves if self.leaves == "auto" else int(self.leaves),
        )

    @property
    def _n_people(self) -> int:
        shape = self._shape
        return -(-shape.trajectories // shape.trips) if self.people == "auto" else int(self.people)

    @property
    def _kinds(self) -> list[Kind]:
        return list(kinds_of(self.preset, self.depth, self.branching))


class _City:
    """Leaves by number, with popularity, sensitivity and area; drawn from by kind and area."""

    def __init__(self, taxonomy: Taxonomy, zipf: float, rng: np.random.Generator) -> None:
        self.leaf = np.flatnonzero(taxonomy.is_leaf)
        self.sensitive = taxonomy.sensitive[self.leaf]
        n = len(self.leaf)
        self.n_areas = max(1, n // _ROOM)
        popularity = rng.permutation(np.arange(1, n + 1.0) ** -zipf)
        area = rng.integers(self.n_areas, size=n)
        self.by_area: list[IntArray] = []
        self.first: list[IntArray] = []
        self.edges: list[FloatArray] = []
        for kind in (False, True):
            here = np.flatnonzero(self.sensitive == kind)
            here = here[np.argsort(area[here], kind="stable")]
            self.by_area.append(here)
            self.first.append(np.searchsorted(area[here], np.arange(self.n_areas + 1)))
            self.edges.append(np.append(0.0, np.cumsum(popularity[here])))

    def draw(self, area: IntArray, kind: bool, rng: np.random.Generator) -> IntArray:
        """Return a place in each area, or anywhere where the area is -1 or has none of this kind."""
        first = self.first[kind]
        edges = self.edges[kind]
        places = self.by_area[kind]
        low = first[area]
        high = first[area + 1]
        anywhere = (area < 0) | (low == high)
        low = np.where(anywhere, 0, low)
        high = np.where(anywhere, len(places), high)
        # Popularities are summed over places sorted by area, so that drawing inside one area is drawing inside a range
        # of the sums.
        at = edges[low] + rng.random(area.shape) * (edges[high] - edges[low])
        return places[np.clip(np.searchsorted(edges, at, side="right") - 1, low, high - 1)]


class _People:
    """Where people live, work and like to go."""

    def __init__(self, city: _City, n: int, sensitive_workers: float, rng: np.random.Generator) -> None:
        self.city = city
        self.home, work = rng.integers(city.n_areas, size=n), rng.integers(city.n_areas, size=n)
        at_sensitive = rng.permutation(n) < round(n * sensitive_workers)
        self.workplace = np.where(at_sensitive, city.draw(work, True, rng), city.draw(work, False, rng))
        lot = rng.random((n, _HABITS))
        # Half of the habits near home, a quarter near work, the rest anywhere.
        near = np.where(lot < 0.5, self.home[:, None], np.where(lot < 0.75, work[:, None], -1))
        self.habits = [city.draw(near, kind, rng) for kind in (False, True)]

    def stop(self, person: IntArray, kind: bool, habit: float, rng: np.random.Generator) -> IntArray:
        """Return a place for each stop of a person: by habit, near home or anywhere."""
        lot = rng.random(len(person))
        # Of the habits, the first are the strongest.
        # Squared: small ranks are more likely.
        rank = (_HABITS * rng.random(len(person)) ** 2).astype(np.int64)
        place = self.habits[kind][person, rank]
        new = np.flatnonzero(lot >= habit)
        area = np.where(rng.random(len(new)) < 0.5, self.home[person[new]], -1)
        place[new] = self.city.draw(area, kind, rng)
        return place


def _owners(trips: int, people: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the owner of each trip, and how many trips each person makes."""
    each, more = divmod(trips, people)
    n_trips = each + (rng.permutation(people) < more)
    return np.repeat(np.arange(people), n_trips), n_trips


def _days(n_trips: IntArray, days: int, rng: np.random.Generator) -> IntArray:
    """Return the day of each trip; those of a person lie on different days, in order."""
    days = max(days, int(n_trips.max()))
    many = np.repeat(n_trips, n_trips)
    rank = np.arange(len(many)) - np.repeat(offsets_of(n_trips)[:-1], n_trips)
    # One day from each of as many equal parts of the observation as the person makes trips.
    begin = rank * days // many
    end = (rank + 1) * days // many
    return begin + (rng.random(len(many)) * (end - begin)).astype(np.int64)


def _balanced(works: BoolArray, sensitive: BoolArray, mean: float, rows: int) -> tuple[BoolArray, float]:
    """Return who goes to work, and the share of sensitive places among all other stops for the mean asked."""
    total = mean * len(works)
    for going in (works, works & sensitive):
        secret = int((going & sensitive).sum())
        others = rows - int(going.sum())
        share = (total - secret) / max(others, 1)
        if share <= 1:  # else there are too few other stops: work at places that are not sensitive gives way
            break
    return going, share


def _move_on(place: IntArray, trip: IntArray, city: _City, rng: np.random.Generator) -> None:
    """Change places, within their kind, until none is that of the stop before; in vain where there is one only."""
    for _ in range(50):
        again = np.flatnonzero((place[1:] == place[:-1]) & (trip[1:] == trip[:-1])) + 1
        if len(again) == 0:
            return
        for kind in (False, True):
            rows = again[city.sensitive[place[again]] == kind]
            place[rows] = city.draw(np.full(len(rows), -1), kind, rng)


def _times(offsets: IntArray, day: IntArray, works: BoolArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return when people come and leave, in epoch seconds; a trip ends on the day when it begins."""
    n = len(day)
    rows = int(offsets[-1])
    first = offsets[:-1]
    start = np.where(works, rng.integers(23_400, 32_400, n), rng.integers(25_200, 50_400, n))
    stay = rng.integers(900, 5_400, rows).astype(np.float64)
    way = rng.integers(300, 1_800, rows).astype(np.float64)
    stay[first[works]] = rng.integers(14_400, 32_400, int(works.sum()))
    # Running sums of stays and ways give the end of each stop; those of earlier trips are subtracted.
    done = np.cumsum(stay + way)
    done -= np.repeat(done[first] - stay[first], np.diff(offsets))
    # A trip that would go on after midnight is shrunk in time.
    shrink = np.minimum(1.0, (_DAY_S - 1 - start) / done[offsets[1:] - 1])
    begin = np.repeat(_BEGIN_S + day * _DAY_S + start, np.diff(offsets))
    shrink = np.repeat(shrink, np.diff(offsets))
    return begin + ((done - stay) * shrink).astype(np.int64), begin + (done * shrink).astype(np.int64)
