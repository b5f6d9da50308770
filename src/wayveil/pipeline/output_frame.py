"""What a method works with follows from whom it publishes, not from everybody who is in the input.

Published coordinates show the frame in which a method worked: the width of cells and the distance by which points were
moved are metres of it.  The frame of all rows of the input would tell where somebody was of whom nothing is published.
So what is published is made in a frame that follows from what is published.  The same is true of the number of
decimals, and of the days of routes that no step cut into slices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.io.publish.canonical import points_to_file
from wayveil.model import AttackGraph, Data, Extent, Frame, MethodResult, Points, Routes
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, take
from wayveil.pipeline.input import whole_days

__all__ = ["settle"]

# Rounds after which the last result is taken as it is.
_ROUNDS = 6
_ROUNDING_DEG = 1e-11
_COARSEST = {True: 5, False: 0}  # decimals of degrees and of metres: about a metre
_FINEST = {True: 7, False: 2}  # about a centimetre
_COMMON = 0.05


def settle(
    method: Any, data: Any, run: Callable[[Any], MethodResult], *, one_slice: bool = False
) -> tuple[Any, MethodResult]:
    """Run a method so that how it worked follows from what it publishes; return the data it worked on, and the result.

    Parameters
    ----------
    method : Method
        What is run; one that may publish points as they were recorded says so by a true `keeps_points`.
    data : Data
        The input.
    run : callable
        Runs the method on data; the same data must give the same result.
    one_slice : bool
        Whether routes are of one slice of time that nobody asked for.

    Notes
    -----
    Data in degrees are published once more in the frame of what was published, until that is the frame of the result:
    mostly at once, because somebody is left out at the border of the data or nobody is.  Where frames come in turns,
    the first one in the order of their numbers is taken, wherever the turns began.  Where the method refuses the data
    in another frame, the result before stands.
    """
    # Who draws from a noisy model knows the frame of what it publishes, and must not look at the data again.
    if method.synthetic:
        return _in_published_frame(data, run(data))
    # Routes have slices of days instead of a frame: the same question, answered at once.
    if data.slices():
        result = run(data)
        return _of_published_days(data, result) if one_slice else (data, result)
    if not data.coordinates or not (data.frame.degrees or method.keeps_points):
        return data, run(data)
    # Why all this: the projection and the decimals of published coordinates must not tell of people who are not
    # published. A far outlier who is left out would otherwise show in the frame of everybody else.
    everybody = np.ones(len(data), np.bool_)
    data = _with_decimals(method, data, everybody)
    now = data, run(data)
    seen: list[Points] = []
    # Before each round `now` is a result and the data from which it was made.  If frame and decimals are those of the
    # people in it, it is what we want; otherwise the method runs on data with these.  If the method ran on these
    # before, it would do so in turns for ever: then one of the turns is taken that depends on nothing but the turns.
    for _ in range(_ROUNDS):
        data, result = now
        is_published = _published(data, result)
        if not is_published.any():
            return now
        fitting = _with_decimals(method, _in_frame(data, _frame(data, result, is_published)), is_published)
        if _numbers(fitting) == _numbers(data):
            return now
        seen.append(data)
        turns = [_numbers(one) for one in seen]
        turn = _numbers(fitting) in turns
        if turn:
            fitting = min(seen[turns.index(_numbers(fitting)) :], key=_numbers)
        try:
            now = fitting, run(fitting)
        except InputError:
            return now
        if turn:
            return now
    return now


def _in_published_frame(data: Any, result: MethodResult) -> tuple[Any, MethodResult]:
    """Return data and result in the frame of the result; nothing is made once more."""
    if not data.coordinates or not data.frame.degrees:
        return data, result
    points: Any = result.data
    frame = Frame.for_extent(_extent(points), crs=data.frame.crs)
    return _in_frame(data, frame), replace(result, data=_in_frame(points, frame))


def _numbers(data: Points) -> tuple[float, ...]:
    """Return what distinguishes the frames of two tables."""
    frame = data.frame
    decimals = -1 if frame.decimals is None else frame.decimals
    return frame.lon_0, frame.lat_0, frame.x_scale, frame.y_scale, frame.overstatement, decimals


def _published(data: Data, result: MethodResult) -> BoolArray:
    """Return of which trajectories of the input something is published."""
    # Of a method that cuts trajectories, `source` says whose each published row is; dummies are nobody.
    rows = np.diff(result.data.offsets) > 0
    if result.source is None:
        return rows
    is_published = np.zeros(len(data), np.bool_)
    is_published[result.source[rows & (result.source >= 0)]] = True
    return is_published


def _frame(data: Points, result: MethodResult, is_published: BoolArray) -> Frame:
    """Return the frame of what is published.

    A claim about the true positions of these people is judged in it, so that it must not understate them either.
    """
    if not data.frame.degrees:
        return data.frame
    # Published points and the boxes beside them must both fit; of an attack graph, true positions are judged as well.
    extents = [_extent(part) for part in (result.data, result.boxes) if part is not None]
    if isinstance(result.claim, AttackGraph):
        rows = take(data.offsets, np.flatnonzero(is_published))[1]
        extents.append(Extent.of(*_recorded(data.frame, data.x[rows], data.y[rows])))
    return Frame.for_extent(Extent.join(extents), crs=data.frame.crs)


def _extent(result: Any) -> Extent:
    boxes = result.as_boxes()
    if boxes is not None:
        west, south = boxes.frame.to_file(boxes.x_min, boxes.y_min)
        width = (boxes.x_max - boxes.x_min) / boxes.frame.x_scale
        north = boxes.frame.to_file(boxes.x_max, boxes.y_max)[1]
        return Extent.of(west, np.concatenate([south, north]), lon_end=west + width)
    return Extent.of(*points_to_file(result))


def _recorded(frame: Frame, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return degrees as they were in the file: exactly up to nine decimals, and more of them but for rounding."""
    extents = []
    for degrees in frame.to_file(x, y):
        # Degrees became metres when they were read; going back must give the digits of the file, not those of the
        # arithmetic.
        near = np.rint(degrees * 1e9) / 1e9
        extents.append(np.where(np.abs(near - degrees) < _ROUNDING_DEG, near, degrees))
    return extents[0], extents[1]


