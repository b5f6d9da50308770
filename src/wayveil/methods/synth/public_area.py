"""The area that synthetic points are in: declared, or found from noisy histograms, never that of the data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.errors import InputError
from wayveil.methods.synth.noisy_model import Budget
from wayveil.model import Frame
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["Area", "check_area", "find_area"]

_BINS = 64
_ROUNDS = 3
_WORLD = {True: 256.0, False: float(2**26)}
"""Half the side of the square in which an area is looked for: degrees, or other units."""

_TAIL = 0.005
_NEVER = 6.5  # scales of noise that 64 empty bins stay below, nine times of ten


@dataclass(frozen=True, kw_only=True)
class Area:
    """A rectangle in the coordinates of the file: degrees, or those of a planar system."""

    west: float
    south: float
    east: float
    north: float

    def frame(self, crs: str, *, degrees: bool) -> Frame:
        """Return a frame in metres that follows from the area alone."""
        if not degrees:
            return Frame(crs=crs)
        return Frame.for_degrees(np.array([self.west, self.east]), np.array([self.south, self.north]), crs=crs)

    def contains(self, x: FloatArray, y: FloatArray) -> np.ndarray:
        """Return which positions are inside."""
        return (x >= self.west) & (x <= self.east) & (y >= self.south) & (y <= self.north)


def check_area(text: str) -> Area:
    """Return a declared area.

    Examples
    --------
    >>> check_area("23.5, 37.8, 24.1, 38.2")
    Area(west=23.5, south=37.8, east=24.1, north=38.2)
    """
    try:
        sides = [float(part) for part in text.split(",")]
    except ValueError:
        sides = []
    if len(sides) != 4 or not np.isfinite(sides).all() or sides[0] >= sides[2] or sides[1] >= sides[3]:
        raise InputError(
            f"synth: area must be 'find' or four numbers WEST,SOUTH,EAST,NORTH in the coordinates of the file, got "
            f"{text!r}."
        )
    return Area(west=sides[0], south=sides[1], east=sides[2], north=sides[3])


def find_area(
    x: FloatArray, y: FloatArray, shares: IntArray, *, degrees: bool, budget: Budget, epsilon: Fraction
) -> Area:
    """Find where almost all points are, axis by axis, in rounds that look more closely each.

    `shares` are the parts of a person that each point counts.  Half of `epsilon` goes to each axis.
    """
    west, east = _find_range(x, shares, "x", degrees=degrees, budget=budget, epsilon=epsilon / 2)
    south, north = _find_range(y, shares, "y", degrees=degrees, budget=budget, epsilon=epsilon / 2)
    if degrees:
        west, east = max(west, -180.0), min(east, 180.0)
        south, north = max(south, -90.0), min(north, 90.0)
    return Area(west=west, south=south, east=east, north=north)


def _find_range(
    at: FloatArray, shares: IntArray, axis: str, *, degrees: bool, budget: Budget, epsilon: Fraction
) -> tuple[float, float]:
    low = -_WORLD[degrees]
    high = _WORLD[degrees]
    # Before each round almost everybody is between low and high.  A round cuts that into 64 bins and takes those away
    # from both ends that have next to nobody: 0.5 % at most, or what noise alone could be.  After three rounds the
    # range is at most 64**2 times finer than it was.
    for number in range(_ROUNDS):
        inside = (at >= low) & (at <= high)
        width = (high - low) / _BINS
        position = np.clip(((at[inside] - low) / width).astype(np.int64), 0, _BINS - 1)
        values = np.zeros(_BINS, np.int64)
        np.add.at(values, position, shares[inside])
        noisy = budget.histogram(f"area-{axis}-{number + 1}", "points-by-strip", values, epsilon / _ROUNDS)
        sure = np.where(noisy.values > _NEVER * noisy.scale, noisy.values, 0.0)
        if not sure.any():
            if number == 0:
                raise InputError(
                    "synth: with this epsilon there are too few people to find the area of the data. Declare it, as "
                    "area=WEST,SOUTH,EAST,NORTH, or take a larger epsilon."
                )
            break
        running = np.cumsum(sure) / sure.sum()
        first = int(np.searchsorted(running, _TAIL, side="right"))
        last = int(np.searchsorted(running, 1 - _TAIL))
        low, high = low + first * width, low + (last + 1) * width
    return low, high
