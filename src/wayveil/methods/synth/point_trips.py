"""From points to a noisy model over cells, and from the model to synthetic points."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, log10

import numpy as np

from wayveil.kernels.synth.cell_paths import trace_cells
from wayveil.methods.synth.adaptive_grid import CellGrid, coarse_side, refine_grid
from wayveil.methods.synth.noisy_model import Budget, fit_total
from wayveil.methods.synth.person_shares import split_shares
from wayveil.methods.synth.point_model import LONGEST, CellTrips, PointModel, learn_points
from wayveil.methods.synth.public_area import Area, find_area
from wayveil.methods.synth.start_times import StartTimes
from wayveil.methods.synth.visit_model import tally_shares
from wayveil.model import Engine, Frame, Points, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, offsets_of, trajectory_of_row

__all__ = ["draw_point_trips"]

_FOR_GRID = Fraction(1, 8)
_ROUNDS = 4
_TRIALS = 1000
_TILTS = (0.0, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)
_FOR_MOVES = 0.36  # of what is left of the budget goes to moves, on which the number of cells depends


def draw_point_trips(
    data: Points,
    shares: IntArray,
    times: StartTimes,
    *,
    area: Area | None,
    total: float,
    drawn: int,
    budget: Budget,
    epsilon: tuple[Fraction, Fraction],
    rng: np.random.Generator,
    engine: Engine,
) -> Points:
    """Learn from points and draw others; `epsilon` are the budgets of the area, if it is not given, and the rest."""
    x, y = _file_coordinates(data)
    if area is None:
        per_point = split_shares(shares, data.lengths)[trajectory_of_row(data.offsets)]
        area = find_area(x, y, per_point, degrees=data.frame.degrees, budget=budget, epsilon=epsilon[0])
    inside = area.contains(x, y)
    offsets = keep_rows(data.offsets, inside)
    frame = area.frame(data.frame.crs, degrees=data.frame.degrees)
    plane = _Plane.of(area, frame)
    px, py = frame.to_metres(x[inside], y[inside])
    grid = _learn_grid(offsets, px, py, shares, plane, total=total, budget=budget, epsilon=epsilon[1])
    column, row = plane.squares(px, py, len(grid.cell_of))
    path_offsets, cell = trace_cells(offsets, column, row, grid.cell_of, LONGEST)
    unit = seconds_per_unit(data.time_format) or 1.0
    trips = CellTrips(
        offsets=path_offsets,
        cell=cell,
        shares=shares,
        metres=_lengths(offsets, px, py),
        seconds=_durations(offsets, data.t[inside]) * unit,
    )
    model = learn_points(trips, grid, total=total, budget=budget, epsilon=epsilon[1] * (1 - _FOR_GRID))
    engine.progress("draw trips")
    return _draw_points(data, _fit_ways(model, plane, rng), plane, times, drawn, rng, unit)


def _fit_ways(model: PointModel, plane: _Plane, rng: np.random.Generator) -> PointModel:
    """Return the model with the tilt that makes trips as long, on average, as noisy ones are; from trial trips only."""
    best = model
    smallest = np.inf
    for strength in _TILTS:
        tilted = model.tilt(strength)
        offsets, cell = tilted.draw_paths(_TRIALS, rng)
        metres = _lengths(offsets, *_lay_points(tilted.grid, plane, offsets, cell, rng))
        leaves = metres > 0
        if not leaves.any():
            return model
        error = abs(float(metres[leaves].mean()) - model.mean_way)
        if error < smallest:
            best = tilted
            smallest = error
    return best


class _Plane:
    """The area in metres of its own frame, as a raster of any number of squares per side."""

    def __init__(self, frame: Frame, x_min: float, y_min: float, width: float, height: float) -> None:
        self.frame = frame
        self.x_min = x_min
        self.y_min = y_min
        self.width = width
        self.height = height

    @classmethod
    def of(cls, area: Area, frame: Frame) -> _Plane:
        x, y = frame.to_metres(np.array([area.west, area.east]), np.array([area.south, area.north]))
        decimals = 6 if frame.degrees else max(0, 4 - ceil(log10(max(float(np.ptp(x)), float(np.ptp(y)), 1e-9))))
        return cls(replace(frame, decimals=decimals), float(x[0]), float(y[0]), float(np.ptp(x)), float(np.ptp(y)))

    def squares(self, x: FloatArray, y: FloatArray, side: int) -> tuple[IntArray, IntArray]:
        """Return the column and the row of positions."""
        column = np.clip(np.floor((x - self.x_min) / self.width * side), 0, side - 1)
        row = np.clip(np.floor((y - self.y_min) / self.height * side), 0, side - 1)
        return column.astype(np.int64), row.astype(np.int64)


def _file_coordinates(data: Points) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of the file.

    Metres of degrees depend on the frame, which follows from where everybody is.  Rounding to seven decimals, about a
    centimetre, takes away what arithmetic in that frame adds.
    """
    x, y = data.frame.to_file(data.x, data.y)
    if not data.frame.degrees:
        return x, y
    return np.rint(x * 1e7) / 1e7, np.rint(y * 1e7) / 1e7


