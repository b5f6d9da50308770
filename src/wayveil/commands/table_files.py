"""Files that commands write: whole or not at all, and never over others unasked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from wayveil.engines import scratch_folder
from wayveil.errors import OutputError, UsageError
from wayveil.io import write_network, write_points, write_routes, write_stops, write_taxonomy, write_visits
from wayveil.model import Data, Points, Routes, Stops, Visits
from wayveil.pipeline.folder.staging import reporting_disk_errors
from wayveil.recipe import catalog

__all__ = ["check_file", "write_beside", "write_data", "write_file"]

_SUFFIXES = (".csv", ".parquet")
_POINT_SUFFIXES = (*_SUFFIXES, ".geojsonl")


def write_data(data: Data, path: Path, *, ids: list[str] | None = None) -> None:
    """Write visits or points as a table."""
    if isinstance(data, Points):
        write_points(data, path, ids=ids)
    elif isinstance(data, (Visits, Routes, Stops)) and not path.name.endswith(_SUFFIXES):
        what = catalog.kind_of_data(data).capitalize()
        raise UsageError(f"{what} can be written to {' and '.join(_SUFFIXES)} only, not to {path.name!r}.")
    elif isinstance(data, Routes):
        write_routes(data, path, ids=ids)
    elif isinstance(data, Stops):
        write_stops(data, path, ids=ids)
    elif isinstance(data, Visits):
        write_visits(data, path, ids=ids)


def check_file(out: Path, *, overwrite: bool, endings: tuple[str, ...] = _POINT_SUFFIXES) -> None:
    """Refuse, before any work, a file that exists, has an unknown ending or cannot be written."""
    if not out.name.endswith(endings):
        raise UsageError(f"The file {out.name!r} must end in {' or '.join(endings)}.")
    if out.is_dir():
        raise OutputError(f"{str(out)!r} is a folder; --out must be a file.")
    if out.exists() and not overwrite:
        raise UsageError(f"{str(out)!r} already exists. Give --overwrite to replace it, or choose another --out.")
    with reporting_disk_errors(out), scratch_folder(out.parent):
        pass


def write_file(out: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place and move it there in one step."""
    with reporting_disk_errors(out), scratch_folder(out.parent) as folder:
        whole = folder / out.name
        write(whole)
        os.replace(whole, out)


def write_beside(data: Data, out: Path, *, overwrite: bool) -> None:
    """Write what the data need to be read: the road network of routes, the taxonomy of stops."""
    what = "network" if isinstance(data, Routes) else "taxonomy"
    beside = out.with_name(f"{out.name.removesuffix(out.suffix)}-{what}{out.suffix}")
    if isinstance(data, Routes):
        check_file(beside, overwrite=overwrite)
        write_file(beside, lambda path: write_network(data.network, path))
    elif isinstance(data, Stops):
        check_file(beside, overwrite=overwrite)
        write_file(beside, lambda path: write_taxonomy(data.taxonomy, path))
