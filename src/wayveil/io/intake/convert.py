"""One pass over a table in its own dialect: plain columns, times as times, bad rows counted by reason.

What comes out is a Parquet file with the columns of the table, a column for each time that was read, and
the number of each row in the file, so that messages about a row name its place there.  Everything else reads that file.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import polars as pl

from wayveil.errors import InputError, UsageError, check_choice
from wayveil.io.intake.dialect import Dialect
from wayveil.io.intake.positions import PositionColumn, read_position
from wayveil.io.intake.text_files import plain_text
from wayveil.io.tabular.messages import count, listed
from wayveil.io.tabular.table import PIECE, ROW_NUMBER, ROW_WORD, row_place
from wayveil.io.tabular.time_formats import CLOCK, FORMATS, NUMBER, PARTS, read_parts, read_times

__all__ = [
    "OFFSET",
    "TRIP",
    "Converted",
    "Layout",
    "LineColumn",
    "TimeColumn",
    "convert_frame",
    "convert_table",
    "find_line",
    "name_columns",
    "number_lines",
    "position_names",
    "read_time",
    "scan_text",
    "spread_lines",
]

OFFSET = "offset"
"""The zone of times that say their own UTC offset."""

TRIP = "trip"
"""The column with the number of a row that became two, or as many as its line has positions."""

_DECIMAL_COMMA = r"^\s*([+-]?\d+),(\d+)\s*$"
_HEADER_LINES = 50
_LACKS = "__lacks__"
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@dataclass(frozen=True, kw_only=True)
class TimeColumn:
    """A time that is read from one column, or from a date and a clock in two.

    Parameters
    ----------
    columns : tuple of str
        One column, or two: the date, then the time of day.  With the format "parts" three to six: year, month, day, and
        as many of hour, minute and second as there are.
    format : str
        One of `time_formats.FORMATS`, of the date where there are two columns.
    zone : str
        "offset" where every time says its own UTC offset; the time zone of times without one, such as "Europe/Athens";
        "" keeps local time.
    minutes : str
        The column with the minutes from UTC to local time, where times are in UTC: local time is
        what is read then.  "" for none.
    """

    columns: tuple[str, ...]
    format: str
    zone: str = ""
    minutes: str = ""

    # Checked when a recipe is read, before any file is opened.
    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        check_choice("times", "format", self.format, FORMATS)
        if self.format == PARTS and not 3 <= len(self.columns) <= 6:
            raise UsageError(
                "times: the format parts needs year, month, day, and what is there of hour, minute, second."
            )
        if self.format != PARTS and len(self.columns) not in (1, 2):
            raise UsageError("times: name one column, or two: the date and the time of day.")
        if self.zone not in ("", OFFSET):
            try:
                ZoneInfo(self.zone)
            except (KeyError, ValueError, OSError):
                raise UsageError(
                    "times: zone must be a name of the time zone database, such as Europe/Athens or UTC."
                ) from None


@dataclass(frozen=True, kw_only=True)
class LineColumn:
    """A column with all positions of a trip in one text: a row becomes as many rows as there are positions.

    Parameters
    ----------
    column : str
        A list of pairs in JSON, ``[[lon, lat], ...]``, or a LINESTRING in WKT.
    every : float, > 0
        Seconds from one position to the next; the time in the row is that of the first.
    t : str
        The time column that `every` is added to.
    """

    column: str
    every: float
    t: str = "t"

    def __post_init__(self) -> None:
        if not self.every > 0:
            raise UsageError("line: every must be more than 0 seconds; positions of a trip come one after the other.")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a file holds its table.

    Parameters
    ----------
    dialect : Dialect
    names : tuple of str
        The names of the columns, where the file has no header.
    times : mapping of str to TimeColumn
        New columns with times, by name.
    ends : mapping of str to (str, str)
        For tables with one row per trip: new columns, each with the columns of its start and of its end.  A row becomes
        two, and a column ``trip`` has its number.
    line : LineColumn or None
        The column with the positions of a trip; ``lon`` and ``lat`` are new columns then.
    needed : tuple of str
        Columns without which a row is bad.
    open_ends : bool
        Whether a row is a trip, which may lack the time of an end: ``t_start`` and ``t_end`` are bad only where
        something is written there.
    forward : bool
        Whether a row is a trip that is bad if its ``t_end`` is before its ``t_start``.
    positions : mapping of str to PositionColumn
        New columns with positions: "point" gives x and y, "origin" origin_x and origin_y, "destination" the others.
    zeros : tuple of (str, str)
        Pairs of columns that cannot both be 0, because there no position was known.
    numbers : mapping of str to float or None
        Columns that must be numbers, and the largest one, up or down, that is possible.
    bad_rows : {"refuse", "drop"}
        What to do with rows whose time cannot be read, or that lack what is needed.
    """

    dialect: Dialect = field(default_factory=Dialect)
    names: tuple[str, ...] = ()
    times: Mapping[str, TimeColumn] = field(default_factory=dict)
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    line: LineColumn | None = None
    needed: tuple[str, ...] = ()
    open_ends: bool = False
    forward: bool = False
    positions: Mapping[str, PositionColumn] = field(default_factory=dict)
    zeros: tuple[tuple[str, str], ...] = ()
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    bad_rows: Literal["refuse", "drop"] = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "times", dict(self.times))
        object.__setattr__(self, "ends", {name: tuple(pair) for name, pair in self.ends.items()})
        object.__setattr__(self, "needed", tuple(self.needed))
        check_choice("read", "bad_rows", self.bad_rows, ("refuse", "drop"))

    @property
    def is_plain(self) -> bool:
        """Whether readers take the file as it is."""
        return self.dialect.is_plain and not (
            self.names or self.times or self.ends or self.positions or self.bad_rows == "drop"
        )


