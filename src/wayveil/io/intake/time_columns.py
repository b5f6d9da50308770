"""Which columns say when: one, a date and a clock in two, one of each end of a trip; and in which format."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wayveil.io.intake.table_view import TableView
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.owner_columns import split_words
from wayveil.io.tabular.time_formats import (
    CLOCK,
    NUMBER,
    PARTS,
    TimeFit,
    detect_time_formats,
    is_digit_clock,
    parse_time_text,
    read_parts,
)

__all__ = ["TimeGuess", "find_times", "guess_time", "time_of_rows"]

_ISO = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?$"
_MOST_OFFSET_MIN = 14 * 60
_US_PER_MIN = 60 * 10**6
_PART_WORDS = {
    "year": ("year", "yyyy", "yr", "jahr", "annee", "ano", "anno"),
    "month": ("month", "mon", "mm", "monat", "mois", "mes", "mese"),
    "day": ("day", "dd", "dayofmonth", "tag", "jour", "dia", "giorno"),
    "hour": ("hour", "hh", "hr", "hours", "stunde", "heure", "hora", "ora"),
    "minute": ("minute", "min", "minutes", "mi", "minuto"),
    "second": ("second", "sec", "ss", "seconds", "sekunde", "seconde", "segundo", "secondo"),
}
"""The parts of a time in columns of their own, and how these are called."""


@dataclass(frozen=True, kw_only=True)
class TimeGuess:
    """A time: its columns, and the formats that read it, more than one where the day or the month may come first.

    Whoever reads tables takes times that are `plain` as they are.  `offset` is the column with the minutes from UTC to
    local time, "" where there is none.  `bad` rows have something there that is no time, `empty` ones nothing.
    """

    columns: tuple[str, ...]
    fits: tuple[TimeFit, ...]
    bad: int = 0
    empty: int = 0
    plain: bool = False
    offset: str = ""

    @property
    def dated(self) -> bool:
        """Whether it is a date, no count and no time of day alone."""
        return bool(self.fits) and self.fits[0].format not in (NUMBER, CLOCK)


def find_times(view: TableView) -> dict[str, TimeGuess]:
    """Return times by the side of a trip that they are of: "", "start", "end"; the best one of each.

    A date with a clock is better than a date, a date better than a number, and a name that says "time" better than
    none.  A date alone and a clock alone, of the same side, are one time in two columns.
    """
    ranked: dict[str, list[tuple[int, str]]] = {}
    dates: dict[str, list[str]] = {}
    clocks: dict[str, list[str]] = {}
    digit_clocks: dict[str, list[str]] = {}
    # Every column is looked at once, and put where it could be used: as a whole time, as a date, or as a clock.
    for position, name in enumerate(view.frame.columns):
        if not view.shapes[name].distinct:
            continue
        meaning = view.meaning[name]
        named = meaning is not None and meaning.role == "time"
        # Reading all formats takes long: columns are tried whose name says "time", and those that look like it.
        fits = view.fit(name) if named or _could_be_time(view, name) else ()
        side = meaning.side if meaning is not None and named else ""
        if fits and fits[0].format == CLOCK:
            clocks.setdefault(side, []).append(name)
        elif named and fits and fits[0].format == NUMBER and is_digit_clock(view.sample(name)):
            digit_clocks.setdefault(side, []).append(name)
        if not fits or (not named and fits[0].format in (NUMBER, CLOCK)):
            continue
        dated = fits[0].format not in (NUMBER, CLOCK)
        if dated and not fits[0].has_clock:
            dates.setdefault(side, []).append(name)
        # A date with a clock (4 + 3) is worth more than a name (2); between equals the first column wins.
        rank = 4 * (dated and fits[0].has_clock) + 3 * dated + 2 * named + (fits[0].format == CLOCK)
        ranked.setdefault(side, []).append((-100 * rank + position, name))
    times = {}
    for side, names in ranked.items():
        best = min(names)[1]
        fit = view.fit(best)[0]
        day = dates.get(side)
        clock = clocks.get(side) or digit_clocks.get(side)  # 81500 is a time of day only beside a date
        # In two columns only if the best single one is not a whole time itself.
        in_two = day and clock and (best in clock or not fit.has_clock)
        times[side] = _in_two_columns(view, day[0], clock[0]) if in_two and day and clock else guess_time(view, best)
    parts = _find_parts(view)
    best_one = times.get("")
    # Year, month, day in columns of their own are taken where nothing better was found.
    if parts is not None and (best_one is None or not best_one.dated or not best_one.fits[0].has_clock):
        times[""] = parts
    # What somebody named as t is t.
    column = view.named_columns.get("t")
    if column in view.frame.columns:
        times[""] = guess_time(view, column)
    return times


def guess_time(view: TableView, name: str) -> TimeGuess:
    """Return what is to be said of one column of times."""
    bad, empty = _count_bad(view, (name,))
    return TimeGuess(
        columns=(name,),
        fits=view.fit(name),
        bad=bad,
        empty=empty,
        plain=_is_plain(view, name),
        offset=_find_offset(view, name),
    )


def time_of_rows(view: TableView, time: TimeGuess) -> pl.Series:
    """Return the time of each row in microseconds (or as a plain number), null where there is none."""
    if time.fits and time.fits[0].format == PARTS:
        return _read_part_columns(view, time.columns)
    moments = view.moments(time.columns[0])
    if len(time.columns) == 2:
        moments = moments + parse_time_text(view.text[time.columns[1]], CLOCK)
    if time.offset:
        moments = moments + view.numbers(time.offset).cast(pl.Int64, strict=False) * _US_PER_MIN
    return moments


def _in_two_columns(view: TableView, date: str, clock: str) -> TimeGuess:
    view.guesses.append(f"The time is the date in '{date}' and the time of day in '{clock}'.")
    bad, empty = _count_bad(view, (date, clock))
    return TimeGuess(columns=(date, clock), fits=view.fit(date), bad=bad, empty=empty)


def _find_parts(view: TableView) -> TimeGuess | None:
    """Return the time that stands in columns for year, month and day, with hour, minute and second as far as there."""
    # "start_hour" is no hour: only names that are nothing but the word.
    by_word = {"".join(split_words(name)): name for name in view.frame.columns if view.is_numeric(name)}
    parts: list[str] = []
    for part, words in _PART_WORDS.items():
        name = next((by_word[word] for word in words if word in by_word), None)
        if name is None:
            if part in ("year", "month", "day"):
                return None
            # Parts must come without a gap: without an hour, a minute means nothing.
            break
        parts.append(name)
    moments = _read_part_columns(view, tuple(parts))
    bad = moments.null_count()
    # One row in ten may be wrong; more, and these columns are something else.
    if bad > view.rows // 10:
        return None
    if bad:
        view.problems.append(
            f"The time in {len(parts)} columns from '{parts[0]}' cannot be read in {count(bad, 'row')}."
        )
    view.guesses.append(f"The time stands in {len(parts)} columns, from '{parts[0]}' to '{parts[-1]}'.")
    fit = TimeFit(format=PARTS, share=1 - bad / max(1, view.rows), has_clock=len(parts) > 3)
    return TimeGuess(columns=tuple(parts), fits=(fit,), bad=bad)


def _read_part_columns(view: TableView, names: tuple[str, ...]) -> pl.Series:
    return pl.DataFrame([view.text[name].alias(name) for name in names]).select(
        read_parts([pl.col(name) for name in names]).alias("t")
    )["t"]


def _could_be_time(view: TableView, name: str) -> bool:
    """Whether a column whose name says nothing may hold times: texts like dates, or numbers like epochs."""
    shape = view.shapes[name]
    if view.meaning[name] is not None or name in ("file", "folder"):
        return False
    if view.is_numeric(name):
        fits = detect_time_formats(view.sample(name)) if shape.lengths[0] >= 8 else []
        return bool(fits) and fits[0].format != NUMBER
    return shape.type == "text" and shape.lengths[0] >= 4 and bool(view.sample(name).head(50).str.contains(r"\d").all())


def _is_plain(view: TableView, name: str) -> bool:
    fits = view.fit(name)
    if view.frame[name].dtype.is_temporal() or (fits and fits[0].format == NUMBER):
        return True
    return bool(view.text[name].str.contains(_ISO).all())


def _count_bad(view: TableView, names: tuple[str, ...]) -> tuple[int, int]:
    """Return how many rows have something there that is no time, and how many have nothing."""
    if not view.fit(names[0]):
        return 0, 0
    moments = view.moments(names[0])
    if len(names) == 2:
        moments = moments + parse_time_text(view.text[names[1]], CLOCK)
    blank = pl.DataFrame([view.text[name].str.strip_chars() for name in names])
    # Blank is not bad: trips may lack an end, and the two are counted apart.
    empty = blank.select(pl.all_horizontal(pl.all().is_null() | (pl.all() == ""))).to_series()
    n_empty = int(empty.sum())
    bad = int((moments.is_null() & ~empty).sum())
    shown = " and ".join(f"'{name}'" for name in names)
    if bad:
        view.problems.append(f"The time in {shown} cannot be read in {count(bad, 'row')}.")
    if n_empty:
        view.problems.append(f"The time in {shown} is empty in {count(n_empty, 'row')}.")
    return bad, n_empty


def _find_offset(view: TableView, time: str) -> str:
    """Return the column with minutes from UTC, where times are in UTC and such a column is there.

    Without a header a column is one if it has few different values, all of them quarters of an hour within 14 hours,
    not all 0, and the times say that they are UTC.
    """
    fits = view.fit(time)
    if not fits or fits[0].format in (NUMBER, CLOCK):
        return ""
    named = [name for name in view.named("offset") if view.shapes[name].type == "whole numbers"]
    for name in named or (view.frame.columns if view.headless and fits[0].has_offset else []):
        shape = view.shapes[name]
        if name == time or shape.type != "whole numbers" or shape.missing or shape.distinct > 60:
            continue
        minutes = view.numbers(name)
        quarters = bool((minutes % 15 == 0).all())
        # Half of the values at least an hour from UTC: small multiples of 15 could count anything.
        if quarters and bool((minutes.abs() <= _MOST_OFFSET_MIN).all()) and bool((minutes.abs() >= 60).mean() > 0.5):  # type: ignore[operator]
            view.guesses.append(f"Times are UTC, and '{name}' has the minutes to local time: that is taken.")
            return name
    return ""
