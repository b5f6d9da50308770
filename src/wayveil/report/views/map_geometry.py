"""Trajectories as lines and boxes in the plane: the published ones, and the raw ones only where asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wayveil.model import Boxes, Data, RoadNetwork, Routes
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, offsets_of, take, trajectory_of_row
from wayveil.report.results_schema import MapLayer, MapLines
from wayveil.report.views.equivalence_groups import alike

__all__ = [
    "MOST_BOXES",
    "MOST_LINES",
    "MOST_VERTICES",
    "Frame",
    "Ring",
    "Strokes",
    "evenly",
    "layer_of",
    "network_lines",
    "ring_lines",
    "strokes_of",
]

MOST_LINES = 5_000
MOST_BOXES = 400
MOST_VERTICES = 150_000
"""What is shown of each data set at most; the marks of a map count all of it."""

_MOST_ROADS = 20_000  # of the network, below the routes
_MOST_BOXES = 16  # of one sequence; more would cover each other
_TOLERANCE = 2.0  # steps of the frame: less than a pixel of a map that fills a screen


Ring = tuple[FloatArray, FloatArray]
"""The corners of an outline, the first once more at its end: x and y."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Where whole steps are in the plane: ``origin + step * number``, in metres."""

    x: float
    y: float
    step: float

    def place(self, x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray]:
        """Return positions as whole steps."""
        across = np.round((x - self.x) / self.step).astype(np.int64)
        return across, np.round((y - self.y) / self.step).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Strokes:
    """Lines through the plane, or boxes from (x, y) to (x2, y2): flat columns, and how many there were to choose from.

    `shown` is how many trajectories, or different sequences of boxes, these are of; `row` is the row of the data that
    each corner or box is of.
    """

    total: int
    shown: int
    offsets: IntArray
    x: FloatArray
    y: FloatArray
    row: IntArray
    x2: FloatArray | None = None
    y2: FloatArray | None = None


def strokes_of(data: Data, network: RoadNetwork | None) -> Strokes | None:
    """Return what is shown of a data set; None where it is not known where things are."""
    return _STROKES.get(data.kind, _through_positions)(data, network)


def layer_of(part: Strokes, frame: Frame, *, name: str, raw: bool, slices: IntArray | None = None) -> MapLayer:
    """Return lines and boxes as a layer of a map; `slices` says in which slice of time each row of the data is.

    At most `MOST_LINES` trajectories with `MOST_VERTICES` corners are shown, spread evenly over the data, and
    `MOST_BOXES` sequences of boxes, which cover each other; what cannot be seen at this size is left out of the lines.
    """
    x, y = frame.place(part.x, part.y)
    times = np.zeros(len(part.row), np.int64) if slices is None else slices[part.row]
    if part.x2 is not None and part.y2 is not None:
        x2, y2 = frame.place(part.x2, part.y2)
        # A box is two corners, one behind the other.
        x = np.stack([x, x2], axis=1).ravel()
        y = np.stack([y, y2], axis=1).ravel()
        offsets = part.offsets * 2
    else:
        offsets, x, y, times = _simplified(part.offsets, x, y, times)
    lines = _lines(offsets, x, y)
    kind: Literal["lines", "boxes"] = "lines" if part.x2 is None else "boxes"
    return MapLayer(
        name=name,
        raw=raw,
        kind=kind,
        total=part.total,
        shown=part.shown,
        offsets=lines.offsets,
        x=lines.x,
        y=lines.y,
        slices=[] if slices is None else times.tolist(),
    )


def network_lines(network: RoadNetwork | None, frame: Frame) -> MapLines | None:
    """Return the roads of a network as lines, to lie below everything else; None where nobody said where they are."""
    if network is None or network.node_x is None or network.node_y is None:
        return None
    few = evenly(len(network), _MOST_ROADS)
    nodes = np.stack([network.from_node[few], network.to_node[few]], axis=1).ravel()
    # Straight lines from node to node: shapes of roads would be many times as much data.
    x, y = frame.place(network.node_x[nodes], network.node_y[nodes])
    return _lines(np.arange(len(few) + 1) * 2, x, y)


