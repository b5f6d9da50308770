"""A recipe: everything that decides a publication, checked before any data is read.

A recipe file is TOML; ``wayveil publish`` builds the same object from its options, so there is one code path.
Method, preparation steps, attacks and metrics are checked against their own declared parameters.
"""

from __future__ import annotations

import codecs
import tomllib
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from wayveil.errors import UsageError, closest
from wayveil.io.intake.convert import TimeColumn
from wayveil.io.intake.positions import PositionColumn
from wayveil.io.storage.addresses import address_of, is_remote, local_path, path_text, refuse_remote
from wayveil.io.tabular.columns import EACH_TRAJECTORY
from wayveil.model import InputKind
from wayveil.model.normal import normal_text
from wayveil.recipe import catalog
from wayveil.recipe.purpose import Use, parse_limit

__all__ = [
    "EACH_TRAJECTORY",
    "INPUT_KINDS",
    "STANDARD_INPUT",
    "BlocksSpec",
    "DialectSpec",
    "InputSpec",
    "LineSpec",
    "OutputSpec",
    "Recipe",
    "TimeSpec",
    "load_recipe",
    "make_input",
    "make_recipe",
    "read_toml",
]


STANDARD_INPUT = Path("-")
"""The path that means standard input."""

_FILES = ("path", "known", "places", "zones", "network", "taxonomy")

INPUT_KINDS: tuple[str, ...] = get_args(InputKind)
"""What an input can hold."""


class _Strict(BaseModel):
    # Unknown keys are mistakes, never ignored: a misspelt `k` would otherwise publish with the default.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True)