def _in_frame(data: Points, frame: Frame) -> Points:
    if frame == data.frame:
        return data
    x, y = frame.to_metres(*_recorded(data.frame, data.x, data.y))
    return replace(data, x=x, y=y, frame=replace(frame, decimals=data.frame.decimals))


def _with_decimals(method: Any, data: Points, is_published: BoolArray) -> Points:
    """Return data whose frame says how many decimals the file has, where points may be published as they are."""
    if not method.keeps_points:
        return data
    rows = take(data.offsets, np.flatnonzero(is_published))[1]
    columns = (data.x[rows], data.y[rows])
    if data.frame.degrees:
        columns = _recorded(data.frame, *columns)
    decimals = _decimals(columns, data.frame.degrees)
    if decimals == data.frame.decimals:
        return data
    return replace(data, frame=replace(data.frame, decimals=decimals))


def _decimals(columns: tuple[FloatArray, FloatArray], degrees: bool) -> int:
    """Return the fewest decimals that are enough for a twentieth of the rows, or for fewer than that at random.

    One row in a hundred has a digit less in both coordinates by chance; where a twentieth has, it was recorded so.
    """
    more = 0 if degrees else _more_decimals(columns)
    # From coarse to fine, until enough rows are exact: with more digits than were recorded, a computed point would
    # differ from a recorded one.
    for decimals in range(_COARSEST[degrees] + more, _FINEST[degrees] + more):
        unit = 10.0**decimals
        enough = np.ones(len(columns[0]), np.bool_)
        for column in columns:
            # Relative to the size of the number, because its last bits are.
            enough &= np.abs(np.rint(column * unit) / unit - column) <= 1e-12 * np.maximum(1.0, np.abs(column))
        if len(enough) and enough.mean() >= _COMMON:
            return decimals
    return _FINEST[degrees] + more


def _more_decimals(columns: tuple[FloatArray, FloatArray]) -> int:
    """Return how many decimals planar coordinates have beyond those of metres in a city of ten kilometres.

    Examples
    --------
    >>> [_more_decimals((np.array([0.0, width]), np.zeros(2))) for width in (0.0, 1.0, 300.0, 10_000.0, 1e6)]
    [0, 4, 2, 0, 0]
    """
    x, y = columns
    diagonal = float(np.hypot(np.ptp(x), np.ptp(y))) if len(x) else 0.0
    # One decimal more for every power of ten that the data are smaller than ten kilometres.
    return max(0, math.ceil(-math.log10(diagonal)) + 4) if diagonal > 0 else 0


def _of_published_days(data: Routes, result: MethodResult) -> tuple[Routes, MethodResult]:
    """Return routes and what was made of them as of the days of those trips of which something is published."""
    rows = take(data.offsets, np.flatnonzero(_published(data, result)))[1]
    if not len(rows) or not data.t.any():
        return data, result
    # Published trips say their days only, so times move with the slice.
    begin, end, _ = whole_days(data.t[rows], data.time_format)

    def moved(routes: Any, t: IntArray) -> Any:
        return replace(routes, t=t, t_start=np.full(len(routes), begin), t_end=np.full(len(routes), end))

    return moved(data, data.t), replace(result, data=moved(result.data, np.full(result.data.n_rows, begin)))
