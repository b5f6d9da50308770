"""The source distribution holds all that the program is built from."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_sdist_holds_the_sources_of_the_page(tmp_path: Path) -> None:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("not in a source tree")
    sdist = pytest.importorskip("hatchling.builders.sdist")
    (made,) = sdist.SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    here = [path.relative_to(ROOT).as_posix() for path in (ROOT / "frontend" / "src").rglob("*") if path.is_file()]
    assert len(here) > 5
    assert names >= set(here)
    assert names >= {"frontend/package.json", "frontend/package-lock.json", "frontend/index.html", "pyproject.toml"}
    assert not [name for name in names if "node_modules" in name or name.startswith(("build/", ".venv/"))]
