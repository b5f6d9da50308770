"""The page and its files, as they were built; only names that are there are answered."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from wayveil.web.answers import Refused

__all__ = ["page"]

STATIC = Path(__file__).parent / "static"
_LAYER = Path(str(files("wayveil.report").joinpath("visual", "visual.js")))  # what draws: the report carries the same
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}


def page(request: Request) -> Response:
    """Answer with a file of the page."""
    name = request.path_params["name"] or "index.html"
    built = {path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()}
    file = {**built, "assets/visual.js": _LAYER}.get(name)
    if file is None or file.suffix not in _TYPES:
        raise Refused(404, "There is no such page.")
    return FileResponse(file, media_type=_TYPES[file.suffix])
