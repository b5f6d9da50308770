"""Comparisons from end to end: the numbers, the files, and a recommendation that keeps its word."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from wayveil.cli.show_compare import compare_json, compare_lines
from wayveil.comparison.compare import Comparison, _row
from wayveil.comparison.comparison_recipe import load_plan
from wayveil.errors import ParameterError, UsageError
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import load_recipe

Run = Callable[..., Comparison]
Write = Callable[..., Path]

KCL = '[[setting]]\nmethod = "kcl"\nk = {k}\nc = 1\nl = 1\n'
SETTINGS = KCL.format(k="[0, 2, 15, 1000]") + "[compare]\nseed = 4\nmax_risk = 0.99\nloss = 'instance_loss'\n"


def test_a_comparison_from_end_to_end(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    found = run(write(tmp_path, SETTINGS))
    out = tmp_path / "out"
    rows = found.settings
    assert [row["status"] for row in rows] == ["failed", "verified", "verified", "failed"]
    assert "k must be an integer" in rows[0]["reason"]
    assert "k is 1000, but the data holds 200 people" in rows[3]["reason"]
    assert found.ran == 3
    assert rows[1]["loss"] < rows[2]["loss"]
    assert rows[1]["risk"] > rows[2]["risk"]
    assert [row["dominated"] for row in rows] == [None, False, False, None]
    assert [row["recommended"] for row in rows] == [False, True, False, False]
    assert found.content["counts"] == {"settings": 4, "verified": 2, "failed": 2, "undominated": 2}
    # the files say the same
    content = json.loads((out / "comparison.json").read_text())
    assert content == json.loads(json.dumps(found.content))
    with open(out / "comparison.csv", newline="") as file:
        table_rows = list(csv.DictReader(file))
    assert [row["risk"] for row in table_rows] == ["" if row["risk"] is None else str(row["risk"]) for row in rows]
    assert [row["setting"] for row in table_rows] == [row["setting"] for row in rows]
    # every cell is an ordinary publication; the numbers are those of its private scores
    cell = out / rows[1]["folder"]
    scores = json.loads((cell / "private" / "results.json").read_text())
    assert scores["attacks"][0]["published"]["measured"]["identity_mean"] == rows[1]["risk"]
    assert scores["attacks"][0]["raw"]["measured"]["identity_mean"] == rows[1]["risk_raw"]
    assert scores["scores"][0]["value"] == rows[1]["loss"]
    assert (cell / "public" / "manifest.json").is_file()
    # the command's faces
    assert json.dumps(compare_json(found), allow_nan=False)
    lines = "\n".join(compare_lines(found))
    assert "recommended" in lines
    assert "k is 1000" in lines
    assert str(found.report) in lines


def test_the_recommended_recipe_gives_the_verdict_and_the_risk_shown(
    table: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    few = "repeat = 2\nrisk = { name = 'known_visits', victims = 60, draws = 1 }"  # so that the seed matters
    found = run(write(tmp_path, SETTINGS.replace("max_risk = 0.99", few)), max_risk=0.8)
    assert found.recommended == tmp_path / "out" / "recommended.toml"
    row = next(row for row in found.settings if row["recommended"])
    assert len(row["runs"]) == 2
    assert row["runs"][0]["risk"] != row["runs"][1]["risk"]
    assert row["risk"] == max(run["risk"] for run in row["runs"])
    assert row["loss"] == pytest.approx(sum(run["loss"] for run in row["runs"]) / 2)
    outcome = publish(load_recipe(found.recommended))
    assert outcome.public == tmp_path / "out" / "recommended" / "public"
    assert outcome.verdict.holds
    assert dict(outcome.verdict.measured) == row["runs"][[r["risk"] for r in row["runs"]].index(row["risk"])]["verdict"]
    assert outcome.attacks[0][1].measured["identity_mean"] == row["risk"]
    # the recipe of a cell can be run, too
    again = publish(load_recipe(tmp_path / "out" / row["folder"] / "recipe.toml"))
    assert again.attacks[0][1].measured["identity_mean"] == row["risk"]
    # seeds are secret
    assert found.recommended.stat().st_mode & 0o077 == 0
    assert (tmp_path / "out" / row["folder"] / "recipe.toml").stat().st_mode & 0o077 == 0


def test_of_several_runs_the_largest_risk_and_the_mean_loss_count(table: Path, tmp_path: Path, write: Write) -> None:
    setting = load_plan(write(tmp_path, KCL.format(k=2))).settings[0]
    numbers = {"status": "verified", "reason": "", "risk_low": None, "risk_high": None, "risk_raw": 1.0}
    runs = [
        {**numbers, "risk": risk, "loss": loss, "seconds": loss, "folder": str(risk)}
        for risk, loss in ((0.1, 0.2), (0.3, 0.4), (0.2, 0.6))
    ]
    row = _row(1, setting, runs, "")
    assert (row["risk"], row["folder"]) == (0.3, "0.3")
    assert (row["loss"], row["seconds"]) == (pytest.approx(0.4), pytest.approx(0.4))
    runs[2]["status"] = "failed"
    assert (_row(1, setting, runs, "")["status"], _row(1, setting, runs, "")["risk"]) == ("failed", None)


def test_no_recipe_is_recommended_above_the_limit(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    path = write(tmp_path, SETTINGS)
    assert run(path).recommended is not None
    found = run(path, max_risk=0)
    assert found.recommended is None
    assert "the nearest is setting 3" in found.sentence
    assert not (tmp_path / "out" / "recommended.toml").exists()
    assert found.ran == 0
    with pytest.raises(ParameterError, match="max_risk must be a number from 0 to 1, got 7"):
        run(path, max_risk=7)


def test_settings_with_their_own_preparation_are_measured_against_the_same_original(
    table: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    text = KCL.format(k=2) + KCL.format(k=2) + '[[setting.prepare]]\nstep = "bucket"\nwidth = [2, 12]\n'
    found = run(write(tmp_path, text + "[compare]\nseed = 1\nloss = 'visit_support'\n"))
    losses = [row["loss"] for row in found.settings]
    assert found.content["loss"]["against"] == "the input"
    assert found.content["loss"]["metric"] == "visit_support"
    assert losses[0] < losses[1] < losses[2]
    # by hand: share of visits whose place and time the publication still has, from the published files
    rows = [line.split(",") for line in table.read_text().split()[1:]]
    before = [(place, int(t)) for _, t, place in rows]
    for row in found.settings:
        frame = pl.read_parquet(tmp_path / "out" / row["folder"] / "public" / "published.parquet")
        after = list(zip(frame["location"].to_list(), frame["t"].to_list(), strict=True))
        keys = set(before) | set(after)
        moved = sum(abs(before.count(key) / len(before) - after.count(key) / len(after)) for key in keys) / 2
        assert row["loss"] == pytest.approx(moved)
    again = run(tmp_path / "compare.toml")
    assert again.ran == 0
    assert [row["loss"] for row in again.settings] == losses


def test_common_steps_belong_to_the_original(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    one = KCL.format(k=1) + 'accept_absence = "yes"\n'
    text = '[[prepare]]\nstep = "bucket"\nwidth = 4\n' + one + one
    text += '[[setting.prepare]]\nstep = "bucket"\nwidth = 12\n[compare]\nseed = 1\nloss = "visit_support"\n'
    found = run(write(tmp_path, text))
    assert found.content["loss"]["against"] == "the input after bucket"
    assert found.settings[0]["loss"] == 0
    assert found.settings[1]["loss"] > 0


def test_what_keeps_almost_all_is_not_beaten_by_what_loses_almost_all(tmp_path: Path, run: Run, write: Write) -> None:
    random.seed(7)
    rows = ["traj_id,t,location"]
    for trip in range(400):
        place = random.choice("abcd")
        t = 4 * 86_400 + random.randrange(28) * 86_400 + random.choice([8, 17]) * 3600 + random.randrange(3600)
        rows += [f"p{trip},{t},{place}", f"p{trip},{t + 1200},{random.choice('abcd')}"]
    for person in range(5):  # what an exact release can keep: five people who do the same by the second
        rows += [f"q{person},{40 * 86_400},a"]
    (tmp_path / "visits.csv").write_text("\n".join(rows) + "\n")
    exact = KCL.format(k=5)
    coarse = exact + '[[setting.prepare]]\nstep = "fold"\nto = "day"\npart = "4h"\n'
    times = "times = {t = {columns = ['t'], format = 'epoch_s'}}\n"
    text = times + exact + coarse + "[compare]\nseed = 1\nmax_risk = 0.2\n"
    found = run(write(tmp_path, text))
    lossy, useful = found.settings
    assert lossy["kept"] < 0.02
    assert useful["kept"] > 0.9
    assert lossy["loss"] > 0.98
    assert useful["loss"] < 0.7
    assert not useful["dominated"]
    assert useful["recommended"]
    assert found.content["loss"]["against"] == "the input"
    assert "fair_loss" in "\n".join(compare_lines(found))
    # Measured by the places and exact times alone, the coarse one looks as if nothing of it were left.
    strict = run(write(tmp_path, text + "loss = 'visit_support'\n"))
    assert strict.settings[1]["loss"] > strict.settings[0]["loss"] > 0.9


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("use = 'all'\n", "fair_loss: use must be one of"),
        ("resolution = 'near'\n", "A resolution is metres"),
        ("use = 'flows'\nloss = 'visit_support'\n", "use and resolution have no meaning"),
    ],
)
def test_a_loss_that_is_asked_for_wrongly_is_told(
    table: Path, tmp_path: Path, run: Run, write: Write, asked: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        run(write(tmp_path, KCL.format(k=2) + "[compare]\n" + asked))


def test_cells_of_points_are_measured_as_boxes(tmp_path: Path, run: Run, write: Write) -> None:
    random.seed(5)
    rows = ["traj_id,t,x,y"]
    for person in range(30):
        x, y = random.random() * 900, random.random() * 900
        rows += [f"p{person},{60 * s},{x + 150 * s:.2f},{y + 90 * s:.2f}" for s in range(6)]
    (tmp_path / "points.csv").write_text("\n".join(rows) + "\n")
    text = (
        'crs = "planar"\n' + KCL.format(k=2) + '[[setting.prepare]]\nstep = "grid"\ncell = [500, 2000]\nbucket = 60\n'
    )
    text += "[compare]\nseed = 1\nloss = { name = 'range_queries', queries = 50 }\n"
    found = run(write(tmp_path, text, source="points.csv"))
    assert [row["status"] for row in found.settings] == ["verified"] * 2
    assert 0 < found.settings[0]["loss"] < found.settings[1]["loss"]


def test_an_unknown_number_is_told_with_those_that_there_are(
    table: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    with pytest.raises(UsageError, match=r"known_visits gives no number 'identity_meen'; known: .*identity_mean, "):
        run(write(tmp_path, KCL.format(k=2) + "[compare]\nrisk = 'known_visits.identity_meen'\n"))
    with pytest.raises(UsageError, match="visit_support gives no number 'x'"):
        run(write(tmp_path, KCL.format(k=2) + "[compare]\nloss = 'visit_support.x'\n"))


def test_a_setting_without_a_number_is_shown_but_not_compared(
    table: Path, tmp_path: Path, run: Run, write: Write
) -> None:
    # without a place for the locations no distance can be measured
    found = run(write(tmp_path, KCL.format(k=2) + "[compare]\nseed = 1\nmax_risk = 1\nloss = 'deviation'\n"))
    row = found.settings[0]
    assert (row["status"], row["risk"], row["loss"]) == ("unmeasured", None, None)
    assert "cannot be compared" in row["reason"]
    assert found.recommended is None
    assert found.content["counts"]["verified"] == 1


def test_every_number_of_the_page_is_in_the_json(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    found = run(write(tmp_path, SETTINGS))
    page = found.report.read_text()
    said = (tmp_path / "out" / "comparison.json").read_text().replace("\\u00a0", "\xa0")
    body = re.sub(r"(?s)<style>.*?</style>|<script.*?</script>|<!--.*?-->|<meta.*?>", " ", page)
    body = unescape(re.sub(r"<[^>]+>", " ", body)).replace("\xa0", " ")
    said = said.replace("\xa0", " ")
    for number in set(re.findall(r"\d+(?:[.,]\d+)*", body)):
        assert number in said, number
    data = re.search(r'(?s)<script type="application/json" id="drawn">(.*?)</script>', page)
    assert data is not None
    frontier = json.loads(data[1])["frontier"]
    verified = [row for row in found.settings if row["status"] == "verified"]
    assert [(spot["risk"], spot["loss"]) for spot in frontier["spots"]] == [(r["risk"], r["loss"]) for r in verified]
    assert frontier["raw"] == max(row["risk_raw"] for row in verified)
    assert frontier["limit"] == found.content["max_risk"]
    assert [spot["dominated"] for spot in frontier["spots"]] == [row["dominated"] for row in verified]


def test_the_page_loads_nothing_and_escapes(table: Path, tmp_path: Path, run: Run, write: Write) -> None:
    path = write(tmp_path, SETTINGS.replace("c = 1", 'c = 1\ntitle = "<script>x</script>"'))
    page = run(path).report.read_text()
    assert page.count("<script") == 2
    assert "<script>x" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    page = re.sub(r'(?s)<script type="module">.*?</script>', "", page)
    assert not re.search(r"(?:src|href)=\"(?!data:,)", page)
    assert "url(" not in page
    assert "@media print" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("✕ failed") == 2
    assert page.count("✓ verified") == 2
