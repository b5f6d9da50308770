"""Grid: positions become visits to square cells, one per bucket of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Points, Step, Trips, Visits, check_parameters, duration_units, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.model.data.trips import DESTINATION, TripEnds

__all__ = ["Grid"]

_LARGEST_CELL_NUMBER = 2.0**53  # beyond it neighbouring numbers are one float


@dataclass(frozen=True, kw_only=True)
class Grid(Step):
    """Replace positions by the square cell they lie in, and keep one visit of each trajectory in each time bucket.

    Methods for visits, such as `kcl`, need places that people share; two positions are hardly ever the same.

    Parameters
    ----------
    cell : float, > 0
        Side of a cell in metres.
    bucket : str
        Width of a bucket of time: a duration such as "15min" or "1h"; for times that are plain integers a positive
        integer, in their unit.  For epoch seconds an integer means seconds.
    keep : {"first", "last", "longest"}
        Which cell of a trajectory to keep in a bucket: that of the first point, that of the last, or that with most
        time.  A point stands for the time until the next point of its trajectory or the end of its bucket, whichever
        comes first; the last point of a trajectory stands for none.  Of equal times the cell that was met first.

    Notes
    -----
    Cell (i, j) has the name ``x<i>_y<j>`` and holds the points with ``i * cell <= x < (i + 1) * cell``, the same for y,
    in the metres of the frame.  So cells lie at multiples of `cell`, not at the smallest coordinate of the data; for
    planar coordinates two files have the same cells, for degrees if they have the same frame.  Buckets start at 0, as
    in `bucket`.  O(points) time and memory for "first" and "last", with a sort more for "longest".

    Guarantee
    ---------
    None: cells are easier to hide in than points, but hide nobody by themselves.

    Examples
    --------
    >>> data = Points.from_records([[(0, 10.0, 10.0), (1, 120.0, -5.0), (9, 130.0, -1.0), (12, 0.0, 0.0)]])
    >>> visits, notes = Grid(cell=100, bucket=10).run(data)
    >>> visits.record(0)
    [('x0_y0', 0), ('x0_y0', 10)]
    >>> Grid(cell=100, bucket=10, keep="longest").run(data)[0].record(0)
    [('x1_y-1', 0), ('x0_y0', 10)]
    >>> notes
    ('4 points became 2 visits to 1 cell of 100 m, by 10.',)
    """

    cell: float = parameter(kind="number", low=0, help="side of a cell in metres, more than 0")
    bucket: str = parameter(kind="duration", help="width of a bucket of time")
    keep: str = parameter(
        kind="choice",
        choices=("first", "last", "longest"),
        default="first",
        help="which cell of a bucket to keep: the first, the last, or the one with most time",
    )

    name: ClassVar[str] = "grid"
    summary: ClassVar[str] = "turn points into visits to square cells, one of each trajectory in each time bucket"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Trips], ...]] = (Trips,)

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.cell == 0:
            raise ParameterError("grid: cell must be greater than 0, got 0. Cells without a size hold no points.")

    def run(self, data: Points | Trips) -> tuple[Visits, tuple[str, ...]]:
        """Return the visits, and notes that count them; trips stay trips, and both of their ends stay."""
        width = duration_units(self.name, "bucket", self.bucket, data.time_format)
        limits = np.iinfo(np.int64)
        if data.n_rows and not limits.min + width <= data.t.min() <= data.t.max() <= limits.max - width:
            raise InputError("grid: a time is too close to the limits of 64-bit integers; shift the times.")
        if isinstance(data, Trips):
            return self._run_on_trips(data, width)
        column = self._numbers(data.x)
        line = self._numbers(data.y)
        # Floor division, also of negative times: buckets begin at multiples of the width.
        bucket = data.t // width * width
        trajectory = trajectory_of_row(data.offsets)
        begins = _changes(trajectory, bucket)
        if self.keep == "longest":
            lasts = np.zeros(data.n_rows, np.int64)
            # A position lasts until the next one of the same trajectory, but not beyond its bucket; the last one lasts
            # no time.
            same = trajectory[1:] == trajectory[:-1]
            lasts[:-1][same] = (np.minimum(data.t[1:], bucket[:-1] + width) - data.t[:-1])[same]
            rows = _longest(np.cumsum(begins), column, line, lasts)
        else:
            # The last row of a group is the one before the next group begins.
            rows = np.flatnonzero(begins if self.keep == "first" else np.roll(begins, -1))
        code, cells = _named(column[rows], line[rows])
        names = tuple(f"x{at}_y{on}" for at, on in cells.tolist())
        visits = Visits(
            offsets=offsets_of(np.bincount(trajectory[rows], minlength=len(data))),
            location=code,
            t=bucket[rows],
            locations=names,
            owner=data.owner,
            attributes=data.attributes,
            time_format=data.time_format,
            owners=data.owners,
            # A cell is placed at its middle.
            place_x=(cells[:, 0] + 0.5) * self.cell,
            place_y=(cells[:, 1] + 0.5) * self.cell,
            place_frame=data.frame,
        )
        note = f"{len(names):,} cell{'s' * (len(names) != 1)} of {self.cell:g} m"
        return visits, (f"{data.n_rows:,} points became {visits.n_rows:,} visits to {note}, by {self.bucket}.",)

    def _run_on_trips(self, data: Trips, width: int) -> tuple[Trips, tuple[str, ...]]:
        """Return the trips between cells."""
        if data.place_x is None or data.place_y is None:
            raise InputError(
                "grid: it is not known where the places of the trips are; name the columns origin_x, origin_y, "
                "destination_x and destination_y with --columns, or give a table of places with --places."
            )
        code, cells = _named(self._numbers(data.place_x), self._numbers(data.place_y))
        names = tuple(f"x{at}_y{on}" for at, on in cells.tolist())
        # Names of places of a trip begin with the end that they are.
        arrives = np.array([name.startswith(DESTINATION) for name in data.locations], np.bool_)
        trip = trajectory_of_row(data.offsets)
        ends = {name: np.full(len(data), -1, np.int64) for name in ("origin", "destination")}
        times = {name: np.zeros(len(data), np.int64) for name in ("t_start", "t_end")}
        for place, t, rows in (
            ("origin", "t_start", np.flatnonzero(~arrives[data.location])),
            ("destination", "t_end", np.flatnonzero(arrives[data.location])),
        ):
            ends[place][trip[rows]] = code[data.location[rows]]
            times[t][trip[rows]] = data.t[rows] // width * width
        trips = Trips.of_ends(
            TripEnds(places=names, **ends, **times),
            owner=data.owner,
            attributes=data.attributes,
            time_format=data.time_format,
            owners=data.owners,
            positions=((cells[:, 0] + 0.5) * self.cell, (cells[:, 1] + 0.5) * self.cell),
            frame=data.place_frame,
        )
        note = f"{len(names):,} cell{'s' * (len(names) != 1)} of {self.cell:g} m"
        return trips, (f"The ends of {len(data):,} trips were put into {note}, by {self.bucket}.",)

    def _numbers(self, coordinate: FloatArray) -> IntArray:
        with np.errstate(over="ignore"):
            number = np.floor(coordinate / self.cell)
        if (np.abs(number) > _LARGEST_CELL_NUMBER).any():
            raise InputError(
                f"grid: cells of {self.cell:g} m are too small for coordinates as large as these; choose a larger cell."
            )
        return number.astype(np.int64)


def _changes(*columns: IntArray) -> np.ndarray:
    """Return which rows differ from the row before in any of the columns; the first row does."""
    change = np.ones(len(columns[0]), np.bool_)
    change[1:] = False
    for column in columns:
        change[1:] |= column[1:] != column[:-1]
    return change


def _longest(group: IntArray, column: IntArray, line: IntArray, lasts: IntArray) -> IntArray:
    """Return, for each group of rows, the first row of the cell with the largest sum; groups are in order."""
    # Stretches of rows in one cell; then stretches of the same cell in a group together, with the sum of their times.
    stretch = np.flatnonzero(_changes(group, column, line))
    lasts = np.add.reduceat(lasts, stretch)
    order = np.lexsort((line[stretch], column[stretch], group[stretch]))
    first = stretch[order]
    heads = np.flatnonzero(_changes(group[first], column[first], line[first]))
    total = np.add.reduceat(lasts[order], heads)
    first = first[heads]
    # In each group the largest total, of equals the earliest row.
    best = np.lexsort((first, -total, group[first]))
    return first[best[_changes(group[first[best]])]]


def _named(column: IntArray, line: IntArray) -> tuple[IntArray, IntArray]:
    """Return a code per row, and the numbers (column, line) behind the codes, in their order."""
    columns, i = np.unique(column, return_inverse=True)
    lines, j = np.unique(line, return_inverse=True)
    # Numbers of cells can be large; ranks of columns and lines fit into one integer together.
    cells, code = np.unique(i * max(len(lines), 1) + j, return_inverse=True)
    width = max(len(lines), 1)
    return code, np.stack([columns[cells // width], lines[cells % width]], axis=1)
