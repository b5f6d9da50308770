from __future__ import annotations

import builtins
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from wayveil.errors import OutputError, UsageError, WayveilError
from wayveil.web import read_token, serve
from wayveil.web.server import serving


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would run: the server does not begin."""
    found: list[Any] = []
    monkeypatch.setattr(serving, "_run", lambda server, listener: found.append((server, listener.getsockname())))
    return found


def start(folder: Path, **options: Any) -> str:
    links: list[str] = []
    serve(on_ready=links.append, data=folder / "data", **options)
    return links[0]


def test_it_listens_on_loopback_with_a_fresh_token(tmp_path: Path, served: list[Any]) -> None:
    links = [start(tmp_path) for _ in range(2)]
    assert all(link.startswith("http://127.0.0.1:") for link in links)
    tokens = [link.partition("?token=")[2] for link in links]
    assert tokens[0] != tokens[1]
    assert min(map(len, tokens)) >= 40
    server, address = served[0]
    assert address[0] == "127.0.0.1"
    assert links[0].startswith(f"http://127.0.0.1:{address[1]}/?token=")
    assert not server.config.access_log


def test_the_folder_is_for_its_owner_only(tmp_path: Path, served: list[Any]) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    start(tmp_path)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "data", *(tmp_path / "data").iterdir())}
    assert modes == {"data": 0o700, "files": 0o700, "runs": 0o700}


def test_the_default_folder_is_the_users(tmp_path: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    serve(on_ready=lambda link: None)
    assert (tmp_path / "state/wayveil/serve/runs").is_dir()
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert serving._default_folder() == tmp_path / ".local/state/wayveil/serve"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "box.example", ""])
def test_an_address_for_others_needs_a_token(tmp_path: Path, served: list[Any], host: str) -> None:
    with pytest.raises(UsageError, match="--token"):
        start(tmp_path, host=host)
    assert not (tmp_path / "data").exists()
    assert served == []


def test_the_token_is_read_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYVEIL_TOKEN", raising=False)
    assert read_token(None) is None
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")
    assert read_token(file) == "0123456789abcdef"
    monkeypatch.setenv("WAYVEIL_TOKEN", "fedcba9876543210")
    assert read_token(None) == "fedcba9876543210"
    assert "WAYVEIL_TOKEN" not in os.environ  # runs do not inherit it
    monkeypatch.setenv("WAYVEIL_TOKEN", "fedcba9876543210")
    with pytest.raises(UsageError, match="given twice"):
        read_token(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_token(tmp_path)


def test_an_address_for_others_is_taken_with_a_token(tmp_path: Path, served: list[Any]) -> None:
    link = start(tmp_path, host="0.0.0.0", token="0123456789abcdef")
    assert link.startswith("http://127.0.0.1:")
    assert served[0][1][0] == "0.0.0.0"
    assert start(tmp_path, host="localhost").startswith("http://localhost:")


@pytest.mark.parametrize(
    "token", ["", "short", "x" * 15, "with space and more", "with&sign=in-it-xx", "ümläut-ümläut-ü"]
)
def test_a_weak_token_is_refused(tmp_path: Path, served: list[Any], token: str) -> None:
    with pytest.raises(UsageError, match="the token must have"):
        start(tmp_path, token=token)


@pytest.mark.parametrize("options", [{"port": -1}, {"port": 70_000}, {"jobs": 0}, {"max_upload": 0}, {"port": "80"}])
def test_numbers_out_of_range_are_refused(tmp_path: Path, served: list[Any], options: Any) -> None:
    with pytest.raises(WayveilError):
        start(tmp_path, **options)


def test_a_port_in_use_is_told(tmp_path: Path, served: list[Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(UsageError, match="Choose another --port"):
        start(tmp_path, port=other.getsockname()[1])
    with pytest.raises(UsageError, match="not one of this machine"):
        start(tmp_path, host="no.such.host.invalid", token="0123456789abcdef")


def test_two_servers_do_not_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def second(server: Any, listener: Any) -> None:
        with pytest.raises(UsageError, match="another server uses the folder"):
            start(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr(serving, "_run", second)
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path)
    monkeypatch.setattr(serving, "_run", lambda server, listener: None)
    start(tmp_path)


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path, served: list[Any]) -> None:
    (tmp_path / "data").write_text("x")
    with pytest.raises(OutputError, match="cannot be used"):
        start(tmp_path)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "uvicorn":
            raise ModuleNotFoundError("No module", name="uvicorn")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"wayveil\[web\]"):
        start(tmp_path)
    assert os.listdir(tmp_path) == []


def test_being_interrupted_is_a_good_end() -> None:
    class Stopped:
        def run(self, sockets: Any) -> None:
            raise KeyboardInterrupt

    with socket.socket() as listener:
        serving._run(Stopped(), listener)
