"""Comparisons: grids, what is comparable, the frontier, resuming, and a recommendation that keeps its word."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from wayveil.cli.show_compare import compare_json, compare_lines
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, OutputError, ParameterError, UsageError
from wayveil.model import Points, Regions, Visits
from wayveil.prepare import Bucket, Grid
from wayveil.run import cells
from wayveil.run.compare import Comparison, compare
from wayveil.run.frontier import Spot, advice, choose, dominated, draw_frontier
from wayveil.run.grid import load_plan
from wayveil.run.pipeline import publish
from wayveil.run.recipe import load_recipe
from wayveil.run.yardstick import as_boxes, make_yardstick

KCL = '[[setting]]\nmethod = "kcl"\nk = {k}\nc = 1\nl = 1\n'


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two hundred people with three visits each, to few places, at times from 0 to 11."""
    random.seed(3)
    rows = ["traj_id,t,location"]
    for person in range(200):
        for t in sorted(random.sample(range(12), 3)):
            rows.append(f"p{person},{t},{random.choice('aaabbcd')}")
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def write(folder: Path, text: str, *, source: str = "visits.csv", title: str = "") -> Path:
    path = folder / "compare.toml"
    if "[output]" not in text:
        text += '[output]\npath = "out"\n'
    path.write_text(f'title = "{title}"\n[input]\npath = "{source}"\n{text}')
    return path


def run(path: Path, **options: Any) -> Comparison:
    return compare(path, engine=LocalEngine(workers=1), **options)


def plan_of(folder: Path, text: str) -> Any:
    return load_plan(write(folder, text))


# ---------------------------------------------------------------- grid


def test_a_list_stands_for_one_setting_per_value(tmp_path: Path) -> None:
    text = """
    [[prepare]]
    step = "bucket"
    width = 2
    [[setting]]
    method = "kcl"
    title = "mine"
    k = [2, 5]
    c = 0.5
    l = 1
    sensitive = { ill = ["a", "b"] }
    [[setting.prepare]]
    step = "bucket"
    width = [4, 8]
    keep = "last"
    [[setting]]
    method = "kcl"
    k = 3
    c = 1
    l = 2
    """
    plan = plan_of(tmp_path, text)
    assert [s.name for s in plan.settings] == [
        "kcl k=2 c=0.5 l=1 after bucket width=4 keep=last",
        "kcl k=2 c=0.5 l=1 after bucket width=8 keep=last",
        "kcl k=5 c=0.5 l=1 after bucket width=4 keep=last",
        "kcl k=5 c=0.5 l=1 after bucket width=8 keep=last",
        "kcl k=3 c=1 l=2",
    ]
    assert plan.settings[1].steps == (Bucket(width=2), Bucket(width=8, keep="last"))
    assert plan.settings[1].method.claim.sensitive == (("ill", ("a", "b")),)
    assert [s.title for s in plan.settings] == ["mine"] * 4 + [""]
    assert plan.out == tmp_path / "out"
    assert load_plan(tmp_path / "compare.toml", tmp_path / "other").out == tmp_path / "other"


def test_equal_settings_are_run_once_and_names_differ(tmp_path: Path) -> None:
    sensitive = 'sensitive = [{ ill = ["a"] }, { ill = ["b"] }, { ill = ["a"] }]\n'
    plan = plan_of(tmp_path, KCL.format(k="[2, 2]") + sensitive)
    assert [s.name for s in plan.settings] == ["kcl k=2 c=1 l=1", "kcl k=2 c=1 l=1 (2)"]


def test_groups_can_come_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "who.csv").write_text("location,adversary\na,shop\nb,shop\n")
    plan = plan_of(tmp_path, '[[setting]]\nmethod = "gsup"\np = [0.5, 0.8]\nadversaries = "@who.csv"\n')
    assert plan.settings[0].method.adversaries == (("shop", ("a", "b")),)


