"""Tracks: GPX, TCX and PLT files, or a folder of them, as one table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import endings_of
from wayveil.io.formats.gpx import read_gpx
from wayveil.io.formats.plt import read_plts
from wayveil.io.tabular.messages import count, was
from wayveil.io.tabular.table import Table, peek

__all__ = ["open_tracks"]

_SUFFIXES = endings_of("gpx", "tcx", "plt")
_GEOLIFE = "trajectory"


def open_tracks(shown: str, path: Path, *, folder: bool) -> Table:
    """Read a .gpx, .tcx or .plt file, or all of them in a folder and the folders in it.

    Every segment of GPX and TCX and every PLT file is a trajectory.  If every file lies in a folder called Trajectory,
    as in GeoLife, the folder around that names the person.  Other tables have the columns ``file`` and ``folder``, and
    GPX also ``track``, that ``--columns user_id=`` can name.
    """
    files = _files(shown, path) if folder else [path]
    # Names of files and folders may be names of people, so that a message has the number of the file.
    shown_as = [f"{shown}: file {i:,} of {len(files):,} by name" if folder else shown for i in range(1, len(files) + 1)]
    listed = list(zip(shown_as, files, strict=True))
    for where, file in listed:
        if peek(where, file)[2] == 0:
            raise InputError(f"{where}: the file is empty; a track with at least one point is needed.")
    # All PLT files go through one parser, which yields a frame per file in their order; the others are read one by one.
    plts = read_plts([(where, file) for where, file in listed if _is_plt(file)])
    frames = [next(plts) if _is_plt(file) else read_gpx(where, file) for where, file in listed]
    empty = sum(not frame.height for frame in frames)
    heights = np.array([frame.height for frame in frames])
    if not heights.sum():
        raise InputError(f"{shown}: there is no point in {'the files' if folder else 'the file'}; one is needed.")
    points = pl.concat(frames)
    number = np.repeat(np.arange(len(files)), heights)
    names = [file.relative_to(path).with_suffix("").as_posix() if folder else "" for file in files]
    name = pl.Series(names, dtype=pl.String).gather(number)
    part = points["part"]
    columns = {
        "traj_id": pl.select(pl.concat_str(name, pl.lit(" "), part)).to_series().str.strip_chars(),
        "t": points["t"],
        "lon": points["lon"],
        "lat": points["lat"],
        "track": part.str.split(".").list.get(0, null_on_oob=True),
        "file": name,
        "folder": name.str.extract(r"^(.*)/", 1).fill_null("."),
    }
    if not folder:
        columns["traj_id"] = pl.select(pl.when(part == "").then(pl.lit("1")).otherwise(part)).to_series()
        columns["file"] = pl.repeat("1", len(name), eager=True)
    # Folders name people only in the layout of GeoLife, and only if all files have it.
    people = [_person(file) for file in files]
    if folder and None not in people:
        columns["user_id"] = pl.Series(people, dtype=pl.String).gather(number)
    line = points["line"].to_numpy()

    def place(row: int) -> str:
        return f"line {line[row]:,}" + (f" of file {number[row] + 1:,} of {len(files):,} by name" if folder else "")

    frame = pl.DataFrame({str(i): values for i, values in enumerate(columns.values())})
    return Table(
        path=shown,
        names=tuple(columns),
        lazy=frame.lazy(),
        csv=None,
        notes=(f"{count(empty, 'file')} without a point {was(empty)} left out.",) if empty else (),
        aside=("track", "file", "folder"),
        places=place,
    )


def _files(shown: str, folder: Path) -> list[Path]:
    try:
        files = sorted(f for f in folder.rglob("*") if f.suffix.lower() in _SUFFIXES and f.is_file())
    except OSError as error:
        raise InputError(f"{shown}: the folder cannot be read: {error.strerror or 'the reader failed'}.") from None
    if not files:
        what = (
            "is empty" if not any(folder.iterdir()) else "holds no .gpx, .tcx or .plt files, nor .parquet files alone"
        )
        raise InputError(f"{shown}: the folder {what}; give a folder of tracks or of Parquet files, or a file.")
    return files


def _person(file: Path) -> str | None:
    """Return the folder of the person in the layout of GeoLife: PERSON/Trajectory/file."""
    around = file.absolute().parent
    return around.parent.name or None if around.name.lower() == _GEOLIFE else None


def _is_plt(file: Path) -> bool:
    return file.suffix.lower() == ".plt"
