"""Compiling kernels ahead: only what is cold, in another process, and exactly what the method calls later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wayveil.kernels.common import code_cache, warm
from wayveil.methods import Kcl

WARM = """
from wayveil.kernels.common.warm import is_warm, start_warming, warm
names = NAMES
assert not any(map(is_warm, names))
other = start_warming(names[:1])
for name in names[1:]:
    warm(name)
assert other.wait() == 0
assert all(map(is_warm, names))
assert start_warming(names) is None
"""

USE = """
import numpy as np
from wayveil.engines import LocalEngine
from wayveil.kernels.kcl.violating_sequences import find_sequences
from wayveil.kernels.kcl.greedy_suppression import suppress
from wayveil.methods.kcl.kcl import Kcl
from wayveil.model import Visits

records = [[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]]
data = Visits.from_records(records, attributes={"s": ["x", "y", "y"]}, owner=[5, 5, 3])
half = {"c": "1/2", "sensitive": {"s": ["x"]}}
for asked in ({"l": 2}, {"l": "all", **half}, {"l": 1, "suppression": "global"}):
    Kcl(k=2, **asked).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
for function in (find_sequences, suppress):
    stats = function.dispatcher.stats
    print(len(function.dispatcher.signatures), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(code_cache, "_folder", [])
    return tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have been started."""
    commands: list[list[str]] = []
    monkeypatch.setattr(warm.subprocess, "Popen", lambda command, **_: commands.append(command) or "started")
    return commands


def test_every_job_of_a_method_exists() -> None:
    usual, spares_patterns = Kcl(k=2, l=2), Kcl(k=2, l=2, preserve="mfs", restore="no")
    assert set(spares_patterns.kernels) < set(usual.kernels) <= set(warm.JOBS)
    assert set(Kcl(k=2, l=2, restore="no").kernels) == set(usual.kernels) - {"kcl_restore"}
    assert Kcl(k=2, l=2, preserve="mfs").kernels == usual.kernels


def test_a_job_is_cold_until_it_is_done(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setitem(warm.JOBS, "some", lambda: done.append("some"))
    assert not warm.is_warm("some")
    warm.warm("some")
    assert done == ["some"]
    assert warm.is_warm("some")
    assert not warm.is_warm("other")
    assert [path.name for path in cache.rglob("*.warm")] == ["some.warm"]


def test_a_job_that_fails_stays_cold(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(warm.JOBS, "some", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        warm.warm("some")
    assert not warm.is_warm("some")


def test_only_cold_jobs_are_started(cache: Path, started: list[list[str]]) -> None:
    warm.mark_warm("first")
    assert warm.start_warming(["first"]) is None
    assert warm.start_warming([]) is None
    assert started == []
    assert warm.start_warming(["first", "second"]) == "started"
    [[program, option, code]] = started
    assert (program, option) == (sys.executable, "-c")
    assert "second" in code
    assert "first" not in code


def test_without_a_cache_folder_nothing_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, started: list[list[str]]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(code_cache, "_folder", [])
    assert warm.is_warm("kcl_suppress")  # compiling elsewhere would be of no use
    assert warm.start_warming(["kcl_suppress"]) is None
    warm.mark_warm("kcl_suppress")
    assert started == []
    assert blocked.is_file()


def test_a_process_that_cannot_be_started_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(cache / "missing"))
    assert warm.start_warming(["kcl_suppress"]) is None


def test_a_job_that_fails_elsewhere_is_quiet(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = warm.start_warming(["no such job"])
    assert other is not None
    assert other.wait() == 1
    assert capfd.readouterr() == ("", "")
    assert not warm.is_warm("no such job")


def python(code: str, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_method_compiles_nothing_that_was_compiled_ahead(tmp_path: Path) -> None:
    python(WARM.replace("NAMES", repr(Kcl(k=2, l=2).kernels)), tmp_path)
    # one signature each, from the cache: hits 1, misses 0
    assert python(USE, tmp_path).splitlines() == ["1 1 0", "1 1 0"]
