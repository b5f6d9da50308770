"""Tables in any dialect go through a recipe as plain ones do, and messages name the file of the user."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from wayveil.cli.app import main
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, UsageError
from wayveil.pipeline import plain_input
from wayveil.pipeline.blocks.input_pieces import InputPlan, check_kind, read_pieces
from wayveil.pipeline.input import load
from wayveil.pipeline.plain_input import is_plain
from wayveil.recipe.recipe import make_input, make_recipe
from wayveil.recipe.toml import recipe_text

ROWS = [(f"u{i % 7}", f"{1 + i % 28:02}/0{1 + i % 9}/2021 0{i % 9}:15", f"p{i % 3}") for i in range(40)]
PLAIN = "traj_id,user_id,t,location\n" + "".join(
    f"{who},{who},{when[6:10]}-{when[3:5]}-{when[:2]}T{when[11:]}:00,{where}\n" for who, when, where in ROWS
)
COLUMNS = {"traj_id": "who", "user_id": "who", "location": "where"}
SAID = {"columns": COLUMNS, "times": {"t": {"columns": ["when"], "format": "dmy"}}, "on_duplicate_time": "first"}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.csv"
    path.write_text(PLAIN)
    return path


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """The same rows with semicolons, in another order of date, in a file whose suffix says nothing."""
    path = tmp_path / "odd.dat"
    path.write_text("who;when;where\n" + "".join(";".join(row) + "\n" for row in ROWS))
    return path


def test_an_odd_table_is_read_like_a_plain_one(plain, odd) -> None:
    spec = make_input({"path": str(odd), **SAID})
    read = load(spec, attributes=())
    same = load(make_input({"path": str(plain), "on_duplicate_time": "first"}), attributes=())
    assert [read.data.record(i) for i in range(len(read.data))] == [same.data.record(i) for i in range(len(same.data))]
    assert any("semicolons" in note for note in read.notes)
    assert not is_plain(spec)
    assert is_plain(make_input({"path": str(plain)}))


def test_pieces_of_an_odd_table_are_those_of_a_plain_one(odd, tmp_path) -> None:
    spec = make_input({"path": str(odd), **SAID, "guesses": ["It is so."]})
    assert check_kind(spec) == "visits"
    (tmp_path / "scratch").mkdir()
    want = InputPlan(spec=spec, kind="visits", steps=(), attributes=(), by="whole", rows=10)
    pieces = read_pieces(want, seed=1, scratch=tmp_path / "scratch", engine=LocalEngine(workers=1))
    assert pieces.people == 7
    assert pieces.trajectories == 7
    assert [note for note in pieces.notes if "It is so." in note] == ["Taken to be so: It is so."]
    assert any("semicolons" in note for note in pieces.notes)


def test_a_time_that_nobody_can_tell_is_asked_for(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("traj_id,user_id,when,location\na,a,01/02/2021 10:00,x\nb,b,03/04/2021 10:00,x\n")
    with pytest.raises(InputError, match="--time-format dmy or --time-format mdy"):
        load(make_input({"path": str(path), "times": {"t": {"columns": ["when"]}}}), attributes=())


def test_messages_name_the_file_and_the_line_and_no_value(tmp_path, capsys) -> None:
    path = tmp_path / "a.txt"
    path.write_text("# made today\ntraj_id;user_id;t;location\na;a;2021/02/01 10:00;x\nb;b;secret;x\n")
    out = str(tmp_path / "out.parquet")
    told = ["prepare", "cut", str(path), "--period", "1d", "--time-format", "ymd", "--out", out]
    assert main(told) == 2
    message = capsys.readouterr().err
    assert str(path) in message
    assert "line 3" in message or "line 4" in message
    assert "secret" not in message
    assert main([*told, "--bad-rows", "drop"]) == 0
    assert "1 row of 2 was left out" in " ".join(capsys.readouterr().out.split())


def test_rows_without_a_person_can_be_left_out(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("traj_id,user_id,t,location\na,a,1,x\n,,2,y\nb,b,3,x\n")
    with pytest.raises(InputError, match="empty"):
        load(make_input({"path": str(path), "kind": "visits"}), attributes=())
    read = load(make_input({"path": str(path), "kind": "visits", "bad_rows": "drop"}), attributes=())
    assert len(read.data) == 2
    assert any("left out" in note for note in read.notes)


def test_standard_input_is_a_table(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(plain_input, "_standard_input", [])
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(PLAIN.encode())))
    out = tmp_path / "out.csv"
    assert main(["prepare", "cut", "-", "--period", "1d", "--on-duplicate-time", "first", "--out", str(out)]) == 0
    assert len(out.read_text().splitlines()) > 10


def test_a_recipe_says_how_a_table_is_written_and_comes_back_as_text() -> None:
    content = {
        "input": {
            "path": "a.txt",
            "dialect": {"separator": "|", "decimal": ",", "encoding": "cp1252", "names": ["a", "b", "c"]},
            "times": {"t": {"columns": ["b", "c"], "format": "dmy", "zone": "Europe/Athens"}},
            "ends": {"t": ["t", "u"]},
            "bad_rows": "drop",
        },
        "method": {"name": "kcl", "k": 2, "l": 1},
        "output": {"path": "out"},
    }
    recipe = make_recipe(content)
    again = make_recipe(tomllib.loads(recipe_text(recipe)))
    assert again.input == recipe.input


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"dialect": {"seperator": ";"}}, "separator"),
        ({"dialect": {"encoding": "utf-99"}}, "encoding"),
        ({"times": {"t": {"columns": ["a"], "format": "yyyy"}}}, "ymd"),
        ({"times": {"t": {"columns": ["a"], "zone": "Nowhere"}}}, "time zone"),
        ({"times": {"t": {"columns": ["a", "b", "c"]}}}, "one column, or two"),
    ],
)
def test_a_wrong_word_in_a_recipe_is_one_sentence(part, message) -> None:
    with pytest.raises(UsageError, match=message):
        make_input({"path": "a.csv", **part})


def test_a_spreadsheet_is_no_text(tmp_path, capsys) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK\x03\x04 and so on")
    assert main(["inspect", str(path)]) == 2
    assert "this is a spreadsheet" in capsys.readouterr().err
    assert is_plain(make_input({"path": str(path)}))
