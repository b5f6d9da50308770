"""Track points of GPX files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.tabular.messages import count

__all__ = ["read_gpx"]

_CHUNK = 1 << 20


def read_gpx(shown: str, file: Path) -> pl.DataFrame:
    """Return the track points of a file: part (track and segment, such as "1.2"), t, lon and lat as text, line.

    Routes and waypoints are left out: they are plans and marks, not movement.

    Raises
    ------
    InputError
        If the file is no GPX, is cut short, has a document type (which could make it grow without bound), or has
        points without time.
    """
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.doctype
    reader.parser = parser
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
    except _Refused as refused:
        raise InputError(f"{shown}: {refused}") from None
    except (expat.ExpatError, LookupError, ValueError):
        line = parser.ErrorLineNumber
        raise InputError(
            f"{shown}: the GPX file is cut short or damaged at line {line:,}; write or copy it again."
        ) from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the reader failed'}.") from None
    if not reader.line:
        raise InputError(f"{shown}: the GPX file has no track points; routes and waypoints are not read.")
    missing = [line for line, t in zip(reader.line, reader.t, strict=True) if t is None]
    if missing:
        raise InputError(
            f"{shown}: {count(len(missing), 'track point')} {'has' if len(missing) == 1 else 'have'} no time, first at "
            f"line {missing[0]:,}; every point needs a <time>, so record or export the track with times."
        )
    return pl.DataFrame(
        {
            "part": pl.Series(reader.part, dtype=pl.String),
            "t": pl.Series(reader.t, dtype=pl.String),
            "lon": pl.Series(reader.lon, dtype=pl.String),
            "lat": pl.Series(reader.lat, dtype=pl.String),
            "line": np.array(reader.line, np.int64),
        }
    )


class _Refused(Exception):
    pass


class _Reader:
    """Collects points while the parser goes through the file; elements count only at their place in the tree."""

    parser: Any

    def __init__(self) -> None:
        self.path: list[str] = []
        self.part: list[str] = []
        self.t: list[str | None] = []
        self.lon: list[str | None] = []
        self.lat: list[str | None] = []
        self.line: list[int] = []
        self.track = self.segment = 0
        self.words: list[str] | None = None

    def doctype(self, *_: object) -> None:
        raise _Refused("the GPX file has a DOCTYPE, which is refused because it can hide an attack; remove it.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        path = self.path
        path.append(local)
        if len(path) == 1 and local != "gpx":
            raise _Refused("this is not a GPX file; its outermost element must be <gpx>.")
        if local == "trkpt" and path == ["gpx", "trk", "trkseg", "trkpt"]:
            self.part.append(f"{self.track}.{self.segment}")
            self.t.append(None)
            self.lon.append(attributes.get("lon"))
            self.lat.append(attributes.get("lat"))
            self.line.append(self.parser.CurrentLineNumber)
        elif local == "time" and path == ["gpx", "trk", "trkseg", "trkpt", "time"]:
            self.words = []
        elif local == "trk" and len(path) == 2:
            self.track = self.track + 1
            self.segment = 0
        elif local == "trkseg" and path == ["gpx", "trk", "trkseg"]:
            self.segment += 1

    def text(self, words: str) -> None:
        if self.words is not None:
            self.words.append(words)

    def end(self, _: str) -> None:
        self.path.pop()
        if self.words is not None:
            self.t[-1] = "".join(self.words).strip() or None
            self.words = None
