"""Tables of counts: how many people or visits there were, by zone and time, or from zone to zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.coded import Owners, number_names
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of, trajectory_of_row
from wayveil.model.data.times import TimeFormat, duration_units
from wayveil.model.data.trajectories import Columns, Trajectories

__all__ = ["ALL", "AS_IS", "EVERYWHERE", "CountTables", "Events", "Tally", "list_events"]

Tally = Literal["zones", "flows"]
"""What a row counts: those who were in a zone at a time, or those who went from one zone to another."""

AS_IS = "as-is"
"""The width of a bucket of time where times stay as the data have them."""

ALL = "all"
"""The width of a bucket of time where all times are one."""

EVERYWHERE = ""
"""The name that stands for all zones: in a total, and as the other end of what has only one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountTables(Trajectories):
    """Tables of counts as flat read-only columns; a row is a cell, or a total of cells.

    Nobody owns a table: a row stands for many people.  What is here a trajectory is one table.

    Parameters
    ----------
    zone, to_zone : int32, one per row
        Codes of `zones`.  In a table of zones `to_zone` is `EVERYWHERE`; in one of flows the row counts those who went
        from `zone` to `to_zone`.  In a total, what was added up is `EVERYWHERE`.
    t : int64, one per row
        When the bucket of time begins; 0 where all times are one.
    timed : bool, one per row
        Whether the row is of one bucket of time; false where all times are one, or were added up.
    count : int64, one per row
        How many people, or visits; never negative.
    zones : tuple of str
        The names behind the codes.

    Examples
    --------
    >>> data = CountTables.from_rows([("Park", "", 8, 12), ("Park", "", None, 12)])
    >>> len(data), data.n_rows, data.record(0)
    (1, 2, [('Park', '', 8, 12), ('Park', '', None, 12)])
    """

    zone: IntArray
    to_zone: IntArray
    t: IntArray
    timed: BoolArray
    count: IntArray
    zones: tuple[str, ...]

    kind: ClassVar[str] = "counts"
    row_word: ClassVar[str] = "counts"
    row_columns: ClassVar[Columns] = {
        "zone": np.int32,
        "to_zone": np.int32,
        "t": np.int64,
        "timed": np.bool_,
        "count": np.int64,
    }
    code_columns: ClassVar[tuple[str, ...]] = ("zone", "to_zone")
    names_field: ClassVar[str] = "zones"
    name_word: ClassVar[Literal["places", "roads"] | None] = "places"
    individual: ClassVar[bool] = False
    not_published: ClassVar[str] = "Tables without any number left"
    nothing_left: ClassVar[str] = (
        "Nothing was published: no number is left, because nowhere enough people were counted. Make times or zones "
        "coarser (every=1d, or the step zones), or ask for a smaller k, or a larger epsilon."
    )

    def _check_rows(self) -> None:
        if len(self.count) and int(self.count.min()) < 0:
            raise InputError("CountTables: a count must not be negative.")
        # Two ways to write one row would make equal tables differ in their bytes.
        if (self.t[~self.timed] != 0).any():
            raise InputError("CountTables: a row of all times has the time 0.")
        for column in (self.zone, self.to_zone):
            if len(column) and (int(column.min()) < 0 or int(column.max()) >= len(self.zones)):
                raise InputError("CountTables: a row names a zone that is not in the list.")

    def record(self, table: int) -> list[tuple[str, str, int | None, int]]:
        """Return one table as (zone, to_zone, t, count), None for all times; for people and tests."""
        rows = self.rows(table)
        return [
            (self.zones[zone], self.zones[to_zone], t if timed else None, count)
            for zone, to_zone, t, timed, count in zip(
                *(getattr(self, name)[rows].tolist() for name in self.row_columns), strict=True
            )
        ]

    @classmethod
    def tiny(cls) -> Self:
        """Return two tables with a number each."""
        both = cls.from_rows([("a", EVERYWHERE, 1, 2), ("b", EVERYWHERE, 1, 2)], time_format="epoch")
        return cls(
            offsets=np.array([0, 1, 2]),
            owner=np.arange(2),
            zone=both.zone,
            to_zone=both.to_zone,
            t=both.t,
            timed=both.timed,
            count=both.count,
            zones=both.zones,
            time_format="epoch",
        )

    def times(self) -> IntArray:
        """Return when the bucket of each row begins."""
        return self.t

    def moments(self) -> None:
        """Return None: when people moved is in the counts, not in how many rows there are."""

    def places(self) -> None:
        """Return None: how often a zone is named does not say how many people were there."""

    def counts(self) -> dict[str, int]:
        """Return how many numbers there are, and what they add up to."""
        cells = self.cells()
        return {
            "Numbers": self.n_rows,
            "Totals among them": self.n_rows - int(cells.sum()),
            "Counted in cells": int(self.count[cells].sum()),
            **self._place_counts(),
        }

    def cells(self) -> BoolArray:
        """Return which rows are cells of their table; the others are totals.

        A total has something added up: all zones, or all times where other rows are of one.  In a table of flows, a
        cell has both ends.
        """
        # What a table is shows in its rows: some row has a second zone, some row has a time.  Where no row has one,
        # "all times" is not a total but the only time there is.
        flows = self._flows()[trajectory_of_row(self.offsets)]
        everywhere = self._everywhere()
        has_times = np.zeros(len(self), np.bool_)
        has_times[trajectory_of_row(self.offsets)[self.timed]] = True
        whole_time = ~self.timed & has_times[trajectory_of_row(self.offsets)]
        cell: BoolArray = ~everywhere[self.zone] & (~everywhere[self.to_zone] | ~flows) & ~whole_time
        return cell

    def _flows(self) -> BoolArray:
        """Return which tables are of flows: some row has another end."""
        table = np.zeros(len(self), np.bool_)
        table[trajectory_of_row(self.offsets)[~self._everywhere()[self.to_zone]]] = True
        return table

    def _everywhere(self) -> BoolArray:
        """Return which names stand for all zones."""
        return np.array([name == EVERYWHERE for name in self.zones], np.bool_)

    @classmethod
    def _unify(cls, parts: Sequence[Self]) -> Sequence[Self]:
        """Return parts with one list of the zones that some row names, in sorted order."""
        names = sorted({part.zones[code] for part in parts for code in part._used().tolist()})
        return [part.recode(tuple(names)) for part in parts]

    def _used(self) -> IntArray:
        """Return the codes that occur, in order."""
        return np.unique(np.concatenate([self.zone, self.to_zone]))

    def _place_counts(self) -> dict[str, int]:
        return {"Zones": sum(self.zones[code] != EVERYWHERE for code in self._used().tolist())}

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[tuple[str, str, int | None, int]],
        *,
        time_format: TimeFormat = "integer",
        owners: Owners = "declared",
    ) -> Self:
        """Build one table from (zone, to_zone, t or None, count); for examples and tests."""
        zones = tuple(sorted({name for row in rows for name in row[:2]}))
        code = number_names(zones)
        return cls(
            offsets=offsets_of(np.array([len(rows)], np.int64)),
            owner=np.zeros(1, np.int64),
            zone=np.array([code[row[0]] for row in rows], np.int32),
            to_zone=np.array([code[row[1]] for row in rows], np.int32),
            t=np.array([0 if row[2] is None else row[2] for row in rows], np.int64),
            timed=np.array([row[2] is not None for row in rows], np.bool_),
            count=np.array([row[3] for row in rows], np.int64),
            zones=zones,
            time_format=time_format,
            owners=owners,
        )


