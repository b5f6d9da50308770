"""Counts: how many people or visits there were by zone and time, or from zone to zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.methods.common.cell_tally import CellTally, is_small, tally_cells, tally_groups
from wayveil.methods.counts.complementary import hide_small_cells
from wayveil.model import CountTables, Engine, Method, MethodResult, Threshold, Visits, parameter
from wayveil.model.claims.threshold import (
    count_parameter,
    count_share_parameter,
    every_parameter,
    margins_parameter,
    tally_parameter,
)
from wayveil.model.data.count_tables import ALL, Events, list_events
from wayveil.model.data.kinds import PLACE_KINDS
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["Counts"]


@dataclass(frozen=True, kw_only=True)
class Counts(Method):
    """Publish how many people there were in each zone and bucket of time, or went from zone to zone.

    A cell with fewer than `k` people, or of which one person is more than `row_share`, is not published.  With totals,
    further numbers are left out until no small cell can be worked out from the others.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people behind a published number.
    tally : {"zones", "flows"}
        Who was in a zone at a time; or who went from one zone to the next.
    count : {"people", "visits"}
        Whether somebody counts once in a cell, or as often as they were there.
    every : str
        Width of a bucket of time; "as-is" for the times of the data, "all" for none.
    margins : {"no", "yes"}
        Whether totals are published: of each zone over all times and of each time over all zones, or, of flows, of each
        origin and each destination at each time; and of all.
    row_share : number from 0 to 1, or "1/k"
        The largest share of a published number that one person may be.

    Guarantee
    ---------
    ``Threshold(k, row_share)`` of every number of the publication, and of every small cell, whatever sums and
    differences of them tell.  Not covered: differences to other publications of the same people, attackers who know
    almost everybody who was counted, and what hidden cells are together.

    Notes
    -----
    Zones and times come from the data as they were prepared: steps such as grid, zones and bucket make them.  With
    totals, zones and times that are too small as wholes are taken out first, again and again until none is left; so
    every total counts enough people.  O(n log n) time for n rows, and with totals O(small cells x cells) more.

    References
    ----------
    Hundepool et al.: Statistical Disclosure Control.  Wiley 2012, chapter 4.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("park", 8)], [("park", 8)], [("quay", 8)]])
    >>> made = Counts(k=2).run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> made.data.record(0)
    [('park', '', 8, 2)]
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people behind a published number")
    tally: str = tally_parameter()
    count: str = count_parameter()
    every: str = every_parameter()
    margins: str = margins_parameter()
    row_share: Fraction | str = count_share_parameter()

    name: ClassVar[str] = "counts"
    summary: ClassVar[str] = "tables of counts: people or visits by zone and time, or from zone to zone"
    accepts: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Any], ...]] = tuple(kind for kind in PLACE_KINDS if kind is not Visits)
    publishes: ClassVar[type[CountTables]] = CountTables
    splits_trajectories: ClassVar[bool] = True

    @property
    def claim(self) -> Threshold:
        return Threshold(
            k=self.k,
            row_share=self.row_share,
            tally=self.tally,
            count=self.count,
            every=self.every,
            margins=self.margins,
        )

    @property
    def metric_settings(self) -> Mapping[str, Mapping[str, Any]]:
        return {"count_error": {"tally": self.tally, "counted": self.count, "every": self.every}}

    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        engine.progress("count")
        if self.margins == "yes" and self.tally == "zones" and not data.has_times():
            raise InputError(
                "counts: totals of zones over all times need times, and these data have none. Leave margins=no."
            )
        # An event is somebody at a zone, on a way between two zones, or on a road, at a time; a cell counts the events
        # that are the same.
        events = list_events(data, tally=self.tally, every=self.every)
        cells = tally_cells(events, count=self.count)
        share = self.claim.owner_share
        # Small is what has fewer than k people, or of which one person has too large a share.
        small = is_small(tally_groups(cells.pair_cell, cells.pair_person, cells.pair_count, len(cells)), self.k, share)
        if self.margins == "no":
            rows = _rows_of(cells, ~small)
            published = ~small
        else:
            rows, published = self._with_totals(cells, small, share)
        # A table of all times together has no times, and neither have data without any.
        timed = self.every != ALL and data.has_times()
        counted = np.zeros(data.n_rows, np.bool_)
        # The rows of the input that are in a published number, for what is said to be left.
        begins = events.row[published[cells.cell_of_event]]
        counted[begins] = True
        if self.tally == "flows":
            counted[begins + 1] = True  # a way has two ends
        return MethodResult(
            data=_make_table(data, events, rows, timed=timed),
            claim=self.claim,
            source=np.full(1, -1),  # the one table is of no trajectory
            counted=counted,
            facts={
                "cells that somebody is in": len(cells),
                "cells too small to publish": int(small.sum()),
                "cells not published": int((~published).sum()),
            },
        )

    def _with_totals(self, cells: CellTally, small: BoolArray, share: Fraction) -> tuple[_Rows, BoolArray]:
        """Return the rows of cells and totals, and which cells are among them."""
        # Rows and columns that are small as a whole are left out first, so that no total of the others is small.
        axes = _Axes.of(cells, self.tally)
        inside = _without_small_lines(cells, axes, self.k, share)
        value = cells.value()
        published = np.zeros(len(cells), np.bool_)
        totals: list[_Rows] = []
        for part in np.unique(axes.part[inside]).tolist():
            members = np.flatnonzero(inside & (axes.part == part))
            lines, row = np.unique(axes.row[members], return_inverse=True)
            columns, column = np.unique(axes.column[members], return_inverse=True)
            # The last row and the last column are totals, the corner is the total of all.
            matrix = np.zeros((len(lines) + 1, len(columns) + 1), np.int64)
            matrix[row, column] = value[members]
            matrix[-1, :] = matrix.sum(axis=0)
            matrix[:, -1] = matrix.sum(axis=1)
            too_small = np.zeros(matrix.shape, np.bool_)
            too_small[row, column] = small[members]
            # Hide small cells, and as many others as it takes that no total gives them away.
            shown = ~hide_small_cells(matrix, too_small, self.k)
            published[members] = shown[row, column]
            totals.append(axes.totals(int(part), lines, columns, matrix, shown))
        return _Rows.join([_rows_of(cells, published), *totals]), published


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows of the table: 0 as a zone is all zones, `timed` whether the row is of one time."""

    zone: IntArray
    to_zone: IntArray
    t: IntArray
    timed: BoolArray
    count: IntArray

    @classmethod
    def join(cls, parts: list[_Rows]) -> _Rows:
        names = ("zone", "to_zone", "t", "timed", "count")
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@dataclass(frozen=True, kw_only=True)
class _Axes:
    """What totals are of: each cell is in a part of the table, and there in a row and a column.

    Zones and times are one part: a row is a zone, a column a time.  Of flows, each time is a part: a row is where
    people came from, a column where they went.
    """

    tally: str
    part: IntArray
    row: IntArray
    column: IntArray

    @classmethod
    def of(cls, cells: CellTally, tally: str) -> _Axes:
        if tally == "zones":
            return cls(tally=tally, part=np.zeros(len(cells), np.int64), row=cells.zone, column=cells.t)
        return cls(tally=tally, part=cells.t, row=cells.zone, column=cells.to_zone)

    def totals(self, part: int, lines: IntArray, columns: IntArray, matrix: IntArray, shown: BoolArray) -> _Rows:
        """Return the totals of a part that are published: of rows, of columns, and of all."""
        by_row = np.flatnonzero(shown[:-1, -1])
        by_column = np.flatnonzero(shown[-1, :-1])
        # The corner is one number: here it is 0 where it is published, and nothing else.
        whole = np.flatnonzero(shown[-1:, -1])
        count = np.concatenate([matrix[by_row, -1], matrix[-1, by_column], matrix[-1:, -1][whole]])
        of_row = np.concatenate([lines[by_row], np.zeros(len(by_column) + len(whole), np.int64)])
        of_column = np.concatenate(
            [np.zeros(len(by_row), np.int64), columns[by_column], np.zeros(len(whole), np.int64)]
        )
        if self.tally == "zones":
            timed = np.zeros(len(count), np.bool_)
            timed[len(by_row) : len(by_row) + len(by_column)] = True
            return _Rows(zone=of_row, to_zone=np.zeros(len(count), np.int64), t=of_column, timed=timed, count=count)
        t = np.full(len(count), part)
        return _Rows(zone=of_row, to_zone=of_column, t=t, timed=np.ones(len(count), np.bool_), count=count)


def _without_small_lines(cells: CellTally, axes: _Axes, k: int, share: Fraction) -> BoolArray:
    """Return the cells that totals count: no row, column or part of them is small.

    Before each round, some rows and columns are gone.  A round takes all away that are small without them, and the
    parts that are.  Each takes at least one away, or is the last.
    """
    inside = np.ones(len(cells), np.bool_)
    _, part = np.unique(axes.part, return_inverse=True)
    # A number for each row and for each column of each part.
    lines = [
        np.unique(np.stack([part, along]), axis=1, return_inverse=True)[1].reshape(-1)
        for along in (axes.row, axes.column)
    ]
    while True:
        gone = np.zeros(len(cells), np.bool_)
        counted = inside[cells.pair_cell]
        for line in (*lines, part):
            # Of people, not of cells: who is in several cells of a line counts once there.
            tally = tally_groups(
                line[cells.pair_cell[counted]],
                cells.pair_person[counted],
                cells.pair_count[counted],
                int(line.max(initial=-1)) + 1,
            )
            gone |= is_small(tally, k, share)[line]
        if not (gone & inside).any():
            return inside
        inside &= ~gone


def _rows_of(cells: CellTally, published: BoolArray) -> _Rows:
    """Return the rows of published cells."""
    return _Rows(
        zone=cells.zone[published],
        to_zone=cells.to_zone[published],
        t=cells.t[published],
        timed=np.ones(int(published.sum()), np.bool_),
        count=cells.value()[published],
    )


def _make_table(data: Any, events: Events, rows: _Rows, *, timed: bool) -> CountTables:
    """Return the rows as a table, in order of time and zone."""
    has_time = rows.timed & timed
    t = np.where(has_time, rows.t, 0)
    # Rows without a time come first; then the order is that of time, zone, and where to.
    order = np.lexsort((rows.to_zone, rows.zone, t, has_time))
    return CountTables(
        offsets=np.array([0, len(order)]),
        owner=np.full(1, -1),
        zone=rows.zone[order],
        to_zone=rows.to_zone[order],
        t=t[order],
        timed=has_time[order],
        count=rows.count[order],
        zones=events.names,
        time_format=data.time_format,
        owners=data.owners,
    )
