"""Trips from the raw table to a verified folder, one row per trip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wayveil.errors import InputError, UsageError
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

LINES = [
    "bike,started_at,start_station_name,ended_at,end_station_name,sex",
    *(f"{bike},2024-05-01 08:{bike:02d}:00,Park,2024-05-01 08:{bike + 9:02d}:00,Quay,f" for bike in range(10, 14)),
    "10,2024-05-01 09:00:00,Quay,2024-05-01 09:30:00,Zoo,m",
    "11,2024-05-01 09:00:00,Park,2024-05-01 09:10:00,Zoo,m",
    "12,2024-05-01 22:00:00,Zoo,2024-05-01 22:10:00,Zoo,m",
]


@pytest.fixture
def content(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "bikes.csv"
    path.write_text("\n".join(LINES) + "\n")
    return {
        "seed": 1,
        "input": {"path": str(path), "columns": {"user_id": "bike"}},
        "prepare": [{"step": "bucket", "width": "1h"}],
        "method": {"name": "kcl", "k": 2, "l": 2},
        "output": {"path": str(tmp_path / "out"), "format": "csv", "keep": ["sex"]},
    }


def test_a_folder_of_trips_is_verified(content: dict[str, Any]) -> None:
    outcome = publish(make_recipe(content))
    assert outcome.verdict.holds
    assert "at most 2 ends of trips" in outcome.verdict.claim.promise
    assert outcome.public is not None
    table = pl.read_csv(outcome.public / "published.csv", infer_schema=False)
    assert table.columns == ["traj_id", "t_start", "origin", "t_end", "destination", "sex"]
    whole = ("2024-05-01T08:00:00", "Park", "2024-05-01T08:00:00", "Quay", "f")
    half = (None, None, "2024-05-01T09:00:00", "Zoo", "m")
    assert sorted((row[1:] for row in table.rows()), key=str) == sorted([whole] * 4 + [half] * 2, key=str)
    judgement = verify_folder(outcome.public)
    assert judgement.failures == ()
    assert judgement.verdict is not None
    assert judgement.verdict.measured["min_support"] == 2


def test_an_edited_end_fails(content: dict[str, Any]) -> None:
    outcome = publish(make_recipe(content))
    assert outcome.public is not None
    table = outcome.public / "published.csv"
    table.write_text(table.read_text().replace(",,,2024-05-01T09:00:00,Zoo", ",2024-05-01T09:00:00,Park,,", 1))
    assert verify_folder(outcome.public).failures


def test_trips_are_read_whole(content: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="holds trips, which are read whole"):
        publish(make_recipe({**content, "blocks": {"by": "whole", "rows": 2}}))


def test_a_method_of_visits_says_how_to_make_them(content: dict[str, Any]) -> None:
    content["method"] = {"name": "gsup", "p": "0.5", "adversaries": {"one": ["Park"]}}
    with pytest.raises(InputError, match=r"holds trips, but visits are needed\. The step ends makes visits of trips\."):
        publish(make_recipe(content))
    content["input"]["kind"] = "trips"
    with pytest.raises(UsageError, match=r"needs visits, the input is said to be trips\. The step ends makes visits"):
        make_recipe(content)
