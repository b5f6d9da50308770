"""Stops of weeks or months as trips of one day each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Step, Stops, parameter, seconds_per_unit
from wayveil.model.data.ragged import IntArray, offsets_of, trajectory_of_row

__all__ = ["Days"]

_HOUR_S = 3600


@dataclass(frozen=True, kw_only=True)
class Days(Step):
    """Cut trajectories of stops at a time of the day, so that each part is the trip of one day.

    A method that makes people share all their places can do so with few places each: a week of them has hardly
    anything in common with another week.

    Parameters
    ----------
    start : int, 0 to 23
        The hour at which a day begins; 4 keeps a night out in one day.  Times with a zone are taken in UTC.

    Notes
    -----
    Parts keep the owner.  Trajectories without stops stay, without stops.  O(n).

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Bar", "Place")])
    >>> hours = [[(20 * 3600, 20 * 3600), (26 * 3600, 27 * 3600), (34 * 3600, 34 * 3600)]]
    >>> week = Stops.from_records([["Park", "Bar", "Park"]], taxonomy=tree, times=hours, time_format="epoch")
    >>> days, notes = Days().run(week)
    >>> [days.record(i) for i in range(len(days))], notes[0]
    ([['Park', 'Bar'], ['Park']], "Cutting at 4 o'clock made 2 trajectories of 1.")
    """

    start: int = parameter(kind="int", low=0, high=23, default=4, help="hour at which a day begins")

    name: ClassVar[str] = "days"
    summary: ClassVar[str] = "cut stops into trips of one day each"
    accepts: ClassVar[type[Stops]] = Stops
    gives: ClassVar[type[Stops]] = Stops

    def run(self, data: Stops) -> tuple[Stops, tuple[str, ...]]:
        """Return the parts, and a note that counts them."""
        parts, notes, _ = self.run_with_origin(data)
        return parts, notes

    def run_with_origin(self, data: Stops) -> tuple[Stops, tuple[str, ...], IntArray]:
        """Return the parts, a note, and for every part the trajectory that it comes from."""
        seconds = seconds_per_unit(data.time_format)
        if seconds is None or (data.n_rows and not data.t.any()):
            raise InputError("days: the stops have no dates, so they cannot be cut by day; give a column t with dates.")
        hour = round(_HOUR_S / seconds)
        # Days begin at `start` o'clock: a night out belongs to the day before.
        day = (data.t // hour - self.start) // 24
        trajectory = trajectory_of_row(data.offsets)
        begins = np.ones(data.n_rows, np.bool_)
        begins[1:] = (trajectory[1:] != trajectory[:-1]) | (day[1:] != day[:-1])
        # A trajectory without stops begins nowhere: it is one part of its own.
        parts_of = np.maximum(np.bincount(trajectory[begins], minlength=len(data)), 1)
        source = np.repeat(np.arange(len(data)), parts_of)
        number = np.cumsum(begins) - 1 + np.concatenate([[0], np.cumsum(np.diff(data.offsets) == 0)])[trajectory]
        parts = replace(
            data,
            offsets=offsets_of(np.bincount(number, minlength=len(source))),
            owner=data.owner[source],
            attributes={name: a.take(source) for name, a in data.attributes.items()},
        )
        many = "1 trajectory" if len(parts) == 1 else f"{len(parts):,} trajectories"
        return parts, (f"Cutting at {self.start} o'clock made {many} of {len(data):,}.",), source
