"""The engine of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from wayveil.engines import LocalEngine
from wayveil.engines.local import cores


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


def test_items_are_worked_on_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=20)  # nobody passes alone
    LocalEngine(workers=2).map(lambda _: both.wait(), range(2))


def test_no_more_threads_than_workers_and_items() -> None:
    here = threading.get_ident()
    assert set(LocalEngine(workers=1).map(lambda _: threading.get_ident(), range(5))) == {here}
    assert LocalEngine(workers=3).map(lambda _: threading.get_ident(), [1]) == [here]

    def where(_: int) -> int:
        time.sleep(0.005)
        return threading.get_ident()

    assert len({*LocalEngine(workers=2).map(where, range(20))} - {here}) == 2


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 6}, raising=False)
    assert cores() == LocalEngine().workers == 3
    monkeypatch.delattr(os, "sched_getaffinity")  # as on other systems
    assert cores() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


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
