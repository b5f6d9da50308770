"""The attacker who knows roughly where a person was at a few times: how many such points single the person out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import (
    OnPositions,
    draws_parameter,
    mean,
    owners_of,
    threshold_parameter,
    victims_parameter,
)
from wayveil.attacks.person_risk import PersonRisk
from wayveil.attacks.positions.known_positions import Array, check_matched
from wayveil.attacks.visits.known_points import Everybody, KnownPoints, Shared, both, by_points, shared, with_points
from wayveil.attacks.visits.resolutions import (
    Bucket,
    bucket_of,
    bucket_parameter,
    buckets,
    cell_name,
    cells,
    check_cell,
)
from wayveil.model import AttackResult, Chart, Engine, Points, Series, parameter

__all__ = ["UniquenessOfPoints"]

_WIDTHS_S = (60, 900, 3600, 86_400)


@dataclass(frozen=True, kw_only=True)
class UniquenessOfPoints(OnPositions):
    """Someone who knows up to `points` points of a person, from all of the data of that person, looks for who has them.

    A point is known as a square cell and a bucket of time.  The attacker keeps the people who have a sample in each of
    them, in any of their trajectories, and picks one: **identity linkage** succeeds with probability 1 / (number of
    these people) if the victim is one of them, and fails otherwise.  Also measured with 1, 2, ... of these points, and
    with finer and coarser cells and times.

    Parameters
    ----------
    points : int, 1 to 20
        Number of points known; all of them, where a person has fewer.
    cell : number > 0, in metres, or "auto"
        How exactly positions are known: to the cell of this side.  "auto" is 500 m, less where the data span less than
        10 km.
    bucket : duration, "exact", "any" or "auto"
        How exactly times are known: to the bucket of this width.  "any" is no time at all, "auto" up to an hour.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000
        Sets of points drawn per person.
    threshold : number from 0 to 1
        People whose risk is above this are counted in `identity_share_above`.

    Notes
    -----
    A victim is an owner of `truth` with at least one sample.  The known points differ in cell or bucket; each such
    point of the person is equally likely, and its sample is drawn from those in it.  True and attacked samples are made
    coarser in the same way: cells lie at multiples of their side in the metres of the frame, buckets start at 0.  See
    `cells` and `buckets` for the ladders and "auto".  O(samples log samples) time for each of their pairs.

    References
    ----------
    de Montjoye, Hidalgo, Verleysen, Blondel: Unique in the Crowd: The privacy bounds of human mobility.  Scientific
    Reports 3 (2013) 1376.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Points.from_records([[(0, 10.0, 10.0), (1, 900.0, 10.0)], [(0, 20.0, 20.0)], [(0, 30.0, 10.0)]])
    >>> attack = UniquenessOfPoints(points=2, cell=100)
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> round(found.measured["identity_mean"], 3), round(found.measured["unique_share"], 3)
    (0.556, 0.333)
    """

    points: int = parameter(kind="int", low=1, high=20, default=4, help="number of points of the victim that are known")
    cell: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto",),
        default="auto",
        help="side of the cells to which points are known, in metres; auto: 500, less for small areas",
    )
    bucket: str = bucket_parameter()
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known points drawn per person")
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "uniqueness_of_points"
    summary: ClassVar[str] = "an attacker who knows a few positions of a person roughly and looks for who has them all"
    targets: ClassVar[tuple[type[Points], ...]] = (Points,)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cell(self.name, self.cell)

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Known:
        times = buckets(truth.t, truth.time_format, _WIDTHS_S, exact=False)
        sides = cells(truth.x, truth.y)
        bucket = bucket_of(self.name, self.bucket, times, truth.time_format)
        side = sides[1] if isinstance(self.cell, str) else self.cell
        known = KnownPoints.draw(
            owners_of(truth),
            truth.offsets,
            lambda rows: (_cell(truth.x[rows], side), _cell(truth.y[rows], side), bucket.of(truth.t[rows])),
            points=self.points,
            victims=self.victims,
            draws=self.draws,
            rng=rng,
        )
        return _Known(points=known, side=side, sides=sides, bucket=bucket, times=times)

    def match(
        self, queries: _Known, target: Points, *, truth: Points, rng: Any, engine: Engine
    ) -> list[list[PersonRisk]]:
        """Return the risk by the number of points, at the resolution that is known; then at all that are compared."""
        check_matched(self.name, truth, target)
        known, side, sides, bucket, times = queries
        owner = owners_of(truth)
        person = np.repeat(owner, np.diff(target.offsets))
        everybody = Everybody(person=person, people=int(owner.max(initial=-1)) + 1, same=True)
        # Each side and each width is coded once, and pairs of them are put together.
        measured = list(dict.fromkeys((side, *sides)))
        space = dict(zip(measured, engine.map(partial(_places, truth, target, known), measured), strict=True))
        when = {step: shared(step.of(truth.t[known.rows]), step.of(target.t)) for step in (bucket, *times)}
        queries_left = [(space[side], when[bucket], list(range(1, self.points + 1)))]
        # The coarsest, with the longest lists, go first, so that no core waits for them at the end.
        queries_left += [(space[s], when[b], [self.points]) for b in reversed(times) for s in reversed(sides)]
        return engine.map(partial(_measure, everybody, known), queries_left)

    def summarize(self, queries: _Known, matches: list[list[PersonRisk]]) -> AttackResult:
        risks, *steps = matches
        times = queries.times
        sides = queries.sides
        unique = np.array([mean(risk.unique) for (risk,) in steps][::-1]).reshape(len(times), len(sides))
        return AttackResult(
            name=self.name,
            adversary=self._adversary(queries.side, queries.bucket),
            victims=len(queries.points.owner),
            sampled=risks[-1].sampled,
            numbers={**risks[-1].numbers(self.threshold), **with_points(risks, "position")},
            charts=(risks[-1].chart(), by_points(risks), _by_resolution(sides, times, unique)),
        )

    def _adversary(self, side: float, bucket: Bucket) -> str:
        some = "1 position" if self.points == 1 else f"{self.points} positions"
        when = "no time" if bucket.width is None else "exact time"
        if bucket.width is not None and bucket.width != 1:
            when = f"time within {bucket.name}"
        return f"knows {some} (cell of {cell_name(side)}, {when}) of a person, drawn at random from all of them"


class _Known(NamedTuple):
    """The known points, the resolution at which they are known, and all that it is compared with."""

    points: KnownPoints
    side: float
    sides: tuple[float, ...]
    bucket: Bucket
    times: tuple[Bucket, ...]


def _places(truth: Points, target: Points, known: KnownPoints, side: float) -> Shared:
    """Return the codes of the cells of this side."""
    x, y = (
        shared(_cell(true[known.rows], side), _cell(attacked, side))
        for true, attacked in ((truth.x, target.x), (truth.y, target.y))
    )
    return both(x, y)


def _cell(coordinate: Array, side: float) -> Array:
    # Never an integer: the number of a cell may be beyond what an int64 can say.
    with np.errstate(over="ignore"):
        return np.floor(coordinate / side)


def _measure(everybody: Everybody, known: KnownPoints, query: tuple) -> list[PersonRisk]:
    places, times, levels = query
    return everybody.fitting(known, both(places, times), levels)


def _by_resolution(sides: tuple[float, ...], times: tuple[Bucket, ...], unique: Array) -> Chart:
    return Chart(
        title="What do exact places and times tell?",
        kind="line",
        labels=tuple(bucket.name for bucket in times),
        series=tuple(
            Series(name=f"cells of {cell_name(side)}", values=tuple(unique[:, i].tolist()))
            for i, side in enumerate(sides)
        ),
        x_label="width of time to which points are known",
        y_label="share of people singled out",
        percent=True,
    )
