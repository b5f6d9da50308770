"""How much a file holds once it is unpacked, told without unpacking it into memory."""

from __future__ import annotations

import bz2
import gzip
import zipfile
import zlib
from pathlib import Path
from typing import Protocol

import polars as pl

from wayveil.errors import InputError

__all__ = ["refuse_large"]

_CHUNK = 1 << 20
_DAMAGES = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile),
    *(pl.exceptions.PolarsError, pl.exceptions.PanicException),
)


def refuse_large(path: Path, limit: int, *, shown: str) -> None:
    """Raise InputError if a file would become larger than `limit` bytes when it is read.

    Gzip, bzip2 and zip are unpacked piece by piece and thrown away, until they end or exceed the limit.  Of Parquet,
    which can say one value a billion times in a few bytes, the rows and columns are counted: each value takes a byte.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv.gz")
    ...     _ = file.write_bytes(gzip.compress(bytes(5000)))
    ...     refuse_large(file, 4999, shown="a.csv.gz")
    Traceback (most recent call last):
    wayveil.errors.InputError: a.csv.gz: the file would be larger than 4,999 bytes when unpacked, which is the limit.
    """
    with path.open("rb") as stream:
        start = stream.read(4)
    too_large = InputError(f"{shown}: the file would be larger than {limit:,} bytes when unpacked, which is the limit.")
    damaged = InputError(f"{shown}: the file is damaged or cut short; write or copy it again.")
    try:
        if start == b"PAR1":
            if _values(path) > limit:
                raise too_large
        elif start[:2] == b"\x1f\x8b":
            with gzip.open(path) as unpacked:
                _count(unpacked, limit, too_large)
        elif start[:3] == b"BZh":
            with bz2.open(path) as unpacked:
                _count(unpacked, limit, too_large)
        elif start == b"PK\x03\x04":
            _count_entries(path, limit, too_large)
    except _DAMAGES:
        raise damaged from None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _count(unpacked: _Readable, limit: int, too_large: InputError) -> int:
    total = 0
    while piece := unpacked.read(_CHUNK):
        total += len(piece)
        if total > limit:
            raise too_large
    return total


def _count_entries(path: Path, limit: int, too_large: InputError) -> None:
    """Count all entries of an archive together; what the archive says of their sizes is not believed."""
    left = limit
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            with archive.open(entry) as unpacked:
                left -= _count(unpacked, left, too_large)


def _values(path: Path) -> int:
    lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    rows: int = lazy.select(pl.len()).collect().item()
    return rows * max(1, len(lazy.collect_schema()))
