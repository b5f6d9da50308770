"""A package of somebody else adds one of everything, and gets command line, recipe, verdict, attacks and metrics.

It is found as an installed package is, by the entry points in its metadata; nothing of Wayveil knows its names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wayveil import InputError, UsageError, VerdictFailed, Visits, load_recipe, publish
from wayveil.cli import main
from wayveil.commands.first_look import endings_by_role
from wayveil.io.formats.file_formats import file_formats, read_converted
from wayveil.model.plugins import load_plugins
from wayveil.recipe import catalog
from wayveil.recipe.forms import method_forms, step_forms

HERE = Path(__file__).parent
POINTS = {
    "methods": {
        "drop_quiet": "acme_mobility:DropQuiet",
        "keep_everything": "acme_mobility:DropQuietBadly",
        "drop_quiet_legs": "acme_mobility:DropQuietLegs",
    },
    "claims": {"BusyPlaces": "acme_mobility:BusyPlaces", "BusyLegs": "acme_mobility:BusyLegs"},
    "verifiers": {"BusyPlaces": "acme_mobility:check_busy_places", "BusyLegs": "acme_mobility:check_busy_legs"},
    "attacks": {"known_place": "acme_mobility:KnownPlace"},
    "metrics": {"places_left": "acme_mobility:PlacesLeft"},
    "steps": {"every_other": "acme_mobility:EveryOther", "to_legs": "acme_mobility:ToLegs"},
    "workloads": {"ring": "acme_mobility:Ring"},
    "formats": {"pings": "acme_mobility:PINGS"},
    "kinds": {"legs": "acme_mobility:Legs"},
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
        if group not in ("claims", "verifiers", "formats", "kinds"):
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
    assert "Published and verified" in text
    rows = (out / "public" / "published.csv").read_text().splitlines()[1:]
    assert {row.rsplit(",", 1)[1] for row in rows} == {"a", "b"}
    scores = json.loads((out / "private" / "results.json").read_text())
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
    scores = json.loads((tmp_path / "out" / "private" / "results.json").read_text())
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


PINGS = "".join(f"{i}|{place}|{t}\n" for i in range(4) for t, place in enumerate("aba"))


@pytest.mark.usefixtures("acme")
def test_a_file_format_is_read_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "monday.PINGS"
    file.write_text(PINGS)
    code, _, error = run(
        capsys, "publish", "kcl", file, "--each-trajectory-is-a-person", "--k", 2, "--c", 1, "--l", 2,
        "--format", "csv", "--out", tmp_path / "out",
    )  # fmt: skip
    assert (code, error) == (0, "")
    assert len((tmp_path / "out" / "public" / "published.csv").read_text().splitlines()) == 1 + 4 * 3
    code, text, error = run(capsys, "inspect", file)
    assert (code, error) == (0, "")
    assert "Acme pings, read by a plug-in" in " ".join(text.split())
    assert endings_by_role()["data"][-1] == ".pings"
    file.write_text(PINGS + "4|a\n")
    code, text, error = run(capsys, "risk", file, "--each-trajectory-is-a-person")
    assert (code, text) == (2, "")
    assert "1 lines have not three fields. Correct them." in error


def test_a_format_that_fails_is_one_sentence_without_values(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(POINTS)
    file = tmp_path / "monday.pings"
    file.write_text(PINGS)
    entry = file_formats()["pings"]

    def fail(path: Path) -> Any:
        raise KeyError("Ann, 12 Elm Street")

    for read, sentence in ((fail, "failed with a KeyError"), (lambda path: [1, 2], "returned no polars frame")):
        with pytest.raises(InputError, match=sentence) as caught:
            read_converted(replace(entry, read=read), file, tmp_path, shown="monday.pings")
        assert "Elm" not in str(caught.value)


@pytest.mark.usefixtures("acme")
def test_a_kind_of_data_is_made_published_and_verified(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, _, error = run(
        capsys, "publish", "drop_quiet_legs", table, "--each-trajectory-is-a-person", "--k", 3, "--prepare", "to_legs",
        "--format", "csv", "--out", out,
    )  # fmt: skip
    assert (code, error) == (0, "")
    header, *rows = (out / "public" / "published.csv").read_text().splitlines()
    assert header == "traj_id,t,origin,destination"
    assert sorted(row.split(",", 1)[1] for row in rows) == ["1,a,b"] * 3 + ["2,b,a"] * 3
    code, text, error = run(capsys, "verify", out / "public")
    assert (code, error) == (0, "")
    assert "At least 3 people went every published way." in text
    # A leg that few people have: the forged publication is found out, and so is a kind that nobody knows.
    forged = json.loads((out / "public" / "manifest.json").read_text())
    (out / "public" / "manifest.json").write_text(
        json.dumps({**forged, "schema": {**forged["schema"], "kind": "hops"}})
    )
    code, _, error = run(capsys, "verify", out / "public")
    assert code == 2
    assert "garbled at 'schema.kind'" in error


@pytest.mark.usefixtures("acme")
def test_a_kind_of_data_is_published_from_python() -> None:
    import acme_mobility  # type: ignore[import-not-found]

    visits = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)], [("a", 1), ("c", 2)]])
    legs, _ = acme_mobility.ToLegs().run(visits)
    made = publish(legs, acme_mobility.DropQuietLegs(k=2), seed=1)
    assert (made.data.kind, made.data.n_rows, made.verdict.holds) == ("legs", 2, True)


BROKEN: list[tuple[dict[str, dict[str, str]], str]] = [
    (
        {"methods": {"gone": "acme_gone:Method"}},
        "'gone' (wayveil.methods) of the package acme-mobility cannot be loaded",
    ),
    ({"methods": {"drop": "acme_mobility:DropQuiet"}}, "calls itself 'drop_quiet'. Both names must be the same."),
    ({"methods": {"places_left": "acme_mobility:PlacesLeft"}}, "is not made of wayveil.Method."),
    ({"attacks": {"empty": "acme_mobility:Attack"}}, "does not define match, queries, summarize."),
    ({"verifiers": {"BusyPlaces": "acme_mobility:Any.nothing"}}, "cannot be loaded"),
    ({"formats": {"pings": "acme_mobility:read_pings"}}, "is no wayveil.FileFormat."),
    ({"formats": {"beeps": "acme_mobility:PINGS"}}, "calls itself 'pings'. Both names must be the same."),
    ({"kinds": {"trips": "acme_mobility:Legs"}}, "calls itself 'legs'. Both names must be the same."),
    ({"kinds": {"bare": "acme_mobility:Trajectories"}}, "does not define"),
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
