"""How well counts of people in a region and a time can still be answered: range queries under uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.metrics.expected_inside import expect_inside
from wayveil.kernels.metrics.range_query import DAI, PSI, BoxColumns, Queries, count_inside
from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import check_comparable, finite, usual_box, usual_side, usual_span, with_rows
from wayveil.metrics.stats import counts_lost
from wayveil.model import Boxes, Chart, Number, Points, Score, Series, parameter
from wayveil.model.numbers import count, measure, relative, share

__all__ = ["RangeQueries", "boxes_of"]

Array = NDArray[Any]

_SMALLEST_SIDE = 1 / 20  # of the largest side and of the longest duration
_SHORTEST = 1 / 10
_AUTO_RADIUS = 1 / 4  # of the smallest side: less than half of it, or nothing could be definitely inside
_SANITY = 0.001
_ERRORS = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)
_SIZES = 5


@dataclass(frozen=True, kw_only=True)
class RangeQueries(OnPositions):
    """How wrong counts of trajectories in random regions and intervals of time become.

    The headline is about *expected* counts: a published box is inside a region with the share of its area that lies
    there, at each moment of the interval.  It is the share of the counts of all queries that are gone or in the answer
    of another query, from 0 to 1.

    Two further counts follow the literature.  An object may be up to `radius` away from where the data say.  A query
    counts the trajectories that are *possibly sometime inside* (PSI): within `radius` of the region at some moment of
    the interval; and those that are *definitely always inside* (DAI): in the region with all of their uncertainty,
    during the whole interval.  With Q before and Q'
    after, the error of a query is |Q - Q'| / max(Q, s), s being 0.1 % of the original trajectories and at least 1.  PSI
    counts a box in every region that it touches, so its errors can be far above 1.

    Parameters
    ----------
    queries : int, 1 to 100000
        Number of random queries.
    seed : int, >= 0
        The same seed asks the same queries.
    shape : "square" or "disc"
        Form of the regions.
    centres : "points" or "uniform"
        Centre of a query: the place and time of a random point of the original, or anywhere where and
        when the middle 95 % of its points are.
    side : number, 0 to 1
        Largest side (or diameter) as a share of the longer side of the area where the middle 95 % of the points of the
        original are; sides are drawn evenly from a twentieth of it up.
    duration : number, 0 to 1
        Longest duration as a share of the time in which the middle 95 % of the points are; durations are drawn evenly
        from a tenth of it up.
    radius : number, 0 to 1e9, or "auto"
        Uncertainty in metres; "auto" is a quarter of the smallest side.  For (k,delta)-anonymity, delta.

    Notes
    -----
    Objects move evenly between their points; they are nowhere before the first and after the last.  A published box
    holds its object while it lasts; between two boxes every side moves evenly.  "Always" needs the whole interval to be
    in the object's life.  An error is 0 where both answers are 0; an average is left empty if that is so for all.

    The queries are indexed by a grid and the data stream by once: O(points + points near a query) time.

    References
    ----------
    Trajcevski, Wolfson, Hinrichs, Chamberlain: Managing uncertainty in moving objects databases.  ACM Transactions on
    Database Systems 29(3), 2004.  Abul, Bonchi, Nanni: Never Walk Alone.  ICDE 2008.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, float(i)), (100, 0.0, float(i))] for i in range(100)])
    >>> RangeQueries(queries=50).run(before, before).value
    0.0
    >>> nobody = before.where(np.zeros(before.n_rows, bool))
    >>> RangeQueries(queries=50).run(before, nobody).value
    1.0
    """

    queries: int = parameter(kind="int", low=1, high=100_000, default=1000, help="number of random queries")
    seed: int = parameter(kind="int", low=0, default=1, help="the same seed asks the same queries")
    shape: str = parameter(kind="choice", choices=("square", "disc"), default="square", help="form of the regions")
    centres: str = parameter(
        kind="choice", choices=("points", "uniform"), default="points",
        help="centres of queries: at random points of the original, or anywhere in its extent",
    )  # fmt: skip
    side: float = parameter(
        kind="number", low=0, high=1, default=0.02, help="largest side of a region, as a share of the extent"
    )
    duration: float = parameter(
        kind="number", low=0, high=1, default=0.1, help="longest interval of time, as a share of the time span"
    )
    radius: float | str = parameter(
        kind="number", low=0, high=1e9, choices=("auto",), default="auto",
        help="uncertainty of every position in metres; auto: a quarter of the smallest side",
    )  # fmt: skip

    name: ClassVar[str] = "range_queries"
    summary: ClassVar[str] = "error of counts in random regions and times, possibly and definitely inside"

    def count(self, original: Points, published: Points | Boxes) -> Mapping[str, Any]:
        """Return the queries and their answers, before and after."""
        check_comparable(self.name, original, published)
        queries = self._ask(original)
        radius = self._radius(original)
        before, after = (
            count_inside(boxes_of(data), queries, radius=radius, disc=self.shape == "disc", predicates=PSI | DAI)[
                :, [0, 3]
            ]
            for data in (original, published)
        )
        expected = [_expected(data, queries, disc=self.shape == "disc") for data in (original, published)]
        sanity = max(1.0, _SANITY * int(with_rows(original).sum()))
        return {
            "asked": queries, "radius": radius, "sanity": sanity, "before": before, "after": after, "expected": expected
        }  # fmt: skip

    def score(self, counts: Mapping[str, Any]) -> Score:
        queries = counts["asked"]
        radius = counts["radius"]
        sanity = counts["sanity"]
        before = counts["before"]
        after = counts["after"]
        error = np.abs(before - after) / np.maximum(before, sanity)
        expected = counts["expected"]
        numbers = {
            "queries": count(len(error), "Queries", "queries"),
            "radius_m": measure(finite(radius), "m", "Radius of uncertainty"),
            "sanity_bound": count(sanity, "Smallest count that errors are compared with", "trajectories"),
        }
        for side, number in zip(("before", "after"), expected, strict=True):
            numbers[f"expected_average_count_{side}"] = count(
                float(number.mean()) if len(number) else None, f"Mean expected count {side}", "trajectories"
            )
        for column, name in enumerate(("possibly_inside", "definitely_inside")):
            numbers |= _summary(name, before[:, column], after[:, column], error[:, column])
        return Score(
            name=self.name,
            meaning="share of the trajectories to be expected in a region at a time that are gone or somewhere else",
            value=counts_lost(*expected),
            better="lower",
            unit="share",
            numbers=numbers,
            charts=_charts(queries, error) if len(error) else (),
        )

    def _ask(self, original: Points) -> Queries:
        """Return the queries; none without points."""
        box = usual_box(original)
        rng = np.random.default_rng(self.seed)
        n = self.queries if box else 0
        half = usual_side(original) * self.side * rng.uniform(_SMALLEST_SIDE, 1, n) / 2
        rows = rng.integers(0, max(1, original.n_rows), n)
        x = original.x[rows]
        y = original.y[rows]
        t = original.t[rows].astype(np.float64)
        start, stop = usual_span(original.t) if box else (0.0, 0.0)
        if self.centres == "uniform" and box:
            x, y, t = (low + (high - low) * rng.random(n) for low, high in (box[:2], box[2:], (start, stop)))
        length = (stop - start) * self.duration * rng.uniform(_SHORTEST, 1, n)
        # All of the interval is in the time of the data.
        first, last = (float(original.t.min()), float(original.t.max())) if box else (0.0, 0.0)
        begin = np.clip(t - length / 2, first, last - length)
        return Queries(x, y, half, begin, begin + length)

    def _radius(self, original: Points) -> float:
        if not isinstance(self.radius, str):
            return self.radius
        return usual_side(original) * self.side * _SMALLEST_SIDE * _AUTO_RADIUS


def boxes_of(data: Points | Boxes) -> BoxColumns:
    """Return data as the kernel takes them: a point is a box without extent."""
    return BoxColumns(data.offsets, *data.boxes())


def _expected(data: Points | Boxes, queries: Queries, *, disc: bool) -> Array:
    """Return the mean number of trajectories to be expected in each region during its interval."""
    expected = np.zeros(len(queries.x))
    expect_inside(boxes_of(data), queries, disc, expected)
    return expected


def _summary(name: str, before: Array, after: Array, error: Array) -> dict[str, Number]:
    """Return what there is to say of one kind of query; errors are left empty where no query has an answer."""
    answered = bool(before.any() or after.any())
    inside = name.replace("_", " ")
    return {
        f"{name}_average_error": relative(float(error.mean()) if answered else None, f"Mean error, {inside}"),
        f"{name}_middle_error": relative(float(np.median(error)) if answered else None, f"Median error, {inside}"),
        f"{name}_exact_share": share(
            float((before == after).mean()) if answered else None, f"Share of exact answers, {inside}"
        ),
        f"{name}_answered_share": share(
            float((before > 0).mean()) if len(before) else None, f"Share of queries that find something, {inside}"
        ),
        f"{name}_average_count_before": count(
            float(before.mean()) if len(before) else None, f"Mean count before, {inside}", "trajectories"
        ),
        f"{name}_average_count_after": count(
            float(after.mean()) if len(after) else None, f"Mean count after, {inside}", "trajectories"
        ),
    }


def _charts(queries: Queries, error: Array) -> tuple[Chart, ...]:
    classes = np.searchsorted(_ERRORS, error, side="left")
    percents = [f"{round(100 * e)}" for e in _ERRORS]
    shares = [np.bincount(classes[:, c], minlength=len(_ERRORS) + 1) / len(error) for c in (0, 1)]
    by_size = np.array_split(np.argsort(queries.half, kind="stable"), min(_SIZES, len(error)))
    return (
        Chart(
            title="Errors of the queries",
            kind="bars",
            labels=(
                *("0 %" if i == 0 else f"{percents[i - 1]}-{percents[i]} %" for i in range(len(_ERRORS))),
                f"> {percents[-1]} %",
            ),
            series=(
                Series(name="possibly sometime", values=tuple(shares[0].tolist())),
                Series(name="definitely always", values=tuple(shares[1].tolist())),
            ),
            x_label="relative error",
            y_label="share of queries",
            percent=True,
        ),
        Chart(
            title="Errors by size of the region",
            kind="bars",
            labels=tuple(_side(2 * float(queries.half[part].max())) for part in by_size),
            series=(
                Series(name="possibly sometime", values=tuple(float(error[part, 0].mean()) for part in by_size)),
                Series(name="definitely always", values=tuple(float(error[part, 1].mean()) for part in by_size)),
            ),
            x_label="side of the region",
            y_label="average relative error",
            percent=True,
        ),
    )


def _side(metres: float) -> str:
    return f"≤ {metres:,.0f} m" if metres >= 100 else f"≤ {metres:.3g} m"