def test_a_value_out_of_range_fails_alone_a_wrong_name_fails_all(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, KCL.format(k='[0, 2, "x"]'))
    assert [bool(s.wrong) for s in plan.settings] == [True, False, True]
    assert "k must be an integer >= 1, got 0" in plan.settings[0].wrong
    with pytest.raises(UsageError, match=r"No setting of the recipe can be run\. kcl: k must be"):
        plan_of(tmp_path, KCL.format(k="[0, -1]"))
    with pytest.raises(ParameterError, match="no parameter 'kk'"):
        plan_of(tmp_path, KCL.format(k=2) + "kk = 3\n")
    with pytest.raises(ParameterError, match="kcl: l must be given"):
        plan_of(tmp_path, '[[setting]]\nmethod = "kcl"\nk = 2\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[setting]]\nmethod = "kkl"\n', "There is no method 'kkl'.*'kcl'"),
        ("[[setting]]\nk = 2\n", "must have the key 'method'"),
        ('[method]\nname = "kcl"\n', "recipe for wayveil run"),
        ("[setting]\nmethod = 'kcl'\n", "'setting' in the recipe is wrong"),
        (KCL.format(k="[]"), "1 to 1,000 settings, not 0"),
        (KCL.format(k=list(range(2, 1003))), "1 to 1,000 settings, not 1,001"),
        (KCL.format(k=list(range(2, 503))) + KCL.format(k=list(range(600, 1101))), "there are 1,002 settings"),
        (KCL.format(k=2) + "[[setting.prepare]]\nwidth = 2\n", "table with the key 'step'"),
        (KCL.format(k=2) + "[[setting.prepare]]\nstep = 'bukket'\n", "no step 'bukket'"),
        (KCL.format(k=2) + "prepare = 3\n", "'prepare' a list of tables"),
        (KCL.format(k=2) + "[compare]\nrisc = 'x'\n", r"no key 'risc' in \[compare\].*'risk'"),
        (KCL.format(k=2) + "[compare]\nrepeat = 0\n", r"'repeat' in \[compare\] is wrong"),
        (KCL.format(k=2) + "[compare]\nmax_risk = 2\n", "max_risk must be a number from 0 to 1"),
        (KCL.format(k=2) + "[compare]\nrisk = 'unknown.identity_mean'\n", "no attack 'unknown'"),
        (KCL.format(k=2) + "[compare]\nrisk = { m = 2 }\n", "key 'name' of the attack"),
        (KCL.format(k=2) + "[compare]\nrisk = { name = 'known_visits', m = 0 }\n", "known_visits: m must be"),
        (KCL.format(k=2) + "[output]\nformat = 'csv'\n", r"\[output\] must have the key 'path'"),
    ],
)
def test_mistakes_in_a_recipe_are_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(tmp_path, text)


