"""Visits: who was where, when, as location-time doublets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_order
from wayveil.model.data.coded import Coded, common_codes, number_names, translate_codes
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import FloatArray, IntArray, frozen, offsets_of
from wayveil.model.data.times import TimeFormat
from wayveil.model.data.trajectories import Columns, Sites, Trajectories

__all__ = ["Visits"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Visits(Trajectories):
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
    place_frame : Frame, or None
        What these metres were in the file; None for plain metres.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 3)], [("a", 1)]], attributes={"ill": ["yes", "no"]})
    >>> len(data), data.n_visits, data.record(0)
    (2, 3, [('a', 1), ('b', 3)])
    """

    location: IntArray
    t: IntArray
    locations: tuple[str, ...]
    place_x: FloatArray | None = None
    place_y: FloatArray | None = None
    place_frame: Frame | None = None

    kind: ClassVar[str] = "visits"
    row_word: ClassVar[str] = "visits"
    row_columns: ClassVar[Columns] = {"location": np.int32, "t": np.int64}
    code_columns: ClassVar[tuple[str, ...]] = ("location",)
    names_field: ClassVar[str] = "locations"
    name_word: ClassVar[Literal["places", "roads"] | None] = "places"
    whole: ClassVar[bool] = True
    one_per_time: ClassVar[bool] = True
    """Whether a trajectory has at most one visit at a time."""

    not_published: ClassVar[str] = "Trajectories without any visit left"
    nothing_left: ClassVar[str] = (
        "Nothing was published: no visit is left after suppression, because too few people share a place and a "
        "time. Make times coarser with --time-bucket, or ask for a smaller k or l or a larger c."
    )

    def __post_init__(self) -> None:
        # The fields of this kind alone are brought to their types here; the base does the columns of all kinds and then
        # has everything checked.
        object.__setattr__(self, "locations", tuple(self.locations))
        for name in ("place_x", "place_y"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        super().__post_init__()

    def _check_rows(self) -> None:
        if len(self.location) and not (self.location.min() >= 0 and self.location.max() < len(self.locations)):
            raise InputError("Visits: a location code has no name.")
        # Either both coordinates or neither: one alone would be a place on a line.
        places = [place for place in (self.place_x, self.place_y) if place is not None]
        if len(places) == 1 or any(len(p) != len(self.locations) or not np.isfinite(p).all() for p in places):
            raise InputError("Visits: place_x and place_y must both have one finite value per name of a location.")
        check_order(type(self).__name__, self.offsets, self.t, strictly=self.one_per_time)

    @property
    def n_visits(self) -> int:
        """Number of rows."""
        return self.n_rows

    def record(self, trajectory: int) -> list[tuple[str, int]]:
        """Return one trajectory as (location, t) pairs; for people and tests, not for loops over data."""
        rows = self.rows(trajectory)
        return [
            (self.locations[place], t)
            for place, t in zip(self.location[rows].tolist(), self.t[rows].tolist(), strict=True)
        ]

    def recode(self, names: Sequence[str]) -> Self:
        """Return the same visits with codes into `names`, which must hold every location that somebody visits."""
        code = number_names(names)
        moved: dict[str, Any] = {}
        # Coordinates belong to names, so they move with them: `at` are the new codes of the names that somebody visits.
        # Names that nobody visits here get (0, 0), which nothing refers to.
        if self.place_x is not None and self.place_y is not None:
            used = self._used()
            at = translate_codes(used, self.locations, code)
            for axis, places in (("place_x", self.place_x), ("place_y", self.place_y)):
                moved[axis] = np.zeros(len(names))
                moved[axis][at] = places[used]
        location = translate_codes(self.location, self.locations, code)
        return replace(self, location=location, locations=tuple(names), **moved)

    @classmethod
    def tiny(cls) -> Self:
        """Return two people with the same two visits."""
        return cls.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)]], attributes={"s": ["x", "y"]})

    def times(self) -> IntArray:
        """Return the time of each visit."""
        return self.t

    def place_names(self) -> tuple[str, ...]:
        """Return the name of the place behind each location."""
        return self.locations

    def positions(self) -> tuple[FloatArray, FloatArray] | None:
        """Return where the visits are, if it is known where the locations are."""
        if self.place_x is None or self.place_y is None:
            return None
        return self.place_x[self.location], self.place_y[self.location]

    def sites(self) -> Sites:
        """Return the places, and where they are, if that is known."""
        sides = None
        if self.place_x is not None and self.place_y is not None:
            sides = (self.place_x, self.place_x, self.place_y, self.place_y)
        return Sites(
            names=self.place_names(),
            code=self.location,
            sides=sides,
            reach=self.positions(),
            frame=self.place_frame,
        )

    def size_text(self, sides: str, lasting: str, *, has_extent: bool) -> str:
        """Return the median zone, if places became zones."""
        # Without an extent a place is as it was: only times may have become coarser.
        if not has_extent:
            return super().size_text(sides, lasting, has_extent=has_extent)
        return f"median zone {sides}{f', times by {lasting}' if lasting else ''}"

    def curve_keys(self) -> IntArray:
        """Return the beginning of the name of the first location: names that begin alike are often near."""
        if not self.n_rows:
            return super().curve_keys()
        # Seven bytes fit into 63 bits, so that names compare as numbers in the order of their bytes.  Zones and cells
        # have names with a common beginning where they are near; other names give any order, which costs utility, never
        # privacy.
        text = [name.encode()[:7].ljust(7, b"\0") for name in self.place_names()]
        return np.array([int.from_bytes(name, "big") for name in text], np.int64)[self.location[self._first_rows()]]

    def row_keys(self, other: Self) -> tuple[IntArray, IntArray]:
        """Return the locations: a visit stays the same where its location does."""
        return common_codes(self.locations, self.location, other.locations, other.location)

    @classmethod
    def _unify(cls, parts: Sequence[Self]) -> Sequence[Self]:
        """Return parts with one list of the locations that somebody visits, in sorted order."""
        # Only what somebody visits, in sorted order: the result must depend on the visits, not on how they were cut
        # into parts.
        names = sorted({part.locations[i] for part in parts for i in part._used().tolist()})
        recoded = [part.recode(names) for part in parts]
        if recoded[0].place_x is None:
            return recoded
        # Each part knows only where its own locations are.
        at: dict[str, Any] = {}
        for axis in ("place_x", "place_y"):
            at[axis] = np.zeros(len(names))
            for part in recoded:
                used = part._used()
                at[axis][used] = getattr(part, axis)[used]
        return [replace(part, **at) for part in recoded]

    def _used(self) -> IntArray:
        """Return the codes of the locations that somebody visits, in order."""
        return np.flatnonzero(np.bincount(self.location, minlength=1))

    def _place_counts(self) -> dict[str, int]:
        return {"Places": len(self._used())}

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[tuple[str, int]]],
        *,
        attributes: Mapping[str, Sequence[str | None]] | None = None,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
    ) -> Self:
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
