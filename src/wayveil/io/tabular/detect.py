"""What a file holds, told from its name and the names of its columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

from wayveil.io.formats.registry import holds_points, open_source
from wayveil.io.tabular.columns import INPUTS, Kind, ReadOptions, choose_columns, place_columns, suggested
from wayveil.io.tabular.headers import columns_error, shown_names
from wayveil.io.tabular.table import Table
from wayveil.io.tabular.usual_names import name_trip_columns

__all__ = ["guess_kind", "has_trip_columns", "kind_of_table"]

_DEFAULTS = ReadOptions()


def guess_kind(path: str | Path, options: ReadOptions = _DEFAULTS) -> Kind:
    """Return "visits", "points", "routes", "stops" or "trips".

    Tracks (.gpx, .plt), GeoJSON and folders of tracks hold points.  A table holds visits if it has a column
    ``location``, points if it has x and y, lon and lat, or a geometry, routes if it has ``seq`` and ``road``, and stops
    if it has ``place`` and one of ``seq`` and ``t``, and trips if it has ``origin``, ``destination``, ``t_start`` and
    ``t_end``, also by their usual names; ``--columns`` counts.

    Raises
    ------
    InputError
        If the columns fit no kind, or several: names the columns found, and options to try.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv")
    ...     _ = file.write_text("traj_id,t,lon,lat\\na,1,16.4,48.2\\n")
    ...     guess_kind(file)
    'points'
    """
    if holds_points(path):
        return "points"
    return kind_of_table(open_source(path).table, options)


def kind_of_table(table: Table, options: ReadOptions, kinds: tuple[Kind, ...] = get_args(Kind)) -> Kind:
    """Return which of these kinds a table holds, told from its columns; see `guess_kind`."""
    # --columns may name what only one kind has; otherwise the columns that are there decide.
    named = [kind for kind in kinds if set(INPUTS[kind].mapped) & set(options.columns)]
    fitting = named if len(named) == 1 else [kind for kind in kinds if place_columns(table, options, kind)]
    # A table of trips may call where they began lon and lat; points would have one time, t.
    untimed = fitting == ["points"] and not named and options.columns.get("t", "t") not in table.names
    if (not fitting or untimed) and "trips" in kinds and has_trip_columns(table, options):
        return "trips"
    if fitting == ["trips"]:
        return "trips"  # whose other columns may have their usual names
    if len(fitting) == 1:
        # Looked up for its errors: a kind that fits by its place must have the rest of its columns, too.
        choose_columns(table, replace(options, owners="not-asked"), fitting[0])
        return fitting[0]
    if fitting:
        both = "both " if len(fitting) == 2 else ""
        raise table.wrong(
            f"the columns fit {both}{' and '.join(fitting)}; say which with "
            f"{' or '.join(f'--kind {kind}' for kind in fitting)}."
        )
    # Published tables that are no input any more get a sentence of their own.
    names = [name for name in table.names if name]
    if {"seq", "t_min", "t_max"} <= set(names):
        raise table.wrong(
            "this is a published table of boxes, of which no method makes another publication; wayveil verify, risk "
            "and utility take the whole published folder."
        )
    if {"t", "zone", "to_zone", "count"} <= set(names):
        raise table.wrong(
            "this is a published table of counts, of which no method makes another publication; wayveil verify and "
            "utility take the whole published folder."
        )
    raise columns_error(
        table,
        "the columns fit neither visits (traj_id, t, location) nor points (traj_id, t, x, y) nor routes (traj_id, seq, "
        "road) nor stops (traj_id, seq or t, place) nor trips (origin, destination, t_start, t_end); the file has "
        f"{shown_names(table)}. Say what is what, for visits for example --columns {suggested(names, 'visits')}, for "
        f"points --columns {suggested(names, 'points')}, for stops --columns {suggested(names, 'stops')}, for routes "
        f"--columns {suggested(names, 'routes')} and for trips --columns {suggested(names, 'trips')}",
    )


def has_trip_columns(table: Table, options: ReadOptions) -> bool:
    """Return whether columns say where and when trips began and ended, also by the names that they usually have."""
    trips = name_trip_columns(table, options)
    return bool(place_columns(trips.table, trips.options, "trips"))
