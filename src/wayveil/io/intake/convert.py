"""One pass over a table in its own dialect: plain columns, times as times, bad rows counted by reason.

What comes out is a Parquet file with the columns of the table, a column for each time that was read, and
the number of each row in the file, so that messages about a row name its place there.  Everything else reads that file.
"""

from __future__ import annotations

import codecs
import gzip
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal
from zoneinfo import ZoneInfo

import polars as pl

from wayveil.errors import InputError, UsageError, check_choice
from wayveil.io.intake.dialect import Dialect
from wayveil.io.intake.time_formats import CLOCK, FORMATS, NUMBER, read_times
from wayveil.io.tabular.messages import count, listed
from wayveil.io.tabular.table import PIECE, ROW_NUMBER, ROW_WORD

__all__ = [
    "OFFSET",
    "TRIP",
    "Converted",
    "Layout",
    "TimeColumn",
    "convert_frame",
    "convert_table",
    "open_text",
    "plain_text",
    "scan_text",
]

OFFSET = "offset"
"""The zone of times that say their own UTC offset."""

TRIP = "trip"
"""The column with the number of a row that became two."""

_DECIMAL_COMMA = r"^\s*([+-]?\d+),(\d+)\s*$"
_CHUNK = 1 << 24
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@dataclass(frozen=True, kw_only=True)
class TimeColumn:
    """A time that is read from one column, or from a date and a clock in two.

    Parameters
    ----------
    columns : tuple of str
        One column, or two: the date, then the time of day.
    format : str
        One of `time_formats.FORMATS`, of the date where there are two columns.
    zone : str
        "offset" where every time says its own UTC offset; the time zone of times without one, such as "Europe/Athens";
        "" keeps the clock on the wall.
    """

    columns: tuple[str, ...]
    format: str
    zone: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        check_choice("times", "format", self.format, FORMATS)
        if len(self.columns) not in (1, 2):
            raise UsageError("times: name one column, or two: the date and the time of day.")
        if self.zone not in ("", OFFSET):
            try:
                ZoneInfo(self.zone)
            except (KeyError, ValueError, OSError):
                raise UsageError(
                    "times: zone must be a name of the time zone database, such as Europe/Athens or UTC."
                ) from None


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
    needed : tuple of str
        Columns without which a row is bad.
    bad_rows : {"refuse", "drop"}
        What to do with rows whose time cannot be read, or that lack what is needed.
    """

    dialect: Dialect = field(default_factory=Dialect)
    names: tuple[str, ...] = ()
    times: Mapping[str, TimeColumn] = field(default_factory=dict)
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
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
        return self.dialect.is_plain and not (self.names or self.times or self.ends or self.bad_rows == "drop")


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
        first_line = layout.dialect.skip_lines + layout.dialect.header
        lazy = lazy.with_row_index(ROW_NUMBER, offset=first_line).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
        blank = pl.all_horizontal(pl.col(name).is_null() for name in names)
        return convert_frame(lazy.filter(~blank), names, layout, folder, shown=shown, word="line")


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
    wanted = {column for time in layout.times.values() for column in time.columns}
    wanted |= {column for pair in layout.ends.values() for column in pair if column not in layout.times}
    missing = sorted(wanted - set(names))
    if missing:
        raise InputError(
            f"{shown}: there is no column {listed(missing)} to read times or ends from; the file has {listed(names)}."
        )
    lazy = lazy.with_columns(_read_time(time).alias(name) for name, time in layout.times.items())
    bad = {f"the time in {listed(list(time.columns))} cannot be read": pl.col(name).is_null()
           for name, time in layout.times.items()}  # fmt: skip
    present = {*names, *layout.times}
    schema = lazy.collect_schema()
    bad |= {f"column {listed([name])} is empty": _is_empty(name, schema[name])
            for name in layout.needed if name in present and name not in layout.times}  # fmt: skip
    target = folder / "converted.parquet"
    try:
        dropped, rows, first = _count_bad(lazy, bad)
        if dropped and layout.bad_rows == "refuse":
            reason, times = next(iter(dropped.items()))
            raise InputError(
                f"{shown}: {reason} in {count(times, 'row')} of {rows:,}, first at {word} {first + 1:,}. Correct "
                "them, say --time-format, or leave them out with --bad-rows drop."
            )
        good = lazy.filter(~pl.any_horizontal(bad.values())) if bad else lazy
        # What a time was read from says it once more, and is no attribute of anybody.
        read = {column for time in layout.times.values() for column in time.columns}
        read -= {*layout.times, *layout.needed, *(column for pair in layout.ends.values() for column in pair)}
        good = good.drop(sorted(read))
        if layout.ends:
            good = _both_ends(good, good.collect_schema().names(), layout.ends)
        good.sink_parquet(target, metadata={PIECE: shown, ROW_WORD: word, **(metadata or {})}, maintain_order=True)
    except _POLARS_ERRORS:
        raise _unreadable(shown) from None
    return Converted(path=target, rows=rows, dropped=dropped)


def _is_empty(name: str, dtype: pl.DataType) -> pl.Expr:
    empty = pl.col(name).is_null()
    return empty | (pl.col(name).str.strip_chars() == "") if dtype == pl.String else empty


def _both_ends(lazy: pl.LazyFrame, names: Sequence[str], ends: Mapping[str, tuple[str, str]]) -> pl.LazyFrame:
    """Return two rows for each: one with the columns of the start, one with those of the end."""
    used = {column for pair in ends.values() for column in pair}
    others = [name for name in names if name not in used and name not in ends and name not in (TRIP, ROW_NUMBER)]
    sides = [
        lazy.select(
            ROW_NUMBER,
            *others,
            (pl.col(ROW_NUMBER) + 1).cast(pl.String).alias(TRIP),
            *(pl.col(pair[side]).alias(name) for name, pair in ends.items()),
        )
        for side in (0, 1)
    ]
    return pl.concat(sides).sort(ROW_NUMBER, maintain_order=True)


def scan_text(shown: str, text: Path, layout: Layout) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return a text in UTF-8 as a frame of text columns, and their names."""
    dialect = layout.dialect
    try:
        lazy = pl.scan_csv(
            text,
            separator=dialect.separator,
            has_header=dialect.header,
            skip_lines=dialect.skip_lines,
            comment_prefix=dialect.comment or None,
            infer_schema=False,
            glob=False,
        )
        found = [name.strip() for name in lazy.collect_schema().names()]
    except _POLARS_ERRORS:
        raise _unreadable(shown) from None
    if layout.names and len(layout.names) != len(found):
        given = count(len(layout.names), "name")
        raise InputError(f"{shown}: {given} of columns are given, the file has {len(found):,} columns.")
    names = layout.names or (tuple(found) if dialect.header else tuple(f"column_{i + 1}" for i in range(len(found))))
    if len(set(names)) < len(names):
        raise InputError(f"{shown}: more than one column has the same name; rename all but one.")
    lazy = lazy.rename(dict(zip(lazy.collect_schema().names(), names, strict=True)))
    if dialect.decimal == ",":
        lazy = lazy.with_columns(pl.all().str.replace(_DECIMAL_COMMA, "${1}.${2}"))
    return lazy, names


