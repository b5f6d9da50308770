from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wayveil.web import look
from wayveil.web.answers import Refused
from wayveil.web.look import Looks

FACTS = {"name": "my file.csv", "role": "data"}


def seen_of(monkeypatch: pytest.MonkeyPatch, path: Path, **told: Any) -> Any:
    asked = {"path": str(path), "name": "my file.csv", "told": {"role": "data", **told}}
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked)))
    monkeypatch.setattr(sys, "stdout", out)
    assert look.main() == 0
    return json.loads(out.getvalue())


def test_sentences_name_the_file_as_people_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"{'0' * 32}.csv"
    path.write_text("traj_id,t,location,person\na,1,x,p\na,1,,p\n")
    seen = seen_of(monkeypatch, path)
    assert (seen["people"], seen["mapping"]) == (["person"], {})  # asked, never taken
    assert seen["columns"][2]["problems"] == [
        "Column 'location' has no value in 1 row, at line 3. Fill in the value or remove the row."
    ]
    path.write_text("a,b\n1,2\n")
    seen = seen_of(monkeypatch, path)
    assert "give the setting" in seen["problems"][0] or "the setting 'columns'" in seen["problems"][0]
    assert "--" not in seen["problems"][0]
    assert "0" * 32 not in json.dumps(seen)
    assert seen_of(monkeypatch, path, kind="cars")["refused"].startswith("There is no kind of data 'cars'")


def test_what_was_seen_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, asked = Looks(), []
    monkeypatch.setattr(looks, "_ask", lambda text, patience_s: asked.append(text) or {"seen": len(asked)})
    for i in range(80):
        looks.look(tmp_path / str(i), FACTS, {})
    assert looks.look(tmp_path / "79", FACTS, {}) == {"seen": 80}
    assert looks.look(tmp_path / "79", FACTS, {"kind": "visits"}) == {"seen": 81}
    assert looks.look(tmp_path / "0", FACTS, {}) == {"seen": 82}
    assert len(looks._seen) == 64


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (subprocess.TimeoutExpired("x", 1), "takes too long"),
        (subprocess.CalledProcessError(-9, "x"), "cannot be looked at"),
        (OSError(), "cannot be looked at"),
    ],
)
def test_a_process_that_dies_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def run(*arguments: Any, **options: Any) -> Any:
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Refused) as caught:
        Looks().look(tmp_path / "x", FACTS, {})
    assert said in caught.value.sentence
