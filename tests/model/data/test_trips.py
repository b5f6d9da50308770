"""Trips keep what they say of themselves: at most one origin and one destination, in this order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.model import Trips, concat
from wayveil.model.data.trips import TripEnds

NOTHING = (None, None, None, None)
SOME: list[Any] = [("b", 8, "a", 9), ("b", 8, None, None), (None, None, "b", 9), NOTHING, ("b", 5, "b", 5)]


def test_ends_and_back() -> None:
    data = Trips.from_ends(SOME, owner=[0, 0, 1, 1, 2])
    ends = data.ends()
    assert ends.places == ("a", "b")
    assert ends.origin.tolist() == [1, 1, -1, -1, 1]
    assert ends.destination.tolist() == [0, -1, 1, -1, 1]
    assert ends.t_start.tolist() == [8, 8, 0, 0, 5]
    assert ends.t_end.tolist() == [9, 0, 9, 0, 5]
    again = Trips.of_ends(ends, owner=data.owner, attributes={}, time_format="integer", owners="given")
    assert again.same_content(data)
    assert again.locations == ("from b", "to a", "to b")
    assert data.place_names() == ("b", "a", "b")


def test_places_keep_where_they_are() -> None:
    ends = TripEnds(("z", "a"), *(np.array(column) for column in ([0, 1], [1, 0], [1, 2], [3, 4])))
    positions = np.array([10.0, 20.0]), np.array([1.0, 2.0])
    data = Trips.of_ends(
        ends, owner=np.arange(2), attributes={}, time_format="integer", owners="declared", positions=positions
    )
    assert data.record(0) == [("from z", 1), ("to a", 3)]
    where = data.positions()
    assert where is not None
    assert where[0].tolist() == [10.0, 20.0, 20.0, 10.0]
    assert where[1].tolist() == [1.0, 2.0, 2.0, 1.0]


def test_suppression_leaves_either_end_or_none() -> None:
    data = Trips.from_ends(SOME[:1] * 4)
    less = data.where(np.array([True, True, True, False, False, True, False, False]))
    assert [less.record(i) for i in range(4)] == [
        [("from b", 8), ("to a", 9)],
        [("from b", 8)],
        [("to a", 9)],
        [],
    ]
    assert less.nonempty.tolist() == [True, True, True, False]


def test_parts_become_one() -> None:
    data = Trips.from_ends(SOME)
    parts = [data.take(np.array([i])) for i in range(len(data))]
    assert concat([replace(part, owner=np.array([i])) for i, part in enumerate(parts)]).same_content(data)


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ([[("park", 1)]], "must begin with 'from ' or 'to '"),
        ([[("from a", 1), ("from b", 2)]], "at most one origin and, behind it, one destination"),
        ([[("to a", 1), ("to b", 2)]], "at most one origin and, behind it, one destination"),
        ([[("to a", 1), ("from b", 2)]], "at most one origin and, behind it, one destination"),
        ([[("from a", 1), ("to b", 2), ("to c", 3)]], "at most one origin and, behind it, one destination"),
        ([[("from a", 2), ("to b", 1)]], "t must never decrease"),
    ],
)
def test_what_is_no_trip_is_refused(records: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^Trips: .*{sentence}"):
        Trips.from_records(records)


def test_names_of_origins_stand_first() -> None:
    """Whoever numbers visits by time and code keeps the order of the ends of a trip."""
    with pytest.raises(InputError, match="names of origins must stand before"):
        Trips.from_ends([("a", 1, "a", 1)]).recode(("to a", "from a"))
