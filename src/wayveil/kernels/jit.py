"""How kernels are compiled: cached on disk, and never from a stale cache.

numba keys its cache by the file of the function alone, so editing a callee in another file, or upgrading the
package, can leave wrong machine code behind.  Our cache folder is therefore named after the content of all
kernels: any change means a new folder.  Where no folder can be written, kernels compile without a cache.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numba

__all__ = ["cache_folder", "inner", "kernel"]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first call, without the interpreter lock; can be called from Python and from kernels."""
    return _compiled(function)


def inner(function: Callable[..., Any]) -> Any:
    """Compile a part of a kernel that only kernels call: half the compile time, as Python needs no way in."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    folder = cache_folder()
    njit: Any = numba.njit
    if folder is None:
        return njit(nogil=True, **options)(function)
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        return njit(nogil=True, cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before


_folder: list[str | None] = []


def cache_folder() -> str | None:
    """Return the folder of compiled kernels, or None where none can be written."""
    if not _folder:
        _folder.append(_make_cache_folder())
    return _folder[0]


def _make_cache_folder() -> str | None:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)} ".encode() + content)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base, "wayveil", f"kernels-{digest.hexdigest()[:16]}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return None
