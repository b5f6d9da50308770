"""Noisy counts: what is counted of everybody, which keys there are, what is declared, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.cli import main
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError, UsageError
from wayveil.methods import DpCounts
from wayveil.methods.common import noise
from wayveil.methods.dp_counts.cell_bound import bound_cells, choose_bound, plan_bound
from wayveil.model import Trips, Visits
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers import check_differential_privacy

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/dp_counts/examples.json").read_text())["cases"]
ENGINE = LocalEngine(workers=1)
ZONES = {"all": ["a", "b", "empty"]}


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that is always 0."""
    monkeypatch.setattr(noise, "draw_noise", lambda noisy, numbers: numbers)


def run(method: DpCounts, data: Any, seed: int = 1) -> Any:
    return method.run(data, rng=np.random.default_rng(seed), engine=ENGINE)


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize("name", GOLDEN)
def test_worked_examples(name: str) -> None:
    case = GOLDEN[name]
    data = Visits.from_records([[(visit[0], int(visit[1:])) for visit in way] for way in case["people"]])
    made = run(DpCounts(**case["given"]), data)
    assert made.data.record(0) == [tuple(row) for row in case["published"]]
    assert made.claim.queries[-1].scale == case["scale"]
    assert check_differential_privacy(made.data, made.claim).holds


def test_numbers_have_noise_of_the_declared_scale() -> None:
    """20,000 keys in which nobody is: the mean of abs(noise) over all integers is known; clipping leaves one side."""
    zones = {"all": [f"z{i}" for i in range(20_000)]}
    method = DpCounts(epsilon=0.5, per_person=1, every="all", public_zones=zones)
    made = run(method, Visits.from_records([[("z0", 1)]]))
    q = np.exp(-0.5)
    expected = q / (1 - q) / (1 + q)  # the mean of what is above 0
    assert made.claim.queries[0].scale == 2.0
    assert abs(made.data.count.mean() - expected) < 0.12  # six standard deviations
    again = run(method, Visits.from_records([[("z0", 1)]]))
    assert made.data.count.tolist() != again.data.count.tolist()  # whatever the seed


@pytest.mark.usefixtures("still")
def test_a_person_with_a_million_rows_counts_as_much_as_allowed() -> None:
    rows = 1_000_000
    busy = Visits.from_records([[("a", 1)]] * 20)
    data = Visits(
        offsets=np.array([0, *range(1, 21), 20 + rows]),
        location=np.concatenate([busy.location, np.arange(rows) % 2]),
        t=np.concatenate([busy.t, np.arange(rows)]),
        locations=("a", "b"),
        owner=np.arange(21),
    )
    method = DpCounts(epsilon=1, per_person=2, public_zones=ZONES, public_times="0..99")
    made = run(method, data)
    assert sum(row[3] for row in made.data.record(0)) == 22
    by_visits = DpCounts(epsilon=1, per_person=1, per_cell=5, count="visits", every="all", public_zones=ZONES)
    assert sum(row[3] for row in run(by_visits, data).data.record(0)) == 25


@pytest.mark.usefixtures("still")
def test_which_cells_of_somebody_are_counted_is_drawn() -> None:
    data = Visits.from_records([[("a", 1), ("b", 2)]] * 1_000)
    method = DpCounts(epsilon=1, per_person=1, public_zones=ZONES, public_times="1..2")
    counts = {row[:3]: row[3] for row in run(method, data).data.record(0)}
    assert counts["a", "", 1] + counts["b", "", 2] == 1_000
    assert 380 < counts["a", "", 1] < 620
    other = {row[:3]: row[3] for row in run(method, data, seed=2).data.record(0)}
    assert other != counts


def test_nobody_else_decides_which_cells_are_counted() -> None:
    """The first people of two tables draw alike, whoever comes after them: draws are one per pair."""
    from wayveil.methods.common.cell_tally import tally_cells
    from wayveil.model.data.count_tables import list_events

    data = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)]] * 50)
    cells = tally_cells(list_events(data, tally="zones", every="as-is"), count="people")
    kept = bound_cells(cells, 2, np.random.default_rng(3))
    assert np.bincount(cells.pair_person[kept]).tolist() == [2] * 50
    assert bound_cells(cells, 3, np.random.default_rng(3)).all()
    drawn = np.bincount(cells.pair_cell[kept], minlength=3)
    assert drawn.sum() == 100
    assert (drawn > 15).all()


