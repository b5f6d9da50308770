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
from wayveil.model import Data, Frame, duration_units, seconds_per_unit
from wayveil.model.data.ragged import FloatArray, IntArray, trajectory_of_row
from wayveil.model.data.trajectories import Sites
from wayveil.model.parameters import duration_s
from wayveil.model.places.zone_polygons import ZonePolygons

__all__ = ["Footprint", "Space", "TimeBlur", "blur_times", "make_space", "trace"]

_HOUR_S = 3600
_ZONE_TIME = re.compile(r"_t([0-9]+[a-z]*)$")
_MIDDLE = 0.025  # of the positions may lie beyond each end of where an open zone is taken to reach

Range = tuple[FloatArray, FloatArray]
Sides = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


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
    sites = raw.sites() or Sites()
    # Stops: a node of the taxonomy stands for the leaves below it, which are numbered in a row.
    if sites.names is not None and sites.leaves is not None:
        spans = ((first, last) for first, last in sites.leaves.tolist())
        return Space(metres=False, leaves=dict(zip(sites.names, spans, strict=True)))
    if sites.reach is not None:
        places = None
        if sites.names is not None and sites.sides is not None and raw.name_word == "places":
            positions = zip(sites.sides[0].tolist(), sites.sides[2].tolist(), strict=True)
            places = dict(zip(sites.names, positions, strict=True))
        return Space(metres=True, frame=sites.frame, box=_middle_box(*sites.reach), places=places)
    # Names without coordinates: only whether it is the same place can be measured.
    if sites.names is not None:
        return Space(metres=False, names={name: i for i, name in enumerate(sorted(set(sites.names)))})
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
            # The coarser of two steps decides.
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
    low, high = _times(data, blur, steps)
    scale = 1.0 if unit is None else unit
    # In seconds where dates are known, otherwise in units of the file.
    t = low * scale, high * scale
    if not timed:
        # What is published says nothing of when: it may have been at any time.
        t = np.full(data.n_rows, -np.inf), np.full(data.n_rows, np.inf)
    return Footprint(
        offsets=data.offsets,
        x=x,
        y=y,
        t=t,
        dates=blur.dates,
        dated=unit is not None,
        ends=data.trip_ends,
        metres=space.metres,
    )


def _times(data: Data, blur: TimeBlur, steps: Sequence[Any]) -> Range:
    interval = data.intervals()
    if interval is None and data.slices() and not data.times().any():
        of = trajectory_of_row(data.offsets)  # published routes have the slice of a trip and no times
        interval = data.slices()[0][of], data.slices()[1][of]
    if interval is not None:
        return interval[0].astype(np.float64), interval[1].astype(np.float64)
    t: Any = data.times()
    if not blur.width:
        return t.astype(np.float64), t.astype(np.float64)
    # A time that was put into a bucket may have been anywhere in it.
    low = (t - blur.start) // blur.width * blur.width + blur.start
    width = np.full(data.n_rows, blur.width, np.float64)
    sites = data.sites()
    if sites is not None and sites.names is not None and sites.code is not None and _has_lasting_zones(data, steps):
        lasting = [_ZONE_TIME.search(name) for name in sites.names]
        seconds = np.array([0 if m is None else duration_s(m[1]) or 0 for m in lasting], np.float64)
        per_unit = seconds_per_unit(data.time_format) or 1.0
        # A zone may last longer than the bucket; its name says so.
        width = np.maximum(width, (seconds / per_unit)[sites.code])
    return low.astype(np.float64), low + width


def _has_lasting_zones(data: Data, steps: Sequence[Any]) -> bool:
    """Return whether names may say how long zones last; those of the ends of trips do not."""
    return not data.trip_ends and any(step.name == "zones" for step in steps)


def _places(data: Data, space: Space, steps: Sequence[Any], polygons: ZonePolygons | None) -> tuple[Range, Range]:
    sites = data.sites()
    if sites is None:
        raise UsageError(f"What is left of {data.kind} cannot be measured: it is not known where they are.")
    if sites.leaves is not None and space.leaves is None:
        raise UsageError("Stops cannot be measured against raw data that are no stops: no place says where it is.")
    names = sites.names
    if names is None:
        sides = _moved_sides(sites, space)
    elif sites.leaves is not None:
        first, last = _leaves(names, space)
        sides = first, last, np.zeros(len(names)), np.zeros(len(names))
    elif not space.metres:
        number = _numbers(names, space)
        sides = number, number, np.zeros(len(names)), np.zeros(len(names))
    else:
        sides = _sides_of_places(names, sites, space, steps, polygons)
    # Sides are of places; rows name places by code.
    if sites.code is not None:
        sides = sides[0][sites.code], sides[1][sites.code], sides[2][sites.code], sides[3][sites.code]
    return sides[:2], sides[2:]


