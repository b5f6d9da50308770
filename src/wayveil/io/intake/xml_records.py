"""XML that holds rows: the element that comes most often is a row, its attributes and those around it are columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat

import polars as pl

from wayveil.errors import InputError

__all__ = ["convert_xml", "holds_xml"]

_CHUNK = 1 << 20
_SNIFFED = 4096
_KNOWN_ELSEWHERE = ("gpx", "tcx", "osm", "graphml", "kml", "html")


def holds_xml(path: Path) -> bool:
    """Whether a file is XML by its name and beginning, and of no format that is read in a way of its own."""
    if path.suffix.lower() != ".xml":
        return False
    try:
        with path.open("rb") as stream:
            start = stream.read(_SNIFFED).decode("utf-8", errors="ignore").lstrip("\ufeff \t\r\n").lower()
    except OSError:
        return False
    return start.startswith("<") and not any(f"<{word}" in start for word in _KNOWN_ELSEWHERE)


def convert_xml(path: Path, folder: Path, *, shown: str) -> Path:
    """Write the rows of an XML file as Parquet into a folder; return where.

    A row is an element with attributes of the name that comes most often.  Its columns are called as in the tables that
    SUMO makes of its own files: name of the element, name of the attribute, such as ``timestep_time`` and
    ``vehicle_x``.  What the elements around a row say stands in each of their rows.

    Raises
    ------
    InputError
        If the file is no XML, is cut short, has a document type (which could make it grow without bound), or no
        element of it has attributes.
    """
    # Twice through the file: once to find which element is a row, once to read the rows.
    reader = _Rows(_find_row_element(path, shown))
    _parse(path, shown, reader.start, reader.end)
    columns = list(dict.fromkeys(key for row in reader.rows for key in row))
    target = folder / "elements.parquet"
    pl.DataFrame({key: [row.get(key) for row in reader.rows] for key in columns}).write_parquet(target)
    return target


def _find_row_element(path: Path, shown: str) -> str:
    """Return the element with attributes that comes most often; of some that do, the innermost.

    A step of time with one vehicle in it, or none, comes as often as vehicles do, and is no row.
    """
    seen: Counter[tuple[int, str]] = Counter()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if attributes:
            seen[depth, name] += 1

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    _parse(path, shown, start, end)
    most = max(seen.values(), default=0)
    if most < 2:
        raise InputError(f"{shown}: no element of the XML comes again with attributes, so there are no rows in it.")
    # Elements nearly as frequent count as well, and the innermost of them wins.
    return max((depth, times, name) for (depth, name), times in seen.items() if times * 2 >= most)[2]


class _Rows:
    """Collects rows while the parser goes through the file."""

    def __init__(self, row: str) -> None:
        self.row = row
        self.rows: list[dict[str, str]] = []
        self._around: list[dict[str, str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        # Attributes with a prefix are of XML itself, not of the data.
        inside = {f"{name}_{key}": value for key, value in attributes.items() if ":" not in key}
        if name == self.row:
            self.rows.append({key: value for outer in (*self._around, inside) for key, value in outer.items()})
        self._around.append(inside if self._around else {})  # what the root says is of the file, not of a row

    def end(self, name: str) -> None:
        self._around.pop()


def _parse(path: Path, shown: str, start: Callable[[str, dict[str, str]], None], end: Callable[[str], None]) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end

    def refuse(*_: object) -> None:
        raise InputError(f"{shown}: XML with a document type is not read; write it without one.")

    parser.StartDoctypeDeclHandler = refuse
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError):
        line = parser.ErrorLineNumber
        raise InputError(
            f"{shown}: the XML is cut short or damaged at line {line:,}; write or copy it again."
        ) from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the reader failed'}.") from None
