"""Pedestrians in a city: walks of some hours along streets that many people share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.model import Visits, check_parameters, parameter
from wayveil.workloads.shared_routes import Deviations, Labels, Stops, follow, names, pick, zipf

__all__ = ["City"]

_STOPS = 11
_LABELS = Labels(
    attribute="status",
    sensitive=("unemployed",),
    others=("employed", "student", "retired", "self-employed"),
    share=0.20,
)
_STARTS = np.array([1, 1, 1, 1, 2, 5, 10, 16, 18, 16, 12, 10, 9, 8, 7, 6, 5, 5, 4, 4, 3, 2, 2, 1], float)


@dataclass(frozen=True, kw_only=True)
class City:
    """Pedestrians who roam in a city, seen once an hour in one of its blocks.

    Parameters
    ----------
    records : int, >= 1
        Number of people, with one trajectory each.
    blocks : int, >= 1
        Number of places.
    hours : int, 1 to 744
        Length of the observation; times are the integers 0 to ``hours - 1``.

    Notes
    -----
    Shaped after the data set City80K of Chen et al. (2013), which is ``City(records=80_000)``: 26 x 24 = 624 possible
    doublets, five values of which one is sensitive, carried by about 20 % of the people.  There is a route for every
    four doublets; the popularity of blocks and routes falls off as 1/rank.  About one person in 25 walks alone.

    Examples
    --------
    >>> data = City(records=1000).generate(rng=np.random.default_rng(1))
    >>> len(data), len(data.locations), data.attributes["status"].labels[-1]
    (1000, 26, 'unemployed')
    """

    records: int = parameter(kind="int", low=1, default=10_000, help="number of people, one trajectory each")
    blocks: int = parameter(kind="int", low=1, high=100_000, default=26, help="number of places")
    hours: int = parameter(kind="int", low=1, high=744, default=24, help="length of the observation in hours")

    name: ClassVar[str] = "city"
    summary: ClassVar[str] = "pedestrians who roam in a city along popular routes; one of five statuses is sensitive"
    accepts: ClassVar[type[Visits]] = Visits
    sensitive: ClassVar[Mapping[str, tuple[str, ...]]] = {_LABELS.attribute: _LABELS.sensitive}

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def generate(self, *, rng: np.random.Generator) -> Visits:
        popularity = rng.permutation(zipf(self.blocks))

        def walk(n: int, rng: np.random.Generator) -> Stops:
            return _walk(n, self.hours, popularity, rng)

        return follow(
            walk,
            records=self.records,
            hours=self.hours,
            places=names("block", self.blocks),
            popularity=popularity,
            deviations=Deviations(skip=0.06, detour=0.12, late=0.05, alone=0.04),
            labels=_LABELS,
            rng=rng,
        )


def _walk(n: int, hours: int, popularity: np.ndarray, rng: np.random.Generator) -> Stops:
    """Return n walks: a next stop after an hour or two, in a block nearby or in a popular one."""
    blocks = len(popularity)
    starts = pick(np.resize(_STARTS, hours), n, rng)
    gaps = 1 + (rng.random((n, _STOPS)) < 0.3)
    gaps[:, 0] = starts
    hour = np.cumsum(gaps, axis=1)
    length = 5 + rng.binomial(_STOPS - 5, 0.55, size=n)
    hour[(hour >= hours) | (np.arange(_STOPS) >= length[:, None])] = -1
    place = pick(popularity, (n, _STOPS), rng)
    nearby = rng.random((n, _STOPS)) < 0.55
    step = rng.integers(1, 3, size=(n, _STOPS)) * rng.choice([-1, 1], size=(n, _STOPS))
    for stop in range(1, _STOPS):
        before = place[:, stop - 1]
        here = np.where(nearby[:, stop], (before + step[:, stop]) % blocks, place[:, stop])
        place[:, stop] = np.where(here == before, (here + 1) % blocks, here)
    return Stops(place=place, hour=hour)
