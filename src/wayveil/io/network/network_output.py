"""Road networks to disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from wayveil.errors import OutputError
from wayveil.io.formats.features import GEOJSON_LINES, GEOJSON_WHOLE
from wayveil.io.network.assemble import Lines, straight
from wayveil.io.network.linestrings import wkb_of_lines, wkt_of_lines
from wayveil.io.network.road_table import ENDS_DEGREES, ENDS_METRES
from wayveil.io.publish.writer import write_csv, write_file, write_parquet
from wayveil.model import RoadNetwork

__all__ = ["write_network"]


def write_network(network: RoadNetwork, path: str | Path) -> None:
    """Write a road network in a form that `read_network` takes, or as GeoJSON for maps.

    Parameters
    ----------
    network : RoadNetwork
        Degrees, if its file had them, are written again.
    path : str or Path
        Ends in .csv (lines as WKT), .parquet (GeoParquet, if it is known where the roads are), or, for networks in
        degrees, .geojson or .geojsonl.

    Raises
    ------
    OutputError
        If the file cannot be written, or GeoJSON is asked of a network that is not in degrees.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(RoadNetwork.from_roads([("ab", "a", "b")]), Path(folder, "roads.csv"))
    ...     Path(folder, "roads.csv").read_text()
    'road,from_node,to_node\\nab,a,b\\n'
    """
    suffix = Path(path).suffix.lower()
    if any("" in names for names in (network.roads, network.nodes)):
        raise OutputError(f"{path}: a road or a node has an empty name, which cannot be told from a missing one.")
    lines = None if network.node_x is None and network.shape is None else _lines(network)
    frame = _frame(network)
    if suffix == ".csv":
        if lines is not None and network.shape is not None:
            frame = frame.with_columns(geometry=wkt_of_lines(lines.offsets, lines.x, lines.y))
        write_file(path, lambda stream: write_csv(frame, stream))
    elif suffix == ".parquet":
        metadata = None
        if lines is not None:
            frame = frame.with_columns(geometry=wkb_of_lines(lines.offsets, lines.x, lines.y))
            metadata = {"geo": _geo(network)}
        write_file(path, lambda stream: write_parquet(frame, stream, metadata))
    elif suffix in (*GEOJSON_WHOLE, *GEOJSON_LINES):
        if lines is None or not network.frame.degrees:
            raise OutputError(f"{path}: GeoJSON holds degrees, which this network has not; write .csv or .parquet.")
        drawn = lines
        write_file(path, lambda stream: _write_features(frame, drawn, stream, whole=suffix in GEOJSON_WHOLE))
    else:
        raise OutputError(
            f"{path}: the format is told by the suffix; end the name in .csv, .parquet, .geojson or .geojsonl."
        )


def _frame(network: RoadNetwork) -> pl.DataFrame:
    nodes = pl.Series(network.nodes, dtype=pl.String)
    columns = {
        "road": pl.Series(network.roads, dtype=pl.String),
        "from_node": nodes.gather(network.from_node),
        "to_node": nodes.gather(network.to_node),
    }
    if network.length_m is not None:
        columns["length_m"] = pl.Series(network.length_m, dtype=pl.Float64)
    if network.node_x is not None and network.node_y is not None:
        x, y = network.frame.to_file(network.node_x, network.node_y)
        ends = (x[network.from_node], y[network.from_node], x[network.to_node], y[network.to_node])
        names = ENDS_DEGREES if network.frame.degrees else ENDS_METRES
        columns |= {name: pl.Series(values, dtype=pl.Float64) for name, values in zip(names, ends, strict=True)}
    return pl.DataFrame(columns)


def _lines(network: RoadNetwork) -> Lines:
    """Return the roads in the coordinates of the file; straight where nothing else is known."""
    x = network.node_x
    y = network.node_y
    shape = network.shape
    if shape is None or network.shape_x is None or network.shape_y is None:
        places = (np.zeros(0), np.zeros(0)) if x is None or y is None else network.frame.to_file(x, y)
        return straight(network.from_node, network.to_node, places)
    x, y = network.frame.to_file(network.shape_x, network.shape_y)
    return Lines(offsets=shape, x=x, y=y)


def _geo(network: RoadNetwork) -> str:
    """Return the metadata of GeoParquet; without a ``crs`` the coordinates are degrees, and null says nothing."""
    column: dict[str, object] = {"encoding": "WKB", "geometry_types": ["LineString"]}
    if not network.frame.degrees:
        column["crs"] = None
    return json.dumps({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}})


def _write_features(frame: pl.DataFrame, lines: Lines, stream: IO[bytes], *, whole: bool) -> None:
    points = np.stack([lines.x, lines.y], axis=1).tolist()
    named = frame.select(name for name in frame.columns if name not in ENDS_DEGREES).to_dicts()
    at = lines.offsets.tolist()
    texts = (
        json.dumps(
            {"type": "Feature", "geometry": {"type": "LineString", "coordinates": points[a:b]}, "properties": row},
            ensure_ascii=False,
            separators=(",", ":"),
        ).encode()
        for row, a, b in zip(named, at[:-1], at[1:], strict=True)
    )
    if whole:
        stream.write(b'{"type":"FeatureCollection","features":[\n' + b",\n".join(texts) + b"\n]}\n")
    else:
        stream.writelines(text + b"\n" for text in texts)
