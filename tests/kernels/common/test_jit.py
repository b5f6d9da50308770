"""How kernels are compiled: where machine code is kept, and that compiled and plain code do the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from wayveil.kernels.common import code_cache, jit

WORKLOAD = """
import hashlib
import numpy as np
from wayveil.engines import LocalEngine
from wayveil.methods.kcl.kcl import Kcl
from wayveil.workloads import City, Transit
import wayveil.methods.kcl.kcl_strategies as module

logs, plain = [], module.suppress

def suppress(*arguments):
    logs.append(plain(*arguments))
    return logs[-1]

module.suppress = suppress
workload = WORKLOAD
data = workload.generate(rng=np.random.default_rng(3))
method = Kcl(k=10, c=0.5, l=3, sensitive=workload.sensitive)
made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
# the method tries several ways at the same time, and any of them may end first
logs = sorted((np.ascontiguousarray(log, np.int64) for log in logs), key=lambda log: (len(log), log.tolist()))
for part in (*logs, made.data.offsets, made.data.t, made.data.location):
    print(len(part), hashlib.sha256(part.tobytes()).hexdigest())
"""


ROOMS = {"callee": "rooms", "deep": "rooms"}
"""Files that do not lie in the folder of jit.py."""


def python(code: str, **environment: str) -> str:
    """Run code in a new interpreter; warnings are errors there too, but hashing may overflow in plain code."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:overflow encountered:RuntimeWarning", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_logs(workload: str) -> None:
    """Check that plain and compiled code take the same steps in the same order, and that they are many."""
    code = WORKLOAD.replace("= WORKLOAD", f"= {workload}")
    compiled = python(code, NUMBA_DISABLE_JIT="0")
    assert compiled == python(code, NUMBA_DISABLE_JIT="1")
    assert int(compiled.split()[0]) > 100  # much was suppressed


def test_plain_and_compiled_code_do_the_same() -> None:
    same_logs("City(records=60, blocks=8, hours=12)")


@pytest.mark.slow
def test_plain_and_compiled_code_do_the_same_at_length() -> None:
    same_logs("City(records=1500, blocks=20, hours=24)")


@pytest.mark.slow
def test_no_index_is_out_of_bounds(tmp_path: Path) -> None:
    code = WORKLOAD.replace("= WORKLOAD", "= Transit(records=500)")
    checked = python(code, NUMBA_BOUNDSCHECK="1", XDG_CACHE_HOME=str(tmp_path))
    assert checked == python(code)


def fresh(monkeypatch: pytest.MonkeyPatch, cache: Path | str) -> Path | None:
    """Return the folder that is made when nothing was compiled yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(code_cache, "_folder", [])
    return code_cache.cache_folder()


def sources(monkeypatch: pytest.MonkeyPatch, folder: Path, **content: str) -> None:
    """Let the kernels be these files."""
    for name, text in content.items():
        file = folder / ROOMS.get(name, "common") / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(code_cache, "__file__", str(folder / "common" / "code_cache.py"))


def test_the_cache_is_named_after_the_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sources(monkeypatch, tmp_path / "kernels", jit="0", caller="1", callee="2")
    first = fresh(monkeypatch, tmp_path / "cache")
    assert first == fresh(monkeypatch, tmp_path / "cache")
    assert first is not None
    assert Path(first).parent == tmp_path / "cache" / "wayveil"
    assert Path(first).is_dir()
    assert list(Path(first).iterdir()) == []  # the probe is gone
    for change in ({"callee": "3"}, {"jit": "4"}, {"another": "5"}, {"caller": "1 "}):
        sources(monkeypatch, tmp_path / "kernels", **change)
        changed = fresh(monkeypatch, tmp_path / "cache")
        assert changed not in (None, first)
        first = changed


def test_the_cache_is_named_after_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = fresh(monkeypatch, tmp_path)
    monkeypatch.setattr(numba, "__version__", "0.0.0")
    assert fresh(monkeypatch, tmp_path) != before


def test_without_a_name_for_the_cache_the_home_folder_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = fresh(monkeypatch, "")
    assert folder is not None
    assert Path(folder).is_relative_to(tmp_path / ".cache" / "wayveil")


@pytest.mark.parametrize(("how", "ending"), [(jit.kernel, "code"), (jit.inner, "part")])
def test_a_kernel_is_kept_in_the_cache(how: Any, ending: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh(monkeypatch, tmp_path)
    twice = how(_twice)
    outer = numba.njit(lambda number: twice(number))
    assert outer(21) == 42
    assert list(tmp_path.rglob(f"*.{ending}"))


@pytest.mark.parametrize("how", [jit.kernel, jit.inner])
def test_without_a_cache_kernels_work_as_well(how: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    assert fresh(monkeypatch, blocked) is None
    twice = how(_twice)
    outer = numba.njit(lambda number: twice(number))
    assert outer(21) == 42


def test_a_program_without_a_cache_works_as_well(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    code = (
        "import numpy as np\nfrom wayveil.kernels.common.sequence_table import grown\n"
        "print(grown(np.arange(2), 3).size)"
    )
    assert python(code, XDG_CACHE_HOME=str(blocked)) == "6\n"


def test_the_folder_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = fresh(monkeypatch, tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert code_cache.cache_folder() == first


def _twice(number: int) -> int:
    return 2 * number


def test_machine_code_is_named_after_what_a_file_imports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "kernels"
    sources(
        monkeypatch,
        home,
        jit="0",
        caller="from wayveil.kernels.rooms.callee import f\n",
        callee="    from wayveil.kernels.rooms.deep import g\n",
        deep="1",
        other="2",
    )
    before = code_cache.code_folder(home / "common" / "caller.py")
    assert before is not None
    sources(monkeypatch, home, other="3")
    assert code_cache.code_folder(home / "common" / "caller.py") == before  # it has nothing to do with it
    for change in ({"deep": "4"}, {"callee": "from wayveil.kernels.rooms.deep import h\n"}, {"jit": "5"}):
        sources(monkeypatch, home, **change)
        after = code_cache.code_folder(home / "common" / "caller.py")
        assert after not in (None, before)
        before = after
    sources(monkeypatch, home, caller="from wayveil.kernels.rooms import callee\n")
    all_of_them = code_cache.code_folder(home / "common" / "caller.py")
    sources(monkeypatch, home, other="6")
    assert code_cache.code_folder(home / "common" / "caller.py") != all_of_them


def test_two_copies_of_a_file_share_machine_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = set()
    for name in ("one", "two"):
        sources(monkeypatch, tmp_path / name, jit="0", caller="1")
        folders.add(code_cache.code_folder(tmp_path / name / "common" / "caller.py"))
    assert len(folders) == 1
