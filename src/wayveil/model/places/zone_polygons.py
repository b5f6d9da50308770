"""Zones that somebody drew: census tracts, traffic zones, districts."""

from __future__ import annotations

from dataclasses import dataclass

from wayveil.errors import InputError

__all__ = ["ZonePolygons"]


@dataclass(frozen=True, kw_only=True)
class ZonePolygons:
    """Polygons with ids that do not overlap, in the coordinates of the data that they are for.

    Parameters
    ----------
    name : tuple of str
        The id of each zone, without repetition.
    shape : tuple of bytes
        The outline of each as well-known binary (WKB): a polygon or several, perhaps with holes.
    notes : tuple of str
        What was guessed or repaired on reading.

    Examples
    --------
    >>> ZonePolygons(name=("a", "a"), shape=(b"", b""))
    Traceback (most recent call last):
    ...
    wayveil.errors.InputError: ZonePolygons: every zone needs an id of its own.
    """

    name: tuple[str, ...]
    shape: tuple[bytes, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.name)) != len(self.name):
            raise InputError("ZonePolygons: every zone needs an id of its own.")
        if len(self.name) != len(self.shape):
            raise InputError("ZonePolygons: every zone needs an id and an outline.")

    def __len__(self) -> int:
        return len(self.name)
