"""Data frames of pandas, polars, Arrow, GeoPandas and MovingPandas to the model and back."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from wayveil.errors import InputError, ReadingNote, UsageError
from wayveil.io.formats.registry import Source
from wayveil.io.publish.layouts import layout_of
from wayveil.io.publish.published_rows import data_frame
from wayveil.io.publish.writer import first_columns
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import points_of
from wayveil.io.read.trip_tables import trips_of
from wayveil.io.read.visit_tables import visits_of
from wayveil.io.tabular.columns import EACH_TRAJECTORY, ReadOptions
from wayveil.io.tabular.crs import Crs, crs_from_json
from wayveil.io.tabular.detect import has_trip_columns, kind_of_table
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.normal_columns import SimilarIds
from wayveil.io.tabular.table import Table, refuse_repeated
from wayveil.model import Boxes, Data, Points, Trips, Visits
from wayveil.model.normal import normal_text

__all__ = [
    "collect_notes",
    "from_arrow",
    "from_frame",
    "from_geopandas",
    "from_movingpandas",
    "from_pandas",
    "from_polars",
    "table_in_memory",
    "to_geopandas",
    "to_movingpandas",
    "to_pandas",
    "to_polars",
]

_NAME = "the data frame"
_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)

FrameKind = Literal["visits", "points", "trips"]


def from_pandas(
    frame: Any,
    *,
    kind: FrameKind | None = None,
    columns: Mapping[str, str] | None = None,
    crs: str | None = None,
    on_duplicate_time: Literal["first", "last"] | None = None,
    attributes: Sequence[str] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    similar_ids: SimilarIds | None = None,
) -> Visits | Points | Trips:
    """Return the visits, points or trips in a pandas frame, by the rules that hold for files.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per visit, point or trip.  An index with a name, or of times, counts as a column; that of times is
        called t.
    kind : {"visits", "points", "trips"}, optional
        Guessed from the columns by default.
    columns, crs, on_duplicate_time, attributes
        As in `ReadOptions`.
    owners : "each-trajectory", optional
        Declares that each trajectory is another person; needed where no column is ``user_id``.
    similar_ids : {"different", "same"}, optional
        As in `ReadOptions`.

    Raises
    ------
    InputError
        If the frame breaks a rule; the first row is row 1.
    """
    _import("pandas")
    return _in_table(_table(frame), kind, _options(columns, crs, on_duplicate_time, attributes, owners, similar_ids))


def from_polars(
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    kind: FrameKind | None = None,
    columns: Mapping[str, str] | None = None,
    crs: str | None = None,
    on_duplicate_time: Literal["first", "last"] | None = None,
    attributes: Sequence[str] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    similar_ids: SimilarIds | None = None,
) -> Visits | Points | Trips:
    """Return the visits, points or trips in a polars frame, by the rules that hold for files; see `from_pandas`.

    Examples
    --------
    >>> frame = pl.DataFrame({"traj_id": [7, 7], "user_id": ["ann", "ann"], "t": [2, 1], "location": ["b", "a"]})
    >>> from_polars(frame).record(0)
    [('a', 1), ('b', 2)]
    """
    whole = frame.lazy().collect()
    # Names may come twice or be missing, so columns are called by their position, as in tables from files.
    lazy = pl.DataFrame([whole.to_series(i).alias(str(i)) for i in range(whole.width)]).lazy()
    table = Table(path=_NAME, names=_distinct(whole.columns), lazy=lazy, csv=None, places=_row_of)
    return _in_table(table, kind, _options(columns, crs, on_duplicate_time, attributes, owners, similar_ids))


def from_arrow(
    table: Any,
    *,
    kind: FrameKind | None = None,
    columns: Mapping[str, str] | None = None,
    crs: str | None = None,
    on_duplicate_time: Literal["first", "last"] | None = None,
    attributes: Sequence[str] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    similar_ids: SimilarIds | None = None,
) -> Visits | Points | Trips:
    """Return the visits, points or trips in an Arrow table, by the rules that hold for files; see `from_pandas`.

    Parameters
    ----------
    table : pyarrow.Table, or any object with ``__arrow_c_stream__``
        Tables of pyarrow, DuckDB, Ibis and others; pyarrow itself is not needed.

    Examples
    --------
    >>> frame = pl.DataFrame({"traj_id": [7, 7], "user_id": ["ann", "ann"], "t": [2, 1], "location": ["b", "a"]})
    >>> from_arrow(frame).record(0)
    [('a', 1), ('b', 2)]
    """
    return from_polars(
        _arrow_frame(table),
        kind=kind,
        columns=columns,
        crs=crs,
        on_duplicate_time=on_duplicate_time,
        attributes=attributes,
        owners=owners,
        similar_ids=similar_ids,
    )


def from_frame(
    frame: Any,
    *,
    crs: str | None = None,
    owners: Literal["each-trajectory"] | None = None,
    similar_ids: SimilarIds | None = None,
) -> Visits | Points | Trips | None:
    """Return the data in a frame of any library that is known; None if it is no such frame."""
    library = _library(frame)
    if library is None:
        return None
    # Every library becomes the same table, and then the same rules hold as for files.
    read: Any = {
        "polars": from_polars,
        "pandas": from_pandas,
        "geopandas": from_geopandas,
        "movingpandas": from_movingpandas,
        "arrow": from_arrow,
    }[library]
    data: Visits | Points | Trips = read(frame, crs=crs, owners=owners, similar_ids=similar_ids)
    return data


def table_in_memory(frame: Any) -> tuple[pl.DataFrame, str | None] | None:
    """Return the columns of a frame of any library that is known, and its coordinate system; None if it is no frame.

    Geometries are WKB.  Nothing is checked but the names of columns: this is for a first look.
    """
    library = _library(frame)
    if library is None:
        return None
    if library == "polars":
        return frame.lazy().collect(), None
    if library == "arrow":
        return _arrow_frame(frame), None
    if library == "pandas":
        return _named_columns(_table(frame)), None
    whole = _point_frame(frame) if library == "movingpandas" else frame
    name = str(whole.geometry.name)
    # An index of times is a column of the table, but a geometry is none that Polars knows.
    columns = _named_columns(_table(whole.drop(columns=whole.geometry.name)))
    shapes = [None if shape is None else shape.wkb for shape in whole.geometry]
    system = _crs_of(whole.crs)
    return columns.with_columns(pl.Series(name, shapes, dtype=pl.Binary)), None if system is None else system.name


def to_pandas(data: Data, *, ids: Sequence[str] | None = None) -> Any:
    """Return a pandas frame with one row per visit, point or box, in the coordinates of the file.

    The columns are those of the written tables; points in degrees have lon and lat.  Times with a date are timestamps,
    in UTC where they have a zone.  `user_id` is there where the owners are given.
    """
    pandas = _import("pandas")
    table = to_polars(data, ids=ids)
    return pandas.DataFrame({name: _to_pandas(pandas, table[name]) for name in table.columns})


def to_polars(data: Data, *, ids: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a polars frame with one row per visit, point, box, road or stop; see `to_pandas`.

    Examples
    --------
    >>> to_polars(Visits.from_records([[("a", 1), ("b", 2)]])).rows()
    [('0', 1, 'a'), ('0', 2, 'b')]
    """
    names = layout_of(data).raw_names(data)
    return data_frame(data, "the data frame", first_columns(data, "the data frame", ids, "to_polars"), names)


