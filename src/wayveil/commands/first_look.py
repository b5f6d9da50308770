"""A file before it is used: what it holds, and whether it is too large to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wayveil.engines import scratch_folder
from wayveil.io.limits import refuse_large
from wayveil.io.preview import preview as preview_in

__all__ = ["preview", "refuse_large"]


def preview(path: Path, **options: Any) -> dict[str, Any]:
    """Return what a person wants to see of a file before using it, with the options of `wayveil.io.preview`."""
    with scratch_folder() as folder:
        return preview_in(path, folder, **options)
