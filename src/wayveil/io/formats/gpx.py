"""Track points of GPX files, and of TCX files, which training computers write."""

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

    Routes and waypoints are left out: they are plans and marks, not movement.  So are points of TCX without a position,
    as those of a treadmill.

    Raises
    ------
    InputError
        If the file is neither GPX nor TCX, is cut short, has a document type (which could make it grow without bound),
        or has points without time.
    """
    tcx = file.suffix.lower() == ".tcx"
    reader = _TcxReader() if tcx else _Reader()
    title = "TCX" if tcx else "GPX"
    # A stream parser: files of years of tracks are larger than memory should hold as a tree.
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    # A document type may declare entities that grow without bound, so it is refused where it begins.
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
            f"{shown}: the {title} file is cut short or damaged at line {line:,}; write or copy it again."
        ) from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the reader failed'}.") from None
    if not reader.line:
        raise InputError(f"{shown}: the {title} file has no track points; routes and waypoints are not read.")
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
        # Names carry their namespace in front of a blank; versions of GPX differ only there.
        local = name.rpartition(" ")[2]
        path = self.path
        path.append(local)
        if len(path) == 1 and local != "gpx":
            raise _Refused("this is not a GPX file; its outermost element must be <gpx>.")
        # Only at this place in the tree: waypoints and routes have points of the same names.
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
            # The text of an element may come in pieces, which are joined when it ends.
            self.t[-1] = "".join(self.words).strip() or None
            self.words = None


class _TcxReader(_Reader):
    """Collects the points of TCX: each lies in a track of an activity, with time and position as elements."""

    _FIELDS = ("Time", "LatitudeDegrees", "LongitudeDegrees")

    def __init__(self) -> None:
        super().__init__()
        self.point: dict[str, str] = {}
        self.point_line = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self.path.append(local)
        if len(self.path) == 1 and local != "TrainingCenterDatabase":
            raise _Refused("this is not a TCX file; its outermost element must be <TrainingCenterDatabase>.")
        if local in ("Activity", "Course"):
            self.track += 1
            self.segment = 0
        elif local == "Track":
            self.segment += 1
        elif local == "Trackpoint":
            self.point = {}
            self.point_line = self.parser.CurrentLineNumber
        elif local in self._FIELDS and "Trackpoint" in self.path:
            self.words = []

    def end(self, name: str) -> None:
        local = self.path.pop()
        if self.words is not None:
            self.point[local] = "".join(self.words).strip()
            self.words = None
        # A point counts only if it has a position: indoor devices write times alone.
        elif local == "Trackpoint" and self.point.get("LatitudeDegrees") and self.point.get("LongitudeDegrees"):
            self.part.append(f"{self.track}.{self.segment}")
            self.t.append(self.point.get("Time") or None)
            self.lon.append(self.point["LongitudeDegrees"])
            self.lat.append(self.point["LatitudeDegrees"])
            self.line.append(self.point_line)
