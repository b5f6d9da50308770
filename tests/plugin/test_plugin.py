"""A package of somebody else adds one of everything, and gets command line, recipe, verdict, attacks and metrics.

It is found as an installed package is, by the entry points in its metadata; nothing of Wayveil knows its names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wayveil import UsageError, VerdictFailed, Visits, load_recipe, publish
from wayveil.cli import main
from wayveil.model.plugins import load_plugins
from wayveil.recipe import catalog
from wayveil.recipe.forms import method_forms, step_forms

HERE = Path(__file__).parent
POINTS = {
    "methods": {"drop_quiet": "acme_mobility:DropQuiet", "keep_everything": "acme_mobility:DropQuietBadly"},
    "claims": {"BusyPlaces": "acme_mobility:BusyPlaces"},
    "verifiers": {"BusyPlaces": "acme_mobility:check_busy_places"},
    "attacks": {"known_place": "acme_mobility:KnownPlace"},
    "metrics": {"places_left": "acme_mobility:PlacesLeft"},
    "steps": {"every_other": "acme_mobility:EveryOther"},
    "workloads": {"ring": "acme_mobility:Ring"},
}
TABLE = "traj_id,location,t\n" + "".join(f"{i},a,1\n{i},{'b' if i else 'c'},2\n{i},a,3\n" for i in range(4))

Install = Callable[[dict[str, dict[str, str]]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """What makes a package with these entry points look installed, until the test ends."""

    def make(points: dict[str, dict[str, str]]) -> None:
        folder = tmp_path / "site" / "acme_mobility-1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-mobility\nVersion: 1.0\n")
        lines = [
            line
            for group, named in points.items()
            for line in (f"[wayveil.{group}]", *(f"{name} = {value}" for name, value in named.items()))
        ]
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(folder.parent)
        monkeypatch.syspath_prepend(HERE)
        load_plugins.cache_clear()

    yield make
    load_plugins.cache_clear()


@pytest.fixture
def acme(install: Install) -> None:
    install(POINTS)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_package_uses_public_names_only() -> None:
    text = (HERE / "acme_mobility" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r"^(?:from|import) (wayveil\S*)", text, re.MULTILINE) == ["wayveil"]


@pytest.mark.usefixtures("acme")
def test_the_catalog_knows_all_of_it() -> None:
    for group, named in POINTS.items():
        if group not in ("claims", "verifiers"):
            assert set(named) <= set(catalog.entries(group.removesuffix("s")))  # type: ignore[arg-type]
    assert catalog.describe("drop_quiet")["claim"] == "BusyPlaces"
    assert {"drop_quiet"} < {form["name"] for form in method_forms()}
    assert {"every_other"} < {form["name"] for form in step_forms()}


@pytest.mark.usefixtures("acme")
def test_the_command_line_publishes_and_verifies(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, text, error = run(
        capsys, "publish", "drop_quiet", table, "--each-trajectory-is-a-person", "--k", 2, "--format", "csv",
        "--out", out,
    )  # fmt: skip
    assert (code, error) == (0, "")
    assert "Published and verified." in text
    rows = (out / "public" / "published.csv").read_text().splitlines()[1:]
    assert {row.rsplit(",", 1)[1] for row in rows} == {"a", "b"}
    scores = json.loads((out / "private" / "scores.json").read_text())
    named = json.dumps(scores)
    assert '"places_left"' in named
    assert '"known_place"' in named
    assert "BusyPlaces" in (out / "public" / "manifest.json").read_text()
    code, text, error = run(capsys, "verify", out / "public")
    assert (code, error) == (0, "")
    code, text, error = run(capsys, "publish", "drop_quiet", "--help")
    assert code == 0
    assert "smallest number of people at every published place" in re.sub(r"[\s│]+", " ", text)


@pytest.mark.usefixtures("acme")
def test_what_does_not_keep_its_claim_is_not_published(table: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f'[input]\npath = "{table.name}"\nowners = "each-trajectory"\n'
        '[method]\nname = "keep_everything"\nk = 2\n'
        f'[output]\npath = "out"\n'
    )
    from wayveil.pipeline.publish import publish as publish_recipe

    with pytest.raises(VerdictFailed, match="Only 1 were at one place"):
        publish_recipe(load_recipe(recipe))
    assert not (tmp_path / "out" / "public").exists()


@pytest.mark.usefixtures("acme")
def test_a_recipe_names_all_of_it(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f'[input]\npath = "{table.name}"\nowners = "each-trajectory"\n'
        '[[prepare]]\nstep = "every_other"\n'
        '[method]\nname = "drop_quiet"\nk = 3\n'
        '[[attacks]]\nname = "known_place"\n'
        '[[metrics]]\nname = "places_left"\n'
        '[output]\npath = "out"\nformat = "csv"\n'
    )
    code, _, error = run(capsys, "run", recipe)
    assert (code, error) == (0, "")
    scores = json.loads((tmp_path / "out" / "private" / "scores.json").read_text())
    assert [score["name"] for score in scores["scores"]] == ["places_left"]
    assert scores["scores"][0]["value"] == 1.0


@pytest.mark.usefixtures("acme")
def test_a_claim_in_python_takes_the_method_that_makes_it() -> None:
    import acme_mobility  # type: ignore[import-not-found]

    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)], [("a", 1), ("c", 2)]])
    made = publish(data, acme_mobility.BusyPlaces(k=2), seed=1)
    assert made.verdict.claim == acme_mobility.BusyPlaces(k=2)
    assert made.data.n_visits == 5


@pytest.mark.usefixtures("acme")
def test_a_workload_is_generated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = run(capsys, "generate", "ring", "--people", 3, "--seed", 1, "--out", tmp_path / "ring.csv")
    assert (code, error) == (0, "")
    assert len((tmp_path / "ring.csv").read_text().splitlines()) == 1 + 3 * 4


BROKEN: list[tuple[dict[str, dict[str, str]], str]] = [
    (
        {"methods": {"gone": "acme_gone:Method"}},
        "'gone' (wayveil.methods) of the package acme-mobility cannot be loaded",
    ),
    ({"methods": {"drop": "acme_mobility:DropQuiet"}}, "calls itself 'drop_quiet'. Both names must be the same."),
    ({"methods": {"places_left": "acme_mobility:PlacesLeft"}}, "is not made of wayveil.Method."),
    ({"attacks": {"empty": "acme_mobility:Attack"}}, "does not define match, queries, summarize."),
    ({"verifiers": {"BusyPlaces": "acme_mobility:Any.nothing"}}, "cannot be loaded"),
    ({"methods": {"kcl": "acme_mobility:DropQuiet"}}, "calls itself 'drop_quiet'"),
]


@pytest.mark.parametrize(("points", "sentence"), BROKEN, ids=lambda value: value[:20] if isinstance(value, str) else "")
def test_a_broken_plug_in_is_one_sentence(
    points: dict[str, dict[str, str]], sentence: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(points)
    group: Any = next(iter(points))
    with pytest.raises(UsageError, match=re.escape(sentence)):
        load_plugins(group)
    if group == "methods":
        code, text, error = run(capsys, "methods")
        assert (code, text) == (2, "")
        assert len(error.strip().splitlines()) == 1
        assert "Traceback" not in error


def test_no_plug_in_takes_a_name_of_ours(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install(POINTS)
    import acme_mobility  # type: ignore[import-not-found]

    monkeypatch.setattr(acme_mobility.DropQuiet, "name", "kcl")
    load_plugins.cache_clear()
    monkeypatch.setattr("wayveil.model.plugins.entry_points", lambda group: _points(group))
    with pytest.raises(UsageError, match="has the name of something in Wayveil"):
        catalog.entries("method")


def _points(group: str) -> list[Any]:
    from importlib.metadata import EntryPoint

    return [EntryPoint(name="kcl", value="acme_mobility:DropQuiet", group=group)] if group == "wayveil.methods" else []


@pytest.mark.usefixtures("acme")
def test_a_claim_without_a_verifier_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import acme_mobility  # type: ignore[import-not-found]

    claim = type("Other", (acme_mobility.BusyPlaces,), {"name": "Other"})(k=2)
    with pytest.raises(UsageError, match="There is no verifier of the claim Other"):
        catalog.verify(Visits.from_records([[("a", 1)]]), claim)