def test_the_bound_is_read_off_a_noisy_histogram() -> None:
    from wayveil.methods.common.cell_tally import tally_cells
    from wayveil.model.data.count_tables import list_events

    few = [[("a", t) for t in range(3)]] * 950
    many = [[("a", t) for t in range(60)]] * 50
    cells = tally_cells(list_events(Visits.from_records(few + many), tally="zones", every="as-is"), count="people")
    query = plan_bound(5.0, component="dp_counts")
    assert choose_bound(cells, query, component="dp_counts") == 4
    some = tally_cells(list_events(Visits.from_records(few[:3]), tally="zones", every="as-is"), count="people")
    assert choose_bound(some, plan_bound(0.01, component="dp_counts"), component="dp_counts") == 1
    made = run(DpCounts(epsilon=5, every="as-is"), Visits.from_records(few + many))
    names = [query.name for query in made.claim.queries]
    assert names == ["cells-per-person", "cells"]
    assert made.claim.steps == ("bound-from-histogram",)
    assert check_differential_privacy(made.data, made.claim).measured["epsilon_spent"] <= 5


@pytest.mark.usefixtures("still")
def test_ends_of_trips_and_rows_outside_of_public_zones() -> None:
    trips = Trips.from_ends([("a", 1, "b", 2), ("a", 1, "elsewhere", 2)])
    made = run(DpCounts(epsilon=1, per_person=2, every="all", public_zones=ZONES), trips)
    counts = {row[0]: row[3] for row in made.data.record(0)}
    assert counts == {"from a": 2, "from b": 0, "from empty": 0, "to a": 0, "to b": 1, "to empty": 0}
    assert made.facts["events outside of public zones and times"] == 1
    assert made.counted.tolist() == [True, True, True, False]
    flows = run(DpCounts(epsilon=1, per_person=1, tally="flows", every="all", public_zones=ZONES), trips)
    assert {row[:2]: row[3] for row in flows.data.record(0)}["a", "b"] == 1
    assert flows.data.n_rows == 9


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(
    ("form", "times", "every", "n_times"),
    [
        ("utc", "2016-07-01..2016-07-02", "1h", 48),
        ("local", "2016-07-01T06:00..2016-07-01T08:30", "1h", 3),
        ("epoch", "2016-07-01..2016-07-01", "1d", 1),
    ],
)
def test_public_times_of_dates(form: Any, times: str, every: str, n_times: int) -> None:
    unit = 1 if form == "epoch" else 1_000_000
    data = Visits.from_records([[("a", 1467356400 * unit)]], time_format=form)  # 2016-07-01, 7 o'clock
    made = run(DpCounts(epsilon=1, per_person=1, every=every, public_zones={"all": ["a"]}, public_times=times), data)
    assert made.data.n_rows == n_times
    assert made.data.count.sum() == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": 0}, "dp_counts: epsilon must be larger than 0, got 0"),
        ({"epsilon": -1}, "dp_counts: epsilon must be a number from 0 to 50, got -1"),
        ({"epsilon": "nan"}, "dp_counts: epsilon must be a number from 0 to 50, got 'nan'"),
        ({"epsilon": 1, "delta": -0.1}, "dp_counts: delta must be a number from 0 to 0.1"),
        ({"epsilon": 1, "delta": 0}, "without public zones delta must be above 0"),
        ({"epsilon": 1, "per_cell": 2}, "per_cell=2 goes with count=visits"),
        ({"epsilon": 1, "per_person": 0}, "per_person must be an integer from 1 to 1e.06 or 'auto', got 0"),
        ({"epsilon": 1, "public_zones": ZONES}, "public zones need public times, too"),
        ({"epsilon": 1, "public_times": "1..2"}, "public_times go with public_zones"),
        ({"epsilon": 1, "public_zones": ZONES, "public_times": "1..2", "every": "all"}, "leave public_times out"),
        ({"epsilon": 1, "public_zones": {"all": []}}, "at least one value for each"),
    ],
)
def test_parameters_that_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DpCounts(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"public_times": "1"}, "must be FIRST..LAST, such as 0..23; got '1'"),
        ({"public_times": "a..b"}, "must be FIRST..LAST"),
        ({"public_times": "9..1"}, "public_times end before they begin"),
        ({"public_times": "0..99999999"}, "have 300,000,000 keys"),
    ],
)
def test_public_times_that_cannot_be(given: dict[str, Any], message: str) -> None:
    method = DpCounts(epsilon=1, public_zones=ZONES, **given)
    with pytest.raises(InputError, match=message):
        run(method, Visits.from_records([[("a", 1)]]))


def test_dates_need_a_width_of_public_buckets() -> None:
    data = Visits.from_records([[("a", 1467356400)]], time_format="epoch")
    with pytest.raises(InputError, match="every needs a width, such as 1h"):
        run(DpCounts(epsilon=1, public_zones=ZONES, public_times="2016-07-01..2016-07-02"), data)


def test_without_opendp_nothing_is_published(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write_table(tmp_path)
    given = ["--epsilon", "1", "--per-person", "1", "--out", str(tmp_path / "out")]
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    assert main(["publish", "dp_counts", str(table), *given]) == 2
    said = capsys.readouterr().err
    assert "noise comes from OpenDP, which is not installed: install wayveil[dp]" in said
    assert not (tmp_path / "out").exists()


def write_table(folder: Path, people: int = 300) -> Path:
    rows = [f"t{i},PERSON{i},{t},{'ab'[(i + t) % 2]}" for i in range(people) for t in (1, 2)]
    path = folder / "input.csv"
    path.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    return path


def make_content(folder: Path, **given: Any) -> dict[str, Any]:
    return {
        "input": {"path": str(write_table(folder))},
        "method": {"name": "dp_counts", "epsilon": 2, "per_person": 2, **given},
        "output": {"path": str(folder / "out"), "format": "csv"},
    }


PUBLIC = {"public_zones": ZONES, "public_times": "1..2"}


@pytest.mark.parametrize("given", [{}, PUBLIC], ids=["threshold", "public"])
def test_a_folder_is_judged_by_construction_and_by_its_owner(given: dict[str, Any], tmp_path: Path) -> None:
    publish(make_recipe(make_content(tmp_path, **given)), engine=ENGINE)
    alone = verify_folder(tmp_path / "out", by_definition=True)
    assert alone.failures == ()
    assert alone.exit_code == 3
    assert alone.by_definition == "holds"
    assert "by construction" in alone.not_judged[0]
    owner = verify_folder(tmp_path / "out", original=tmp_path / "input.csv", engine=ENGINE)
    assert owner.failures == ()
    assert owner.exit_code == 0
    assert "OpenDP" in owner.assumed[0]


def test_another_input_is_found_by_the_owner(tmp_path: Path) -> None:
    publish(make_recipe(make_content(tmp_path, **PUBLIC)), engine=ENGINE)
    other = tmp_path / "more"
    other.mkdir()
    judgement = verify_folder(tmp_path / "out", original=write_table(other, people=900), engine=ENGINE)
    assert judgement.exit_code == 1
    assert "further away from that of a second run" in judgement.failures[0]


def test_a_manifest_that_declares_less_fails(tmp_path: Path) -> None:
    publish(make_recipe(make_content(tmp_path, **PUBLIC)), engine=ENGINE)
    path = tmp_path / "out/public/manifest.json"
    content = json.loads(path.read_text())
    content["claim"]["queries"][0]["scale"] /= 2
    path.write_text(json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    judgement = verify_folder(tmp_path / "out")
    assert judgement.exit_code == 1
    assert any("spends epsilon" in failure for failure in judgement.failures)


def test_no_exact_number_is_public(tmp_path: Path) -> None:
    """Whatever is public is noisy, declared, or a size of the public files; with other people it is the same."""
    told = []
    for people in (300, 301):
        folder = tmp_path / str(people)
        folder.mkdir()
        write_table(folder, people)
        content = {**make_content(folder, **PUBLIC)}
        write_table(folder, people)
        publish(make_recipe(content), engine=ENGINE)
        manifest = json.loads((folder / "out/public/manifest.json").read_text())
        manifest.pop("files")
        told.append(manifest)
        assert b"PERSON" not in b"".join(path.read_bytes() for path in (folder / "out/public").iterdir())
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([{"step": "zones", "cell": 500, "people": 10}], "with the step zones as given"),
        ([{"step": "grid", "cell": 500, "bucket": "1h"}], "with the step grid as given"),
    ],
)
def test_steps_by_which_one_person_moves_others_are_refused(
    steps: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "points.csv"
    rows = [f"t{i},p{i},2024-05-06T08:00:00Z,{23.7 + i / 1000},37.9" for i in range(9)]
    path.write_text("\n".join(["traj_id,user_id,t,lon,lat", *rows]) + "\n")
    content = {
        "input": {"path": str(path)},
        "prepare": steps,
        "method": {"name": "dp_counts", "epsilon": 1},
        "output": {"path": str(tmp_path / "out")},
    }
    with pytest.raises(UsageError, match=message):
        publish(make_recipe(content), engine=ENGINE)
    assert not (tmp_path / "out" / "public").exists()
