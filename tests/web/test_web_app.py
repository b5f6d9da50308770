from __future__ import annotations

import json
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from wayveil.errors import InputError
from wayveil.recipe import catalog
from wayveil.report.figures import visual_script
from wayveil.web import pages, web_app

ID = "0" * 32


def test_info(box: Any) -> None:
    told = box.client().get("/api/info").json()
    assert told["limits"] == {"upload_bytes": 1 << 20, "jobs": 1}
    assert told["kinds"] == ["visits", "points", "routes", "stops", "trips"]
    assert told["disk"]["used_bytes"] == 0
    assert told["disk"]["free_bytes"] > 0


def test_every_method_and_step_is_described(box: Any) -> None:
    methods, steps = (box.client().get(f"/api/{what}").json() for what in ("methods", "steps"))
    assert [method["name"] for method in methods] == list(catalog.entries("method"))
    assert [step["name"] for step in steps] == list(catalog.entries("step"))
    assert all(method["promise"] for method in methods)
    # Noise is promised whatever an attacker does: no list of attackers.
    assert {method["name"] for method in methods if not method["covered"]} == {"dp_counts", "synth"}


PATHS = [f"/api/files/{id}/preview" for id in ("..", "%2e%2e", "..%2f..", "....", "%00", ID)] + [
    f"/api/runs/{id}{end}"
    for id in ("..", "..%2ffiles", "%2e%2e%2f%2e%2e%2fetc", "%2Fetc%2Fpasswd", "x", "0" * 31 + "%0a", ID)
    for end in ("", "/events", "/public.zip", "/recipe.toml", "/report.html")
]


@pytest.mark.parametrize("path", PATHS)
def test_ids_are_never_paths(box: Any, path: str) -> None:
    (box.folder / "state.json").write_text("{}")
    (box.folder / "job.json").write_text("{}")
    (box.folder / "recipe.toml").write_text("secret")
    answer = box.client().get(path)
    assert answer.status_code == 404, answer.text
    assert "secret" not in answer.text


@pytest.mark.parametrize("id", ["..", "%2e%2e", "..%2ffiles", ID])
def test_nothing_else_is_deleted(box: Any, id: str) -> None:
    before = box.left()
    assert box.client().delete(f"/api/runs/{id}").status_code in (404, 405)
    assert box.client().delete(f"/api/files/{id}").status_code in (404, 405)
    assert box.client().post(f"/api/runs/{id}/cancel").status_code in (404, 405)
    assert box.left() == before


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"{", 400), (b"[1]", 400), (b"NaN", 400), (b'"\\ud800"', 400), (b"[" * 100_000, 400), (b"\xff", 400),
     (b"1" * 10_000, 400), (b" " * ((1 << 20) + 1), 413)],
    ids=["nothing", "open", "list", "nan", "half a sign", "deep", "bytes", "long", "large"],
)  # fmt: skip
def test_bad_bodies_are_refused(box: Any, body: bytes, status: int) -> None:
    for path in ("/api/runs", "/api/compare"):
        answer = box.client().post(path, content=body)
        assert answer.status_code == status
        assert list(answer.json()) == ["error"]
    assert box.left() == ["files", "runs"]


def test_large_bodies_are_cut(box: Any, ask: Callable[..., Any]) -> None:
    status, _, taken = ask(box.app(), "POST", "/api/runs", {}, repeat(b" " * 65536))
    assert (status, taken) == (413, 17)
    status, _, taken = ask(box.app(), "POST", "/api/runs", {"content-length": "2000000"}, repeat(b" "))
    assert (status, taken) == (413, 0)
    status, body, _ = ask(box.app(), "POST", "/api/runs", {}, iter([b"{"]))
    assert (status, json.loads(body)) == (400, {"error": "The request was broken off."})


def test_other_ways_to_ask_are_refused(box: Any) -> None:
    client = box.client()
    assert client.post("/api/info").json() == {"error": "This cannot be done here."}
    assert client.get("/api/runs/x/y/z").json() == {"error": "There is no such page."}
    assert client.request("OPTIONS", "/api/runs").status_code == 405


