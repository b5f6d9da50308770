"""How much is measured: full, quick and none; and `wayveil measure`, which makes up for what was left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tables import write_inputs

from wayveil.cli import main
from wayveil.model import AttackResult
from wayveil.pipeline.folder.measure_folder import measure_folder
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.publish import publish
from wayveil.pipeline.remaining import Remaining
from wayveil.recipe import measuring
from wayveil.recipe.measuring import DRAWN, MEDIUM, SMALL, plan_measuring
from wayveil.recipe.protections import plays
from wayveil.recipe.recipe import Recipe, make_recipe
from wayveil.report.text.head import make_head

KCL = {"name": "kcl", "k": 3, "c": "0.7", "l": 2, "sensitive": {"ill": ["yes"]}}


def asked(tmp_path: Path, **more: Any) -> Recipe:
    write_inputs(tmp_path)
    return make_recipe(
        {
            "input": {"path": tmp_path / "visits.csv"},
            "method": KCL,
            "output": {"path": tmp_path / "out", "format": "csv"},
            "seed": 1,
            **more,
        }
    )


def names(parts: Any) -> list[str]:
    return [part.name for part in parts]


def test_small_data_are_measured_in_full_unless_nothing_is_wanted(tmp_path: Path) -> None:
    full = plan_measuring(asked(tmp_path, measure="full"), SMALL + 1)
    quick = plan_measuring(asked(tmp_path), SMALL)
    assert quick == full
    assert (full.missing_attacks, full.missing_metrics) == ((), ())
    assert full.positions == tuple(range(len(full.attacks)))
    assert len(full.attacks) > 5
    assert len(full.metrics) > 5


def test_quick_runs_the_attackers_of_the_claim_and_the_telling_metric(tmp_path: Path) -> None:
    recipe = asked(tmp_path)
    full = plan_measuring(recipe, SMALL)
    quick = plan_measuring(recipe, MEDIUM + 1)
    assert quick.sampled_attacks == ()
    claim = recipe.method.claim
    assert 0 < len(quick.attacks) < len(full.attacks)
    for attack in full.attacks:
        assert (attack in quick.attacks) == any(plays(attack, one) for one in claim.protects)
    assert [full.attacks[i] for i in quick.positions] == list(quick.attacks)
    assert names(quick.metrics) == ["place_hours"]
    assert set(names(full.attacks)) == {*names(quick.attacks), *quick.missing_attacks}
    assert set(names(full.metrics)) == {*names(quick.metrics), *quick.missing_metrics}
    assert names(plan_measuring(asked(tmp_path, use="flows"), SMALL + 1).metrics) == ["flows"]


def test_quick_plays_all_others_on_a_few_people_who_are_drawn(tmp_path: Path) -> None:
    recipe = asked(tmp_path)
    full = plan_measuring(recipe, SMALL)
    quick = plan_measuring(recipe, SMALL + 1)
    promised = plan_measuring(recipe, MEDIUM + 1)
    assert quick.positions == full.positions
    assert quick.missing_attacks == ()
    for i, attack in enumerate(quick.attacks):
        if i in promised.positions:
            assert attack == full.attacks[i]
        else:
            assert attack.name in quick.sampled_attacks
            assert attack == replace(full.attacks[i], victims=DRAWN)
    assert plan_measuring(asked(tmp_path, measure="none"), SMALL + 1).sampled_attacks == ()


def test_what_a_few_people_leave_open_is_said_with_its_confidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = (AttackResult(name="played", adversary="knows something", victims=200, sampled=True, numbers={}),)
    head = make_head(holds=True, published=played, remaining=Remaining(), drawn=200)
    assert head.state == "kept"
    assert head.sentence.endswith(
        "none of them above the limit: of all people at most 1.5 % are, with 95 % confidence."
    )
    assert head.to_json()["drawn"] == 200
    assert "drawn" not in make_head(holds=True, published=(), remaining=Remaining()).to_json()
    assert not make_head(holds=False, published=(), remaining=Remaining(), drawn=200).drawn_sentence
    monkeypatch.setattr(measuring, "SMALL", 10)
    outcome = publish(asked(tmp_path))
    assert outcome.sampled_attacks
    assert not outcome.head.missing
    assert any(note.startswith("Played on 200 people") for note in outcome.notes)
    if outcome.head.exposed:
        assert not outcome.head.drawn_sentence


@pytest.mark.parametrize("level", ["none", "quick"])
def test_what_alone_judges_a_sentence_is_never_left_out(tmp_path: Path, level: str) -> None:
    recipe = asked(tmp_path, method={**KCL, "hide_absence": "yes"}, measure=level, attacks=[{"name": "uniqueness"}])
    deciding = [one for one in recipe.method.claim.protects if not one.judged]
    assert deciding
    chosen = plan_measuring(recipe, SMALL + 1)
    assert all(any(plays(attack, one) for attack in chosen.attacks) for one in deciding)


def test_what_is_asked_for_by_name_is_measured_quickly_too(tmp_path: Path) -> None:
    recipe = asked(tmp_path, attacks=[{"name": "uniqueness"}], metrics=[{"name": "flows"}])
    quick = plan_measuring(recipe, SMALL + 1)
    assert "uniqueness" in names(quick.attacks)
    assert names(quick.metrics) == ["flows"]
    assert quick.missing_attacks == ()
    none = plan_measuring(asked(tmp_path, attacks=[{"name": "uniqueness"}], measure="none"), 1)
    assert "uniqueness" not in names(none.attacks)
    assert none.metrics == ()


def test_a_risk_that_was_not_measured_is_not_called_low(tmp_path: Path) -> None:
    head = make_head(holds=True, published=(), remaining=Remaining(), missing=("uniqueness", "absence"))
    assert (head.state, head.sentence) == ("but", "Published and verified, but 2 attacks were not run.")
    assert head.to_json()["missing"] == ["uniqueness", "absence"]
    assert any("wayveil measure" in text for text in head.remedies)
    played = (AttackResult(name="played", adversary="knows something", victims=9, sampled=False, numbers={}),)
    assert make_head(holds=True, published=(), remaining=Remaining()).state == "but"  # no attack fits at all
    whole = make_head(holds=True, published=played, remaining=Remaining())
    assert whole.state == "kept"
    assert "missing" not in whole.to_json()


def test_measure_adds_what_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = Secret(bytes(32))
    whole = publish(
        asked(tmp_path, measure="full", output={"path": tmp_path / "whole", "format": "csv"}), secret=secret
    )
    monkeypatch.setattr(measuring, "SMALL", 10)
    monkeypatch.setattr(measuring, "MEDIUM", 10)
    quick = publish(asked(tmp_path), secret=secret)
    out = tmp_path / "out"
    before = {file.name: file.read_bytes() for file in (out / "public").iterdir()}
    assert before == {file.name: file.read_bytes() for file in (tmp_path / "whole" / "public").iterdir()}
    assert quick.head.missing
    assert any(note.startswith("Not measured: attacks ") for note in quick.notes)
    # an attack finds the same, whether others run beside it or not
    by_attack = {(str(a.adversary), a.name): b.measured for a, b in whole.attacks}
    assert all(by_attack[str(a.adversary), a.name] == b.measured for a, b in quick.attacks)

    assert main(["measure", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["head"] == whole.head.to_json()
    scores = json.loads((out / "private" / "results.json").read_text())
    assert [pair["raw"]["name"] for pair in scores["attacks"]] == names(a for a, _ in whole.attacks)
    assert scores["manifest_sha256"] == quick.manifest_sha256
    assert before == {file.name: file.read_bytes() for file in (out / "public").iterdir()}
    assert "measure =" not in (out / "private" / "recipe.toml").read_text()
    assert sorted(file.name for file in out.iterdir()) == ["private", "public"]

    # another input is another publication
    (tmp_path / "visits.csv").write_text("\n".join((tmp_path / "visits.csv").read_text().splitlines()[:-3]) + "\n")
    kept = (out / "private" / "results.json").read_bytes()
    assert main(["measure", str(out)]) == 2
    assert "Nothing was changed" in capsys.readouterr().err
    assert (out / "private" / "results.json").read_bytes() == kept


def test_without_a_private_folder_nothing_can_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(tmp_path)]) == 2
    assert "holds no publication" in capsys.readouterr().err
    publish(asked(tmp_path, measure="none"))
    (tmp_path / "out" / "private" / "secret.txt").unlink()
    assert main(["measure", str(tmp_path / "out" / "public")]) == 2
    assert "no secret.txt" in capsys.readouterr().err


def test_without_measuring_the_head_says_so(tmp_path: Path) -> None:
    outcome = publish(asked(tmp_path, measure="none"))
    assert outcome.scores == ()
    assert outcome.head.state == "but"
    assert "not run" in outcome.head.sentence
    assert measure_folder(tmp_path / "out").head.missing == ()
