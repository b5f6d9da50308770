"""Visits from files: CSV or Parquet to the model, cleaned by rules that are counted and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wayveil.io.read.loaded import Loaded
from wayveil.io.read.trajectory_tables import read_trajectories, required
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.columns import ReadOptions, choose_columns
from wayveil.io.tabular.messages import count, was
from wayveil.io.tabular.row_order import one_row_per_time, time_order
from wayveil.io.tabular.table import Table, open_table
from wayveil.model import Visits
from wayveil.model.data.ragged import offsets_of

__all__ = ["read_visits", "visits_of"]

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
    O(n) for rows in order, O(n log n) otherwise; memory is a small multiple of the file.

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
    )
    return Loaded(data=data, rows=len(rows), notes=(*notes, *rows.notes), ids=read.ids)