def test_a_mistake_of_ours_is_one_sentence_without_values(box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(error: Exception) -> Callable[[], Any]:
        def raises() -> Any:
            raise error

        return raises

    for error, status, said in (
        (ZeroDivisionError("secret"), 500, "Unexpected ZeroDivisionError at web/web_app.py"),
        (PermissionError(13, "no", "/secret"), 500, "The system refused"),
        (InputError("Give --network, please."), 400, "Give the setting 'network', please."),
        (InputError("x" * 10_000), 400, "x" * 2000),
    ):
        monkeypatch.setattr(web_app, "method_forms", wrong(error))
        answer = box.client().get("/api/methods")
        assert answer.status_code == status
        assert answer.json()["error"].startswith(said)
        assert len(answer.json()["error"]) <= 2000
        assert "secret" not in answer.text


def test_previews_are_asked_for_with_columns(box: Any) -> None:
    content = b'who,"a, b",when\n1,x,3\n2,y,4\n'
    client = box.client()
    id = client.post("/api/files", params={"name": "a.csv"}, content=content).json()["id"]
    for wrong in ("x", "t=", "=t", "t=a,t=b", '{"t": 1}', "{"):
        assert client.get(f"/api/files/{id}/preview", params={"columns": wrong}).status_code == 400
    assert client.get(f"/api/files/{id}/preview", params={"kind": "cars"}).status_code == 400
    columns = json.dumps({"traj_id": "who", "location": "a, b", "t": "when"})
    seen = client.get(f"/api/files/{id}/preview", params={"columns": columns, "kind": "visits"}).json()
    assert [column["role"] for column in seen["columns"]] == ["traj_id", "location", "t"]
    assert seen["problems"] == []
    again = client.get(f"/api/files/{id}/preview", params={"columns": columns, "kind": "visits"})
    assert again.json() == seen


def test_the_page_is_what_was_built_and_nothing_else(box: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<p>Here</p>")
    (static / "assets/a.js").write_text("1")
    (static / "assets/a.py").write_text("1")
    (tmp_path / "secret.html").write_text("secret")
    monkeypatch.setattr(pages, "STATIC", static)
    client = box.client()
    assert client.get("/").text == "<p>Here</p>"
    assert client.get("/assets/a.js").headers["content-type"] == "text/javascript; charset=utf-8"
    for path in ("/assets/a.py", "/assets", "/../secret.html", "/%2e%2e/secret.html", "/..%2fsecret.html",
                 "/assets/../../secret.html", "//etc/passwd", "/assets%5c..%5ca.js"):  # fmt: skip
        assert client.get(path).status_code == 404, path


def test_events_end_with_the_run(box: Any) -> None:
    box.jobs.open()
    id = box.add("done")
    box.jobs.submit(id)
    answer = box.client().get(f"/api/runs/{id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert answer.text.startswith("event: state\ndata: ")
    assert told[-1]["state"] == "done"
    assert box.client().get(f"/api/runs/{id}").json()["state"] == "done"


def test_runs_are_listed_and_deleted(box: Any) -> None:
    first, second = box.add("done one"), box.add("done two")
    client = box.client()
    assert [run["id"] for run in client.get("/api/runs").json()] == [second, first]
    assert client.delete(f"/api/runs/{first}").status_code == 409
    box.runs.change(first, state="done")
    used = client.get("/api/info").json()["disk"]["used_bytes"]
    assert used >= client.get(f"/api/runs/{first}").json()["bytes"] > 0
    assert client.delete(f"/api/runs/{first}").status_code == 204
    assert client.get(f"/api/runs/{first}").status_code == 404
    assert [run["id"] for run in client.get("/api/runs").json()] == [second]
    assert client.get("/api/info").json()["disk"]["used_bytes"] < used
    assert sorted(path.name for path in (box.folder / "runs").iterdir()) == [second]


def test_nothing_can_be_downloaded_of_a_run_that_is_not_done(box: Any) -> None:
    id = box.add("done")
    place = box.runs.place(id)
    (place / "out/public").mkdir(parents=True)
    (place / "out/public/published.csv").write_text("secret")
    (place / "out/private").mkdir()
    (place / "out/private/report.html").write_text("report")
    for state in ("queued", "running", "failed", "cancelled", "refused"):
        box.runs.change(id, state=state)
        assert box.client().get(f"/api/runs/{id}/public.zip").json() == {"error": "This run has published nothing."}
        answer = box.client().get(f"/api/runs/{id}/report.html")
        assert answer.status_code == (200 if state == "refused" else 404)
    box.runs.change(id, state="done")
    answer = box.client().get(f"/api/runs/{id}/public.zip")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="public.zip"'


def test_too_many_runs_are_refused(box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.web.jobs.MOST_WAITING", 1)
    box.jobs.submit(box.add("done"))
    answer = box.client().post("/api/runs", json={})
    assert answer.status_code == 429


def test_what_draws_is_one_file_for_report_and_page(box: Any) -> None:
    answer = box.client().get("/assets/visual.js")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.text.strip().replace("</script", "<\\/script") == visual_script()


def test_a_report_is_framed_with_its_own_policy_and_no_rights(box: Any) -> None:
    id = box.add("done")
    private = box.runs.place(id) / "out/private"
    private.mkdir(parents=True)
    (private / "report.html").write_text(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-x'\"><p>R</p>"
    )
    assert box.client().get(f"/api/runs/{id}/report").status_code == 404  # it has not ended
    box.runs.change(id, state="done")
    answer = box.client().get(f"/api/runs/{id}/report")
    assert answer.headers.get_list("content-security-policy") == [
        "default-src 'none'; script-src 'sha256-x'; frame-ancestors 'self'; sandbox allow-scripts"
    ]
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert "content-disposition" not in answer.headers
    (private / "report.html").write_text("<p>without a policy</p>")
    assert box.client().get(f"/api/runs/{id}/report").status_code == 404


def test_a_run_is_expected_to_take_as_long_as_the_last_of_its_method(box: Any) -> None:
    def add(file: str, size: int, method: str = "kcl", **state: Any) -> str:
        id: str = box.add("x")
        job = json.loads((box.runs.place(id) / "job.json").read_text())
        (box.runs.place(id) / "job.json").write_text(
            json.dumps({**job, "file_id": file, "file_bytes": size, "method": method})
        )
        steps = {"steps": [{"step": "verify", "seconds": 2.0}, {"step": "attack", "seconds": 3.0}]}
        (box.runs.place(id) / "progress.json").write_text(json.dumps(steps))
        box.runs.change(id, **state)
        return id

    asked = add("b", 300)
    assert box.runs.full(asked)["expected"] is None
    add("b", 300, "gsup", state="done")
    add("b", 300, state="failed")
    assert box.runs.full(asked)["expected"] is None
    done = add("a", 100, state="done")
    told = box.client().get(f"/api/runs/{asked}").json()["expected"]
    assert told == {
        "steps": [{"step": "verify", "seconds": 6.0}, {"step": "attack", "seconds": 9.0}],
        "same_file": False,
    }
    add("b", 300, state="done")
    told = box.runs.full(asked)["expected"]
    assert (told["same_file"], [one["seconds"] for one in told["steps"]]) == (True, [2.0, 3.0])
    assert "expected" not in box.runs.full(done)
