"""How far the traffic of each road is off: the average error rate, and how it spreads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Routes, Score, Series, check_parameters, parameter
from wayveil.model.ragged import trajectory_of_row
from wayveil.utility.roads import aligned_roads, aligned_slices, counts, distinct, largest

__all__ = ["RoadError"]

Array = NDArray[Any]

_DRAWN = 20
_ON_MAP = 4000
_BOUNDS = (0.0, 0.05, 0.1, 0.2, 0.5)
_CLASSES = ("0: exact", "up to 5 %", "5 to 10 %", "10 to 20 %", "20 to 50 %", "more than 50 %", "not published")


@dataclass(frozen=True, kw_only=True)
class RoadError:
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
    accepts: ClassVar[type[Routes]] = Routes
    targets: ClassVar[tuple[type[Routes], ...]] = (Routes,)
    matched: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(self, original: Routes, published: Routes) -> Score:
        names, code = aligned_roads(original, published)
        slices = aligned_slices(original, published)
        keys = [
            slice_[trajectory_of_row(data.offsets)] * max(1, len(names)) + road
            for data, slice_, road in (
                (original, slices[0], original.road.astype(np.int64)),
                (published, slices[1], code),
            )
        ]
        cells, before, after = counts(*keys)
        there = before > 0
        error = np.abs(after[there] - before[there]) / before[there]
        shown = after[there] > 0
        frequent = shown if isinstance(self.k, str) else _people(original, keys[0], cells)[there] >= self.k
        return Score(
            name=self.name,
            meaning=self._meaning,
            value=_mean(error[frequent]),
            better="lower",
            percent=True,
            measured={
                "slices": slices[2],
                **({} if isinstance(self.k, str) else {"roads_frequent": int(frequent.sum())}),
                **({} if isinstance(self.k, str) else _spread(error[frequent], "frequent")),
                **_spread(error[shown], "published"),
                **_spread(error, "all"),
                "roads_before": len(error),
                "roads_after": int((after > 0).sum()),
                "roads_lost_share": _mean(~shown),
                **({} if isinstance(self.k, str) else {"frequent_roads_lost_share": _mean(~shown[frequent])}),
                "roads_new": int((~there).sum()),
            },
            charts=(
                *_per_road(names, cells[there] % max(1, len(names)), before[there], error),
                *_map(original, cells % max(1, len(names)), before, after),
                *_classes(error, shown),
            ),
        )

    @property
    def _meaning(self) -> str:
        which = "published" if isinstance(self.k, str) else "frequent"
        return f"mean error of the traffic of the {which} roads, each road counting the same"


def _people(original: Routes, keys: Array, cells: Array) -> Array:
    """Return how many people took each road in a slice."""
    owner = np.arange(len(original)) if original.owners == "hidden" else original.owner
    people, person = np.unique(owner, return_inverse=True)
    at = np.searchsorted(cells, keys)
    pairs = distinct(at * max(1, len(people)) + person[trajectory_of_row(original.offsets)])
    return np.bincount(pairs // max(1, len(people)), minlength=len(cells))


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _spread(error: Array, which: str) -> dict[str, float | None]:
    return {
        f"error_rate_{which}_roads": _mean(error),
        f"error_rate_deviation_{which}_roads": float(error.std()) if len(error) else None,
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
        ),
    )


def _map(original: Routes, road: Array, before: Array, after: Array) -> tuple[Chart, ...]:
    """Return where the error is: the roads with most traffic, all slices together, where their places are known."""
    network = original.network
    if network.node_x is None or network.node_y is None:
        return ()
    was, now = (
        np.bincount(road, weights=traffic, minlength=len(network))[: len(network)] for traffic in (before, after)
    )
    top = largest(was, _ON_MAP)
    if not len(top):
        return ()
    ends = [
        places[node[top]]
        for node in (network.from_node, network.to_node)
        for places in (network.node_x, network.node_y)
    ]
    return (
        Chart(
            title="Error per road, on the map",
            kind="map",
            labels=tuple(network.roads[i] for i in top.tolist()),
            series=(Series(name="error", values=tuple((np.abs(now[top] - was[top]) / was[top]).tolist())),),
            x_label="error of the traffic of a road; two directions are two lines",
            percent=True,
            lines=tuple(zip(*(end.tolist() for end in ends), strict=True)),
        ),
    )


def _classes(error: Array, shown: Array) -> tuple[Chart, ...]:
    """Return how roads spread over classes of error; an error on a bound is in the lower class."""
    if not len(error):
        return ()
    of = np.where(shown, np.searchsorted(_BOUNDS, error), len(_CLASSES) - 1)
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
