"""The table of file formats: every ending that is read, once, and what a file with it can hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import polars as pl

from wayveil.errors import InputError
from wayveil.model.file_format import Content, FileFormat
from wayveil.model.plugins import with_plugins

__all__ = ["FORMATS", "converted_format", "endings_for", "endings_of", "file_formats", "has_format", "read_converted"]

_OSM_ENDINGS = (".osm.pbf", ".pbf", ".osm.xml.gz", ".osm.xml.bz2", ".osm.xml", ".osm.gz", ".osm.bz2", ".osm")
_EVERYWHERE: tuple[Content, ...] = ("table", "network", "places", "taxonomy")

# Longer endings stand before those that they end with, so that the first that fits is the whole ending of a name.
_FORMATS = (
    FileFormat(name="csv", title="CSV", endings=(".csv.gz", ".csv"), holds=_EVERYWHERE, by_line=True),
    FileFormat(name="parquet", title="Parquet", endings=(".parquet",), holds=_EVERYWHERE),
    FileFormat(
        name="geojson_lines",
        title="GeoJSON by line",
        endings=(".geojsonl", ".geojsons", ".ndjson", ".jsonl"),
        holds=("points", "places"),
        by_line=True,
    ),
    FileFormat(name="geojson", title="GeoJSON", endings=(".geojson", ".json"), holds=("points", "places")),
    FileFormat(name="tcx", title="TCX", endings=(".tcx",), holds=("points",)),
    FileFormat(name="gpx", title="GPX", endings=(".gpx",), holds=("points",)),
    FileFormat(name="plt", title="GeoLife PLT", endings=(".plt",), holds=("points",)),
    FileFormat(name="graphml", title="GraphML", endings=(".graphml.xml", ".graphml"), holds=("network",)),
    FileFormat(name="osm", title="OpenStreetMap", endings=_OSM_ENDINGS, holds=("network", "places")),
    FileFormat(name="tree_json", title="JSON tree", endings=(".json.gz", ".json"), holds=("taxonomy",)),
    FileFormat(name="tree_text", title="text tree", endings=(".txt.gz", ".txt"), holds=("taxonomy",)),
)
FORMATS: Mapping[str, FileFormat] = {entry.name: entry for entry in _FORMATS}
"""Every format that is read as it is, by name."""


def file_formats() -> Mapping[str, FileFormat]:
    """Return every format by name: ours, then those of plug-ins."""
    return with_plugins(FORMATS, "formats")


def endings_of(*names: str) -> tuple[str, ...]:
    """Return the endings of some formats of ours.

    >>> endings_of("gpx", "plt")
    ('.gpx', '.plt')
    """
    return tuple(ending for name in names for ending in FORMATS[name].endings)


def endings_for(*contents: Content) -> tuple[str, ...]:
    """Return the endings of all files that can hold one of these, plug-ins included.

    >>> endings_for("points")[-2:]
    ('.gpx', '.plt')
    """
    # In the order of the table, each ending once: two formats may share one, as .json does.
    fitting = [entry for entry in file_formats().values() if set(contents) & set(entry.holds)]
    return tuple(dict.fromkeys(ending for entry in fitting for ending in entry.endings))


def has_format(path: Path, *names: str) -> bool:
    """Whether the name of a file has an ending of one of these formats of ours."""
    return path.name.lower().endswith(endings_of(*names))


def converted_format(path: Path) -> FileFormat | None:
    """Return the format of a plug-in that a file is of: it is read as a whole and converted once."""
    return next((entry for entry in file_formats().values() if entry.read is not None and entry.fits(path)), None)


def read_converted(entry: FileFormat, path: Path, folder: Path, *, shown: str) -> Path:
    """Write what a plug-in reads from a file as Parquet into a folder; return where.

    Raises
    ------
    InputError
        If the plug-in cannot read the file, or returns something else than a polars frame.
    """
    read = entry.read if entry.read is not None else partial(_no_reader, entry)
    try:
        frame = read(path)
    except InputError:
        raise
    # Whatever the code of somebody else raises must end as one sentence, without what it said.
    except Exception as error:  # code of somebody else; what it says may hold values of people
        raise InputError(
            f"{shown}: the plug-in for {entry.title} files failed with a {type(error).__name__}; tell its authors."
        ) from error
    if not isinstance(frame, pl.DataFrame):
        raise InputError(f"{shown}: the plug-in for {entry.title} files returned no polars frame; tell its authors.")
    target = folder / f"{entry.name}.parquet"
    frame.write_parquet(target)
    return target


def _no_reader(entry: FileFormat, path: Path) -> pl.DataFrame:
    raise InputError(f"{path.name}: {entry.title} files are not read as a table.")
