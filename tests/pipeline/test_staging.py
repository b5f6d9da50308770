"""The output folder: locked, whole at every moment, and empty-handed after a failure."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wayveil.errors import OutputError, UsageError
from wayveil.pipeline.folder import staging
from wayveil.pipeline.folder.staging import check_private, exchange, open_workspace


def publish(out: Path, text: str, *, overwrite: bool = True, private: dict[str, str] | None = None) -> None:
    with open_workspace(out, overwrite=overwrite) as space:
        (space.staged / "data.csv").write_text(text)
        (space.staged / "manifest.json").write_text(text)
        space.publish(private or {"report.html": text, "seed.txt": text})


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


PUBLISHED = {
    "public", "public/data.csv", "public/manifest.json", "private", "private/report.html", "private/seed.txt",
}  # fmt: skip


def test_first_publication_and_replacement(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    publish(out, "one", overwrite=False)
    assert tree(out) == PUBLISHED
    publish(out, "two")
    assert tree(out) == PUBLISHED
    assert {(out / name).read_text() for name in PUBLISHED if (out / name).is_file()} == {"two"}


def test_private_files_are_private_and_public_files_are_not(tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        publish(tmp_path / "out", "one")
    finally:
        os.umask(previous)
    modes = {name: (tmp_path / "out" / name).stat().st_mode & 0o777 for name in PUBLISHED}
    assert modes == {
        "public": 0o755, "public/data.csv": 0o644, "public/manifest.json": 0o644,
        "private": 0o700, "private/report.html": 0o600, "private/seed.txt": 0o600,
    }  # fmt: skip


def test_files_of_an_earlier_run_do_not_stay_beside_those_of_this_run(tmp_path: Path) -> None:
    publish(tmp_path / "out", "one", private={"report.html": "one", "mapping.csv": "one"})
    publish(tmp_path / "out", "two", private={"report.html": "two"})
    assert not (tmp_path / "out/private/mapping.csv").exists()


def test_overwrite_must_be_asked_for(tmp_path: Path) -> None:
    publish(tmp_path / "out", "one")
    with pytest.raises(UsageError, match="--overwrite"), open_workspace(tmp_path / "out", overwrite=False):
        pytest.fail("must not be entered")
    assert tree(tmp_path / "out") == PUBLISHED


def test_a_refused_run_beside_a_publication_keeps_its_private_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    publish(out, "one")
    with open_workspace(out, overwrite=True) as space:
        folder = space.refuse({"report.html": "no"})
    assert folder == out / "private/refused"
    assert (out / "private/report.html").read_text() == "one"
    assert (out / "private/refused/report.html").read_text() == "no"
    publish(out, "two")
    assert tree(out) == PUBLISHED


def fail_half_way(out: Path) -> None:
    with open_workspace(out, overwrite=True) as space:
        (space.staged / "data.csv").write_text("half")
        raise RuntimeError


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    with pytest.raises(RuntimeError):
        fail_half_way(out)
    assert list(tmp_path.iterdir()) == []
    publish(out, "one")
    with pytest.raises(RuntimeError):
        fail_half_way(out)
    assert tree(out) == PUBLISHED


def test_leftovers_of_killed_runs_are_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    publish(out, "one")
    (out / ".staging-dead" / "public").mkdir(parents=True)
    (out / ".staging-dead" / "public" / "data.csv").write_text("never verified")
    publish(out, "two")
    assert tree(out) == PUBLISHED


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with open_workspace(out, overwrite=False):
        with pytest.raises(UsageError, match="Another run"), open_workspace(out, overwrite=False):
            pytest.fail("must not be entered")
        assert len(list(out.glob(".staging-*"))) == 1


@pytest.mark.parametrize("what", ["file", "link", "foreign", "out is a file", "below a file"])
def test_what_wayveil_did_not_make_is_not_touched(tmp_path: Path, what: str) -> None:
    out = tmp_path / "out"
    if what == "below a file":
        (tmp_path / "file").touch()
        out = tmp_path / "file" / "out"
    elif what == "out is a file":
        out.write_text("mine")
    else:
        out.mkdir()
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "manifest.json").touch()
        if what == "file":
            (out / "public").write_text("mine")
        elif what == "link":
            (out / "public").symlink_to(tmp_path / "elsewhere")
        else:
            (out / "public").mkdir()
            (out / "public" / "thesis.doc").write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(OutputError), open_workspace(out, overwrite=True):
        pytest.fail("must not be entered")
    assert tree(tmp_path) == before


def test_where_folders_cannot_be_exchanged_the_old_one_is_not_risked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_exchange(one: Path, other: Path) -> None:
        raise OSError(22, "Invalid argument")

    out = tmp_path / "out"
    publish(out, "one", overwrite=False)
    monkeypatch.setattr(staging, "exchange", no_exchange)
    with pytest.raises(OutputError, match="cannot exchange"), open_workspace(out, overwrite=True):
        pytest.fail("must not be entered")
    assert tree(out) == PUBLISHED
    publish(tmp_path / "other", "one", overwrite=False)


def test_exchange(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    exchange(tmp_path / "one", tmp_path / "other")
    assert tree(tmp_path) == {"one", "one/other", "other", "other/one"}
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "one", tmp_path / "missing")


def pair(text: str) -> tuple[str, dict[str, str]]:
    """Return a manifest and private files that belong to it."""
    return text, {
        "report.html": text,
        "seed.txt": text,
        "results.json": json.dumps({"manifest_sha256": hashlib.sha256(text.encode()).hexdigest()}),
    }


KILLED_BEFORE_PRIVATE = """
import os, sys
from pathlib import Path
from wayveil.pipeline.folder import staging
sys.path.insert(0, sys.argv[2])
from test_staging import pair, publish

