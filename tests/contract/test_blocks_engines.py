"""Data in blocks: one core, two cores and a cluster of processes publish the same bytes, for every method and key."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import CONFIGURED, PEOPLE, write_inputs

from wayveil.engines import DaskEngine, LocalEngine
from wayveil.errors import OutputError
from wayveil.methods import METHODS
from wayveil.model import concat
from wayveil.pipeline.blocks import block
from wayveil.pipeline.folder.manifest import read_manifest, tables
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.input import load_boxes, load_parts, load_published
from wayveil.pipeline.publish import publish
from wayveil.pipeline.readback import write_and_read_back
from wayveil.recipe import catalog
from wayveil.recipe.recipe import make_recipe

SECRET = Secret(bytes(32))

CASES = [(name, key) for name in sorted(METHODS) for key in METHODS[name].blocks]
WAYS = [
    *((name, key, {}) for name, key in CASES),
    ("tga", "place", {"publish": "points"}),
    ("icba", "slice", {"pad": "yes"}),
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of every kind, a network and a taxonomy."""
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture
def make(inputs: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return the content of a recipe with blocks; `out` is the name of the folder for the result."""

    def content(name: str, key: str, out: str, *, seed: int = 1, more: Any = None, **others: Any) -> dict[str, Any]:
        kind = METHODS[name].accepts.__name__.lower()
        beside = {"routes": {"network": "network.csv"}, "stops": {"taxonomy": "taxonomy.csv"}}.get(kind, {})
        return {
            "seed": seed,
            "input": {"path": str(inputs / f"{kind}.csv"), **{k: str(inputs / v) for k, v in beside.items()}},
            "prepare": [{"step": "slices", "width": "100"}] if kind == "routes" else [],
            "method": {"name": name, **CONFIGURED[name], **(more or {})},
            "blocks": {"by": key, "rows": 70 if kind == "stops" else 140},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(tmp_path / out), "format": "csv"},
            **others,
        }

    return content


@pytest.fixture(scope="module")
def dask() -> Iterator[DaskEngine]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # another cluster on this machine may have the usual port
        engine = DaskEngine(workers=2)
    with engine:
        yield engine


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


def test_every_method_with_blocks_is_tested() -> None:
    assert {name for name, _ in CASES} == {name for name in CONFIGURED if METHODS[name].blocks}


@pytest.mark.parametrize(("name", "key", "more"), WAYS, ids=[f"{n}-{k}{'-more' if m else ''}" for n, k, m in WAYS])
def test_all_engines_publish_the_same_bytes_and_the_union_keeps_the_promise(
    make: Callable[..., dict[str, Any]],
    dask: DaskEngine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    key: str,
    more: dict[str, Any],
) -> None:
    seen: list[tuple[int, Any, Any]] = []

    def seeing(*arguments: Any, **others: Any) -> Any:
        written = write_and_read_back(*arguments, **others)
        seen.append((others["part"], written.data, written.boxes))
        return written

    with monkeypatch.context() as patched:
        patched.setattr(block, "write_and_read_back", seeing)
        outcome = publish(make_recipe(make(name, key, "one", more=more)), engine=LocalEngine(workers=1), secret=SECRET)
    one = public_bytes(tmp_path / "one")
    n_parts = sum(file.startswith("published-") for file in one)
    assert n_parts > 1
    assert sorted(file for file in one if file.startswith("published")) == [
        f"published-{i + 1:05d}.csv" for i in range(n_parts)
    ]
    publish(make_recipe(make(name, key, "two", more=more)), engine=LocalEngine(workers=2), secret=SECRET)
    assert public_bytes(tmp_path / "two") == one
    publish(make_recipe(make(name, key, "cluster", more=more)), engine=dask, secret=SECRET)
    assert public_bytes(tmp_path / "cluster") == one
    assert sorted(path.name for path in (tmp_path / "cluster").iterdir()) == ["private", "public"]
    assert all(b"CARD" not in content and b"PERSON" not in content for content in one.values())
    check_union(tmp_path / "one", outcome, [data for _, data, _ in sorted(seen, key=lambda found: found[0])])


def check_union(out: Path, outcome: Any, owned: list[Any]) -> None:
    """Judge the folder, then all parts as one table: as the public reads it, and with the true owners."""
    judgement = verify_folder(out)
    assert judgement.failures == ()
    manifest, _ = read_manifest(out / "public")
    read = load_published(out / "public", manifest)
    assert read.ids.n_unique() == len(read.ids) == manifest.trajectories
    assert read.data.n_rows == manifest.rows
    claim, boxes = manifest.guarantee, None
    if tables(manifest, "boxes"):
        parts = list(load_parts(out / "public", manifest))
        listed: Any = [load_boxes(out / "public", manifest, one, i) for i, one in enumerate(parts)]
        first = np.cumsum([0, *(len(one) for one in listed)])
        boxes = concat([replace(b, owner=b.owner + a) for b, a in zip(listed, first.tolist(), strict=False)])
    assert catalog.verify(read.data, claim, boxes=boxes).holds
    if boxes is not None:
        return
    owners = set().union(*(data.owner[data.owner >= 0].tolist() for data in owned))
    assert 2 < len(owners) <= PEOPLE
    # dummies are nobody: each is one of its own in all parts, too
    apart = [
        replace(data, owner=np.where(data.owner < 0, data.owner - 10**6 * i, data.owner))
        for i, data in enumerate(owned)
    ]
    union = concat(apart)
    assert len(union) == manifest.trajectories
    verdict = catalog.verify(union, claim)
    assert verdict.holds, verdict.reason
    assert verdict.counted == outcome.verdict.counted


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("name", sorted({name for name, _ in CASES}))
def test_other_seeds_and_parquet(
    make: Callable[..., dict[str, Any]], dask: DaskEngine, tmp_path: Path, name: str, seed: int
) -> None:
    found = []
    for out, engine in (("one", LocalEngine(workers=1)), ("cluster", dask)):
        content = make(name, METHODS[name].blocks[0], out, seed=seed)
        content["output"]["format"] = "parquet"
        publish(make_recipe(content), engine=engine, secret=SECRET)
        found.append(public_bytes(tmp_path / out))
    assert found[0] == found[1]
    assert verify_folder(tmp_path / "one").failures == ()


def test_attacks_and_metrics_are_the_same_on_all_engines(make: Callable[..., dict[str, Any]], dask: DaskEngine) -> None:
    for name in ("kcl", "tga"):
        found = []
        for out, engine in ((f"{name}-one", LocalEngine(workers=1)), (f"{name}-cluster", dask)):
            content = make(name, METHODS[name].blocks[0], out)
            outcome = publish(make_recipe({**content, "attacks": None, "metrics": None}), engine=engine, secret=SECRET)
            found.append((outcome.attacks, outcome.scores, dict(outcome.output_facts), outcome.notes))
        assert found[0][0]
        assert found[0][1]
        assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("name", ["kcl", "nwa"])
def test_a_worker_that_is_killed_changes_nothing(
    make: Callable[..., dict[str, Any]], dask: DaskEngine, tmp_path: Path, name: str
) -> None:
    key = METHODS[name].blocks[0]
    publish(make_recipe(make(name, key, "calm")), engine=LocalEngine(workers=1), secret=SECRET)
    first = sorted(dask._client.run(os.getpid).values())
    done, killed = threading.Event(), []

    def kill() -> None:
        """Kill a worker as soon as the run has cut its data into blocks or parts."""
        wanted = "blocks/*/*.pickle" if name == "nwa" else "parts/*/*.pickle"
        while not done.is_set() and not any((tmp_path / "rough").glob(f".staging-*/scratch/{wanted}")):
            time.sleep(0.002)
        if not done.is_set():
            os.kill(first[0], signal.SIGKILL)
            killed.append(first[0])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        publish(make_recipe(make(name, key, "rough")), engine=dask, secret=SECRET)
    finally:
        done.set()
        killer.join()
    assert killed
    assert public_bytes(tmp_path / "rough") == public_bytes(tmp_path / "calm")
    assert verify_folder(tmp_path / "rough").failures == ()


class FaultyWorkers:
    """Another process for all we know: `spoil` changes what a task gives back, or what it left on disk."""

    workers = 1
    progress = LocalEngine().progress

    def __init__(self, spoil: Callable[[str, Any, Any], Any]) -> None:
        self.spoil = spoil
        self.stages: list[str] = []

    def map(self, function: Any, items: Any) -> list[Any]:
        stage = " ".join(named_functions(function))
        self.stages.append(stage)
        return [self.spoil(stage, item, function(item)) for item in items]


def named_functions(function: Any) -> list[str]:
    """Return the names of what a partial function calls, and of the partial functions among its arguments."""
    if not hasattr(function, "func"):
        return []
    return [function.func.__name__, *(name for argument in function.args for name in named_functions(argument))]


@pytest.mark.parametrize(("name", "key"), [("nwa", "times"), ("kcl", "whole"), ("cast", "length"), ("tga", "place")])
def test_the_verdict_is_given_here_and_not_by_workers(make: Callable[..., dict[str, Any]], name: str, key: str) -> None:
    engine = FaultyWorkers(lambda stage, item, result: result)
    publish(make_recipe(make(name, key, "out")), engine=engine, secret=SECRET)
    assert any("write_part" in stage for stage in engine.stages)
    assert not [stage for stage in engine.stages if "judge" in stage]


@pytest.mark.parametrize(("name", "key"), [("nwa", "times"), ("kcl", "whole")])
@pytest.mark.parametrize("fault", ["file", "hash", "both"])
def test_a_file_that_is_not_what_a_worker_read_back_is_not_published(
    make: Callable[..., dict[str, Any]], tmp_path: Path, name: str, key: str, fault: str
) -> None:
    """With `both`, file and hash agree: only reading the file again shows that it is not what would be judged."""

    def spoil(stage: str, item: Any, result: Any) -> Any:
        if "write_part" not in stage or item[1].number != 0:
            return result
        folder = next(tmp_path.glob("out/.staging-*")) / "public"
        file = next(path for path in folder.rglob("published-00001.csv"))
        if fault != "hash":
            lines = file.read_text().splitlines(keepends=True)
            file.write_text("".join(lines[:-1]))
        if fault == "file":
            return result
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest() if fault == "both" else "0" * 64
        return replace(result, hashes={**result.hashes, file.name: sha256})

    with pytest.raises(OutputError, match="worker"):
        publish(make_recipe(make(name, key, "out")), engine=FaultyWorkers(spoil), secret=SECRET)
    assert not (tmp_path / "out" / "public").exists()
