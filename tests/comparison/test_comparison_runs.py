"""Cells of a comparison: run once, made again when something changed or a run was killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayveil.comparison import comparison_runs
from wayveil.comparison.compare import Comparison, compare
from wayveil.comparison.comparison_recipe import load_plan
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, OutputError, UsageError

Run = Callable[..., Comparison]
Write = Callable[..., Path]

KCL = '[[setting]]\nmethod = "kcl"\nk = {k}\nc = 1\nl = 1\n'
SETTINGS = KCL.format(k="[0, 2, 15, 1000]") + "[compare]\nseed = 4\nmax_risk = 0.99\n"


def cell_folders(out: Path) -> list[Path]:
    return sorted((out / "cells").iterdir())


def result_times(out: Path) -> dict[str, int]:
    return {path.name: (path / "result.json").stat().st_mtime_ns for path in cell_folders(out)}


def test_what_is_finished_is_not_run_again_and_what_changed_is(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, write: Write
) -> None:
    path, out = write(tmp_path, SETTINGS), tmp_path / "out"
    first = run(path)
    before = result_times(out)
    assert len(before) == 3  # of four settings one cannot be built
    second = run(path)
    assert (second.ran, result_times(out)) == (0, before)
    assert second.settings == first.settings
    # a title or another number does not matter; a seed, an attack, a metric and a version do
    assert run(write(tmp_path, SETTINGS + "risk = 'known_visits.identity_max'\n")).ran == 0
    assert run(write(tmp_path, SETTINGS, title="x")).ran == 0
    assert run(write(tmp_path, SETTINGS.replace("seed = 4", "seed = 5"))).ran == 3
    assert run(write(tmp_path, SETTINGS + "risk = { name = 'known_visits', m = 1 }\n")).ran == 3
    assert run(write(tmp_path, SETTINGS + "loss = 'visit_support'\n")).ran == 3
    assert run(write(tmp_path, SETTINGS + "[output]\npath = 'out'\nformat = 'csv'\n")).ran == 3
    with monkeypatch.context() as patched:
        patched.setattr(comparison_runs, "versions", lambda: {"wayveil": "99"})
        assert run(write(tmp_path, SETTINGS)).ran == 3
    # and so does the input
    assert run(write(tmp_path, SETTINGS)).ran == 0
    table.write_text(table.read_text() + "p0,20,a\n")
    assert run(path).ran == 3


@pytest.mark.parametrize("damage", ["no result", "garbled", "other key", "no manifest", "changed manifest"])
def test_a_cell_that_is_not_whole_is_run_again_from_scratch(
    table: Path, tmp_path: Path, damage: str, run: Run, write: Write
) -> None:
    path = write(tmp_path, SETTINGS)
    first = run(path)
    cell = tmp_path / "out" / first.settings[1]["folder"]
    result, manifest = cell / "result.json", cell / "public" / "manifest.json"
    if damage == "no result":
        result.unlink()
        (cell / "leftover").touch()
    elif damage == "garbled":
        result.write_text("{")
    elif damage == "other key":
        result.write_text(result.read_text().replace('"seed": 4', '"seed": 5'))
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text(manifest.read_text() + " ")
    again = run(path)
    assert again.ran == 1
    assert not (cell / "leftover").exists()
    same = ("risk", "loss", "status", "folder", "reason")
    assert [[row[key] for key in same] for row in again.settings] == [[r[key] for key in same] for r in first.settings]


def test_a_secret_seed_is_drawn_once_and_kept(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    path = write(tmp_path, KCL.format(k=2))
    assert run(path).ran == 1
    kept = tmp_path / "out" / "seed.txt"
    assert int(kept.read_text()) > 2**64
    assert kept.stat().st_mode & 0o077 == 0
    assert run(path).ran == 0
    for name in ("comparison.json", "comparison.csv", "comparison.html"):
        assert kept.read_text().strip() not in (tmp_path / "out" / name).read_text()
    kept.write_text("x")
    with pytest.raises(InputError, match=r"seed in .* cannot be read"):
        run(path)


def test_a_bug_of_a_method_is_shown_and_tried_again(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, write: Write
) -> None:
    path = write(tmp_path, KCL.format(k="[2, 3]") + "[compare]\nseed = 1\n")
    good = comparison_runs.publish

    def bad(recipe: Any, **options: Any) -> Any:
        if recipe.method.k == 2:
            raise ZeroDivisionError("secret value of the data")
        return good(recipe, **options)

    with monkeypatch.context() as patched:
        patched.setattr(comparison_runs, "publish", bad)
        found = run(path)
    assert [row["status"] for row in found.settings] == ["failed", "verified"]
    assert "unexpected zerodivisionerror" in found.settings[0]["reason"].lower()
    assert "secret" not in (tmp_path / "out" / "comparison.json").read_text()
    assert run(path).ran == 1


def test_a_full_disk_stops_the_comparison(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, write: Write
) -> None:
    def full(recipe: Any, **options: Any) -> Any:
        raise OutputError("No space.")

    monkeypatch.setattr(comparison_runs, "publish", full)
    with pytest.raises(OutputError, match="No space"):
        run(write(tmp_path, KCL.format(k=2)))


def test_only_one_comparison_at_a_time(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, write: Write
) -> None:
    path = write(tmp_path, KCL.format(k=2))
    good = comparison_runs.publish

    def nested(recipe: Any, **options: Any) -> Any:
        with pytest.raises(UsageError, match="Another run is writing"):
            run(path)
        return good(recipe, **options)

    monkeypatch.setattr(comparison_runs, "publish", nested)
    assert run(path).settings[0]["status"] == "verified"


def test_an_input_that_is_not_there_is_told_before_anything_is_made(tmp_path: Path, run: Run, write: Write) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        run(write(tmp_path, KCL.format(k=2)))
    assert not (tmp_path / "out").exists()


def test_an_input_that_cannot_be_used_is_one_error(tmp_path: Path, run: Run, write: Write) -> None:
    (tmp_path / "visits.csv").write_text("traj_id,t,location\na,x,y\n")
    with pytest.raises(InputError, match="t"):
        run(write(tmp_path, KCL.format(k="[2, 3]") + "[compare]\nseed = 1\n"))
    assert not (tmp_path / "out").exists()


def test_a_folder_of_inputs_is_hashed_file_by_file(tmp_path: Path, write: Write) -> None:
    tracks = tmp_path / "tracks"
    tracks.mkdir()
    (tracks / "a.gpx").write_text("1")
    plan = load_plan(write(tmp_path, KCL.format(k=2)))
    spec = plan.input.model_copy(update={"path": tracks, "owners": (tracks / "a.gpx",)})
    first = comparison_runs.input_hashes(spec)
    assert list(first["path"]) == ["a.gpx"]
    assert len(first["owners"]) == 1
    (tracks / "a.gpx").write_text("2")
    assert comparison_runs.input_hashes(spec) != first


def test_progress_names_the_setting(table: Path, tmp_path: Path, write: Write) -> None:
    heard: list[tuple[str, int, int | None]] = []

    def hear(step: str, done: int = 0, total: int | None = None) -> None:
        heard.append((step, done, total))

    compare(write(tmp_path, KCL.format(k="[2, 3]")), engine=LocalEngine(workers=1, progress=hear))
    assert ("2 of 2, kcl k=3 c=1 l=1: verify", 1, 2) in heard


_RUN = """
import sys
from pathlib import Path
from wayveil.engines import LocalEngine
from wayveil.comparison import comparison_runs
from wayveil.comparison.compare import compare

