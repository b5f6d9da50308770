"""How long trips on roads are, in roads and in metres, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.classes import LENGTHS, distribution
from wayveil.metrics.count_charts import count_chart
from wayveil.metrics.distances import average, value_distances
from wayveil.metrics.metric_base import OnRoutes
from wayveil.model import Routes, Score
from wayveil.model.sums import Tally

__all__ = ["RouteLength"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class RouteLength(OnRoutes):
    """The distributions of the lengths of trips on roads, before and after.

    The length is the number of roads of a trip, and the sum of their lengths where the network of the original has
    them.  The headline is the Kolmogorov-Smirnov distance of the two distributions, of metres where these are known and
    else of numbers of roads: the largest difference between the shares of trips up to any length.

    Notes
    -----
    Roads are matched by name.  Trips with a road whose length is not known are left out of the lengths in metres.
    Parts of trips and dummies count as trips.  Trajectories without rows are left out.  O(n log n) time for n rows.
    What is counted in pieces is as long as there are different lengths: one number per trip at worst.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab"]], network=network)
    >>> after = Routes.from_records([["ab"], ["ab"]], network=network)
    >>> score = RouteLength().run(before, after)
    >>> score.value, score.measured["roads_change"], score.measured["length_change_m"]
    (0.5, 0.5, None)
    """

    name: ClassVar[str] = "route_length"
    summary: ClassVar[str] = "lengths of trips on roads, before and after"
    additive: ClassVar[bool] = True

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by their numbers of roads, and by metres."""
        lengths = [np.diff(data.offsets) for data in (original, published)]
        return {
            "roads": tuple(Tally.of(length[length > 0]) for length in lengths),
            "metres": tuple(Tally.of(_metres(data, original)) for data in (original, published)),
        }

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        (before, after), metres = counts["roads"], counts["metres"]
        apart, change = value_distances(before, after)
        metres_apart, metres_change = value_distances(*metres)
        known = len(metres[0]) > 0
        unit = "length" if known else "number of roads"
        return Score(
            name=self.name,
            meaning=f"largest difference between the shares of trips up to any {unit}, before and after",
            value=metres_apart if known else apart,
            better="lower",
            percent=True,
            measured={
                "trips_before": before.total,
                "trips_after": after.total,
                "average_roads_before": average(before),
                "average_roads_after": average(after),
                "roads_change": change,
                "roads_apart_share": apart,
                "average_length_before_m": average(metres[0]),
                "average_length_after_m": average(metres[1]),
                "length_change_m": metres_change,
                "lengths_apart_share": metres_apart,
            },
            charts=(
                *distribution(
                    "Lengths of trips", "length", LENGTHS,
                    [("original", metres[0]), ("published", metres[1])], "share of trips",
                ),
                *count_chart("Roads per trip", "roads", before, after),
            ),
        )  # fmt: skip


def _metres(data: Routes, original: Routes) -> Array:
    """Return the length of each trajectory with rows, by the network of the original; none where it has no lengths."""
    known = original.network.length_m
    there = np.diff(data.offsets) > 0
    if known is None or not there.any():
        return np.zeros(0)
    length_of = dict(zip(original.network.roads, known.tolist(), strict=True))
    length = np.array([length_of.get(road, np.nan) for road in data.network.roads])
    found = np.add.reduceat(length[data.road], data.offsets[:-1][there])
    return found[~np.isnan(found)]
