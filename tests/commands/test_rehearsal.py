"""Rehearsals: whole publications of next to nothing, and `wayveil warm`, which runs them ahead of time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wayveil.cli import main
from wayveil.commands import rehearsal
from wayveil.errors import UsageError, WayveilError
from wayveil.methods import METHODS
from wayveil.recipe import catalog


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_is_rehearsed_to_the_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Any] = []
    plain = rehearsal.publish
    monkeypatch.setattr(rehearsal, "publish", lambda *a, **b: outcomes.append(plain(*a, **b)))
    rehearsal.rehearse(name)
    [outcome] = outcomes
    assert outcome.verdict.holds
    assert not outcome.private.exists()  # nothing is left behind


def test_methods_are_rehearsed_in_processes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Process:
        running = 0

        def __init__(self, name: str) -> None:
            self.code = 1 if name == "tga" else 0
            self.is_slow = name == "kcl"
            Process.running += 1
            assert Process.running <= 2

        def poll(self) -> int | None:
            return None if self.is_slow and Process.running > 1 else self.code

        def wait(self) -> int:
            Process.running -= 1
            return self.code

        def terminate(self) -> None:
            self.code = -15

    monkeypatch.setattr(rehearsal, "_start", Process)
    # The slow one holds one of two cores, and the others have theirs one after the other.
    assert list(rehearsal.rehearse_all(("kcl", "nwa", "cast"), jobs=2)) == ["nwa", "cast", "kcl"]
    assert set(rehearsal._SLOWEST) <= set(catalog.entries("method"))
    with pytest.raises(WayveilError, match="rehearsal of tga failed"):
        list(rehearsal.rehearse_all(("kcl", "tga", "nwa"), jobs=2))
    assert Process.running == 0
    with pytest.raises(UsageError, match="Did you mean 'nwa'"):
        list(rehearsal.rehearse_all(("nwaa",)))


def test_warm_says_what_is_ready(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(rehearsal, "rehearse_all", lambda names, jobs: iter(names or ("kcl", "nwa")))
    assert main(["warm"]) == 0
    assert capsys.readouterr().out == "Compiled and ready: kcl, nwa\n"
    assert main(["warm", "cast", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"methods": ["cast"]}
