"""A compare recipe: one input and a grid of settings, each of them one ordinary recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wayveil.errors import ParameterError, UsageError, check_fraction, closest
from wayveil.recipe import catalog
from wayveil.recipe.recipe import InputSpec, make_input, read_toml
from wayveil.report.text.summary import value_text
from wayveil.yardstick.fair_metric import FairMetric

__all__ = ["MOST_SETTINGS", "Measure", "Plan", "Setting", "load_plan"]

MOST_SETTINGS = 1000
"""More than these are a mistake in a recipe rather than a comparison that somebody reads."""

_OWN_KEYS = ("method", "title", "prepare")


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What is measured: the name of an attack or a metric, its parameters, and which of its numbers ("": the main)."""

    name: str
    number: str
    given: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One point of the grid.

    `steps` and `method` are configured; where a value is out of range they are empty and None, and `wrong` says why.
    """

    name: str
    title: str
    steps: tuple[Any, ...]
    method: Any
    wrong: str = ""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A checked compare recipe; paths are those of the file system."""

    title: str
    input: InputSpec
    settings: tuple[Setting, ...]
    risk: Measure | None
    loss: Measure | None
    max_risk: float | None
    fair: FairMetric
    seed: int | None
    repeat: int
    out: Path
    format: str
    keep: tuple[str, ...]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Compare(_Strict):
    risk: str | dict[str, Any] | None = None
    loss: str | dict[str, Any] | None = None
    use: str | None = None
    resolution: str | None = None
    max_risk: float | int | str | None = None
    seed: int | None = Field(default=None, ge=0)
    repeat: int = Field(default=1, ge=1, le=100)


class _Output(_Strict):
    path: str = Field(min_length=1)
    format: Literal["parquet", "csv", "geojson"] = "parquet"
    keep: list[str] = Field(default_factory=list)


class _File(_Strict):
    input: dict[str, Any]
    setting: list[dict[str, Any]] = Field(min_length=1)
    output: _Output
    compare: _Compare = _Compare()
    prepare: list[dict[str, Any]] = Field(default_factory=list)
    title: str = ""


def load_plan(path: Path, out: Path | None = None) -> Plan:
    """Read a compare recipe; its paths are relative to the file.  `out` replaces the folder of the result.

    A name that does not exist is an error here; a value that is out of range makes its setting fail, not the others.
    """
    base = path.parent
    content = _checked(read_toml(path))
    source = make_input(content.input).below(base)
    # All tables are expanded into points of the grid; equal points are one setting.
    settings = _named_apart([s for table in content.setting for s in _expand(table, content.prepare, base)])
    # One setting may be impossible; if all are, the reason of the first is told.
    first = next((s.wrong for s in settings if s.wrong), "")
    if all(s.wrong for s in settings):
        raise UsageError(f"No setting of the recipe can be run. {first}")
    grid = content.compare
    return Plan(
        title=content.title or f"Comparison on {source.path.name}",
        input=source,
        settings=settings,
        risk=_measure("attack", grid.risk),
        loss=_measure("metric", grid.loss),
        fair=_fair_metric(grid),
        max_risk=None if grid.max_risk is None else _limit(grid.max_risk),
        seed=grid.seed,
        repeat=grid.repeat,
        out=base / content.output.path if out is None else out,
        format=content.output.format,
        keep=tuple(content.output.keep),
    )


def _fair_metric(section: _Compare) -> FairMetric:
    """Return how loss is measured where no metric is named."""
    if section.loss is not None and (section.use is not None or section.resolution is not None):
        raise UsageError("[compare] loss names a metric, so that use and resolution have no meaning; leave them out.")
    return FairMetric(use=section.use or "auto", resolution=section.resolution or "auto")


def _limit(value: Any) -> float:
    return float(check_fraction("compare", "max_risk", value, low=0, high=1))


