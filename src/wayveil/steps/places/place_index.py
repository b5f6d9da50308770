"""A grid over places: which place a point is in, and which one is nearest."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.steps.stop_detection import PlaceShapes, place_of_points
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of
from wayveil.model.lazy_module import lazy_module
from wayveil.model.places.places import Places

__all__ = ["PlaceIndex"]

spatial = lazy_module("scipy.spatial")


class PlaceIndex:
    """Places by the cells of a grid that they may reach into.

    Parameters
    ----------
    places : Places
        At least one.
    radius : float
        Metres around places that are points and have no radius of their own.

    Notes
    -----
    Cells are as large as a middle-sized place, or larger until all places together lie in about eight cells each, so
    that a few large places cost no memory.  O(places) memory; a point looks at the places of its cell only.
    """

    def __init__(self, places: Places, radius: float) -> None:
        self.places = places
        self.first_ring = np.searchsorted(places.ring_place, np.arange(len(places) + 1))
        has_extent = places.is_polygon | (places.radius_m > 0)
        self.reach = np.where(has_extent, places.radius_m, radius)
        low, high = self._boxes()
        self.low, self.high = low.min(axis=0), high.max(axis=0)
        self.size = self._size(low, high)
        first = self._cells(low)
        count = self._cells(high) - self._cells(low) + 1
        self.columns = int(self._cells(self.high[None])[0, 1]) + 1
        many = count.prod(axis=1)
        place = np.repeat(np.arange(len(places)), many)
        rank = np.arange(len(place)) - np.repeat(offsets_of(many)[:-1], many)
        cell = self._number(first[place] + np.stack([rank // count[place, 1], rank % count[place, 1]], axis=1))
        order = np.argsort(cell, kind="stable")
        self.cell = cell[order]
        self.candidate = place[order]

    def at(self, x: FloatArray, y: FloatArray) -> IntArray:
        """Return the place that each point is in, -1 where there is none; of several, the one with the nearest centre.

        Of centres as near, the place that comes first in `places`.
        """
        point = np.stack([x, y], axis=1)
        near = np.flatnonzero(((point >= self.low) & (point <= self.high)).all(axis=1))
        cell = self._number(self._cells(point[near]))
        nearest = np.full(len(x), -1, np.int64)
        shapes = PlaceShapes(
            self.places.x,
            self.places.y,
            self.reach,
            self.first_ring,
            self.places.ring_offsets,
            self.places.ring_x,
            self.places.ring_y,
        )
        low = np.searchsorted(self.cell, cell)
        high = np.searchsorted(self.cell, cell, side="right")
        nearest[near] = place_of_points(point[near, 0], point[near, 1], low, high, self.candidate, shapes)
        return nearest

    def nearest(self, x: FloatArray, y: FloatArray, within: float) -> IntArray:
        """Return the place whose centre is nearest to each point, -1 where that is farther away than `within`."""
        tree = spatial.cKDTree(np.stack([self.places.x, self.places.y], axis=1))
        far, place = tree.query(np.stack([x, y], axis=1))
        return np.where(far <= within, place, -1).astype(np.int64)

    def _boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest coordinates of what belongs to each place, a little outwards."""
        places = self.places
        low = np.stack([places.x, places.y], axis=1)
        high = low.copy()
        corner = np.stack([places.ring_x, places.ring_y], axis=1)
        owner = np.repeat(places.ring_place, np.diff(places.ring_offsets))
        np.minimum.at(low, owner, corner)
        np.maximum.at(high, owner, corner)
        # Rounding must not put a point that is just inside into a cell just outside.  As no box is smaller than that,
        # there are about 2^30 cells along an axis at most, and their numbers fit into 64 bits.
        pad = (self.reach + 1e-9 * (self.reach + np.abs(low).max(initial=0) + np.abs(high).max(initial=0)))[:, None]
        return low - pad, high + pad

    def _size(self, low: FloatArray, high: FloatArray) -> float:
        extent = float((self.high - self.low).max())
        size = float(np.median((high - low).max(axis=1)))
        while size < extent:
            cells = ((high - low) // size + 2).prod(axis=1).sum()
            if cells <= 8 * len(low) + 1000:
                break
            size *= 2
        return size if size > 0 else 1.0

    def _cells(self, point: FloatArray) -> IntArray:
        return np.floor((point - self.low) / self.size).astype(np.int64)

    def _number(self, cell: IntArray) -> IntArray:
        return cell[:, 0] * self.columns + cell[:, 1]
