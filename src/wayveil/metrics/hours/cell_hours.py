"""How many trips are in a part of the plane at an hour of the day, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wayveil.metrics.distances import top_kept, total_variation
from wayveil.metrics.hours.grid_cells import cell_parameter, cell_side, lines_of
from wayveil.metrics.hours.hours import DayParts
from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import bounding_box, centres, check_comparable, finite
from wayveil.metrics.roads.road_counts import largest
from wayveil.model import Chart, Points, Regions, Score, Series, parameter
from wayveil.model.ragged import trajectory_of_row

__all__ = ["CellHours"]

Array = NDArray[Any]

_DRAWN = 12


@dataclass(frozen=True, kw_only=True)
class CellHours(OnPositions):
    """How busy the cells of a grid are at each hour of the day, before and after.

    The plane is cut into square cells.  A trip is present in a cell at an hour of the day if it has a point there then,
    however many.  Where times are plain integers, the time of the original is cut into up to 24 equal parts instead.
    The headline is the total-variation distance of the two tables as shares of all presences.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is 1/16 of the longer side of the bounding box of the original.
    top : int, 1 to 1000
        Number of busiest cells and hours that are compared.

    Notes
    -----
    Boxes stand for the middle of their place and of their time.  Trips and not points are counted, so the number of
    points that a trip has in a cell does not matter.  O(rows) time, and O(rows) memory.

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
    def count(self, original: Points, published: Points | Regions) -> Mapping[str, Any]:
        """Return trips by cell and part of the day."""
        check_comparable(self.name, original, published)
        parts = DayParts.of(original.t, original.time_format)
        cell = cell_side(self.cell, original)
        sides = [_presences(data, parts, original, cell) for data in (original, published)]
        return {"cell": cell, "parts": parts, "table": _table(*sides)}

    def score(self, counts: Mapping[str, Any]) -> Score:
        cell, parts, table = counts["cell"], counts["parts"], counts["table"]
        before, after = (table[side].to_numpy() for side in ("before", "after"))
        by_hour = [_sums(table, "part", len(parts.labels), side) for side in ("before", "after")]
        cells = table.group_by("column", "row", maintain_order=True).agg(pl.col("before").sum(), pl.col("after").sum())
        there = before > 0
        return Score(
            name=self.name,
            meaning="share of presences that would need another cell or hour to give the original counts",
            value=total_variation(before, after),
            better="lower",
            percent=True,
            measured={
                "cell_m": finite(cell),
                "presences_before": int(before.sum()),
                "presences_after": int(after.sum()),
                "cell_hours_before": int(there.sum()),
                "cell_hours_after": int((after > 0).sum()),
                "cell_hours_kept_share": float((after[there] > 0).mean()) if there.any() else None,
                "largest_error": int(np.abs(before - after).max(initial=0)),
                f"top_{self.top}_kept_share": top_kept(before, after, self.top),
                "cells_moved_share": total_variation(cells["before"].to_numpy(), cells["after"].to_numpy()),
                "hours_moved_share": total_variation(*by_hour),
            },
            charts=(
                *parts.chart("Trips in all cells by time", "presences", *by_hour),
                *_worst(table, parts, before, after),
            ),
        )


def _presences(data: Points | Regions, parts: DayParts, original: Points, cell: float) -> pl.DataFrame:
    """Return how many trajectories are in each cell in each part of the time."""
    box = bounding_box(original) or (0.0, 0.0, 0.0, 0.0)
    _, x, y = centres(data)
    t_min, t_max, *_ = data.boxes()
    t = t_min + (t_max - t_min) // 2
    column, row = lines_of(x, box[0], cell), lines_of(y, box[2], cell)
    found = pl.DataFrame({"trip": trajectory_of_row(data.offsets), "column": column, "row": row, "part": parts.part(t)})
    return found.unique().group_by("column", "row", "part").agg(pl.len().cast(pl.Int64).alias("count"))


def _table(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return the counts of both side by side, in the order of cells and times."""
    keys = ["column", "row", "part"]
    both = before.rename({"count": "before"}).join(after.rename({"count": "after"}), on=keys, how="full", coalesce=True)
    return both.fill_null(0).sort(keys)


def _sums(table: pl.DataFrame, key: str, n: int, side: str) -> Array:
    return np.bincount(table[key].to_numpy(), weights=table[side].to_numpy(), minlength=n).astype(np.int64)


def _worst(table: pl.DataFrame, parts: DayParts, before: Array, after: Array) -> tuple[Chart, ...]:
    """Return the cells and hours whose counts changed the most."""
    top = largest(np.abs(before - after), _DRAWN)
    if not len(top) or not before.any():
        return ()
    places = table.select("column", "row", "part").to_numpy()[top].tolist()
    return (
        Chart(
            title=f"The {len(top)} largest changes" if len(top) > 1 else "The largest change",
            kind="bars",
            labels=tuple(f"({column}, {row}) @ {parts.label(part)}" for column, row, part in places),
            series=(
                Series(name="original", values=tuple(before[top].astype(float).tolist())),
                Series(name="published", values=tuple(after[top].astype(float).tolist())),
            ),
            x_label=f"cell (column, row), counted from the south-west, and {parts.axis}",
            y_label="trips",
        ),
    )
