"""Trips from files: one row per trip, with the place and the time of both ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.io.read.loaded import Loaded
from wayveil.io.read.place_coordinates import axis_numbers, first_positions, list_positions, settle_frame
from wayveil.io.read.trajectory_tables import read_trajectories
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.columns import TRIP_COORDINATES, Columns, ReadOptions, choose_columns
from wayveil.io.tabular.messages import count, shown, was
from wayveil.io.tabular.table import ROW_NUMBER, Rows, Table, as_text, open_table
from wayveil.io.tabular.timestamps import parse_times
from wayveil.io.tabular.usual_names import TripTable, name_trip_columns
from wayveil.model import Frame, TimeFormat, Trips
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray
from wayveil.model.data.trips import TripEnds

__all__ = ["place_positions", "read_trips", "trips_of"]

_DEFAULTS = ReadOptions()
_ENDS = (("origin", "t_start"), ("destination", "t_end"))


def read_trips(path: str | Path, options: ReadOptions = _DEFAULTS) -> Loaded:
    """Read trips from a CSV (also gzipped) or Parquet file with one row per trip.

    Parameters
    ----------
    path : str or Path
        The file; its suffix tells the format.
    options : ReadOptions
        Names of columns, and which attributes to take.

    Returns
    -------
    Loaded

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule; says what, how often, where first, and what to do.

    Notes
    -----
    A row is a trip: without a column traj_id, trips are numbered.  Columns that `options` do not name are found by the
    names that they usually have (`ALSO_CALLED`), which is noted.  An end without a place or without a time is left out;
    the trip stays.  Places without names are called by their coordinates; where named places have coordinates beside
    them, the first ones say where a place is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "bikes.csv")
    ...     _ = file.write_text("bike,start_station,started_at,end_station,ended_at\\n7,Park,8,Quay,9\\n7,Quay,9,,\\n")
    ...     loaded = read_trips(file, ReadOptions(columns={"user_id": "bike"}))
    >>> loaded.data.record(0), loaded.data.record(1), loaded.data.n_owners
    ([('from Park', 8), ('to Quay', 9)], [('from Quay', 9)], 1)
    >>> loaded.notes[0][:58]
    "Taken by their usual names: origin = 'start_station', dest"
    """
    return trips_of(open_table(path), options)


def trips_of(table: Table, options: ReadOptions) -> Loaded:
    """Return the trips in a table."""
    trip_columns = name_trip_columns(table, options)
    options = trip_columns.options
    columns = choose_columns(trip_columns.table, options, "trips")
    rows = _read(table, trip_columns, columns, piece=options.piece)
    read = read_trajectories(rows, columns, options, drop_varying=False)
    # A row is a trip, so an id that comes twice is one trip in two rows.
    if len(read.ids) < len(rows):
        raise table.wrong(
            f"{count(len(rows) - len(read.ids), 'row')} {was(len(rows) - len(read.ids))} not the first with its "
            "traj_id, but a row is a trip; give every trip an id of its own, or leave the column of ids out."
        )
    notes = [*trip_columns.notes, *read.notes]
    text: dict[str, pl.Series] = {}
    times: dict[str, tuple[IntArray, BoolArray]] = {}
    formats: dict[str, TimeFormat] = {}
    # An end needs both a place and a time; with one of them only it is left out, and counted.
    for place, t in _ENDS:
        text[place] = as_text(rows, columns.place[place])
        times[t], formats[t], more = _times(rows, columns.place[t])
        notes.extend(note for note in more if note not in notes)
        partly = int((text[place].is_not_null().to_numpy() != times[t][1]).sum())
        if partly:
            notes.append(f"{count(partly, 'trip')} had only one of {place} and {t}: this end was left out.")
    if formats["t_start"] != formats["t_end"]:
        raise table.wrong("the times at which trips begin and end are written in different ways; write them in one.")
    has_end = {place: text[place].is_not_null().to_numpy() & times[t][1] for place, t in _ENDS}
    rows.refuse(
        has_end["origin"] & has_end["destination"] & (times["t_end"][0] < times["t_start"][0]),
        "a trip ends before it begins",
        "Correct or remove these rows; times on a clock that is put back may need a UTC offset.",
    )
    n_lost = int((~has_end["origin"] & ~has_end["destination"]).sum())
    if n_lost:
        notes.append(f"{count(n_lost, 'trip')} {was(n_lost)} left without any end.")
    # Both columns share one list of names: the same place must be the same place at either end.
    code, places = by_name(pl.concat([text[place].set(pl.Series(~has_end[place]), None) for place, _ in _ENDS]))
    ends = TripEnds(
        places=places,
        origin=code[: len(rows)].astype(np.int64),
        destination=code[len(rows) :].astype(np.int64),
        t_start=np.where(has_end["origin"], times["t_start"][0], 0),
        t_end=np.where(has_end["destination"], times["t_end"][0], 0),
    )
    x, y, frame = _positions(rows, columns, ends, options) or (None, None, None)
    data = Trips.of_ends(
        ends,
        owner=read.owner,
        attributes=read.attributes,
        time_format=formats["t_start"],
        owners=read.owners,
        positions=None if x is None or y is None else (x, y),
        frame=frame,
    )
    return Loaded(data=data, rows=len(rows), notes=(*notes, *rows.notes), ids=read.ids)


def place_positions(path: str | Path, options: ReadOptions) -> pl.DataFrame | None:
    """Return where the places of a piece of a table of trips are: place, x and y as in the file, and the first row.

    A place without coordinates has none there; None where the table has no coordinates at all.
    """
    table = open_table(path)
    trip_columns = name_trip_columns(table, options)
    columns = choose_columns(trip_columns.table, trip_columns.options, "trips")
    if not all(name in columns.place for name in TRIP_COORDINATES):
        return None
    rows = _read(table, trip_columns, columns, piece=True)
    numbers = np.arange(len(rows)) if table.row_numbers is None else table.row_numbers.collect()[ROW_NUMBER].to_numpy()
    ends = []
    for end, (place, t) in enumerate(_ENDS):
        x, y = (axis_numbers(rows, columns.place[f"{place}_{axis}"]) for axis in "xy")
        known = np.isfinite(x) & np.isfinite(y)
        frame = pl.DataFrame(
            {
                "location": as_text(rows, columns.place[place]),
                "x": x,
                "y": y,
                "known": known,
                # Beginnings have the smaller numbers: a place is where its first beginning is, and only otherwise where
                # its first end is.
                "order": end * (1 << 62) + numbers,  # all beginnings stand before all ends, as when read at once
            }
        )
        ends.append(frame.filter(pl.col("location").is_not_null(), pl.Series(_has_time(rows, columns.place[t]))))
    return list_positions(pl.concat(ends))


def _read(table: Table, trip_columns: TripTable, columns: Columns, *, piece: bool) -> Rows:
    """Read the columns, and add those that the file does not have: names of places, and numbers of trips.

    Trips of a `piece` have their numbers in the whole table, so that no two pieces give one number twice.
    """
    own = len(table.names)
    rows = table.read([position for position in columns.positions if position < own])
    frame = rows.frame
    named = trip_columns.table
    for number, place in enumerate(trip_columns.place_columns):
        x, y = (as_text(rows, columns.place[f"{place}_{axis}"]) for axis in "xy")
        frame = frame.with_columns((x + " " + y).alias(str(own + number)))
    if columns.numbered:
        numbers = pl.Series(np.arange(1, frame.height + 1)).cast(pl.String)
        if piece and table.row_numbers is not None:
            numbers = table.row_numbers.select(pl.col(ROW_NUMBER) + 1).collect().to_series().cast(pl.String)
        frame = frame.with_columns(numbers.alias(str(columns.traj_id)))
        named = replace(named, names=(*named.names, "traj_id"))
    return replace(rows, table=named, frame=frame)


def _times(rows: Rows, position: int) -> tuple[tuple[IntArray, BoolArray], TimeFormat, tuple[str, ...]]:
    """Return times, 0 where there is none, and which are there; their format, and notes."""
    values = rows.frame[str(position)]
    has_time = _has_time(rows, position)
    missing = pl.Series(~has_time)
    if not has_time.any():
        raise rows.table.wrong(f"column {shown(rows.table.names[position])} holds no times; name the column that does.")
    # A gap is filled with another time of the column, so that rows keep their numbers in messages.
    filled = values.set(missing, values[int(has_time.argmax())])
    t, time_format, notes = parse_times(
        replace(rows, frame=rows.frame.with_columns(filled.alias(str(position)))), position
    )
    return (np.where(has_time, t, 0), has_time), time_format, notes


def _has_time(rows: Rows, position: int) -> BoolArray:
    """Return in which rows something is written in a column of times."""
    values = rows.frame[str(position)]
    missing = values.is_null()
    if values.dtype == pl.String:
        missing = missing | (values.str.strip_chars() == "").fill_null(True)
    return ~missing.to_numpy()


def _positions(
    rows: Rows, columns: Columns, ends: TripEnds, options: ReadOptions
) -> tuple[FloatArray, FloatArray, Frame] | None:
    """Return where the places are, in metres of a frame, each where its first end is; None if not known of all."""
    if not all(name in columns.place for name in TRIP_COORDINATES) or not ends.places:
        return None
    code = np.concatenate([ends.origin, ends.destination])
    x, y = (
        np.concatenate([axis_numbers(rows, columns.place[f"{place}_{axis}"]) for place, _ in _ENDS]) for axis in "xy"
    )
    positions = first_positions(code, x, y, len(ends.places))
    if positions is None:
        return None
    return settle_frame(rows, options, rows.table.names[columns.place["origin_x"]], "trips", *positions)
