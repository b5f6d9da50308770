"""Columns of a published table, read without forgiving anything: what is not as it was written is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.table import Rows
from wayveil.io.tabular.timestamps import parse_times
from wayveil.model import Coded, TimeFormat
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray

__all__ = [
    "read_attribute",
    "read_flags",
    "read_numbers",
    "read_text",
    "read_times",
    "read_times_or_none",
    "refuse",
    "refuse_late",
    "refuse_sequence",
]

_FORMS = {"integer": ("integer", "epoch"), "epoch": ("integer", "epoch"), "utc": ("utc",), "local": ("local",)}


def refuse(rows: Rows, bad: pl.Series | np.ndarray, what: str) -> None:
    """Refuse rows that no publication has."""
    rows.refuse(bad, f"not a published table: {what}", "Publish again; a published file must not be edited.")


def refuse_late(rows: Rows, t: IntArray, again: BoolArray) -> None:
    """Refuse times that do not increase inside a trajectory; `again` marks rows that continue one."""
    late = np.zeros(len(t), np.bool_)
    late[1:] = t[1:] <= t[:-1]
    refuse(rows, late & again, "t does not increase inside a trajectory")


def refuse_sequence(rows: Rows, again: BoolArray) -> None:
    """Refuse a column seq that does not count 0, 1, 2, ... in every trajectory."""
    values = rows.frame["1"]
    seq = values.cast(pl.Int64, strict=False) if values.dtype == pl.String else values
    row = np.arange(len(seq))
    # The row at which the trajectory of each row begins, by a running maximum.
    start = np.maximum.accumulate(np.where(again, 0, row)) if len(seq) else row
    wrong = seq.is_null().to_numpy() | (seq.fill_null(-1).to_numpy() != row - start)
    refuse(rows, wrong, "seq does not count 0, 1, 2, ... inside a trajectory")


def read_times(rows: Rows, position: int, time_format: TimeFormat) -> IntArray:
    """Return a column of times, which must be of this format."""
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    refuse(rows, values.is_null(), f"{name} is empty")
    if not len(values):
        return np.zeros(0, np.int64)
    t, file_format, _ = parse_times(rows, position)
    # Integers of 10^8 and more look like seconds since 1970, so either is allowed for the other.
    if file_format not in _FORMS[time_format]:
        raise rows.table.wrong(
            f"not a published table: {name} must be of the form '{time_format}', but is '{file_format}'."
        )
    return t


def read_times_or_none(rows: Rows, position: int, time_format: TimeFormat) -> tuple[IntArray, BoolArray]:
    """Return a column of times in which some may be missing, 0 there; and which are there."""
    values = rows.frame[str(position)]
    missing = values.is_null() | (values == "") if values.dtype == pl.String else values.is_null()
    has_time = ~missing.fill_null(True).to_numpy()
    if not has_time.any():
        return np.zeros(len(values), np.int64), has_time
    # A gap is filled with another time of the column, so that lines keep their numbers in messages.
    filled = values.set(pl.Series(~has_time), values[int(has_time.argmax())])
    t = read_times(replace(rows, frame=rows.frame.with_columns(filled.alias(str(position)))), position, time_format)
    return np.where(has_time, t, 0), has_time


def read_numbers(rows: Rows, position: int) -> FloatArray:
    """Return a column of finite numbers."""
    values = rows.frame[str(position)]
    numbers = values.cast(pl.Float64, strict=False) if values.dtype == pl.String else values
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    refuse(rows, bad, f"{rows.table.names[position]} is not a finite number")
    return numbers.to_numpy()


def read_flags(rows: Rows, position: int) -> BoolArray:
    """Return a column of 0 and 1."""
    values = rows.frame[str(position)]
    flags = values.cast(pl.Int64, strict=False) if values.dtype == pl.String else values
    refuse(rows, ~flags.is_in([0, 1]).fill_null(False), f"{rows.table.names[position]} is not 0 or 1")
    return flags.to_numpy() == 1


def read_attribute(rows: Rows, position: int, offsets: IntArray) -> Coded:
    """Return a column with one value per trajectory, which may be missing."""
    values = rows.frame[str(position)]
    codes, labels = by_name(values.set((values == "").fill_null(False), None))
    value = codes[offsets[:-1]]
    varies = codes != np.repeat(value, np.diff(offsets))
    refuse(rows, varies, f"column '{rows.table.names[position]}' varies inside a trajectory")
    return Coded(codes=value, labels=labels)


def read_text(rows: Rows, position: int) -> pl.Series:
    """Return a column of texts, none of which may be missing."""
    values = rows.frame[str(position)]
    empty = values.is_null() | (values == "").fill_null(True)
    refuse(rows, empty, f"{rows.table.names[position]} is empty")
    return values
