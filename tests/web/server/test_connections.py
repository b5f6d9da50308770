"""Clients that take their time: bounded in number, in time and in what they send ahead."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from wayveil.web.server.connection_limits import Limits
from wayveil.web.server.connections import bounded_protocol

ANSWERED = b"HTTP/1.1 200 OK"
REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
LONG_S = 3600.0
Connect = Callable[[], socket.socket]


@pytest.fixture
def go_on() -> threading.Event:
    """Set for answers to "/wait" to be given."""
    return threading.Event()


@pytest.fixture
def begun() -> threading.Event:
    """Set when an answer to "/wait" waits."""
    return threading.Event()


@pytest.fixture
def serve(go_on: threading.Event, begun: threading.Event) -> Iterator[Callable[..., Connect]]:
    """A function that starts a server with limits and returns one that connects to it."""
    ended: list[Callable[[], None]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while scope["method"] == "POST":
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            if not message["more_body"]:
                break
        if scope["path"] == "/wait":
            begun.set()
            while not go_on.is_set():
                await wait(0.01)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def start(**limits: Any) -> Connect:
        bounds = Limits(**{"head_s": LONG_S, "silence_s": LONG_S, "idle_s": int(LONG_S), **limits})
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, http=bounded_protocol(bounds), ws="none", lifespan="off", log_level="critical",
            timeout_keep_alive=bounds.idle_s, h11_max_incomplete_event_size=bounds.head_bytes,
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        connected: list[socket.socket] = []

        def connect() -> socket.socket:
            connected.append(socket.create_connection(listener.getsockname(), timeout=60))
            return connected[-1]

        def end() -> None:
            go_on.set()
            for one in connected:
                one.close()
            server.should_exit = True
            thread.join()

        ended.append(end)
        return connect

    yield start
    for end in ended:
        end()


async def wait(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


def rest(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes."""
    found = b""
    with suppress(ConnectionError):
        while piece := connection.recv(4096):
            found += piece
    return found


def ask(connection: socket.socket) -> None:
    connection.sendall(REQUEST)
    assert connection.recv(4096).startswith(ANSWERED)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(serve: Callable[..., Connect], sent: bytes) -> None:
    connection = serve(head_s=0.2)()
    connection.sendall(sent)
    assert rest(connection) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for_either(serve: Callable[..., Connect]) -> None:
    connection = serve(head_s=0.3)()
    connection.settimeout(0.02)
    closed = False
    connection.sendall(b"GET / HTTP/1.1\r\n")
    while not closed:  # for ever, if no byte ever were the last one
        try:
            connection.sendall(b"x")
            closed = connection.recv(1) == b""
        except TimeoutError:
            continue
        except ConnectionError:
            closed = True


def test_the_second_request_of_a_connection_has_a_time_too(serve: Callable[..., Connect]) -> None:
    connection = serve(head_s=0.3)()
    ask(connection)
    ask(connection)
    connection.sendall(b"GET /")
    assert rest(connection) == b""


def test_a_body_that_stops_coming_is_not_waited_for(serve: Callable[..., Connect]) -> None:
    connection = serve(silence_s=0.2)()
    connection.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc")
    assert rest(connection) == b""


def test_who_waits_for_an_answer_is_left_alone(serve: Callable[..., Connect], go_on: threading.Event) -> None:
    connect = serve(head_s=0.1, silence_s=0.1)
    connection = connect()
    connection.sendall(REQUEST.replace(b"/ ", b"/wait ", 1))
    assert rest(connect()) == b""  # this one asked nothing, and its time has passed
    go_on.set()
    assert connection.recv(4096).startswith(ANSWERED)


def test_a_head_that_is_too_large_is_refused(serve: Callable[..., Connect]) -> None:
    connection = serve(head_bytes=1000)()
    connection.sendall(b"GET / HTTP/1.1\r\n" + b"x: " + b"y" * 3000)
    assert rest(connection).startswith(b"HTTP/1.1 400")


def test_one_connection_too_many_closes_the_one_that_asked_nothing_for_longest(serve: Callable[..., Connect]) -> None:
    connect = serve(connections=2)
    first, second = connect(), connect()
    ask(second)
    third = connect()
    ask(third)
    assert rest(first) == b""
    fourth = connect()
    ask(fourth)
    assert rest(second) == b""
    ask(third)


def test_where_all_are_being_answered_a_new_one_is_closed(
    serve: Callable[..., Connect], go_on: threading.Event, begun: threading.Event
) -> None:
    connect = serve(connections=1)
    busy = connect()
    ask(busy)
    busy.sendall(REQUEST.replace(b"/ ", b"/wait ", 1) + b"GET /")  # the last bytes wait their turn
    assert begun.wait(60)
    assert rest(connect()) == b""
    go_on.set()
    assert busy.recv(4096).startswith(ANSWERED)
