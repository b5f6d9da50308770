"""Tables on disk, opened but not understood: names of columns, columns, and the place of a row in the file."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.tabular.csv_position import first_bad_byte, first_long_record, line_of_record
from wayveil.io.tabular.messages import count, looks_like_data, shown, was
from wayveil.io.tabular.normal_columns import text_column
from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.model.normal import normal_text

__all__ = [
    "PIECE",
    "ROW_NUMBER",
    "ROW_WORD",
    "Rows",
    "Table",
    "as_text",
    "as_written",
    "number_in_file",
    "open_table",
    "parquet_parts",
    "peek",
    "refuse_repeated",
    "row_place",
    "stored_column",
]

ROW_NUMBER = "__wayveil_row__"
"""The column of a piece of a table that has the number of each row in the whole."""

PIECE = "wayveil_piece_of"
"""The metadata of a piece that has the name of the whole, for messages."""

ROW_WORD = "wayveil_row_word"
"""The metadata of a piece that has what messages call the place of a row: "line" of a text table."""

_HEADER_BYTES = 1 << 20
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}

# 40 bits for the row, the bits above for the file: a trillion rows in each of eight million files.
_FILE_BITS = 40


def number_in_file(file: int) -> int:
    """Return what is added to the numbers of the rows of a file, from 0, where a table has several.

    Names of files may be names of people, so that messages have the number of a file.
    """
    return (file + 1) << _FILE_BITS


def row_place(number: int, word: str) -> str:
    """Return where a row of a table is, from its number in `ROW_NUMBER`.

    Examples
    --------
    >>> row_place(6, "row"), row_place(number_in_file(2) + 6, "line")
    ('row 7', 'line 7 of file 3 by name')
    """
    file, row = divmod(number, 1 << _FILE_BITS)
    return f"{word} {row + 1:,} of file {file:,} by name" if file else f"{word} {row + 1:,}"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A file whose header was read.

    Parameters
    ----------
    path : str
        As the user typed it, for messages.
    names : tuple of str
        The columns in the order of the file, blanks around them removed; '' for a column without a name.
    lazy : polars.LazyFrame
        The columns, named by their position: "0", "1", ...
    csv : Path, bytes or None
        Where the text is, when the table is CSV.
    separator : str
        Between two fields of CSV.
    geometry : str or None
        The column that the file itself declares to be the place.
    aside : tuple of str
        Columns that can be named in options, but are no attributes.
    places : callable or None
        From a row to where it is in the file, where neither lines of CSV nor rows of Parquet tell.
    row_numbers : polars.LazyFrame or None
        Of a piece of a table: the number of each row in the whole.
    """

    path: str
    names: tuple[str, ...]
    lazy: pl.LazyFrame
    csv: Path | bytes | None
    separator: str = ","
    notes: tuple[str, ...] = ()
    geometry: str | None = None
    aside: tuple[str, ...] = ()
    places: Callable[[int], str] | None = field(default=None, repr=False)
    row_numbers: pl.LazyFrame | None = field(default=None, repr=False)

    def read(self, positions: Sequence[int]) -> Rows:
        """Read these columns; lines of CSV on which all of them are empty are left out."""
        # Each column once, however many roles it has.
        names = [str(p) for p in dict.fromkeys(positions)]
        try:
            frame = self.lazy.select(names).collect()
        except _POLARS_ERRORS:
            raise self._unreadable() from None
        # A blank line is a row of nulls to polars. It is left out, but rows keep their numbers in the file, for
        # messages.
        if self.csv is not None and frame[names[0]].null_count():
            blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
            if blank.any():
                lines = np.flatnonzero(~blank.to_numpy())
                return Rows(table=self, frame=frame.filter(~blank), original_row=lines, blank=int(blank.sum()))
        return Rows(table=self, frame=frame)

    def wrong(self, sentence: str) -> InputError:
        """Return the error that says `sentence` of this file."""
        return InputError(f"{self.path}: {sentence}")

    def _unreadable(self) -> InputError:
        """Return the error for a body that polars refused; what polars says may hold values, so it is not shown."""
        # Polars says only that something is wrong.  The likely causes are looked for one by one, each with its line.
        if self.csv is None:
            return self.wrong("the Parquet file is damaged and cannot be read; write or copy it again.")
        bad = first_bad_byte(self.csv)
        if bad is not None:
            return self.wrong(f"the text is not UTF-8 at line {bad[1]:,} (byte {bad[0]:,}); save the file as UTF-8.")
        long = first_long_record(self.csv, self.separator, len(self.names))
        if long is not None:
            return self.wrong(
                f"line {long[0]:,} has {count(long[1], 'field')}, the header has {len(self.names):,}; put quotation "
                "marks around text that holds the separator."
            )
        return self.wrong(
            "the file is not valid CSV: a quotation mark is not closed, or stands inside a field that is not quoted; "
            "quote such fields and double the marks inside."
        )


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Columns that were read, with a way back from a row to its line."""

    table: Table
    frame: pl.DataFrame
    original_row: IntArray | None = field(default=None, repr=False)
    blank: int = 0
    respelled: dict[str, int] = field(default_factory=dict, repr=False, compare=False)
    """How many rows of a column were not written in normal form, as far as columns were read as text."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading columns as text has changed."""
        return tuple(
            f"Column {shown(name)}: {count(number, 'value')} {was(number)} brought to the normal form (NFC, without "
            "white space at the ends and invisible characters)."
            for name, number in self.respelled.items()
        )

    def __len__(self) -> int:
        return self.frame.height

    def place(self, row: int) -> str:
        """Return where a row is: "line 7" of CSV (the header is line 1), "row 6" of Parquet (the first is row 1)."""
        original = row if self.original_row is None else int(self.original_row[row])
        if self.table.places is not None:
            return self.table.places(original)
        if self.table.csv is None:
            return f"row {original + 1:,}"
        return f"line {line_of_record(self.table.csv, original + 1):,}"

    def refuse(self, bad: pl.Series | BoolArray, what: str, remedy: str) -> None:
        """Raise InputError if any row is bad: what is wrong, how often, where first, and what to do."""
        rows = np.flatnonzero(bad.to_numpy() if isinstance(bad, pl.Series) else bad)
        if len(rows):
            where = f"at {self.place(int(rows[0]))}" if len(rows) == 1 else f"first at {self.place(int(rows[0]))}"
            raise self.table.wrong(f"{what} in {count(len(rows), 'row')}, {where}. {remedy}")


