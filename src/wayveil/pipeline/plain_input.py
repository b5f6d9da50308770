"""Inputs that are no plain table: converted once into a scratch folder, so that every reader takes them as they are."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.engines import Scratch, scratch_folder
from wayveil.errors import InputError
from wayveil.io.formats.file_formats import converted_format, read_converted
from wayveil.io.formats.json_records import convert_json, holds_records
from wayveil.io.formats.registry import holds_format, open_source
from wayveil.io.formats.vector_files import VECTOR_FILES, convert_vector
from wayveil.io.intake.convert import (
    OFFSET,
    Converted,
    Layout,
    LineColumn,
    TimeColumn,
    convert_frame,
    convert_table,
    find_line,
    scan_text,
)
from wayveil.io.intake.dialect import SEPARATORS, Dialect, detect_dialect
from wayveil.io.intake.positions import PositionColumn
from wayveil.io.intake.text_files import (
    PACKED,
    has_wildcard,
    list_text_files,
    open_text,
    plain_text,
    unpack_tables,
)
from wayveil.io.intake.text_folder import gather_files
from wayveil.io.intake.xml_records import convert_xml, holds_xml
from wayveil.io.tabular.columns import INPUTS, LOCATION_COORDINATES
from wayveil.io.tabular.crs import WGS84, crs_name
from wayveil.io.tabular.messages import count, listed, was
from wayveil.io.tabular.table import ROW_NUMBER
from wayveil.io.tabular.time_formats import CLOCK, FORMAT_WORDS, NUMBER, TimeFit, detect_time_formats
from wayveil.recipe.recipe import STANDARD_INPUT, DialectSpec, InputSpec, TimeSpec

__all__ = [
    "DIALECT_BYTES",
    "find_dialect",
    "gather_input",
    "is_plain",
    "is_text",
    "list_input",
    "name_input",
    "place_input",
    "plain_input",
]

DIALECT_BYTES = 1 << 20
"""A dialect is told from so much of a file."""

# Standard input can be read once, and packed tables are worth unpacking once: both are kept until the process ends.
_standard_input: list[Path] = []
_unpacked: dict[tuple[str, int, int], list[Path]] = {}


@contextmanager
def plain_input(spec: InputSpec, folder: Path | None = None) -> Iterator[tuple[InputSpec, tuple[str, ...]]]:
    """Yield an input whose table every reader takes as it is, and what was done to the file.

    The converted table is in `folder`, or in a scratch folder that is gone at the end.
    """
    if is_plain(spec):
        yield spec, ()
    elif folder is not None:
        yield _convert(spec, folder)
    else:
        with scratch_folder() as scratch:
            yield _convert(spec, scratch)


def is_plain(spec: InputSpec) -> bool:
    """Whether readers take the file of an input as it is."""
    # Anything that a recipe says of how the table is written needs the converter.
    written = spec.dialect or spec.times or spec.ends or spec.line or spec.positions
    if written or spec.bad_rows == "drop":
        return False
    path = spec.path
    if path == STANDARD_INPUT:
        return False
    if list_input(path):
        return False
    # Questions about the file system come last: they may fail for reasons that a reader tells better.
    try:
        if path.is_dir() or not path.is_file():
            return True  # readers say what is wrong
    except (OSError, ValueError):
        return True
    if converted_format(path) is not None or holds_records(path) or holds_xml(path):
        return False
    # What is left is told by name and content: a format that has a reader is plain, packed files and text of any other
    # name are not.
    return holds_format(path) or not (path.name.lower().endswith((*PACKED, *VECTOR_FILES)) or is_text(path))


def is_text(path: Path) -> bool:
    """Whether a file of any name begins like text."""
    try:
        with path.open("rb") as stream:
            start = stream.read(4096)
    except OSError:
        return False
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    # Spreadsheets and other packed documents; anything else that is no text has a zero byte early on.
    return bool(start) and 0 not in start and not start.startswith((b"PK", b"%PDF", b"PAR1", b"\x1f\x8b"))


def list_input(path: Path) -> list[Path]:
    """Return the files of an input that is a folder of text tables, or a pattern such as ``rides/2024*.csv``."""
    files = list_text_files(path) or _unpacked_tables(path)
    if not files and has_wildcard(path):
        raise InputError(f"{path}: no text table has such a name; check the pattern.")
    return files


def _unpacked_tables(path: Path) -> list[Path]:
    """Return the tables of a .zip file with several, which are unpacked once for all who read them."""
    try:
        is_zip = path.suffix.lower() == ".zip" and path.is_file()
        state = path.stat() if is_zip else None
    except (OSError, ValueError):
        return []
    if state is None:
        return []
    # Size and time are part of the key: a file that was replaced meanwhile is unpacked again.
    key = (str(path.absolute()), state.st_size, state.st_mtime_ns)
    if key not in _unpacked:
        _unpacked[key] = unpack_tables(path, _kept_folder)
    return _unpacked[key]


def _kept_folder() -> Path:
    """Return a new scratch folder that stays until the process ends."""
    scratch = Scratch()
    atexit.register(scratch.close)
    return scratch.path


def gather_input(
    files: Sequence[Path], given: DialectSpec | None, folder: Path, shown: str
) -> tuple[pl.LazyFrame, tuple[str, ...], Dialect]:
    """Return the rows of several text tables as one; see `gather_files`.

    A dialect that reads one file is taken for the others, as long as they begin alike; else it is told from each.
    """
    # First lines that were seen, with the dialect that was found for them.
    known: dict[bytes, Dialect] = {}

    # Files of one folder are mostly alike, and telling a dialect from 1 MB of each would take longest of all.  A file
    # with the same header has the same dialect; so has one without a header whose first line has the known separator.
    def of_file(file: Path, where: str) -> Dialect:
        with open_text(file) as stream:
            head = stream.readline(4096).strip()
        header = next((dialect for line, dialect in known.items() if line == head and dialect.header), None)
        headless = next((dialect for dialect in known.values() if not dialect.header and not dialect.skip_lines), None)
        if header is not None or (
            headless is not None and head.count(headless.separator.encode()) and _begins_data(head)
        ):
            return header or headless  # type: ignore[return-value]
        known[head] = find_dialect(file, given, where)[0]
        return known[head]

    try:
        return gather_files(files, of_file, () if given is None else given.names, folder, shown=shown)
    except InputError as error:
        # A feed of several tables in one archive is the usual cause; the sentence says which one is meant.
        if not shown.lower().endswith(".zip") or "column" not in str(error):
            raise
        raise InputError(
            f"{shown}: the {len(files):,} tables in it have different columns; unpack it, and give the one that says "
            "who was where and when. Of a GTFS feed that is stop_times.txt, with stops.txt as --places."
        ) from None


def _begins_data(line: bytes) -> bool:
    """Whether the first line of a file has figures, as rows have."""
    return any(sign in b"0123456789" for sign in line) and 0 not in line and line[:1] not in b"#%"


def name_input(path: Path) -> str:
    """Return how messages call an input."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def place_input(path: Path) -> Path:
    """Return where the file of an input is: what comes by standard input is set down once, for all who read it."""
    if path != STANDARD_INPUT:
        return path
    if not _standard_input:
        folder = _kept_folder()
        _standard_input.append(folder)
        # The first bytes decide about the ending, and a pipe cannot be read twice: so they are kept and written in
        # front.
        start = sys.stdin.buffer.read(4)
        if start == b"PAR1":
            raise InputError("standard input: this is a Parquet file; give it as a file.")
        with (folder / "input").open("wb") as out:
            out.write(start)
            while chunk := sys.stdin.buffer.read(1 << 20):
                out.write(chunk)
        suffix = ".txt.gz" if start[:2] == b"\x1f\x8b" else ".txt"
        (folder / "input").rename(folder / f"input{suffix}")
    return next(_standard_input[0].glob("input.txt*"))


