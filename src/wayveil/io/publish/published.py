"""Publications to disk and back: fresh ids, an order that tells nothing, and a reader that forgives nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.features import GEOJSON_LINES, GEOJSON_WHOLE, open_features
from wayveil.io.publish.canonical import DECIMALS, SLACK_DEG
from wayveil.io.publish.layouts import Beside, Layout, layout_for, layout_of
from wayveil.io.publish.published_rows import DECLARED, data_frame, pattern_of
from wayveil.io.publish.strict_rows import read_attribute, read_flags, read_numbers, refuse
from wayveil.io.publish.writer import check_geojson, write_table
from wayveil.io.publish.written_form import check_form, check_start
from wayveil.io.read.loaded import Loaded
from wayveil.io.tabular.messages import listed
from wayveil.io.tabular.normal_columns import not_normal
from wayveil.io.tabular.table import Rows, Table, open_table
from wayveil.io.tabular.timestamps import time_type
from wayveil.model import Data, Extent, Frame, Owners, Taxonomy, TimeFormat
from wayveil.model.data.ragged import IntArray

__all__ = ["public_frame", "read_extent", "read_published", "write_published"]

_PLANAR = Frame()
_NOBODY = "0" * 16
"""In place of an id where the table has none."""


def write_published(
    data: Data, path: str | Path, *, key: bytes, beside: tuple[Data, str | Path] | None = None
) -> IntArray:
    """Write data for the public, under fresh random ids.

    Visits have the columns traj_id, t, location; points traj_id, t, x, y; regions traj_id, seq, t_min, t_max, x_min,
    x_max, y_min, y_max, and declared where it is said; routes traj_id, seq, road, from_node, to_node, t_start, t_end;
    stops traj_id, seq, place; trips traj_id, t_start, origin, t_end, destination; then the attributes.  Counts have t,
    zone, to_zone and count, no ids and an order of their own.  x and y are in
    the coordinates of the input file; if these are degrees, the columns are called lon and lat, lon_min and so on.

    Parameters
    ----------
    data : Data
        Trajectories without rows are not written, nor are the times at which roads were entered, the times of stops and
        their taxonomy; see `write_taxonomy`.
    path : str or Path
        Ends in .csv or .parquet; for points and regions in degrees also .geojson or .geojsonl.
    key : bytes
        Secret random bytes, at least 16: the ids follow from them, and the same key gives the same bytes.
    beside : (data, path), optional
        More data of the same trajectories, for a second table with the same ids in the same order.

    Returns
    -------
    source : int64, one per written trajectory
        The i-th trajectory of the file is trajectory ``source[i]`` of `data`.  Private.

    Guarantee
    ---------
    Neither the ids nor the order of the rows depend on the ids, owners, order or content of the input: the ids are
    independent random numbers, and trajectories stand in the order of their ids.  Owners, and names of places and
    values that occur in no written row, do not leave.  Read back, the data are `as_published` of what was written.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    # Ids are drawn first and trajectories sorted by them: the order of the file is as random as the ids.
    written = np.flatnonzero(data.nonempty)
    numbers = _fresh_numbers(len(written), key)
    order = np.argsort(numbers)
    source = written[order]
    if not layout_of(data).identified:
        return _write_table_of_counts(data, path, written)
    # Sixteen hexadecimal digits each, big endian, so that texts sort as the numbers do.
    ids = numbers[order].astype(">u8").tobytes().hex()
    names = pl.Series([ids[i : i + 16] for i in range(0, len(ids), 16)], dtype=pl.String)
    for table, file in ((data, path), *(() if beside is None else (beside,))):
        if table.coordinates:
            check_geojson(table, file)
        # Rows of one trajectory stay in their order; only trajectories are reordered.
        public = table.take(source)
        layout = layout_of(table)
        renamed = layout.file_names(file, table.frame) if table.coordinates else {}
        frame = data_frame(public, file, {"traj_id": names}, renamed, public=True)
        write_table(frame, file, pattern_of(public), geometry=layout.geometry)
    return source


