"""Zones that people have as files: polygons with ids, from GeoJSON, GeoPackage and Shapefile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from wayveil.errors import InputError, closest
from wayveil.io.formats.geojson import features, system_of
from wayveil.io.formats.vector_files import VECTOR_FILES, read_layer
from wayveil.io.tabular.crs import WGS84, Crs, crs_name
from wayveil.io.tabular.messages import count
from wayveil.model import Frame
from wayveil.model.normal import normal_text
from wayveil.model.places.zone_polygons import ZonePolygons

__all__ = ["ZONE_FILES", "read_zones"]

_GEOJSON = (".geojson", ".json", ".geojsonl", ".geojsons", ".ndjson", ".jsonl")
ZONE_FILES = (*_GEOJSON, *VECTOR_FILES)
"""The suffixes of files with zones."""

_USUAL_IDS = (
    *("zone_id", "zoneid", "zone", "taz_id", "taz", "geoid20", "geoid10", "geoid", "tractce", "locationid"),
    *("location_id", "gisjoin", "lsoa21cd", "lsoa11cd", "msoa21cd", "nuts_id", "insee", "ags", "code", "id"),
    *("objectid", "fid", "name"),
)
_SLIVER = 1e-3
"""Neighbours that were drawn apart from each other share slivers; less than this of the smaller one is no overlap."""

_POLYGONS = (3, 6)  # shapely's numbers of Polygon and MultiPolygon


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """The features of a file: their outlines, their columns as text, and where each stands in the file."""

    shapes: np.ndarray
    columns: Mapping[str, list[str | None]]
    numbers: Sequence[int]
    noun: str
    crs: Crs | None


def read_zones(path: str | Path, *, id_column: str = "auto", frame: Frame | None = None) -> ZonePolygons:
    """Return the polygons of a file as zones for data of this frame.

    Parameters
    ----------
    path : str or Path
        A .geojson, .json or .geojsonl file; a .gpkg, .shp or .fgb file with the extra `geo`.
    id_column : str
        The column (property) with the id of a zone; "auto" takes the usual names, then the first column in which every
        zone has another value, and a note says which.
    frame : Frame, optional
        That of the data.  Zones in another coordinate system become degrees if the data are in degrees (extra `geo`).
        Without it, they become degrees where the file says its system, and stay as they are in the file otherwise.

    Raises
    ------
    InputError
        If the file holds other shapes than polygons, two zones overlap, ids are missing or repeated, or the coordinate
        systems do not fit.

    Notes
    -----
    Polygons that cross themselves are repaired (`shapely.make_valid`) and counted.  Two zones overlap if they share
    more than a thousandth of the smaller one.

    Examples
    --------
    >>> import tempfile
    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "tracts.geojson")
    ...     _ = file.write_text(json.dumps({"type": "Feature", "geometry": square, "properties": {"GEOID": "17"}}))
    ...     read_zones(file, frame=Frame(crs="EPSG:4326", degrees=True)).name
    ('17',)
    """
    shown = str(path)
    name = Path(path).name.lower()
    if name.endswith(_GEOJSON):
        layer = _geojson(shown, Path(path))
    elif name.endswith(VECTOR_FILES):
        layer = _vector_layer(shown, Path(path))
    else:
        raise InputError(
            f"{shown}: the format of zones is told by the suffix; give a .geojson, .geojsonl, .gpkg, .shp or .fgb file."
        )
    if not len(layer.shapes):
        raise InputError(f"{shown}: there are no zones; at least one polygon is needed.")
    notes: list[str] = []
    column, ids = _ids(shown, layer, id_column)
    if id_column == "auto":
        notes.append(f"The ids of the zones were taken from {column}; name another with id=COLUMN.")
    # Crossing borders are repaired before anything is measured: their areas would be wrong.
    shapes, repaired = _valid(shown, layer)
    if repaired:
        notes.append(f"Borders that cross themselves were repaired in {count(repaired, 'zone')}.")
    if frame is not None:
        shapes = _in_frame(shown, shapes, layer.crs, frame)
    elif layer.crs is not None and layer.crs != WGS84:
        shapes = _transformed(shown, shapes, layer.crs)
    # A position in two zones would have two names.
    _refuse_overlaps(shown, shapes, layer)
    return ZonePolygons(name=tuple(ids), shape=tuple(shapely.to_wkb(shapes).tolist()), notes=tuple(notes))


def _geojson(shown: str, path: Path) -> _Layer:
    shapes: list[Any] = []
    rows: list[dict[str, str | None]] = []
    numbers: list[int] = []
    systems: set[str] = set()
    noun = "feature"
    if not path.is_file():
        raise InputError(f"{shown}: there is no such file.")
    for where, feature, around in features(shown, path):
        noun = where[0]
        geometry = feature.get("geometry") if isinstance(feature, dict) else None
        try:
            shapes.append(shapely.from_geojson(json.dumps(geometry)))
        except (shapely.errors.GEOSException, TypeError, ValueError):
            # Counted as a feature all the same: it is refused below, with its number.
            shapes.append(None)
        properties = feature.get("properties") if isinstance(feature, dict) else None
        row = (
            {normal_text(str(key)): _text(value) for key, value in properties.items()}
            if isinstance(properties, dict)
            else {}
        )
        # GeoJSON may keep the id beside the properties.
        if isinstance(feature, dict) and feature.get("id") is not None and "id" not in row:
            row["id"] = _text(feature["id"])
        rows.append(row)
        numbers.append(where[1])
        systems.update(system_of(shown, owner) for owner in (around, feature) if owner and "crs" in owner)
    if len(systems) > 1:
        raise InputError(f"{shown}: the file mixes several coordinate systems; convert it to one of them.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _Layer(
        shapes=np.array(shapes, dtype=object),
        columns={name: [row.get(name) for row in rows] for name in names},
        numbers=numbers,
        noun=noun,
        crs=crs_name(systems.pop()) if systems else WGS84,  # what the standard prescribes where nothing is said
    )


def _vector_layer(shown: str, path: Path) -> _Layer:
    facts, geometry, fields = read_layer(path, shown=shown)
    columns = {
        normal_text(str(name)): [_text(value) for value in values.tolist()]
        for name, values in zip(facts["fields"], fields, strict=True)
    }
    shapes = shapely.from_wkb(geometry, on_invalid="ignore")
    system = facts.get("crs")
    return _Layer(
        shapes=np.asarray(shapes, dtype=object),
        columns=columns,
        numbers=range(1, len(shapes) + 1),
        noun="feature",
        crs=None if not system else crs_name(str(system)),
    )


def _text(value: Any) -> str | None:
    """Return the value of a property as an id; a list or an object is none."""
    if value is None or isinstance(value, (bool, dict, list)) or value != value:
        return None
    # Libraries read whole numbers as floats where some are missing; an id is not 12.0.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return normal_text(str(value)) or None


def _ids(shown: str, layer: _Layer, wanted_name: str) -> tuple[str, list[str]]:
    """Return the column that tells zones apart, and the ids."""

    def is_id(values: list[str | None]) -> bool:
        return None not in values and len(set(values)) == len(values)

    if wanted_name != "auto":
        if wanted_name not in layer.columns:
            known = sorted(layer.columns)
            raise InputError(
                f"{shown}: there is no column {wanted_name!r} with ids of zones; the file has "
                f"{', '.join(known) or 'none'}."
                f"{closest(wanted_name, known)}"
            )
        id_column = layer.columns[wanted_name]
        missing = sum(value is None for value in id_column)
        if missing or not is_id(id_column):
            what = (
                f"{count(missing, 'zone')} {'has' if missing == 1 else 'have'} no id"
                if missing
                else "an id stands twice"
            )
            raise InputError(f"{shown}: in column {wanted_name!r} {what}; every zone needs an id of its own.")
        return f"column {wanted_name!r}", [str(value) for value in id_column]
    # Reversed, so that of two names that differ by case the first one stays.
    usual = {name.lower(): name for name in reversed(list(layer.columns))}
    # Usual names in their order, then any column that tells zones apart.
    for column in (*(usual[word] for word in _USUAL_IDS if word in usual), *layer.columns):
        if is_id(layer.columns[column]):
            return f"column {column!r}", [str(value) for value in layer.columns[column]]
    raise InputError(f"{shown}: no column tells the zones apart; give every zone an id, and name it with id=COLUMN.")


def _valid(shown: str, layer: _Layer) -> tuple[np.ndarray, int]:
    """Return polygons that do not cross themselves, and how many were repaired; refuse everything else."""
    kind = shapely.get_type_id(layer.shapes)
    sound = np.isin(kind, _POLYGONS) & ~shapely.is_empty(layer.shapes)
    sound &= np.isfinite(shapely.bounds(layer.shapes)).all(axis=1)
    if not sound.all():
        bad = np.flatnonzero(~sound)
        raise InputError(
            f"{shown}: {count(len(bad), 'feature')} {'is' if len(bad) == 1 else 'are'} no polygon of finite numbers, "
            f"{'at' if len(bad) == 1 else 'first at'} {layer.noun} {layer.numbers[bad[0]]:,}; correct or remove them."
        )
    # Heights play no part.
    shapes = shapely.force_2d(layer.shapes)
    crossed = ~shapely.is_valid(shapes)
    shapes[crossed] = [_areas(shape) for shape in shapely.make_valid(shapes[crossed]).tolist()]
    flat = np.flatnonzero(shapely.area(shapes) <= 0)
    if len(flat):
        raise InputError(
            f"{shown}: {count(len(flat), 'zone')} {'has' if len(flat) == 1 else 'have'} no area, "
            f"first at {layer.noun} {layer.numbers[flat[0]]:,}; correct or remove them."
        )
    return shapes, int(np.count_nonzero(crossed))


def _areas(shape: Any) -> Any:
    """Return what of a repaired shape has an area."""
    # A repair may leave lines and points where borders crossed; only areas are zones.
    parts = shapely.get_parts(shapely.get_parts(np.array([shape], dtype=object)))
    return shapely.union_all(parts[np.isin(shapely.get_type_id(parts), _POLYGONS)])


def _in_frame(shown: str, shapes: np.ndarray, crs: Crs | None, frame: Frame) -> np.ndarray:
    """Return the outlines in the coordinates of the data; see `read_zones`."""
    if crs is None:
        bounds = shapely.total_bounds(shapes)
        degrees = bool((np.abs(bounds) <= [180, 90, 180, 90]).all())
        crs = WGS84 if degrees else Crs(name="", degrees=False)
    degrees = crs.degrees if crs.degrees is not None else _is_geographic(shown, crs)
    if not frame.degrees:
        if degrees:
            raise InputError(
                f"{shown}: the zones are in degrees, the data in planar coordinates; convert one of them, so that both "
                "are in the same system."
            )
        if frame.crs not in ("", "planar", crs.name) and crs.name:
            raise InputError(
                f"{shown}: the zones are in {crs.name}, the data in {frame.crs}; convert the zones to that system."
            )
        return shapes
    if crs == WGS84 or (degrees and crs.name == frame.crs):
        _refuse_not_degrees(shown, shapes)
        return shapes
    return _transformed(shown, shapes, crs)


def _refuse_not_degrees(shown: str, shapes: np.ndarray) -> None:
    bounds = shapely.total_bounds(shapes)
    if (np.abs(bounds) > [180, 90, 180, 90]).any():
        raise InputError(
            f"{shown}: the zones have coordinates that are no longitudes and latitudes, and the file does not say what "
            "they are; write the file in EPSG:4326."
        )


def _is_geographic(shown: str, crs: Crs) -> bool:
    import pyproj  # with its database, which few files need

    try:
        return bool(pyproj.CRS.from_user_input(crs.name).is_geographic)
    except pyproj.exceptions.CRSError:
        raise InputError(
            f"{shown}: the coordinate system of the zones is not one that is known; write the file in EPSG:4326."
        ) from None


def _transformed(shown: str, shapes: np.ndarray, crs: Crs) -> np.ndarray:
    """Return outlines in longitudes and latitudes."""
    import pyproj  # with its database, which few files need

    change = pyproj.Transformer.from_crs(crs.name, WGS84.name, always_xy=True)
    moved = shapely.transform(shapes, lambda xy: np.column_stack(change.transform(xy[:, 0], xy[:, 1])))
    if not np.isfinite(shapely.bounds(moved)).all():
        raise InputError(f"{shown}: a zone lies outside of what its coordinate system {crs.name} is for; correct it.")
    return np.asarray(moved, dtype=object)


def _refuse_overlaps(shown: str, shapes: np.ndarray, layer: _Layer) -> None:
    one, other = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    pairs = one < other
    one = one[pairs]
    other = other[pairs]
    area = shapely.area(shapes)
    shared = shapely.area(shapely.intersection(shapes[one], shapes[other]))
    over = np.flatnonzero(shared > _SLIVER * np.minimum(area[one], area[other]))
    if len(over):
        first = over[0]
        raise InputError(
            f"{shown}: {count(len(over), 'pair')} of zones {'overlaps' if len(over) == 1 else 'overlap'}, first "
            f"{layer.noun}s {layer.numbers[one[first]]:,} and {layer.numbers[other[first]]:,}; a place lies in one "
            "zone only, so give zones that do not overlap."
        )