def find_dialect(path: Path, given: DialectSpec | None, shown: str) -> tuple[Dialect, tuple[str, ...]]:
    """Return the dialect of a text table: as it is said, the rest told from how the file begins; and notes on that."""
    with open_text(path) as stream:
        start = stream.read(DIALECT_BYTES + 1)
    # What was said wins over what is found; only what nobody said is told from the file, and listed as such.
    settings = {} if given is None else given.model_dump(exclude_none=True, exclude={"names"})
    if given is not None and given.names and "header" not in settings:
        settings["header"] = False
    whole = len(start) <= DIALECT_BYTES
    keys = ("encoding", "separator", "decimal", "header", "skip_lines", "comment")
    if all(key in settings for key in keys):
        return Dialect(**settings), ()
    dialect = replace(detect_dialect(start[:DIALECT_BYTES], whole=whole, shown=shown), **settings)
    guessed = [key for key in keys if key not in settings]
    return dialect, (f"Told from the file: {_dialect_words(dialect, guessed)}.",)


def _dialect_words(dialect: Dialect, keys: Sequence[str]) -> str:
    words = {
        "encoding": f"the text is {dialect.encoding}",
        "separator": f"columns are separated by {SEPARATORS.get(dialect.separator, 'another sign')}",
        "decimal": f"decimal {'comma' if dialect.decimal == ',' else 'point'}",
        "header": "the first line has the names of the columns" if dialect.header else "there is no header",
        "skip_lines": f"{count(dialect.skip_lines, 'line')} above the table" if dialect.skip_lines else "",
        "comment": f"lines that begin with {dialect.comment} are comments" if dialect.comment else "",
    }
    return ", ".join(words[key] for key in keys if words[key])


