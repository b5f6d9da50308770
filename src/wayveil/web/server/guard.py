"""Who may ask: the guard in front of everything.

Three things can go wrong on a loopback address.  A page of another site can make the browser ask us (CSRF): it has
another Origin, and our cookie is not sent along.  A name of another site can be pointed at 127.0.0.1 (DNS rebinding):
the Host is that name.  Another user of this machine can ask: they do not have the token.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_WRONG_TOKEN = "The token in the link is wrong."
_NO_TOKEN = "Open the link that wayveil serve printed: its token is needed."
_LOCKED = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width"><title>Wayveil: locked</title></head>
<body>
<h1>This page is locked</h1>
<p>{sentence}</p>
<p>Go to the terminal in which <code>wayveil serve</code> runs and open the whole link that it printed, with everything
after the question mark. It sets a cookie, so that you need it once per browser. If the terminal is gone, start
<code>wayveil serve</code> again: it prints a new link, and your files and runs are still there.</p>
</body>
</html>
"""


class Guard:
    """Let a request through only with the token, our own Host and our own Origin; put safe headers on every answer.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str
        What a request must bring: in ``Authorization: Bearer``, or as the cookie that the first visit sets.
    host : str
        The address that the server listens on.
    port : int
        And its port.
    """

    def __init__(self, app: App, *, token: str, host: str, port: int) -> None:
        self._app = app
        self._token = token
        self._port = port
        self._anywhere = _is_wildcard(host)
        names = {"127.0.0.1", "localhost", "[::1]"} | ({_in_url(host)} if not self._anywhere else set())
        self._hosts = {f"{name}:{port}".lower() for name in names} | (
            {n.lower() for n in names} if port == 80 else set()
        )
        # Cookies are not bound to a port: the name is, and the cookie does not tell the token.
        self._cookie = f"wayveil_{port}"
        self._secret = hmac.new(token.encode(), b"wayveil cookie", hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._guarded(scope, receive, _with_headers(send, scope["path"]))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        # In the order of how cheap a lie is: Host (a name that was pointed at this address), Origin (a page of another
        # site), then the token, and for what changes something a sign that our own page asked.
        headers = _Headers(scope["headers"])
        host = headers.one("host")
        if host is None or not self._is_ours(host):
            return await _refuse(send, 400, "This address is not the one of Wayveil's server.")
        origin = headers.one("origin")
        if headers.has("origin") and (origin is None or origin.lower() != f"{scope['scheme']}://{host}".lower()):
            return await _refuse(send, 403, "This request comes from a page of another site.")
        visit = self._first_visit(scope)
        for_people = _wants_page(scope, headers)
        if visit is not None:
            return await (self._welcome(send) if visit else _refuse(send, 401, _WRONG_TOKEN, for_people=for_people))
        by_header = self._has_header(headers)
        if not (by_header or self._has_cookie(headers)):
            return await _refuse(send, 401, _NO_TOKEN, for_people=for_people)
        same_site = headers.has("origin") or headers.one("sec-fetch-site") == "same-origin"
        if scope["method"] not in _SAFE and not (by_header or same_site):
            return await _refuse(send, 403, "This request does not say that it comes from Wayveil's page.")
        await self._app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        if host.lower() in self._hosts:
            return True
        name, colon, port = host.rpartition(":")
        # No name can be pointed at us where only numbers are taken.
        return self._anywhere and bool(colon) and port == str(self._port) and _is_address(name)

    def _first_visit(self, scope: Scope) -> bool | None:
        """Return whether the token in the address is right; None where there is none."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return None
        try:
            # The token is in an address only once. The answer sets a cookie and leads on to an address without it, so
            # that it stays out of histories and referrers.
            given = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=20).get("token")
        except ValueError:
            return False
        return None if given is None else len(given) == 1 and _equal(given[0], self._token)

    async def _welcome(self, send: Send) -> None:
        cookie = f"{self._cookie}={self._secret}; HttpOnly; SameSite=Strict; Path=/"
        more = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 303, "headers": [*more, (b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def _has_header(self, headers: _Headers) -> bool:
        kind, _, given = (headers.one("authorization") or "").partition(" ")
        return kind.lower() == "bearer" and _equal(given, self._token)

    def _has_cookie(self, headers: _Headers) -> bool:
        try:
            cookie = SimpleCookie("; ".join(headers.every("cookie"))).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and _equal(cookie.value, self._secret)


class _Headers:
    """The headers of a request by name; a header that is given twice is nobody's."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._found: dict[str, list[str]] = {}
        for name, value in raw:
            self._found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def has(self, name: str) -> bool:
        return name in self._found

    def one(self, name: str) -> str | None:
        values = self._found.get(name, [])
        return values[0] if len(values) == 1 else None

    def every(self, name: str) -> list[str]:
        return self._found.get(name, [])


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def _with_headers(send: Send, path: str) -> Send:
    async def told(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = dict(_HEADERS)
            own["cache-control"] = "no-store" if path.startswith("/api") else "no-cache"
            given = {name.decode("latin-1").lower() for name, _ in message.get("headers", ())}
            more = [(name.encode(), value.encode()) for name, value in own.items() if name not in given]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return told


def _wants_page(scope: Scope, headers: _Headers) -> bool:
    """Whether a person's browser asks for a page, so that a page is the answer, and not JSON."""
    is_page = scope["method"] == "GET" and not scope["path"].startswith("/api")
    return is_page and "text/html" in (headers.one("accept") or "")


async def _refuse(send: Send, status: int, sentence: str, *, for_people: bool = False) -> None:
    if for_people:
        body = _LOCKED.format(sentence=sentence).encode()
        kind = b"text/html; charset=utf-8"
    else:
        body = json.dumps({"error": sentence}).encode()
        kind = b"application/json"
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    # Whatever body the request has is not read, so the connection cannot be used again.
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})


def _is_wildcard(host: str) -> bool:
    return _is_address(host) and ipaddress.ip_address(host.strip("[]")).is_unspecified


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
