"""What every kind of table has: trajectories, their owners and attributes, and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from wayveil.io.tabular.codes import by_first_appearance, by_name
from wayveil.io.tabular.column_slice import cut_text
from wayveil.io.tabular.columns import EACH_TRAJECTORY, Columns, ReadOptions, lone_rows_error
from wayveil.io.tabular.messages import count, listed, shown, was
from wayveil.io.tabular.normal_columns import (
    merge_codes,
    normal_column,
    similar_count,
    similar_ids_error,
    similar_ids_note,
)
from wayveil.io.tabular.table import Rows, as_text
from wayveil.io.tabular.timestamps import parse_times
from wayveil.model import Coded, Owners, TimeFormat
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["TrajectoryColumns", "read_trajectories", "refuse_missing", "required"]

_ONE_PERSON = "A trajectory belongs to one person; give the part of each person a traj_id of its own."
_ONE_VALUE = "Correct the data, or give each part with a value of its own a traj_id of its own."
_ONE_VALUE_OR_NONE = "Correct the data, or name the columns to take with --attributes and leave this one out."


@dataclass(frozen=True, kw_only=True)
class TrajectoryColumns:
    """One trajectory code and time per row, in the order of the file; ids, owners and attributes per trajectory.

    Without a column of times all are 0.
    """

    trajectory: IntArray
    t: IntArray
    time_format: TimeFormat
    ids: pl.Series
    owner: IntArray
    owners: Owners
    attributes: Mapping[str, Coded]
    notes: tuple[str, ...]


def read_trajectories(rows: Rows, columns: Columns, options: ReadOptions, *, drop_varying: bool) -> TrajectoryColumns:
    """Read what every kind of table has.

    `drop_varying` says what happens to columns that nobody named as attributes and that vary inside a trajectory:
    they are left out, with a note, or refused.
    """
    if not len(rows):
        raise rows.table.wrong("the file has a header but no rows; at least one row is needed.")
    notes = [*rows.table.notes, *columns.notes]
    if rows.blank:
        notes.append(f"{count(rows.blank, 'blank line')} {was(rows.blank)} skipped.")
    # Codes in the order of first appearance: trajectories stay in the order of the file.
    trajectory, first_row, ids = by_first_appearance(required(rows, columns.traj_id, columns.parts.get("traj_id")))
    # Where each trajectory is a person, ids that differ only in case are as suspicious as ids of people.
    if columns.user_id is None and options.owners == EACH_TRAJECTORY:
        merged, more_notes = _settle_alike(rows, columns.traj_id, ids, options)
        notes.extend(more_notes)
        if merged is not None:
            code, stays = merged
            trajectory = code[trajectory]
            first_row = first_row[stays]
            ids = ids.gather(stays)
    # A table in which every trajectory has one row, beside a column that looks like a person, probably has the number
    # of the row as its id.
    judged = not options.piece and options.owners not in ("elsewhere", "not-asked")
    if columns.suspects and judged and 1 < len(ids) == len(rows):
        raise lone_rows_error(rows.table.path, columns.suspects)
    t: IntArray = np.zeros(len(rows), np.int64)
    time_format: TimeFormat = "integer"
    if columns.t is not None:
        refuse_missing(rows, columns.t)
        t, time_format, more_notes = parse_times(rows, columns.t)
        notes.extend(more_notes)
    owner: IntArray = np.arange(len(ids))
    if columns.user_id is not None:
        people, _, known = by_first_appearance(required(rows, columns.user_id, columns.parts.get("user_id")))
        merged, more_notes = _settle_alike(rows, columns.user_id, known, options)
        notes.extend(more_notes)
        people = people if merged is None else merged[0][people]
        # The person of the first row is that of the trajectory; all other rows must agree.
        owner = people[first_row]
        _refuse_varying(rows, columns.user_id, people != owner[trajectory], trajectory, _ONE_PERSON)
    attributes = {}
    left_out = []
    remedy = _ONE_VALUE_OR_NONE if options.attributes is None else _ONE_VALUE
    for name, position in columns.attributes.items():
        values = as_text(rows, position)
        value = values.gather(first_row)
        # The same for attributes: one value per trajectory, the missing one included.
        varies = values.ne_missing(value.gather(trajectory)).to_numpy()
        if drop_varying and options.attributes is None and varies.any():
            left_out.append(name)
            continue
        _refuse_varying(rows, position, varies, trajectory, remedy)
        codes, labels = by_name(value)
        attributes[name] = Coded(codes=codes, labels=labels)
    if left_out:
        notes.append(f"Column {listed(left_out)} varies inside trajectories and was left out.")
    if attributes and options.attributes is None:
        notes.append(f"Taken as attributes: {listed(attributes)}.")
    notes.extend(note for name, coded in attributes.items() for note in _identifying(name, coded))
    return TrajectoryColumns(
        trajectory=trajectory,
        t=t,
        time_format=time_format,
        ids=ids,
        owner=owner,
        owners="declared" if columns.user_id is None else "given",
        attributes=attributes,
        notes=tuple(notes),
    )


def _settle_alike(
    rows: Rows, position: int, people: pl.Series, options: ReadOptions
) -> tuple[tuple[IntArray, IntArray] | None, tuple[str, ...]]:
    """Return (new codes of people and who stays, None where nothing changes; notes), or refuse ids that are alike.

    Of a piece only what is said of it is done: whether ids are alike is judged of the whole table.
    """
    meant = options.similar_ids
    if options.piece:
        return (merge_codes(people) if meant == "same" else None), ()
    # Whoever counts no people is not asked about their spelling.
    number = 0 if meant is None and options.owners == "not-asked" else similar_count(people)
    if not number:
        return None, ()
    name = rows.table.names[position]
    if meant is None:
        raise similar_ids_error(rows.table.path, name, number)
    return (merge_codes(people) if meant == "same" else None), (similar_ids_note(name, number, meant),)


def required(rows: Rows, position: int, part: slice | None = None) -> pl.Series:
    """Return a column as text, or the part of its text that is asked for; refuse missing values."""
    text = as_text(rows, position)
    _refuse(rows, position, text.is_null())
    if part is not None:
        text = normal_column(cut_text(text, part))[0]
    rows.refuse(
        text.is_null(),
        f"column '{rows.table.names[position]}' is too short for the part that --columns takes of it",
        "Correct these rows, or take another part.",
    )
    return text


def refuse_missing(rows: Rows, position: int) -> None:
    """Raise InputError if a column has missing values."""
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


def _refuse_varying(rows: Rows, position: int, varies: BoolArray, trajectory: IntArray, remedy: str) -> None:
    other = np.flatnonzero(varies)
    if len(other):
        varying = len(np.unique(trajectory[other]))
        raise rows.table.wrong(
            f"column {shown(rows.table.names[position])} must be constant in a trajectory, but varies inside "
            f"{count(varying, 'trajectory')}, first seen at {rows.place(int(other[0]))}. {remedy}"
        )


def _identifying(name: str, coded: Coded) -> tuple[str, ...]:
    n = len(coded.codes)
    # An attribute with nearly as many values as trajectories is close to an id.
    if n < 20 or 2 * len(coded.labels) <= n:
        return ()
    return (
        f"Attribute {shown(name)} has {count(len(coded.labels), 'different value')} in {count(n, 'trajectory')}: "
        "if it is published, it may identify people.",
    )
