"""Elements of HTML and SVG as text, and how wide a text will be."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from markupsafe import Markup, escape

__all__ = ["FONT", "join", "shortened", "tag", "width_of"]

FONT = 12.0


def tag(name: str, body: Markup | str = "", **attributes: float | str) -> Markup:
    """Return an element; body and attributes are escaped unless they are markup already."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        text = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    return Markup("".join(parts) + ">") + escape(body) + Markup(f"</{name}>")


def join(parts: Sequence[Markup]) -> Markup:
    return Markup("").join(parts)


def shortened(text: str, room: float) -> str:
    """Return `text`, or as much of its beginning as fits into `room` units with an ellipsis behind it.

    Examples
    --------
    >>> shortened("Central Station", 200), shortened("Central Station", 60)
    ('Central Station', 'Central…')
    """
    width = 0.0
    fits = 0
    for i, letter in enumerate(text):
        width += FONT * _letter(letter)
        if width + FONT * 0.9 <= room:
            fits = i + 1
        if width > room + 0.5:
            return text[:fits].rstrip() + "…"
    return text


def width_of(text: str) -> float:
    """Return the width of a label, from above; what is longer than 200 letters is wide enough."""
    return FONT * sum(_letter(letter) for letter in text[:200])


def _letter(c: str) -> float:
    """Return the width of a letter: wide ones count double, marks on letters count nothing."""
    if unicodedata.east_asian_width(c) in "WF":
        return 1.05
    if unicodedata.combining(c):
        return 0.0
    return 0.78 if c.isupper() or c in "mw%@" else 0.34 if c in " .,:;'|ijl1!\N{NO-BREAK SPACE}" else 0.58
