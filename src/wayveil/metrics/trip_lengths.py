"""How long trips are, before and after: in metres, seconds, visits and roads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.flows import ends_of_trips
from wayveil.metrics.metric_base import OnPositions, OnRoutes, OnVisits
from wayveil.metrics.movement import centres, check_comparable, with_rows
from wayveil.metrics.roads.road_counts import distinct
from wayveil.metrics.stats import LENGTHS, average, count_chart, distribution, durations, time_amount, value_distances
from wayveil.metrics.visits.aligned import check_times
from wayveil.model import Boxes, Points, Routes, Score, Visits, seconds_per_unit
from wayveil.model.accumulators import Constant, Tally
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import count, measure, share

__all__ = ["RouteLength", "TripDuration", "TripLength", "TripVisits"]

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
    def count(self, original: Points, published: Points | Boxes) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by their lengths, and by their durations."""
        check_comparable(self.name, original, published)
        sides = {
            side: tuple(Tally.of(c) for c in _trips(d)) for side, d in (("before", original), ("after", published))
        }
        return {"time_format": Constant(original.time_format), **sides}

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        (old_lengths, old_times), (new_lengths, new_times) = counts["before"], counts["after"]
        ks, moved = value_distances(old_lengths, new_lengths)
        ks_of_times, moved_times = value_distances(old_times, new_times)
        clock = counts["time_format"].value
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips up to any length, before and after",
            value=ks,
            better="lower",
            unit="share",
            numbers={
                "trips_before": count(old_lengths.total, "Trips before", "trips"),
                "trips_after": count(new_lengths.total, "Trips after", "trips"),
                "average_length_before_m": measure(average(old_lengths), "m", "Mean length before"),
                "average_length_after_m": measure(average(new_lengths), "m", "Mean length after"),
                "length_change_m": measure(moved, "m", "Mean change of lengths"),
                "average_duration_before": time_amount(average(old_times), clock, "Mean duration before"),
                "average_duration_after": time_amount(average(new_times), clock, "Mean duration after"),
                "duration_change": time_amount(moved_times, clock, "Mean change of durations"),
                "durations_apart_share": share(ks_of_times, "Largest difference between the shares of durations"),
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


def _trips(data: Points | Boxes) -> tuple[Array, Array]:
    """Return the length and the duration, in seconds or in the unit of plain integers, of each trajectory with rows."""
    t, x, y = centres(data)
    nonempty = with_rows(data)
    first = data.offsets[:-1][nonempty]
    last = data.offsets[1:][nonempty] - 1
    if not len(first):
        return np.zeros(0), np.zeros(0)
    # Distances between neighbouring rows of the whole table; the step into a trajectory is no step of anybody.
    steps = np.zeros(len(t))
    np.hypot(np.diff(x), np.diff(y), out=steps[1:])
    steps[first] = 0  # the way from the last point of another trajectory is none
    unit = seconds_per_unit(data.time_format) or 1.0
    # Sums from each first row to the next.
    return np.add.reduceat(steps, first), (t[last] - t[first]) * unit


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
            "time_format": Constant(original.time_format),
            "before": _durations(original, original),
            "after": _durations(published, original),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        after = counts["after"]
        apart, change = value_distances(before, after)
        clock = counts["time_format"].value
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips up to any duration, before and after",
            value=apart,
            better="lower",
            unit="share",
            numbers={
                "trips_before": count(before.total, "Trips before", "trips"),
                "trips_after": count(after.total, "Trips after", "trips"),
                "average_duration_before": time_amount(average(before), clock, "Mean duration before"),
                "average_duration_after": time_amount(average(after), clock, "Mean duration after"),
                "duration_change": time_amount(change, clock, "Mean change of durations"),
                "single_visit_share_before": share(_at_once(before), "Share of trips with one visit before"),
                "single_visit_share_after": share(_at_once(after), "Share of trips with one visit after"),
            },
            charts=distribution(
                "Durations of trips", "duration", durations(counts["time_format"].value),
                [("original", before), ("published", after)], "share of trips",
            ),
        )  # fmt: skip


def _durations(data: Visits, original: Visits) -> Tally:
    """Return the durations of trajectories with visits, in seconds or in the unit of plain integers."""
    first, last = ends_of_trips(data.offsets, data.t, data.t)
    # As floats before subtracting: two 64-bit times may be further apart than 64 bits can say.
    return Tally.of((last.astype(float) - first.astype(float)) * (seconds_per_unit(original.time_format) or 1.0))


def _at_once(trips: Tally) -> float | None:
    """Return the share of trips of duration 0."""
    return int(trips.counts[trips.values == 0].sum()) / trips.total if len(trips) else None


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
        before = counts["before"]
        after = counts["after"]
        apart, change = value_distances(before[0], after[0])
        places_apart, places_change = value_distances(before[1], after[1])
        return Score(
            name=self.name,
            meaning="largest difference between the shares of trips with up to any number of visits, before and after",
            value=apart,
            better="lower",
            unit="share",
            numbers={
                "trips_before": count(before[0].total, "Trips before", "trips"),
                "trips_after": count(after[0].total, "Trips after", "trips"),
                "average_visits_before": count(average(before[0]), "Mean of visits before", "visits"),
                "average_visits_after": count(average(after[0]), "Mean of visits after", "visits"),
                "visits_change": count(change, "Mean change of visits", "visits"),
                "average_places_before": count(average(before[1]), "Mean of places before", "places"),
                "average_places_after": count(average(after[1]), "Mean of places after", "places"),
                "places_change": count(places_change, "Mean change of places", "places"),
                "places_apart_share": share(places_apart, "Largest difference between the shares of numbers of places"),
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
    # One number per trajectory and place, each once: how many there are per trajectory is how many different places.
    pairs = distinct(trajectory_of_row(data.offsets) * n + data.location)
    places = np.bincount(pairs // n, minlength=len(lengths))
    return Tally.of(lengths[lengths > 0]), Tally.of(places[lengths > 0])


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
            unit="share",
            numbers={
                "trips_before": count(before.total, "Trips before", "trips"),
                "trips_after": count(after.total, "Trips after", "trips"),
                "average_roads_before": count(average(before), "Mean of roads before", "roads"),
                "average_roads_after": count(average(after), "Mean of roads after", "roads"),
                "roads_change": count(change, "Mean change of roads", "roads"),
                "roads_apart_share": share(apart, "Largest difference between the shares of numbers of roads"),
                "average_length_before_m": measure(average(metres[0]), "m", "Mean length before"),
                "average_length_after_m": measure(average(metres[1]), "m", "Mean length after"),
                "length_change_m": measure(metres_change, "m", "Mean change of lengths"),
                "lengths_apart_share": share(metres_apart, "Largest difference between the shares of lengths"),
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
    nonempty = np.diff(data.offsets) > 0
    if known is None or not nonempty.any():
        return np.zeros(0)
    # Roads of the publication are looked up by name in the network of the original, which knows lengths.
    length_of = dict(zip(original.network.roads, known.tolist(), strict=True))
    length = np.array([length_of.get(road, np.nan) for road in data.network.roads])
    # A single unknown length makes the sum NaN, and the trip is left out.
    metres = np.add.reduceat(length[data.road], data.offsets[:-1][nonempty])
    return metres[~np.isnan(metres)]