def from_geopandas(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    crs: str | None = None,
    on_duplicate_time: Literal["first", "last"] | None = None,
    attributes: Sequence[str] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    similar_ids: SimilarIds | None = None,
) -> Points | Trips:
    """Return the points in a GeoPandas frame whose geometries are points, or its trips; see `from_pandas`.

    The coordinate system is that of the frame; `crs` is needed only where the frame has none.  A frame whose columns
    tell where and when trips began and ended holds trips, unless it has a column t; their geometries are left out, with
    a note, and `crs` is that of the coordinates in columns.
    """
    _import("geopandas")
    table = _table(frame.drop(columns=frame.geometry.name))
    options = _options(columns, crs, on_duplicate_time, attributes, owners, similar_ids)
    # A column t says when each geometry was: then the geometries are what is meant.
    if options.columns.get("t", "t") not in table.names and has_trip_columns(table, options):
        trips: Trips = _noted(
            trips_of(table, options), "The geometries were left out: the columns tell where trips began."
        )
        return trips
    return _points_of_shapes(frame, options)


def _points_of_shapes(frame: Any, options: ReadOptions) -> Points:
    """Return the points of a GeoPandas frame; other geometries are refused."""
    _import("geopandas")
    name = str(frame.geometry.name)
    kinds = frame.geometry.geom_type
    other = int((kinds.notna() & (kinds != "Point")).sum())
    if other:
        raise InputError(f"{_NAME}: {count(other, 'geometry')} {'is' if other == 1 else 'are'} not points.")
    table = _table(frame.drop(columns=frame.geometry.name))
    # Both coordinates as one column, as a reader of geometries gives them.
    place = pl.DataFrame({"x": frame.geometry.x.to_numpy(), "y": frame.geometry.y.to_numpy()}).to_struct()
    lazy = table.lazy.collect().with_columns(place.alias(str(len(table.names)))).lazy()
    table = Table(path=_NAME, names=(*table.names, name), lazy=lazy, csv=None, geometry=name, places=table.places)
    system = _crs_of(frame.crs)
    points: Points = _noted(points_of(Source(table=table, crs=system, unsure=system is None), options))
    return points


