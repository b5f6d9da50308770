"""Machines that give too little: a disk that is full for real, and memory that ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wayveil.pipeline.folder.verify_folder import verify_folder

RUN = "import sys; from wayveil.cli import main; sys.exit(main(sys.argv[1:]))"

# A file system of its own, of which nobody but this process knows: it is gone with the process.
SMALL_DISK = """
mount -t tmpfs -o size="$2" tmpfs "$1" || exit 77
shift 2
"$@"
code=$?
ls -A "$DISK" > "$LEFT"
exit $code
"""

SHORT_OF_MEMORY = """
import resource, sys
from wayveil.cli import main
import wayveil.api, wayveil.methods, wayveil.attacks, wayveil.metrics
spare = int(sys.argv[1])
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + spare, used + spare))
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "input.csv"
    rows = [f"id{i},p{i},{t},{place}" for i in range(4000) for t, place in enumerate("abcd"[: 2 + i % 3])]
    path.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    return path


def command(table: Path, out: Path) -> list[str]:
    return ["publish", "kcl", str(table), "--k", "2", "--l", "2", "--format", "csv", "--out", str(out)]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can make a small disk")
@pytest.mark.parametrize("size", ["16k", "100k", "300k"])  # the table, the manifest or the report do not fit
def test_a_small_disk_is_one_sentence_and_leaves_nothing(table: Path, tmp_path: Path, size: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    left = tmp_path / "left"
    publishing = [sys.executable, "-c", RUN, *command(table, disk / "out")]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", SMALL_DISK, "sh", disk, size, *publishing],
        capture_output=True, text=True, check=False, env={**os.environ, "DISK": str(disk), "LEFT": str(left)},
    )  # fmt: skip
    if not left.exists():
        pytest.skip("this system does not let root mount")
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stderr.startswith("wayveil: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1
    assert left.read_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("spare", [1 << 20, 8 << 20, 64 << 20])
def test_memory_that_ends_publishes_nothing_or_all(table: Path, tmp_path: Path, spare: int) -> None:
    out = tmp_path / "out"
    arguments = [sys.executable, "-c", SHORT_OF_MEMORY, str(spare), *command(table, out)]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:  # seen once in twenty: a library below aborts and waits for its own lock
        done = subprocess.CompletedProcess(arguments, -9)
    if done.returncode == 0:
        assert verify_folder(out).failures == ()
    else:  # a sentence, or the end of the process where a library below has no way to say it
        assert done.returncode in (2, -6, -9, -11), done.stderr
        assert not (out / "public").exists()
    again = subprocess.run(
        [sys.executable, "-c", RUN, *command(table, out), "--overwrite"], capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert sorted(path.name for path in out.iterdir()) == ["private", "public"]
