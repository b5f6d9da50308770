"""The outlines of zones beside published visits and trips: written from published names and declared polygons alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.pipeline.folder.manifest import Manifest, file_facts, outlines_name, tables
from wayveil.recipe.recipe import Recipe
from wayveil.report.views.map_geometry import Ring

__all__ = ["outline_failures", "write_zone_outlines", "zone_rings"]

_CELL = re.compile(r"x(-?[0-9]+)_y(-?[0-9]+)")
# One degree of a great circle on the mean sphere; for drawing only.
_METRES_PER_DEGREE = 111_195.0

_PLACES = {"visits": ("location",), "trips": ("origin", "destination")}
"""The columns of published tables that name zones, by kind."""


def write_zone_outlines(recipe: Recipe, folder: Path, files: Iterable[str], kind: str) -> dict[str, str]:
    """Write where the published zones are, if the recipe makes zones; return the hash of the file by its name.

    Nothing but names in the published rows and the file of polygons, which the publisher declared, goes in: zones that
    no published row names are not told.
    """
    from wayveil.io.places.zone_files import read_zones  # with shapely, which little else needs
    from wayveil.io.publish.zone_outlines import write_outlines

    steps = [step for step in recipe.prepare if step.name == "zones"]
    if not steps or kind not in _PLACES:
        return {}
    polygons = None
    if steps[-1].needs_zones and recipe.input.zones is not None:
        polygons = read_zones(recipe.input.zones, id_column=steps[-1].id)
    path = folder / outlines_name(recipe.output.format)
    write_outlines(_names(folder, files, kind), path, polygons)
    return {path.name: file_facts(path).sha256}


def zone_rings(recipe: Recipe, names: Iterable[str]) -> dict[str, Ring]:
    """Return the outlines of zones and grid cells for a map, in metres of a plane; of those that can be drawn.

    Zones with an open side end a little outside of the outermost border; of a zone in several parts, the largest is
    taken.  Degrees become metres around the middle of all zones.
    """
    steps = [step for step in recipe.prepare if step.name in ("zones", "grid")]
    if not steps:
        return {}
    listed = sorted(set(names))
    if steps[-1].name == "grid":
        return _grid_rings(listed, float(steps[-1].cell))
    rings = _rectangle_rings(listed)
    others = [name for name in listed if name not in rings]
    if others and steps[-1].needs_zones and recipe.input.zones is not None:
        rings |= _polygon_rings(recipe.input.zones, steps[-1].id, others)
    elif others:
        rings |= _text_rings(others)
    # Whether numbers can be degrees is told from their size: names of zones do not say it.
    degrees = all((np.abs(x) <= 180).all() and (np.abs(y) <= 90).all() for x, y in rings.values())
    return _in_metres(rings) if rings and degrees else rings


def _grid_rings(names: Sequence[str], side: float) -> dict[str, Ring]:
    rings = {}
    for name in names:
        match = _CELL.fullmatch(name)
        if match is not None:
            left, low = int(match[1]) * side, int(match[2]) * side
            rings[name] = _box(left, left + side, low, low + side)
    return rings


def _rectangle_rings(names: Sequence[str]) -> dict[str, Ring]:
    from wayveil.io.publish.zone_outlines import sides_of_names

    sides = sides_of_names(names)
    # Zones at the border of a plan are open to one side; for a picture they end a tenth of all beyond the outermost
    # border.
    for low, high in ((0, 1), (2, 3)):
        ends = sides[:, [low, high]]
        known = ends[np.isfinite(ends)]
        if not len(known):
            return {}
        beyond = 0.1 * (known.max() - known.min()) or 1.0
        sides[:, low] = np.where(np.isneginf(sides[:, low]), known.min() - beyond, sides[:, low])
        sides[:, high] = np.where(np.isposinf(sides[:, high]), known.max() + beyond, sides[:, high])
    return {name: _box(*row) for name, row in zip(names, sides.tolist(), strict=True) if np.isfinite(row).all()}


def _polygon_rings(path: Path, id_column: str, names: Sequence[str]) -> dict[str, Ring]:
    import shapely

    from wayveil.io.places.zone_files import read_zones

    polygons = read_zones(path, id_column=id_column)
    shapes = shapely.from_wkb(np.array(polygons.shape, dtype=object))
    return {name: _outside(shape) for name, shape in zip(polygons.name, shapes, strict=True) if name in set(names)}


def _text_rings(names: Sequence[str]) -> dict[str, Ring]:
    from wayveil.io.publish.zone_outlines import outlines_of_names

    texts = {name: text for name, text in outlines_of_names(names).items() if text is not None}
    if not texts:
        return {}
    import shapely

    return {name: _outside(shapely.from_wkt(text)) for name, text in texts.items()}


def _outside(shape: Any) -> Ring:
    """Return the outer ring of the largest part of a polygon."""
    import shapely

    largest = max(shapely.get_parts(shape), key=lambda part: part.area)
    corners = shapely.get_coordinates(largest.exterior)
    return corners[:, 0], corners[:, 1]


def _box(left: float, right: float, low: float, high: float) -> Ring:
    return np.array([left, right, right, left, left]), np.array([low, low, high, high, low])


def _in_metres(rings: Mapping[str, Ring]) -> dict[str, Ring]:
    middle = float(np.mean([y.mean() for _, y in rings.values()]))
    # Longitudes are shrunk by the cosine of the middle latitude: an equirectangular picture, good enough for a city.
    wide = _METRES_PER_DEGREE * float(np.cos(np.radians(middle)))
    return {name: (x * wide, y * _METRES_PER_DEGREE) for name, (x, y) in rings.items()}


def outline_failures(folder: Path, manifest: Manifest) -> list[str]:
    """Return what is wrong with the outlines of zones in a public folder, if it has any."""
    from wayveil.io.publish.zone_outlines import check_outlines

    named = [name for name in manifest.files if name.startswith("zones.")]
    if not named or manifest.table.kind not in _PLACES:
        return []
    try:
        names = _names(folder, tables(manifest), manifest.table.kind)
    # The outlines are judged only if the table can be read at all.
    except (OSError, pl.exceptions.PolarsError):
        return []  # told by whoever reads the table
    wrong = check_outlines(folder / named[0], names)
    return [wrong] if wrong else []


def _names(folder: Path, files: Iterable[str], kind: str) -> list[str]:
    """Return the places that published rows name."""
    names: set[str] = set()
    for name in files:
        if not name.startswith("published"):
            continue
        path = folder / name
        rows = pl.scan_parquet(path) if name.endswith(".parquet") else pl.scan_csv(path, infer_schema=False)
        table = rows.select(_PLACES[kind]).unique().collect()
        for column in _PLACES[kind]:
            names.update(table[column].drop_nulls().cast(pl.String).to_list())
    return sorted(names)
