"""Texts of a report that are safe to show, and the one way in which numbers are written."""

from __future__ import annotations

import re
import unicodedata

from wayveil.model.numbers import format_apart, format_number, format_percent, format_value

__all__ = ["clean", "format_apart", "format_number", "format_percent", "format_value"]

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: object) -> str:
    """Return text without characters that HTML cannot hold or that turn the text around them.

    Examples
    --------
    >>> clean("a\\x00b\\u202ec\\nd")
    'a\ufffdb\ufffdc d'
    """
    spaced = re.sub(r"[\t\n\r]+", " ", str(text))
    return "".join(
        # Control characters and signs that turn the direction of text are replaced: a name could otherwise make a page
        # show something else.
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") or c in _TURNING else c
        for c in spaced
    )