def to_geopandas(data: Points | Boxes, *, ids: Sequence[str] | None = None) -> Any:
    """Return a GeoPandas frame: points, or the boxes of regions, in the coordinates of the file."""
    geopandas = _import("geopandas")
    shapely = _import("shapely")
    if not data.coordinates:
        raise UsageError(f"to_geopandas: {data.kind} have names of places, not coordinates; use to_pandas.")
    frame = to_pandas(data, ids=ids)
    if data.positions() is not None:
        names = ["lon", "lat"] if data.frame.degrees else ["x", "y"]
        geometry = shapely.points(*(frame[name].to_numpy() for name in names))
    else:
        names = ["x_min", "y_min", "x_max", "y_max"]
        geometry = shapely.box(*(frame[name].to_numpy() for name in names))
    crs = None if data.frame.crs in ("", "planar") else data.frame.crs
    return geopandas.GeoDataFrame(frame.drop(columns=names), geometry=geometry, crs=crs)


def from_movingpandas(
    trajectories: Any,
    *,
    columns: Mapping[str, str] | None = None,
    crs: str | None = None,
    attributes: Sequence[str] | None = None,
    owners: Literal["each-trajectory"] | None = None,
    similar_ids: SimilarIds | None = None,
) -> Points:
    """Return the points of a MovingPandas TrajectoryCollection or Trajectory; see `from_geopandas`.

    MovingPandas drops time zones, so that the times are local time, unless it remembers the zone.
    The object id of the trajectories, where all have one, is the owner.
    """
    return _points_of_shapes(_point_frame(trajectories), _options(columns, crs, None, attributes, owners, similar_ids))


def to_movingpandas(data: Points, *, ids: Sequence[str] | None = None) -> Any:
    """Return a MovingPandas TrajectoryCollection; times are in UTC or in local time, without a zone.

    MovingPandas has no trajectories of fewer than two points: these are left out.
    """
    movingpandas = _import("movingpandas")
    if not isinstance(data, Points):
        raise UsageError("to_movingpandas: only points can become MovingPandas trajectories.")
    if data.time_format == "integer":
        raise InputError("to_movingpandas: the times are plain integers without a unit, and MovingPandas needs dates.")
    frame = to_geopandas(data, ids=ids)
    # Integers are seconds or microseconds since 1970, as the format of the data says.
    unit = "s" if data.time_format == "epoch" else "us"
    frame["t"] = data.t.astype(f"datetime64[{unit}]").astype("datetime64[us]")
    frame = frame[frame.groupby("traj_id")["traj_id"].transform("size") > 1]
    owner = "user_id" if "user_id" in frame else None
    return movingpandas.TrajectoryCollection(frame.set_index("t"), traj_id_col="traj_id", obj_id_col=owner)


