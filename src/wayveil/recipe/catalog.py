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
    Boxes,
    Data,
    Guarantee,
    Parameter,
    Progress,
    Sensitive,
    Verdict,
    Verifier,
    parameters_of,
    plain,
)
from wayveil.model.plugins import Group, with_plugins
from wayveil.recipe.verdict_record import JudgedData, keep_judged

__all__ = [
    "Family",
    "advice",
    "build",
    "check_sensitive_values",
    "describe",
    "entries",
    "entry",
    "first_method",
    "kind_of",
    "kind_published",
    "kinds_needed",
    "kinds_of",
    "make_engine",
    "parameters",
    "parse",
    "parse_sensitive",
    "plain_parameters",
    "read_table",
    "verify",
]

Family = Literal["method", "step", "attack", "metric", "workload"]

_REGISTRIES: dict[str, tuple[str, str, Group]] = {
    "method": ("wayveil.methods", "METHODS", "methods"),
    "step": ("wayveil.steps", "STEPS", "steps"),
    "attack": ("wayveil.attacks", "ATTACKS", "attacks"),
    "metric": ("wayveil.metrics", "METRICS", "metrics"),
    "workload": ("wayveil.workloads", "WORKLOADS", "workloads"),
}


def entries(family: Family) -> Mapping[str, type]:
    """Return all classes of a family by name: ours, then those of plug-ins."""
    module, name, group = _REGISTRIES[family]
    # Imported here and not above: the command line asks for names long before it needs a compiler.
    return with_plugins(getattr(import_module(module), name), group)


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
    values = {}
    for key, text in typed.items():
        if key not in known:
            raise ParameterError(_no_parameter(name, key, list(known)))
        texts = [text] if isinstance(text, str) else text
        # A table of groups may stand in a file: @FILE.
        if known[key].kind == "groups" and len(texts) == 1 and texts[0].startswith("@"):
            values[key] = known[key].check(name, read_table(texts[0]))
        else:
            values[key] = known[key].parse(name, text)
    return values


def _no_parameter(name: str, key: str, known: list[str]) -> str:
    return f"{name}: there is no parameter {key!r}; known: {', '.join(known) or 'none'}.{closest(key, known)}"


def read_table(word: str, base: Path | None = None) -> dict[str, list[str]]:
    """Return the groups in the table that a word such as ``@adversaries.csv`` names."""
    from wayveil.io import read_groups

    return read_groups((base or Path()) / word.removeprefix("@"))


def parse_sensitive(typed: list[str]) -> Sensitive:
    """Return attributes and sensitive values from texts like ``diagnosis=HIV,Hepatitis``."""
    sensitive: Sensitive = Parameter(name="sensitive", kind="sensitive", help="").parse("--sensitive", typed)
    return sensitive


def check_sensitive_values(component: str, given: Any) -> Sensitive:
    """Return attributes and sensitive values in their exact form."""
    sensitive: Sensitive = Parameter(name="sensitive", kind="sensitive", help="").check(component, given)
    return sensitive


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


def kind_of(cls: type) -> str:
    """Return the kind of data, as users call it, that a method, attack or metric accepts."""
    accepts: type[Data] = cls.accepts  # type: ignore[attr-defined]
    return accepts.kind


def kinds_of(part: Any) -> tuple[str, ...]:
    """Return all kinds of data that a method or a step accepts, the usual one first."""
    return (part.accepts.kind, *(kind.kind for kind in part.accepts_also))


def kind_published(method: Any) -> str:
    """Return the kind of data that a configured method publishes."""
    publishes: type[Data] = method.publishes
    return publishes.kind


def kinds_needed(steps: Sequence[Any], method: Any) -> tuple[str, ...]:
    """Return the kinds of data that can go through all steps into the method; UsageError if there is none.

    Examples
    --------
    >>> kinds_needed((), build("method", "kcl", {"k": 2, "l": 2}))
    ('visits', 'trips')
    """
    # Data go through the chain of steps; a kind fits if every part takes what the part before it gives.
    first = steps[0] if steps else method
    stuck: list[UsageError] = []
    fitting: list[str] = []
    # The first error is that of the usual kind, which is the one worth telling.
    for kind in kinds_of(first):
        try:
            _follow(kind, steps, method)
        except UsageError as error:
            stuck.append(error)
        else:
            fitting.append(kind)
    if not fitting:
        raise stuck[0]
    return tuple(fitting)


