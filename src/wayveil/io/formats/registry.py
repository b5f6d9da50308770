"""Files with places: every format as one table, with what the file itself says of its coordinates."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from wayveil.errors import InputError, UsageError
from wayveil.io.formats.file_formats import endings_of
from wayveil.io.formats.geojson import open_geojson
from wayveil.io.formats.tracks import open_tracks
from wayveil.io.tabular.crs import WGS84, Crs, crs_from_json, crs_name
from wayveil.io.tabular.messages import listed
from wayveil.io.tabular.table import Table, open_table, parquet_parts
from wayveil.model.normal import normal_text

__all__ = ["Source", "holds_format", "holds_points", "holds_tracks", "open_source"]

_TABLES = endings_of("csv", "parquet")
_GEOJSON = endings_of("geojson", "geojson_lines")
_TRACKS = endings_of("gpx", "tcx", "plt")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table, and the coordinate system that its file says.

    `assumed` is the system where the file says none but its format has a rule, which ``--crs`` may overrule.  A file
    that is `unsure` says that nobody knows its system.
    """

    table: Table
    crs: Crs | None = None
    assumed: Crs | None = None
    unsure: bool = False


def holds_format(path: Path) -> bool:
    """Whether the suffix of a file names a format that is read as it is."""
    return path.name.lower().endswith((*_TABLES, *_GEOJSON, *_TRACKS))


def holds_points(path: str | Path) -> bool:
    """Whether the format alone says that a file or folder holds points."""
    file = Path(path)
    if file.is_dir():
        return not parquet_parts(file) and holds_tracks(file)
    return file.name.lower().endswith((*_GEOJSON, *_TRACKS))


def holds_tracks(folder: Path) -> bool:
    """Whether a folder, or a folder in it, holds tracks."""
    return any(path.suffix.lower() in _TRACKS for path in folder.rglob("*"))


def open_source(path: str | Path) -> Source:
    """Open a file of any format that can hold points, or a folder of tracks or of Parquet files."""
    shown = str(path)
    file = Path(path)
    try:
        folder = file.is_dir()
    except (OSError, ValueError):
        folder = False
    # Folders first, then tracks, then GeoJSON, then tables: each is told by its name alone.
    parts = parquet_parts(file) if folder else []
    if parts:
        return _geoparquet(open_table(path), parts[0])
    name = file.name.lower()
    if folder or name.endswith(_TRACKS):
        return Source(table=open_tracks(shown, file, folder=folder), crs=WGS84)
    if name.endswith(_GEOJSON):
        table, crs = open_geojson(shown, file)
        return Source(table=table, crs=crs, assumed=WGS84)
    if not name.endswith(_TABLES) and file.exists():
        raise InputError(
            f"{shown}: the format is told by the suffix; give a .csv, .csv.gz, .parquet, .geojson, .geojsonl, .gpx or "
            ".plt file, or a folder of .gpx, .plt or .parquet files."
        )
    table = open_table(path)
    return _geoparquet(table, file) if table.csv is None else Source(table=table)


def _geoarrow(table: Table, file: Path) -> Source:
    """Return a Parquet table with what a column of GeoArrow says of itself, where it has one."""
    schema = pl.scan_parquet(file, glob=False, hive_partitioning=False).collect_schema()
    marked = {name: kind for name, kind in schema.items() if isinstance(kind, pl.BaseExtension)}
    # Arrow marks a column as an extension; the mark may say the coordinate system.
    name = next((name for name, kind in marked.items() if kind.ext_name() == "geoarrow.wkb"), None)
    if name is None or normal_text(name) not in table.names:
        return Source(table=table)
    table = replace(table, geometry=normal_text(name))
    try:
        crs = json.loads(marked[name].ext_metadata() or "{}").get("crs")
        if crs is None:
            return Source(table=table, unsure=True)
        return Source(table=table, crs=crs_name(crs) if isinstance(crs, str) else crs_from_json(crs))
    except UsageError as error:
        raise table.wrong(f"the file cannot be used as it is: {error}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise table.wrong("the coordinate system of the column of points is damaged; write the file again.") from None


def _geoparquet(table: Table, file: Path) -> Source:
    """Return a Parquet table with what its ``geo`` metadata say, if it has any."""
    try:
        text = pl.read_parquet_metadata(file).get("geo")
        if text is None:
            return _geoarrow(table, file)
        geo = json.loads(text)
        column = geo["columns"][geo["primary_column"]]
        name = normal_text(geo["primary_column"])
        encoding = str(column.get("encoding")).upper()
    except (ValueError, KeyError, TypeError, AttributeError, OSError, pl.exceptions.PolarsError):
        raise table.wrong("the GeoParquet metadata are damaged; write the file again.") from None
    if name not in table.names:
        raise table.wrong(f"the GeoParquet metadata name the column {listed([str(name)])}, which is not there.")
    if encoding not in ("WKB", "POINT"):
        raise table.wrong("the geometry is neither WKB nor points, so there are no points to read.")
    table = replace(table, geometry=name)
    # GeoParquet without a word on the system is degrees by its standard; null means that nobody knows.
    if "crs" not in column:
        return Source(table=table, crs=WGS84)
    if column["crs"] is None:
        return Source(table=table, unsure=True)
    try:
        return Source(table=table, crs=crs_from_json(column["crs"]))
    except UsageError as error:
        raise table.wrong(f"the file cannot be used as it is: {error}.") from None
    except (KeyError, TypeError, AttributeError, IndexError):
        raise table.wrong(
            "the coordinate system in the GeoParquet metadata is damaged; write the file again."
        ) from None
