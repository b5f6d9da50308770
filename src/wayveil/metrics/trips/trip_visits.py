"""How many visits, and how many different places, a trip has, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.metrics.count_charts import count_chart
from wayveil.metrics.distances import average, value_distances
from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.roads.road_counts import distinct
from wayveil.model import Score, Visits
from wayveil.model.ragged import trajectory_of_row
from wayveil.model.sums import Tally

__all__ = ["TripVisits"]


@dataclass(frozen=True, kw_only=True)
class TripVisits(OnVisits):
    """The distributions of the numbers of visits, and of different places, per trajectory, before and after.

    The headline is the Kolmogorov-Smirnov distance of the two distributions of numbers of visits: the largest
    difference between the shares of trips with up to any number of visits.

    Notes
    -----
    Trajectories without visits are left out.  Only the places and not the times of visits matter.  O(n log n) time for
    n visits.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 1), ("b", 2), ("a", 3)], [("a", 1)]])
    >>> after = Visits.from_records([[("a", 1), ("a", 3)], [("a", 1)]])
    >>> score = TripVisits().run(before, after)
    >>> score.value, score.measured["average_places_before"], score.measured["average_places_after"]
    (0.5, 1.5, 1.0)
    """

    name: ClassVar[str] = "trip_visits"
    summary: ClassVar[str] = "visits and different places per trip, before and after"
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by their numbers of visits and of places."""
        return {"before": _numbers(original), "after": _numbers(published)}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before, after = counts["before"], counts["after"]
        apart, change = value_distances(before[0], after[0])
        places_apart, places_change = value_distances(before[1], after[1])
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips with up to any number of visits, before and after",
            value=apart,
            better="lower",
            percent=True,
            measured={
                "trips_before": before[0].total,
                "trips_after": after[0].total,
                "average_visits_before": average(before[0]),
                "average_visits_after": average(after[0]),
                "visits_change": change,
                "average_places_before": average(before[1]),
                "average_places_after": average(after[1]),
                "places_change": places_change,
                "places_apart_share": places_apart,
            },
            charts=(
                *count_chart("Visits per trip", "visits", before[0], after[0]),
                *count_chart("Different places per trip", "places", before[1], after[1]),
            ),
        )


def _numbers(data: Visits) -> tuple[Tally, Tally]:
    """Return how many trajectories with visits have how many, and how many different places."""
    lengths = np.diff(data.offsets)
    n = max(1, len(data.locations))
    pairs = distinct(trajectory_of_row(data.offsets) * n + data.location)
    places = np.bincount(pairs // n, minlength=len(lengths))
    return Tally.of(lengths[lengths > 0]), Tally.of(places[lengths > 0])
