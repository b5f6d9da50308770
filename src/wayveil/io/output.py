"""Tables to disk: whole or not at all, and the same bytes for the same table."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from wayveil.errors import OutputError
from wayveil.io.times import time_column, time_pattern
from wayveil.model import Visits
from wayveil.model.ragged import trajectory_of_row

__all__ = ["visits_frame", "write_table", "write_visits"]

_ROW_GROUP = 1 << 18
_OS_ERROR = re.compile(r"os error (\d+)")


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
    names = pl.Series([str(i) for i in range(len(data))] if ids is None else list(ids), dtype=pl.String)
    if len(names) != len(data) or names.n_unique() != len(data):
        raise OutputError(f"{path}: write_visits needs one id for each trajectory, without repetition.")
    first = {"traj_id": names}
    if data.owners == "given":
        first["user_id"] = pl.Series(data.owner).cast(pl.String)
    write_table(visits_frame(data, path, first), path, time_pattern(data.t, data.time_format))


def visits_frame(data: Visits, path: str | Path, first: dict[str, pl.Series]) -> pl.DataFrame:
    """Return one row per visit: the columns `first` (one value per trajectory), t, location, attributes.

    Text columns are plain text, never dictionaries: a dictionary would carry names that occur in no row.
    """
    taken = sorted({"traj_id", "user_id", "t", "location"} & set(data.attributes))
    if taken:
        raise OutputError(f"{path}: an attribute cannot be called {', '.join(taken)}; rename it.")
    _refuse_empty(path, "location", data.locations)
    trajectory = trajectory_of_row(data.offsets)
    columns = {name: values.gather(trajectory) for name, values in first.items()}
    columns["t"] = time_column(data.t, data.time_format)
    columns["location"] = pl.Series(data.locations, dtype=pl.String).gather(data.location)
    for name, coded in data.attributes.items():
        _refuse_empty(path, name, coded.labels)
        codes = pl.Series(coded.codes[trajectory])
        codes = codes.set(codes < 0, None)
        columns[name] = pl.Series(coded.labels, dtype=pl.String).gather(codes)
    return pl.DataFrame(columns)


def write_table(frame: pl.DataFrame, path: str | Path, pattern: str | None) -> None:
    """Write a table as CSV or Parquet, told by the suffix; on any failure the old file, if any, stays.

    The Parquet file has one compression, one size of row groups and no metadata but the schema and the version of the
    writer, so that the same table gives the same bytes whatever the number of threads.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise OutputError(f"{path}: the format is told by the suffix; end the name in .csv or .parquet.")
    # Not with_suffix: a name of the greatest length that the file system allows must still work.
    part = target.with_name(f".wayveil-{os.getpid()}.part")
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "there is a folder of that name")
        with part.open("wb") as stream:
            if suffix == ".csv":
                frame.write_csv(stream, datetime_format=pattern)
            else:
                frame.rechunk().write_parquet(
                    stream, compression="zstd", compression_level=3, row_group_size=_ROW_GROUP, data_page_size=1 << 20
                )
        part.replace(target)
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        _remove(part)
        raise OutputError(f"{path}: the file cannot be written: {_reason(error)}.") from None
    except BaseException:
        _remove(part)
        raise


def _refuse_empty(path: str | Path, name: str, labels: Iterable[str]) -> None:
    if "" in labels:
        raise OutputError(f"{path}: column '{name}' holds an empty text, which cannot be told from a missing value.")


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except (OSError, ValueError):
        return


def _reason(error: BaseException) -> str:
    """Return what the system said, without what polars says around it: that may hold values."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    found = _OS_ERROR.search(str(error))
    return os.strerror(int(found.group(1))) if found else "the writer failed"
