"""What all settings of a comparison are measured with, and what cannot be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wayveil.comparison.comparison_measures import as_boxes, choose_measures
from wayveil.comparison.comparison_recipe import load_plan
from wayveil.errors import UsageError
from wayveil.model import Boxes, Points, Visits
from wayveil.steps import Bucket, Grid

KCL = '[[setting]]\nmethod = "kcl"\nk = {k}\nc = 1\nl = 1\n'


def write(folder: Path, text: str, *, source: str = "visits.csv", title: str = "") -> Path:
    path = folder / "compare.toml"
    if "[output]" not in text:
        text += '[output]\npath = "out"\n'
    path.write_text(f'title = "{title}"\n[input]\npath = "{source}"\n{text}')
    return path


def plan_of(folder: Path, text: str) -> Any:
    return load_plan(write(folder, text))


def yardstick_of(folder: Path, text: str) -> Any:
    plan = plan_of(folder, text)
    return choose_measures(plan.settings, plan.risk, plan.loss)


BUCKETS = KCL.format(k=2) + '[[setting.prepare]]\nstep = "bucket"\nwidth = [2, 4]\n'
GRIDS = KCL.format(k=2) + '[[setting.prepare]]\nstep = "grid"\ncell = [100, 200]\nbucket = 10\n'
NWA = '[[setting]]\nmethod = "nwa"\nk = 2\ndelta = [0, 10]\n'
COUNTS = (
    '[[setting]]\nmethod = "counts"\nk = [2, 3]\nevery = {every}\n'
    "[compare]\nrisk = 'small_cells.identity_mean'\nloss = 'count_error'\n"
)
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
        ('[[setting]]\nmethod = "cast"\nc = 0.5\nm = [2, 3]\n', "known_places", "generalization_cost", 0, False),
        (COUNTS.format(every=2), "small_cells", "count_error", 0, False),
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
    assert found.risk == ("attribute_mean" if attack == "known_places" else "identity_mean")
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


def test_tables_are_measured_by_the_cells_that_they_count(tmp_path: Path) -> None:
    found = yardstick_of(tmp_path, COUNTS.format(every=2))
    assert found.attack.every == found.metric.every == "2"
    with pytest.raises(UsageError, match=r"The settings count different cells \(tally, count or every\)"):
        yardstick_of(tmp_path, COUNTS.format(every="[2, 4]"))


def test_sensitive_values_may_be_compared_where_all_name_the_same(tmp_path: Path) -> None:
    named = KCL.format(k="[2, 3]") + 'sensitive = { ill = ["yes"] }\n'
    asked = "[compare]\nrisk = 'known_visits.attribute_mean'\n"
    assert yardstick_of(tmp_path, named + asked).risk == "attribute_mean"
    stops = '[[setting]]\nmethod = "cast"\nc = 0.5\nm = [2, 3]\n' + asked.replace("known_visits", "known_places")
    assert yardstick_of(tmp_path, stops).risk == "attribute_mean"
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
    assert isinstance(boxes, Boxes)
    assert boxes.record(0) == [(0, 19, 100.0, 200.0, -100.0, 0.0), (20, 39, 200.0, 300.0, 0.0, 100.0)]
    assert boxes.record(1) == [(0, 19, 0.0, 100.0, 0.0, 100.0)]
    empty = visits.where(visits.t < 0)
    assert len(as_boxes(empty, points, steps)) == 2
