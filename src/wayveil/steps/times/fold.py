"""Fold: dates become those of a typical day, a typical week, or a working day and a day of the weekend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Step, Trips, Visits, check_parameters, parameter, seconds_per_unit
from wayveil.model.data.ragged import IntArray, offsets_of, trajectory_of_row
from wayveil.model.parameters import duration_s
from wayveil.steps.times.bucket import left_out_note, order_note
from wayveil.steps.times.visit_buckets import place_in_buckets

__all__ = ["Fold"]

_DAY_S = 86_400
_HOUR_S = 3600
_MONDAY = 4  # 5 January 1970, in days since 1 January 1970
_SATURDAY = _MONDAY + 5
_STANDS = {
    "day": "Monday 1970-01-05 stands for every day",
    "weekday-weekend": "Monday 1970-01-05 stands for Monday to Friday, Saturday 1970-01-10 for Saturday and Sunday",
    "week": "1970-01-05 stands for every Monday, and so on to 1970-01-11 for every Sunday",
}


@dataclass(frozen=True, kw_only=True)
class Fold(Step):
    """Put visits of weeks or months into one typical day or week, one trajectory per day (or week) of a person.

    Two people who take the same bus at the same hour hardly ever do it on the same date.  Where the date does not
    matter to the reader of the data, it costs most of them: almost everything is suppressed to hide it.

    Parameters
    ----------
    to : {"day", "weekday-weekend", "week"}
        What stays of a date: nothing, whether it is Saturday or Sunday, or the day of the week.
    part : str
        A duration that divides a day, such as "1h" or "4h": times are floored to parts of the day that are so long.
        "1d" leaves nothing of the time of the day.
    start : int, 0 to 23
        The hour at which a day begins, and from which parts are counted; with 4, a night out belongs to the day before.

    Notes
    -----
    A trip stays one trip, of the day on which it began. A trajectory of visits is cut where a new day (with
    ``to="week"``, a new week, from Monday) begins; its parts keep the owner and the attributes, so that people are
    still counted once. Times stay dates, of the week from Monday, 5 January 1970, so that everything that reads
    hours and days of the week goes on to do so; what is before `start` has the date behind. Several places of a
    trajectory in one part of the day are all kept, as with `bucket`. Hours are those of the clock that the times
    are written in. O(n log n) time, O(n) memory.

    Guarantee
    ---------
    None: folded times are easier to hide, but hide nobody by themselves.

    Examples
    --------
    >>> hour = 3600
    >>> data = Visits.from_records([[("a", 9 * hour), ("b", 10 * hour), ("a", 33 * hour)]], time_format="epoch")
    >>> days, notes = Fold(to="day", part="4h").run(data)
    >>> [[(place, t - 4 * 86400) for place, t in days.record(i)] for i in range(len(days))]
    [[('a', 28800), ('b', 28801)], [('a', 28800)]]
    >>> notes[0]
    '1 trajectory was cut into 2, one per day; Monday 1970-01-05 stands for every day, in parts of 4h from 4:00.'
    """

    to: str = parameter(
        kind="choice", choices=("day", "weekday-weekend", "week"), help="what stays of a date: see the page of the step"
    )
    part: str = parameter(kind="duration", default="1h", help="parts of the day; must divide a day")
    start: int = parameter(kind="int", low=0, high=23, default=4, help="hour at which a day begins")

    name: ClassVar[str] = "fold"
    summary: ClassVar[str] = "fold dates to a typical day, a typical week, or working days and weekends"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Visits], ...]] = (Trips,)

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        seconds = duration_s(self.part)
        if seconds is None or _DAY_S % seconds:
            raise ParameterError(
                f"fold: part must be a duration that divides a day, such as 15min, 1h, 4h, 12h or 1d, got {self.part}."
            )

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:
        """Return the parts in the typical time, and notes that count."""
        parts, notes, _ = self.run_with_origin(data)
        return parts, notes

    def run_with_origin(self, data: Visits) -> tuple[Visits, tuple[str, ...], IntArray]:
        """Return the parts, notes, and for every part the trajectory that it comes from."""
        unit = seconds_per_unit(data.time_format)
        if unit is None:
            raise InputError("fold: the times are plain integers, which have no days; give a column t with dates.")
        second = round(1 / unit)
        if data.n_visits and int(data.t.min()) - 14 * _DAY_S * second < np.iinfo(np.int64).min:
            raise InputError("fold: a time is too close to the smallest 64-bit integer; shift the times.")
        # Counted from the hour at which a day begins.
        since = data.t - self.start * _HOUR_S * second
        day, moment = np.divmod(since, _DAY_S * second)
        width = (duration_s(self.part) or 0) * second
        # 1970 began on a Thursday; the first Monday is day 4.
        weekday = (day - _MONDAY) % 7
        typical = {
            "day": np.full(len(day), _MONDAY),
            "weekday-weekend": np.where(weekday < 5, _MONDAY, _SATURDAY),
            "week": _MONDAY + weekday,
        }[self.to]
        opening = self.start * _HOUR_S * second
        trajectory = trajectory_of_row(data.offsets)
        if isinstance(data, Trips):
            # A trip stays one: it is of the day on which it began, and an end on a later day is as many days behind.
            first = data.offsets[:-1][trajectory]
            bucket = (typical[first] + day - day[first]) * _DAY_S * second + moment // width * width
            more_notes = (
                f"{_STANDS[self.to]}, in parts of {self.part} from {self.start}:00; a trip is of the day it began on."
            )
            return replace(data, t=bucket + opening), (more_notes,), np.arange(len(data))
        bucket = typical * _DAY_S * second + moment // width * width
        # A trajectory per week, or per day.
        span = (day - _MONDAY) // 7 if self.to == "week" else day
        begins = np.ones(data.n_visits, np.bool_)
        begins[1:] = (trajectory[1:] != trajectory[:-1]) | (span[1:] != span[:-1])
        number = np.cumsum(begins) - 1
        source = trajectory[begins]
        stay, t = place_in_buckets(number, data.location, bucket, width=width, time_format=data.time_format, keep="all")
        parts = replace(
            data,
            offsets=offsets_of(np.bincount(number[stay], minlength=len(source))),
            location=data.location[stay],
            t=t + opening,
            owner=data.owner[source],
            attributes={name: column.take(source) for name, column in data.attributes.items()},
        )
        notes = (self._note(data, parts), *order_note(t, width), *left_out_note(data.n_visits, parts.n_visits, "all"))
        return parts, notes, source

    def _note(self, before: Visits, after: Visits) -> str:
        many = int(np.count_nonzero(np.diff(before.offsets)))
        one = "1 trajectory was" if many == 1 else f"{many:,} trajectories were"
        span = "week" if self.to == "week" else "day"
        return (
            f"{one} cut into {len(after):,}, one per {span}; {_STANDS[self.to]}, in parts of {self.part} from "
            f"{self.start}:00."
        )
