"""Folders that nobody publishes: small, well-formed, and made to keep a judge busy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wayveil.io import write_published, write_taxonomy
from wayveil.model import Data, Stops, Verdict
from wayveil.pipeline.folder.manifest import described, make_manifest, published_name, taxonomy_name

__all__ = ["forge", "make_folder"]


def make_folder(folder: Path, data: Data, method: Any, *, form: str = "parquet", claim: Any = None) -> Path:
    """Write data as if the method had published them, with a manifest that says so; nothing is judged.

    The `claim` is that of the method, unless another one is given.
    """
    folder.mkdir()
    write_published(data, folder / published_name(form), key=b"k" * 16)
    if isinstance(data, Stops):
        write_taxonomy(data.taxonomy, folder / taxonomy_name(form))
    verdict = Verdict(holds=True, claim=claim or method.claim, counted="trajectories", measured={}, reason="")
    table = described(data, source_owners="declared")
    made = make_manifest(folder, method=method, verdict=verdict, table=table, each_trajectory=True)
    (folder / "manifest.json").write_bytes(made.to_bytes())
    return folder


def forge(folder: Path, change: Callable[[dict[str, Any]], object] | None = None) -> None:
    """Change the manifest, and let it tell the size and hash of each file as it is now."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    if change is not None:
        change(manifest)
    for name in manifest["files"]:
        content = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps(manifest, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