@dataclass(frozen=True, kw_only=True)
class Converted:
    """The table that was made, how many rows the file has, and how many of them were left out, by reason."""

    path: Path
    rows: int
    dropped: Mapping[str, int]


def convert_table(path: str | Path, layout: Layout, folder: Path, *, shown: str = "") -> Converted:
    """Convert a text table into a Parquet file in a folder, in one pass that holds a part of it at a time.

    `shown` is how messages call the file.

    Raises
    ------
    InputError
        If the file cannot be read in this layout, or has rows that are bad and may not be dropped.
    """
    shown = shown or str(path)
    with plain_text(path, layout.dialect, folder) as text:
        lazy, names = scan_text(shown, text, layout)
        return convert_frame(number_lines(lazy, layout.dialect), names, layout, folder, shown=shown, word="line")


def number_lines(lazy: pl.LazyFrame, dialect: Dialect) -> pl.LazyFrame:
    """Return the rows of a text with the numbers of their lines, from 0, without blank ones."""
    # Lines without any field are left out, but counted: numbers of lines must be those of the file.
    blank = pl.all_horizontal(pl.all().is_null())
    first_line = dialect.skip_lines + dialect.header
    numbered = lazy.with_columns(blank.alias("__blank__")).with_row_index(ROW_NUMBER, offset=first_line)
    return numbered.filter(~pl.col("__blank__")).drop("__blank__").with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))


