"""Which polygon holds a position."""

from __future__ import annotations

import numpy as np

from wayveil.model import Frame
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.model.lazy_module import lazy_module
from wayveil.model.places.zone_polygons import ZonePolygons

__all__ = ["find_zones", "zone_centres"]

shapely = lazy_module("shapely")


def find_zones(zones: ZonePolygons, x: FloatArray, y: FloatArray, frame: Frame | None) -> IntArray:
    """Return the zone of each position in metres, -1 where there is none.

    A position on a border belongs to the zone there whose id comes first.  O(log zones) for a position (a tree of
    bounding boxes), and the corners of the few zones that it may be in.
    """
    if frame is not None and frame.degrees:
        x, y = frame.to_file(x, y)
    shapes = shapely.from_wkb(np.array(zones.shape, dtype=object))
    shapely.prepare(shapes)
    rank = np.empty(len(zones), np.int64)
    rank[np.array(sorted(range(len(zones)), key=zones.name.__getitem__), np.int64)] = np.arange(len(zones))
    position, zone = shapely.STRtree(shapes).query(shapely.points(x, y), predicate="intersects")
    zone_of = np.full(len(x), -1, np.int64)
    # Of several, the last one that is written stays: so the one that comes first is written last.
    order = np.lexsort((-rank[zone], position))
    zone_of[position[order]] = zone[order]
    return zone_of


def zone_centres(zones: ZonePolygons, zone: IntArray, frame: Frame | None) -> tuple[FloatArray, FloatArray]:
    """Return a position inside of each of these zones, in metres."""
    shapes = shapely.from_wkb(np.array([zones.shape[i] for i in zone.tolist()], dtype=object))
    inside = shapely.point_on_surface(shapes)
    x = np.asarray(shapely.get_x(inside), np.float64)
    y = np.asarray(shapely.get_y(inside), np.float64)
    return frame.to_metres(x, y) if frame is not None and frame.degrees else (x, y)
