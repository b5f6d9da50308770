"""The engine of many machines: tasks of a Dask cluster, or of processes on this machine."""

from __future__ import annotations

import asyncio
import errno
import io
import logging
import os
import pickle
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any, TypeVar
from uuid import uuid4

from wayveil.engines.local import LocalEngine, cores, silent
from wayveil.engines.scratch import scratch_folder
from wayveil.errors import OutputError, UsageError, WayveilError
from wayveil.model import Progress

__all__ = ["DaskEngine"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_TASKS = 6  # per worker: few enough to cost nothing, enough for the last ones to end together
_WAITING = 4  # tasks per worker that are sent at a time: the others wait here, where their data is anyway
_SMALL = 100_000  # bytes of a function that goes with every task
_CONNECT_S = 10
_TLS = "tls://"
_GRACE_S = 10.0  # for tasks that run when their results are no longer wanted
_FIRST_WORKER_S = 60

_SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1 PB",  # data goes with tasks on purpose
    "distributed.deploy.lost-worker-timeout": "365 days",  # else a process that starts again slowly is given up
    "distributed.nanny.pre-spawn-environ.POLARS_MAX_THREADS": 1,
    "distributed.scheduler.http.routes": [],  # no pages that show what runs
    "distributed.worker.http.routes": [],
}


