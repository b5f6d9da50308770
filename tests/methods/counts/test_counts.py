"""Tables of counts: what is in them, what is left out, and whom nothing in them depends on."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.commands.loss import loss
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.counts import complementary
from wayveil.methods.counts.counts import Counts
from wayveil.model import Points, Stops, Trips, Visits
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_input, make_recipe

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/counts/examples.json").read_text())["cases"]


def run(data: Any, **given: Any) -> Any:
    return Counts(**given).run(data, rng=np.random.default_rng(1), engine=LocalEngine(workers=1))


def visits(people: list[list[str]], owner: list[int] | None = None) -> Visits:
    return Visits.from_records([[(word[0], int(word[1:])) for word in person] for person in people], owner=owner)


def random_visits(seed: int) -> Visits:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 40))
    records = [
        [(f"z{rng.integers(3)}", int(t)) for t in sorted(rng.choice(4, rng.integers(1, 4), replace=False))]
        for _ in range(n)
    ]
    return Visits.from_records(records, owner=rng.integers(0, n, n).tolist())


@pytest.mark.parametrize("name", GOLDEN)
def test_worked_examples(name: str) -> None:
    case = GOLDEN[name]
    made = run(visits(case["people"]), **case["given"])
    assert [list(row) for row in made.data.record(0)] == case["published"]


def oracle(
    data: Visits, *, k: int, tally: str, count: str, every: int | None
) -> dict[tuple[str, str, int | None], int]:
    """Return the published cells without totals, from the words of the definition."""
    parts: dict[Any, Counter[int]] = defaultdict(Counter)
    for i in range(len(data)):
        record = [(place, None if every is None else t // every * every) for place, t in data.record(i)]
        if tally == "zones":
            events = [(place, "", t) for place, t in record]
        else:
            events = [(a, b, t) for (a, t), (b, _) in pairwise(record)]
        for event in events:
            parts[event][int(data.owner[i])] += 1
    shown = {}
    for event, people in parts.items():
        each = dict.fromkeys(people, 1) if count == "people" else people
        if len(each) >= k and max(each.values()) * k <= sum(each.values()):
            shown[event] = sum(each.values())
    return shown


@pytest.mark.parametrize("tally", ["zones", "flows"])
@pytest.mark.parametrize("count", ["people", "visits"])
@pytest.mark.parametrize(("every", "width"), [("as-is", 1), ("2", 2), ("all", None)])
def test_cells_are_those_of_the_definition(tally: str, count: str, every: str, width: int | None) -> None:
    for seed in range(10):
        data = random_visits(seed)
        made = run(data, k=2, tally=tally, count=count, every=every)
        shown = {(zone, to_zone, t): n for zone, to_zone, t, n in made.data.record(0)}
        assert shown == oracle(data, k=2, tally=tally, count=count, every=width)


def test_what_is_counted_is_told_row_by_row() -> None:
    made = run(visits([["A1", "B2"], ["A1", "C2"]]), k=2)
    assert made.counted.tolist() == [True, False, True, False]
    ways = run(visits([["A1", "B2", "C3"], ["A1", "B2"]]), k=2, tally="flows")
    assert ways.counted.tolist() == [True, True, False, True, True]
    assert made.facts == {
        "cells that somebody is in": 3,
        "cells too small to publish": 2,
        "cells not published": 2,
    }


def test_one_person_is_never_more_than_the_share() -> None:
    often = visits([["A1"], ["A1"], ["A1"], ["A1"]], owner=[0, 0, 0, 1])
    assert run(often, k=2).data.record(0) == [("A", "", 1, 2)]
    assert run(often, k=2, count="visits").data.n_rows == 0
    assert run(often, k=2, count="visits", row_share="3/4").data.record(0) == [("A", "", 1, 4)]


def test_ends_of_trips_are_counted_by_role_and_flows_by_place() -> None:
    data = Trips.from_ends([("Park", 8, "Quay", 9)] * 2)
    assert run(data, k=2).data.record(0) == [("from Park", "", 8, 2), ("to Quay", "", 9, 2)]
    assert run(data, k=2, tally="flows").data.record(0) == [("Park", "Quay", 8, 2)]


def test_nothing_depends_on_who_is_in_no_published_number() -> None:
    crowd = [["A1", "B2"]] * 4 + [["B1"]] * 3
    for margins in ("no", "yes"):
        alone = run(visits(crowd), k=3, margins=margins).data
        with_loner = run(visits([*crowd, ["Z9"]]), k=3, margins=margins).data
        assert with_loner.record(0) == alone.record(0)


def test_a_corner_that_is_taken_away_hides_a_small_cell_both_ways() -> None:
    value = np.array([[2, 9, 11], [9, 9, 18], [11, 18, 29]])
    hidden = complementary.hide_small_cells(value, value == 2, 5)
    assert hidden.astype(int).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]


def test_empty_cells_hide_nothing() -> None:
    """Who knows that a cell is empty knows that it does not move: totals must go instead."""
    value = np.array([[2, 9, 11], [9, 0, 9], [11, 9, 20]])
    hidden = complementary.hide_small_cells(value, value == 2, 5)
    assert not hidden[1, 1]
    assert hidden.sum() >= 4


def test_too_much_work_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complementary, "MOST_WORK", 5)
    with pytest.raises(InputError, match=r"Use coarser zones or times, or margins=no\.$"):
        run(visits(GOLDEN["complementary"]["people"]), k=3, margins="yes")


def test_bad_settings_are_refused_in_one_sentence() -> None:
    with pytest.raises(ParameterError, match=r"counts: k must be an integer >= 2, got 1"):
        Counts(k=1)
    with pytest.raises(ParameterError, match=r"totals of zones over all times need times, got every=all"):
        _ = Counts(k=2, every="all", margins="yes").claim
    with pytest.raises(InputError, match=r"Bring positions into zones with the step grid"):
        run(Points.from_records([[(0, 0.0, 0.0)]]), k=2)
    with pytest.raises(InputError, match=r"counts: the times are plain integers"):
        run(visits([["A1"]]), k=2, every="1h")
    with pytest.raises(InputError, match=r"totals of zones over all times need times, and these data have none"):
        run(
            replace(Stops.tiny(), t=np.zeros(Stops.tiny().n_rows), t_end=np.zeros(Stops.tiny().n_rows)),
            k=2,
            margins="yes",
        )
    early = replace(visits([["A1"]]), t=np.array([np.iinfo(np.int64).min]))
    with pytest.raises(InputError, match=r"too close to the smallest 64-bit integer"):
        run(early, k=2, every="10")


def test_zones_of_the_step_are_published_and_verified(tmp_path: Path) -> None:
    """Rows of a table have other columns than visits have, also where the recipe makes zones."""
    table = tmp_path / "points.csv"
    rows = [f"T{i},P{i},{t},{100.0 + i},{900.0 * t}" for i in range(6) for t in range(3)]
    table.write_text("\n".join(["traj_id,user_id,t,x,y", *rows]) + "\n")
    content: dict[str, Any] = {
        "input": {"path": str(table), "crs": "planar"},
        "prepare": [{"step": "zones", "cell": 500}],
        "method": {"name": "counts", "k": 3},
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }
    publish(make_recipe(content))
    assert sorted(path.name for path in (tmp_path / "out/public").iterdir()) == [
        "README.html",
        "manifest.json",
        "published.csv",
    ]
    assert verify_folder(tmp_path / "out", original=table).holds


def test_utility_of_a_folder_of_flows_compares_flows(tmp_path: Path) -> None:
    """A folder says what was counted in it: without that, numbers of flows would be compared with visits."""
    rows = [f"T{i},P{i},{t},z{(i + t) % 3}" for i in range(40) for t in range(2)]
    table = tmp_path / "in.csv"
    table.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    recipe = {
        "input": {"path": str(table)},
        "method": {"name": "counts", "k": 3, "tally": "flows"},
        "output": {"path": str(tmp_path / "out")},
        "measure": "full",
    }
    outcome = publish(make_recipe(recipe), engine=LocalEngine(workers=1))
    measured = next(score for score in outcome.scores if score.name == "count_error")
    for folder in ("out", "out/public"):
        again = next(
            one for one in loss(make_input({"path": str(table)}), tmp_path / folder) if one.name == "count_error"
        )
        assert again.value == measured.value


def test_the_report_of_a_table_says_what_was_measured(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    rows = [f"T{i},P{i},{t},z{(i + t) % 3}" for i in range(40) for t in range(2)]
    table.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    recipe = {
        "input": {"path": str(table)},
        "method": {"name": "counts", "k": 3},
        "output": {"path": str(tmp_path / "out")},
    }
    report = publish(make_recipe(recipe), engine=LocalEngine(workers=1)).report.read_text()
    assert "No measure of loss was run" not in report
    assert "Do counts of an area, or of a kind, still come out right?" in report
    assert "There is no picture of these data" in report
