"""A server in this process with jobs that only pretend, and one in a process of its own with real ones."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from wayveil.web.files import Files
from wayveil.web.jobs import Jobs
from wayveil.web.request import Request
from wayveil.web.runs import ENDED, Runs
from wayveil.web.web_app import make_app

TOKEN = "a-token-for-tests-only"
PORT = 8000
LIMIT = 1 << 20

PRETENDING = """
import json, os, pathlib, signal, sys, time
place = pathlib.Path(sys.argv[1])
how = json.loads((place / "job.json").read_text())["title"].split()[0]
def end(**said):
    (place / "end.json").write_text(json.dumps(said))
(place / "out").mkdir()
(place / "began").write_text(str(time.time()))
if how == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "silent":
    raise SystemExit(3)
elif how == "fail":
    end(state="failed", error="It is wrong.")
elif how == "refuse":
    end(state="refused", error="No.", headline=None)
elif how == "hang":
    time.sleep(60)
elif how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (place / "deaf").touch()
    time.sleep(60)
elif how == "gentle":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit((place / "asked").touch()))
    (place / "deaf").touch()
    time.sleep(60)
elif how == "short":
    time.sleep(1.5)
    end(state="done", error=None, headline=None)
else:
    time.sleep(0.05)
    end(state="done", error=None, headline=None)
(place / "over").write_text(str(time.time()))
"""


class Client:
    """Asks an application in this process; keeps cookies as a browser does."""

    def __init__(self, app: Any, headers: dict[str, str]) -> None:
        self.transport = httpx.ASGITransport(app)
        self.headers = headers
        self.cookies = httpx.Cookies()

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            told = {"transport": self.transport, "base_url": f"http://127.0.0.1:{PORT}", "headers": self.headers}
            async with httpx.AsyncClient(cookies=self.cookies, trust_env=False, **told) as client:
                answer = await client.request(method, path, **options)
                self.cookies = client.cookies
                return answer

        return asyncio.run(asked())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)


@dataclass
class Box:
    """A server in this process."""

    folder: Path
    command: tuple[str, ...]
    limit: int = 1
    files: Files = field(init=False)
    runs: Runs = field(init=False)
    jobs: Jobs = field(init=False)

    def __post_init__(self) -> None:
        self.files = Files(folder=self.folder / "files", limit=LIMIT)
        self.runs = Runs(folder=self.folder / "runs")
        self.files.open()
        self.runs.open()
        self.jobs = Jobs(self.runs, limit=self.limit, command=self.command)

    def app(self, host: str = "127.0.0.1") -> Any:
        return make_app(files=self.files, runs=self.runs, jobs=self.jobs, token=TOKEN, host=host, port=PORT)

    def client(self, **headers: str) -> Client:
        return Client(self.app(), {"authorization": f"Bearer {TOKEN}", **headers})

    def bare(self, at: str = "127.0.0.1", **headers: str) -> Client:
        """Return a client that brings nothing but what is given."""
        return Client(self.app(at), headers)

    def add(self, title: str) -> str:
        """Add a run that goes as its title says."""
        names = {"0" * 32: "a.csv"}
        asked = Request(what="publish", title=title, method="kcl", file="a.csv", file_id="0" * 32, file_bytes=9,
                        text="", content={}, uploads={"path": "0" * 32}, names=names, claim=None)  # fmt: skip
        return self.runs.add(asked, {"recipe": {}})

    def wait(self, id: str, *states: str) -> dict[str, Any]:
        """Wait for a run to be in one of these states, ended by default."""
        return until(lambda: self.runs.state(id), lambda state: state["state"] in (states or ENDED))

    def left(self) -> list[str]:
        """Return everything that is on disk."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))


def until(look: Callable[[], Any], good: Callable[[Any], bool], patience_s: float = 60) -> Any:
    """Look until what is seen is good."""
    end = time.monotonic() + patience_s
    while not good(seen := look()):
        if time.monotonic() > end:
            raise TimeoutError(f"still {seen}")
        time.sleep(0.02)
    return seen


@pytest.fixture
def pretending(tmp_path: Path) -> tuple[str, ...]:
    """The command of jobs that only pretend; the first word of a title says how they go."""
    script = tmp_path / "pretending.py"
    script.write_text(PRETENDING)
    return (sys.executable, "-S", "-E", str(script))


@pytest.fixture
def make_box(tmp_path: Path, pretending: tuple[str, ...]) -> Iterator[Callable[..., Box]]:
    """A function that makes a server on the same folder, as often as it is called; all are stopped at the end."""
    made: list[Box] = []
    (tmp_path / "data").mkdir()

    def make(**options: Any) -> Box:
        made.append(Box(folder=tmp_path / "data", **{"command": pretending, **options}))
        return made[-1]

    yield make
    for box in made:
        box.jobs.close()


@pytest.fixture
def box(make_box: Callable[..., Box]) -> Box:
    """A server whose jobs only pretend."""
    return make_box()


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    """The function `until`."""
    return until


@pytest.fixture
def ask() -> Callable[..., tuple[int, bytes, int]]:
    """A function that sends a request piece by piece and returns the status, the body and how many pieces were read."""

    def ask(app: Any, method: str, path: str, headers: dict[str, str], pieces: Iterator[bytes | None]) -> Any:
        told = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {TOKEN}", **headers}
        bare, _, query = path.partition("?")
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": bare,
                 "raw_path": bare.encode(), "query_string": query.encode(), "scheme": "http", "root_path": "",
                 "headers": [(k.encode(), v.encode()) for k, v in told.items()]}  # fmt: skip
        taken, sent = 0, []

        async def receive() -> dict[str, Any]:
            nonlocal taken
            taken += 1
            piece = next(pieces, None)
            if piece is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": piece, "more_body": True}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(app(scope, receive, send))
        return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:]), taken

    return ask


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    link: str
    folder: Path

    @property
    def url(self) -> str:
        return self.link.partition("/?")[0]

    def client(self, **headers: str) -> httpx.Client:
        told = {"authorization": f"Bearer {TOKEN}", **headers}
        return httpx.Client(base_url=self.url, headers=told, timeout=120, trust_env=False)

    @property
    def peak_bytes(self) -> int:
        """The most memory that the process ever had."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

    def stop(self, how: int = signal.SIGINT) -> None:
        self.process.send_signal(how)
        self.process.communicate(timeout=30)


@pytest.fixture(scope="session")
def start() -> Iterator[Callable[..., Server]]:
    """A function that starts a server on a folder; all are stopped at the end."""
    code = (
        "import sys; from pathlib import Path; from wayveil.web import serve\n"
        "serve(on_ready=lambda link: print(link, flush=True), token=sys.argv[1], data=Path(sys.argv[2]), "
        "max_upload=int(sys.argv[3]), jobs=2, job_command=sys.argv[4:] or None)"
    )
    started: list[Server] = []

    def start(
        folder: Path, *, limit: int = 1 << 30, command: tuple[str, ...] = (), env: dict[str, str] | None = None
    ) -> Server:
        arguments = [sys.executable, "-W", "error", "-c", code, TOKEN, str(folder), str(limit), *command]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        assert process.stdout is not None
        server = Server(process=process, link=process.stdout.readline().strip(), folder=folder)
        started.append(server)
        until(lambda: _answers(server), bool)
        return server

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop()


def _answers(server: Server) -> bool:
    try:
        with server.client() as client:
            return client.get("/api/info").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def alive() -> Callable[[int], bool]:
    """A function that tells whether a process lives."""

    def alive(pid: int) -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state != "Z" and os.path.exists(f"/proc/{pid}")

    return alive
