"""Files that commands write: whole or not at all, and never over others unasked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from wayveil.engines import scratch_folder
from wayveil.errors import OutputError, UsageError
from wayveil.io import write_network, write_points, write_routes, write_stops, write_taxonomy, write_trips, write_visits
from wayveil.io.storage.addresses import refuse_remote
from wayveil.model import Data
from wayveil.pipeline.folder.staging import reporting_disk_errors

__all__ = ["check_file", "write_beside", "write_data", "write_file"]

_SUFFIXES = (".csv", ".parquet")
_POINT_SUFFIXES = (*_SUFFIXES, ".geojsonl")
_WRITERS: dict[str, Callable[..., None]] = {
    "visits": write_visits,
    "points": write_points,
    "routes": write_routes,
    "stops": write_stops,
    "trips": write_trips,
}
_SHARED_WRITERS: dict[str, Callable[..., None]] = {"network": write_network, "taxonomy": write_taxonomy}


def write_data(data: Data, path: Path, *, ids: list[str] | None = None) -> None:
    """Write data as a table that can be read again."""
    if not data.coordinates and not path.name.endswith(_SUFFIXES):
        raise UsageError(
            f"{data.kind.capitalize()} can be written to {' and '.join(_SUFFIXES)} only, not to {path.name!r}."
        )
    _WRITERS[data.kind](data, path, ids=ids)


def check_file(out: Path, *, overwrite: bool, endings: tuple[str, ...] = _POINT_SUFFIXES) -> None:
    """Refuse, before any work, a file that exists, has an unknown ending or cannot be written."""
    refuse_remote(out, "This file")
    if not out.name.endswith(endings):
        raise UsageError(f"The file {out.name!r} must end in {' or '.join(endings)}.")
    if out.is_dir():
        raise OutputError(f"{str(out)!r} is a folder; --out must be a file.")
    if out.exists() and not overwrite:
        raise UsageError(f"{str(out)!r} already exists. Give --overwrite to replace it, or choose another --out.")
    with reporting_disk_errors(out), scratch_folder(out.parent):
        pass


def write_file(out: Path, write: Callable[[Path], object], *, private: bool = True) -> None:
    """Write a file beside its place and move it there in one step; only its owner can read a private one."""
    with reporting_disk_errors(out), scratch_folder(out.parent) as folder:
        whole = folder / out.name
        write(whole)
        if private:
            whole.chmod(0o600)  # nobody else can enter the folder in which it is written
        os.replace(whole, out)


def write_beside(data: Data, out: Path, *, overwrite: bool, private: bool) -> None:
    """Write what the data need to be read: the road network of routes, the taxonomy of stops."""
    if data.shared is None:
        return
    write = _SHARED_WRITERS[data.shared]
    beside = out.with_name(f"{out.name.removesuffix(out.suffix)}-{data.shared}{out.suffix}")
    check_file(beside, overwrite=overwrite)
    write_file(beside, lambda path: write(data.shared_value(), path), private=private)