def _unreadable(shown: str) -> InputError:
    return InputError(f"{shown}: the text cannot be read as a table in this dialect; check its quotation marks.")


def _read_time(time: TimeColumn) -> pl.Expr:
    """Return a time as a column: an instant, the clock on the wall, or a whole number."""
    first = pl.col(time.columns[0]).cast(pl.String)
    moment = read_times(first, time.format)
    if len(time.columns) == 2:
        moment = moment + read_times(pl.col(time.columns[1]).cast(pl.String), CLOCK)
    if time.format in (NUMBER, CLOCK):
        return moment if time.format == NUMBER else moment // 1_000_000
    wall = moment.cast(pl.Datetime("us"))
    if time.format.startswith("epoch") or time.zone == OFFSET:
        return wall.dt.replace_time_zone("UTC")
    if time.zone:
        there = wall.dt.replace_time_zone(time.zone, ambiguous="earliest", non_existent="null")
        return there.dt.convert_time_zone("UTC")
    return wall


def _count_bad(lazy: pl.LazyFrame, bad: Mapping[str, pl.Expr]) -> tuple[dict[str, int], int, int]:
    """Return how many rows are bad, by reason, how many there are, and the first bad one."""
    anywhere = pl.any_horizontal(bad.values()) if bad else pl.lit(False)
    counts = lazy.select(
        pl.len().alias("rows"),
        pl.col(ROW_NUMBER).filter(anywhere).first().alias("first"),
        *(flag.sum().alias(f"bad {i}") for i, flag in enumerate(bad.values())),
    ).collect(engine="streaming")
    found = {reason: int(counts[f"bad {i}"][0]) for i, reason in enumerate(bad)}
    first = counts["first"][0]
    return {reason: n for reason, n in found.items() if n}, int(counts["rows"][0]), 0 if first is None else int(first)


@contextmanager
def plain_text(path: str | Path, dialect: Dialect, folder: Path) -> Iterator[Path]:
    """Yield the table as plain text in UTF-8: the file itself, or a copy that is unpacked and encoded anew."""
    file = Path(path)
    packed = file.name.lower().endswith((".gz", ".zip"))
    if not packed and dialect.encoding in ("utf-8", "utf-8-sig"):
        yield file
        return
    copy = folder / "plain.txt"
    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    try:
        with open_text(path) as stream, copy.open("wb") as out:
            if dialect.encoding in ("utf-8", "utf-8-sig"):
                shutil.copyfileobj(stream, out, _CHUNK)
            else:
                while chunk := stream.read(_CHUNK):
                    out.write(decoder.decode(chunk).lstrip("\ufeff").encode("utf-8"))
                out.write(decoder.decode(b"", final=True).encode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: the text is not {dialect.encoding} near byte {error.start + 1:,}; save the file as UTF-8."
        ) from None
    try:
        yield copy
    finally:
        copy.unlink(missing_ok=True)


@contextmanager
def open_text(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a text table for reading: plain, gzipped, or the one table in a .zip file."""
    shown = str(path)
    file = Path(path)
    name = file.name.lower()
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                tables = [one for one in archive.infolist() if _is_table(one)]
                if len(tables) != 1:
                    raise InputError(
                        f"{shown}: a .zip file must hold one table; this one holds {len(tables):,}. Unpack it."
                    )
                with archive.open(tables[0]) as stream:
                    yield stream
        elif name.endswith(".gz"):
            with gzip.open(file) as stream:
                yield stream  # type: ignore[misc]
        else:
            with file.open("rb") as stream:
                yield stream
    except FileNotFoundError:
        raise InputError(f"{shown}: there is no such file; check the path.") from None
    except (zipfile.BadZipFile, EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{shown}: the packed file is damaged or cut short; write or copy it again.") from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the path is not usable'}.") from None


def _is_table(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry of an archive may be a table: a text file that no system put there for itself."""
    name = entry.filename.lower()
    hidden = name.startswith("__macosx") or name.rsplit("/", 1)[-1].startswith(".")
    return not entry.is_dir() and not hidden and name.endswith((".csv", ".txt", ".tsv", ".dat", ".tab"))
