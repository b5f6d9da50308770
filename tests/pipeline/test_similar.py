"""Ids and values that are suspiciously alike: refused until somebody says what they are, and never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wayveil
from wayveil.cli import main
from wayveil.commands.risk import risk
from wayveil.errors import InputError, WayveilError
from wayveil.io import from_polars, read_taxonomy
from wayveil.pipeline.input import load
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_input, make_recipe

PAIRS = [("uQ1", "UQ1"), ("7", "007"), ("7", "7.0"), ("q 1", "q1"), ("q1", "\uff511")]


def table(folder: Path, people: tuple[str, ...], name: str = "in.csv", values: tuple[str, ...] = ("x",)) -> Path:
    rows = [f"t{i},{who},1,x,{values[i % len(values)]}" for i, who in enumerate(people)]
    (folder / name).write_text("\n".join(["traj_id,user_id,t,location,ill", *rows]) + "\n", encoding="utf-8")
    return folder / name


def spec(file: Path, **more: Any) -> Any:
    return make_input({"path": file, **more})


@pytest.mark.parametrize("pair", PAIRS)
def test_people_whose_ids_are_alike_are_refused_until_somebody_says_what_they_are(tmp_path, pair):
    file = table(tmp_path, (*pair, "other"))
    with pytest.raises(InputError) as refusal:
        load(spec(file), attributes=())
    said = str(refusal.value)
    assert said.startswith(f"{file}: 2 values of column 'user_id' differ from another only by case, white space")
    assert "--similar-ids same" in said
    assert "--similar-ids different" in said
    assert not any(f"'{who}'" in said for who in pair)
    assert load(spec(file, similar_ids="different"), attributes=()).data.n_owners == 3
    one = load(spec(file, similar_ids="same"), attributes=())
    assert one.data.owner.tolist() == [0, 0, 1]
    assert "taken to be the same people" in "".join(one.notes)


def test_a_trajectory_with_two_spellings_of_its_person(tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("traj_id,user_id,t,location\na,u1,1,x\na,U1,2,y\n")
    with pytest.raises(InputError, match="2 values of column 'user_id' differ"):
        load(spec(file), attributes=())
    with pytest.raises(InputError, match="must be constant in a trajectory"):
        load(spec(file, similar_ids="different"), attributes=())
    assert load(spec(file, similar_ids="same"), attributes=()).data.n_owners == 1


def test_declared_people_are_their_trajectories(tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("traj_id,t,location\nb,1,x\nt1,1,x\nT1,2,y\n")
    with pytest.raises(InputError, match="2 values of column 'traj_id' differ"):
        load(spec(file, owners="each-trajectory"), attributes=())
    one = load(spec(file, owners="each-trajectory", similar_ids="same"), attributes=())
    assert [one.data.record(i) for i in range(2)] == [[("x", 1)], [("x", 1), ("y", 2)]]
    assert one.ids.to_list() == ["b", "t1"]
    # With a column of people, trajectories are what it says.
    assert len(load(spec(file, columns={"user_id": "traj_id"}, similar_ids="different"), attributes=()).data) == 3


def test_owners_of_another_table(tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("traj_id,t,location\na,1,x\nb,1,x\nc,1,x\n")
    who = tmp_path / "who.csv"
    who.write_text("traj_id,user_id\na,u1\nb,U1\nc,v\na,U1\nz,V\n")
    with pytest.raises(InputError, match="2 values of column 'user_id' differ"):
        load(spec(file, owners=[who]), attributes=())
    one = load(spec(file, owners=[who], similar_ids="same"), attributes=())
    assert one.data.owner.tolist() == [0, 0, 1]
    with pytest.raises(InputError, match="more than one owner"):
        load(spec(file, owners=[who], similar_ids="different"), attributes=())


def test_whoever_counts_no_people_is_not_asked(tmp_path):
    file = table(tmp_path, ("u1", "U1"))
    assert load(spec(file), attributes=(), counts_people=False).data.n_owners == 2
    assert load(spec(file, similar_ids="same"), attributes=(), counts_people=False).data.n_owners == 1


def recipe(file: Path, out: Path, **more: Any) -> dict[str, Any]:
    sensitive = more.pop("sensitive", {})
    method = {"name": "kcl", "k": 2, "c": 1, "l": 1, **({"sensitive": sensitive} if sensitive else {})}
    blocks = more.pop("blocks", None)
    content = {"input": {"path": file, **more}, "method": method, "output": {"path": out}, "attacks": [], "metrics": []}
    return content if blocks is None else {**content, "blocks": blocks}


def test_pieces_are_judged_together(tmp_path):
    people = (*(f"u{i}" for i in range(30)), "U7", "U9", "U9 ")
    file = table(tmp_path, people)
    blocks = {"by": "whole", "rows": 5}
    with pytest.raises(InputError, match="4 values of column 'user_id' differ"):
        publish(make_recipe(recipe(file, tmp_path / "out", blocks=blocks)))
    assert not (tmp_path / "out").exists()
    for meant, counted in (("different", 32), ("same", 30)):
        out = tmp_path / meant
        publish(make_recipe(recipe(file, out, blocks=blocks, similar_ids=meant)))
        told = (out / "private" / "report.html").read_text()
        assert f"{counted} people" in told
        assert "4 values of column" in told


@pytest.mark.parametrize("written", ["hivQ", "HIVQ ", "HiV q", "\uff28IVQ"])
def test_other_spellings_of_a_sensitive_value_are_refused_and_not_shown(tmp_path, written):
    file = table(tmp_path, ("a", "b", "c", "d"), values=("HIVQ", written))
    content = recipe(file, tmp_path / "out", sensitive={"ill": ["HIVQ"]})
    if written == "HIVQ ":  # the same in normal form
        assert publish(make_recipe(content)).verdict.holds
        return
    for attempt in (
        lambda: publish(make_recipe(content)),
        lambda: publish(make_recipe({**content, "blocks": {"by": "whole", "rows": 2}})),
        lambda: risk(spec(file), attack="known_visits", sensitive=(("ill", ("HIVQ",)),)),
    ):
        with pytest.raises(InputError) as refusal:
            attempt()
        assert "The attribute 'ill' has 1 other spelling of the sensitive value 'HIVQ'" in str(refusal.value)
        assert written not in str(refusal.value)
    both = recipe(file, tmp_path / "out", sensitive={"ill": ["HIVQ", written]})
    with pytest.raises(InputError, match="other spelling"):  # each would be bounded, and both together not
        publish(make_recipe(both))


def test_other_spellings_of_places_that_adversaries_know(tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("traj_id,user_id,t,location\na,a,1,shop\nb,b,1,Shop\nc,c,1,shop\n")
    content: dict[str, Any] = {
        "input": {"path": file},
        "output": {"path": tmp_path / "out"},
        "attacks": [],
        "metrics": [],
    }
    known = {"name": "gsup", "adversaries": {"A": ["shop"]}}
    with pytest.raises(InputError, match=r"1 other spelling of the place 'shop' of the adversary 'A'"):
        publish(make_recipe({**content, "method": known}))
    publish(make_recipe({**content, "method": {**known, "adversaries": {"A": ["shop", "Shop"]}}}))


def test_sensitive_nodes_that_are_spelt_like_another(tmp_path):
    file = tmp_path / "tree.csv"
    file.write_text("node,parent,sensitive\nPlace,,\nClinic,Place,yes\nclinic,Place,\nBar,Place,\nbar,Place,\n")
    with pytest.raises(InputError, match="2 nodes of the taxonomy, sensitive ones among them, differ") as refusal:
        read_taxonomy(file)
    assert "linic" not in str(refusal.value)
    file.write_text("node,parent,sensitive\nPlace,,\nClinic,Place,yes\nBar,Place,\nbar,Place,\n")
    assert len(read_taxonomy(file)) == 4
    with pytest.raises(InputError, match="2 nodes"):
        read_taxonomy(file, sensitive_nodes=["Bar"])


def test_command_line_and_python(tmp_path, capsys):
    file = table(tmp_path, ("u1", "U1", "v", "w"))
    words = ["publish", "kcl", str(file), "--k", "2", "--c", "1", "--l", "1", "--out", str(tmp_path / "out")]
    assert main(words) == 2
    assert "2 values of column 'user_id' differ" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*words, "--similar-ids", "same"]) == 0
    with pytest.raises(InputError, match="2 values"):
        wayveil.read(file)
    assert wayveil.read(file, similar_ids="same").n_owners == 3
    frame = pl.read_csv(file)
    with pytest.raises(InputError, match="the data frame: 2 values"):
        from_polars(frame)
    assert from_polars(frame, similar_ids="different").n_owners == 4
    method = wayveil.Kcl(k=2, c=1, l=1)
    with pytest.raises(InputError):
        wayveil.publish(frame, method)
    assert wayveil.publish(frame, method, similar_ids="same", seed=1, attacks=[], metrics=[]).verdict.holds
    with pytest.raises(WayveilError, match="similar_ids must be"):
        from_polars(frame, similar_ids="perhaps")