def open_table(path: str | Path) -> Table:
    """Open a CSV (also gzipped) or Parquet file and read the names of its columns.

    Parameters
    ----------
    path : str or Path
        The suffix decides: .csv, .csv.gz or .parquet; a folder of Parquet files is one table, in the order of names.

    Returns
    -------
    Table
    """
    shown = str(path)
    file = Path(path)
    # By suffix, but checked against the first bytes: a Parquet file called .csv would be read as garbage.
    parts = parquet_parts(file)
    if parts:
        for part in parts:
            _open_parquet(f"{shown}: {part.name}", part, *peek(shown, part)[:2])
        return _open_parquets(shown, parts)
    start, end, size = peek(shown, file)
    name = file.name.lower()
    if not name.endswith((".csv", ".csv.gz", ".parquet")):
        raise InputError(f"{shown}: the format is told by the suffix; give a .csv, .csv.gz or .parquet file.")
    if size == 0:
        raise InputError(f"{shown}: the file is empty; a header and at least one row are needed.")
    if name.endswith(".parquet"):
        return _open_parquet(shown, file, start, end)
    if start == b"PAR1":
        raise InputError(f"{shown}: this is a Parquet file; give it the suffix .parquet.")
    if start[:2] == b"\x1f\x8b":
        return _open_csv(shown, _unzip(shown, file))
    if name.endswith(".gz"):
        raise InputError(f"{shown}: the file is not gzipped; give it the suffix .csv or compress it.")
    return _open_csv(shown, file)


