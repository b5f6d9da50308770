"""Points and lines with times of GeoJSON: a whole document, or one feature per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.file_formats import has_format
from wayveil.io.tabular.crs import WGS84, Crs, crs_name
from wayveil.io.tabular.csv_position import first_bad_byte
from wayveil.io.tabular.messages import count, listed
from wayveil.io.tabular.table import Table, peek
from wayveil.model.normal import normal_text

__all__ = ["features", "open_geojson", "system_of"]

_TIMES = ("times", "coordTimes")


def open_geojson(shown: str, file: Path) -> tuple[Table, Crs | None]:
    """Return the points of a file as a table, and the coordinate system that it says, if any.

    The columns are the properties, ``lon`` and ``lat``.  A line becomes one row per position, with the times of its
    property ``times`` or ``coordTimes`` in the column ``t``; without a property ``traj_id``, each line is a trajectory.
    """
    collected = _Collected(shown)
    noun = "feature"
    for where, feature, around in features(shown, file):
        noun = where[0]
        collected.add(where[1], feature, around)
    return collected.table(noun), collected.crs()


def features(shown: str, file: Path) -> Iterator[tuple[tuple[str, int], Any, Any]]:
    """Yield (where it is, feature, the collection around it or None) of a document or of lines.

    Lines may begin with the record separator of RFC 8142.
    """
    if peek(shown, file)[2] == 0:
        raise InputError(f"{shown}: the file is empty; at least one feature is needed.")
    if has_format(file, "geojson_lines"):
        yield from _lines(shown, file)
        return
    # One document is read at once; only where it turns out to be many, line by line, is the file read again.
    try:
        document = json.loads(file.read_bytes())
    except UnicodeDecodeError:
        raise _not_utf8(shown, file) from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the reader failed'}.") from None
    except (RecursionError, ValueError) as error:
        if not isinstance(error, json.JSONDecodeError):
            raise InputError(f"{shown}: the GeoJSON is nested too deeply or has a number too long to read.") from None
        if error.msg == "Extra data" and error.lineno > 1:
            yield from _lines(shown, file)
            return
        raise InputError(
            f"{shown}: the file is not valid JSON from line {error.lineno:,} on; it may be cut short. Write it again."
        ) from None
    yield from _unpacked(document, "feature", 1, shown)


def _lines(shown: str, file: Path) -> Iterator[tuple[tuple[str, int], Any, Any]]:
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            text = line.strip(b"\x1e \t\r\n").removeprefix(b"\xef\xbb\xbf")
            if not text:
                continue
            try:
                document = json.loads(text)
            except UnicodeDecodeError:
                raise _not_utf8(shown, file) from None
            except (ValueError, RecursionError):
                raise InputError(
                    f"{shown}: line {number:,} is not valid JSON; the file may be cut short. Write it again."
                ) from None
            yield from _unpacked(document, "line", number, shown)


def _unpacked(document: Any, noun: str, number: int, shown: str) -> Iterator[tuple[tuple[str, int], Any, Any]]:
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "FeatureCollection" and isinstance(document.get("features"), list):
        for i, feature in enumerate(document["features"], start=1):
            # In files with a document per line the line says where something is, else the number of the feature.
            yield (noun, number if noun == "line" else i), _at_rest(feature), document
    elif kind == "Feature":
        yield (noun, number), _at_rest(document), None
    else:
        raise InputError(f"{shown}: this is not GeoJSON; a Feature or a FeatureCollection is needed.")


def _at_rest(feature: Any) -> Any:
    """Return a feature of OGC Moving Features JSON with a moving point as a line with times; others as they are."""
    moving = feature.get("temporalGeometry") if isinstance(feature, dict) else None
    if not isinstance(moving, dict) or moving.get("type") not in ("MovingPoint", "MovingGeometryCollection"):
        return feature
    # A moving point may be cut into prisms, pieces with times of their own: they are joined into one line.
    prisms = moving.get("prisms", [moving])
    if not isinstance(prisms, list) or not all(isinstance(prism, dict) for prism in prisms):
        return feature
    parts = [(prism.get("coordinates"), prism.get("datetimes")) for prism in prisms]
    if not all(isinstance(places, list) and isinstance(times, list) for places, times in parts):
        return feature
    line = {"type": "LineString", "coordinates": [place for places, _ in parts for place in places]}
    own_properties = feature.get("properties")
    properties = {
        **(own_properties if isinstance(own_properties, dict) else {}),
        "times": [time for _, times in parts for time in times],
    }
    return {**feature, "geometry": line, "properties": properties}


def _not_utf8(shown: str, file: Path) -> InputError:
    byte, line = first_bad_byte(file) or (1, 1)
    return InputError(f"{shown}: the text is not UTF-8 at line {line:,} (byte {byte:,}); save the file as UTF-8.")


class _Collected:
    """Features as columns: properties once per feature, positions once per row."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.properties: dict[str, list[Any]] = {}
        self.nested: set[str] = set()
        self.number: list[int] = []
        self.ids: list[str | None] = []
        self.lengths: list[int] = []
        self.lon: list[float] = []
        self.lat: list[float] = []
        self.times: list[Any] = []
        self.kinds: set[str] = set()
        self.systems: set[str] = set()
        self.unsaid = False
        self.bad: dict[str, list[int]] = {}

    def add(self, number: int, feature: Any, around: Any) -> None:
        """Take one feature; what is wrong with it is told at the end, with the number of features like it."""
        geometry = feature.get("geometry") if isinstance(feature, dict) else None
        properties = (feature.get("properties") or {}) if isinstance(feature, dict) else None
        if not isinstance(geometry, dict) or not isinstance(properties, dict):
            # Bad features are collected by reason and told at the end, with how many there are and where the first is.
            self.bad.setdefault("no geometry, or is no feature at all", []).append(number)
            return
        kind = geometry.get("type")
        times = next((properties[name] for name in _TIMES if name in properties), None)
        if kind not in ("Point", "LineString") or (kind == "LineString" and not isinstance(times, list)):
            self.bad.setdefault("a geometry that is neither a point nor a line with 'times'", []).append(number)
            return
        positions = geometry.get("coordinates")
        numbers = _numbers([positions] if kind == "Point" else positions)
        if numbers is None:
            self.bad.setdefault("coordinates that are not numbers", []).append(number)
            return
        if kind == "LineString":
            if not isinstance(times, list) or len(times) != len(numbers):
                self.bad.setdefault("not as many times as positions", []).append(number)
                return
            self.times.extend(_text(value) for value in times)
        self.kinds.add(kind)
        self.lon.extend(x for x, _ in numbers)
        self.lat.extend(y for _, y in numbers)
        self.lengths.append(len(numbers))
        # The system may stand on the collection, on a feature or on its geometry; all that are said must agree.
        systems = [system_of(self.shown, owner) for owner in (around, feature, geometry) if owner and "crs" in owner]
        self.systems.update(systems)
        self.unsaid |= not systems
        self._keep(properties, number, feature.get("id"))

    def _keep(self, properties: dict[str, Any], number: int, given_id: Any) -> None:
        # Features may have different properties.  A new column begins with a None for every feature before, and a
        # feature that lacks one adds a None: all columns stay equally long.
        before = len(self.number)
        for name, value in properties.items():
            if isinstance(value, (dict, list)):
                self.nested.add(name)
                value = None
            column = self.properties.get(name)
            if column is None:
                column = self.properties[name] = [None] * before
            column.append(_text(value))
        self.number.append(number)
        self.ids.append(_text(given_id))
        if len(properties) < len(self.properties):
            for column in self.properties.values():
                if len(column) == before:
                    column.append(None)

    def crs(self) -> Crs | None:
        """Return the one coordinate system that the file says; without any, GeoJSON is in degrees."""
        systems = {crs_name(name) for name in self.systems}
        if systems and self.unsaid:
            systems.add(WGS84)
        if len(systems) > 1:
            names = ", ".join(sorted(f"'{crs.name}'" for crs in systems))
            raise InputError(f"{self.shown}: the file mixes the coordinate systems {names}; convert it to one of them.")
        return next(iter(systems), None)

    def table(self, noun: str) -> Table:
        for what, numbers in self.bad.items():
            where = f"{'at' if len(numbers) == 1 else 'first at'} {noun} {numbers[0]:,}"
            verb = "has" if len(numbers) == 1 else "have"
            raise InputError(
                f"{self.shown}: {count(len(numbers), 'feature')} {verb} {what}, {where}; correct or remove them."
            )
        if not self.lon:
            raise InputError(f"{self.shown}: the file has no points; at least one is needed.")
        if len(self.kinds) > 1:
            raise InputError(f"{self.shown}: the file mixes points and lines; give a file with one of them.")
        # Properties stand once per feature, positions once per row: `row` leads from a position to its feature.
        row = np.repeat(np.arange(len(self.lengths)), self.lengths)
        columns = {
            normal_text(name): pl.Series(values, dtype=pl.String).gather(row) for name, values in self._usable().items()
        }
        number = np.array(self.number)[row]
        aside = []
        if "LineString" in self.kinds:
            columns["t"] = pl.Series(self.times, dtype=pl.String)
            # A line is a trajectory by itself; its number is used unless a property says better.
            if "traj_id" not in columns:
                columns["traj_id"] = pl.Series(row).cast(pl.String)
                aside.append("traj_id")
        if "id" not in columns and any(self.ids):
            columns["id"] = pl.Series(self.ids, dtype=pl.String).gather(row)
            aside.append("id")
        columns |= {"lon": pl.Series(self.lon, dtype=pl.Float64), "lat": pl.Series(self.lat, dtype=pl.Float64)}
        left_out = sorted(name for name in self.nested if name not in _TIMES)
        return Table(
            path=self.shown,
            names=tuple(columns),
            lazy=pl.DataFrame({str(i): values for i, values in enumerate(columns.values())}).lazy(),
            csv=None,
            notes=(f"Property {listed(left_out)} holds lists or objects and was left out.",) if left_out else (),
            aside=tuple(aside),
            places=lambda at: f"{noun} {number[at]:,}",
        )

    def _usable(self) -> dict[str, list[Any]]:
        """Properties that are columns; the geometry says where, so that copies of it do not count."""
        return {
            name: values
            for name, values in self.properties.items()
            if normal_text(name) and normal_text(name) not in ("lon", "lat", *_TIMES) and name not in self.nested
        }


def _numbers(positions: Any) -> list[tuple[float, float]] | None:
    """Return (x, y) pairs, or None where something else is found; a third number is left out."""
    if not isinstance(positions, list):
        return None
    pairs = []
    for position in positions:
        if not isinstance(position, list) or len(position) < 2:
            return None
        x = position[0]
        y = position[1]
        if type(x) not in (int, float) or type(y) not in (int, float):
            return None
        try:
            pairs.append((float(x), float(y)))
        except OverflowError:
            return None
    return pairs


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else json.dumps(value)


def system_of(shown: str, owner: dict[str, Any]) -> str:
    """Return the name in a ``crs`` member, the way of GeoJSON before 2016; null means nothing is known."""
    crs = owner["crs"]
    properties = crs.get("properties") if isinstance(crs, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else crs
    if not isinstance(name, str) or not name:
        raise InputError(f"{shown}: the member 'crs' has no name; remove it if the file is in degrees.")
    return name
