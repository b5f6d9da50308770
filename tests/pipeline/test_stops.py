"""Stops from end to end: a taxonomy beside the data, points that become stops, owners from another table."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from wayveil.cli import main
from wayveil.commands.read_table import read
from wayveil.errors import InputError, UsageError
from wayveil.model import Stops
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import NotPublished, publish
from wayveil.recipe.recipe import make_recipe

TREE = """node,parent,sensitive
Place,,
Station,Place,
S1,Station,
S2,Station,
Park,Place,
P1,Park,
Health,Place,yes
C1,Health,
C2,Health,
"""
TRIPS = ["S1 C1 P1", "S2 P1", "S1 P1 C2", "S2 P1", "S1 P1"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "taxonomy.csv"
    path.write_text(TREE)
    return path


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    rows = [f"t{i},p{i},{seq},{place}" for i, trip in enumerate(TRIPS) for seq, place in enumerate(trip.split())]
    path = tmp_path / "stops.csv"
    path.write_text("\n".join(["traj_id,user_id,seq,place", *rows]) + "\n")
    return path


def recipe(
    path: Path, out: Path, given: dict[str, Any], m: int = 5, c: str = "0.2", weights: str = "worst", **more: Any
) -> Any:
    return make_recipe(
        {
            "seed": 1,
            "input": {"path": str(path), **{k: str(v) if isinstance(v, Path) else v for k, v in given.items()}},
            "method": {"name": "cast", "m": m, "c": c, "place_people": 1, "weights": weights},
            "output": {"path": str(out), "format": "csv", "keep_mapping": True},
            **more,
        }
    )  # fmt: skip


def test_stops_become_kinds_of_places(tmp_path: Path, trips: Path, tree: Path) -> None:
    outcome = publish(recipe(trips, tmp_path / "out", {"taxonomy": tree}))
    assert outcome.verdict.measured["max_probability_exact"] == "1/5"
    published = read(tmp_path / "out")
    assert isinstance(published, Stops)
    found = sorted(tuple(published.record(i)) for i in range(len(published)))
    assert found == sorted([("Station", "P1")] * 3 + [("Station", "C1", "P1"), ("Station", "P1", "C2")])
    assert (tmp_path / "out/public/taxonomy.csv").read_text().splitlines()[0] == "node,parent,sensitive"
    assert verify_folder(tmp_path / "out").failures == ()


def test_sensitive_nodes_can_be_named(tmp_path: Path, trips: Path, tree: Path) -> None:
    named = {"taxonomy": tree, "sensitive_nodes": ["Park"]}
    outcome = publish(recipe(trips, tmp_path / "out", named, weights="uniform"))  # everybody is in the same park
    assert outcome.verdict.holds
    published = read(tmp_path / "out")
    assert {place for i in range(len(published)) for place in published.record(i)} == {"Station", "C1", "C2"}
    assert '"sensitive_nodes' not in (tmp_path / "out/public/manifest.json").read_text()


def test_a_taxonomy_that_was_changed_is_noticed(tmp_path: Path, trips: Path, tree: Path) -> None:
    publish(recipe(trips, tmp_path / "out", {"taxonomy": tree}))
    public = tmp_path / "out/public"
    changed = (public / "taxonomy.csv").read_text().replace("Health,Place,true", "Health,Place,false")
    changed = changed.replace("C1,Health,true", "C1,Health,false").replace("C2,Health,true", "C2,Health,false")
    (public / "taxonomy.csv").write_text(changed)
    found = verify_folder(tmp_path / "out")
    assert any("hash of taxonomy.csv" in failure for failure in found.failures)
    assert any("do not keep the claim" in failure for failure in found.failures)


def test_a_taxonomy_that_is_gone_is_no_excuse(tmp_path: Path, trips: Path, tree: Path) -> None:
    publish(recipe(trips, tmp_path / "out", {"taxonomy": tree}))
    public = tmp_path / "out/public"
    (public / "taxonomy.csv").unlink()
    assert verify_folder(tmp_path / "out").failures
    manifest = json.loads((public / "manifest.json").read_text())
    del manifest["files"]["taxonomy.csv"]
    (public / "manifest.json").write_text(json.dumps(manifest))
    found = verify_folder(tmp_path / "out")
    assert any("no taxonomy" in failure for failure in found.failures)


def test_a_row_that_was_added_is_judged_whatever_the_hashes_say(tmp_path: Path, trips: Path, tree: Path) -> None:
    publish(recipe(trips, tmp_path / "out", {"taxonomy": tree}))
    public = tmp_path / "out/public"
    table = public / "published.csv"
    table.write_text(table.read_text() + "ffffffffffffffff,0,S1\nffffffffffffffff,1,C2\n")
    manifest = json.loads((public / "manifest.json").read_text())
    content = table.read_bytes()
    manifest["files"]["published.csv"] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    manifest["rows"], manifest["trajectories"] = manifest["rows"] + 2, manifest["trajectories"] + 1
    text = json.dumps(manifest, sort_keys=True, indent=2, ensure_ascii=False)
    (public / "manifest.json").write_text(f"{text}\n")
    found = verify_folder(tmp_path / "out")
    assert len(found.failures) == 1
    assert "do not keep the claim" in found.failures[0]


def test_owners_come_from_another_table(tmp_path: Path, trips: Path, tree: Path) -> None:
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(",".join(line.split(",")[i] for i in (0, 2, 3)) for line in trips.read_text().split()))
    people = tmp_path / "people.csv"
    people.write_text("traj_id,who\n" + "\n".join(f"t{i},p{i // 2}" for i in range(5)))
    given = {"taxonomy": tree, "owners": [str(people)], "columns": {"user_id": "who"}}
    with pytest.raises(InputError, match="m is 5"):
        publish(recipe(bare, tmp_path / "out", given))
    outcome = publish(recipe(bare, tmp_path / "out", given, m=3, c="1"))
    assert outcome.verdict.counted == "owners"
    assert outcome.verdict.measured["min_people"] == 3


def test_points_become_stops_and_are_published(tmp_path: Path) -> None:
    places = tmp_path / "places.csv"
    places.write_text("place,x,y,radius_m,node\ncafe,0,0,50,food\nbar,1000,0,50,food\nward,2000,0,50,clinic\n")
    rows = ["traj_id,user_id,t,x,y"]
    for i in range(4):
        for t, x in (
            (0, 0),
            (400, 3),
            (800, 0),
            (1000, 1000 if i % 2 else 900),
            (1900, 1000),
            (2000, 2000),
            (3000, 2000),
        ):
            rows.append(f"t{i},p{i},{1_700_000_000 + t},{x + i},{i}")
    path = tmp_path / "points.csv"
    path.write_text("\n".join(rows) + "\n")
    step = [{"step": "stops", "min_stay": "10min"}]
    given = {"places": places, "sensitive_nodes": ["clinic"], "crs": "planar"}
    outcome = publish(recipe(path, tmp_path / "out", given, m=4, c="1", prepare=step))
    assert outcome.verdict.holds
    published = read(tmp_path / "out")
    assert {tuple(published.record(i)) for i in range(4)} in ({("cafe", "ward")}, {("cafe", "food", "ward")})
    with pytest.raises(UsageError, match="--places"):
        publish(recipe(path, tmp_path / "out2", {"sensitive_nodes": ["clinic"]}, prepare=step))


def test_without_a_taxonomy_nothing_is_read(tmp_path: Path, trips: Path) -> None:
    with pytest.raises(UsageError, match="--taxonomy"):
        publish(recipe(trips, tmp_path / "out", {}))
    assert not (tmp_path / "out").exists()


def test_nothing_is_published_where_nothing_is_left(tmp_path: Path, tree: Path) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("traj_id,user_id,seq,place\na,p,0,C1\nb,q,0,C1\n")
    with pytest.raises((NotPublished, InputError)):
        publish(recipe(path, tmp_path / "out", {"taxonomy": tree}, m=2, c="0"))
    assert not (tmp_path / "out/public").exists()


def test_the_command_line_goes_all_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, out = tmp_path / "errands.csv", tmp_path / "out"
    tree = tmp_path / "errands-taxonomy.csv"
    assert (
        main(["generate", "errands", "--trajectories", "300", "--leaves", "40", "--seed", "1", "--out", str(made)]) == 0
    )
    given = ["--taxonomy", str(tree)]
    assert main(["publish", "cast", str(made), *given, "--c", "0.5", "--m", "5", "--out", str(out)]) == 0
    assert main(["verify", str(out)]) == 3
    assert main(["risk", str(out), "--attacks", "50"]) == 0
    assert main(["utility", str(made), str(out), *given]) == 0
    capsys.readouterr()
    days = tmp_path / "days.csv"
    assert main(["prepare", "days", str(made), *given, "--out", str(days)]) == 0
    assert (tmp_path / "days-taxonomy.csv").exists()
    assert main(["risk", str(days), "--taxonomy", str(tmp_path / "days-taxonomy.csv"), "--attacks", "50"]) == 0
