"""The commands as functions: they say what the command line says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wayveil as wv
from wayveil.cli import app

RECORDS = [[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]]
FRAME = pl.DataFrame(
    {"traj_id": ["1", "1", "2", "3", "3", "3"], "user_id": ["x", "x", "y", "z", "z", "z"], "t": [1, 2, 1, 1, 2, 3],
     "location": ["a", "b", "a", "a", "b", "c"]}
)  # fmt: skip


def answer(capsys: Any, *words: object) -> Any:
    """Return what a command prints as JSON."""
    app.main([*map(str, words), "--json"])
    return json.loads(capsys.readouterr().out)


def test_verify_says_what_the_command_says(tmp_path: Path, capsys: Any) -> None:
    made = wv.publish(FRAME, wv.Kcl(k=2, c=1, l=2), seed=1, out=tmp_path / "out")
    told = answer(capsys, "verify", tmp_path / "out")
    for what in (made, tmp_path / "out", str(tmp_path / "out" / "public")):
        found = wv.verify(what)
        assert found.holds == told["holds"]
        assert list(found.failures) == told["failures"]
    table = tmp_path / "out" / "public" / "published.parquet"
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    assert wv.verify(made).holds is False


def test_a_publication_that_is_not_there_cannot_be_verified(tmp_path: Path) -> None:
    with pytest.raises(wv.InputError, match="manifest"):
        wv.verify(tmp_path)


def test_prepare_is_what_publish_does_first() -> None:
    step = wv.STEPS["bucket"](width=2)
    ready = wv.prepare(FRAME, step)
    assert isinstance(ready, wv.Visits)
    assert ready.t.tolist() == [0, 2, 0, 0, 2, 3]  # two visits of one bucket keep their order
    both = [
        wv.publish(FRAME, wv.Kcl(k=2, c=1, l=2), prepare=[step], seed=1),
        wv.publish(ready, wv.Kcl(k=2, c=1, l=2), seed=1),
    ]
    one, other = (sorted(made.to_polars().drop("traj_id").rows()) for made in both)
    assert one == other
    assert wv.prepare(ready) is ready


def test_prepare_refuses_what_is_no_data_and_steps_that_do_not_fit() -> None:
    with pytest.raises(wv.UsageError, match="prepare: data or a data frame are needed, not list"):
        wv.prepare([1, 2])
    with pytest.raises(wv.InputError, match="needs points"):
        wv.prepare(FRAME, wv.STEPS["grid"](cell=1, bucket=1))


def test_utility_says_what_the_command_says(tmp_path: Path, capsys: Any) -> None:
    FRAME.write_csv(tmp_path / "in.csv")
    made = wv.publish(FRAME, wv.Kcl(k=2, c=1, l=2), seed=1, out=tmp_path / "out")
    lost = wv.utility(FRAME, made)
    told = answer(capsys, "utility", tmp_path / "in.csv", tmp_path / "out")
    heads = lost.filter(pl.col("number") == "value").select("metric", "value").rows()
    assert heads == [(score["name"], score["value"]) for score in told["scores"]]
    assert lost.equals(wv.utility(FRAME, made.data))


def test_utility_measures_what_it_is_asked_for() -> None:
    data = wv.Visits.from_records(RECORDS)
    lost = wv.utility(data, data, metrics=[wv.METRICS["instance_loss"]()])
    assert set(lost["metric"]) == {"instance_loss"}
    assert lost.filter(pl.col("number") == "value")["value"].item() == 0
    with pytest.raises(wv.InputError, match="these cannot be compared"):
        wv.utility(data, wv.Points.from_records([[(0, 0.0, 0.0)]]))


def test_compare_says_which_setting_to_take(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "in.csv")
    recipe = tmp_path / "compare.toml"
    recipe.write_text(
        '[input]\npath = "in.csv"\n[output]\npath = "out"\n[compare]\nseed = 1\n'
        '[[setting]]\nmethod = "kcl"\nk = [2, 3]\nc = 1\nl = 1\n'
    )
    found = wv.compare(str(recipe), max_risk=0.9, out=tmp_path / "here")
    assert found.out == tmp_path / "here"
    assert found.report.exists()
    risks = [setting["risk"] for setting in found.settings]
    assert len(risks) == 2
    assert None not in risks
    assert found.recommended is not None
