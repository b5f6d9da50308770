"""A habit as it is written: places with times of day, and how often."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from wayveil.errors import ParameterError

__all__ = ["DAY_US", "Element", "parse_pattern", "parse_recurrence"]

DAY_US = 86_400_000_000
"""Microseconds of a day."""

_NUMBER = r"\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*"
_CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?"
_ELEMENT = re.compile(rf"{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}\s{_CLOCK}\s*-\s*{_CLOCK}\s*")
_LEVEL = re.compile(r"\s*([0-9]{1,9})\s*\.\s*(day|weekday|week|month)s?\s*", re.IGNORECASE)
_COARSENESS = {"day": 0, "weekday": 0, "week": 1, "month": 2}


class Element(NamedTuple):
    """A place in the coordinates of the file, and a time of day in microseconds; all closed."""

    x_min: float
    y_min: float
    x_max: float
    y_max: float
    start: int
    end: int


def parse_pattern(text: str) -> tuple[Element, ...]:
    """Return the elements of a habit.

    Examples
    --------
    >>> parse_pattern("13.37,52.5,13.38,52.51 07:00-09:00")[0][:4]
    (13.37, 52.5, 13.38, 52.51)
    """
    if not text.strip():
        return ()
    elements = []
    for part in text.split(";"):
        read = _ELEMENT.fullmatch(part)
        if read is None:
            raise ParameterError(
                "lbqid: every element of pattern must look like x_min,y_min,x_max,y_max HH:MM-HH:MM, "
                f"got {part.strip()!r}. Separate elements by semicolons."
            )
        x_min, y_min, x_max, y_max = (float(number) for number in read.groups()[:4])
        start = _time_of_day(read.groups()[4:7])
        end = _time_of_day(read.groups()[7:])
        if not all(map(math.isfinite, (x_min, y_min, x_max, y_max))) or y_min > y_max or start > end or end > DAY_US:
            raise ParameterError(
                "lbqid: in every element of pattern y_min must be at most y_max, and the times of day from 00:00 to "
                f"24:00 in their order, got {part.strip()!r}. Write a time over midnight as two patterns."
            )
        elements.append(Element(x_min, y_min, x_max, y_max, start, end))
    return tuple(elements)


def parse_recurrence(text: str) -> tuple[tuple[int, str], ...]:
    """Return how often something must happen, the innermost first.

    Examples
    --------
    >>> parse_recurrence("3.Weekdays * 2.Weeks")
    ((3, 'weekday'), (2, 'week'))
    """
    read = [_LEVEL.fullmatch(part) for part in text.split("*")]
    levels = tuple((int(level[1]), level[2].lower()) for level in read if level)
    rank = [_COARSENESS[kind] for _, kind in levels]
    # Finer levels first, each coarser than the one before, and at least once.
    if len(levels) < len(read) or rank != sorted(set(rank)) or min(n for n, _ in levels) < 1:
        raise ParameterError(
            f"lbqid: recurrence must look like 1.Days or 3.Weekdays * 2.Weeks, got {text!r}. Use numbers from 1 on and "
            "Days or Weekdays, then Weeks, then Months, each at most once."
        )
    return levels


def _time_of_day(read: tuple[str | None, ...]) -> int:
    hours, minutes, seconds = (int(number or 0) for number in read)
    time = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
    return time if minutes < 60 and seconds < 60 else 2 * DAY_US