def ring_lines(rings: Sequence[Ring], frame: Frame) -> MapLines:
    """Return outlines as lines that end where they begin."""
    placed = [frame.place(x, y) for x, y in rings]
    offsets = offsets_of(np.array([len(x) for x, _ in placed], np.int64))
    return _lines(offsets, *(np.concatenate([ring[axis] for ring in placed]) for axis in (0, 1)))


def _lines(offsets: IntArray, x: IntArray, y: IntArray) -> MapLines:
    # Differences to the point before are small numbers, and short as text.
    steps = [np.diff(values, prepend=0).tolist() for values in (x, y)]
    return MapLines(offsets=offsets.tolist(), x=steps[0], y=steps[1])


def _some(data: Data) -> tuple[Any, IntArray, int]:
    """Return as many trajectories with rows as are drawn, which rows these are, and how many trajectories there are."""
    # Trajectories are spread evenly over the table, not the first ones: files are often sorted.
    with_rows = np.flatnonzero(data.nonempty)
    few = with_rows[evenly(len(with_rows), MOST_LINES)]
    return data.take(few), take(data.offsets, few)[1], len(with_rows)


def _through_positions(data: Data, network: RoadNetwork | None) -> Strokes | None:
    """Return lines from row to row."""
    part, row, total = _some(data)
    positions = part.positions()
    if positions is None:
        return None
    x, y = positions
    return Strokes(total=total, shown=len(part), offsets=part.offsets, x=x, y=y, row=row)


def _on_roads(data: Routes, network: RoadNetwork | None) -> Strokes | None:
    """Return routes as lines from intersection to intersection, a new one where a route is broken."""
    if network is None or network.node_x is None or network.node_y is None:
        return None
    part, row, total = _some(data)
    code = {name: i for i, name in enumerate(network.roads)}
    # Roads of the publication are looked up by name in the network that knows where they are.
    road = np.array([code.get(name, -1) for name in part.network.roads], np.int64)[part.road]
    trajectory = trajectory_of_row(part.offsets)[road >= 0]
    row = row[road >= 0]
    road = road[road >= 0]
    begin = network.from_node[road]
    end = network.to_node[road]
    new = np.ones(len(road), bool)
    # A line is broken where the trajectory changes, or a road does not begin where the last ended.
    new[1:] = (trajectory[1:] != trajectory[:-1]) | (begin[1:] != end[:-1])
    # Every row adds where it ends, and the first row of a line also where it begins.
    at = np.arange(len(road)) + np.cumsum(new)
    node = np.empty(len(road) + int(new.sum()), np.int64)
    node[at] = end
    node[at[new] - 1] = begin[new]
    rows = np.empty(len(node), np.int64)
    rows[at] = row
    rows[at[new] - 1] = row[new]
    lengths = np.bincount(np.cumsum(new) - 1, minlength=0) + 1 if len(road) else np.zeros(0, np.int64)
    return Strokes(
        total=total,
        shown=len(part),
        offsets=offsets_of(lengths),
        x=network.node_x[node],
        y=network.node_y[node],
        row=rows,
    )


