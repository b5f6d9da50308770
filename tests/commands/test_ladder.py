"""The ladder of settings: the finest that keeps half, else the coarsest and a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from wayveil.cli.app import main
from wayveil.commands.inspect import choose_settings, inspect_file
from wayveil.commands.ladder import Candidate, choose_candidate, climb_ladder, sample_people
from wayveil.pipeline.input import load, prepare
from wayveil.recipe.recipe import make_input, make_recipe


def _rungs(count: int) -> tuple[Candidate, ...]:
    return tuple(Candidate(content={}, words=str(number)) for number in range(count))


def test_the_finest_that_keeps_half_is_taken_and_nothing_coarser_is_tried() -> None:
    shares = {"0": 0.1, "1": 0.5, "2": 0.9}
    lines: list[str] = []
    choice = climb_ladder(_rungs(3), lambda one: {"visits": shares[one.words], "trips": 1.0}, lines.append)
    assert choice.taken.candidate.words == "1"
    assert choice.enough
    assert lines == ["1 of at most 3: 0: 10% left", "2 of at most 3: 1: 50% left"]


def test_where_none_keeps_half_the_coarsest_is_taken() -> None:
    choice = climb_ladder(_rungs(3), lambda one: {"visits": 0.9, "trips": 0.4})
    assert choice.taken.candidate.words == "2"
    assert not choice.enough
    assert climb_ladder(_rungs(1), lambda one: {}).taken.kept == 0.0


def _check_ins(folder: Path, places: int, *, people: int = 60, coordinates: bool = False) -> Path:
    """Check-ins of people on many dates: the same hour hardly ever has two people at one of many places."""
    rng = np.random.default_rng(5)
    lines = ["user,venueId,utcTime" + (",lon,lat" if coordinates else "")]
    for row in range(people * 8):
        place = int(rng.integers(places))
        when = f"2021-{1 + row % 12:02}-{1 + int(rng.integers(28)):02} {int(rng.integers(24)):02}:15:00"
        where = f",{8.5 + place % 20 / 500:.4f},{50 + place // 20 / 500:.4f}" if coordinates else ""
        lines.append(f"u{row % people},p{place},{when}{where}")
    path = folder / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_places_that_many_share_stay_and_times_become_as_wide_as_needed(tmp_path) -> None:
    seen = choose_settings(inspect_file(make_input({"path": str(_check_ins(tmp_path, 3))})))
    assert len(seen.trials) > 1
    assert [trial.kept < 0.5 for trial in seen.trials] == [True] * (len(seen.trials) - 1) + [False]
    assert seen.content is not None
    assert [step["step"] for step in seen.content["prepare"]] == ["fold"]
    assert not seen.little_left


def test_coordinates_beside_places_become_zones(tmp_path) -> None:
    path = _check_ins(tmp_path, 200, coordinates=True)
    seen = choose_settings(inspect_file(make_input({"path": str(path)})))
    assert seen.content is not None
    assert seen.content["input"]["kind"] == "points"
    assert [step["step"] for step in seen.content["prepare"]] == ["grid", "fold", "zones"]
    assert seen.trials[-1].kept >= 0.5


def test_every_setting_can_be_run_on_what_it_is_for(tmp_path) -> None:
    visits = _check_ins(tmp_path, 40)
    places = tmp_path / "places.csv"
    places.write_text("location,lon,lat\n" + "".join(f"p{i},{8 + i / 100},50.0\n" for i in range(40)))
    trips = tmp_path / "trips.csv"
    head = "started_at,ended_at,start_station_id,end_station_id,start_lng,start_lat,end_lng,end_lat,member_id\n"
    rows = (
        f"2021-01-{1 + i % 28:02} 10:00:00,2021-01-{1 + i % 28:02} 10:30:00,"
        f"{i % 7},{i % 5},{8 + i % 7 / 100},50,{8 + i % 5 / 100},50,m{i % 60}\n"
        for i in range(400)
    )
    trips.write_text(head + "".join(rows))
    for said in ({"path": str(visits), "places": str(places)}, {"path": str(trips)}):
        seen = inspect_file(make_input(said))
        assert "zones" in str(seen.candidates[-1].content["prepare"])
        assert 4 <= len(seen.candidates) <= 8
        for candidate in seen.candidates:
            recipe = make_recipe(dict(candidate.content))
            assert prepare(load(recipe.input, attributes=()), recipe.prepare, recipe.input).data.n_rows


def test_where_little_is_left_the_recipe_and_the_last_lines_say_so(tmp_path, capsys) -> None:
    path, recipe = _check_ins(tmp_path, 230), tmp_path / "r.toml"
    assert main(["inspect", str(path), "--write", str(recipe)]) == 0
    last = " ".join(" ".join(capsys.readouterr().out.splitlines()[-6:]).split())
    assert "Little is left" in last
    assert "--places" in last
    written = recipe.read_text()
    assert "# - Little is left" in written
    assert tomllib.loads(written)["method"]["l"] == 1


def test_a_search_is_repeated_by_the_same_file(tmp_path) -> None:
    seen = inspect_file(make_input({"path": str(_check_ins(tmp_path, 3))}))
    first, second = (choose_candidate(seen.candidates, rows=200) for _ in range(2))
    assert [trial.to_json() for trial in first.trials] == [trial.to_json() for trial in second.trials]


def test_a_sample_holds_whole_people(tmp_path) -> None:
    spec = make_input({"path": str(_check_ins(tmp_path, 3)), "columns": {
        "traj_id": "user", "user_id": "user", "location": "venueId", "t": "utcTime"
    }, "on_duplicate_time": "first"})  # fmt: skip
    whole = load(spec, attributes=())
    some = sample_people(whole, 100)
    assert sample_people(whole, whole.data.n_rows) is whole
    assert 80 <= some.data.n_rows <= 100
    assert some.data.n_owners == len(some.data) == len(some.ids)
    rows_of = dict(zip(whole.ids.to_list(), whole.data.lengths.tolist(), strict=True))
    assert some.data.lengths.tolist() == [rows_of[name] for name in some.ids.to_list()]
