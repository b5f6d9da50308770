"""Steps on their own: risk, loss, generation and preparation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wayveil.commands.demo import demo
from wayveil.commands.generate import generate
from wayveil.commands.loss import loss
from wayveil.commands.prepare_table import prepare_table
from wayveil.commands.read_table import read
from wayveil.commands.risk import risk
from wayveil.errors import InputError, OutputError, UsageError
from wayveil.pipeline.publish import publish
from wayveil.recipe import catalog
from wayveil.recipe.recipe import InputSpec, make_recipe


def declared(path: Path) -> InputSpec:
    """A table, or a published folder, of which each trajectory is another person."""
    return InputSpec(path=path, owners="each-trajectory")


def test_risk_of_raw_and_published_data(content: dict[str, Any], table1: Path) -> None:
    outcome = publish(make_recipe(content))
    assert outcome.public is not None
    raw = risk(declared(table1), given={"m": 2, "choice": "worst"}, seed=1)
    published = risk(declared(outcome.public), given={"m": 2, "choice": "worst"}, seed=1)
    assert raw.results[0].measured["identity_max"] == 1
    assert published.results[0].measured["identity_max"] == 0.5
    assert published.results[0].measured["attribute_max"] == 0.5  # the claim says what is sensitive
    with pytest.raises(UsageError, match="known_visits"):
        risk(declared(table1), attack="known_visit")
    with pytest.raises(InputError, match="never occurs"):
        risk(declared(table1), sensitive=(("diagnosis", ("hiv",)),))


def test_loss_of_a_folder_and_of_a_table(content: dict[str, Any], table1: Path, tmp_path: Path) -> None:
    outcome = publish(make_recipe(content))
    assert outcome.public is not None
    scores = {score.name: score for score in loss(declared(table1), outcome.public)}
    assert scores["instance_loss"].value == pytest.approx(5 / 34)
    scores = {score.name: score for score in loss(declared(table1), table1)}
    assert scores["instance_loss"].value == 0
    dates = tmp_path / "dates.csv"
    dates.write_text("traj_id,t,location\n1,2024-05-01T08:00:00,a\n")
    with pytest.raises(InputError, match="cannot be compared"):
        loss(declared(table1), dates)


@pytest.mark.parametrize("name", sorted(catalog.entries("workload")))
def test_generation_repeats_with_its_seed(tmp_path: Path, name: str) -> None:
    special: dict[str, dict[str, Any]] = {
        "network_movers": {"objects": 25, "trips": 2},
        "road_movers": {"objects": 50},
        "errands": {"trajectories": 50, "leaves": 20},
    }
    given = special.get(name, {"records": 50})
    what = {"road_movers": "network", "errands": "taxonomy"}.get(name)
    beside: dict[str, Any] = {what: tmp_path / f"a-{what}.csv"} if what else {}
    made = generate(name, given, tmp_path / "a.csv")
    generate(name, given, tmp_path / "b.csv", seed=made.seed)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert len(read(tmp_path / "a.csv", **beside)) == 50
    assert set(made.sensitive) <= set(read(tmp_path / "a.csv", **beside).attributes)
    assert sorted(path.name for path in tmp_path.iterdir()) == (
        [f"a-{what}.csv", "a.csv", f"b-{what}.csv", "b.csv"] if what else ["a.csv", "b.csv"]
    )


def test_files_are_not_overwritten_and_endings_matter(tmp_path: Path) -> None:
    generate("city", {"records": 5}, tmp_path / "a.csv", seed=1)
    with pytest.raises(UsageError, match="--overwrite"):
        generate("city", {"records": 5}, tmp_path / "a.csv", seed=2)
    generate("city", {"records": 5}, tmp_path / "a.csv", seed=2, overwrite=True)
    with pytest.raises(UsageError, match="must end in"):
        generate("city", {"records": 5}, tmp_path / "a.xlsx")
    with pytest.raises(OutputError, match="No such file"):
        generate("city", {"records": 5}, tmp_path / "nowhere" / "a.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OutputError, match="folder"):
        generate("city", {"records": 5}, tmp_path / "folder.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "folder.csv"]


def test_reading_says_what_is_wrong(table1: Path) -> None:
    assert len(read(table1, owners="each-trajectory")) == 8
    assert set(read(str(table1), attributes=(), owners="each-trajectory").attributes) == set()
    with pytest.raises(InputError, match="nobody said who"):
        read(table1)
    with pytest.raises(UsageError, match="'on_duplicate_time' in \\[input\\]"):
        read(table1, on_duplicate_time="both")


def test_preparation_keeps_ids_owners_and_attributes(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("traj_id,user_id,t,location,ill\nX,P,1,a,yes\nX,P,12,b,yes\nY,P,5,c,no\nY,P,6,d,no\n")
    step = catalog.build("step", "bucket", {"width": "10", "keep": "first"})
    prepared = prepare_table(InputSpec(path=source), step, tmp_path / "out.csv")
    assert prepared.data.n_visits == 3
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].startswith("traj_id,")
    assert len(lines) == 4
    again = read(tmp_path / "out.csv")
    assert again.record(0) == [("a", 0), ("b", 10)]
    assert again.attributes["ill"].values() == ["yes", "no"]
    assert again.n_owners == 1


def test_demo_replaces_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.commands.demo.DEMO_RECORDS", 500)
    out = tmp_path / "demo"
    for _ in range(2):
        table, outcome = demo(out)
        assert table.is_file()
        assert outcome.report.is_file()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.doc").touch()
    with pytest.raises(OutputError, match="not an earlier demo"):
        demo(tmp_path / "mine")


def test_risk_in_pieces_is_that_of_the_whole(tmp_path: Path) -> None:
    # Everybody makes two visits, so an attacker of two visits knows the same of a person whoever draws them.
    visits = [(p % 2, p % 3, "ill" if p % 3 else "well") for p in range(40)]
    path = tmp_path / "cards.csv"
    rows = [f"{p},{n},place{(a, b)[n]},{s}" for p, (a, b, s) in enumerate(visits) for n in (0, 1)]
    path.write_text("\n".join(["traj_id,t,location,state", *rows]) + "\n")
    asked: dict[str, Any] = {"attack": "known_visits", "given": {"m": 2}, "sensitive": (("state", ("ill",)),)}
    whole = risk(declared(path), **asked)
    pieces = risk(declared(path), **asked, rows=7)
    (one,), (other,) = pieces.results, whole.results
    for name, value in other.measured.items():
        assert one.measured[name] == (None if value is None else pytest.approx(value, rel=1e-12)), name
    assert (one.name, one.adversary, one.victims, one.sampled) == (other.name, other.adversary, 40, False)
    assert [chart.labels for chart in one.charts] == [chart.labels for chart in other.charts]
    assert pieces.facts == whole.facts
    assert whole.results[0].measured["identity_mean"] != whole.results[0].measured["identity_max"]


def test_a_table_of_no_more_rows_than_a_piece_is_attacked_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    path.write_text("traj_id,t,location\n" + "".join(f"{p},{t},a\n" for p in range(9) for t in (1, 2)))
    whole = risk(declared(path), seed=1)
    assert "home_work" in {result.name for result in whole.results}
    assert repr(risk(declared(path), seed=1, rows=18)) == repr(whole)
    assert len(risk(declared(path), seed=1, rows=17).results) < len(whole.results)


def test_attacks_that_need_all_data_are_named_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "cards.csv"
    path.write_text("traj_id,t,location\n" + "".join(f"{p},{t},a\n" for p in range(9) for t in (1, 2)))
    found = risk(declared(path), rows=6)
    assert {result.name for result in found.results} >= {"known_visits", "uniqueness"}
    assert "home_work" in found.notes[-1]
    with pytest.raises(UsageError, match="home_work cannot be asked in pieces"):
        risk(declared(path), attack="home_work", rows=6)
    with pytest.raises(InputError, match="column 'location' cannot be an attribute"):
        risk(declared(path), sensitive=(("location", ("z",)),), rows=6)
