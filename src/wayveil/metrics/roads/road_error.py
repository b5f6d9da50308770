"""How far the traffic of each road is off: the average error rate, and how it spreads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnRoutes
from wayveil.metrics.roads.road_counts import by_slice, slices_of, tally_of_roads
from wayveil.metrics.stats import largest
from wayveil.model import Chart, Number, RoadNetwork, Routes, Score, Series, parameter
from wayveil.model.accumulators import Constant, Tally, side_by_side
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import count, relative, share

__all__ = ["RoadError"]

Array = NDArray[Any]
Line = tuple[float, float, float, float]

_DRAWN = 20
_ON_MAP = 4000
_BOUNDS = (0.0, 0.05, 0.1, 0.2, 0.5)
_CLASSES = ("0: exact", "up to 5 %", "5 to 10 %", "10 to 20 %", "20 to 50 %", "more than 50 %", "not published")


@dataclass(frozen=True, kw_only=True)
class RoadError(OnRoutes):
    """By how much the traffic of a road is wrong, on average over roads.

    The error of a road is ``|after - before| / before``, where before and after are numbers of passages.  The headline
    is its mean over the frequent roads: each road weighs the same, busy or not.

    Parameters
    ----------
    k : int, >= 1, or "published"
        A road is frequent if at least `k` people took it in a slice of the original; "published" takes the roads that
        are in the published data instead.

    Notes
    -----
    A road counts once for each slice of time, where the published slices are slices of the original; else all times are
    taken together.  Roads without traffic in the original have no error and are skipped.  Roads are matched by name.
    The deviation is that of all roads, not an estimate from a sample.  O(n log n) time for n rows.

    With "published" a method can look better by leaving out the roads that it gets wrong; the error over all roads does
    not allow that, and a number for `k` neither.

    References
    ----------
    Equations 1 and 2 of Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.
    ACM Transactions on Intelligent Systems and Technology 5 (2014).

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("bd", "b", "d")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab", "bc"], ["ab", "bd"]], network=network)
    >>> after = Routes.from_records([["ab", "bc"]] * 3, network=network)
    >>> score = RoadError().run(before, after)
    >>> score.value, score.measured["error_rate_all_roads"]
    (0.25, 0.5)
    """

    k: int | str = parameter(
        kind="int", low=1, choices=("published",), default="published",
        help="people who make a road frequent in a slice; published: the roads that were published",
    )  # fmt: skip

    name: ClassVar[str] = "road_error"
    summary: ClassVar[str] = "average error of the traffic of roads"
    additive: ClassVar[bool] = True

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: passages and people, per road and slice of time."""
        before, after = (tally_of_roads(data, np.arange(data.n_rows)) for data in (original, published))
        return {
            "time_formats": Constant((original.time_format, published.time_format)),
            "before": before,
            "after": after,
            # Nobody has trajectories in two pieces, so people can be added.
            "people": _people(original, apart=True) if isinstance(self.k, int) else None,
            "people_of_all_slices": _people(original, apart=False) if isinstance(self.k, int) else None,
            "lines": Constant(_lines(original.network, before.names)),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        slices = slices_of(counts["before"], counts["after"], counts["time_formats"].value)
        apart = slices is not None
        # The same cells (road, slice) on both sides, with 0 where one of them has none.
        cells, before, after = side_by_side(*(by_slice(counts[side], apart=apart) for side in ("before", "after")))
        occurs = before > 0
        # The difference in traffic, relative to what it was: a road that is gone has an error of 1.
        error = np.abs(after[occurs] - before[occurs]) / before[occurs]
        shown = after[occurs] > 0
        road = cells.columns[0]
        frequent = shown
        if isinstance(self.k, int):
            # The roads of the original, in the order of `cells` again.
            frequent = counts["people" if apart else "people_of_all_slices"].counts >= self.k
        return Score(
            name=self.name,
            meaning=self._meaning,
            value=_mean(error[frequent]),
            better="lower",
            unit="relative",
            numbers={
                "slices": count(1 if slices is None else slices, "Slices of time", "slices"),
                **(
                    {}
                    if isinstance(self.k, str)
                    else {"roads_frequent": count(int(frequent.sum()), "Frequent roads", "roads")}
                ),
                **({} if isinstance(self.k, str) else _spread(error[frequent], "frequent")),
                **_spread(error[shown], "published"),
                **_spread(error, "all"),
                "roads_before": count(len(error), "Roads before", "roads"),
                "roads_after": count(int((after > 0).sum()), "Roads after", "roads"),
                "roads_lost_share": share(_mean(~shown), "Share of roads lost"),
                **(
                    {}
                    if isinstance(self.k, str)
                    else {"frequent_roads_lost_share": share(_mean(~shown[frequent]), "Share of frequent roads lost")}
                ),
                "roads_new": count(int((~occurs).sum()), "Roads that nobody used before", "roads"),
            },
            charts=(
                *_per_road(cells.names, road[occurs], before[occurs], error),
                *_map(cells.names, counts["lines"].value, road, before, after),
                *_classes(error, shown),
            ),
        )

    @property
    def _meaning(self) -> str:
        which = "published" if isinstance(self.k, str) else "frequent"
        return f"mean error of the traffic of the {which} roads, each road counting the same"


def _people(original: Routes, *, apart: bool) -> Tally:
    """Return how many people took each road, in each slice or at any time."""
    # Where owners are hidden, each trajectory counts as a person.
    owner = np.arange(len(original)) if original.owners == "hidden" else original.owner
    trajectory = trajectory_of_row(original.offsets)
    when = [column[trajectory] for column in (original.t_start, original.t_end)] if apart else []
    rows = Tally.of(original.road, *when, owner[trajectory], names=original.network.roads, named=1)
    # Each person once per road and slice, however often they drove there.
    return replace(rows, counts=np.ones_like(rows.counts)).only(*range(1 + len(when)))


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _spread(error: Array, which: str) -> dict[str, Number]:
    return {
        f"error_rate_{which}_roads": relative(_mean(error), f"Mean error of {which} roads"),
        f"error_rate_deviation_{which}_roads": relative(
            float(error.std()) if len(error) else None, f"Standard deviation of the error of {which} roads"
        ),
    }


def _per_road(names: tuple[str, ...], road: Array, before: Array, error: Array) -> tuple[Chart, ...]:
    """Return the mean error over slices of the roads with most traffic."""
    traffic = np.bincount(road, weights=before, minlength=len(names))
    top = largest(traffic, _DRAWN)
    if not len(top):
        return ()
    mean = np.bincount(road, weights=error, minlength=len(names))[top] / np.bincount(road, minlength=len(names))[top]
    return (
        Chart(
            title="Error per road",
            kind="bars",
            labels=tuple(names[i] for i in top.tolist()),
            series=(Series(name="error", values=tuple(mean.tolist())),),
            x_label="road, the busiest first",
            y_label="error of its traffic",
            percent=True,
            names=tuple((names[i],) for i in top.tolist()),
        ),
    )


def _lines(network: RoadNetwork, roads: Iterable[str]) -> dict[str, Line]:
    """Return where these roads are, if that is known."""
    if network.node_x is None or network.node_y is None:
        return {}
    ends = [
        places[node].tolist()
        for node in (network.from_node, network.to_node)
        for places in (network.node_x, network.node_y)
    ]
    line = dict(zip(network.roads, zip(*ends, strict=True), strict=True))
    return {road: line[road] for road in roads}


def _map(
    names: tuple[str, ...], lines: Mapping[str, Line], road: Array, before: Array, after: Array
) -> tuple[Chart, ...]:
    """Return where the error is: the roads with most traffic, all slices together, where their places are known."""
    # All slices together: a map has one line for each road.
    was, now = (np.bincount(road, weights=traffic, minlength=len(names)) for traffic in (before, after))
    top = largest(was, _ON_MAP)
    if not len(top) or not lines:
        return ()
    drawn = tuple(names[i] for i in top.tolist())
    return (
        Chart(
            title="Error per road, on the map",
            kind="map",
            labels=drawn,
            series=(Series(name="error", values=tuple((np.abs(now[top] - was[top]) / was[top]).tolist())),),
            x_label="error of the traffic of a road; two directions are two lines",
            percent=True,
            lines=tuple(lines[name] for name in drawn),
            names=tuple((name,) for name in drawn),
        ),
    )


def _classes(error: Array, shown: Array) -> tuple[Chart, ...]:
    """Return how roads spread over classes of error; an error on a bound is in the lower class."""
    if not len(error):
        return ()
    of = np.where(shown, np.searchsorted(_BOUNDS, error), len(_CLASSES) - 1)  # what is gone has a class of its own
    share = np.bincount(of, minlength=len(_CLASSES)) / len(error)
    return (
        Chart(
            title="How wrong are roads?",
            kind="bars",
            labels=_CLASSES,
            series=(Series(name="share of roads", values=tuple(share.tolist())),),
            x_label="error of the traffic of a road",
            y_label="share of roads",
            percent=True,
        ),
    )