def test_a_recipe_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_plan(tmp_path / "none.toml")
    (tmp_path / "a.toml").write_text("= 3")
    with pytest.raises(UsageError, match="not valid TOML"):
        load_plan(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_plan(tmp_path / "b.toml")


# ---------------------------------------------------------------- yardstick


def yardstick_of(folder: Path, text: str) -> Any:
    plan = plan_of(folder, text)
    return make_yardstick(plan.settings, plan.risk, plan.loss)


BUCKETS = KCL.format(k=2) + '[[setting.prepare]]\nstep = "bucket"\nwidth = [2, 4]\n'
GRIDS = KCL.format(k=2) + '[[setting.prepare]]\nstep = "grid"\ncell = [100, 200]\nbucket = 10\n'
NWA = '[[setting]]\nmethod = "nwa"\nk = 2\ndelta = [0, 10]\n'
KNODE = '[[setting]]\nmethod = "knode"\nk = 2\nwindow = 10\n'


@pytest.mark.parametrize(
    ("text", "attack", "metric", "n_common", "prepared"),
    [
        (KCL.format(k="[2, 3]"), "known_visits", "instance_loss", 0, False),
        (BUCKETS, "known_visits", "visit_support", 0, True),
        (BUCKETS.replace("[2, 4]", "2"), "known_visits", "instance_loss", 1, False),
        ('[[prepare]]\nstep = "bucket"\nwidth = 2\n' + BUCKETS.replace("2, 4", "4") + KCL.format(k=3),
         "known_visits", "visit_support", 1, True),
        (NWA + KNODE, "nearest_positions", "range_queries", 0, False),
        (GRIDS, "known_visits", "range_queries", 0, True),
        ('[[setting]]\nmethod = "icba"\nk = [2, 3]\n', "seen_on_roads", "traffic", 0, False),
        (KCL.format(k="[2, 3]") + "[compare]\nloss = 'visit_support.mean_relative_error'\n",
         "known_visits", "visit_support", 0, False),
    ],
)  # fmt: skip
def test_the_yardstick_by_kind_and_preparation(
    tmp_path: Path, text: str, attack: str, metric: str, n_common: int, prepared: bool
) -> None:
    found = yardstick_of(tmp_path, text)
    assert (found.attack.name, found.metric.name) == (attack, metric)
    assert (found.n_common, found.prepared) == (n_common, prepared)
    assert found.risk == "identity_mean"
    assert found.metrics == (() if prepared else (found.metric,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (KCL.format(k=2) + NWA, "kcl works on visits and nwa on points: no attack means the same"),
        (GRIDS + NWA, "kcl works on visits and nwa on points"),
        (GRIDS + KCL.format(k=3), "different inputs: .* takes points, .* takes visits"),
        (BUCKETS + "[compare]\nloss = 'instance_loss'\n", "instance_loss does not see what that loses"),
        (BUCKETS + "[compare]\nloss = 'deviation'\n", "deviation follows every trajectory"),
        (BUCKETS + "[compare]\nloss = 'range_queries'\n", "range_queries cannot compare the original visits"),
        (KCL.format(k=2) + "[compare]\nloss = 'range_queries'\n", "metric range_queries cannot be taken of what kcl"),
        (KCL.format(k=2) + "[compare]\nrisk = 'nearest_positions'\n", "attack nearest_positions cannot be made on"),
        (KCL.format(k=2) + "[compare]\nrisk = 'counting'\n", "counting needs 'adversaries'"),
        (KCL.format(k=2) + "[compare]\nrisk = 'known_visits.attribute_mean'\n", "needs the same sensitive values"),
        (KCL.format(k=2) + "[compare]\nloss = 'visit_support.visits_kept_share'\n", "better the larger"),
        ('[[setting]]\nmethod = "icba"\nk = 2\n[[setting.prepare]]\nstep = "slices"\nwidth = ["1h", "2h"]\n',
         "prepare routes in different ways, and no metric sees"),
        ('[[setting]]\nmethod = "gsup"\np = 0.5\ntimes = "order"\nadversaries = { shop = ["a"] }\n',
         "what gsup publishes here .visits, without times."),
    ],
)  # fmt: skip
def test_what_is_not_comparable_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        yardstick_of(tmp_path, text)


def test_sensitive_values_may_be_compared_where_all_name_the_same(tmp_path: Path) -> None:
    named = KCL.format(k="[2, 3]") + 'sensitive = { ill = ["yes"] }\n'
    asked = "[compare]\nrisk = 'known_visits.attribute_mean'\n"
    assert yardstick_of(tmp_path, named + asked).risk == "attribute_mean"
    with pytest.raises(UsageError, match="same sensitive values"):
        yardstick_of(tmp_path, named + named.replace("yes", "no") + asked)


def test_loss_is_turned_where_more_is_better(tmp_path: Path) -> None:
    main = yardstick_of(tmp_path, NWA + "[compare]\nloss = 'clustering_agreement'\n")
    assert main.loss_of({"value": 0.25, "better": "higher", "percent": True}) == 0.75
    assert main.loss_of({"value": 0.25, "better": "lower", "percent": True}) == 0.25
    assert main.loss_of({"value": None, "better": "higher", "percent": True}) is None
    with pytest.raises(UsageError, match="better the larger it is"):
        main.loss_of({"value": 7, "better": "higher", "percent": False})


def test_visits_to_cells_are_boxes_of_their_cell_and_bucket() -> None:
    points = Points.from_records([[(3, 120.0, -5.0), (27, 250.0, 40.0)], [(11, 0.0, 0.0)]])
    steps = [Grid(cell=100, bucket=10), Bucket(width=20)]
    visits: Visits = steps[1].run(steps[0].run(points)[0])[0]
    boxes = as_boxes(visits, points, steps)
    assert isinstance(boxes, Regions)
    assert boxes.record(0) == [(0, 19, 100.0, 200.0, -100.0, 0.0), (20, 39, 200.0, 300.0, 0.0, 100.0)]
    assert boxes.record(1) == [(0, 19, 0.0, 100.0, 0.0, 100.0)]
    empty = visits.where(visits.t < 0)
    assert len(as_boxes(empty, points, steps)) == 2


# ---------------------------------------------------------------- frontier

NUMBERS = st.integers(0, 4).map(lambda n: n / 4)


@hypothesis_settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), NUMBERS)
def test_frontier_and_choice_against_their_definitions(pairs: list[tuple[float, float]], limit: float) -> None:
    spots = [Spot(number=i, name=f"s{i}", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs, 1)]
    beaten = dominated(spots)
    for spot in spots:
        better = [
            o for o in spots
            if (o.risk < spot.risk and o.loss <= spot.loss) or (o.risk <= spot.risk and o.loss < spot.loss)
        ]  # fmt: skip
        assert (spot.number in beaten) == bool(better)
    chosen = choose(spots, limit)
    within = [spot for spot in spots if spot.risk <= limit]
    assert (chosen is None) == (not within)
    if chosen is not None:
        assert chosen in within
        assert chosen.loss == min(spot.loss for spot in within)
        assert chosen.risk == min(spot.risk for spot in within if spot.loss == chosen.loss)
        assert chosen.number not in beaten
    svg = draw_frontier(spots, limit=limit, chosen=None, risk_name="r", loss_name="l", percent=True)
    assert svg.count('class="spot beaten"') == len(beaten)
    assert svg.count('class="spot best"') == len(spots) - len(beaten)


