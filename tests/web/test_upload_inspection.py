"""The first step of the page: what an upload is, the questions that are left, and what starts the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayveil.web.look import Looks
from wayveil.web.request import read_request
from wayveil.web.upload_inspection import inspect_upload
from wayveil.web.upload_source import UploadSource, find_source

TAXIS = "id;X;Y;zeit\n" + "".join(
    f"{i % 4};{7 + i / 1000:.3f};{47 + i / 1000:.3f};{3 + i % 20}.03.2021 {8 + i % 3}:{i % 60:02}\n" for i in range(80)
)


@pytest.fixture
def upload(box: Any) -> Any:
    def put(name: str, text: str, role: str = "data") -> str:
        answer = box.client().post("/api/files", params={"name": name, "role": role}, content=text.encode())
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    return put


def _inspected_here(looks: Looks, source: UploadSource, *, settings: bool) -> Any:
    return json.loads(json.dumps(inspect_upload(source, settings=settings), allow_nan=False))


def test_questions_are_answered_by_posting_what_the_answer_says(
    box: Any, upload: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Looks, "inspect", _inspected_here)
    id = upload("Meine Taxis (1).txt", TAXIS)
    client = box.client()
    posted: dict[str, Any] = {}
    asked = []
    for _ in range(4):
        answer = client.post(f"/api/files/{id}/inspect", json={"input": posted})
        assert answer.status_code == 200, answer.text
        seen = answer.json()
        assert id not in answer.text.replace(f'"file":"{id}"', "")
        assert str(box.folder) not in answer.text
        if not seen["questions"]:
            break
        assert seen["run"] is None
        assert seen["recipe_text"] is None
        question = seen["questions"][0]
        assert "--" not in question["question"]
        asked.append(question["question"])
        posted = question["answers"][0]["input"]
    assert len(asked) == 2  # who the person is, and whether X and Y are degrees
    assert (seen["file"], seen["layout"], seen["rows"]) == ("Meine Taxis (1).txt", "points", 80)
    assert {column["role"] for column in seen["columns"]} == {"person", "x", "y", "time"}
    assert "dialect = {" in seen["recipe_text"]
    run = seen["run"]
    assert (run["recipe"]["input"]["file"], run["what"]) == (id, "publish")
    checked = read_request(run, box.files)
    assert (checked.file, checked.uploads) == ("Meine Taxis (1).txt", {"path": id})
    assert "dmy" in checked.text


def test_settings_are_tried_where_it_is_said(box: Any, upload: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Looks, "inspect", _inspected_here)
    rows = "".join(f"{i % 9},{i % 2},{8 + i // 9}\n" for i in range(36))
    id = upload("taps.csv", "user,station,t\n" + rows)
    quick, tried = (
        box.client().post(f"/api/files/{id}/inspect", json={"settings": settings}).json() for settings in (False, True)
    )
    assert (quick["settings_tried"], tried["settings_tried"]) == (False, True)
    assert tried["tried"][-1]["kept"] >= 0.5
    assert read_request(tried["run"], box.files).method == "kcl"


def test_what_is_posted_is_checked(box: Any, upload: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Looks, "inspect", _inspected_here)
    id = upload("a.csv", "user,station,t\n1,a,3\n1,a,4\n")
    place = f"/api/files/{id}/inspect"
    client = box.client()
    secret = box.folder / "secret.csv"
    secret.write_text("id,lon,lat\n1,2,3\n")
    for wrong in (
        *([], {"input": 3}, {"settings": 1}, {"x": 1}, {"input": {"path": "a.csv"}}, {"input": {"kind": "cars"}}),
        *({"input": {key: str(secret)}} for key in ("places", "zones", "known", "network", "taxonomy", "owners")),
    ):
        answer = client.post(place, json=wrong)
        assert answer.status_code in (400, 404), (wrong, answer.text)
        assert "secret" not in answer.text
    assert client.post(f"/api/files/{'0' * 32}/inspect", json={}).status_code == 404
    few = client.post(place, json={}).json()
    assert few["cannot_be_published"].startswith("a.csv: the file is of one person")
    assert "--" not in few["cannot_be_published"]


def test_other_files_of_the_input_keep_their_ids(box: Any, upload: Any) -> None:
    rows = "".join(f"{i % 9},{i % 2},{8 + i // 9}\n" for i in range(36))
    id = upload("taps.csv", "user,station,t\n" + rows)
    places = upload("stations.csv", "location,lon,lat\n0,1.0,2.0\n1,1.1,2.1\n", role="places")
    source = find_source(id, {"places": places}, box.files)
    run = inspect_upload(source)["run"]
    assert run["recipe"]["input"]["places"] == places
    assert read_request(run, box.files).uploads == {"path": id, "places": places}


def test_it_is_made_in_a_process_of_its_own(box: Any, upload: Any, tmp_path: Path) -> None:
    id = upload("junk.txt", "one line without any table")
    answer = box.client().post(f"/api/files/{id}/inspect", json={})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("junk.txt: ")
    assert id not in answer.text


def test_a_preview_reads_a_file_as_its_input_says(box: Any, upload: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    id = upload("Meine Taxis (1).txt", TAXIS)
    client = box.client()
    times = {"t": {"columns": ["zeit"], "format": "dmy"}}
    said = {"kind": "points", "columns": {"traj_id": "id", "x": "X", "y": "Y"}, "crs": "degrees", "times": times}
    answer = client.post(f"/api/files/{id}/preview", json={"input": said})
    assert answer.status_code == 200, answer.text
    seen = answer.json()
    assert seen["kind"] == "points"
    assert seen["rows"] == 80
    assert "t" in [column["name"] for column in seen["columns"]]
    assert str(box.folder) not in answer.text
    wrong = client.post(f"/api/files/{id}/preview", json={"input": {**said, "times": {"t": {"columns": ["nix"]}}}})
    assert wrong.status_code == 400
    assert "Meine Taxis (1).txt" in wrong.json()["error"]
    for posted in ({}, {"input": 1}, {"input": said, "more": 1}, []):
        assert client.post(f"/api/files/{id}/preview", json=posted).status_code == 400