def _point_frame(trajectories: Any) -> Any:
    """Return the points of MovingPandas trajectories as a GeoPandas frame with the columns traj_id and user_id."""
    _import("movingpandas")
    pandas = _import("pandas")
    listed_ = list(getattr(trajectories, "trajectories", [trajectories]))
    if not listed_:
        raise InputError("the trajectories: the collection is empty; at least one trajectory is needed.")
    parts = []
    for trajectory in listed_:
        part = trajectory.to_point_gdf(return_orig_tz=True)
        part = part.rename_axis("t").rename(columns={trajectory.get_traj_id_col(): "traj_id"})
        obj_id = getattr(trajectory, "obj_id", None)
        parts.append(part if obj_id is None else part.assign(user_id=obj_id))
    whole = pandas.concat(parts)
    # Some trajectories say whose they are and others do not: then nobody is taken to be known.
    if "user_id" in whole and bool(whole["user_id"].isna().any()):
        whole = whole.drop(columns="user_id")
    return whole


def _library(frame: Any) -> Literal["polars", "pandas", "geopandas", "movingpandas", "arrow"] | None:
    """Return whose frame an object is, without importing the library; None if it is no frame."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return "polars"
    # Told by the name of the module, so that no library is imported to find out that it is not needed.
    module = type(frame).__module__.partition(".")[0]
    if module == "pandas" and hasattr(frame, "columns"):
        return "pandas"
    if module == "geopandas" and hasattr(frame, "columns"):
        return "geopandas"
    if module == "movingpandas" and (hasattr(frame, "trajectories") or hasattr(frame, "to_point_gdf")):
        return "movingpandas"
    # Frames of pandas have this as well, but only where pyarrow is installed: they must not depend on it.
    return "arrow" if module not in ("pandas", "geopandas", "polars") and hasattr(frame, "__arrow_c_stream__") else None


def _arrow_frame(table: Any) -> pl.DataFrame:
    """Return an Arrow table as polars has it; columns of a type that polars does not know are refused."""
    try:
        return pl.DataFrame(table)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError):
        raise InputError(
            f"{_NAME}: the Arrow table cannot be read; give columns of numbers, text, times and bytes only."
        ) from None


def _named_columns(table: Table) -> pl.DataFrame:
    whole = table.lazy.collect()
    return whole.rename({str(number): name for number, name in enumerate(table.names)})


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"This needs {name}, which is not installed: install wayveil[geo].") from None


def _options(
    columns: Mapping[str, str] | None,
    crs: str | None,
    on_duplicate_time: Literal["first", "last"] | None,
    attributes: Sequence[str] | None,
    owners: Literal["each-trajectory"] | None,
    similar_ids: SimilarIds | None,
) -> ReadOptions:
    if owners not in (None, EACH_TRAJECTORY):
        raise UsageError(
            f'{_NAME}: owners must be "{EACH_TRAJECTORY}" or left out; name a column with columns={{"user_id": ...}}.'
        )
    return ReadOptions(
        columns=columns or {},
        crs=crs,
        on_duplicate_time=on_duplicate_time,
        attributes=None if attributes is None else tuple(attributes),
        owners=owners,
        similar_ids=similar_ids,
    )


def _in_table(table: Table, kind: FrameKind | None, options: ReadOptions) -> Visits | Points | Trips:
    """Return the visits, points or trips in a table in memory."""
    chosen = kind or kind_of_table(table, options, get_args(FrameKind))
    if chosen == "points":
        read = points_of(Source(table=table), options)
    else:
        read = visits_of(table, options) if chosen == "visits" else trips_of(table, options)
    data: Visits | Points | Trips = _noted(read)
    return data


def _noted(read: Loaded, *more: str) -> Any:
    """Return the data that were read, and warn of what was assumed or cleaned."""
    collected = _collected.get()
    for note in (*more, *read.notes):
        # Files tell their notes in the report; a frame has none, so that whoever reads it is told here.
        # The warning points at the line of the user's code, not into Wayveil.
        warnings.warn(note, ReadingNote, stacklevel=_caller_level())
        if collected is not None:
            collected.append(note)
    return read.data


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Give a list of what is assumed or cleaned while frames are read inside; warnings tell it as well."""
    notes: list[str] = []
    before = _collected.set(notes)
    try:
        yield notes
    finally:
        _collected.reset(before)


