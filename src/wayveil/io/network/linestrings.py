"""Lines of roads, written as one value each: WKT or WKB to flat coordinates, and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of

__all__ = ["lines_of_wkb", "lines_of_wkt", "wkb_of_lines", "wkt_of_lines"]

_WKT = r"^\s*(?i:LINESTRING)\s*(?i:ZM|Z|M)?\s*\(([^()]*)\)\s*$"
_POINT = r"^\s*(\S+)\s+(\S+)(?:\s+\S+){0,2}\s*$"
_DIMENSIONS = {2: 2, 1002: 3, 2002: 3, 3002: 4}  # type of a WKB line -> numbers per point


def lines_of_wkt(texts: pl.Series) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """Return (offsets, x, y, which are no line of two or more points) of texts; a bad or missing one has no points.

    A third and a fourth number of a point are left out.

    Examples
    --------
    >>> offsets, x, y, bad = lines_of_wkt(pl.Series(["LINESTRING (0 1, 2 3)", "POINT (1 1)", None]))
    >>> offsets.tolist(), x.tolist(), y.tolist(), bad.tolist()
    ([0, 2, 2, 2], [0.0, 2.0], [1.0, 3.0], [False, True, True])
    """
    inside = texts.str.extract(_WKT)
    points = pl.DataFrame({"line": np.arange(len(texts)), "text": inside.str.split(",")}).explode("text")
    pair = points["text"].str.extract_groups(_POINT)
    numbers = [pair.struct.field(name).cast(pl.Float64, strict=False).fill_null(np.nan) for name in ("1", "2")]
    return _sound(points["line"].to_numpy(), numbers[0].to_numpy(), numbers[1].to_numpy(), len(texts))


def lines_of_wkb(values: pl.Series) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """Return the same of ISO WKB, as GeoParquet has it."""
    line = []
    parts = []
    for i, value in enumerate(values.to_list()):
        points = _points(value)
        if points is not None:
            line.append(np.full(len(points), i))
            parts.append(points)
    xy = np.concatenate(parts) if parts else np.zeros((0, 2))
    return _sound(np.concatenate(line) if line else np.zeros(0, np.int64), xy[:, 0], xy[:, 1], len(values))


def wkt_of_lines(offsets: IntArray, x: FloatArray, y: FloatArray) -> pl.Series:
    """Return each line as WKT, every number exactly.

    Examples
    --------
    >>> wkt_of_lines(np.array([0, 2]), np.array([0.0, 0.1]), np.array([1.0, 2.5])).to_list()
    ['LINESTRING (0.0 1.0, 0.1 2.5)']
    """
    points = [f"{a!r} {b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    at = offsets.tolist()
    lines = [f"LINESTRING ({', '.join(points[a:b])})" for a, b in pairwise(at)]
    return pl.Series(lines, dtype=pl.String)


def wkb_of_lines(offsets: IntArray, x: FloatArray, y: FloatArray) -> pl.Series:
    """Return each line as WKB with the lowest byte first."""
    raw = np.stack([x, y], axis=1).astype("<f8").tobytes()
    at = offsets.tolist()
    lines = [struct.pack("<BII", 1, 2, b - a) + raw[16 * a : 16 * b] for a, b in pairwise(at)]
    return pl.Series(lines, dtype=pl.Binary)


def _points(value: bytes | None) -> FloatArray | None:
    """Return x and y of the points of one WKB line, or None where it is something else."""
    if value is None or len(value) < 9 or value[0] > 1:
        return None
    order: str = "<" if value[0] else ">"
    kind, n = struct.unpack_from(f"{order}II", value, 1)
    width = _DIMENSIONS.get(kind)
    if width is None or len(value) != 9 + 8 * width * n:
        return None
    return np.frombuffer(value, f"{order}f8", offset=9).reshape(-1, width)[:, :2].astype(np.float64)


def _sound(
    line: Sequence[int] | IntArray, x: FloatArray, y: FloatArray, n: int
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """Return the lines without those that have fewer than two points or a coordinate that is no finite number."""
    of = np.asarray(line, np.int64)
    unsound = np.bincount(of[~(np.isfinite(x) & np.isfinite(y))], minlength=n) > 0
    bad = unsound | (np.bincount(of, minlength=n) < 2)
    keep = ~bad[of]
    return offsets_of(np.bincount(of[keep], minlength=n)), x[keep], y[keep], bad
