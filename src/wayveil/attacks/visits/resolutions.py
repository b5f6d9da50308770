"""How exactly an attacker knows places and times: ladders of resolutions that fit a data set."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import ParameterError
from wayveil.model import TimeFormat, duration_units, parameter, seconds_per_unit

__all__ = [
    "ANY_TIME",
    "EXACT",
    "Bucket",
    "Times",
    "bucket_of",
    "bucket_parameter",
    "buckets",
    "cell_name",
    "cells",
    "check_cell",
    "ladder_of",
]

Array = NDArray[Any]

_HOUR_S = 3600
_SIDES_M = (100, 500, 1000, 5000)
_MOST_MULTIPLES = 5


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A width of time in the unit of the data, and its name; 1 is the exact time, None is no time at all.

    Examples
    --------
    >>> Bucket(name="10", width=10).of(np.array([-1, 0, 19])).tolist()
    [-1, 0, 1]
    """

    name: str
    width: int | None

    def of(self, t: Array) -> Array:
        """Return the number of the bucket of each time; buckets start at 0."""
        return np.zeros(len(t), np.int64) if self.width is None else t // self.width


EXACT = Bucket(name="exact", width=1)
ANY_TIME = Bucket(name="any time", width=None)


@dataclass(frozen=True, kw_only=True)
class Times:
    """What says how coarse times can be: the largest number of which all are multiples, the first, and the last.

    Examples
    --------
    >>> Times.of(np.array([60, 90]))
    Times(tick=30, first=60, last=90, has_times=True)
    """

    tick: int
    first: int
    last: int
    has_times: bool

    @classmethod
    def of(cls, t: Array) -> Times:
        """Return what these times have in common."""
        if not len(t):
            return cls(tick=0, first=0, last=0, has_times=False)
        first = int(t.min())
        since = t.astype(np.uint64) - np.array(first, np.int64).astype(np.uint64)  # wraps to the right difference
        return cls(tick=gcd(int(np.gcd.reduce(since)), first), first=first, last=int(t.max()), has_times=True)


def buckets(t: Array, time_format: TimeFormat, widths_s: tuple[int, ...], *, exact: bool) -> tuple[Bucket, ...]:
    """Return buckets that make a difference, from fine to coarse; the last is no time at all.

    For dates these are the widths, in seconds, that are more than the tick of the data (all times are its multiples)
    and less than the time from first to last.  Where a width is not more than the tick, or with `exact`, the exact time
    comes first.  For plain integers they are the exact time and powers of 4 of the tick, at most 5 of them.

    Examples
    --------
    >>> [b.name for b in buckets(np.array([0, 60, 90_000]), "epoch", (60, 3600, 86_400), exact=False)]
    ['exact', '1h', '1d', 'any time']
    >>> [b.name for b in buckets(np.arange(24), "integer", (), exact=True)]
    ['exact', '4', '16', 'any time']
    """
    return ladder_of(Times.of(t), time_format, widths_s, exact=exact)


def ladder_of(times: Times, time_format: TimeFormat, widths_s: tuple[int, ...], *, exact: bool) -> tuple[Bucket, ...]:
    """Return the same for times of which only this is known."""
    tick = times.tick or 1
    span = times.last - times.first
    unit = seconds_per_unit(time_format)
    if unit is None:
        # Plain integers have no natural widths: powers of four of the tick, at most five of them.
        multiples = [4**i * tick for i in range(1, 32) if 4**i * tick < span]
        if len(multiples) > _MOST_MULTIPLES:
            picks = np.linspace(0, len(multiples) - 1, _MOST_MULTIPLES).round().astype(int).tolist()
            multiples = [multiples[i] for i in picks]
        return (EXACT, *(Bucket(name=str(width), width=width) for width in multiples), ANY_TIME)
    widths = {seconds: round(seconds / unit) for seconds in widths_s}
    # A width that every time is a multiple of changes nothing, and one longer than all times is no time at all.
    buckets = [Bucket(name=_duration(s), width=width) for s, width in widths.items() if tick < width < span]
    first = (EXACT,) if exact or any(width <= tick for width in widths.values()) else ()
    return (*first, *buckets, ANY_TIME)


def bucket_parameter() -> Any:
    """Declare how exactly times are known; see `bucket_of`."""
    return parameter(
        kind="duration",
        choices=("exact", "any", "auto"),
        default="auto",
        help="width of time to which points are known; any: no times; auto: up to 1h, exact for plain integers",
    )


def bucket_of(component: str, value: str, ladder: tuple[Bucket, ...], time_format: TimeFormat) -> Bucket:
    """Return the bucket that a parameter says; "auto" is the coarsest of the ladder up to an hour, else the exact time.

    Examples
    --------
    >>> ladder = buckets(np.array([0, 60, 90_000]), "epoch", (60, 3600, 86_400), exact=False)
    >>> bucket_of("uniqueness", "auto", ladder, "epoch").name, bucket_of("uniqueness", "15min", ladder, "epoch").width
    ('1h', 900)
    """
    if value == "exact":
        return EXACT
    if value == "any":
        return ANY_TIME
    if value != "auto":
        return Bucket(name=value, width=duration_units(component, "bucket", value, time_format))
    unit = seconds_per_unit(time_format)
    if unit is None:
        return EXACT
    return next((b for b in reversed(ladder) if b.width is not None and b.width * unit <= _HOUR_S), EXACT)


def cells(x: Array, y: Array) -> tuple[float, ...]:
    """Return sides of cells, in metres: 100 m, 500 m, 1 km and 5 km, or tenths of these (of tenths ...), so that the
    data are at least twice as wide or high as the largest.

    Examples
    --------
    >>> cells(np.array([0.0, 2e4]), np.zeros(2)), cells(np.array([0.0, 90.0]), np.zeros(2))
    ((100.0, 500.0, 1000.0, 5000.0), (0.1, 0.5, 1.0, 5.0))
    """
    with np.errstate(over="ignore"):
        extent = max((float(column.max() - column.min()) for column in (x, y) if len(column)), default=0.0)
    tenths = 0
    # Tenths, until the largest cell is at most half of the extent.
    while extent > 0 and tenths < 9 and 2 * _SIDES_M[-1] > extent * 10**tenths:
        tenths += 1
    return tuple(side / 10**tenths for side in _SIDES_M)


def cell_name(side: float) -> str:
    """Return the side of a cell in words.

    Examples
    --------
    >>> cell_name(500.0), cell_name(5000.0), cell_name(0.5)
    ('500 m', '5 km', '0.5 m')
    """
    return f"{side / 1000:g} km" if side >= 1000 else f"{side:g} m"


def check_cell(component: str, cell: float | str) -> None:
    """Refuse cells without a size."""
    if cell == 0:
        raise ParameterError(f"{component}: cell must be greater than 0, got 0. Cells without a size hold no points.")


def _duration(seconds: int) -> str:
    for name, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{name}"
    return f"{seconds}s"
