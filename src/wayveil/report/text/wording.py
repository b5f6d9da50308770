"""How the report says things: names of the code in words, spans of time, dates, odds and exact shares."""

from __future__ import annotations

import math
from datetime import datetime
from fractions import Fraction
from typing import Any

from wayveil.report.text.number_format import format_number

__all__ = [
    "adversary_words",
    "as_fraction",
    "date_words",
    "duration",
    "exact_text",
    "extent_words",
    "measured_words",
    "one_in",
    "sentence",
    "words",
]

_UNITS = {"_m": "m", "_m2": "m²"}
_WORDS = {"min": "smallest", "max": "largest", "n": "number of", "mfs": "maximal sequences", "qi": "not sensitive"}


def words(name: str) -> str:
    """Return a name of the code in words; a name that already has spaces stays as it is.

    Examples
    --------
    >>> words("min_support"), words("visits_kept_share"), words("rows read"), words("sha256 of a file")
    ('Smallest support', 'Share of visits kept', 'Rows read', 'sha256 of a file')
    >>> words("max_distance_m")
    'Largest distance (m)'
    """
    # Units stand at the end of names: _m, _m2.
    for end, unit in _UNITS.items():
        if name.endswith(end) and " " not in name:
            return f"{words(name.removesuffix(end))} ({unit})"
    text = name if " " in name else " ".join(_WORDS.get(token, token) for token in name.split("_") if token)
    if text.endswith(" share") and " " not in name:
        text = f"share of {text.removesuffix(' share')}"
    return text[:1].upper() + text[1:] if text.split(" ")[0].isalpha() else text


def sentence(text: str) -> str:
    """Return a text as a sentence; an adversary may come without a subject, as in "knows 3 visits"."""
    text = text.strip()
    if text[:1].islower():
        text = f"An attacker who {text}" if text.startswith(("knows ", "sees ", "has ")) else text[0].upper() + text[1:]
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def duration(seconds: float) -> str:
    """Return a time span for people.

    Examples
    --------
    >>> [duration(s) for s in (0.0004, 0.0426, 3.21, 75, 7322)]
    ['< 1 ms', '43 ms', '3.2 s', '1 min 15 s', '2 h 2 min']
    """
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def date_words(text: str) -> str:
    """Return an ISO 8601 time for people; anything else as it is.

    Examples
    --------
    >>> date_words("2026-03-01T14:05:09+00:00"), date_words("yesterday")
    ('1 March 2026, 14:05 UTC', 'yesterday')
    """
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = (when.tzname() or "").removesuffix("+00:00")
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {when:%H:%M} {zone}".rstrip()


# Not strftime("%B"): that speaks the language of the machine.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def adversary_words(raw: str, published: str) -> str:
    """Return who attacks raw and published data, and what is different about the published ones, if anything.

    Examples
    --------
    >>> adversary_words("knows all", "knows all; finds nothing")
    'knows all; in the published data: finds nothing'
    """
    more = published.removeprefix(raw).removeprefix("; ")
    return f"{raw}; in the published data: {more}" if more else raw


def as_fraction(value: Any) -> Fraction | None:
    """Return a measured or promised value as an exact number: "1/3", "0.5", 3 and 0.25 alike; None if it is not one."""
    if value is None or isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    try:
        return Fraction(value) if isinstance(value, int) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def exact_text(value: Any) -> str | None:
    """Return a number with all its digits, as results.json has it; None for what is none there.

    Examples
    --------
    >>> exact_text(1 / 3), exact_text(3), exact_text("1/3"), exact_text(None), exact_text(float("nan"))
    ('0.3333333333333333', '3', None, None, None)
    """
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else repr(value)


def extent_words(victims: int, *, sampled: bool) -> str:
    """Return how many people were attacked, and whether what was found is exact.

    Examples
    --------
    >>> extent_words(2000, sampled=True), extent_words(1, sampled=False)
    ('an estimate from random draws, 2,000 people', 'exact, for all 1 person')
    """
    people = f"{format_number(victims)} {'person' if victims == 1 else 'people'}"
    return f"an estimate from random draws, {people}" if sampled else f"exact, for all {people}"


def measured_words(value: Fraction | None, share: bool, bound: Fraction | None = None) -> tuple[str, str]:
    """Return a value and, if its digits are not exact, its fraction; it never looks equal to a bound that it is not.

    Examples
    --------
    >>> measured_words(Fraction(1, 2), True)[0].replace("\\xa0", " "), measured_words(Fraction(1, 3), True)[1]
    ('50 %', '1/3')
    >>> measured_words(Fraction(500004, 1000000), True, bound=Fraction(1, 2))[0].replace("\\xa0", " ")
    '50.0004 %'
    """
    if value is None:
        return "–", ""
    if not share:
        return format_number(int(value) if value.denominator == 1 else float(value)), ""
    text = ""
    # More digits until the value no longer looks like the bound: 33.33 % beside a bound of 1/3 would be read as kept.
    for digits in (4, 6, 9, 12):
        text = f"{float(value * 100):.{digits}g}"
        if bound is None or value == bound or text != f"{float(bound * 100):.{digits}g}":
            break
    short = value.denominator < 10**6 and Fraction(text) != value * 100
    return f"{text}\N{NO-BREAK SPACE}%", f"{value.numerator}/{value.denominator}" if short else ""


def one_in(share: float | None) -> str:
    """Return odds beside a probability, where they say more than the percentage.

    Examples
    --------
    >>> [one_in(share) for share in (1 / 12, 0.034, 0.5, 0.41, 1.0, 0.0)]
    ['1 in 12', 'about 1 in 29', '1 in 2', '', '', '']
    """
    if share is None or not 1e-9 < share <= 0.5:
        return ""
    # "1 in 3" is told where it is exact, "about 1 in 37" where percentages are small.
    exact = abs(1 / share - round(1 / share)) < 1e-6
    return f"{'' if exact else 'about '}1 in {round(1 / share):,}" if exact or share < 0.25 else ""
