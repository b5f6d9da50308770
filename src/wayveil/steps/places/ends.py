"""Ends: trips as visits to where they began and ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Step, Trips, Visits, parameter
from wayveil.model.data.coded import number_names
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["Ends"]


@dataclass(frozen=True, kw_only=True)
class Ends(Step):
    """Turn both ends of each trip into visits, and never two of them into one.

    Parameters
    ----------
    trajectory : {"trip", "end"}
        Whether the two visits of a trip stay one trajectory, or each is one of its own.  A trajectory of visits is at
        one place at a time, so trips that begin and end at the same time, as after `bucket`, need "end".

    Notes
    -----
    Visits do not tell which end of a trip they are.  Owners and attributes stay.  O(n) time and memory.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> data = Trips.from_ends([("Park", 8, "Quay", 9), ("Quay", 8, None, None)])
    >>> visits, notes = Ends().run(data)
    >>> visits.record(0), visits.record(1), notes
    ([('Park', 8), ('Quay', 9)], [('Quay', 8)], ('2 trips became 3 visits.',))
    """

    trajectory: str = parameter(
        kind="choice", choices=("trip", "end"), default="trip", help="what becomes a trajectory: a trip, or each end"
    )

    name: ClassVar[str] = "ends"
    summary: ClassVar[str] = "turn both ends of trips into visits"
    accepts: ClassVar[type[Trips]] = Trips
    gives: ClassVar[type[Visits]] = Visits

    def run(self, data: Trips) -> tuple[Visits, tuple[str, ...]]:
        """Return the visits, and a note that counts them."""
        visits, notes, _ = self.run_with_origin(data)
        return visits, notes

    def run_with_origin(self, data: Trips) -> tuple[Visits, tuple[str, ...], IntArray | None]:
        """Return the visits, a note, and for every trajectory the trip that it comes from."""
        trip = trajectory_of_row(data.offsets)
        source = trip if self.trajectory == "end" else np.arange(len(data))
        together = int(((trip[1:] == trip[:-1]) & (data.t[1:] == data.t[:-1])).sum())
        if together and self.trajectory == "trip":
            raise InputError(
                f"ends: {together:,} of {len(data):,} trips begin and end at the same time, and a trajectory of visits "
                "is at one place at a time; make each end a trajectory with 'ends trajectory=end', or take a method "
                "that accepts trips."
            )
        place = data.place_names()
        names = tuple(sorted(set(place)))
        code_of = number_names(names)
        code = np.array([code_of[name] for name in place], np.int32)
        at: dict[str, np.ndarray] = {}
        if data.place_x is not None and data.place_y is not None:
            for axis, values in (("place_x", data.place_x), ("place_y", data.place_y)):
                at[axis] = np.zeros(len(names))
                at[axis][code] = values
        visits = Visits(
            offsets=np.arange(data.n_rows + 1) if self.trajectory == "end" else data.offsets,
            location=code[data.location],
            t=data.t,
            locations=names,
            owner=data.owner[source],
            attributes={name: attribute.take(source) for name, attribute in data.attributes.items()},
            time_format=data.time_format,
            owners=data.owners,
            place_x=at.get("place_x"),
            place_y=at.get("place_y"),
            place_frame=data.place_frame,
        )
        notes = (f"{len(data):,} trips became {visits.n_rows:,} visits.",)
        return visits, notes, source if self.trajectory == "end" else None
