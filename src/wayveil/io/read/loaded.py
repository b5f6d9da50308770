"""What reading a file gives."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wayveil.model import Data

__all__ = ["Loaded"]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What was read.

    Parameters
    ----------
    data : Data
        The trajectories in the order in which they first appear in the file.
    rows : int
        Rows in the file, without the header and blank lines.
    notes : tuple of str
        What was assumed or cleaned, in plain sentences with counts; no value of the data is in them.
    ids : polars.Series
        The ids of the trajectories as in the file, in the order of `data`.  Private: never publish or log them.
    """

    data: Data
    rows: int
    notes: tuple[str, ...]
    ids: pl.Series
