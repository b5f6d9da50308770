"""The engine of a cluster, on a real one: processes of this machine."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest

from wayveil import errors
from wayveil.cli import main
from wayveil.engines import DaskEngine, LocalEngine
from wayveil.errors import OutputError, UsageError, WayveilError
from wayveil.kernels.qid.hilbert import hilbert_index

pytest.importorskip("distributed")

import distributed
from distributed.comm import CommClosedError

from wayveil.engines import dask as module


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with DaskEngine(workers=2) as found:
        yield found
    assert not multiprocessing.active_children()


def processes(engine: DaskEngine) -> list[int]:
    return sorted(engine._client.run(os.getpid).values())


def test_results_come_in_the_order_of_the_items(engine: DaskEngine) -> None:
    assert engine.workers == 2
    for n in (0, 1, 2, 11, 12, 13, 500):
        assert engine.map(lambda i: i * i, range(n)) == [i * i for i in range(n)]
    assert engine.map(str, iter("abc")) == ["a", "b", "c"]


def test_work_is_done_by_the_processes(engine: DaskEngine) -> None:
    def where(_: int) -> int:
        time.sleep(0.05)
        return os.getpid()

    found = set(engine.map(where, range(12)))
    assert os.getpid() not in found
    assert found == set(processes(engine))
    large = np.ones(50_000)  # sent once, to one of them, and yet all do the work
    assert set(engine.map(lambda i: where(i) * int(large[i]), range(12))) == set(processes(engine))


def test_few_tasks_are_sent_at_a_time(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait here, so that no worker holds much more than it works on."""
    submit, sent = engine._client.submit, []

    def watched(*arguments: Any, **options: Any) -> Any:
        sent.append(len(engine._client.futures))
        return submit(*arguments, **options)

    monkeypatch.setattr(engine._client, "submit", watched)
    monkeypatch.setattr(module, "_WAITING", 1)
    assert engine.map(lambda i: time.sleep(0.02) or i, range(12)) == list(range(12))
    assert len(sent) == 12
    assert max(sent) <= 5


def test_many_items_are_few_tasks(engine: DaskEngine) -> None:
    counted = engine._client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    engine.map(abs, range(5000))
    after = engine._client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    assert after - counted < 500