def read_published(
    path: str | Path,
    *,
    kind: str = "visits",
    time_format: TimeFormat,
    attributes: Sequence[str],
    owners: Owners,
    frame: Frame = _PLANAR,
    taxonomy: Taxonomy | None = None,
    declared: bool = False,
    exact: bool = False,
) -> Loaded:
    """Read a published table back, exactly as it is: nothing is cleaned, sorted or forgiven.

    Parameters
    ----------
    path : str or Path
        What `write_published` wrote.
    kind : str
        What the table holds: a name in `wayveil.model.KINDS`.
    time_format, attributes
        As in the data that were written; the columns must be those of the kind and these attributes.
    owners : {"given", "declared", "hidden"}
        What to note as the origin of the owners.  The file has none: each trajectory gets an owner of its own, which
        the caller replaces if it knows better.
    frame : Frame
        As in the data that were written: it makes the coordinates of the file metres.  Routes and stops have none.
    taxonomy : Taxonomy, optional
        What the places of stops are nodes of; needed for stops.
    declared : bool
        Whether regions have a column that says which boxes are of declared times.
    exact : bool
        Whether the file must be, byte by byte, what `write_published` makes of what is in it, with texts in normal
        form; see `check_form`.

    Returns
    -------
    Loaded
        Trajectories in the order of the file; a publication without rows has none.  The network of routes is that of
        the roads in the file, without places, and every road is entered at the beginning of its slice.  The times of
        stops are 0.

    Raises
    ------
    InputError
        If the file is not as `write_published` writes it, or names a place that is not in the taxonomy.
    """
    layout = layout_for(kind)
    if layout.data.shared == "taxonomy" and taxonomy is None:
        raise InputError(f"{path}: published {kind} can be read only with their taxonomy; give it.")
    own = (*layout.columns, *((DECLARED,) if declared else ()))
    expected = (*own, *attributes)
    table = _open(path, layout, expected, time_format, len(own), frame)
    rows = table.read(range(len(expected)))
    if rows.blank:
        raise table.wrong(f"not a published table: it has {rows.blank:,} empty rows.")
    _check_types(layout, rows, time_format, len(own))
    if exact:
        _refuse_other_texts(rows)
    if not layout.identified:
        return _read_table_of_counts(rows, layout, owners, exact, Beside(time_format=time_format, frame=frame))
    # The order of checks is that of trust: columns, types, texts, ids, and then what the kind says of its own rows.
    ids = rows.frame["0"]
    refuse(rows, ~ids.str.contains("^[0-9a-f]{16}$").fill_null(False), "traj_id is not 16 hexadecimal digits")
    # A row continues a trajectory if it has the id of the row before; ids ascend, so none comes back later.
    again = (ids == ids.shift(1)).fill_null(False).to_numpy()
    refuse(rows, (ids < ids.shift(1)).fill_null(False), "traj_id is not in ascending order")
    start = np.flatnonzero(~again)
    offsets = np.append(start, len(rows))
    fields: dict[str, Any] = {"offsets": offsets}
    fields |= layout.read(rows, again, Beside(time_format=time_format, frame=frame, taxonomy=taxonomy))
    if declared:
        fields[DECLARED] = read_flags(rows, len(own) - 1)
    data = layout.data(
        **fields,
        owner=np.arange(len(start)),
        attributes={name: read_attribute(rows, i, offsets) for i, name in enumerate(attributes, start=len(own))},
        time_format=time_format,
        owners=owners,
    )
    public_ids = ids.gather(start)
    notes = _check_form(rows, data, public_ids, layout, frame) if exact else ()
    return Loaded(data=data, rows=len(rows), notes=notes, ids=public_ids)


def _write_table_of_counts(data: Data, path: str | Path, written: IntArray) -> IntArray:
    """Write a table that belongs to nobody: without ids, in the order of its own columns."""
    public: Any = layout_of(data).as_published(data.take(written))
    write_table(data_frame(public, path, {}, public=True), path, pattern_of(public), geometry=None)
    return written


def _read_table_of_counts(rows: Rows, layout: Layout, owners: Owners, exact: bool, beside: Beside) -> Loaded:
    """Read a table without ids: all rows are one, which belongs to nobody."""
    n_tables = min(1, len(rows))
    again = np.arange(len(rows)) > 0
    data: Data = layout.data(
        **layout.read(rows, again, beside),
        offsets=np.array([0, len(rows)][: n_tables + 1]),
        owner=np.arange(n_tables),
        time_format=beside.time_format,
        owners=owners,
    )
    ids = pl.Series([_NOBODY] * n_tables, dtype=pl.String)
    notes = _check_form(rows, data, ids, layout, beside.frame) if exact else ()
    return Loaded(data=data, rows=len(rows), notes=notes, ids=ids)


def _refuse_other_texts(rows: Rows) -> None:
    """Refuse texts that are not in normal form: two that look the same would be two places, or two values."""
    for name, values in rows.frame.to_dict().items():
        if values.dtype == pl.String:
            refuse(rows, not_normal(values), f"a text in column {int(name) + 1} is not in normal form")


def read_extent(
    path: str | Path,
    *,
    kind: str,
    time_format: TimeFormat,
    attributes: Sequence[str],
    declared: bool = False,
) -> Extent:
    """Return where the degrees of a published table are, from the very numbers in the file; see `read_published`.

    Raises
    ------
    InputError
        If the file does not have the columns of published points or boxes, or something in them is no number.
    """
    layout = layout_for(kind)
    if layout.geometry is None:
        raise InputError(f"{path}: published {kind} have no coordinates, so they are nowhere on a map.")
    own = (*layout.columns, *((DECLARED,) if declared else ()))
    expected = (*own, *attributes)
    table = _open(path, layout, expected, time_format, len(own), Frame(degrees=True))
    names = layout.geometry
    rows = table.read(tuple(own.index(name) for name in names))
    column = {name: read_numbers(rows, own.index(name)) for name in names}
    for name, values in column.items():
        far = np.abs(values) > (540.0 if name[0] == "x" else 90.0) + SLACK_DEG
        refuse(rows, far, f"{layout.degree_names[name]} is not a {'longitude' if name[0] == 'x' else 'latitude'}")
    return layout.extent(column)


