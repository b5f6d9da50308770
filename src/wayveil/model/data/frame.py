"""The frame of coordinates: what x and y in metres were in the file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from wayveil.errors import UsageError
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["Extent", "Frame"]

# The ellipsoid of GPS: its longer half-axis in metres, and the square of its eccentricity.
_WGS84_A = 6_378_137.0
_WGS84_E2 = 0.00669437999014
# Extents are rounded outwards to tenths of a degree, so that the frame, which is public, does not tell where the
# outermost person was; 3,600 of them go around.
_STEP_DEG = 0.1
_STEPS_AROUND = 3600


@dataclass(frozen=True, kw_only=True, eq=False)
class Extent:
    """Where degrees are, as far as a frame depends on it; extents of parts can be joined.

    Parameters
    ----------
    tenths : int64
        The tenths of a degree of longitude in which there is something, east of Greenwich from 0 to 3599, ascending.
    south, north : float
        The smallest and the largest latitude; of nothing, the first is the larger one.
    """

    tenths: IntArray
    south: float
    north: float

    @classmethod
    def of(cls, lon: FloatArray, lat: FloatArray, *, lon_end: FloatArray | None = None) -> Extent:
        """Return the extent of positions; with `lon_end`, of ranges of longitudes from `lon` eastwards to `lon_end`.

        Examples
        --------
        >>> Extent.of(np.array([23.55, -0.01]), np.array([38.0, 51.5])).tenths.tolist()
        [235, 3599]
        >>> wide = Extent.of(np.array([179.85]), np.array([-17.0]), lon_end=np.array([180.05]))
        >>> wide.tenths.tolist()
        [1798, 1799, 1800]
        """
        if not len(lon):
            return cls(tenths=np.zeros(0, np.int64), south=math.inf, north=-math.inf)
        # Longitudes are counted eastwards on a circle, so that data on both sides of the antimeridian are near each
        # other.
        first = np.floor(np.mod(lon, 360.0) / _STEP_DEG).astype(np.int64)
        south = float(lat.min())
        north = float(lat.max())
        if lon_end is None:
            return cls(tenths=np.unique(first), south=south, north=north)
        # Ranges cover the steps from their first to their last one; those beyond the end of the circle begin it again.
        width = np.floor(lon_end / _STEP_DEG).astype(np.int64) - np.floor(lon / _STEP_DEG).astype(np.int64)
        last = first + np.clip(width, 0, _STEPS_AROUND - 1)
        # A sweep: +1 where a range begins and -1 behind its end; where the running sum is above 0, some range covers
        # the tenth. The array is two circles long, for ranges that go over the end of the first.
        change = np.zeros(2 * _STEPS_AROUND + 2, np.int64)
        np.add.at(change, first, 1)
        np.add.at(change, last + 1, -1)
        covered = np.cumsum(change)[: 2 * _STEPS_AROUND] > 0
        either = covered[:_STEPS_AROUND] | covered[_STEPS_AROUND:]
        return cls(tenths=np.flatnonzero(either), south=south, north=north)

    @classmethod
    def join(cls, extents: Iterable[Extent]) -> Extent:
        """Return the extent of all that these are extents of."""
        given = list(extents)
        return cls(
            tenths=np.unique(np.concatenate([np.zeros(0, np.int64), *(extent.tenths for extent in given)])),
            south=min((extent.south for extent in given), default=math.inf),
            north=max((extent.north for extent in given), default=-math.inf),
        )


@dataclass(frozen=True, kw_only=True)
class Frame:
    """How x and y in metres follow from the coordinates of a file.

    Either the file has planar coordinates (`degrees` is false): x and y are used as they are.  Or it has longitudes
    and latitudes: ``x = (lon - lon_0) * x_scale`` and ``y = (lat - lat_0) * y_scale``, with scales in metres per
    degree.  Boxes stay boxes both ways, and the antimeridian is no border.

    Parameters
    ----------
    crs : str
        Name of the coordinate system of the file, such as "EPSG:4326"; empty where nobody said.
    degrees : bool
        Whether the file has degrees.
    lon_0, lat_0, x_scale, y_scale : float
        The projection, where `degrees` is true.
    decimals : int, optional
        To how many decimals the coordinates of a public file are rounded, so that a number does not tell whether it was
        computed or recorded.  Frames that differ in nothing else are equal, and JSON does not have it.

    Guarantee
    ---------
    A frame from `for_degrees` never understates a distance between two of its points on the ellipsoid: the scales are
    the largest that occur in the range of the data.  It overstates east-west distances towards the pole, by
    `overstatement` at most.

    Examples
    --------
    >>> frame = Frame.for_degrees(np.array([23.5, 24.0]), np.array([37.8, 38.3]))
    >>> x, y = frame.to_metres(np.array([23.5]), np.array([38.0]))
    >>> lon, lat = frame.to_file(x, y)
    >>> bool(abs(lon[0] - 23.5) < 1e-12 and abs(lat[0] - 38.0) < 1e-12)
    True
    >>> Frame.from_json(frame.to_json()) == frame
    True
    """

    crs: str = ""
    degrees: bool = False
    lon_0: float = 0.0
    lat_0: float = 0.0
    x_scale: float = 1.0
    y_scale: float = 1.0
    overstatement: float = 0.0
    decimals: int | None = field(default=None, compare=False)

    @classmethod
    def for_degrees(cls, lon: FloatArray, lat: FloatArray, *, crs: str = "EPSG:4326") -> Frame:
        """Return the frame for these longitudes and latitudes; the range is rounded outwards to tenths of a degree."""
        return cls.for_extent(Extent.of(lon, lat), crs=crs)

    @classmethod
    def for_extent(cls, extent: Extent, *, crs: str = "EPSG:4326") -> Frame:
        """Return the frame for degrees of this extent."""
        if not len(extent.tenths):
            return cls(crs=crs, degrees=True, x_scale=_east_scale(0.0), y_scale=_north_scale(0.0))
        # East-west, a degree is longest nearest to the equator; north-south, it is longest nearest to a pole.  Taking
        # the longest of both means that no distance is understated, and so no promise in metres is weaker than it says.
        south, north = _outwards(extent.south, extent.north)
        nearest = 0.0 if south <= 0.0 <= north else min(abs(south), abs(north))
        farthest = min(max(abs(south), abs(north)), 90.0)
        largest = _east_scale(nearest)
        smallest = _east_scale(farthest)
        return cls(
            crs=crs,
            degrees=True,
            lon_0=_middle_longitude(extent.tenths),
            lat_0=round((south + north) / 2, 6),
            x_scale=largest,
            y_scale=_north_scale(farthest),
            # How much longer a metre of this frame may be than one on the ground, at the latitude farthest from the
            # equator; at a pole nothing is left of a degree, hence the limits.
            overstatement=min(largest / max(smallest, 1e-9) - 1, 1e9),
        )

    def to_metres(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coordinates of the file in metres."""
        if not self.degrees:
            return x, y
        # Differences of longitude are taken the short way around.
        return _wrap(x - self.lon_0) * self.x_scale, (y - self.lat_0) * self.y_scale

    def to_file(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return metres as coordinates of the file."""
        if not self.degrees:
            return x, y
        return _wrap(x / self.x_scale + self.lon_0), np.clip(y / self.y_scale + self.lat_0, -90, 90)

    def to_json(self) -> dict[str, Any]:
        """The frame as JSON can hold it; planar coordinates need no more than their name."""
        if not self.degrees:
            return {"crs": self.crs, "degrees": False}
        return {name: value for name, value in asdict(self).items() if name != "decimals"}

    @classmethod
    def from_json(cls, content: Any) -> Frame:
        """Return the frame that `to_json` wrote; anything else is a UsageError."""
        # The JSON is from a manifest, which anybody may have changed: unknown keys, texts and NaN must end in one
        # sentence.
        try:
            given: dict[str, Any] = dict(content) if isinstance(content, Mapping) else {"": None}
            frame = cls(**given)
            numbers = (frame.lon_0, frame.lat_0, frame.x_scale, frame.y_scale, frame.overstatement)
            sound = all(math.isfinite(float(n)) for n in numbers) and frame.x_scale > 0 and frame.y_scale > 0
            sound = sound and "decimals" not in given
        except (TypeError, ValueError):
            sound = False
        if not sound or not isinstance(frame.crs, str) or not isinstance(frame.degrees, bool):
            raise UsageError("The frame of coordinates is not one that was written here.")
        return frame


def _east_scale(latitude: float) -> float:
    """Metres per degree of longitude at a latitude of the ellipsoid."""
    angle = math.radians(latitude)
    # N(phi) * cos(phi) per radian, where N is the radius of curvature in the prime vertical; then per degree.
    return math.radians(_WGS84_A * math.cos(angle) / math.sqrt(1 - _WGS84_E2 * math.sin(angle) ** 2))


def _north_scale(latitude: float) -> float:
    """Metres per degree of latitude; it grows towards the poles."""
    # M(phi), the radius of curvature in the meridian, per degree.
    return math.radians(_WGS84_A * (1 - _WGS84_E2) / (1 - _WGS84_E2 * math.sin(math.radians(latitude)) ** 2) ** 1.5)


def _outwards(low: float, high: float) -> tuple[float, float]:
    return (
        max(-90.0, round(math.floor(low / _STEP_DEG) * _STEP_DEG, 6)),
        min(90.0, round(math.ceil(high / _STEP_DEG) * _STEP_DEG, 6)),
    )


def _middle_longitude(tenths: IntArray) -> float:
    """Return the middle of the shortest arc that holds all tenths of degrees of longitude."""
    # The shortest arc that holds everything is the circle without the widest gap; the last gap goes around its end.
    gaps = np.diff(np.append(tenths, tenths[0] + _STEPS_AROUND))
    widest = int(np.argmax(gaps))
    start = int(tenths[(widest + 1) % len(tenths)])
    arc = _STEPS_AROUND - int(gaps[widest])
    return round(float(_wrap(np.array([(start + arc // 2) * _STEP_DEG]))[0]), 6)


def _wrap(degrees: FloatArray) -> FloatArray:
    """Return longitudes in [-180, 180]; those inside stay bit by bit as they are."""
    # Modulo changes the last bits of numbers that need it not, and published coordinates must read back as they were.
    outside = (degrees < -180.0) | (degrees > 180.0)
    return np.where(outside, np.mod(degrees + 180.0, 360.0) - 180.0, degrees)
