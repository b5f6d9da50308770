"""How long the row groups of a Parquet file are, what it takes unpacked, and what its end says besides.

Polars reads whole row groups but does not tell how long they are, and a library that does is larger than everything
else that is installed.  The end of a file says it, in Thrift's compact protocol; that, and the heads of pages, are read
here.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FooterFacts", "footer_facts", "longest_group", "unpacked_bytes"]

# Numbers, not names: Thrift writes fields by number, and readers must know them.
# The numbers of fields, from the definition of the format (parquet.thrift).
_ROW_GROUPS = 4
_COLUMNS = 1
_CHUNK_FACTS = 3
_PATH = 3
_UNPACKED = 6
_STORED = 7
_SCHEMA = 2
_ROWS = 3
_METADATA = 5
_WRITER = 6
_GROUP_ROWS = 3
_DATA_AT = 9
_DICTIONARY_AT = 11
_PAGE_UNPACKED = 2
_PAGE_STORED = 3
_PAGE_HEADS = (5, 7, 8)
_PAGE_VALUES = 1
_CELL_BYTES = 16  # what a cell takes in memory at most, beside the text in it
_GARBLED = (IndexError, KeyError, TypeError, ValueError, RecursionError, OSError)


@dataclass(frozen=True, kw_only=True)
class FooterFacts:
    """What the end of a Parquet file says besides where the columns are.

    `schema` and `metadata` are as they stand there, by field numbers; `writer` is what wrote the file.
    """

    schema: Any
    metadata: Any
    writer: bytes


def footer_facts(content: bytes) -> FooterFacts | None:
    """Return what the end of a Parquet file says; None if it cannot be read."""
    try:
        # The last eight bytes are the length of the footer and the word PAR1.
        length = int.from_bytes(content[-8:-4], "little")
        footer = _struct(io.BytesIO(content[-8 - length : -8]))
        return FooterFacts(
            schema=footer[_SCHEMA], metadata=footer.get(_METADATA), writer=bytes(footer.get(_WRITER, b""))
        )
    except _GARBLED:
        return None


def unpacked_bytes(file: Path) -> int | None:
    """Return how many bytes a Parquet file takes in memory at most, before it is decoded; None if it is garbled.

    A page of a few bytes can stand for millions of rows.  The end of the file may say anything, so the head of every
    page is read: no page is unpacked to more than it says there.  Chunks that share pages are garbled.
    """
    try:
        footer = _footer(file)
        chunks = [chunk[_CHUNK_FACTS] for group in footer[_ROW_GROUPS] for chunk in group[_COLUMNS]]
        columns = max((len(group[_COLUMNS]) for group in footer[_ROW_GROUPS]), default=0)
        rows = max(int(footer[_ROWS]), sum(int(group[_GROUP_ROWS]) for group in footer[_ROW_GROUPS]))
        stored = [int(chunk[_STORED]) for chunk in chunks]
        # What a footer says may be forged: sizes must not be negative, nor add up to more than the file has.
        if min(stored, default=0) < 0 or sum(stored) > file.stat().st_size or rows < 0:
            return None
        with file.open("rb") as stream:
            total = sum(_unpacked_chunk(stream, chunk) for chunk in chunks)
    except _GARBLED:
        return None
    return max(total, _CELL_BYTES * rows * columns)


def _unpacked_chunk(file: io.BufferedReader, chunk: dict[int, Any]) -> int:
    file.seek(min(int(chunk[_DATA_AT]), int(chunk.get(_DICTIONARY_AT, chunk[_DATA_AT]))))
    content = file.read(int(chunk[_STORED]))
    pages = io.BytesIO(content)
    total = 0
    # Heads of pages stand in front of each page; what they say is what is allocated when the page is unpacked.
    while pages.tell() < len(content):
        head = _struct(pages)
        more = [int(head[_PAGE_UNPACKED]), int(head[_PAGE_STORED])]
        more += [int(head[kind][_PAGE_VALUES]) for kind in _PAGE_HEADS if kind in head]
        if min(more) < 0:
            raise ValueError("a negative size")
        total += more[0] + _CELL_BYTES * sum(more[2:])
        pages.seek(more[1], os.SEEK_CUR)
    return total


def longest_group(file: Path, names: Sequence[str]) -> int:
    """Return how many bytes these columns take in the row group of a Parquet file where they take most.

    That is what they take unpacked.  If it cannot be told, it is the size of the file: no group is longer, as stored.
    """
    try:
        groups = _footer(file)[_ROW_GROUPS]
        chunks = [[chunk[_CHUNK_FACTS] for chunk in group[_COLUMNS]] for group in groups]
        columns = {name.encode() for name in names}
        return max(
            (sum(_bytes_of(chunk) for chunk in group if chunk[_PATH][0] in columns) for group in chunks), default=0
        )
    except _GARBLED:
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
    fields: dict[int, Any] = {}
    field = 0
    # A byte of 0 ends a struct.  The upper half is the distance to the last field number (0: the number follows), the
    # lower half the type; true and false are types of their own.
    while head := stream.read(1)[0]:
        field = field + (head >> 4) if head >> 4 else _signed(stream)
        kind = head & 15
        fields[field] = kind == 1 if kind in (1, 2) else _value(stream, kind)
    return fields


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
        # Checked before the list is made: a forged length would take all memory.
        if size > len(stream.getbuffer()) - stream.tell():
            raise ValueError("a list is longer than what is left")
        return [_value(stream, head & 15) for _ in range(size)]
    return _struct(stream)  # Parquet has no maps here


def _unsigned(stream: io.BytesIO) -> int:
    number = shift = 0
    while True:
        byte = stream.read(1)[0]
        # Seven bits per byte, the lowest first; the eighth says that more follow.
        number |= (byte & 127) << shift
        shift += 7
        if shift > 70:
            raise ValueError("a number of more than 64 bits")
        if byte < 128:
            return number


def _signed(stream: io.BytesIO) -> int:
    number = _unsigned(stream)
    # Zigzag: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
    return (number >> 1) ^ -(number & 1)
