"""A cluster of several hosts: each in a network namespace with an address of its own, talking through TLS.

A bridge in the namespace of the head joins three hosts: the head, with scheduler and driver, and two workers.  All see
one folder, as with NFS.  Whatever crosses the cables of the workers is recorded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tables import CONFIGURED, write_inputs

from wayveil.engines import LocalEngine
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.recipe.toml import recipe_text

pytest.importorskip("distributed")

from distributed import Security

SECRET = Secret(bytes(32))
HEAD = "10.93.7.1"
SMALL_DISK = "small"
SCHEDULER = f"tls://{HEAD}:8786"
WAYS = {"kcl": ("visits", "whole"), "icba": ("routes", "slice"), "nwa": ("points", "times")}

# A host that is gone is noticed within seconds, not within the minutes of a cluster that people use.
QUICK = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
}

RECORDER = """
import socket, sys
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.bind((sys.argv[1], 0))
with open(sys.argv[2], "wb", buffering=0) as file:
    print("ready", flush=True)
    while True:
        file.write(raw.recv(65536))
"""

MAIN = "import sys; from wayveil.cli import main; sys.exit(main(sys.argv[1:]))"


def sh(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def find_obstacle() -> str:
    """Return why there can be no namespaces here; nothing where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need the command ip of iproute2"
    name = f"wvtry{os.getpid()}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"network namespaces cannot be made here: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return ""