def convert_frame(
    lazy: pl.LazyFrame,
    names: Sequence[str],
    layout: Layout,
    folder: Path,
    *,
    shown: str,
    word: str = "row",
    metadata: Mapping[str, str] | None = None,
) -> Converted:
    """Do the same with a frame whose rows are numbered in `ROW_NUMBER`; messages say `word` and number."""
    # All columns that something is read from; if one is missing, nothing below would make sense.
    time_columns = {column for time in layout.times.values() for column in (*time.columns, time.minutes) if column}
    time_columns |= {column for position in layout.positions.values() for column in position.columns}
    time_columns |= {layout.line.column} if layout.line is not None else set()
    time_columns |= {column for pair in layout.ends.values() for column in pair if column not in layout.times}
    missing = sorted(time_columns - set(names))
    if missing:
        raise InputError(
            f"{shown}: there is no column {listed(missing)} to read times, positions or ends from; the file has "
            f"{listed(names)}."
        )
    types = lazy.collect_schema()
    # A trip may lack the time of an end.  The column of a time may have its name, so that this is looked up before.
    may_lack = [name for name in ("t_start", "t_end") if layout.open_ends and name in layout.times]
    # Whether both columns of a time are empty is noted now, because a new column may take the name of an old one.
    lazy = lazy.with_columns(
        pl.all_horizontal(_is_empty(column, types[column]) for column in layout.times[name].columns).alias(
            _LACKS + name
        )
        for name in may_lack
    )
    # New columns with times and positions are added beside the old ones; what could not be read is null.
    lazy = lazy.with_columns(read_time(time, types[time.columns[0]]).alias(name) for name, time in layout.times.items())
    places = {name: read_position(position) for name, position in layout.positions.items()}
    lazy = lazy.with_columns(
        axis.alias(column)
        for name, pair in places.items()
        for axis, column in zip(pair, position_names(name), strict=True)
    )
    # Reasons for which a row is bad, each an expression over all rows: they are counted in one pass, and the text of
    # the reason is what the user reads.
    bad = {}
    for name, time in layout.times.items():
        unread = pl.col(name).is_null()
        reason = f"the time in {listed(list(time.columns))} cannot be read"
        bad[reason] = unread & ~pl.col(_LACKS + name) if name in may_lack else unread
    for name, position in layout.positions.items():
        x, y = (pl.col(column) for column in position_names(name))
        written = pl.any_horizontal(pl.col(column).is_not_null() for column in position.columns if column not in "xy")
        # A trip may lack an end; what is written there must be a position.
        expected = pl.lit(True) if name == "point" else written
        bad[f"the position in {listed(list(position.columns))} cannot be read"] = (x.is_null() | y.is_null()) & expected
    position_columns = {column for name in layout.positions for column in position_names(name)}
    present = {*names, *layout.times, *position_columns}
    schema = lazy.collect_schema()
    bad |= {f"column {listed([name])} is empty": _is_empty(name, schema[name])
            for name in layout.needed if name in present and name not in layout.times}  # fmt: skip
    bad |= {f"column {listed([name])} is no {'coordinate' if most else 'number'}": _is_no_number(name, most)
            for name, most in layout.numbers.items() if name in present}  # fmt: skip
    for x_name, y_name in layout.zeros:
        if {x_name, y_name} <= present:
            both = [pl.col(column).cast(pl.Float64, strict=False) == 0 for column in (x_name, y_name)]
            bad[f"columns {listed([x_name, y_name])} are both 0, where no position was known"] = (
                both[0] & both[1]
            ).fill_null(False)
    if layout.forward and {"t_start", "t_end"} <= set(schema.names()):
        bad["a trip ends before it begins"] = (pl.col("t_end") < pl.col("t_start")).fill_null(False)
    # Two passes over the file: one that only counts, so that nothing is written where rows are refused; one that
    # writes.
    target = folder / "converted.parquet"
    try:
        dropped, rows, first = _count_bad(lazy, bad)
        if dropped and layout.bad_rows == "refuse":
            reason, times = next(iter(dropped.items()))
            raise InputError(
                f"{shown}: {reason} in {count(times, 'row')} of {rows:,}, first at {row_place(first, word)}. Correct "
                "them, say --time-format, or leave them out with --bad-rows drop."
            )
        # A row is dropped for any of the reasons; in the counts it appears under each.
        good = lazy.filter(~pl.any_horizontal(bad.values())) if bad else lazy
        good = good.drop(_LACKS + name for name in may_lack)
        # What a time was read from says it once more, and is no attribute of anybody.
        # Raw columns of times and positions go, unless something else needs them.
        read = {column for time in layout.times.values() for column in (*time.columns, time.minutes) if column}
        read -= {*layout.times, *layout.needed, *(column for pair in layout.ends.values() for column in pair)}
        placed = {column for position in layout.positions.values() for column in position.columns}
        good = good.drop(sorted(read | (placed - position_columns - set(layout.needed))))
        if layout.line is not None:
            good = spread_lines(good, layout.line)
        if layout.ends:
            good = _both_ends(good, good.collect_schema().names(), layout.ends)
        # The name of the file and the word for its rows travel along, for messages of whoever reads the result.
        good.sink_parquet(target, metadata={PIECE: shown, ROW_WORD: word, **(metadata or {})}, maintain_order=True)
    except _POLARS_ERRORS:
        raise _unreadable(shown) from None
    return Converted(path=target, rows=rows, dropped=dropped)


