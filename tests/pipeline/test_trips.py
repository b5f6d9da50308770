"""Trips from the raw table to a verified folder, one row per trip."""

from __future__ import annotations

import random
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


def _many_trips(*, ids: bool, people: bool, names: bool, coordinates: bool) -> pl.DataFrame:
    """Return 200 trips between four places; every seventeenth lacks its end."""
    rng = random.Random(3)
    rows = []
    for i in range(200):
        begin, end, hour = rng.randrange(4), rng.randrange(4), rng.choice((8, 9, 17))
        whole = i % 17 > 0
        row: dict[str, Any] = {"traj_id": f"t{i}"} if ids else {}
        row |= {"user_id": f"u{rng.randrange(60)}"} if people else {}
        row |= {"t_start": f"2024-05-0{1 + i % 3}T{hour:02}:00:00"}
        row |= {"t_end": f"2024-05-0{1 + i % 3}T{hour + 1:02}:00:00" if whole else None}
        if names:
            row |= {"origin": f"S{begin}", "destination": f"S{end}" if whole else None}
        if coordinates:
            row |= {"start_lng": 16.3 + begin / 100, "start_lat": 48.2 + begin / 200}
            row |= {"end_lng": 16.3 + end / 100, "end_lat": 48.2 + end / 200}
        rows.append(row)
    return pl.DataFrame(rows)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "columns",
    [
        {"ids": True, "people": True, "names": True, "coordinates": False},
        {"ids": False, "people": True, "names": False, "coordinates": True},
        {"ids": False, "people": False, "names": True, "coordinates": True},
    ],
    ids=["with ids", "numbered, by coordinates", "numbered, of nobody known"],
)
def test_trips_in_several_blocks_are_those_of_one(columns: dict[str, bool], form: str, tmp_path: Path) -> None:
    table = _many_trips(**columns)
    file = tmp_path / f"trips.{form}"
    (table.write_csv if form == "csv" else table.write_parquet)(file)
    found = {}
    for name, blocks in (("whole", {}), ("blocks", {"blocks": {"by": "whole", "rows": 90}})):
        recipe = make_recipe(
            {
                "seed": 1,
                "input": {"path": str(file), **({} if columns["people"] else {"owners": "each-trajectory"})},
                # Zones of one size need the same frame in every block.
                "prepare": [
                    *([{"step": "zones", "cell": 400}] if columns["coordinates"] else []),
                    {"step": "fold", "to": "day", "part": "1h"},
                ],
                "method": {"name": "kcl", "k": 5, "l": 2},
                "attacks": [],
                "metrics": [],
                "output": {"path": str(tmp_path / name), "format": "csv"},
                **blocks,
            }
        )
        outcome = publish(recipe)
        assert outcome.public is not None
        tables = sorted(outcome.public.glob("published*.csv"))
        assert (len(tables) > 2) is bool(blocks)
        judgement = verify_folder(outcome.public)
        assert judgement.failures == ()
        assert judgement.verdict is not None
        assert "ends of trips" in judgement.verdict.claim.promise
        rows = pl.concat([pl.read_csv(table, infer_schema=False) for table in tables]).drop("traj_id")
        found[name] = sorted(rows.rows(), key=str)
    assert found["blocks"] == found["whole"]
    assert len(found["whole"]) > 150


def test_trips_of_which_a_place_is_nowhere_have_no_zones_in_blocks_either(tmp_path: Path) -> None:
    table = _many_trips(ids=False, people=True, names=True, coordinates=True)
    lost = pl.col("origin") == "S1"
    table = table.with_columns(start_lng=pl.when(~lost).then("start_lng"), start_lat=pl.when(~lost).then("start_lat"))
    lost = pl.col("destination") == "S1"
    table = table.with_columns(end_lng=pl.when(~lost).then("end_lng"), end_lat=pl.when(~lost).then("end_lat"))
    table.write_csv(tmp_path / "trips.csv")
    content = {
        "input": {"path": str(tmp_path / "trips.csv")},
        "prepare": [{"step": "zones", "cell": 400}],
        "method": {"name": "kcl", "k": 5, "l": 2},
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }
    messages = []
    for blocks in ({}, {"blocks": {"by": "whole", "rows": 90}}):
        with pytest.raises(InputError) as error:
            publish(make_recipe({**content, **blocks}))
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_method_of_visits_says_how_to_make_them(content: dict[str, Any]) -> None:
    content["method"] = {"name": "gsup", "p": "0.5", "adversaries": {"one": ["Park"]}}
    with pytest.raises(InputError, match=r"holds trips, but visits are needed\. The step ends makes visits of trips\."):
        publish(make_recipe(content))
    content["input"]["kind"] = "trips"
    with pytest.raises(UsageError, match=r"needs visits, the input is said to be trips\. The step ends makes visits"):
        make_recipe(content)
