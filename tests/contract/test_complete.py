"""Every name that is registered comes with everything that belongs to it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import wayveil
from wayveil.attacks import ATTACKS
from wayveil.methods import METHODS
from wayveil.metrics import METRICS
from wayveil.model import GUARANTEES, parameters_of, plain
from wayveil.steps import STEPS
from wayveil.verifiers import VERIFIERS
from wayveil.workloads import WORKLOADS

ROOT = Path(__file__).parents[2]
SOURCE = Path(wayveil.__file__).parent


def needed() -> list[str]:
    found = []
    for name in METHODS:
        found += [f"src/wayveil/methods/{name}/{name}.py", f"tests/methods/{name}/test_{name}.py",
                  f"tests/golden/{name}", f"docs/methods/{name}.md", f"benchmarks/bench_{name}.py"]  # fmt: skip
    for name in GUARANTEES:
        lower = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        found += [f"src/wayveil/verifiers/{lower}/{lower}_verifier.py",
                  f"tests/verifiers/{lower}/test_{lower}_verifier.py",
                  f"docs/research/guarantees/{lower}.md"]  # fmt: skip
    for registry in (ATTACKS, METRICS):
        for name, cls in registry.items():
            module = Path(inspect.getfile(cls)).relative_to(SOURCE)
            # A module with several metrics has a folder of tests, one file each.
            one = f"tests/{module.parent}/test_{module.name}"
            several = f"tests/{module.with_suffix('')}/test_{name}.py"
            found += [several if (ROOT / several).exists() else one]
    for name in WORKLOADS:
        found += [f"src/wayveil/workloads/{name}.py"]
    for cls in STEPS.values():
        module = Path(inspect.getfile(cls)).relative_to(SOURCE)
        found += [f"tests/{module.parent}/test_{module.name}"]
    return found


@pytest.mark.parametrize("path", needed())
def test_what_belongs_to_a_name_exists(path: str) -> None:
    assert (ROOT / path).exists()
    if (ROOT / path).is_dir():
        assert any((ROOT / path).iterdir())


@pytest.mark.parametrize("name", [*ATTACKS, *METRICS])
def test_an_attack_or_metric_has_a_section_with_its_parameters(name: str) -> None:
    """One page per topic: ``## NAME`` or ``### NAME`` on exactly one page of docs/attacks or docs/metrics."""
    folder, cls = ("attacks", ATTACKS[name]) if name in ATTACKS else ("metrics", METRICS[name])
    texts = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
    sections = [
        found for text in texts for found in re.findall(rf"^#{{2,3}} {name}\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    ]
    assert len(sections) == 1, f"a page of docs/{folder} needs one section headed '## {name}'"
    for row in parameter_rows(cls):
        assert row in sections[0]


def parameter_rows(cls: type) -> list[str]:
    """Return the rows of the table of parameters, as pages show them."""
    rows = []
    for p in parameters_of(cls):
        given = plain(p.default)
        default = "required" if p.required else given if given or given == 0 else "none"
        span = p.range.replace("|", "\\|")
        rows.append(f"| `{p.name}` | {span} | {default} | {p.help} |")
    return rows


@pytest.mark.parametrize("registry", [METHODS, ATTACKS, METRICS, WORKLOADS, STEPS], ids=lambda r: ",".join(r))
def test_names_are_those_of_the_classes(registry: dict[str, type]) -> None:
    assert {name: cls.name for name, cls in registry.items()} == {name: name for name in registry}  # type: ignore[attr-defined]
    assert all(cls.summary for cls in registry.values())  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", METHODS)
def test_the_readme_names_the_method(name: str) -> None:
    rows = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len([row for row in rows if row.startswith("| ") and f"| [`{name}`](docs/methods/{name}.md) |" in row]) == 1


@pytest.mark.parametrize("name", METHODS)
def test_the_page_of_a_method_has_its_parameters(name: str) -> None:
    page = (ROOT / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8")
    assert [row for row in parameter_rows(METHODS[name]) if row not in page] == []


def test_continuous_integration_runs_the_second_command_of_the_readme() -> None:
    commands = (ROOT / "README.md").read_text(encoding="utf-8").split("```")[1::2]
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert run.replace('"$venv"', ".venv").replace('"$venv/bin/pip"', ".venv/bin/pip") == commands[1].strip()


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page != "index.md" and f"]({page})" not in index] == []


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"])
def test_links_between_pages_lead_somewhere(path: str) -> None:
    pages = sorted((ROOT / path).rglob("*.md")) if (ROOT / path).is_dir() else [ROOT / path]
    link_in = re.compile(r"\]\(([^)#:]+)\)")
    texts = [(page, re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)) for page in pages]
    links = [(page, link) for page, text in texts for link in link_in.findall(text)]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def test_every_guarantee_has_a_verifier() -> None:
    assert set(VERIFIERS) == set(GUARANTEES)


def modules() -> list[str]:
    return ["wayveil", *(found.name for found in pkgutil.walk_packages([str(SOURCE)], "wayveil."))]


@pytest.mark.parametrize("name", modules())
def test_all_is_what_is_importable(name: str) -> None:
    module = importlib.import_module(name)
    listed = module.__all__ if hasattr(module, "__all__") else []
    assert len(set(listed)) == len(listed)
    for public in listed:
        assert getattr(module, public) is not None


def test_the_public_names() -> None:
    assert 20 <= len(wayveil.__all__) <= 90
    assert dir(wayveil) == wayveil.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = wayveil.nonsense


LINE = ("recipe", "pipeline", "report", "comparison", "advice", "yardstick", "commands")


def test_rooms_of_the_line_are_small_and_no_file_name_stands_twice() -> None:
    folders = [folder for name in LINE for folder in (SOURCE / name, *(SOURCE / name).rglob("*")) if folder.is_dir()]
    crowded = [str(folder) for folder in folders if len([path for path in folder.iterdir() if path.is_file()]) > 15]
    assert crowded == []
    everywhere = [path.name for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    own = [path.name for name in LINE for path in (SOURCE / name).rglob("*.py") if path.name != "__init__.py"]
    assert [name for name in own if everywhere.count(name) > 1] == []
