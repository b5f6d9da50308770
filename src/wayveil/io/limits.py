"""How much a file holds once it is unpacked, told without unpacking it into memory."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, Protocol

import polars as pl

from wayveil.errors import InputError

__all__ = ["Allowance", "refuse_large"]

_CHUNK = 1 << 20
_MOST_TIMES = 100
_FREE = 1 << 28
"""A packed file may become so many times as large, and these bytes larger: tables become 3 to 30 times as large, and a
file that is made to fill a disk 1,000 times and more."""
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


class Allowance:
    """How much a packed file may become when it is unpacked, over all that is read of it.

    Parameters
    ----------
    path : Path
        The packed file.
    shown : str
        How messages call it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv.gz")
    ...     _ = file.write_bytes(gzip.compress(b"a,b\\n"))
    ...     with gzip.open(file) as packed:
    ...         Allowance(file, "a.csv.gz").bound(packed).read()
    b'a,b\\n'
    """

    def __init__(self, path: Path, shown: str) -> None:
        self._left = _FREE + _MOST_TIMES * path.stat().st_size
        self._shown = shown

    def bound(self, packed: _Readable) -> IO[bytes]:
        """Return the same stream; reading it raises InputError where all that was read is more than allowed."""
        return io.BufferedReader(_Counted(packed, self), _CHUNK)

    def take(self, size: int) -> None:
        """Take so many bytes from what is left."""
        self._left -= size
        if self._left < 0:
            raise InputError(
                f"{self._shown}: unpacked, it is more than {_MOST_TIMES} times as large, which no table is; if you "
                "trust it, unpack it and give what was in it."
            )


class _Counted(io.RawIOBase):
    """What is read of a stream, counted."""

    def __init__(self, packed: _Readable, allowance: Allowance) -> None:
        self._packed = packed
        self._allowance = allowance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._packed.read(len(buffer))
        self._allowance.take(len(piece))
        buffer[: len(piece)] = piece
        return len(piece)


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
