"""Attackers see every public file: the boxes beside published points, too."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.engines import LocalEngine
from wayveil.kernels.common import code_cache
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.outcome import Outcome
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

PEOPLE, ROWS, K = 36, 6, 3


def points(*, degrees: bool = False) -> pl.DataFrame:
    """Return points of people who go in groups of three, each group in a street of its own."""
    numbers = np.random.default_rng(8)
    rows = []
    for person in range(PEOPLE):
        for t in range(ROWS):
            x = 5000.0 * (person // K) + 50 * t + numbers.normal(0, 9)
            y = numbers.normal(0, 9)
            where = {"lon": 13.37 + x / 7e6, "lat": 52.5 + y / 1e7} if degrees else {"x": x, "y": y}
            when = f"2024-05-31T07:{t:02d}:00Z" if degrees else str(t)
            rows.append({"traj_id": f"CARD{person}", "user_id": f"PERSON{person}", "t": when, **where})
    return pl.DataFrame(rows)


def run(tmp_path: Path, **others: Any) -> Outcome:
    points(degrees=others.pop("degrees", False)).write_csv(tmp_path / "in.csv")
    content = {
        "seed": 3,
        "input": {"path": str(tmp_path / "in.csv")},
        "method": {"name": "tga", "k": K, "publish": "points"},
        "attacks": [{"name": "nearest_positions"}, {"name": "attack_graph"}, {"name": "uniqueness_of_points"}],
        "metrics": [],
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
        **others,
    }
    return publish(make_recipe(content), engine=LocalEngine(workers=1), secret=Secret(bytes(32)))


@pytest.mark.parametrize("blocks", [None, {"by": "place", "rows": 90}])
def test_boxes_beside_points_are_attacked(tmp_path: Path, blocks: dict[str, Any] | None) -> None:
    outcome = run(tmp_path, **({} if blocks is None else {"blocks": blocks}))
    assert outcome.verdict.holds
    for raw, published in outcome.attacks[:2]:
        assert published.adversary.endswith("sees the boxes beside the published points")
        assert "boxes" not in raw.adversary
        assert raw.measured["identity_max"] == 1
        assert published.measured["identity_max"] == pytest.approx(1 / K)
        assert published.measured["identity_mean"] == pytest.approx(1 / K)
    # What sees points only is run on the points.
    assert "boxes" not in outcome.attacks[2][1].adversary


def test_boxes_alone_are_attacked_with_the_same_success(tmp_path: Path) -> None:
    beside = run(tmp_path)
    alone = run(tmp_path, method={"name": "tga", "k": K}, attacks=[{"name": "nearest_positions"}],
                output={"path": str(tmp_path / "boxes"), "format": "csv"})  # fmt: skip
    assert beside.attacks[0][1].measured == alone.attacks[0][1].measured


def test_the_recipe_of_the_page_on_habits_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are rehearsed on next to nothing, which need not fit what a recipe asks of the real data."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(code_cache, "_folder", [])
    page = (Path(__file__).parents[2] / "docs" / "attacks" / "positions.md").read_text(encoding="utf-8")
    asked = tomllib.loads(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    outcome = run(tmp_path, degrees=True, method={"name": "tga", "k": K}, **asked)
    assert [raw.name for raw, _ in outcome.attacks] == ["lbqid"]
    assert outcome.attacks[0][0].measured["users"] == PEOPLE


def test_durations_of_attacks_do_not_stop_the_rehearsal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(code_cache, "_folder", [])
    attacks = [{"name": "watched_places", "time_error": "5min"}, {"name": "first_last", "within": "1h"}]
    assert len(run(tmp_path, degrees=True, method={"name": "tga", "k": K}, attacks=attacks).attacks) == 2
