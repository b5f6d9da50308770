"""Starting the server: its address, its token, its folder."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from wayveil.errors import OutputError, UsageError, check_int
from wayveil.web.server.connection_limits import Limits

__all__ = ["MAX_UPLOAD", "TOKEN_VARIABLE", "read_token", "serve"]

MAX_UPLOAD = 2 << 30
_SHORTEST_TOKEN = 16
_LONGEST_TOKEN_FILE = 4096
_LOOPBACK = "127.0.0.1"

TOKEN_VARIABLE = "WAYVEIL_TOKEN"
"""The variable of the environment from which the token can be taken."""


def serve(
    *,
    on_ready: Callable[[str], object],
    host: str | None = None,
    port: int = 0,
    token: str | None = None,
    data: Path | None = None,
    jobs: int = 1,
    max_upload: int = MAX_UPLOAD,
    limits: Limits | None = None,
    job_command: Sequence[str] | None = None,
) -> None:
    """Serve until the process is interrupted.

    Parameters
    ----------
    on_ready : callable
        Gets the link to open, which holds the token, once the server listens.
    host : str, optional
        The address to listen on; loopback by default.  Another one needs a token that is given.
    port : int
        The port; 0 takes a free one.
    token : str, optional
        What every request must bring; fresh and secret by default.
    data : Path, optional
        The folder for uploads and runs; by default one under the user's state folder that only the user can read.
    jobs : int
        How many runs at a time.
    max_upload : int
        The largest file in bytes, packed and unpacked.
    limits : Limits, optional
        How many connections there may be, and how long they may take.
    job_command : sequence of str, optional
        What runs a job, for tests.

    Raises
    ------
    UsageError
        If the address, the port or the folder cannot be used, or the extra ``web`` is not installed.
    """
    check_int("serve", "port", port, low=0, high=65535)
    check_int("serve", "jobs", jobs, low=1, high=64)
    check_int("serve", "max_upload", max_upload, low=1)
    chosen = _token(token, host)
    # Imported here: the command line works without the extra, and starts faster.
    try:
        import uvicorn

        from wayveil.web.files import Files
        from wayveil.web.jobs import COMMAND, Jobs
        from wayveil.web.runs import Runs
        from wayveil.web.server.connections import bounded_protocol
        from wayveil.web.web_app import make_app
    except ModuleNotFoundError as error:
        # A module of our own that is missing is a bug, and must not be explained by the extra.
        if (error.name or "").partition(".")[0] == "wayveil":
            raise
        raise UsageError("serve needs the extra web: pip install 'wayveil[web]'.") from None
    bounds = limits or Limits()
    folder = (data or _default_folder()).absolute()
    # The folder is held before the port is taken: a second server on the same folder must not disturb the first.
    with _owned(folder), _listening(host or _LOOPBACK, port) as listener:
        files = Files(folder=folder / "files", limit=max_upload)
        runs = Runs(folder=folder / "runs")
        files.open()
        runs.open()
        queue = Jobs(runs, limit=jobs, command=job_command or COMMAND)
        # Port 0 was a wish; this is the one that is free.
        number = listener.getsockname()[1]
        # The application asks the server whether it ends, and is made before it: the list is filled below.
        servers: list[uvicorn.Server] = []
        app = make_app(
            files=files,
            runs=runs,
            jobs=queue,
            token=chosen,
            host=host or _LOOPBACK,
            port=number,
            stopping=lambda: any(server.should_exit for server in servers),
        )
        config = uvicorn.Config(
            app,
            http=bounded_protocol(bounds),
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=3,
            timeout_keep_alive=bounds.idle_s,
            # One more than `Bounded` lets in, so that its rule decides, and not that of uvicorn.
            limit_concurrency=bounds.connections + 1,
            h11_max_incomplete_event_size=bounds.head_bytes,
        )
        # The socket listens since `_listening`, so the link works at once: who opens it early waits for the first
        # answer.
        on_ready(f"http://{_shown(host)}:{number}/?token={chosen}")
        servers.append(uvicorn.Server(config))
        _run(servers[0], listener)


def _run(server: Any, listener: socket.socket) -> None:
    try:
        with _ending_on_hangup(server):
            server.run(sockets=[listener])
    except KeyboardInterrupt:
        return


@contextmanager
def _ending_on_hangup(server: Any) -> Iterator[None]:
    """End the server on SIGHUP as uvicorn does on SIGTERM: answers are finished, jobs are stopped, then it ends."""
    before = signal.getsignal(signal.SIGHUP)
    # Signals can only be set in the main thread; `nohup` sets SIG_IGN, and is to be heeded.
    if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
        yield
        return
    came: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        came.append(number)
        server.should_exit = True

    signal.signal(signal.SIGHUP, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
    # The signal comes again with its old meaning, so that whoever started the process sees how it ended.
    if came:
        signal.raise_signal(signal.SIGHUP)


def read_token(file: Path | None) -> str | None:
    """Return the token from a file, or from the environment; None where neither has one.

    It is not taken from the command line, which every user of the machine can see in the list of processes.  It is
    taken out of the environment, so that the processes of runs do not inherit it.
    """
    from_environment = os.environ.pop(TOKEN_VARIABLE, None)
    if file is None:
        return from_environment
    if from_environment is not None:
        raise UsageError(f"serve: the token is given twice, with --token-file and as {TOKEN_VARIABLE}; give one.")
    try:
        with file.open("rb") as stream:
            # Bounded: the file may be a device without an end.
            content = stream.read(_LONGEST_TOKEN_FILE)
    except OSError as error:
        raise UsageError(
            f"serve: the file of the token {str(file)!r} cannot be read: {os.strerror(error.errno or 0)}."
        ) from None
    return content.decode("ascii", "replace").strip()


def _token(given: str | None, host: str | None) -> str:
    if given is None:
        # A token that is made up would have to be told to others over some channel; on loopback it is in the link.
        if host is not None and not _is_loopback(host):
            raise UsageError(
                "serve: an address that others can reach needs a token that you choose and keep secret; give it with "
                f"--token-file FILE or in the environment as {TOKEN_VARIABLE}, together with --host."
            )
        return secrets.token_urlsafe(32)
    # Signs that need no escaping in a link.
    if len(given) < _SHORTEST_TOKEN or not all(sign.isascii() and (sign.isalnum() or sign in "-_.~") for sign in given):
        raise UsageError(
            f"serve: the token must have at least {_SHORTEST_TOKEN} signs, only letters, digits, '-', '_', '.' and '~'."
        )
    return given


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(host: str | None) -> str:
    """Return the address for the link: that of a server on all addresses is loopback, for whoever started it."""
    if host is None:
        return _LOOPBACK
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return _LOOPBACK if address.version == 4 else "[::1]"
    return host if address.version == 4 else f"[{host}]"


def _default_folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local/state") / "wayveil" / "serve"


@contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Make the folder, readable by its owner only, and hold it: two servers would undo each other's work."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkdir obeys the umask and leaves a folder that is there as it is; this does not.
        folder.chmod(0o700)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise OutputError(
            f"serve: the folder {str(folder)!r} cannot be used: {os.strerror(error.errno or 0)}."
        ) from None
    try:
        try:
            # The lock is the kernel's: it is gone when the process is, however it ended.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"serve: another server uses the folder {str(folder)!r}; stop it or choose another --data."
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError:
        raise UsageError(f"serve: the address {host!r} is not one of this machine.") from None
    try:
        # A port whose last server ended seconds ago can be taken again.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(128)
        except OSError as error:
            raise UsageError(
                f"serve: cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}. Choose another --port."
            ) from None
        yield listener
    finally:
        listener.close()
