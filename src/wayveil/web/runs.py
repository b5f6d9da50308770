"""Runs on disk: ``runs/ID`` with what was asked (``job.json``, ``recipe.toml``), its state, progress and result."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wayveil.web.answers import Refused
from wayveil.web.request import Request
from wayveil.web.server.disk import bytes_of, is_id, new_id, now, read_json, write_json

__all__ = ["ENDED", "Runs"]

ENDED = ("done", "refused", "failed", "cancelled")
"""States that do not change any more; the others are queued and running."""

_PART = ".part-"


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The folder of runs.

    Only the server writes ``state.json``; only the job writes ``progress.json``, ``end.json`` and ``result.json``.
    """

    folder: Path
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self) -> None:
        """Make the folder, and remove what was being deleted or made when the server was stopped."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for place in self.folder.glob(f"{_PART}*"):
            shutil.rmtree(place, ignore_errors=True)

    def add(self, request: Request, posted: Any) -> str:
        """Keep a new run, queued; return its id."""
        id = new_id()
        place = self.folder / f"{_PART}{id}"
        place.mkdir(mode=0o700)
        job = {**asdict(request), "id": id, "created": now(), "posted": posted}
        text = job.pop("text")
        if text:
            (place / "recipe.toml").write_text(text, encoding="utf-8")
        write_json(place / "job.json", job)
        write_json(place / "state.json", {"state": "queued", "started": None, "ended": None, "error": None})
        os.replace(place, self.folder / id)
        return id

    def place(self, id: str) -> Path:
        """Return the folder of a run; Refused if there is none."""
        if not is_id(id) or not (self.folder / id).is_dir():
            raise _none()
        return self.folder / id

    def job(self, id: str) -> dict[str, Any]:
        """Return what was asked for."""
        return self._read(id, "job.json")

    def state(self, id: str) -> dict[str, Any]:
        """Return the state of a run, with times and the error if there is one."""
        return self._read(id, "state.json")

    def _read(self, id: str, name: str) -> dict[str, Any]:
        content: dict[str, Any] | None = read_json(self.place(id) / name)
        if content is None:
            raise _none()
        return content

    def change(self, id: str, **values: Any) -> None:
        """Change the state of a run."""
        with self._lock:
            write_json(self.place(id) / "state.json", {**self.state(id), **values})

    def ids(self) -> list[str]:
        """Return all runs, the newest first."""
        names = [place.name for place in self.folder.iterdir() if is_id(place.name)]
        created = {id: job["created"] for id in names if (job := read_json(self.folder / id / "job.json")) is not None}
        return sorted(created, key=lambda id: created[id], reverse=True)

    def remove(self, id: str) -> None:
        """Delete a run that has ended."""
        with self._lock:
            if self.state(id)["state"] not in ENDED:
                raise Refused(409, "This run has not ended; cancel it first.")
            doomed = self.folder / f"{_PART}{id}"
            os.replace(self.place(id), doomed)
        shutil.rmtree(doomed, ignore_errors=True)

    def all(self) -> list[dict[str, Any]]:
        """Return what a list shows of every run, the newest first."""
        runs = []
        for id in self.ids():
            with suppress(Refused):  # deleted meanwhile
                runs.append(self.short(id))
        return runs

    def using(self, file: str) -> list[str]:
        """Return the runs that use a file, the newest first."""
        jobs = ((id, read_json(self.folder / id / "job.json") or {"names": ()}) for id in self.ids())
        return [id for id, job in jobs if file in job["names"]]

    def short(self, id: str) -> dict[str, Any]:
        """Return what a list shows of a run."""
        place = self.place(id)
        job = self.job(id)
        state = self.state(id)
        progress = read_json(place / "progress.json") or {}
        running = state["state"] == "running"
        return {
            **{name: job[name] for name in ("id", "what", "title", "method", "file", "file_id", "created")},
            **{name: state[name] for name in ("state", "started", "ended", "error")},
            **{name: progress.get(name) if running else None for name in ("step", "done", "total")},
            "headline": state.get("headline"),
            "bytes": bytes_of(place),
        }

    def expected(self, id: str) -> dict[str, Any] | None:
        """Return how long the steps of a run may take, by an earlier one that did the same; None where there is none.

        Taken is the newest that was done with the same method, of the same file if there is one; of another file, its
        seconds are scaled by the sizes of the files.
        """
        job = self.job(id)
        alike = []
        for other in self.ids():
            with suppress(Refused):
                past = self.job(other)
                same = (past["what"], past["method"]) == (job["what"], job["method"])
                if other != id and same and self.state(other)["state"] == "done":
                    alike.append(other)
        if not alike:
            return None
        same_file = [other for other in alike if self.job(other)["file_id"] == job["file_id"]]
        taken = (same_file or alike)[0]
        scale = 1.0 if same_file else job.get("file_bytes", 0) / (self.job(taken).get("file_bytes") or 1) or 1.0
        steps = (read_json(self.place(taken) / "progress.json") or {}).get("steps", [])
        return {
            "steps": [{"step": one["step"], "seconds": round(one["seconds"] * scale, 3)} for one in steps],
            "same_file": bool(same_file),
        }

    def full(self, id: str) -> dict[str, Any]:
        """Return everything of a run, with its result once it has ended."""
        place = self.place(id)
        short = self.short(id)
        progress = read_json(place / "progress.json") or {}
        result = read_json(place / "result.json") if short["state"] in ("done", "refused") else None
        job = self.job(id)
        more = {"recipe": job["posted"]["recipe"], "claim": job["claim"]}
        if short["state"] not in ENDED:
            more["expected"] = self.expected(id)
        return {**short, "progress": progress.get("steps", []), **more, "result": result}


def _none() -> Refused:
    return Refused(404, "There is no such run; it may have been deleted.")
