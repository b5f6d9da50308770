"""Routes from and to files: the directed roads of trajectories, in order, on a given network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from wayveil.io.publish.published_rows import attribute_columns
from wayveil.io.publish.writer import rows_in_order, write_table
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.trajectory_tables import TrajectoryColumns, read_trajectories, required
from wayveil.io.tabular.columns import Columns, ReadOptions, choose_columns
from wayveil.io.tabular.messages import count, was
from wayveil.io.tabular.row_order import refuse_disorder, sequence_of, time_order
from wayveil.io.tabular.table import Rows, Table, open_table
from wayveil.io.tabular.timestamps import parse_times, time_column, time_pattern
from wayveil.model import RoadNetwork, Routes, TimeFormat
from wayveil.model.data.ragged import IntArray, offsets_of

__all__ = ["read_routes", "routes_of", "write_routes"]

_DEFAULTS = ReadOptions()


def read_routes(path: str | Path, network: RoadNetwork, options: ReadOptions = _DEFAULTS) -> Loaded:
    """Read routes from a CSV (also gzipped) or Parquet file with one row per road of a trajectory.

    Parameters
    ----------
    path : str or Path
        The file; its suffix tells the format.  Its columns are traj_id, seq, road, and as far as known t (when the road
        was entered), user_id and attributes.
    network : RoadNetwork
        Where the roads are.
    options : ReadOptions
        Names of columns, and which attributes to take.

    Returns
    -------
    Loaded
        `data` are Routes in the order of `seq`.  `t_start` and `t_end` are the first and the last time of a trajectory;
        without a column t they are those of the columns t_start and t_end, which published tables have, and otherwise
        all times are 0.  Gaps, where a road does not begin where the one before ends, are counted in
        a note.

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
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "trips.csv")
    ...     _ = file.write_text("traj_id,user_id,seq,road,t\\nx,ann,2,bc,60\\nx,ann,1,ab,30\\ny,bob,1,bc,5\\n")
    ...     loaded = read_routes(file, network)
    >>> loaded.data.record(0), loaded.data.t_start.tolist(), loaded.data.t_end.tolist()
    (['ab', 'bc'], [30, 5], [60, 5])
    >>> loaded.notes[-1]
    '1 trajectory was not in the order of seq and was sorted.'
    """
    return routes_of(open_table(path), network, options)


def routes_of(table: Table, network: RoadNetwork, options: ReadOptions) -> Loaded:
    """Return the routes in a table."""
    columns = choose_columns(table, options, "routes")
    rows = table.read(columns.positions)
    read = read_trajectories(rows, columns, options, drop_varying=True)
    notes = list(read.notes)
    road = _roads(rows, columns.place["road"], network)
    seq = sequence_of(rows, columns.place["seq"], "road")
    trajectory = read.trajectory
    t = read.t
    time_format = read.time_format
    # Published tables have a slice per trajectory in place of times; then every road has the beginning of its slice.
    slices, more_notes = _slices(rows, columns, read)
    notes.extend(more_notes)
    if slices is not None:
        t = slices.t_start[trajectory]
        time_format = slices.time_format
    order, unsorted = time_order(trajectory, seq)
    if unsorted:
        verb = was(unsorted)
        notes.append(f"{count(unsorted, 'trajectory')} {verb} not in the order of seq and {verb} sorted.")
    if order is not None:
        trajectory = trajectory[order]
        t = t[order]
        road = road[order]
        seq = seq[order]
    refuse_disorder(rows, order, trajectory, (columns.place["seq"], seq), (columns.t, t), "road")
    notes.extend(_gaps(trajectory, road, network))
    offsets = offsets_of(np.bincount(trajectory, minlength=len(read.ids)))
    data = Routes(
        offsets=offsets,
        road=road,
        t=t,
        # Without slices a trajectory has one from its first to its last time.
        t_start=t[offsets[:-1]],
        t_end=t[offsets[1:] - 1] if slices is None else slices.t_end,
        network=network,
        owner=read.owner,
        attributes=read.attributes,
        time_format=time_format,
        owners=read.owners,
    )
    return Loaded(data=data, rows=len(rows), notes=(*notes, *rows.notes), ids=read.ids)


def write_routes(data: Routes, path: str | Path, *, ids: Sequence[str] | None = None) -> None:
    """Write raw routes in the format that `read_routes` takes; for generated and prepared data, not for publishing.

    Parameters
    ----------
    data : Routes
        Trajectories without roads are not written: the format has no row for them.  The network is not written; see
        `write_network`.
    path : str or Path
        Ends in .csv or .parquet.
    ids : sequence of str, optional
        One id per trajectory; their positions by default.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    columns = rows_in_order(data, path, ids, "write_routes")
    columns["road"] = pl.Series(data.network.roads, dtype=pl.String).gather(data.road)
    columns["t"] = time_column(data.t, data.time_format)
    columns |= attribute_columns(data, path, ("traj_id", "user_id", "seq", "road", "t"))
    write_table(pl.DataFrame(columns), path, time_pattern(data.t, data.time_format))


class _Slices(NamedTuple):
    """The slice of time of each trajectory."""

    t_start: IntArray
    t_end: IntArray
    time_format: TimeFormat


def _slices(rows: Rows, columns: Columns, read: TrajectoryColumns) -> tuple[_Slices | None, tuple[str, ...]]:
    """Return the slices of time that columns tell, and notes; None where no columns do, or not one per trajectory."""
    if "t_start" not in columns.place:
        return None, ()
    ends: list[IntArray] = []
    formats: list[TimeFormat] = []
    notes: list[str] = []
    first = np.unique(read.trajectory, return_index=True)[1]
    for name in ("t_start", "t_end"):
        values = rows.frame[str(columns.place[name])]
        # One value per trajectory, compared with that of its first row.
        if values.null_count() or values.ne_missing(values.gather(first).gather(read.trajectory)).any():
            return None, ("Columns 't_start' and 't_end' are not one time per trajectory and were left out.",)
        t, time_format, more = parse_times(rows, columns.place[name])
        ends.append(t[first])
        formats.append(time_format)
        notes.extend(more)
    if formats[0] != formats[1]:
        raise rows.table.wrong("the times in 't_start' and 't_end' are written in different ways; write them in one.")
    rows.refuse(
        (ends[1] < ends[0])[read.trajectory],
        "column 't_end' is earlier than 't_start'",
        "Correct or remove these rows.",
    )
    return _Slices(t_start=ends[0], t_end=ends[1], time_format=formats[0]), tuple(notes)


def _roads(rows: Rows, position: int, network: RoadNetwork) -> IntArray:
    names = required(rows, position)
    # An Enum of all roads: a name that is none of them becomes null, and is refused with its row.
    codes = names.cast(pl.Enum(network.roads), strict=False).to_physical()
    rows.refuse(
        codes.is_null(),
        f"column '{rows.table.names[position]}' names a road that is not in the network",
        "Give the network that the routes were made with, or correct these rows.",
    )
    return codes.cast(pl.Int64).to_numpy()


def _gaps(trajectory: IntArray, road: IntArray, network: RoadNetwork) -> tuple[str, ...]:
    apart = (trajectory[1:] == trajectory[:-1]) & (network.to_node[road[:-1]] != network.from_node[road[1:]])
    gaps = int(apart.sum())
    if not gaps:
        return ()
    broken = len(np.unique(trajectory[1:][apart]))
    return (
        f"{count(gaps, 'time')} in {count(broken, 'trajectory')} a road does not begin where the one before ends; "
        "methods cut trajectories there.",
    )
