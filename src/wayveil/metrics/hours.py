"""When places and cells are busy, before and after: by hour of the day, or by equal parts of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.expected_counts import DECIMALS, share_of_cells
from wayveil.metrics.metric_base import OnPositions, OnVisits
from wayveil.metrics.movement import (
    cell_corner,
    cell_parameter,
    cell_side,
    check_comparable,
    finite,
    lines_of,
)
from wayveil.metrics.stats import counts_lost, largest, paired_bars, top_kept, total_variation
from wayveil.metrics.visits.aligned import check_times, hour_of_day
from wayveil.model import Boxes, Chart, Points, Score, TimeFormat, Visits, parameter
from wayveil.model.accumulators import Constant, Tally, side_by_side
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.lazy_module import lazy_module
from wayveil.model.numbers import count, measure, relative, share

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazy_module("polars")

__all__ = ["CellHours", "DayParts", "PlaceHours"]

Array = NDArray[Any]

_PARTS = 24
_DRAWN = 12
_THERE = 0.5  # somebody is still in a cell where at least so many trips are to be expected; counts are whole numbers
_AT_ONCE = 16_384  # boxes that are spread over cells at a time
_MOMENTS = 8  # at which it is looked in which part of the time a box lasts


@dataclass(frozen=True, kw_only=True)
class DayParts:
    """The parts into which times are cut: 24 hours of the day, or up to 24 equal parts of the original's time.

    Times of the published data before the first or after the last part belong to that part.

    Examples
    --------
    >>> parts = DayParts.of(np.array([10, 100]), "integer")
    >>> parts.labels[:2], parts.part(np.array([0, 10, 14, 999])).tolist()
    (('10-13', '14-17'), [0, 0, 1, 22])
    >>> DayParts.of(np.array([0]), "epoch").part(np.array([7200, 86_400])).tolist()
    [2, 0]
    """

    time_format: TimeFormat
    first: int
    last: int
    width: int

    @classmethod
    def of(cls, t: Array, time_format: TimeFormat) -> DayParts:
        """Return the parts for these times of the original."""
        first, last = (int(t.min()), int(t.max())) if len(t) else (0, 0)
        # Rounded up, so that 24 parts cover all of the time.
        return cls(time_format=time_format, first=first, last=last, width=-(-(last - first + 1) // _PARTS))

    def part(self, t: Array) -> Array:
        """Return the number of the part of each time."""
        if self.time_format != "integer":
            return hour_of_day(t, self.time_format)
        # The difference of two times can need 64 bits without a sign.
        since = (np.clip(t, self.first, self.last) - np.int64(self.first)).view(np.uint64)
        return (since // np.uint64(self.width)).astype(np.int64)

    @property
    def labels(self) -> tuple[str, ...]:
        """The parts as people read them."""
        if self.time_format != "integer":
            return tuple(str(hour) for hour in range(24))
        begins = range(self.first, self.last + 1, self.width)
        if self.width == 1:
            return tuple(str(begin) for begin in begins)
        return tuple(f"{begin}-{min(begin + self.width - 1, self.last)}" for begin in begins)

    @property
    def axis(self) -> str:
        """What the labels are."""
        if self.time_format == "integer":
            return "time"
        return "hour of the day" if self.time_format == "local" else "hour of the day (UTC)"

    def label(self, part: int) -> str:
        """Return one part as it stands beside a place."""
        return self.labels[part] if self.time_format == "integer" else f"{part} h"

    def chart(self, title: str, y_label: str, before: Array, after: Array) -> tuple[Chart, ...]:
        """Return counts per part before and after; no chart where the original has none."""
        if not before.any():
            return ()
        return (paired_bars(title, self.labels, before, after, x_label=self.axis, y_label=y_label),)


@dataclass(frozen=True, kw_only=True)
class PlaceHours(OnVisits):
    """How busy places are at each hour of the day, before and after.

    The visits of all days are counted per place and hour.  Where times are plain integers, the time of the original is
    cut into up to 24 equal parts instead.  The headline is the share of the visits that are gone, or at another place
    or hour: a loss that is even counts.  ``visits_moved_share`` is the total-variation distance of the two tables as
    shares of all visits, which does not see an even loss.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of busiest places and hours that are compared.

    Notes
    -----
    Hours are those of local time where times have no offset, else of UTC.  Places are matched by name.
    O(n log n) time at worst and O(n) memory for n visits.  What is counted in pieces is as long as there are places and
    hours, or different places and times where times are plain integers.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 0), ("b", 7200)], [("a", 60), ("b", 7260)]], time_format="epoch")
    >>> after = Visits.from_records([[("a", 0)], [("a", 60), ("b", 7260)]], time_format="epoch")
    >>> score = PlaceHours().run(before, after)
    >>> round(score.value, 3), score.measured["largest_error"]
    (0.25, 1)
    """

    top: int = parameter(
        kind="int", low=1, high=1000, default=20, help="number of busiest places and hours that are compared"
    )

    name: ClassVar[str] = "place_hours"
    summary: ClassVar[str] = "visits per place and hour of the day, before and after"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: visits per place and hour, or time if it is a number."""
        check_times(self.name, original, published)
        time_format = original.time_format
        before, after = (
            # Plain integers stay as they are: which part they belong to is known only when the first and last of all
            # blocks are.
            Tally.of(
                data.location,
                data.t if time_format == "integer" else hour_of_day(data.t, time_format),
                names=data.locations,
                named=1,
            )
            for data in (original, published)
        )
        return {"time_format": Constant(time_format), "before": before, "after": after}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        after = counts["after"]
        # The parts follow from the times of the original, all blocks together.
        parts = DayParts.of(before.columns[1], counts["time_format"].value)
        if parts.time_format == "integer":
            before, after = (_in_parts(side, parts) for side in (before, after))
        by_hour = [
            # Without places: how many visits there are at each hour.
            np.bincount(side.columns[1], weights=side.counts, minlength=len(parts.labels)).astype(np.int64)
            for side in (before, after)
        ]
        places_moved = total_variation(*side_by_side(before.only(0), after.only(0))[1:])
        table, before, after = side_by_side(before, after)
        error = np.abs(before - after)
        occurs = before > 0
        return Score(
            name=self.name,
            meaning="share of visits that are not published, or at another place or hour",
            value=counts_lost(before, after),
            better="lower",
            unit="share",
            numbers={
                "visits_before": count(int(before.sum()), "Visits before", "visits"),
                "visits_after": count(int(after.sum()), "Visits after", "visits"),
                "visits_moved_share": share(total_variation(before, after), "Share of visits moved"),
                "place_hours_before": count(int(occurs.sum()), "Places and hours with visits before"),
                "place_hours_after": count(int((after > 0).sum()), "Places and hours with visits after"),
                "place_hours_kept_share": share(
                    float((after[occurs] > 0).mean()) if occurs.any() else None, "Share of places and hours kept"
                ),
                "mean_error": count(float(error[occurs].mean()) if occurs.any() else None, "Mean error", "visits"),
                "mean_relative_error": relative(
                    float((error[occurs] / before[occurs]).mean()) if occurs.any() else None, "Mean relative error"
                ),
                "largest_error": count(int(error.max(initial=0)), "Largest error", "visits"),
                f"top_{self.top}_kept_share": share(
                    top_kept(before, after, self.top), f"Share kept of the {self.top} with most visits"
                ),
                "places_moved_share": share(places_moved, "Share of visits at another place"),
                "hours_moved_share": share(total_variation(*by_hour), "Share of visits at another hour"),
            },
            charts=(
                *parts.chart("Visits by time", "visits", *by_hour),
                *_largest_changes(
                    lambda top: _place_names(table, parts, top),
                    before,
                    after,
                    x_label=f"place and {parts.axis}",
                    y_label="visits",
                ),
            ),
        )