class Events(NamedTuple):
    """What is counted, one value per event: a visit to a zone, or a way from one zone to the next.

    Parameters
    ----------
    names : tuple of str
        The zones, `EVERYWHERE` first.
    zone, to_zone : int64
        Codes of `names`; `to_zone` is 0 in a table of zones.
    t : int64
        When the bucket of time begins, 0 where all times are one.
    person : int64
        Who it was.
    row : int64
        The row of the data; of a way, the one where it begins.
    """

    names: tuple[str, ...]
    zone: IntArray
    to_zone: IntArray
    t: IntArray
    person: IntArray
    row: IntArray


def list_events(data: Any, *, tally: str, every: str, component: str = "counts") -> Events:
    """Return what of movement data is counted: the one definition that method, verifier, attack and metric share.

    Parameters
    ----------
    data : Trajectories
        Data whose rows name places: visits, trips, routes or stops.
    tally : {"zones", "flows"}
        Each row is an event of its zone; or each pair of rows that follow each other in a trajectory is a way.
    every : str
        The width of a bucket of time, `AS_IS` or `ALL`.  A way belongs to the time at which it begins.

    Notes
    -----
    Ends of trips are counted by role in a table of zones ("from Park", "to Park"), and by place in one of flows.

    Examples
    --------
    >>> from wayveil.model.data.visits import Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 12), ("a", 13)]])
    >>> ways = list_events(data, tally="flows", every="10")
    >>> [(ways.names[i], ways.names[j], t) for i, j, t in zip(ways.zone, ways.to_zone, ways.t.tolist())]
    [('a', 'b', 0), ('b', 'a', 10)]
    """
    places = data.places()
    # A row that names two places, as in a table of counts, or none, cannot be one event.
    if places is None or len(data.code_columns) != 1:
        raise InputError(f"{component}: rows must name one place each. Bring positions into zones with the step grid.")
    names = tuple(places.names)
    code = np.asarray(places.code, np.int64)
    # Which end of a trip a zone is: said by the two columns of a table of flows, by the name of the zone in other
    # tables.
    if tally == "flows" and data.trip_ends:
        names = data.place_names()
    # `EVERYWHERE` is the empty text and sorts first, so that code 0 is free for totals; names that are the same place
    # after roles were removed get the same code.
    labels, number = np.unique(np.array([EVERYWHERE, *names], dtype=object), return_inverse=True)
    code = number[code + 1]
    t = _bucket_starts(data, every, component)
    person = data.row_owner()
    row = np.arange(data.n_rows)
    listed = tuple(str(name) for name in labels)
    if tally == "zones":
        return Events(listed, code, np.zeros(len(code), np.int64), t, person, row)
    trajectory = trajectory_of_row(data.offsets)
    # A way is a row and the next one of the same trajectory.
    begins = np.flatnonzero(trajectory[1:] == trajectory[:-1])
    return Events(listed, code[begins], code[begins + 1], t[begins], person[begins], begins)


def _bucket_starts(data: Any, every: str, component: str) -> IntArray:
    """Return when the bucket of each row begins."""
    t: IntArray = data.times()
    if every == ALL or not data.has_times():
        return np.zeros(len(t), np.int64)
    if every == AS_IS:
        return t
    width = duration_units(component, "every", every, data.time_format)
    # Rounding down may go below the smallest integer, and would wrap around to a time in the far future.
    if len(t) and int(t.min()) - width < np.iinfo(np.int64).min:
        raise InputError(f"{component}: a time is too close to the smallest 64-bit integer; shift the times.")
    # Rounded down, below 0 as well: buckets have the same width everywhere.
    return t // width * width
