"""The model as tables to write: one row per visit, point, box, road or stop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import OutputError
from wayveil.io.publish.canonical import boxes_to_file, points_to_file
from wayveil.io.tabular.timestamps import time_column, time_pattern
from wayveil.model import Coded, Data, Points, Regions, Routes, Stops, Visits
from wayveil.model.ragged import IntArray, trajectory_of_row

__all__ = ["COLUMNS", "DECLARED", "Tabular", "attribute_columns", "data_frame", "kind_of", "pattern_of"]

COLUMNS = {
    "visits": ("traj_id", "t", "location"),
    "points": ("traj_id", "t", "x", "y"),
    "regions": ("traj_id", "seq", "t_min", "t_max", "x_min", "x_max", "y_min", "y_max"),
    "routes": ("traj_id", "seq", "road", "from_node", "to_node", "t_start", "t_end"),
    "stops": ("traj_id", "seq", "place"),
}
"""The columns of published tables, before the attributes."""

DECLARED = "declared"
"""The column of boxes that says, after these, which are of declared times: 1 or 0; only where something is said."""


Tabular = Data
"""Every kind of data that has a table."""


def kind_of(data: Tabular) -> str:
    """Return the kind of data, as in `COLUMNS`."""
    return _KINDS[type(data)]


def pattern_of(data: Tabular) -> str | None:
    """Return how text shows the times of these data; None where their table has none."""
    times = [getattr(data, name) for name in _TIMES[kind_of(data)]]
    return time_pattern(np.concatenate(times), data.time_format) if times else None


def data_frame(
    data: Tabular,
    path: str | Path,
    first: Mapping[str, pl.Series],
    names: Mapping[str, str] | None = None,
    *,
    public: bool = False,
) -> pl.DataFrame:
    """Return one row per visit, point, box, road or stop: `first` (one value per trajectory), the rest, attributes.

    Places are in the coordinates of the file, those of points rounded if they are `public`.  `names` renames columns.
    Text columns are plain text, never dictionaries: a dictionary would carry names that occur in no row.
    """
    kind = kind_of(data)
    renamed = {name: (names or {}).get(name, name) for name in COLUMNS[kind]}
    trajectory = trajectory_of_row(data.offsets)
    columns = {name: values.gather(trajectory) for name, values in first.items()}
    said = _places(data, path, public=public)
    said["seq"] = pl.Series(np.arange(data.n_rows) - data.offsets[:-1][trajectory], dtype=pl.Int64)
    for name in _TIMES[kind]:
        t = getattr(data, name)
        said[name] = time_column(t[trajectory] if isinstance(data, Routes) else t, data.time_format)
    columns |= {name: said[name] for name in COLUMNS[kind] if name in said}
    told = isinstance(data, Regions) and data.declared is not None
    if isinstance(data, Regions) and data.declared is not None:
        columns[DECLARED] = pl.Series(data.declared.astype(np.int64), dtype=pl.Int64)
    columns |= attribute_columns(data, path, (*renamed.values(), "user_id", *((DECLARED,) if told else ())))
    return pl.DataFrame({renamed.get(name, name): values for name, values in columns.items()})


def attribute_columns(data: Tabular, path: str | Path, reserved: Iterable[str]) -> dict[str, pl.Series]:
    """Return the attributes with one value per row; names that mean something else are refused."""
    taken = sorted(set(reserved) & set(data.attributes))
    if taken:
        raise OutputError(f"{path}: an attribute cannot be called {', '.join(taken)}; rename it.")
    trajectory = trajectory_of_row(data.offsets)
    for name, coded in data.attributes.items():
        _refuse_empty(path, name, coded.labels)
    return {name: _labels(coded, trajectory) for name, coded in data.attributes.items()}


_KINDS: dict[type, str] = {
    Visits: "visits",
    Points: "points",
    Regions: "regions",
    Routes: "routes",
    Stops: "stops",
}
_TIMES: dict[str, tuple[str, ...]] = {
    "visits": ("t",),
    "points": ("t",),
    "regions": ("t_min", "t_max"),
    "routes": ("t_start", "t_end"),
    "stops": (),
}


def _places(data: Tabular, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
    if isinstance(data, Visits):
        _refuse_empty(path, "location", data.locations)
        return {"location": pl.Series(data.locations, dtype=pl.String).gather(data.location)}
    if isinstance(data, Points):
        x, y = points_to_file(data) if public else data.frame.to_file(data.x, data.y)
        return {"x": pl.Series(x, dtype=pl.Float64), "y": pl.Series(y, dtype=pl.Float64)}
    if isinstance(data, Routes):
        return _on_roads(data, path)
    if isinstance(data, Stops):
        return {"place": pl.Series(data.taxonomy.nodes, dtype=pl.String).gather(data.place)}
    return {name: pl.Series(side, dtype=pl.Float64) for name, side in boxes_to_file(data).items()}


def _on_roads(data: Routes, path: str | Path) -> dict[str, pl.Series]:
    network = data.network
    _refuse_empty(path, "road", network.roads)
    _refuse_empty(path, "from_node", network.nodes)
    nodes = pl.Series(network.nodes, dtype=pl.String)
    return {
        "road": pl.Series(network.roads, dtype=pl.String).gather(data.road),
        "from_node": nodes.gather(network.from_node[data.road]),
        "to_node": nodes.gather(network.to_node[data.road]),
    }


def _labels(coded: Coded, trajectory: IntArray) -> pl.Series:
    codes = pl.Series(coded.codes[trajectory])
    return pl.Series(coded.labels, dtype=pl.String).gather(codes.set(codes < 0, None))


def _refuse_empty(path: str | Path, name: str, labels: Iterable[str]) -> None:
    if "" in labels:
        raise OutputError(f"{path}: column '{name}' holds an empty text, which cannot be told from a missing value.")
