"""The engine of one machine."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from wayveil.engines import LocalEngine


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert LocalEngine(workers=workers).map(lambda i: i * i, range(100)) == [i * i for i in range(100)]
    assert LocalEngine(workers=workers).map(abs, iter([])) == []
    assert LocalEngine(workers=workers).map(abs, [-1]) == [1]


def test_an_error_arrives_as_itself() -> None:
    with pytest.raises(ZeroDivisionError):
        LocalEngine(workers=2).map(lambda i: 1 // i, [1, 0, 2])


def test_nothing_is_left_running() -> None:
    before = threading.active_count()
    with LocalEngine(workers=3) as engine:
        assert engine.map(abs, range(10)) == list(range(10))
    assert threading.active_count() == before


def test_workers_are_the_cores_and_progress_is_silent() -> None:
    engine = LocalEngine()
    assert engine.workers >= 1
    engine.progress("a step", 1, 2)
    told = []
    LocalEngine(progress=lambda step, done=0, total=None: told.append((step, done, total))).progress("a step", 1)
    assert told == [("a step", 1, None)]


def test_nobody_pays_for_a_cluster_who_has_none() -> None:
    code = "import sys, wayveil.engines; sys.exit('dask' in sys.modules or 'distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
