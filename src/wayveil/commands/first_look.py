"""A file before it is used: what it holds, and whether it is too large to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wayveil.engines import scratch_folder
from wayveil.errors import WayveilError
from wayveil.io.formats.file_formats import converted_format, endings_for, endings_of
from wayveil.io.intake.text_files import TEXT_ENDINGS
from wayveil.io.limits import refuse_large
from wayveil.io.preview import preview as preview_in
from wayveil.pipeline.plain_input import is_plain, plain_input
from wayveil.recipe.recipe import InputSpec

__all__ = ["endings_by_role", "preview", "preview_input", "refuse_large"]

_ONE_FILE_LAYERS = (".gpkg", ".fgb")
"""Vector formats that are one file each; a Shapefile is several."""


def endings_by_role() -> dict[str, tuple[str, ...]]:
    """Return for every use of a file which endings its name can have, formats of plug-ins included."""
    tables = endings_of("csv", "parquet")
    packed = tuple(f"{text}.gz" for text in TEXT_ENDINGS)
    text = dict.fromkeys((*packed, *TEXT_ENDINGS, ".zip", *_ONE_FILE_LAYERS, *endings_for("table", "points")))
    return {
        "data": tuple(text),
        "network": (*endings_for("network"), ".zip"),
        "taxonomy": endings_for("taxonomy"),
        "places": endings_for("places"),
        "known": tables,
        "owners": tables,
        "zones": (*endings_of("geojson", "geojson_lines"), *_ONE_FILE_LAYERS),
    }


def preview(path: Path, **options: Any) -> dict[str, Any]:
    """Return what a person wants to see of a file before using it, with the options of `wayveil.io.preview`."""
    with scratch_folder() as folder:
        role = options.get("role", "data")
        if role != "data" or is_plain(InputSpec(path=path)) or converted_format(path) is not None:
            return preview_in(path, folder, **options)
        # A table in another dialect is looked at as it is read: converted once.
        try:
            with plain_input(InputSpec(path=path), folder) as (plain, notes):
                seen = preview_in(plain.path, folder, **options)
        except WayveilError as error:
            seen = preview_in(path, folder, **options)
            return {**seen, "problems": [str(error).removeprefix(f"{path}: ")]}
        problems = [sentence.removeprefix(f"{path}: ") for sentence in seen["problems"]]
        return {**seen, "problems": problems, "notes": [*notes, *seen["notes"]]}


def preview_input(spec: InputSpec) -> dict[str, Any]:
    """Return the same of an input that a recipe describes: its dialect, times and lines are read as it says."""
    with scratch_folder() as folder, plain_input(spec, folder) as (plain, notes):
        seen = preview_in(
            plain.path,
            folder,
            kind=plain.kind,
            columns=plain.columns or None,
            crs=plain.crs,
            on_duplicate_time=plain.on_duplicate_time,
        )
        return {**seen, "notes": [*notes, *seen["notes"]]}
