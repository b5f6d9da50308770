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


NUMBER = Parameter(name="delta", kind="number", help="", low=0, choices=("auto",), why="Why not.")


def test_numbers() -> None:
    assert [NUMBER.check("x", value) for value in (0, 2.5, "1e3", "auto")] == [0.0, 2.5, 1000.0, "auto"]
    assert NUMBER.parse("x", "7") == 7.0
    assert NUMBER.range == "number >= 0 or auto"
    assert Parameter(name="p", kind="number", help="", low=0.5, high=2).range == "number from 0.5 to 2"


@pytest.mark.parametrize("value", ["", "nan", "inf", float("nan"), float("inf"), -1, True, None, [1], 10**400])
def test_bad_numbers(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"x: delta must be a number >= 0 or 'auto', got .* Why not\."):
        NUMBER.check("x", value)
    with pytest.raises(ParameterError, match="must be a number from 0 to 5"):
        Parameter(name="p", kind="number", help="", low=0, high=5).check("x", 6)


def test_texts() -> None:
    text = Parameter(name="network", kind="text", help="")
    assert (text.check("x", "a b"), text.parse("x", "c"), text.range) == ("a b", "c", "text")
    for wrong in (1, None, "two\nlines"):
        with pytest.raises(ParameterError, match="x: network must be one line of text"):
            text.check("x", wrong)


def test_a_duration_with_a_word() -> None:
    p = Parameter(name="gap", kind="duration", help="", choices=("none",))
    assert (p.check("x", "none"), p.check("x", "60min"), p.parse("x", "none")) == ("none", "1h", "none")
    assert p.range.endswith("or none")