def _boxes(data: Boxes, network: RoadNetwork | None) -> Strokes:
    """Return every different sequence of boxes once, and so many of its boxes that they can be told apart."""
    number = alike(data)
    with_rows = np.flatnonzero(data.nonempty)
    # Each different sequence once: hundreds of the same would only be darker.
    first = with_rows if number is None else with_rows[np.unique(number[with_rows], return_index=True)[1]]
    few = np.sort(first)[evenly(len(first), MOST_BOXES)]
    lengths = np.diff(data.offsets)[few]
    most = max(1, min(_MOST_BOXES, MOST_VERTICES // 4 // max(1, len(few))))
    rows = [data.offsets[i] + evenly(int(n), most) for i, n in zip(few.tolist(), lengths.tolist(), strict=True)]
    row = np.concatenate([np.zeros(0, np.int64), *rows])
    return Strokes(
        total=len(first), shown=len(few), offsets=offsets_of(np.minimum(lengths, most)),
        x=data.x_min[row], y=data.y_min[row], row=row, x2=data.x_max[row], y2=data.y_max[row],
    )  # fmt: skip


_STROKES: dict[str, Callable[[Any, RoadNetwork | None], Strokes | None]] = {
    "visits": _through_positions,
    "points": _through_positions,
    "regions": _boxes,
    "routes": _on_roads,
    "stops": _through_positions,
    "trips": _through_positions,
    "counts": _through_positions,
}
"""How each kind of data is drawn; one of a plug-in by its positions, if it has any."""


_Lines = tuple[IntArray, IntArray, IntArray, IntArray]
"""Lines: where each begins, its corners, and in which slice of time each corner is."""


def _simplified(offsets: IntArray, x: IntArray, y: IntArray, times: IntArray) -> _Lines:
    """Return the lines without points that nobody would miss, and with `MOST_VERTICES` at most, besides their ends.

    The first corner of every slice of time stays, so that a line can be seen in each that it goes through.
    """
    lengths = np.diff(offsets)
    offsets, rows = take(offsets, np.flatnonzero(lengths > 0))
    x = x[rows]
    y = y[rows]
    times = times[rows]
    offsets, x, y, times = _thinned(offsets, x, y, times, 20 * MOST_VERTICES)
    # Every second point is dropped if it is near the line between its neighbours; a few rounds thin out straight
    # stretches without a recursion.
    for _ in range(6):
        keep = np.ones(len(x), bool)
        inside = _inside(offsets, len(x))
        inside &= (np.arange(len(x)) - np.repeat(offsets[:-1], np.diff(offsets))) % 2 == 1  # its neighbours stay
        at = np.flatnonzero(inside)
        # The border of a slice of time stays, or lines would reach into the wrong slice.
        keep[at] = (_off_line(x, y, at) > _TOLERANCE) | (times[at] != times[at - 1])
        if keep.all():
            break
        offsets = keep_rows(offsets, keep)
        x = x[keep]
        y = y[keep]
        times = times[keep]
    return _thinned(offsets, x, y, times, MOST_VERTICES)


def _inside(offsets: IntArray, n: int) -> BoolArray:
    """Return which points are neither the first nor the last of their line."""
    inside = np.ones(n, bool)
    inside[offsets[:-1]] = False
    inside[offsets[1:] - 1] = False
    return inside


def _off_line(x: IntArray, y: IntArray, at: IntArray) -> FloatArray:
    """Return how far points are from the line between their neighbours, or from these where they are one."""
    ax = (x[at + 1] - x[at - 1]).astype(np.float64)
    ay = (y[at + 1] - y[at - 1]).astype(np.float64)
    px = x[at] - x[at - 1]
    py = y[at] - y[at - 1]
    # The nearest position on the segment, not on the endless line.
    along = np.clip((px * ax + py * ay) / np.maximum(ax * ax + ay * ay, 1e-9), 0, 1)
    distance: FloatArray = np.hypot(px - along * ax, py - along * ay)
    return distance


def _thinned(offsets: IntArray, x: IntArray, y: IntArray, times: IntArray, most: int) -> _Lines:
    """Return every second point, every third and so on, and the ends of lines, where there are too many."""
    step = -(-len(x) // most) if most else 1
    if step <= 1:
        return offsets, x, y, times
    keep = (np.arange(len(x)) - np.repeat(offsets[:-1], np.diff(offsets))) % step == 0
    keep |= ~_inside(offsets, len(x))
    return keep_rows(offsets, keep), x[keep], y[keep], times[keep]


def evenly(n: int, most: int) -> IntArray:
    """Return at most `most` numbers below `n`, spread evenly, both ends among them."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.round(np.linspace(0, n - 1, most)).astype(np.int64))
