"""Signals that end a command: it cleans up, as it does after Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Stopped", "stopping_gently"]

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_BURST_S = 5.0


class Stopped(BaseException):
    """The process was told to end; no ``except Exception`` stops it on its way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number


@contextmanager
def stopping_gently() -> Iterator[None]:
    """Raise Stopped in the main thread where SIGTERM or SIGHUP comes, so that folders are removed on the way out.

    A signal that the caller ignores stays ignored, as under ``nohup``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last = [float("-inf")]

    def stop(number: int, frame: FrameType | None) -> None:
        # A terminal that is closed sends several: the second one must not break off what the first one began.
        now = time.monotonic()
        if now - last[0] > _BURST_S:
            last[0] = now
            raise Stopped(number)

    taken = [number for number in _ENDING if signal.getsignal(number) == signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, stop)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