def _convert(spec: InputSpec, folder: Path) -> tuple[InputSpec, tuple[str, ...]]:
    shown = name_input(spec.path)
    path = place_input(spec.path)
    changes: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    files = list_input(path)
    # Several files become one table first; everything after that is the same as for a single one.
    if files:
        lazy, names, dialect = gather_input(files, spec.dialect, folder, shown)
        layout, sentences = _add_times(spec, Layout(dialect=dialect), lazy, names, shown)
        converted = convert_frame(lazy, names, layout, folder, shown=shown, word="line")
        return _plain_spec(spec, converted), (
            f"{len(files):,} files were read as one table.",
            *sentences,
            *_dropped(converted),
        )
    # Formats that are no tables become one here; which, is told by their ending or by how they begin.
    if path.name.lower().endswith(VECTOR_FILES):
        path = convert_vector(path, folder, shown=shown)
    elif holds_records(path):
        path = convert_json(path, folder, shown=shown)
    elif holds_xml(path):
        path = convert_xml(path, folder, shown=shown)
    elif entry := converted_format(path):
        path = read_converted(entry, path, folder, shown=shown)
        if entry.crs is not None and spec.crs is None:
            changes["crs"] = entry.crs
    if path.name.lower().endswith(".csv.gz") or not holds_format(path) or path.suffix.lower() == ".csv":
        dialect, notes = find_dialect(path, spec.dialect, shown)
        layout = Layout(dialect=dialect, names=() if spec.dialect is None else spec.dialect.names)
        with plain_text(path, dialect, folder) as text:
            lazy, names = scan_text(shown, text, layout)
            layout, sentences = _add_times(spec, layout, lazy, names, shown)
        converted = convert_table(path, layout, folder, shown=shown)
    else:
        if spec.dialect is not None:
            raise InputError(f"{shown}: a dialect is for text tables; leave it out.")
        try:
            source = open_source(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), shown)) from None
        names = source.table.names
        # Columns of the source have numbers as names, so that two with the same title cannot be confused; those with a
        # title get it back.
        lazy = source.table.lazy.select(pl.col(str(i)).alias(name) for i, name in enumerate(names) if name)
        lazy = lazy.with_row_index(ROW_NUMBER).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
        columns = [name for name in names if name]
        layout, sentences = _add_times(spec, Layout(), lazy, columns, shown)
        metadata = {} if source.table.geometry is None else {"geo": pl.read_parquet_metadata(path)["geo"]}
        converted = convert_frame(lazy, columns, layout, folder, shown=shown, metadata=metadata)
        if source.crs is not None and spec.crs is None and not metadata:
            changes["crs"] = source.crs.name
    return _plain_spec(spec, converted, **changes), (*notes, *sentences, *_dropped(converted))


def _plain_spec(spec: InputSpec, converted: Converted, **changes: Any) -> InputSpec:
    """Return the input of the table that was made."""
    # Everything that was said of the file is used up: the table that was made is plain.
    plain: dict[str, Any] = {
        "path": converted.path,
        "dialect": None,
        "times": {},
        "ends": {},
        "line": None,
        "positions": {},
        "bad_rows": "refuse",
    }
    return spec.model_copy(update={**plain, **changes})