def _in_parts(side: Tally, parts: DayParts) -> Tally:
    """Return counts per place and time as counts per place and part of the time."""
    place, t = side.columns
    return replace(side, columns=(place, parts.part(t))).only(0, 1)


@dataclass(frozen=True, kw_only=True)
class CellHours(OnPositions):
    """How busy the cells of a grid are at each hour of the day, before and after.

    The plane is cut into square cells.  A trip is present in a cell at an hour of the day if it has a point there then,
    however many.  Where times are plain integers, the time of the original is cut into up to 24 equal parts instead.
    The headline is the share of the presences that are gone, or in another cell or hour: a loss that is even counts.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is about 1/16 of what the middle 95 % of the positions span, a round number.
    top : int, 1 to 1000
        Number of busiest cells and hours that are compared.

    Notes
    -----
    A published box counts in every cell and part of the time with the share of it that lies there; of several boxes of
    a trip the one with the largest share counts.  Cells lie at multiples of their side.  Trips and not points are
    counted, so the number of points that a trip has in a cell does not matter.  O(rows) time, and O(rows) memory; of
    boxes, O(cells in which they lie).

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (9, 0.0, 0.0)], [(0, 0.0, 0.0)], [(0, 16.0, 0.0)]])
    >>> after = Points.from_records([[(0, 0.0, 0.0)], [(0, 0.0, 0.0)], [(0, 16.0, 0.0)]])
    >>> score = CellHours().run(before, after)
    >>> score.measured["presences_before"], score.measured["presences_after"], round(score.value, 3)
    (4, 3, 0.25)
    """

    cell: float | str = cell_parameter()
    top: int = parameter(
        kind="int", low=1, high=1000, default=20, help="number of busiest cells and hours that are compared"
    )

    name: ClassVar[str] = "cell_hours"
    summary: ClassVar[str] = "trips per cell of a grid and hour of the day, before and after"

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Points | Boxes) -> Mapping[str, Any]:
        """Return trips by cell and part of the day."""
        check_comparable(self.name, original, published)
        # As with cells, the original alone decides.
        parts = DayParts.of(original.t, original.time_format)
        cell = cell_side(self.cell, original)
        corner = cell_corner(original, cell)
        before = _presences(original, parts, corner, cell)
        if isinstance(published, Boxes):
            after, rest = _expected_presences(published, parts, before, corner, cell)
        else:
            after, rest = _presences(published, parts, corner, cell), 0.0
        return {"cell": cell, "parts": parts, "table": _table(before, after), "rest": rest}

    def score(self, counts: Mapping[str, Any]) -> Score:
        cell = counts["cell"]
        parts = counts["parts"]
        table = counts["table"]
        before, after = (table[side].to_numpy() for side in ("before", "after"))
        by_hour = [_sums(table, "part", len(parts.labels), side) for side in ("before", "after")]
        # Boxes also say that somebody is where the original has nobody; this belongs to the sum.
        elsewhere = np.append(before, 0), np.append(after, counts["rest"])
        cells = table.group_by("column", "row", maintain_order=True).agg(pl.col("before").sum(), pl.col("after").sum())
        occurs = before > 0
        return Score(
            name=self.name,
            meaning="share of the trips in a cell at an hour that are not published, or in another cell or hour",
            value=counts_lost(*elsewhere),
            better="lower",
            unit="share",
            numbers={
                "cell_m": measure(finite(cell), "m", "Side of a cell"),
                "presences_before": count(int(before.sum()), "Presences before", "presences"),
                "presences_after": count(round(elsewhere[1].sum()), "Presences after", "presences"),
                "presences_moved_share": share(total_variation(*elsewhere), "Share of presences moved"),
                "cell_hours_before": count(int(occurs.sum()), "Cells and hours with presences before"),
                "cell_hours_after": count(int((after >= _THERE).sum()), "Cells and hours with presences after"),
                "cell_hours_kept_share": share(
                    float((after[occurs] >= _THERE).mean()) if occurs.any() else None, "Share of cells and hours kept"
                ),
                "largest_error": count(round(np.abs(before - after).max(initial=0)), "Largest error", "presences"),
                f"top_{self.top}_kept_share": share(
                    top_kept(before, after, self.top), f"Share kept of the {self.top} with most presences"
                ),
                "cells_moved_share": share(
                    total_variation(cells["before"].to_numpy(), cells["after"].to_numpy()),
                    "Share of presences in another cell",
                ),
                "hours_moved_share": share(total_variation(*by_hour), "Share of presences at another hour"),
            },
            charts=(
                *parts.chart("Trips in all cells by time", "presences", *by_hour),
                *_largest_changes(
                    lambda top: _cell_names(table, parts, top),
                    before,
                    after,
                    x_label=f"cell (column, row), counted from the south-west, and {parts.axis}",
                    y_label="trips",
                ),
            ),
        )