class DialectSpec(_Strict):
    """How a text table is written; what is not said is told from the beginning of the file.

    `names` are those of the columns, where there is no header.
    """

    encoding: str | None = None
    separator: str | None = Field(default=None, min_length=1, max_length=1)
    decimal: Literal[".", ","] | None = None
    header: bool | None = None
    skip_lines: int | None = Field(default=None, ge=0)
    comment: str | None = None
    names: tuple[str, ...] = ()

    @field_validator("names", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("encoding")
    @classmethod
    def _encoding(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            return codecs.lookup(value).name
        except LookupError:
            raise ValueError("there is no such encoding; try utf-8, utf-16 or cp1252") from None


class TimeSpec(_Strict):
    """A time in one column, in two (the date and the time of day), or in columns from the year to the second.

    `format` is one of the words of `time_formats`; not said, it is told from the whole column.  `zone` is that of times
    without an offset, "" keeps local time, "offset" takes the offset that every time has.  `minutes` is the
    column with the minutes from UTC to local time, which is what is read then.
    """

    columns: tuple[str, ...] = Field(min_length=1, max_length=6)
    format: str | None = None
    zone: str | None = None
    minutes: str = ""

    @field_validator("columns", mode="before")
    @classmethod
    def _columns(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _usable(self) -> TimeSpec:
        # Built once to be checked by its own rules, and thrown away.
        TimeColumn(columns=self.columns, format=self.format or "ymd", zone=self.zone or "", minutes=self.minutes)
        return self


class PositionSpec(_Strict):
    """A position that is no two plain numbers: one column with both, or longitude and latitude in two.

    `format` is one of the words of `positions`; `order` says which of two numbers in one text comes first.
    """

    columns: tuple[str, ...] = Field(default=(), max_length=2)
    format: str | None = None
    order: Literal["lonlat", "latlon"] | None = None

    @field_validator("columns", mode="before")
    @classmethod
    def _columns(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _usable(self) -> PositionSpec:
        if self.columns:
            self.column()
        return self

    def column(self) -> PositionColumn:
        """Return what conversion needs; UsageError where something is wrong or not said."""
        if not self.columns or self.format is None:
            raise UsageError("Recipe: [input.positions] needs the columns and the format of each position.")
        return PositionColumn(columns=self.columns, format=self.format, order=self.order or "lonlat")


class LineSpec(_Strict):
    """A column with all positions of a trip in one text, one `every` so many seconds from the time `t` of the row on.

    A column that is left out is the one that holds lists of positions.
    """

    column: str = ""
    every: float = Field(gt=0)


class InputSpec(_Strict):
    """The table to read: where it is, what it holds and how its columns are called.

    `owners` says who is behind the trajectories where no column does: tables, or "each-trajectory", the declaration
    that each is another person.  `dialect`, `times` and `ends` say how the table is written, where it is no plain one:
    `ends` of a table with one row per trip has, for each new column, that of the start and that of the end; `line`
    is the column with the positions of a trip, which becomes lon and lat; `positions` are coordinates in other forms.
    `bad_rows` says what happens to rows that cannot be read.  `guesses` are what was taken to be so of the file, for
    the report.
    """

    path: Path
    kind: InputKind | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    on_duplicate_time: Literal["first", "last"] | None = None
    crs: str | None = None
    known: Path | None = None
    places: Path | None = None
    zones: Path | None = None
    network: Path | None = None
    taxonomy: Path | None = None
    sensitive_nodes: tuple[str, ...] = ()
    unknown_places: Literal["refuse", "drop"] = "refuse"
    owners: Literal["each-trajectory"] | tuple[Path, ...] = ()
    similar_ids: Literal["different", "same"] | None = None
    dialect: DialectSpec | None = None
    times: dict[str, TimeSpec] = Field(default_factory=dict)
    ends: dict[str, tuple[str, str]] = Field(default_factory=dict)
    positions: dict[Literal["point", "origin", "destination"], PositionSpec] = Field(default_factory=dict)
    line: LineSpec | None = None
    bad_rows: Literal["refuse", "drop"] = "refuse"
    guesses: tuple[str, ...] = ()
    _given: InputSpec | None = PrivateAttr(default=None)

    @field_validator("ends", mode="before")
    @classmethod
    def _ends(cls, value: Any) -> Any:
        pairs = value.items() if isinstance(value, dict) else ()
        return {name: tuple(pair) if isinstance(pair, list) else pair for name, pair in pairs} if pairs else value

    @field_validator("path", "known", "places", "zones", "network", "taxonomy", mode="before")
    @classmethod
    def _path(cls, value: Any) -> Any:
        return _as_path(value)

    @field_validator("owners", mode="before")
    @classmethod
    def _paths(cls, value: Any) -> Any:
        # Three forms: nothing, the declaration, or tables; a single table may stand without brackets.
        if value == EACH_TRAJECTORY or value is None:
            return value or ()
        if isinstance(value, (str, Path)):
            value = [value]
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, (str, Path)) for item in value):
            raise ValueError(f'owners must be "{EACH_TRAJECTORY}", a table or a list of tables')
        if EACH_TRAJECTORY in value:
            raise ValueError(f'owners must be tables or "{EACH_TRAJECTORY}", not both')
        return tuple(_as_path(item) for item in value)

    @model_validator(mode="after")
    def _one_answer(self) -> InputSpec:
        if self.each_trajectory and "user_id" in self.columns:
            raise UsageError(
                "Recipe: [input] names the column of the person (user_id) and declares that each trajectory is another "
                f"person (owners = {EACH_TRAJECTORY!r}); give one of them."
            )
        return self

    @property
    def each_trajectory(self) -> bool:
        """Whether the publisher declared that each trajectory is another person."""
        return self.owners == EACH_TRAJECTORY

    @property
    def owner_tables(self) -> tuple[Path, ...]:
        """The tables that say who is behind a trajectory."""
        return () if isinstance(self.owners, str) else self.owners

    @field_validator("sensitive_nodes", "guesses", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("sensitive_nodes")
    @classmethod
    def _normal_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _normal(value)

    @field_validator("columns")
    @classmethod
    def _normal_columns(cls, value: dict[str, str]) -> dict[str, str]:
        return {ours: normal_text(theirs) for ours, theirs in value.items()}

    @property
    def files(self) -> tuple[Path, ...]:
        """The table and all files beside it."""
        beside = (getattr(self, name) for name in _FILES)
        return (*(path for path in beside if path is not None), *self.owner_tables)

    @property
    def as_given(self) -> InputSpec:
        """The same as it was given, where files in object storage have been copied to this machine."""
        return self._given or self

    def with_copies(self, copies: Mapping[Path, Path]) -> InputSpec:
        """Return the same with copies of some files in their place; `as_given` is what it was."""
        placed = self._placed(lambda file: copies.get(file, file))
        placed._given = self.as_given
        return placed

    def below(self, folder: Path) -> InputSpec:
        """Return the same, with its paths relative to a folder; addresses in object storage stay."""
        placed = self._placed(lambda file: _below(folder, file))
        if self._given is not None:
            placed._given = self._given.below(folder)
        return placed

    def _placed(self, place: Callable[[Path], Path]) -> InputSpec:
        beside: dict[str, Any] = {name: place(file) for name in _FILES if (file := getattr(self, name))}
        return self.model_copy(update=beside).with_owner_tables(place)

    def with_owner_tables(self, place: Callable[[Path], Path]) -> InputSpec:
        """Return the same with the tables of owners elsewhere; a declaration stays."""
        if self.each_trajectory:
            return self
        return self.model_copy(update={"owners": tuple(place(file) for file in self.owner_tables)})


class OutputSpec(_Strict):
    """Where the result goes and what of it is kept.

    `local` is needed where the path is an address in object storage: the folder on this machine in which the run works,
    and where everything stays that may not be handed out.
    """

    path: Path
    local: Path | None = None
    format: Literal["parquet", "csv", "geojson"] = "parquet"
    keep: tuple[str, ...] = ()
    keep_mapping: bool = False
    with_raw: bool = False
    overwrite: bool = False
    sign_key: Path | None = None

    @field_validator("path", "local", "sign_key", mode="before")
    @classmethod
    def _path(cls, value: Any) -> Any:
        return _as_path(value)

    @property
    def folder(self) -> Path:
        """The folder on this machine that is written to."""
        return self.path if self.local is None else self.local

    @model_validator(mode="after")
    def _private_folder(self) -> OutputSpec:
        for path, what in ((self.local, "The folder --local"), (self.sign_key, "The key --sign-key")):
            if path is not None:
                refuse_remote(path, what)
        if self.local is None and is_remote(self.path):
            raise UsageError(
                f"The output {path_text(self.path)!r} is in object storage, where report, seed and secret must never "
                "go: give a folder on this machine for them, and for the work, with --local (in a recipe: local)."
            )
        if self.local is not None and not is_remote(self.path):
            raise UsageError("--local is of use with an --out in object storage only; leave it out.")
        return self

    @field_validator("keep", mode="before")
    @classmethod
    def _keep(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("keep")
    @classmethod
    def _normal_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _normal(value)

    def below(self, folder: Path) -> OutputSpec:
        """Return the same with paths that are relative to a folder."""
        key = None if self.sign_key is None else folder / self.sign_key
        local = None if self.local is None else folder / self.local
        return self.model_copy(update={"path": _below(folder, self.path), "local": local, "sign_key": key})


class BlocksSpec(_Strict):
    """How data are cut that are too large for one machine: `by` what, and about how many rows are in a block."""

    by: Literal["times", "slice", "length", "place", "whole"]
    rows: int = Field(default=2_000_000, ge=1)


class Recipe(_Strict):
    """A checked recipe; `method`, `prepare`, `attacks` and `metrics` are configured objects.

    `attacks` and `metrics` that are None mean: all that fit the kind of data, with their default parameters.
    `max_risk` is the risk that the publisher accepts, by default that of the promise; `use` is what the data are for.
    `measure` says how much of the result is measured, see `measuring.py`.
    """

    input: InputSpec
    output: OutputSpec
    method: Any
    prepare: tuple[Any, ...] = ()
    attacks: tuple[Any, ...] | None = None
    metrics: tuple[Any, ...] | None = None
    title: str = ""
    max_risk: Fraction | None = None
    use: Use | None = None
    measure: Literal["none", "quick", "full"] = "quick"
    seed: int | None = Field(default=None, ge=0)
    engine: Literal["local", "dask", "auto"] = "local"
    blocks: BlocksSpec | None = None

    def for_kind(self, kind: str) -> Recipe:
        """Return the same recipe with the method for data of this kind, where it differs by that."""
        method = self.method.for_kind(kind)
        return self if method is self.method else self.model_copy(update={"method": method})

    @field_validator("max_risk", mode="before")
    @classmethod
    def _max_risk(cls, value: Any) -> Any:
        return None if value is None else parse_limit(value)

    @field_validator("method", mode="before")
    @classmethod
    def _method(cls, value: Any) -> Any:
        return _configured("method", "name", value)

    @field_validator("prepare", mode="before")
    @classmethod
    def _prepare(cls, value: Any) -> Any:
        return _all_configured("step", "step", value)

    @field_validator("attacks", mode="before")
    @classmethod
    def _attacks(cls, value: Any) -> Any:
        return None if value is None else _all_configured("attack", "name", value)

    @field_validator("metrics", mode="before")
    @classmethod
    def _metrics(cls, value: Any) -> Any:
        return None if value is None else _all_configured("metric", "name", value)


def load_recipe(path: str | Path) -> Recipe:
    """Read a recipe file; its input and output paths are relative to the file."""
    refuse_remote(path, "A recipe")
    path = local_path(path)
    content = read_toml(path)
    base = path.parent
    # Words such as @FILE are replaced by what the table holds before anything is checked.
    recipe = make_recipe(_with_tables(content, base))
    return recipe.model_copy(
        update={
            "input": recipe.input.below(base),
            "output": recipe.output.below(base),
        }
    )


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a recipe file says, unchecked; UsageError if it is no TOML."""
    try:
        # Each way in which a file can be wrong has its own sentence; none of them repeats values.
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The recipe {str(path)!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"The recipe {str(path)!r} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The recipe {str(path)!r} is not valid TOML: {error}.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"The recipe {str(path)!r} has a number that is too long, or is nested too deeply.") from None


def _with_tables(content: dict[str, Any], base: Path) -> dict[str, Any]:
    """Return the recipe with the tables read in that stand for groups, such as ``adversaries = "@adversaries.csv"``."""

    def filled(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        tables = {k: v for k, v in part.items() if isinstance(v, str) and v.startswith("@")}
        return {**part, **{key: catalog.read_table(value, base) for key, value in tables.items()}}

    attacks = content.get("attacks")
    return {
        **content,
        **({"method": filled(content["method"])} if "method" in content else {}),
        **({"attacks": [filled(a) for a in attacks]} if isinstance(attacks, list) else {}),
    }


def make_recipe(content: dict[str, Any]) -> Recipe:
    """Check the content of a recipe; the first thing that is wrong becomes a UsageError of one sentence."""
    try:
        recipe = Recipe.model_validate(content)
    except ValidationError as error:
        raise UsageError(_sentence(error)) from None
    # What no single table can show: whether input, steps, method, format and blocks fit each other.
    needed = catalog.kinds_needed(recipe.prepare, recipe.method)
    if recipe.input.kind is not None and recipe.input.kind not in needed:
        first = (*recipe.prepare, recipe.method)[0]
        advice = catalog.advice(recipe.input.kind, needed[0])
        raise UsageError(
            f"{first.name} needs {' or '.join(needed)}, the input is said to be {recipe.input.kind}.{advice}"
        )
    if recipe.method.synthetic and recipe.output.keep:
        raise UsageError(f"{recipe.method.name}: synthetic trips have no attributes of people; keep no columns.")
    published = catalog.kind_published(recipe.method)
    if recipe.output.format == "geojson" and not recipe.method.publishes.coordinates:
        raise UsageError(f"GeoJSON holds points and boxes; {published} are published as parquet or csv.")
    _check_blocks(recipe)
    return (
        recipe if recipe.input.kind is None else recipe.for_kind(catalog.kind_after(recipe.input.kind, recipe.prepare))
    )


def _check_blocks(recipe: Recipe) -> None:
    ways: tuple[str, ...] = recipe.method.blocks
    if recipe.blocks is None or recipe.blocks.by in ways:
        return
    name = recipe.method.name
    if not ways:
        raise UsageError(f"{name} needs all data at once, so there can be no blocks; leave them out.")
    raise UsageError(f"{name} cannot be cut by {recipe.blocks.by}; blocks may be by {' or '.join(ways)}.")


def make_input(content: dict[str, Any]) -> InputSpec:
    """Check the description of an input table on its own."""
    try:
        return InputSpec.model_validate(content)
    except ValidationError as error:
        raise UsageError(_sentence(error, "input")) from None


def _normal(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names as columns and nodes have them."""
    return tuple(normal_text(name) for name in names)


def _as_path(value: Any) -> Any:
    if value == "":
        raise ValueError("a path must not be empty")
    if not isinstance(value, (str, Path)):
        return value
    address_of(value)  # refuses an address of another kind
    return local_path(value)


def _below(folder: Path, file: Path) -> Path:
    """Return a path that is relative to a folder; standard input and addresses stay as they are."""
    return file if file == STANDARD_INPUT or is_remote(file) else folder / file


def _configured(family: catalog.Family, key: str, value: Any) -> Any:
    # An object that is configured already, as Python callers and forms have it, is taken as it is.
    if not isinstance(value, dict):
        return value if type(value) in catalog.entries(family).values() else _not_a_table(family, key)
    rest = dict(value)
    name = rest.pop(key, None)
    if not isinstance(name, str):
        return _not_a_table(family, key)
    return catalog.build(family, name, rest)


def _all_configured(family: catalog.Family, key: str, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        value = [_not_a_table(family, key)]
    return tuple(_configured(family, key, item) for item in value)


def _not_a_table(family: str, key: str) -> Any:
    raise UsageError(f"Recipe: every {family} must be a table with the key {key!r} that names it.")


def _sentence(error: ValidationError, *above: str) -> str:
    # Only the first mistake is told: later ones often follow from it.
    first = error.errors(include_url=False)[0]
    *where, last = [*above, *(str(part) for part in first["loc"])]
    place = f"[{'.'.join(where)}]" if where else "the recipe"
    if first["type"] == "extra_forbidden":
        known = _known_keys(where)
        return f"Recipe: there is no key {last!r} in {place}; known: {', '.join(known)}.{closest(last, known)}"
    if first["type"] == "missing":
        return f"Recipe: {place} must have the key {last!r}."
    sentence = first["msg"].removeprefix("Value error, ")
    return f"Recipe: {last!r} in {place} is wrong: {sentence[:1].lower()}{sentence[1:]}, got {first['input']!r}."


def _known_keys(where: list[str]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {"input": InputSpec, "output": OutputSpec, "blocks": BlocksSpec}
    inside: dict[str, type[BaseModel]] = {"dialect": DialectSpec, "times": TimeSpec, "line": LineSpec}
    if len(where) > 1 and where[0] == "input":
        return list(inside.get(where[1], InputSpec).model_fields)
    model = tables.get(where[0], Recipe) if where else Recipe
    return list(model.model_fields)
