"""Points and boxes: flat columns that cannot be wrong, and cannot be changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.model import Boxes, Points
from wayveil.model.data.times import duration_units

POINTS = Points.from_records(
    [[(0, 0.0, 1.0), (2, 3.0, 4.0)], [], [(5, 6.0, 7.0)]], owner=[4, 4, 9], attributes={"a": ["x", None, "y"]}
)
REGIONS = Boxes.from_records([[(0, 1, 0.0, 1.0, 2.0, 3.0), (1, 1, 0.0, 0.0, 0.0, 0.0)], []], owner=[1, 2])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"offsets": [0, 2, 1, 3]}, "never decrease"),
        ({"offsets": [1, 2, 2, 3]}, "start at 0"),
        ({"offsets": []}, "start at 0"),
        ({"offsets": [0, 2, 2, 4]}, "as many rows"),
        ({"x": [0.0, 3.0]}, "as many rows"),
        ({"y": [0.0, 3.0]}, "as many rows"),
        ({"owner": [1, 2]}, "one value per trajectory"),
        ({"x": [0.0, np.nan, 6.0]}, "finite"),
        ({"y": [0.0, np.inf, 6.0]}, "finite"),
        ({"t": [0, 0, 5]}, "increase strictly"),
        ({"t": [2, 0, 5]}, "increase strictly"),
        ({"known": [True, False]}, "known must have one value per row"),
    ],
)
def test_wrong_points_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(POINTS, **{name: np.array(values) for name, values in change.items()})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"offsets": [0, 3, 2]}, "never decrease"),
        ({"offsets": [0, 2, 3]}, "as many rows"),
        ({"y_min": [0.0]}, "as many rows"),
        ({"owner": [1]}, "one value per trajectory"),
        ({"x_min": [np.nan, 0.0]}, "finite"),
        ({"y_max": [np.inf, 0.0]}, "finite"),
        ({"x_min": [1.5, 0.0]}, "end before it begins"),
        ({"y_max": [1.5, 0.0]}, "end before it begins"),
        ({"t_max": [-1, 1]}, "end before it begins"),
        ({"t_min": [1, 0]}, "never decrease inside"),
        ({"t_max": [2, 1]}, "never decrease inside"),
    ],
)
def test_wrong_boxes_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(REGIONS, **{name: np.array(values) for name, values in change.items()})


def test_taking_and_keeping() -> None:
    taken = POINTS.take(np.array([2, 0]))
    assert [taken.record(i) for i in range(2)] == [[(5, 6.0, 7.0)], [(0, 0.0, 1.0), (2, 3.0, 4.0)]]
    assert taken.owner.tolist() == [9, 4]
    assert taken.attributes["a"].values() == ["y", "x"]
    assert (POINTS.n_owners, POINTS.n_rows, len(POINTS)) == (2, 3, 3)
    kept = POINTS.where(np.array([False, True, True]))
    assert [kept.record(i) for i in range(3)] == [[(2, 3.0, 4.0)], [], [(5, 6.0, 7.0)]]
    boxes = REGIONS.take(np.array([1, 0]))
    assert (boxes.record(0), boxes.record(1)) == ([], REGIONS.record(0))
    assert boxes.owner.tolist() == [2, 1]
    assert REGIONS.where(np.array([False, True])).record(0) == [(1, 1, 0.0, 0.0, 0.0, 0.0)]
    assert (REGIONS.n_owners, REGIONS.n_rows, len(REGIONS)) == (2, 2, 2)


def test_what_is_known_goes_along() -> None:
    marked = replace(POINTS, known=np.array([1, 0, 1]))
    assert marked.known is not None
    assert marked.known.dtype == np.bool_
    assert not marked.known.flags.writeable
    assert marked.take(np.array([2, 0])).known.tolist() == [True, True, False]
    assert marked.where(np.array([False, True, True])).known.tolist() == [False, True]
    assert POINTS.take(np.array([0])).known is None
    assert POINTS.where(np.array([True, True, True])).known is None


@pytest.mark.parametrize("data", [POINTS, REGIONS])
def test_nothing_can_be_written_to(data: Any) -> None:
    arrays = [value for value in vars(data).values() if isinstance(value, np.ndarray)]
    assert len(arrays) >= 5
    assert not any(array.flags.writeable for array in arrays)


def test_durations_in_the_unit_of_the_times() -> None:
    assert duration_units("x", "y", "2h", "epoch") == 7200
    assert duration_units("x", "y", "5", "epoch") == 5
    assert duration_units("x", "y", "5", "integer") == 5
    assert duration_units("x", "y", "90s", "utc") == duration_units("x", "y", "90s", "local") == 90_000_000
    with pytest.raises(InputError, match="x: the times are plain integers without a unit, so y must be one, got 2h"):
        duration_units("x", "y", "2h", "integer")
    with pytest.raises(InputError, match="y needs a unit, got 5"):
        duration_units("x", "y", "5", "utc")
