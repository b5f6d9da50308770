"""The model as a published file has it: coordinates there and back, and roads and stops without what is not written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, overload

import numpy as np

from wayveil.model import Data, Frame, Points, Regions, RoadNetwork, Routes, Stops, Visits
from wayveil.model.ragged import FloatArray

__all__ = ["SLACK_DEG", "as_published", "boxes_to_file", "boxes_to_metres"]

SLACK_DEG = 1e-9
"""How far a side of a box may lie beyond a pole or the far meridian: a tenth of a millimetre, for rounding."""

_MARGIN_DEG = 2.0**-42  # 25 nanometres; eight times the distance of neighbouring floats at 180


@overload
def as_published(data: Visits) -> Visits: ...
@overload
def as_published(data: Points) -> Points: ...
@overload
def as_published(data: Regions) -> Regions: ...
@overload
def as_published(data: Routes) -> Routes: ...
@overload
def as_published(data: Stops) -> Stops: ...
def as_published(data: Data) -> Data:
    """Return the data as they are, bit by bit, after `write_published` and `read_published`.

    Of visits, points and regions only degrees make a difference: x and y go through the coordinates of the file, which
    moves a point by less than a micrometre, and moves the sides of a box outwards by as little.  Of routes, the network
    is that of the roads in use, in the order of their names and without places, and times are those of the slice.
    Stops keep their places and their order; their times are 0.

    Examples
    --------
    >>> data = Points.from_records([[(0, 1.0, 2.0)]])
    >>> as_published(data).record(0)
    [(0, 1.0, 2.0)]
    """
    if isinstance(data, Routes):
        return _on_used_roads(data)
    if isinstance(data, Stops):
        nothing = np.zeros(data.n_rows, np.int64)
        return replace(data, t=nothing, t_end=nothing)
    if isinstance(data, Visits) or not data.frame.degrees:
        return data
    if isinstance(data, Points):
        x, y = data.frame.to_metres(*data.frame.to_file(data.x, data.y))
        return replace(data, x=x, y=y)
    sides: dict[str, Any] = dict(boxes_to_metres(data.frame, boxes_to_file(data)))
    return replace(data, **sides)


def _on_used_roads(data: Routes) -> Routes:
    network = data.network
    used = np.unique(data.road).tolist()
    used.sort(key=lambda road: network.roads[road])
    ends = np.unique(np.concatenate([network.from_node[used], network.to_node[used]])).tolist() if used else []
    ends.sort(key=lambda node: network.nodes[node])
    road, node = np.zeros(len(network.roads), np.int64), np.zeros(len(network.nodes), np.int64)
    road[used], node[ends] = np.arange(len(used)), np.arange(len(ends))
    known = RoadNetwork(
        roads=tuple(network.roads[i] for i in used),
        from_node=node[network.from_node[used]] if used else np.zeros(0, np.int64),
        to_node=node[network.to_node[used]] if used else np.zeros(0, np.int64),
        nodes=tuple(network.nodes[i] for i in ends),
    )
    t = np.repeat(data.t_start, np.diff(data.offsets))
    return replace(data, road=road[data.road], t=t, network=known)


def boxes_to_file(data: Regions) -> dict[str, FloatArray]:
    """Return the sides of boxes as coordinates of the file: x_min, x_max, y_min, y_max.

    Longitudes are not wrapped: a box across the antimeridian goes from 179 to 181, so that x_min <= x_max always.

    Guarantee
    ---------
    Read back with `boxes_to_metres`, every box contains the box that was written, and also what `Frame.to_file` and
    `Frame.to_metres` make of the points inside.  Equal sides stay equal: each follows from its own value alone.
    """
    if not data.frame.degrees:
        return {name: getattr(data, name) for name in ("x_min", "x_max", "y_min", "y_max")}
    frame = data.frame
    east = {"scale": frame.x_scale, "zero": frame.lon_0, "low": -180.0, "high": 180.0}
    north = {"scale": frame.y_scale, "zero": frame.lat_0, "low": -90.0 - frame.lat_0, "high": 90.0 - frame.lat_0}
    return {
        "x_min": _outwards(data.x_min, -1, **east),
        "x_max": _outwards(data.x_max, 1, **east),
        "y_min": _outwards(data.y_min, -1, **north),
        "y_max": _outwards(data.y_max, 1, **north),
    }


def boxes_to_metres(frame: Frame, sides: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the sides of boxes in metres, from coordinates of the file."""
    if not frame.degrees:
        return sides
    scale = {"x": (frame.lon_0, frame.x_scale), "y": (frame.lat_0, frame.y_scale)}
    return {name: (side - scale[name[0]][0]) * scale[name[0]][1] for name, side in sides.items()}


def _outwards(side: FloatArray, sign: int, *, scale: float, zero: float, low: float, high: float) -> FloatArray:
    """Return degrees that read back as `side` or, by the last bits, further out; the ends of the earth cut."""
    # No point lies beyond the ends, so that cutting there loses none; half the slack is left for rounding.
    cut = np.clip(side, (low - SLACK_DEG / 2) * scale, (high + SLACK_DEG / 2) * scale)
    # Wrapping at the antimeridian rounds the points once more, by less than the margin.
    goal = cut + sign * _MARGIN_DEG * scale
    value = goal / scale + zero
    step = sign * 4 * np.spacing(np.maximum(np.abs(value), 180.0))
    while (short := sign * ((value - zero) * scale - goal) < 0).any():
        value = np.where(short, value + step, value)
    return value
