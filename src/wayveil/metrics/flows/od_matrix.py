"""From where to where people go: the origin-destination matrix, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.distances import largest, top_kept, total_variation
from wayveil.metrics.hours.grid_cells import cell_parameter, cell_side, lines_of
from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import bounding_box, centres, check_comparable, finite, with_rows
from wayveil.model import Chart, Points, Regions, Score, Series, parameter

__all__ = ["OdMatrix"]

Array = NDArray[Any]

_DRAWN = 12


@dataclass(frozen=True, kw_only=True)
class OdMatrix(OnPositions):
    """How the trips are spread over pairs of an origin and a destination, before and after.

    The plane is cut into square cells.  A flow is the number of trajectories that begin in one cell and end in another
    (or the same).  The headline is the total-variation distance of the flows as shares of all trips: the share of trips
    that would have to be given another origin or destination to turn one matrix into the other.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is 1/16 of the longer side of the bounding box of the original.
    top : int, 1 to 1000
        Number of largest flows that are compared.

    Notes
    -----
    Boxes stand for their centres.  A trajectory with a single row begins and ends there; one without rows is left out.
    O(rows + n log n) time for n trajectories.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (9, 95.0, 0.0)], [(0, 5.0, 0.0), (9, 99.0, 0.0)]])
    >>> after = Points.from_records([[(0, 0.0, 0.0), (9, 95.0, 0.0)], [(0, 5.0, 0.0), (9, 89.0, 0.0)]])
    >>> OdMatrix(cell=10).run(before, after).value
    0.5
    """

    cell: float | str = cell_parameter()
    top: int = parameter(kind="int", low=1, high=1000, default=20, help="number of largest flows that are compared")

    name: ClassVar[str] = "od_matrix"
    summary: ClassVar[str] = "origins and destinations of trips, before and after"

    @np.errstate(over="ignore", invalid="ignore")
    def run(self, original: Points, published: Points | Regions) -> Score:
        check_comparable(self.name, original, published)
        box = bounding_box(original) or (0.0, 0.0, 0.0, 0.0)
        cell = cell_side(self.cell, original)
        ends = [_ends(data, box[0], box[2], cell) for data in (original, published)]
        flows, before, after = _counts(*ends)
        origins, destinations = (_counts(ends[0][:, part], ends[1][:, part])[1:] for part in ([0, 1], [2, 3]))
        return Score(
            name=self.name,
            meaning="share of trips that would need another origin or destination to give the original matrix",
            value=total_variation(before, after),
            better="lower",
            percent=True,
            measured={
                "cell_m": finite(cell),
                "trips_before": int(before.sum()),
                "trips_after": int(after.sum()),
                "flows_before": int((before > 0).sum()),
                "flows_after": int((after > 0).sum()),
                "flows_kept_share": float((after[before > 0] > 0).mean()) if before.any() else None,
                f"top_{self.top}_flows_kept_share": top_kept(before, after, self.top),
                "origins_moved_share": total_variation(*origins),
                "destinations_moved_share": total_variation(*destinations),
            },
            charts=_charts(flows, before, after),
        )


def _ends(data: Points | Regions, x_0: float, y_0: float, cell: float) -> Array:
    """Return column and row of the origin's and of the destination's cell, for each trajectory with rows."""
    _, x, y = centres(data)
    there = with_rows(data)
    first, last = data.offsets[:-1][there], data.offsets[1:][there] - 1
    columns, rows = lines_of(x, x_0, cell), lines_of(y, y_0, cell)
    return np.stack([columns[first], rows[first], columns[last], rows[last]], axis=1)


def _counts(before: Array, after: Array) -> tuple[Array, Array, Array]:
    """Return the different rows of both, and how often each occurs before and after."""
    both = np.concatenate([before, after])
    code = np.zeros(len(both), np.int64)
    for column in both.T:  # the codes of all columns so far are made dense, so that the next one cannot overflow them
        values, where = np.unique(column, return_inverse=True)
        code = np.unique(code * len(values) + where, return_inverse=True)[1]
    _, example, code = np.unique(code, return_index=True, return_inverse=True)
    counts = [np.bincount(part, minlength=len(example)) for part in (code[: len(before)], code[len(before) :])]
    return both[example], counts[0], counts[1]


def _charts(flows: Array, before: Array, after: Array) -> tuple[Chart, ...]:
    top = largest(before, _DRAWN)
    if not len(top):
        return ()
    return (
        Chart(
            title=f"The {len(top)} largest flows" if len(top) > 1 else "The largest flow",
            kind="bars",
            labels=tuple(f"({a}, {b}) → ({c}, {d})" for a, b, c, d in flows[top].tolist()),
            series=(
                Series(name="original", values=tuple(before[top].astype(float).tolist())),
                Series(name="published", values=tuple(after[top].astype(float).tolist())),
            ),
            x_label="from cell to cell (column, row), counted from the south-west",
            y_label="trips",
        ),
    )
