"""A road network put together from what a file says: places and lines in its coordinates, lengths in metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.tabular.crs import Crs, settle_crs
from wayveil.io.tabular.table import Table
from wayveil.model import Frame, RoadNetwork
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of

__all__ = ["BACK", "Lines", "both_ways", "filled", "put_together", "refuse_outside", "road_crs", "straight", "turned"]

BACK = "-back"
"""What the name of the road in the other direction ends in."""

_LARGEST_M = 1e13  # as for points: neighbouring floats are 2 mm apart there
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """Roads as lines: road `r` has the points ``offsets[r]:offsets[r + 1]``, at least two."""

    offsets: IntArray
    x: FloatArray
    y: FloatArray


def put_together(
    *,
    roads: Sequence[str],
    from_node: IntArray,
    to_node: IntArray,
    nodes: Sequence[str],
    places: tuple[FloatArray, FloatArray] | None,
    length_m: FloatArray | None = None,
    lines: Lines | None = None,
    crs: Crs | None = None,
) -> RoadNetwork:
    """Return the network; lengths that are NaN or not given follow from the lines, or from straight roads.

    `places` (one per node) and `lines` are in the coordinates of the file, which are degrees if `crs` says so.
    """
    frame = Frame(crs="" if crs is None else crs.name)
    shape = None
    if places is not None and crs is not None and crs.degrees:
        everywhere = [places] if lines is None else [places, (lines.x, lines.y)]
        lon, lat = (np.concatenate(values) for values in zip(*everywhere, strict=True))
        frame = Frame.for_degrees(lon, lat, crs=crs.name)
    if places is not None:
        places = frame.to_metres(*places)
    if lines is not None:
        shape = Lines(offsets=lines.offsets, **dict(zip("xy", frame.to_metres(lines.x, lines.y), strict=True)))
    along = _lengths(from_node, to_node, places, shape)
    if length_m is None:
        length_m = along
    elif along is not None:
        length_m = np.where(np.isnan(length_m), along, length_m)
    return RoadNetwork(
        roads=tuple(roads),
        from_node=from_node,
        to_node=to_node,
        nodes=tuple(nodes),
        node_x=None if places is None else places[0],
        node_y=None if places is None else places[1],
        length_m=length_m,
        shape=None if shape is None else shape.offsets,
        shape_x=None if shape is None else shape.x,
        shape_y=None if shape is None else shape.y,
        frame=frame,
    )


def both_ways(values: Sequence[_T], others: Sequence[_T]) -> list[_T]:
    """Return two sequences in turns: a value of a road, then that of the road back.

    Examples
    --------
    >>> both_ways(["a", "b"], ["a-back", "b-back"])
    ['a', 'a-back', 'b', 'b-back']
    """
    return [value for pair in zip(values, others, strict=True) for value in pair]


def filled(lines: Lines, from_node: IntArray, to_node: IntArray, places: tuple[FloatArray, FloatArray]) -> Lines:
    """Return the lines with a straight one where a road has no points."""
    lengths = np.diff(lines.offsets)
    empty = np.flatnonzero(lengths == 0)
    between = straight(from_node[empty], to_node[empty], places)
    before = np.repeat(lines.offsets[empty], 2)
    return Lines(
        offsets=offsets_of(np.where(lengths == 0, 2, lengths)),
        x=np.insert(lines.x, before, between.x),
        y=np.insert(lines.y, before, between.y),
    )


def straight(from_node: IntArray, to_node: IntArray, places: tuple[FloatArray, FloatArray]) -> Lines:
    """Return the straight lines between the ends of roads."""
    ends = np.stack([from_node, to_node], axis=1).ravel()
    return Lines(offsets=2 * np.arange(len(from_node) + 1), x=places[0][ends], y=places[1][ends])


def turned(lines: Lines, source: IntArray, back: Sequence[bool] | np.ndarray) -> Lines:
    """Return the lines of roads that are the lines `source`, from the last point to the first where `back` is true."""
    lengths = np.diff(lines.offsets)[source]
    offsets = offsets_of(lengths)
    step = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    first = np.where(back, lines.offsets[1:][source] - 1, lines.offsets[:-1][source])
    rows = np.repeat(first, lengths) + step * np.repeat(np.where(back, -1, 1), lengths)
    return Lines(offsets=offsets, x=lines.x[rows], y=lines.y[rows])


def road_crs(shown: str, given: str | None, file_crs: Crs | None) -> Crs | None:
    """Return the coordinate system of a network from what the caller and the file say; see `settle_crs`."""
    return settle_crs(Table(path=shown, names=(), lazy=pl.LazyFrame(), csv=None), given, file_crs)


def refuse_outside(shown: str, what: str, x: FloatArray, y: FloatArray, crs: Crs | None) -> None:
    """Raise InputError for coordinates that are no degrees, where they should be, or no coordinates at all."""
    if crs is not None and crs.degrees:
        bad = ~((x >= -180) & (x <= 360) & (np.abs(y) <= 90))
        rule = "longitudes and latitudes"
    else:
        bad = ~((np.abs(x) <= _LARGEST_M) & (np.abs(y) <= _LARGEST_M))
        rule = "finite numbers of metres"
    if bad.any():
        raise InputError(
            f"{shown}: {int(bad.sum()):,} coordinates of {what} are not {rule}; correct them, or the coordinate system."
        )


def _lengths(
    from_node: IntArray, to_node: IntArray, places: tuple[FloatArray, FloatArray] | None, lines: Lines | None
) -> FloatArray | None:
    if lines is not None:
        step = np.append(np.hypot(np.diff(lines.x), np.diff(lines.y)), 0.0)
        step[lines.offsets[1:] - 1] = 0.0  # from the last point of a road to the first of the next is no way
        return np.add.reduceat(step, lines.offsets[:-1]) if len(from_node) else np.zeros(0)
    if places is None:
        return None
    x, y = places
    return np.hypot(x[to_node] - x[from_node], y[to_node] - y[from_node])