def _leaves(names: Sequence[str], space: Space) -> Range:
    """Return the first leaf below each node and the one behind the last."""
    known = space.leaves or {}
    spans = np.array([known[name] for name in names], np.float64).reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def _sides_of_places(
    names: Sequence[str], sites: Sites, space: Space, steps: Sequence[Any], polygons: ZonePolygons | None
) -> Sides:
    """Return x_min, x_max, y_min and y_max of each place in metres; places that no step made are where they are.

    A published table has names and no coordinates: names of zones and cells say where they are, other places are
    where the raw data have them.
    """
    naming = [step for step in steps if step.name in ("grid", "zones")]
    if not naming:
        return _moved_sides(sites, space) if sites.sides is not None else _known_places(names, space)
    # The last step that named places is the one whose names are published.
    last = naming[-1]
    if last.name == "grid":
        cells = np.array([name[1:].split("_y") for name in names], np.float64).reshape(-1, 2) * float(last.cell)
        return cells[:, 0], cells[:, 0] + last.cell, cells[:, 1], cells[:, 1] + last.cell
    return _outlined(names, sites.frame or space.frame, space, polygons if last.needs_zones else None)


def _known_places(names: Sequence[str], space: Space) -> Sides:
    """Return where the raw data have these places."""
    known = space.places or {}
    if not all(name in known for name in names):
        raise UsageError("What is left cannot be measured: it is not known where the published places are.")
    x, y = np.array([known[name] for name in names], np.float64).reshape(-1, 2).T
    return x, x, y, y


def _outlined(names: Sequence[str], frame: Frame | None, space: Space, polygons: ZonePolygons | None) -> Sides:
    """Return the sides of zones: of a rectangle its own, of other shapes those of a rectangle with the same area.

    Open sides end where the middle 95 % of the positions end.
    """
    sides = sides_of_names(names)
    others = np.flatnonzero(np.isnan(sides[:, 0]))
    shrink = np.ones(len(sides))
    if len(others):
        sides[others], shrink[others] = _shapes([names[i] for i in others.tolist()], polygons)
    # Open sides are put in below; until then they need some number to be converted.
    closed = np.where(np.isinf(sides), 0.0, sides)
    left, low = _to_metres(closed[:, 0], closed[:, 2], frame, space)
    right, high = _to_metres(closed[:, 1], closed[:, 3], frame, space)
    west, east, south, north = space.box
    # An open side ends at the middle 95 % of the raw data, or at the other side of the zone if that is farther out.
    left = np.where(np.isinf(sides[:, 0]), np.minimum(west, np.where(np.isinf(sides[:, 1]), west, right)), left)
    right = np.where(np.isinf(sides[:, 1]), np.maximum(east, left), right)
    low = np.where(np.isinf(sides[:, 2]), np.minimum(south, np.where(np.isinf(sides[:, 3]), south, high)), low)
    high = np.where(np.isinf(sides[:, 3]), np.maximum(north, low), high)
    half_x = (right - left) / 2 * shrink
    half_y = (high - low) / 2 * shrink
    middle_x = (left + right) / 2
    middle_y = (low + high) / 2
    return middle_x - half_x, middle_x + half_x, middle_y - half_y, middle_y + half_y


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
    # A hexagon fills three quarters of its box. Its rectangle is shrunk to its area, so that shapes compare by what
    # they hide.
    share = np.divide(shapely.area(shapes), area, out=np.ones(len(area)), where=area > 0)
    return bounds[:, [0, 2, 1, 3]], np.sqrt(np.where(np.isnan(share), 1.0, share))


def _moved_sides(sites: Sites, space: Space) -> Sides:
    """Return the sides of sites in metres of the space; some must be known."""
    assert sites.sides is not None
    x_min, x_max, y_min, y_max = sites.sides
    left, low = _moved(x_min, y_min, sites.frame, space)
    if x_max is x_min and y_max is y_min:
        return left, left, low, low
    right, high = _moved(x_max, y_max, sites.frame, space)
    return left, right, low, high


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


def _middle_box(x: FloatArray, y: FloatArray) -> tuple[float, float, float, float]:
    if not len(x):
        return 0.0, 1.0, 0.0, 1.0
    sides = [_middle(values) for values in (x, y)]
    return (*sides[0], *sides[1])


def _middle(values: FloatArray) -> tuple[float, float]:
    low = float(np.quantile(values, _MIDDLE, method="lower"))
    high = float(np.quantile(values, 1 - _MIDDLE, method="higher"))
    return low, high
