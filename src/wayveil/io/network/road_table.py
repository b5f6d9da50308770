"""Road networks from tables: one row per directed road."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from wayveil.io.formats.registry import Source, open_source
from wayveil.io.network.assemble import Lines, filled, put_together
from wayveil.io.network.linestrings import lines_of_wkb, lines_of_wkt
from wayveil.io.read.trajectory_tables import required
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.crs import WGS84, Crs, could_be_degrees, in_degrees, settle_crs, unsaid_degrees_error
from wayveil.io.tabular.headers import columns_error, shown_names
from wayveil.io.tabular.messages import listed
from wayveil.io.tabular.table import Rows
from wayveil.model import RoadNetwork
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["ENDS_DEGREES", "ENDS_METRES", "read_road_table"]

ENDS_METRES = ("from_x", "from_y", "to_x", "to_y")
ENDS_DEGREES = ("from_lon", "from_lat", "to_lon", "to_lat")

_NEEDED = ("road", "from_node", "to_node")
_APART_M = 5.0  # lines that meet at a node may end this far from each other: coordinates are often rounded
_LARGEST_M = 1e13
_CORRECT = "Correct these rows."


def read_road_table(path: str | Path, crs: str | None) -> RoadNetwork:
    """Read the columns road, from_node, to_node, and length_m, geometry and the places of the nodes where given."""
    source = open_source(path)
    table = source.table
    at = {name: i for i, name in enumerate(table.names) if name}
    missing = [name for name in _NEEDED if name not in at]
    if missing:
        raise columns_error(
            table,
            f"a road network has the columns road, from_node and to_node, but {listed(missing)} is missing; the file "
            f"has {shown_names(table)}.",
        )
    ends = next((names for names in (ENDS_DEGREES, ENDS_METRES) if all(name in at for name in names)), None)
    drawn = table.geometry or ("geometry" if "geometry" in at else None)
    columns = [*_NEEDED, *(("length_m",) if "length_m" in at else ()), *((drawn,) if drawn else ()), *(ends or ())]
    rows = table.read([at[name] for name in columns])
    if not len(rows):
        raise table.wrong("the file has a header but no roads; at least one road is needed.")
    # First the graph, which must be whole; then where it lies, which may be unknown.
    roads, start, end, nodes = _graph(rows, at)
    geometry = _geometry(rows, at[drawn]) if drawn else None
    given = [_numbers(rows, at[name]) for name in ends] if ends else None
    system = _system(source, crs, ends, given, geometry)
    _refuse_outside(rows, given, geometry, system)
    places = _places(rows, start, end, len(nodes), given, geometry, system)
    lines = None if geometry is None or places is None else filled(geometry, start, end, places)
    return put_together(
        roads=roads,
        from_node=start,
        to_node=end,
        nodes=nodes,
        places=places,
        length_m=_lengths(rows, at["length_m"], known=places is not None) if "length_m" in at else None,
        lines=lines,
        crs=system,
    )


def _graph(rows: Rows, at: dict[str, int]) -> tuple[list[str], IntArray, IntArray, tuple[str, ...]]:
    names = required(rows, at["road"])
    rows.refuse(
        ~names.is_first_distinct(),
        "column 'road' repeats the name of another road",
        "Give every directed road a name of its own; a street with two directions is two roads.",
    )
    # Both ends are coded together, so that a node has one number on either side.
    both, nodes = by_name(pl.concat([required(rows, at["from_node"]), required(rows, at["to_node"])]))
    start = both[: len(rows)].astype(np.int64)
    end = both[len(rows) :].astype(np.int64)
    return names.to_list(), start, end, nodes


def _geometry(rows: Rows, position: int) -> Lines:
    """Return the lines, without points where the value is missing."""
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    if values.dtype == pl.String:
        values = values.set((values == "").fill_null(False), None)
        offsets, x, y, bad = lines_of_wkt(values)
    elif values.dtype == pl.Binary:
        offsets, x, y, bad = lines_of_wkb(values)
    else:
        raise rows.table.wrong(f"column '{name}' is neither text nor binary; store LINESTRING (x y, x y) or WKB.")
    rows.refuse(
        bad & values.is_not_null().to_numpy(), f"column '{name}' is not a LINESTRING of finite numbers", _CORRECT
    )
    return Lines(offsets=offsets, x=x, y=y)


def _numbers(rows: Rows, position: int) -> FloatArray:
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    numbers = values.cast(pl.Float64, strict=False)
    rows.refuse(numbers.is_null() | ~numbers.is_finite(), f"column '{name}' is not a finite number", _CORRECT)
    return numbers.to_numpy()


def _lengths(rows: Rows, position: int, *, known: bool) -> FloatArray | None:
    """Return lengths, NaN where a missing one can be computed; None where all are missing."""
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    # An empty text is a missing value, too.
    empty = values.is_null() if values.dtype != pl.String else values.is_null() | (values == "").fill_null(True)
    if empty.all():
        return None
    numbers = values.cast(pl.Float64, strict=False)
    sound = numbers.is_finite().fill_null(False) & (numbers >= 0).fill_null(False)
    # Where places are known, a missing length is computed from them; otherwise every length must be there.
    rows.refuse(~sound & ~(empty if known else empty & False), f"column '{name}' is not a number >= 0", _CORRECT)
    return numbers.fill_null(np.nan).to_numpy()


def _system(
    source: Source,
    given: str | None,
    ends: tuple[str, ...] | None,
    given_ends: list[FloatArray] | None,
    geometry: Lines | None,
) -> Crs | None:
    """Return the coordinate system: what is said, then what names say; lines alone are degrees if they can be."""
    crs = settle_crs(source.table, given, source.crs)
    if crs is not None or (ends is None and geometry is None):
        return crs
    if ends == ENDS_DEGREES:
        return WGS84
    # Metres by their names; numbers that are all small could be degrees under a wrong name, and must be declared.
    if given_ends is not None:
        if could_be_degrees(np.append(*given_ends[::2]), np.append(*given_ends[1::2])):
            raise unsaid_degrees_error(source.table.path, "every road")
        return None
    if source.unsure:
        raise source.table.wrong(
            "nobody knows the coordinate system of the geometry; add the columns from_x, from_y, to_x and to_y for "
            "metres, or from_lon, from_lat, to_lon and to_lat for degrees."
        )
    return WGS84 if geometry is not None and could_be_degrees(geometry.x, geometry.y) else None


def _refuse_outside(rows: Rows, given: list[FloatArray] | None, geometry: Lines | None, crs: Crs | None) -> None:
    bad = np.zeros(len(rows), np.bool_)
    degrees = crs is not None and crs.degrees
    # Each end of a road has its own pair of columns.
    for x, y in [] if given is None else [(given[0], given[1]), (given[2], given[3])]:
        bad |= _outside(x, y, degrees)
    if geometry is not None:
        wrong = _outside(geometry.x, geometry.y, degrees)
        # A road is refused as a whole if any point of its line is outside.
        bad |= np.bincount(_line_of_point(geometry)[wrong], minlength=len(rows)) > 0
    form = "longitudes from -180 to 180 with latitudes from -90 to 90" if degrees else "metres below 10^13"
    rows.refuse(bad, f"coordinates are not {form}", _CORRECT)


def _outside(x: FloatArray, y: FloatArray, degrees: bool | None) -> np.ndarray:
    return ~in_degrees(x, y) if degrees else (np.abs(x) > _LARGEST_M) | (np.abs(y) > _LARGEST_M)


def _line_of_point(lines: Lines) -> IntArray:
    return np.repeat(np.arange(len(lines.offsets) - 1), np.diff(lines.offsets))


def _places(
    rows: Rows,
    start: IntArray,
    end: IntArray,
    n_nodes: int,
    given: list[FloatArray] | None,
    geometry: Lines | None,
    crs: Crs | None,
) -> tuple[FloatArray, FloatArray] | None:
    """Return where the nodes are: from the columns, or else from the ends of the lines; None where nothing tells."""
    if given is not None:
        road = np.tile(np.arange(len(rows)), 2)
        x = np.append(given[0], given[2])
        y = np.append(given[1], given[3])
        node = np.append(start, end)
        apart = 0.0  # columns repeat the same number in every row, so it must be the same
        what = "a node has another place than in an earlier row"
    elif geometry is not None:
        has = np.flatnonzero(np.diff(geometry.offsets))
        first = geometry.offsets[has]
        last = geometry.offsets[has + 1] - 1
        road = np.tile(has, 2)
        x = geometry.x[np.append(first, last)]
        y = geometry.y[np.append(first, last)]
        node = np.append(start[has], end[has])
        apart = _APART_M
        what = "the geometry does not lead from the place of from_node to that of to_node that other roads say"
    else:
        return None
    order = np.argsort(road, kind="stable")  # the first row that says it decides
    road = road[order]
    node = node[order]
    x = x[order]
    y = y[order]
    first_at = np.full(n_nodes, -1)
    # Written from the back, so that the first row in which a node stands remains.
    first_at[node[::-1]] = np.arange(len(node))[::-1]
    unplaced = first_at < 0
    rows.refuse(
        unplaced[start] | unplaced[end],
        "column 'geometry' is empty, and no other road says where its nodes are",
        _CORRECT,
    )
    at_x = x[first_at]
    at_y = y[first_at]
    # Metres per degree of latitude: a rough measure is enough for a tolerance.
    scale = 111_320.0 if crs is not None and crs.degrees else 1.0
    off = np.hypot(x - at_x[node], y - at_y[node]) * scale > apart
    rows.refuse(np.bincount(road[off], minlength=len(rows)) > 0, what, _CORRECT)
    return at_x, at_y
