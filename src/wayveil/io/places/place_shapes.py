"""Shapes of places: a point, or the outer borders of polygons, from WKT and GeoJSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of

__all__ = ["Shape", "Shapes", "centroids", "shape_of_geojson", "shape_of_wkt", "shapes"]

Ring = list[tuple[float, float]]
Shape = tuple[tuple[float, float] | None, list[Ring]]
"""Where a point is and no rings, or None and the rings of a polygon; the first corner comes once."""

_WKT = re.compile(r"\s*(POINT|POLYGON|MULTIPOLYGON)\s*(?:ZM|Z|M)?\s*(\(.*\))\s*", re.IGNORECASE | re.DOTALL)
_LIST = r"\([^()]*\)"
_FORMS = {
    "POINT": re.compile(_LIST),
    "POLYGON": re.compile(rf"\(\s*{_LIST}(?:\s*,\s*{_LIST})*\s*\)"),
}
_FORMS["MULTIPOLYGON"] = re.compile(rf"\(\s*{_FORMS['POLYGON'].pattern}(?:\s*,\s*{_FORMS['POLYGON'].pattern})*\s*\)")


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """Points (NaN for polygons) and rings of places, as `Places` has rings, in the coordinates of the file."""

    x: FloatArray
    y: FloatArray
    ring_place: IntArray
    ring_offsets: IntArray
    ring_x: FloatArray
    ring_y: FloatArray


def shape_of_wkt(text: str | None) -> Shape | None:
    """Return the shape that a POINT, POLYGON or MULTIPOLYGON is, holes left out; None for anything else.

    Examples
    --------
    >>> shape_of_wkt("POLYGON ((0 0, 2 0, 2 2, 0 0), (1 1, 1 1, 1 1))")
    (None, [[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0)]])
    >>> shape_of_wkt("POINT Z (1 2 3)"), shape_of_wkt("LINESTRING (0 0, 1 1)")
    (((1.0, 2.0), []), None)
    """
    match = _WKT.fullmatch(text or "")
    if match is None:
        return None
    kind = match.group(1).upper()
    body = match.group(2)
    if not _FORMS[kind].fullmatch(body):
        return None
    if kind == "POINT":
        points = _points(body)
        return None if points is None or len(points) != 1 else (points[0], [])
    # The outer border of each polygon is its first list; holes follow it and are left out.
    polygons = [body] if kind == "POLYGON" else _FORMS["POLYGON"].findall(body[1:-1])
    return _polygons([_points(re.findall(_LIST, polygon)[0]) for polygon in polygons])


def shape_of_geojson(geometry: Any) -> Shape | None:
    """Return the shape that a Point, Polygon or MultiPolygon is, holes left out; None for anything else.

    Examples
    --------
    >>> shape_of_geojson({"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 0]]]})
    (None, [[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0)]])
    """
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    coordinates = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if kind == "Point":
        points = _pairs([coordinates])
        return None if points is None else (points[0], [])
    if kind not in ("Polygon", "MultiPolygon"):
        return None
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not isinstance(polygons, list) or not all(isinstance(p, list) and p for p in polygons):
        return None
    return _polygons([_pairs(polygon[0]) for polygon in polygons])


def shapes(listed: Sequence[Shape]) -> Shapes:
    """Return shapes as flat columns."""
    nowhere = (float("nan"), float("nan"))
    at = np.array([nowhere if point is None else point for point, _ in listed], np.float64).reshape(-1, 2)
    rings = [(i, ring) for i, (_, own) in enumerate(listed) for ring in own]
    corners = np.array([corner for _, ring in rings for corner in ring], np.float64).reshape(-1, 2)
    return Shapes(
        x=at[:, 0],
        y=at[:, 1],
        ring_place=np.array([i for i, _ in rings], np.int64),
        ring_offsets=offsets_of(np.array([len(ring) for _, ring in rings], np.int64)),
        ring_x=corners[:, 0],
        ring_y=corners[:, 1],
    )


def centroids(shapes: Shapes, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the centroids of the rings of `n` places, by area; the mean of the corners where there is no area."""
    ring = np.repeat(np.arange(len(shapes.ring_place)), np.diff(shapes.ring_offsets))
    place = shapes.ring_place[ring]
    many = np.maximum(np.bincount(place, minlength=n), 1)
    mean_x = np.bincount(place, shapes.ring_x, n) / many
    mean_y = np.bincount(place, shapes.ring_y, n) / many
    # Around their own mean, so that large coordinates do not swallow the area.
    x = shapes.ring_x - mean_x[place]
    y = shapes.ring_y - mean_y[place]
    # The corner after each; behind the last one of a ring comes its first.
    after = np.arange(len(ring)) + 1
    after[shapes.ring_offsets[1:] - 1] = shapes.ring_offsets[:-1]
    # Twice the signed area of the triangle of the mean and each side; their sum is twice the area of the ring (the
    # shoelace formula), and their weighted middles give the centroid.
    cross = x * y[after] - x[after] * y
    twice = np.bincount(ring, cross, len(shapes.ring_place))
    cross = cross * np.sign(twice)[ring]  # a border may run either way
    area = np.bincount(place, cross, n)
    # A line or a point drawn as a polygon has no area to divide by.
    flat = area <= 1e-12 * (1 + np.bincount(place, x**2 + y**2, n))
    safe = np.where(flat, 1.0, 3 * area)
    x_off, y_off = (np.bincount(place, (v + v[after]) * cross, n) / safe for v in (x, y))
    return np.where(flat, mean_x, mean_x + x_off), np.where(flat, mean_y, mean_y + y_off)


def _polygons(rings: Sequence[Ring | None]) -> Shape | None:
    all_rings: list[Ring] = []
    for ring in rings:
        if ring is None:
            return None
        corners = ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring
        if len(set(corners)) < 3:
            return None
        all_rings.append(corners)
    return (None, all_rings) if all_rings else None


def _points(body: str) -> Ring | None:
    return _pairs([part.split() for part in body.strip("() \t\r\n").split(",")])


def _pairs(positions: Any) -> Ring | None:
    """Return (x, y) of each position, or None where one is not two to four finite numbers."""
    if not isinstance(positions, list):
        return None
    pairs = []
    for position in positions:
        if not isinstance(position, list) or not 2 <= len(position) <= 4:
            return None
        try:
            x, y = (float("nan") if isinstance(v, bool) else float(v) for v in position[:2])
        except (TypeError, ValueError, OverflowError):
            return None
        if not (isfinite(x) and isfinite(y)):
            return None
        pairs.append((x, y))
    return pairs
