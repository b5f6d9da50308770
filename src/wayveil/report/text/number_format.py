"""Numbers and names as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

__all__ = ["clean", "format_apart", "format_number", "format_percent", "format_value"]

_NOTHING = "–"
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def format_value(value: float | None, *, percent: bool) -> str:
    """Return a chart's value as people read it."""
    return format_percent(value) if percent else format_number(value)


def format_apart(values: Sequence[float], *, percent: bool) -> list[str]:
    """Return the values of one scale, with as many digits as tell them apart.

    Examples
    --------
    >>> [text.replace("\\xa0", " ") for text in format_apart([0.0002, 0.00095, 0.0012], percent=True)]
    ['0.02 %', '0.095 %', '0.12 %']
    >>> format_apart([0.5, 2.0], percent=False)
    ['0.5', '2']
    """
    told = [format_value(value, percent=percent) for value in values]
    if len(set(told)) == len(set(values)):
        return told
    return [f"{value * 100:.3g}\N{NO-BREAK SPACE}%" if percent else f"{value:.3g}" for value in values]


def format_number(value: float | None) -> str:
    """Return a number for people; a dash for one that is missing, NaN or infinite.

    Examples
    --------
    >>> [format_number(v) for v in (12345, 12345.678, 100.5, 3.14159, 0.00123, 2.0, None, float("nan"))]
    ['12,345', '12,346', '100.5', '3.14', '0.00123', '2', '–', '–']
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return _NOTHING
    size = abs(value)
    if size >= 10**15 or 0 < size < 1e-6:
        return f"{Decimal(value):.3g}"
    if value == int(value):
        return f"{int(value):,}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{max(1, 2 - math.floor(math.log10(size)))}f}".rstrip("0").rstrip(".")


def format_percent(share: float | None) -> str:
    """Return a share as a percentage; only 0 is 0 % and only 1 is 100 %.

    Examples
    --------
    >>> [format_percent(v).replace("\\xa0", " ") for v in (0, 0.034, 0.5001, 0.00012, 0.9999, 1, None)]
    ['0 %', '3.4 %', '50 %', '0.01 %', '99.99 %', '100 %', '–']
    """
    if share is None or (isinstance(share, float) and not math.isfinite(share)):
        return _NOTHING
    if abs(share) >= 10**12:
        return f"{Decimal(share) * 100:.3g}\N{NO-BREAK SPACE}%"
    percent = share * 100
    if abs(percent - round(percent)) < 1e-9:
        if share == 0 or round(percent) != 0:
            return f"{round(percent):,}\N{NO-BREAK SPACE}%"
        return "< 0.0001\N{NO-BREAK SPACE}%"
    for digits in range(1, 5):
        text = f"{percent:,.{digits}f}"
        if float(text.replace(",", "")) not in (0.0, 100.0):
            return f"{text.removesuffix('.0')}\N{NO-BREAK SPACE}%"
    return "< 0.0001\N{NO-BREAK SPACE}%" if abs(percent) < 1 else "nearly 100\N{NO-BREAK SPACE}%"


def clean(text: object) -> str:
    """Return text without characters that HTML cannot hold or that turn the text around them.

    Examples
    --------
    >>> clean("a\\x00b\\u202ec\\nd")
    'a\ufffdb\ufffdc d'
    """
    spaced = re.sub(r"[\t\n\r]+", " ", str(text))
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") or c in _TURNING else c for c in spaced
    )
