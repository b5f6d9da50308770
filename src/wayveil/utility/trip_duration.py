"""How long people are on their way, from the first visit to the last, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from wayveil.model import Score, Visits, check_parameters, seconds_per_unit
from wayveil.utility.aligned import check_times
from wayveil.utility.classes import distribution, durations
from wayveil.utility.distances import average, value_distances
from wayveil.utility.trip_flows import ends_of_trips

__all__ = ["TripDuration"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class TripDuration:
    """The distributions of the durations of trajectories of visits, before and after.

    The duration is the time from the first visit to the last.  The headline is the Kolmogorov-Smirnov distance of the
    two distributions: the largest difference between the shares of trips up to any duration.

    Notes
    -----
    The earth mover's distance says how much the durations have to change on average to turn one distribution into the
    other.  Durations are in seconds, or in the unit of plain integer times.  A trajectory with one visit is a trip of
    duration 0; one without visits is left out.  O(n log n) time for n trajectories.

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
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)
    matched: ClassVar[bool] = False
    timed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(self, original: Visits, published: Visits) -> Score:
        check_times(self.name, original, published)
        before, after = _durations(original, original), _durations(published, original)
        apart, change = value_distances(before, after)
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips up to any duration, before and after",
            value=apart,
            better="lower",
            percent=True,
            measured={
                "trips_before": len(before),
                "trips_after": len(after),
                "average_duration_before": average(before),
                "average_duration_after": average(after),
                "duration_change": change,
                "single_visit_share_before": average(before == 0),
                "single_visit_share_after": average(after == 0),
            },
            charts=distribution(
                "Durations of trips", "duration", durations(original.time_format),
                [("original", before), ("published", after)], "share of trips",
            ),
        )  # fmt: skip


def _durations(data: Visits, original: Visits) -> Array:
    """Return the duration of each trajectory with visits, in seconds or in the unit of plain integers."""
    first, last = ends_of_trips(data.offsets, data.t, data.t)
    return (last.astype(float) - first.astype(float)) * (seconds_per_unit(original.time_format) or 1.0)
