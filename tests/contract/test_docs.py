"""The documentation: what is generated is up to date, what is linked exists, and what is shown runs."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shutil
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import wayveil
from wayveil.steps import STEPS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "research" / "notebooks").glob("*.ipynb"))
SHOWN = [DOCS / "research" / "own-method.md"]
"""Pages whose Python code is run as it stands."""
TOOLS = Path(sys.executable).parent
MACHINE = re.compile(r"/(?:home|root|tmp|work|Users)/|site-packages")


def script(name: str) -> ModuleType:
    """Return a program of scripts/ as a module."""
    loader = SourceFileLoader(f"script_{name.replace('-', '_')}", str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = keep
    return module


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    lines = "".join(cell["source"]).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("%", "!")))


def test_the_api_reference_is_up_to_date() -> None:
    written = (DOCS / "research" / "api.md").read_text(encoding="utf-8")
    assert written == script("api-reference").text(), "run  .venv/bin/python scripts/api-reference"


def test_pages_show_the_promises_and_parameters_of_the_code() -> None:
    tables = script("doc-tables")
    assert [page.name for page, _ in tables.stale()] == [], "run  .venv/bin/python scripts/doc-tables"
    shown = {(kind, name) for page in DOCS.rglob("*.md") for _, kind, name, _ in tables.BLOCK.findall(page.read_text())}
    assert {name for kind, name in shown if kind == "promise"} == set(wayveil.METHODS)
    assert {name for kind, name in shown if kind == "parameters"} >= {*wayveil.METHODS, *STEPS}


def test_the_figures_show_what_the_methods_publish() -> None:
    for name, drawn in script("method-figures").figures():
        written = (DOCS / "methods" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert written == drawn, f"{name}.svg: run  .venv/bin/python scripts/method-figures"


def test_the_types_of_the_page_are_those_of_the_results() -> None:
    written = (ROOT / "frontend/src/visual/results.ts").read_text(encoding="utf-8")
    assert written == script("results-types").text(), "run  .venv/bin/python scripts/results-types"


def test_the_page_and_what_draws_are_within_their_budget() -> None:
    """Below 900 kB, and 280 kB compressed, all scripts of the page together; the report has the largest of them."""
    built = [ROOT / "src/wayveil/report/visual/visual.js", *(ROOT / "src/wayveil/web/static/assets").glob("*.js")]
    contents = [path.read_bytes() for path in built]
    assert len(contents) == 2
    assert sum(map(len, contents)) < 900_000
    assert sum(len(gzip.compress(content, 9)) for content in contents) < 280_000
    assert not any(re.search(rb"\beval\(|new Function\(|new Worker\(", content) for content in contents)


def test_the_api_reference_has_every_public_name() -> None:
    page = (DOCS / "research" / "api.md").read_text(encoding="utf-8")
    assert [name for name in wayveil.__all__ if name != "__version__" and f"### `{name}`\n" not in page] == []


def test_every_page_is_in_the_navigation() -> None:
    docs = script("docs")
    listed = list(docs.pages_in(docs.nav_of((DOCS / "index.md").read_text(encoding="utf-8"))))
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *docs.PAGES_OUTSIDE])  # and none of them twice


def test_the_navigation_of_an_index() -> None:
    docs = script("docs")
    index = """# Title
