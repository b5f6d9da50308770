"""Tables as GeoJSON features, and published features back as tables."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.geojson import features
from wayveil.io.tabular.table import Table, peek

__all__ = ["GEOJSON_LINES", "GEOJSON_WHOLE", "SIDES", "open_features", "write_features"]

GEOJSON_WHOLE = (".geojson",)
GEOJSON_LINES = (".geojsonl",)
SIDES = ("x_min", "x_max", "y_min", "y_max")

# Corners of a box, counterclockwise from the south-west, as (side of x, side of y); the first comes again at the end.
_RING = (("x_min", "y_min"), ("x_max", "y_min"), ("x_max", "y_max"), ("x_min", "y_max"), ("x_min", "y_min"))


def write_features(
    frame: pl.DataFrame, stream: IO[bytes], geometry: Sequence[str], pattern: str | None, *, whole: bool
) -> None:
    """Write one feature per row: two columns of `geometry` make a point, the four sides of a box a polygon.

    The other columns are its properties.  `whole` writes one FeatureCollection, otherwise each line is a Feature.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> write_features(pl.DataFrame({"t": [1], "lon": [2.5], "lat": [3.0]}), stream, ["lon", "lat"], None, whole=False)
    >>> stream.getvalue().decode().strip()
    '{"type":"Feature","geometry":{"type":"Point","coordinates":[2.5,3.0]},"properties":{"t":1}}'
    """
    point = len(geometry) == 2
    # Coordinates of all rows as one array, (rows, 2) of points or (rows, 1, 5, 2) of polygons, which Polars writes as
    # nested lists: no Python object per row.
    if point:
        coordinates = np.stack([frame[name].to_numpy() for name in geometry], axis=1)
    else:
        side = {name: frame[name].to_numpy() for name in SIDES}
        coordinates = np.stack([np.stack([side[x], side[y]], axis=1) for x, y in _RING], axis=1)[:, None]
    others = [
        pl.col(name).dt.to_string(pattern) if isinstance(dtype, pl.Datetime) and pattern else pl.col(name)
        for name, dtype in frame.schema.items()
        if name not in geometry
    ]
    out = frame.with_columns(pl.Series("", coordinates)).select(
        type=pl.lit("Feature"),
        geometry=pl.struct(type=pl.lit("Point" if point else "Polygon"), coordinates=pl.col("")),
        properties=pl.struct(others),
    )
    if not whole:
        out.write_ndjson(stream)
        return
    body = io.BytesIO()
    out.write_ndjson(body)
    # Line ends inside texts are escaped, so that each line end here is the end of a feature.
    stream.write(b'{"type":"FeatureCollection","features":[\n')
    stream.write(body.getvalue().rstrip(b"\n").replace(b"\n", b",\n"))
    stream.write(b"\n]}\n")


def open_features(path: str | Path, expected: Sequence[str], types: Mapping[str, pl.DataType]) -> Table:
    """Return a published GeoJSON file as a table with exactly these columns and types; anything else is refused.

    Places are taken from the geometry, everything else from the properties, which must be the other columns in their
    order.
    """
    shown = str(path)
    sides = SIDES if "x_min" in expected else ("x", "y")
    others = [name for name in expected if name not in sides]
    columns: dict[str, list[Any]] = {name: [] for name in expected}
    numbers: list[int] = []
    noun = "feature"
    lines = Path(path).suffix.lower() in GEOJSON_LINES
    for (noun, number), feature, _ in () if lines and not peek(shown, Path(path))[2] else features(shown, Path(path)):
        # The very keys in the very order in which they are written: anything else was edited.
        whole = isinstance(feature, dict) and list(feature) == ["type", "geometry", "properties"]
        properties = feature["properties"] if whole and feature["type"] == "Feature" else None
        place = _place(feature["geometry"], len(sides)) if whole else None
        if not isinstance(properties, dict) or list(properties) != others or place is None:
            raise InputError(
                f"{shown}: not a published table: {noun} {number:,} is not a feature as it is written. Publish again; "
                "a published file must not be edited."
            )
        for name, value in (*properties.items(), *zip(sides, place, strict=True)):
            columns[name].append(value)
        numbers.append(number)
    try:
        frame = pl.DataFrame(
            {str(i): pl.Series(columns[name], dtype=types[name], strict=True) for i, name in enumerate(expected)}
        )
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise InputError(
            f"{shown}: not a published table: a property is not of the type that is written. Publish again; a "
            "published file must not be edited."
        ) from None
    return Table(
        path=shown,
        names=tuple(expected),
        lazy=frame.lazy(),
        csv=None,
        places=lambda row: f"{noun} {numbers[row]:,}",
    )


def _place(geometry: Any, sides: int) -> tuple[float, ...] | None:
    """Return x and y of a point, or the four sides of a polygon that is a box; None for anything else."""
    if not isinstance(geometry, dict) or list(geometry) != ["type", "coordinates"]:
        return None
    coordinates = geometry["coordinates"]
    if sides == 2:
        return _pair(coordinates) if geometry["type"] == "Point" else None
    if geometry["type"] != "Polygon" or not isinstance(coordinates, list) or len(coordinates) != 1:
        return None
    # A box is known by two opposite corners; that the other three follow from them is checked.
    ring = [_pair(corner) for corner in coordinates[0]] if isinstance(coordinates[0], list) else []
    if len(ring) != len(_RING) or ring[0] is None or ring[2] is None:
        return None
    side = dict(zip(("x_min", "y_min", "x_max", "y_max"), (*ring[0], *ring[2]), strict=True))
    box = all(corner == (side[x], side[y]) for corner, (x, y) in zip(ring, _RING, strict=True))
    return tuple(side[name] for name in SIDES) if box else None


def _pair(coordinates: Any) -> tuple[float, float] | None:
    if (
        not isinstance(coordinates, list)
        or len(coordinates) != 2
        # 1 and 1.0 are the same number but not the same bytes; integers are never written.
        or any(type(value) is not float for value in coordinates)
    ):
        return None
    return coordinates[0], coordinates[1]
