"""Paths that are addresses: of objects in a bucket, or of files on this machine.

A `Path` keeps only one of the two slashes behind a scheme, so ``s3:/bucket/name`` is taken for ``s3://bucket/name``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from wayveil.errors import UsageError

__all__ = ["SCHEMES", "address_of", "is_remote", "local_path", "path_text", "refuse_remote"]

SCHEMES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}
"""The schemes of object storage, and the package that speaks each."""

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(.*)", re.DOTALL)
_FORMS = "s3://bucket/name, gs://bucket/name and az://container/name"


def address_of(path: str | Path) -> str | None:
    """Return the address of an object or of a folder of objects; None of a path on this machine.

    Raises
    ------
    UsageError
        If it is an address of another kind, or one that holds what may be a key: that is never repeated.

    Examples
    --------
    >>> address_of("s3://bucket/cards.csv"), address_of(Path("s3://bucket/cards.csv")), address_of("cards.csv")
    ('s3://bucket/cards.csv', 's3://bucket/cards.csv', None)
    """
    match = _ADDRESS.fullmatch(str(path))
    if match is None or match[1].lower() == "file" or "\0" in match[2] or os.path.lexists(path):
        return None
    scheme = match[1].lower()
    if scheme not in SCHEMES:
        raise UsageError(f"Files at {scheme}:// are not read or written; known: {_FORMS}.")
    bucket, _, name = match[2].partition("/")
    if "@" in bucket or ":" in bucket or "?" in match[2]:
        raise UsageError(
            f"An address at {scheme}:// must hold no user, key or token; give these as the tools of the storage take "
            "them, in the environment or in their own files."
        )
    if not bucket:
        raise UsageError(f"The address {scheme}:// names no bucket; write it like {_FORMS}.")
    if any(part == ".." for part in name.split("/")):
        raise UsageError(f"An address at {scheme}:// must not hold '..'; write the whole name.")
    return f"{scheme}://{bucket}/{name}".rstrip("/")


def is_remote(path: str | Path) -> bool:
    """Return whether a path is an address in object storage."""
    return address_of(path) is not None


def local_path(path: str | Path) -> Path:
    """Return a path on this machine as it is, and that of a ``file://`` address.

    Examples
    --------
    >>> str(local_path("file:///data/my%20cards.csv")), str(local_path("cards.csv"))
    ('/data/my cards.csv', 'cards.csv')
    """
    match = _ADDRESS.fullmatch(str(path))
    if match is None or match[1].lower() != "file" or "\0" in match[2] or os.path.lexists(path):
        return Path(path)
    text = str(path)[len("file:") :]
    # Two slashes are followed by a host, which can only be this one; a Path has kept but one.
    host, _, rest = text[2:].partition("/") if text.startswith("//") else ("", "", text.lstrip("/"))
    if host not in ("", "localhost"):
        raise UsageError("A file:// address names a file on this machine, with three slashes: file:///data/cards.csv.")
    return Path("/", unquote(rest))


def path_text(path: str | Path) -> str:
    """Return how a path is written: an address with both of its slashes."""
    return address_of(path) or str(path)


def refuse_remote(path: str | Path, what: str) -> None:
    """Refuse an address in object storage where only a file or folder on this machine will do."""
    if is_remote(path):
        raise UsageError(f"{what} must be on this machine, got {path_text(path)!r}.")
