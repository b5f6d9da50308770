"""Collect the machine code of all kernels for a wheel: ``python -m wayveil.commands.ship FOLDER PROCESSORS``."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numba
import numpy

from wayveil import kernels
from wayveil.io.publish.atomic import whole_file
from wayveil.kernels.common.code_cache import cache_folder, code_name, suitable_processors

__all__ = ["ship"]

_NOTE = "complete.json"


def ship(folder: Path, processors: Sequence[str]) -> int:
    """Compile every kernel that a rehearsal of a method calls, into `folder`; return how many files there are.

    Parameters
    ----------
    folder : Path
        It is replaced.
    processors : sequence of str
        Names of `PROCESSORS`.

    Notes
    -----
    What is compiled stays in the user's cache, so that building again compiles only what changed; of what lies there,
    only the code of these very sources is taken.  Where nothing has changed since the last time, not even the rehearsal
    is repeated: an installer builds twice, once to read what the package says of itself.
    """
    shutil.rmtree(folder, ignore_errors=True)
    own = cache_folder()
    current = {code_name(source) for source in Path(kernels.__file__).parent.rglob("*.py")}
    for processor in processors:
        with TemporaryDirectory(prefix="wayveil-kernels-") as temporary:
            cache = Path(temporary) if own is None else own.parent / f"for-{processor}"
            cache.mkdir(mode=0o700, exist_ok=True)
            environment = {
                "XDG_CACHE_HOME": str(cache),
                "NUMBA_CPU_NAME": processor,
                "NUMBA_CPU_FEATURES": "",
                "WAYVEIL_COMPILED": str(folder / "none"),
            }
            if not _is_complete(cache):
                code = "from wayveil.commands.rehearsal import rehearse_all; list(rehearse_all())"
                subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, check=True)
                _note_complete(cache)
            for file in cache.rglob("*.code"):
                if file.parent.name in current:
                    target = folder / file.parent.name / file.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
    return sum(1 for _ in folder.rglob("*.code"))


def _name_state() -> str:
    """Return a name for all that a rehearsal depends on: every source of this package, and what compiles it."""
    package = Path(kernels.__file__).parents[1]
    digest = hashlib.sha256(f"{sys.version} {numba.__version__} {numpy.__version__}".encode())
    for source in sorted(package.rglob("*.py")):
        digest.update(str(source.relative_to(package)).encode())
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()


def _is_complete(cache: Path) -> bool:
    """Return whether a rehearsal of these very sources has run with this cache, and all that it left is still there."""
    try:
        note = json.loads((cache / _NOTE).read_text(encoding="utf-8"))
        return note["state"] == _name_state() and all((cache / name).is_file() for name in note["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _note_complete(cache: Path) -> None:
    """Leave a note of what there is after a rehearsal."""
    files = sorted(str(file.relative_to(cache)) for file in cache.rglob("*.code"))
    with whole_file(cache / _NOTE, private=True) as part:
        part.write_text(json.dumps({"state": _name_state(), "files": files}), encoding="utf-8")


if __name__ == "__main__":
    named = suitable_processors()[:1] if sys.argv[2] == "best" else sys.argv[2].split(",")
    ship(Path(sys.argv[1]), named)
