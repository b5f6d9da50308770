"""Hours of the day, or equal parts of the time where nobody said what a unit of time is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.visits.aligned import hour_of_day
from wayveil.model import Chart, Series, TimeFormat

__all__ = ["DayParts"]

Array = NDArray[Any]

_PARTS = 24


@dataclass(frozen=True, kw_only=True)
class DayParts:
    """The parts into which times are cut: 24 hours of the day, or up to 24 equal parts of the original's time.

    Times of the published data before the first or after the last part belong to that part.

    Examples
    --------
    >>> parts = DayParts.of(np.array([10, 100]), "integer")
    >>> parts.labels[:2], parts.part(np.array([0, 10, 14, 999])).tolist()
    (('10-13', '14-17'), [0, 0, 1, 22])
    >>> DayParts.of(np.array([0]), "epoch").part(np.array([7200, 86_400])).tolist()
    [2, 0]
    """

    time_format: TimeFormat
    first: int
    last: int
    width: int

    @classmethod
    def of(cls, t: Array, time_format: TimeFormat) -> DayParts:
        """Return the parts for these times of the original."""
        first, last = (int(t.min()), int(t.max())) if len(t) else (0, 0)
        return cls(time_format=time_format, first=first, last=last, width=-(-(last - first + 1) // _PARTS))

    def part(self, t: Array) -> Array:
        """Return the number of the part of each time."""
        if self.time_format != "integer":
            return hour_of_day(t, self.time_format)
        # The difference of two times can need 64 bits without a sign.
        since = (np.clip(t, self.first, self.last) - np.int64(self.first)).view(np.uint64)
        return (since // np.uint64(self.width)).astype(np.int64)

    @property
    def labels(self) -> tuple[str, ...]:
        """The parts as people read them."""
        if self.time_format != "integer":
            return tuple(str(hour) for hour in range(24))
        begins = range(self.first, self.last + 1, self.width)
        if self.width == 1:
            return tuple(str(begin) for begin in begins)
        return tuple(f"{begin}-{min(begin + self.width - 1, self.last)}" for begin in begins)

    @property
    def axis(self) -> str:
        """What the labels are."""
        if self.time_format == "integer":
            return "time"
        return "hour of the day" if self.time_format == "local" else "hour of the day (UTC)"

    def label(self, part: int) -> str:
        """Return one part as it stands beside a place."""
        return self.labels[part] if self.time_format == "integer" else f"{part} h"

    def chart(self, title: str, y_label: str, before: Array, after: Array) -> tuple[Chart, ...]:
        """Return counts per part before and after; no chart where the original has none."""
        if not before.any():
            return ()
        return (
            Chart(
                title=title,
                kind="bars",
                labels=self.labels,
                series=(
                    Series(name="original", values=tuple(before.astype(float).tolist())),
                    Series(name="published", values=tuple(after.astype(float).tolist())),
                ),
                x_label=self.axis,
                y_label=y_label,
            ),
        )