def parquet_parts(path: Path) -> list[Path]:
    """Return the Parquet files of a folder that holds no other tables, in the order of their names; none otherwise."""
    try:
        files = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_"))) if path.is_dir() else []
    except (OSError, ValueError):
        return []
    return files if files and all(file.name.lower().endswith(".parquet") for file in files) else []


def peek(shown: str, file: Path) -> tuple[bytes, bytes, int]:
    """Return the first four bytes of a file, the last four, and its size; InputError if it cannot be read."""
    try:
        if file.is_dir():
            raise InputError(f"{shown}: this is a folder; give a .csv, .csv.gz or .parquet file.")
        with file.open("rb") as stream:
            start = stream.read(4)
            size = stream.seek(0, io.SEEK_END)
            stream.seek(-min(4, size), io.SEEK_END)
            return start, stream.read(), size
    except FileNotFoundError:
        raise InputError(f"{shown}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "the path is not usable"
        raise InputError(f"{shown}: the file cannot be read: {reason}.") from None


def as_text(rows: Rows, position: int) -> pl.Series:
    """Return a column as text in normal form; empty text and NaN become missing values."""
    _refuse_other_types(rows, position)
    text, changed = text_column(rows.frame[str(position)])
    if changed:
        rows.respelled[rows.table.names[position]] = changed
    return text


def as_written(rows: Rows, position: int) -> pl.Series:
    """Return a column as text, as it stands in the file; empty text and NaN become missing values."""
    _refuse_other_types(rows, position)
    values = rows.frame[str(position)]
    text = values.fill_nan(None).cast(pl.String) if values.dtype.is_float() else values.cast(pl.String)
    empty = text == ""
    return text.set(empty, None) if empty.any() else text


def _refuse_other_types(rows: Rows, position: int) -> None:
    dtype = rows.frame[str(position)].dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        kind = str(dtype.base_type()).lower()
        raise rows.table.wrong(
            f"column '{rows.table.names[position]}' has the type {kind}, which is no text; store text or numbers."
        )


def stored_column(schema: pl.Schema, name: str) -> pl.Expr:
    """Return a column of a Parquet file without the mark of another package: geoarrow.wkb is the WKB that it holds."""
    marked = isinstance(schema[name], pl.BaseExtension)
    return pl.col(name).ext.storage() if marked else pl.col(name)


def _open_parquet(shown: str, file: Path, start: bytes, end: bytes) -> Table:
    if start != b"PAR1":
        raise InputError(f"{shown}: this is not a Parquet file; check the suffix.")
    if end != b"PAR1":
        raise InputError(f"{shown}: the Parquet file is cut short; write or copy it again.")
    return _open_parquets(shown, [file])


def _open_parquets(shown: str, files: list[Path]) -> Table:
    """Open files that hold the rows of one table."""
    try:
        lazy = pl.scan_parquet(files, glob=False, hive_partitioning=False)
        schema = lazy.collect_schema()
        names = schema.names()
        facts = pl.read_parquet_metadata(files[0]) if ROW_NUMBER in names else {}
        whole = facts.get(PIECE)
        word = facts.get(ROW_WORD, "row")
    except _POLARS_ERRORS:
        raise InputError(f"{shown}: the Parquet file is damaged and cannot be read; write or copy it again.") from None
    places = None
    # A piece of a table, or a converted one, carries the numbers of its rows in the original, and messages use these.
    rows = None
    if whole is not None:
        rows = lazy.select(ROW_NUMBER)
        names.remove(ROW_NUMBER)
        shown = whole

        def places(row):
            return row_place(rows.slice(row, 1).collect().item(), word)

    lazy = lazy.select(stored_column(schema, name).alias(str(i)) for i, name in enumerate(names))
    named = ["" if _PANDAS_INDEX.fullmatch(name) else name for name in names]
    return Table(path=shown, names=_checked(shown, named), lazy=lazy, csv=None, places=places, row_numbers=rows)


def _unzip(shown: str, file: Path) -> bytes:
    try:
        with gzip.open(file) as stream:
            text = stream.read()
    except EOFError:
        raise InputError(f"{shown}: the gzip file is cut short; write or copy it again.") from None
    except (OSError, zlib.error):
        raise InputError(f"{shown}: the gzip file is damaged and cannot be read; write or copy it again.") from None
    if not text:
        raise InputError(f"{shown}: the file is empty; a header and at least one row are needed.")
    return text


def _open_csv(shown: str, source: Path | bytes) -> Table:
    header = _header(shown, source)
    # The header tells the separator: the one that gives most columns.
    candidates = {sign: _fields(header, sign) for sign in _SEPARATORS}
    separator = max(candidates, key=lambda sign: len(candidates[sign]))
    raw = candidates[separator]
    names = _checked(shown, raw)
    if len(names) == 1:
        raise InputError(
            f"{shown}: the first line has only one column; the columns must be separated by commas, semicolons or "
            "tabs, with their names on line 1."
        )
    try:
        lazy = pl.scan_csv(
            source,
            separator=separator,
            infer_schema=False,
            glob=False,
            # Columns are named by position: titles may repeat, and positions cannot.
            with_column_names=lambda columns: [str(i) for i in range(len(columns))],
        )
        as_found = len(lazy.collect_schema())
    except _POLARS_ERRORS:
        as_found = -1
    if as_found != len(names):
        raise InputError(f"{shown}: the first line is not a valid CSV header; check its quotation marks.")
    notes = () if separator == "," else (f"The columns are separated by {_SEPARATORS[separator]}.",)
    return Table(path=shown, names=names, lazy=lazy, csv=source, separator=separator, notes=notes)


def _header(shown: str, source: Path | bytes) -> str:
    """Return the text at the beginning of the file, as far as the first record goes."""
    if isinstance(source, bytes):
        start = source[:_HEADER_BYTES]
    else:
        with source.open("rb") as stream:
            start = stream.read(_HEADER_BYTES)
    start = start.removeprefix(b"\xef\xbb\xbf")
    if not start.strip():
        raise InputError(f"{shown}: the file is empty; a header and at least one row are needed.")
    end = len(start)
    quoted = False
    # The first record ends at the first line end outside of quotation marks; a doubled mark inside a field toggles
    # twice, which is right.
    for match in re.finditer(rb'["\n]', start):
        if match.group() == b'"':
            quoted = not quoted
        elif not quoted:
            end = match.start()
            break
    try:
        line = start[:end].decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{shown}: the text is not UTF-8 at line 1 (byte {error.start + 1:,}); save the file as UTF-8."
        ) from None
    if end == _HEADER_BYTES:
        raise InputError(f"{shown}: the header does not end within the first megabyte; check its quotation marks.")
    if not line.strip():
        raise InputError(f"{shown}: the first line is empty; the names of the columns must be on line 1.")
    if "\r" in line:
        raise InputError(f"{shown}: the lines end with CR alone; save the file with the line ends of Unix or Windows.")
    return line


def _fields(header: str, separator: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(header, newline=""), delimiter=separator))
    except (csv.Error, StopIteration):
        return [header]


def _checked(shown: str, raw: Iterable[str]) -> tuple[str, ...]:
    names = tuple(normal_text(name) for name in raw)
    if any("\n" in name or "\r" in name for name in names):
        raise InputError(f"{shown}: the name of a column goes over several lines; check the quotation marks of line 1.")
    # A file without a header shows its first row here, and a message must never repeat values.
    if any(looks_like_data(name) for name in names):
        raise InputError(
            f"{shown}: the file seems to have no header (its first row has values like those below it); put the names "
            "of the columns on line 1, such as traj_id,t,location or traj_id,t,lon,lat."
        )
    refuse_repeated(shown, names)
    return names


def refuse_repeated(shown: str, names: Sequence[str]) -> None:
    """Raise InputError if two columns have one name; it is not shown, because it may be a value of a first row."""
    repeated = [name for name, times in Counter(name for name in names if name).items() if times > 1]
    if repeated:
        where = " and ".join(f"{i:,}" for i, name in enumerate(names, 1) if name == repeated[0])
        raise InputError(f"{shown}: columns number {where} have the same name; rename all but one.")
