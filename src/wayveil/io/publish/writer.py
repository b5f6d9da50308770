"""Tables to disk: whole or not at all, and the same bytes for the same table."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from wayveil.errors import OutputError
from wayveil.io.formats.features import GEOJSON_LINES, GEOJSON_WHOLE, write_features
from wayveil.io.publish.atomic import system_error, whole_file
from wayveil.io.publish.layouts import layout_of
from wayveil.io.publish.published_rows import data_frame, pattern_of
from wayveil.model import Data, Points, Trips, Visits
from wayveil.model.data.ragged import trajectory_of_row

__all__ = [
    "check_geojson",
    "first_columns",
    "rows_in_order",
    "write_csv",
    "write_file",
    "write_parquet",
    "write_points",
    "write_stream",
    "write_table",
    "write_trips",
    "write_visits",
]

_ROW_GROUP = 1 << 18


def write_visits(data: Visits, path: str | Path, *, ids: Sequence[str] | None = None) -> None:
    """Write raw visits in the format that `read_visits` takes; for generated and prepared data, not for publishing.

    Parameters
    ----------
    data : Visits
        Trajectories without visits are not written: the format has no row for them.
    path : str or Path
        Ends in .csv or .parquet.
    ids : sequence of str, optional
        One id per trajectory; their positions by default.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    write_table(data_frame(data, path, first_columns(data, path, ids, "write_visits")), path, pattern_of(data))


def write_trips(data: Trips, path: str | Path, *, ids: Sequence[str] | None = None) -> None:
    """Write raw trips in the format that `read_trips` takes; for generated and prepared data, not for publishing.

    Parameters
    ----------
    data : Trips
        Trips without any end are not written.  Where places are is not written, either.
    path : str or Path
        Ends in .csv or .parquet.
    ids : sequence of str, optional
        One id per trip; their positions by default.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    write_table(data_frame(data, path, first_columns(data, path, ids, "write_trips")), path, pattern_of(data))


def write_points(data: Points, path: str | Path, *, ids: Sequence[str] | None = None) -> None:
    """Write raw points in a format that `read_points` takes; for generated and prepared data, not for publishing.

    Parameters
    ----------
    data : Points
        Trajectories without points are not written.  Degrees are written as the columns lon and lat, so that they are
        read as degrees again, and planar coordinates as x and y.
    path : str or Path
        Ends in .csv, .parquet, .geojson or .geojsonl; GeoJSON only for degrees.
    ids : sequence of str, optional
        One id per trajectory; their positions by default.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    check_geojson(data, path)
    names = layout_of(data).raw_names(data)
    frame = data_frame(data, path, first_columns(data, path, ids, "write_points"), names)
    write_table(frame, path, pattern_of(data), geometry=tuple(names.values()))


def check_geojson(data: Any, path: str | Path) -> None:
    """Raise OutputError if planar coordinates would be written as GeoJSON, which knows only degrees."""
    if Path(path).suffix.lower() in (*GEOJSON_LINES, *GEOJSON_WHOLE) and not data.frame.degrees:
        raise OutputError(f"{path}: GeoJSON holds degrees, but these coordinates are metres; write .csv or .parquet.")


def write_table(
    frame: pl.DataFrame, path: str | Path, pattern: str | None, *, geometry: tuple[str, ...] | None = None
) -> None:
    """Write a table as CSV or Parquet, told by the suffix; on any failure the old file, if any, stays.

    The Parquet file has one compression, one size of row groups and no metadata but the schema and the version of the
    writer, so that the same table gives the same bytes whatever the number of threads.  With `geometry`, the columns
    that say where, also GeoJSON can be written.
    """
    suffix = Path(path).suffix.lower()
    known = (".csv", ".parquet", *(() if geometry is None else (*GEOJSON_WHOLE, *GEOJSON_LINES)))
    if suffix not in known:
        names = f"{', '.join(known[:-1])} or {known[-1]}"
        raise OutputError(f"{path}: the format is told by the suffix; end the name in {names}.")
    write_file(path, lambda stream: write_stream(frame, stream, suffix, pattern, geometry or ()))


def write_file(path: str | Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file whole: `write` fills a part beside it, and on any failure the old file, if any, stays."""
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "there is a folder of that name")
        with whole_file(target) as part, part.open("wb") as stream:
            write(stream)
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OutputError(f"{path}: the file cannot be written: {_reason(error)}.") from None


def write_stream(
    frame: pl.DataFrame, stream: IO[bytes], suffix: str, pattern: str | None, geometry: tuple[str, ...]
) -> None:
    """Write a table by the settings of its format; see `write_table`."""
    if suffix == ".csv":
        write_csv(frame, stream, pattern)
    elif suffix == ".parquet":
        write_parquet(frame, stream)
    else:
        write_features(frame, stream, geometry, pattern, whole=suffix in GEOJSON_WHOLE)


def write_csv(frame: pl.DataFrame, stream: IO[bytes], pattern: str | None = None) -> None:
    """Write CSV; `pattern` is that of times.

    Polars fills a buffer and the bytes are written here, a group of rows at a time: with one thread, Polars before 2.0
    says nothing of a disk that is full when it writes the last bytes, and leaves a table without its end.
    """
    for first in range(0, max(1, frame.height), _ROW_GROUP):
        rows = BytesIO()
        frame.slice(first, _ROW_GROUP).write_csv(rows, include_header=first == 0, datetime_format=pattern)
        stream.write(rows.getbuffer())


def write_parquet(frame: pl.DataFrame, stream: IO[bytes], metadata: dict[str, str] | None = None) -> None:
    """Write Parquet by settings that give the same bytes for the same table."""
    # Fixed settings and one chunk: the number of threads, and how rows came together, must not show in the bytes.
    frame.rechunk().write_parquet(
        stream,
        compression="zstd",
        compression_level=3,
        row_group_size=_ROW_GROUP,
        data_page_size=1 << 20,
        metadata=metadata,
    )


def first_columns(data: Data, path: str | Path, ids: Sequence[str] | None, component: str) -> dict[str, pl.Series]:
    """Return traj_id and, where the owners are given, user_id; one value per trajectory."""
    names = pl.Series([str(i) for i in range(len(data))] if ids is None else list(ids), dtype=pl.String)
    # Two trajectories with one id would be one when the table is read again.
    if len(names) != len(data) or names.n_unique() != len(data):
        raise OutputError(f"{path}: {component} needs one id for each trajectory, without repetition.")
    first = {"traj_id": names}
    if data.owners == "given":
        first["user_id"] = pl.Series(data.owner).cast(pl.String)
    return first


def rows_in_order(data: Data, path: str | Path, ids: Sequence[str] | None, component: str) -> dict[str, pl.Series]:
    """Return the same with one value per row, and seq: the position of a row in its trajectory."""
    trajectory = trajectory_of_row(data.offsets)
    columns = {name: values.gather(trajectory) for name, values in first_columns(data, path, ids, component).items()}
    columns["seq"] = pl.Series(np.arange(data.n_rows) - data.offsets[:-1][trajectory], dtype=pl.Int64)
    return columns


def _reason(error: BaseException) -> str:
    """Return what the system said, without what polars says around it: that may hold values."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    number = system_error(error)
    return "the writer failed" if number is None else os.strerror(number)
