"""Tables in pieces: every trajectory, and every person, whole in one piece, and no piece larger than is asked for.

A table that is too large to be read at once is read in spans of rows.  Each span is scattered over the pieces by a hash
of the person (or of the trajectory, where nobody says whose it is); the hash is keyed, so that nobody can tell from a
person's id in which piece that person is.  Where there are many pieces, spans are scattered over groups of pieces
first: a file for every span and every piece would be too many files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.parquet_footer import longest_group
from wayveil.io.formats.registry import open_source
from wayveil.io.publish.atomic import make_folders, whole_file
from wayveil.io.tabular.column_slice import cut_text
from wayveil.io.tabular.columns import Kind, ReadOptions, choose_columns
from wayveil.io.tabular.normal_columns import SimilarIds, normal_column, similar_keys, text_column
from wayveil.io.tabular.table import PIECE, ROW_NUMBER, Table, open_table, parquet_parts, stored_column
from wayveil.io.tabular.usual_names import TripTable, name_trip_columns
from wayveil.model.data.ragged import IntArray

__all__ = [
    "MOST_FILES",
    "Span",
    "Spans",
    "gather_piece",
    "groups_of",
    "make_piece_folders",
    "open_spans",
    "people_keys",
    "scatter_group",
    "scatter_span",
]

MOST_FILES = 64
"""Over so many files a task scatters what it has; for more pieces there are groups of pieces."""

_CARRIED = ("geo",)
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_FIRST_TEXT = 1 << 18
_MOST_TEXT = 1 << 26
_MOST_TEXT_PER_ROW = 256
_LONGEST_RECORD = 1 << 24


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
    `key`, where it is not all.  Files that are `numbered` tell the numbers of their rows themselves.  Whoever reads a
    span reads all of the row groups of Parquet that it is in: `group_bytes` is how long the longest is, and 0 for CSV,
    whose parts are short.  `suspects` are columns that look like a person where those that are used do not.  Where
    `similar_ids` is "same", people whose ids are alike are in one piece.
    """

    shown: str
    spans: tuple[Span, ...]
    columns: tuple[tuple[str, str], ...]
    key: str
    part: slice | None
    rows: int
    numbered: bool
    metadata: tuple[tuple[str, str], ...]
    group_bytes: int = 0
    suspects: tuple[str, ...] = ()
    similar_ids: SimilarIds | None = None
    notes: tuple[str, ...] = ()


def open_spans(path: Path, kind: Kind, options: ReadOptions, *, rows: int, scratch: Path) -> Spans:
    """Return a CSV file, a Parquet file or a folder of Parquet files as spans of at most `rows` rows.

    CSV is first written as Parquet to `scratch`, a part at a time: records cannot be found without reading all before.
    """
    if path.name.lower().endswith(".gz"):
        raise InputError(f"{path}: a gzipped file cannot be read in pieces; unpack it first.")
    table = open_source(path).table if kind == "points" else open_table(path)
    if not parquet_parts(path) and table.csv is None and path.suffix.lower() != ".parquet":
        raise InputError(f"{path}: only CSV and Parquet can be read in pieces; write the table as one of them first.")
    # Places that only coordinates tell, and numbers of trips, are made when a piece is read.
    named = name_trip_columns(table, options) if kind == "trips" else TripTable(table=table, options=options)
    columns = choose_columns(named.table, named.options, kind)
    # What is made later (places from coordinates, numbers of trips) is no column of the file.
    positions = [position for position in dict.fromkeys(columns.positions) if position < len(table.names)]
    names = [table.names[position] for position in positions]
    who = "traj_id" if columns.user_id is None else "user_id"
    at = columns.traj_id if columns.user_id is None else columns.user_id
    key = table.names[at] if at < len(table.names) else ROW_NUMBER
    files = parquet_parts(path) or [path]
    stored = names
    if table.csv is not None:
        files = _as_parquet(table, path, dict(zip(positions, names, strict=True)), rows, scratch / "input")
    else:
        stored = _stored_names(table, files, positions, None if key == ROW_NUMBER else table.names.index(key))
    spans: list[Span] = []
    begin = 0
    # Every file is cut into spans of equal length; the last one of a file is shorter.
    for file in files:
        n = int(pl.scan_parquet(file, glob=False, hive_partitioning=False).select(pl.len()).collect().item())
        spans += [Span(file=file, at=a, rows=min(rows, n - a), begin=begin + a) for a in range(0, n, rows)]
        begin += n
    if not begin:
        raise table.wrong("the file has a header but no rows; at least one row is needed.")
    metadata = pl.read_parquet_metadata(files[0])
    return Spans(
        shown=table.path,
        spans=tuple(spans),
        columns=tuple(zip(stored, names, strict=True)),
        key=key,
        part=columns.parts.get(who),
        rows=begin,
        numbered=table.csv is not None or table.places is not None,
        metadata=tuple((name, metadata[name]) for name in _CARRIED if name in metadata and table.geometry in names),
        group_bytes=0 if table.csv is not None else max(longest_group(file, stored) for file in files),
        suspects=columns.suspects,
        similar_ids=options.similar_ids,
        notes=table.notes,
    )


