"""Another user of the same machine: reads nothing, plants nothing, and runs nothing as the owner.

As root only: the other user is a process that gives up its rights.  Nothing is made on the system.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayveil.engines.scratch import scratch_folder
from wayveil.pipeline.folder.staging import open_workspace

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as a second user")

OTHER = 65534
AS_OTHER = f"""
import os
def become_other():
    os.setgroups([])
    os.setgid({OTHER})
    os.setuid({OTHER})
"""
READ = f"""
import json, os, sys
{AS_OTHER}
become_other()
found = {{}}
for path in sys.argv[1:]:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").close()
        found[path] = "read"
    except PermissionError:
        found[path] = "refused"
print(json.dumps(found))
"""
PLANT = f"""
import os, sys
{AS_OTHER}
become_other()
os.umask(0)
for path in sys.argv[1:]:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").close()
"""


def act(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def read_as_other(*paths: Path) -> dict[Path, str]:
    done = act(READ, *paths)
    assert done.returncode == 0, done.stderr
    return {Path(path): how for path, how in json.loads(done.stdout).items()}


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody can enter and write to, as /tmp is; those of pytest nobody else can enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    previous = os.umask(0o022)
    yield folder
    os.umask(previous)
    shutil.rmtree(folder)


def test_nothing_but_the_public_folder_is_readable(shared: Path) -> None:
    out = shared / "out"
    with open_workspace(out, overwrite=True) as space, scratch_folder(shared) as scratch:
        for path in (space.staged / "data.csv", space.staged / "manifest.json", space.scratch / "a", scratch / "b"):
            path.write_text("x")
        guarded = [space.staged, space.staged / "data.csv", space.scratch, space.scratch / "a", scratch, scratch / "b"]
        assert set(read_as_other(*guarded).values()) == {"refused"}
        space.publish({"report.html": "x", "secret.txt": "x"})
    private = [out / "private", out / "private/report.html", out / "private/secret.txt"]
    assert set(read_as_other(*private).values()) == {"refused"}
    assert set(read_as_other(out / "public", out / "public/data.csv").values()) == {"read"}


def test_what_another_user_planted_is_neither_taken_nor_removed(shared: Path) -> None:
    planted = shared / ".wayveil-scratch-mine" / "made by wayveil, removed by wayveil"
    assert act(PLANT, planted).returncode == 0
    with scratch_folder(shared) as scratch:
        assert scratch.parent == shared
    assert planted.exists()


def test_private_files_that_another_user_staged_are_not_taken(shared: Path) -> None:
    out = shared / "out"
    with open_workspace(out, overwrite=True) as space:
        (space.staged / "manifest.json").write_text("x")
        space.publish({"report.html": "mine"})
    out.chmod(0o1777)
    staged = out / ".staging-evil" / "private"
    assert act(PLANT, staged / "report.html", staged / "results.json").returncode == 0
    sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of "x", what is public
    (staged / "results.json").write_text(json.dumps({"manifest_sha256": sha256}))
    with open_workspace(out, overwrite=True):
        assert (out / "private/report.html").read_text() == "mine"


CACHE = "from wayveil.kernels.common import code_cache; print(code_cache.cache_folder())"


def test_nobody_else_writes_to_the_cache_of_kernels(shared: Path) -> None:
    """Machine code in it is loaded and run."""
    fresh = act(CACHE, XDG_CACHE_HOME=str(shared / "fresh"))
    folder = Path(fresh.stdout.strip())
    assert folder.is_relative_to(shared), fresh.stderr
    assert folder.is_dir()
    assert act(PLANT, folder / "evil.nbi").returncode != 0
    assert act(PLANT, folder.parent / "code" / "evil.nbi").returncode != 0


@pytest.mark.parametrize("how", ["planted", "open to all", "open to a group", "in a folder that is open to all"])
def test_a_cache_that_others_can_write_to_is_not_used(shared: Path, how: str) -> None:
    cache = shared / "cache"
    if how == "planted":
        assert act(PLANT, cache / "wayveil" / "file").returncode == 0
        cache.chmod(0o755)
        os.chown(cache, 0, 0)
        (cache / "wayveil").chmod(0o755)
    else:
        assert act(CACHE, XDG_CACHE_HOME=str(cache)).stdout.startswith(str(cache))
        where = cache if how.startswith("in") else cache / "wayveil"
        where.chmod(0o775 if how.endswith("group") else 0o777)
    done = act(CACHE, XDG_CACHE_HOME=str(cache))
    assert done.stdout == "None\n"
    assert "every run compiles again" in done.stderr


CONNECT = f"""
import asyncio, sys
from distributed import Security
from distributed.comm import connect
{AS_OTHER}
security = Security.temporary()
become_other()

async def ask(address):
    comm = await connect(address, timeout=3, **security.get_connection_args("client"))
    await comm.write({{"op": "identity", "reply": True}})
    print(await comm.read())

for address in sys.argv[1:]:
    try:
        asyncio.run(asyncio.wait_for(ask(address), 5))
    except Exception:
        continue
    sys.exit(f"{{address}} answers")
"""


def test_the_cluster_does_not_answer_another_user(shared: Path) -> None:
    pytest.importorskip("distributed")
    from wayveil.engines import DaskEngine

    with DaskEngine(workers=1) as engine:
        addresses = [engine._client.scheduler.address, *engine._client.nthreads()]
        done = act(CONNECT, *addresses)
        assert done.returncode == 0, done.stderr
        [(worker, folder)] = engine._client.run(lambda dask_worker: (os.getpid(), dask_worker.local_directory)).values()
        for process in (worker, os.getpid()):  # anybody can read how processes were called
            assert b"PRIVATE KEY" not in Path(f"/proc/{process}/cmdline").read_bytes()
        assert set(read_as_other(Path(folder), Path(f"/proc/{worker}/environ")).values()) == {"refused"}
