"""The queue: every run is a process of its own, a few at a time, that can be stopped and can crash alone."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wayveil.web.answers import Refused
from wayveil.web.runs import ENDED, Runs
from wayveil.web.server.disk import now, read_json

__all__ = ["COMMAND", "MOST_WAITING", "Jobs"]

COMMAND = (sys.executable, "-P", "-m", "wayveil.web.job")
"""What runs a job; its folder and the number of threads follow."""

MOST_WAITING = 100

_LOST = "The server was stopped while this ran; start it again."
_PATIENCE_S = 3.0
_LOOK_S = 0.25


class Jobs:
    """Runs what is queued, at most `limit` at a time.

    Parameters
    ----------
    runs : Runs
        Where runs are kept.
    limit : int
        How many processes may run at a time.
    command : sequence of str
        What runs a job.
    """

    def __init__(self, runs: Runs, *, limit: int = 1, command: Sequence[str] = COMMAND) -> None:
        self.limit = limit
        self._runs = runs
        self._command = tuple(command)
        self._queue: deque[str] = deque()
        self._processes: dict[str, int] = {}
        self._stopped: set[str] = set()
        self._changed = threading.Condition()
        self._closing = False
        self._threads: list[threading.Thread] = []

    def open(self) -> None:
        """Go on with what an earlier server left: queued runs wait again, running ones are watched or lost."""
        # A server may have been killed while jobs ran. Their processes live on and hold a lock on a file of their run,
        # which tells them from those that died.
        for id in reversed(self._runs.ids()):
            state = self._runs.state(id)
            if state["state"] == "queued":
                self._queue.append(id)
            elif state["state"] == "running" and _is_held(self._runs.place(id)):
                self._processes[id] = state["pid"]
                self._start(self._watch, id)
            elif state["state"] == "running":
                self._finish(id, None)
        for _ in range(self.limit):
            self._start(self._work)

    def close(self) -> None:
        """Stop the queue and the processes; what is queued stays queued."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            for pid in self._processes.values():
                _signal(pid, signal.SIGTERM)
        for thread in self._threads:
            thread.join(_PATIENCE_S)
        for pid in list(self._processes.values()):
            _signal(pid, signal.SIGKILL)
        for thread in self._threads:
            thread.join(_PATIENCE_S)

    def submit(self, id: str) -> None:
        """Queue a run."""
        with self._changed:
            self._queue.append(id)
            self._changed.notify()

    def check_room(self) -> None:
        """Refuse one more run where too many wait already."""
        if len(self._queue) >= MOST_WAITING:
            raise Refused(429, f"{MOST_WAITING} runs wait already; wait for some of them, or cancel them.")

    def cancel(self, id: str) -> None:
        """Take a run out of the queue, or stop its process; Refused if it has ended."""
        with self._changed:
            if id in self._queue:
                self._queue.remove(id)
                self._runs.change(id, state="cancelled", ended=now())
                return
            if self._runs.state(id)["state"] in ENDED or id not in self._processes:
                raise Refused(409, "This run has ended already.")
            self._stopped.add(id)
            _signal(self._processes[id], signal.SIGTERM)
        # A job that is asked to end cleans up after itself; one that does not is ended.
        timer = threading.Timer(_PATIENCE_S, self._kill, (id,))
        timer.daemon = True
        timer.start()

    def _start(self, function: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _kill(self, id: str) -> None:
        with self._changed:
            if id in self._processes:
                _signal(self._processes[id], signal.SIGKILL)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._closing:
                    self._changed.wait()
                if self._closing:
                    return
                id = self._queue.popleft()
                process = self._spawn(id)
            code = None if process is None else process.wait()
            with self._changed:
                self._processes.pop(id, None)
                # What was stopped with the server stays as it is, for the next server to tell.
                if not self._closing or (self._runs.place(id) / "end.json").exists():
                    self._finish(id, code)

    def _spawn(self, id: str) -> subprocess.Popen[bytes] | None:
        """Start the process of a run; None, and the run has failed, where the system refuses."""
        place = self._runs.place(id)
        threads = max(1, len(os.sched_getaffinity(0)) // self.limit) if hasattr(os, "sched_getaffinity") else 1
        try:
            # The lock goes to the process with the open file, and is held as long as the process lives.
            with open(place / "log.txt", "ab") as log, open(place / "lock", "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                process = subprocess.Popen(
                    [*self._command, str(place), str(threads)],
                    cwd=place,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(lock.fileno(),),
                    start_new_session=True,
                )
        except OSError:
            self._runs.change(id, state="failed", ended=now(), error="The system could not start the job.")
            return None
        self._processes[id] = process.pid
        self._runs.change(id, state="running", started=now(), pid=process.pid)
        return process

    def _watch(self, id: str) -> None:
        """Wait for a process that an earlier server started."""
        place = self._runs.place(id)
        while _is_held(place) and not self._closing:
            threading.Event().wait(_LOOK_S)
        with self._changed:
            self._processes.pop(id, None)
            if not self._closing:
                self._finish(id, None)

    def _finish(self, id: str, code: int | None) -> None:
        """Write down how a run ended: as the job says itself, or as it must have been."""
        place = self._runs.place(id)
        if self._runs.state(id)["state"] in ENDED:
            return
        ending = read_json(place / "end.json")
        # Who cancels a run that was done in the same moment gets its result.
        if id in self._stopped and (ending is None or ending["state"] != "done"):
            end: dict[str, Any] = {"state": "cancelled", "error": None}
        elif ending is not None:
            end = ending
        else:
            end = {"state": "failed", "error": _crash(code)}
        self._stopped.discard(id)
        if end["state"] in ("cancelled", "failed"):
            shutil.rmtree(place / "out", ignore_errors=True)
        self._runs.change(id, ended=now(), **end)


def _crash(code: int | None) -> str:
    if code is None:
        return _LOST
    if code < 0:
        return (
            f"The job was ended by the system (signal {-code}), perhaps for lack of memory; nothing was published. "
            "Try fewer data or coarser times."
        )
    return f"The job ended without a result (exit code {code}); nothing was published."


def _is_held(place: Path) -> bool:
    """Return whether the process of a run lives."""
    try:
        with open(place / "lock", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _signal(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return