def public_frame(extents: Iterable[Extent], *, crs: str) -> Frame:
    """Return the frame that a manifest tells of published degrees: that of where the published rows are.

    The frame in which a method works may be that of more rows, some of which are not published.  Its scales are no
    smaller, because they are the largest of a larger range: what is near there is near here.
    """
    return Frame.for_extent(Extent.join(extents), crs=crs)


def _check_form(rows: Rows, data: Data, ids: pl.Series, layout: Layout, frame: Frame) -> tuple[str, ...]:
    """Refuse rows that `write_published` writes in another form; return what is to be told.

    Coordinates are taken as they were read: metres and back would change their last bits.
    """
    names = rows.table.names
    column = {name: read_numbers(rows, names.index(name)) for name, word in layout.columns.items() if word == "place"}
    for name, values in column.items():
        refuse(rows, np.signbit(values) & (values == 0.0), f"{name} is a negative zero")
        if frame.degrees:
            finer = values != np.rint(values * 10.0**DECIMALS) / 10.0**DECIMALS
            refuse(rows, finer, f"{name} has more than {DECIMALS} decimals")
    path = rows.table.path
    renamed = layout.file_names(path, frame)
    first = {"traj_id": pl.Series(ids.to_list(), dtype=pl.String)} if layout.identified else {}
    written = data_frame(data, path, first, renamed, public=True)
    exact = {renamed.get(name, name): pl.Series(values, dtype=pl.Float64) for name, values in column.items()}
    written = written.with_columns(**exact)
    if rows.table.csv is None and rows.table.places is None:
        named_rows = rows.frame.rename({str(i): name for i, name in enumerate(written.columns)})
        if not named_rows.equals(written):
            raise rows.table.wrong(
                "the file is not in the form in which it is written. Publish again; a published file must not be "
                "edited."
            )
    return check_form(path, written, pattern_of(data), layout.geometry)


def _open(
    path: str | Path, layout: Layout, expected: Sequence[str], time_format: TimeFormat, own: int, frame: Frame
) -> Table:
    """Open a published table, whose columns must be the expected ones; they have the names of `layout.columns` then."""
    check_start(path, len(expected))
    if layout.geometry is None or Path(path).suffix.lower() not in (*GEOJSON_WHOLE, *GEOJSON_LINES):
        table = open_table(path)
        renamed = layout.file_names(path, frame)
        in_file = (*(renamed.get(name, name) for name in expected[:own]), *expected[own:])
        if table.names != in_file:
            raise table.wrong(f"not a published table: the columns must be {listed(in_file)}, in this order.")
        return replace(table, names=tuple(expected))
    # JSON has no times: they are texts there.
    types = [pl.String() if isinstance(t, pl.Datetime) else t for t in _types(layout, expected, time_format, own)]
    table = open_features(path, expected, dict(zip(expected, types, strict=True)))
    if table.names != tuple(expected):
        raise table.wrong(f"not a published table: the columns must be {listed(expected)}, in this order.")
    return table


def _types(layout: Layout, names: Sequence[str], time_format: TimeFormat, own: int) -> list[pl.DataType]:
    """Return the types of the columns as they are written; all but the first `own` are texts, whatever their names."""
    of_word = {"text": pl.String(), "integer": pl.Int64(), "time": time_type(time_format), "place": pl.Float64()}
    known = {**{name: of_word[word] for name, word in layout.columns.items()}, DECLARED: pl.Int64()}
    return [known[name] if i < own and name in known else pl.String() for i, name in enumerate(names)]


# An extendable hash gives any number of bytes.  Two equal numbers among millions are improbable (2^64 of them); then
# the next attempt draws all of them anew.
def _fresh_numbers(n: int, key: bytes) -> np.ndarray:
    """Return `n` different 64-bit numbers, from a hash of the key: nobody leads them back to it, or to their order."""
    for attempt in count():
        stream = hashlib.shake_256(b"wayveil traj_id %d " % attempt + key).digest(8 * n)
        numbers = np.frombuffer(stream, ">u8").astype(np.uint64)
        if len(np.unique(numbers)) == n:
            return numbers
    raise AssertionError("unreachable: one of the attempts gives different numbers")


def _check_types(layout: Layout, rows: Rows, time_format: TimeFormat, own: int) -> None:
    if rows.table.csv is not None or rows.table.places is not None:  # texts, or features that were checked already
        return
    expected = _types(layout, rows.table.names, time_format, own)
    wrong = [rows.table.names[int(i)] for i, dtype in rows.frame.schema.items() if dtype != expected[int(i)]]
    if wrong:
        raise rows.table.wrong(f"not a published table: the type of column {listed(wrong)} is not the one written.")
