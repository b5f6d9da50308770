"""GeoPackage, Shapefile and FlatGeobuf as GeoParquet, through pyogrio (extra `geo`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.errors import InputError

__all__ = ["VECTOR_FILES", "convert_vector", "read_layer"]

VECTOR_FILES = (".gpkg", ".shp", ".fgb")
"""The suffixes that are read through pyogrio."""


def convert_vector(path: Path, folder: Path, *, shown: str) -> Path:
    """Write the one layer of a file with points as GeoParquet; return where.

    Raises
    ------
    InputError
        If the extra is not installed, or the file is damaged, has several layers with geometry, or no points.
    """
    facts, geometry, fields = read_layer(path, shown=shown)
    if "point" not in str(facts["geometry_type"]).lower() or "multi" in str(facts["geometry_type"]).lower():
        raise InputError(f"{shown}: the layer holds no points; one point per row is needed.")
    columns: dict[str, pl.Series] = {
        str(name): pl.Series(values.tolist(), strict=False)
        for name, values in zip(facts["fields"], fields, strict=True)
    }
    places = [None if wkb is None else bytes(wkb) for wkb in geometry]
    frame = pl.DataFrame({**columns, "geometry": pl.Series(places, dtype=pl.Binary)})
    column = {"encoding": "WKB", "geometry_types": ["Point"], "crs": _projjson(facts.get("crs"))}
    meta = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    target = folder / "layer.parquet"
    frame.write_parquet(target, metadata={"geo": json.dumps(meta)})
    return target


def read_layer(path: Path, *, shown: str) -> tuple[Any, Any, Any]:
    """Return what pyogrio tells of the one layer with geometry of a file, its geometry as WKB, and its columns.

    Raises
    ------
    InputError
        If the extra is not installed, or the file is damaged or has several layers with geometry.
    """
    try:
        import pyogrio
    except ImportError:
        raise InputError(
            f"{shown}: reading {path.suffix} files needs the extra geo: pip install 'wayveil[geo]'."
        ) from None
    try:
        layers = [(name, kind) for name, kind in pyogrio.list_layers(path).tolist() if kind is not None]
        if len(layers) != 1:
            raise InputError(f"{shown}: the file has {len(layers):,} layers with places; write one of them to a file.")
        facts, _, geometry, fields = pyogrio.raw.read(path, layer=layers[0][0], datetime_as_string=True)
    except InputError:
        raise
    except Exception:
        # What GDAL says may hold values.
        raise InputError(f"{shown}: the file cannot be read; it may be damaged or cut short.") from None
    return facts, geometry, fields


def _projjson(crs: Any) -> Any:
    """Return a coordinate system as GeoParquet has it; None where the file says none that is known."""
    import pyproj

    try:
        return None if not crs else pyproj.CRS.from_user_input(crs).to_json_dict()
    except pyproj.exceptions.CRSError:
        return None
