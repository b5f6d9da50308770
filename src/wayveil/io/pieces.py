"""Tables in pieces: every trajectory, and every person, whole in one piece, and no piece larger than is asked for.

A table that is too large to be read at once is read in spans of rows.  Each span is scattered over the pieces by a hash
of the person (or of the trajectory, where nobody says whose it is); the hash is keyed, so that nobody can tell from a
person's id in which piece that person is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from wayveil.errors import InputError
from wayveil.io.columns import Kind, ReadOptions, choose_columns
from wayveil.io.slices import cut_text
from wayveil.io.source import open_source
from wayveil.io.table import PIECE, ROW_NUMBER, Table, open_table, parquet_parts

__all__ = ["Span", "Spans", "gather_piece", "open_spans", "scatter_span"]

_CARRIED = ("geo",)
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@dataclass(frozen=True, kw_only=True)
class Span:
    """Rows `begin` to `begin + rows` of the whole table, which are rows from `at` on of a Parquet file."""

    file: Path
    at: int
    rows: int
    begin: int


@dataclass(frozen=True, kw_only=True)
class Spans:
    """A table as spans of rows, with the columns that are needed and the one that says who.

    `columns` has the name in the file and the name without blanks around it.  `part` is what to take of the text of
    `key`, where it is not all.  Files that are `numbered` tell the numbers of their rows themselves.
    """

    shown: str
    spans: tuple[Span, ...]
    columns: tuple[tuple[str, str], ...]
    key: str
    part: slice | None
    rows: int
    numbered: bool
    metadata: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def open_spans(path: Path, kind: Kind, options: ReadOptions, *, rows: int, scratch: Path) -> Spans:
    """Return a CSV file, a Parquet file or a folder of Parquet files as spans of at most `rows` rows.

    CSV is first written as Parquet to `scratch`, in a stream: lines of text cannot be found without reading all before.
    """
    if path.name.lower().endswith(".gz"):
        raise InputError(f"{path}: a gzipped file cannot be read in pieces; unpack it first.")
    table = open_source(path).table if kind == "points" else open_table(path)
    if not parquet_parts(path) and table.csv is None and path.suffix.lower() != ".parquet":
        raise InputError(f"{path}: only CSV and Parquet can be read in pieces; write the table as one of them first.")
    columns = choose_columns(table, options, kind)
    positions = list(dict.fromkeys(columns.positions))
    names = [table.names[position] for position in positions]
    who = "traj_id" if columns.user_id is None else "user_id"
    key = table.names[columns.traj_id if columns.user_id is None else columns.user_id]
    files = parquet_parts(path) or [path]
    stored = names
    if table.csv is not None:
        files = [_as_parquet(table, positions, names, scratch / "input.parquet")]
    else:
        stored = _stored_names(table, files, positions, table.names.index(key))
    spans: list[Span] = []
    begin = 0
    for file in files:
        n = int(pl.scan_parquet(file, glob=False, hive_partitioning=False).select(pl.len()).collect().item())
        spans += [Span(file=file, at=a, rows=min(rows, n - a), begin=begin + a) for a in range(0, n, rows)]
        begin += n
    if not begin:
        raise table.wrong("the file has a header but no rows; at least one row is needed.")
    found = pl.read_parquet_metadata(files[0])
    return Spans(
        shown=str(path),
        spans=tuple(spans),
        columns=tuple(zip(stored, names, strict=True)),
        key=key,
        part=columns.parts.get(who),
        rows=begin,
        numbered=table.csv is not None,
        metadata=tuple((name, found[name]) for name in _CARRIED if name in found and table.geometry in names),
        notes=table.notes,
    )


def scatter_span(spans: Spans, number: int, *, pieces: int, secret: int, folder: Path) -> list[int]:
    """Write the rows of one span to ``folder/PIECE/NUMBER.parquet``, one file per piece; return the rows of each."""
    span = spans.spans[number]
    columns = [pl.col(stored).alias(name) for stored, name in spans.columns]
    number_of_row = pl.int_range(span.begin, span.begin + span.rows, dtype=pl.Int64).alias(ROW_NUMBER)
    lazy = pl.scan_parquet(span.file, glob=False, hive_partitioning=False).slice(span.at, span.rows)
    frame = lazy.select(*columns, pl.col(ROW_NUMBER) if spans.numbered else number_of_row).collect()
    who = cut_text(frame[spans.key].cast(pl.String), spans.part)
    piece = (who.hash(secret) % pieces).cast(pl.Int64)
    counts = []
    for one in range(pieces):
        rows = frame.filter(piece == one)
        counts.append(rows.height)
        if rows.height:
            _write_whole(rows, folder / str(one) / f"{number:06d}.parquet", dict(spans.metadata))
    return counts


def gather_piece(spans: Spans, piece: int, folder: Path) -> Path:
    """Return the file with the rows of one piece, in the order of the whole table."""
    files = sorted((folder / str(piece)).glob("[0-9]*.parquet"))
    target = folder / f"{piece}.parquet"
    _write_whole(pl.read_parquet(files, glob=False), target, {**dict(spans.metadata), PIECE: spans.shown})
    return target


def _stored_names(table: Table, files: Sequence[Path], positions: Sequence[int], key: int) -> list[str]:
    """Return the names of columns as Parquet files have them; InputError if these files are not of one table."""
    schemas = [pl.scan_parquet(file, glob=False, hive_partitioning=False).collect_schema() for file in files]
    stored = [schemas[0].names()[position] for position in positions]
    for file, schema in zip(files, schemas, strict=True):
        if any(schema.get(name) != schemas[0][name] for name in stored):
            raise table.wrong(f"{file.name} has other columns, or columns of other types, than {files[0].name}.")
    kind = schemas[0].dtypes()[key]
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        word = str(kind.base_type()).lower()
        raise table.wrong(f"column '{table.names[key]}' has the type {word}, which is no text; store text or numbers.")
    return stored


def _as_parquet(table: Table, positions: Sequence[int], names: Sequence[str], target: Path) -> Path:
    """Write the columns of a CSV file as text; lines on which all of them are empty are left out."""
    chosen = [pl.col(str(position)).alias(name) for position, name in zip(positions, names, strict=True)]
    lazy = table.lazy.select(chosen).with_row_index(ROW_NUMBER).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
    try:
        lazy.filter(~pl.all_horizontal(pl.col(name).is_null() for name in names)).sink_parquet(
            target, compression="zstd", compression_level=1, maintain_order=True
        )
    except _POLARS_ERRORS:
        table.read(positions)  # says what is wrong, and where
        raise
    return target


def _write_whole(frame: pl.DataFrame, target: Path, metadata: dict[str, str]) -> None:
    """Write a file under another name first: a task that is killed leaves no half file for the one that follows."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{os.getpid()}-{threading.get_ident():x}-{target.name}")
    frame.write_parquet(part, compression="zstd", compression_level=1, metadata=metadata)
    part.replace(target)
