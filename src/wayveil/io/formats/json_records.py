"""JSON that is no GeoJSON: a list of objects somewhere inside becomes a table, nested objects become columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.errors import InputError

__all__ = ["convert_json", "holds_records"]

_ENDINGS = (".json", ".jsonl", ".ndjson")
_BY_LINE = (".jsonl", ".ndjson")
_SNIFFED = 1 << 16
_DEPTH = 5
_GEO_TYPES = ("Feature", "FeatureCollection", "Topology", "GeometryCollection", "Trajectory", "MovingPoint")


class _Number(str):
    """A number as it is written: ids and coordinates keep their digits."""


def holds_records(path: Path) -> bool:
    """Whether a file is JSON whose objects are rows: told from its first object, which says no type of GeoJSON.

    Examples
    --------
    >>> import tempfile
    >>> def holds(text):
    ...     with tempfile.TemporaryDirectory() as folder:
    ...         file = Path(folder, "a.json")
    ...         _ = file.write_text(text)
    ...         return holds_records(file)
    >>> holds('[{"user": 1}]'), holds('{"data": {"bikes": []}}'), holds('{"type": "FeatureCollection", "features": []}')
    (True, True, False)
    """
    if not path.name.lower().endswith(_ENDINGS):
        return False
    # Only the beginning is looked at, and only the first object, however long the file is.
    try:
        with path.open("rb") as stream:
            start = stream.read(_SNIFFED).decode("utf-8", errors="ignore").lstrip("\ufeff \t\r\n")
    except OSError:
        return False
    keys = dict(_top_level(start.lstrip("[ \t\r\n")))
    if start[:1] not in ("{", "[") or not keys:
        return False
    return not (keys.get("type") in _GEO_TYPES or "features" in keys or "geometry" in keys)


def convert_json(path: Path, folder: Path, *, shown: str) -> Path:
    """Write the rows of a JSON file as Parquet into a folder; return where.

    The longest list of objects, wherever it is, is the table.  Nested objects become columns with the names of both,
    where the inner one alone would come twice; a point becomes lon and lat, a route its first and its last position.

    Raises
    ------
    InputError
        If the file is no JSON, or no list in it holds objects.
    """
    try:
        records = _parse_text(path.read_text(encoding="utf-8-sig"), by_line=path.name.lower().endswith(_BY_LINE))
    except (ValueError, RecursionError):
        raise InputError(f"{shown}: the JSON is damaged or cut short; write or copy the file again.") from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the reader failed'}.") from None
    rows = [dict(_flatten(row)) for row in _find_rows(records)]
    if not rows or not any(rows):
        raise InputError(f"{shown}: the JSON holds no list of objects, so there are no rows in it.")
    paths = list(dict.fromkeys(key for row in rows for key in row))
    names = _short_names(paths)
    frame = pl.DataFrame([_column(names[key], [row.get(key) for row in rows]) for key in paths])
    target = folder / "records.parquet"
    frame.write_parquet(target)
    return target


def _parse_text(text: str, *, by_line: bool) -> Any:
    """Return a document, or a list of one object per line, which files called .json may also have."""
    if not by_line:
        try:
            return _parse(text)
        except ValueError:
            if "\n" not in text.strip():
                raise
    return [_parse(line) for line in text.split("\n") if line.strip()]


def _parse(text: str) -> Any:
    return json.loads(text, parse_float=_Number, parse_int=_Number)


def _top_level(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the keys of the first object with their values where these are texts, from the beginning of a file."""
    decoder = json.JSONDecoder()
    depth = 0
    at = 0
    key = None
    # A scanner that knows only texts, brackets and depth; the file may be cut anywhere behind the first object.
    while at < len(text):
        sign = text[at]
        if sign == '"':
            try:
                word, at = decoder.raw_decode(text, at)
            except ValueError:
                return
            # At depth 1 a text in front of a colon is a key, and one behind it a value.
            after = text[at:].lstrip()[:1]
            if depth == 1 and after == ":":
                key = word
                yield key, None
            elif depth == 1 and key is not None:
                yield key, word
            continue
        depth += (sign in "{[") - (sign in "}]")
        if depth == 0:
            return
        at += 1


def _find_rows(node: Any, depth: int = 0) -> list[Mapping[str, Any]]:
    """Return the longest list of objects in a document."""
    if isinstance(node, list):
        objects: list[Mapping[str, Any]] = [one for one in node if isinstance(one, dict)]
        if objects:
            return objects
        # Lists of lists are searched too, the first ten of each: rows are alike.
        inner: list[Any] = node[:10]
    else:
        inner = list(node.values()) if isinstance(node, dict) else []
    if depth == _DEPTH:
        return []
    return max((_find_rows(one, depth + 1) for one in inner), key=len, default=[])


def _flatten(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values of an object with the names that lead to them; lists of anything but positions say nothing."""
    if isinstance(value, dict):
        if value.get("type") == "Point" and isinstance(value.get("coordinates"), list):
            yield from _position(value["coordinates"], path, "")
        elif value.get("type") == "FeatureCollection" and isinstance(value.get("features"), list):
            ends = [one for one in value["features"] if isinstance(one, dict)]
            # A route of features is told by its first and last position; what lies between is no row of this table.
            for side, feature in (("start", ends[0]), ("end", ends[-1])) if ends else ():
                yield from _position((feature.get("geometry") or {}).get("coordinates"), path, f"{side}_")
        elif len(path) < _DEPTH:
            for name, inner in value.items():
                yield from _flatten(inner, (*path, str(name)))
    elif not isinstance(value, list) and path:
        yield path, value


def _position(pair: Any, path: tuple[str, ...], side: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(pair, list) and len(pair) >= 2 and all(isinstance(one, _Number) for one in pair[:2]):
        yield (*path, f"{side}lon"), pair[0]
        yield (*path, f"{side}lat"), pair[1]


def _short_names(paths: list[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return the shortest ends of paths that are all different, joined by dots."""
    names = {}
    for path in paths:
        length = 1
        # The last name alone if no other path ends in it; otherwise as many names in front as make the difference.
        while length < len(path) and any(other[-length:] == path[-length:] for other in paths if other != path):
            length += 1
        names[path] = ".".join(path[-length:])
    return names


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return a column of numbers where all values are numbers, of texts otherwise."""
    known = [value for value in values if value is not None]
    texts = [
        None if value is None else str(value).lower() if isinstance(value, bool) else str(value) for value in values
    ]
    column = pl.Series(name, texts, dtype=pl.String)
    if not known or not all(isinstance(value, _Number) for value in known):
        return column
    # Numbers were kept as texts, so that ids do not lose digits; here they become numbers if all of them are.
    whole = column.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == column.null_count() else column.cast(pl.Float64, strict=False)
