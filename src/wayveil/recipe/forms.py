"""What a form needs to ask for a method or a preparation step: the catalog with every declared limit."""

from __future__ import annotations

from typing import Any

from wayveil.model import Parameter, plain
from wayveil.recipe import catalog

__all__ = ["claim_words", "method_forms", "step_forms"]

_UNITS = (("km/h", "km/h"), ("metres", "m"), ("degrees", "degrees"))


def method_forms() -> list[dict[str, Any]]:
    """Return every method: what it promises, against whom, what it needs, and its parameters.

    Examples
    --------
    >>> kcl = next(form for form in method_forms() if form["name"] == "kcl")
    >>> kcl["accepts"], [p["name"] for p in kcl["parameters"]][:3], kcl["parameters"][0]["kind"]
    ('visits', ['k', 'c', 'l'], 'int')
    """
    return [
        {**catalog.describe(name), "needs": None, "parameters": [_field(p) for p in catalog.parameters("method", name)]}
        for name in catalog.entries("method")
    ]


def claim_words(configured: Any, *, each_trajectory: bool = False) -> dict[str, Any]:
    """Return what a configured method promises, against whom, and against whom not.

    With `each_trajectory`, the promise tells that the publisher declared each to be another person.

    Examples
    --------
    >>> words = claim_words(catalog.build("method", "nwa", {"k": 5, "delta": 100}))
    >>> "5" in words["promise"], sorted(words)
    (True, ['covered', 'not_covered', 'promise'])
    """
    claim = configured.claim
    promise = claim.statement("declared" if each_trajectory else "given")
    return {"promise": promise, "covered": list(claim.covered), "not_covered": list(claim.not_covered)}


def step_forms() -> list[dict[str, Any]]:
    """Return every preparation step: the kinds of data it takes and gives, what else it needs, and its parameters.

    Examples
    --------
    >>> grid = next(form for form in step_forms() if form["name"] == "grid")
    >>> grid["accepts"], grid["returns"], grid["needs"]
    ('points', 'visits', None)
    """
    return [_step(name, cls) for name, cls in catalog.entries("step").items()]


def _step(name: str, cls: Any) -> dict[str, Any]:
    needs = [what for what, is_needed in (("network", cls.needs_network), ("places", cls.needs_places)) if is_needed]
    return {
        "name": name,
        "summary": cls.summary,
        "accepts": catalog.kind_of(cls),
        "accepts_also": list(catalog.kinds_of(cls)[1:]),
        "returns": cls.gives.kind,
        "needs": needs[0] if needs else None,
        "parameters": [_field(p) for p in catalog.parameters("step", name)],
    }


def _field(p: Parameter) -> dict[str, Any]:
    return {
        "name": p.name,
        "kind": p.kind,
        "required": p.required,
        "default": None if p.required else plain(p.default),
        "low": p.low if p.kind in ("int", "number", "fraction") else None,
        "high": 1 if p.kind == "fraction" and p.high is None else p.high,
        "choices": list(p.choices),
        # The unit of a number stands in its help text; forms show it beside the field.
        "unit": next((unit for word, unit in _UNITS if p.kind in ("int", "number") and word in p.help), None),
        "help": p.help,
        "why": p.why,
        "range": p.range,
    }
