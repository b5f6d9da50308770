"""The one form of a published file: written again from what was read, it must be the same.

Nothing can hide then in another way to write the same: in ``01`` or ``1e0`` for 1, in quotation marks, blanks, another
encoding or other line ends, in metadata, statistics, unused dictionaries or gaps of a Parquet file.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.features import GEOJSON_LINES, GEOJSON_WHOLE
from wayveil.io.formats.parquet_footer import footer_facts, unpacked_bytes
from wayveil.io.publish.writer import write_stream
from wayveil.model.budget import spend

__all__ = ["check_form", "check_start"]

_AGAIN = "Publish again; a published file must not be edited."
_OTHER_WRITER = (
    "A Parquet file was written by another version of Polars: its schema, metadata and values were compared, not the "
    "bytes around them."
)
_WRITER = re.compile(rb"Polars( \(python\) version [0-9a-z.]{1,20} \(build [0-9a-f]{0,40}\))?")

# Steps of `wayveil.model.budget`: what it takes to open, read and write again.
_FILE = 4_000_000
_COLUMN = 1_000_000
_UNPACKED_BYTE = 15
_TEXT_BYTE = 150
_FEATURE_BYTE = 400


def check_start(path: str | Path, columns: int) -> None:
    """Refuse, before it is decoded, a file that is packed or garbled, or takes more work than is left.

    Raises
    ------
    InputError
        If the file is packed or garbled.
    WorkLimitReached
        If there is a limit, and the file takes more.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    # Work is spent before it is done: what a file costs is estimated from its size and its own heads.
    spend(_FILE + _COLUMN * columns)
    try:
        with file.open("rb") as stream:
            start = stream.read(4)
            size = stream.seek(0, io.SEEK_END)
            stream.seek(-min(4, size), io.SEEK_END)
            end = stream.read()
    except (OSError, ValueError):
        return  # told by whoever opens it
    if suffix in (*GEOJSON_WHOLE, *GEOJSON_LINES):
        spend(_FEATURE_BYTE * size)
    elif suffix != ".parquet":
        spend(_TEXT_BYTE * size)
        if start[:2] == b"\x1f\x8b":
            raise InputError(f"{path}: not a published table: the file is packed. {_AGAIN}")
    elif start == end == b"PAR1":
        n_bytes = unpacked_bytes(file)
        if n_bytes is None:
            raise InputError(f"{path}: the Parquet file is damaged and cannot be read; write or copy it again.")
        spend(_UNPACKED_BYTE * n_bytes)


def check_form(
    path: str | Path, frame: pl.DataFrame, pattern: str | None, geometry: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """Refuse a file that is not, byte by byte, what the writer makes of the table in it; return what is to be told.

    Other versions of Polars may write other bytes of Parquet.  Of a file of another version, the schema, the metadata
    and the values are compared, not what is stored around them, and that is told.

    Raises
    ------
    InputError
        If the file has another form.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix != ".parquet":
        # Compared while it is written, so that neither text is in memory as a whole.
        with file.open("rb") as stream:
            compared = _Compared(stream)
            write_stream(frame, compared, suffix, pattern, geometry or ())  # type: ignore[arg-type]
            same = compared.same and not stream.read(1)
        if not same:
            raise InputError(f"{path}: the file is not in the form in which it is written. {_AGAIN}")
        return ()
    expected_bytes = io.BytesIO()
    write_stream(frame, expected_bytes, suffix, pattern, geometry or ())
    content = file.read_bytes()
    if content == expected_bytes.getvalue():
        return ()
    facts = footer_facts(content)
    expected = footer_facts(expected_bytes.getvalue())
    # Another version of Polars may write other bytes for the same table; only then are values compared instead.
    other_writer = facts is not None and expected is not None and facts.writer != expected.writer
    if not other_writer or facts is None or expected is None or not _WRITER.fullmatch(facts.writer):
        raise InputError(f"{path}: the file is not in the form in which it is written. {_AGAIN}")
    if facts.schema != expected.schema or facts.metadata != expected.metadata:
        raise InputError(f"{path}: the file has another schema or other metadata than are written. {_AGAIN}")
    return (_OTHER_WRITER,)


class _Compared:
    """Takes what is written, and compares it with what a file has there."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.same = True

    def write(self, content: bytes) -> int:
        self.same = self.same and self._file.read(len(content)) == content
        return len(content)

    def flush(self) -> None:
        """Do nothing: everything was compared already."""
