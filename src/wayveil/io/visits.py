"""Visits from files: CSV or Parquet to the model, cleaned by rules that are counted and told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.io.codes import by_first_appearance, by_name
from wayveil.io.columns import Columns, ReadOptions, choose_columns
from wayveil.io.order import one_visit_per_time, time_order
from wayveil.io.table import Rows, as_text, open_table
from wayveil.io.times import parse_times
from wayveil.io.words import count
from wayveil.model import Coded, Visits
from wayveil.model.ragged import IntArray, offsets_of

__all__ = ["Loaded", "guess_kind", "read_visits"]

_DEFAULTS = ReadOptions()
_ONE_PERSON = "A trajectory belongs to one person; give the part of each person a traj_id of its own."
_ONE_VALUE = "Correct the data, or give each part with a value of its own a traj_id of its own."
_ONE_VALUE_OR_NONE = "Correct the data, or name the columns to take with --attributes and leave this one out."


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What was read.

    Parameters
    ----------
    data : Visits
        The trajectories in the order in which they first appear in the file.
    rows : int
        Rows in the file, without the header and blank lines.
    notes : tuple of str
        What was assumed or cleaned, in plain sentences with counts; no value of the data is in them.
    ids : polars.Series
        The ids of the trajectories as in the file, in the order of `data`.  Private: never publish or log them.
    """

    data: Visits
    rows: int
    notes: tuple[str, ...]
    ids: pl.Series


def guess_kind(path: str | Path, options: ReadOptions = _DEFAULTS) -> str:
    """Return what a file holds, told from the names of its columns; "visits" is the only kind for now.

    Raises
    ------
    InputError
        If the columns fit no kind: names the columns found, those needed, and a ``--columns`` option to try.
    """
    choose_columns(open_table(path), options)
    return "visits"


def read_visits(path: str | Path, options: ReadOptions = _DEFAULTS) -> Loaded:
    """Read visits from a CSV (also gzipped) or Parquet file with one row per visit.

    Parameters
    ----------
    path : str or Path
        The file; its suffix tells the format.
    options : ReadOptions
        Names of columns, what to do with two visits at one time, and which attributes to take.

    Returns
    -------
    Loaded

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule; says what, how often, where first, and what to do.

    Notes
    -----
    O(n) for rows in order, O(n log n) otherwise; memory is a small multiple of the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "cards.csv")
    ...     _ = file.write_text("card,t,location\\nx,2,home\\nx,1,work\\ny,1,home\\n")
    ...     loaded = read_visits(file, ReadOptions(columns={"traj_id": "card"}))
    >>> loaded.data.record(0), loaded.rows
    ([('work', 1), ('home', 2)], 3)
    >>> loaded.notes[-1]
    '1 trajectory was not in time order and was sorted.'
    """
    table = open_table(path)
    columns = choose_columns(table, options)
    rows = table.read(_positions(columns))
    if not len(rows):
        raise table.wrong("the file has a header but no rows; at least one row is needed.")
    notes = [*table.notes, *columns.notes]
    if rows.blank:
        notes.append(f"{count(rows.blank, 'blank line')} {_was(rows.blank)} skipped.")
    trajectory, first_row, ids = by_first_appearance(_required(rows, columns.traj_id))
    location, locations = by_name(_required(rows, columns.location))
    _refuse_missing(rows, columns.t)
    t, time_format, told = parse_times(rows, columns.t)
    notes.extend(told)
    owner: IntArray = np.arange(len(ids))
    if columns.user_id is not None:
        people = by_first_appearance(_required(rows, columns.user_id))[0]
        owner = _constant(rows, columns.user_id, people, trajectory, first_row, _ONE_PERSON)
    attributes = {}
    remedy = _ONE_VALUE_OR_NONE if options.attributes is None else _ONE_VALUE
    for name, position in columns.attributes.items():
        codes, labels = by_name(as_text(rows, position))
        codes = _constant(rows, position, codes, trajectory, first_row, remedy)
        attributes[name] = coded = Coded(codes=codes, labels=labels)
        notes.extend(_identifying(name, coded))

    order, unsorted = time_order(trajectory, t)
    if unsorted:
        notes.append(f"{count(unsorted, 'trajectory')} {_was(unsorted)} not in time order and {_was(unsorted)} sorted.")
    if order is not None:
        trajectory, t, location = trajectory[order], t[order], location[order]
    keep, told = one_visit_per_time(rows, trajectory, t, location, order, options.on_duplicate_time)
    notes.extend(told)
    if keep is not None:
        trajectory, t, location = trajectory[keep], t[keep], location[keep]
    data = Visits(
        offsets=offsets_of(np.bincount(trajectory, minlength=len(ids))),
        location=location,
        t=t,
        locations=locations,
        owner=owner,
        attributes=attributes,
        time_format=time_format,
        owners="assumed" if columns.user_id is None else "given",
    )
    return Loaded(data=data, rows=len(rows), notes=tuple(notes), ids=ids)


def _positions(columns: Columns) -> list[int]:
    owner = [] if columns.user_id is None else [columns.user_id]
    return [columns.traj_id, columns.t, columns.location, *owner, *columns.attributes.values()]


def _required(rows: Rows, position: int) -> pl.Series:
    text = as_text(rows, position)
    _refuse(rows, position, text.is_null())
    return text


def _refuse_missing(rows: Rows, position: int) -> None:
    values = rows.frame[str(position)]
    missing = values.is_null()
    if values.dtype == pl.String:
        missing |= (values.str.len_bytes() == 0).fill_null(True)
    _refuse(rows, position, missing)


def _refuse(rows: Rows, position: int, missing: pl.Series) -> None:
    rows.refuse(
        missing,
        f"column '{rows.table.names[position]}' is empty",
        "Every row needs a value there; fill it in or remove these rows.",
    )


def _constant(
    rows: Rows, position: int, codes: IntArray, trajectory: IntArray, first_row: IntArray, remedy: str
) -> IntArray:
    """Return the one value of each trajectory, or refuse a column that varies inside one."""
    value = codes[first_row]
    other = np.flatnonzero(codes != value[trajectory])
    if len(other):
        varying = len(np.unique(trajectory[other]))
        raise rows.table.wrong(
            f"column '{rows.table.names[position]}' must be constant in a trajectory, but varies inside "
            f"{count(varying, 'trajectory')}, first seen at {rows.place(int(other[0]))}. {remedy}"
        )
    return value


def _identifying(name: str, coded: Coded) -> tuple[str, ...]:
    n = len(coded.codes)
    if n < 20 or 2 * len(coded.labels) <= n:
        return ()
    return (
        f"Attribute '{name}' has {count(len(coded.labels), 'different value')} in {count(n, 'trajectory')}: "
        "if it is published, it may identify people.",
    )


def _was(number: int) -> str:
    return "was" if number == 1 else "were"
