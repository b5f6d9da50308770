"""How long trips are, in metres and in time, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.classes import LENGTHS, distribution, durations
from wayveil.metrics.distances import average, value_distances
from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import centres, check_comparable, with_rows
from wayveil.model import Points, Regions, Score, seconds_per_unit
from wayveil.model.sums import Same, Tally

__all__ = ["TripLength"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class TripLength(OnPositions):
    """The distributions of the lengths and durations of trajectories, before and after.

    The length is the sum of the distances between consecutive points, or between the centres of consecutive boxes; the
    duration is the time from the first to the last.  The headline is the Kolmogorov-Smirnov distance of the two
    distributions of lengths: the largest difference between the shares of trips up to any length.

    Notes
    -----
    The earth mover's distance says how much the lengths of trips have to change on average to turn one distribution
    into the other.  Trajectories without rows are left out; one with a single row is a trip of length and duration 0.
    O(rows + n log n) time and O(rows) memory.  What is counted in pieces is as long as there are different lengths and
    durations: two numbers per trip at worst.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (9, 3.0, 4.0)], [(0, 0.0, 0.0), (9, 0.0, 20.0)]])
    >>> after = Points.from_records([[(0, 0.0, 0.0), (9, 0.0, 5.0)], [(0, 0.0, 0.0), (9, 0.0, 10.0)]])
    >>> score = TripLength().run(before, after)
    >>> score.value, score.measured["length_change_m"]
    (0.5, 5.0)
    """

    name: ClassVar[str] = "trip_length"
    summary: ClassVar[str] = "lengths and durations of trips, before and after"
    additive: ClassVar[bool] = True

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Points | Regions) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by their lengths, and by their durations."""
        check_comparable(self.name, original, published)
        sides = {
            side: tuple(Tally.of(c) for c in _trips(d)) for side, d in (("before", original), ("after", published))
        }
        return {"time_format": Same(original.time_format), **sides}

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        (old_lengths, old_times), (new_lengths, new_times) = counts["before"], counts["after"]
        ks, moved = value_distances(old_lengths, new_lengths)
        ks_of_times, moved_times = value_distances(old_times, new_times)
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips up to any length, before and after",
            value=ks,
            better="lower",
            percent=True,
            measured={
                "trips_before": old_lengths.total,
                "trips_after": new_lengths.total,
                "average_length_before_m": average(old_lengths),
                "average_length_after_m": average(new_lengths),
                "length_change_m": moved,
                "average_duration_before": average(old_times),
                "average_duration_after": average(new_times),
                "duration_change": moved_times,
                "durations_apart_share": ks_of_times,
            },
            charts=(
                *distribution(
                    "Lengths of trips", "length", LENGTHS,
                    [("original", old_lengths), ("published", new_lengths)], "share of trips",
                ),
                *distribution(
                    "Durations of trips", "duration", durations(counts["time_format"].value),
                    [("original", old_times), ("published", new_times)], "share of trips",
                ),
            ),
        )  # fmt: skip


def _trips(data: Points | Regions) -> tuple[Array, Array]:
    """Return the length and the duration, in seconds or in the unit of plain integers, of each trajectory with rows."""
    t, x, y = centres(data)
    there = with_rows(data)
    first, last = data.offsets[:-1][there], data.offsets[1:][there] - 1
    if not len(first):
        return np.zeros(0), np.zeros(0)
    steps = np.zeros(len(t))
    np.hypot(np.diff(x), np.diff(y), out=steps[1:])
    steps[first] = 0  # the way from the last point of another trajectory is none
    unit = seconds_per_unit(data.time_format) or 1.0
    return np.add.reduceat(steps, first), (t[last] - t[first]) * unit
