"""One head: terminal, report, results, runs list, comparison and page tell the same numbers, for every method."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from still_noise import still_noise
from tables import write_inputs
from test_frozen_bytes import SECRET, SETTINGS, make_content

from wayveil.cli.show import outcome_json, outcome_lines
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError
from wayveil.methods import METHODS
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.report.results_json import read_results
from wayveil.report.results_schema import VERSION, Results
from wayveil.web import job
from wayveil.web.compared import compare_runs
from wayveil.web.files import Files
from wayveil.web.request import read_request
from wayveil.web.runs import Runs
from wayveil.web.server.disk import read_json


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def plain(text: str) -> str:
    """Return a text as it is read: without elements, entities and breaks of lines."""
    text = re.sub(r"(?s)<(script|style).*?</\1>", " ", text).replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


# The limit that the promise tolerates is tried with two methods, one that is given with all.
CASES = [*((name, "1/100") for name in sorted(METHODS)), ("kcl", None), ("nwa", None)]


@pytest.fixture(autouse=True)
def no_noise() -> Iterator[None]:
    """Two runs of one recipe are compared: noise, which is never the same twice, is left out."""
    with still_noise():
        yield


@pytest.mark.parametrize(("name", "limit"), CASES)
def test_the_same_numbers_stand_everywhere(
    name: str, limit: str | None, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Draws that hide people come from a secret, fresh in every run; here two runs must be the same.
    monkeypatch.setattr(Secret, "fresh", lambda: SECRET)
    content = make_content((name, "csv", None), inputs, tmp_path / "out")
    recipe = make_recipe({**content, "max_risk": limit, "use": "flows"})
    outcome = publish(recipe, engine=LocalEngine(workers=1))
    results: dict[str, Any] = read_results(outcome.private)
    Results.model_validate(results)
    assert results["version"] == VERSION
    head = results["head"]
    assert (
        head == json.loads(json.dumps(outcome.head.to_json())) == json.loads(json.dumps(outcome_json(outcome)["head"]))
    )
    assert (head["limit"], head["use"]) == (None if limit is None else 0.01, "flows")

    terminal = plain(" ".join(outcome_lines(outcome)))
    report = plain(outcome.report.read_text(encoding="utf-8"))
    assert head["label"] in report
    for reason in head["reasons"]:
        assert reason in terminal
        assert reason[1:] in report
    if head["risk"] is not None:
        assert head["risk"]["sentence"] in terminal
        numbers = [head["risk"][side]["text"] for side in ("mean", "largest", "above") if head["risk"][side]]
        card = next(mark for mark in results["marks"] if mark["label"].startswith("Strongest attack"))
        for text in (number.replace("\N{NO-BREAK SPACE}", " ") for number in numbers):
            assert text in plain(card["value"] + " " + card["meaning"])
            assert text in report
    if head["loss"] is not None:
        assert head["loss"]["sentence"] in terminal
        assert head["loss"]["number"]["text"].replace("\N{NO-BREAK SPACE}", " ") in report

    runs, id = serve_run(content, limit, tmp_path / "served")
    page = runs.full(id)
    assert page["state"] == "done", page["error"]
    # What the page shows of the result is what `run` measured: not an attack more, not one less.
    for part in ("head", "marks", "risks", "attacks", "scores", "questions"):
        assert page["result"][part] == results[part], part
    assert head["label"] in plain((runs.place(id) / "out/private/report.html").read_text(encoding="utf-8"))

    listed = runs.short(id)["headline"]
    assert listed["head"]["sentence"] == head["sentence"]
    if head["risk"] is not None:
        assert listed["risk"]["published"] == head["risk"]["mean"]["value"]
    if head["loss"] is not None:
        assert listed["loss"]["value"] == head["loss"]["number"]["value"]
    try:
        compared = compare_runs({"runs": [id]}, runs)
    except UsageError:
        return  # nothing that runs of this kind are compared by
    for point in compared["points"]:
        assert point["head"]["label"] == head["label"]
        assert point["head"]["risk"] == ("" if head["risk"] is None else head["risk"]["sentence"])
    assert compared["limit"] == head["limit"]


def serve_run(content: dict[str, Any], limit: str | None, folder: Path) -> tuple[Runs, str]:
    """Run the same through what the server does with a request of the page: upload, request, job, end."""
    folder.mkdir()
    files, runs = Files(folder=folder / "files", limit=1 << 24), Runs(folder=folder / "runs")
    files.open()
    runs.open()

    async def pieces(path: Path) -> AsyncIterator[bytes]:
        yield path.read_bytes()

    uploads = {}
    for key, role in (("path", "data"), ("network", "network"), ("taxonomy", "taxonomy")):
        if key in content["input"]:
            path = Path(content["input"][key])
            facts = asyncio.run(files.receive(pieces(path), path.name, role, None))
            uploads["file" if key == "path" else key] = facts["id"]
    recipe = {**content, "input": uploads, "output": {"format": "csv"}, "max_risk": limit, "use": "flows"}
    posted = {"what": "publish", "recipe": recipe}
    id = runs.add(read_request(posted, files), posted)
    job.main([str(runs.place(id)), "1"])
    runs.change(id, **read_json(runs.place(id) / "end.json"))
    return runs, id


def test_every_method_is_tried() -> None:
    assert set(SETTINGS) >= set(METHODS)
    assert len(METHODS) >= 11
