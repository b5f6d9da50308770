"""Tables beside the data: who people are, what is known of whom, where places are, and which belong to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.trajectory_tables import refuse_missing, required
from wayveil.io.tabular.codes import by_first_appearance
from wayveil.io.tabular.column_slice import split_name
from wayveil.io.tabular.crs import WGS84, could_be_degrees, settle_crs, unsaid_degrees_error
from wayveil.io.tabular.headers import columns_error, near_name, shown_names
from wayveil.io.tabular.messages import count, listed, was
from wayveil.io.tabular.normal_columns import (
    SimilarIds,
    merge_codes,
    similar_count,
    similar_ids_error,
    similar_ids_note,
)
from wayveil.io.tabular.table import Rows, Table, open_table
from wayveil.io.tabular.timestamps import parse_times
from wayveil.model import Frame, Visits
from wayveil.model.data.ragged import FloatArray, trajectory_of_row
from wayveil.model.normal import normal_text

__all__ = ["locate", "mark_known", "name_owners", "read_groups", "read_owners"]


def name_owners(
    loaded: Loaded,
    paths: Sequence[str | Path],
    columns: Mapping[str, str] | None = None,
    *,
    similar_ids: SimilarIds | None = None,
) -> Loaded:
    """Return data of any kind with the owners of their trajectories from other tables; see `read_owners`.

    Trajectories that only the tables have do no harm.  `similar_ids` is as in `ReadOptions`.

    Raises
    ------
    InputError
        If the data have owners already, or the tables give a trajectory of the data two owners or none.
    """
    if loaded.data.owners != "declared":
        raise InputError("The input says itself who is behind a trajectory; leave out the tables of owners.")
    side_table = read_owners(paths, columns)
    shown = ", ".join(str(path) for path in paths)
    own = pl.DataFrame({"traj_id": loaded.ids.cast(pl.String)})
    # Only trajectories of the data are judged: tables of owners may be about more.
    side_table = side_table.join(own, on="traj_id", how="semi", maintain_order="left")
    side_table, notes = _settle_alike(shown, side_table, (columns or {}).get("user_id", "user_id"), similar_ids)
    # All owners per trajectory as a list: none and several are both told, with how many there are.
    named = own.join(side_table.group_by("traj_id").agg("user_id"), on="traj_id", how="left", maintain_order="left")
    owners = named["user_id"].list.len().fill_null(0).to_numpy()
    several = int((owners > 1).sum())
    without = int((owners == 0).sum())
    if several:
        raise InputError(
            f"{shown}: {count(several, 'trajectory')} of the input {was(several)} given more than one owner; a "
            "trajectory belongs to one person."
        )
    if without:
        raise InputError(
            f"{shown}: {count(without, 'trajectory')} of the {len(owners):,} of the input {was(without)} given no "
            "owner; give the tables that name all of them."
        )
    people = named["user_id"].list.first()
    codes = by_first_appearance(people)[0] if len(people) else np.zeros(0, np.int64)
    note = (
        f"The owners, {count(people.n_unique(), 'different one')}, were taken from {count(len(paths), 'other table')}."
    )
    return replace(loaded, data=replace(loaded.data, owner=codes, owners="given"), notes=(*loaded.notes, *notes, note))


def read_owners(paths: Sequence[str | Path], columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return who is behind which trajectory, from tables that have the columns traj_id and user_id.

    Parameters
    ----------
    paths : sequence of str or Path
        The tables (.csv, .csv.gz, .parquet).  Other columns are not read; rows may repeat.
    columns : mapping, optional
        From traj_id and user_id to the names in the files, or to a part such as ``tid[:-2]``; other keys are not looked
        at.

    Returns
    -------
    polars.DataFrame
        Each different pair of traj_id and user_id once, in the order of the files.  Private: never publish or log it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "who.csv")
    ...     _ = file.write_text("tid,label\\n1,6\\n1,6\\n2,7\\n")
    ...     read_owners([file], {"traj_id": "tid", "user_id": "label"}).rows()
    [('1', '6'), ('2', '7')]
    """
    if not paths:
        raise InputError("No table of owners was given; give at least one.")
    parts = []
    for path in paths:
        table = open_table(path)
        text = {}
        named = {ours: normal_text((columns or {}).get(ours, ours)) for ours in ("traj_id", "user_id")}
        named_columns = {ours: split_name(name, table.names) for ours, name in named.items()}
        for ours, (name, _) in named_columns.items():
            if name not in table.names:
                raise columns_error(
                    table,
                    f"a table of owners needs the column '{name}' for {ours}, but the file has {shown_names(table)}."
                    f"{near_name(table, name)}",
                )
        rows = table.read([_at(table, name) for name, _ in named_columns.values()])
        for ours, (name, part) in named_columns.items():
            text[ours] = required(rows, _at(table, name), part)
        parts.append(pl.DataFrame(text))
    return pl.concat(parts).unique(maintain_order=True)


