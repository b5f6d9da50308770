"""Files that are there whole or not at all, and what the system said where they cannot be."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["make_folders", "make_folders_below", "system_error", "whole_file"]

_OS_ERROR = re.compile(r"os error (\d+)")


def make_folders(*folders: Path) -> None:
    """Make folders that only their owner can enter, for what tasks write.

    Whoever sends tasks makes them, never a task: one that outlives its run would bring removed folders back.
    """
    for folder in folders:
        if not folder.is_dir():
            make_folders(folder.parent)  # with the same mode, which mkdir does not give to parents
            folder.mkdir(mode=0o700, exist_ok=True)


def make_folders_below(root: Path, folder: Path) -> None:
    """Make the folders between a folder that is there and one below it, for their owner only.

    Nothing is made where the root is gone: a task that outlives its run must not bring removed folders back.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     make_folders_below(Path(scratch), Path(scratch, "made", "3"))
    ...     Path(scratch, "made", "3").is_dir()
    True
    """
    below = root
    for name in folder.relative_to(root).parts:
        below = below / name
        below.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def whole_file(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Give another name beside `target` to write to; what was written there is renamed in the end.

    Nobody but its owner can read a `private` file, whatever the umask is.  On any failure nothing is left of it, and
    the old file, if any, stays.  A process that is killed leaves no half file under the name of a whole one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder, "table.csv")
    ...     with whole_file(target) as part:
    ...         _ = part.write_text("a,b")
    ...         before = target.exists()
    ...     before, target.read_text()
    (False, 'a,b')
    """
    # The name is of its own: one made from that of `target` could be longer than the file system allows.
    part = target.with_name(f".wayveil-{secrets.token_hex(8)}.part")
    try:
        if private:
            # Made with its permissions: between making a file and changing them somebody could open it.
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
        part.replace(target)
    except BaseException:
        _remove(part)
        raise


def system_error(error: BaseException) -> int | None:
    """Return the number of the error of the system that Polars tells in the text of its own, if there is one.

    Examples
    --------
    >>> system_error(ValueError("no space left on device (os error 28)")), system_error(ValueError("no column"))
    (28, None)
    """
    match = _OS_ERROR.search(str(error))
    return int(match.group(1)) if match else None


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except (OSError, ValueError):
        return
