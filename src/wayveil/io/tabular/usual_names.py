"""Trips in tables as publishers ship them: columns by their usual names, and places that have only coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wayveil.io.tabular.columns import INPUTS, TRIP_COORDINATES, ReadOptions
from wayveil.io.tabular.headers import ALSO_CALLED, PLACE_NAMES, bare_name
from wayveil.io.tabular.messages import shown
from wayveil.io.tabular.table import Table

__all__ = ["TripTable", "name_trip_columns"]


@dataclass(frozen=True, kw_only=True)
class TripTable:
    """A table with our names for its columns.

    `table` has the columns that are `place_columns`, behind those of the file: the places that only coordinates tell.
    """

    table: Table
    options: ReadOptions
    place_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def name_trip_columns(table: Table, options: ReadOptions) -> TripTable:
    """Return a table of trips with options that also name the columns which are called as they usually are.

    Examples
    --------
    >>> import polars as pl
    >>> names = ("started_at", "ended_at", "start_lng", "start_lat", "end_lng", "end_lat")
    >>> found = name_trip_columns(Table(path="a.csv", names=names, lazy=pl.LazyFrame(), csv=None), ReadOptions())
    >>> found.options.columns["t_start"], found.options.columns["destination_y"], found.place_columns
    ('started_at', 'end_lat', ('origin', 'destination'))
    """
    bare: dict[str, str] = {}
    for name in table.names:
        bare.setdefault(bare_name(name), name)
    taken = set(options.columns.values())
    name_of_column: dict[str, str] = {}
    # The first usual name that is in the file and not taken already, for each column that nobody named.
    for ours in (*INPUTS["trips"].place, *TRIP_COORDINATES):
        if ours in options.columns or ours in table.names:
            continue
        usual = next((bare[word] for word in ALSO_CALLED[ours] if word in bare and bare[word] not in taken), None)
        if usual is not None:
            name_of_column[ours] = usual
    for axis, plain in (("x", "lon"), ("y", "lat")):
        # Where only the end says that it is one, the other coordinates are those of the beginning.
        known = {*options.columns, *table.names, *name_of_column}
        usual = next((bare[word] for word in PLACE_NAMES[plain] if word in bare and bare[word] not in taken), None)
        if f"destination_{axis}" in name_of_column and f"origin_{axis}" not in known and usual is not None:
            name_of_column[f"origin_{axis}"] = usual
    columns = {**options.columns, **name_of_column}
    # An end whose name is not in the file, but whose coordinates are, gets a name made of these when it is read.
    names = tuple(
        place
        for place in ("origin", "destination")
        if columns.get(place, place) not in table.names
        and all(columns.get(f"{place}_{axis}", f"{place}_{axis}") in table.names for axis in "xy")
    )
    pairs = ", ".join(f"{ours} = {shown(name)}" for ours, name in name_of_column.items())
    return TripTable(
        table=replace(table, names=(*table.names, *names)) if names else table,
        options=replace(options, columns=columns),
        place_columns=names,
        notes=(f"Taken by their usual names: {pairs}.",) if name_of_column else (),
    )
