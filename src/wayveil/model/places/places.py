"""Places: where the spots are at which people may stop, and what kind of spot each is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, frozen

__all__ = ["Places"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Points with a radius, or polygons, with the node of a taxonomy that says what they are.

    Parameters
    ----------
    name : tuple of str
        One per place, without repetition.
    node : tuple of str
        The kind of each place, such as "Clinic" or "amenity/clinic"; empty where nobody said.
    x, y : float64, one per place
        In metres of `frame`; of a polygon the centroid.
    radius_m : float64, one per place
        How far from (x, y), or from the polygon, somebody may be who is still there; 0 where nobody said.
    min_stay : float64, one per place
        Seconds after which being there is a stop; NaN where nobody said.
    ring_place : int64, one per ring
        Which place the ring is an outer border of; never decreases.  A place without rings is a point.
    ring_offsets : int64, one more than there are rings
        Ring `i` has the corners ``ring_offsets[i]:ring_offsets[i + 1]``, three or more.
    ring_x, ring_y : float64, one per corner
        In metres of `frame`; the first corner is not repeated at the end.
    frame : Frame

    Examples
    --------
    >>> places = Places(name=("Main Park",), node=("Park",), x=[5.0], y=[5.0], radius_m=[20.0], min_stay=[np.nan])
    >>> len(places), places.is_polygon.tolist()
    (1, [False])
    """

    name: tuple[str, ...]
    node: tuple[str, ...]
    x: FloatArray
    y: FloatArray
    radius_m: FloatArray
    min_stay: FloatArray
    ring_place: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    ring_offsets: IntArray = field(default_factory=lambda: np.zeros(1, np.int64), repr=False)
    ring_x: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)
    ring_y: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)
    frame: Frame = field(default_factory=Frame)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for name in ("name", "node"):
            set_(self, name, tuple(getattr(self, name)))
        for name in ("x", "y", "radius_m", "min_stay", "ring_x", "ring_y"):
            set_(self, name, frozen(getattr(self, name), np.float64))
        for name in ("ring_place", "ring_offsets"):
            set_(self, name, frozen(getattr(self, name), np.int64))
        self._check()

    def _check(self) -> None:
        n = len(self.name)
        # Columns first, then names, then values, then rings: each check may rely on those before it.
        if any(len(column) != n for column in (self.node, self.x, self.y, self.radius_m, self.min_stay)):
            raise InputError("Places: every column must have one value per place.")
        if len(set(self.name)) != n or "" in self.name:
            raise InputError("Places: every place must have a name of its own.")
        if not all(np.isfinite(v).all() for v in (self.x, self.y, self.radius_m, self.ring_x, self.ring_y)):
            raise InputError("Places: coordinates and radius_m must be finite.")
        if (self.radius_m < 0).any() or (self.min_stay < 0).any() or np.isinf(self.min_stay).any():
            raise InputError("Places: radius_m and min_stay must not be negative or infinite.")
        offsets = self.ring_offsets
        of = self.ring_place
        if len(offsets) != len(of) + 1 or offsets[0] != 0 or not offsets[-1] == len(self.ring_x) == len(self.ring_y):
            raise InputError("Places: ring_offsets must describe the corners of every ring.")
        # Corners are stored once: a triangle has three.
        if (np.diff(offsets) < 3).any():
            raise InputError("Places: a ring must have three corners or more.")
        if (np.diff(of) < 0).any() or (len(of) and not 0 <= of[0] <= of[-1] < n):
            raise InputError("Places: ring_place must be places in ascending order.")

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_polygon(self) -> BoolArray:
        """Whether a place has a border, one per place."""
        has_rings: BoolArray = np.bincount(self.ring_place, minlength=len(self)) > 0
        return has_rings

    def in_frame(self, frame: Frame) -> Places:
        """Return the same places in metres of another frame; both must be of degrees, or both planar.

        Examples
        --------
        >>> here = Frame.for_degrees(np.array([16.0]), np.array([48.0]))
        >>> there = Frame.for_degrees(np.array([16.5]), np.array([48.5]))
        >>> places = Places(name=("a",), node=("",), x=[0.0], y=[0.0], radius_m=[1.0], min_stay=[1.0], frame=here)
        >>> moved = places.in_frame(there)
        >>> bool(moved.frame.to_file(moved.x, moved.y)[0][0] == here.to_file(places.x, places.y)[0][0])
        True
        """
        if frame.degrees != self.frame.degrees:
            raise InputError(
                "The places and the points must both be in degrees, or both in metres; convert one of the files."
            )
        # By way of the coordinates of the file, which both frames have in common.
        x, y = frame.to_metres(*self.frame.to_file(self.x, self.y))
        ring_x, ring_y = frame.to_metres(*self.frame.to_file(self.ring_x, self.ring_y))
        return replace(self, x=x, y=y, ring_x=ring_x, ring_y=ring_y, frame=frame)
