"""What there is, by name: methods, preparation steps, attacks, metrics, workloads and verifiers.

The command line, the recipe and the report ask here.  The packages are imported when they are first asked for, so
that ``wayveil --help`` does not wait for the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from wayveil.errors import ParameterError, UsageError, closest
from wayveil.model import (
    Data,
    Guarantee,
    Parameter,
    Points,
    Progress,
    Regions,
    Routes,
    Sensitive,
    Stops,
    Verdict,
    Visits,
    parameters_of,
    plain,
)

__all__ = [
    "Family",
    "Kind",
    "advice",
    "build",
    "describe",
    "entries",
    "entry",
    "kind_needed",
    "kind_of",
    "kind_of_data",
    "kind_published",
    "make_engine",
    "parameters",
    "parse",
    "parse_sensitive",
    "plain_parameters",
    "read_table",
    "rows_word",
    "verify",
]

Family = Literal["method", "step", "attack", "metric", "workload"]

_REGISTRIES: dict[str, tuple[str, str]] = {
    "method": ("wayveil.methods", "METHODS"),
    "step": ("wayveil.prepare", "STEPS"),
    "attack": ("wayveil.attacks", "ATTACKS"),
    "metric": ("wayveil.utility", "METRICS"),
    "workload": ("wayveil.workloads", "WORKLOADS"),
}
Kind = Literal["visits", "points", "regions", "routes", "stops"]

_KINDS: dict[type, Kind] = {Visits: "visits", Points: "points", Regions: "regions", Routes: "routes", Stops: "stops"}
_ROWS = {"visits": "visits", "points": "points", "regions": "boxes", "routes": "roads", "stops": "stops"}


def entries(family: Family) -> Mapping[str, type]:
    """Return all classes of a family by name."""
    module, name = _REGISTRIES[family]
    found: Mapping[str, type] = getattr(import_module(module), name)
    return found


def entry(family: Family, name: str) -> type:
    """Return one class by name; UsageError with a suggestion if there is none."""
    known = entries(family)
    if name not in known:
        raise UsageError(
            f"There is no {family} {name!r}; known: {', '.join(sorted(known))}.{closest(name, list(known))}"
        )
    return known[name]


def build(family: Family, name: str, given: Mapping[str, Any]) -> Any:
    """Return a configured method, step, attack, metric or workload; every value is checked.

    Examples
    --------
    >>> build("method", "kcl", {"k": 2, "c": 0.6, "l": 2}).claim.c
    Fraction(3, 5)
    """
    cls = entry(family, name)
    known = parameters_of(cls)
    names = [p.name for p in known]
    for key in given:
        if key not in names:
            raise ParameterError(_no_parameter(name, key, names))
    missing = [p.name for p in known if p.required and p.name not in given]
    if missing:
        raise ParameterError(f"{name}: {', '.join(missing)} must be given.")
    return cls(**given)


def parameters(family: Family, name: str) -> tuple[Parameter, ...]:
    """Return the declared parameters of one entry."""
    return parameters_of(entry(family, name))


def parse(family: Family, name: str, typed: Mapping[str, str | list[str]]) -> dict[str, Any]:
    """Return parameter values from what a person typed, exact and checked.

    Examples
    --------
    >>> parse("method", "kcl", {"k": "2", "c": "0.6"})
    {'k': 2, 'c': Fraction(3, 5)}
    """
    known = {p.name: p for p in parameters(family, name)}
    found = {}
    for key, text in typed.items():
        if key not in known:
            raise ParameterError(_no_parameter(name, key, list(known)))
        texts = [text] if isinstance(text, str) else text
        if known[key].kind == "groups" and len(texts) == 1 and texts[0].startswith("@"):
            found[key] = known[key].check(name, read_table(texts[0]))
        else:
            found[key] = known[key].parse(name, text)
    return found


def _no_parameter(name: str, key: str, known: list[str]) -> str:
    return f"{name}: there is no parameter {key!r}; known: {', '.join(known) or 'none'}.{closest(key, known)}"


def read_table(word: str, base: Path | None = None) -> dict[str, list[str]]:
    """Return the groups in the table that a word such as ``@adversaries.csv`` names."""
    from wayveil.io import read_groups

    return read_groups((base or Path()) / word.removeprefix("@"))


def parse_sensitive(typed: list[str]) -> Sensitive:
    """Return attributes and sensitive values from texts like ``diagnosis=HIV,Hepatitis``."""
    found: Sensitive = Parameter(name="sensitive", kind="sensitive", help="").parse("--sensitive", typed)
    return found


def make_engine(
    name: str = "local",
    progress: Progress | None = None,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    insecure: bool = False,
) -> Any:
    """Return an engine by name, as a context manager; `scheduler` is the address of a cluster that is running.

    `insecure` accepts one that is reached without TLS.
    """
    from wayveil.engines import DaskEngine, LocalEngine

    given: dict[str, Any] = {} if progress is None else {"progress": progress}
    if workers is not None:
        given["workers"] = workers
    if name == "dask":
        return DaskEngine(scheduler=scheduler, insecure=insecure, **given)
    if name != "local":
        raise UsageError(f"There is no engine {name!r}; known: local, dask.")
    if scheduler is not None:
        raise UsageError("A scheduler is of use with --engine dask or --engine auto only.")
    return LocalEngine(**given)


def plain_parameters(configured: Any) -> dict[str, Any]:
    """Return the parameters of a configured object as JSON can hold them."""
    return {p.name: plain(getattr(configured, p.name)) for p in parameters_of(type(configured))}


def kind_of(cls: type) -> Kind:
    """Return the kind of data, as users call it, that a method, attack or metric accepts."""
    return _KINDS[cls.accepts]  # type: ignore[attr-defined]


def kind_published(method: Any) -> Kind:
    """Return the kind of data that a configured method publishes."""
    return _KINDS[method.publishes]


def kind_of_data(data: Data) -> Kind:
    """Return the kind of some data, as users call it."""
    return _KINDS[type(data)]


def rows_word(data: Data) -> str:
    """Return what the rows of some data are called: visits, points or boxes."""
    return _ROWS[kind_of_data(data)]


def kind_needed(steps: Sequence[Any], method: Any) -> Kind:
    """Return the kind of data that the first step needs, or the method; UsageError if one does not fit the next."""
    kind = None
    for part in (*steps, method):
        accepted = kind_of(type(part))
        if kind is not None and kind != accepted:
            raise UsageError(
                f"{part.name} needs {accepted}, but what comes before it gives {kind}.{advice(kind, accepted)}"
            )
        kind = _KINDS[getattr(part, "gives", part.accepts)]
    first = steps[0] if steps else method
    return kind_of(type(first))


def advice(kind: str, needed: str) -> str:
    """Return a sentence on how to make one kind of data of another, or nothing."""
    steps = {
        ("points", "visits"): "grid makes visits",
        ("points", "routes"): "match makes routes",
        ("points", "stops"): "stops makes stops",
    }
    made = steps.get((kind, needed))
    return "" if made is None else f" The step {made} of points."


def verify(published: Data, claim: Guarantee, original: Data | None = None, boxes: Regions | None = None) -> Verdict:
    """Judge data against a claim.

    `original` is for claims that speak of it, trajectory by trajectory; `boxes` are those from which published points
    were drawn, if they were.
    """
    from wayveil.verify import VERIFIERS

    more: dict[str, Any] = {"original": original} if claim.about_truth else {}
    if boxes is not None:
        more["boxes"] = boxes
    return VERIFIERS[claim.name](published, claim, **more)


def describe(name: str) -> dict[str, Any]:
    """Return what a person or a program wants to know of a method before using it.

    A claim has numbers in it, so promise and attackers are those of an example configuration, which is given too.
    """
    cls: Any = entry("method", name)
    known = parameters_of(cls)
    example = {p.name: _example(p) for p in known if p.required or p.kind == "sensitive"}
    claim = cls(**example).claim
    return {
        "name": name,
        "summary": cls.summary,
        "accepts": kind_of(cls),
        "publishes": _KINDS[cls.publishes],
        "claim": claim.name,
        "example": {key: plain(p.check(name, example[key])) for p in known if (key := p.name) in example},
        "promise": claim.promise,
        "covered": list(claim.covered),
        "not_covered": list(claim.not_covered),
        "parameters": [
            {
                "name": p.name,
                "range": p.range,
                "required": p.required,
                "default": None if p.required else plain(p.default),
                "help": p.help,
            }
            for p in known
        ],
    }


def _example(p: Parameter) -> Any:
    if p.kind == "int":
        return int(max(3 if p.high is None else min(3, p.high), p.low or 0))
    if p.kind == "number":
        return max(100 if p.high is None else min(100, p.high), p.low or 0)
    if p.kind == "text":
        return "TEXT"
    if p.kind == "fraction":
        return "0.5"
    if p.kind == "choice":
        return p.choices[0]
    if p.kind == "duration":
        return "1h"
    return {"NAME": ["VALUE"]} if p.kind == "groups" else {"ATTRIBUTE": ["VALUE"]}
