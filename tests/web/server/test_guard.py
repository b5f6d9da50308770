from __future__ import annotations

import asyncio
from typing import Any

import pytest

TOKEN = "a-token-for-tests-only"
OURS = "http://127.0.0.1:8000"


def with_cookie(box: Any, **headers: str) -> Any:
    """Return a client that came by the link."""
    client = box.bare(**headers)
    assert client.get("/", params={"token": TOKEN}).status_code == 303
    return client


@pytest.mark.parametrize("path", ["/", "/index.html", "/assets/x.js", "/api/info", "/api/runs", "/nothing"])
def test_nothing_without_the_token(box: Any, path: str) -> None:
    answer = box.bare().get(path)
    assert answer.status_code == 401
    assert answer.json() == {"error": "Open the link that wayveil serve printed: its token is needed."}


@pytest.mark.parametrize(
    "given",
    ["Bearer wrong", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer ü"],
)
def test_a_wrong_token_is_refused(box: Any, given: str) -> None:
    client = box.bare()
    assert client.get("/api/info", headers={"authorization": given.encode("utf-8")}).status_code == 401  # type: ignore[dict-item]


@pytest.mark.parametrize("query", ["token=wrong", "token=", f"token={TOKEN}&token={TOKEN}", "&".join(["a=b"] * 30)])
def test_a_wrong_token_in_the_link_sets_no_cookie(box: Any, query: str) -> None:
    answer = box.bare().get(f"/?{query}")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_token_in_the_address_is_taken_at_the_door_only(box: Any) -> None:
    assert box.bare().get("/api/info", params={"token": TOKEN}).status_code == 401
    assert box.bare().post("/", params={"token": TOKEN}).status_code == 401


def test_the_link_sets_a_cookie_that_lets_in_and_does_not_tell_the_token(box: Any) -> None:
    client = box.bare()
    answer = client.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert client.get("/api/info").status_code == 200


def test_another_cookie_does_not(box: Any) -> None:
    assert box.bare(cookie="wayveil_8000=" + "0" * 64).get("/api/info").status_code == 401
    assert box.bare(cookie=f"wayveil_8000={TOKEN}").get("/api/info").status_code == 401
    assert box.bare(cookie="=;=;;").get("/api/info").status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000", "127.0.0.1:8000.evil.example",
     "", "192.168.1.4:8000"],
)  # fmt: skip
def test_another_host_is_refused(box: Any, host: str) -> None:
    answer = box.client(host=host).get("/api/info")
    assert answer.status_code == 400
    assert "error" in answer.json()


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LocalHost:8000", "[::1]:8000"])
def test_our_own_hosts_are_taken(box: Any, host: str) -> None:
    assert box.client(host=host).get("/api/info").status_code == 200


def test_a_host_that_is_given_is_taken_too(box: Any) -> None:
    told = {"authorization": f"Bearer {TOKEN}"}
    assert box.bare("box.example", host="box.example:8000", **told).get("/api/info").status_code == 200
    assert box.bare("box.example", host="other.example:8000", **told).get("/api/info").status_code == 400
    assert box.bare("::1", host="[::1]:8000", **told).get("/api/info").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("192.168.1.4:8000", 200), ("[fe80::1]:8000", 200), ("evil.example:8000", 400), ("192.168.1.4:80", 400),
     ("192.168.1.4", 400)],
)  # fmt: skip
def test_on_all_addresses_only_numbers_are_taken(box: Any, host: str, status: int) -> None:
    client = box.bare("0.0.0.0", host=host, authorization=f"Bearer {TOKEN}")
    assert client.get("/api/info").status_code == status


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001", ""]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused_even_with_the_token(box: Any, origin: str, method: str) -> None:
    assert box.client(origin=origin).request(method, "/api/runs").status_code == 403
    assert with_cookie(box).request(method, "/api/runs", headers={"origin": origin}).status_code == 403


def test_a_post_must_say_that_it_comes_from_our_page(box: Any) -> None:
    client = with_cookie(box)
    assert client.post("/api/compare", json={}).status_code == 403
    for site in ("cross-site", "same-site", "none"):
        assert client.post("/api/compare", json={}, headers={"sec-fetch-site": site}).status_code == 403
        assert client.delete("/api/runs/x", headers={"sec-fetch-site": site}).status_code == 403
    assert client.post("/api/compare", json={}, headers={"sec-fetch-site": "same-origin"}).status_code == 400
    assert client.post("/api/compare", json={}, headers={"origin": OURS}).status_code == 400
    assert box.client().post("/api/compare", json={}).status_code == 400


def test_headers_that_come_twice_are_nobodys(box: Any) -> None:
    client = box.bare()
    twice = [("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")]
    assert client.get("/api/info", headers=twice).status_code == 401  # type: ignore[arg-type]
    hosts = [("host", "127.0.0.1:8000"), ("host", "evil.example"), ("authorization", f"Bearer {TOKEN}")]
    assert client.get("/api/info", headers=hosts).status_code == 400  # type: ignore[arg-type]
    origins = [("origin", OURS), ("origin", "http://evil.example"), ("authorization", f"Bearer {TOKEN}")]
    assert client.get("/api/info", headers=origins).status_code == 403  # type: ignore[arg-type]


def test_every_answer_has_the_safe_headers(box: Any) -> None:
    client = box.client()
    answers = [client.get("/api/info"), client.get("/api/nothing"), client.post("/api/info"), box.bare().get("/"),
               box.bare().get("/", params={"token": TOKEN}), client.get("/nothing.js"),
               box.client(host="evil.example").get("/")]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 404, 405, 401, 303, 404, 400]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert all(answer.headers["cache-control"] == "no-store" for answer in answers[:3])


def test_sockets_are_closed(box: Any) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(box.app()({"type": "websocket", "path": "/api/info", "headers": []}, None, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
