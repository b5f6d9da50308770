"""All kinds of data, by the names that users know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from wayveil.model.data.boxes import Boxes
from wayveil.model.data.count_tables import CountTables
from wayveil.model.data.points import Points
from wayveil.model.data.routes import Routes
from wayveil.model.data.stops import Stops
from wayveil.model.data.trajectories import Trajectories
from wayveil.model.data.trips import Trips
from wayveil.model.data.visits import Visits

__all__ = ["KINDS", "PLACE_KINDS", "InputKind", "Kind"]

Kind = Literal["visits", "points", "regions", "routes", "stops", "trips", "counts"]
"""The name of a kind of data."""

InputKind = Literal["visits", "points", "routes", "stops", "trips"]
"""The name of a kind of data that people have; the others only come out of methods."""

KINDS: Mapping[str, type[Trajectories]] = {
    kind.kind: kind for kind in (Visits, Points, Boxes, Routes, Stops, Trips, CountTables)
}
"""The class of every kind of data."""

PLACE_KINDS: tuple[type[Trajectories], ...] = tuple(
    kind for kind in KINDS.values() if kind.individual and len(kind.code_columns) == 1
)
"""The kinds of people's movement whose rows name one place each, so that a row can be counted at its place."""
