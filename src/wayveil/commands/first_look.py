"""A file before it is used: what it holds, and whether it is too large to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wayveil.engines import scratch_folder
from wayveil.io.formats.file_formats import endings_for, endings_of
from wayveil.io.limits import refuse_large
from wayveil.io.preview import preview as preview_in

__all__ = ["endings_by_role", "preview", "refuse_large"]


def endings_by_role() -> dict[str, tuple[str, ...]]:
    """Return for every use of a file which endings its name can have, formats of plug-ins included."""
    tables = endings_of("csv", "parquet")
    return {
        "data": endings_for("table", "points"),
        "network": endings_for("network"),
        "taxonomy": endings_for("taxonomy"),
        "places": endings_for("places"),
        "known": tables,
        "owners": tables,
    }


def preview(path: Path, **options: Any) -> dict[str, Any]:
    """Return what a person wants to see of a file before using it, with the options of `wayveil.io.preview`."""
    with scratch_folder() as folder:
        return preview_in(path, folder, **options)
