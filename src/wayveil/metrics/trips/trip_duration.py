"""How long people are on their way, from the first visit to the last, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wayveil.metrics.classes import distribution, durations
from wayveil.metrics.distances import average, value_distances
from wayveil.metrics.flows import ends_of_trips
from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.visits.aligned import check_times
from wayveil.model import Score, Visits, seconds_per_unit
from wayveil.model.sums import Same, Tally

__all__ = ["TripDuration"]


@dataclass(frozen=True, kw_only=True)
class TripDuration(OnVisits):
    """The distributions of the durations of trajectories of visits, before and after.

    The duration is the time from the first visit to the last.  The headline is the Kolmogorov-Smirnov distance of the
    two distributions: the largest difference between the shares of trips up to any duration.

    Notes
    -----
    The earth mover's distance says how much the durations have to change on average to turn one distribution into the
    other.  Durations are in seconds, or in the unit of plain integer times.  A trajectory with one visit is a trip of
    duration 0; one without visits is left out.  O(n log n) time for n trajectories.  What is counted in pieces is as
    long as there are different durations.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 0), ("b", 9)], [("a", 0), ("b", 5)]])
    >>> after = Visits.from_records([[("a", 0)], [("a", 0), ("b", 5)]])
    >>> score = TripDuration().run(before, after)
    >>> score.value, score.measured["duration_change"]
    (0.5, 4.5)
    """

    name: ClassVar[str] = "trip_duration"
    summary: ClassVar[str] = "durations of trips, before and after"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by their durations."""
        check_times(self.name, original, published)
        return {
            "time_format": Same(original.time_format),
            "before": _durations(original, original),
            "after": _durations(published, original),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        before, after = counts["before"], counts["after"]
        apart, change = value_distances(before, after)
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips up to any duration, before and after",
            value=apart,
            better="lower",
            percent=True,
            measured={
                "trips_before": before.total,
                "trips_after": after.total,
                "average_duration_before": average(before),
                "average_duration_after": average(after),
                "duration_change": change,
                "single_visit_share_before": _at_once(before),
                "single_visit_share_after": _at_once(after),
            },
            charts=distribution(
                "Durations of trips", "duration", durations(counts["time_format"].value),
                [("original", before), ("published", after)], "share of trips",
            ),
        )  # fmt: skip


def _durations(data: Visits, original: Visits) -> Tally:
    """Return the durations of trajectories with visits, in seconds or in the unit of plain integers."""
    first, last = ends_of_trips(data.offsets, data.t, data.t)
    return Tally.of((last.astype(float) - first.astype(float)) * (seconds_per_unit(original.time_format) or 1.0))


def _at_once(trips: Tally) -> float | None:
    """Return the share of trips of duration 0."""
    return int(trips.counts[trips.values == 0].sum()) / trips.total if len(trips) else None
