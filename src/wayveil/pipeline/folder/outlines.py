"""The outlines of zones beside published visits and trips: written from published names and declared polygons alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from wayveil.pipeline.folder.manifest import Manifest, file_facts, outlines_name, tables
from wayveil.recipe.recipe import Recipe

__all__ = ["outline_failures", "write_zone_outlines"]

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


def outline_failures(folder: Path, manifest: Manifest) -> list[str]:
    """Return what is wrong with the outlines of zones in a public folder, if it has any."""
    from wayveil.io.publish.zone_outlines import check_outlines

    named = [name for name in manifest.files if name.startswith("zones.")]
    if not named or manifest.table.kind not in _PLACES:
        return []
    try:
        names = _names(folder, tables(manifest), manifest.table.kind)
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