def position_names(name: str) -> tuple[str, str]:
    """Return the columns that a position becomes, by its name in a recipe.

    >>> position_names("point"), position_names("origin")
    (('x', 'y'), ('origin_x', 'origin_y'))
    """
    return ("x", "y") if name == "point" else (f"{name}_x", f"{name}_y")


def _is_empty(name: str, dtype: pl.DataType) -> pl.Expr:
    empty = pl.col(name).is_null()
    return empty | (pl.col(name).str.strip_chars() == "") if dtype == pl.String else empty


def _is_no_number(name: str, most: float | None) -> pl.Expr:
    """Return whether something is written in a column that is no number, or none that is possible."""
    numbers = pl.col(name).cast(pl.Float64, strict=False)
    # Where a limit is known, what is beyond it is as odd as a text.
    odd = ~numbers.is_finite() if most is None else ~(numbers.abs() <= most)
    return pl.col(name).is_not_null() & odd.fill_null(True)


def spread_lines(lazy: pl.LazyFrame, line: LineColumn) -> pl.LazyFrame:
    """Return a row for each position of a line, with lon and lat; the time grows from one to the next."""
    # Each row becomes a trip of its own, numbered by its row, and its positions follow each other by `every` seconds.
    if TRIP not in lazy.collect_schema().names():
        lazy = lazy.with_columns((pl.col(ROW_NUMBER) + 1).cast(pl.String).alias(TRIP))
    lists = _line_positions(pl.col(line.column))
    place = pl.col("__position__")
    grown = pl.col(line.t) + pl.duration(microseconds=pl.col("__number__") * round(line.every * 1_000_000))
    return (
        lazy.with_columns(
            lists.alias("__position__"), pl.int_ranges(0, lists.list.len(), dtype=pl.Int64).alias("__number__")
        )
        .drop(line.column)
        .filter(place.list.len() > 0)
        .explode("__position__", "__number__")
        .with_columns(
            grown.alias(line.t),
            place.list.get(0, null_on_oob=True).alias("lon"),
            place.list.get(1, null_on_oob=True).alias("lat"),
        )
        .filter(pl.col("lon").is_not_null() & pl.col("lat").is_not_null())
        .drop("__position__", "__number__")
    )


def find_line(frame: pl.DataFrame) -> str | None:
    """Return the column that holds lists of positions, None where none does."""
    for name, dtype in frame.schema.items():
        if dtype != pl.String:
            continue
        head = frame[name].drop_nulls().head(50)
        lines = head.str.contains(r"(?i)^\s*(\[\s*\[\s*-?\d|LINESTRING\s*Z?\s*\()")
        if len(head) and int(lines.sum()) * 2 > len(head):
            return name
    return None