def _follow(kind: str, steps: Sequence[Any], method: Any) -> None:
    """Refuse steps and a method that do not fit each other, for data of a kind that the first of them accepts."""
    for part in (*steps, method):
        accepted = kinds_of(part)
        if kind not in accepted:
            raise UsageError(
                f"{part.name} needs {' or '.join(accepted)}, but what comes before it gives {kind}."
                f"{advice(kind, accepted[0])}"
            )
        if part is not method:
            kind = part.gives.kind if kind == accepted[0] else _kind_from(part, kind)


def kind_after(kind: str, steps: Sequence[Any]) -> str:
    """Return what steps make of a kind that the first of them accepts.

    Examples
    --------
    >>> kind_after("points", (build("step", "grid", {"cell": 500, "bucket": "1h"}),))
    'visits'
    """
    for step in steps:
        kind = step.gives.kind if kind == kinds_of(step)[0] else _kind_from(step, kind)
    return kind


def _kind_from(step: Any, kind: str) -> str:
    """Return what a step makes of a kind of `accepts_also`."""
    kind_made: type[Data] | None = step.also_gives.get(kind)
    return kind if kind_made is None else kind_made.kind


def advice(kind: str, needed: str) -> str:
    """Return a sentence on how to make one kind of data of another, or nothing."""
    steps = {
        ("points", "visits"): "grid makes visits",
        ("points", "routes"): "match makes routes",
        ("points", "stops"): "stops makes stops",
        ("trips", "visits"): "ends makes visits",
    }
    step = steps.get((kind, needed))
    return "" if step is None else f" The step {step} of {kind}."


def verify(published: Data, claim: Guarantee, original: Data | None = None, boxes: Boxes | None = None) -> Verdict:
    """Judge data against a claim.

    `original` is for claims that speak of it, trajectory by trajectory; `boxes` are those from which published points
    were drawn, if they were.
    """
    from wayveil.verifiers import VERIFIERS

    # A verifier that judges the truth gets it; others never see the original.
    more: dict[str, Any] = {"original": original} if claim.about_truth else {}
    if boxes is not None:
        more["boxes"] = boxes
    verifiers: Mapping[str, Verifier] = with_plugins(VERIFIERS, "verifiers")
    if claim.name not in verifiers:
        raise UsageError(f"There is no verifier of the claim {claim.name}, so nothing can be said of it.")
    verdict = verifiers[claim.name](published, claim, **more)
    true_data = more.get("original")
    # `verify --by-definition` judges the very same data again.
    keep_judged(JudgedData(published=published, claim=claim, original=true_data, boxes=boxes, verdict=verdict))
    return verdict


def describe(name: str) -> dict[str, Any]:
    """Return what a person or a program wants to know of a method before using it.

    A claim has numbers in it, so promise and attackers are those of an example configuration, which is given too.
    """
    cls: Any = entry("method", name)
    known = parameters_of(cls)
    # A share of 100 % promises nothing, so an example has another one.
    example = {p.name: _example(p) for p in known if p.required or p.kind == "sensitive" or _is_everything(p)}
    claim = cls(**example).claim
    return {
        "name": name,
        "summary": cls.summary,
        "accepts": kind_of(cls),
        "accepts_also": list(kinds_of(cls)[1:]),
        "publishes": kind_published(cls),
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


def first_method(claim: str) -> str:
    """Return the method that is taken where somebody asks for a claim: the first one that makes it.

    Examples
    --------
    >>> first_method("KDelta")
    'nwa'
    """
    for name in entries("method"):
        if describe(name)["claim"] == claim:
            return name
    raise UsageError(f"There is no method that makes the claim {claim}.")


# A share of 1 bounds nothing, so an example promises half.
def _is_everything(p: Parameter) -> bool:
    return p.kind == "fraction" and not p.required and p.default == 1


def _example(p: Parameter) -> Any:
    if p.kind == "int":
        return int(max(3 if p.high is None else min(3, p.high), p.low or 0))
    if p.kind == "number":
        return max(100 if p.high is None or p.high >= 100 else min(1, p.high), p.low or 0)
    if p.kind == "text":
        return "TEXT"
    if p.kind == "fraction":
        return "0.5"
    if p.kind == "choice":
        return p.choices[0]
    if p.kind == "duration":
        return "1h"
    return {"NAME": ["VALUE"]} if p.kind == "groups" else {"ATTRIBUTE": ["VALUE"]}