def spots_of(*pairs: tuple[float, float]) -> list[Spot]:
    return [Spot(number=i, name=f"s{i}", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs, 1)]


def told(spots: list[Spot], limit: float | None) -> str:
    return advice(spots, limit, settings=9, percent=True).replace("\xa0", " ")


def test_a_risk_that_is_the_limit_but_for_rounding_is_within_it() -> None:
    assert choose(spots_of((0.1 + 1e-12, 0.5)), 0.1) is not None
    assert choose(spots_of((0.1 + 1e-6, 0.5)), 0.1) is None


def test_the_sentence_says_what_to_take() -> None:
    three = spots_of((0.05, 0.5), (0.1, 0.2), (0.3, 0.1))
    assert told(three, 0.1) == (
        "For a risk of at most 10 % take setting 2, s2 (risk 10 %, loss 20 %): it loses least of the 2 within the "
        "limit."
    )
    assert told(three, 0.06).endswith("take setting 1, s1 (risk 5 %, loss 50 %): it is the only one within the limit.")
    assert told(three, 0.01) == (
        "No setting has a risk of at most 1 %; the nearest is setting 1, s1 (risk 5 %, loss 50 %)."
    )
    assert told(three, None) == (
        "The choice is between setting 1, s1 (risk 5 %, loss 50 %) and setting 3, s3 (risk 30 %, loss 10 %): give the "
        "risk that you accept as --max-risk."
    )
    assert told(spots_of((0.1, 0.2), (0.3, 0.4)), None).startswith("Take setting 1, s1")
    assert told([], 0.1) == "No setting can be recommended: of 9, none was published and measured."


def test_the_drawing_marks_the_choice_and_escapes_names() -> None:
    spots = [Spot(number=1, name="<b>", risk=0.1, loss=0.2), Spot(number=2, name="x", risk=0.2, loss=0.1)]
    svg = draw_frontier(spots, limit=0.5, chosen=2, risk_name="<r>", loss_name="l", percent=False)
    assert "<b>" not in svg
    assert "<r>" not in svg
    assert svg.count('class="spot taken"') == 1
    assert 'class="limit"' in svg
    assert 'class="front"' in svg
    assert "nothing to draw" in draw_frontier([], limit=None, chosen=None, risk_name="", loss_name="", percent=True)
    alone = draw_frontier(spots[:1], limit=None, chosen=None, risk_name="", loss_name="", percent=True)
    assert 'class="front"' not in alone
    assert 'class="limit"' not in alone


# ---------------------------------------------------------------- runs

