"""Original and published visits side by side: places are matched by name, as codes and order differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.model import TimeFormat, Visits

__all__ = ["aligned_locations", "check_time_formats", "check_times", "hour_of_day", "time_label"]

Array = NDArray[Any]

_HOUR: dict[TimeFormat, int] = {"epoch": 3600, "utc": 3_600_000_000, "local": 3_600_000_000}


def aligned_locations(original: Visits, published: Visits) -> tuple[tuple[str, ...], Array]:
    """Return the names of both, those of `original` first, and the codes of the published visits in them.

    Examples
    --------
    >>> before = Visits.from_records([[("b", 1), ("c", 2)]])
    >>> after = Visits.from_records([[("a", 1), ("c", 2)]])
    >>> names, codes = aligned_locations(before, after)
    >>> names, codes.tolist()
    (('b', 'c', 'a'), [2, 1])
    """
    code = {name: i for i, name in enumerate(original.locations)}
    for name in published.locations:
        code.setdefault(name, len(code))
    recode = np.array([code[name] for name in published.locations], np.int64)
    return tuple(code), recode[published.location]


def check_times(component: str, original: Visits, published: Visits) -> None:
    """Raise InputError where the times of the two cannot be compared."""
    check_time_formats(component, original.time_format, published.time_format)


def check_time_formats(component: str, before: TimeFormat, after: TimeFormat) -> None:
    """Raise InputError where times of these forms cannot be compared."""
    plain = {"integer", "epoch"}
    if before != after and not {before, after} <= plain:
        raise InputError(
            f"{component}: the times of the original ({before}) and of the published data ({after}) cannot be "
            "compared. "
            "Give both in the same form."
        )


def hour_of_day(t: Array, time_format: TimeFormat) -> Array:
    """Return the hour of the day, 0 to 23, of times that are not plain integers."""
    return t // _HOUR[time_format] % 24


def time_label(t: int, time_format: TimeFormat) -> str:
    """Return a time as people read it, without parts that are zero.

    Examples
    --------
    >>> time_label(7, "integer"), time_label(1_700_000_000, "epoch"), time_label(60_000_000, "local")
    ('7', '2023-11-14 22:13:20 UTC', '1970-01-01 00:01')
    """
    if time_format == "integer":
        return str(t)
    moment = np.datetime64(t, "s") if time_format == "epoch" else np.datetime64(t, "us")
    text = str(moment).replace("T", " ")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = text.removesuffix(":00")
    return text if time_format == "local" else f"{text} UTC"
