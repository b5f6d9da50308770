"""Small things on disk: JSON that is whole at every moment, ids, times, and how much room a folder takes."""

from __future__ import annotations

import json
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["bytes_of", "is_id", "new_id", "now", "read_json", "write_json"]

_ID = re.compile(r"[0-9a-f]{32}")


def new_id() -> str:
    """Return a fresh random id; only such ids are names of folders."""
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id, so that it can be the name of a folder.

    Examples
    --------
    >>> is_id("0" * 32), is_id("../" + "0" * 29), is_id("0" * 32 + chr(10))
    (True, False, False)
    """
    return _ID.fullmatch(text) is not None


def now() -> str:
    """Return the time, as text that sorts like it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; None where there is none or it is damaged."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file that only its owner can read, in one step."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(part, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            json.dump(content, file, ensure_ascii=False, allow_nan=False)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def bytes_of(folder: Path) -> int:
    """Return how many bytes the files in a folder hold."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue  # removed meanwhile
    return total