def _settle_alike(
    shown: str, owners: pl.DataFrame, column: str, meant: SimilarIds | None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return who is behind which trajectory, with ids that are alike as is meant, and notes; refuse them otherwise."""
    people = owners["user_id"].unique(maintain_order=True)
    number = similar_count(people)
    if not number:
        return owners, ()
    if meant is None:
        raise similar_ids_error(shown, column, number)
    notes = (similar_ids_note(column, number, meant),)
    if meant == "different":
        return owners, notes
    code, stays = merge_codes(people)
    one = owners.with_columns(pl.col("user_id").replace(people, people.gather(stays).gather(code)))
    return one.unique(maintain_order=True), notes


def mark_known(loaded: Loaded, path: str | Path) -> Loaded:
    """Return points with the rows marked that a table `traj_id, t` names: those that an attacker may know.

    Raises
    ------
    InputError
        If the table has other columns, or names a trajectory and a time that the data do not have.
    """
    if "known" not in loaded.data.optional_row_columns:
        raise InputError("A table of what is known goes with points only; the input holds no points.")
    data: Any = loaded.data
    table = open_table(path)
    rows = table.read(_columns(table, ("traj_id", "t")))
    ids = required(rows, _at(table, "traj_id"))
    times = _at(table, "t")
    refuse_missing(rows, times)
    if len(rows):
        t, time_format, _ = parse_times(rows, times)
        # Plain integers may be seconds since 1970 in one table and not be recognised in the other.
        if {time_format, data.time_format} not in ({time_format}, {"integer", "epoch"}):
            raise table.wrong(
                f"column 't' must be of the form '{data.time_format}' like the input, not '{time_format}'."
            )
    else:
        t = np.zeros(0, np.int64)
    named = pl.DataFrame({"id": ids, "t": t})
    # A row of the data is known by its trajectory and its time, so both tables are joined by these.
    own = loaded.ids.cast(pl.String).gather(trajectory_of_row(data.offsets))
    present = pl.DataFrame({"id": own, "t": data.t})
    absent = ~named.join(
        present.with_columns(pl.lit(True).alias("there")), on=["id", "t"], how="left", maintain_order="left"
    )["there"].fill_null(False)
    rows.refuse(absent, "a trajectory and a time that the input does not have", "Correct or remove these rows.")
    named = named.unique().with_columns(pl.lit(True).alias("known"))
    known = present.join(named, on=["id", "t"], how="left", maintain_order="left")["known"].fill_null(False).to_numpy()
    marked = int(known.sum())
    note = f"{count(marked, 'position')} of {data.n_rows:,} {was(marked)} marked as known to an attacker."
    return replace(loaded, data=replace(data, known=known), notes=(*loaded.notes, note))


def locate(loaded: Loaded, path: str | Path, *, crs: str | None = None) -> Loaded:
    """Return visits with the places of their locations from a table `location, x, y` (metres) or `location, lon, lat`.

    `crs` is as in `ReadOptions`.

    Raises
    ------
    InputError
        If the table has other columns, names a location twice, or does not name one that occurs in the data; or if
        nobody says what x and y are, and all of them could be degrees.
    """
    if not isinstance(loaded.data, Visits):
        raise InputError("A table of places goes with visits only; the input holds no visits.")
    data = loaded.data
    table = open_table(path)
    named = {"lon", "lat"} <= set(table.names)
    sides = ("lon", "lat") if named else ("x", "y")
    system = settle_crs(table, crs, None) or (WGS84 if named else None)
    rows = table.read(_columns(table, ("location", *sides)))
    names = required(rows, _at(table, "location"))
    rows.refuse(names.is_duplicated(), "a location that is named twice", "Give every location one place.")
    x, y = (_numbers(rows, _at(table, side)) for side in sides)
    if system is None and len(x) and could_be_degrees(x, y):
        raise unsaid_degrees_error(table.path, "every place")
    frame = Frame(crs="" if system is None else system.name)
    if system is not None and system.degrees:
        rows.refuse((np.abs(x) > 180) | (np.abs(y) > 90), "not a longitude and a latitude", "Correct these rows.")
        if len(x):
            frame = Frame.for_degrees(x, y, crs=system.name)
            x, y = frame.to_metres(x, y)
    row_of = {name: row for row, name in enumerate(names.to_list())}
    row_of_place = np.array([row_of.get(name, -1) for name in data.place_names()], np.int64)
    if (missing := int((row_of_place < 0).sum())) > 0:
        raise table.wrong(
            f"{count(missing, 'location')} of the input {was(missing)} not found; give every one a place."
        )
    return replace(loaded, data=replace(data, place_x=x[row_of_place], place_y=y[row_of_place], place_frame=frame))


def read_groups(path: str | Path) -> dict[str, list[str]]:
    """Return the locations of every adversary from a table `location, adversary`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "adversaries.csv")
    ...     _ = file.write_text("location,adversary\\na1,shop\\nb1,bank\\na2,shop\\n")
    ...     read_groups(file)
    {'shop': ['a1', 'a2'], 'bank': ['b1']}
    """
    table = open_table(path)
    rows = table.read(_columns(table, ("location", "adversary")))
    groups: dict[str, list[str]] = {}
    places, names = (required(rows, _at(table, name)) for name in ("location", "adversary"))
    for place, name in zip(places.to_list(), names.to_list(), strict=True):
        groups.setdefault(name, []).append(place)
    if not groups:
        raise table.wrong("there are no rows; name at least one location and its adversary.")
    return groups


def _columns(table: Table, names: Sequence[str]) -> list[int]:
    missing = [name for name in names if name not in table.names]
    if missing:
        message = f"the columns must be {listed(names)}; {listed(missing)} {was(len(missing))} not found."
        raise columns_error(table, message)
    return [_at(table, name) for name in names]


def _at(table: Table, name: str) -> int:
    return table.names.index(name)


def _numbers(rows: Rows, position: int) -> FloatArray:
    refuse_missing(rows, position)
    numbers = rows.frame[str(position)].cast(pl.Float64, strict=False)
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    rows.refuse(bad, f"column '{rows.table.names[position]}' is not a finite number", "Correct or remove these rows.")
    return numbers.to_numpy()
