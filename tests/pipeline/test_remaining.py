"""What is left is told first: counted from the file's own rows, with the reasons where it is less than half."""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
import pytest

from wayveil.cli import app
from wayveil.cli.show import head_lines, outcome_lines
from wayveil.methods import METHODS
from wayveil.model import CountTables, KclPrivacy, MethodResult, Routes, Threshold, Verdict, Visits
from wayveil.pipeline.outcome import Outcome
from wayveil.pipeline.remaining import Remaining, Stage, count_published, name_remedies, stages_of_balance
from wayveil.recipe import catalog
from wayveil.report.text.head import make_head

KCL = ["publish", "kcl", "--k", "2", "--l", "1", "--seed", "1", "--format", "csv"]


def table(path: Path, *, rare: int) -> Path:
    """Ten people with two shared visits each, one of them twice in an hour, and `rare` people alone at their places."""
    rows = ["traj_id,user_id,t,location"]
    for i in range(10):
        for minute, place in ((0, "a"), (10, "b"), (20, "a")):
            rows.append(f"s{i},u{i},2016-01-0{1 + i % 5} 08:{minute:02}:00,{place}")
    rows += [f"r{i},v{i},2016-01-04 09:00:00,rare{i}" for i in range(rare)]
    path.write_text("\n".join(rows) + "\n")
    return path


def publish(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert app.main([*KCL, *options]) == 0
    return capsys.readouterr().out.splitlines()


def test_below_half_the_first_lines_say_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = table(tmp_path / "in.csv", rare=30)
    step = ["--prepare", "fold to=day part=4h", "--out", str(tmp_path / "out")]
    lines = publish(capsys, str(file), *step)
    head = lines[: next(i for i, line in enumerate(lines) if line.startswith("  promise"))]
    assert len(head) <= 12
    assert head[0].startswith("Published and verified, but only 25 % of the trips are left: kcl took 75 %. Left: ")
    assert head[1].startswith("  try ")
    assert "  came in     60 rows; read 60 visits, 40 trips, 40 people" in head
    assert "  sizes       places as they are, times by 4 h" in head
    assert "  fold        50 visits (10 fewer), 40 trips, 40 people" in head
    assert "  kcl         20 visits (30 fewer), 10 trips, 10 people" in head
    told = json.loads("\n".join(publish(capsys, str(file), *step, "--overwrite", "--json")))
    assert told["remaining"]["below_half"] is True
    assert told["remaining"]["shares"] == {"visits": pytest.approx(1 / 3), "trips": 0.25, "people": 0.25}


def test_above_half_it_is_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = table(tmp_path / "in.csv", rare=1)
    lines = publish(capsys, str(file), "--prepare", "fold to=day part=4h", "--out", str(tmp_path / "out"))
    assert (
        lines[0]
        == "Kept and low. Published and verified. Left: 65 % of the visits, 91 % of the trips, 91 % of the people."
    )
    assert not any("instance_loss" in line for line in lines)
    again = publish(capsys, str(file), "--prepare", "fold to=day part=4h", "--out", str(tmp_path / "out2"), "--verbose")
    assert any("instance_loss" in line for line in again)


def test_blocks_say_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = table(tmp_path / "in.csv", rare=30)
    step = ["--prepare", "fold to=day part=4h", "--out", str(tmp_path / "out")]
    lines = publish(capsys, str(file), *step, "--blocks", "whole")
    assert lines[0].startswith("Published and verified, but only 25 % of the trips are left: kcl took 75 %")


def stage(name: str, rows: int, word: str = "visits", trips: int | None = None, people: int | None = None) -> Stage:
    return Stage(name=name, rows=rows, row_word=word, trips=trips, people=people)


@pytest.mark.parametrize("steps", range(8))
@pytest.mark.parametrize("last", [0, 49, 50, 51, 100])
def test_the_head_has_few_lines_and_the_reason(steps: int, last: int) -> None:
    between = [stage(f"step{i}", 100, trips=10, people=10) for i in range(steps)]
    stages = (stage("file", 100, "rows"), stage("read", 100, trips=10, people=10), *between)
    left = Remaining(stages=(*stages, stage("kcl", last, trips=10, people=10)), remedies=("a smaller k",))
    head = make_head(holds=True, published=(), remaining=left)
    lines = "\n".join(head_lines(head, left)).split("\n")
    assert len(lines) <= 8  # and four more: sizes, the worst attacker, the loss, and who is not stopped
    assert ("only" in lines[0] and "kcl took" in lines[0]) == (last < 50)
    assert left.below_half == (last < 50)


def test_rows_that_a_step_adds_do_not_hide_rows_that_another_took() -> None:
    stages = (stage("read", 100, "points"), stage("clean", 20, "points"), stage("resample", 500, "points"))
    assert Remaining(stages=stages).shares == {"points": 0.2}
    assert Remaining(stages=(*stages, stage("grid", 10))).shares == {"visits": 0.2}
    assert Remaining(stages=(*stages, stage("grid", 10))).list_reasons() == [("clean", 0.8)]


def test_people_and_trips_of_the_input_are_counted_not_parts_or_dummies() -> None:
    before = Visits.from_records([[("a", 1)], [("a", 2)], [("b", 1)]], owner=[0, 0, 1])
    made = Visits.from_records([[("a", 1)], [("a", 2)], [], [("x", 1)]])
    claim = KclPrivacy(k=2, c=1, l=1)
    result = MethodResult(data=made, claim=claim, source=np.array([0, 1, 2, -1]))
    found = count_published("m", before, result, np.array([0, 0, 1]))
    assert (found.rows, found.trips, found.people) == (2, 1, 1)


def test_of_numbers_what_they_count_is_left() -> None:
    before = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("b", 1)]], owner=[0, 0, 1])
    table = CountTables.from_rows([("a", "", 1, 2)])
    counted = np.array([True, False, True, False])
    made = MethodResult(data=table, claim=Threshold(k=2), source=np.array([-1]), counted=counted)
    found = count_published("counts", before, made, np.array([0, 1, 2]))
    assert (found.rows, found.row_word, found.trips, found.people) == (2, "visits", 2, 1)


