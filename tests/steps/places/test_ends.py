"""Trips to visits and to cells: both ends of every trip stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError, UsageError
from wayveil.model import Trips
from wayveil.model.data.trips import TripEnds
from wayveil.recipe.catalog import build, kinds_needed
from wayveil.steps import Ends, Grid

SAME: list[Any] = [("a", 1, "a", 1), ("b", 1, "a", 2), (None, None, "b", 4)]


def test_each_end_becomes_a_trajectory() -> None:
    data = Trips.from_ends(SAME, owner=[3, 4, 4], attributes={"s": ["x", "y", "z"]})
    visits, notes, source = Ends(trajectory="end").run_with_origin(data)
    assert [visits.record(i) for i in range(5)] == [[("a", 1)], [("a", 1)], [("b", 1)], [("a", 2)], [("b", 4)]]
    assert visits.owner.tolist() == [3, 3, 4, 4, 4]
    assert visits.attributes["s"].values() == ["x", "x", "y", "y", "z"]
    assert source is not None
    assert source.tolist() == [0, 0, 1, 1, 2]
    assert notes == ("3 trips became 5 visits.",)


def test_a_trip_stays_together() -> None:
    data = Trips.from_ends(SAME[1:])
    visits, _ = Ends().run(data)
    assert [visits.record(i) for i in range(2)] == [[("b", 1), ("a", 2)], [("b", 4)]]


def test_nothing_is_merged_in_silence() -> None:
    with pytest.raises(InputError, match=r"1 of 3 trips begin and end at the same time.*ends trajectory=end"):
        Ends().run(Trips.from_ends(SAME))


def placed() -> Trips:
    ends = TripEnds(("p", "q", "r"), *(np.array(c) for c in ([0, 1, -1], [2, 0, 1], [61, 3, 0], [65, 70, 9])))
    where = np.array([10.0, 20.0, 990.0]), np.array([5.0, 99.0, -1.0])
    return Trips.of_ends(
        ends, owner=np.arange(3), attributes={}, time_format="integer", owners="declared", positions=where
    )


def test_places_become_cells() -> None:
    cells, notes = Grid(cell=100, bucket=60).run(placed())
    assert isinstance(cells, Trips)
    assert [cells.record(i) for i in range(3)] == [
        [("from x0_y0", 60), ("to x9_y-1", 60)],
        [("from x0_y0", 0), ("to x0_y0", 60)],
        [("to x0_y0", 0)],
    ]
    assert notes == ("The ends of 3 trips were put into 2 cells of 100 m, by 60.",)
    where = cells.positions()
    assert where is not None
    assert where[0].tolist() == [50.0, 950.0, 50.0, 50.0, 50.0]


def test_cells_need_coordinates() -> None:
    with pytest.raises(InputError, match="not known where the places of the trips are"):
        Grid(cell=100, bucket=60).run(Trips.from_ends(SAME))


def test_where_places_are_goes_along() -> None:
    visits, _ = Ends(trajectory="end").run(placed())
    where = visits.positions()
    assert where is not None
    assert where[0].tolist() == [10.0, 990.0, 20.0, 10.0, 20.0]


def test_trips_go_only_where_all_parts_take_them() -> None:
    bucket, ends = build("step", "bucket", {"width": "1h"}), build("step", "ends", {})
    kcl = build("method", "kcl", {"k": 2, "l": 1})
    gsup = build("method", "gsup", {"p": "0.5", "adversaries": {"one": ["a"]}})
    assert kinds_needed((bucket,), kcl) == ("visits", "trips")
    assert kinds_needed((bucket,), gsup) == ("visits",)
    assert kinds_needed((bucket, ends), gsup) == ("trips",)
    assert kinds_needed((build("step", "grid", {"cell": 1, "bucket": 1}),), kcl) == ("points", "trips")
    with pytest.raises(UsageError, match="ends needs trips, but what comes before it gives visits"):
        kinds_needed((build("step", "cut", {"period": "1d"}), ends), gsup)
