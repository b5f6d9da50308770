"""Visits: who was where, when, as location-time doublets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_offsets, check_order, check_owners
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, frozen, keep_rows, offsets_of, take
from wayveil.model.times import TimeFormat

__all__ = ["Coded", "Owners", "Visits"]

Owners = Literal["given", "declared", "hidden"]
"""Where the owners come from: a column of the input; declared to be one per trajectory; or withheld, as in a
publication of data whose owners were given (each trajectory then has a code of its own, which proves nothing)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """One value per trajectory as a code into `labels`; code -1 is a missing value."""

    codes: IntArray
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozen(self.codes, np.int32))
        object.__setattr__(self, "labels", tuple(self.labels))

    def values(self) -> list[str | None]:
        """Return the values as text, None where missing."""
        return [None if code < 0 else self.labels[code] for code in self.codes.tolist()]

    def take(self, rows: IntArray) -> Coded:
        """Return the values at these positions."""
        return Coded(codes=self.codes[rows], labels=self.labels)

    @classmethod
    def from_values(cls, values: Iterable[str | None]) -> Coded:
        """Code `values`, with the labels in sorted order."""
        listed = list(values)
        labels = sorted({value for value in listed if value is not None})
        code = {label: i for i, label in enumerate(labels)}
        return cls(codes=np.array([-1 if v is None else code[v] for v in listed], np.int32), labels=tuple(labels))


@dataclass(frozen=True, kw_only=True, eq=False)
class Visits:
    """Location-time doublets of trajectories, as flat read-only columns.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; it may own none.
    location, t : int32 and int64, one per row
        A code into `locations`, and the time; `t` increases strictly inside a trajectory.
    locations : tuple of str
        The names behind the codes, without repetition; any text.
    owner : int64, one per trajectory
        The person behind the trajectory, as a code from 0.
    attributes : mapping of str to Coded
        Values that are constant in a trajectory.
    time_format, owners
        See `TimeFormat` and `Owners`.
    place_x, place_y : float64, one per name, or None
        Where the locations are, in metres, if that is known.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 3)], [("a", 1)]], attributes={"ill": ["yes", "no"]})
    >>> len(data), data.n_visits, data.record(0)
    (2, 3, [('a', 1), ('b', 3)])
    """

    offsets: IntArray
    location: IntArray
    t: IntArray
    locations: tuple[str, ...]
    owner: IntArray
    attributes: Mapping[str, Coded] = field(default_factory=dict)
    time_format: TimeFormat = "integer"
    owners: Owners = "declared"
    place_x: FloatArray | None = None
    place_y: FloatArray | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "offsets", frozen(self.offsets, np.int64))
        set_(self, "location", frozen(self.location, np.int32))
        set_(self, "t", frozen(self.t, np.int64))
        set_(self, "owner", frozen(self.owner, np.int64))
        set_(self, "locations", tuple(self.locations))
        for name in ("place_x", "place_y"):
            if getattr(self, name) is not None:
                set_(self, name, frozen(getattr(self, name), np.float64))
        set_(self, "attributes", MappingProxyType(dict(self.attributes)))
        self._check()

    def _check(self) -> None:
        check_offsets("Visits", self.offsets)
        if not self.offsets[-1] == len(self.location) == len(self.t):
            raise InputError("Visits: location and t must have as many rows as offsets say.")
        check_owners("Visits", len(self), self.owner, self.attributes)
        if len(self.location) and not (self.location.min() >= 0 and self.location.max() < len(self.locations)):
            raise InputError("Visits: a location code has no name.")
        places = [place for place in (self.place_x, self.place_y) if place is not None]
        if len(places) == 1 or any(len(p) != len(self.locations) or not np.isfinite(p).all() for p in places):
            raise InputError("Visits: place_x and place_y must both have one finite value per name of a location.")
        check_order("Visits", self.offsets, self.t, strictly=True)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_visits(self) -> int:
        """Number of rows."""
        return len(self.t)

    @property
    def n_rows(self) -> int:
        """Number of rows; every kind of data has this name for it."""
        return len(self.t)

    @property
    def n_owners(self) -> int:
        """Number of distinct people."""
        return len(np.unique(self.owner))

    def record(self, trajectory: int) -> list[tuple[str, int]]:
        """Return one trajectory as (location, t) pairs; for people and tests, not for loops over data."""
        rows = slice(self.offsets[trajectory], self.offsets[trajectory + 1])
        return [
            (self.locations[place], t)
            for place, t in zip(self.location[rows].tolist(), self.t[rows].tolist(), strict=True)
        ]

    def where(self, keep: BoolArray) -> Visits:
        """Return the same trajectories with only the visits where `keep` is true."""
        offsets = keep_rows(self.offsets, keep)
        return replace(self, offsets=offsets, location=self.location[keep], t=self.t[keep])

    def take(self, trajectories: IntArray) -> Visits:
        """Return these trajectories, in this order."""
        offsets, rows = take(self.offsets, trajectories)
        return replace(
            self,
            offsets=offsets,
            location=self.location[rows],
            t=self.t[rows],
            owner=self.owner[trajectories],
            attributes={name: a.take(trajectories) for name, a in self.attributes.items()},
        )

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[tuple[str, int]]],
        *,
        attributes: Mapping[str, Sequence[str | None]] | None = None,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
    ) -> Visits:
        """Build from lists of (location, t) pairs; for examples and tests."""
        names = sorted({place for record in records for place, _ in record})
        code = {name: i for i, name in enumerate(names)}
        return cls(
            offsets=offsets_of(np.array([len(r) for r in records], np.int64)),
            location=np.array([code[place] for r in records for place, _ in r], np.int32),
            t=np.array([t for r in records for _, t in r], np.int64),
            locations=tuple(names),
            owner=np.arange(len(records)) if owner is None else np.array(owner, np.int64),
            attributes={k: Coded.from_values(v) for k, v in (attributes or {}).items()},
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )
