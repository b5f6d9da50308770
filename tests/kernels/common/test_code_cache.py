"""Machine code that comes with the package: used where it fits exactly, and nowhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOY = """
from wayveil.kernels.common.jit import inner, kernel

@inner
def added(a, b):
    return a + b

@kernel
def twice(a):
    return added(a, a)
"""

MAKE = """
from toy import twice
assert twice(21) == 42
assert twice(0.5) == 1.0
"""

USE = """
import json, sys
from pathlib import Path
from wayveil.kernels.common import code_cache
from wayveil.kernels.common.jit import Kernel
import toy

code_cache.COMPILED = Path(sys.argv[1])
told = {}

def play(name, argument=21):
    fresh = Kernel(toy.twice.py_func, {})
    assert fresh(argument) == 2 * argument
    told[name] = sum(fresh.dispatcher.stats.cache_hits.values())

[folder] = code_cache.COMPILED.iterdir()
files = sorted(folder.iterdir(), key=lambda file: b"float64" in file.read_bytes())
whole, of_floats = (file.read_bytes() for file in files)
play("as it came")
files[0].write_bytes(whole[:-1])
play("cut short")
files[0].write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
play("changed")
files[0].write_bytes(of_floats)
play("of other types")
files[0].write_bytes(whole)
play("whole again")
play("of floats", 0.25)
code_cache.suitable_processors.cache_clear()
code_cache.PROCESSORS = {"generic": ("no such feature",)}
play("another processor")
code_cache.suitable_processors.cache_clear()
code_cache.PROCESSORS = {"generic": ()}
code_cache.numba.config.BOUNDSCHECK = 1
play("compiled in another way")
code_cache.numba.config.BOUNDSCHECK = None
code_cache.numba.__version__ = "0.0.0"
play("another compiler")
told["written"] = sorted(file.suffix for file in Path(sys.argv[2]).rglob("*") if file.is_file())
print(json.dumps(told))
"""


def python(code: str, *arguments: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy kernel, and its machine code for the plainest processor of this family."""
    home = tmp_path_factory.mktemp("toy")
    (home / "toy.py").write_text(TOY)
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    python(MAKE, PYTHONPATH=str(home), XDG_CACHE_HOME=str(home / "cache"), **plain)
    for file in (home / "cache" / "wayveil").rglob("*.code"):
        target = home / "compiled" / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    return home


def test_what_was_shipped_is_used_only_where_it_fits(shipped: Path, tmp_path: Path) -> None:
    # The second cache cannot be written, so that nothing that this program compiles is found by its next round.
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    told = json.loads(
        python(USE, shipped / "compiled", tmp_path / "none", PYTHONPATH=str(shipped), XDG_CACHE_HOME=str(blocked))
    )
    assert told == {
        "as it came": 1,
        "cut short": 0,
        "changed": 0,
        "of other types": 0,
        "whole again": 1,
        "of floats": 1,
        "another processor": 0,
        "compiled in another way": 0,
        "another compiler": 0,
        "written": [],
    }


def test_what_was_shipped_is_not_used_for_other_sources(shipped: Path, tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY.replace("return a + b", "return a + b + 1"))
    code = (
        "import sys\nfrom pathlib import Path\nfrom wayveil.kernels.common import code_cache\n"
        "code_cache.COMPILED = Path(sys.argv[1])\nimport toy\nprint(toy.twice(21))"
    )
    out = python(code, shipped / "compiled", PYTHONPATH=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert out == "43\n"
    parts = {file.suffix for file in (tmp_path / "cache").rglob("*") if file.is_file()}
    assert parts == {".code", ".part"}
