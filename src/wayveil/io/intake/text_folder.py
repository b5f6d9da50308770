"""A folder of text tables as one table: the files of months, or one file for each person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from wayveil.errors import InputError
from wayveil.io.intake.convert import Layout, number_lines, scan_text
from wayveil.io.intake.dialect import Dialect
from wayveil.io.intake.text_files import plain_text
from wayveil.io.tabular.messages import listed
from wayveil.io.tabular.table import ROW_NUMBER, number_in_file

__all__ = ["FILE", "gather_files"]

FILE = "file"
"""The column with the name of the file that a row is from, without its ending; it may name a person."""

_PART_ROWS = 2_000_000


def gather_files(
    files: Sequence[Path],
    find_dialect: Callable[[Path, str], Dialect],
    names: tuple[str, ...],
    folder: Path,
    *,
    shown: str,
) -> tuple[pl.LazyFrame, tuple[str, ...], Dialect]:
    """Return the rows of all files, their columns, and the dialect of the first.

    Each file may have a dialect and an order of columns of its own, but the same columns; one more, ``file``, has the
    name of the file.  The rows go to Parquet files in `folder`, of which one part at a time is held.

    Raises
    ------
    InputError
        If a file has other columns than the first; names of files are not shown, as they may be people.
    """
    expected: tuple[str, ...] = ()
    first: Dialect | None = None
    parts: list[Path] = []
    frames: list[pl.DataFrame] = []
    rows = 0
    # One file at a time is in memory, and about two million rows before they are set down.
    for number, file in enumerate(files):
        where = f"{shown}: file {number + 1:,} of {len(files):,} by name"
        # An empty file is what some programs leave for a day without data.
        if file.stat().st_size == 0:
            continue
        dialect = find_dialect(file, where)
        frame, columns = _read_file(file, dialect, names, folder, where)
        first = first or dialect
        expected = expected or columns
        _check_columns(where, columns, expected, header=dialect.header)
        stem = file.name.partition(".")[0] or file.name
        mark = pl.lit(stem).alias(FILE)
        frames.append(
            # The number of the file is in the upper bits of each row's number, so that messages can tell file and line.
            frame.select(pl.col(ROW_NUMBER) + number_in_file(number), *expected, *(() if FILE in expected else (mark,)))
        )
        rows += frame.height
        if rows > _PART_ROWS:
            parts.append(_set_down(frames, folder, len(parts)))
            frames = []
            rows = 0
    if first is None:
        raise InputError(f"{shown}: all files are empty; a header and at least one row are needed.")
    if frames:
        parts.append(_set_down(frames, folder, len(parts)))
    return pl.scan_parquet(parts, glob=False), tuple(dict.fromkeys((*expected, FILE))), first


def _read_file(
    file: Path, dialect: Dialect, names: tuple[str, ...], folder: Path, where: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    with plain_text(file, dialect, folder) as text:
        lazy, columns = scan_text(where, text, Layout(dialect=dialect, names=names))
        try:
            return number_lines(lazy, dialect).collect(), columns
        except pl.exceptions.PolarsError:
            raise InputError(f"{where}: the text cannot be read as a table; check its quotation marks.") from None


def _check_columns(where: str, columns: Sequence[str], expected: Sequence[str], *, header: bool) -> None:
    if set(columns) == set(expected):
        return
    if not header:
        raise InputError(f"{where}: it has {len(columns):,} columns, the first file has {len(expected):,}.")
    missing = [name for name in expected if name not in columns]
    more = [name for name in columns if name not in expected]
    what = f"lacks the column {listed(missing[:1])}" if missing else f"has the column {listed(more[:1])}"
    other = "the first file has" if missing else "the first file does not have"
    raise InputError(f"{where}: it {what}, which {other}; all files must have the same columns.")


def _set_down(frames: list[pl.DataFrame], folder: Path, number: int) -> Path:
    target = folder / f"gathered-{number:05}.parquet"
    pl.concat(frames).write_parquet(target)
    return target
