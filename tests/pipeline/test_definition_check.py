"""`verify --by-definition`: a second opinion that can only make a judgement worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wayveil as wv
from wayveil.cli import main
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers.definitions import DEFINITIONS, MOST_TRIPS_OF_ONE, find_break_by_definition


@pytest.fixture
def out(content: dict[str, Any], tmp_path: Path) -> Path:
    publish(make_recipe(content), secret=Secret(bytes(32)))
    return tmp_path / "out"


def breaking(*_: Any, **__: Any) -> str:
    return "Only 1 people look alike."


def keeping(*_: Any, **__: Any) -> str:
    return ""


def test_it_is_told_only_where_it_was_wanted(out: Path) -> None:
    assert verify_folder(out).by_definition is None
    assert verify_folder(out).to_json()["by_definition"] is None
    judgement = wv.verify(out, by_definition=True)
    assert judgement.holds
    assert judgement.to_json()["by_definition"] == "holds"


def test_it_is_a_line_and_a_field(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(out), "--by-definition"]) == 0
    assert "by definition: holds" in capsys.readouterr().out
    assert main(["verify", str(out), "--by-definition", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by_definition"] == "holds"
    assert main(["verify", str(out)]) == 0
    assert "by definition" not in capsys.readouterr().out


def test_a_definition_that_is_broken_fails_what_the_verifier_holds(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(DEFINITIONS, "KCL", breaking)
    judgement = verify_folder(out, by_definition=True)
    assert judgement.holds is False
    assert judgement.by_definition == "fails"
    assert judgement.failures[0] == "by its definition the claim is broken: Only 1 people look alike."
    assert "only the definition finds the claim broken" in judgement.failures[1]
    assert main(["verify", str(out), "--by-definition"]) == 1
    assert "by definition: fails" in capsys.readouterr().out


def break_claim(out: Path) -> None:
    path = out / "public" / "published.csv"
    lines = path.read_text().splitlines(keepends=True)
    row = next(i for i, line in enumerate(lines) if ",3,b," in line)  # two people were at b, now one
    path.write_text("".join(lines[:row] + lines[row + 1 :]))


def test_both_find_what_is_broken(out: Path) -> None:
    break_claim(out)
    judgement = verify_folder(out, by_definition=True)
    assert judgement.by_definition == "fails"
    assert any("the data do not keep the claim" in failure for failure in judgement.failures)
    assert any("by its definition the claim is broken" in failure for failure in judgement.failures)
    assert not any("disagree" in failure for failure in judgement.failures)


def test_a_verifier_that_fails_alone_is_told(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_claim(out)
    monkeypatch.setitem(DEFINITIONS, "KCL", keeping)
    judgement = verify_folder(out, by_definition=True)
    assert judgement.holds is False
    assert judgement.by_definition == "holds"
    assert any("only the verifier finds the claim broken" in failure for failure in judgement.failures)


def test_a_file_that_cannot_be_read_is_not_judged(out: Path) -> None:
    (out / "public" / "published.csv").unlink()
    judgement = verify_folder(out, by_definition=True)
    assert judgement.holds is False
    assert judgement.by_definition == "not judged"


def long_table(tmp_path: Path) -> Path:
    rows = [f"{i},{t},a" for i in range(3) for t in range(13)]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["traj_id,t,location", *rows]) + "\n")
    return path


def test_large_data_get_one_sentence(
    content: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content["input"]["path"] = str(long_table(tmp_path))
    content["method"] = {"name": "kcl", "k": 2, "c": 1, "l": 1}
    publish(make_recipe(content))
    assert main(["verify", str(tmp_path / "out"), "--by-definition"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert "at most 300 trajectories of at most 12 rows; these are 3 of up to 13" in error
    assert len(error.strip().splitlines()) == 1


def test_many_trips_of_one_person_are_refused_where_all_their_sets_are_tried() -> None:
    n = MOST_TRIPS_OF_ONE + 1
    data = wv.Points.from_records([[(0, 0.0, 0.0)]] * 2 * n, owner=[0] * n + list(range(1, n + 1)))
    with pytest.raises(UsageError, match=f"somebody has {n}"):
        find_break_by_definition(data, wv.KDelta(k=2, delta=1))
    regions = wv.Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)]] * 2 * n, owner=[0] * n + list(range(1, n + 1)))
    assert find_break_by_definition(regions, wv.KAnonymity(k=2, row_share="3/4")) == ""


def test_a_claim_without_a_definition_gets_one_sentence(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(DEFINITIONS, "KCL")  # as with the claim of a plug-in
    with pytest.raises(UsageError, match="The claim KCL comes without a definition"):
        verify_folder(out, by_definition=True)
    assert verify_folder(out).holds


def walkers(tmp_path: Path) -> Path:
    """Two crowds far from each other, with two trips per person."""
    rows = [
        f"c{trip},u{trip % 12},{t},{5000 * (trip % 2) + 50 * t + trip},{trip}" for trip in range(24) for t in range(4)
    ]
    path = tmp_path / "walkers.csv"
    path.write_text("\n".join(["traj_id,user_id,t,x,y", *rows]) + "\n")
    return path


def walk(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {
        "seed": 3,
        "input": {"path": str(walkers(tmp_path)), "crs": "planar"},
        "method": {"name": "tga", "k": 2},
        "attacks": [],
        "metrics": [],
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
        **more,
    }


@pytest.mark.parametrize("blocks", [{}, {"blocks": {"by": "place", "rows": 48}}], ids=["whole", "blocks"])
def test_the_truth_is_part_of_the_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: dict[str, Any]
) -> None:
    publish(make_recipe(walk(tmp_path, **blocks)), engine=LocalEngine(workers=1), secret=Secret(bytes(32)))
    n_parts = len([*(tmp_path / "out" / "public").glob("published*.csv")])
    assert (n_parts > 1) == bool(blocks)
    seen = []

    def watched(published: Any, claim: Any, **more: Any) -> str:
        seen.append((len(published), "original" in more, published.n_owners))
        return str(definition(published, claim, **more))

    definition = DEFINITIONS["KAnonymity"]
    monkeypatch.setitem(DEFINITIONS, "KAnonymity", watched)
    judgement = verify_folder(tmp_path / "out", original=tmp_path / "walkers.csv", by_definition=True)
    assert judgement.failures == ()
    assert judgement.by_definition == "holds"
    # All parts at once as files show them, then each with its owners and true positions.
    assert seen[0][:2] == (judgement.manifest.trajectories, False)
    assert [with_truth for _, with_truth, _ in seen[1:]] == [True] * n_parts
    assert sum(n for n, _, _ in seen[1:]) == judgement.manifest.trajectories
    assert all(people < n for n, _, people in seen[1:])  # owners are known there


def test_a_break_of_the_truth_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(make_recipe(walk(tmp_path)), secret=Secret(bytes(32)))

    def broken_by_truth(*_: Any, original: Any = None, **__: Any) -> str:
        return "" if original is None else "A trajectory was not in its boxes."

    monkeypatch.setitem(DEFINITIONS, "KAnonymity", broken_by_truth)
    assert verify_folder(tmp_path / "out", by_definition=True).by_definition == "holds"
    judgement = verify_folder(tmp_path / "out", original=tmp_path / "walkers.csv", by_definition=True)
    assert judgement.by_definition == "fails"
    assert "by its definition the claim is broken: A trajectory was not in its boxes." in judgement.failures


def test_what_was_judged_in_shares_is_not_judged_against_the_truth(content: dict[str, Any], tmp_path: Path) -> None:
    content |= {"blocks": {"by": "whole", "rows": 8}}
    path = Path(content["input"]["path"])
    publish(make_recipe(content), engine=LocalEngine(workers=1), secret=Secret(bytes(32)))
    judgement = verify_folder(tmp_path / "out", original=path, by_definition=True)
    assert judgement.failures == ()
    assert verify_folder(tmp_path / "out", by_definition=True).by_definition == "holds"  # all parts, from files
    assert judgement.by_definition == "not judged"
    assert any("by its definition" in part for part in judgement.not_judged)
    assert judgement.exit_code == 3
