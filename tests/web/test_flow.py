"""The whole flow on a real server with real jobs."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from printed_plugin import environment

from wayveil.cli import main
from wayveil.web.runs import ENDED

TABLE = Path(__file__).parents[2] / "recipes/table1.csv"
KCL = {"name": "kcl", "k": 2, "c": "0.5", "l": 2, "sensitive": {"diagnosis": ["HIV", "Hepatitis"]}}
BROKEN = ["b2 c3 e5", "a1 c3", "b2 e5", "a1 b2 c3", "a1", "a1 b2"]
"""On these records the validity test that the paper prints ends with data that break its own requirement."""


@pytest.fixture(scope="module")
def server(start: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    return start(tmp_path_factory.mktemp("serve") / "data", env=environment(tmp_path_factory.mktemp("plugin")))


@pytest.fixture
def heard(server: Any) -> Iterator[list[str]]:
    """Everything that the server answered; at the end no path of this machine is in it."""
    found: list[str] = []
    yield found
    assert found
    for secret in (str(server.folder.parent), str(Path.home()), tempfile.gettempdir(), os.sep + "tests"):
        assert not [text for text in found if secret in text], secret


@pytest.fixture
def client(server: Any, heard: list[str]) -> Iterator[httpx.Client]:
    def hear(answer: httpx.Response) -> None:
        content = answer.read()
        heard.append(f"{answer.headers}")
        heard.append(content.decode("utf-8", "replace"))
        if answer.headers.get("content-type") == "application/zip":
            with zipfile.ZipFile(io.BytesIO(content)) as made:
                heard.extend(made.read(name).decode("utf-8", "replace") for name in made.namelist())

    with server.client() as client:
        client.event_hooks["response"].append(hear)
        yield client


def upload(client: httpx.Client, name: str, content: Any, role: str = "data") -> str:
    answer = client.post("/api/files", params={"name": name, "role": role}, content=content)
    assert answer.status_code == 201, answer.text
    id: str = answer.json()["id"]
    return id


def begin(client: httpx.Client, file: str, what: str = "publish", title: str = "", **recipe: Any) -> str:
    posted = {"what": what, "title": title, "recipe": {"input": {"file": file, "owners": "each-trajectory"}, **recipe}}
    answer = client.post("/api/runs", json=posted)
    assert answer.status_code == 201, answer.text
    id: str = answer.json()["id"]
    return id


def ended(client: httpx.Client, id: str) -> dict[str, Any]:
    """Follow a run to its end and return all of it."""
    for line in client.get(f"/api/runs/{id}/events").text.splitlines():
        if line.startswith("data: "):
            last = json.loads(line.removeprefix("data: "))
    assert last["state"] in ENDED
    found: dict[str, Any] = client.get(f"/api/runs/{id}").json()
    return found


def test_from_the_file_to_the_download(server: Any, client: httpx.Client, tmp_path: Path) -> None:
    file = upload(client, "Table one.csv", TABLE.read_bytes())
    seen = client.get(f"/api/files/{file}/preview").json()
    assert (seen["kind"], seen["rows"], seen["problems"]) == ("visits", 34, [])
    assert seen["attributes"] == {"diagnosis": ["Fever", "Flu", "HIV", "Hepatitis"]}

    risk = begin(client, file, "risk", sensitive={"diagnosis": ["HIV"]})
    publish = begin(client, file, method=KCL, output={"format": "csv", "keep": ["diagnosis"]})
    listed = client.get("/api/runs").json()
    assert [run["id"] for run in listed] == [publish, risk]
    assert client.delete(f"/api/files/{file}").status_code == 409

    today = ended(client, risk)
    assert (today["state"], today["title"], today["claim"]) == ("done", "Risk in Table one.csv", None)
    assert today["result"]["attacks"][0]["published"] is None
    assert today["result"]["facts"] == "34 visits in 8 trajectories of 8 people"
    assert 0 < today["headline"]["risk"]["raw"] <= 1
    page = client.get(f"/api/runs/{risk}/report.html")
    assert "Risk in Table one.csv" in page.text
    assert page.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert client.get(f"/api/runs/{risk}/recipe.toml").status_code == 404
    assert client.get(f"/api/runs/{risk}/public.zip").status_code == 404

    done = ended(client, publish)
    assert done["state"] == "done"
    assert done["result"]["verdict"]["holds"]
    assert done["result"]["input_facts"]["File"] == "Table one.csv"
    assert "2 visits" in done["claim"]["promise"]
    assert {"verify", "run the method", "write and read back"} <= {step["step"] for step in done["progress"]}
    assert done["headline"]["risk"]["published"] < done["headline"]["risk"]["raw"]
    assert done["headline"]["loss"]["name"] == "place_hours"
    assert done["headline"]["head"]["label"] in ("Kept and low", "Kept, but")
    assert "Table one.csv" in client.get(f"/api/runs/{publish}/report.html").text

    zipped = client.get(f"/api/runs/{publish}/public.zip").content
    assert client.get(f"/api/runs/{publish}/public.zip").content == zipped
    recipe = client.get(f"/api/runs/{publish}/recipe.toml")
    (tmp_path / "recipe.toml").write_bytes(recipe.content)
    (tmp_path / "Table one.csv").write_bytes(TABLE.read_bytes())
    secret = server.folder / "runs" / publish / "out/private/secret.txt"
    assert main(["run", str(tmp_path / "recipe.toml"), "--secret", str(secret)]) == 0
    with zipfile.ZipFile(io.BytesIO(zipped)) as made:
        ours = {name: made.read(name) for name in made.namelist()}
    public = tmp_path / "publication/public"
    assert ours == {f"public/{path.name}": path.read_bytes() for path in public.iterdir()}
    assert sorted(ours) == ["public/README.html", "public/manifest.json", "public/published.csv"]

    compared = client.post("/api/compare", json={"runs": [risk, publish]}).json()
    assert [point["id"] for point in compared["points"]] == [publish]
    assert compared["points"][0]["on_frontier"]
    assert compared["refused"] == [{"id": risk, "why": "It has not published anything."}]
    assert client.post("/api/compare", json={"runs": [risk]}).status_code == 400

    assert client.post(f"/api/runs/{publish}/cancel").status_code == 409
    used = client.get("/api/info").json()["disk"]["used_bytes"]
    for run in (risk, publish):
        assert client.delete(f"/api/runs/{run}").status_code == 204
    assert client.delete(f"/api/files/{file}").status_code == 204
    assert client.get("/api/runs").json() == []
    assert client.get("/api/info").json()["disk"]["used_bytes"] == 0 < used


def test_ids_that_are_alike_stop_a_run_until_the_input_says_what_they_are(client: httpx.Client) -> None:
    alike = upload(client, "alike.csv", "traj_id,t,location\nQw1,1,x\nqW1,1,x\nc,1,x\n")
    method = {"name": "kcl", "k": 2, "c": 1, "l": 1}
    run = ended(client, begin(client, alike, method=method))
    assert (run["state"], run["error"].partition(",")[0]) == (
        "failed",
        "alike.csv: 2 values of column 'traj_id' differ from another only by case",
    )
    said = {"file": alike, "owners": "each-trajectory", "similar_ids": "different"}
    assert ended(client, begin(client, alike, method=method, input=said))["state"] == "done"


def test_a_verdict_that_fails_and_files_that_are_wrong(client: httpx.Client) -> None:
    rows = [f"{i},{visit[1]},{visit[0]}" for i, record in enumerate(BROKEN) for visit in record.split()]
    literal = upload(client, "literal.csv", "\n".join(["traj_id,t,location", *rows]) + "\n")
    bad = upload(client, "bad.csv", "traj_id,t,location\na,soon,x\nb,2,y\n")
    refused = begin(client, literal, method={"name": "kcl_printed", "k": 2, "c": 1, "l": 3})
    failed = begin(client, bad, method={"name": "kcl", "k": 2, "l": 2})

    run = ended(client, refused)
    assert run["state"] == "refused"
    assert run["error"].startswith("Nothing was published: ")
    assert not run["result"]["verdict"]["holds"]
    assert run["result"]["verdict"]["witness"] is not None
    assert client.get(f"/api/runs/{refused}/public.zip").json() == {"error": "This run has published nothing."}
    assert client.get(f"/api/runs/{refused}/report.html").status_code == 200
    assert client.get(f"/api/runs/{refused}/recipe.toml").status_code == 200

    run = ended(client, failed)
    assert (run["state"], run["result"]) == ("failed", None)
    assert run["error"].startswith("bad.csv: column 't'")
    assert "Traceback" not in run["error"]
    seen = client.get(f"/api/files/{bad}/preview").json()
    assert [len(column["problems"]) for column in seen["columns"]] == [0, 1, 0]
    assert "soon" not in seen["columns"][1]["problems"][0]

    junk = upload(client, "junk.csv", b"\x00\xff\xfe" * 50)
    seen = client.get(f"/api/files/{junk}/preview").json()
    assert seen["columns"] == []
    assert len(seen["problems"]) == 1
    for path in ("/api/runs/x", "/api/files/x/preview", "/x", "/api/x"):
        assert client.get(path).status_code == 404


def test_two_hundred_megabytes_do_not_fill_the_memory(server: Any, client: httpx.Client) -> None:
    megabyte = b"".join(b"%07d,%07d,place%d\n" % (i, j, j % 10) for i in range(100) for j in range(430))[: 1 << 20]
    whole = megabyte[: megabyte.rfind(b"\n") + 1]

    def rows() -> Iterator[bytes]:
        yield b"traj_id,t,location\n"
        for _ in range((200 << 20) // len(whole) + 1):
            yield whole

    file = upload(client, "large.csv", rows())
    seen = client.get(f"/api/files/{file}/preview").json()
    assert (seen["kind"], seen["rows"]) == ("visits", None)
    assert seen["at_least"] > 20_000
    assert client.get("/api/files").json()[0]["bytes"] > 200 << 20
    assert server.peak_bytes < 1 << 30
    assert server.peak_bytes < 500 << 20  # and not nearly
    assert client.delete(f"/api/files/{file}").status_code == 204


def test_a_claim_of_ten_gigabytes_is_answered_at_once(server: Any) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    before = sorted((server.folder / "files").iterdir())
    with socket.create_connection((host, int(port)), timeout=20) as line:
        told = f"POST /api/files?name=a.csv HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer "
        line.sendall(f"{told}a-token-for-tests-only\r\nContent-Length: {10 << 30}\r\n\r\n".encode())
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    assert answer.split(b"\r\n")[0].split()[1] == b"413"
    assert sorted((server.folder / "files").iterdir()) == before


def test_a_server_that_is_killed_goes_on_where_it_was(
    start: Callable[..., Any],
    tmp_path: Path,
    pretending: tuple[str, ...],
    wait_until: Callable[..., Any],
    alive: Callable[[int], bool],
) -> None:
    first = start(tmp_path / "data", command=pretending)
    with first.client() as client:
        file = upload(client, "a.csv", TABLE.read_bytes())
        long, lost, waits = (begin(client, file, title=way, method=KCL) for way in ("hang one", "hang two", "done"))
        for id in (long, lost):
            wait_until(lambda id=id: (tmp_path / f"data/runs/{id}/began").exists(), bool)
        assert client.get(f"/api/runs/{waits}").json()["state"] == "queued"
    first.stop(signal.SIGKILL)
    pids = {id: json.loads((tmp_path / f"data/runs/{id}/state.json").read_text())["pid"] for id in (long, lost)}
    assert alive(pids[long])
    os.kill(pids[lost], signal.SIGKILL)
    wait_until(lambda: alive(pids[lost]), lambda lives: not lives)

    second = start(tmp_path / "data", command=pretending)
    with second.client() as client:
        assert ended(client, waits)["state"] == "done"
        assert client.get(f"/api/runs/{long}").json()["state"] == "running"
        assert "The server was stopped" in client.get(f"/api/runs/{lost}").json()["error"]
        assert client.post(f"/api/runs/{long}/cancel").status_code == 202
        assert ended(client, long)["state"] == "cancelled"
        again = begin(client, file, title="hang", method=KCL)
        pid = wait_until(
            lambda: json.loads((tmp_path / f"data/runs/{again}/state.json").read_text()), lambda s: "pid" in s
        )["pid"]
        with client.stream("GET", f"/api/runs/{again}/events") as told:
            assert next(told.iter_text()).startswith("event: state")
            second.process.send_signal(signal.SIGINT)
            said, _ = second.process.communicate(timeout=30)
    assert (second.process.returncode, said) == (0, "")
    assert not alive(pid)


@pytest.mark.slow
def test_ten_real_runs_at_once_all_end_well(client: httpx.Client) -> None:
    file = upload(client, "Table one.csv", TABLE.read_bytes())
    ids = [begin(client, file, method={**KCL, "k": 2 + i % 2}, seed=i) for i in range(10)]
    runs = [ended(client, id) for id in ids]
    assert [run["state"] for run in runs] == ["done"] * 10
    zips = [client.get(f"/api/runs/{id}/public.zip").content for id in ids]
    assert len(set(zips)) == 10
    compared = client.post("/api/compare", json={"runs": ids}).json()
    assert len(compared["points"]) == 10
    assert compared["refused"] == []
    assert client.get("/api/info").status_code == 200