def _presences(data: Points, parts: DayParts, corner: tuple[float, float], cell: float) -> pl.DataFrame:
    """Return how many trajectories are in each cell in each part of the time."""
    column = lines_of(data.x, corner[0], cell)
    row = lines_of(data.y, corner[1], cell)
    part = parts.part(data.t)
    # A trip counts once per cell and part, however many of its points lie there.
    presences = pl.DataFrame({"trip": trajectory_of_row(data.offsets), "column": column, "row": row, "part": part})
    return presences.unique().group_by("column", "row", "part").agg(pl.len().cast(pl.Int64).alias("count"))


def _expected_presences(
    data: Boxes, parts: DayParts, before: pl.DataFrame, corner: tuple[float, float], cell: float
) -> tuple[pl.DataFrame, float]:
    """Return how many trajectories are to be expected where the original has somebody, and how many elsewhere.

    A box is in a cell with the share of its area there, and in a part of the time with the share of its time.
    """
    cells = before.select("column", "row").unique().sort("column", "row").to_numpy().astype(np.int64).reshape(-1, 2)
    likely = []
    whole = 0.0
    # A wide box lies in hundreds of cells, so only some trips are spread over cells at a time.
    for some in _some_trips(data.offsets):
        spots = _spots(data, some, cells, corner, cell)
        times = _times_of_boxes(data, some, parts)
        both = times.join(spots, on="box")
        # Of one trip, several boxes may lie in one cell in one part: the likeliest counts, not their sum, which could
        # be more than one presence.
        of_trip = both.group_by("trip", "part", "cell").agg((pl.col("time") * pl.col("share")).max().alias("share"))
        likely.append(of_trip.group_by("part", "cell").agg(pl.col("share").sum()))
        # Of each trip and part there is one presence at least; what of it is in no cell of the original is elsewhere.
        whole += float(times.group_by("trip", "part").agg(pl.col("time").max())["time"].sum())
    presences = (
        pl.concat(likely)
        .group_by("part", "cell")
        .agg(pl.col("share").sum().round(DECIMALS).alias("count"))
        .sort("cell", "part")
    )
    at = presences["cell"].to_numpy()
    table = presences.select(column=pl.Series(cells[at, 0]), row=pl.Series(cells[at, 1]), part="part", count="count")
    # Only where the original has somebody; all other expected presences are the rest.
    matched = table.join(before.select("column", "row", "part"), on=["column", "row", "part"], how="semi")
    return matched, max(0.0, round(whole - float(matched["count"].sum()), DECIMALS))


