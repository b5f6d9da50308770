"""One core, two cores or a cluster: the same bytes, for every method, also when a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from still_noise import still_noise

from wayveil.engines import DaskEngine, LocalEngine
from wayveil.methods import METHODS
from wayveil.methods.cast import cast_levels, cast_sensitive
from wayveil.methods.knode import knode
from wayveil.methods.nwa import nwa
from wayveil.methods.qid import qid
from wayveil.methods.tga.tga import Tga
from wayveil.methods.w4m import w4m
from wayveil.model import Engine, Points, Progress
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

pytest.importorskip("distributed")

Content = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskEngine]:
    with DaskEngine(workers=2) as engine:
        yield engine


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the work into many tasks, small as the data are."""
    sizes = [(nwa, "_BLOCK"), (w4m, "_AT_ONCE"), (knode, "_MOST"), (qid, "_CHUNK"), (cast_levels, "_BLOCK")]
    for module, name in [*sizes, (cast_sensitive, "_CHUNK")]:
        monkeypatch.setattr(module, name, 16)


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


def published(content: dict[str, Any], engine: Engine) -> dict[str, bytes]:
    if content["method"]["name"] == "w4m":
        content["method"]["chunk_size"] = 40
    with still_noise():  # noise is never the same; all the rest is
        publish(make_recipe(content), engine=engine, secret=Secret(bytes([content["seed"]]) * 32))
    return public_bytes(Path(content["output"]["path"]))


@pytest.mark.usefixtures("small_tasks")
def test_the_same_bytes_on_every_engine(make_content: Content, cluster: DaskEngine) -> None:
    found = []
    for seed in (1, 2, 3):
        one = published(make_content(f"one-{seed}", seed=seed), LocalEngine(workers=1))
        assert published(make_content(f"two-{seed}", seed=seed), LocalEngine(workers=2)) == one
        assert published(make_content(f"cluster-{seed}", seed=seed), cluster) == one
        found.append(one)
    if make_recipe(make_content("one-1")).method.random_noise:
        return
    individual = make_recipe(make_content("one-1")).method.publishes.individual
    # Ids and the order of rows depend on the secret; a table of counts has neither.
    assert (found[0] != found[1] != found[2]) == individual


@pytest.mark.parametrize(("method", "module", "name"), [(nwa.Nwa, nwa, "_BLOCK"), (w4m.W4m, w4m, "_AT_ONCE")])
def test_how_the_work_is_cut_changes_nothing(
    make_content: Content, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    whole = published(make_content("whole"), LocalEngine(workers=2))
    for size in (1, 7, 50):
        monkeypatch.setattr(module, name, size)
        assert published(make_content(f"cut-{size}"), LocalEngine(workers=2)) == whole


@dataclass(kw_only=True)
class Fragile:
    """An engine that loses a worker in the middle of the tasks of its map number `at`."""

    engine: DaskEngine
    folder: Path
    at: int
    maps: int = 0
    killed: list[int] = field(default_factory=list)

    @property
    def workers(self) -> int:
        return self.engine.workers

    @property
    def progress(self) -> Progress:
        return self.engine.progress

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        listed = list(items)
        self.maps += bool(listed)
        if not listed or self.maps - 1 != self.at:
            return self.engine.map(function, listed)
        folder = self.folder

        def slow(item: Any) -> Any:
            result = function(item)
            (folder / f"{os.getpid()}.work").touch()
            for _ in range(600):  # until a worker was killed
                if (folder / "killed").exists():
                    break
                time.sleep(0.1)
            return result

        killer = threading.Thread(target=self._kill)
        killer.start()
        made = self.engine.map(slow, listed)
        killer.join()
        return made

    def _kill(self) -> None:
        for _ in range(600):
            at_work = list(self.folder.glob("*.work"))
            if at_work:
                os.kill(int(at_work[0].stem), signal.SIGKILL)
                self.killed.append(int(at_work[0].stem))
                break
            time.sleep(0.1)
        (self.folder / "killed").touch()


@pytest.mark.parametrize(("method", "at"), [(METHODS["kcl"], 0), (METHODS["nwa"], 1)])
@pytest.mark.usefixtures("small_tasks")
def test_the_same_bytes_where_a_worker_is_killed(
    make_content: Content, cluster: DaskEngine, tmp_path: Path, at: int
) -> None:
    expected = published(make_content("undisturbed"), LocalEngine(workers=1))
    engine = Fragile(engine=cluster, folder=tmp_path, at=at)
    assert published(make_content("disturbed"), engine) == expected
    assert len(engine.killed) == 1
    assert engine.maps > at


def test_how_far_tga_looks_ahead_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    ways = [
        [
            (t, float(x + 90 * t + rng.normal(0, 40)), float(y + rng.normal(0, 40)))
            for t in range(int(rng.integers(1, 6)))
        ]
        for x, y in rng.integers(0, 4, (150, 2)) * 300
    ]
    data = Points.from_records(ways, owner=rng.integers(0, 90, len(ways)).tolist())
    for algorithm in ("fast", "multi"):
        made = [
            Tga(k=3, algorithm=algorithm)
            .run(data, rng=np.random.default_rng(5), engine=LocalEngine(workers=workers))
            .data
            for workers in (1, 2, 3, 8, 50)
        ]
        for name in ("offsets", "t_min", "t_max", "x_min", "x_max", "y_min", "y_max"):
            assert all(np.array_equal(getattr(one, name), getattr(made[0], name)) for one in made)
