"""Smart cards in a transit network: the same trip to work in the morning, and back in the evening."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.model import Visits, Workload, parameter
from wayveil.workloads.shared_routes import Deviations, Labels, Plans, Stops, follow, leanings, names, pick, zipf

__all__ = ["Transit"]

_DAY = 24
_LABELS = Labels(
    attribute="fare",
    sensitive=(
        "asylum-seeker",
        "disability",
        "jobseeker",
        "low-income-senior",
        "patient-transport",
        "social-assistance",
    ),
    others=(
        "adult-monthly",
        "adult-10-trips",
        "student-monthly",
        "adult-weekly",
        "adult-single",
        "youth-monthly",
        "adult-annual",
        "employer-pass",
        "student-4-months",
        "adult-2-trips",
        "child",
        "evening-unlimited",
        "weekend-unlimited",
        "day-pass",
        "3-day-pass",
        "tourist",
        "airport-shuttle",
        "family",
    ),
    share=0.25,
)
_MORNING = np.array([0, 0, 0, 0, 0, 2, 8, 20, 18, 8, 3, 2], float)
_NOON = np.array([0] * 11 + [3, 5, 3], float)
_EVENING = np.array([0] * 14 + [2, 6, 14, 20, 12, 4], float)
_NIGHT = np.array([0] * 20 + [4, 6, 5, 2], float)


@dataclass(frozen=True, kw_only=True)
class Transit(Workload):
    """Smart cards that are shown on entering a station, with the hour.

    Parameters
    ----------
    records : int, 1 to 100 million
        Number of cards; each is one person.
    stations : int, >= 1
        Number of places.
    hours : int, 1 to 744
        Length of the observation; times are the integers 0 to ``hours - 1``, day by day.

    Notes
    -----
    Shaped after the data set STM460K of Chen et al. (2013), which is ``Transit(records=462_483)``: 68 x 48 = 3264
    possible doublets, 24 fares of which 6 are sensitive, carried by about 25 % of the people.  A route is a home and
    a work station with the hours of both ways, and some lunch and leisure trips; the next days are much like the
    first.  One route in seven is travelled outside of the peaks, and about one person in 33 has a route of their own.

    Examples
    --------
    >>> data = Transit(records=1000).generate(rng=np.random.default_rng(1))
    >>> len(data), len(data.locations), len(data.attributes["fare"].labels)
    (1000, 68, 24)
    """

    records: int = parameter(
        kind="int", low=1, high=100_000_000, default=10_000, help="number of cards, one person each"
    )
    stations: int = parameter(kind="int", low=1, high=100_000, default=68, help="number of places")
    hours: int = parameter(kind="int", low=1, high=744, default=48, help="length of the observation in hours")

    name: ClassVar[str] = "transit"
    summary: ClassVar[str] = "smart cards of commuters, with peaks; six of 24 fares are sensitive"
    accepts: ClassVar[type[Visits]] = Visits
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {_LABELS.attribute: _LABELS.sensitive}

    def generate(self, *, rng: np.random.Generator) -> Visits:
        homes = rng.permutation(zipf(self.stations, 3.0))
        works = rng.permutation(zipf(self.stations))

        def commute(n: int, rng: np.random.Generator) -> Stops:
            return _commute(n, self.hours, homes, works, rng)

        routes = commute(_route_count(self.stations * self.hours), rng)
        weights = zipf(len(routes.hour), 2.0)
        leaning = leanings(routes, self.stations, 0.5, 0.8, rng)
        favourite = rng.integers(len(_LABELS.sensitive), size=len(weights))

        def plan(n: int, rng: np.random.Generator) -> Plans:
            route = pick(weights, n, rng)
            stops = Stops(place=routes.place[route], hour=routes.hour[route])
            return Plans(stops=stops, leaning=leaning[route], favourite=favourite[route])

        return follow(
            plan,
            commute,
            records=self.records,
            hours=self.hours,
            places=names("station", self.stations),
            popularity=works,
            deviations=Deviations(skip=0.06, detour=0.08, late=0.10, alone=0.03),
            labels=_LABELS,
            rng=rng,
        )


def _route_count(doublets: int) -> int:
    """Return how many routes a network with so many doublets has: more room, more routes, all of them shared."""
    return min(max(4, doublets // 4), 1 << 16)


def _commute(n: int, hours: int, homes: np.ndarray, works: np.ndarray, rng: np.random.Generator) -> Stops:
    """Return n routes of four stops a day: home in the morning, work at noon and in the evening, a place at night."""
    days = -(-hours // _DAY)
    home, work, leisure = (pick(weights, n, rng) for weights in (homes, works, works))
    work = np.where(work == home, (work + 1) % len(works), work)
    usual = np.stack([pick(weights, n, rng) for weights in (_MORNING, _NOON, _EVENING, _NIGHT)], axis=1)
    off_peak = rng.random(n) < 0.15
    usual[off_peak] = np.sort(rng.integers(5, _DAY, size=(int(off_peak.sum()), 4)), axis=1)
    shifted = (rng.random((n, days, 4)) < 0.2) * rng.choice([-1, 1], size=(n, days, 4))
    shifted[:, 0] = 0
    hour = np.clip(usual[:, None, :] + shifted, 0, _DAY - 1)
    if hours < _DAY:
        hour = hour * hours // _DAY
    hour = hour + _DAY * np.arange(days)[:, None]
    taken = rng.random((n, days, 4)) < np.array([1.0, 0.2, 1.0, 0.3])
    hour = np.where(taken & (hour < hours), hour, -1).reshape(n, 4 * days)
    place = np.tile(np.stack([home, work, work, leisure], axis=1), days)
    return Stops(place=place, hour=hour)