def _checked(content: dict[str, Any]) -> _File:
    if "method" in content and "setting" not in content:
        raise UsageError(
            "This is a recipe for wayveil run. A compare recipe has tables [[setting]] with the key 'method' instead."
        )
    try:
        return _File.model_validate(content)
    except ValidationError as error:
        raise UsageError(_sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    *where, last = [str(part) for part in first["loc"]]
    tables: dict[str, type[BaseModel]] = {"compare": _Compare, "output": _Output}
    place = f"[{where[0]}]" if where else "the recipe"
    if first["type"] == "extra_forbidden":
        known = list((tables[where[0]] if where else _File).model_fields)
        return f"Compare recipe: there is no key {last!r} in {place}; known: {', '.join(known)}.{closest(last, known)}"
    if first["type"] == "missing":
        return f"Compare recipe: {place} must have the key {last!r}."
    name = where[1] if len(where) > 1 else last
    return f"Compare recipe: {name!r} in {place} is wrong: {first['msg'][:1].lower()}{first['msg'][1:]}."


def _measure(family: catalog.Family, entry: str | dict[str, Any] | None) -> Measure | None:
    """Return what ``"known_visits.identity_mean"``, or a table with `name`, `number` and parameters, asks for."""
    if entry is None:
        return None
    if isinstance(entry, str):
        name, _, number = entry.partition(".")
        given: dict[str, Any] = {}
    else:
        given = dict(entry)
        name = given.pop("name", None)
        number = given.pop("number", "")
        if not isinstance(name, str) or not isinstance(number, str):
            raise UsageError(f"Compare recipe: a table in [compare] must have the key 'name' of the {family}.")
    catalog.build(family, name, given)
    return Measure(name=name, number=number, given=given)


def _expand(table: dict[str, Any], common: list[dict[str, Any]], base: Path) -> Iterator[Setting]:
    """Yield the settings of one table, the last parameter changing fastest."""
    name = table.get("method")
    if not isinstance(name, str):
        raise UsageError("Compare recipe: every [[setting]] must have the key 'method' that names a method.")
    title = table.get("title", "")
    steps = table.get("prepare", [])
    if not isinstance(title, str) or not isinstance(steps, list):
        raise UsageError("Compare recipe: 'title' of a [[setting]] must be text, and 'prepare' a list of tables.")
    # Tables named by @FILE are read before lists are taken for axes.
    given = {key: _filled(value, base) for key, value in table.items() if key not in _OWN_KEYS}
    tables = [("method", name, given), *(_step(step) for step in [*common, *steps])]
    for family, entry, values in tables:
        _check_names(family, entry, values)
    options = [_axes(values) for _, _, values in tables]
    count = 1
    # How many points there are is known before any is made.
    for axis in (values for option in options for values in option.values()):
        count *= len(axis)
    if not 1 <= count <= MOST_SETTINGS:
        raise UsageError(
            f"Compare recipe: a [[setting]] must stand for 1 to {MOST_SETTINGS:,} settings, not {count:,}."
        )
    flat = [(i, key, values) for i, option in enumerate(options) for key, values in option.items()]
    # The product over all axes of method and steps; each point fills one dictionary per part.
    for point in product(*(values for _, _, values in flat)):
        chosen: list[dict[str, Any]] = [{} for _ in tables]
        for (i, key, _), value in zip(flat, point, strict=True):
            chosen[i][key] = value
        yield _setting(title, [(f, n, c) for (f, n, _), c in zip(tables, chosen, strict=True)], len(common))


def _filled(value: Any, base: Path) -> Any:
    """Return a value with the tables read in that words such as ``"@adversaries.csv"`` name."""
    if isinstance(value, list):
        return [_filled(item, base) for item in value]
    return catalog.read_table(value, base) if isinstance(value, str) and value.startswith("@") else value


def _step(table: Any) -> tuple[catalog.Family, str, dict[str, Any]]:
    if not isinstance(table, dict) or not isinstance(table.get("step"), str):
        raise UsageError("Compare recipe: every 'prepare' must be a table with the key 'step' that names it.")
    return "step", table["step"], {key: value for key, value in table.items() if key != "step"}


def _check_names(family: catalog.Family, entry: str, values: Mapping[str, Any]) -> None:
    """Refuse names that do not exist and parameters that are missing: no value of the grid would help."""
    known = catalog.parameters(family, entry)
    names = [p.name for p in known]
    for key in values:
        if key not in names:
            raise ParameterError(
                f"{entry}: there is no parameter {key!r}; known: {', '.join(names) or 'none'}.{closest(key, names)}"
            )
    missing = [p.name for p in known if p.required and p.name not in values]
    if missing:
        raise ParameterError(f"{entry}: {', '.join(missing)} must be given.")


def _axes(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {key: value if isinstance(value, list) else [value] for key, value in values.items()}


def _setting(title: str, chosen: list[tuple[catalog.Family, str, dict[str, Any]]], n_common: int) -> Setting:
    (_, method, given), *steps = chosen
    own = [_words(name, values) for _, name, values in steps[n_common:]]
    name = _words(method, given) + (f" after {', '.join(own)}" if own else "")
    # A value out of range spoils this setting only.
    try:
        configured = tuple(catalog.build("step", entry, values) for _, entry, values in steps)
        built = catalog.build("method", method, given)
        catalog.kinds_needed(configured, built)
    except UsageError as error:
        return Setting(name=name, title=title, steps=(), method=None, wrong=str(error))
    return Setting(name=name, title=title, steps=configured, method=built)


def _words(name: str, given: Mapping[str, Any]) -> str:
    return " ".join([name, *(f"{key}={value_text(v)}" for key, v in given.items() if not isinstance(v, Mapping))])


def _named_apart(settings: list[Setting]) -> tuple[Setting, ...]:
    """Return each setting once, with a name of its own."""
    by_name: dict[Any, Setting] = {}
    names: dict[str, int] = {}
    for setting in settings:
        key = (setting.name, repr(setting.steps), repr(setting.method))
        if key in by_name:
            continue
        times = names[setting.name] = names.get(setting.name, 0) + 1
        name = setting.name if times == 1 else f"{setting.name} ({times})"
        by_name[key] = Setting(
            name=name, title=setting.title, steps=setting.steps, method=setting.method, wrong=setting.wrong
        )
    if len(by_name) > MOST_SETTINGS:
        raise UsageError(
            f"Compare recipe: there are {len(by_name):,} settings; at most {MOST_SETTINGS:,} are compared."
        )
    return tuple(by_name.values())
