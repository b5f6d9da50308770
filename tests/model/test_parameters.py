"""Durations as parameters."""

from __future__ import annotations

from typing import Any

import pytest

from wayveil.errors import ParameterError
from wayveil.model.parameters import Parameter, duration_s, plain

WIDTH = Parameter(name="width", kind="duration", help="a width", why="Why not.")


@pytest.mark.parametrize(
    ("value", "exact", "seconds"),
    [
        ("90s", "90s", 90),
        ("60s", "1min", 60),
        ("15min", "15min", 900),
        ("15m", "15min", 900),
        ("90min", "90min", 5400),
        ("60min", "1h", 3600),
        ("1h", "1h", 3600),
        ("24h", "1d", 86_400),
        ("1d", "1d", 86_400),
        ("007", "7", None),
        ("15", "15", None),
        (15, "15", None),
    ],
)
def test_durations(value: Any, exact: str, seconds: int | None) -> None:
    assert WIDTH.check("x", value) == exact
    assert WIDTH.parse("x", str(value)) == exact
    assert WIDTH.check("x", plain(exact)) == exact
    assert duration_s(exact) == seconds


@pytest.mark.parametrize(
    "value", ["", "0", "0h", "-1h", "1.5h", "h", "1 h", "1y", "٣h", 0, -5, 1.5, True, None, "9" * 17 + "d"]
)
def test_bad_durations(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"x: width must be a duration such as .* Why not\."):
        WIDTH.check("x", value)


def test_a_duration_must_be_exact_to_be_counted() -> None:
    with pytest.raises(ParameterError, match="duration_s"):
        duration_s("soon")


def test_the_range_in_words() -> None:
    assert "15min" in WIDTH.range
