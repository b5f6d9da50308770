"""Where and when rows may have been: raw positions exactly, coarse ones anywhere in their zone and their part of time.

A footprint is what any kind of data says of space and time, in one form: a raw position is a range without extent, a
visit to a zone is the zone for the length of its bucket, a box is itself.  So a fine and a coarse publication of one
file can be measured with one ruler (`fair_loss`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wayveil.errors import UsageError
from wayveil.io.publish.zone_outlines import outlines_of_names, sides_of_names
from wayveil.model import Boxes, Data, Frame, Points, Routes, Stops, Trips, Visits, duration_units, seconds_per_unit
from wayveil.model.data.ragged import FloatArray, IntArray, trajectory_of_row
from wayveil.model.parameters import duration_s
from wayveil.model.places.zone_polygons import ZonePolygons

__all__ = ["Footprint", "Space", "TimeBlur", "blur_times", "make_space", "trace"]

_HOUR_S = 3600
_ZONE_TIME = re.compile(r"_t([0-9]+[a-z]*)$")
_MIDDLE = 0.025  # of the positions may lie beyond each end of where an open zone is taken to reach

Range = tuple[FloatArray, FloatArray]


class TimeBlur(NamedTuple):
    """What steps made of times: floored to `width` from `start` on, in units of the data; what a date stands for.

    `dates` is "date" where a date is a date, else what `fold` made of it: "week", "weekday-weekend" or "day".
    """

    width: int = 0
    start: int = 0
    dates: str = "date"


@dataclass(frozen=True, kw_only=True, eq=False)
class Footprint:
    """Where and when each row may have been: lower and upper ends, equal where it is known exactly.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
    x, y : pairs of float64, one per row
        In metres; where nobody knows where places are, `x` is the number of the place and `y` is 0.
    t : pair of float64, one per row
        In seconds; plain integers are taken as they are.
    dates : str
        What a date stands for: see `TimeBlur`.
    dated : bool
        Whether times have days and hours.
    ends : bool
        Whether trajectories are trips of which both ends must be there to know where from and where to.
    metres : bool
        Whether `x` and `y` are metres.
    """

    offsets: IntArray
    x: Range
    y: Range
    t: Range
    dates: str = "date"
    dated: bool = True
    ends: bool = False
    metres: bool = True

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.x[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Space:
    """In what the places of one file are measured: metres, or numbers of places where no coordinates are known.

    `box` is where the middle 95 % of the positions are (x_min, x_max, y_min, y_max): an open zone reaches so far.
    `names` number the places (or roads) of the raw data where they have no coordinates, `places` says where those are
    that have some; `leaves` says of each node of a taxonomy which leaves, one after the other, are below it.
    """

    metres: bool
    frame: Frame | None = None
    box: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 1.0)
    names: dict[str, int] | None = None
    places: dict[str, tuple[float, float]] | None = None
    leaves: dict[str, tuple[int, int]] | None = None

    @property
    def side(self) -> float:
        """The longer side of the box."""
        return max(self.box[1] - self.box[0], self.box[3] - self.box[2])


def make_space(raw: Data) -> Space:
    """Return in what the places of raw data are measured."""
    if isinstance(raw, Points):
        return Space(metres=True, frame=raw.frame, box=_middle_box(raw.x, raw.y))
    if isinstance(raw, Routes):
        network = raw.network
        if network.node_x is not None and network.node_y is not None:
            return Space(metres=True, frame=network.frame, box=_middle_box(network.node_x, network.node_y))
        return Space(metres=False, names={name: i for i, name in enumerate(network.roads)})
    if isinstance(raw, Stops):
        tree = raw.taxonomy
        leaf = tree.is_leaf[tree.order]
        before = np.concatenate([[0], np.cumsum(leaf)])
        spans = zip(before[tree.first].tolist(), before[tree.last].tolist(), strict=True)
        return Space(metres=False, leaves=dict(zip(tree.nodes, spans, strict=True)))
    if isinstance(raw, Visits):
        if raw.place_x is not None and raw.place_y is not None:
            used = raw.location
            where = zip(raw.place_x.tolist(), raw.place_y.tolist(), strict=True)
            return Space(
                metres=True,
                frame=raw.place_frame,
                box=_middle_box(raw.place_x[used], raw.place_y[used]),
                places=dict(zip(_bare_names(raw), where, strict=True)),
            )
        return Space(metres=False, names={name: i for i, name in enumerate(sorted(set(_bare_names(raw))))})
    raise UsageError(f"What is left of {raw.kind} cannot be measured: it is not known where they are.")


def blur_times(steps: Sequence[Any], time_format: Any) -> TimeBlur:
    """Return what preparation steps made of times.

    Examples
    --------
    >>> from wayveil.steps import Bucket, Fold
    >>> blur_times([Bucket(width="15min")], "epoch")
    TimeBlur(width=900, start=0, dates='date')
    >>> blur_times([Fold(to="day", part="4h")], "epoch")
    TimeBlur(width=14400, start=14400, dates='day')
    """
    blur = TimeBlur()
    for step in steps:
        if step.name == "bucket":
            width = duration_units(step.name, "width", step.width, time_format)
            blur = blur if width < blur.width else TimeBlur(width, 0, blur.dates)
        elif step.name == "grid":
            width = duration_units(step.name, "bucket", step.bucket, time_format)
            blur = blur if width < blur.width else TimeBlur(width, 0, blur.dates)
        elif step.name == "fold":
            unit = round(1 / (seconds_per_unit(time_format) or 1))
            blur = TimeBlur((duration_s(step.part) or 0) * unit, step.start * _HOUR_S * unit, step.to)
    return blur


def trace(
    data: Data, space: Space, *, steps: Sequence[Any] = (), polygons: ZonePolygons | None = None, timed: bool = True
) -> Footprint:
    """Return the footprint of raw data (without `steps`) or of what was made of them.

    Parameters
    ----------
    data : Data
    space : Space
        That of the raw data.
    steps : sequence of steps
        What was done before: it says how coarse places and times are.
    polygons : ZonePolygons, optional
        Where zones are that a file defined.
    timed : bool
        Whether the times of `data` are true; where a method publishes mere order, a row may have been at any time.
    """
    unit = seconds_per_unit(data.time_format)
    blur = blur_times(steps, data.time_format)
    x, y = _places(data, space, steps, polygons)
    low, high = _times(data, blur)
    scale = 1.0 if unit is None else unit
    t = low * scale, high * scale
    if not timed:
        t = np.full(data.n_rows, -np.inf), np.full(data.n_rows, np.inf)
    return Footprint(
        offsets=data.offsets,
        x=x,
        y=y,
        t=t,
        dates=blur.dates,
        dated=unit is not None,
        ends=isinstance(data, Trips),
        metres=space.metres,
    )


def _times(data: Data, blur: TimeBlur) -> Range:
    if isinstance(data, Boxes):
        return data.t_min.astype(np.float64), data.t_max.astype(np.float64)
    if isinstance(data, Routes) and not data.t.any():
        of = trajectory_of_row(data.offsets)  # published routes have the slice of a trip and no times
        return data.t_start[of].astype(np.float64), data.t_end[of].astype(np.float64)
    t: Any = data.times()
    if not blur.width:
        return t.astype(np.float64), t.astype(np.float64)
    low = (t - blur.start) // blur.width * blur.width + blur.start
    width = np.full(data.n_rows, blur.width, np.float64)
    if isinstance(data, Visits) and not isinstance(data, Trips):
        lasting = [_ZONE_TIME.search(name) for name in data.locations]
        if any(lasting):
            seconds = np.array([0 if m is None else duration_s(m[1]) or 0 for m in lasting], np.float64)
            per_unit = seconds_per_unit(data.time_format) or 1.0
            width = np.maximum(width, (seconds / per_unit)[data.location])
    return low.astype(np.float64), low + width


def _places(data: Data, space: Space, steps: Sequence[Any], polygons: ZonePolygons | None) -> tuple[Range, Range]:
    nothing = np.zeros(data.n_rows)
    if isinstance(data, Boxes):
        left, low = _moved(data.x_min, data.y_min, data.frame, space)
        right, high = _moved(data.x_max, data.y_max, data.frame, space)
        return (left, right), (low, high)
    if isinstance(data, Points):
        x, y = _moved(data.x, data.y, data.frame, space)
        return (x, x), (y, y)
    if isinstance(data, Routes):
        if not space.metres:
            number = _numbers(data.network.roads, space)[data.road]
            return (number, number), (nothing, nothing)
        return _on_roads(data, space)
    if isinstance(data, Stops):
        if space.leaves is None:
            raise UsageError("Stops cannot be measured against raw data that are no stops: no place says where it is.")
        spans = np.array([space.leaves[name] for name in data.taxonomy.nodes], np.float64).reshape(-1, 2)[data.place]
        return (spans[:, 0], spans[:, 1]), (nothing, nothing)
    if not isinstance(data, Visits):
        raise UsageError(f"What is left of {data.kind} cannot be measured: it is not known where they are.")
    if not space.metres:
        number = _numbers(_bare_names(data), space)[data.location]
        return (number, number), (nothing, nothing)
    sides = _sides_of_places(data, space, steps, polygons)[data.location]
    return (sides[:, 0], sides[:, 1]), (sides[:, 2], sides[:, 3])


def _on_roads(data: Routes, space: Space) -> tuple[Range, Range]:
    """Return the middles of roads."""
    network = data.network
    if network.node_x is None or network.node_y is None:
        raise UsageError("Routes cannot be measured against positions: the network does not say where its nodes are.")
    x, y = _moved(network.node_x, network.node_y, network.frame, space)
    middle_x = (x[network.from_node] + x[network.to_node])[data.road] / 2
    middle_y = (y[network.from_node] + y[network.to_node])[data.road] / 2
    return (middle_x, middle_x), (middle_y, middle_y)


def _sides_of_places(data: Visits, space: Space, steps: Sequence[Any], polygons: ZonePolygons | None) -> FloatArray:
    """Return x_min, x_max, y_min and y_max of each place in metres; places that no step made are where they are.

    A published table has names and no coordinates: names of zones and cells say where they are, other places are
    where the raw data have them.
    """
    names = _bare_names(data)
    made = [step for step in steps if step.name in ("grid", "zones")]
    if not made:
        return _at_places(data, names, space)
    last = made[-1]
    if last.name == "grid":
        cells = np.array([name[1:].split("_y") for name in names], np.float64).reshape(-1, 2) * float(last.cell)
        return np.stack([cells[:, 0], cells[:, 0] + last.cell, cells[:, 1], cells[:, 1] + last.cell], axis=1)
    frame = data.place_frame or space.frame
    return _outlined(names, frame, space, polygons if last.needs_zones else None)


def _at_places(data: Visits, names: Sequence[str], space: Space) -> FloatArray:
    if data.place_x is not None and data.place_y is not None:
        x, y = _moved(data.place_x, data.place_y, data.place_frame, space)
    else:
        known = space.places or {}
        if not all(name in known for name in names):
            raise UsageError("What is left cannot be measured: it is not known where the published places are.")
        x, y = np.array([known[name] for name in names], np.float64).reshape(-1, 2).T
    return np.stack([x, x, y, y], axis=1)


def _outlined(names: Sequence[str], frame: Frame | None, space: Space, polygons: ZonePolygons | None) -> FloatArray:
    """Return the sides of zones: of a rectangle its own, of other shapes those of a rectangle with the same area.

    Open sides end where the middle 95 % of the positions end.
    """
    sides = sides_of_names(names)
    others = np.flatnonzero(np.isnan(sides[:, 0]))
    shrink = np.ones(len(sides))
    if len(others):
        sides[others], shrink[others] = _shapes([names[i] for i in others.tolist()], polygons)
    closed = np.where(np.isinf(sides), 0.0, sides)
    left, low = _to_metres(closed[:, 0], closed[:, 2], frame, space)
    right, high = _to_metres(closed[:, 1], closed[:, 3], frame, space)
    west, east, south, north = space.box
    left = np.where(np.isinf(sides[:, 0]), np.minimum(west, np.where(np.isinf(sides[:, 1]), west, right)), left)
    right = np.where(np.isinf(sides[:, 1]), np.maximum(east, left), right)
    low = np.where(np.isinf(sides[:, 2]), np.minimum(south, np.where(np.isinf(sides[:, 3]), south, high)), low)
    high = np.where(np.isinf(sides[:, 3]), np.maximum(north, low), high)
    half_x = (right - left) / 2 * shrink
    half_y = (high - low) / 2 * shrink
    middle_x = (left + right) / 2
    middle_y = (low + high) / 2
    return np.stack([middle_x - half_x, middle_x + half_x, middle_y - half_y, middle_y + half_y], axis=1)


def _shapes(names: Sequence[str], polygons: ZonePolygons | None) -> tuple[FloatArray, FloatArray]:
    """Return the bounding boxes of H3 cells and of polygons, and by how much their sides are too long."""
    import shapely

    texts = outlines_of_names(names)
    drawn = {} if polygons is None else dict(zip(polygons.name, polygons.shape, strict=True))
    shapes = np.array(
        [shapely.from_wkb(drawn[name]) if name in drawn else shapely.from_wkt(texts[name]) for name in names],
        dtype=object,
    )
    bounds = shapely.bounds(shapes).reshape(-1, 4)
    area = (bounds[:, 2] - bounds[:, 0]) * (bounds[:, 3] - bounds[:, 1])
    share = np.divide(shapely.area(shapes), area, out=np.ones(len(area)), where=area > 0)
    return bounds[:, [0, 2, 1, 3]], np.sqrt(np.where(np.isnan(share), 1.0, share))


def _moved(x: FloatArray, y: FloatArray, frame: Frame | None, space: Space) -> tuple[FloatArray, FloatArray]:
    """Return metres of one frame as metres of the space."""
    if frame is None or space.frame is None or frame == space.frame or not (frame.degrees and space.frame.degrees):
        return x, y
    return space.frame.to_metres(*frame.to_file(x, y))


def _to_metres(a: FloatArray, b: FloatArray, frame: Frame | None, space: Space) -> tuple[FloatArray, FloatArray]:
    """Return coordinates as names and files have them as metres of the space."""
    if frame is None or not frame.degrees:
        return a, b
    return (space.frame or frame).to_metres(a, b)


def _numbers(names: Sequence[str], space: Space) -> FloatArray:
    """Return the number of each place; one that the raw data do not have is behind all others."""
    known = space.names or {}
    return np.array([known.get(name, len(known)) for name in names], np.float64)


def _bare_names(data: Visits) -> tuple[str, ...]:
    return data.place_names() if isinstance(data, Trips) else data.locations


def _middle_box(x: FloatArray, y: FloatArray) -> tuple[float, float, float, float]:
    if not len(x):
        return 0.0, 1.0, 0.0, 1.0
    sides = [_middle(values) for values in (x, y)]
    return (*sides[0], *sides[1])


def _middle(values: FloatArray) -> tuple[float, float]:
    low = float(np.quantile(values, _MIDDLE, method="lower"))
    high = float(np.quantile(values, 1 - _MIDDLE, method="higher"))
    return low, high
