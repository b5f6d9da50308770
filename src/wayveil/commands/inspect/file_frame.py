"""The table of a file as it is inspected: any format, a folder of text tables, trips with all positions in one text."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import converted_format, has_format, read_converted
from wayveil.io.formats.json_records import convert_json, holds_records
from wayveil.io.formats.registry import holds_format, open_source
from wayveil.io.formats.vector_files import VECTOR_FILES, convert_vector
from wayveil.io.intake.convert import (
    OFFSET,
    Layout,
    LineColumn,
    TimeColumn,
    find_line,
    read_time,
    scan_text,
    spread_lines,
)
from wayveil.io.intake.dialect import SEPARATORS, Dialect
from wayveil.io.intake.table_view import TableView
from wayveil.io.intake.text_files import PACKED, plain_text, refuse_no_table
from wayveil.io.intake.time_columns import TimeGuess, find_times
from wayveil.io.intake.xml_records import convert_xml, holds_xml
from wayveil.io.tabular.table import ROW_NUMBER
from wayveil.pipeline.plain_input import find_dialect, gather_input, is_text, list_input
from wayveil.recipe.recipe import InputSpec

__all__ = ["FileFrame", "read_frame", "show_examples"]

_EXAMPLES = 3
_LINES = 5_000
_PORTO = {"TRIP_ID", "TAXI_ID", "TIMESTAMP", "POLYLINE"}
_PORTO_S = 15.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FileFrame:
    """The table of a file, what its format is called, its dialect if it is text, and what the file itself says.

    `line` is the column with the positions of trips, of which the table has the first ones spread to rows; `line_time`
    is the time of the first position, as it is written in the file.
    """

    frame: pl.DataFrame
    words: str
    dialect: Dialect | None = None
    geometry: str | None = None
    crs: str | None = None
    line: LineColumn | None = None
    line_time: TimeGuess | None = None


def read_frame(spec: InputSpec, path: Path, shown: str, folder: Path) -> FileFrame:
    """Read the whole table of an input."""
    return _with_lines(_read_table(spec, path, shown, folder), spec)


def _read_table(spec: InputSpec, path: Path, shown: str, folder: Path) -> FileFrame:
    files = list_input(path)
    if files:
        lazy, names, dialect = gather_input(files, spec.dialect, folder, shown)
        words = f"{len(files):,} text tables in {dialect.encoding}, separated by {_separator_words(dialect)}"
        return FileFrame(frame=_some_rows(lazy.select(names).collect(), shown), words=words, dialect=dialect)
    name = path.name.lower()
    plugin = converted_format(path)
    if plugin is None:
        refuse_no_table(path, shown)
    known = holds_format(path) or name.endswith(VECTOR_FILES) or plugin is not None
    if path.is_file() and not (known or name.endswith(PACKED) or is_text(path)):
        raise InputError(
            f"{shown}: this is neither text nor a format that is known; write the table as CSV or Parquet."
        )
    if path.is_file() and (has_format(path, "csv") or not known) and not holds_xml(path):
        dialect, _ = find_dialect(path, spec.dialect, shown)
        names = () if spec.dialect is None else spec.dialect.names
        with plain_text(path, dialect, folder) as text:
            lazy, _ = scan_text(shown, text, Layout(dialect=dialect, names=names))
            try:
                frame = lazy.collect()
            except pl.exceptions.PolarsError:
                raise InputError(f"{shown}: the text cannot be read as a table; check its quotation marks.") from None
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        packed = ", packed" if name.endswith(PACKED) else ""
        words = f"text in {dialect.encoding}, separated by {_separator_words(dialect)}{packed}"
        return FileFrame(frame=_some_rows(frame, shown), words=words, dialect=dialect)
    if name.endswith(VECTOR_FILES):
        words = {".gpkg": "GeoPackage", ".shp": "Shapefile", ".fgb": "FlatGeobuf"}[path.suffix.lower()]
        path = convert_vector(path, folder, shown=shown)
    elif path.is_file() and holds_records(path):
        words = "JSON with a list of objects"
        path = convert_json(path, folder, shown=shown)
    elif path.is_file() and holds_xml(path):
        words = "XML with elements as rows"
        path = convert_xml(path, folder, shown=shown)
    elif plugin is not None:
        words = f"{plugin.title}, read by a plug-in"
        path = read_converted(plugin, path, folder, shown=shown)
    else:
        words = f"{path.suffix.lstrip('.') or 'a folder'} file" if path.is_file() else "a folder of files"
    try:
        source = open_source(path)
    except InputError as error:
        raise InputError(str(error).replace(str(path), shown)) from None
    named = [(str(i), name) for i, name in enumerate(source.table.names) if name]
    try:
        frame = source.table.lazy.select(pl.col(at).alias(name) for at, name in named).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise InputError(f"{shown}: the file is damaged and cannot be read; write or copy it again.") from None
    crs = source.crs or source.assumed
    return FileFrame(
        frame=_some_rows(frame, shown),
        words=words,
        geometry=source.table.geometry,
        crs=None if crs is None else crs.name,
    )


def _separator_words(dialect: Dialect) -> str:
    return SEPARATORS.get(dialect.separator, "another sign")


def _with_lines(file: FileFrame, spec: InputSpec) -> FileFrame:
    """Return a table with one row per trip and a column of all its positions as one row per position.

    Only the first trips are spread: what is to be said of them holds for the others.
    """
    column = find_line(file.frame)
    if column is None:
        return file
    some = file.frame.head(_LINES)
    view = TableView(some.drop(column), roles={})
    times = find_times(view)
    time = times.get("") or times.get("start")
    if time is None or not time.dated:
        return file
    # The taxis of Porto are the one file of this kind that everybody has: its description says 15 s.
    every = spec.line.every if spec.line is not None else _PORTO_S if set(file.frame.columns) >= _PORTO else None
    line = LineColumn(column=column, every=every or 1.0)
    lazy = some.lazy().with_row_index(ROW_NUMBER).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
    form = time.fits[0].format
    zone = OFFSET if time.fits[0].has_offset and not form.startswith("epoch") else ""
    read = TimeColumn(columns=time.columns, format=form, zone=zone, minutes=time.offset)
    spread = spread_lines(lazy.with_columns(read_time(read).alias("t")), line).drop(ROW_NUMBER, *time.columns).collect()
    return replace(file, frame=spread, line=line if every else replace(line, every=math.inf), line_time=time)


def _some_rows(frame: pl.DataFrame, shown: str) -> pl.DataFrame:
    if not frame.height:
        raise InputError(f"{shown}: the file has a header but no rows; at least one row is needed.")
    return frame


def show_examples(values: pl.Series) -> tuple[str, ...]:
    if values.dtype == pl.Binary or values.dtype.is_nested():
        return ()
    return tuple(str(value) for value in values.drop_nulls().unique(maintain_order=True).head(_EXAMPLES))