def _learn_grid(
    offsets: IntArray,
    x: FloatArray,
    y: FloatArray,
    shares: IntArray,
    plane: _Plane,
    *,
    total: float,
    budget: Budget,
    epsilon: Fraction,
) -> CellGrid:
    """Ask how many people go through each cell of a coarse grid, and cut the dense ones."""
    side, most = coarse_side(total, float(epsilon) * _FOR_MOVES)
    column, row = plane.squares(x, y, side)
    coarse = np.arange(side * side).reshape(side, side)
    path_offsets, cell = trace_cells(offsets, column, row, coarse, LONGEST)
    own = split_shares(shares, np.diff(path_offsets))[trajectory_of_row(path_offsets)]
    noisy = budget.histogram("density", "trips-by-cell", tally_shares(cell, own, side * side), epsilon * _FOR_GRID)
    density = fit_total(noisy.values, total).reshape(side, side)
    return refine_grid(density, most)


def _lengths(offsets: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return how long the way of each trajectory is."""
    step = np.hypot(np.diff(x, prepend=x[:1]), np.diff(y, prepend=y[:1]))
    step[offsets[:-1][np.diff(offsets) > 0]] = 0.0
    running = np.concatenate([[0.0], np.cumsum(step)])
    lengths: FloatArray = np.maximum(running[offsets[1:]] - running[offsets[:-1]], 0.0)
    return lengths


def _durations(offsets: IntArray, t: IntArray) -> FloatArray:
    """Return how long each trajectory lasts, in units of its times."""
    some = np.diff(offsets) > 0
    lasting = np.zeros(len(offsets) - 1)
    lasting[some] = t[offsets[1:][some] - 1] - t[offsets[:-1][some]]
    return lasting


def _draw_points(
    data: Points,
    model: PointModel,
    plane: _Plane,
    times: StartTimes,
    drawn: int,
    rng: np.random.Generator,
    unit: float,
) -> Points:
    """Draw paths, a position in each of their cells, and times by a speed per trip."""
    offsets, cell = model.draw_paths(drawn, rng)
    # A trip that stays in a cell has two points there, when it begins and when it ends.
    lengths = np.diff(offsets)
    stays = lengths == 1
    cell = np.repeat(cell, np.where(stays, 2, 1)[trajectory_of_row(offsets)])
    offsets = offsets_of(np.where(stays, 2, lengths))
    n = len(offsets) - 1
    at = _lay_points(model.grid, plane, offsets, cell, rng)
    metres = _lengths(offsets, at[0], at[1])
    seconds = model.draw_seconds(np.where(stays, 0.0, metres), rng)
    t = _clock_times(offsets, at[0], at[1], times, seconds, rng, unit)
    return Points(
        offsets=offsets,
        t=t,
        x=at[0],
        y=at[1],
        owner=np.arange(n),
        frame=plane.frame,
        time_format=data.time_format,
        owners=data.owners,
    )


def _lay_points(
    grid: CellGrid, plane: _Plane, offsets: IntArray, cell: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return a position in each cell of paths, in metres: drawn evenly, then pulled towards those before and after."""
    is_end = np.zeros(len(cell), np.bool_)
    is_end[offsets[:-1]] = True
    is_end[offsets[1:] - 1] = True
    side = len(grid.cell_of)
    at = []
    for low, scale, begin in (
        (grid.x_min, plane.width / side, plane.x_min),
        (grid.y_min, plane.height / side, plane.y_min),
    ):
        inside = low[cell] + rng.random(len(cell)) * grid.size[cell]
        # Several rounds pull a way taut, as a thread that must go through all its cells.
        for _ in range(_ROUNDS):
            inside = np.clip(_smooth(inside, is_end), low[cell], low[cell] + grid.size[cell])
        at.append(begin + scale * inside)
    return at[0], at[1]


def _smooth(values: FloatArray, fixed: BoolArray) -> FloatArray:
    """Return positions between those before and after, so that a way does not zigzag; ends stay."""
    before = np.roll(values, 1)
    after = np.roll(values, -1)
    return np.where(fixed, values, 0.3 * before + 0.4 * values + 0.3 * after)


def _clock_times(
    offsets: IntArray,
    x: FloatArray,
    y: FloatArray,
    times: StartTimes,
    seconds: FloatArray,
    rng: np.random.Generator,
    unit: float,
) -> IntArray:
    """Return when each point is: a trip keeps its speed, and no two of its points are at the same time."""
    n = len(offsets) - 1
    lengths = np.diff(offsets)
    begin = times.draw_days(n, rng) + times.draw_hours(None, 1, n, rng)
    step = np.hypot(np.diff(x, prepend=x[:1]), np.diff(y, prepend=y[:1]))
    step[offsets[:-1]] = 0.0
    metres = np.repeat(_lengths(offsets, x, y), lengths)
    duration = np.repeat(seconds, lengths)
    lasting = np.where(metres > 0, step / np.maximum(metres, 1e-12) * duration, 0.0)
    whole = np.maximum(np.rint(lasting / unit / times.clock.step).astype(np.int64), 1) * times.clock.step
    whole[offsets[:-1]] = 0
    passed = np.cumsum(whole)
    t: IntArray = np.repeat(begin - passed[offsets[:-1]], lengths) + passed
    return t
