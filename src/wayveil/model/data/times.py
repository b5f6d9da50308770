"""What the numbers in a column of times mean, and durations in their unit."""

from __future__ import annotations

from typing import Literal

from wayveil.errors import InputError
from wayveil.model.parameters import duration_s

__all__ = ["TimeFormat", "duration_units", "seconds_per_unit"]

TimeFormat = Literal["integer", "epoch", "utc", "local"]
"""What `t` means: a plain integer; seconds since 1970; microseconds since 1970 read from ISO 8601 text with an
offset (`utc`) or without one (`local`: local time)."""


def seconds_per_unit(time_format: TimeFormat) -> float | None:
    """Return how long one unit of time is in seconds; None for plain integers, whose unit nobody said.

    Examples
    --------
    >>> seconds_per_unit("utc"), seconds_per_unit("epoch"), seconds_per_unit("integer")
    (1e-06, 1.0, None)
    """
    if time_format == "integer":
        return None
    return 1.0 if time_format == "epoch" else 1e-6


def duration_units(component: str, name: str, value: str, time_format: TimeFormat) -> int:
    """Return a duration (the exact form of a parameter of kind "duration") in the unit of the data's times.

    Examples
    --------
    >>> duration_units("bucket", "width", "15min", "epoch"), duration_units("bucket", "width", "10", "integer")
    (900, 10)
    """
    seconds = duration_s(value)
    if time_format == "integer":
        if seconds is not None:
            raise InputError(
                f"{component}: the times are plain integers without a unit, so {name} must be one, got {value}."
            )
        return int(value)
    # Seconds are the unit of epoch times, so a bare number is as good as one with "s".
    if time_format == "epoch":
        return int(value) if seconds is None else seconds
    # Dates are microseconds inside; a number without a unit could mean either, so it is refused.
    if seconds is None:
        raise InputError(
            f"{component}: the times are dates, so {name} needs a unit, got {value}; write for example 15min or 1h."
        )
    return seconds * 1_000_000
