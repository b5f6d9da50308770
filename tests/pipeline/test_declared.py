"""What a recipe declares beside the data: knowledge, places, adversaries; and boxes as the proof of points."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from wayveil.cli import main
from wayveil.commands.read_table import read
from wayveil.errors import InputError, OutputError, UsageError
from wayveil.model import AttackGraph, Boxes, BreachBound, KclPrivacy, Method, MethodResult, Points, Visits
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import NotPublished, publish
from wayveil.recipe import catalog
from wayveil.recipe.defaults import default_attacks, default_metrics
from wayveil.recipe.recipe import load_recipe, make_recipe


@pytest.fixture
def points(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = [
        f"trip{i},{i},{t},{100 * t + rng.normal(0, 5):.2f},{rng.normal(0, 5):.2f}"
        for i in range(12)
        for t in range(1, 6)
    ]
    path = tmp_path / "points.csv"
    path.write_text("\n".join(["traj_id,user_id,t,x,y", *rows]) + "\n")
    return path


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    ways = ["a1 b1 a2", "a1 b1 a2 b3", "a1 b2 a2", "a1 a2 b2", "a1 a3 b1", "a3 b1", "a3 b2", "a3 b2 b3"]
    rows = [f"t{i},{i},{t},{place}" for i, way in enumerate(ways) for t, place in enumerate(way.split(), 1)]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    return path


def test_what_is_known_comes_from_a_table(points: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.csv"
    known.write_text("traj_id,t\n" + "".join(f"trip{i},2\n" for i in range(12)))
    out = str(tmp_path / "out")
    asked = ["publish", "qid", str(points), "--k", "3", "--cell", "2", "--known", str(known), "--out", out]
    assert main([*asked, "--format", "csv", "--verbose"]) == 0
    assert "12 positions of 60 were marked as known" in capsys.readouterr().out.replace("\n", " ").replace("  ", "")
    rows = [line.split(",") for line in (tmp_path / "out/public/published.csv").read_text().splitlines()[1:]]
    sides = {t: {tuple(row[4:]) for row in rows if row[2] == t} for t in "123"}
    assert len(sides["2"]) <= 4 < len(sides["1"])  # only at the known time do people share boxes

    # The claim speaks of true positions, so files show only that people share the boxes of declared times.
    assert {row[-1] for row in rows if row[2] == "2"} == {"1"}
    assert main(["verify", out]) == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert "fewest people with a declared box 3 people" in shown
    assert "which published files do not show" in shown
    assert main(["publish", "qid", str(points), "--k", "3", "--known", str(points), "--out", out, "--overwrite"]) == 0
    assert main([*asked[:-2], "--prepare", "resample period=1", "--out", str(tmp_path / "b")]) == 2
    assert "mark that" in capsys.readouterr().err


def test_marks_are_not_written(points: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prepare", "mark", str(points), "--rule", "ends", "--out", str(tmp_path / "m.csv")]) == 2
    assert "A table cannot hold what mark marks" in capsys.readouterr().err
    assert not (tmp_path / "m.csv").exists()


def test_adversaries_from_a_table(visits: Path, tmp_path: Path) -> None:
    table = tmp_path / "who.csv"
    table.write_text("location,adversary\n" + "".join(f"{who.lower()}{i},{who}\n" for who in "AB" for i in (1, 2, 3)))
    places = tmp_path / "places.csv"
    places.write_text("location,x,y\n" + "".join(f"{w}{i},{100 * i},{ord(w)}\n" for w in "ab" for i in (1, 2, 3)))
    asked = ["publish", "gsup", str(visits), "--adversaries", f"@{table}", "--places", str(places)]
    assert main([*asked, "--out", str(tmp_path / "a")]) == 0
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[input]\npath = "visits.csv"\nplaces = "places.csv"\n[method]\nname = "gsup"\nadversaries = "@who.csv"\n'
        '[output]\npath = "b"\n'
    )
    outcome = publish(load_recipe(recipe))
    assert outcome.verdict.claim == BreachBound(
        p="1/2", adversaries={w: [f"{w.lower()}{i}" for i in (1, 2, 3)] for w in "AB"}
    )
    scores = {score.name: score for score in outcome.scores}
    assert {"instance_loss", "deviation"} <= set(scores)
    assert not {"visit_support", "frequent_sequences"} & set(scores)  # times are not published: nothing compares them
    assert scores["deviation"].value is not None
    names = [attack.name for attack, _ in outcome.attacks]
    assert names[0] == "counting"
    assert not {"known_visits", "uniqueness", "first_last_visits"} & set(names)
    for folder in "ab":
        assert verify_folder(tmp_path / folder).failures == ()
    manifest = json.loads((tmp_path / "b/public/manifest.json").read_text())
    assert manifest["parameters"]["adversaries"]["A"] == ["a1", "a2", "a3"]


def test_a_table_that_is_not_there(visits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["publish", "gsup", str(visits), "--out", str(tmp_path / "a")]
    assert main([*asked, "--adversaries", "@nowhere.csv"]) == 2
    assert "nowhere.csv" in capsys.readouterr().err
    assert main([*asked, "--adversaries", "A=a1", "--adversaries", "B=a1"]) == 2
    assert "one adversary only" in capsys.readouterr().err


def points_recipe(path: Path, out: Path, form: str = "csv") -> Any:
    return make_recipe(
        {
            "seed": 4,
            "input": {"path": str(path)},
            "method": {"name": "tga", "k": 3, "publish": "points"},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(out), "format": form},
        }
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_points_are_published_with_their_boxes(points: Path, tmp_path: Path, form: str) -> None:
    outcome = publish(points_recipe(points, tmp_path / "out", form))
    assert outcome.verdict.measured["points_outside"] == 0
    public = tmp_path / "out/public"
    names = ["README.html", f"boxes.{form}", "manifest.json", f"published.{form}"]
    assert sorted(path.name for path in public.iterdir()) == names
    assert verify_folder(tmp_path / "out").failures == ()
    data = read(tmp_path / "out")
    assert isinstance(data, Points)
    assert len(data) == 12


def test_boxes_that_were_changed_are_found(points: Path, tmp_path: Path) -> None:
    publish(points_recipe(points, tmp_path / "out"))
    boxes = tmp_path / "out/public/boxes.csv"
    lines = boxes.read_text().splitlines(keepends=True)
    first = lines[1].split(",")
    first[4] = str(float(first[4]) - 1)
    boxes.write_text("".join([lines[0], ",".join(first), *lines[2:]]))
    failures = verify_folder(tmp_path / "out").failures
    assert any("hash of boxes.csv differs" in failure for failure in failures)
    assert any("do not keep the claim" in failure for failure in failures)
    other = [line.replace(line[:16], "0" * 16) if line[:16] == lines[1][:16] else line for line in lines]
    boxes.write_text("".join([other[0], *sorted(other[1:], key=lambda line: line[:16])]))
    assert any(
        "are not those of the published points" in failure for failure in verify_folder(tmp_path / "out").failures
    )


@dataclass(frozen=True)
class Wrong(Method):
    """A method that does not keep the contract."""

    made: MethodResult
    splits_trajectories: bool = False  # type: ignore[misc]

    name: ClassVar[str] = "wrong"
    accepts: ClassVar[type[Points]] = Points
    publishes: ClassVar[type[Points]] = Points

    def __post_init__(self) -> None:
        """Nothing is checked."""

    @property
    def claim(self) -> Any:
        return self.made.claim

    def run(self, data: Any, *, rng: Any, engine: Any) -> MethodResult:
        return self.made


@pytest.mark.parametrize(
    ("change", "parts", "words"),
    [
        ({"boxes": Boxes.from_records([[]] * 12)}, False, "other boxes than points"),
        ({"source": np.arange(12)}, False, "another number of trajectories"),
        ({"source": np.arange(11)}, True, "another number of trajectories"),
        ({}, True, "another number of trajectories"),
    ],
)
def test_what_a_method_must_not_return(
    change: dict[str, Any], parts: bool, words: str, points: Path, tmp_path: Path
) -> None:
    data = read(points)
    made = MethodResult(data=data, claim=AttackGraph(k=2), **change)
    recipe = points_recipe(points, tmp_path / "out").model_copy(update={"method": Wrong(made, parts)})
    with pytest.raises(OutputError, match=words):
        publish(recipe)
    assert not (tmp_path / "out").exists()


def test_attacks_wait_for_what_they_ask() -> None:
    named = {attack.name for attack in default_attacks(Visits, Visits)}
    assert "known_visits" in named
    assert not {"counting", "lbqid"} & named
    claim = BreachBound(p=0.25, adversaries={"A": ["a"]}, times="keep")
    counting = [attack for attack in default_attacks(Visits, Visits, claim=claim) if attack.name == "counting"]
    assert (counting[0].threshold, counting[0].adversaries, counting[0].times) == (claim.p, claim.adversaries, "keep")
    assert "lbqid" not in {attack.name for attack in default_attacks(Points, Boxes, claim=AttackGraph(k=3))}
    untimed = default_attacks(Visits, Visits, claim=KclPrivacy(k=2, c=1, l=2), timed=False)
    assert not {"known_visits", "uniqueness", "first_last_visits"} & {attack.name for attack in untimed}
    measures = {metric.name for metric in default_metrics(Visits, Visits, timed=False)}
    assert {"instance_loss", "deviation"} <= measures
    assert not {"visit_support", "frequent_sequences"} & measures


def test_risk_runs_what_it_can(visits: Path, points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", str(visits), "--json"]) == 0
    names = [a["name"] for a in json.loads(capsys.readouterr().out)["attacks"]]
    assert names[0] == "known_visits"
    assert "counting" not in names
    assert main(["risk", str(visits), "--adversaries", "A=a1,a2,a3", "--json"]) == 0
    assert "counting" in [a["name"] for a in json.loads(capsys.readouterr().out)["attacks"]]
    assert main(["risk", str(points), "--attack", "lbqid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["attacks"][0]["victims"] == 0


def test_groups_are_typed_or_read(tmp_path: Path) -> None:
    table = tmp_path / "who.csv"
    table.write_text("location,adversary\nb,B\na,A\n")
    typed = catalog.parse("method", "gsup", {"adversaries": ["B=b", "A=a"]})
    assert catalog.parse("method", "gsup", {"adversaries": f"@{table}"}) == typed
    with pytest.raises(InputError, match=r"gone\.csv"):
        catalog.parse("method", "gsup", {"adversaries": "@gone.csv"})
    with pytest.raises(UsageError):
        catalog.parse("method", "gsup", {"adversaries": "b"})


def test_parts_of_one_trajectory_are_one_person(tmp_path: Path) -> None:
    """Two days of one card, and nobody else: cutting must not make two people of one."""
    table = tmp_path / "visits.csv"
    table.write_text("traj_id,t,location\nx,1,a\nx,11,a\ny,2,b\n")
    recipe = {
        "input": {"path": str(table), "owners": "each-trajectory"},
        "prepare": [{"step": "cut", "period": 10}, {"step": "bucket", "width": 100}],
        "method": {"name": "kcl", "k": 2, "l": 1},
        "output": {"path": str(tmp_path / "out")},
    }
    with pytest.raises(NotPublished, match="no visit is left"):
        publish(make_recipe(recipe))
    table.write_text("traj_id,t,location\nx,1,a\nx,11,a\ny,2,a\ny,12,a\n")
    outcome = publish(make_recipe(recipe))
    assert outcome.verdict.counted == "owners"
    assert "each of the 2 trajectories of the input, which were cut into 4 that count as theirs, is" in outcome.counted
    assert "The publisher declared that each trajectory is another person" in outcome.promise
    assert outcome.verdict.measured["min_support"] == 2
