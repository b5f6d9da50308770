"""How long the row groups of a Parquet file are.

Polars reads whole row groups but does not tell how long they are, and a library that does is larger than everything
else that is installed.  The end of a file says it, in Thrift's compact protocol; only that is read here.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["longest_group"]

# The numbers of fields, from the definition of the format (parquet.thrift).
_ROW_GROUPS, _COLUMNS, _CHUNK_FACTS, _PATH, _UNPACKED, _STORED = 4, 1, 3, 3, 6, 7


def longest_group(file: Path, names: Sequence[str]) -> int:
    """Return how many bytes these columns take in the row group of a Parquet file where they take most.

    That is what they take unpacked.  If it cannot be told, it is the size of the file: no group is longer, as stored.
    """
    try:
        groups = _footer(file)[_ROW_GROUPS]
        chunks = [[chunk[_CHUNK_FACTS] for chunk in group[_COLUMNS]] for group in groups]
        wanted = {name.encode() for name in names}
        return max(
            (sum(_bytes_of(chunk) for chunk in group if chunk[_PATH][0] in wanted) for group in chunks), default=0
        )
    except (IndexError, KeyError, TypeError, ValueError, RecursionError, OSError):
        return file.stat().st_size


def _bytes_of(chunk: dict[int, Any]) -> int:
    return max(int(chunk[_UNPACKED]), int(chunk[_STORED]))


def _footer(file: Path) -> dict[int, Any]:
    with file.open("rb") as stream:
        stream.seek(-8, os.SEEK_END)
        length = int.from_bytes(stream.read(4), "little")
        stream.seek(-8 - length, os.SEEK_END)
        return _struct(io.BytesIO(stream.read(length)))


def _struct(stream: io.BytesIO) -> dict[int, Any]:
    """Read a struct of Thrift's compact protocol, in which the end of a Parquet file is written, by field numbers."""
    found: dict[int, Any] = {}
    field = 0
    while head := stream.read(1)[0]:
        field = field + (head >> 4) if head >> 4 else _signed(stream)
        kind = head & 15
        found[field] = kind == 1 if kind in (1, 2) else _value(stream, kind)
    return found


def _value(stream: io.BytesIO, kind: int) -> Any:
    if kind in (1, 2, 3):
        return stream.read(1)
    if kind in (4, 5, 6):
        return _signed(stream)
    if kind == 7:
        return stream.read(8)
    if kind == 8:
        return stream.read(_unsigned(stream))
    if kind in (9, 10):
        head = stream.read(1)[0]
        size = head >> 4 if head >> 4 < 15 else _unsigned(stream)
        if size > len(stream.getbuffer()) - stream.tell():
            raise ValueError("a list is longer than what is left")
        return [_value(stream, head & 15) for _ in range(size)]
    return _struct(stream)  # Parquet has no maps here


def _unsigned(stream: io.BytesIO) -> int:
    number = shift = 0
    while True:
        byte = stream.read(1)[0]
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number


def _signed(stream: io.BytesIO) -> int:
    number = _unsigned(stream)
    return (number >> 1) ^ -(number & 1)
