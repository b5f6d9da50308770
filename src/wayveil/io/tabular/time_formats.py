"""Times as people write them: which format a column has, decided from all of it, and how to read it.

This is the one place where the text of a time is read: `timestamps` takes ISO 8601 from here, `wayveil inspect` and
recipes all of it.  A format is one word: for numbers ``epoch_s``, ``epoch_ms``, ``epoch_us``, ``epoch_ns``, ``number``,
``excel`` for days as spreadsheets count them, for times of day ``clock``, for dates the order of their parts, ``ymd``,
``dmy``, ``mdy`` or ``compact``, and ``named`` where the month has a name; dates with or without a clock and an offset
behind them; ``parts`` for year, month, day, hour, minute and second in columns of their own.  Formats that fit equally
well are all returned: which one it is changes the meaning, so a person must say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from wayveil.io.tabular.codes import by_name
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = [
    "CLOCK",
    "EPOCHS",
    "EXCEL",
    "FORMATS",
    "FORMAT_WORDS",
    "NAMED",
    "NUMBER",
    "PARTS",
    "IsoTimes",
    "TimeFit",
    "detect_time_formats",
    "is_digit_clock",
    "is_iso",
    "parse_time_text",
    "read_iso",
    "read_parts",
    "read_times",
]

CLOCK = "clock"
"""A time of day without a date, as in GTFS: hours may go beyond 24."""

NUMBER = "number"
"""Plain numbers, whatever they count."""

NAMED = "named"
"""A date in which the month has a name, with or without a weekday: 3 Apr 2012, April 3, 2012, Tue Apr 03 18:00 2012."""

EXCEL = "excel"
"""Days since 30 December 1899, as spreadsheets count them; the time of day is the fraction."""

PARTS = "parts"
"""Year, month and day, and as many of hour, minute and second as there are, each in a column of its own."""

EPOCHS = {"epoch_s": 1, "epoch_ms": 10**3, "epoch_us": 10**6, "epoch_ns": 10**9}
"""Counts since 1970, and how many of them are a second."""

# 1990 to 2050 in seconds: data of people who move are from this time.
_EPOCH_LOW_S = 631_152_000
_EPOCH_HIGH_S = 2_524_608_000

# Days of 1990 to 2050 as spreadsheets count them, and where 1970 begins.
_EXCEL_LOW = 32_874
_EXCEL_HIGH = 54_789
_EXCEL_1970 = 25_569
_DAY_US = 86_400 * 10**6

_US = 1_000_000
_DATES = {
    "ymd": (r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", ("y", "m", "d")),
    "dmy": (r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})", ("d", "m", "y")),
    "mdy": (r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})", ("m", "d", "y")),
    "compact": (r"(\d{4})(\d{2})(\d{2})", ("y", "m", "d")),
}
FORMATS = (*_DATES, NAMED, *EPOCHS, EXCEL, CLOCK, NUMBER, PARTS)
"""Every format, by the word that recipes use."""

FORMAT_WORDS = {
    "ymd": "a date, year first",
    "dmy": "a date, day first",
    "mdy": "a date, month first",
    "compact": "a date, year first, in digits only",
    NAMED: "a date, the month by its name",
    "epoch_s": "seconds since 1970",
    "epoch_ms": "milliseconds since 1970",
    "epoch_us": "microseconds since 1970",
    "epoch_ns": "nanoseconds since 1970",
    EXCEL: "days as spreadsheets count them",
    CLOCK: "a time of day",
    NUMBER: "a plain number",
    PARTS: "a date in columns for year, month and day",
}
"""The same formats as people call them."""

_CLOCK_TEXT = r"(\d{1,3}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([AaPp]\.?[Mm]\.?)?"
_ABBREVIATION = r"(?:\s+[A-Z]{3,5})?"
_OFFSET_TEXT = rf"\s*(Z|z|UTC|GMT|[+-]\d{{2}}(?::?\d{{2}})?)?{_ABBREVIATION}"
_HAS_OFFSET = r"(Z|z|UTC|GMT|[+-]\d{2}(:?\d{2})?)$"

# Months by how their names begin, without accents: English, then German, French, Spanish, Italian and Portuguese.
_MONTHS = {
    1: ("jan", "ene", "gen"),
    2: ("feb", "fev"),
    3: ("mar", "mrz", "maer"),
    4: ("apr", "avr", "abr"),
    5: ("may", "mai", "mag"),
    6: ("jun", "juin", "giu"),
    7: ("jul", "juil", "lug"),
    8: ("aug", "aou", "ago"),
    9: ("sep", "set"),
    10: ("oct", "okt", "out", "ott"),
    11: ("nov",),
    12: ("dec", "dez", "dic"),
}
# 20240531081500, 20240531T0815Z and the like: the date, then the time of day without colons.
_COMPACT_DIGITS = r"^(\d{4})(\d{2})(\d{2})[T\s_-]?(\d{2})(\d{2})(?:(\d{2})(?:\.(\d{1,9}))?)?"
_COMPACT_CLOCK = rf"{_COMPACT_DIGITS}([AaPp][Mm])?\s*(Z|[+-]\d{{2}}(?::?\d{{2}})?)?$"
_COMPACT_NUMBER = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d([0-5]\d)?$"
_TRIED_FIRST = 200
_LETTERS = r"\p{L}"
_WEEKDAY = rf"(?:{_LETTERS}{{2,10}}\.?,?\s+)?"
_MONTH = rf"({_LETTERS}{{3,10}})\.?"
_DAY_TEXT = r"(\d{1,2})(?:st|nd|rd|th|\.)?"
_CLOCK_BEHIND = rf"(?:(?:,?\s+|T|,)(?:at\s+)?{_CLOCK_TEXT}{_OFFSET_TEXT})?"
_NAMED_DATES = (
    # The parts stand in groups 1 to 3, the clock in 4 to 8, the offset in 9; the last pattern has the year at the end.
    (rf"^{_WEEKDAY}{_DAY_TEXT}[\s/.-]+(?:de\s+)?{_MONTH},?[\s/.-]+(?:de\s+)?(\d{{4}}|\d{{2}}){_CLOCK_BEHIND}$", "dmy"),
    (rf"^{_WEEKDAY}{_MONTH}[\s/.-]*{_DAY_TEXT},?[\s/.-]+(\d{{4}}){_CLOCK_BEHIND}$", "mdy"),
    (rf"^(\d{{4}})[\s/.-]{_MONTH}[\s/.-]{_DAY_TEXT}{_CLOCK_BEHIND}$", "ymd"),
    (rf"^{_WEEKDAY}{_MONTH}\s+{_DAY_TEXT}\s+{_CLOCK_TEXT}{_OFFSET_TEXT}\s+(\d{{4}})$", "md.y"),
)


@dataclass(frozen=True, kw_only=True)
class TimeFit:
    """How well a format fits a column.

    Parameters
    ----------
    format : str
        ``ymd``, ``dmy``, ``mdy`` or ``compact`` with or without a clock and an offset behind it; or see the module.
    share : float
        The share of the values that it reads.
    has_clock, has_offset : bool
        Whether a time of day, and a UTC offset, stand behind the date.
    has_abbreviation : bool
        Whether a zone is named by letters, such as CET, of which many mean several zones: it is not heeded.
    """

    format: str
    share: float
    has_clock: bool = True
    has_offset: bool = False
    has_abbreviation: bool = False


def detect_time_formats(text: pl.Series) -> list[TimeFit]:
    """Return the formats that read a column of text best, the best first; several where the column cannot tell.

    Only formats that read at least nine of ten values are returned.

    Examples
    --------
    >>> [fit.format for fit in detect_time_formats(pl.Series(["1/2/15 0:21", "3/4/15 10:05"]))]
    ['dmy', 'mdy']
    >>> [fit.format for fit in detect_time_formats(pl.Series(["1/2/15 0:21", "3/14/15 10:05"]))]
    ['mdy']
    >>> [fit.format for fit in detect_time_formats(pl.Series(["1212567954", "1212567848.5"]))]
    ['epoch_s']
    >>> [fit.format for fit in detect_time_formats(pl.Series(["24:05:00", "7:30"]))]
    ['clock']
    >>> [fit.format for fit in detect_time_formats(pl.Series(["Tue Apr 03 18:00:06 +0000 2012", "3-Apr-2012 6:00 PM"]))]
    ['named']
    """
    values = text.drop_nulls().str.strip_chars()
    values = values.filter(values != "")
    if not len(values):
        return []
    # The simplest form first: numbers or times of day end the search, and names of months are tried last.
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.is_finite().fill_null(False).mean() >= 0.9:  # type: ignore[operator]
        return _fit_numbers(values, numbers)
    clock = values.str.contains(rf"^{_CLOCK_TEXT}$")
    if clock.mean() >= 0.9:  # type: ignore[operator]
        return [TimeFit(format=CLOCK, share=float(clock.mean()))]  # type: ignore[arg-type]
    fits = []
    for name in ("ymd", "compact", "dmy", "mdy"):
        share = 1 - parse_time_text(values, name).null_count() / len(values)
        if share >= 0.9:
            pattern = rf"^{_DATES[name][0]}"
            # What stands behind the date says whether there is a clock and an offset.
            rest = values.str.replace(pattern, "")
            if name == "compact":
                rest = rest.str.replace(r"^T?\d{4,6}", "0:00")
            fits.append(
                TimeFit(
                    format=name,
                    share=share,
                    has_clock=bool(rest.str.contains(r"\d").any()),
                    has_offset=bool(rest.str.contains(_HAS_OFFSET).any()),
                    has_abbreviation=_has_abbreviation(values),
                )
            )
    if not fits:
        fits = _fit_names(values)
    best = max((fit.share for fit in fits), default=0.0)
    # Equally good formats are all returned: day or month first is a question for a person.
    return [fit for fit in fits if fit.share == best]


def _fit_names(values: pl.Series) -> list[TimeFit]:
    """Return the format of dates with names of months, where most values are such."""
    share = 1 - parse_time_text(values, NAMED).null_count() / len(values)
    if share < 0.9:
        return []
    has_clock = bool(values.str.contains(r"\d:\d{2}").any())
    has_offset = bool(values.str.contains(r":\d{2}\s*(Z|z|UTC|GMT|[+-]\d{2}(:?\d{2})?)(\s+\d{4})?$").any())
    lettered = _has_abbreviation(values)
    return [TimeFit(format=NAMED, share=share, has_clock=has_clock, has_offset=has_offset, has_abbreviation=lettered)]


def _has_abbreviation(values: pl.Series) -> bool:
    """Whether a zone such as CET stands behind the clock, and not UTC, which is an offset."""
    letters = values.str.extract(r":\d{2}(?:[.,]\d+)?\s*([A-Z]{3,5})(?:\s+\d{4})?$", 1).drop_nulls()
    return bool((~letters.is_in(["UTC", "GMT"])).any()) if len(letters) else False


def _fit_numbers(values: pl.Series, numbers: pl.Series) -> list[TimeFit]:
    """Return what numbers may count: eight digits may be a date, large ones seconds since 1970 or parts of them."""
    share = float(numbers.is_finite().fill_null(False).mean())  # type: ignore[arg-type]
    # Eight digits are a date only if all of them are: a number may look like one by chance.
    if values.str.contains(r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$").mean() == 1:
        return [TimeFit(format="compact", share=1.0, has_clock=False)]
    if values.str.contains(_COMPACT_NUMBER).mean() == 1:
        return [TimeFit(format="compact", share=1.0)]
    median = numbers.median()
    # The median decides about the unit: single outliers must not.
    for name, per_second in EPOCHS.items():
        if median is not None and _EPOCH_LOW_S * per_second <= float(median) < _EPOCH_HIGH_S * per_second:  # type: ignore[arg-type]
            return [TimeFit(format=name, share=share, has_offset=True)]
    fractions = float((numbers != numbers.round(0)).mean() or 0.0)  # type: ignore[arg-type]
    if median is not None and _EXCEL_LOW <= float(median) < _EXCEL_HIGH and fractions > 0.5:  # type: ignore[arg-type]
        return [TimeFit(format=EXCEL, share=share)]
    return [TimeFit(format=NUMBER, share=share)]


def parse_time_text(text: pl.Series, time_format: str) -> pl.Series:
    """Return what `read_times` makes of a column of text.

    Examples
    --------
    >>> parse_time_text(pl.Series(["2008-12-11 04:42:14+00", "2008-12-11 05:42:14+01:00", "no"]), "ymd").to_list()
    [1228970534000000, 1228970534000000, None]
    >>> parse_time_text(pl.Series(["20/03/2021 12:22 AM"]), "dmy").to_list() == parse_time_text(
    ...     pl.Series(["2021-03-20T00:22:00"]), "ymd").to_list()
    True
    """
    return text.to_frame("t").select(read_times(pl.col("t"), time_format)).to_series()


def read_times(text: pl.Expr, time_format: str) -> pl.Expr:
    """Return microseconds since 1970 of texts in a format, null where a text is not such a time.

    A clock becomes microseconds since midnight, a plain number the nearest whole one; times with an offset become UTC;
    what is finer than a microsecond is cut.  A year of two digits is one from 1970 to 2069.
    """
    values = text.str.strip_chars()
    if time_format in EPOCHS:
        return _read_epochs(values, EPOCHS[time_format])
    if time_format == EXCEL:
        return _read_excel(values)
    if time_format == NUMBER:
        return values.cast(pl.Float64, strict=False).round(0).cast(pl.Int64, strict=False)
    if time_format == CLOCK:
        clock = _from_groups(values, rf"^{_CLOCK_TEXT}$", _read_clock(1))
        return pl.coalesce(clock, _read_digit_clock(values))
    if time_format == NAMED:
        return values.map_batches(_read_all_named, return_dtype=pl.Int64(), is_elementwise=True)
    date, order = _DATES[time_format]
    whole = rf"^{date}(?:[T\s,]+{_CLOCK_TEXT}{_OFFSET_TEXT})?$"
    group = {name: position + 1 for position, name in enumerate(order)}
    year = _read_year(_part(group["y"]))
    # Date, clock and offset are numbers in microseconds that are added; the offset is taken away, which gives UTC.
    midnight_us = _read_date(year, _part(group["m"]), _part(group["d"]))
    moment = midnight_us + _read_clock_or_none(4) - _read_offset(_part(9))
    spaced = _from_groups(values, whole, moment)
    return spaced if time_format != "compact" else pl.coalesce(spaced, _from_groups(values, _COMPACT_CLOCK, moment))


def _read_digit_clock(values: pl.Expr) -> pl.Expr:
    """Return microseconds since midnight of a time of day in digits only: 815 and 0815, 81500 and 081500."""
    digits = pl.when(values.str.contains(r"^\d{3,6}$")).then(values)
    # Three or four digits are hours and minutes; zeros are added for the seconds.
    seconds = pl.when(digits.str.len_chars() > 4).then(digits).otherwise(digits + "00").cast(pl.Int64, strict=False)
    hour = seconds // 10_000
    minute = seconds // 100 % 100
    second = seconds % 100
    # Up to 29 o'clock, as timetables of transit go on after midnight.
    within = (hour < 30) & (minute < 60) & (second < 61)
    return pl.when(within).then((hour * 3600 + minute * 60 + second) * _US)


def is_digit_clock(text: pl.Series) -> bool:
    """Whether all of a column can be times of day in digits only, some of them with minutes.

    >>> is_digit_clock(pl.Series(["81500", "173000"])), is_digit_clock(pl.Series(["8", "9"]))
    (True, False)
    """
    read = text.drop_nulls().to_frame("t").select(_read_digit_clock(pl.col("t").str.strip_chars())).to_series()
    return bool(len(read)) and not read.null_count() and read.n_unique() > 1


def read_parts(columns: Sequence[pl.Expr]) -> pl.Expr:
    """Return microseconds since 1970 from columns with year, month, day, and as many of hour, minute, second.

    Examples
    --------
    >>> table = pl.DataFrame({"y": ["2024"], "m": ["3"], "d": ["18"], "h": ["9"]})
    >>> table.select(read_parts([pl.col(name) for name in "ymdh"])).item() == 1710752400 * 10**6
    True
    """
    whole = [column.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False) for column in columns]
    year, month, day = (part.cast(pl.Int32, strict=False).cast(pl.String) for part in whole[:3])
    midnight_us = _read_date(_read_year(year), month, day)
    limits = (24, 60, 61)
    seconds = (3600, 60, 1)
    for part, limit, scale in zip(whole[3:], limits, seconds, strict=False):
        # A part outside of its range makes the whole time null.
        within = pl.when((part >= 0) & (part < limit)).then((part * scale * _US).round(0).cast(pl.Int64))
        midnight_us = midnight_us + within
    return midnight_us


def _read_excel(values: pl.Expr) -> pl.Expr:
    """Return microseconds of days as spreadsheets count them, to the nearest millisecond: days have no finer digits."""
    days = values.cast(pl.Float64, strict=False).fill_nan(None) - _EXCEL_1970
    # Days are floats with about 11 digits: a millisecond is what they can hold.
    return (days * (_DAY_US // 1000)).round(0).cast(pl.Int64, strict=False) * 1000


def _read_all_named(values: pl.Series) -> pl.Series:
    """Return dates with names of months in any order of their parts.

    The order that reads most of the first values is tried first, and the others only on what is left: most columns are
    written in one way, and each try takes as long as reading.
    """
    head = values.drop_nulls().head(_TRIED_FIRST)
    ordered = sorted(_NAMED_DATES, key=lambda form: -int(head.str.contains(form[0]).sum()))
    times = pl.Series(values.name, [None], dtype=pl.Int64).new_from_index(0, len(values))
    left = values.is_not_null().arg_true()
    for pattern, order in ordered:
        if not len(left):
            break
        part = values.gather(left).to_frame("t").select(_read_named(pl.col("t"), pattern, order)).to_series()
        read = part.is_not_null()
        times = times.scatter(left.filter(read), part.filter(read))
        left = left.filter(~read)
    return times


def _read_named(values: pl.Expr, pattern: str, order: str) -> pl.Expr:
    """Return dates with names of months, in one order of their parts."""
    # "md.y" has the clock between day and year, so that its groups are one further to the front.
    group = {"m": 1, "d": 2, "y": 9} if order == "md.y" else {name: i + 1 for i, name in enumerate(order)}
    clock = 3 if order == "md.y" else 4
    month = _part(group["m"]).map_batches(_read_months, return_dtype=pl.String(), is_elementwise=True)
    midnight_us = _read_date(_read_year(_part(group["y"])), month, _part(group["d"]))
    return _from_groups(values, pattern, midnight_us + _read_clock_or_none(clock) - _read_offset(_part(clock + 5)))


def _read_months(names: pl.Series) -> pl.Series:
    """Return the numbers of months by their names, as text; there are few different ones."""
    numbers = {name: _month_number(name) for name in names.unique().drop_nulls().to_list()}
    return names.replace_strict(numbers, default=None, return_dtype=pl.String)


def _month_number(name: str) -> str | None:
    bare = name.lower()
    for accented, plain in (("é", "e"), ("û", "u"), ("ä", "ae"), ("ç", "c")):
        bare = bare.replace(accented, plain)
    return next((str(number) for number, begins in _MONTHS.items() if bare.startswith(begins)), None)


def _read_date(year: pl.Expr, month: pl.Expr, day: pl.Expr) -> pl.Expr:
    """Return midnight in microseconds; a day that does not exist, such as 30 February, is null, never another day."""
    midnight = pl.format("{}-{}-{}", year, month.str.zfill(2), day.str.zfill(2)).str.to_date("%Y-%m-%d", strict=False)
    return midnight.cast(pl.Datetime("us")).to_physical()


def _read_clock_or_none(first: int) -> pl.Expr:
    """Return microseconds since midnight of a clock within a day, 0 where there is no clock."""
    clock = _read_clock(first)
    return pl.when(_part(first).is_not_null()).then(pl.when(clock < 86_400 * _US).then(clock)).otherwise(0)


def _from_groups(values: pl.Expr, pattern: str, result: pl.Expr) -> pl.Expr:
    """Return what an expression makes of the groups of a pattern, which is matched once and not for each of them."""

    def combine(groups: pl.Series) -> pl.Series:
        # The groups of one match become columns, and the result is computed from them: the text is
        # not searched again for every part.
        return groups.struct.unnest().select(result.cast(pl.Int64)).to_series().alias(groups.name)

    return values.str.extract_groups(pattern).map_batches(combine, return_dtype=pl.Int64(), is_elementwise=True)


def _read_epochs(values: pl.Expr, per_second: int) -> pl.Expr:
    """Return microseconds of counts since 1970; whole counts exactly, others to the microsecond."""
    # Whole numbers never pass through floats: nanoseconds would lose digits.
    exact = values.cast(pl.Int64, strict=False)
    whole = exact * (_US // per_second) if per_second <= _US else exact // (per_second // _US)
    loose = (values.cast(pl.Float64, strict=False) * (_US / per_second)).round(0)
    return whole.fill_null(loose.fill_nan(None).cast(pl.Int64, strict=False))


def _read_year(text: pl.Expr) -> pl.Expr:
    """Return a year as text of four digits."""
    short = text.cast(pl.Int32, strict=False)
    # Two digits: 70 to 99 are of the last century.
    century = pl.when(short < 70).then(pl.lit("20")).otherwise(pl.lit("19"))
    return pl.when(text.str.len_chars() == 2).then(century + text).otherwise(text)


def _part(number: int) -> pl.Expr:
    """Return a group of a pattern, by its number."""
    return pl.col(str(number))


def _read_clock(first: int) -> pl.Expr:
    """Return microseconds since midnight from the groups of a pattern that begin at `first`; null if it is no clock."""
    hour = _part(first).cast(pl.Int64, strict=False)
    minute = _part(first + 1).cast(pl.Int64, strict=False)
    second = _part(first + 2).cast(pl.Int64, strict=False).fill_null(0)
    fraction = _part(first + 3).fill_null("").str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64)
    half = _part(first + 4).str.to_lowercase().str.replace_all(".", "", literal=True)
    # 12 am is midnight and 12 pm is noon: hence the remainder.
    on_12 = pl.when(half == "pm").then(hour % 12 + 12).when(half == "am").then(hour % 12).otherwise(hour)
    possible = (minute < 60) & (second < 61) & (half.is_null() | hour.is_between(1, 12))
    return pl.when(possible).then(((on_12 * 60 + minute) * 60 + second) * _US + fraction)


def _read_offset(text: pl.Expr) -> pl.Expr:
    """Return a UTC offset in microseconds; 0 for none, Z, UTC and GMT."""
    digits = text.str.replace(":", "", literal=True)
    sign = pl.when(digits.str.starts_with("-")).then(-1).otherwise(1)
    hours = digits.str.extract(r"^[+-](\d{2})", 1).cast(pl.Int64, strict=False).fill_null(0)
    minutes = digits.str.extract(r"^[+-]\d{2}(\d{2})$", 1).cast(pl.Int64, strict=False).fill_null(0)
    return sign * (hours * 60 + minutes) * 60 * _US


# ISO 8601, as tables are written that were made for machines: fixed places of the digits, and so the fastest.
_ISO_DATE = r"\d{4}-\d{2}-\d{2}"
_ISO_OFFSET = r"Z|z|[+-]\d{2}(?::?[0-5]\d)?"
_ISO_SHAPE = rf"^{_ISO_DATE}(?:[Tt ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?(?:{_ISO_OFFSET})?)?$"
_ISO_REST = rf"^(?:[.,](\d+))?({_ISO_OFFSET})?$"


class IsoTimes(NamedTuple):
    """Texts of the shape of ISO 8601 as times.

    `seconds` has the time without fraction and offset, null where it does not exist; `code` is the rest of each row by
    its number, and for each rest there is what it adds in microseconds, whether it is finer than a microsecond, and
    whether it lacks a UTC offset.
    """

    seconds: pl.Series
    code: IntArray
    added_us: IntArray
    finer: BoolArray
    without_offset: BoolArray


def is_iso(text: pl.Series) -> pl.Series:
    """Return which texts have the shape of ISO 8601, with or without a time of day and an offset."""
    return text.str.contains(_ISO_SHAPE)


def read_iso(text: pl.Series) -> IsoTimes:
    """Read texts of the right shape: the first 19 characters as a time, the few different rests once each."""
    text, between = _full_iso(text)
    # The first 19 characters are read by position; what follows, fractions and offsets, has few different values, each
    # read once and looked up by code.
    seconds = text.str.slice(0, 19).str.to_datetime(f"%Y-%m-%d{between}%H:%M:%S", strict=False, time_unit="us")
    code, rests = by_name(text.str.slice(19))
    rest = pl.Series(rests, dtype=pl.String)
    digits = rest.str.extract(_ISO_REST, 1).fill_null("").str.pad_end(6, "0")
    offset = rest.str.extract(_ISO_REST, 2)
    offset_us = offset.to_frame("o").select(_read_offset(pl.col("o").fill_null(""))).to_series()
    return IsoTimes(
        seconds=seconds,
        code=code,
        added_us=(digits.str.slice(0, 6).cast(pl.Int64) - offset_us).to_numpy(),
        finer=digits.str.slice(6).str.contains("[1-9]").to_numpy(),
        without_offset=offset.is_null().to_numpy(),
    )


def _full_iso(text: pl.Series) -> tuple[pl.Series, str]:
    """Return the times by the second, and the sign between day and time that all of them have."""
    if (text.str.slice(16, 1) != ":").any():
        text = text.str.replace(rf"^({_ISO_DATE})$", "${1}T00:00:00")
        text = text.str.replace(rf"^({_ISO_DATE}[Tt ]\d{{2}}:\d{{2}})({_ISO_OFFSET})?$", "${1}:00${2}")
    between = text.str.slice(10, 1).unique().to_list()
    if len(between) == 1:
        return text, str(between[0])
    return text.str.replace(rf"^({_ISO_DATE})[t ]", "${1}T"), "T"
