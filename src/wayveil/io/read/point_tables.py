"""Points from files: positions with times to the model, in metres, cleaned by rules that are counted and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from wayveil.io.formats.registry import Source, open_source
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_geometry import points_of_text, points_of_wkb, points_of_wkt
from wayveil.io.read.trajectory_tables import read_trajectories, refuse_missing
from wayveil.io.tabular.columns import Columns, ReadOptions, choose_columns, looks_like
from wayveil.io.tabular.crs import WGS84, Crs, could_be_degrees, in_degrees, settle_crs, unsaid_degrees_error
from wayveil.io.tabular.messages import count, was
from wayveil.io.tabular.row_order import one_row_per_time, time_order
from wayveil.io.tabular.table import Rows
from wayveil.model import Frame, Points
from wayveil.model.data.ragged import FloatArray, offsets_of

__all__ = ["points_of", "read_points"]

_DEFAULTS = ReadOptions()
_LARGEST_M = 1e13  # neighbouring floats are 2 mm apart there
_METRES = "if these are metres, say --crs planar, or the code of the coordinate system such as --crs EPSG:2100"
_NOTED_OVERSTATEMENT = 0.01


def read_points(path: str | Path, options: ReadOptions = _DEFAULTS) -> Loaded:
    """Read points from CSV (also gzipped), Parquet, GeoParquet, GeoJSON, GPX or PLT, or a folder of tracks.

    Parameters
    ----------
    path : str or Path
        The file; its suffix tells the format.  Or a folder with .gpx and .plt files.
    options : ReadOptions
        Names of columns, the coordinate system, what to do with two positions at one time, and which attributes to
        take.

    Returns
    -------
    Loaded
        `data` are Points, in metres.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule; says what, how often, where first, and what to do.
    UsageError
        If the coordinate system is unknown, or has a unit other than degrees and metres.

    Notes
    -----
    O(n) for rows in order, O(n log n) otherwise; memory is a small multiple of the file.  GPX and GeoJSON pass through
    Python objects and are slower than tables.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "gps.csv")
    ...     _ = file.write_text("traj_id,user_id,t,lon,lat\\na,ann,2,16.4,48.2\\na,ann,1,16.5,48.2\\n")
    ...     loaded = read_points(file)
    >>> loaded.data.t.tolist(), loaded.data.frame.crs, bool(loaded.data.x[0] > loaded.data.x[1])
    ([1, 2], 'EPSG:4326', True)
    >>> loaded.notes[0]
    "Columns 'lon' and 'lat' are taken to be degrees (EPSG:4326)."
    """
    return points_of(open_source(path), options)


def points_of(source: Source, options: ReadOptions) -> Loaded:
    """Return the points in an open file."""
    table = source.table
    columns = choose_columns(table, options, "points")
    # What the user says, what the file says, and what the format assumes, in this order of weight.
    crs = settle_crs(table, options.crs, source.crs)
    if crs is None and source.unsure:
        raise table.wrong(
            "nobody knows the coordinate system of the geometry; say --crs EPSG:4326 for degrees or --crs planar for "
            "metres."
        )
    rows = table.read(columns.positions)
    read = read_trajectories(rows, columns, options, drop_varying=True)
    # Coordinates are read before they are sorted, so that messages name rows of the file.
    x, y = _coordinates(rows, columns)
    frame, more_notes = _choose_frame(rows, columns, crs, source.assumed, x, y, piece=options.piece)
    # A piece of a table must become the same metres as the whole, so its frame is given.
    if frame.degrees and options.frame is not None:
        frame = options.frame
    notes = [*read.notes, *more_notes]
    trajectory = read.trajectory
    t = read.t
    order, unsorted = time_order(trajectory, t)
    if unsorted:
        notes.append(f"{count(unsorted, 'trajectory')} {was(unsorted)} not in time order and {was(unsorted)} sorted.")
    if order is not None:
        trajectory = trajectory[order]
        t = t[order]
        x = x[order]
        y = y[order]
    keep, more_notes = one_row_per_time(
        rows, trajectory, t, {"x": x, "y": y}, order, options.on_duplicate_time, "position"
    )
    notes.extend(more_notes)
    if keep is not None:
        trajectory = trajectory[keep]
        t = t[keep]
        x = x[keep]
        y = y[keep]
    # Metres last: until here rows are compared by the digits of the file.
    x, y = frame.to_metres(x, y)
    data = Points(
        offsets=offsets_of(np.bincount(trajectory, minlength=len(read.ids))),
        t=t,
        x=x,
        y=y,
        owner=read.owner,
        attributes=read.attributes,
        frame=frame,
        time_format=read.time_format,
        owners=read.owners,
    )
    return Loaded(data=data, rows=len(rows), notes=(*notes, *rows.notes), ids=read.ids)


def _coordinates(rows: Rows, columns: Columns) -> tuple[FloatArray, FloatArray]:
    """Return x and y as the file has them; all are finite."""
    place = columns.place
    if "x" in place:
        x = _numbers(rows, place["x"])
        y = _numbers(rows, place["y"])
    else:
        what, position = next(iter(place.items()))
        refuse_missing(rows, position)
        x, y = _pairs(rows, what, position)
    x = x + 0.0  # no negative zeros
    y = y + 0.0
    # The usual case needs one comparison; only if it fails is it found out what is wrong.
    for values, at in zip((x, y), (*place.values(), *place.values()), strict=False):
        if (np.abs(values) <= _LARGEST_M).all():
            continue
        name = rows.table.names[at]
        rows.refuse(
            ~np.isfinite(values),
            f"column '{name}' is not a finite number (NaN or infinite)",
            "Every point needs a place; correct or remove these rows.",
        )
        rows.refuse(
            np.abs(values) > _LARGEST_M,
            f"column '{name}' holds a number that is too large for a coordinate",
            "Coordinates are degrees or metres; correct or remove these rows.",
        )
    return x, y


def _pairs(rows: Rows, what: str, position: int) -> tuple[FloatArray, FloatArray]:
    values = rows.frame[str(position)]
    if values.dtype == pl.String:
        if what == "geometry":
            return points_of_wkt(rows, position)
        return points_of_text(rows, position, latitude_first=what == "latlon")
    if values.dtype == pl.Binary:
        return points_of_wkb(rows, position)
    if isinstance(values.dtype, pl.Struct) and {"x", "y"} <= {field.name for field in values.dtype.fields}:
        x, y = (values.struct.field(name).cast(pl.Float64, strict=False).fill_null(np.nan) for name in "xy")
        return x.to_numpy(), y.to_numpy()
    kind = str(values.dtype.base_type()).lower()
    raise rows.table.wrong(
        f"column '{rows.table.names[position]}' has the type {kind}, which is no point; store WKB or POINT (x y)."
    )


def _numbers(rows: Rows, position: int) -> FloatArray:
    refuse_missing(rows, position)
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    if not (values.dtype.is_numeric() or values.dtype == pl.String):
        kind = str(values.dtype.base_type()).lower()
        raise rows.table.wrong(f"column '{name}' has the type {kind}, which is no coordinate; store numbers.")
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count():
        numbers = values.str.strip_chars().cast(pl.Float64, strict=False)
    rows.refuse(
        numbers.is_null(),
        f"column '{name}' is not a number",
        "Write coordinates with a decimal point and no unit, such as 12.5; correct or remove these rows.",
    )
    return numbers.to_numpy()


def _choose_frame(
    rows: Rows,
    columns: Columns,
    crs: Crs | None,
    assumed: Crs | None,
    x: FloatArray,
    y: FloatArray,
    *,
    piece: bool,
) -> tuple[Frame, tuple[str, ...]]:
    """Return the frame of the coordinates, and what was assumed."""
    notes: list[str] = []
    place = columns.place
    names = [rows.table.names[i] for i in place.values()]
    is_declared = crs is not None
    # A geometry or GeoJSON without a word is degrees; so are columns called lon and lat; x and y alone are metres.
    if crs is None and (assumed is not None or "x" not in place):
        crs = assumed or WGS84
        if assumed is None:
            notes.append(f"The points in column '{names[0]}' are taken to be degrees ({crs.name}), longitude first.")
            if place.keys() & {"latlon"}:
                notes[-1] = notes[-1].replace("longitude", "latitude")
    elif crs is None and [looks_like(name, "lon", "lat") for name in names] == ["lon", "lat"]:
        crs = WGS84
        notes.append(f"Columns '{names[0]}' and '{names[1]}' are taken to be degrees ({crs.name}).")
    if (crs is None or crs.degrees) and [looks_like(name, "lon", "lat") for name in names] == ["lat", "lon"]:
        raise rows.table.wrong(
            f"x is the longitude and y the latitude; turn them around: --columns x={names[1]},y={names[0]}"
        )
    if crs is None or not crs.degrees:
        # Metres within 360 by 90 would be a very small area: more likely degrees that nobody declared.
        if crs is None and not piece and could_be_degrees(x, y):
            raise unsaid_degrees_error(rows.table.path)
        if crs is not None and crs.name == "EPSG:3857":
            notes.append("EPSG:3857 overstates distances, by a factor of 2 at latitude 60; a local system is better.")
        return Frame(crs="" if crs is None else crs.name), tuple(notes)
    _refuse_outside(rows, names, is_declared, x, y)
    frame = Frame.for_degrees(x, y, crs=crs.name)
    if frame.overstatement > _NOTED_OVERSTATEMENT:
        notes.append(
            "Degrees were made metres with one scale for all latitudes: east-west distances are overstated by up to "
            f"{frame.overstatement * 100:.3g} %. Cut the data into smaller areas if this is too much."
        )
    return frame, tuple(notes)


def _refuse_outside(rows: Rows, names: list[str], is_declared: bool, x: FloatArray, y: FloatArray) -> None:
    remedy = "correct or remove these rows, or the --crs" if is_declared else f"{_METRES}; otherwise correct these rows"
    named = " and ".join(f"'{name}'" for name in names)
    rows.refuse(
        ~in_degrees(x, y),
        f"{'column' if len(names) == 1 else 'columns'} {named}: not a longitude from -180 to 180 with a latitude from "
        "-90 to 90",
        f"{remedy[0].upper()}{remedy[1:]}.",
    )
