"""The preview or the inspection of a file, made in another process: a strange or huge file cannot hurt the server.

``python -m wayveil.web.look`` reads what to look at from its input, a JSON object per line, and answers with what it
saw, a line each, until its input ends.  It stays warm between looks: a changed setting is looked at without starting
Python again.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import sys
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from wayveil.errors import WayveilError
from wayveil.web.answers import Refused, plainly
from wayveil.web.look_worker import LookWorker, WorkerDied, WorkerTooSlow
from wayveil.web.upload_source import UploadSource

__all__ = ["Looks", "main"]

_PATIENCE_S = 120
_PATIENCE_WITH_TRIALS_S = 900
_AT_ONCE = 2
_KEPT = 64


class Looks:
    """Looks at files, two at a time, and remembers what it saw; uploads never change."""

    def __init__(self) -> None:
        self._workers = [LookWorker() for _ in range(_AT_ONCE)]
        # The last that was given back is the first that is taken: one is enough until two look at the same time.
        self._free: queue.LifoQueue[LookWorker] = queue.LifoQueue()
        for worker in self._workers:
            self._free.put(worker)
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
            seen = self._seen[key] = self._ask(key, patience_s)
            while len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        return seen

    def _ask(self, request: str, patience_s: int = _PATIENCE_S) -> Any:
        worker = self._free.get()
        try:
            answer = worker.ask(request, patience_s)
        except WorkerTooSlow:
            raise Refused(400, "The file takes too long to look at; try a smaller one, or a table.") from None
        except WorkerDied:
            raise Refused(400, "The file cannot be looked at; it may be damaged or too large.") from None
        finally:
            self._free.put(worker)
        if "refused" in answer:
            raise Refused(400, answer["refused"])
        return answer

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()


def main() -> int:
    """Look at files until the input ends."""
    return look_at_all(sys.stdin, _own_output())


def look_at_all(requests: TextIO, answers: TextIO) -> int:
    """Answer each line with a line: what was seen, and how much memory the process had at its peak."""
    for line in requests:
        request = json.loads(line)
        look = _inspect if "inspect" in request else _read if "read" in request else _preview
        answer = {"seen": look(request), "peak_bytes": _peak_bytes()}
        answers.write(json.dumps(answer, allow_nan=False) + "\n")
        answers.flush()
    return 0


def _peak_bytes() -> int:
    """Return the memory of this process at its peak.

    On Linux not by `getrusage`: that begins with the peak of whoever started this process.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    except (OSError, ValueError, IndexError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _own_output() -> TextIO:
    """Return a stream to where the answers go; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    return answers


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
        preview = preview_input(make_input(dict(source.source_input)))
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
