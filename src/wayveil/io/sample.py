"""The head of a large file as a small file of the same format."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import FORMATS

__all__ = ["ROWS", "Sample", "sample_of"]

ROWS = 20_000
_BYTES = 4 << 20
_LINES = tuple(ending for entry in FORMATS.values() if entry.by_line for ending in entry.endings)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A file to read in place of another; `whole` says whether it is all of it, `rows` how many there are, if known."""

    path: Path
    whole: bool
    rows: int | None = None


def sample_of(path: Path, folder: Path) -> Sample:
    """Return a file with the first rows of a table; a small file, or one that cannot be cut, is its own sample.

    Parameters
    ----------
    path : Path
        The file.
    folder : Path
        Where the sample can be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = Path(name, "a.csv")
    ...     _ = file.write_text("traj_id,t\\n" + "1,2\\n" * 2_000_000)
    ...     sample = sample_of(file, Path(name))
    ...     sample.whole, sample.path.stat().st_size < 5_000_000
    (False, True)
    """
    name = path.name.lower()
    size = path.stat().st_size
    if name.endswith(".parquet"):
        return _parquet(path, folder) if size > _BYTES else Sample(path=path, whole=True)
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    if not name.endswith(_LINES) or (size <= _BYTES and not zipped):
        return Sample(path=path, whole=True)
    start = _start(path, zipped)
    if len(start) <= _BYTES:
        return Sample(path=path, whole=True)
    ending = next(ending for ending in _LINES if name.endswith(ending)).removesuffix(".gz")
    sample = folder / f"sample{ending}"
    sample.write_bytes(_whole_lines(start[:_BYTES]))
    return Sample(path=sample, whole=False)


def _start(path: Path, zipped: bool) -> bytes:
    """Return the first bytes of a text, one more than are wanted where there are more."""
    try:
        with gzip.open(path) if zipped else path.open("rb") as stream:
            return stream.read(_BYTES + 1)
    except (EOFError, OSError, zlib.error):
        raise InputError(f"{path}: the gzip file is damaged or cut short; write or copy it again.") from None


def _whole_lines(start: bytes) -> bytes:
    """Return the text as far as the last end of a line that is not inside quotation marks."""
    end = start.rfind(b"\n") + 1
    while end and start.count(b'"', 0, end) % 2:
        end = start.rfind(b"\n", 0, end - 1) + 1
    return start[:end] or start


def _parquet(path: Path, folder: Path) -> Sample:
    sample = folder / "sample.parquet"
    try:
        lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        rows = lazy.select(pl.len()).collect().item()
        metadata = {key: value for key, value in pl.read_parquet_metadata(path).items() if key != "ARROW:schema"}
        lazy.head(ROWS).collect().write_parquet(sample, metadata=metadata)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise InputError(f"{path}: the Parquet file is damaged and cannot be read; write or copy it again.") from None
    return Sample(path=sample, whole=rows <= ROWS, rows=rows)
