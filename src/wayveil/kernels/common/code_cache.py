"""Where the machine code of kernels is kept: with the package, or in the user's cache; and that it is never stale.

numba keys its own cache by the file of a function alone, so editing a callee in another file, or upgrading the package,
can leave wrong machine code behind.  Here machine code lies in a folder named after the content of the file of the
function and of every file of kernels that it imports, directly or not, and after the versions of Python, numba and
llvmlite: a change in any of them means another folder, and a change elsewhere does not compile anything again.  Where
the files lie, and when they were written, makes no difference.  So machine code can be made when the package is built,
and lies beside it then (``kernels/compiled``), for a plain processor of its family or for a newer one; what is not
there, or not for this processor, is compiled and kept in the user's cache.  Where no folder can be written, kernels
compile without one.

One file holds the code of one function for one list of types, and begins with the hash of the rest: a file that was cut
short or changed is not used.  Files appear at once under their final name, so any number of processes can share a
folder.

Whoever can write to the cache can run code as its user.  So folders are made for the user alone, and one that belongs
to somebody else, or that others can write to, is not used.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import re
import stat
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps
from numba.core.types import Dispatcher

__all__ = [
    "COMPILED",
    "PROCESSORS",
    "CodeCache",
    "cache_folder",
    "code_folder",
    "code_name",
    "keep_code",
    "suitable_processors",
]

_FORMAT = "1"
"""Another one where files are written in another way."""

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+wayveil\.kernels((?:\.\w+)*)", re.MULTILINE)

COMPILED = Path(os.environ.get("WAYVEIL_COMPILED") or Path(__file__).parents[1] / "compiled")
"""The folder of machine code that came with the package, or another one that is named; there may be none."""

PROCESSORS: dict[str, tuple[str, ...]] = {
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2"),
    "generic": (),
}
"""Processors that machine code can come for, as LLVM calls them, and what one of ours must have for it; best first."""


class CodeCache(NullCache):
    """Loads and keeps the machine code of one function.

    Parameters
    ----------
    function : callable
        The plain function.
    ending : str
        Of its files: ``.code``, or ``.part`` for parts of kernels, whose code is also in that of the kernels.
    shipped, own : folders, optional
        That of its code in the package, which is only read, and that in the user's cache.
    """

    def __init__(self, function: Any, ending: str, shipped: Path | None, own: Path | None) -> None:
        self._function = function
        self._ending = ending
        self._shipped = shipped
        self._own = own

    @property
    def cache_path(self) -> str | None:
        """The folder that is written to."""
        return None if self._own is None else str(self._own)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a list of types, or None."""
        target_context.refresh()
        codegen = target_context.codegen()
        triple, processor, features = codegen.magic_tuple()
        places = [(self._own, (triple, processor, features))]
        if self._shipped is not None:
            places = [*((self._shipped, (triple, name, "")) for name in suitable_processors()), *places]
        for folder, target in places:
            if folder is not None:
                payload = _read_code(folder / self._file_name(sig, target))
                if payload is not None:
                    compiled = _rebuilt(target_context, payload)
                    if compiled is not None and tuple(compiled.signature.args) == tuple(sig):
                        return compiled
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function."""
        if self._own is None or any(not part.can_cache for part in data.lifted) or data.library.has_dynamic_globals:
            return
        if any(isinstance(kind, Dispatcher) for kind in sig):
            return  # a function among the arguments has no name but its address, which is another's in the next process
        with suppress(OSError):  # a full disk is no reason to stop
            _write_code(self._own / self._file_name(sig, data.codegen.magic_tuple()), dumps(data._reduce()))

    def _file_name(self, sig: Any, target: tuple[str, str, str]) -> str:
        """Return the name of the file for these types on this processor, compiled in the way that is set."""
        config: Any = numba.config
        closure = [cell.cell_contents for cell in self._function.__closure__ or ()]
        parts = (
            [str(kind) for kind in sig],
            target,
            self._function.__code__.co_code,
            dumps(closure) if closure else b"",
            (config.BOUNDSCHECK, str(config.OPT), config.DEBUGINFO_DEFAULT, config.ENABLE_AVX),
        )
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        name = re.sub(r"\W", "", self._function.__qualname__)
        return f"{name}-{digest}{self._ending}"


def keep_code(dispatcher: Any) -> None:
    """Let what numba makes of a function load its machine code, and keep what has to be compiled."""
    function = dispatcher.py_func
    name = code_name(Path(inspect.getfile(function)))
    shipped = COMPILED / name
    ending = ".part" if dispatcher.targetoptions.get("no_cpython_wrapper") else ".code"
    dispatcher._cache = CodeCache(function, ending, shipped if shipped.is_dir() else None, _made(name))


@cache
def suitable_processors() -> tuple[str, ...]:
    """Return for which processors machine code runs on this one, the best first."""
    features = get_host_cpu_features()
    return tuple(name for name, needs in PROCESSORS.items() if all(features.get(need) for need in needs))


def _read_code(file: Path) -> bytes | None:
    """Return what was written to a file, or None where there is none, or not the whole of it."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    return content[32:] if hashlib.sha256(content[32:]).digest() == content[:32] else None


def _write_code(file: Path, payload: bytes) -> None:
    with NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as written:
        written.write(hashlib.sha256(payload).digest() + payload)
    os.replace(written.name, file)


def _rebuilt(target_context: Any, payload: bytes) -> Any:
    """Return the compiled function that a file holds, or None where it cannot be read here."""
    try:
        return CompileResultCacheImpl.rebuild(None, target_context, pickle.loads(payload))  # type: ignore[arg-type]
    except (pickle.UnpicklingError, AttributeError, ImportError, TypeError, ValueError, EOFError):
        return None


_folder: list[Path | None] = []  # once it is known: reading all files takes a moment


def cache_folder() -> Path | None:
    """Return the folder that tells what was compiled ahead, or None where none can be written."""
    if not _folder:
        _folder.append(_made(f"kernels-{_digest(_home().rglob('*.py'))}"))
    return _folder[0]


def code_folder(source: Path) -> Path | None:
    """Return the folder of the machine code of a file's kernels, or None where none can be written."""
    return _made(code_name(source))


def code_name(source: Path) -> str:
    """Return what the folder of the machine code of a file's kernels is called."""
    return f"code-{source.stem}-{_digest(_imported(source))}"


def _digest(files: Any) -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    compiler = f"{_FORMAT} {sys.implementation.cache_tag} {version} {numba.__version__} {llvmlite.__version__}"
    digest = hashlib.sha256(compiler.encode())
    for file in sorted(files, key=lambda path: (path.name, str(path))):
        # the length in front: otherwise a line that moves from one file to the next would not be seen
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def _imported(source: Path) -> set[Path]:
    """Return a file, that of the options, and every file of kernels that it imports, directly or not."""
    home = _home()
    known = {source, home / "common" / "jit.py"}
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


def _made(name: str) -> Path | None:
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
            return folder
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
