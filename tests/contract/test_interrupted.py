"""A publication that is killed, or runs out of disk: the old public folder is whole, or the new one is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wayveil.cli import main
from wayveil.pipeline.folder.verify_folder import verify_folder

# Runs a publication that dies at step `n` of those that the interpreter reports to the audit hooks (n = 0: never,
# and says how many steps there were).  Steps are those that name the output or change files.
SCRIPT = """
import os, resource, signal, sys
out, step, limit, *command = sys.argv[1:]
step, limit, seen = int(step), int(limit), 0
from wayveil.cli import main
import wayveil.api, wayveil.methods, wayveil.attacks, wayveil.metrics

def count(event, arguments):
    global seen
    named = any(isinstance(a, (str, os.PathLike)) and os.fspath(a).startswith(out) for a in arguments)
    changing = ("os.remove", "os.rmdir", "os.rename", "os.mkdir", "shutil.", "ctypes.dlopen", "fcntl.")
    if named or (seen and event.startswith(changing)):
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)

if limit >= 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
sys.addaudithook(count)
code = main(command)
sys.stdout.write(f"steps {seen}\\n")
sys.exit(code)
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "input.csv"
    rows = [f"id{i},{t},{place}" for i in range(40) for t, place in enumerate("abcd"[: 2 + i % 3])]
    path.write_text("\n".join(["traj_id,t,location", *rows]) + "\n")
    return path


def secret_file(table: Path, seed: int) -> Path:
    """Return the file of a secret: what is published under another one has other bytes."""
    path = table.with_name(f"secret-{seed}.txt")
    path.write_text(f"{seed:032x}\n")
    return path


def command(table: Path, out: Path, *, seed: int) -> list[str]:
    return ["publish", "kcl", str(table), "--each-trajectory-is-a-person", "--k", "2", "--l", "2", "--out", str(out),
            "--format", "csv",
            "--secret", str(secret_file(table, seed)), "--overwrite"]  # fmt: skip


def run(table: Path, out: Path, *, seed: int, step: int = 0, limit: int = -1) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", SCRIPT, str(out), str(step), str(limit), *command(table, out, seed=seed)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


def kill_at(steps: list[int], table: Path, out: Path, versions: dict[int, dict[str, bytes]]) -> set[int]:
    """Publish over a publication and die at each of the steps; return the seeds that were then public."""
    found = set()
    current = 1
    for step in steps:
        done = run(table, out, seed=3 - current, step=step)
        assert done.returncode == -9, done.stderr
        assert verify_folder(out).failures == ()
        [current] = [seed for seed, content in versions.items() if content == public_bytes(out)]
        found.add(current)
    return found


def prepared(table: Path, tmp_path: Path) -> tuple[Path, dict[int, dict[str, bytes]], int]:
    """Publish with the seeds 1 and 2; return the folder with 1, both contents, and the number of steps."""
    versions = {}
    for seed in (2, 1):
        assert main(command(table, tmp_path / "out", seed=seed)) == 0
        versions[seed] = public_bytes(tmp_path / "out")
    done = run(table, tmp_path / "out", seed=1)
    assert done.returncode == 0, done.stderr
    return tmp_path / "out", versions, int(done.stdout.rsplit("steps ", 1)[1])


def test_killed_at_moments_spread_over_a_publication(table: Path, tmp_path: Path) -> None:
    out, versions, steps = prepared(table, tmp_path)
    kill_at([1 + (steps - 2) * i // 5 for i in range(6)], table, out, versions)
    assert main(command(table, out, seed=2)) == 0
    assert public_bytes(out) == versions[2]
    assert sorted(path.name for path in out.iterdir()) == ["private", "public"]


@pytest.mark.slow
def test_killed_at_every_moment_of_a_publication(table: Path, tmp_path: Path) -> None:
    out, versions, steps = prepared(table, tmp_path)
    assert kill_at(list(range(1, steps)), table, out, versions) == {1, 2}


def test_a_full_disk_leaves_the_old_publication_and_no_rubbish(table: Path, tmp_path: Path) -> None:
    out, versions, _ = prepared(table, tmp_path)
    private = (out / "private/secret.txt").read_text()
    size = len(versions[1]["published.csv"])
    for limit in (0, size - 1, size, size + 5000):  # the table, then the manifest or the report do not fit
        done = run(table, out, seed=2, limit=limit)
        assert done.returncode == 2, (limit, done.stdout, done.stderr)
        assert done.stderr.startswith("wayveil: ")
        assert done.stderr.count("\n") == 1
        assert "unexpected" not in done.stderr
        assert public_bytes(out) == versions[1]
        assert (out / "private/secret.txt").read_text() == private
        assert sorted(path.name for path in out.iterdir()) == ["private", "public"]


def test_a_full_disk_leaves_nothing_where_nothing_was(table: Path, tmp_path: Path) -> None:
    done = run(table, tmp_path / "new" / "out", seed=1, limit=0)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "new").exists()