def _add_times(
    spec: InputSpec, layout: Layout, lazy: pl.LazyFrame, names: Sequence[str], shown: str
) -> tuple[Layout, tuple[str, ...]]:
    """Return the layout with times, ends and what rows need; formats that nobody said are told from whole columns."""
    times = {}
    notes = []
    for name, time in spec.times.items():
        # Of a date and a time of day in two columns, the first one decides about the format.
        known = [column for column in time.columns if column in names]
        form = time.format
        zone = time.zone
        # The whole column is looked at: 03/04 is a day or a month, and only a later 25/04 tells.
        if form is None and known:
            column = lazy.select(pl.col(known[0]).cast(pl.String)).collect().to_series()
            fit = _one_format(time, detect_time_formats(column), shown)
            form = fit.format
            zone = (OFFSET if fit.has_offset else "") if zone is None else zone
            notes.append(f"Times in {listed(list(time.columns))} were read as {_format_words(form, zone)}.")
        times[name] = TimeColumn(columns=time.columns, format=form or "ymd", zone=zone or "", minutes=time.minutes)
    line = None
    if spec.line is not None:
        lines = spec.line.column or find_line(lazy.head(100).collect())
        if lines is None:
            raise InputError(f"{shown}: no column holds the positions of a trip as a list or a LINESTRING.")
        line = LineColumn(column=lines, every=spec.line.every)
    if line is not None and "t" not in times:
        raise InputError(f"{shown}: [input.line] needs the time t of the first position in [input.times].")
    positions: dict[str, PositionColumn] = {name: position.column() for name, position in spec.positions.items()}
    layout = replace(layout, times=times, ends=spec.ends, line=line, positions=positions, bad_rows=spec.bad_rows)
    trips = spec.kind == "trips"
    # An end of a trip may be missing, and where rows may be dropped a trip must not end before it began.
    layout = replace(layout, open_ends=trips, forward=trips and spec.bad_rows == "drop")
    return replace(layout, needed=_needed(spec), numbers=_coordinates(spec), zeros=_zeros(spec)), tuple(notes)


def _needed(spec: InputSpec) -> tuple[str, ...]:
    """Return the columns without which a row is bad; a trip may lack one of its ends."""
    if spec.kind is None:
        return ()
    ours = ("user_id", "traj_id") if spec.kind == "trips" else INPUTS[spec.kind].known
    ours = tuple(name for name in ours if name not in LOCATION_COORDINATES)  # a visit to a named place may lack them
    needed = [spec.columns.get(name, name) for name in ours]
    # A column may be stacked from two ends; then both of them are needed, not their common name.
    stacked = {column for name in needed for column in spec.ends.get(name, ())}
    return (*(name for name in needed if name not in spec.ends), *stacked)


def _coordinates(spec: InputSpec) -> dict[str, float | None]:
    """Return the columns that must be coordinates where bad rows are left out, and the largest possible value."""
    if spec.kind not in ("points", "trips") or spec.bad_rows != "drop":
        return {}
    # Only degrees have a largest value; metres are any number.
    degrees = spec.crs is not None and crs_name(spec.crs) == WGS84
    most = {"x": 180.0 if degrees else None, "y": 90.0 if degrees else None}
    names = {"x": ("x", "origin_x", "destination_x"), "y": ("y", "origin_y", "destination_y")}
    columns = {}
    for axis, ours in names.items():
        for name in ours:
            for column in spec.ends.get(name, (spec.columns.get(name, name),)):
                columns[column] = most[axis]
    return columns


def _zeros(spec: InputSpec) -> tuple[tuple[str, str], ...]:
    """Return the columns that both are 0 where no position was known: of degrees, where bad rows are left out."""
    # (0, 0) is in the sea off Africa: receivers write it when they know no position.  In metres it may be a place.
    if spec.kind not in ("points", "trips") or spec.bad_rows != "drop" or spec.crs is None:
        return ()
    if crs_name(spec.crs) != WGS84:
        return ()
    pairs = (("x", "y"),) if spec.kind == "points" else (("origin_x", "origin_y"), ("destination_x", "destination_y"))
    return tuple((spec.columns.get(x, x), spec.columns.get(y, y)) for x, y in pairs)


def _one_format(time: TimeSpec, fits: Sequence[TimeFit], shown: str) -> TimeFit:
    """Return the one format that reads a column; where several do, somebody must say which it is."""
    if not fits:
        raise InputError(f"{shown}: the times in {listed(list(time.columns))} are of no known form; say --time-format.")
    if len(fits) > 1:
        forms = " or ".join(f"--time-format {fit.format}" for fit in fits)
        raise InputError(
            f"{shown}: the dates in {listed(list(time.columns))} can be read with the day or the month first; say "
            f"{forms}."
        )
    return fits[0]


def _format_words(form: str, zone: str) -> str:
    if form in (CLOCK, NUMBER) or form.startswith("epoch"):
        return {CLOCK: "times of day", NUMBER: "plain numbers"}.get(form, f"{FORMAT_WORDS[form]}, UTC")
    where = "with their UTC offsets" if zone == OFFSET else f"in {zone}" if zone else "local time"
    return f"{FORMAT_WORDS[form].replace('a date', 'dates', 1)}, {where}"


def _dropped(converted: Converted) -> tuple[str, ...]:
    return tuple(
        f"{count(number, 'row')} of {converted.rows:,} {was(number)} left out: {reason}."
        for reason, number in converted.dropped.items()
    )
