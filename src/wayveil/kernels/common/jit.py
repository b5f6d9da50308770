"""How kernels are compiled: cached on disk, and never from a stale cache.

numba keys its cache by the file of the function alone, so editing a callee in another file, or upgrading the
package, can leave wrong machine code behind.  Machine code is therefore kept in a folder named after the content of the
file of the function and of every file of kernels that it imports, directly or not: a change in any of them means
another folder, and a change elsewhere does not compile it again.  Where the files lie makes no difference.  Where no
folder can be written, kernels compile without a cache.

Whoever can write to the cache can run code as its user.  So folders are made for the user alone, and one that belongs
to somebody else, or that others can write to, is not used.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numba
from numba.core.caching import UserProvidedCacheLocator

__all__ = ["FolderLocator", "cache_folder", "code_folder", "inner", "kernel"]

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+wayveil\.kernels((?:\.\w+)*)", re.MULTILINE)


class FolderLocator(UserProvidedCacheLocator):
    """Keeps machine code right in the folder that numba is given, whose name tells the content of the sources.

    numba itself adds a folder named after where the source lies, so that two copies of one file share nothing.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        config: Any = numba.config
        self._cache_path = config.CACHE_DIR


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first call, without the interpreter lock; can be called from Python and from kernels."""
    return _compiled(function)


def inner(function: Callable[..., Any]) -> Any:
    """Compile a part of a kernel that only kernels call: half the compile time, as Python needs no way in."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    folder = None if cache_folder() is None else code_folder(Path(inspect.getfile(function)))
    njit: Any = numba.njit
    if folder is None:
        return njit(nogil=True, **options)(function)
    # numba reads these two when a function is decorated, and nowhere else; other functions of this process must not see
    # them.
    config: Any = numba.config
    before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
    config.CACHE_DIR = folder
    config.CACHE_LOCATOR_CLASSES = f"{__name__}.{FolderLocator.__name__}"
    try:
        return njit(nogil=True, cache=True, **options)(function)
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before


_folder: list[str | None] = []  # once it is known: reading all files takes a moment


def cache_folder() -> str | None:
    """Return the folder that tells what was compiled ahead, or None where none can be written."""
    if not _folder:
        _folder.append(_make_cache_folder())
    return _folder[0]


def code_folder(source: Path) -> str | None:
    """Return the folder of the machine code of a file's kernels, or None where none can be written."""
    # the length in front: otherwise a line that moves from one file to the next would not be seen
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for file in sorted(_imported(source), key=lambda path: (path.name, str(path))):
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)} ".encode() + content)
    return _made(f"code-{source.stem}-{digest.hexdigest()[:16]}")


def _imported(source: Path) -> set[Path]:
    """Return a file, this one, and every file of kernels that it imports, directly or not."""
    home = _home()
    known = {source, Path(__file__)}
    waiting = [source]
    while waiting:
        for name in _IMPORT.findall(waiting.pop().read_text(encoding="utf-8")):
            # Without a name behind it any file may be meant: take all.
            file = home.joinpath(*name.split(".")[1:]).with_suffix(".py") if name else home
            for path in [file] if file.is_file() else home.rglob("*.py"):
                if path not in known:
                    known.add(path)
                    waiting.append(path)
    return known


def _home() -> Path:
    """Return the folder of all kernels: one above the room of this file, or changes in other rooms go unnoticed."""
    return Path(__file__).parents[1]


def _make_cache_folder() -> str | None:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(_home().rglob("*.py")):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)} ".encode() + content)
    return _made(f"kernels-{digest.hexdigest()[:16]}")


def _made(name: str) -> str | None:
    """Return a folder of this name in the user's cache, made if need be; None where it cannot be used."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    folder = base / "wayveil" / name
    try:
        base.mkdir(parents=True, exist_ok=True)
        for one in (folder.parent, folder):
            one.mkdir(mode=0o700, exist_ok=True)
        if not (_is_guarded(base) and _is_own(folder.parent) and _is_own(folder)):
            _warn_once(folder.parent)
            return None
        with TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return None


def _is_own(folder: Path) -> bool:
    """Return whether a folder belongs to this user, and nobody else can write to it."""
    facts = folder.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def _is_guarded(folder: Path) -> bool:
    """Return whether nobody else can put another folder in the place of one of ours that is in this one."""
    facts = folder.stat()
    return facts.st_uid in (0, os.geteuid()) and (not facts.st_mode & 0o022 or bool(facts.st_mode & stat.S_ISVTX))


_warned: list[Path] = []


def _warn_once(folder: Path) -> None:
    if not _warned:
        _warned.append(folder)
        warnings.warn(
            f"The cache of compiled kernels {str(folder)!r} belongs to another user, or others can write to it, so it "
            "is not used and every run compiles again. Remove it, or set XDG_CACHE_HOME to a folder of your own.",
            RuntimeWarning,
            stacklevel=2,
        )
