"""Everything that can go wrong, as one tree.

::

    WayveilError
    ├── UsageError          an option, parameter or recipe is wrong         exit code 2
    │   └── ParameterError  a parameter of a method, attack or workload
    ├── InputError          the data cannot be read, or cannot be used       exit code 2
    ├── OutputError         the result cannot be written                     exit code 2
    ├── VerdictFailed       the published data do not keep the promise       exit code 1
    └── WorkLimitReached    what somebody else wrote takes too long to judge exit code 3

`ReadingNote` is no error but a warning of Python: what was taken to be so when a data frame was read.

A message is one sentence or two: who, what rule, what was received, what to do.  It names columns, counts and
line numbers, never a person's id, place or value.
"""

from __future__ import annotations

import re
import traceback
from fractions import Fraction
from pathlib import Path
from typing import Any

__all__ = [
    "InputError",
    "OutputError",
    "ParameterError",
    "ReadingNote",
    "UsageError",
    "VerdictFailed",
    "WayveilError",
    "WorkLimitReached",
    "check_choice",
    "check_fraction",
    "check_int",
    "check_number",
    "closest",
    "describe_bug",
]


class ReadingNote(UserWarning):
    """What was assumed or cleaned when a data frame was read: no error, and no value of the data is in it."""


class WayveilError(Exception):
    """What every error of Wayveil is; `exit_code` is what the command line returns for it."""

    exit_code = 2


class UsageError(WayveilError):
    """An option, a parameter or a recipe is wrong; no data was read."""


class ParameterError(UsageError):
    """A parameter is outside its range."""


class InputError(WayveilError):
    """The data cannot be read, or cannot be used for what was asked."""


class OutputError(WayveilError):
    """The result cannot be written."""


class VerdictFailed(WayveilError):
    """The published data do not keep the promise, so nothing was published."""

    exit_code = 1


class WorkLimitReached(WayveilError):
    """What somebody else wrote cannot be judged within the limit of work; nothing is known of it."""

    exit_code = 3


LARGEST_INT = 10**15
"""No parameter is larger: counts and seconds stay whole numbers in every calculation."""

_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?|[0-9]{1,40}/[0-9]{1,40}")


def check_int(component: str, name: str, value: Any, *, low: int, high: int | None = None, why: str = "") -> int:
    """Return `value` if it is an integer in [low, high]; booleans are not integers here.

    Examples
    --------
    >>> check_int("kcl", "k", 5, low=1)
    5
    >>> check_int("kcl", "k", 0, low=1, why="Zero people hide nobody.")
    Traceback (most recent call last):
    wayveil.errors.ParameterError: kcl: k must be an integer >= 1, got 0. Zero people hide nobody.
    """
    inside = isinstance(value, int) and not isinstance(value, bool) and low <= value <= max(low, LARGEST_INT)
    if not inside or (high is not None and value > high):
        span = f">= {low}" if high is None else f"from {low} to {high}"
        if isinstance(value, int) and abs(value) > LARGEST_INT:
            value = "a number of more than fifteen digits"
        raise ParameterError(f"{component}: {name} must be an integer {span}, got {value!r}. {why}".rstrip())
    return int(value)


def check_fraction(component: str, name: str, value: Any, *, low: int, high: int, why: str = "") -> Fraction:
    """Return `value` as an exact fraction in [low, high]: 0.6 means 3/5, not the nearest binary number.

    Examples
    --------
    >>> check_fraction("kcl", "c", 0.6, low=0, high=1)
    Fraction(3, 5)
    >>> check_fraction("kcl", "c", "1/3", low=0, high=1)
    Fraction(1, 3)
    """
    try:
        if isinstance(value, bool):
            raise ValueError
        # Of text, only numbers that a person may mean: 1e-999999999 is one of a billion digits.
        text = "" if isinstance(value, (int, Fraction)) else str(value).strip()
        if text and not _NUMBER.fullmatch(text):
            raise ValueError
        exact: Fraction | None = Fraction(text or value)
    except (ValueError, ZeroDivisionError):
        exact = None
    if exact is None or not low <= exact <= high:
        if isinstance(value, int) and abs(value) > LARGEST_INT:
            value = "a number of more than fifteen digits"
        raise ParameterError(
            f"{component}: {name} must be a number from {low} to {high}, got {value!r}. {why}".rstrip()
        )
    return exact


def check_number(
    component: str, name: str, value: Any, *, low: float, high: float | None = None, why: str = ""
) -> float:
    """Return `value` as a float if it is a finite number in [low, high].

    Examples
    --------
    >>> check_number("nwa", "delta", "2.5", low=0)
    2.5
    >>> check_number("nwa", "delta", "nan", low=0)
    Traceback (most recent call last):
    wayveil.errors.ParameterError: nwa: delta must be a number >= 0, got 'nan'.
    """
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not (low <= number < float("inf")) or (high is not None and number > high):
        span = f">= {low:g}" if high is None else f"from {low:g} to {high:g}"
        raise ParameterError(f"{component}: {name} must be a number {span}, got {value!r}. {why}".rstrip())
    return number


def check_choice(component: str, name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise ParameterError(f"{component}: {name} must be one of {', '.join(choices)}; got {value!r}.")
    return str(value)


def closest(word: str, known: list[str]) -> str:
    """Return " Did you mean 'x'?" for the known word nearest to `word`, or an empty string.

    Examples
    --------
    >>> closest("metod", ["method", "input"])
    " Did you mean 'method'?"
    """
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def describe_bug(error: BaseException) -> str:
    """Say where an unexpected error happened, never what was in it: its text may hold values of the data."""
    package = Path(__file__).parent
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(package)]
    where = f" at {Path(frames[-1].filename).relative_to(package)}:{frames[-1].lineno}" if frames else ""
    return f"Unexpected {type(error).__name__}{where}; this is a bug in Wayveil, please report it."
