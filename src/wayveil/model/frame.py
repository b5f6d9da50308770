"""The frame of coordinates: what x and y in metres were in the file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wayveil.errors import UsageError
from wayveil.model.ragged import FloatArray

__all__ = ["Frame"]

_WGS84_A, _WGS84_E2 = 6_378_137.0, 0.00669437999014
_STEP_DEG = 0.1


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

    @classmethod
    def for_degrees(cls, lon: FloatArray, lat: FloatArray, *, crs: str = "EPSG:4326") -> Frame:
        """Return the frame for these longitudes and latitudes; the range is rounded outwards to tenths of a degree."""
        if not len(lon):
            return cls(crs=crs, degrees=True, x_scale=_east_scale(0.0), y_scale=_north_scale(0.0))
        south, north = _outwards(float(lat.min()), float(lat.max()))
        nearest = 0.0 if south <= 0.0 <= north else min(abs(south), abs(north))
        farthest = min(max(abs(south), abs(north)), 90.0)
        largest, smallest = _east_scale(nearest), _east_scale(farthest)
        return cls(
            crs=crs,
            degrees=True,
            lon_0=_middle_longitude(lon),
            lat_0=round((south + north) / 2, 6),
            x_scale=largest,
            y_scale=_north_scale(farthest),
            overstatement=min(largest / max(smallest, 1e-9) - 1, 1e9),
        )

    def to_metres(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coordinates of the file in metres."""
        if not self.degrees:
            return x, y
        return _wrap(x - self.lon_0) * self.x_scale, (y - self.lat_0) * self.y_scale

    def to_file(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return metres as coordinates of the file."""
        if not self.degrees:
            return x, y
        return _wrap(x / self.x_scale + self.lon_0), np.clip(y / self.y_scale + self.lat_0, -90, 90)

    def to_json(self) -> dict[str, Any]:
        """The frame as JSON can hold it; planar coordinates need no more than their name."""
        return asdict(self) if self.degrees else {"crs": self.crs, "degrees": False}

    @classmethod
    def from_json(cls, found: Any) -> Frame:
        """Return the frame that `to_json` wrote; anything else is a UsageError."""
        try:
            given: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {"": None}
            frame = cls(**given)
            numbers = (frame.lon_0, frame.lat_0, frame.x_scale, frame.y_scale, frame.overstatement)
            sound = all(math.isfinite(float(n)) for n in numbers) and frame.x_scale > 0 and frame.y_scale > 0
        except (TypeError, ValueError):
            sound = False
        if not sound or not isinstance(frame.crs, str) or not isinstance(frame.degrees, bool):
            raise UsageError("The frame of coordinates is not one that was written here.")
        return frame


def _east_scale(latitude: float) -> float:
    """Metres per degree of longitude at a latitude of the ellipsoid."""
    angle = math.radians(latitude)
    return math.radians(_WGS84_A * math.cos(angle) / math.sqrt(1 - _WGS84_E2 * math.sin(angle) ** 2))


def _north_scale(latitude: float) -> float:
    """Metres per degree of latitude; it grows towards the poles."""
    return math.radians(_WGS84_A * (1 - _WGS84_E2) / (1 - _WGS84_E2 * math.sin(math.radians(latitude)) ** 2) ** 1.5)


def _outwards(low: float, high: float) -> tuple[float, float]:
    return (
        max(-90.0, round(math.floor(low / _STEP_DEG) * _STEP_DEG, 6)),
        min(90.0, round(math.ceil(high / _STEP_DEG) * _STEP_DEG, 6)),
    )


def _middle_longitude(lon: FloatArray) -> float:
    """Return the middle of the shortest arc that holds all longitudes, to a tenth of a degree."""
    tenths = np.unique(np.floor(np.mod(lon, 360.0) / _STEP_DEG).astype(np.int64))
    gaps = np.diff(np.append(tenths, tenths[0] + 3600))
    widest = int(np.argmax(gaps))
    start, arc = int(tenths[(widest + 1) % len(tenths)]), 3600 - int(gaps[widest])
    return round(float(_wrap(np.array([(start + arc // 2) * _STEP_DEG]))[0]), 6)


def _wrap(degrees: FloatArray) -> FloatArray:
    """Return longitudes in [-180, 180]; those inside stay bit by bit as they are."""
    outside = (degrees < -180.0) | (degrees > 180.0)
    return np.where(outside, np.mod(degrees + 180.0, 360.0) - 180.0, degrees)