def _line_positions(text: pl.Expr) -> pl.Expr:
    """Return the pairs of numbers of lines: JSON lists of pairs, or LINESTRING."""
    # Pairs of numbers, whatever stands around them: brackets of JSON or words of WKT.
    numbers = text.str.extract_all(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*[,\s]\s*-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
    pair = pl.element().str.extract_all(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?").cast(pl.List(pl.Float64))
    # Each pair is split into its two numbers; other shapes give no list, and the row no position.
    return numbers.list.eval(pair)


def _both_ends(lazy: pl.LazyFrame, names: Sequence[str], ends: Mapping[str, tuple[str, str]]) -> pl.LazyFrame:
    """Return two rows for each: one with the columns of the start, one with those of the end."""
    used = {column for pair in ends.values() for column in pair}
    others = [name for name in names if name not in used and name not in ends and name not in (TRIP, ROW_NUMBER)]
    sides = [
        # The same rows twice: once with the columns of the start under the common names, once with those of the end.
        lazy.select(
            ROW_NUMBER,
            *others,
            (pl.col(ROW_NUMBER) + 1).cast(pl.String).alias(TRIP),
            *(pl.col(pair[side]).alias(name) for name, pair in ends.items()),
        )
        for side in (0, 1)
    ]
    # Both rows of a trip have the number of its row, and the start comes first, as the first frame is the starts.
    return pl.concat(sides).sort(ROW_NUMBER, maintain_order=True)


def scan_text(shown: str, text: Path, layout: Layout) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return a text in UTF-8 as a frame of text columns, and their names."""
    dialect = layout.dialect
    # Some files have more fields in their rows than in their header, the last ones empty: a separator at the end of
    # each line.  Polars refuses them, so names are made for the empty columns.
    beyond, blank = _names_beyond_header(text, dialect) if dialect.header and not dialect.comment else ((), 0)
    try:
        lazy = pl.scan_csv(
            text,
            separator=dialect.separator,
            has_header=dialect.header and not beyond,
            skip_lines=dialect.skip_lines + (1 + blank if beyond else 0),
            comment_prefix=dialect.comment or None,
            infer_schema=False,
            schema=dict.fromkeys(beyond, pl.String) if beyond else None,
            glob=False,
        )
        if blank:
            # Blank lines under the header are rows of nothing, so that the lines below have their numbers.
            nothing = pl.DataFrame({name: [None] * blank for name in beyond}, schema=dict.fromkeys(beyond, pl.String))
            lazy = pl.concat([nothing.lazy(), lazy])
        header = [name.strip() for name in lazy.collect_schema().names()]
    except _POLARS_ERRORS:
        raise _unreadable(shown) from None
    if layout.names and len(layout.names) != len(header):
        number = count(len(layout.names), "name")
        raise InputError(f"{shown}: {number} of columns are given, the file has {len(header):,} columns.")
    # Readers rename columns that have the same title; messages must have the titles of the file.
    written = list(beyond) or (_header_names(text, dialect) if dialect.header else [""] * len(header))
    names = layout.names or name_columns(written if len(written) == len(header) else header)
    if len(set(names)) < len(names):
        raise InputError(f"{shown}: more than one column has the same name; rename all but one.")
    lazy = lazy.rename(dict(zip(lazy.collect_schema().names(), names, strict=True)))
    # Only fields that are a number with a comma: a text with a comma stays as it is.
    if dialect.decimal == ",":
        lazy = lazy.with_columns(pl.all().str.replace(_DECIMAL_COMMA, "${1}.${2}"))
    return lazy, names


def _header_names(text: Path, dialect: Dialect) -> list[str]:
    """Return the names of columns as they stand in a text in UTF-8; readers make up others where one comes again."""
    records = _first_records(text, dialect)
    return [name.strip() for name in records[0]] if records else []


def _names_beyond_header(text: Path, dialect: Dialect) -> tuple[tuple[str, ...], int]:
    """Return the names of all columns where rows have more, empty ones, than the header names, and how many blank lines
    stand under the header; none otherwise.
    """
    records = _first_records(text, dialect)
    if len(records) < 2 or len(records[1]) <= len(records[0]):
        return (), 0
    width = len(records[1])
    beyond = [field for record in records[1:] for field in record[len(records[0]) :]]
    if any(field.strip() for field in beyond):
        return (), 0
    # Blank lines under the header would be lost with it, and all lines below be numbered too low.
    with text.open(encoding="utf-8-sig", errors="replace") as stream:
        below = islice(stream, dialect.skip_lines + 1, None)
        blank = sum(1 for _ in takewhile(lambda line: not line.strip(), below))
    return name_columns([*(name.strip() for name in records[0]), *[""] * (width - len(records[0]))]), blank


def _first_records(text: Path, dialect: Dialect) -> list[list[str]]:
    """Return the first records of a text in UTF-8, the header among them, without blank lines."""
    with text.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = list(islice(stream, dialect.skip_lines + _HEADER_LINES))[dialect.skip_lines :]
    if dialect.comment:
        lines = [line for line in lines if not line.startswith(dialect.comment)]
    reader = csv.reader(lines, delimiter=dialect.separator, skipinitialspace=dialect.separator == " ")
    records = []
    try:
        for record in reader:
            if record:
                records.append(record)
    except csv.Error:
        return records[:1]
    return records


def name_columns(given: Sequence[str]) -> tuple[str, ...]:
    """Return names that are all different: one that comes again gets a number, one that is empty that of its column.

    >>> name_columns(["user", "note", "note", ""])
    ('user', 'note', 'note (2)', 'column_4')
    """
    names: list[str] = []
    for position, name in enumerate(given, 1):
        bare = name or f"column_{position}"
        unique = bare
        number = 2
        while unique in names:
            unique = f"{bare} ({number})"
            number += 1
        names.append(unique)
    return tuple(names)


def _unreadable(shown: str) -> InputError:
    return InputError(f"{shown}: the text cannot be read as a table in this dialect; check its quotation marks.")


def read_time(time: TimeColumn, dtype: pl.DataType | None = None) -> pl.Expr:
    """Return a time as a column: an instant, local time, or a whole number; times of type time stay."""
    # A column that is a time in the file already needs no format.
    if isinstance(dtype, pl.Datetime) and len(time.columns) == 1 and not time.minutes and not time.zone:
        moment = pl.col(time.columns[0]).dt.cast_time_unit("us")
        return moment.dt.convert_time_zone("UTC") if dtype.time_zone else moment
    if time.format == PARTS:
        moment = read_parts([pl.col(name) for name in time.columns])
    else:
        moment = read_times(pl.col(time.columns[0]).cast(pl.String), time.format)
    if len(time.columns) == 2:
        moment = moment + read_times(pl.col(time.columns[1]).cast(pl.String), CLOCK)
    if time.format in (NUMBER, CLOCK):
        # A time of day alone is counted in seconds since midnight.
        return moment if time.format == NUMBER else moment // 1_000_000
    wall = moment.cast(pl.Datetime("us"))
    if time.minutes:
        return wall + pl.duration(minutes=pl.col(time.minutes).cast(pl.String).cast(pl.Int64, strict=False))
    if time.format.startswith("epoch") or time.zone == OFFSET:
        return wall.dt.replace_time_zone("UTC")
    if time.zone:
        # In autumn an hour comes twice: the first is taken.  In spring an hour does not exist: a time in it is bad.
        local = wall.dt.replace_time_zone(time.zone, ambiguous="earliest", non_existent="null")
        return local.dt.convert_time_zone("UTC")
    return wall


def _count_bad(lazy: pl.LazyFrame, bad: Mapping[str, pl.Expr]) -> tuple[dict[str, int], int, int]:
    """Return how many rows are bad, by reason, how many there are, and the first bad one."""
    anywhere = pl.any_horizontal(bad.values()) if bad else pl.lit(False)
    counts = lazy.select(
        pl.len().alias("rows"),
        pl.col(ROW_NUMBER).filter(anywhere).first().alias("first"),
        *(flag.sum().alias(f"bad {i}") for i, flag in enumerate(bad.values())),
    ).collect(engine="streaming")
    by_reason = {reason: int(counts[f"bad {i}"][0]) for i, reason in enumerate(bad)}
    first = counts["first"][0]
    return (
        {reason: n for reason, n in by_reason.items() if n},
        int(counts["rows"][0]),
        0 if first is None else int(first),
    )
