"""Workplaces: sensitive places where a person works, not those that tell something about them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Step, Stops, check_parameters, duration_units, parameter, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, IntArray, trajectory_of_row

__all__ = ["Workplaces"]

_HOUR_S = 3600


@dataclass(frozen=True, kw_only=True)
class Workplaces(Step):
    """Leave out the stops of people at sensitive places where they work.

    A nurse is at the clinic every day.  Such stops say nothing about health, but they would make the clinic look like a
    place of many patients, and her trips easy to recognise.

    Parameters
    ----------
    min_days : int, >= 1
        On how many different weekdays a person is at the place at least.
    min_share : Fraction, 0 to 1
        At least this share of all weekdays on which the person stops anywhere.
    work_from, work_to : int, 0 to 23 (from), 0 to 24 (to)
        Only stops that begin between these hours count, the second one not included.  Where the first is the larger
        one, midnight is between them.
    min_stay : str, or "none"
        A duration: shorter stops do not count.  A stop of which only one time is known is never too short.

    Notes
    -----
    A sensitive place is the workplace of a person if both numbers are reached; a person may have several.  All stops of
    the person at the place are left out, of all their trajectories and also at other times; trajectories stay, perhaps
    without rows.  Places that are not sensitive are never left out: an attacker may know of them, and methods for stops
    reckon with that.

    A weekday is a date from Monday to Friday.  Hours and dates are those of the clock that the times are written in:
    UTC for epoch seconds and times with an offset, else local time; shift the hours where that is another
    clock than that of the people.  A stop counts for the date on which it begins.

    Where no times are known (all are 0), nothing can be judged, nothing is left out, and the note says so.
    O(n log n) time.

    Guarantee
    ---------
    None.  Monreale et al. (2011) take workplaces out before they anonymize; which places are workplaces is a guess.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> nine = [4 * 86_400 + day * 86_400 + 9 * 3_600 for day in range(2)]  # Monday and Tuesday
    >>> data = Stops.from_records([["Clinic", "Park"], ["Clinic"]], taxonomy=tree, owner=[0, 0], time_format="epoch",
    ...                           times=[[(nine[0], nine[0] + 20_000), (nine[0] + 30_000, nine[0] + 31_000)],
    ...                                  [(nine[1], nine[1] + 20_000)]])
    >>> rest, notes = Workplaces(min_days=2).run(data)
    >>> rest.record(0), rest.record(1)
    (['Park'], [])
    >>> notes
    ('1 of 1 people works at a sensitive place: 2 of 2 sensitive stops were left out.',)
    """

    min_days: int = parameter(kind="int", low=1, default=5, help="different weekdays at the place, at least")
    min_share: Fraction = parameter(
        kind="fraction",
        low=0,
        high=1,
        default=Fraction(1, 2),
        help="share of the person's weekdays with stops, at least",
    )
    work_from: int = parameter(kind="int", low=0, high=23, default=7, help="hour from which stops may be work")
    work_to: int = parameter(kind="int", low=0, high=24, default=19, help="hour until which stops may begin as work")
    min_stay: str = parameter(
        kind="duration", choices=("none",), default="2h", help="shorter stops are no work, where it is known how long"
    )

    name: ClassVar[str] = "workplaces"
    summary: ClassVar[str] = "leave out the stops of people at sensitive places where they work"
    accepts: ClassVar[type[Stops]] = Stops
    gives: ClassVar[type[Stops]] = Stops

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.work_from == self.work_to:
            raise ParameterError(
                f"workplaces: work_from and work_to must differ, got {self.work_from} and {self.work_to}."
            )

    def run(self, data: Stops) -> tuple[Stops, tuple[str, ...]]:
        """Return the data without these stops, and notes that count them."""
        if data.n_rows and not (data.t.any() or data.t_end.any()):
            return data, (
                "The stops have no times, so whether people work at sensitive places could not be judged: no stop was "
                "left out.",
            )
        seconds = seconds_per_unit(data.time_format)
        if seconds is None and data.n_rows:
            raise InputError(
                "workplaces: weekdays and hours are needed, but the times are plain integers without a calendar. Give "
                "dates or epoch seconds."
            )
        person = np.unique(data.owner, return_inverse=True)[1][trajectory_of_row(data.offsets)]
        place = data.place.astype(np.int64)
        day, hour = self._clock(data, seconds or 1.0)
        weekday = ((day + 3) % 7 < 5) & ((data.t != 0) | (data.t_end != 0))  # day 0 was a Thursday; 0 is no time
        days_there = _count_days(person, place, day, weekday & data.sensitive & self._inside(hour) & self._long(data))
        often = {key: days for key, days in days_there.items() if days >= self.min_days}
        of_them = np.isin(person, np.array([who for who, _ in often], np.int64))
        active = _count_days(person, np.zeros_like(place), day, weekday & of_them)
        work = {(who, where) for (who, where), days in often.items() if days >= self.min_share * active[who, 0]}
        at_work = _among(person, place, work)
        return data.where(~at_work), self._notes(data, work, at_work)

    def _clock(self, data: Stops, seconds: float) -> tuple[IntArray, IntArray]:
        hour = data.t // round(_HOUR_S / seconds)
        return hour // 24, hour % 24

    def _inside(self, hour: IntArray) -> BoolArray:
        after = self.work_from <= hour
        before = hour < self.work_to
        inside: BoolArray = after & before if self.work_from < self.work_to else after | before
        return inside

    def _long(self, data: Stops) -> BoolArray:
        if self.min_stay == "none" or data.n_rows == 0:
            return np.ones(data.n_rows, np.bool_)
        stay = duration_units(self.name, "min_stay", self.min_stay, data.time_format)
        # As floats, differences of any two times are finite.
        is_long: BoolArray = (data.t_end == data.t) | (data.t_end.astype(np.float64) - data.t >= stay)
        return is_long

    def _notes(self, data: Stops, work: set[tuple[int, int]], at_work: BoolArray) -> tuple[str, ...]:
        workers = len({person for person, _ in work})
        stops = int(np.count_nonzero(at_work))
        secret = int(np.count_nonzero(data.sensitive))
        verb = "works" if workers == 1 else "work"
        was = "was" if stops == 1 else "were"
        notes = (
            f"{workers:,} of {data.n_owners:,} people {verb} at a sensitive place: {stops:,} of {secret:,} sensitive "
            f"stops {was} left out."
        )
        if data.owners == "declared":
            return notes, (
                "Each trajectory counts as another person, so work was looked for within each trajectory only; give a "
                "column user_id if somebody has several."
            )
        return (notes,)


def _count_days(person: IntArray, place: IntArray, day: IntArray, rows: BoolArray) -> dict[tuple[int, int], int]:
    """Return on how many different days each person is at each place, of these rows."""
    person = person[rows]
    place = place[rows]
    day = day[rows]
    order = np.lexsort((day, place, person))
    person = person[order]
    place = place[order]
    day = day[order]
    place_new = np.ones(len(order), np.bool_)
    new = np.ones(len(order), np.bool_)
    place_new[1:] = (np.diff(person) != 0) | (np.diff(place) != 0)
    new[1:] = place_new[1:] | (np.diff(day) != 0)
    first = np.flatnonzero(place_new)
    counts = np.add.reduceat(new.astype(np.int64), first) if len(first) else first
    return dict(zip(zip(person[first].tolist(), place[first].tolist(), strict=True), counts.tolist(), strict=True))


def _among(person: IntArray, place: IntArray, work: set[tuple[int, int]]) -> BoolArray:
    """Tell which rows are of a person at a place of `work`."""
    if not work:
        return np.zeros(len(person), np.bool_)
    width = int(place.max()) + 1
    keys = np.array([who * width + where for who, where in sorted(work)], np.int64)
    return np.isin(person * width + place, keys)
