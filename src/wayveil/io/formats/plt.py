"""Track points of GeoLife PLT files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.tabular.messages import count

__all__ = ["read_plts"]

_HEADER_LINES = 6
_FIELDS = ("lat", "lon", "zero", "altitude", "days", "date", "time")
_BATCH_BYTES = 1 << 25


def read_plts(files: Sequence[tuple[str, Path]]) -> Iterator[pl.DataFrame]:
    """Yield the points of each file: part (always empty), t, lon and lat as text, line; none for a mere header.

    A file has six lines of header, of which the second says WGS 84, and lines ``lat,lon,0,altitude,days,date,time``
    with times in UTC.  `files` has the name for messages and the path of each.

    Raises
    ------
    InputError
        If a file is not of this form, or a line is cut short.

    Notes
    -----
    Many small files are parsed as one text: opening a parser costs more than parsing a thousand points.
    """
    names: list[str] = []
    bodies: list[bytes] = []
    size = 0
    for shown, file in files:
        names.append(shown)
        bodies.append(_body(shown, file))
        size += len(bodies[-1])
        if size > _BATCH_BYTES:
            yield from _parse(names, bodies)
            names = []
            bodies = []
            size = 0
    if names:
        yield from _parse(names, bodies)


def _body(shown: str, file: Path) -> bytes:
    """Return the lines after the header, each with its end."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the reader failed'}.") from None
    parts = raw.split(b"\n", _HEADER_LINES)
    if len(parts) < 2 or parts[1].strip().upper().replace(b" ", b"") != b"WGS84":
        raise InputError(f"{shown}: this is not a GeoLife PLT file; the second of its six header lines must be WGS 84.")
    if len(parts) < _HEADER_LINES:
        raise InputError(f"{shown}: the PLT file is cut short inside its six header lines; write or copy it again.")
    body = parts[_HEADER_LINES] if len(parts) > _HEADER_LINES else b""
    return body if body.endswith(b"\n") or not body else body + b"\n"


def _parse(names: Sequence[str], bodies: Sequence[bytes]) -> Iterator[pl.DataFrame]:
    # Each body ends in a line end, so lines per file are counted without parsing.
    lines = np.array([body.count(b"\n") for body in bodies])
    frame = _fields(b"".join([",".join(_FIELDS).encode(), b"\n", *bodies]))
    if frame is None or frame.height != lines.sum():
        many = f"{names[0]}: the PLT file is" if len(names) == 1 else f"{names[0]} or one of the next: a PLT file is"
        raise InputError(f"{many} damaged and cannot be read; write or copy it again.")
    file = np.repeat(np.arange(len(lines)), lines)
    # Lines are numbered per file, behind its header, for messages.
    line = np.arange(frame.height) - (np.cumsum(lines) - lines)[file] + _HEADER_LINES + 1
    blank = frame.select(pl.all_horizontal(pl.col(_FIELDS).is_null())).to_series().to_numpy()
    short = np.flatnonzero(frame["time"].is_null().to_numpy() & ~blank)
    if len(short):
        same = int((file[short] == file[short[0]]).sum())
        raise InputError(
            f"{names[file[short[0]]]}: {count(same, 'line')} {'has' if same == 1 else 'have'} fewer than seven fields, "
            f"first line {line[short[0]]:,}; a point is lat,lon,0,altitude,days,date,time."
        )
    points = frame.select("part", "t", "lon", "lat", pl.Series("line", line)).filter(pl.Series(~blank))
    heights = np.bincount(file[~blank], minlength=len(lines)).tolist()
    start = 0
    for height in heights:
        yield points.slice(start, height)
        start += height


def _fields(text: bytes) -> pl.DataFrame | None:
    try:
        frame = pl.read_csv(
            text,
            schema={name: pl.String for name in _FIELDS},
            # Quotation marks mean nothing here, and lines with more than seven fields are cut.
            quote_char=None,
            truncate_ragged_lines=True,
            encoding="utf8-lossy",
        )
    except pl.exceptions.PolarsError:
        return None
    date, time = (pl.col(name).str.strip_chars() for name in ("date", "time"))
    return frame.with_columns(part=pl.lit(""), t=pl.concat_str(date, pl.lit("T"), time, pl.lit("Z")))
