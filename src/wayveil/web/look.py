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

    def look(self, path: Path, facts: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
        """Return the preview of an upload; `told` is how to read it, as `preview` takes it."""
        return self._remember({"path": str(path), "name": facts["name"], "told": {"role": facts["role"], **told}})

    def read(self, source: UploadSource) -> Any:
        """Return the preview of an upload that is read as its source says."""
        return self._remember({"read": source.to_json()})

    def inspect(self, source: UploadSource, *, settings: bool) -> Any:
        """Return the inspection of an upload, see `upload_inspection`; `settings` are tried only where it is said."""
        patience_s = _PATIENCE_WITH_TRIALS_S if settings else _PATIENCE_S
        return self._remember({"inspect": source.to_json(), "settings": settings}, patience_s)

    def _remember(self, content: Mapping[str, Any], patience_s: int = _PATIENCE_S) -> Any:
        asked = json.dumps(content, sort_keys=True)
        seen = self._seen.get(asked)
        if seen is None:
            with self._room:
                seen = self._seen[asked] = self._ask(asked, patience_s)
            while len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        return seen

    def _ask(self, asked: str, patience_s: int = _PATIENCE_S) -> Any:
        try:
            done = subprocess.run(
                _COMMAND, input=asked.encode(), capture_output=True, timeout=patience_s, check=True, cwd="/"
            )
            found = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            raise Refused(400, "The file takes too long to look at; try a smaller one, or a table.") from None
        except (subprocess.SubprocessError, OSError, ValueError):
            raise Refused(400, "The file cannot be looked at; it may be damaged or too large.") from None
        if "refused" in found:
            raise Refused(400, found["refused"])
        return found


def main() -> int:
    """Look at one file."""
    asked = json.load(sys.stdin)
    found = _inspect(asked) if "inspect" in asked else _read(asked) if "read" in asked else _preview(asked)
    json.dump(found, sys.stdout, allow_nan=False)
    return 0


def _inspect(asked: Mapping[str, Any]) -> Any:
    from wayveil.web.upload_inspection import inspect_upload

    source = UploadSource(**asked["inspect"])
    try:
        return inspect_upload(source, settings=asked["settings"])
    except WayveilError as error:
        return {"refused": source.sentence(str(error))}


def _read(asked: Mapping[str, Any]) -> Any:
    from wayveil.commands.first_look import preview_input
    from wayveil.recipe.recipe import make_input

    source = UploadSource(**asked["read"])
    try:
        found = preview_input(make_input(dict(source.said)))
    except WayveilError as error:
        return {"refused": source.sentence(str(error))}
    for told in (found, *found["columns"]):
        told["problems"] = [source.sentence(text) for text in told["problems"]]
    found["notes"] = [source.sentence(text) for text in found["notes"]]
    return found


def _preview(asked: Mapping[str, Any]) -> Any:
    from wayveil.commands.first_look import preview

    path = Path(asked["path"])
    try:
        found = preview(path, **asked["told"])
        found["problems"] = [_worded(sentence, path, asked["name"]) for sentence in found["problems"]]
        found["notes"] = [_worded(sentence, path, asked["name"]) for sentence in found["notes"]]
        for column in found["columns"]:
            column["problems"] = [_worded(sentence, path, asked["name"]) for sentence in column["problems"]]
    except WayveilError as error:
        found = {"refused": _worded(str(error), path, asked["name"])}
    return found


def _worded(sentence: str, path: Path, name: str) -> str:
    text = plainly(sentence.replace(str(path), name).replace(path.name, name))
    return text[:1].upper() + text[1:] if not text.startswith(name) else text


if __name__ == "__main__":
    raise SystemExit(main())
