"""Visits: what is refused, and that nothing can be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.model import Coded, Visits

RECORDS = [[("b", 1), ("a", 3)], [], [("a", 1), ("b", 2), ("a", 9)]]


@pytest.fixture
def data() -> Visits:
    return Visits.from_records(RECORDS, attributes={"ill": ["yes", None, "no"]}, owner=[4, 4, 0])


def columns(**changed: Any) -> dict[str, Any]:
    valid = {"offsets": [0, 2, 3], "location": [0, 1, 0], "t": [1, 2, 1], "locations": ("a", "b"), "owner": [0, 1]}
    return {**valid, **changed}


def test_records_come_back(data: Visits) -> None:
    assert len(data) == 3
    assert [data.record(i) for i in range(3)] == RECORDS
    assert (data.n_visits, data.n_owners, data.locations) == (5, 2, ("a", "b"))
    assert data.attributes["ill"].values() == ["yes", None, "no"]
    assert data.owners == "given"
    assert Visits.from_records(RECORDS).owners == "declared"
    assert Visits.from_records(RECORDS).n_owners == 3


def test_no_trajectories() -> None:
    empty = Visits.from_records([])
    assert (len(empty), empty.n_visits, empty.n_owners, empty.locations) == (0, 0, 0, ())


def test_visits_that_are_kept(data: Visits) -> None:
    kept = data.where(np.array([False, True, True, False, True]))
    assert [kept.record(i) for i in range(3)] == [[("a", 3)], [], [("a", 1), ("a", 9)]]
    assert kept.owner.tolist() == [4, 4, 0]
    assert kept.attributes["ill"].values() == ["yes", None, "no"]
    assert [data.record(i) for i in range(3)] == RECORDS


def test_trajectories_that_are_taken(data: Visits) -> None:
    taken = data.take(np.array([2, 0, 2]))
    assert [taken.record(i) for i in range(3)] == [RECORDS[2], RECORDS[0], RECORDS[2]]
    assert taken.owner.tolist() == [0, 4, 0]
    assert taken.attributes["ill"].values() == ["no", "yes", "no"]
    assert len(data.take(np.array([], np.int64))) == 0


def test_nothing_can_be_changed(data: Visits) -> None:
    for column in (data.offsets, data.location, data.t, data.owner, data.attributes["ill"].codes):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    with pytest.raises(TypeError):
        data.attributes["job"] = data.attributes["ill"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        data.t = data.owner  # type: ignore[misc]


def test_a_column_is_not_the_array_it_was_made_from() -> None:
    t = np.array([1, 2, 1])
    data = Visits(**columns(t=t))
    t[:] = 0
    assert data.t.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"offsets": []}, "offsets must start at 0 and never decrease"),
        ({"offsets": [1, 2, 3]}, "offsets must start at 0 and never decrease"),
        ({"offsets": [0, 3, 2]}, "offsets must start at 0 and never decrease"),
        ({"offsets": [0, 2, 4]}, "location and t must have as many rows as offsets say"),
        ({"t": [1, 2]}, "location and t must have as many rows as offsets say"),
        ({"location": [0, 1, 0, 0]}, "location and t must have as many rows as offsets say"),
        ({"owner": [0]}, "owner and attributes must have one value per trajectory"),
        ({"attributes": {"ill": Coded.from_values(["a"])}}, "owner and attributes must have one value per trajectory"),
        ({"location": [0, 2, 0]}, "a location code has no name"),
        ({"location": [0, -1, 0]}, "a location code has no name"),
        ({"t": [2, 2, 1]}, "t must increase strictly inside a trajectory"),
        ({"t": [2, 1, 1]}, "t must increase strictly inside a trajectory"),
        ({"place_x": [1.0, 2.0]}, "place_x and place_y must both have one finite value"),
        ({"place_y": [1.0, 2.0]}, "place_x and place_y must both have one finite value"),
        ({"place_x": [1.0, 2.0], "place_y": [1.0]}, "place_x and place_y must both have one finite value"),
        ({"place_x": [1.0, np.nan], "place_y": [1.0, 2.0]}, "place_x and place_y must both have one finite value"),
    ],
)
def test_columns_that_do_not_fit(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Visits(**columns(**changed))


def test_time_may_go_back_between_trajectories() -> None:
    assert len(Visits(**columns(t=[5, 6, 5]))) == 2
    assert len(Visits(**columns(offsets=[0, 0, 0, 3], t=[5, 6, 7], owner=[0, 1, 2]))) == 3


def test_coded_values() -> None:
    coded = Coded.from_values(["b", None, "a", "b"])
    assert coded.labels == ("a", "b")
    assert coded.codes.tolist() == [1, -1, 0, 1]
    assert coded.take(np.array([1, 3])).values() == [None, "b"]
    assert Coded.from_values([]).values() == []
