"""Stops from and to files: which places people visited, in which order, as nodes of a given taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from wayveil.errors import check_choice
from wayveil.io.places.taxonomy_build import UNSPECIFIED, with_own_leaves
from wayveil.io.publish.published_rows import attribute_columns
from wayveil.io.publish.writer import rows_in_order, write_table
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.trajectory_tables import TrajectoryColumns, read_trajectories, required
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.columns import Columns, ReadOptions, choose_columns
from wayveil.io.tabular.messages import count, was
from wayveil.io.tabular.row_order import one_row_per_time, refuse_disorder, sequence_of, time_order
from wayveil.io.tabular.table import Rows, Table, as_text, open_table
from wayveil.io.tabular.timestamps import parse_times, time_column, time_pattern
from wayveil.model import Stops, Taxonomy
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of

__all__ = ["UnknownPlaces", "read_stops", "stops_of", "write_stops"]

UnknownPlaces = Literal["refuse", "drop"]
"""What happens to rows whose place is not in the taxonomy."""

_DEFAULTS = ReadOptions()


def read_stops(
    path: str | Path,
    taxonomy: Taxonomy,
    options: ReadOptions = _DEFAULTS,
    *,
    unknown_places: UnknownPlaces = "refuse",
) -> Loaded:
    """Read stops from a CSV (also gzipped) or Parquet file with one row per stop of a trajectory.

    Parameters
    ----------
    path : str or Path
        The file; its suffix tells the format.  Its columns are traj_id, place, at least one of seq and t, and as far as
        known t_end (when the person left), user_id and attributes.
    taxonomy : Taxonomy
        Whose nodes the places are, by name.
    options : ReadOptions
        Names of columns, which attributes to take, and whether to keep one of several stops at one time; without the
        last all are kept.
    unknown_places : {"refuse", "drop"}
        What happens to rows whose place is not in the taxonomy.  A trajectory of such rows only is dropped with them.

    Returns
    -------
    Loaded
        `data` are Stops in the order of `seq`, or else of `t`, where equal times keep the order of the file.  All are
        at leaves: a stop at an inner node is at the leaf ``NAME (unspecified)`` below it, which is added to the
        taxonomy of the data where it is not there.  Without a column t all times are 0.

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
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bakery", "Food"), ("Park", "Place")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "stops.csv")
    ...     _ = file.write_text("traj_id,user_id,t,place\\nx,ann,20,Park\\nx,ann,10,Bakery\\ny,bob,5,Food\\n")
    ...     loaded = read_stops(file, tree)
    >>> loaded.data.record(0), loaded.data.record(1)
    (['Bakery', 'Park'], ['Food (unspecified)'])
    >>> loaded.notes[0]
    "1 stop at 1 inner node of the taxonomy was put below, at 'NAME (unspecified)'."
    """
    return stops_of(open_table(path), taxonomy, options, unknown_places)


def stops_of(table: Table, taxonomy: Taxonomy, options: ReadOptions, unknown_places: UnknownPlaces) -> Loaded:
    """Return the stops in a table."""
    check_choice("read_stops", "unknown_places", unknown_places, ("refuse", "drop"))
    columns = choose_columns(table, options, "stops")
    rows = table.read(columns.positions)
    total = len(rows)
    # Places first: rows that are dropped because of them must not count as trajectories later.
    place, tree, more_notes = _places(rows, columns.place["place"], taxonomy, unknown_places)
    if (place < 0).any():
        rows, place, dropped = _without_unknown(rows, place, columns)
        more_notes = (*more_notes, dropped)
    read = read_trajectories(rows, columns, options, drop_varying=True)
    notes = [*read.notes, *more_notes]
    t_end, more_notes = _ends(rows, columns, read)
    notes.extend(more_notes)
    trajectory = read.trajectory
    t = read.t
    seq = sequence_of(rows, columns.place["seq"], "stop") if "seq" in columns.place else None
    # With seq the order is said; without it, times are all there is, and equal ones keep the order of the file.
    order, unsorted = time_order(trajectory, t if seq is None else seq)
    if unsorted:
        verb = was(unsorted)
        by = "in time order" if seq is None else "in the order of seq"
        notes.append(f"{count(unsorted, 'trajectory')} {verb} not {by} and {verb} sorted.")
    if order is not None:
        trajectory = trajectory[order]
        t = t[order]
        t_end = t_end[order]
        place = place[order]
        seq = None if seq is None else seq[order]
    if seq is not None:
        refuse_disorder(rows, order, trajectory, (columns.place["seq"], seq), (columns.t, t), "stop")
    elif options.on_duplicate_time is not None:
        keep, more_notes = one_row_per_time(
            rows, trajectory, t, {"place": place, "t_end": t_end}, order, options.on_duplicate_time, "stop"
        )
        notes.extend(more_notes)
        if keep is not None:
            trajectory = trajectory[keep]
            t = t[keep]
            t_end = t_end[keep]
            place = place[keep]
    data = Stops(
        offsets=offsets_of(np.bincount(trajectory, minlength=len(read.ids))),
        place=place,
        t=t,
        t_end=t_end,
        taxonomy=tree,
        owner=read.owner,
        attributes=read.attributes,
        time_format=read.time_format,
        owners=read.owners,
    )
    return Loaded(data=data, rows=total, notes=(*notes, *rows.notes), ids=read.ids)


def write_stops(data: Stops, path: str | Path, *, ids: Sequence[str] | None = None) -> None:
    """Write raw stops in the format that `read_stops` takes; for generated and prepared data, not for publishing.

    Parameters
    ----------
    data : Stops
        Trajectories without stops are not written: the format has no row for them.  The taxonomy is not written; see
        `write_taxonomy`.
    path : str or Path
        Ends in .csv or .parquet.
    ids : sequence of str, optional
        One id per trajectory; their positions by default.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    columns = rows_in_order(data, path, ids, "write_stops")
    columns["place"] = pl.Series(data.taxonomy.nodes, dtype=pl.String).gather(data.place)
    for name in ("t", "t_end"):
        columns[name] = time_column(getattr(data, name), data.time_format)
    columns |= attribute_columns(data, path, ("traj_id", "user_id", "seq", "place", "t", "t_end"))
    pattern = time_pattern(np.append(data.t, data.t_end), data.time_format)
    write_table(pl.DataFrame(columns), path, pattern)


