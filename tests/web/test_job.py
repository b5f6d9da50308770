from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayveil.errors import InputError
from wayveil.pipeline.publish import NotPublished
from wayveil.web import job
from wayveil.web.request import read_request
from wayveil.web.server.disk import read_json


@pytest.fixture
def place(box: Any) -> Path:
    """The folder of a run that waits."""
    rows = b"traj_id,t,location\na,1,x\n"
    file = box.client().post("/api/files", params={"name": "my visits.csv"}, content=rows).json()["id"]
    posted = {
        "what": "publish",
        "recipe": {"input": {"file": file, "owners": "each-trajectory"}, "method": {"name": "kcl", "k": 2, "l": 2}},
    }
    found: Path = box.runs.place(box.runs.add(read_request(posted, box.files), posted))
    return found


def failing(error: BaseException) -> Callable[..., Any]:
    def publish(recipe: Any, *, engine: Any, yardstick: Any) -> Any:
        engine.progress("read and prepare")
        if isinstance(error, InputError):
            raise InputError(str(error).format(path=recipe.input.path, out=recipe.output.path))
        raise error

    return publish


@pytest.mark.parametrize(
    ("error", "code", "state", "said"),
    [
        (
            InputError("{path}: line 2 is bad; give --crs."),
            2,
            "failed",
            "my visits.csv: line 2 is bad; give the setting",
        ),
        (InputError("Cannot write to '{out}/x'."), 2, "failed", "Cannot write to 'the result/out/x'."),
        (NotPublished("Nothing was published: too few."), 1, "refused", "Nothing was published: too few."),
        (MemoryError(), 2, "failed", "There is not enough memory"),
        (PermissionError(13, "secret", "/secret"), 2, "failed", "The system refused to read or write"),
        (KeyError("secret"), 2, "failed", "Unexpected KeyError at web/job.py"),
    ],
)
def test_every_way_to_end_is_one_sentence(
    place: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, state: str, said: str
) -> None:
    monkeypatch.setattr(job, "publish", failing(error))
    assert job.main([str(place), "1"]) == code
    end = read_json(place / "end.json")
    assert end["state"] == state
    assert end["error"].startswith(said)
    assert "secret" not in json.dumps(end)
    assert str(place.parent.parent) not in json.dumps(end)
    progress = read_json(place / "progress.json")
    assert [step["step"] for step in progress["steps"]] == ["read and prepare"]


def test_the_pipeline_gets_the_recipe_with_uploads_and_threads(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def publish(recipe: Any, *, engine: Any, yardstick: Any) -> Any:
        seen.append((recipe, engine.workers))
        raise InputError("Stop.")

    monkeypatch.setattr(job, "publish", publish)
    job.main([str(place), "3"])
    recipe, workers = seen[0]
    assert workers == 3
    assert recipe.output.path == place / "out"
    assert recipe.input.path.read_bytes().startswith(b"traj_id")
    assert recipe.input.path.stem == recipe.input.path.parent.name
    assert recipe.seed == int((place / "recipe.toml").read_text().split("seed = ")[1].split()[0])


def test_a_file_that_is_gone_is_told(place: Path, box: Any) -> None:
    for file in box.files.all():
        box.files.remove(file["id"])
    assert job.main([str(place), "1"]) == 2
    assert "there is no such file" in read_json(place / "end.json")["error"]


def test_progress_is_on_disk_while_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(job.time, "monotonic", lambda: clock[0])
    told = job._ProgressFile(tmp_path / "progress.json")
    told("one", 1, 10)
    assert read_json(tmp_path / "progress.json") == {
        "step": "one", "done": 1, "total": 10, "steps": [{"step": "one", "seconds": 0.0}],
    }  # fmt: skip
    clock[0] = 0.1
    told("one", 2, 10)  # too soon to be written
    assert read_json(tmp_path / "progress.json")["done"] == 1
    clock[0] = 1.0
    told("one", 3, 10)
    assert read_json(tmp_path / "progress.json")["done"] == 3
    clock[0] = 1.5
    told("two")
    clock[0] = 3.0
    told.close()
    found = read_json(tmp_path / "progress.json")
    assert found["steps"] == [{"step": "one", "seconds": 1.5}, {"step": "two", "seconds": 1.5}]
    assert found["step"] is None