moves = 0
def dying(one, other):
    global moves
    moves += 1
    if moves == int(sys.argv[3]):
        os._exit(9)
    return os_replace(one, other)

os_replace, os.replace = os.replace, dying
if sys.argv[3] == "0":
    staging._move_private = lambda staged, folder: os._exit(9)
publish(Path(sys.argv[1]), *pair("new")[:1], private=pair("new")[1])
"""


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_killed_between_public_and_private_files_nothing_old_is_taken_for_new(tmp_path: Path, moves: int) -> None:
    out = tmp_path / "out"
    publish(out, "old", private={**pair("old")[1], "mapping.csv": "old"})
    check_private(out / "public")
    command = [sys.executable, "-c", KILLED_BEFORE_PRIVATE, str(out), str(Path(__file__).parent), str(moves)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 9, done.stderr
    assert (out / "public/data.csv").read_text() == "new"
    if moves == 1:
        assert list((out / "private").iterdir()) == []  # the old ones are gone, the new ones are to come
    else:
        with pytest.raises(UsageError, match="do not belong to"):
            check_private(out / "public")
    with open_workspace(out, overwrite=True) as space:  # the next run brings them together, also if it then refuses
        check_private(out / "public")
        space.refuse({"report.html": "no"})
    assert (out / "private/seed.txt").read_text() == "new"
    assert not (out / "private/mapping.csv").exists()
    assert not list(out.glob(".staging-*"))


@pytest.mark.parametrize("moment", ["exchange", "private"])
def test_an_interrupt_does_not_part_public_from_private_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    out = tmp_path / "out"
    publish(out, "old", private=pair("old")[1])
    name = {"exchange": "exchange", "private": "_move_private"}[moment]
    real = getattr(staging, name)

    def interrupted(*paths: Path) -> None:
        real(*paths)
        if paths[1] in (out / "public", out / "private"):  # not where exchanging is tried out
            monkeypatch.setattr(staging, name, real)
            raise KeyboardInterrupt

    monkeypatch.setattr(staging, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(out, "new", private=pair("new")[1])
    assert {(out / name).read_text() for name in ("public/data.csv", "private/seed.txt")} == {"new"}
    check_private(out / "public")
    assert not list(out.glob(".staging-*"))


def test_private_files_that_cannot_be_moved_are_kept_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: Path) -> None:
        raise OSError(28, "No space left on device")

    out = tmp_path / "out"
    publish(out, "old", private=pair("old")[1])
    with monkeypatch.context() as patched:
        patched.setattr(staging, "_move_private", full)
        with pytest.raises(OutputError, match="was published and verified"):
            publish(out, "new", private=pair("new")[1])
    with open_workspace(out, overwrite=True):
        assert (out / "private/seed.txt").read_text() == "new"
    assert tree(out) == PUBLISHED | {"private/results.json"}


def test_what_workers_wrote_is_as_readable_as_the_public_folder(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "out", overwrite=True) as space:
        for name in ("data.csv", "manifest.json"):
            (space.staged / name).write_text("one")
            (space.staged / name).chmod(0o600 if name == "data.csv" else 0o666)
        expected = space.staged.stat().st_mode & 0o666
        space.publish({"report.html": "one"})
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out/public").iterdir()} == {expected}


KILLED_AT_EVERY_STEP = """
import os, shutil, signal, sys
from pathlib import Path
from wayveil.pipeline.folder.staging import open_workspace

os.fsync = lambda handle: None  # a killed process loses nothing that it wrote; only a power cut would
STEPS = ("open", "os.", "shutil.", "tempfile.", "ctypes.", "fcntl.", "pathlib.")

def publish(out, text, die_at=0):
    seen = 0
    def count(event, arguments):
        nonlocal seen
        if event.startswith(STEPS):
            seen += 1
            if seen == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
    if die_at:
        sys.addaudithook(count)
    with open_workspace(out, overwrite=True) as space:
        for name in ("data.csv", "manifest.json"):
            (space.staged / name).write_text(text)
        space.publish({"report.html": text, "seed.txt": text})

out, seen = Path(sys.argv[1]), set()
first = sys.argv[2] == "first"
for step in range(1, 1000):
    if first:
        shutil.rmtree(out, ignore_errors=True)
    else:
        publish(out, "old")
    child = os.fork()
    if child == 0:
        publish(out, "new", die_at=step)
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    public = {path.name: path.read_text() for path in (out / "public").iterdir()} if (out / "public").exists() else {}
    if public or not first:
        if set(public) != {"data.csv", "manifest.json"} or len(set(public.values())) != 1:
            sys.exit(f"step {step}: {public}")
    seen.add(public.get("data.csv"))
    publish(out, "next")
    left = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    if left != {"public/data.csv", "public/manifest.json", "private/report.html", "private/seed.txt"}:
        sys.exit(f"step {step}: left {left}")
    if not killed:
        break
if seen != {None if first else "old", "new"} or step < 20:
    sys.exit(f"saw {seen} in {step} steps")
"""


@pytest.mark.parametrize("when", ["first", "again"])
def test_killed_at_every_step_the_public_folder_is_whole(tmp_path: Path, when: str) -> None:
    command = [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path / "out"), when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