def test_the_packing_does_not_change_results(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [np.arange(i, dtype=float) for i in range(40)]
    expected = [float(np.sqrt(item).sum()) for item in items]
    for tasks, waiting in ((1, 1), (7, 1), (100, 4)):
        monkeypatch.setattr(module, "_TASKS", tasks)
        monkeypatch.setattr(module, "_WAITING", waiting)
        assert engine.map(lambda item: float(np.sqrt(item).sum()), items) == expected


def test_what_a_task_writes_stays_there(engine: DaskEngine) -> None:
    shared = np.zeros(4)

    def write(item: np.ndarray) -> float:
        shared[0] += 1
        item[0] = 5
        return float(item[0])

    items = [np.zeros(2) for _ in range(3)]
    assert engine.map(write, items) == [5.0] * 3
    assert not shared.any()
    assert not any(item.any() for item in items)


def test_arrays_that_cannot_be_written_to_stay_so(engine: DaskEngine) -> None:
    locked = np.arange(3)
    locked.flags.writeable = False
    found = engine.map(lambda item: (item.flags.writeable, locked.flags.writeable, item), [np.arange(2), locked])
    assert [(item, shared) for item, shared, _ in found] == [(True, False), (False, False)]
    assert [array.flags.writeable for _, _, array in found] == [True, False]


def test_everything_that_methods_use_can_travel(engine: DaskEngine) -> None:
    table = MappingProxyType({"a": 1})
    expected = hilbert_index(np.arange(4), np.arange(4), 2).tolist()
    found = engine.map(lambda a: (hilbert_index(a, a, 2).tolist(), dict(table), table), [np.arange(4)])
    assert found == [(expected, {"a": 1}, {"a": 1})]


def test_kernels_travel_by_name() -> None:
    parcel = module._Parcel.of(lambda a: hilbert_index(a, a, 2))
    assert b"wayveil.kernels.qid.hilbert" in parcel._content
    assert len(parcel._content) < 1000
    assert pickle.loads(module._Parcel.of(hilbert_index)._content) is hilbert_index


def test_large_items_and_functions(engine: DaskEngine) -> None:
    big = np.ones(2_000_000)
    assert engine.map(lambda item: float((item + big).sum()), [big] * 3) == [4e6] * 3


def test_an_engine_in_a_task_is_that_of_one_core(engine: DaskEngine) -> None:
    def inside(item: int) -> tuple[str, int, list[int]]:
        return type(engine).__name__, engine.workers, engine.map(abs, [-item])

    assert engine.map(inside, [1, 2]) == [("LocalEngine", 1, [1]), ("LocalEngine", 1, [2])]
    assert isinstance(pickle.loads(pickle.dumps(engine)), LocalEngine)


@pytest.mark.parametrize("kind", [name for name in errors.__all__ if name[0].isupper()])
def test_our_errors_arrive_as_themselves(engine: DaskEngine, kind: str) -> None:
    expected = getattr(errors, kind)

    def fail(item: int) -> int:
        if item == 3:
            raise expected("kcl: what went wrong.")
        return item

    with pytest.raises(expected, match=r"^kcl: what went wrong\.$") as caught:
        engine.map(fail, range(30))
    assert type(caught.value) is expected
    assert engine.map(abs, [-1]) == [1]


def test_other_errors_arrive_too(engine: DaskEngine) -> None:
    with pytest.raises(ZeroDivisionError):
        engine.map(lambda i: 1 // i, [1, 0])
    with pytest.raises(FileNotFoundError):
        engine.map(lambda name: Path(name).read_text(), ["no such file"])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_one_sentence(engine: DaskEngine, number: int) -> None:
    def python(_: int) -> None:
        raise OSError(number, "what it says")

    def polars(_: int) -> None:
        raise RuntimeError(f"parquet: underlying IO error: no room (os error {number})")

    for write in (python, polars):
        with pytest.raises(OutputError, match="The disk of a worker is full"):
            engine.map(write, [1])


def test_a_lack_of_memory_is_one_sentence(engine: DaskEngine) -> None:
    def take(_: int) -> None:
        raise MemoryError

    with pytest.raises(WayveilError, match="needs more memory than a worker has"):
        engine.map(take, [1])


def test_a_killed_worker_changes_nothing(engine: DaskEngine, tmp_path: Path) -> None:
    known = np.arange(100_000)  # large: it is sent once, and lost with the worker

    def slow(item: int) -> int:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.15)
        return int(known[item]) ** 2

    def kill() -> None:
        while not (at_work := list(tmp_path.iterdir())):
            time.sleep(0.02)
        os.kill(int(at_work[0].name), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = engine.map(slow, range(20))
    killer.join()
    assert found == [i * i for i in range(20)]


def test_the_function_is_made_again_where_its_only_copy_is_lost(engine: DaskEngine, tmp_path: Path) -> None:
    once, known = tmp_path / "once", np.arange(100_000)

    def die(item: int) -> int:
        if not once.exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return int(known[item])

    assert engine.map(die, [1]) == [1]
    assert once.exists()


def test_a_task_that_kills_workers_is_given_up(engine: DaskEngine) -> None:
    def allow(failures: int) -> int:
        def change(dask_scheduler: Any) -> int:
            before = dask_scheduler.allowed_failures
            dask_scheduler.allowed_failures = failures
            return before

        return engine._client.run_on_scheduler(change)

    before = allow(0)  # not several, to be quick
    with pytest.raises(WayveilError, match="ended several workers of the cluster") as caught:
        engine.map(lambda _: os.kill(os.getpid(), signal.SIGKILL), [1])
    assert allow(before) == 0
    assert "\n" not in str(caught.value)
    assert engine.map(abs, [-1]) == [1]
    engine._client.wait_for_workers(2)  # those that died are replaced
    assert len(processes(engine)) == 2


def test_an_interrupt_cancels_what_runs(engine: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = tmp_path / "begun", tmp_path / "go on"
    begun.mkdir()

    def waiting(item: int) -> None:
        (begun / str(item)).touch()
        while not go_on.exists():
            time.sleep(0.01)

    def interrupt() -> None:
        # Only once everything is sent does the caller wait: while Dask sends, it may pass over an interrupt.
        while not any(begun.iterdir()) or len(engine._client.futures) < sent:
            time.sleep(0.01)
        while not over.wait(10):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    monkeypatch.setattr(module, "_GRACE_S", 0.1)  # these never end by themselves
    items, sent, over = 60 * engine.workers, module._WAITING * engine.workers, threading.Event()
    other = threading.Thread(target=interrupt)
    # A process that a shell started in the background ignores interrupts, unless it says otherwise.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        other.start()
        with pytest.raises(KeyboardInterrupt):
            engine.map(waiting, range(items))
        over.set()
        other.join()
    finally:
        signal.signal(signal.SIGINT, before)
    go_on.touch()  # what runs ends; what waited to begin is cancelled by now
    assert engine.map(abs, range(-items, 0)) == list(range(items, 0, -1))
    assert 0 < len(list(begun.iterdir())) < items / 2


@pytest.mark.parametrize("error", [CancelledError, CommClosedError])
def test_a_lost_scheduler_is_one_sentence(
    engine: DaskEngine, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def lost(self: DaskEngine, function: Any, parts: Any) -> Iterator[Any]:
        raise error("scheduler-connection-lost")
        yield

    monkeypatch.setattr(DaskEngine, "_run", lost)
    with pytest.raises(WayveilError, match="The connection to the Dask scheduler was lost"):
        engine.map(abs, [-1])


def test_settings_of_the_processes(engine: DaskEngine) -> None:
    import dask

    assert engine.map(lambda _: os.environ["POLARS_MAX_THREADS"], [1]) == ["1"]
    # Where a process takes longer than this to start again, Dask would give it up for good, and wait for ever.
    assert dask.config.get("distributed.deploy.lost-worker-timeout") == "365 days"


def test_no_data_in_the_logs_of_dask() -> None:
    assert repr(module._Parcel.of(["person-7"])) == f"<{len(module._Parcel.of(['person-7'])._content)} bytes>"
    assert sys.getsizeof(module._Parcel.of(b"x" * 10_000)) > 10_000


def test_a_parcel_is_opened_once_and_travels_without_a_copy() -> None:
    parcel = module._Parcel.of([1, 2])
    assert parcel.open_once() is parcel.open_once()
    assert parcel.open_once() is parcel.open_once()
    assert len(parcel._opened) == 1
    assert parcel.open() is not parcel.open()
    assert pickle.loads(pickle.dumps(parcel, protocol=4)).open() == [1, 2]
    beside: list[pickle.PickleBuffer] = []
    text = pickle.dumps(parcel, protocol=5, buffer_callback=beside.append)
    assert len(beside) == 1
    assert pickle.loads(text, buffers=beside).open() == [1, 2]
    assert parcel.open_once() is not pickle.loads(text, buffers=beside).open_once()


def test_a_running_cluster_is_used_and_left_alone(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask

    engine._client.wait_for_workers(2, timeout=120)  # one that a test before killed may still be on its way
    address = engine._client.scheduler.address
    steps: list[str] = []
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    monkeypatch.setattr(logging.getLogger("distributed"), "handlers", [handler])
    security = engine._client.security

    def note(step: str, done: int = 0, total: int | None = None) -> None:
        steps.append(step)

    with DaskEngine(scheduler=address, security=security, progress=note) as other:
        assert handler.level == logging.CRITICAL  # what happens is told in our words
        assert other.workers == 2
        other.progress("a step")
        assert set(other.map(lambda _: os.getpid(), range(20))) <= set(processes(engine))
    assert steps == ["a step"]
    assert other._client.status == "closed"
    assert handler.level == logging.WARNING
    assert engine.map(abs, [-1]) == [1]
    with dask.config.set({"scheduler-address": address}), DaskEngine(workers=5, security=security) as configured:
        assert configured.workers == 5
        assert configured.map(abs, [-1]) == [1]


@pytest.mark.parametrize("name", ["Python", "wayveil", "numpy"])
def test_other_versions_are_refused(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ours = module._versions() | {name: "0.0.7"}
    monkeypatch.setattr(module, "_versions", lambda: ours)
    pattern = rf"^The Dask cluster has another version of {name}: .*, and here it is 0\.0\.7\."
    with pytest.raises(UsageError, match=pattern):
        DaskEngine(scheduler=engine._client.scheduler.address, security=engine._client.security)
    with pytest.raises(UsageError, match=f"another version of {name}"):  # of a worker that comes later
        engine.map(abs, [-1])


def test_versions_of_all_that_results_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    assert set(module._versions()) == {"Python", "wayveil", "numpy", "numba", "polars"}
    assert module._versions()["numba"] == metadata.version("numba")
    assert module._versions()["Python"] == f"{sys.version_info.major}.{sys.version_info.minor}"

    def gone(name: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", gone)
    assert module._asked()()["polars"] == "missing"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "abc://x:1", "tcp://nobody.invalid:8786"])
def test_nobody_at_the_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CONNECT_S", 1)
    with pytest.raises(UsageError, match=f"There is no Dask scheduler at '{address}'") as caught:
        DaskEngine(scheduler=address, insecure=True)
    assert "\n" not in str(caught.value)


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(module, "_FIRST_WORKER_S", 0.3)
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(UsageError, match=r"has no worker after 0\.3 s"),
    ):
        DaskEngine(scheduler=cluster.scheduler_address, insecure=True)


CONNECT = """
import asyncio, sys
from distributed import Security
from distributed.comm import connect

async def ask(address, security):
    comm = await connect(address, timeout=3, **security.get_connection_args("client"))
    await comm.write({"op": "identity", "reply": True})
    print(await comm.read())

for address in sys.argv[1:]:
    for security in (Security(), Security.temporary()):
        for name in (address, address.replace("tls://", "tcp://")):
            try:
                asyncio.run(asyncio.wait_for(ask(name, security), 5))
            except Exception as error:
                print(type(error).__name__, file=sys.stderr)
            else:
                sys.exit(f"{name} answers")
"""


def test_nobody_without_the_certificate_can_connect(engine: DaskEngine) -> None:
    """Neither to the scheduler nor to a worker: both would run code as the user who started them."""
    address = engine._client.scheduler.address
    workers = list(engine._client.nthreads())
    assert all(one.startswith("tls://127.0.0.1:") for one in (address, *workers))
    done = subprocess.run(
        [sys.executable, "-c", CONNECT, address, workers[0]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert engine.map(abs, [-1]) == [1]
    with pytest.raises(UsageError, match="There is no Dask scheduler"):
        DaskEngine(scheduler=address, security=distributed.Security.temporary())


@pytest.mark.parametrize("address", ["tcp://head:8786", "head:8786", "abc://x:1"])
def test_a_scheduler_without_tls_must_be_asked_for(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="is not reached through TLS") as caught:
        DaskEngine(scheduler=address)
    assert "\n" not in str(caught.value)
    command = ["risk", "nothing.csv", "--engine", "dask", "--scheduler", address]
    assert main(command) == 2
    assert "--insecure-scheduler" in capsys.readouterr().err


def test_a_scheduler_with_tls_needs_certificates(tmp_path: Path) -> None:
    import dask

    missing = str(tmp_path / "missing.pem")
    for files in ({}, {"ca-file": missing, "client": {"cert": missing, "key": missing}}):
        with (
            dask.config.set({"distributed.comm.tls": {**dask.config.get("distributed.comm.tls"), **files}}),
            pytest.raises(UsageError, match=r"certificates .* are missing or cannot be read"),
        ):
            DaskEngine(scheduler="tls://127.0.0.1:1")


def test_certificate_files_of_the_configuration_are_used(engine: DaskEngine, tmp_path: Path) -> None:
    import dask

    made = engine._client.security
    files = {"ca.pem": made.tls_ca_file, "cert.pem": made.tls_client_cert, "key.pem": made.tls_client_key}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    names = {name: str(tmp_path / f"{name}.pem") for name in ("ca", "cert", "key")}
    settings = {"ca-file": names["ca"], "client": {"cert": names["cert"], "key": names["key"]}}
    both = {**dask.config.get("distributed.comm.tls"), **settings}
    with (
        dask.config.set({"distributed.comm.tls": both}),
        DaskEngine(scheduler=engine._client.scheduler.address) as other,
    ):
        assert other.map(abs, [-1]) == [1]


def test_tasks_that_run_are_waited_for(engine: DaskEngine, tmp_path: Path) -> None:
    """Folders that they write to are removed next."""

    def work(item: int) -> None:
        if item == 0:
            while not (tmp_path / "begun").exists():
                time.sleep(0.01)
            raise ValueError("wrong")
        (tmp_path / "begun").touch()
        time.sleep(0.5)
        (tmp_path / "ended").touch()

    with pytest.raises(ValueError, match="wrong"):
        engine.map(work, [0, 1])
    assert (tmp_path / "ended").exists()


def test_without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(UsageError, match=r"cryptography.*install wayveil\[cluster\]"):
        DaskEngine(workers=1)


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError) as caught:
        DaskEngine()
    assert str(caught.value) == "The engine dask needs Dask, which is not installed: install wayveil[cluster]."


@pytest.mark.parametrize("error", [OSError("no"), RuntimeError("no"), TimeoutError("no")])
def test_processes_that_do_not_start(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    import distributed

    folders: list[Path] = []

    def fail(*, local_directory: str, **_: Any) -> None:
        folders.append(Path(local_directory))
        assert folders[0].is_dir()
        raise error

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    with pytest.raises(WayveilError, match=f"did not start .{type(error).__name__}"):
        DaskEngine(workers=1)
    assert not folders[0].exists()


@pytest.mark.parametrize("workers", [0, -3])
def test_at_least_one_worker(workers: int) -> None:
    with pytest.raises(UsageError, match=f"at least 1 worker, got {workers}"):
        DaskEngine(workers=workers)


def test_nothing_is_shown_on_a_port(engine: DaskEngine) -> None:
    def where(dask_scheduler: Any = None, dask_worker: Any = None) -> tuple[str, int]:
        server = (dask_scheduler or dask_worker).http_server
        return server.address, server.port

    for address, port in [engine._client.run_on_scheduler(where), *engine._client.run(where).values()]:
        assert address == "127.0.0.1"
        for page in ("health", "info/main/workers.html"):
            with pytest.raises(HTTPError) as caught:
                urlopen(f"http://{address}:{port}/{page}")
            with caught.value as answer:
                assert answer.code == 404


def test_what_was_started_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    close, closed = distributed.Client.close, []

    def noted(self: Any, *arguments: Any, **options: Any) -> Any:
        closed.append((id(self), self.status))
        return close(self, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "close", noted)
    monkeypatch.setattr(module, "cores", lambda: 1)
    with DaskEngine() as engine:  # one process per core, with one thread
        assert engine.workers == 1
        assert list(engine._client.nthreads().values()) == [1]
        with pytest.raises(ValueError, match="No"):  # Dask elsewhere in the program does not come here
            distributed.default_client()
        [process] = processes(engine)
        [folder] = engine._client.run(lambda dask_worker: dask_worker.local_directory).values()
        assert Path(folder).exists()
        assert any(part.startswith(".wayveil-scratch-") for part in Path(folder).parts)
    assert engine._client.status == "closed"
    assert (id(engine._client), "running") in closed  # before the scheduler that it would look for
    engine.close()
    assert not Path(folder).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