SETTINGS = KCL.format(k="[0, 2, 15, 1000]") + "[compare]\nseed = 4\nmax_risk = 0.99\n"


def cell_folders(out: Path) -> list[Path]:
    return sorted((out / "cells").iterdir())


def test_a_comparison_from_end_to_end(table: Path, tmp_path: Path) -> None:
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
    scores = json.loads((cell / "private" / "scores.json").read_text())
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


def test_the_recommended_recipe_gives_the_verdict_and_the_risk_shown(table: Path, tmp_path: Path) -> None:
    found = run(write(tmp_path, SETTINGS.replace("max_risk = 0.99", "repeat = 2")), max_risk=0.8)
    assert found.recommended == tmp_path / "out" / "recommended.toml"
    row = next(row for row in found.settings if row["recommended"])
    assert len(row["runs"]) == 2
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


def test_no_recipe_is_recommended_above_the_limit(table: Path, tmp_path: Path) -> None:
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
    table: Path, tmp_path: Path
) -> None:
    text = KCL.format(k=2) + KCL.format(k=2) + '[[setting.prepare]]\nstep = "bucket"\nwidth = [2, 12]\n'
    found = run(write(tmp_path, text + "[compare]\nseed = 1\n"))
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


def test_common_steps_belong_to_the_original(table: Path, tmp_path: Path) -> None:
    text = '[[prepare]]\nstep = "bucket"\nwidth = 4\n' + KCL.format(k=1) + KCL.format(k=1)
    text += '[[setting.prepare]]\nstep = "bucket"\nwidth = 12\n[compare]\nseed = 1\n'
    found = run(write(tmp_path, text))
    assert found.content["loss"]["against"] == "the input after bucket"
    assert found.settings[0]["loss"] == 0
    assert found.settings[1]["loss"] > 0


def test_cells_of_points_are_measured_as_boxes(tmp_path: Path) -> None:
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


def test_an_unknown_number_is_told_with_those_that_there_are(table: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"known_visits gives no number 'identity_meen'; known: .*identity_mean, "):
        run(write(tmp_path, KCL.format(k=2) + "[compare]\nrisk = 'known_visits.identity_meen'\n"))
    with pytest.raises(UsageError, match="visit_support gives no number 'x'"):
        run(write(tmp_path, KCL.format(k=2) + "[compare]\nloss = 'visit_support.x'\n"))


def test_a_setting_without_a_number_is_shown_but_not_compared(table: Path, tmp_path: Path) -> None:
    # without a place for the locations no distance can be measured
    found = run(write(tmp_path, KCL.format(k=2) + "[compare]\nseed = 1\nmax_risk = 1\nloss = 'deviation'\n"))
    row = found.settings[0]
    assert (row["status"], row["risk"], row["loss"]) == ("unmeasured", None, None)
    assert "cannot be compared" in row["reason"]
    assert found.recommended is None
    assert found.content["counts"]["verified"] == 1


# ---------------------------------------------------------------- resume


def result_times(out: Path) -> dict[str, int]:
    return {path.name: (path / "result.json").stat().st_mtime_ns for path in cell_folders(out)}