## First
Text with a [link](c.md).
| page | what |
|---|---|
| [A](a.md) | see [b](x/b.md) |
| Group: of pages | [B](x/b.md), [C](../C.md) |
## Second
"""
    first = [{"A": "a.md"}, {"b": "x/b.md"}, {"Group": [{"B": "x/b.md"}, {"C": "C.md"}]}]
    assert docs.nav_of(index) == [{"Wayveil": "index.md"}, {"First": first}, {"Second": []}]
    assert docs.toml(first[:1]) == '[{ "A" = "a.md" }]'


def test_the_site_has_no_link_that_leads_nowhere(tmp_path: Path) -> None:
    assert script("docs").stage(tmp_path) == []


@pytest.mark.skipif(not (TOOLS / "zensical").exists(), reason="the extra `docs` is not installed")
def test_the_site_is_built(tmp_path: Path) -> None:
    assert script("docs").build(tmp_path, TOOLS) == []
    assert (tmp_path / "build" / "site" / "publish" / "gps.html").exists()


def test_broken_links_and_missing_pages_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = script("docs")
    root = tmp_path / "root"
    (root / "docs" / "x").mkdir(parents=True)
    shutil.copy(ROOT / "zensical.toml", root)
    for name in docs.PAGES_OUTSIDE:
        (root / name).write_text("[page](docs/x/b.md#part)\n", encoding="utf-8")
    (root / "recipes").mkdir()
    (root / "recipes" / "r.toml").write_text("", encoding="utf-8")
    rows = "\n".join(f"| [{name}]({name}) | |" for name in ("x/b.md", *(f"../{page}" for page in docs.PAGES_OUTSIDE)))
    (root / "docs" / "index.md").write_text(f"## All\n{rows}\n", encoding="utf-8")
    (root / "docs" / "x" / "b.md").write_text(
        "[up](../../CONTRIBUTING.md) [file](../../recipes/r.toml) [gone](gone.md) [out](http://a.b)\n"
        "```\n[code](nothing.md)\n```\n",
        encoding="utf-8",
    )
    (root / "docs" / "lost.md").write_text("text\n", encoding="utf-8")
    monkeypatch.setattr(docs, "ROOT", root)
    work = tmp_path / "work"
    assert sorted(docs.stage(work)) == [
        "docs/lost.md is not in docs/index.md",
        "docs/x/b.md: gone.md leads to no file",
    ]
    staged = (work / "docs" / "x" / "b.md").read_text(encoding="utf-8")
    assert "[up](../CONTRIBUTING.md) [file](../files/recipes/r.toml)" in staged
    assert "[code](nothing.md)" in staged
    assert (work / "docs" / "files" / "recipes" / "r.toml").exists()
    assert (work / "docs" / "CONTRIBUTING.md").read_text(encoding="utf-8") == "[page](x/b.md#part)\n"


def test_what_a_page_would_load_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "here.css").write_text("", encoding="utf-8")
    (tmp_path / "page.html").write_text(
        '<link rel="stylesheet" href="here.css"><link rel="canonical" href="https://a.b/">'
        '<link rel="stylesheet" href="https://a.b/x.css"><script src="//a.b/x.js"></script>'
        '<img src="data:image/png;base64,AA"><a href="https://a.b/">out</a><a href="gone.html#x">gone</a>'
        '<h2 id="here">Here</h2><a href="#here">h</a><a href="page.html#lost">l</a><a href="here.css#any">a</a>',
        encoding="utf-8",
    )
    assert script("docs").faults_of(tmp_path) == [
        "page.html would load https://a.b/x.css",
        "page.html would load //a.b/x.js",
        "page.html links to gone.html#x, which is not there",
        "page.html links to page.html#lost, and the page has no such heading",
    ]


def test_there_is_a_notebook_for_every_kind_of_data() -> None:
    assert {notebook.stem for notebook in NOTEBOOKS} == {"points", "routes", "stops", "visits"}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_executed_and_its_page_shows_it(notebook: Path) -> None:
    code = cells(notebook, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any(cell["outputs"] for cell in code)
    assert not any(output["output_type"] == "error" for cell in code for output in cell["outputs"])
    assert MACHINE.search(json.dumps([cell["outputs"] for cell in code])) is None
    page = notebook.with_suffix(".md").read_text(encoding="utf-8")
    for cell in [*code, *cells(notebook, "markdown")]:
        assert "".join(cell["source"]) in page


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run([source(cell) for cell in cells(notebook, "code")], tmp_path, monkeypatch)


@pytest.mark.parametrize("page", SHOWN, ids=lambda path: path.stem)
def test_the_python_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(wayveil.METHODS)
    try:
        run(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), tmp_path, monkeypatch)
    finally:  # a page may register a method of its own
        wayveil.METHODS.clear()
        wayveil.METHODS.update(before)


def run(sources: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if any("geopandas" in text or "pandas" in text for text in sources):
        pytest.importorskip("geopandas")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": "shown"}
    with pl.Config():  # notebooks set how tables are shown
        for text in sources:
            exec(compile(text, "shown", "exec", dont_inherit=True), names)


def test_the_glossary_defines_each_word_once() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = [line.split("|")[1].strip() for line in page.splitlines() if re.match(r"\| (?!word \|)", line)]
    assert len(set(words)) == len(words)
    assert {"span", "piece", "block", "part", "share", "slice", "class", "group"} <= set(words)


@pytest.mark.parametrize("page", ["docs/research/architecture.md", "CONTRIBUTING.md"])
def test_every_path_that_is_named_exists(page: str) -> None:
    """Files and folders in backticks are below the root, the source, a package of it, or a folder of a package."""
    named = re.findall(r"`([\w./-]+(?:\.py|/))`", (ROOT / page).read_text(encoding="utf-8"))
    homes = [ROOT, ROOT / "tests", *(path for path in (ROOT / "src/wayveil").rglob("*") if path.is_dir())]
    homes.append(ROOT / "src/wayveil")
    missing = [name for name in named if not any((home / name).exists() for home in homes)]
    written = {"OUT/", "OUT/public/", "OUT/private/", "public/", "private/", "build/", "utils.py"}
    assert [name for name in missing if name not in written and "NAME" not in name and "<" not in name] == []
    assert len(named) > 10


@pytest.mark.parametrize(
    "script", [".ci/run", *sorted(f"scripts/{path.name}" for path in (ROOT / "scripts").iterdir())]
)
def test_every_path_that_a_script_names_exists(script: str) -> None:
    """A script that names files that were moved away runs nothing, and nobody notices until it is needed."""
    text = (ROOT / script).read_text(encoding="utf-8")
    named = re.findall(r"(?<![\w./-])(?:tests|src|scripts|docs|frontend|benchmarks|recipes)/[\w./-]*\w", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_hostile_script_runs_all_that_forge_or_kill() -> None:
    text = (ROOT / "scripts/hostile").read_text(encoding="utf-8")
    hurting = sorted(path.name for path in (ROOT / "tests/contract").glob("test_hostile*.py"))
    assert len(hurting) >= 2
    assert [name for name in [*hurting, "tests/web/server"] if name not in text] == []


def test_every_package_is_in_the_tree_of_the_architecture() -> None:
    text = (ROOT / "docs" / "research" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (ROOT / "src" / "wayveil").glob("*/__init__.py")}
    assert {name for name in packages if f"| `{name}/` |" not in text} == set()


GENERATED = re.compile(r"<!-- (?:promise|parameters): \w+ -->.*?<!-- end -->", re.DOTALL)
SOURCES = re.compile(r"```|`wayveil |recipes/|benchmarks/|research/|\b(?:19|20)\d\d\)")
"""What tells where a number comes from: a command, a recipe, a benchmark, a page of research, a paper."""
EXPLAINED = {
    "everybody.md: continuity", "positions.md: Numbers that these attacks share",
    "visits.md: Numbers that these attacks share", "visits.md: known_visits", "data.md: Points and coordinates",
    "limits.md: Groups reveal things, too", "promises.md: How people are counted", "report.md: Words",
    "risk.md: The numbers",
    "kcl.md: Parameters", "counts.md: count_error", "patterns.md: clustering_agreement",
    "trips.md: Origin-destination flows", "trips.md: Lengths and durations", "advise.md: How loss is measured",
    "conclusions.md: Sentences you should not write",
}  # fmt: skip
"""Sections whose shares are examples, definitions or quoted from a linked page: nothing was measured for them."""


def pages_for_users() -> dict[Path, str]:
    """Return the pages outside of research, without what is generated from the code."""
    pages = [page for page in sorted(DOCS.rglob("*.md")) if "research" not in page.relative_to(DOCS).parts]
    return {page: GENERATED.sub("", page.read_text(encoding="utf-8")) for page in pages}


def test_every_measured_share_says_where_it_comes_from() -> None:
    unsourced = set()
    for page, text in {**pages_for_users(), ROOT / "README.md": (ROOT / "README.md").read_text("utf-8")}.items():
        for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
            title = section.partition("\n")[0].lstrip("# ").replace("`", "")
            measured = re.search(r"\d %", re.sub(r"`[^`]*`", "", section))
            if measured and not SOURCES.search(section):
                unsourced.add(f"{page.name}: {title}")
    assert unsourced - EXPLAINED == set(), "name the command, recipe, benchmark or research page of these numbers"
    assert EXPLAINED - unsourced == set(), "these sections name a source by now: take them off the list"


def test_the_pages_for_users_stay_a_book_that_can_be_read() -> None:
    """About 40 pages and 50,000 words; tables of parameters and promises come from the code and are not counted."""
    pages = pages_for_users()
    texts = [re.sub(r"```.*?```|\|", " ", text, flags=re.DOTALL) for text in pages.values()]
    words = sum(len(re.findall(r"[^\s:-]\S*", text)) for text in texts)
    assert len(pages) <= 52
    assert words <= 52_000