def _places(
    rows: Rows, position: int, taxonomy: Taxonomy, unknown_places: UnknownPlaces
) -> tuple[IntArray, Taxonomy, tuple[str, ...]]:
    """Return (codes of leaves, -1 where unknown; the taxonomy with the leaves that are needed; notes)."""
    named, labels = by_name(required(rows, position))
    code = {name: i for i, name in enumerate(taxonomy.nodes)}
    leaf = taxonomy.is_leaf
    # Names are looked up once per different name, not once per row.
    known = [_known(name, code, leaf) for name in labels]
    tree = with_own_leaves(taxonomy, [taxonomy.nodes[at] for at in known if at >= 0 and not leaf[at]])
    code = {name: i for i, name in enumerate(tree.nodes)}
    names = ["" if at < 0 else taxonomy.nodes[at] + ("" if leaf[at] else UNSPECIFIED) for at in known]
    place = np.array([code.get(name, -1) for name in names], np.int64)[named]
    if unknown_places == "refuse":
        absent = sum(at < 0 for at in known)
        rows.refuse(
            place < 0,
            f"column '{rows.table.names[position]}' names {count(absent, 'place')} that {_is(absent)} not in the "
            "taxonomy",
            "Add what is missing to the taxonomy, correct these rows, or leave them out with --unknown-places drop.",
        )
    inner = np.array([at >= 0 and not leaf[at] for at in known], np.bool_)
    if not inner.any():
        return place, tree, ()
    stops = int(inner[named].sum())
    note = (
        f"{count(stops, 'stop')} at {count(int(inner.sum()), 'inner node')} of the taxonomy {was(stops)} put below, at "
        "'NAME (unspecified)'."
    )
    return place, tree, (note,)


def _known(name: str, code: dict[str, int], leaf: BoolArray) -> int:
    """Return the node that a name means, -1 for none; the name of a leaf that was added here means what it is below."""
    if name not in code and name.endswith(UNSPECIFIED):
        above = code.get(name.removesuffix(UNSPECIFIED), -1)
        return above if above >= 0 and not leaf[above] else -1
    return code.get(name, -1)


def _without_unknown(rows: Rows, place: IntArray, columns: Columns) -> tuple[Rows, IntArray, str]:
    is_known = place >= 0
    if not is_known.any():
        raise rows.table.wrong(
            "no row has a place that is in the taxonomy; give the taxonomy that these places are from."
        )
    rows_left = np.flatnonzero(is_known)
    # How many trajectories are lost with these rows is told, so both sides are counted.
    before, after = (required(r, columns.traj_id, columns.parts.get("traj_id")) for r in (rows, _only(rows, rows_left)))
    n_lost = before.n_unique() - after.n_unique()
    dropped = len(rows) - len(rows_left)
    names = as_text(rows, columns.place["place"]).filter(pl.Series(~is_known)).n_unique()
    note = f"{count(dropped, 'row')} at {count(names, 'place')} that {_is(names)} not in the taxonomy {was(dropped)} "
    note += "dropped" + (f", and with them {count(n_lost, 'trajectory')} that had no other rows." if n_lost else ".")
    return _only(rows, rows_left), place[rows_left], note


def _only(rows: Rows, rows_left: IntArray) -> Rows:
    """Return some of the rows, which still know where in the file they are."""
    original = rows_left if rows.original_row is None else rows.original_row[rows_left]
    return replace(rows, frame=rows.frame[rows_left], original_row=original)


def _ends(rows: Rows, columns: Columns, read: TrajectoryColumns) -> tuple[IntArray, tuple[str, ...]]:
    """Return when each stop ended; where nobody says, when it began."""
    position = columns.place.get("t_end")
    if position is None:
        return read.t, ()
    name = rows.table.names[position]
    if columns.t is None:
        raise rows.table.wrong(f"column '{name}' says when stops ended, but there is no column of when they began, t.")
    values = rows.frame[str(position)]
    empty = values.is_null() if values.dtype != pl.String else (values == "").fill_null(True)
    rows_with_end = np.flatnonzero(~empty.to_numpy())
    if not len(rows_with_end):
        return read.t, ()
    times, time_format, notes = parse_times(_only(rows, rows_with_end), position)
    if {time_format, read.time_format} not in ({time_format}, {"integer", "epoch"}):
        raise rows.table.wrong(
            f"column '{name}' must be of the form '{read.time_format}' like '{rows.table.names[columns.t]}', not "
            f"'{time_format}'."
        )
    # Where no end is written, a stop ends when it began.
    t_end = np.array(read.t)
    t_end[rows_with_end] = times
    rows.refuse(t_end < read.t, f"column '{name}' is earlier than the beginning of the stop", "Correct these rows.")
    return t_end, notes


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