def groups_of(pieces: int) -> tuple[range, ...]:
    """Return the pieces in groups, about as many groups as there are pieces in each; none for few pieces.

    Examples
    --------
    >>> groups_of(64), [(group[0], group[-1]) for group in groups_of(70)][-2:]
    ((), [(54, 62), (63, 69)])
    """
    if pieces <= MOST_FILES:
        return ()
    # The square root: as many groups as pieces per group keeps the number of files of either round smallest.
    size = math.isqrt(pieces - 1) + 1
    return tuple(range(first, min(first + size, pieces)) for first in range(0, pieces, size))


def make_piece_folders(folder: Path, pieces: int) -> None:
    """Make the folders that `scatter_span` and `scatter_group` write to."""
    make_folders(folder, *(folder / str(piece) for piece in range(pieces)))
    make_folders(*(folder / "groups" / str(group) for group in range(len(groups_of(pieces)))))


def scatter_span(spans: Spans, number: int, *, pieces: int, secret: int, folder: Path) -> list[int]:
    """Write the rows of one span to a file per piece, or per group of pieces; return the rows of each piece."""
    span = spans.spans[number]
    number_of_row = pl.int_range(span.begin, span.begin + span.rows, dtype=pl.Int64).alias(ROW_NUMBER)
    lazy = pl.scan_parquet(span.file, glob=False, hive_partitioning=False).slice(span.at, span.rows)
    schema = lazy.collect_schema()
    columns = [stored_column(schema, stored).alias(name) for stored, name in spans.columns]
    # Every row keeps its number in the whole table: messages name it, and pieces are put back into its order.
    frame = lazy.select(*columns, pl.col(ROW_NUMBER) if spans.numbered else number_of_row).collect()
    piece = _piece_of_row(spans, frame, pieces, secret)
    # With many pieces a span would write thousands of tiny files. Two rounds by the square root instead: spans to
    # groups, groups to pieces.
    groups = groups_of(pieces)
    if groups:
        _scatter(spans, frame, piece // len(groups[0]), range(len(groups)), folder / "groups", number)
    else:
        _scatter(spans, frame, piece, range(pieces), folder, number)
    return np.bincount(piece.to_numpy(), minlength=pieces).tolist()


def scatter_group(spans: Spans, group: int, *, pieces: int, secret: int, folder: Path, rows: int) -> None:
    """Write what all spans have of a group of pieces to files per piece, about `rows` rows at a time."""
    frames: list[pl.DataFrame] = []
    number = 0
    files = sorted((folder / "groups" / str(group)).glob("[0-9]*.parquet"))
    for left, file in zip(range(len(files) - 1, -1, -1), files, strict=True):
        frames.append(pl.read_parquet(file, glob=False))
        if sum(frame.height for frame in frames) >= rows or not left:
            frame = pl.concat(frames)
            frames.clear()
            piece = _piece_of_row(spans, frame, pieces, secret)
            _scatter(spans, frame, piece, groups_of(pieces)[group], folder, number)
            number += 1


def gather_piece(spans: Spans, piece: int, folder: Path) -> Path:
    """Return the file with the rows of one piece, in the order of the whole table."""
    files = sorted((folder / str(piece)).glob("[0-9]*.parquet"))
    target = folder / f"{piece}.parquet"
    _write_whole(pl.read_parquet(files, glob=False), target, {**dict(spans.metadata), PIECE: spans.shown})
    return target


def _piece_of_row(spans: Spans, frame: pl.DataFrame, pieces: int, secret: int) -> pl.Series:
    who = _people(spans, frame[spans.key])
    if spans.similar_ids == "same":
        # Ids that are declared to be the same person must fall into one piece, so they are hashed by their common key.
        different = who.drop_nulls().unique()
        who = who.replace(different, similar_keys(different))
    return (who.hash(secret) % pieces).cast(pl.Int64)


def people_keys(spans: Spans, file: Path, secret: int) -> IntArray:
    """Return a number for each different person of a piece; people whose ids are alike have the same one."""
    who = _people(spans, pl.read_parquet(file, columns=[spans.key], glob=False)[spans.key])
    # Another key than that of the pieces: where somebody is must not follow from these numbers.
    return similar_keys(who.drop_nulls().unique()).hash(secret ^ 2).to_numpy().view(np.int64)


def _people(spans: Spans, values: pl.Series) -> pl.Series:
    """Return who is behind each row, in normal form, as the reader of the pieces will see it."""
    text = text_column(values)[0]
    return text if spans.part is None else normal_column(cut_text(text, spans.part))[0]


def _scatter(spans: Spans, frame: pl.DataFrame, where: pl.Series, pieces: range, folder: Path, number: int) -> None:
    """Write rows to ``folder/WHERE/NUMBER.parquet``, one file for each that has any."""
    for one in pieces:
        rows = frame.filter(where == one)
        if rows.height:
            _write_whole(rows, folder / str(one) / f"{number:06d}.parquet", dict(spans.metadata))


def _stored_names(table: Table, files: Sequence[Path], positions: Sequence[int], key: int | None) -> list[str]:
    """Return the names of columns as Parquet files have them; InputError if these files are not of one table."""
    schemas = [pl.scan_parquet(file, glob=False, hive_partitioning=False).collect_schema() for file in files]
    named = [name for name in schemas[0].names() if name != ROW_NUMBER]
    stored = [named[position] for position in positions]
    for file, schema in zip(files, schemas, strict=True):
        if any(schema.get(name) != schemas[0][name] for name in stored):
            raise table.wrong(f"{file.name} has other columns, or columns of other types, than {files[0].name}.")
    if key is None:
        return stored
    kind = schemas[0][named[key]]
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        word = str(kind.base_type()).lower()
        raise table.wrong(f"column '{table.names[key]}' has the type {word}, which is no text; store text or numbers.")
    return stored


def _as_parquet(table: Table, path: Path, names: dict[int, str], rows: int, folder: Path) -> list[Path]:
    """Write columns of a CSV file as text to files of about `rows` records; blank ones are left out.

    Polars can write all of it in one stream, too, but takes the more memory the longer the file is.
    """
    chosen = [pl.col(str(position)).alias(name) for position, name in names.items()]
    files: list[Path] = []
    begin = 0
    size = _FIRST_TEXT
    rest = b""
    make_folders(folder)
    with path.open("rb") as stream:
        header = stream.readline()
        # Before each round `rest` is the beginning of a record that was cut, and `begin` the number of records so far.
        # A round reads about as much text as `rows` records took in the last one, cuts it behind the last whole record,
        # and writes these. A record longer than what was read doubles the size; it ends with the file.
        while text := rest + stream.read(size):
            ended = len(text) < len(rest) + size
            end = len(text) if ended else _end_of_records(text)
            rest = text[end:]
            if not end:
                if len(rest) > _LONGEST_RECORD:
                    raise table.wrong("a line goes on for more than 16 MB; check that quotation marks are closed.")
                size *= 2
                continue
            lazy = pl.scan_csv(
                header + text[:end],
                separator=table.separator,
                infer_schema=False,
                with_column_names=lambda columns: [str(i) for i in range(len(columns))],
            )
            try:
                frame = lazy.select(chosen).with_row_index(ROW_NUMBER, offset=begin).collect()
            except _POLARS_ERRORS:
                replace(table, lazy=lazy).read(list(names))  # says what is wrong, and where
                raise
            n = frame.height
            begin += n
            # A little less than `rows` records: a few too many would be a span, and files, of their own.
            size = min(_MOST_TEXT, rows * _MOST_TEXT_PER_ROW, max(1, rows * end * 15 // (16 * max(n, 1))))
            blank = pl.all_horizontal(pl.col(name).is_null() for name in names.values())
            frame = frame.filter(~blank).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
            if frame.height:
                files.append(folder / f"{len(files):06d}.parquet")
                _write_whole(frame, files[-1], {})
    return files


def _end_of_records(text: bytes) -> int:
    """Return where the last whole record of a text ends that begins with a record; 0 if there is none.

    Examples
    --------
    >>> _end_of_records(b'a,b\\nc,"d\\ne'), _end_of_records(b'"a\\n')
    (4, 0)
    """
    if b'"' not in text:
        return text.rfind(b"\n") + 1
    signs = np.frombuffer(text, np.uint8)
    # An even number of quotation marks before a line end means that it ends a record; the text begins with a record, so
    # counting starts outside.
    outside = np.cumsum(signs == ord('"'), dtype=np.uint32) % 2 == 0
    ends = np.flatnonzero(outside & (signs == ord("\n")))
    return int(ends[-1]) + 1 if len(ends) else 0


def _write_whole(frame: pl.DataFrame, target: Path, metadata: dict[str, str]) -> None:
    """Write a whole file: a task that is killed leaves no half one for the task that follows."""
    with whole_file(target, private=True) as part:
        frame.write_parquet(part, compression="zstd", compression_level=1, metadata=metadata)
