"""A first look at a file: its columns, what each probably is, and what is wrong with them, from the head of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl

from wayveil.errors import InputError, UsageError, WayveilError
from wayveil.io import Loaded, ReadOptions, read_points, read_taxonomy, read_trips, read_visits
from wayveil.io.formats.file_formats import has_format
from wayveil.io.formats.registry import holds_points, open_source
from wayveil.io.sample import ROWS, sample_of
from wayveil.io.tabular.columns import Columns, Kind, choose_columns, looks_like, place_columns, suggested
from wayveil.io.tabular.detect import kind_of_table
from wayveil.io.tabular.owner_columns import person_columns
from wayveil.io.tabular.table import Rows, Table, as_text
from wayveil.io.tabular.timestamps import parse_times
from wayveil.io.tabular.usual_names import name_trip_columns

__all__ = ["preview"]

_SHOWN_ROWS = 20
_EXAMPLES = 3
_VALUES = 50
_MOST_DISTINCT = 1000
_LONGEST = 80
_MOST_NODES = 20_000
_MOST_COLUMNS = 500
_KINDS: tuple[Kind, ...] = get_args(Kind)
_WHOLE_READERS: dict[str, Callable[..., Loaded]] = {"visits": read_visits, "points": read_points, "trips": read_trips}
"""The readers that need no other file: these look at the sample, too."""
_PROBLEMS = (InputError, UsageError)


def preview(
    path: Path,
    folder: Path,
    *,
    role: str = "data",
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    crs: str | None = None,
    on_duplicate_time: str | None = None,
) -> dict[str, Any]:
    """Return what a person wants to see of a file before using it; only the head of a large table is read.

    Parameters
    ----------
    path : Path
        The file.
    folder : Path
        Where the head of it may be written.
    role : str
        "data", or what else the file is for; only data have roles of columns.
    kind : str, optional
        What the table holds; told from its columns by default.
    columns : mapping, optional
        From our names to those of the table; guessed where it is not given.
    crs, on_duplicate_time : str, optional
        As in a recipe.

    Returns
    -------
    dict
        ``kind``, ``mapping``, ``columns``, ``rows`` (None where only the head was read), ``at_least``, ``preview``,
        ``problems``, ``notes``, ``attributes`` and ``people``: the columns that look like a person, of which none is
        taken unasked.  Of a taxonomy also ``nodes``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = Path(name, "a.csv")
    ...     _ = file.write_text("card,time,station\\n1,8,north\\n1,9,\\n")
    ...     seen = preview(file, Path(name))
    >>> seen["kind"], seen["mapping"], [column["role"] for column in seen["columns"]]
    ('visits', {'traj_id': 'card', 't': 'time', 'location': 'station'}, ['traj_id', 't', 'location'])
    >>> seen["people"]
    ['card']
    >>> seen["columns"][2]["problems"]
    ["column 'station' has no value in 1 row, at line 3. Fill in the value or remove the row."]
    """
    if kind is not None and kind not in _KINDS:
        raise UsageError(f"There is no kind of data {kind!r}; known: {', '.join(_KINDS)}.")
    how = ReadOptions(crs=crs, on_duplicate_time=cast(Any, on_duplicate_time), owners="not-asked")
    try:
        nodes = _nodes(path) if role == "taxonomy" else {}
        if role != "data" and not has_format(path, "csv", "parquet"):
            return {**_nothing(), **nodes}
        sample = sample_of(path, folder)
        read = replace(how, piece=not sample.whole)
        look = _Look(table=open_source(sample.path).table, path=sample.path, role=role, how=read)
        seen = look.all(kind, columns)
    except WayveilError as error:
        return _nothing(_bare(str(error), path, folder))
    # Of a sample the number of rows is not known, but it is at least that of what was read.
    seen["at_least"] = seen["rows"] if sample.rows is None else sample.rows
    seen["rows"] = sample.rows if not sample.whole else seen["rows"]
    return {**cast(dict[str, Any], _without(seen, path, folder)), **nodes}


def _nodes(path: Path) -> dict[str, Any]:
    """Return the nodes of a taxonomy, those above before those below."""
    tree = read_taxonomy(path)
    listed = [
        {
            "name": tree.nodes[node],
            "parent": tree.nodes[tree.parent[node]] if tree.parent[node] >= 0 else None,
            "sensitive": bool(tree.sensitive[node]),
        }
        # From the root down, so that a parent stands before its children; then in the order of the file.
        for node in sorted(range(len(tree.nodes)), key=lambda node: (tree.depth[node], node))[:_MOST_NODES]
    ]
    return {"nodes": listed}


@dataclass(frozen=True, kw_only=True)
class _Look:
    """One look at a table; `how` are the options to read it with, without columns."""

    table: Table
    path: Path
    role: str
    how: ReadOptions

    def all(self, kind: str | None, given: Mapping[str, str] | None) -> dict[str, Any]:
        # Empty names are columns without a header, which are not shown.
        named = sum(map(bool, self.table.names))
        if named > _MOST_COLUMNS:
            raise self.table.wrong(f"the table has {named:,} columns; tables of up to {_MOST_COLUMNS} can be shown.")
        rows = self._rows()
        problems: list[str] = []
        chosen = None
        options = replace(self.how, columns=given or {})
        if self.role == "data":
            chosen, options, kind, problems = self._choose(kind, given)
        roles = self._roles(chosen, options)
        listed = [self._column(rows, i, role) for i, role in roles.items()]
        notes = list(self.table.notes) + list(chosen.notes if chosen is not None else ())
        if chosen is not None and kind is not None:
            self._check(rows, chosen, listed, options, kind, problems)
        attributes = {c["name"]: _values(rows, c["position"]) for c in listed if c["role"] == "attribute"}
        shown = [_texts(rows, c["position"], _SHOWN_ROWS) for c in listed]
        return {
            "kind": kind,
            "mapping": dict(options.columns),
            "columns": [{name: value for name, value in c.items() if name != "position"} for c in listed],
            "rows": len(rows) if len(rows) + rows.blank < ROWS else self.table.lazy.select(pl.len()).collect().item(),
            "preview": [list(row) for row in zip(*shown, strict=True)],
            "problems": problems,
            "notes": notes,
            "attributes": attributes,
            "people": self._people(chosen),
        }

    def _people(self, chosen: Columns | None) -> list[str]:
        """Return the columns that look like a person: whoever publishes is asked which of them it is."""
        # The time and the place are no person, whatever they are called.
        taken = set() if chosen is None else {chosen.t, *chosen.place.values()}
        free = [name for i, name in enumerate(self.table.names) if name and i not in taken]
        return list(person_columns(free)) or [name for name in self.table.aside if name in ("folder", "file")]

    def _rows(self) -> Rows:
        # The first rows only: a look at a large file takes no longer.
        table = replace(self.table, lazy=self.table.lazy.head(ROWS))
        return table.read(range(len(table.names)))

    def _choose(
        self, kind: str | None, given: Mapping[str, str] | None
    ) -> tuple[Columns | None, ReadOptions, str | None, list[str]]:
        """Return the columns, how to find them, the kind, and what is wrong."""
        exact = replace(self.how, columns=given or {})
        # One kind where somebody said so or where the format holds nothing else; otherwise all are tried.
        kinds = (cast(Kind, kind),) if kind else (("points",) if holds_points(self.path) else _KINDS)
        try:
            kind_told = kinds[0] if len(kinds) == 1 else kind_of_table(self.table, exact, kinds)
            if kind_told == "trips":
                trips = name_trip_columns(self.table, exact)
                return choose_columns(trips.table, trips.options, kind_told), trips.options, kind_told, []
            return choose_columns(self.table, exact, kind_told), exact, kind_told, []
        except _PROBLEMS as error:
            wrong = str(error)
        # Guesses are made only where nobody named columns: a wrong name is an error, not a reason to take another.
        if given is None:
            # Kinds whose place can be told come first.
            for kind_told in sorted(kinds, key=lambda k: place_columns(self.table, exact, k) is None):
                options = _guessed(self.table, self.how, kind_told)
                try:
                    return choose_columns(self.table, options, kind_told), options, kind_told, []
                except _PROBLEMS:
                    continue
        return None, exact, kind, [wrong]

    def _roles(self, chosen: Columns | None, options: ReadOptions) -> dict[int, str]:
        names = self.table.names
        roles: dict[int, str] = {}
        if chosen is not None:
            roles = {i: "attribute" for i in chosen.attributes.values()}
            if chosen.user_id is not None:
                roles[chosen.user_id] = "user_id"
            # Degrees by their names keep these roles, so that the page can say longitude and latitude.
            for ours, i in chosen.place.items():
                roles[i] = looks_like(names[i], "lon", "lat") or ours if ours in ("x", "y") else ours
                roles[i] = "geometry" if roles[i] in ("latlon", "lonlat") else roles[i]
            if chosen.t is not None:
                roles[chosen.t] = "t"
            roles[chosen.traj_id] = "traj_id"
        # No kind fits: show the names that were given, so that the user sees what is missing.
        elif self.role == "data":
            known = {options.columns.get(ours, ours): ours for ours in ("traj_id", "t", "user_id", *options.columns)}
            roles = {i: known[name] for i, name in enumerate(names) if name in known}
        return {i: roles.get(i, "ignored") for i, name in enumerate(names) if name}

    def _column(self, rows: Rows, i: int, role: str) -> dict[str, Any]:
        text = _text(rows, i)
        values = text.drop_nulls()
        distinct = values.n_unique()
        return {
            "position": i,
            "name": self.table.names[i],
            "role": role,
            "type": _type(rows.frame[str(i)], values),
            "examples": [_short(value) for value in values.unique(maintain_order=True).head(_EXAMPLES)],
            "missing": text.null_count(),
            "distinct": min(distinct, _MOST_DISTINCT),
            "problems": [],
        }

    def _check(
        self,
        rows: Rows,
        chosen: Columns,
        listed: Sequence[dict[str, Any]],
        options: ReadOptions,
        kind: str,
        problems: list[str],
    ) -> None:
        """Add what is wrong: column by column first, then what the real reader says of the sample."""
        by_name = {c["name"]: c for c in listed}
        # Where these columns are an order or an end only, none of them has to be filled in.
        places = [] if set(chosen.place) & {"seq", "t_end"} == set(chosen.place) else list(chosen.place.values())
        needed = dict.fromkeys([chosen.traj_id, *([] if chosen.t is None else [chosen.t]), *places])
        if kind == "trips":
            needed = {}  # either end of a trip may be missing, and ids are made
        for i in needed:
            column = by_name[self.table.names[i]]
            column["problems"] += _missing(rows, i)
            if i == chosen.t and not column["problems"]:
                column["problems"] += _said(lambda i=i: parse_times(rows, i))
            if column["role"] in ("x", "y", "lon", "lat"):
                column["problems"] += _not_numbers(rows, i)
        for name, i in chosen.attributes.items():
            if not chosen.numbered:
                by_name[name]["problems"] += _varying(rows, chosen.traj_id, i)
        read = _WHOLE_READERS.get(kind)
        # The real reader says what no check of one column can, such as two rows of one trajectory at one time.
        if read is not None and len(rows):
            limited = replace(options, attributes=())
            for sentence in _said(lambda: read(self.path, limited)):
                # A sentence that names a column is shown at it, unless that has one already.
                about = next((n for n in re.findall(r"column '([^']*)'", sentence) if n in by_name), None)
                if about is None:
                    problems.append(sentence)
                elif not by_name[about]["problems"]:
                    by_name[about]["problems"].append(sentence)
        if not len(rows):
            problems.append("The file has a header but no rows.")


def _guessed(table: Table, how: ReadOptions, kind: Kind) -> ReadOptions:
    names = [name for name in table.names if name]
    pairs = (pair.partition("=") for pair in suggested(names, kind).split(","))
    guesses = {ours: theirs for ours, _, theirs in pairs if theirs in names}
    # Where places are known already, only who and when are guessed.
    if place_columns(table, how, kind):
        guesses = {ours: theirs for ours, theirs in guesses.items() if ours in ("traj_id", "t")}
    return replace(how, columns=guesses)


def _said(check: Any) -> list[str]:
    """Return what a check complains about."""
    try:
        check()
    except WayveilError as error:
        return [str(error)]
    return []


def _missing(rows: Rows, i: int) -> list[str]:
    text = _text(rows, i)
    if not text.null_count():
        return []
    name = rows.table.names[i]
    return _said(
        lambda: rows.refuse(text.is_null(), f"column '{name}' has no value", "Fill in the value or remove the row.")
    )


def _not_numbers(rows: Rows, i: int) -> list[str]:
    text = _text(rows, i)
    # "nan" and "inf" are floats to Polars, but no coordinates.
    number = text.str.strip_chars().cast(pl.Float64, strict=False)
    bad = text.is_not_null() & (number.is_null() | ~number.is_finite().fill_null(False))
    name = rows.table.names[i]
    return _said(lambda: rows.refuse(bad, f"column '{name}' is not a number", "Correct or remove these rows."))


def _varying(rows: Rows, trajectory: int, i: int) -> list[str]:
    if i == trajectory:
        return []
    grouped = rows.frame.group_by(str(trajectory)).agg(pl.col(str(i)).n_unique().alias("n"))
    if not grouped.height or grouped["n"].max() == 1:
        return []
    return ["It changes within a trajectory, so it cannot be published or be sensitive; Wayveil leaves it out."]


def _text(rows: Rows, i: int) -> pl.Series:
    try:
        return as_text(rows, i)
    except InputError:
        values = rows.frame[str(i)]
        # Bytes may hold anything, and are not shown.
        return pl.select(pl.when(pl.lit(values).is_null()).then(None).otherwise(pl.lit("(binary)"))).to_series()


def _texts(rows: Rows, i: int, count: int) -> list[str | None]:
    return [None if value is None else _short(value) for value in _text(rows, i).head(count)]


def _values(rows: Rows, i: int) -> list[str]:
    # The most frequent values, listed by name.
    counted = _text(rows, i).drop_nulls().value_counts(sort=True)
    return sorted(_short(value) for value in counted.to_series(0).head(_VALUES))


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"


def _type(column: pl.Series, values: pl.Series) -> str:
    dtype = column.dtype
    if dtype.is_temporal():
        return "time"
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "number"
    if dtype.is_nested() or dtype == pl.Binary:
        return "binary"
    if not len(values):
        return "empty"
    if values.str.contains(r"^[+-]?\d{1,18}$").all():
        return "integer"
    if values.str.strip_chars().cast(pl.Float64, strict=False).is_not_null().all():
        return "number"
    # dates as ISO 8601 writes them
    return "time" if values.str.contains(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$").all() else "text"


def _nothing(*problems: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"columns": [], "preview": [], "notes": [], "mapping": {}, "attributes": {}, "people": []}
    return {"kind": None, "rows": None, "at_least": 0, "problems": list(problems), **empty}


def _without(value: Any, path: Path, folder: Path) -> Any:
    """Return the same with sentences that do not begin with the path of the file."""
    if isinstance(value, dict):
        sentences = ("problems", "notes")
        return {k: [_bare(s, path, folder) for s in v] if k in sentences else _without(v, path, folder)
                for k, v in value.items()}  # fmt: skip
    return [_without(item, path, folder) for item in value] if isinstance(value, list) else value


def _bare(sentence: str, path: Path, folder: Path) -> str:
    short = re.sub(rf"({re.escape(str(folder))}/[^:]*|{re.escape(str(path))}): ", "", sentence)
    return short.replace(str(path), path.name)
