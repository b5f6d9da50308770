"""A command that is told to end cleans up as after Ctrl-C, whatever it was doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from wayveil.cli import main
from wayveil.cli.signals import Stopped, stopping_gently

# Runs a command that waits, for ever, when it first moves a file with such a name in the folder, and says so.
WAITING = """
import os, signal, sys, time
base, stops, *command = sys.argv[1:]
from wayveil.cli import main

def wait(event, arguments):
    if event == "os.rename" and os.path.abspath(arguments[0]).startswith(base) and stops in os.fspath(arguments[0]):
        print("waiting", flush=True)
        while True:
            time.sleep(0.05)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.addaudithook(wait)
sys.exit(main(command))
"""


@pytest.fixture(autouse=True)
def _hangups_are_heard() -> Iterator[None]:
    """Where tests are run by nohup, commands would inherit that SIGHUP is ignored, and heed it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "input.csv"
    rows = [f"id{i},p{i},{t},{place}" for i in range(40) for t, place in enumerate("abcd"[: 2 + i % 3])]
    path.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    (tmp_path / "recipe.toml").write_text(
        'attacks = []\nmetrics = []\n[input]\npath = "input.csv"\n[method]\nname = "kcl"\nk = 2\nl = 2\nc = 1\n'
        '[output]\npath = "out"\n'
    )
    (tmp_path / "compare.toml").write_text(
        '[input]\npath = "input.csv"\n[output]\npath = "out"\n[compare]\nseed = 4\n'
        '[[setting]]\nmethod = "kcl"\nk = 2\nc = 1\nl = 1\n'
    )
    return path


COMMANDS = {
    "publish": ["publish", "kcl", "input.csv", "--k", "2", "--l", "2", "--out", "out"],
    "run": ["run", "recipe.toml"],
    "compare": ["compare", "compare.toml", "--out", "out"],
    "risk": ["risk", "input.csv", "--attack", "uniqueness", "--report", "risk.html"],
    "prepare": ["prepare", "bucket", "input.csv", "--width", "2", "--out", "coarse.csv"],
}


@pytest.mark.parametrize(
    ("command", "stops", "number"),
    [
        ("publish", ".staging-", signal.SIGTERM),
        ("publish", ".staging-", signal.SIGINT),
        ("run", ".staging-", signal.SIGHUP),
        ("compare", ".staging-", signal.SIGTERM),
        ("risk", "risk.html", signal.SIGHUP),
        ("prepare", "coarse.csv", signal.SIGTERM),
        ("prepare", ".wayveil-scratch-new-", signal.SIGHUP),
    ],
)
def test_a_command_that_is_told_to_end_leaves_nothing(
    table: Path, command: str, stops: str, number: signal.Signals
) -> None:
    folder = table.parent
    before = sorted(os.listdir(folder))
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(folder), stops, *COMMANDS[command]],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "waiting\n", process.stderr.read()
        assert sorted(os.listdir(folder)) != before
        process.send_signal(number)
        _, error = process.communicate()
    assert process.returncode == 128 + number
    if number != signal.SIGINT:  # which typer takes for itself
        assert error.strip() == f"wayveil: stopped by {number.name}."
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_server_ends_when_it_is_told_to(tmp_path: Path, number: signal.Signals) -> None:
    pytest.importorskip("uvicorn")
    code = "import sys; from wayveil.cli import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--data", str(tmp_path / "data")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        try:
            with pytest.raises(HTTPError):  # it answers, if only that a token is missing: it is up
                urlopen(link.partition("?")[0])
        finally:
            process.send_signal(number)
        _, error = process.communicate()
    assert process.returncode == 128 + number, error
    assert error.strip() == f"wayveil: stopped by {number.name}."
    assert os.listdir(tmp_path) == ["data"]


def test_what_is_ignored_stays_ignored_and_what_was_there_comes_back() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with stopping_gently():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_second_signal_does_not_break_off_the_cleaning() -> None:
    cleaned = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGHUP)
            cleaned.append(True)

    with pytest.raises(Stopped) as caught, stopping_gently():
        work()
    assert cleaned == [True]
    assert caught.value.exit_code == 143


def test_private_results_are_readable_by_their_owner_only(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = table.parent
    monkeypatch.chdir(folder)
    (folder / "wide").mkdir()
    (folder / "coarse.csv").write_text("of an earlier run")
    table.chmod(0o644)
    previous = os.umask(0o022)
    try:
        assert main([*COMMANDS["prepare"], "--overwrite"]) == 0
        assert main(COMMANDS["risk"]) == 0
        assert main(COMMANDS["compare"]) == 0
        assert main([*COMMANDS["compare"][:-1], "wide"]) == 0  # a folder that others can enter
        assert main(["generate", "transit", "--out", "made.csv"]) == 0
    finally:
        os.umask(previous)
    files = [folder / "coarse.csv", folder / "risk.html", *(folder / "out").iterdir(), *(folder / "wide").iterdir()]
    assert {path.name: path.stat().st_mode & 0o077 for path in files} == {path.name: 0 for path in files}
    assert len(files) > 8
    assert (folder / "out").stat().st_mode & 0o777 == 0o700
    assert (folder / "made.csv").stat().st_mode & 0o777 == 0o644  # generated data are of nobody
