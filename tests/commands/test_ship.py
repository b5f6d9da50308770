"""Machine code for a wheel: collected again without compiling where nothing has changed, and only there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayveil.commands import ship as module
from wayveil.commands.ship import ship


@pytest.fixture
def rehearsals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Compile nothing: a rehearsal leaves one file of each of two kernels; return where each one ran."""
    ran: list[Path] = []
    names = sorted(module.code_name(source) for source in Path(module.kernels.__file__).parent.rglob("*.py"))[:2]

    def rehearse(command: list[str], *, env: dict[str, str], check: bool) -> Any:
        cache = Path(env["XDG_CACHE_HOME"])
        ran.append(cache)
        for name in (*names, "of-other-sources"):
            (cache / "wayveil" / name).mkdir(parents=True, exist_ok=True)
            (cache / "wayveil" / name / "f.code").write_text(name)

    monkeypatch.setattr(module.subprocess, "run", rehearse)
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache" / "own")
    (tmp_path / "cache").mkdir()
    return ran


def test_only_code_of_these_sources_is_collected(rehearsals: list[Path], tmp_path: Path) -> None:
    assert ship(tmp_path / "one", ["generic"]) == 2
    assert not list((tmp_path / "one").rglob("of-other-sources"))


def test_a_second_build_rehearses_nothing(rehearsals: list[Path], tmp_path: Path) -> None:
    assert ship(tmp_path / "one", ["generic"]) == ship(tmp_path / "two", ["generic"]) == 2
    assert len(rehearsals) == 1
    ship(tmp_path / "three", ["x86-64-v3"])
    assert len(rehearsals) == 2


@pytest.mark.parametrize("change", ["sources", "a file is gone", "the note is broken"])
def test_what_changed_is_rehearsed_again(
    rehearsals: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    ship(tmp_path / "one", ["generic"])
    if change == "sources":
        monkeypatch.setattr(module, "_name_state", lambda: "others")
    elif change == "a file is gone":
        next(rehearsals[0].rglob("*.code")).unlink()
    else:
        (rehearsals[0] / "complete.json").write_text(json.dumps({"state": 1}))
    assert ship(tmp_path / "two", ["generic"]) == 2
    assert len(rehearsals) == 2
