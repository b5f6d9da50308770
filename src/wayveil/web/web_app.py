"""The routes: what the page asks for, answered as JSON."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from importlib.metadata import version
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from wayveil.errors import WayveilError, describe_bug
from wayveil.recipe.forms import claim_words, method_forms, step_forms
from wayveil.recipe.recipe import INPUT_KINDS
from wayveil.web.answers import Refused, plainly
from wayveil.web.compared import compare_runs
from wayveil.web.files import Files
from wayveil.web.jobs import Jobs
from wayveil.web.look import Looks
from wayveil.web.pages import page
from wayveil.web.recipe_file import open_recipe
from wayveil.web.request import read_method, read_request
from wayveil.web.runs import ENDED, Runs
from wayveil.web.server.guard import Guard
from wayveil.web.server.zips import zip_of
from wayveil.web.upload_source import find_source

__all__ = ["make_app"]

_BODY = 1 << 20
_LONGEST = 2000
_LOOK_S = 0.25
_ALIVE_S = 10.0
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]+)">')


def make_app(
    *,
    files: Files,
    runs: Runs,
    jobs: Jobs,
    token: str,
    host: str,
    port: int,
    stopping: Callable[[], bool] = lambda: False,
) -> ASGIApp:
    """Return the guarded application; the queue begins when it is started and is stopped with it.

    `stopping` tells whether the server is about to end, so that nobody is told anything any more.
    """
    api = _Api(files, runs, jobs, stopping)
    routes = [
        _route("/api/info", api.info),
        _route("/api/methods", api.methods),
        _route("/api/steps", api.steps),
        _route("/api/claim", api.claim, "POST"),
        _route("/api/recipe", api.open_recipe, "POST"),
        _route("/api/files", api.list_files),
        _route("/api/files", api.upload, "POST"),
        _route("/api/files/{id}", api.delete_file, "DELETE"),
        _route("/api/files/{id}/preview", api.preview),
        _route("/api/files/{id}/preview", api.read, "POST"),
        _route("/api/files/{id}/inspect", api.inspect, "POST"),
        _route("/api/runs", api.list_runs),
        _route("/api/runs", api.start_run, "POST"),
        _route("/api/runs/{id}", api.show_run),
        _route("/api/runs/{id}", api.delete_run, "DELETE"),
        _route("/api/runs/{id}/events", api.events),
        _route("/api/runs/{id}/cancel", api.cancel, "POST"),
        _route("/api/runs/{id}/public.zip", api.public_zip),
        _route("/api/runs/{id}/recipe.toml", api.recipe_toml),
        _route("/api/runs/{id}/report.html", api.report_html),
        _route("/api/runs/{id}/report", api.report_frame),
        _route("/api/compare", api.compare, "POST"),
        # Last, as it takes every path: the page, its scripts, and the sentence that there is no such page.
        _route("/{name:path}", page),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(jobs.open)
        yield
        await run_in_threadpool(jobs.close)
        await run_in_threadpool(api.looks.close)

    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _no_route})
    return Guard(app, token=token, host=host, port=port)


class _Api:
    """One method per route; those that are not asynchronous run in threads."""

    def __init__(self, files: Files, runs: Runs, jobs: Jobs, stopping: Callable[[], bool]) -> None:
        self.files = files
        self.runs = runs
        self.jobs = jobs
        self.looks = Looks()
        self.stopping = stopping

    def info(self, request: Request) -> Response:
        # Counted anew each time: runs grow while they work.
        used = self.files.bytes + sum(run["bytes"] for run in self.runs.all())
        disk = {"used_bytes": used, "free_bytes": shutil.disk_usage(self.files.folder).free}
        limits = {"upload_bytes": self.files.limit, "jobs": self.jobs.limit}
        kinds = list(INPUT_KINDS)
        return JSONResponse(
            {"name": "Wayveil", "version": version("wayveil"), "limits": limits, "disk": disk, "kinds": kinds}
        )

    def methods(self, request: Request) -> Response:
        return JSONResponse(self._methods)

    def steps(self, request: Request) -> Response:
        return JSONResponse(self._steps)

    # Forms do not change while the server runs, and take a moment to make.
    @cached_property
    def _methods(self) -> list[dict[str, Any]]:
        return method_forms()

    @cached_property
    def _steps(self) -> list[dict[str, Any]]:
        return step_forms()

    async def claim(self, request: Request) -> Response:
        posted = await _json(request)
        return JSONResponse(await run_in_threadpool(lambda: claim_words(read_method(posted))))

    async def open_recipe(self, request: Request) -> Response:
        posted = await _json(request)
        if not isinstance(posted, dict) or not isinstance(posted.get("text"), str):
            raise Refused(400, "The request is not understood: it takes text, the recipe.")
        return JSONResponse(await run_in_threadpool(open_recipe, posted["text"]))

    def list_files(self, request: Request) -> Response:
        return JSONResponse([{**facts, "used_by": self.runs.using(facts["id"])} for facts in self.files.all()])

    async def upload(self, request: Request) -> Response:
        name = request.query_params.get("name", "")
        role = request.query_params.get("role", "data")
        facts = await self.files.receive(request.stream(), name, role, _claimed(request))
        return JSONResponse({**facts, "used_by": []}, 201)

    def delete_file(self, request: Request) -> Response:
        id = request.path_params["id"]
        self.files.get(id)
        # A run reads its file when its turn comes, not when it is queued.
        if any(self.runs.state(run)["state"] not in ENDED for run in self.runs.using(id)):
            raise Refused(409, "A run that has not ended uses this file; cancel it first.")
        self.files.remove(id)
        return Response(status_code=204)

    def preview(self, request: Request) -> Response:
        facts = self.files.get(request.path_params["id"])
        given = request.query_params
        options = {name: given.get(name) or None for name in ("kind", "crs", "on_duplicate_time")}
        seen = self.looks.look(self.files.path(facts["id"]), facts, {**options, "columns": _columns(given)})
        return JSONResponse(seen)

    async def read(self, request: Request) -> Response:
        posted = await _json(request)
        return await run_in_threadpool(self._read, request.path_params["id"], posted)

    def _read(self, id: str, posted: Any) -> Response:
        source = posted.get("input") if isinstance(posted, dict) and set(posted) == {"input"} else None
        if not isinstance(source, dict):
            raise Refused(400, "The request is not understood: it takes input, an object.")
        # An unknown id is refused before anything is read.
        self.files.get(id)
        return JSONResponse(self.looks.read(find_source(id, source, self.files)))

    async def inspect(self, request: Request) -> Response:
        posted = await _json(request)
        return await run_in_threadpool(self._inspect, request.path_params["id"], posted)

    def _inspect(self, id: str, posted: Any) -> Response:
        source = posted.get("input", {}) if isinstance(posted, dict) else None
        settings = posted.get("settings", False) if isinstance(posted, dict) else None
        if not isinstance(source, dict) or not isinstance(settings, bool) or not set(posted) <= {"input", "settings"}:
            raise Refused(400, "The request is not understood: it takes input, an object, and settings, true or false.")
        self.files.get(id)
        return JSONResponse(self.looks.inspect(find_source(id, source, self.files), settings=settings))

    def list_runs(self, request: Request) -> Response:
        return JSONResponse(self.runs.all())

    async def start_run(self, request: Request) -> Response:
        posted = await _json(request)
        return await run_in_threadpool(self._start, posted)

    def _start(self, posted: Any) -> Response:
        # Before anything is written: a full queue leaves no trace.
        self.jobs.check_room()
        id = self.runs.add(read_request(posted, self.files), posted)
        self.jobs.submit(id)
        return JSONResponse({"id": id}, 201)

    def show_run(self, request: Request) -> Response:
        return JSONResponse(self.runs.full(request.path_params["id"]))

    def delete_run(self, request: Request) -> Response:
        self.runs.remove(request.path_params["id"])
        return Response(status_code=204)

    def cancel(self, request: Request) -> Response:
        id = request.path_params["id"]
        # Refuses an unknown id.
        self.runs.place(id)
        self.jobs.cancel(id)
        return JSONResponse({"id": id, "state": self.runs.state(id)["state"]}, 202)

    async def events(self, request: Request) -> Response:
        id = request.path_params["id"]
        await run_in_threadpool(self.runs.place, id)
        return StreamingResponse(self._told(id), media_type="text/event-stream")

    async def _told(self, id: str) -> AsyncIterator[str]:
        """Tell every change of a run, until it has ended, is deleted, or the server stops."""
        last = ""
        silent = 0.0
        while not self.stopping():
            try:
                # A look at the disk, and so in a thread: other requests are not held up.
                short = await run_in_threadpool(self.runs.short, id)
            except Refused:
                return
            text = json.dumps(short, ensure_ascii=False)
            if text != last:
                last = text
                silent = 0.0
                yield f"event: state\ndata: {text}\n\n"
            # Comments keep proxies from closing a connection that says nothing.
            elif silent >= _ALIVE_S:
                silent = 0.0
                yield ": still there\n\n"
            # The last state was told above; the browser must not connect again for more.
            if short["state"] in ENDED:
                return
            await asyncio.sleep(_LOOK_S)
            silent += _LOOK_S

    def public_zip(self, request: Request) -> Response:
        id = request.path_params["id"]
        place = self.runs.place(id)
        public = place / "out" / "public"
        # A folder may exist while a run works or after it failed; only the state says that it was verified.
        if self.runs.state(id)["state"] != "done" or not public.is_dir():
            raise Refused(404, "This run has published nothing.")
        return _download(zip_of(public, place / "public.zip"), "public.zip", "application/zip")

    def recipe_toml(self, request: Request) -> Response:
        path = self.runs.place(request.path_params["id"]) / "recipe.toml"
        if not path.is_file():
            raise Refused(404, "This run has no recipe.")
        return _download(path, "recipe.toml", "application/toml")

    def report_html(self, request: Request) -> Response:
        return _download(self._report(request), "report.html", "text/html; charset=utf-8")

    def report_frame(self, request: Request) -> Response:
        """Answer with the report, to be shown inside of the page: with its own policy, and no right of the page."""
        text = self._report(request).read_text(encoding="utf-8")
        # The report carries the policy under which its own scripts may run; the page's would forbid them.
        policy = _POLICY.search(text)
        if policy is None:
            raise Refused(404, "This report was made by an earlier version; download it.")
        headers = {
            # A sandbox without allow-same-origin: scripts of the report cannot read the page or its token.
            "content-security-policy": f"{policy[1]}; frame-ancestors 'self'; sandbox allow-scripts",
            "x-frame-options": "SAMEORIGIN",
        }
        return Response(text, media_type="text/html; charset=utf-8", headers=headers)

    def _report(self, request: Request) -> Path:
        id = request.path_params["id"]
        place = self.runs.place(id)
        # A publication has its report in the private folder, a run that only measures risks directly in `out`.
        pages = [p for p in (place / "out/private/report.html", place / "out/report.html") if p.is_file()]
        if self.runs.state(id)["state"] not in ("done", "refused") or not pages:
            raise Refused(404, "This run has no report.")
        return pages[0]

    async def compare(self, request: Request) -> Response:
        posted = await _json(request)
        return JSONResponse(await run_in_threadpool(compare_runs, posted, self.runs))


def _route(path: str, answer: Callable[[Request], Any], method: str = "GET") -> Route:
    """Return a route whose errors are answered with a sentence."""

    async def awaited(request: Request) -> Response:
        with _answering() as response:
            response.append(await answer(request))
        return response[0]

    def answered(request: Request) -> Response:
        with _answering() as response:
            response.append(answer(request))
        return response[0]

    return Route(path, awaited if iscoroutinefunction(answer) else answered, methods=[method])


@contextmanager
def _answering() -> Iterator[list[Response]]:
    """Give a list for the answer; what goes wrong becomes the answer."""
    answers: list[Response] = []
    try:
        yield answers
    except Refused as refused:
        answers.append(_error(refused.status, refused.sentence))
    except WayveilError as error:
        # The sentences are those of the command line; a page has settings where that has options.
        answers.append(_error(400, plainly(str(error))))
    except ClientDisconnect:
        answers.append(_error(400, "The request was broken off."))
    except OSError:
        answers.append(_error(500, "The system refused to read or write a file."))
    except Exception as error:
        # Whatever it is, the answer holds no traceback and no values.
        answers.append(_error(500, describe_bug(error)))


def _error(status: int, sentence: str) -> Response:
    # A body that was not read to its end would be taken for the next request.
    headers = {"connection": "close"} if status in (413, 507) else None
    return JSONResponse({"error": sentence[:_LONGEST]}, status, headers)


def _no_route(request: Request, error: Exception) -> Awaitable[Response] | Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _error(status, "This cannot be done here." if status == 405 else "There is no such page.")


def _download(path: Path, name: str, media_type: str) -> Response:
    return FileResponse(path, media_type=media_type, filename=name, content_disposition_type="attachment")


def _claimed(request: Request) -> int | None:
    text = request.headers.get("content-length")
    if text is None:
        return None
    # Python takes other digits, signs and spaces for numbers, too.
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise Refused(400, "The length of the request is not a number.")
    return int(text)


async def _json(request: Request) -> Any:
    if (_claimed(request) or 0) > _BODY:
        raise Refused(413, "The request is too large.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        # The head may say less than what comes, or nothing.
        if len(body) > _BODY:
            raise Refused(413, "The request is too large.")
    return _parsed(bytes(body))


def _parsed(body: bytes | str) -> Any:
    try:
        document = json.loads(body)
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()  # half a sign, or no number, is no JSON
    except (ValueError, RecursionError):
        raise Refused(400, "The request is not valid JSON.") from None
    return document


def _columns(given: Any) -> dict[str, str] | None:
    """Return which column is what, from ``traj_id=card,t=time`` or a JSON object; None where nothing is said."""
    text = given.get("columns")
    if text is None:
        return None
    if text.startswith("{"):
        named = _parsed(text)
        if not all(isinstance(column, str) for column in named.values()):
            raise Refused(400, "The columns must be names.")
        return dict(named)
    columns = {}
    for pair in text.split(",") if text else []:
        name, sign, column = pair.partition("=")
        if not (sign and name and column) or name in columns:
            raise Refused(400, "The columns must look like traj_id=card,t=time with each name once.")
        columns[name] = column
    return columns
