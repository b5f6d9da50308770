"""What a map counts: marks in the plane, and which of them rows are at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray
from wayveil.report.views.map_geometry import Ring

__all__ = ["Counted", "bare_names", "located"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """What is counted: marks in the plane, which of them each raw row is at, and how to count published rows.

    `code` is a mark per raw row, negative for none.  `count` and `people` take published rows and return a value and a
    number of people for every mark.
    """

    kind: Any
    labels: tuple[str, ...]
    x: FloatArray
    y: FloatArray
    x2: FloatArray
    y2: FloatArray
    code: IntArray
    owner: IntArray
    count: Callable[[BoolArray], FloatArray]
    people: Callable[[BoolArray], IntArray]
    what: str
    below: str
    percent: bool
    rings: tuple[Ring, ...] = ()


def bare_names(data: Any) -> tuple[str, ...]:
    """Return the names of places, of trips without the words that say which end they are."""
    names: tuple[str, ...] = data.place_names() if data.trip_ends else tuple(data.places().names)
    return names


def located(data: Any) -> bool:
    """Return whether it is known where the places of visits are."""
    return getattr(data, "place_x", None) is not None and getattr(data, "place_y", None) is not None
