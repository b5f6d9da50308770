"""Whole publications of next to nothing: what compiles every kernel that the real ones need.

A rehearsal of a method goes through the same line as a publication: a generated file is read, published, judged,
attacked and measured.  So exactly the kernels are compiled, for exactly the types, that a real file needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wayveil.commands.generate import generate
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError, WayveilError, closest
from wayveil.pipeline.publish import publish
from wayveil.recipe import catalog
from wayveil.recipe.recipe import make_recipe

__all__ = ["rehearse", "rehearse_all"]

_SEED = 7

_INPUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "visits": ("transit", {"records": 400, "stations": 12, "hours": 12}),
    "points": (
        "network_movers",
        {"objects": 40, "trips": 1, "duration": "5min", "period": "30s", "windows": 1, "window": "30s"},
    ),
    "routes": ("road_movers", {"objects": 300, "roads": 30, "places": 6, "span": "10min"}),
    "stops": ("errands", {"preset": "milano", "trajectories": 300, "people": 60}),
}
"""The workload that makes a small file of each kind of data."""

_SETTINGS: dict[str, dict[str, Any]] = {
    "kcl": {"k": 3, "c": "0.7", "l": 2},
    "nwa": {"k": 3, "delta": 500},
    "w4m": {"k": 3, "delta": 500},
    "knode": {"k": 3, "window": "10min"},
    "gsup": {"p": "0.6"},
    "cast": {"c": "0.6", "m": 3},
    "synth": {"epsilon": 40},
}
"""Parameters under which something is left; those of other methods are of the example in ``wayveil methods``."""


_SLOWEST = ("gsup", "knode", "tga")
"""Methods whose kernels take longest to compile: these begin, so that no core is idle while the last one compiles."""


def rehearse_all(names: Sequence[str] = (), *, jobs: int | None = None) -> Iterator[str]:
    """Rehearse methods, all of them by default, in a process each; yield the name of each when it is done.

    Parameters
    ----------
    names : sequence of str
        Of methods.
    jobs : int, optional
        Processes at a time; as many as there are cores by default.

    Notes
    -----
    numba compiles under one lock, so threads do not help, but processes that share a cache folder do.
    """
    known = list(catalog.entries("method"))
    for name in names:
        if name not in known:
            raise UsageError(f"There is no method {name!r}; known: {', '.join(known)}.{closest(name, known)}")
    waiting = list(names) or sorted(known, key=lambda name: name not in _SLOWEST)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (jobs or os.cpu_count() or 1):
                name = waiting.pop(0)
                running[name] = _start(name)
            done = _first_done(running)
            if running.pop(done).wait():
                raise WayveilError(f"The rehearsal of {done} failed; run wayveil publish {done} to see why.")
            yield done
    finally:
        for process in running.values():
            process.terminate()
            process.wait()


def _first_done(running: dict[str, subprocess.Popen[bytes]]) -> str:
    """Wait until one of the processes has ended, whichever it is, and return its name."""
    while True:
        for name, process in running.items():
            if process.poll() is not None:
                return name
        time.sleep(0.02)


def _start(name: str) -> subprocess.Popen[bytes]:
    # a process of its own, not a fork: threads of this one may hold numba's lock
    code = f"from wayveil.commands.rehearsal import rehearse; rehearse({name!r})"
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet)


def rehearse(name: str) -> None:
    """Publish a small generated file with a method, in a folder that is gone afterwards."""
    method: Any = catalog.entry("method", name)
    kind = method.accepts.kind
    workload, given = _INPUTS[kind]
    with TemporaryDirectory(prefix="wayveil-rehearsal-") as folder:
        table = Path(folder, "input.csv")
        generated = generate(workload, given, table, seed=_SEED)
        source: dict[str, Any] = {"path": table, "kind": kind}
        for beside in ("network", "taxonomy"):
            file = table.with_name(f"input-{beside}.csv")
            if file.exists():
                source[beside] = file
        settings = _SETTINGS.get(name) or catalog.describe(name)["example"]
        known = {parameter.name for parameter in catalog.parameters("method", name)}
        if "sensitive" in known:
            settings = {**settings, "sensitive": dict(generated.sensitive)}
        if "adversaries" in known:
            places: Any = generated.data
            half = len(places.locations) // 2
            settings = {
                **settings,
                "adversaries": {"one": list(places.locations[:half]), "other": list(places.locations[half:])},
            }
        recipe = make_recipe(
            {
                "seed": _SEED,
                "input": source,
                "method": {"name": name, **settings},
                "output": {"path": Path(folder, "out")},
            }
        )
        publish(recipe, engine=LocalEngine(workers=1))
