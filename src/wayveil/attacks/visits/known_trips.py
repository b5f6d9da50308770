"""Trips of people that are known by their ends, and how many people have a trip whose ends fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import mean, owners_of
from wayveil.attacks.attack_numbers import mean_risk, share_unique
from wayveil.attacks.person_risk import PersonRisk
from wayveil.attacks.visits.knowledge import draw_sets
from wayveil.kernels.attacks.trip_end_counts import AttackedTrips, KnownEnds, fitting_owners
from wayveil.model import Attack, AttackResult, Engine, TimeFormat, duration_units, parameter, seconds_per_unit
from wayveil.model.data.ragged import offsets_of
from wayveil.model.numbers import count, relabel

__all__ = [
    "ByTripEnds",
    "Disc",
    "KnownTrips",
    "Span",
    "TripRisk",
    "around",
    "people_fitting",
    "share_of_victim",
    "time_error",
    "when_words",
    "within_parameter",
]

Array = NDArray[Any]

_TRIPS_PER_TASK = 512
_EXACT = 2.0**53  # below it a float can tell whole numbers apart


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownTrips:
    """What is known: the trajectory of each attack, its victim from 0 on, and the victims.

    `owner` is the number of each victim in the data, `trips` how many trajectories with rows the victim has, `tried`
    how many of them are attacked at most, `population` the people out of whom the victims were drawn.
    """

    trajectory: Array
    person: Array
    owner: Array
    trips: Array
    tried: int
    population: int

    @classmethod
    def draw(cls, owner: Array, offsets: Array, *, victims: int, draws: int, rng: np.random.Generator) -> KnownTrips:
        """Return all trips, or `draws` of them, of at most `victims` people; `owner` is that of each trajectory."""
        with_rows = np.flatnonzero(np.diff(offsets))
        with_rows = with_rows[np.argsort(owner[with_rows], kind="stable")]
        people, counts = np.unique(owner[with_rows], return_counts=True)
        chosen = np.arange(len(people))
        if len(people) > victims:
            chosen = np.sort(rng.choice(len(people), victims, replace=False))
        trips = counts[chosen]
        # Trips of a person without repetition, padded with -1.
        table = draw_sets(trips, np.minimum(draws, trips), rng)
        person, column = np.nonzero(table >= 0)
        return cls(
            trajectory=with_rows[offsets_of(counts)[chosen][person] + table[person, column]],
            person=person,
            owner=people[chosen],
            trips=trips,
            tried=draws,
            population=len(people),
        )

    def risk(self, fitting: Array, hit: Array | None, own: Array | None = None) -> PersonRisk:
        """Return the risk of the victims from how many people fit each trip, and whether the victim is one of them.

        `own` is the share of the trips that fit that are the victim's, where that is known.
        """
        return PersonRisk.of(self.person, fitting, hit, self.trips > self.tried, population=self.population, own=own)


class Span(NamedTuple):
    """A trip from `low` to `high`, one each per attacked trip, fits where it meets `start` to `stop`, per known one."""

    low: Array
    high: Array
    start: Array
    stop: Array


class Disc(NamedTuple):
    """A trip in a box, per attacked trip, fits where it meets the disc around (x, y), per known one."""

    x: Span
    y: Span
    at_x: Array
    at_y: Array
    radius: float

    @classmethod
    def of(cls, x: tuple[Array, Array], y: tuple[Array, Array], at_x: Array, at_y: Array, radius: float) -> Disc:
        """Return the disc with the square around it."""
        with np.errstate(over="ignore"):
            on_x = Span(*x, at_x - radius, at_x + radius)
            on_y = Span(*y, at_y - radius, at_y + radius)
        return cls(on_x, on_y, at_x, at_y, radius)


def people_fitting(
    spans: Sequence[Span], discs: Sequence[Disc], owner: Array, victim: Array | None, engine: Engine
) -> tuple[Array, Array | None]:
    """Return per known trip how many owners have a trip that fits everything, and whether `victim` is one of them.

    Owners are numbers from 0.  For each different known trip it takes time in the order of the attacked trips that fit
    in the span that tells most; the spans are sorted once.
    """
    every = [_as_floats(span) for span in (*spans, *(side for disc in discs for side in (disc.x, disc.y)))]
    columns = [column for span in every for column in (span.start, span.stop)]
    different, back = _different(columns if victim is None else [*columns, victim])
    every = [span._replace(start=span.start[different], stop=span.stop[different]) for span in every]
    windows = [_window(span) for span in every]
    # The span that tells most says which trips are looked at; of the others, those that tell more are asked first.
    # Whichever of the spans leaves the fewest candidates is walked through; the others are tested on these.
    rank = np.argsort([float((last - first).sum()) for first, last in windows], kind="stable")
    order = np.argsort(every[rank[0]].low, kind="stable")
    place = np.argsort(rank)
    attacked = _Attacked(
        trips=AttackedTrips(
            low=np.stack([every[i].low[order] for i in rank]),
            high=np.stack([every[i].high[order] for i in rank]),
            owner=owner[order],
        ),
        known=KnownEnds(
            start=np.stack([every[i].start for i in rank]),
            stop=np.stack([every[i].stop for i in rank]),
            at=np.array([at[different] for disc in discs for at in (disc.at_x, disc.at_y)]).reshape(
                2 * len(discs), len(different)
            ),
            victim=np.full(len(different), -1) if victim is None else victim[different],
            first=windows[rank[0]][0],
            last=windows[rank[0]][1],
        ),
        discs=place[len(spans) :],
        radius=discs[0].radius if discs else 0.0,
    )
    tasks = [slice(i, i + _TRIPS_PER_TASK) for i in range(0, len(different), _TRIPS_PER_TASK)]
    done = engine.map(partial(_fitting, attacked), tasks)
    fitting, hit = np.concatenate([np.zeros((2, 0), np.int64), *done], axis=1)[:, back]
    return fitting, None if victim is None else hit > 0


def share_of_victim(spans: Sequence[Span], discs: Sequence[Disc], owner: Array, victim: Array, engine: Engine) -> Array:
    """Return per known trip the share of the trips that fit everything that is of ``victim[i]``; 0 where none fits."""
    each = np.arange(len(owner))
    # Counted twice: all trips that fit, and those that also belong to the victim.
    fitting, _ = people_fitting(spans, discs, each, None, engine)
    own, _ = people_fitting([*spans, Span(owner, owner, victim, victim)], discs, each, None, engine)
    return np.divide(own, fitting, out=np.zeros(len(victim)), where=fitting > 0)


def around(t: Array, error: int) -> tuple[Array, Array]:
    """Return from when to when: `error` to both sides, but never beyond what an int64 can say."""
    ends = np.iinfo(np.int64)
    return np.maximum(t, ends.min + error) - error, np.minimum(t, ends.max - error) + error


def within_parameter() -> Any:
    """Declare how far the times of both ends may be off; see `time_error`."""
    return parameter(
        kind="duration",
        choices=("exact", "any", "auto"),
        default="auto",
        help="how far both times may be off; any: no times; auto: 15min, exact for plain integers",
    )


def time_error(component: str, within: str, time_format: TimeFormat) -> int | None:
    """Return how far times may be off, in the unit of the data; None where they are not known at all.

    Examples
    --------
    >>> time_error("first_last", "auto", "epoch"), time_error("first_last", "auto", "integer")
    (900, 0)
    """
    if within == "any":
        return None
    if within == "exact" or (within == "auto" and seconds_per_unit(time_format) is None):
        return 0
    return duration_units(component, "within", "15min" if within == "auto" else within, time_format)


def when_words(within: str, error: int | None) -> str:
    """Return what is known of times, to be put behind what is known of places."""
    if error is None:
        return ""
    return f", and when to {'15min' if within == 'auto' else within}" if error else ", and the exact times"


class TripRisk(NamedTuple):
    """The risk of the victims, the same with the ends known but no times, and how far times may be off (None: any)."""

    risk: PersonRisk
    timeless: PersonRisk
    error: int | None


class ByTripEnds(Attack):
    """An attack by the ends of a trip."""

    within: str
    victims: int
    draws: int
    threshold: Fraction

    @property
    @abstractmethod
    def ends(self) -> str:
        """What is known of the ends, in words."""

    def queries(self, truth: Any, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> KnownTrips:
        return KnownTrips.draw(owners_of(truth), truth.offsets, victims=self.victims, draws=self.draws, rng=rng)

    def summarize(self, queries: KnownTrips, matches: TripRisk) -> AttackResult:
        risk = matches.risk
        timeless = matches.timeless
        return AttackResult(
            name=self.name,
            adversary=f"knows {self.ends}{when_words(self.within, matches.error)}",
            victims=len(queries.owner),
            sampled=risk.sampled,
            numbers={
                **risk.numbers(self.threshold),
                **relabel(
                    {
                        "identity_mean": mean_risk(mean(timeless.identity)),
                        "unique_share": share_unique(mean(timeless.unique)),
                    },
                    "_without_times",
                    "times not known",
                ),
                "mean_fitting_people": count(
                    mean(risk.fitting[risk.fitting > 0]), "Mean of people who fit", "people", joined="mean"
                ),
            },
            charts=(risk.chart(),),
        )


class _Attacked(NamedTuple):
    """Trips sorted by the span that tells most, and the known ones; see `fitting_owners`."""

    trips: AttackedTrips
    known: KnownEnds
    discs: Array
    radius: float


def _fitting(attacked: _Attacked, part: slice) -> Array:
    """Return how many owners fit each known trip of a part, and 1 where the victim is one of them."""
    known = attacked.known
    start, stop, at = (np.ascontiguousarray(c[:, part]) for c in (known.start, known.stop, known.at))
    some = KnownEnds(start, stop, at, known.victim[part], known.first[part], known.last[part])
    n_owners = int(attacked.trips.owner.max(initial=-1)) + 1
    owners = fitting_owners(attacked.trips, some, attacked.discs, attacked.radius, n_owners)
    return np.stack(owners)


def _as_floats(span: Span) -> Span:
    """Return the same span in floats: whole numbers that they cannot tell apart become places in their order."""
    if span.low.dtype.kind == "f" or all(np.abs(c.astype(np.float64)).max(initial=0.0) < _EXACT for c in span):
        return Span(*(column.astype(np.float64) for column in span))
    # Floats have 53 bits: larger integers are replaced by their rank, which keeps every comparison.
    values = np.unique(np.concatenate([span.low, span.high]))
    low, high, start = (np.searchsorted(values, column) for column in (span.low, span.high, span.start))
    stop = np.searchsorted(values, span.stop, side="right") - 1
    return Span(*(column.astype(np.float64) for column in (low, high, start, stop)))


def _window(span: Span) -> tuple[Array, Array]:
    """Return the trips, by rising `low`, among which are all that fit, from one to before the other, per known one."""
    low = np.sort(span.low)
    with np.errstate(over="ignore"):
        # A trip may begin up to the longest duration before the window and still reach into it.
        widest = float((span.high - span.low).max(initial=0.0))
        start = span.start - widest
        start -= 1e-15 * (np.abs(start) + widest)  # no rounding may lose a trip
    return np.searchsorted(low, start), np.searchsorted(low, span.stop, side="right")


def _different(columns: Sequence[Array]) -> tuple[Array, Array]:
    """Return one row of each kind, and for every row which of them is equal to it."""
    order = np.lexsort(columns)
    new = np.zeros(len(order), bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[order[1:]] != column[order[:-1]]
    back = np.empty(len(order), np.int64)
    back[order] = np.cumsum(new) - 1
    return order[new], back
