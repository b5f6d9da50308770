"""Synthetic trajectories from a differentially private model of the data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.methods.synth.noisy_model import Budget
from wayveil.methods.synth.person_shares import share_trips
from wayveil.methods.synth.point_trips import draw_point_trips
from wayveil.methods.synth.public_area import check_area
from wayveil.methods.synth.start_times import Clock, check_days, learn_start_times
from wayveil.methods.synth.visit_model import Sequences, learn_visits, select_places
from wayveil.model import DifferentialPrivacy, Engine, Method, MethodResult, Points, Sensitive, Trips, Visits, parameter
from wayveil.model.claims.differential_privacy import delta_parameter, epsilon_parameter
from wayveil.model.data.ragged import IntArray
from wayveil.model.data.trips import TripEnds

__all__ = ["Synth"]

_MOST_TRIPS = 10_000_000
_SHARES = {
    "places": Fraction(15),
    "area": Fraction(8),
    "trips": Fraction(1),
    "days": Fraction(2),
    "hours": Fraction(3),
    "model": Fraction(80),
}
"""What of epsilon goes where, in proportion; what is declared costs nothing, and the others share it."""


@dataclass(frozen=True, kw_only=True)
class Synth(Method):
    """Publish synthetic trips that are drawn from a noisy model; none of them is anybody's.

    Parameters
    ----------
    epsilon : number, > 0
        Privacy budget of a person with all their trips, over the whole publication.
    delta : number from 0 to 0.1
        Probability with which more may be learned.  It pays for places and days that come from the data; 0 needs both
        to be declared.
    trips : int, or "noisy"
        How many trips are drawn; "noisy" is a noisy count of those of the data, each person's up to `trips_per_person`.
    trips_per_person : int
        Up to how many trips a person counts with each of them; who has more counts no more than that in all.
    public_places : groups of names
        All places there are, whether anybody was there or not, as the stations of a network; visits elsewhere do not
        count.  Without it only places are named that enough people visit.
    days : "select" or FIRST..LAST
        Whether only days occur on which enough people travel; or which days the data are about, as everybody knows.
    area : "find" or WEST,SOUTH,EAST,NORTH
        Of points, the rectangle in which synthetic ones are, in the coordinates of the file; or it is found with a part
        of the budget.
    places_per_person : int
        Of everybody, how many places count for which places are named: those they visit most.
    length_max : int
        How many visits a trip has at most; what comes after is cut off.

    Guarantee
    ---------
    ``DifferentialPrivacy(epsilon, delta)`` for each person with all their trips.  Not covered: other publications of
    the same people, and whatever is declared and should not have been.

    Notes
    -----
    Every number comes from a histogram to which a person adds at most one person, in whole parts, however many trips
    they have; the rest is computed from these.  Visits: lengths, starts by time of day, what comes next after one place
    and, where that stands out from the noise, after two.  Points: an adaptive grid, ends of trips by zones and cells,
    moves between neighbouring cells, turns, lengths and speeds; a trip is a random walk that is bound to end where it
    should.  O(rows) time to count, and O(ends x cells x length) to draw walks.

    References
    ----------
    Chen, Acs, Castelluccia: Differentially private sequential data publication via variable-length n-grams.  CCS 2012.
    Gursoy, Liu, Truex, Yu, Wei: Utility-aware synthesis of differentially private and attack-resilient location traces
    (AdaTrace).  CCS 2018.
    Wang et al.: PrivTrace: differentially private trajectory synthesis by adaptive Markov models.  USENIX Security
    2023.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("park", 8), ("quay", 9)]] * 200)
    >>> method = Synth(epsilon=5, delta=1e-6, trips=3)
    >>> made = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> len(made.data), sum(query.epsilon for query in made.claim.queries) <= 5
    (3, True)
    """

    epsilon: float = epsilon_parameter()
    delta: float = delta_parameter(default=1e-6)
    trips: int | str = parameter(
        kind="int",
        low=1,
        high=_MOST_TRIPS,
        choices=("noisy",),
        default="noisy",
        help="how many trips are drawn; noisy: a noisy count of those of the data",
    )
    trips_per_person: int = parameter(
        kind="int",
        low=1,
        high=1000,
        default=1,
        help="up to how many trips a person counts with each; who has more counts no more than that in all",
    )
    public_places: Sensitive = parameter(
        kind="groups", default=(), help="all places, known to everybody; without, only those that enough people visit"
    )
    days: str = parameter(
        kind="text",
        default="select",
        help="the days that the data are about, FIRST..LAST; select: only days on which enough people travel",
    )
    area: str = parameter(
        kind="text",
        default="find",
        help="of points, the area WEST,SOUTH,EAST,NORTH in coordinates of the file; find: from a part of the budget",
    )
    places_per_person: int = parameter(
        kind="int", low=1, high=1000, default=20, help="places of a person that count for which places are named"
    )
    length_max: int = parameter(kind="int", low=2, high=200, default=30, help="visits of a trip at most")

    name: ClassVar[str] = "synth"
    summary: ClassVar[str] = "synthetic trips from a differentially private model of the data"
    accepts: ClassVar[type[Any]] = Visits
    accepts_also: ClassVar[tuple[type[Any], ...]] = (Trips, Points)
    publishes: ClassVar[type[Any]] = Visits
    splits_trajectories: ClassVar[bool] = True
    synthetic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon == 0:
            raise ParameterError("synth: epsilon must be larger than 0, got 0. Nothing could be learned from the data.")
        for check, value, word in ((check_days, self.days, "select"), (check_area, self.area, "find")):
            if value != word:
                try:
                    check(value)
                except InputError as error:
                    raise ParameterError(str(error)) from None
        if self.delta == 0 and self.days == "select":
            raise ParameterError(
                "synth: with delta = 0 no day can be taken from the data. Declare them, as "
                "days=2024-03-01..2024-03-31, or give a delta such as 1e-6."
            )

    @property
    def random_noise(self) -> bool:
        return True

    @property
    def claim(self) -> DifferentialPrivacy:
        return DifferentialPrivacy(epsilon=self.epsilon, delta=self.delta)

    def for_kind(self, kind: str) -> Synth:
        """Return the same method for points where the data are points."""
        if kind != Points.kind:
            return self
        return SynthPoints(**{f.name: getattr(self, f.name) for f in fields(self)})

    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        self._check(data)
        engine.progress("noisy model")
        budget = Budget(epsilon=Fraction(self.epsilon), delta=Fraction(self.delta))
        sequences, names = _sequences(data, share_trips(data.owner, data.nonempty, self.trips_per_person))
        public = self._list_places()
        shares = self._split(["trips", "days", "hours", "model", *([] if public else ["places"])])
        total = self._count_trips(sequences.shares, budget, shares["trips"])
        n_selected = (not public) + (self.days == "select")
        delta = Fraction(self.delta) / max(n_selected, 1)
        # Which places can occur follows from the declared list or from noisy counts, never from the data alone.
        chosen = public or select_places(
            sequences, names, most=self.places_per_person, budget=budget, epsilon=shares["places"], delta=delta
        )
        longest = 2 if data.trip_ends else self.length_max
        sequences = sequences.keep(chosen, names, longest)
        clock = Clock.of(data.time_format, step_s=60)
        started = np.where(sequences.lengths > 0, sequences.shares, 0)
        times = learn_start_times(
            _starts(sequences),
            sequences.owner,
            started,
            clock=clock,
            days=self.days,
            budget=budget,
            epsilon=(shares["days"], shares["hours"]),
            delta=delta,
        )
        model = learn_visits(
            sequences,
            len(chosen),
            total=total,
            longest=longest,
            clock=clock,
            budget=budget,
            epsilon=shares["model"],
        )
        engine.progress("draw trips")
        drawn = self._n_trips(total)
        offsets, place, t = model.draw(drawn, times, rng)
        synthetic_trips = _visits_of(data, offsets, place, t, chosen)
        return self._result(synthetic_trips, budget)

    def _check(self, data: Any) -> None:
        if not data.n_rows:
            raise InputError("synth: there is nothing to learn from: the data have no rows.")
        if self.delta == 0 and not self.public_places and not data.coordinates:
            raise InputError(
                "synth: with delta = 0 no place can be taken from the data. Give public_places, the list of all places "
                "that is public anyway, or a delta such as 1e-6."
            )

    def _list_places(self) -> tuple[str, ...]:
        """Return the declared places in sorted order; none where they are selected."""
        return tuple(sorted({name for _, names in self.public_places for name in names}))

    def _split(self, parts: list[str]) -> dict[str, Fraction]:
        """Return how much of epsilon each of these gets."""
        whole = sum((_SHARES[part] for part in parts), Fraction(0))
        return {part: Fraction(self.epsilon) * _SHARES[part] / whole for part in parts}

    def _count_trips(self, shares: IntArray, budget: Budget, epsilon: Fraction) -> float:
        """Return a noisy count of people, as far as they have trips."""
        noisy = budget.histogram("trips", "trips", np.array([shares.sum()]), epsilon)
        return max(float(noisy.values[0]), 1.0)

    def _n_trips(self, total: float) -> int:
        if not isinstance(self.trips, str):
            return self.trips
        return int(np.clip(round(total * self.trips_per_person), 1, _MOST_TRIPS))

    def _result(self, synthetic_trips: Any, budget: Budget) -> MethodResult:
        claim = DifferentialPrivacy(
            epsilon=self.epsilon,
            delta=self.delta,
            queries=tuple(budget.queries),
            zones=() if synthetic_trips.coordinates else self._list_places(),
            bounding=("share-person", "largest-keys"),
            steps=("fit-totals", "choose-next", "draw-trips"),
        )
        return MethodResult(
            data=synthetic_trips,
            claim=claim,
            source=np.full(len(synthetic_trips), -1),
            facts={"noisy histograms": len(budget.queries)},
        )


@dataclass(frozen=True, kw_only=True)
class SynthPoints(Synth):
    """The same for points."""

    accepts: ClassVar[type[Any]] = Points
    accepts_also: ClassVar[tuple[type[Any], ...]] = ()
    publishes: ClassVar[type[Any]] = Points

    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        self._check(data)
        engine.progress("noisy model")
        budget = Budget(epsilon=Fraction(self.epsilon), delta=Fraction(self.delta))
        shares = share_trips(data.owner, data.nonempty, self.trips_per_person)
        finds = self.area == "find"
        parts = self._split(["trips", "days", "hours", "model", *(["area"] if finds else [])])
        total = self._count_trips(shares, budget, parts["trips"])
        clock = Clock.of(data.time_format, step_s=1)
        first = np.where(data.nonempty, data.offsets[:-1], 0)
        times = learn_start_times(
            data.t[first],
            data.owner,
            shares,
            clock=clock,
            days=self.days,
            budget=budget,
            epsilon=(parts["days"], parts["hours"]),
            delta=Fraction(self.delta),
        )
        synthetic_trips = draw_point_trips(
            data,
            shares,
            times,
            area=None if finds else check_area(self.area),
            total=total,
            drawn=self._n_trips(total),
            budget=budget,
            epsilon=(parts.get("area", Fraction(0)), parts["model"]),
            rng=rng,
            engine=engine,
        )
        return self._result(synthetic_trips, budget)


def _sequences(data: Any, shares: IntArray) -> tuple[Sequences, tuple[str, ...]]:
    """Return trips as sequences of places; of trips by their ends, those that have both."""
    if not data.trip_ends:
        place = data.location.astype(np.int64)
        return Sequences(offsets=data.offsets, place=place, t=data.t, owner=data.owner, shares=shares), data.locations
    ends = data.ends()
    whole = (ends.origin >= 0) & (ends.destination >= 0)
    lengths = np.where(whole, 2, 0)
    return (
        Sequences(
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            place=np.column_stack([ends.origin, ends.destination])[whole].ravel(),
            t=np.column_stack([ends.t_start, ends.t_end])[whole].ravel(),
            owner=data.owner,
            shares=shares,
        ),
        ends.places,
    )


def _starts(trips: Sequences) -> IntArray:
    """Return when each trip begins; 0 where it has no visit."""
    if not len(trips.t):
        return np.zeros(len(trips.owner), np.int64)
    return trips.t[np.minimum(trips.offsets[:-1], len(trips.t) - 1)]


def _visits_of(data: Any, offsets: IntArray, place: IntArray, t: IntArray, names: tuple[str, ...]) -> Any:
    """Return synthetic trips as data of the same kind; each is as if it had an owner of its own."""
    owner = np.arange(len(offsets) - 1)
    if not data.trip_ends:
        return Visits(
            offsets=offsets,
            location=place,
            t=t,
            locations=names,
            owner=owner,
            time_format=data.time_format,
            owners=data.owners,
        )
    both = np.diff(offsets) == 2
    last = offsets[1:] - 1
    ends = TripEnds(
        places=names,
        origin=place[offsets[:-1]],
        destination=np.where(both, place[last], -1),
        t_start=t[offsets[:-1]],
        t_end=t[last],
    )
    return type(data).of_ends(ends, owner=owner, attributes={}, time_format=data.time_format, owners=data.owners)
