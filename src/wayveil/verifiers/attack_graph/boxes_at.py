"""Which published boxes known positions are in, time by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.verifiers.common.containment import exact_m
from wayveil.verifiers.common.index_ranges import chunks, distinct, expand
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget

__all__ = ["MOST_ENTRIES", "Shapes", "Spots", "crowd_bounds", "hits"]

MOST_ENTRIES = 50_000_000
"""Boxes at all known times, beyond which nothing is certain; and pairs of a position and a box around it that are held
in memory at once."""

_GRID_CELLS = 4_000_000
"""Cells of all times together in which boxes are counted."""

_TABLE_ROWS = 30_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Spots:
    """Distinct known positions; `time` is the place of the time of each in `times`, which are all there are."""

    times: IntArray
    time: IntArray
    x: FloatArray
    y: FloatArray

    def __len__(self) -> int:
        return len(self.time)

    def take(self, chosen: IntArray) -> Spots:
        """Return some of them, in this order; times keep their places."""
        return Spots(times=self.times, time=self.time[chosen], x=self.x[chosen], y=self.y[chosen])

    @classmethod
    def of(cls, original: Points, rows: IntArray) -> tuple[Spots, IntArray]:
        """Return the spots of these rows, and the spot of each row."""
        t = original.t[rows]
        x = original.x[rows]
        y = original.y[rows]
        code, first = _codes([t, x, y])
        times = distinct(t)
        return cls(times=times, time=np.searchsorted(times, t[first]), x=x[first], y=y[first]), code


@dataclass(frozen=True, kw_only=True, eq=False)
class Shapes:
    """Distinct boxes at each of the times that matter, and the trajectories that have them.

    Parameters
    ----------
    time : int64, one per shape
        The place of its time among the times.
    west, east, south, north : float64
        Its sides, with the tolerance.
    starts, member : int64
        Shape `s` is that of the trajectories ``member[starts[s]:starts[s + 1]]``, each once.
    trajectories, n_times : int
        Number of trajectories and of times.
    single : bool
        Whether no trajectory has two shapes at a time.
    key, at : int64
        All pairs of trajectory and time (trajectory * n_times + time), ascending, and the shape of each.
    table : int64 or None
        Where each pair of trajectory and time begins in `key`, if there are few enough.
    """

    time: IntArray
    west: FloatArray
    east: FloatArray
    south: FloatArray
    north: FloatArray
    starts: IntArray
    member: IntArray
    trajectories: int
    n_times: int
    single: bool
    key: IntArray
    at: IntArray
    table: IntArray | None

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def of(cls, data: Boxes, number: IntArray, times: IntArray, n: int, steps: StepBudget) -> Shapes:
        """Return the shapes of the trajectories that have a `number`, from 0 to n - 1."""
        owner = number[trajectory_of_row(data.offsets)]
        since = np.searchsorted(times, data.t_min, side="left")
        lengths = np.searchsorted(times, data.t_max, side="right") - since
        rows = np.flatnonzero(lengths > 0)  # every box is of a published trajectory, so it has a number
        entries = int(lengths[rows].sum())
        steps.consume(entries)
        if entries > MOST_ENTRIES:
            raise BudgetExceeded
        sides = [column[rows] for column in (data.x_min, data.x_max, data.y_min, data.y_max)]
        outline, example = _codes(sides)
        time, box = expand(since[rows], lengths[rows])
        outlines, shape = np.unique(time * max(1, len(example)) + outline[box], return_inverse=True)
        shape_time, shape_outline = np.divmod(outlines, max(1, len(example)))
        shape, member = np.divmod(distinct(shape * max(1, n) + owner[rows][box]), max(1, n))

        key = member * len(times) + shape_time[shape]
        order = np.argsort(key, kind="stable")
        key = key[order]
        cells = n * len(times)
        table = offsets_of(np.bincount(key, minlength=cells)).astype(np.int32) if cells <= _TABLE_ROWS else None
        slack = exact_m(data)
        west, east, south, north = (side[example[shape_outline]] for side in sides)
        return cls(
            time=shape_time,
            west=west - slack,
            east=east + slack,
            south=south - slack,
            north=north + slack,
            starts=offsets_of(np.bincount(shape, minlength=len(outlines))),
            member=member,
            trajectories=n,
            n_times=len(times),
            single=not (key[1:] == key[:-1]).any(),
            key=key,
            at=shape[order],
            table=table,
        )

    def inside(self, shape: IntArray, spots: Spots, spot: IntArray) -> BoolArray:
        """Tell whether spots are between the sides of shapes, pair by pair."""
        x = spots.x[spot]
        y = spots.y[spot]
        is_inside: BoolArray = (self.west[shape] <= x) & (x <= self.east[shape])
        is_inside &= (self.south[shape] <= y) & (y <= self.north[shape])
        return is_inside

    def cover(self, trajectory: IntArray, spots: Spots, spot: IntArray) -> BoolArray:
        """Tell whether trajectories have a shape at the time of spots that these are in, pair by pair."""
        keys = trajectory * self.n_times + spots.time[spot]
        if self.table is not None:
            begin = self.table[keys].astype(np.int64)
            end = self.table[keys + 1]
        else:
            begin, end = (np.searchsorted(self.key, keys, side=side) for side in ("left", "right"))
        is_covered = np.zeros(len(keys), bool)
        open_ = np.flatnonzero(begin < end)
        # Before each round no shape before `begin` has the spot in it, for all pairs that are open.  A round looks at
        # one shape of each open pair; a pair is closed when it was a hit or the trajectory has no more shapes at that
        # time.
        while len(open_):
            is_covered[open_] = self.inside(self.at[begin[open_]], spots, spot[open_])
            begin[open_] += 1
            open_ = open_[~is_covered[open_] & (begin[open_] < end[open_])]
        return is_covered


def hits(spots: Spots, shapes: Shapes, steps: StepBudget) -> tuple[IntArray, IntArray]:
    """Return (starts, shape): spot `i` is in the shapes ``shape[starts[i]:starts[i + 1]]``, ascending, and in no other.

    For every shape, the spots of its time are looked at that are between its west and east side, or between its south
    and north side if these are fewer.  BudgetExceeded if there are more than `MOST_ENTRIES` pairs.
    """
    # Shapes are in the order of their times, so those of all times of the spots are between two of them.
    since, until = np.searchsorted(shapes.time, [spots.time.min(initial=0), spots.time.max(initial=-1) + 1])
    near = slice(since, max(since, until))
    axes = [_between(spots, shapes, near, *axis) for axis in (("x", "west", "east"), ("y", "south", "north"))]
    fewer = axes[0][2] - axes[0][1] <= axes[1][2] - axes[1][1]
    pair_keys = [np.zeros(0, np.int64)]
    pair_budget = StepBudget(MOST_ENTRIES)
    # Each shape is served by the axis along which fewer spots are in question.  Work and hits are both budgeted: a
    # hostile file may have many of either.
    for (order, low, high), chosen in zip(axes, (fewer, ~fewer), strict=True):
        listed = np.flatnonzero(chosen & (low < high))
        for part in chunks((high - low)[listed]):
            shape = listed[part]
            at, which = expand(low[shape], (high - low)[shape])
            steps.consume(len(at))
            spot = order[at]
            shape = shape[which] + since
            hit = shapes.inside(shape, spots, spot)
            pair_budget.consume(int(hit.sum()))
            pair_keys.append(spot[hit] * len(shapes) + shape[hit])
    pairs = np.concatenate(pair_keys)
    pairs.sort()
    spot, shape = np.divmod(pairs, max(1, len(shapes)))
    return offsets_of(np.bincount(spot, minlength=len(spots))), shape


def crowd_bounds(spots: Spots, shapes: Shapes) -> IntArray:
    """Return for every spot a number that the trajectories with a shape around it, once for each shape, do not exceed.

    Shapes of a time are counted in all cells of a grid that they touch; a spot is in no other shape than those that
    touch its cell.  The sides are rounded to cells by one rule, so a side west of a spot stays west of it or comes into
    its cell.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 9.0, 9.0)]])
    >>> boxes = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 0.0)], [(0, 0, 0.0, 9.0, 0.0, 9.0)]])
    >>> spots, _ = Spots.of(truth, np.arange(2))
    >>> crowd_bounds(spots, Shapes.of(boxes, np.arange(2), spots.times, 2, StepBudget(9))).tolist()
    [2, 1]
    """
    n_times = max(1, len(spots.times))
    side = min(256, max(1, int((_GRID_CELLS / n_times) ** 0.5)))
    size = np.diff(shapes.starts).astype(np.float64)
    columns = [_cells(spots.x, values, side) for values in (shapes.west, shapes.east, spots.x)]
    rows = [_cells(spots.y, values, side) for values in (shapes.south, shapes.north, spots.y)]
    # Four corners of every shape; summed up along both axes they are its rectangle of cells.  One more row and column
    # of cells take what ends beyond the last.
    wide = side + 1
    counts = np.zeros(n_times * wide * wide)
    for column, row, sign in (
        (columns[0], rows[0], 1.0),
        (columns[1] + 1, rows[0], -1.0),
        (columns[0], rows[1] + 1, -1.0),
        (columns[1] + 1, rows[1] + 1, 1.0),
    ):
        counts += np.bincount((shapes.time * wide + row) * wide + column, weights=sign * size, minlength=len(counts))
    grid = counts.reshape(n_times, wide, wide)
    np.cumsum(grid, axis=1, out=grid)
    np.cumsum(grid, axis=2, out=grid)
    bound: IntArray = np.rint(grid[spots.time, rows[2], columns[2]]).astype(np.int64)
    return bound


def _cells(values: FloatArray, sides: FloatArray, many: int) -> IntArray:
    """Return in which of so many equal parts of the range of some values others are, or the nearest part."""
    if not len(values):
        return np.zeros(len(sides), np.int64)
    with np.errstate(over="ignore"):
        low = float(values.min())
        width = max(float(values.max()) - low, float(np.finfo(np.float64).tiny)) / many
        if not np.isfinite(width):  # as far apart as numbers can be: one part for all
            return np.zeros(len(sides), np.int64)
        cell: IntArray = np.clip(np.floor((sides - low) / width), 0, many - 1).astype(np.int64)
    return cell


def _between(
    spots: Spots, shapes: Shapes, near: slice, axis: str, low: str, high: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Return spots by time and one coordinate, and the range of them between two sides, for every shape of a slice."""
    values = getattr(spots, axis)
    ranked = distinct(values)
    width = len(ranked) + 1
    key = spots.time * width + np.searchsorted(ranked, values)
    order = np.argsort(key, kind="stable")
    base = shapes.time[near] * width
    key = key[order]
    begin = np.searchsorted(key, base + np.searchsorted(ranked, getattr(shapes, low)[near], side="left"))
    end = np.searchsorted(key, base + np.searchsorted(ranked, getattr(shapes, high)[near], side="right"))
    return order, begin, end


def _codes(columns: Sequence[IntArray | FloatArray]) -> tuple[IntArray, IntArray]:
    """Return a code for every row, equal for rows that are equal in all columns, and the first row of each code."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        _, first, code = np.unique(code * len(values) + place, return_index=True, return_inverse=True)
    return code, first
