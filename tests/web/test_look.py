from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayveil.web import look
from wayveil.web.answers import Refused
from wayveil.web.look import Looks
from wayveil.web.look_worker import LookWorker, WorkerDied, WorkerTooSlow

FACTS = {"name": "my file.csv", "role": "data"}


def seen_of(path: Path, **told: Any) -> Any:
    asked = {"path": str(path), "name": "my file.csv", "told": {"role": "data", **told}}
    out = io.StringIO()
    assert look.look_at_all(io.StringIO(json.dumps(asked) + "\n"), out) == 0
    return json.loads(out.getvalue())["seen"]


def test_sentences_name_the_file_as_people_do(tmp_path: Path) -> None:
    path = tmp_path / f"{'0' * 32}.csv"
    path.write_text("traj_id,t,location,person\na,1,x,p\na,1,,p\n")
    seen = seen_of(path)
    assert (seen["people"], seen["mapping"]) == (["person"], {})  # asked, never taken
    assert seen["columns"][2]["problems"] == [
        "Column 'location' has no value in 1 row, at line 3. Fill in the value or remove the row."
    ]
    path.write_text("a,b\n1,2\n")
    seen = seen_of(path)
    assert "give the setting" in seen["problems"][0] or "the setting 'columns'" in seen["problems"][0]
    assert "--" not in seen["problems"][0]
    assert "0" * 32 not in json.dumps(seen)
    assert seen_of(path, kind="cars")["refused"].startswith("There is no kind of data 'cars'")


def test_what_was_seen_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, asked = Looks(), []
    monkeypatch.setattr(looks, "_ask", lambda text, patience_s: asked.append(text) or {"seen": len(asked)})
    for i in range(80):
        looks.look(tmp_path / str(i), FACTS, {})
    assert looks.look(tmp_path / "79", FACTS, {}) == {"seen": 80}
    assert looks.look(tmp_path / "79", FACTS, {"kind": "visits"}) == {"seen": 81}
    assert looks.look(tmp_path / "0", FACTS, {}) == {"seen": 82}
    assert len(looks._seen) == 64


ANSWERING = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"seen": {"pid": os.getpid(), "asked": asked}, "peak_bytes": asked.get("bytes", 0)}), flush=True)
"""
DYING = "import sys; sys.stdin.readline(); sys.exit(3)"
TALKING = "import sys; sys.stdin.readline(); print('hello', flush=True); sys.stdin.readline()"
HANGING = "import sys, time; sys.stdin.readline(); time.sleep(600)"


def worker(code: str) -> LookWorker:
    return LookWorker((sys.executable, "-S", "-E", "-c", code))


def test_one_process_looks_again_and_again(alive: Callable[[int], bool]) -> None:
    warm = worker(ANSWERING)
    assert warm.pid is None
    first, second = (warm.ask(json.dumps({"n": n, "text": "two\nlines"}), 60) for n in (1, 2))
    assert first["pid"] == second["pid"] == warm.pid
    assert [one["asked"]["n"] for one in (first, second)] == [1, 2]
    # One that has grown is ended after its answer, so that its memory comes back.
    assert warm.ask(json.dumps({"bytes": 2 << 30}), 60)["pid"] == first["pid"]
    assert warm.pid is None
    assert not alive(first["pid"])
    warm.ask("{}", 60)
    warm.close()


@pytest.mark.parametrize(
    ("code", "patience_s", "error", "said"),
    [
        (HANGING, 0.2, WorkerTooSlow, "takes too long"),
        (DYING, 60, WorkerDied, "cannot be looked at"),
        (TALKING, 60, WorkerDied, "cannot be looked at"),
    ],
)
def test_a_process_that_hangs_dies_or_talks_is_ended_and_told(
    monkeypatch: pytest.MonkeyPatch,
    alive: Callable[[int], bool],
    code: str,
    patience_s: float,
    error: type[Exception],
    said: str,
) -> None:
    hurt = worker(code)
    pids: list[int] = []
    start = hurt._start
    monkeypatch.setattr(hurt, "_start", lambda: (process := start(), pids.append(process.pid))[0])
    with pytest.raises(error):
        hurt.ask("{}", patience_s)
    assert hurt.pid is None
    assert not alive(pids[0])
    looks = Looks()
    looks._free.get()
    looks._free.put(hurt)
    with pytest.raises(Refused) as caught:
        looks._ask("{}", patience_s)
    assert said in caught.value.sentence
    assert looks._free.qsize() == 2  # it can be asked again
    looks.close()


def test_a_command_that_does_not_start_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkerDied):
        LookWorker((str(tmp_path / "nothing"),)).ask("{}", 60)


def test_the_real_process_looks_twice_and_prints_of_libraries_do_not_hurt(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("traj_id,user_id,t,location\na,p,1,x\n")
    looks = Looks()
    kinds = [looks.look(path, FACTS, {"kind": kind})["kind"] for kind in (None, "visits")]
    assert kinds == ["visits", "visits"]
    assert [one.pid is None for one in looks._workers] == [True, False]  # one process was enough
    looks.close()
