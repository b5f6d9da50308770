"""Visits from files: CSV or Parquet to the model, cleaned by rules that are counted and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from wayveil.io.read.loaded import Loaded
from wayveil.io.read.place_coordinates import (
    axis_numbers,
    first_positions,
    known_degrees,
    list_positions,
    settle_frame,
)
from wayveil.io.read.trajectory_tables import read_trajectories, required
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.columns import LOCATION_COORDINATES, Columns, ReadOptions, choose_columns
from wayveil.io.tabular.messages import count, was
from wayveil.io.tabular.row_order import one_row_per_time, time_order
from wayveil.io.tabular.table import ROW_NUMBER, Rows, Table, as_text, open_table
from wayveil.model import Frame, Visits
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of

__all__ = ["location_positions", "read_visits", "visits_of"]

_DEFAULTS = ReadOptions()


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
    O(n) for rows in order, O(n log n) otherwise; memory is a small multiple of the file.  Where the columns location_x
    and location_y stand beside location, a location is where its first row with a position says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "cards.csv")
    ...     _ = file.write_text("card,t,location\\nx,2,home\\nx,1,work\\ny,1,home\\n")
    ...     loaded = read_visits(file, ReadOptions(columns={"traj_id": "card", "user_id": "card"}))
    >>> loaded.data.record(0), loaded.rows
    ([('work', 1), ('home', 2)], 3)
    >>> loaded.notes[-1]
    '1 trajectory was not in time order and was sorted.'
    """
    return visits_of(open_table(path), options)


def visits_of(table: Table, options: ReadOptions) -> Loaded:
    """Return the visits in a table."""
    columns = choose_columns(table, options, "visits")
    rows = table.read(columns.positions)
    read = read_trajectories(rows, columns, options, drop_varying=False)
    notes = list(read.notes)
    location, locations = by_name(required(rows, columns.place["location"]))
    x, y, frame = _positions(rows, columns, location, len(locations), options, notes) or (None, None, None)
    trajectory = read.trajectory
    t = read.t
    # Sorted by trajectory and time, with the order of the file among equal times; nothing is moved if it is so already.
    order, unsorted = time_order(trajectory, t)
    if unsorted:
        notes.append(f"{count(unsorted, 'trajectory')} {was(unsorted)} not in time order and {was(unsorted)} sorted.")
    if order is not None:
        trajectory = trajectory[order]
        t = t[order]
        location = location[order]
    # Two places at one time are a contradiction that somebody has to decide; exact repetitions are dropped.
    place = {"location": location}
    keep, more_notes = one_row_per_time(rows, trajectory, t, place, order, options.on_duplicate_time, "visit")
    notes.extend(more_notes)
    if keep is not None:
        trajectory = trajectory[keep]
        t = t[keep]
        location = location[keep]
    data = Visits(
        offsets=offsets_of(np.bincount(trajectory, minlength=len(read.ids))),
        location=location,
        t=t,
        locations=locations,
        owner=read.owner,
        attributes=read.attributes,
        time_format=read.time_format,
        owners=read.owners,
        place_x=x,
        place_y=y,
        place_frame=frame,
    )
    return Loaded(data=data, rows=len(rows), notes=(*notes, *rows.notes), ids=read.ids)


def location_positions(path: str | Path, options: ReadOptions) -> pl.DataFrame | None:
    """Return where the locations of a piece of a table of visits are: location, x and y as in the file, and the row.

    A location without coordinates has none there; None where the table has no coordinates at all.
    """
    table = open_table(path)
    columns = choose_columns(table, options, "visits")
    if not all(name in columns.place for name in LOCATION_COORDINATES):
        return None
    rows = table.read(columns.positions)
    numbers = np.arange(len(rows)) if table.row_numbers is None else table.row_numbers.collect()[ROW_NUMBER].to_numpy()
    x, y = _coordinates(rows, columns, options)
    known = np.isfinite(x) & np.isfinite(y)
    names = as_text(rows, columns.place["location"])
    frame = pl.DataFrame({"location": names, "x": x, "y": y, "known": known, "order": numbers})
    return list_positions(frame.filter(pl.col("location").is_not_null()))


def _coordinates(rows: Rows, columns: Columns, options: ReadOptions) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates beside names, not a number where there are none that can be.

    A row without a position is still a visit to a place with a name, so that nothing here is refused: text that is no
    number, degrees out of their range, and 0, 0, which devices write that know no position.
    """
    x, y = (axis_numbers(rows, columns.place[name], strict=False) for name in LOCATION_COORDINATES)
    if known_degrees(options, rows.table.names[columns.place["location_x"]]):
        impossible = (np.abs(x) > 180) | (np.abs(y) > 90) | ((x == 0) & (y == 0))
        x = np.where(impossible, np.nan, x)
    return x, y


def _positions(
    rows: Rows, columns: Columns, location: IntArray, n_locations: int, options: ReadOptions, notes: list[str]
) -> tuple[FloatArray, FloatArray, Frame] | None:
    """Return where locations are, in metres of a frame; None where it is not said of all of them, with a note."""
    if not all(name in columns.place for name in LOCATION_COORDINATES) or not n_locations:
        return None
    x, y = _coordinates(rows, columns, options)
    positions = first_positions(location, x, y, n_locations)
    if positions is None:
        if not options.piece:
            lost = n_locations - len(np.unique(location[np.isfinite(x) & np.isfinite(y)]))
            notes.append(
                f"{count(lost, 'location')} of {n_locations:,} {was(lost)} without a position in any row, so that all "
                "are taken by their names alone; leave these rows out, or give a table of all places with --places."
            )
        return None
    return settle_frame(rows, options, rows.table.names[columns.place["location_x"]], "locations", *positions)
