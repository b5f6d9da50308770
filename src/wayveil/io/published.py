"""Publications to disk and back: fresh ids, an order that tells nothing, and a reader that forgives nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.features import GEOJSON_LINES, GEOJSON_WHOLE, SIDES, open_features
from wayveil.io.publish.canonical import DECIMALS, SLACK_DEG, boxes_to_metres
from wayveil.io.publish.published_rows import COLUMNS, DECLARED, Tabular, data_frame, kind_of, pattern_of
from wayveil.io.publish.writer import check_geojson, write_table
from wayveil.io.read.loaded import Loaded
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.messages import listed
from wayveil.io.tabular.table import Rows, Table, open_table
from wayveil.io.tabular.timestamps import parse_times, time_type
from wayveil.io.written_form import check_form, check_start
from wayveil.model import (
    Coded,
    Extent,
    Frame,
    Owners,
    Points,
    Regions,
    RoadNetwork,
    Routes,
    Stops,
    Taxonomy,
    TimeFormat,
    Visits,
)
from wayveil.model.ragged import BoolArray, FloatArray, IntArray

__all__ = ["public_frame", "read_extent", "read_published", "write_published"]

_FORMS = {"integer": ("integer", "epoch"), "epoch": ("integer", "epoch"), "utc": ("utc",), "local": ("local",)}
_GEOMETRY = {"visits": None, "points": ("x", "y"), "regions": SIDES, "routes": None, "stops": None}
_PLANAR = Frame()
_AGAIN = "Publish again; a published file must not be edited."


def write_published(
    data: Tabular, path: str | Path, *, key: bytes, beside: tuple[Tabular, str | Path] | None = None
) -> IntArray:
    """Write data for the public, under fresh random ids.

    Visits have the columns traj_id, t, location; points traj_id, t, x, y; regions traj_id, seq, t_min, t_max, x_min,
    x_max, y_min, y_max, and declared where it is said; routes traj_id, seq, road, from_node, to_node, t_start, t_end;
    stops traj_id, seq, place; then the attributes.  x and y are in the coordinates of the input file.

    Parameters
    ----------
    data : Visits, Points, Regions, Routes or Stops
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
    written = np.flatnonzero(np.diff(data.offsets))
    numbers = _fresh_numbers(len(written), key)
    order = np.argsort(numbers)
    source = written[order]
    ids = numbers[order].astype(">u8").tobytes().hex()
    names = pl.Series([ids[i : i + 16] for i in range(0, len(ids), 16)], dtype=pl.String)
    for table, file in ((data, path), *(() if beside is None else (beside,))):
        if not isinstance(table, (Visits, Routes, Stops)):
            check_geojson(table, file)
        public = table.take(source)
        frame = data_frame(public, file, {"traj_id": names}, public=True)
        write_table(frame, file, pattern_of(public), geometry=_GEOMETRY[kind_of(table)])
    return source


