"""A table as it is looked at: every column as text, as numbers and as a shape, each made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wayveil.io.intake.column_words import Meaning, column_meaning, side_of_name
from wayveil.io.intake.positions import read_axis
from wayveil.io.tabular.time_formats import TimeFit, detect_time_formats, parse_time_text

__all__ = ["ColumnProfile", "TableView", "names_in"]

_SAMPLE = 4_000


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """A column as a shape: its type, how many values differ, what share is missing, how long its texts are."""

    name: str
    type: str
    distinct: int
    missing: float
    lengths: tuple[int, int]
    role: str = ""
    why: str = ""
    counts_rows: bool = False


class TableView:
    """One look at a table, shared by all that look at it; what they find wrong or take to be so is collected here.

    Parameters
    ----------
    frame : polars.DataFrame
    geometry : str or None
        The column that the file itself declares to be the place.
    named_columns : mapping
        Columns that somebody named, by our names.
    headless : bool
        Whether the names of columns say nothing, because the file has none.
    """

    def __init__(self, frame: pl.DataFrame, *, geometry: str | None = None, roles: Mapping[str, str]) -> None:
        self.frame = frame
        self.rows = frame.height
        self.named_columns = dict(roles)
        self.guesses: list[str] = []
        self.problems: list[str] = []
        # Everything as text once: formats of times and positions are told from text, whatever the type in the file.
        self.text = {name: _as_text(frame[name]) for name in frame.columns}
        self.shapes = {name: _shape(name, self.text[name], frame[name].dtype) for name in frame.columns}
        self.meaning: dict[str, Meaning | None] = {name: column_meaning(name) for name in frame.columns}
        self.headless = all(name.startswith("column_") for name in frame.columns if name not in ("file", "folder"))
        self._numbers: dict[str, pl.Series] = {}
        self._moments: dict[tuple[str, str], pl.Series] = {}
        self._fits: dict[str, tuple[TimeFit, ...]] = {}
        self.forms: dict[str, tuple[str, ...]] = {}
        """How coordinates are written that are no plain numbers, by column; several ways where nobody can tell."""
        self.orders: dict[str, tuple[str, ...]] = {}
        """Which coordinate comes first in columns with both; both where nobody can tell."""
        self.unordered: tuple[str, str] | None = None
        """Two columns of degrees of which nobody knows which is the longitude."""
        if geometry is not None:
            self.meaning[geometry] = Meaning(role="geometry", word="the file says so")
        self._correct_names()

    def _correct_names(self) -> None:
        """Take what a column holds before what its name says: "start" may be a time, and "from" a station.

        "Departure" and "Return" name the ends of a trip where they hold times.
        """
        for name, meaning in self.meaning.items():
            side = side_of_name(name) if meaning is None and not self.is_numeric(name) else ""
            if side and self.shapes[name].distinct:
                fits = self.fit(name)
                if fits and fits[0].format not in ("number", "clock"):
                    self.meaning[name] = Meaning(role="time", side=side, word=name)
                # A column without a role whose name is a side is now a time or nothing; roles of others are corrected
                # below.
                continue
            if meaning is None or meaning.role != "place" or not meaning.side or self.is_numeric(name):
                continue
            fits = self.fit(name)
            if fits and fits[0].format not in ("number", "clock"):
                self.meaning[name] = replace(meaning, role="time")

    def named(self, role: str, side: str = "") -> list[str]:
        """Return the columns whose names say this role, as far as they hold anything."""
        return [
            name
            for name, meaning in self.meaning.items()
            if meaning is not None and meaning.role == role and meaning.side == side and self.shapes[name].distinct
        ]

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return self.shapes[name].type in ("numbers", "whole numbers")

    def numbers(self, name: str) -> pl.Series:
        """Return a column as numbers, null where a value is none; coordinates as degrees, once their form is known."""
        form = self.forms.get(name, ("",))[0]
        if form and f"{form} {name}" not in self._numbers:
            text = self.text[name].to_frame("a")
            self._numbers[f"{form} {name}"] = text.select(read_axis(pl.col("a"), form)).to_series().alias(name)
        if form:
            return self._numbers[f"{form} {name}"]
        if name not in self._numbers:
            values = self.frame[name]
            numeric = values.dtype.is_numeric()
            self._numbers[name] = (values if numeric else self.text[name]).cast(pl.Float64, strict=False)
        return self._numbers[name]

    def fit(self, name: str) -> tuple[TimeFit, ...]:
        """Return the formats that read a column; whether the day comes first is decided from all of it."""
        if name not in self._fits:
            fits = tuple(detect_time_formats(self.sample(name)))
            if {fit.format for fit in fits} == {"dmy", "mdy"}:
                # 03/04 fits both orders: the whole column is searched for a number above 12, which can only be a day.
                parts = [
                    self.text[name].str.extract(r"^\s*(\d{1,2})[-/.](\d{1,2})[-/.]", i).cast(pl.Int16) for i in (1, 2)
                ]
                first, second = ((part > 12).sum() for part in parts)
                wrong = "mdy" if first > second else "dmy" if second > first else ""
                fits = tuple(fit for fit in fits if fit.format != wrong)
            self._fits[name] = fits
        return self._fits[name]

    def moments(self, name: str, time_format: str = "") -> pl.Series:
        """Return times as whole numbers, microseconds wherever a date is known."""
        form = time_format or self.fit(name)[0].format
        if (name, form) not in self._moments:
            values = self.frame[name]
            if isinstance(values.dtype, pl.Datetime):
                moments = values.dt.cast_time_unit("us").to_physical()
            else:
                moments = parse_time_text(self.text[name], form)
            self._moments[name, form] = moments
        return self._moments[name, form]

    def sample(self, name: str) -> pl.Series:
        """Return some values of a column, from all of it."""
        values = self.text[name].drop_nulls()
        # Every n-th value, not the first ones: files are often sorted by what is looked for.
        return values if len(values) <= _SAMPLE else values.gather_every(-(-len(values) // _SAMPLE))

    def determines(self, column: str, other: str) -> bool:
        """Whether every value of a column comes with one value of the other, as far as both are there."""
        pairs = pl.DataFrame({"a": self.text[column], "b": self.text[other]}).drop_nulls()
        # As many pairs as different values of the first: each has one partner.
        return pairs.height > 0 and pairs.n_unique() == pairs["a"].n_unique()


def names_in(where: Mapping[str, Any], times: Sequence[Any]) -> set[str]:
    """Return the columns that say where and when."""
    used = {name for names in where.values() for name in ((names,) if isinstance(names, str) else names)}
    return used | {name for time in times for name in (*time.columns, *((time.offset,) if time.offset else ()))}


def _as_text(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        return values.set(values == "", None) if (values == "").any() else values
    if values.dtype in (pl.Binary, pl.Object) or values.dtype.is_nested():
        return pl.Series(values.name, [None if value is None else "geometry" for value in values], dtype=pl.String)
    if values.dtype.is_float():
        # A column of ids with gaps is one of floats to pandas and Parquet: 43.0 is 43.
        whole = values.fill_nan(None).drop_nulls()
        if len(whole) and bool((whole == whole.round(0)).all()) and bool((whole.abs() < 2**53).all()):
            return values.fill_nan(None).cast(pl.Int64).cast(pl.String)
        return values.fill_nan(None).cast(pl.String)
    return values.cast(pl.String)


def _shape(name: str, text: pl.Series, dtype: pl.DataType) -> ColumnProfile:
    """Return a column as a shape."""
    filled = len(text) - text.null_count()
    kind = "text"
    numbers = None
    if not filled:
        kind = "empty"
    elif dtype == pl.String or dtype.is_numeric():
        # Most columns of words are told from their first values, and need not be read as numbers.
        head = text.drop_nulls().head(100).cast(pl.Float64, strict=False)
        if head.null_count() <= len(head) // 2:
            numbers = text.cast(pl.Float64, strict=False)
            # One value in a hundred may be garbage without making a column of numbers a text.
            if (len(text) - numbers.null_count()) / filled >= 0.99:
                whole = text.cast(pl.Int64, strict=False)
                kind = "whole numbers" if whole.null_count() == numbers.null_count() else "numbers"
    distinct = text.n_unique() - (filled < len(text))
    counts = False
    if numbers is not None and kind != "text" and distinct == filled == len(text) > 1:
        steps = numbers.diff().drop_nulls()
        # A column that rises with every row and is never empty numbers the rows.
        counts = bool((steps > 0).all()) and bool((numbers == numbers.round(0)).all())
    lengths = text.str.len_chars()
    return ColumnProfile(
        name=name,
        type=kind,
        distinct=distinct,
        missing=0.0 if not len(text) else text.null_count() / len(text),
        lengths=(int(lengths.min() or 0), int(lengths.max() or 0)),  # type: ignore[arg-type]
        counts_rows=counts,
    )
