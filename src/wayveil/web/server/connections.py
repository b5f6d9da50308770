"""Connections that are bounded: in number, in the time that they may take to ask, and in what they may send ahead.

uvicorn closes a connection that is idle after an answer, and bounds the size of the head of a request.  It does not
bound the time until the head is complete, nor the number of connections that have asked nothing yet: a thousand clients
that send a byte a minute would take all file descriptors of the process.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from wayveil.web.server.connection_limits import Limits

__all__ = ["bounded_protocol"]


def bounded_protocol(limits: Limits) -> type[H11Protocol]:
    """Return the protocol of uvicorn with these limits."""

    class Bounded(H11Protocol):
        """Closes what takes too long or is one too many."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._timer: asyncio.TimerHandle | None = None
            self._waits_for = ""
            self._since = 0.0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.connections and not _close_idlest(self):
                self.transport.abort()
            else:
                self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._waits_for == "body":
                self._stop_waiting()  # a byte has come, so the time begins anew
            self._wait()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._stop_waiting()
            self._since = self.loop.time()
            if self.timeout_keep_alive_task is None:  # the next request has begun to come already
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        @property
        def is_idle(self) -> bool:
            """Whether nothing is being answered: no request has come, or none after the last answer."""
            idle = self._waits_for == "head" or self.timeout_keep_alive_task is not None
            return idle and not self.transport.is_closing()

        def _wait(self) -> None:
            """Set the time for what the client has to send next; that for a head runs on, however much has come."""
            state = self.conn.their_state
            expected = {h11.IDLE: "head", h11.SEND_BODY: "body"}.get(state, "")
            if expected == self._waits_for and self._timer is not None:
                return
            self._stop_waiting()
            if expected and not self.transport.is_closing():
                self._waits_for = expected
                self._since = self.loop.time()
                after = limits.head_s if expected == "head" else limits.silence_s
                self._timer = self.loop.call_later(after, self._give_up)

        def _stop_waiting(self) -> None:
            self._waits_for = ""
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            reading = self._waits_for == "head" or self.flow is None or not self.flow.read_paused
            self._stop_waiting()
            if reading:
                self.transport.abort()
            else:
                self._wait()  # it is we who do not read

    def _close_idlest(newcomer: Bounded) -> bool:
        """Close the connection that has asked nothing for longest; False if all are being answered."""
        others = (one for one in newcomer.connections if isinstance(one, Bounded) and one is not newcomer)
        idle = sorted((one for one in others if one.is_idle), key=lambda one: one._since)
        if not idle:
            return False
        idle[0].transport.abort()
        return True

    return Bounded
