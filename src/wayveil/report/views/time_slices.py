"""Slices of time that the raw and the published data share: hours of the day, equal parts, or slices of trips."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from wayveil.model import Data, seconds_per_unit
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["Slices", "clock_text", "slice_times", "slices_of"]

_PARTS = 24
_HOUR_S = 3600
_DAY_S = 24 * _HOUR_S
_LONG_S = 6 * _HOUR_S  # data of more than this are told by the hour of the day


@dataclass(frozen=True, kw_only=True, eq=False)
class Slices:
    """The names of slices, and in which one each row of the raw and of the published data is; -1 for none.

    `hours` are where slices begin on the clock, where they are hours of the day.
    """

    labels: tuple[str, ...]
    before: IntArray
    after: IntArray
    hours: bool = False


def slices_of(before: Data, after: Data) -> Slices | None:
    """Return the slices of time of two data; None where either has no times, or all is at one time."""
    one, other = _moments(before), _moments(after)
    if one is None or other is None or before.time_format != after.time_format:
        return None
    return slice_times(one, other, seconds_per_unit(before.time_format))


def slice_times(one: IntArray, other: IntArray, unit: float | None) -> Slices | None:
    """Return the slices of two lists of times; `unit` is how many seconds a unit of them is, None for plain numbers."""
    if len(one) == 0 or not one.any():
        return None
    # More than six hours are told by the hour of the day, whichever day it is; less in equal parts.
    if unit is not None and (one.max() - one.min()) * unit > _LONG_S:
        hours = [np.floor(t * unit / _HOUR_S).astype(np.int64) % 24 for t in (one, other)]
        labels = tuple(f"{hour:02d}:00 to {hour + 1:02d}:00" for hour in range(24))
        return Slices(labels=labels, before=hours[0], after=hours[1], hours=True)
    low, high = int(one.min()), int(one.max())
    wide = max(1, -(-(high - low + 1) // _PARTS))
    n = -(-(high - low + 1) // wide)
    if n < 2:
        return None
    # Times of the publication outside of the raw ones are in no slice.
    parts = [np.where((t >= low) & (t < low + n * wide), (t - low) // wide, -1) for t in (one, other)]
    ends = [low + i * wide for i in range(n + 1)]
    texts = [clock_text(end * unit) if unit is not None else f"{end:,}" for end in ends]
    labels = tuple(f"{begin} to {end}" for begin, end in pairwise(texts))
    return Slices(labels=labels, before=parts[0], after=parts[1])


def clock_text(seconds: float) -> str:
    """Return the time of the day.

    Examples
    --------
    >>> clock_text(86400 + 7 * 3600 + 65), clock_text(3600)
    ('07:01:05', '01:00')
    """
    whole = int(seconds % _DAY_S)
    text = f"{whole // _HOUR_S:02d}:{whole // 60 % 60:02d}"
    return f"{text}:{whole % 60:02d}" if whole % 60 else text


def _moments(data: Any) -> IntArray | None:
    """Return the time of each row; of routes, which have none of their own, where the slice of the trip begins."""
    moments: IntArray | None = data.moments()
    if moments is not None:
        return moments
    slices = data.slices()
    return slices[0][trajectory_of_row(data.offsets)] if slices else None
