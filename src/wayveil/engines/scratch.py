"""Folders for what a process sets down for a while: readable by their owner only, and gone at the end.

They have a name and a mark of their own, so that nothing else is ever taken for one.

A process that is killed cannot tidy up.  Each folder is therefore locked by the process that made it, and the lock dies
with the process: the next one that needs such a folder removes those of the same user that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["PREFIX", "Scratch", "scratch_folder"]

PREFIX = ".wayveil-scratch-"
_UNLOCKED = "new-"
_MARK = "made by wayveil, removed by wayveil"


class Scratch:
    """A scratch folder, until `close`.

    Parameters
    ----------
    where : Path, optional
        The folder to make it in; that of the system for temporary files by default.  What killed processes left there
        is removed first.
    """

    def __init__(self, where: Path | None = None) -> None:
        base = Path(tempfile.gettempdir()) if where is None else where
        _sweep(base)
        # Between being made and being locked it has a name that nobody sweeps.
        fresh = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{_UNLOCKED}", dir=base))
        self.path = fresh.with_name(fresh.name.replace(f"{PREFIX}{_UNLOCKED}", PREFIX, 1))
        self._lock = -1
        try:
            self._lock = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(OSError):  # a file system without locks: nobody can sweep there either, see `_sweep`
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (fresh / _MARK).touch()
            fresh.rename(self.path)
        except BaseException:  # an interrupt, too: nobody would ever sweep it under the name that it has now
            shutil.rmtree(fresh, ignore_errors=True)
            self.close()
            raise

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


@contextmanager
def scratch_folder(where: Path | None = None) -> Iterator[Path]:
    """Give a scratch folder for the time of a ``with`` statement.

    Examples
    --------
    >>> with scratch_folder() as folder:
    ...     before = folder.is_dir()
    >>> before, folder.exists()
    (True, False)
    """
    scratch = Scratch(where)
    try:
        yield scratch.path
    finally:
        scratch.close()


def _sweep(base: Path) -> None:
    """Remove what killed processes of this user left; whatever cannot be looked at or locked is left alone."""
    for folder in base.glob(f"{PREFIX}*"):
        if folder.name.startswith(f"{PREFIX}{_UNLOCKED}"):
            continue
        try:
            facts = os.lstat(folder)
            if facts.st_uid != os.getuid() or not stat.S_ISDIR(facts.st_mode):
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if _MARK not in os.listdir(handle):
                continue  # whatever it is called: nobody but us removes what we did not make
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # somebody holds it
        finally:
            os.close(handle)
