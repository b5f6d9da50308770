"""Pedestrians in a city: days that are put together from short walks, each shared by many people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.model import Visits, Workload, parameter
from wayveil.workloads.shared_routes import Deviations, Labels, Plans, Stops, follow, leanings, names, pick, zipf

__all__ = ["City"]

_LABELS = Labels(
    attribute="status",
    sensitive=("unemployed",),
    others=("employed", "student", "retired", "self-employed"),
    share=0.20,
)
_PARTS = 5  # parts of the day, with a leg each
_CHOICES = 4  # legs to choose from, per district and part of the day
_ROOM = 120  # doublets per district


@dataclass(frozen=True, kw_only=True)
class City(Workload):
    """Pedestrians who roam in a city, seen once an hour in one of its blocks.

    Parameters
    ----------
    records : int, 1 to 100 million
        Number of people, with one trajectory each.
    blocks : int, >= 1
        Number of places.
    hours : int, 1 to 744
        Length of the observation; times are the integers 0 to ``hours - 1``.

    Notes
    -----
    Shaped after the data set City80K of Chen et al. (2013), which is ``City(records=80_000)``: 26 x 24 = 624 possible
    doublets, five values of which one is sensitive, carried by about 20 % of the people.  The
    observation has five parts; in each, people take one of the four legs (of one or two stops) that are usual in their
    district, whatever they took before.  So a few visits are shared by many, and a whole day by few.  There is a
    district for every 120 doublets; the popularity of blocks and legs falls off as 1/rank, that of districts more
    slowly.  About one person in 33 walks alone.

    Examples
    --------
    >>> data = City(records=1000).generate(rng=np.random.default_rng(1))
    >>> len(data), len(data.locations), data.attributes["status"].labels[-1]
    (1000, 26, 'unemployed')
    """

    records: int = parameter(
        kind="int", low=1, high=100_000_000, default=10_000, help="number of people, one trajectory each"
    )
    blocks: int = parameter(kind="int", low=1, high=100_000, default=26, help="number of places")
    hours: int = parameter(kind="int", low=1, high=744, default=24, help="length of the observation in hours")

    name: ClassVar[str] = "city"
    summary: ClassVar[str] = "pedestrians who roam in a city on popular short walks; one of five statuses is sensitive"
    accepts: ClassVar[type[Visits]] = Visits
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {_LABELS.attribute: _LABELS.sensitive}

    def generate(self, *, rng: np.random.Generator) -> Visits:
        popularity = rng.permutation(zipf(self.blocks))
        # Districts and legs are drawn once, people choose among them: what many do is shared, as in real data.
        districts = _district_count(self.blocks * self.hours)
        people = zipf(districts, 0.4 * districts)
        legs = _legs(districts, self.hours, popularity, rng)
        leaning = leanings(legs, self.blocks, 0.4, 0.5, rng)

        def plan(n: int, rng: np.random.Generator) -> Plans:
            return _day(pick(people, n, rng), legs, leaning, rng)

        def wander(n: int, rng: np.random.Generator) -> Stops:
            return _wander(n, self.hours, popularity, rng)

        return follow(
            plan,
            wander,
            records=self.records,
            hours=self.hours,
            places=names("block", self.blocks),
            popularity=popularity,
            deviations=Deviations(skip=0.06, detour=0.10, late=0.03, alone=0.03),
            labels=_LABELS,
            rng=rng,
        )


def _district_count(doublets: int) -> int:
    """Return how many districts a city with so many doublets has: more room, more districts, each with its crowd."""
    return min(max(1, doublets // _ROOM), 1 << 14)


def _legs(districts: int, hours: int, popularity: np.ndarray, rng: np.random.Generator) -> Stops:
    """Return the legs that people choose from, of one or two stops: by district, part of the day and choice."""
    n = districts * _PARTS * _CHOICES
    part = np.arange(n) // _CHOICES % _PARTS
    first = hours * part // _PARTS
    room = np.maximum(hours * (part + 1) // _PARTS - first, 1)
    hour = first[:, None] + np.sort(rng.integers(room[:, None], size=(n, 2)), axis=1)
    # Some legs have one stop only.
    hour[(hour[:, 1] == hour[:, 0]) | (rng.random(n) < 0.3), 1] = -1
    place = pick(popularity, (n, 2), rng)
    return Stops(place=place, hour=np.minimum(hour, hours - 1))


def _day(district: np.ndarray, legs: Stops, leaning: np.ndarray, rng: np.random.Generator) -> Plans:
    """Return a day in each of the districts given: a leg of its own choice for every part of the day."""
    n = len(district)
    choice = pick(zipf(_CHOICES), (n, _PARTS), rng)
    leg = (district[:, None] * _PARTS + np.arange(_PARTS)) * _CHOICES + choice
    stops = Stops(place=legs.place[leg].reshape(n, -1), hour=legs.hour[leg].reshape(n, -1))
    return Plans(stops=stops, leaning=leaning[leg].sum(axis=1), favourite=np.zeros(n, np.int64))


def _wander(n: int, hours: int, popularity: np.ndarray, rng: np.random.Generator) -> Stops:
    """Return n walks of about seven stops at any hours and in any blocks."""
    hour = np.sort(rng.integers(hours, size=(n, 2 * _PARTS)), axis=1)
    hour[rng.random(hour.shape) < 0.3] = -1
    hour[:, 0] = np.maximum(hour[:, 0], 0)
    return Stops(place=pick(popularity, hour.shape, rng), hour=hour)