def read_published(
    path: str | Path,
    *,
    kind: Literal["visits", "points", "regions", "routes", "stops"] = "visits",
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
    kind : {"visits", "points", "regions", "routes", "stops"}
        What the table holds.
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
        Whether the file must be, byte by byte, what `write_published` makes of what is in it; see `check_form`.

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
    if kind == "stops" and taxonomy is None:
        raise InputError(f"{path}: published stops can be read only with their taxonomy; give it.")
    own = (*COLUMNS[kind], *((DECLARED,) if declared else ()))
    expected = (*own, *attributes)
    table = _open(path, kind, expected, time_format, len(own))
    if table.names != expected:
        raise table.wrong(
            f"not a published table: the columns must be {listed(expected)}, in this order, but are "
            f"{listed(table.names)}."
        )
    rows = table.read(range(len(expected)))
    if rows.blank:
        raise table.wrong(f"not a published table: it has {rows.blank:,} empty rows.")
    _check_types(rows, time_format, len(own))
    ids = rows.frame["0"]
    _refuse(rows, ~ids.str.contains("^[0-9a-f]{16}$").fill_null(False), "traj_id is not 16 hexadecimal digits")
    again = (ids == ids.shift(1)).fill_null(False).to_numpy()
    _refuse(rows, (ids < ids.shift(1)).fill_null(False), "traj_id is not in ascending order")
    start = np.flatnonzero(~again)
    offsets = np.append(start, len(rows))
    read, build = _KINDS[kind]
    data = build(
        offsets=offsets,
        **(read(rows, again, taxonomy) if kind == "stops" else read(rows, again, time_format, frame)),
        owner=np.arange(len(start)),
        attributes={name: _attribute(rows, i, offsets) for i, name in enumerate(attributes, start=len(own))},
        time_format=time_format,
        owners=owners,
        **({DECLARED: _flags(rows, len(own) - 1)} if declared else {}),
    )
    public_ids = ids.gather(start)
    notes = _check_form(rows, data, public_ids, frame) if exact else ()
    return Loaded(data=data, rows=len(rows), notes=notes, ids=public_ids)


def read_extent(
    path: str | Path,
    *,
    kind: Literal["points", "regions"],
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
    own = (*COLUMNS[kind], *((DECLARED,) if declared else ()))
    expected = (*own, *attributes)
    table = _open(path, kind, expected, time_format, len(own))
    if table.names != expected:
        raise table.wrong(f"not a published table: the columns must be {listed(expected)}, in this order.")
    names = ("x", "y") if kind == "points" else SIDES
    rows = table.read(tuple(own.index(name) for name in names))
    column = {name: _numbers(rows, own.index(name)) for name in names}
    for name, values in column.items():
        far = np.abs(values) > (540.0 if name[0] == "x" else 90.0) + SLACK_DEG
        _refuse(rows, far, f"{name} is not a {'longitude' if name[0] == 'x' else 'latitude'}")
    if kind == "points":
        return Extent.of(column["x"], column["y"])
    latitudes = np.concatenate([column["y_min"], column["y_max"]])
    return Extent.of(column["x_min"], latitudes, lon_end=column["x_max"])


def public_frame(extents: Iterable[Extent], *, crs: str) -> Frame:
    """Return the frame that a manifest tells of published degrees: that of where the published rows are.

    The frame in which a method works may be that of more rows, some of which are not published.  Its scales are no
    smaller, because they are the largest of a larger range: what is near there is near here.
    """
    return Frame.for_extent(Extent.join(extents), crs=crs)


def _check_form(rows: Rows, data: Tabular, ids: pl.Series, frame: Frame) -> tuple[str, ...]:
    """Refuse rows that `write_published` writes in another form; return what is to be told.

    Coordinates are taken as they were read: metres and back would change their last bits.
    """
    names = rows.table.names
    places = [name for name in ("x", "y", *SIDES) if name in COLUMNS[kind_of(data)]]
    read = {name: _numbers(rows, names.index(name)) for name in places}
    for name, values in read.items():
        _refuse(rows, np.signbit(values) & (values == 0.0), f"{name} is a negative zero")
        if frame.degrees:
            finer = values != np.rint(values * 10.0**DECIMALS) / 10.0**DECIMALS
            _refuse(rows, finer, f"{name} has more than {DECIMALS} decimals")
    path = rows.table.path
    written = data_frame(data, path, {"traj_id": pl.Series(ids.to_list(), dtype=pl.String)}, public=True)
    written = written.with_columns(**{name: pl.Series(values, dtype=pl.Float64) for name, values in read.items()})
    if rows.table.csv is None and rows.table.places is None:
        found = rows.frame.rename({str(i): name for i, name in enumerate(names)}).select(written.columns)
        if not found.equals(written):
            raise rows.table.wrong(f"the file is not in the form in which it is written. {_AGAIN}")
    return check_form(path, written, pattern_of(data), _GEOMETRY[kind_of(data)])


def _open(path: str | Path, kind: str, expected: Sequence[str], time_format: TimeFormat, own: int) -> Table:
    check_start(path, len(expected))
    if kind in ("visits", "routes", "stops") or Path(path).suffix.lower() not in (*GEOJSON_WHOLE, *GEOJSON_LINES):
        return open_table(path)
    # JSON has no times: they are texts there.
    types = [pl.String() if isinstance(t, pl.Datetime) else t for t in _types(expected, time_format, own)]
    return open_features(path, expected, dict(zip(expected, types, strict=True)))


def _types(names: Sequence[str], time_format: TimeFormat, own: int) -> list[pl.DataType]:
    """Return the types of the columns as they are written; all but the first `own` are texts, whatever their names."""
    known: dict[str, pl.DataType] = dict.fromkeys(("x", "y", *SIDES), pl.Float64())
    known |= dict.fromkeys(("seq", DECLARED), pl.Int64())
    known |= dict.fromkeys(("t", "t_min", "t_max", "t_start", "t_end"), time_type(time_format))
    return [known.get(name, pl.String()) if i < own else pl.String() for i, name in enumerate(names)]


def _visits(rows: Rows, again: BoolArray, time_format: TimeFormat, _: Frame) -> dict[str, Any]:
    location = rows.frame["2"]
    _refuse(rows, location.is_null() | (location == "").fill_null(True), "location is empty")
    t = _times(rows, 1, time_format)
    _refuse_late(rows, t, again)
    codes, locations = by_name(location)
    return {"location": codes, "t": t, "locations": locations}


def _points(rows: Rows, again: BoolArray, time_format: TimeFormat, frame: Frame) -> dict[str, Any]:
    t = _times(rows, 1, time_format)
    _refuse_late(rows, t, again)
    x, y = _numbers(rows, 2), _numbers(rows, 3)
    if frame.degrees:
        _refuse(rows, (np.abs(x) > 180) | (np.abs(y) > 90), "x and y are not a longitude and a latitude")
    x, y = frame.to_metres(x, y)
    return {"t": t, "x": x, "y": y, "frame": frame}


def _regions(rows: Rows, again: BoolArray, time_format: TimeFormat, frame: Frame) -> dict[str, Any]:
    names = COLUMNS["regions"]
    _refuse_sequence(rows, again)
    t = {name: _times(rows, names.index(name), time_format) for name in ("t_min", "t_max")}
    sides = {name: _numbers(rows, names.index(name)) for name in SIDES}
    ends: dict[str, Any] = {**t, **sides}
    for low, high in (("t_min", "t_max"), ("x_min", "x_max"), ("y_min", "y_max")):
        _refuse(rows, ends[low] > ends[high], f"{low} is larger than {high}")
    for name, values in t.items():
        back = np.zeros(len(values), np.bool_)
        back[1:] = values[1:] < values[:-1]
        _refuse(rows, back & again, f"{name} decreases inside a trajectory")
    if frame.degrees:
        for name, side in sides.items():
            least, most = (-90.0, 90.0) if name[0] == "y" else (-180.0, 180.0 if name == "x_min" else 540.0)
            far = (side < least - SLACK_DEG) | (side > most + SLACK_DEG)
            _refuse(rows, far, f"{name} is not a {'longitude' if name[0] == 'x' else 'latitude'}")
        wide = sides["x_max"] - sides["x_min"] > 360 + 2 * SLACK_DEG
        _refuse(rows, wide, "a box goes around the earth more than once")
    return {**t, **boxes_to_metres(frame, sides), "frame": frame}


def _routes(rows: Rows, again: BoolArray, time_format: TimeFormat, _: Frame) -> dict[str, Any]:
    names = COLUMNS["routes"]
    _refuse_sequence(rows, again)
    text = {}
    for name in ("road", "from_node", "to_node"):
        values = rows.frame[str(names.index(name))]
        _refuse(rows, values.is_null() | (values == "").fill_null(True), f"{name} is empty")
        text[name] = values
    road, roads = by_name(text["road"])
    ends, nodes = by_name(pl.concat([text["from_node"], text["to_node"]]))
    start, end = ends[: len(rows)], ends[len(rows) :]
    first = np.zeros(len(roads), np.int64)
    first[road[::-1]] = np.arange(len(rows))[::-1]
    other = (start != start[first[road]]) | (end != end[first[road]])
    _refuse(rows, other, "a road leads from or to another node than in an earlier row")
    network = RoadNetwork(roads=roads, from_node=start[first], to_node=end[first], nodes=nodes)
    t = {name: _times(rows, names.index(name), time_format) for name in ("t_start", "t_end")}
    _refuse(rows, t["t_start"] > t["t_end"], "t_start is larger than t_end")
    for name, times in t.items():
        varies = np.zeros(len(rows), np.bool_)
        varies[1:] = times[1:] != times[:-1]
        _refuse(rows, varies & again, f"{name} varies inside a trajectory")
    per_trajectory = {name: times[~again] for name, times in t.items()}
    return {"road": road, "t": t["t_start"], "network": network, **per_trajectory}


def _stops(rows: Rows, again: BoolArray, taxonomy: Taxonomy) -> dict[str, Any]:
    _refuse_sequence(rows, again)
    place = rows.frame["2"].cast(pl.Enum(taxonomy.nodes), strict=False).to_physical()
    _refuse(rows, place.is_null(), "a place is not in the taxonomy")
    nothing = np.zeros(len(rows), np.int64)
    return {"place": place.cast(pl.Int32).to_numpy(), "t": nothing, "t_end": nothing, "taxonomy": taxonomy}


_KINDS: dict[str, tuple[Callable[..., dict[str, Any]], Any]] = {
    "visits": (_visits, Visits),
    "points": (_points, Points),
    "regions": (_regions, Regions),
    "routes": (_routes, Routes),
    "stops": (_stops, Stops),
}


def _fresh_numbers(n: int, key: bytes) -> np.ndarray:
    """Return `n` different 64-bit numbers, from a hash of the key: nobody leads them back to it, or to their order."""
    for attempt in count():
        stream = hashlib.shake_256(b"wayveil traj_id %d " % attempt + key).digest(8 * n)
        numbers = np.frombuffer(stream, ">u8").astype(np.uint64)
        if len(np.unique(numbers)) == n:
            return numbers
    raise AssertionError("unreachable: one of the attempts gives different numbers")


def _refuse(rows: Rows, bad: pl.Series | np.ndarray, what: str) -> None:
    rows.refuse(bad, f"not a published table: {what}", _AGAIN)


def _refuse_late(rows: Rows, t: IntArray, again: BoolArray) -> None:
    late = np.zeros(len(t), np.bool_)
    late[1:] = t[1:] <= t[:-1]
    _refuse(rows, late & again, "t does not increase inside a trajectory")


def _refuse_sequence(rows: Rows, again: BoolArray) -> None:
    """Refuse a column seq that does not count 0, 1, 2, ... in every trajectory."""
    values = rows.frame["1"]
    seq = values.cast(pl.Int64, strict=False) if values.dtype == pl.String else values
    row = np.arange(len(seq))
    start = np.maximum.accumulate(np.where(again, 0, row)) if len(seq) else row
    wrong = seq.is_null().to_numpy() | (seq.fill_null(-1).to_numpy() != row - start)
    _refuse(rows, wrong, "seq does not count 0, 1, 2, ... inside a trajectory")


def _check_types(rows: Rows, time_format: TimeFormat, own: int) -> None:
    if rows.table.csv is not None or rows.table.places is not None:  # texts, or features that were checked already
        return
    wanted = _types(rows.table.names, time_format, own)
    wrong = [rows.table.names[int(i)] for i, dtype in rows.frame.schema.items() if dtype != wanted[int(i)]]
    if wrong:
        raise rows.table.wrong(f"not a published table: the type of column {listed(wrong)} is not the one written.")


def _times(rows: Rows, position: int, time_format: TimeFormat) -> IntArray:
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    _refuse(rows, values.is_null(), f"{name} is empty")
    if not len(values):
        return np.zeros(0, np.int64)
    t, found, _ = parse_times(rows, position)
    if found not in _FORMS[time_format]:
        raise rows.table.wrong(f"not a published table: {name} must be of the form '{time_format}', but is '{found}'.")
    return t


def _numbers(rows: Rows, position: int) -> FloatArray:
    values = rows.frame[str(position)]
    numbers = values.cast(pl.Float64, strict=False) if values.dtype == pl.String else values
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    _refuse(rows, bad, f"{rows.table.names[position]} is not a finite number")
    return numbers.to_numpy()


def _flags(rows: Rows, position: int) -> BoolArray:
    values = rows.frame[str(position)]
    flags = values.cast(pl.Int64, strict=False) if values.dtype == pl.String else values
    _refuse(rows, ~flags.is_in([0, 1]).fill_null(False), f"{rows.table.names[position]} is not 0 or 1")
    return flags.to_numpy() == 1


def _attribute(rows: Rows, position: int, offsets: IntArray) -> Coded:
    values = rows.frame[str(position)]
    codes, labels = by_name(values.set((values == "").fill_null(False), None))
    value = codes[offsets[:-1]]
    varies = codes != np.repeat(value, np.diff(offsets))
    _refuse(rows, varies, f"column '{rows.table.names[position]}' varies inside a trajectory")
    return Coded(codes=value, labels=labels)
