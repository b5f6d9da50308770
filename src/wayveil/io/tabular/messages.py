"""Small words for messages: counts and lists of column names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

__all__ = ["count", "listed", "looks_like_data", "looks_like_value", "shown", "was"]

_SHOWN = 12
_LONGEST = 40
_MOST_DIGITS = 4
_NUMBER = r"[+-]?(?:\d[\d.,]*|\.\d+)(?:[eE][+-]?\d+)?"
_DATA = re.compile(
    rf"{_NUMBER}|\(?{_NUMBER}\s*[,; ]\s*{_NUMBER}\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[aApP][mM])?"
    r"|[A-Z][a-z]{2},? (?:[A-Z][a-z]{2} \d|\d{1,2} [A-Z][a-z]{2}).*"
    r"|(?:MULTI)?(?:POINT|LINESTRING|POLYGON)\s*Z?\s*\(.*"
)
_OF_A_YEAR = re.compile(r"[A-Za-z_. -]+(?:19|20)\d\d")


def count(number: int, noun: str) -> str:
    """Return the number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1200, "trajectory")
    ('1 row', '1,200 trajectories')
    """
    if number == 1:
        return f"1 {noun}"
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {plural}"


def listed(names: Iterable[str], hidden: Collection[str] = ()) -> str:
    """Return names in quotes, shortened where a message would become unreadable.

    Names that look like values are counted and not shown; so are the `hidden` ones.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(["a", "ann@example.org"])
    "'a' and 1 with a name that looks like a value"
    """
    every = list(names)
    open_ = [name for name in every if name not in hidden and not looks_like_value(name)]
    short = [f"'{n}'" if len(n) <= _LONGEST else f"'{n[:_LONGEST]}…'" for n in open_]
    more = len(short) - _SHOWN
    n_hidden = len(every) - len(open_)
    words = [", ".join(short[:_SHOWN])] if short else []
    words += [f"{more:,} more"] if more > 0 else []
    like = "a name that looks like a value" if n_hidden == 1 else "names that look like values"
    words += [f"{n_hidden:,} with {like}"] if n_hidden else []
    return " and ".join(words)


def looks_like_data(name: str) -> bool:
    """Return whether a text is a number, a date, a time of day or a position, as no column is called.

    Examples
    --------
    >>> [looks_like_data(name) for name in ("1.5", "31.05.2024 08:15", "08:15", "48.2, 16.4", "POINT (16.4 48.2)")]
    [True, True, True, True, True]
    >>> [looks_like_data(name) for name in ("x1", "t", "count 08:00-09:00", "m/s", "2nd")]
    [False, False, False, False, False]
    """
    return _DATA.fullmatch(name) is not None


def looks_like_value(name: str) -> bool:
    """Return whether a name may be the value of a person: data, an address, a telephone number, an id.

    Examples
    --------
    >>> [looks_like_value(name) for name in ("ann@example.org", "truck 0862", "+49 170 555", "a3f09c7e")]
    [True, True, True, True]
    >>> [looks_like_value(name) for name in ("traj_id", "x1", "PM2.5", "speed_kmh", "year2024")]
    [False, False, False, False, False]
    """
    if looks_like_data(name) or "@" in name:
        return True
    # Four digits or more may be a number of a phone, a card or a house; a name with a year is one of a column.
    return _OF_A_YEAR.fullmatch(name) is None and sum(letter.isdigit() for letter in name) >= _MOST_DIGITS


def shown(name: str) -> str:
    """Return the name of one column for a message.

    Examples
    --------
    >>> shown("fare"), shown("ann@example.org")
    ("'fare'", 'with a name that looks like a value')
    """
    return "with a name that looks like a value" if looks_like_value(name) else f"'{name}'"


def was(number: int) -> str:
    """Return "was" or "were".

    Examples
    --------
    >>> was(1), was(0)
    ('was', 'were')
    """
    return "was" if number == 1 else "were"
