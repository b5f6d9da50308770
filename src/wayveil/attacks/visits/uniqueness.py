"""The attacker who knows a few points of a person's life: how many of them single the person out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import (
    OnVisits,
    draws_parameter,
    mean,
    owners_of,
    threshold_parameter,
    victims_parameter,
)
from wayveil.attacks.person_risk import PersonRisk
from wayveil.attacks.visits.known_points import (
    Everybody,
    KnownPoints,
    Shared,
    both,
    by_points,
    check_comparable,
    shared,
    with_points,
)
from wayveil.attacks.visits.queries import PointQueries, used_names
from wayveil.attacks.visits.resolutions import Bucket, Times, bucket_of, bucket_parameter, ladder_of
from wayveil.model import AttackResult, Chart, Engine, Series, TimeFormat, Visits, parameter

__all__ = ["Uniqueness"]

_WIDTHS_S = (900, 3600, 21_600, 86_400, 604_800)


@dataclass(frozen=True, kw_only=True)
class Uniqueness(OnVisits):
    """Someone who knows up to `points` visits of a person, from all of the data of that person, looks for who has them.

    A visit is known as a place and a bucket of time.  The attacker keeps the people who have all known visits, in any
    of their trajectories, and picks one: **identity linkage** succeeds with probability 1 / (number of these people),
    and fails where nobody has them.  Also measured with 1, 2, ... of these visits, and with finer and coarser times.

    Parameters
    ----------
    points : int, 1 to 20
        Number of visits known; all of them, where a person has fewer.
    bucket : duration, "exact", "any" or "auto"
        How exactly times are known: to the bucket of this width.  "any" is no time at all, "auto" up to an hour.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000
        Sets of visits drawn per person.
    threshold : number from 0 to 1
        People whose risk is above this are counted in `identity_share_above`.

    Notes
    -----
    A victim is an owner of `truth` with at least one visit.  The known visits differ in place or bucket; each such
    visit of the person is equally likely, and its exact time is drawn from the rows behind it.  True and attacked
    times are made coarser in the same way, with buckets that start at 0.  People are counted in `target` where its
    owners are given, trajectories otherwise.  "auto" is the coarsest width of the ladder up to an hour for dates, the
    exact time for plain integers; see `buckets` for the ladder.  O(visits log visits) time for each of its widths.

    Asked in pieces, "auto" is found in each piece for the draw of what is known, and in all pieces for who fits it.

    References
    ----------
    de Montjoye, Hidalgo, Verleysen, Blondel: Unique in the Crowd: The privacy bounds of human mobility.  Scientific
    Reports 3 (2013) 1376.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 3)], [("a", 1), ("c", 3)]])
    >>> found = Uniqueness(points=2).run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> round(found.measured["identity_mean"], 3), round(found.measured["unique_share"], 3)
    (0.667, 0.333)
    """

    points: int = parameter(kind="int", low=1, high=20, default=4, help="number of points of the victim that are known")
    bucket: str = bucket_parameter()
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known points drawn per person")
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "uniqueness"
    summary: ClassVar[str] = "an attacker who knows a few points of a person's life and looks for who has them all"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def queries(
        self, truth: Visits, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> PointQueries:
        times = Times.of(truth.t)
        bucket = self._bucket(times, truth.time_format)
        known = KnownPoints.draw(
            owners_of(truth),
            truth.offsets,
            lambda rows: (truth.location[rows], bucket.of(truth.t[rows])),
            points=self.points,
            victims=self.victims,
            draws=self.draws,
            rng=rng,
        )
        location, names = used_names(truth.location[known.rows], truth.locations)
        return PointQueries(
            names=names,
            location=location,
            t=truth.t[known.rows],
            table=known.table,
            person=known.person,
            distinct=known.distinct,
            population=known.population,
            times=times,
            time_format=truth.time_format,
        )

    def join_queries(self, queries: Sequence[PointQueries]) -> PointQueries:
        return PointQueries.join(queries)

    def match(
        self, queries: PointQueries, target: Visits, *, truth: Visits | None, rng: Any, engine: Engine
    ) -> Mapping[str, Any]:
        check_comparable(self.name, queries, target)
        return {"fitting": tuple(engine.map(self._asking(queries, target), self._asked(queries)))}

    def summarize(self, queries: PointQueries, matches: Mapping[str, Any]) -> AttackResult:
        bucket = self._bucket(queries.times, queries.time_format)
        risks, *steps = (
            [
                PersonRisk.of(queries.person, count, None, queries.distinct > level, population=queries.population)
                for level, count in zip(levels, counts, strict=True)
            ]
            for (_, levels), counts in zip(self._asked(queries), matches["fitting"], strict=True)
        )
        return AttackResult(
            name=self.name,
            adversary=f"knows {_visits(self.points)} {_when(bucket)} of a person, drawn at random from all of them",
            victims=len(queries.distinct),
            sampled=risks[-1].sampled,
            numbers={**risks[-1].numbers(self.threshold), **with_points(risks, "visit")},
            charts=(
                risks[-1].chart(),
                by_points(risks),
                _by_time(_ladder(queries.times, queries.time_format), self._few, steps),
            ),
        )

    @property
    def _few(self) -> list[int]:
        """The numbers of points that are compared over widths of time."""
        # One, half of them, all: enough to see how risk grows.
        return sorted({1, (self.points + 1) // 2, self.points})

    def _bucket(self, times: Times, time_format: TimeFormat) -> Bucket:
        return bucket_of(self.name, self.bucket, _ladder(times, time_format), time_format)

    def _asked(self, queries: PointQueries) -> list[tuple[Bucket, Sequence[int]]]:
        """Return the widths of time, and for each the numbers of points, that are tried."""
        ladder = _ladder(queries.times, queries.time_format)
        bucket = self._bucket(queries.times, queries.time_format)
        return [(bucket, range(1, self.points + 1)), *((step, self._few) for step in ladder)]

    def _asking(self, queries: PointQueries, target: Visits) -> Callable[[tuple[Bucket, Sequence[int]]], np.ndarray]:
        """Return what counts, for one width of time, the people who fit."""
        person = np.repeat(owners_of(target), np.diff(target.offsets))
        everybody = Everybody(person=person, people=int(person.max(initial=-1)) + 1, same=False)
        code = {name: i for i, name in enumerate(target.locations)}
        recode = np.array([code.get(name, len(code)) for name in queries.names], np.int64)
        # A place that is not published has a code that nothing has.
        places = shared(recode[queries.location], target.location.astype(np.int64))
        return partial(_measure, everybody, queries.table, places, queries.t, target.t)


def _ladder(times: Times, time_format: TimeFormat) -> tuple[Bucket, ...]:
    return ladder_of(times, time_format, _WIDTHS_S, exact=True)


def _measure(
    everybody: Everybody, table: np.ndarray, places: Shared, true_t: np.ndarray, t: np.ndarray, query: tuple
) -> np.ndarray:
    bucket, levels = query
    codes = both(places, shared(bucket.of(true_t), bucket.of(t)))
    return everybody.count(table, codes, levels)


def _by_time(ladder: tuple[Bucket, ...], levels: list[int], steps: list[list[PersonRisk]]) -> Chart:
    return Chart(
        title="What do exact times tell?",
        kind="line",
        labels=tuple(bucket.name for bucket in ladder),
        series=tuple(
            Series(
                name="1 point known" if level == 1 else f"{level} points known",
                values=tuple(mean(risks[i].unique) for risks in steps),
            )
            for i, level in enumerate(levels)
        ),
        x_label="width of time to which points are known",
        y_label="share of people singled out",
        percent=True,
    )


def _visits(points: int) -> str:
    return "1 visit" if points == 1 else f"{points} visits"


def _when(bucket: Bucket) -> str:
    if bucket.width is None:
        return "(place, no time)"
    return "(place and exact time)" if bucket.width == 1 else f"(place, and time within {bucket.name})"
