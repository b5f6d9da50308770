from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from wayveil.web.answers import Refused


def test_ten_jobs_at_once_all_end_as_they_should(make_box: Callable[..., Any]) -> None:
    box = make_box(limit=3)
    box.jobs.open()
    ways = ["done", "fail", "refuse", "crash", "done", "silent", "done", "crash", "done", "done"]
    ids = [box.add(way) for way in ways]
    threads = [threading.Thread(target=box.jobs.submit, args=(id,)) for id in ids]
    for thread in threads:
        thread.start()
    states = [box.wait(id) for id in ids]
    expected = {"done": "done", "fail": "failed", "refuse": "refused", "crash": "failed", "silent": "failed"}
    assert [state["state"] for state in states] == [expected[way] for way in ways]
    assert all(state["started"] <= state["ended"] for state in states)
    assert states[1]["error"] == "It is wrong."
    assert "signal 9" in states[3]["error"]
    assert "exit code 3" in states[5]["error"]
    assert all((state["error"] is None) == (way == "done") for state, way in zip(states, ways, strict=True))


def test_only_so_many_run_at_a_time_and_in_order(make_box: Callable[..., Any]) -> None:
    box = make_box(limit=1)
    box.jobs.open()
    ids = [box.add("done") for _ in range(4)]
    for id in ids:
        box.jobs.submit(id)
    for id in ids:
        box.wait(id)
    times = [tuple(float((box.runs.place(id) / name).read_text()) for name in ("began", "over")) for id in ids]
    assert all(one[1] <= other[0] for one, other in pairwise(times))


def test_a_crash_hurts_nobody_else(box: Any, wait_until: Callable[..., Any]) -> None:
    box.jobs.open()
    first, second = box.add("hang"), box.add("done")
    box.jobs.submit(first)
    box.jobs.submit(second)
    pid = box.wait(first, "running")["pid"]
    wait_until(lambda: (box.runs.place(first) / "out").is_dir(), bool)
    os.kill(pid, signal.SIGKILL)
    assert box.wait(first)["state"] == "failed"
    assert "nothing was published" in box.runs.state(first)["error"]
    assert not (box.runs.place(first) / "out").exists()
    assert box.wait(second)["state"] == "done"


def test_a_run_that_waits_is_cancelled_without_being_run(box: Any) -> None:
    box.jobs.open()
    first, second = box.add("short"), box.add("done")
    box.jobs.submit(first)
    box.jobs.submit(second)
    box.wait(first, "running")
    box.jobs.cancel(second)
    assert box.runs.state(second)["state"] == "cancelled"
    assert box.wait(first)["state"] == "done"
    assert not (box.runs.place(second) / "began").exists()
    with pytest.raises(Refused, match="ended already"):
        box.jobs.cancel(second)


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_a_process_is_asked_before_it_is_killed(box: Any, end: str, wait_until: Callable[..., Any]) -> None:
    box.jobs.open()
    id = box.add("gentle")
    box.jobs.submit(id)
    wait_until(lambda: (box.runs.place(id) / "deaf").exists(), bool)
    if end == "cancel":
        box.jobs.cancel(id)
        assert box.wait(id)["state"] == "cancelled"
    else:
        box.jobs.close()
        assert box.runs.state(id)["state"] == "running"
    assert (box.runs.place(id) / "asked").exists()


@pytest.mark.parametrize("way", ["hang", "stubborn"])
def test_a_run_is_cancelled_with_its_process(
    box: Any, way: str, alive: Callable[[int], bool], wait_until: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wayveil.web.jobs._PATIENCE_S", 0.5)
    box.jobs.open()
    id = box.add(way)
    box.jobs.submit(id)
    pid = box.wait(id, "running")["pid"]
    wait_until(lambda: (box.runs.place(id) / ("deaf" if way == "stubborn" else "began")).exists(), bool)
    box.jobs.cancel(id)
    state = box.wait(id)
    assert (state["state"], state["error"]) == ("cancelled", None)
    wait_until(lambda: alive(pid), lambda lives: not lives)
    assert not (box.runs.place(id) / "out").exists()


def test_after_a_restart_what_waited_goes_on_and_what_ran_is_lost(make_box: Callable[..., Any]) -> None:
    box = make_box()
    waiting, running, ended = box.add("done"), box.add("hang"), box.add("done")
    box.runs.change(running, state="running", pid=1, started="2026")
    box.runs.change(ended, state="failed", error="As it was.")
    again = make_box()
    again.jobs.open()
    assert again.wait(waiting)["state"] == "done"
    lost = again.runs.state(running)
    assert lost["state"] == "failed"
    assert "The server was stopped" in lost["error"]
    assert again.runs.state(ended)["error"] == "As it was."


def test_stopping_the_server_stops_its_processes_and_keeps_what_waits(
    make_box: Callable[..., Any], alive: Callable[[int], bool]
) -> None:
    box = make_box()
    box.jobs.open()
    first, second = box.add("hang"), box.add("done")
    box.jobs.submit(first)
    box.jobs.submit(second)
    pid = box.wait(first, "running")["pid"]
    box.jobs.close()
    assert not alive(pid)
    assert box.runs.state(second)["state"] == "queued"
    again = make_box()
    again.jobs.open()
    assert again.wait(first)["state"] == "failed"
    assert again.wait(second)["state"] == "done"


def test_a_process_that_outlives_its_server_is_watched_by_the_next(
    make_box: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    box = make_box()
    box.jobs.open()
    ids = [box.add("short"), box.add("done")]
    box.jobs.submit(ids[0])
    box.wait(ids[0], "running")
    # The first server learns nothing any more, as if it had been killed.
    monkeypatch.setattr(box.jobs, "_finish", lambda *arguments: None)
    again = make_box()
    again.jobs.open()
    assert again.runs.state(ids[0])["state"] == "running"
    assert again.wait(ids[0])["state"] == "done"


def test_a_process_that_outlives_its_server_can_be_cancelled(
    make_box: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, alive: Callable[[int], bool]
) -> None:
    box = make_box()
    box.jobs.open()
    id = box.add("hang")
    box.jobs.submit(id)
    pid = box.wait(id, "running")["pid"]
    monkeypatch.setattr(box.jobs, "_finish", lambda *arguments: None)
    again = make_box()
    again.jobs.open()
    again.jobs.cancel(id)
    assert again.wait(id)["state"] == "cancelled"
    assert not alive(pid)


def test_a_command_that_is_not_there_fails_the_run(make_box: Callable[..., Any], tmp_path: Path) -> None:
    box = make_box(command=(str(tmp_path / "nothing"),))
    box.jobs.open()
    id = box.add("done")
    box.jobs.submit(id)
    state = box.wait(id)
    assert (state["state"], state["error"]) == ("failed", "The system could not start the job.")


def test_the_queue_waits_without_working(box: Any) -> None:
    box.jobs.open()
    began = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - began < 0.25
