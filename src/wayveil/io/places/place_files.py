"""Places from files: points with a radius and polygons, with what kind of place each is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import has_format
from wayveil.io.formats.geojson import features, system_of
from wayveil.io.formats.osm_places import places_of_osm
from wayveil.io.places.place_shapes import Shape, Shapes, centroids, shape_of_geojson, shape_of_wkt, shapes
from wayveil.io.read.trajectory_tables import refuse_missing, required
from wayveil.io.tabular.columns import looks_like
from wayveil.io.tabular.crs import WGS84, Crs, could_be_degrees, crs_name, in_degrees, settle_crs, unsaid_degrees_error
from wayveil.io.tabular.headers import columns_error, shown_names
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.table import Rows, Table, as_text, open_table
from wayveil.model import Frame
from wayveil.model.data.ragged import BoolArray, FloatArray
from wayveil.model.places.places import Places

__all__ = ["read_places"]

_SAID = ("place", "node", "radius_m", "min_stay")
_LARGEST_M = 1e13
_CORRECT = "Correct or remove these rows."


def read_places(path: str | Path, *, crs: str | None = None) -> Places:
    """Read places; the suffix tells the format.

    Parameters
    ----------
    path : str or Path
        A table (.csv, .csv.gz, .parquet) with the column place, where it is (x and y, lon and lat, or geometry with
        POINT, POLYGON or MULTIPOLYGON as WKT), and as far as known node (what kind of place it is), radius_m and
        min_stay (seconds); GeoJSON points and polygons with these properties, where ``name`` serves for ``place``; or
        an OpenStreetMap extract (.osm.pbf, .osm, .osm.xml), see `places_of_osm`.
    crs : str, optional
        The coordinate system, as in `ReadOptions`.  Without it lon and lat and GeoJSON are degrees, x and y metres
        (refused where all of them could be degrees), and a geometry is degrees if all of it can be.

    Returns
    -------
    Places
        In metres.  Holes of polygons are left out: they count as inside.

    Raises
    ------
    InputError
        If the file cannot be read or breaks a rule; says what, how often, and where first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "places.csv")
    ...     _ = file.write_text("place;node;geometry\\nMain Park;Park;POLYGON ((0 0, 900 0, 900 600, 0 600, 0 0))\\n")
    ...     places = read_places(file)
    >>> places.name, places.x.tolist(), places.y.tolist(), places.is_polygon.tolist()
    (('Main Park',), [450.0], [300.0], [True])
    """
    shown = str(path)
    file = Path(path)
    if has_format(file, "csv", "parquet"):
        return _places(open_table(path), crs, None, None)
    if has_format(file, "geojson", "geojson_lines"):
        table, drawn, file_crs = _features(shown, file)
        return _places(table, crs, file_crs, drawn)
    if has_format(file, "osm"):
        table, drawn = places_of_osm(shown)
        return _places(table, None, WGS84, drawn)
    raise InputError(
        f"{shown}: the format of places is told by the suffix; give a .csv, .csv.gz, .parquet, .geojson, .geojsonl, "
        ".osm.pbf, .osm or .osm.xml file."
    )


def _places(table: Table, given: str | None, declared: Crs | None, drawn: Sequence[Shape] | None) -> Places:
    """Return the places of a table; where `drawn` has their shapes, they are degrees unless somebody says otherwise."""
    at = {name: i for i, name in enumerate(table.names) if name}
    where = [] if drawn is not None else _where(table, at)
    if "place" not in at:
        message = f"places need the column 'place', their name; the file has {shown_names(table)}."
        raise columns_error(table, message)
    rows = table.read([at[name] for name in (*(n for n in _SAID if n in at), *where)])
    if not len(rows):
        raise table.wrong("there are no places; at least one is needed.")
    names = required(rows, at["place"])
    rows.refuse(~names.is_first_distinct(), "a place has the name of another place", "Give each a name of its own.")
    kinds = as_text(rows, at["node"]).fill_null("").to_list() if "node" in at else [""] * len(rows)
    radius, stay = (_amounts(rows, at.get(name)) for name in ("radius_m", "min_stay"))
    # Points and polygons become one form: a point per place and rings, NaN for what a place is not.
    outlines = shapes(drawn) if drawn is not None else _drawn(rows, [at[name] for name in where])
    system = _system(table, given, declared, where, outlines)
    frame, outlines = _in_metres(rows, outlines, system)
    middle_x, middle_y = centroids(outlines, len(rows))
    return Places(
        name=tuple(names.to_list()),
        node=tuple(kinds),
        x=np.where(np.isnan(outlines.x), middle_x, outlines.x),
        y=np.where(np.isnan(outlines.y), middle_y, outlines.y),
        radius_m=np.nan_to_num(radius, nan=0.0),
        min_stay=stay,
        ring_place=outlines.ring_place,
        ring_offsets=outlines.ring_offsets,
        ring_x=outlines.ring_x,
        ring_y=outlines.ring_y,
        frame=frame,
    )


def _where(table: Table, at: dict[str, int]) -> list[str]:
    """Return the columns that say where: one with a geometry, or two with x and y."""
    known = {what: name for name in reversed(at) if (what := looks_like(name, "lon", "lat", "geometry", whole=True))}
    for pair in (("x", "y"), (known.get("lon"), known.get("lat"))):
        if all(name in at for name in pair):
            return [str(name) for name in pair]
    if "geometry" in known:
        return [known["geometry"]]
    raise columns_error(
        table,
        "places need the columns x and y, or lon and lat, or geometry, which say where; the file has "
        f"{shown_names(table)}.",
    )


def _drawn(rows: Rows, where: list[int]) -> Shapes:
    if len(where) == 2:
        x, y = (_numbers(rows, position) for position in where)
        none = shapes([])
        return Shapes(
            x=x, y=y, ring_place=none.ring_place, ring_offsets=none.ring_offsets, ring_x=none.ring_x, ring_y=none.ring_y
        )
    name = rows.table.names[where[0]]
    if rows.frame[str(where[0])].dtype != pl.String:
        raise rows.table.wrong(f"column '{name}' is no text; store POINT (x y) or POLYGON ((x y, x y, x y)) as WKT.")
    refuse_missing(rows, where[0])
    outlines = [shape_of_wkt(text) for text in rows.frame[str(where[0])].to_list()]
    bad = np.array([shape is None for shape in outlines], np.bool_)
    rows.refuse(bad, f"column '{name}' is no POINT, POLYGON or MULTIPOLYGON of finite numbers", _CORRECT)
    return shapes([shape for shape in outlines if shape is not None])


def _numbers(rows: Rows, position: int) -> FloatArray:
    refuse_missing(rows, position)
    numbers = as_text(rows, position).str.strip_chars().cast(pl.Float64, strict=False)
    bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    rows.refuse(bad, f"column '{rows.table.names[position]}' is not a finite number", _CORRECT)
    return numbers.to_numpy()


def _amounts(rows: Rows, position: int | None) -> FloatArray:
    """Return numbers >= 0, NaN where nothing is said."""
    if position is None:
        return np.full(len(rows), np.nan)
    text = as_text(rows, position)
    numbers = text.str.strip_chars().cast(pl.Float64, strict=False)
    sound = numbers.is_finite().fill_null(False) & (numbers >= 0).fill_null(False)
    rows.refuse(
        text.is_not_null() & ~sound,
        f"column '{rows.table.names[position]}' is not a number >= 0",
        "Write metres and seconds without a unit.",
    )
    return numbers.fill_null(np.nan).to_numpy()


def _system(table: Table, given: str | None, system: Crs | None, where: list[str], outlines: Shapes) -> Crs | None:
    settled = settle_crs(table, given, system)
    if settled is not None or not where:
        return settled or WGS84
    if len(where) == 2:
        if looks_like(where[0], "lon"):
            return WGS84
        if could_be_degrees(outlines.x, outlines.y):
            raise unsaid_degrees_error(table.path, "every place")
        return None
    # All corners and points must be able to be degrees, or they are metres.
    x = np.append(outlines.x, outlines.ring_x)
    y = np.append(outlines.y, outlines.ring_y)
    return WGS84 if could_be_degrees(x[~np.isnan(x)], y[~np.isnan(y)]) else None


def _in_metres(rows: Rows, outlines: Shapes, crs: Crs | None) -> tuple[Frame, Shapes]:
    degrees = crs is not None and bool(crs.degrees)
    # The place that each corner belongs to, by way of its ring.
    corner = outlines.ring_place[np.repeat(np.arange(len(outlines.ring_place)), np.diff(outlines.ring_offsets))]
    bad = _outside(outlines.x, outlines.y, degrees) & ~np.isnan(outlines.x)
    bad |= np.bincount(corner[_outside(outlines.ring_x, outlines.ring_y, degrees)], minlength=len(rows)) > 0
    form = "longitudes from -180 to 180 with latitudes from -90 to 90" if degrees else "metres below 10^13"
    rows.refuse(bad, f"coordinates are not {form}", _CORRECT)
    if not degrees:
        return Frame(crs="" if crs is None else crs.name), outlines
    # One frame for points and corners, or they would not lie in each other.
    points = ~np.isnan(outlines.x)
    every_x = np.append(outlines.x[points], outlines.ring_x)
    every_y = np.append(outlines.y[points], outlines.ring_y)
    frame = Frame.for_degrees(every_x, every_y, crs=WGS84.name if crs is None else crs.name)
    x, y = frame.to_metres(outlines.x, outlines.y)
    ring_x, ring_y = frame.to_metres(outlines.ring_x, outlines.ring_y)
    return frame, Shapes(
        x=x, y=y, ring_place=outlines.ring_place, ring_offsets=outlines.ring_offsets, ring_x=ring_x, ring_y=ring_y
    )


def _outside(x: FloatArray, y: FloatArray, degrees: bool) -> BoolArray:
    return ~in_degrees(x, y) if degrees else (np.abs(x) > _LARGEST_M) | (np.abs(y) > _LARGEST_M)


def _features(shown: str, file: Path) -> tuple[Table, list[Shape], Crs | None]:
    """Return the properties of GeoJSON features as a table, their shapes, and the coordinate system."""
    columns: dict[str, list[Any]] = {name: [] for name in _SAID}
    drawn: list[Shape] = []
    numbers: list[int] = []
    bad: list[int] = []
    systems: set[str] = set()
    noun = "feature"
    for where, feature, around in features(shown, file):
        noun, number = where
        shape = shape_of_geojson(feature.get("geometry")) if isinstance(feature, dict) else None
        properties = (feature.get("properties") or {}) if isinstance(feature, dict) else None
        if shape is None or not isinstance(properties, dict):
            bad.append(number)
            continue
        values = {"place": properties.get("name"), **properties}
        for name in _SAID:
            value = values.get(name)
            columns[name].append(None if value is None or isinstance(value, (dict, list)) else str(value))
        systems.update(system_of(shown, owner) for owner in (around, feature) if owner and "crs" in owner)
        drawn.append(shape)
        numbers.append(number)
    if bad:
        raise InputError(
            f"{shown}: {count(len(bad), 'feature')} that {'is' if len(bad) == 1 else 'are'} no point or polygon of "
            f"finite numbers, {'at' if len(bad) == 1 else 'first at'} {noun} {bad[0]:,}; correct or remove them."
        )
    table = Table(
        path=shown,
        names=_SAID,
        lazy=pl.DataFrame({str(i): pl.Series(columns[name], dtype=pl.String) for i, name in enumerate(_SAID)}).lazy(),
        csv=None,
        places=lambda row: f"{noun} {numbers[row]:,}",
    )
    if len(systems) > 1:
        raise table.wrong("the file mixes several coordinate systems; convert it to one of them.")
    return table, drawn, crs_name(systems.pop()) if systems else None
