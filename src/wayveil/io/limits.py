"""How much a file holds once it is unpacked, told without unpacking it into memory."""

from __future__ import annotations

import bz2
import gzip
import zlib
from pathlib import Path
from typing import Protocol

import polars as pl

from wayveil.errors import InputError

__all__ = ["refuse_large"]

_CHUNK = 1 << 20


def refuse_large(path: Path, limit: int, *, shown: str) -> None:
    """Raise InputError if a file would become larger than `limit` bytes when it is read.

    Gzip and bzip2 are unpacked piece by piece and thrown away, until they end or exceed the limit.  Of Parquet, which
    can say one value a billion times in a few bytes, the rows and columns are counted: each value takes a byte.

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
    except (OSError, EOFError, zlib.error, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise damaged from None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _count(unpacked: _Readable, limit: int, too_large: InputError) -> None:
    found = 0
    while piece := unpacked.read(_CHUNK):
        found += len(piece)
        if found > limit:
            raise too_large


def _values(path: Path) -> int:
    lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    rows: int = lazy.select(pl.len()).collect().item()
    return rows * max(1, len(lazy.collect_schema()))