class DaskEngine:
    """Run work on a Dask cluster; results come back in the order of the items, however many workers there are.

    Parameters
    ----------
    scheduler : str, optional
        Address of the scheduler of a running cluster, such as ``tls://head:8786``; by default the one that Dask's own
        configuration names (``DASK_SCHEDULER_ADDRESS``).  Where there is none, processes are started on this machine;
        they and the scheduler talk to nobody who does not have a certificate that is made for them and never stored.
    workers : int, optional
        How many processes to start, by default one per core.  For a running cluster: how many threads of workers to
        plan for, by default as many as there are at the start.
    progress : Progress, optional
        Told what is going on.
    security : distributed.Security, optional
        The certificate files for a running cluster; by default those of Dask's own configuration
        (``distributed.comm.tls``).
    insecure : bool
        Whether a running cluster may be used without TLS: whoever reaches its scheduler can then read the data and run
        code as its owner.

    Notes
    -----
    Items are sent as arguments of tasks; so is the function, or if it is large, once, as the result of a task.  So all
    of it can be made again when a worker dies, and the result is the same.  Functions must not write into anything that
    they share.  Scheduler and workers need the same versions of Python and Wayveil as the caller.

    Started processes import the main module: a script that makes an engine does so under
    ``if __name__ == "__main__":``, and in a ``with`` statement, which ends them.
    """

    def __init__(
        self,
        *,
        scheduler: str | None = None,
        workers: int | None = None,
        progress: Progress = silent,
        security: Any = None,
        insecure: bool = False,
    ) -> None:
        try:
            import dask
            import distributed
        except ImportError:
            raise UsageError("The engine dask needs Dask, which is not installed: install wayveil[cluster].") from None
        if workers is not None and workers < 1:
            raise UsageError(f"The engine dask needs at least 1 worker, got {workers}.")
        self.progress = progress
        self._distributed = distributed
        self._client: Any
        self._own = False
        with ExitStack() as started:
            started.enter_context(dask.config.set(_SETTINGS))
            address = scheduler or dask.config.get("scheduler-address", None)
            if address is None:
                self.workers = workers or cores()
                self._start(self.workers, started)
            else:
                self._connect(address, security or distributed.Security(), insecure, started)
                self.workers = workers or max(1, sum(self._client.nthreads().values()))
            self._started = started.pop_all()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        listed = list(items)
        if not listed:
            return []
        # Items are dealt like cards, so that the result does not depend on which worker takes which, nor on how many
        # there are.
        n_tasks = min(len(listed), _TASKS * self.workers)
        values: list[Any] = [None] * len(listed)
        # Items are often sorted by size: a task gets large and small ones, so that all take about as long.
        parts = (listed[number::n_tasks] for number in range(n_tasks))
        with self._reporting(), closing(self._run(function, parts)) as answers:
            for number, results in answers:
                values[number::n_tasks] = results
        return values

    def close(self) -> None:
        """End what was started; a cluster that ran before goes on."""
        self._started.close()

    def __enter__(self) -> DaskEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        # What a task does inside, it does on its own worker.
        return _one_worker, ()

    def _start(self, workers: int, started: ExitStack) -> None:
        """Start processes on this machine; their folder is for what does not fit into memory."""
        folder = str(started.enter_context(scratch_folder()))
        self._own = True
        try:
            # Without certificates every user of this machine could connect, and run code as this one.
            security = self._distributed.Security.temporary()
        except ImportError:
            raise UsageError(
                "The engine dask needs the package cryptography, which is not installed: install wayveil[cluster]."
            ) from None
        try:
            cluster = self._distributed.LocalCluster(
                security=security,
                protocol=_TLS,
                host="127.0.0.1",
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # there is none, but without an address it would take a fixed port
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
                local_directory=folder,
            )
            started.callback(cluster.close)
            self._client = self._distributed.Client(cluster, set_as_default=False)
        except (OSError, RuntimeError, TimeoutError) as error:
            raise WayveilError(
                f"The processes of the engine dask did not start ({type(error).__name__}). A script starts them under "
                "if __name__ == '__main__'."
            ) from error
        started.callback(self._client.close)

    def _connect(self, address: str, security: Any, insecure: bool, started: ExitStack) -> None:
        """Connect to a running cluster, if it is one that nobody else reaches and that gives the same results."""
        from distributed.utils import silence_logging_cmgr

        _check_security(address, security, insecure)

        started.enter_context(silence_logging_cmgr(logging.CRITICAL))
        try:
            # Asked first, because a client that finds nobody cannot be closed.
            with ThreadPoolExecutor(1) as other:
                other.submit(asyncio.run, _answers(address, security)).result()
            self._client = self._distributed.Client(
                address, timeout=_CONNECT_S, set_as_default=False, security=security
            )
        except (OSError, ValueError, TimeoutError, ImportError):
            raise UsageError(
                f"There is no Dask scheduler at {address!r}, or it does not answer within {_CONNECT_S} s. Check the "
                "address and that the cluster runs."
            ) from None
        except AssertionError as error:
            # Dask checks some of its settings by assertions, when it opens a connection.
            raise UsageError(
                f"Dask refuses its own configuration: {error}. Check the settings of distributed.comm."
            ) from None
        started.callback(self._client.close)
        settings = _asked()
        first = self._client.submit(settings, pure=False)  # a cluster that grows on demand starts a worker for it
        try:
            first.result(timeout=_FIRST_WORKER_S)
        except TimeoutError:
            raise UsageError(
                f"The Dask cluster at {address!r} has no worker after {_FIRST_WORKER_S} s. Start workers first."
            ) from None
        for versions in [self._client.run_on_scheduler(settings), *self._client.run(settings).values()]:
            _check_versions(_versions(), versions)

    def _run(self, function: Callable[..., Any], parts: Iterable[list[Any]]) -> Generator[tuple[int, list[Any]]]:
        """Run lists of items as tasks; yield (number, results), in any order."""
        name = f"wayveil-{uuid4().hex}"
        client = self._client
        running: dict[Any, tuple[int, str]] = {}
        sent: Any = _Parcel.of(function)
        homes = [""]
        # A function with much data goes to the cluster once, as the result of a task, from where workers fetch it; Dask
        # can make it again if a worker dies.
        if len(sent) > _SMALL:
            sent = client.submit(_same, sent, key=f"{name}-function", pure=False)
            homes = list(client.nthreads()) or homes  # left alone, Dask would keep tasks where the function is

        def take(tasks: list[Any]) -> Iterator[tuple[int, list[Any]]]:
            for task, parcel in zip(tasks, client.gather(tasks), strict=True):
                yield running.pop(task)[0], parcel.open()
                task.release()

        try:
            done = self._distributed.as_completed(loop=client.loop)
            for number, part in enumerate(parts):
                if len(running) >= _WAITING * self.workers:
                    yield from take(done.next_batch())
                load = Counter(home for _, home in running.values())
                home = min(homes, key=load.__getitem__)
                where = {"workers": [home], "allow_other_workers": True} if home else {}
                arguments = sent, _Parcel.of(part), _versions()
                task = client.submit(_work, *arguments, key=f"{name}-{number}", pure=False, **where)
                running[task] = number, home
                done.add(task)
            while running:
                yield from take(done.next_batch())
        finally:
            # Left early, by an error or an interrupt: tasks that still run would write to folders that are about to
            # disappear.
            if running:
                client.cancel(list(running), force=True)
                self._wait_for_tasks(name)

    def _wait_for_tasks(self, name: str) -> None:
        """Wait until no task of this name runs: folders that they write to are about to be removed.

        Processes of our own that take too long are ended.  Those of others are left alone: they find no folder.
        """

        def look(dask_worker: Any) -> tuple[int, int]:
            return os.getpid(), sum(str(key).startswith(name) for key in dask_worker.active_keys)

        end = time.monotonic() + _GRACE_S
        try:
            while busy := [pid for pid, tasks in self._client.run(look, on_error="ignore").values() if tasks]:
                if time.monotonic() > end:
                    if not self._own:
                        return
                    for pid in busy:
                        os.kill(pid, signal.SIGKILL)  # a new one is started in its place
                time.sleep(0.05)
        except (OSError, RuntimeError, TimeoutError):
            return  # the cluster is gone, and its tasks with it

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn what can go wrong with a cluster into one sentence."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            yield
        except KilledWorker:
            raise WayveilError(
                "A task ended several workers of the cluster, one after the other, most likely because it needs more "
                "memory than they have: give workers more memory, or cut the data into smaller blocks."
            ) from None
        except (CancelledError, CommClosedError):
            raise WayveilError("The connection to the Dask scheduler was lost: start again once it runs.") from None


