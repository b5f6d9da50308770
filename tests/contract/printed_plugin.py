"""A process in which `kcl_printed` of the studies is a method: a way to a publication that the verifier refuses."""

from __future__ import annotations

import os
from pathlib import Path

STUDIES = Path(__file__).parents[2] / "benchmarks" / "studies"


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that finds the plug-in; its metadata are written into a folder."""
    metadata = folder / "printed_methods-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: printed-methods\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[wayveil.methods]\nkcl_printed = printed_methods:PrintedKcl\n")
    paths = [str(folder), str(STUDIES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
