"""Text to integer codes."""

from __future__ import annotations

import numpy as np
import polars as pl

from wayveil.model.data.ragged import IntArray

__all__ = ["by_first_appearance", "by_name"]


def by_first_appearance(values: pl.Series) -> tuple[IntArray, IntArray, pl.Series]:
    """Return (code per row, first row of each code, label of each code), codes in order of first appearance.

    Rows with equal neighbours, as trajectories have in most files, cost no hashing: only the heads of runs are
    looked up.  `values` has no missing values.

    Examples
    --------
    >>> codes, first, labels = by_first_appearance(pl.Series(["b", "b", "a", "b"]))
    >>> codes.tolist(), first.tolist(), labels.to_list()
    ([0, 0, 1, 0], [0, 2], ['b', 'a'])
    """
    # A run is a stretch of equal neighbours.  Only its first row is hashed; a file sorted by trajectory has few runs.
    head = (values != values.shift(1)).fill_null(True).to_numpy()
    run_start = np.flatnonzero(head)
    labels = values.gather(run_start)
    runs = pl.DataFrame({"value": labels, "run": np.arange(len(run_start))})
    first_run = runs.select(pl.col("run").min().over("value")).to_series().to_numpy()
    # A run is new if no earlier run has its value; the number of new ones so far is the code.
    new = first_run == np.arange(len(run_start))
    code_of_run = (np.cumsum(new) - 1)[first_run]
    return np.repeat(code_of_run, np.diff(run_start, append=len(values))), run_start[new], labels.filter(pl.Series(new))


def by_name(values: pl.Series) -> tuple[IntArray, tuple[str, ...]]:
    """Return (code per row, -1 where missing; labels in sorted order).

    Examples
    --------
    >>> codes, labels = by_name(pl.Series(["b", None, "a"]))
    >>> codes.tolist(), labels
    ([1, -1, 0], ('a', 'b'))
    """
    labels = values.drop_nulls().unique().sort()
    codes = values.cast(pl.Enum(labels)).to_physical().cast(pl.Int32).fill_null(-1)
    return codes.to_numpy(), tuple(labels.to_list())