class Hosts:
    """A head and two workers; each `name` is a namespace, each cable a pair of interfaces that ends in the head."""

    def __init__(self, folder: Path, *, tls: bool = True) -> None:
        self.folder = folder
        self.mark = f"wv{os.getpid()}{'s' if tls else 'o'}"  # secured and open ones live side by side
        self.head = f"{self.mark}h"
        self.workers = [f"{self.mark}w{i}" for i in (1, 2)]
        self.tls = tls
        self.scheduler = SCHEDULER if tls else SCHEDULER.replace("tls://", "tcp://")
        self._ended = ExitStack()
        self.processes: dict[str, subprocess.Popen[Any]] = {}
        self.environment = {
            **os.environ,
            **QUICK,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "TMPDIR": str(folder),
        }
        if tls:
            self._make_certificates()

    def _make_certificates(self) -> None:
        security = Security.temporary()
        parts = {"ca": security.tls_ca_file, "cert": security.tls_client_cert, "key": security.tls_client_key}
        for name, text in parts.items():
            (self.folder / f"{name}.pem").write_text(text)
        where = "DASK_DISTRIBUTED__COMM__TLS__"
        self.environment[f"{where}CA_FILE"] = str(self.folder / "ca.pem")
        for role in ("SCHEDULER", "WORKER", "CLIENT"):
            self.environment[f"{where}{role}__CERT"] = str(self.folder / "cert.pem")
            self.environment[f"{where}{role}__KEY"] = str(self.folder / "key.pem")

    def __enter__(self) -> Hosts:
        with ExitStack() as started:
            for name in (self.head, *self.workers):
                sh("ip", "netns", "add", name)
                started.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
                sh("ip", "-n", name, "link", "set", "lo", "up")
            sh("ip", "-n", self.head, "link", "add", "br0", "type", "bridge")
            sh("ip", "-n", self.head, "addr", "add", f"{HEAD}/24", "dev", "br0")
            sh("ip", "-n", self.head, "link", "set", "br0", "up")
            for number, name in enumerate(self.workers, start=2):
                near = self.cable(name)
                sh("ip", "-n", self.head, "link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", name)
                sh("ip", "-n", self.head, "link", "set", near, "master", "br0", "up")
                sh("ip", "-n", name, "addr", "add", f"10.93.7.{number}/24", "dev", "eth0")
                sh("ip", "-n", name, "link", "set", "eth0", "up")
            started.callback(self._end_processes)
            self._start_cluster()
            self._ended = started.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._ended.close()

    def cable(self, name: str) -> str:
        """Return the end of a worker's cable that is in the head."""
        return f"to{name[-2:]}"

    def start(self, label: str, host: str, *command: str, **others: Any) -> subprocess.Popen[Any]:
        """Start a command on a host."""
        started = subprocess.Popen(
            ["ip", "netns", "exec", host, sys.executable, *command],
            env=self.environment,
            cwd=self.folder,
            text=True,
            **others,
        )
        self.processes[label] = started
        return started

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run wayveil on the head."""
        return subprocess.run(
            ["ip", "netns", "exec", self.head, sys.executable, "-c", MAIN, *command],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    @contextmanager
    def recording(self) -> Iterator[list[Path]]:
        """Record what crosses the cables of the workers, each in a file."""
        files = [self.folder / f"cable-{worker[-2:]}" for worker in self.workers]
        with ExitStack() as recorders:
            for worker, file in zip(self.workers, files, strict=True):
                cable = ("-c", RECORDER, self.cable(worker), str(file))
                recorder = self.start("recorder", self.head, *cable, stdout=subprocess.PIPE)
                recorders.callback(end, recorder)
                assert recorder.stdout is not None
                assert recorder.stdout.readline() == "ready\n"
            yield files

    def pull_out(self, worker: str) -> None:
        """Take a host away: its cable is cut, and nobody on it says good-bye."""
        sh("ip", "-n", self.head, "link", "set", self.cable(worker), "down")

    def slow_down(self, worker: str) -> None:
        """Let no more than 4 Mbit/s through the cable of a worker."""
        limit = ("tbf", "rate", "4mbit", "burst", "32kbit", "latency", "400ms")
        sh("ip", "netns", "exec", self.head, "tc", "qdisc", "add", "dev", self.cable(worker), "root", *limit)

    def _start_cluster(self) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        protocol = "tls" if self.tls else "tcp"
        address = ("--host", HEAD, "--port", "8786", "--protocol", protocol, "--no-dashboard")
        self.start("scheduler", self.head, "-m", "distributed.cli.dask_scheduler", *address, **quiet)
        for name in self.workers:
            options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(self.folder / name))
            self.start(name, name, "-m", "distributed.cli.dask_worker", self.scheduler, *options, **quiet)

    def _end_processes(self) -> None:
        for process in self.processes.values():
            end(process)


def end(process: subprocess.Popen[Any]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture(scope="module")
def obstacle() -> str:
    return find_obstacle()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="module")
def hosts(obstacle: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if obstacle:
        pytest.skip(obstacle)
    folder = tmp_path_factory.mktemp("shared")
    small = folder / SMALL_DISK
    small.mkdir()
    sh("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small))  # before the hosts start, so that they see it
    try:
        with Hosts(folder) as started:
            yield started
    finally:
        sh("umount", "-l", str(small))


def write_recipe(inputs: Path, folder: Path, name: str, out: Path) -> Path:
    kind, by = WAYS[name]
    beside = {"network": str(inputs / "network.csv")} if kind == "routes" else {}
    content = {
        "seed": 1,
        "input": {"path": str(inputs / f"{kind}.csv"), **beside},
        "prepare": [{"step": "slices", "width": "100"}] if kind == "routes" else [],
        "method": {"name": name, **CONFIGURED[name]},
        "blocks": {"by": by, "rows": 140},
        "attacks": [],
        "metrics": [],
        "output": {"path": str(out), "format": "csv", "overwrite": True},
    }
    file = folder / f"{name}-{out.name}.toml"
    file.write_text(recipe_text(make_recipe(content)))
    (folder / "secret.txt").write_text(SECRET.text)
    return file


def publish_here(recipe: Path) -> dict[str, bytes]:
    from wayveil.recipe.recipe import load_recipe

    loaded = load_recipe(recipe)
    publish(loaded, engine=LocalEngine(workers=1), secret=SECRET)
    public = loaded.output.path / "public"
    files = {path.name: path.read_bytes() for path in sorted(public.iterdir())}
    shutil.rmtree(loaded.output.path)
    return files


def publish_there(hosts: Hosts, recipe: Path, *options: str) -> subprocess.CompletedProcess[str]:
    how = ("--engine", "dask", "--scheduler", hosts.scheduler, "--secret", str(hosts.folder / "secret.txt"))
    return hosts.run("run", str(recipe), *how, *options)


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


@pytest.mark.parametrize("name", sorted(WAYS))
def test_two_hosts_publish_the_bytes_of_one_and_nothing_crosses_in_the_clear(
    hosts: Hosts, inputs: Path, name: str
) -> None:
    out = hosts.folder / f"out-{name}"
    recipe = write_recipe(inputs, hosts.folder, name, out)
    expected = publish_here(recipe)
    with hosts.recording() as cables:
        done = publish_there(hosts, recipe)
    assert done.returncode == 0, done.stderr
    assert public_bytes(out) == expected
    for cable in cables:
        crossed = cable.read_bytes()
        assert len(crossed) > 10_000  # there was work to do, and its data came this way
        for word in (b"wayveil", b"PERSON", b"CARD", b"station", b"road-", b"numpy", b"cloudpickle"):
            assert word not in crossed, word


def test_without_tls_the_recorder_reads_along(obstacle: str, inputs: Path, tmp_path: Path) -> None:
    """The other test would pass with a recorder that hears nothing."""
    if obstacle:
        pytest.skip(obstacle)
    with Hosts(tmp_path, tls=False) as open_hosts:
        recipe = write_recipe(inputs, tmp_path, "kcl", tmp_path / "out")
        refused = publish_there(open_hosts, recipe)
        assert refused.returncode == 2
        assert "is not reached through TLS" in refused.stderr
        with open_hosts.recording() as cables:
            done = publish_there(open_hosts, recipe, "--insecure-scheduler")
        assert done.returncode == 0, done.stderr
        assert all(b"wayveil" in cable.read_bytes() for cable in cables)


def test_a_slow_cable_changes_nothing(hosts: Hosts, inputs: Path) -> None:
    hosts.slow_down(hosts.workers[0])
    out = hosts.folder / "slow"
    recipe = write_recipe(inputs, hosts.folder, "nwa", out)
    expected = publish_here(recipe)
    done = publish_there(hosts, recipe)
    assert done.returncode == 0, done.stderr
    assert public_bytes(out) == expected


def test_a_full_disk_is_one_sentence(hosts: Hosts, inputs: Path) -> None:
    out = hosts.folder / SMALL_DISK / "out"
    done = publish_there(hosts, write_recipe(inputs, hosts.folder, "kcl", out))
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1
    assert "disk" in done.stderr or "space" in done.stderr
    assert not (out / "public").exists()


def test_a_host_that_disappears_in_the_middle_changes_nothing(hosts: Hosts, inputs: Path) -> None:
    """Last, because its host does not come back."""
    out = hosts.folder / "gone"
    recipe = write_recipe(inputs, hosts.folder, "kcl", out)
    expected = publish_here(recipe)
    how = ("--engine", "dask", "--scheduler", hosts.scheduler, "--secret", str(hosts.folder / "secret.txt"))
    driver = hosts.start("driver", hosts.head, "-c", MAIN, "run", str(recipe), *how, stderr=subprocess.PIPE)
    while driver.poll() is None and not any(out.glob(".staging-*/scratch/done/make/*.pickle")):
        time.sleep(0.01)
    assert driver.poll() is None, "it ended before its host could be taken away"
    hosts.pull_out(hosts.workers[1])
    _, errors = driver.communicate(timeout=300)
    assert driver.returncode == 0, errors
    assert public_bytes(out) == expected
