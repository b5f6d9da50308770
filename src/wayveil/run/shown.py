"""Numbers of a report, as people read them and as they were measured."""

from __future__ import annotations

from dataclasses import dataclass

from wayveil.run.numbers import format_value
from wayveil.run.wording import exact_text

__all__ = ["Number", "number"]


@dataclass(frozen=True)
class Number:
    """A number as people read it and, for machines, as it was measured; a share also as the width of a bar."""

    text: str
    value: str | None = None
    odds: str = ""
    bar: float | None = None
    span: tuple[Number, ...] = ()


def number(value: float | None, percent: bool) -> Number:
    """Return a number, or with `percent` a share in percent.

    Examples
    --------
    >>> number(12345.678, percent=False).text, number(None, percent=True).text
    ('12,346', '–')
    """
    return Number(format_value(value, percent=percent), exact_text(value))