def test_what_is_finished_is_not_run_again_and_what_changed_is(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = write(tmp_path, SETTINGS), tmp_path / "out"
    first = run(path)
    before = result_times(out)
    assert len(before) == 3  # of four settings one cannot be built
    second = run(path)
    assert (second.ran, result_times(out)) == (0, before)
    assert second.settings == first.settings
    # a title or another number does not matter; a seed, an attack, a metric and a version do
    assert run(write(tmp_path, SETTINGS + "risk = 'known_visits.identity_max'\n")).ran == 0
    assert run(write(tmp_path, SETTINGS, title="x")).ran == 0
    assert run(write(tmp_path, SETTINGS.replace("seed = 4", "seed = 5"))).ran == 3
    assert run(write(tmp_path, SETTINGS + "risk = { name = 'known_visits', m = 1 }\n")).ran == 3
    assert run(write(tmp_path, SETTINGS + "loss = 'visit_support'\n")).ran == 3
    assert run(write(tmp_path, SETTINGS + "[output]\npath = 'out'\nformat = 'csv'\n")).ran == 3
    with monkeypatch.context() as patched:
        patched.setattr(cells, "versions", lambda: {"wayveil": "99"})
        assert run(write(tmp_path, SETTINGS)).ran == 3
    # and so does the input
    assert run(write(tmp_path, SETTINGS)).ran == 0
    table.write_text(table.read_text() + "p0,20,a\n")
    assert run(path).ran == 3


@pytest.mark.parametrize("damage", ["no result", "garbled", "other key", "no manifest", "changed manifest"])
def test_a_cell_that_is_not_whole_is_run_again_from_scratch(table: Path, tmp_path: Path, damage: str) -> None:
    path = write(tmp_path, SETTINGS)
    first = run(path)
    cell = tmp_path / "out" / first.settings[1]["folder"]
    result, manifest = cell / "result.json", cell / "public" / "manifest.json"
    if damage == "no result":
        result.unlink()
        (cell / "leftover").touch()
    elif damage == "garbled":
        result.write_text("{")
    elif damage == "other key":
        result.write_text(result.read_text().replace('"seed": 4', '"seed": 5'))
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text(manifest.read_text() + " ")
    again = run(path)
    assert again.ran == 1
    assert not (cell / "leftover").exists()
    same = ("risk", "loss", "status", "folder", "reason")
    assert [[row[key] for key in same] for row in again.settings] == [[r[key] for key in same] for r in first.settings]


def test_a_secret_seed_is_drawn_once_and_kept(table: Path, tmp_path: Path) -> None:
    path = write(tmp_path, KCL.format(k=2))
    assert run(path).ran == 1
    kept = tmp_path / "out" / "seed.txt"
    assert int(kept.read_text()) > 2**64
    assert kept.stat().st_mode & 0o077 == 0
    assert run(path).ran == 0
    for name in ("comparison.json", "comparison.csv", "comparison.html"):
        assert kept.read_text().strip() not in (tmp_path / "out" / name).read_text()
    kept.write_text("x")
    with pytest.raises(InputError, match=r"seed in .* cannot be read"):
        run(path)


def test_a_bug_of_a_method_is_shown_and_tried_again(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, KCL.format(k="[2, 3]") + "[compare]\nseed = 1\n")
    good = cells.publish

    def bad(recipe: Any, **options: Any) -> Any:
        if recipe.method.k == 2:
            raise ZeroDivisionError("secret value of the data")
        return good(recipe, **options)

    with monkeypatch.context() as patched:
        patched.setattr(cells, "publish", bad)
        found = run(path)
    assert [row["status"] for row in found.settings] == ["failed", "verified"]
    assert "unexpected zerodivisionerror" in found.settings[0]["reason"].lower()
    assert "secret" not in (tmp_path / "out" / "comparison.json").read_text()
    assert run(path).ran == 1


def test_a_full_disk_stops_the_comparison(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(recipe: Any, **options: Any) -> Any:
        raise OutputError("No space.")

    monkeypatch.setattr(cells, "publish", full)
    with pytest.raises(OutputError, match="No space"):
        run(write(tmp_path, KCL.format(k=2)))


def test_only_one_comparison_at_a_time(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, KCL.format(k=2))
    good = cells.publish

    def nested(recipe: Any, **options: Any) -> Any:
        with pytest.raises(UsageError, match="Another run is writing"):
            run(path)
        return good(recipe, **options)

    monkeypatch.setattr(cells, "publish", nested)
    assert run(path).settings[0]["status"] == "verified"


def test_an_input_that_is_not_there_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        run(write(tmp_path, KCL.format(k=2)))
    assert not (tmp_path / "out").exists()


def test_a_folder_of_inputs_is_hashed_file_by_file(tmp_path: Path) -> None:
    tracks = tmp_path / "tracks"
    tracks.mkdir()
    (tracks / "a.gpx").write_text("1")
    plan = plan_of(tmp_path, NWA)
    spec = plan.input.model_copy(update={"path": tracks, "owners": (tracks / "a.gpx",)})
    first = cells.input_hashes(spec)
    assert list(first["path"]) == ["a.gpx"]
    assert len(first["owners"]) == 1
    (tracks / "a.gpx").write_text("2")
    assert cells.input_hashes(spec) != first


def test_progress_names_the_setting(table: Path, tmp_path: Path) -> None:
    heard: list[tuple[str, int, int | None]] = []

    def hear(step: str, done: int = 0, total: int | None = None) -> None:
        heard.append((step, done, total))

    compare(write(tmp_path, KCL.format(k="[2, 3]")), engine=LocalEngine(workers=1, progress=hear))
    assert ("2 of 2, kcl k=3 c=1 l=1: verify", 1, 2) in heard


_RUN = """
import sys
from pathlib import Path
from wayveil.engines import LocalEngine
from wayveil.run import cells
from wayveil.run.compare import compare

good, count = cells.publish, [0]

def slow(recipe, **options):
    count[0] += 1
    if count[0] == int(sys.argv[2]):  # half a publication: the folder is there, the result is not
        (recipe.output.path / "private").mkdir(parents=True)
        (recipe.output.path / "private" / "half").touch()
        sys.stdout.write("stuck\\n")
        sys.stdout.flush()
        import time
        time.sleep(600)
    return good(recipe, **options)

cells.publish = slow
compare(Path(sys.argv[1]), engine=LocalEngine(workers=1))
"""


def test_a_comparison_survives_kill_9_and_goes_on_where_it_was(table: Path, tmp_path: Path) -> None:
    path, out = write(tmp_path, KCL.format(k="[2, 3, 4, 5]") + "[compare]\nmax_risk = 0.5\n"), tmp_path / "out"
    command = [sys.executable, "-c", _RUN, str(path), "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (out / "comparison.json").exists()
    halves = [folder for folder in cell_folders(out) if not (folder / "result.json").exists()]
    assert len(cell_folders(out)) == 3
    assert len(halves) == 1
    done = {f.name: (f / "result.json").stat().st_mtime_ns for f in cell_folders(out) if f not in halves}
    found = run(path)
    assert found.ran == 2
    assert [row["status"] for row in found.settings] == ["verified"] * 4
    assert {name: when for name, when in result_times(out).items() if name in done} == done
    assert not (halves[0] / "private" / "half").exists()
    assert not list(out.glob(".staging-*"))


def test_a_comparison_can_be_killed_at_any_moment(table: Path, tmp_path: Path) -> None:
    path = write(tmp_path, KCL.format(k="[2, 3, 4]") + "[compare]\nseed = 1\nmax_risk = 0.5\n")
    whole = run(path, out=tmp_path / "whole")
    command = [sys.executable, "-c", _RUN, str(path), "0"]
    random.seed(1)
    for _ in range(2):
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 60
        while not (tmp_path / "out" / "cells").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(random.random() * 0.5)
        process.kill()
        process.wait()
    found = run(path)
    for one, other in zip(found.settings, whole.settings, strict=True):
        assert (one["risk"], one["loss"], one["status"]) == (other["risk"], other["loss"], other["status"])
    assert found.sentence == whole.sentence


# ---------------------------------------------------------------- page


def test_every_number_of_the_page_is_in_the_json(table: Path, tmp_path: Path) -> None:
    found = run(write(tmp_path, SETTINGS))
    page = found.report.read_text()
    said = (tmp_path / "out" / "comparison.json").read_text().replace("\\u00a0", "\xa0")
    body = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", " ", page)
    body = unescape(re.sub(r"<[^>]+>", " ", body)).replace("\xa0", " ")
    said = said.replace("\xa0", " ")
    for number in set(re.findall(r"\d+(?:[.,]\d+)*", body)):
        assert number in said, number
    hints = re.findall(r"<title>(\d.*?)</title>", page)
    assert len(hints) == 2
    for row in found.settings:
        if row["status"] == "verified":
            assert any(row["shown"]["risk"] in hint and row["shown"]["loss"] in hint for hint in hints)


def test_the_page_loads_nothing_and_escapes(table: Path, tmp_path: Path) -> None:
    path = write(tmp_path, SETTINGS.replace("c = 1", 'c = 1\ntitle = "<script>x</script>"'))
    page = run(path).report.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href)=\"(?!data:,)", page)
    assert "url(" not in page
    assert "@media print" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("✕ failed") == 2
    assert page.count("✓ verified") == 2
