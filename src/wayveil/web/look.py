"""The preview or the inspection of a file, made in a process of its own: a strange or huge file cannot hurt the server.

``python -m wayveil.web.look`` reads what to look at as JSON from its input and writes what it saw to its output.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wayveil.errors import WayveilError
from wayveil.web.answers import Refused, plainly
from wayveil.web.upload_source import UploadSource

__all__ = ["Looks", "main"]

_COMMAND = (sys.executable, "-P", "-m", "wayveil.web.look")
_PATIENCE_S = 120
_PATIENCE_WITH_TRIALS_S = 900
_AT_ONCE = 2
_KEPT = 64


class Looks:
    """Looks at files, two at a time, and remembers what it saw; uploads never change."""

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._seen: OrderedDict[str, Any] = OrderedDict()

    def look(self, path: Path, facts: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
        """Return the preview of an upload; `settings` is how to read it, as `preview` takes it."""
        return self._remember({"path": str(path), "name": facts["name"], "told": {"role": facts["role"], **settings}})

    def read(self, source: UploadSource) -> Any:
        """Return the preview of an upload that is read as its source says."""
        return self._remember({"read": source.to_json()})

    def inspect(self, source: UploadSource, *, settings: bool) -> Any:
        """Return the inspection of an upload, see `upload_inspection`; `settings` are tried only where it is said."""
        patience_s = _PATIENCE_WITH_TRIALS_S if settings else _PATIENCE_S
        return self._remember({"inspect": source.to_json(), "settings": settings}, patience_s)

    def _remember(self, content: Mapping[str, Any], patience_s: int = _PATIENCE_S) -> Any:
        key = json.dumps(content, sort_keys=True)
        seen = self._seen.get(key)
        if seen is None:
            with self._room:
                seen = self._seen[key] = self._ask(key, patience_s)
            while len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        return seen

    def _ask(self, request: str, patience_s: int = _PATIENCE_S) -> Any:
        try:
            done = subprocess.run(
                _COMMAND, input=request.encode(), capture_output=True, timeout=patience_s, check=True, cwd="/"
            )
            answer = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            raise Refused(400, "The file takes too long to look at; try a smaller one, or a table.") from None
        except (subprocess.SubprocessError, OSError, ValueError):
            raise Refused(400, "The file cannot be looked at; it may be damaged or too large.") from None
        if "refused" in answer:
            raise Refused(400, answer["refused"])
        return answer


def main() -> int:
    """Look at one file."""
    request = json.load(sys.stdin)
    answer = _inspect(request) if "inspect" in request else _read(request) if "read" in request else _preview(request)
    json.dump(answer, sys.stdout, allow_nan=False)
    return 0


def _inspect(request: Mapping[str, Any]) -> Any:
    from wayveil.web.upload_inspection import inspect_upload

    source = UploadSource(**request["inspect"])
    try:
        return inspect_upload(source, settings=request["settings"])
    except WayveilError as error:
        return {"refused": source.sentence(str(error))}


def _read(request: Mapping[str, Any]) -> Any:
    from wayveil.commands.first_look import preview_input
    from wayveil.recipe.recipe import make_input

    source = UploadSource(**request["read"])
    try:
        preview = preview_input(make_input(dict(source.said)))
    except WayveilError as error:
        return {"refused": source.sentence(str(error))}
    for section in (preview, *preview["columns"]):
        section["problems"] = [source.sentence(text) for text in section["problems"]]
    preview["notes"] = [source.sentence(text) for text in preview["notes"]]
    return preview


def _preview(request: Mapping[str, Any]) -> Any:
    from wayveil.commands.first_look import preview

    path = Path(request["path"])
    try:
        answer = preview(path, **request["told"])
        answer["problems"] = [_worded(sentence, path, request["name"]) for sentence in answer["problems"]]
        answer["notes"] = [_worded(sentence, path, request["name"]) for sentence in answer["notes"]]
        for column in answer["columns"]:
            column["problems"] = [_worded(sentence, path, request["name"]) for sentence in column["problems"]]
    except WayveilError as error:
        answer = {"refused": _worded(str(error), path, request["name"])}
    return answer


def _worded(sentence: str, path: Path, name: str) -> str:
    text = plainly(sentence.replace(str(path), name).replace(path.name, name))
    return text[:1].upper() + text[1:] if not text.startswith(name) else text


if __name__ == "__main__":
    raise SystemExit(main())