good, count = comparison_runs.publish, [0]

def slow(recipe, **options):
    count[0] += 1
    if count[0] == int(sys.argv[2]):  # half a publication: the folder is there, the result is not
        (recipe.output.path / "private").mkdir(parents=True)
        (recipe.output.path / "private" / "half").touch()
        sys.stdout.write("stuck\\n")
        sys.stdout.flush()
        import time
        time.sleep(600)
    return good(recipe, **options)

comparison_runs.publish = slow
compare(Path(sys.argv[1]), engine=LocalEngine(workers=1))
"""


def test_a_comparison_survives_kill_9_and_goes_on_where_it_was(
    table: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    path, out = write(tmp_path, KCL.format(k="[2, 3, 4, 5]") + "[compare]\nmax_risk = 0.5\n"), tmp_path / "out"
    command = [sys.executable, "-c", _RUN, str(path), "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (out / "comparison.json").exists()
    halves = [folder for folder in cell_folders(out) if not (folder / "result.json").exists()]
    assert len(cell_folders(out)) == 3
    assert len(halves) == 1
    done = {f.name: (f / "result.json").stat().st_mtime_ns for f in cell_folders(out) if f not in halves}
    found = run(path)
    assert found.ran == 2
    assert [row["status"] for row in found.settings] == ["verified"] * 4
    assert {name: when for name, when in result_times(out).items() if name in done} == done
    assert not (halves[0] / "private" / "half").exists()
    assert not list(out.glob(".staging-*"))


def test_a_comparison_can_be_killed_at_any_moment(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    path = write(tmp_path, KCL.format(k="[2, 3, 4]") + "[compare]\nseed = 1\nmax_risk = 0.5\n")
    whole = run(path, out=tmp_path / "whole")
    command = [sys.executable, "-c", _RUN, str(path), "0"]
    random.seed(1)
    for _ in range(2):
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 60
        while not (tmp_path / "out" / "cells").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(random.random() * 0.5)
        process.kill()
        process.wait()
    found = run(path)
    for one, other in zip(found.settings, whole.settings, strict=True):
        assert (one["risk"], one["loss"], one["status"]) == (other["risk"], other["loss"], other["status"])
    assert found.sentence == whole.sentence
