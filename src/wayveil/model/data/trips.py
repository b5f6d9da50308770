"""Trips: where and when each one began and ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.coded import Coded, Owners
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import IntArray, offsets_of, trajectory_of_row
from wayveil.model.data.times import TimeFormat
from wayveil.model.data.visits import Visits

__all__ = ["DESTINATION", "ORIGIN", "TripEnds", "Trips"]

ORIGIN = "from "
"""What the name of a location begins with where a trip began there."""

DESTINATION = "to "
"""What the name of a location begins with where a trip ended there; it stands behind `ORIGIN` in the alphabet."""


class TripEnds(NamedTuple):
    """Trips as columns, one value per trip: codes of `places`, -1 for an end that is not there, whose time is 0."""

    places: tuple[str, ...]
    origin: IntArray
    destination: IntArray
    t_start: IntArray
    t_end: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Trips(Visits):
    """Trips as their ends: a trajectory is one trip and has up to two visits, where it began and where it ended.

    Whoever sees a published trip sees which end is which.  So an end is known by its role, its place and its time, and
    the name of its location says the role: "from Park" and "to Park" are different locations at the same place.  All
    that counts who was where and when counts ends exactly as they are published.

    Parameters
    ----------
    location, t, locations, place_x, place_y
        As in `Visits`, one row per end, with names that begin with `ORIGIN` or `DESTINATION`.  A trip has at most one
        end of each role, the origin first; both may have the same time.  Suppression may leave either end, or none.

    Examples
    --------
    >>> data = Trips.from_ends([("Park", 8, "Quay", 9), ("Park", 8, None, None)])
    >>> data.record(0), data.record(1)
    ([('from Park', 8), ('to Quay', 9)], [('from Park', 8)])
    >>> ends = data.ends()
    >>> ends.places, ends.origin.tolist(), ends.destination.tolist()
    (('Park', 'Quay'), [0, 0], [1, -1])
    """

    kind: ClassVar[str] = "trips"
    row_word: ClassVar[str] = "ends"
    one_per_time: ClassVar[bool] = False
    trip_ends: ClassVar[bool] = True
    not_published: ClassVar[str] = "Trips without any end left"
    nothing_left: ClassVar[str] = (
        "Nothing was published: no end of a trip is left after suppression, because too few people share a place and "
        "a time. Make times coarser with the step bucket, or ask for a smaller k or l or a larger c."
    )

    def _check_rows(self) -> None:
        super()._check_rows()
        if not all(name.startswith((ORIGIN, DESTINATION)) for name in self.locations):
            raise InputError(f"Trips: the name of a location must begin with '{ORIGIN}' or '{DESTINATION}'.")
        trajectory = trajectory_of_row(self.offsets)
        arrives = self._arrives()
        # Neighbouring rows of one trip: the first must not arrive, and the second must.
        same = trajectory[1:] == trajectory[:-1]
        if (self.lengths > 2).any() or (same & (arrives[:-1] | ~arrives[1:])).any():
            raise InputError("Trips: a trip has at most one origin and, behind it, one destination.")
        # The two ends may have one time, and then the codes decide the order of rows: origins must have the smaller
        # ones.
        if (same & (self.t[1:] == self.t[:-1]) & (self.location[1:] <= self.location[:-1])).any():
            raise InputError("Trips: the names of origins must stand before those of destinations.")

    def _arrives(self) -> np.ndarray:
        """Return which ends are destinations."""
        return np.array([name.startswith(DESTINATION) for name in self.locations], np.bool_)[self.location]

    @classmethod
    def tiny(cls) -> Self:
        """Return two people with the same trip."""
        return cls.from_ends([("a", 1, "b", 2), ("a", 1, "b", 2)], attributes={"s": ["x", "y"]})

    def place_names(self) -> tuple[str, ...]:
        """Return the names of the locations without roles."""
        roles = (DESTINATION if name.startswith(DESTINATION) else ORIGIN for name in self.locations)
        return tuple(name[len(role) :] for name, role in zip(self.locations, roles, strict=True))

    def ends(self) -> TripEnds:
        """Return one value per trip instead of one per end, and places without roles."""
        bare = self.place_names()
        places = tuple(sorted(set(bare)))
        code_of = {name: code for code, name in enumerate(places)}
        code = np.array([code_of[name] for name in bare], np.int64)[self.location]
        trajectory = trajectory_of_row(self.offsets)
        arrives = self._arrives()
        columns: dict[str, IntArray] = {}
        # Each end is written to the trip that its row belongs to; a trip whose end was suppressed keeps -1 and time 0.
        for place, t, rows in (("origin", "t_start", ~arrives), ("destination", "t_end", arrives)):
            columns[place] = np.full(len(self), -1, np.int64)
            columns[place][trajectory[rows]] = code[rows]
            columns[t] = np.zeros(len(self), np.int64)
            columns[t][trajectory[rows]] = self.t[rows]
        return TripEnds(places=places, **columns)

    @classmethod
    def from_ends(
        cls,
        trips: Sequence[tuple[str | None, int | None, str | None, int | None]],
        *,
        attributes: Mapping[str, Sequence[str | None]] | None = None,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
    ) -> Self:
        """Build from (origin, t_start, destination, t_end), None for both of an end that is not there; for tests."""
        places = tuple(sorted({place for trip in trips for place in (trip[0], trip[2]) if place is not None}))
        code = {name: i for i, name in enumerate(places)}
        ends = TripEnds(
            places=places,
            origin=np.array([-1 if trip[0] is None else code[trip[0]] for trip in trips], np.int64),
            destination=np.array([-1 if trip[2] is None else code[trip[2]] for trip in trips], np.int64),
            t_start=np.array([trip[1] or 0 for trip in trips], np.int64),
            t_end=np.array([trip[3] or 0 for trip in trips], np.int64),
        )
        return cls.of_ends(
            ends,
            owner=np.arange(len(trips)) if owner is None else np.array(owner, np.int64),
            attributes={k: Coded.from_values(v) for k, v in (attributes or {}).items()},
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )

    @classmethod
    def of_ends(
        cls,
        ends: TripEnds,
        *,
        owner: IntArray,
        attributes: Mapping[str, Coded],
        time_format: TimeFormat,
        owners: Owners,
        positions: tuple[np.ndarray, np.ndarray] | None = None,
        frame: Frame | None = None,
    ) -> Self:
        """Build from columns; `positions` are x and y of the places in metres of `frame`, where they are known.

        Only names that occur are kept, in sorted order: all origins stand before all destinations.
        """
        both = np.column_stack([ends.origin, ends.destination])
        # One row per end that there is, two columns: origin, destination.  Reading this row by row gives ends in the
        # order of trips, the origin first.
        has_place = both >= 0
        n = len(ends.places)
        role_and_place = (both + np.array([0, n]))[has_place]  # rows of a trip are adjacent, its origin first
        # Roles are a digit in front: codes below n are origins by the rank of their name, those from n on are
        # destinations.
        order = sorted(range(n), key=lambda code: ends.places[code])
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        used, location = np.unique(np.concatenate([rank, rank + n])[role_and_place], return_inverse=True)
        place = np.array(order, np.int64)[used % n] if n else used
        names = tuple(
            (ORIGIN if role < n else DESTINATION) + ends.places[at] for role, at in zip(used, place, strict=True)
        )
        return cls(
            offsets=offsets_of(has_place.sum(axis=1)),
            location=location,
            t=np.column_stack([ends.t_start, ends.t_end])[has_place],
            locations=names,
            owner=owner,
            attributes=attributes,
            time_format=time_format,
            owners=owners,
            place_x=None if positions is None else positions[0][place],
            place_y=None if positions is None else positions[1][place],
            place_frame=None if positions is None else frame,
        )
