"""The output folder: one run at a time, and a public folder that is whole at every moment.

``OUT/public`` changes in one step of the file system.  The first publication is a rename; a later one is an
*exchange* of two folders (``renameat2`` with ``RENAME_EXCHANGE``), because a rename cannot replace a folder that holds
files.  A process that is killed before that step leaves the old folder, after it the new one.  Where the file system or
the operating system cannot exchange folders, Wayveil refuses to overwrite and asks for another folder.

Everything unfinished lives in ``OUT/.staging-*``, which the next run removes, or goes on with.

Private files cannot change in the same step.  ``private/results.json`` names the manifest that they belong to: it is
the last of the old ones to go and the last of the new ones to come, so that files that do not belong to what is public
are told from those that do.  New ones that a killed process did not bring to their place are brought there by the next
run.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wayveil.errors import OutputError, UsageError

__all__ = [
    "MANIFEST",
    "RECIPE_FILE",
    "Workspace",
    "check_private",
    "clear_folder",
    "exchange",
    "open_workspace",
    "reporting_disk_errors",
    "write_private",
]

MANIFEST = "manifest.json"
RECIPE_FILE = "recipe.toml"
_STAGING = ".staging-"
_RESULTS = "results.json"
_FORMER = "scores.json"  # what earlier versions called it
# In the order in which they go and come: the one that names the manifest is last.
_PRIVATE_NAMES = (
    "seed.txt", "secret.txt", "recipe.toml", "mapping.csv", "report.html", "report.pdf", "log.txt", _FORMER, _RESULTS,
)  # fmt: skip


class Workspace:
    """An output folder that this process has locked, with a staging folder that disappears at the end.

    Parameters
    ----------
    out : Path
        The output folder; it exists.
    root : Path, optional
        The staging folder of a killed run, to go on with; a new one by default.

    `scratch` is a folder for what tasks hand to each other; it disappears, too.
    """

    def __init__(self, out: Path, root: Path | None = None) -> None:
        self.out = out
        self.public = out / "public"
        self.private = out / "private"
        self.is_resumed = root is not None
        self.root = root or Path(tempfile.mkdtemp(prefix=_STAGING, dir=out))
        self.staged = self.root / "public"
        self._staged_private = self.root / "private"
        self.scratch = self.root / "scratch"
        self.staged.mkdir(exist_ok=self.is_resumed)
        self.scratch.mkdir(mode=0o700, exist_ok=self.is_resumed)
        self._staged_private.mkdir(mode=0o700, exist_ok=self.is_resumed)
        self._unfinished = False

    # Private files are staged before the exchange and moved after it.  Killed in between, the staging folder still
    # holds them, and `_finish_killed` of the next run brings them to their place.
    def publish(self, private: Mapping[str, str]) -> None:
        """Make the staged folder the public one, in one step, then the private files that belong to it."""
        with reporting_disk_errors(self.out):
            self._stage_private(private)
            self.private.mkdir(mode=0o700, exist_ok=True)
            _make_readable(self.staged)
            _sync_tree(self.staged)
            # The inode of what is about to become public. After an interrupt it tells whether the exchange had
            # happened: the folder that is public now is, or is not, this one.
            new = os.stat(self.staged)
        try:
            with reporting_disk_errors(self.out):
                self._unfinished = True
                # RENAME_EXCHANGE swaps the old and the new folder in one step of the file system: there is no moment
                # without a publication, and none with half of one. The old one is then in staging, and goes with it.
                if _holds_files(self.public):
                    exchange(self.staged, self.public)
                else:
                    os.rename(self.staged, self.public)
            self._finish_private()
        except BaseException as stop:
            self._unfinished = _is_same(self.public, new)
            if self._unfinished and not isinstance(stop, OutputError):
                self._finish_private()  # an interrupt does not part what is public from its private files
            raise

    def refuse(self, private: Mapping[str, str]) -> Path:
        """Leave the public folder alone and keep only the private files; return their folder.

        Beside an earlier publication they go to ``private/refused``, so that its own report and seed survive.
        """
        with reporting_disk_errors(self.out):
            self._stage_private(private)
            folder = self.private / "refused" if _holds_files(self.public) else self.private
            self.private.mkdir(mode=0o700, exist_ok=True)
            _move_private(self._staged_private, folder)
        return folder

    def _finish_private(self) -> None:
        """Bring the private files of what is public now to their place."""
        try:
            _sync(self.out)
            shutil.rmtree(self.private / "refused", ignore_errors=True)
            _move_private(self._staged_private, self.private)
        except OSError:
            raise OutputError(
                f"{str(self.public)!r} was published and verified, but its private report could not be written. The "
                "next run in this folder tries again."
            ) from None
        self._unfinished = False

    def _stage_private(self, private: Mapping[str, str]) -> None:
        for name, text in private.items():
            write_private(self._staged_private / name, text)

    def close(self) -> None:
        """Remove the staging folder; after an exchange it holds the old publication.

        It stays where private files of what is public could not be brought to their place: the next run does it.
        """
        if self._unfinished:
            shutil.rmtree(self.staged, ignore_errors=True)
            shutil.rmtree(self.scratch, ignore_errors=True)
        else:
            shutil.rmtree(self.root, ignore_errors=True)


@contextmanager
def open_workspace(
    out: Path, *, overwrite: bool, private: bool = False, can_resume: Callable[[Path], bool] | None = None
) -> Iterator[Workspace]:
    """Check, create and lock `out`; afterwards remove the staging folder, and `out` too if nothing came of it.

    Only its owner can enter an `out` that is made as a `private` one.  The first staging folder of a killed run of
    which `can_resume` says so is taken over; all others are removed.
    """
    # Before the folder is made, so that a mistake leaves nothing behind, and again under the lock.
    # Said before any folder is made: a wrong --out must leave nothing behind.
    _check_target(out, overwrite)
    with reporting_disk_errors(out):
        created = _make_folders(out, mode=0o700 if private else 0o777)
    try:
        with _locked(out):
            _check_target(out, overwrite)  # another run may have published while this one waited to begin
            with reporting_disk_errors(out):
                resumed = _sweep(out, can_resume)
                if _holds_files(out / "public"):
                    _check_exchange(out)
            try:
                with reporting_disk_errors(out):
                    space = Workspace(out, resumed)
            except BaseException:
                _sweep(out)  # an interrupt in the midst of it
                raise
            try:
                yield space
            finally:
                space.close()
    finally:
        # Folders that were made for nothing are removed from the inside out, and only while they are empty.
        for folder in reversed(created):
            try:
                folder.rmdir()  # succeeds only where it is empty
            except OSError:
                break


def clear_folder(folder: Path) -> None:
    """Remove everything in a folder; the folder itself stays."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def check_private(public: Path) -> None:
    """Refuse private files that belong to another publication than the one beside them.

    Raises
    ------
    UsageError
        If ``private/results.json`` names another manifest, or is not there although other private files are.
    """
    private = public.parent / "private"
    if not any((private / name).exists() for name in _PRIVATE_NAMES):
        return
    # After a kill between the exchange and the move, private files are those of the publication before.
    if _manifest_named_by(private) != _sha256(public / MANIFEST):
        raise UsageError(
            f"The files in {str(private)!r} do not belong to {str(public)!r}, as after a run that was killed before it "
            "could write its own. Give the recipe and the secret of that run with --recipe and --secret, or publish "
            "again."
        )


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders of one file system in a single step; OSError where that is not possible."""
    # The C library is called directly, as Python has no name for this call.
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    here = -100  # AT_FDCWD and RENAME_EXCHANGE of linux/fcntl.h and linux/fs.h
    rename_exchange = 2
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


def _move_private(staged: Path, folder: Path) -> None:
    """Replace private files by those that are staged; may be broken off at any moment, and begun again.

    Old files go first, and the one that names their manifest last: no seed of an earlier run is ever beside a name that
    is not its own.  The new ones come in the same order.  A mark says that what is there now is new.
    """
    # Repeating it is harmless: old files are only removed while the mark is missing, and each new one is moved in one
    # step.
    folder.mkdir(mode=0o700, exist_ok=True)
    mark = staged.with_name("old files are gone")
    if not mark.exists():
        for name in _PRIVATE_NAMES:
            (folder / name).unlink(missing_ok=True)
        _sync(folder)
        mark.touch()
    for name in _PRIVATE_NAMES:
        if (staged / name).exists():
            os.replace(staged / name, folder / name)
    _sync(folder)


def _sweep(out: Path, can_resume: Callable[[Path], bool] | None = None) -> Path | None:
    """Remove the staging folders of a locked output folder, whose makers are gone, but for one to go on with."""
    resumed = None
    for stale in sorted(out.glob(f"{_STAGING}*")):
        # What a killed run left is one of two things: it was published and only its private files are missing their
        # place, or it was not, and may be resumed or removed.
        is_published = _finish_killed(stale, out)
        if resumed is None and not is_published and can_resume is not None and can_resume(stale):
            resumed = stale
        else:
            shutil.rmtree(stale)
    return resumed


def _finish_killed(stale: Path, out: Path) -> bool:
    """Bring the private files that a killed process had staged to their place, if what it published is public.

    Return whether it was.
    """
    if os.lstat(stale).st_uid != os.geteuid():
        return False  # whoever can write to the folder could have put it there
    # Private files say to which manifest they belong. Only where that is the public one are they brought to their
    # place.
    named = _manifest_named_by(stale / "private")
    if named is None or named != _sha256(out / "public" / MANIFEST):
        return False
    _move_private(stale / "private", out / "private")
    return True


def _manifest_named_by(private: Path) -> str | None:
    """Return the hash of the manifest that private files belong to; None where they do not say it."""
    try:
        path = private / _RESULTS
        content = json.loads((path if path.exists() else private / _FORMER).read_bytes())
    except (OSError, ValueError):
        return None
    named = content.get("manifest_sha256") if isinstance(content, dict) else None
    return named if isinstance(named, str) else None


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _is_same(folder: Path, facts: os.stat_result) -> bool:
    try:
        status = os.stat(folder)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (facts.st_dev, facts.st_ino)


def _make_readable(folder: Path) -> None:
    """Give public files the permissions of their folder: workers of a cluster may have written them with others."""
    # What the folder allows, without the right to execute.
    mode = stat.S_IMODE(folder.stat().st_mode) & 0o666
    for path in folder.iterdir():
        path.chmod(mode)


def _check_target(out: Path, overwrite: bool) -> None:
    # Said in this order: is it a folder, is it one of ours, may it be replaced.
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


def _make_folders(out: Path, mode: int) -> list[Path]:
    # Only folders that were made here are removed again where nothing came of the run.
    missing = [folder for folder in (out, *out.parents) if not os.path.lexists(folder)]
    created: list[Path] = []
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=mode)
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
            # At once or not at all: a second run must not wait for hours, and then find a publication.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"Another run is writing to {str(out)!r}; wait for it or choose another --out.") from None
        except OSError:
            raise OutputError(
                f"The file system of {str(out)!r} cannot lock a folder; choose an --out on a local disk."
            ) from None
        with reporting_disk_errors(out):
            # Between opening and locking, the folder may have been renamed and another one put there: then the lock is
            # on the wrong one.
            now = os.stat(out)
            then = os.fstat(handle)
        if (now.st_dev, now.st_ino) != (then.st_dev, then.st_ino):
            raise UsageError(f"{str(out)!r} was replaced while this run began; start again.")
        yield
    finally:
        os.close(handle)


def _check_exchange(out: Path) -> None:
    # Tried on two empty folders, before hours of work whose result could not replace the old one.
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=out) as probe:
        one = Path(probe, "one")
        other = Path(probe, "other")
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
    # First the files, then the folder that lists them: in this order a crash of the machine leaves no name without
    # content.
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
