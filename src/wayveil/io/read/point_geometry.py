"""Points written as one value: WKB, WKT, or two numbers in a text."""

from __future__ import annotations

import numpy as np
import polars as pl

from wayveil.io.tabular.table import Rows
from wayveil.model.data.ragged import FloatArray

__all__ = ["points_of_text", "points_of_wkb", "points_of_wkt"]

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?i:nan|inf|infinity))"
_WKT = rf"^\s*(?i:POINT)\s*(?i:ZM|Z|M)?\s*\(\s*{_NUMBER}\s+{_NUMBER}(?:\s+{_NUMBER}){{0,2}}\s*\)\s*$"
_PAIR = rf"^\s*[\(\[]?\s*{_NUMBER}\s*[,;\s]\s*{_NUMBER}\s*[\)\]]?\s*$"

# Type of a WKB point -> bytes it takes: two to four coordinates after one byte of order and four of type.
_WKB_SIZE = {1: 21, 1001: 29, 2001: 29, 3001: 37}


def points_of_wkb(rows: Rows, position: int) -> tuple[FloatArray, FloatArray]:
    """Return x and y of a column of ISO WKB points, as GeoParquet has them.

    Notes
    -----
    O(n); values of one size are read as one array.
    """
    values = rows.frame[str(position)]
    size = values.bin.size().to_numpy()
    x = np.full(len(values), np.nan)
    y = np.full(len(values), np.nan)
    point = np.zeros(len(values), np.bool_)
    # Points of one size (with or without height and measure) are read as one array of bytes.
    for length in sorted(set(_WKB_SIZE.values())):
        where = np.flatnonzero(size == length)
        if not len(where):
            continue
        table = np.frombuffer(b"".join(values.gather(where).to_list()), np.uint8).reshape(-1, length)
        # Both byte orders may occur in one file: 0 is big endian, 1 little endian.
        for first, order in ((0, ">"), (1, "<")):
            kind = np.ascontiguousarray(table[:, 1:5]).view(f"{order}u4")[:, 0]
            right = (table[:, 0] == first) & np.isin(kind, [k for k, s in _WKB_SIZE.items() if s == length])
            both = np.ascontiguousarray(table[right, 5:21]).view(f"{order}f8").astype(np.float64)
            x[where[right]] = both[:, 0]
            y[where[right]] = both[:, 1]
            point[where[right]] = True
    _refuse(rows, position, ~point, "WKB")
    return x, y


def points_of_wkt(rows: Rows, position: int) -> tuple[FloatArray, FloatArray]:
    """Return x and y of a column of texts such as ``POINT (16.37 48.21)``; a third number is left out."""
    return _extract(rows, position, _WKT, "POINT (x y)")


def points_of_text(rows: Rows, position: int, *, latitude_first: bool) -> tuple[FloatArray, FloatArray]:
    """Return x and y of a column of texts such as ``48.21,16.37``."""
    first, second = _extract(rows, position, _PAIR, "two numbers")
    return (second, first) if latitude_first else (first, second)


def _extract(rows: Rows, position: int, pattern: str, form: str) -> tuple[FloatArray, FloatArray]:
    text = rows.frame[str(position)]
    groups = text.str.extract_groups(pattern)
    pair = [groups.struct.field(name).cast(pl.Float64, strict=False) for name in ("1", "2")]
    _refuse(rows, position, (pair[0].is_null() | pair[1].is_null()).to_numpy(), form)
    return pair[0].to_numpy(), pair[1].to_numpy()


def _refuse(rows: Rows, position: int, bad: np.ndarray, form: str) -> None:
    name = rows.table.names[position]
    rows.refuse(
        bad, f"column '{name}' is not a point ({form})", "Only points can be read; correct or remove these rows."
    )