def test_of_counts_coarser_times_and_zones_are_advised() -> None:
    data = Visits.from_records([[("a", 1)]])
    assert name_remedies(data, (), "counts")[:2] == (
        "a wider --every, such as 1d or all",
        "--prepare 'zones cell=500 people=50'",
    )
    assert name_remedies(Routes.tiny(), (), "counts")[0] == "a wider --every, such as 1d or all"


def test_what_was_invented_is_nothing_that_is_left() -> None:
    entry = {"in": 10, "out": 12, "suppressed": 6, "invented": 8}
    before, after = stages_of_balance("m", {"trajectories": entry, "roads": entry})
    assert (before.rows, after.rows, after.trips) == (10, 4, 4)
    assert stages_of_balance("m", {}) == ()


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("verbose", [False, True])
def test_no_method_that_keeps_less_than_half_is_announced_as_a_success(name: str, verbose: bool) -> None:
    """What `publish` and `run` print begins with the reason, whatever the method is and however good the rest is."""
    example = catalog.describe(name)["example"]
    claim = catalog.build("method", name, example).claim
    verdict = Verdict(holds=True, claim=claim, counted="owners", measured={}, witness=None, reason="It holds.")
    stages = (stage("file", 100, "rows"), stage("read", 100, trips=10, people=10), stage("cut", 90, trips=10, people=9))
    left = Remaining(
        stages=(*stages, stage(name, 40, trips=4, people=4)), remedies=("a smaller k",), sizes="median box 1 x 2 km"
    )
    outcome = Outcome(
        public=Path("public"), private=Path("private"), verdict=verdict, promise=claim.promise, attacks=(), scores=(),
        notes=("one", "two"), counted="", output_facts={}, timings={}, manifest_sha256="0", remaining=left,
    )  # fmt: skip
    lines = [click.unstyle(line) for line in outcome_lines(outcome, verbose=verbose)]
    assert lines[0].startswith("Published and verified, but only 40 % of the")
    assert f"{name} took" in lines[0]
    assert "cut took" in lines[0] or "people" not in lines[0]
    first = "\n".join(lines[:12])
    assert "  try         a smaller k" in first
    assert "  sizes       median box 1 x 2 km" in first
    assert "  not stopped " in first
    assert outcome.head.to_json()["state"] == "but"
    assert outcome.head.to_json()["next"] == "a smaller k"
