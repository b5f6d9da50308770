"""The command line: exit codes, one line of error, one JSON object, and the promises of the first user story."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from printed_methods import PrintedKcl
from wayveil.cli import main
from wayveil.cli.options import _columns
from wayveil.errors import UsageError
from wayveil.methods import METHODS

RECIPES = Path(__file__).parents[1] / "recipes"
DECLARED = "--each-trajectory-is-a-person"
TABLE_2 = [
    "b3 e4 f6 e8 HIV", "d2 c5 f6 c7 e9 Fever", "c7 e8 Hepatitis", "b3 e4 f6 e8 Flu", "d2 c5 f6 c7 HIV",
    "c5 f6 e9 Hepatitis", "f6 c7 e8 Fever", "d2 f6 c7 e9 Flu",
]  # fmt: skip

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def table1(tmp_path: Path) -> Path:
    path = tmp_path / "table1.csv"
    path.write_bytes((RECIPES / "table1.csv").read_bytes())
    return path


def publish_options(table: Path, out: Path) -> list[object]:
    sensitive = "diagnosis=HIV,Hepatitis"
    return ["publish", "kcl", table, DECLARED, "--k", 2, "--c", 0.5, "--l", 2, "--sensitive", sensitive,
            "--format", "csv", "--out", out]  # fmt: skip


def test_the_first_user_story(run: Run, table1: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, text, error = run(*publish_options(table1, out))
    assert (code, error) == (0, "")
    assert "Published and verified" in text
    assert str(out / "private" / "report.html") in text
    path = out / "public" / "published.csv"
    found: Counter[str] = Counter()
    for rows in pl.read_csv(path).partition_by("traj_id", maintain_order=True):
        visits = [f"{place}{t}" for place, t in zip(rows["location"], rows["t"], strict=True)]
        found[" ".join([*visits, rows["diagnosis"][0]])] += 1
    assert found == Counter(TABLE_2)
    manifest = out / "public" / "manifest.json"
    assert hashlib.sha256(manifest.read_bytes()).hexdigest() in text

    code, text, error = run("verify", out)
    assert (code, error) == (0, "")
    assert "Verified" in text

    lines = path.read_text().splitlines(keepends=True)
    row = next(i for i, line in enumerate(lines) if ",3,b," in line)
    path.write_text("".join(lines[:row] + lines[row + 1 :]))
    code, text, _ = run("verify", out)
    assert code == 1
    assert "hash of published.csv differs" in text

    content = path.read_bytes()
    forged = json.loads(manifest.read_text())
    forged["files"]["published.csv"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    forged["rows"] -= 1
    manifest.write_text(json.dumps(forged))
    code, text, _ = run("verify", out)
    assert code == 1
    assert "hash" not in text.replace("sha256", "")
    assert "witness" in text
    code, text, _ = run("verify", out, "--json")
    assert code == 1
    assert json.loads(text)["verdict"]["witness"] is not None


def test_json_is_one_object(run: Run, table1: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    commands = [
        [*publish_options(table1, out), "--seed", 3],
        ["verify", out],
        ["methods"],
        ["methods", "kcl"],
        ["risk", table1, DECLARED, "--m", 1],
        ["risk", out],
        ["utility", table1, out, DECLARED],
        ["generate", "city", "--records", 20, "--out", tmp_path / "city.csv"],
        ["prepare", "bucket", table1, "--width", 2, "--out", tmp_path / "coarse.csv"],
        ["run", RECIPES / "missing.toml"],
        ["verify", tmp_path],
        [*publish_options(table1, out)],
        ["publish", "kcl", table1],
        ["nonsense"],
        ["publish"],
    ]
    for command in commands:
        code, text, error = run(*command, "--json")
        assert text.count("\n") == 1, command
        assert isinstance(json.loads(text), dict)
        assert ("error" in json.loads(text)) == (code == 2) == (error != "")
        if code == 2:
            assert json.loads(text)["exit_code"] == 2
            assert error.startswith("wayveil: ")
            assert error.count("\n") == 1


def test_recipe_and_options_give_the_same_bytes(run: Run, table1: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "table1.toml"
    text = (RECIPES / "table1.toml").read_text()
    recipe.write_text("seed = 5\n" + text)
    assert run("run", recipe)[0] == 0
    options = [*publish_options(table1, tmp_path / "out"), "--seed", 5]
    assert run(*options, "--secret", tmp_path / "table1-out/private/secret.txt")[0] == 0
    for name in ("published.csv", "manifest.json"):
        assert (tmp_path / "table1-out/public" / name).read_bytes() == (tmp_path / "out/public" / name).read_bytes()
    code, _, error = run("run", recipe)
    assert code == 2
    assert "--overwrite" in error
    assert run("run", recipe, "--overwrite")[0] == 0


def test_a_failed_verdict_is_exit_1(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "kcl_printed", PrintedKcl)
    records = ["b2 c3 e5", "a1 c3", "b2 e5", "a1 b2 c3", "a1", "a1 b2"]
    rows = [f"{i},{visit[1]},{visit[0]}" for i, record in enumerate(records) for visit in record.split()]
    path = tmp_path / "procedure2.csv"
    path.write_text("\n".join(["traj_id,t,location", *rows]) + "\n")
    options = ["publish", "kcl_printed", path, DECLARED, "--k", 2, "--l", 3, "--out", tmp_path / "out"]
    code, text, error = run(*options)
    assert code == 1
    assert "Not published." in text
    assert "witness" in text
    assert error.startswith("wayveil: Nothing was published")
    assert error.count("\n") == 1
    assert not (tmp_path / "out/public").exists()
    code, text, error = run(*options, "--json")
    assert code == 1
    answer = json.loads(text)
    assert (answer["published"], answer["exit_code"]) == (False, 1)


def test_nothing_left_is_exit_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "strangers.csv"
    path.write_text("traj_id,t,location\n1,1,a\n2,2,b\n")
    code, text, error = run("publish", "kcl", path, DECLARED, "--k", 2, "--l", 1, "--out", tmp_path / "out", "--json")
    assert code == 1
    assert json.loads(text)["exit_code"] == 1
    assert "--time-bucket" in error
    assert not (tmp_path / "out").exists()


NOBODY = "traj_id,t,location,card\n" + "".join(f"{i},{t},a,c{i}\n" for i in range(4) for t in (1, 2))


@pytest.fixture
def nobody(tmp_path: Path) -> Path:
    """A table that does not say who is behind a trajectory."""
    path = tmp_path / "in.csv"
    path.write_text(NOBODY)
    return path


@pytest.mark.parametrize(
    "command", [["publish", "kcl", "--k", 2, "--l", 1, "--out", "OUT"], ["risk"], ["utility", "OUT"]]
)
def test_owners_are_never_assumed(run: Run, nobody: Path, tmp_path: Path, command: list[object]) -> None:
    out = tmp_path / "out"
    name, *options = [out if word == "OUT" else word for word in command]
    method = [options.pop(0)] if name == "publish" else []
    code, text, error = run(name, *method, nobody, *options)
    assert (code, text) == (2, "")
    assert error.count("\n") == 1
    for words in ("nobody said who", "--columns user_id=card (column 'card' looks like a person)", DECLARED):
        assert words in error
    assert not out.exists()


def test_a_declaration_stands_in_the_promise_wherever_it_is_read(run: Run, nobody: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    waiver = "The publisher declared that each trajectory is another person"
    code, text, _ = run("publish", "kcl", nobody, "--k", 2, "--l", 1, DECLARED, "--out", out)
    assert code == 0
    assert waiver in " ".join(text.split())
    manifest = json.loads((out / "public/manifest.json").read_text())
    assert waiver in manifest["promise"]
    assert manifest["each_trajectory_is_a_person"] is True
    assert waiver in (out / "private/report.html").read_text()
    assert waiver in json.loads((out / "private/results.json").read_text())["promise"]
    code, text, _ = run("verify", out)
    assert code == 0
    assert waiver in " ".join(" ".join(text.splitlines()[:6]).split())
    code, text, _ = run(
        "publish", "kcl", nobody, "--k", 2, "--l", 1, "--columns", "user_id=card", "--out", tmp_path / "b"
    )
    assert code == 0
    assert waiver not in " ".join(text.split())
    assert json.loads((tmp_path / "b/public/manifest.json").read_text())["each_trajectory_is_a_person"] is False


def test_a_declaration_is_not_forgotten_when_trajectories_are_cut(run: Run, nobody: Path, tmp_path: Path) -> None:
    options = ["--k", 2, "--l", 1, DECLARED, "--prepare", "cut period=2", "--out", tmp_path / "out"]
    code, text, _ = run("publish", "kcl", nobody, *options)
    assert code == 0
    assert "The publisher declared" in " ".join(text.split())
    manifest = json.loads((tmp_path / "out/public/manifest.json").read_text())
    assert (manifest["each_trajectory_is_a_person"], manifest["schema"]["owners"]) == (True, "hidden")


@pytest.mark.parametrize("more", [["--columns", "user_id=card"], ["--owners", "who.csv"]])
def test_two_answers_contradict_each_other(run: Run, nobody: Path, tmp_path: Path, more: list[str]) -> None:
    code, _, error = run("publish", "kcl", nobody, "--k", 2, "--l", 1, DECLARED, *more, "--out", tmp_path / "out")
    assert code == 2
    assert "contradict each other" in error


def test_prepare_converts_without_asking_but_does_not_make_people(run: Run, nobody: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("prepare", "bucket", nobody, "--width", 2, "--out", out)[0] == 0
    assert "user_id" not in out.read_text()
    for declared in ([], [DECLARED]):
        code, _, error = run("prepare", "cut", nobody, "--period", 2, *declared, "--out", tmp_path / "parts.csv")
        assert code == 2
        assert "--columns user_id=NAME" in error
        assert not (tmp_path / "parts.csv").exists()
    said = ["--columns", "user_id=traj_id"]
    assert run("prepare", "cut", nobody, "--period", 2, *said, "--out", tmp_path / "parts.csv")[0] == 0
    assert "user_id" in (tmp_path / "parts.csv").read_text()


def test_every_generated_table_says_who_it_is(run: Run, tmp_path: Path) -> None:
    for name, size in (("city", "--records"), ("transit", "--records"), ("errands", "--trajectories"),
                       ("network_movers", "--objects"), ("road_movers", "--objects")):  # fmt: skip
        path = tmp_path / f"{name}.csv"
        assert run("generate", name, size, 20, "--seed", 1, "--out", path)[0] == 0
        assert "user_id" in path.read_text().splitlines()[0]


def test_an_empty_name_is_no_folder(run: Run, nobody: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    for command in (["publish", "kcl", nobody, "--k", 2, "--l", 1, DECLARED], ["demo"], ["generate", "city"]):
        code, _, error = run(*command, "--out", "")
        assert code == 2
        assert "--out must not be empty" in error
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_folder_is_told(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, error = run("publish", "kcl", empty, "--k", 2, "--l", 1, "--out", tmp_path / "out")
    assert code == 2
    assert "the folder is empty" in error
    code, _, error = run("risk", empty)
    assert code == 2
    assert "neither a publication nor data" in error


def test_a_mistyped_parameter_of_a_step_is_told(run: Run, nobody: Path, tmp_path: Path) -> None:
    code, _, error = run(
        "publish", "kcl", nobody, "--k", 2, "--l", 1, "--prepare", "grid size=500", "--out", tmp_path / "o"
    )
    assert code == 2
    assert "grid: there is no parameter 'size'; known: cell, bucket, keep." in error


def test_options_of_a_method_come_from_its_parameters(run: Run) -> None:
    from wayveil.methods import METHODS
    from wayveil.model import parameters_of

    for name, method in METHODS.items():
        code, text, _ = run("publish", name, "--help")
        assert code == 0
        assert all(f"--{p.name.replace('_', '-')}" in text for p in parameters_of(method))
        code, text, _ = run("methods", name)
        assert code == 0
        assert "not covered" in text


def test_time_bucket_columns_and_keep(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    rows = [f"C{i},2024-05-01T08:{i:02d}:00Z,gate,{'a' if i % 2 else 'b'}" for i in range(10)]
    path.write_text("\n".join(["card,when,station,line", *rows]) + "\n")
    columns = "traj_id=card,user_id=card,t=when,location=station"
    options = ["publish", "kcl", path, "--k", 5, "--l", 1, "--columns", columns]
    code, text, _ = run(*options, "--time-bucket", "1h", "--keep", "line", "--keep-mapping", "--format", "csv",
                        "--out", tmp_path / "out")  # fmt: skip
    assert code == 0
    assert "'line' is published as it is" in " ".join(text.split())
    assert (tmp_path / "out/public/published.csv").read_text().startswith("traj_id,t,location,line\n")
    assert (tmp_path / "out/private/mapping.csv").read_text().count("\n") == 11


@pytest.mark.parametrize("text", ["card", "traj_id=", "=card", "t=a,t=b", "t=a,,", ","])
def test_column_mappings_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError, match="--columns must look like"):
        _columns(text)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["publsh"], "No such command 'publsh'"),
        (["publish"], "Missing method. There is: kcl"),
        (["publish", "klc", "x.csv"], "No such method 'klc'. Did you mean 'kcl'? See: wayveil publish --help"),
        (["publish", "other", "x.csv"], "No such method 'other'. There is: kcl"),
        (["publish", "kcl"], "Missing argument INPUT: a table"),
        (["publish", "kcl", "x.csv", "--out", "o", "--l", "1"], "Missing option --k: smallest number"),
        (["publish", "kcl", "x.csv", "--k", "1", "--l", "1"], "--out"),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "two", "--l", "1"], "k must be an integer"),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--kk", "1"], "No such option --kk"),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--seed", "-1"], "'--seed' must be"),
        (
            ["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--seed", "x"],
            "'--seed' must be an integer",
        ),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--sensitiv", "a"], "mean '--sensitive'?"),
        (["publish", "kcl", "x.csv", "more", "--out", "o", "--k", "1", "--l", "1"], "no place for: more"),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--sensitive", "a"], "ATTRIBUTE=VALUE"),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--time-bucket", "soon"], "width"),
        (
            ["publish", "kcl", "x.csv", "--out", "o", "--k", "1", "--l", "1", "--engine", "spark"],
            "'--engine' must be one of",
        ),
        (["publish", "kcl", "x.csv", "--out", "o", "--k", "2", "--l", "1"], "no such file"),
        (["methods", "klc"], "Did you mean 'kcl'?"),
        (["risk", "x.csv", "--attack", "known_visit"], "Did you mean 'known_visits'?"),
        (["risk", "x.csv", "--m", "0"], "m must be an integer >= 1"),
        (["generate", "city", "--records", "0", "--out", "x.csv"], "records must be an integer"),
        (["generate", "city", "--out", "x.txt"], "must end in"),
        (["run"], "Missing argument"),
        (["serve", "--host", "0.0.0.0"], "token"),
        (["serve", "--token", "0123456789abcdef"], "No such option --token"),
        (["serve", "--token-file", "no-such-file"], "cannot be read"),
        (["serve", "--max-upload", "much"], "such as 4GB"),
        (["risk", "x.csv", "--scheduler", "tcp://nowhere:1"], "--engine dask"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(
    run: Run, command: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text, error = run(*command)
    assert (code, text) == (2, "")
    assert error.startswith("wayveil: ")
    assert words in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_error_shows_no_values(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: Path, **how: Any) -> None:
        raise KeyError("Anna was at the clinic")

    monkeypatch.setattr("wayveil.pipeline.folder.verify_folder.verify_folder", broken)
    code, text, error = run("verify", tmp_path)
    assert (code, text) == (2, "")
    assert error == error.splitlines()[0] + "\n"
    assert "unexpected KeyError at cli/app.py:" in error
    assert "Anna" not in error


def test_help_and_version(run: Run) -> None:
    code, text, _ = run()
    assert code == 0
    assert "publish" in text
    assert run("--help")[:2] == (0, text)
    assert run("--version")[1].startswith("wayveil ")


def test_help_does_not_wait_for_the_compiler() -> None:
    script = (
        "import sys; from wayveil.cli import main; main(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('numba', 'polars', 'numpy', 'pydantic')))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0


def test_demo(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wayveil.commands.demo.DEMO_RECORDS", 2000)
    code, text, error = run("demo")
    assert (code, error) == (0, "")
    assert "wayveil-demo/private/report.html" in text
    assert run("verify", "wayveil-demo")[0] == 3  # who owns what is not published
    assert run("verify", "wayveil-demo", "--original", "wayveil-demo/input.csv")[0] == 0
    assert run("demo", "--json")[0] == 0


def test_a_name_of_two_words_can_be_typed_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("network-movers", "network_movers"):
        options = ["--objects", "3", "--seed", "1", "--out", str(tmp_path / f"{name}.csv")]
        assert main(["generate", name, *options]) == 0
    capsys.readouterr()
    assert (tmp_path / "network-movers.csv").read_bytes() == (tmp_path / "network_movers.csv").read_bytes()
    main(["generate", "--help"])
    told = capsys.readouterr().out
    assert "network-movers" in told
    assert "network_movers" not in told
