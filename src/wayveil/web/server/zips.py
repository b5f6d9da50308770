"""The public folder of a run as one zip file: the same files always give the same bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

__all__ = ["zip_of"]

_DATE = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 20


def zip_of(folder: Path, target: Path) -> Path:
    """Write the files of a folder into a zip, names sorted, dates fixed, nothing packed; return where it is.

    The files are in the zip under the name of the folder.  A zip that is there already is taken as it is.
    """
    if target.is_file():
        return target
    descriptor, part = tempfile.mkstemp(prefix=".zip-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}", _DATE)
                entry.external_attr = 0o644 << 16
                entry.create_system = 3
                entry.file_size = path.stat().st_size
                with path.open("rb") as source, archive.open(entry, "w") as inside:
                    shutil.copyfileobj(source, inside, _CHUNK)
        os.replace(part, target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    return target
