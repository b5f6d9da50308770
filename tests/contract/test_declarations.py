"""What is declared once: the protocols say all that may be asked, and lists that are kept by hand miss nothing."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

import wayveil
from wayveil.attacks import ATTACKS
from wayveil.kernels.common.warm import JOBS
from wayveil.methods import METHODS
from wayveil.metrics import METRICS
from wayveil.model import GUARANTEES, Attack, Claim, Method, Metric, Step, Workload, parameters_of
from wayveil.recipe import catalog
from wayveil.steps import STEPS
from wayveil.workloads import WORKLOADS

SOURCE = Path(wayveil.__file__).parent
FRONTEND = Path(__file__).parents[2] / "frontend" / "src"
BASES: list[tuple[Any, dict[str, Any]]] = [
    (Method, METHODS),
    (Step, STEPS),
    (Attack, ATTACKS),
    (Metric, METRICS),
    (Workload, WORKLOADS),
    (Claim, GUARANTEES),
]


def declared(base: type) -> set[str]:
    """Return every public name that a base class has or announces."""
    classes = base.__mro__[:-1]
    announced = {name for cls in classes for name in vars(cls).get("__annotations__", {})}
    return {name for name in announced | set(dir(base)) if not name.startswith("_")}


def configured(name: str) -> Any:
    """Return a method as `wayveil methods` shows it."""
    return catalog.build("method", name, catalog.describe(name)["example"])


@pytest.mark.parametrize(("base", "registry"), BASES, ids=lambda value: getattr(value, "__name__", ""))
def test_everything_is_made_of_its_base_class(base: type, registry: dict[str, Any]) -> None:
    for cls in registry.values():
        assert issubclass(cls, base)
        assert dataclasses.is_dataclass(cls)
        assert cls.__dataclass_params__.frozen


def test_run_is_inherited() -> None:
    assert {cls.run for cls in ATTACKS.values()} == {Attack.run}
    assert {cls.run for cls in METRICS.values()} == {Metric.run}


def test_nothing_that_a_protocol_declares_is_looked_for() -> None:
    """``hasattr(method, "name")`` or ``getattr(method, "name", default)`` would make a second, hidden protocol."""
    names = {name for base, _ in BASES for name in declared(base)}
    names |= {p.name for base, registry in BASES if base is not Workload for cls in registry.values()
              for p in parameters_of(cls)}  # fmt: skip
    found = []
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            looks = call.func.id == "hasattr" or (call.func.id == "getattr" and len(call.args) == 3)
            if looks and isinstance(call.args[1], ast.Constant) and call.args[1].value in names:
                found.append(f"{path.relative_to(SOURCE)}: {call.args[1].value}")
    # What another package hands over may lack anything.
    assert sorted(found) == ["model/plugins.py: name", "model/plugins.py: summary"]


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_added_up_over_pieces_can_be(name: str) -> None:
    cls: Any = ATTACKS[name]
    joins = cls.join_queries is not Attack.join_queries
    assert joins == cls.additive
    if cls.additive:
        assert "victims" in {p.name for p in parameters_of(cls)}
    assert cls.asks is None or cls.asks in {p.name for p in parameters_of(cls)}


@pytest.mark.parametrize("name", METHODS)
def test_jobs_and_settings_of_a_method_exist(name: str) -> None:
    method = configured(name)
    assert set(method.kernels) <= set(JOBS)
    for metric, settings in method.metric_settings.items():
        assert catalog.build("metric", metric, settings)


@pytest.mark.parametrize("name", GUARANTEES)
def test_every_claim_has_a_headline_and_a_method(name: str) -> None:
    method = configured(catalog.first_method(name))
    assert method.claim.name == name
    promised = method.claim.to_json()
    assert any(number.promised in promised for number in method.claim.quantities.values())
    assert method.claim.public_numbers
    declared = {*method.claim.quantities}
    for public in method.claim.public_numbers:
        assert public in declared or public.rpartition("_")[0] in declared


def test_the_page_begins_somewhere_with_everything_that_must_be_given() -> None:
    text = (FRONTEND / "suggestions.ts").read_text(encoding="utf-8")
    suggested = {
        name: set(re.findall(r"(\w+):", values)) for name, values in re.findall(r"^  (\w+): \{(.*)\},$", text, re.M)
    }
    for registry in (METHODS, STEPS):
        for name, cls in registry.items():
            kinds = ("int", "number", "fraction", "duration", "choice")
            needed = {p.name for p in parameters_of(cls) if p.required and p.kind in kinds}
            assert needed <= suggested.get(name, set()), name
    assert set(suggested) <= {*METHODS, *STEPS}


def test_the_page_has_words_for_every_method() -> None:
    order = re.search(r"export const order = \[(.*?)\]", (FRONTEND / "suggestions.ts").read_text(encoding="utf-8"))
    outcome = re.search(r"outcome: \{(.*?)\} as", (FRONTEND / "texts/choices.ts").read_text(encoding="utf-8"), re.S)
    assert order is not None
    assert outcome is not None
    assert set(re.findall(r'"(\w+)"', order.group(1))) == set(METHODS)
    assert set(re.findall(r"^\s*(\w+):", outcome.group(1), re.M)) == set(METHODS)
