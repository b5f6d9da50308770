"""The model as tables to write: one row per visit, point or box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import OutputError
from wayveil.io.degrees import boxes_to_file
from wayveil.io.times import time_column, time_pattern
from wayveil.model import Coded, Data, Points, Visits
from wayveil.model.ragged import IntArray, trajectory_of_row

__all__ = ["COLUMNS", "data_frame", "kind_of", "pattern_of"]

COLUMNS = {
    "visits": ("traj_id", "t", "location"),
    "points": ("traj_id", "t", "x", "y"),
    "regions": ("traj_id", "seq", "t_min", "t_max", "x_min", "x_max", "y_min", "y_max"),
}
"""The columns of published tables, before the attributes."""


def kind_of(data: Data) -> str:
    """Return the kind of data, as in `COLUMNS`."""
    return "visits" if isinstance(data, Visits) else "points" if isinstance(data, Points) else "regions"


def pattern_of(data: Data) -> str | None:
    """Return how text shows the times of these data."""
    t = np.concatenate([getattr(data, name) for name in _times(data)])
    return time_pattern(t, data.time_format)


def data_frame(
    data: Data, path: str | Path, first: Mapping[str, pl.Series], names: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Return one row per visit, point or box: the columns `first` (one value per trajectory), the rest, attributes.

    Places are in the coordinates of the file.  `names` renames columns.  Text columns are plain text, never
    dictionaries: a dictionary would carry names that occur in no row.
    """
    kind = kind_of(data)
    renamed = {name: (names or {}).get(name, name) for name in COLUMNS[kind]}
    taken = sorted({*renamed.values(), "user_id"} & set(data.attributes))
    if taken:
        raise OutputError(f"{path}: an attribute cannot be called {', '.join(taken)}; rename it.")
    trajectory = trajectory_of_row(data.offsets)
    columns = {name: values.gather(trajectory) for name, values in first.items()}
    if kind == "regions":
        columns["seq"] = pl.Series(np.arange(data.n_rows) - data.offsets[:-1][trajectory], dtype=pl.Int64)
    for name in _times(data):
        columns[name] = time_column(getattr(data, name), data.time_format)
    columns |= _places(data, path)
    for name, coded in data.attributes.items():
        _refuse_empty(path, name, coded.labels)
        columns[name] = _labels(coded, trajectory)
    return pl.DataFrame({renamed.get(name, name): values for name, values in columns.items()})


def _times(data: Data) -> tuple[str, ...]:
    return ("t",) if isinstance(data, (Visits, Points)) else ("t_min", "t_max")


def _places(data: Data, path: str | Path) -> dict[str, pl.Series]:
    if isinstance(data, Visits):
        _refuse_empty(path, "location", data.locations)
        return {"location": pl.Series(data.locations, dtype=pl.String).gather(data.location)}
    if isinstance(data, Points):
        x, y = data.frame.to_file(data.x, data.y)
        return {"x": pl.Series(x, dtype=pl.Float64), "y": pl.Series(y, dtype=pl.Float64)}
    return {name: pl.Series(side, dtype=pl.Float64) for name, side in boxes_to_file(data).items()}


def _labels(coded: Coded, trajectory: IntArray) -> pl.Series:
    codes = pl.Series(coded.codes[trajectory])
    return pl.Series(coded.labels, dtype=pl.String).gather(codes.set(codes < 0, None))


def _refuse_empty(path: str | Path, name: str, labels: Iterable[str]) -> None:
    if "" in labels:
        raise OutputError(f"{path}: column '{name}' holds an empty text, which cannot be told from a missing value.")
