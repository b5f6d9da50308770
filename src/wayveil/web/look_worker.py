"""A process that looks at files, kept warm between looks, and ended where it takes too long, dies or grows."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

__all__ = ["COMMAND", "LookWorker", "WorkerDied", "WorkerTooSlow"]

COMMAND = (sys.executable, "-P", "-m", "wayveil.web.look")
"""What looks at files: takes a request per line and answers with a line each."""

_MOST_LOOKS = 200
_MOST_BYTES = 1 << 30  # of the process at its peak; a larger one is ended after its answer, so that memory comes back


class WorkerTooSlow(Exception):
    """A look took longer than it may; its process was ended."""


class WorkerDied(Exception):
    """The process ended, or said something that is no answer."""


class LookWorker:
    """One process; it looks at one file at a time, and is started when it is first asked."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = tuple(command)
        self._process: subprocess.Popen[str] | None = None
        self._looks = 0

    @property
    def pid(self) -> int | None:
        """The number of the process; None while there is none."""
        return None if self._process is None else self._process.pid

    def ask(self, request: str, patience_s: float) -> Any:
        """Return the answer to one request; WorkerTooSlow or WorkerDied, and the next request has a new process."""
        try:
            process = self._process or self._start()
        except OSError:
            raise WorkerDied from None
        late = threading.Event()
        timer = threading.Timer(patience_s, _end_late, (process, late))
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(request.replace("\n", " ") + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
        except (OSError, ValueError):
            self.close()
            raise (WorkerTooSlow if late.is_set() else WorkerDied) from None
        finally:
            timer.cancel()
        self._looks += 1
        if self._looks >= _MOST_LOOKS or answer["peak_bytes"] > _MOST_BYTES:
            self.close()
        return answer["seen"]

    def close(self) -> None:
        """End the process."""
        process = self._process
        self._process = None
        self._looks = 0
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # what was not sent any more
                    stream.close()
        process.wait()

    def __del__(self) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
            text=True, encoding="utf-8", start_new_session=True,
        )  # fmt: skip
        return self._process


def _end_late(process: subprocess.Popen[str], late: threading.Event) -> None:
    late.set()
    process.kill()
