"""Numbers of a report, as people read them and as they were measured."""

from __future__ import annotations

from dataclasses import dataclass

from wayveil.report.text.number_format import format_value
from wayveil.report.text.wording import exact_text

__all__ = ["Number", "number"]


@dataclass(frozen=True)
class Number:
    """A number as people read it and, for machines, as it was measured; a share also as the width of a bar."""

    text: str
    value: str | None = None
    odds: str = ""
    bar: float | None = None
    span: tuple[Number, ...] = ()


def number(value: float | None, percent: bool, unit: str = "") -> Number:
    """Return a number, with its unit if it has one, or with `percent` a share in percent.

    Examples
    --------
    >>> number(12345.678, percent=False).text, number(None, percent=True).text
    ('12,346', '–')
    >>> number(0.5556, percent=False, unit="visits").text.replace("\\xa0", " ")
    '0.556 visits'
    """
    text = format_value(value, percent=percent)
    return Number(f"{text}\N{NO-BREAK SPACE}{unit}" if unit and value is not None else text, exact_text(value))