def _caller_level() -> int:
    """Return how many calls up the code stands that is not ours, as warnings count."""
    package = str(Path(__file__).parents[2])
    calls = inspect.stack(context=0)[1:]
    return next((level for level, call in enumerate(calls, 1) if not call.filename.startswith(package)), 1)


def _row_of(row: int) -> str:
    return f"row {row + 1:,}"


def _crs_of(crs: Any) -> Crs | None:
    if crs is None:
        return None
    try:
        return crs_from_json(crs.to_json_dict())
    except UsageError as error:
        raise InputError(f"{_NAME}: it cannot be used as it is: {error}.") from None


def _distinct(written: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns in normal form; each must be there once."""
    names = tuple(normal_text(name) for name in written)
    refuse_repeated(_NAME, names)
    return names


def _table(frame: Any) -> Table:
    pandas = import_module("pandas")
    columns = [(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
    # An index of times is data; a plain numbering of rows is not.
    if isinstance(frame.index, pandas.DatetimeIndex):
        columns.insert(0, (str(frame.index.name or "t"), frame.index.to_series()))
    elif not isinstance(frame.index, pandas.MultiIndex) and frame.index.name is not None:
        columns.insert(0, (str(frame.index.name), frame.index.to_series()))
    names = _distinct(name for name, _ in columns)
    series = {str(i): _from_pandas(pandas, values) for i, (_, values) in enumerate(columns)}
    return Table(
        path=_NAME,
        names=names,
        lazy=pl.DataFrame(series).lazy(),
        csv=None,
        places=_row_of,
    )


def _from_pandas(pandas: Any, values: Any) -> pl.Series:
    """Return a column of pandas as polars has it, without the detour over pyarrow."""
    kind = pandas.api.types
    if kind.is_datetime64_any_dtype(values.dtype):
        zone = getattr(values.dtype, "tz", None)
        # Zones are dropped after converting to UTC: polars gets the same instants.
        plain = values.dt.tz_convert("UTC").dt.tz_localize(None) if zone is not None else values
        moments = plain.to_numpy()
        moments = moments if moments.dtype == "datetime64[ns]" else moments.astype("datetime64[us]")
        series = pl.Series(moments)
        return series.dt.replace_time_zone("UTC") if zone is not None else series
    # Numbers are taken over as arrays; everything else goes through Python, value by value.
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biu":
        return pl.Series(values.to_numpy())
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "f":
        return pl.Series(values.to_numpy().astype(np.float64))
    missing = values.isna().to_numpy()
    listed_ = values.astype(object).tolist()
    if any(isinstance(value, bytes) for value in listed_[:1]):
        return pl.Series(
            [None if gone else bytes(v) for v, gone in zip(listed_, missing, strict=True)], dtype=pl.Binary
        )
    return pl.Series([None if gone else str(v) for v, gone in zip(listed_, missing, strict=True)], dtype=pl.String)


def _to_pandas(pandas: Any, values: pl.Series) -> Any:
    if values.dtype == pl.String:
        return pandas.Series(values.to_list(), dtype=object)
    if isinstance(values.dtype, pl.Datetime):
        moments = pandas.Series(values.to_physical().to_numpy().astype("datetime64[us]"))
        return moments.dt.tz_localize("UTC") if values.dtype.time_zone else moments
    return values.to_numpy()
