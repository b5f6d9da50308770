"""Where published zones are: a table of outlines beside published visits and trips."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.errors import InputError, UsageError
from wayveil.io.publish.writer import write_table
from wayveil.io.publish.written_form import check_form, check_start
from wayveil.io.tabular.table import open_table
from wayveil.model.data.ragged import FloatArray
from wayveil.model.places.zone_polygons import ZonePolygons

__all__ = ["check_outlines", "outlines_of_names", "sides_of_names", "write_outlines"]

_COLUMNS = ("zone", "geometry")
_NUMBER = r"(-?[0-9.]*[0-9](?:e[+-]?[0-9]+)?|)"  # nothing, where a side is open
_RECTANGLE = re.compile(rf"(x|lon){_NUMBER}\.\.{_NUMBER}_(y|lat){_NUMBER}\.\.{_NUMBER}(?:_t(?:[0-9]+[a-z]*|\.\.))?")
_LIMITS = {"lon": ("-180", "180"), "lat": ("-90", "90")}
_H3 = re.compile(r"[0-9a-f]{15}")
_DECIMALS = 7  # of degrees, a centimetre; of metres far less than anybody draws


def outlines_of_names(names: Iterable[str]) -> dict[str, str | None]:
    """Return where the rectangles and H3 cells of these names are, as well-known text; None for any other name.

    An open side of a rectangle is drawn where degrees end; in metres, as far outside of the outermost border that one
    of the names has as these borders are apart, and at least a kilometre.

    Examples
    --------
    >>> outlines_of_names(["x0..100_y-50..50_t4h", "x100.._y-50..50", "Park"])
    {'x0..100_y-50..50_t4h': 'POLYGON ((0 -50, 100 -50, 100 50, 0 50, 0 -50))',
     'x100.._y-50..50': 'POLYGON ((100 -50, 1100 -50, 1100 50, 100 50, 100 -50))', 'Park': None}
    """
    outlines: dict[str, str | None] = {}
    listed = list(names)
    limits = _LIMITS | {axis: _rim(listed, axis) for axis in ("x", "y")}
    for name in listed:
        match = _RECTANGLE.fullmatch(name)
        if match is None:
            outlines[name] = _outline_of_h3(name) if _H3.fullmatch(name) else None
            continue
        across, left, right, along, low, high = match.groups()
        left = left or limits[across][0]
        right = right or limits[across][1]
        low = low or limits[along][0]
        high = high or limits[along][1]
        outlines[name] = f"POLYGON (({left} {low}, {right} {low}, {right} {high}, {left} {high}, {left} {low}))"
    return outlines


def sides_of_names(names: Iterable[str]) -> FloatArray:
    """Return left, right, lower and upper side of rectangles, as their names say; without end where a side is open.

    Rows of other names have no numbers.  Longitudes and latitudes stay degrees.

    Examples
    --------
    >>> sides_of_names(["x0..100_y-50..50_t4h", "x100.._y-50..50", "Park"]).tolist()
    [[0.0, 100.0, -50.0, 50.0], [100.0, inf, -50.0, 50.0], [nan, nan, nan, nan]]
    """
    rows = []
    for name in names:
        match = _RECTANGLE.fullmatch(name)
        if match is None:
            rows.append([np.nan] * 4)
            continue
        ends = (-np.inf, np.inf, -np.inf, np.inf)
        texts = match.group(2, 3, 5, 6)
        rows.append([float(text) if text else end for text, end in zip(texts, ends, strict=True)])
    return np.array(rows, np.float64).reshape(-1, 4)


def _rim(names: Iterable[str], axis: str) -> tuple[str, str]:
    """Return where open sides are drawn, in metres."""
    place = {"x": 1, "y": 4}[axis]
    matches = (match for name in names if (match := _RECTANGLE.fullmatch(name)) is not None)
    sides = [
        float(side) for match in matches if match[place] == axis for side in match.group(place + 1, place + 2) if side
    ]
    if not sides:
        return "-1000", "1000"
    # As far outside as everything is wide, and at least a kilometre: an open zone must be seen to be open.
    far = max(max(sides) - min(sides), 1000.0)
    return f"{min(sides) - far:.10g}", f"{max(sides) + far:.10g}"


def _outline_of_h3(name: str) -> str | None:
    try:
        import h3
    except ImportError:
        raise UsageError("Outlines of H3 cells need the extra geo: pip install 'wayveil[geo]'.") from None
    if not h3.is_valid_cell(name):
        return None
    corners = [f"{lon:.{_DECIMALS}f} {lat:.{_DECIMALS}f}" for lat, lon in h3.cell_to_boundary(name)]
    return f"POLYGON (({', '.join([*corners, corners[0]])}))"


def write_outlines(names: Iterable[str], path: str | Path, polygons: ZonePolygons | None = None) -> None:
    """Write the columns zone and geometry (well-known text) of these zones, for the public; nothing without any.

    Parameters
    ----------
    names : iterable of str
        The zones that published rows name.
    path : str or Path
        Ends in .csv or .parquet.
    polygons : ZonePolygons, optional
        Where zones are whose names do not say it.
    """
    write_table(_frame(names, polygons), path, None)


def _frame(names: Iterable[str], polygons: ZonePolygons | None) -> pl.DataFrame:
    import shapely

    # One row per zone that occurs, sorted: the table says nothing about how often, or in which order.
    zones = sorted(set(names))
    drawn: dict[str, str] = {}
    if polygons is not None:
        shapes = shapely.from_wkb(np.array(polygons.shape, dtype=object))
        texts = shapely.to_wkt(shapes, rounding_precision=_DECIMALS, trim=True).tolist()
        drawn = dict(zip(polygons.name, texts, strict=True))
    drawn_by_name = outlines_of_names(zone for zone in zones if zone not in drawn)
    outlines = [drawn[zone] if zone in drawn else drawn_by_name[zone] for zone in zones]
    return pl.DataFrame({"zone": pl.Series(zones, dtype=pl.String), "geometry": pl.Series(outlines, dtype=pl.String)})


def check_outlines(path: str | Path, names: Iterable[str]) -> str:
    """Return what is wrong with the outlines of these published zones, "" if nothing is.

    The table has a row per published zone, in the order of their names.  Where a name says where its rectangle is, that
    is the outline; all others are polygons.
    """
    import shapely

    try:
        check_start(path, len(_COLUMNS))
        table = open_table(path)
        if table.names != _COLUMNS:
            return "the outlines of zones have other columns than zone and geometry"
        frame = table.lazy.collect()
        frame = frame.rename(dict(zip(frame.columns, _COLUMNS, strict=True)))
        if frame.schema != pl.Schema({"zone": pl.String, "geometry": pl.String}):
            return "the outlines of zones are no text"
        check_form(path, frame, None)
    except (InputError, pl.exceptions.PolarsError):
        return "the outlines of zones cannot be read, or are not in the form in which they are written"
    if frame["zone"].to_list() != sorted(set(names)):
        return "the outlines are not those of the published zones"
    rectangles = [zone for zone in frame["zone"] if _RECTANGLE.fullmatch(zone)]
    outlines = outlines_of_names(rectangles)
    if any(zone in outlines and outline != outlines[zone] for zone, outline in frame.iter_rows()):
        return "the outline of a zone is not the one that its name says"
    texts = [text for text in frame["geometry"].to_list() if text is not None]
    shapes = shapely.from_wkt(np.array(texts, dtype=object), on_invalid="ignore")
    if not np.isin(shapely.get_type_id(shapes), (3, 6)).all():
        return "an outline of a zone is no polygon"
    return ""