async def _answers(address: str, security: Any) -> None:
    """Raise an error unless somebody speaks Dask at this address."""
    from distributed.comm import connect

    comm = await connect(address, timeout=_CONNECT_S, **security.get_connection_args("client"))
    comm.abort()


def _check_security(address: str, security: Any, insecure: bool) -> None:
    """Refuse a cluster that others could read or steer, unless that is asked for."""
    if not address.startswith(_TLS):
        if insecure:
            return
        raise UsageError(
            f"The Dask scheduler at {address!r} is not reached through TLS, so whoever can connect to it reads the "
            "data and runs code as you. Give an address that begins with tls://, or accept that with "
            "--insecure-scheduler (in Python insecure=True)."
        )
    try:
        ready = security.get_connection_args("client")["ssl_context"] is not None
    except (OSError, ValueError):
        ready = False
    if not ready:
        raise UsageError(
            f"The certificates for the Dask scheduler at {address!r} are missing or cannot be read: name the files in "
            "Dask's configuration, distributed.comm.tls.ca-file, client.cert and client.key, for instance as "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE."
        )


class _Parcel:
    """Something pickled, that tells nobody what it is; opened once per worker."""

    def __init__(self, content: Any) -> None:
        self._content = content  # bytes, or a view of the message that they came with
        self._opened: list[Any] = []

    @classmethod
    def of(cls, thing: Any) -> _Parcel:
        buffer = io.BytesIO()
        _pickler()(buffer, protocol=5).dump(thing)
        return cls(buffer.getvalue())

    def open(self) -> Any:
        return pickle.loads(self._content)

    def open_once(self) -> Any:
        if not self._opened:
            self._opened.append(self.open())
        return self._opened[0]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _Parcel, (pickle.PickleBuffer(self._content) if protocol >= 5 else bytes(self._content),)

    def __len__(self) -> int:
        return len(self._content)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self)

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"  # Dask writes the arguments of a task that fails into its log


@lru_cache(maxsize=1)
def _pickler() -> Any:
    from cloudpickle import Pickler

    class Named(Pickler):
        """Pickles kernels by name: rebuilt from their code, they would be compiled again in every worker."""

        def reducer_override(self, obj: Any) -> Any:
            name = obj.__name__ if hasattr(obj, "py_func") else None
            if name is not None and getattr(sys.modules.get(obj.__module__), name, None) is obj:
                return name
            return super().reducer_override(obj)

    return Named


def _same(parcel: _Parcel) -> _Parcel:
    return parcel


def _work(sent: _Parcel, part: _Parcel, versions: dict[str, str]) -> _Parcel:
    """Call the function on every item: what a worker does."""
    _check_versions(versions, _versions())
    try:
        function = sent.open_once()
        return _Parcel.of([function(item) for item in part.open()])
    except MemoryError:
        raise WayveilError(
            "A task needs more memory than a worker has: give workers more memory, or cut the data into smaller blocks."
        ) from None
    except Exception as error:
        if not _tells_full_disk(error):
            raise
        raise OutputError("The disk of a worker is full: nothing was published. Make room and start again.") from None


def _tells_full_disk(error: Exception) -> bool:
    """Return whether an error is one of no room on a disk; Polars has these without a number."""
    numbers = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
    return getattr(error, "errno", None) in numbers or any(f"(os error {number})" in str(error) for number in numbers)


def _asked() -> Callable[[], dict[str, str]]:
    """Return a function that tells the versions of what results depend on; it runs where Wayveil is not installed."""

    def versions() -> dict[str, str]:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        versions = {"Python": ".".join(platform.python_version_tuple()[:2])}
        for package in ("wayveil", "numpy", "numba", "polars"):
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                versions[package] = "missing"
        return versions

    return versions


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    return _asked()()


def _check_versions(ours: dict[str, str], theirs: dict[str, str]) -> None:
    """Refuse a cluster that could give other results."""
    for name, here in ours.items():
        if theirs[name] != here:
            raise UsageError(
                f"The Dask cluster has another version of {name}: {theirs[name]}, and here it is {here}. Install the "
                "same versions on the scheduler and on all workers."
            )


def _one_worker() -> LocalEngine:
    return LocalEngine(workers=1)