def _some_trips(offsets: Array) -> Iterator[slice]:
    """Yield the rows of a few trips at a time, so many that they are about `_AT_ONCE`; at least once, for no trips."""
    # Cuts between trips, at about every `_AT_ONCE` rows: a trip is never cut in two.
    cuts = np.searchsorted(offsets, np.arange(_AT_ONCE, int(offsets[-1]), _AT_ONCE))
    ends = np.unique(np.append(offsets[cuts], offsets[-1])).tolist()
    for first, last in pairwise([0, *ends]):
        yield slice(first, last)


def _spots(data: Boxes, some: slice, cells: Array, corner: tuple[float, float], cell: float) -> pl.DataFrame:
    """Return in which cells these boxes are, and with which share of their area."""
    x = (data.x_min[some] - corner[0]) / cell, (data.x_max[some] - corner[0]) / cell
    y = (data.y_min[some] - corner[1]) / cell, (data.y_max[some] - corner[1]) / cell
    shares = share_of_cells(cells[:, 0], cells[:, 1], x, y)
    return pl.DataFrame({"box": shares.area, "cell": shares.cell, "share": shares.share})


def _times_of_boxes(data: Boxes, some: slice, parts: DayParts) -> pl.DataFrame:
    """Return in which parts of the time these boxes are, with which share of their time, and whose they are."""
    begin = data.t_min[some]
    lasts = (data.t_max[some] - begin).view(np.uint64)  # the difference of two times fits without a sign
    # Eight moments of a box, evenly spread, stand for all of its time: the share of these in a part of the day is its
    # share.
    steps = [lasts // np.uint64(_MOMENTS) * np.uint64(i) for i in range(_MOMENTS)]
    times = pl.DataFrame(
        {
            "box": np.tile(np.arange(len(begin)), _MOMENTS),
            "part": np.concatenate([parts.part(begin + step.view(np.int64)) for step in steps]),
        }
    )
    times = times.group_by("box", "part").agg((pl.len() / _MOMENTS).alias("time"))
    rows = np.arange(some.start, some.stop)
    trip = pl.DataFrame({"box": rows - some.start, "trip": np.searchsorted(data.offsets, rows, side="right")})
    return times.join(trip, on="box")


def _table(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return the counts of both side by side, in the order of cells and times."""
    keys = ["column", "row", "part"]
    both = before.rename({"count": "before"}).join(after.rename({"count": "after"}), on=keys, how="full", coalesce=True)
    return both.fill_null(0).sort(keys)


def _sums(table: pl.DataFrame, key: str, n: int, side: str) -> Array:
    return np.bincount(table[key].to_numpy(), weights=table[side].to_numpy(), minlength=n).astype(np.int64)


def _largest_changes(
    name: Callable[[Array], Iterable[tuple[str, str]]], before: Array, after: Array, *, x_label: str, y_label: str
) -> tuple[Chart, ...]:
    """Return the counts that changed the most; `name` says of which place and time those at some positions are."""
    top = largest(np.abs(before - after), _DRAWN)
    if not len(top) or not before.any():
        return ()
    title = f"The {len(top)} largest changes" if len(top) > 1 else "The largest change"
    names = list(name(top))
    labels = tuple(f"{place} @ {time}" for place, time in names)
    return (paired_bars(title, labels, before[top], after[top], x_label=x_label, y_label=y_label, names=names),)


def _place_names(table: Tally, parts: DayParts, top: Array) -> list[tuple[str, str]]:
    rows = zip(*(column[top].tolist() for column in table.columns), strict=True)
    return [(table.names[place], parts.label(part)) for place, part in rows]


def _cell_names(table: pl.DataFrame, parts: DayParts, top: Array) -> list[tuple[str, str]]:
    rows = table.select("column", "row", "part").to_numpy()[top].tolist()
    return [(f"({column}, {row})", parts.label(part)) for column, row, part in rows]
