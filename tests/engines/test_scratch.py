"""Scratch folders: private, gone at the end, and swept after a process that was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from wayveil.engines.scratch import Scratch, scratch_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from wayveil.engines.scratch import Scratch
scratch = Scratch(Path(sys.argv[1]))
(scratch.path / "names.csv").write_text("somebody")
print(scratch.path, flush=True)
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_is_private_and_goes_with_everything_in_it(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_it_goes_after_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="wrong"), scratch_folder(tmp_path):
        raise ValueError("wrong")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdin is not None
    left = Path(started.stdout.readline().strip())
    with scratch_folder(tmp_path):
        assert (left / "names.csv").exists()  # its process is alive
    started.stdin.write("\n")
    started.stdin.close()
    assert started.wait() == -signal.SIGKILL
    started.stdout.close()
    assert left.exists()
    with scratch_folder(tmp_path):
        assert not left.exists()


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (tmp_path / "wayveil-link").symlink_to(elsewhere)
    (elsewhere / "made by wayveil, removed by wayveil").touch()
    (tmp_path / "wayveil-file").touch()
    (tmp_path / ".wayveil-scratch-mine").mkdir()
    (tmp_path / ".wayveil-scratch-mine" / "publication").touch()
    (tmp_path / "wayveil-out").mkdir()
    (tmp_path / "other-folder").mkdir()
    one = Scratch(tmp_path)
    two = Scratch(tmp_path)
    assert one.path.is_dir()
    one.close()
    one.close()
    assert two.path.is_dir()
    two.close()
    assert sorted(os.listdir(tmp_path)) == [
        ".wayveil-scratch-mine", "elsewhere", "other-folder", "wayveil-file", "wayveil-link", "wayveil-out",
    ]  # fmt: skip
    assert (elsewhere / "file").exists()
