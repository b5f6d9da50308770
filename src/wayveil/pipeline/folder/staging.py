"""The output folder: one run at a time, and a public folder that is whole at every moment.

``OUT/public`` changes in one step of the file system.  The first publication is a rename; a later one is an
*exchange* of two folders (``renameat2`` with ``RENAME_EXCHANGE``), because a rename cannot replace a folder that holds
files.  A process that is killed before that step leaves the old folder, after it the new one.  Where the file system or
the operating system cannot exchange folders, Wayveil refuses to overwrite and asks for another folder.

Everything unfinished lives in ``OUT/.staging-*``, which the next run removes.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wayveil.errors import OutputError, UsageError

__all__ = [
    "MANIFEST",
    "RECIPE_FILE",
    "Workspace",
    "exchange",
    "open_workspace",
    "reporting_disk_errors",
    "write_private",
]

MANIFEST = "manifest.json"
RECIPE_FILE = "recipe.toml"
_STAGING = ".staging-"
_PRIVATE_NAMES = ("report.html", "scores.json", "log.txt", "seed.txt", "secret.txt", "recipe.toml", "mapping.csv")


class Workspace:
    """An output folder that this process has locked, with a staging folder that disappears at the end.

    Parameters
    ----------
    out : Path
        The output folder; it exists.

    `scratch` is a folder for what tasks hand to each other; it disappears, too.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.public = out / "public"
        self.private = out / "private"
        self._root = Path(tempfile.mkdtemp(prefix=_STAGING, dir=out))
        self.staged = self._root / "public"
        self._staged_private = self._root / "private"
        self.scratch = self._root / "scratch"
        self.staged.mkdir()
        self.scratch.mkdir(mode=0o700)
        self._staged_private.mkdir(mode=0o700)

    def publish(self, private: Mapping[str, str]) -> None:
        """Make the staged folder the public one, in one step, then the private files that belong to it."""
        with reporting_disk_errors(self.out):
            self._stage_private(private)
            self.private.mkdir(mode=0o700, exist_ok=True)
            _sync_tree(self.staged)
            if _holds_files(self.public):
                exchange(self.staged, self.public)
            else:
                os.rename(self.staged, self.public)
        try:
            _sync(self.out)
            shutil.rmtree(self.private / "refused", ignore_errors=True)
            self._move_private(private, self.private)
        except OSError:
            raise OutputError(
                f"{str(self.public)!r} was published and verified, but its private report could not be written."
            ) from None

    def refuse(self, private: Mapping[str, str]) -> Path:
        """Leave the public folder alone and keep only the private files; return their folder.

        Beside an earlier publication they go to ``private/refused``, so that its own report and seed survive.
        """
        with reporting_disk_errors(self.out):
            self._stage_private(private)
            folder = self.private / "refused" if _holds_files(self.public) else self.private
            self.private.mkdir(mode=0o700, exist_ok=True)
            self._move_private(private, folder)
        return folder

    def _stage_private(self, private: Mapping[str, str]) -> None:
        for name, text in private.items():
            write_private(self._staged_private / name, text)

    def _move_private(self, private: Mapping[str, str], folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        for name in _PRIVATE_NAMES:
            if name not in private:  # a mapping or seed of an earlier run would be taken for one of this run
                (folder / name).unlink(missing_ok=True)
        for name in private:
            os.replace(self._staged_private / name, folder / name)
        _sync(folder)

    def close(self) -> None:
        """Remove the staging folder; after an exchange it holds the old publication."""
        shutil.rmtree(self._root, ignore_errors=True)


@contextmanager
def open_workspace(out: Path, *, overwrite: bool) -> Iterator[Workspace]:
    """Check, create and lock `out`; afterwards remove the staging folder, and `out` too if nothing came of it."""
    _check_target(out, overwrite)
    with reporting_disk_errors(out):
        created = _make_folders(out)
    try:
        with _locked(out):
            _check_target(out, overwrite)  # another run may have published while this one waited to begin
            with reporting_disk_errors(out):
                for stale in out.glob(f"{_STAGING}*"):
                    shutil.rmtree(stale)
                if _holds_files(out / "public"):
                    _check_exchange(out)
                space = Workspace(out)
            try:
                yield space
            finally:
                space.close()
    finally:
        for folder in reversed(created):
            try:
                folder.rmdir()  # succeeds only where it is empty
            except OSError:
                break


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders of one file system in a single step; OSError where that is not possible."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    here, rename_exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of linux/fcntl.h and linux/fs.h
    if libc.renameat2(here, os.fsencode(one), here, os.fsencode(other), rename_exchange) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@contextmanager
def reporting_disk_errors(out: Path) -> Iterator[None]:
    """Turn an OSError into an OutputError that names the folder and the reason."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file system refused"
        raise OutputError(
            f"Cannot write to {str(out)!r}: {reason}. Nothing was kept; free space or choose another --out."
        ) from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; it is on the disk when this returns."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _check_target(out: Path, overwrite: bool) -> None:
    try:
        if not os.path.lexists(out):
            return
        if not out.is_dir():
            raise OutputError(f"The output {str(out)!r} is not a folder; choose another --out.")
        public = out / "public"
        if not os.path.lexists(public):
            return
        if public.is_symlink() or not public.is_dir():
            raise OutputError(f"{str(public)!r} is not a plain folder; move it away or choose another --out.")
        if not _holds_files(public):
            return
        if not (public / MANIFEST).is_file():
            raise OutputError(
                f"{str(public)!r} holds files but no {MANIFEST}, so it is not a publication; move it away or choose "
                "another --out."
            )
    except PermissionError:
        raise OutputError(f"The output folder {str(out)!r} cannot be read; choose another --out.") from None
    if not overwrite:
        raise UsageError(
            f"{str(public)!r} already holds a publication. Give --overwrite to replace it after the new one is "
            "verified, or choose another --out."
        )


def _holds_files(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return False


def _make_folders(out: Path) -> list[Path]:
    missing = [folder for folder in (out, *out.parents) if not os.path.lexists(folder)]
    created: list[Path] = []
    try:
        for folder in reversed(missing):
            folder.mkdir()
            created.append(folder)
    except OSError:
        for folder in reversed(created):
            folder.rmdir()
        raise
    return created


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    # The folder itself is locked: no lock file is left behind, and the lock dies with the process.
    with reporting_disk_errors(out):
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"Another run is writing to {str(out)!r}; wait for it or choose another --out.") from None
        except OSError:
            raise OutputError(
                f"The file system of {str(out)!r} cannot lock a folder; choose an --out on a local disk."
            ) from None
        with reporting_disk_errors(out):
            now, then = os.stat(out), os.fstat(handle)
        if (now.st_dev, now.st_ino) != (then.st_dev, then.st_ino):
            raise UsageError(f"{str(out)!r} was replaced while this run began; start again.")
        yield
    finally:
        os.close(handle)


def _check_exchange(out: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=out) as probe:
        one, other = Path(probe, "one"), Path(probe, "other")
        one.mkdir()
        other.mkdir()
        (one / "mark").touch()
        try:
            exchange(one, other)
        except OSError:
            raise OutputError(
                f"The file system of {str(out)!r} cannot exchange two folders in one step, so the old publication "
                "could be lost. Choose another --out; the old one was not touched."
            ) from None


def _sync_tree(folder: Path) -> None:
    for path in folder.iterdir():
        if stat.S_ISREG(path.stat().st_mode):
            _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
