"""Where in a CSV text something is; used only to word an error, so it may take a second pass over the file."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["first_bad_byte", "first_long_record", "line_of_record"]

_CHUNK = 1 << 24


def line_of_record(source: Path | bytes, record: int) -> int:
    """Return the line on which a record begins; the header is record 0 and begins on line 1.

    A line end between quotation marks ends a line but no record.

    Examples
    --------
    >>> line_of_record(b'a,b\\n"x\\ny",1\\nz,2\\n', 2)
    4
    """
    if record == 0:
        return 1
    line = 1
    records = 0
    marks = 0
    for chunk in _chunks(source):
        data = np.frombuffer(chunk, np.uint8)
        ends_line = data == ord("\n")
        # A line end is one of a record if the number of quotation marks before it is even.
        before = marks + np.cumsum(data == ord('"'), dtype=np.int64)
        ends_record = np.flatnonzero(ends_line & (before % 2 == 0))
        if records + len(ends_record) >= record:
            return line + int(ends_line[: ends_record[record - records - 1] + 1].sum())
        records += len(ends_record)
        line += int(ends_line.sum())
        marks = int(before[-1])
    return line


def first_bad_byte(source: Path | bytes) -> tuple[int, int] | None:
    """Return (byte, line), both from 1, of the first byte that is not UTF-8, or None.

    Examples
    --------
    >>> first_bad_byte(b"a,b\\nx,\\xff\\n")
    (7, 2)
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    line = 1
    for chunk in _chunks(source):
        # Bytes of a letter that began in the chunk before are still in the decoder: positions count from there.
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            inside = max(error.start - pending, 0)
            return done - pending + error.start + 1, line + chunk[:inside].count(b"\n")
        done += len(chunk)
        line += chunk.count(b"\n")
    pending = len(decoder.getstate()[0])
    return (done - pending + 1, line) if pending else None


def first_long_record(source: Path | bytes, separator: str, fields: int) -> tuple[int, int] | None:
    """Return (line, number of fields) of the first record with more fields than the header, or None.

    Examples
    --------
    >>> first_long_record(b"a,b\\n1,2\\n1,2,3\\n", ",", 2)
    (3, 3)
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    # Line numbers are those of the text, so fields with line ends are counted with the reader's own number.
    with stream, io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="") as text:
        reader = csv.reader(text, delimiter=separator)
        line = 1
        try:
            for record in reader:
                if len(record) > fields:
                    return line, len(record)
                line = reader.line_num + 1
        except csv.Error:
            return None
    return None


def _chunks(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        for start in range(0, len(source), _CHUNK):
            yield source[start : start + _CHUNK]
        return
    with source.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk
