"""Collect the machine code of all kernels for a wheel: ``python -m wayveil.commands.ship FOLDER PROCESSORS``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from wayveil import kernels
from wayveil.kernels.common.code_cache import cache_folder, code_name, suitable_processors

__all__ = ["ship"]


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
    only the code of these very sources is taken.
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
            code = "from wayveil.commands.rehearsal import rehearse_all; list(rehearse_all())"
            subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, check=True)
            for file in cache.rglob("*.code"):
                if file.parent.name in current:
                    target = folder / file.parent.name / file.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
    return sum(1 for _ in folder.rglob("*.code"))


if __name__ == "__main__":
    named = suitable_processors()[:1] if sys.argv[2] == "best" else sys.argv[2].split(",")
    ship(Path(sys.argv[1]), named)
