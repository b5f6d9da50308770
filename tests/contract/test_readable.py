"""What makes the source easy to read does not get worse: the measures that `scripts/measures` prints."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "measures"


@pytest.fixture(scope="module")
def measures() -> Any:
    """The script as a module."""
    spec = spec_from_loader("measures", SourceFileLoader("measures", str(SCRIPT)))
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules["measures"] = module  # where dataclasses look for the names in annotations
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def modules(measures: Any) -> Any:
    """All files of the package."""
    return measures.read_modules()


def test_folders_are_small_and_no_file_name_stands_in_two(measures: Any, modules: Any) -> None:
    assert {folder: n for folder, n in measures.count_files(modules).items() if n > 15} == {}
    assert measures.find_shared_names(modules) == {}


def test_names_are_nouns(measures: Any, modules: Any) -> None:
    """A name says what a thing is, not that something happened to it; there were 720 such names."""
    bindings = [f"{module.shown}:{entry}" for module in modules for entry in measures.find_participles(module)]
    assert len(bindings) <= 10, bindings


def test_kinds_of_data_are_told_apart_in_few_places(measures: Any, modules: Any) -> None:
    kinds = measures.find_kinds(modules)
    assert {"Visits", "Points", "Boxes", "Routes", "Stops"} <= kinds
    assert len([module.shown for module in modules if len(measures.list_kinds(module, kinds)) >= 3]) <= 10
    assert sum(len(measures.find_kind_checks(module, kinds)) for module in modules) < 20


def test_statements_stand_alone_and_nothing_is_imported_in_circles(measures: Any, modules: Any) -> None:
    lines = sum(module.lines for module in modules)
    assert 1000 * sum(len(measures.find_tuple_assignments(module)) for module in modules) < 5 * lines
    names = {module.name for module in modules}
    graph = {module.name: measures.find_imports(module, names, everywhere=False) for module in modules}
    assert measures.find_cycles(graph) == []


def test_loops_and_rules_are_explained(measures: Any, modules: Any) -> None:
    """There were 10.6 comments per 1,000 lines.  One that says nothing is worse than none, so 60 is not forced."""
    lines = sum(module.lines for module in modules)
    assert 1000 * sum(module.comments for module in modules) >= 50 * lines
