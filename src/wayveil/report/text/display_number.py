"""Numbers of a report, as people read them and as they were measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wayveil.model import Number
from wayveil.report.text.number_format import format_number
from wayveil.report.text.wording import exact_text, one_in

__all__ = ["DisplayNumber", "display", "display_count"]


@dataclass(frozen=True)
class DisplayNumber:
    """A number as people read it and, for machines, as it was measured; a share also as the width of a bar."""

    text: str
    value: str | None = None
    odds: str = ""
    bar: float | None = None
    span: tuple[DisplayNumber, ...] = ()


def display(number: Number | None) -> DisplayNumber:
    """Return a measured number with its unit: a probability with its odds, an estimate with its interval.

    Examples
    --------
    >>> from wayveil.model.numbers import count, share
    >>> display(count(0.5556, "Mean error", "visits")).text.replace("\\xa0", " ")
    '0.556 visits'
    >>> display(share(0.5556, "Lost")).text.replace("\\xa0", " "), display(None).text
    ('55.6 %', '–')
    """
    if number is None:
        return DisplayNumber("–")
    value = number.value
    span: tuple[DisplayNumber, ...] = ()
    if number.interval_text and number.interval is not None:
        span = tuple(DisplayNumber(number.format(end), exact_text(end)) for end in number.interval)
    bounded = number.unit in ("share", "probability") and value is not None and math.isfinite(value)
    return DisplayNumber(
        text=number.text,
        value=exact_text(value),
        odds=one_in(value) if number.unit == "probability" else "",
        bar=round(value * 100, 1) if bounded and value is not None else None,
        span=span,
    )


def display_count(value: int | None) -> DisplayNumber:
    """Return how many there are, without a unit.

    Examples
    --------
    >>> display_count(12345).text, display_count(None).text
    ('12,345', '–')
    """
    return DisplayNumber(format_number(value), exact_text(value))
