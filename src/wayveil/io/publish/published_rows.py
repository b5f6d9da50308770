"""The model as tables to write: one row per visit, point, box, road, stop or trip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import OutputError
from wayveil.io.publish.layouts import layout_of, refuse_empty
from wayveil.io.tabular.timestamps import time_column, time_pattern
from wayveil.model import Coded, Data
from wayveil.model.data.ragged import IntArray

__all__ = ["DECLARED", "attribute_columns", "data_frame", "pattern_of"]

DECLARED = "declared"
"""The column of boxes that says, after these, which are of declared times: 1 or 0; only where something is said."""


def pattern_of(data: Data) -> str | None:
    """Return how text shows the times of these data; None where their table has none."""
    times = layout_of(data).shown_times(data)
    return None if times is None else time_pattern(times, data.time_format)


def data_frame(
    data: Data,
    path: str | Path,
    first: Mapping[str, pl.Series],
    names: Mapping[str, str] | None = None,
    *,
    public: bool = False,
) -> pl.DataFrame:
    """Return one row per visit, point, box, road, stop or trip: `first` (per trajectory), the rest, attributes.

    Places are in the coordinates of the file, those of points rounded if they are `public`.  `names` renames columns.
    Text columns are plain text, never dictionaries: a dictionary would carry names that occur in no row.
    """
    layout = layout_of(data)
    renamed = {name: (names or {}).get(name, name) for name in layout.columns}
    trajectory = layout.lines(data)
    columns = {name: values.gather(trajectory) for name, values in first.items()}
    own = layout.where(data, path, public=public)
    # Numbered from 0 within each trajectory.
    if "seq" in layout.columns:
        own["seq"] = pl.Series(np.arange(data.n_rows) - data.offsets[:-1][trajectory], dtype=pl.Int64)
    for name in layout.times:
        if name in own:
            continue
        # A slice of a trip stands once per trajectory and is repeated in all of its rows.
        t = getattr(data, name)
        own[name] = time_column(t[trajectory] if name in data.trajectory_columns else t, data.time_format)
    columns |= {name: own[name] for name in layout.columns if name in own}
    declared = getattr(data, DECLARED, None)
    if declared is not None:
        columns[DECLARED] = pl.Series(declared.astype(np.int64), dtype=pl.Int64)
    # Attributes must not take a name that means something else when the table is read again.
    reserved = {*renamed, *renamed.values(), "user_id", *(() if declared is None else (DECLARED,))}
    columns |= attribute_columns(data, path, reserved)
    return pl.DataFrame({renamed.get(name, name): values for name, values in columns.items()})


def attribute_columns(data: Data, path: str | Path, reserved: Iterable[str]) -> dict[str, pl.Series]:
    """Return the attributes with one value per row; names that mean something else are refused."""
    taken = sorted(set(reserved) & set(data.attributes))
    if taken:
        raise OutputError(f"{path}: an attribute cannot be called {', '.join(taken)}; rename it.")
    trajectory = layout_of(data).lines(data)
    for name, coded in data.attributes.items():
        refuse_empty(path, name, coded.labels)
    return {name: _labels(coded, trajectory) for name, coded in data.attributes.items()}


def _labels(coded: Coded, trajectory: IntArray) -> pl.Series:
    codes = pl.Series(coded.codes[trajectory])
    return pl.Series(coded.labels, dtype=pl.String).gather(codes.set(codes < 0, None))
