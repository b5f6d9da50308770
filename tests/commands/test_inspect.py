"""`wayveil inspect`: what a file is, one question at most, and a recipe that runs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

import wayveil
from wayveil.advice.settings import list_settings
from wayveil.cli.app import main
from wayveil.commands.inspect import answer_question, inspect_file
from wayveil.errors import InputError
from wayveil.io.tabular.time_formats import FORMAT_WORDS, FORMATS
from wayveil.recipe.recipe import load_recipe, make_input
from wayveil.yardstick.fair_loss import Resolution

RAW = Path(os.environ.get("WAYVEIL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def _written(folder: Path, text: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _check_ins(form: str = "2021-03-{:02} 0{}:15:00") -> str:
    rows = [(f"ann{i % 12}", f"cafe{i % 3}", form.format(1 + i % 9, i % 9)) for i in range(180)]
    return "user;venueId;utcTime\n" + "".join(";".join(row) + "\n" for row in rows)


def test_check_ins_become_a_recipe_that_runs(tmp_path, capsys) -> None:
    path = _written(tmp_path, _check_ins("{:02}.3.2021 0{}:15"), "visits.txt")
    recipe = tmp_path / "r.toml"
    assert main(["inspect", str(path), "--time-format", "dmy", "--write", str(recipe)]) == 0
    shown = capsys.readouterr().out
    assert "ann" not in shown
    assert "cafe" not in shown
    made = load_recipe(recipe)
    assert made.input.columns["user_id"] == "user"
    assert made.input.kind == "visits"
    comments = [line[4:] for line in recipe.read_text().splitlines() if line.startswith("# - ")]
    assert comments == list(made.input.guesses)
    assert main(["run", str(recipe)]) == 0
    report = (tmp_path / "visits-published" / "private" / "report.html").read_text()
    assert all(guess.split(":")[0].replace("'", "&#39;") in report for guess in comments)


def _venues(scatter: float) -> str:
    """Check-ins at three named cafes, whose rows lie so many degrees apart."""
    rows = (
        f"ann{i % 12},cafe{i % 3},{8.5 + (i % 3) / 50 + scatter * (i % 7):.5f},{50 + (i % 3) / 50:.5f},"
        f"2021-03-{1 + i % 9:02} 0{i % 9}:15:00"
        for i in range(180)
    )
    return "user,venueId,lon,lat,utcTime\n" + "".join(row + "\n" for row in rows)


def test_coordinates_beside_named_places_stay_so_that_places_can_become_zones(tmp_path) -> None:
    recipe = tmp_path / "r.toml"
    assert main(["inspect", str(_written(tmp_path, _venues(0.0))), "--write", str(recipe)]) == 0
    made = load_recipe(recipe)
    assert made.input.kind == "visits"
    assert (made.input.columns["location_x"], made.input.columns["location_y"]) == ("lon", "lat")
    read = wayveil.read(tmp_path / "a.csv", columns=made.input.columns, crs=made.input.crs, kind="visits")
    assert read.place_x is not None
    settings = list_settings(made, read, Resolution(metres=500.0))
    assert any(step["step"] == "zones" for setting in settings for step in setting.steps)


@pytest.mark.parametrize("text", [_venues(0.01), _venues(0.0).replace("cafe2,8.54000,50.04000", "cafe2,,")])
def test_coordinates_that_do_not_say_where_a_named_place_is_are_not_taken_for_it(tmp_path, text: str) -> None:
    """Rows of one name kilometres apart are a kind of place or a chain; a place without a position is in no zone."""
    recipe = tmp_path / "r.toml"
    assert main(["inspect", str(_written(tmp_path, text)), "--write", str(recipe)]) == 0
    assert "location_x" not in load_recipe(recipe).input.columns


def test_what_changes_the_meaning_is_asked_and_nothing_is_written(tmp_path, capsys) -> None:
    text = "user_id,x,y,t\n" + "".join(f"u{i % 5},{10 + i / 100},{50 + i / 100},{i}\n" for i in range(50))
    path, recipe = _written(tmp_path, text), tmp_path / "r.toml"
    assert main(["inspect", str(path), "--write", str(recipe)]) == 2
    assert "--crs degrees" in capsys.readouterr().err
    assert not recipe.exists()
    assert main(["inspect", str(path), "--crs", "degrees", "--write", str(recipe)]) == 0
    assert load_recipe(recipe).input.crs == "degrees"


def test_an_answer_settles_a_question(tmp_path) -> None:
    path = _written(tmp_path, _check_ins("0{1}/0{0}/2021 10:15").replace("00/", "01/"))
    spec = make_input({"path": str(path)})
    seen = inspect_file(spec)
    assert [answer.option for answer in seen.questions[0].answers] == ["--time-format dmy", "--time-format mdy"]
    settled = inspect_file(answer_question(spec, seen.questions[0].answers[1]))
    assert not settled.questions
    assert settled.content is not None
    assert settled.content["input"]["times"]["t"]["format"] == "mdy"


def test_the_day_is_told_from_the_whole_column(tmp_path) -> None:
    rows = ["user,place,when", *(f"u{i % 9},p{i % 3},01/0{1 + i % 9}/2021 10:00" for i in range(9000))]
    rows[4321] = "u1,p1,25/03/2021 10:00"
    seen = inspect_file(make_input({"path": str(_written(tmp_path, "\n".join(rows) + "\n"))}))
    assert [fit.format for fit in seen.profile.times[0].fits] == ["dmy"]


def test_several_people_are_asked_and_a_row_number_is_none(tmp_path) -> None:
    rows = [f"{i},d{i % 7},p{i % 11},s{i % 4},2021-01-01 10:{i % 60:02}:00" for i in range(200)]
    path = _written(tmp_path, "id,driver_id,passenger_id,station,time\n" + "\n".join(rows) + "\n")
    seen = inspect_file(make_input({"path": str(path)}))
    assert {person.column for person in seen.profile.people} == {"driver_id", "passenger_id"}
    assert len(seen.questions) == 1
    assert seen.profile.column("id").role == "row number"
    settled = inspect_file(make_input({"path": str(path), "columns": {"user_id": "driver_id"}}))
    assert settled.content is not None


def test_a_trip_per_row_has_two_ends(tmp_path) -> None:
    rows = [
        f"{i},2021-01-01 1{i % 3}:00:00,2021-01-01 1{i % 3}:30:00,{i % 3},{(i + 1) % 3},m{i % 40}" for i in range(300)
    ]
    path = _written(tmp_path, "n,started_at,ended_at,start_station_id,end_station_id,member_id\n" + "\n".join(rows))
    recipe = tmp_path / "r.toml"
    assert main(["inspect", str(path), "--write", str(recipe)]) == 0
    made = load_recipe(recipe)
    assert made.input.kind == "trips"
    assert (made.input.columns["origin"], made.input.columns["destination"]) == ("start_station_id", "end_station_id")
    assert main(["run", str(recipe)]) == 0


def test_times_of_day_are_read_beyond_midnight(tmp_path) -> None:
    rows = [f"trip{i // 10},{23 + i % 3}:{i % 6}0:00,{i % 10}" for i in range(300)]
    path = _written(tmp_path, "trip_id,arrival_time,stop_id\n" + "\n".join(rows), "stop_times.txt")
    seen = inspect_file(make_input({"path": str(path), "owners": "each-trajectory"}))
    assert seen.content is not None
    assert seen.content["input"]["times"]["t"]["format"] == "clock"


def test_a_header_that_begins_like_a_comment_is_a_header(tmp_path) -> None:
    rows = [
        f"{1 + i % 28:02}/02/2021 {i % 24:02}:00:00,{2190 + i % 9},{55 + i / 1e3},{11 + i / 1e3}" for i in range(90)
    ]
    path = _written(tmp_path, "# Timestamp,MMSI,Latitude,Longitude\n" + "\n".join(rows))
    seen = inspect_file(make_input({"path": str(path)}))
    assert seen.profile.layout == "points"
    assert [person.column for person in seen.profile.people] == ["MMSI"]


def test_a_date_and_a_time_of_day_are_one_time(tmp_path) -> None:
    rows = [f"k{i % 50};{1 + i % 28:02}.03.2021;{i % 24:02}:{i % 60:02};H{i % 6}" for i in range(200)]
    path = tmp_path / "a.csv"
    path.write_text("sep=;\nKarte_Nr;Datum;Uhrzeit;Haltestelle\n" + "\n".join(rows), encoding="cp1252")
    seen = inspect_file(make_input({"path": str(path), "columns": {"user_id": "Karte_Nr"}}))
    assert seen.profile.times[0].columns == ("Datum", "Uhrzeit")
    assert seen.profile.where == {"location": "Haltestelle"}
    assert seen.content is not None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("stop_id,stop_name,stop_lat,stop_lon\n1,a,50.1,8.5\n2,b,50.2,8.6\n", "table of places"),
        ("route,colour\n1,red\n2,blue\n", "no column says when and where"),
        ("user,lon,lat,time\n" + "".join(f"a,8.5,50.1,2021-01-01 10:0{i}:00\n" for i in range(9)), "of one person"),
        ("lon,lat,time\n" + "".join(f"8.{i},50.1,2021-01-01 10:0{i}:00\n" for i in range(9)), "which rows belong"),
    ],
)
def test_what_cannot_be_published_is_said_in_a_sentence(tmp_path, capsys, text, sentence) -> None:
    path = _written(tmp_path, text)
    assert main(["inspect", str(path), "--write", str(tmp_path / "r.toml")]) == 2
    message = capsys.readouterr().err
    assert sentence in message
    assert "bug" not in message
    assert main(["inspect", str(path)]) == 0


def test_bad_rows_are_counted_and_left_out(tmp_path, capsys) -> None:
    rows = [f"u{i % 30},{8 + i / 1e4},{50 + i / 1e4},2021/01/01 10:{i % 60:02}:00" for i in range(300)]
    rows[7] = "u7,,,NA"
    path, recipe = _written(tmp_path, "user_id,lon,lat,time\n" + "\n".join(rows)), tmp_path / "r.toml"
    assert main(["inspect", str(path), "--write", str(recipe), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert any("cannot be read in 1 row" in problem for problem in seen["problems"])
    assert load_recipe(recipe).input.bad_rows == "drop"
    assert main(["run", str(recipe), "--verbose"]) == 0
    assert "1 row of 300 was left out" in " ".join(capsys.readouterr().out.split())


def test_values_are_shown_only_when_asked(tmp_path, capsys) -> None:
    path = _written(tmp_path, _check_ins())
    for as_json in ([], ["--json"]):
        assert main(["inspect", str(path), *as_json]) == 0
        assert "cafe1" not in capsys.readouterr().out
    assert main(["inspect", str(path), "--show-values"]) == 0
    assert "cafe1" in capsys.readouterr().out


def test_frames_are_inspected_in_python() -> None:
    frame = pl.DataFrame(
        {
            "device": [f"d{i % 9}" for i in range(90)],
            "time": [f"2021-01-01T10:{i % 60:02}:00Z" for i in range(90)],
            "lng": [8.5 + i / 1000 for i in range(90)],
            "lat": [50.1] * 90,
        }
    )
    for table in (frame, frame.lazy()):
        seen = wayveil.inspect(table)
        assert seen.profile.layout == "points"
        assert [person.column for person in seen.profile.people] == ["device"]
    pandas = pytest.importorskip("pandas")
    assert wayveil.inspect(pandas.DataFrame(frame.to_dict(as_series=False))).profile.layout == "points"


_EACH = "--each-trajectory-is-a-person"
FILES = [
    ("raw_files/geolife_small.csv", ["--crs", "degrees"], ""),
    ("raw_files/geolife_small.gpkg", [], ""),
    ("raw_files/mock_dataset.csv", [], ""),
    ("raw_files/route14_outbound.csv", [], ""),
    ("raw_files/taxi-price.csv", [], ""),
    ("raw_files/Yelp_check_ins.txt", ["--columns", "user_id=column_1"], ""),
    ("raw_files/stop_times.txt", [_EACH], ""),
    ("raw_files/sample_cabs.csv", [], "of one person"),
    ("raw_files/posmo_trajectory.csv", [], "of one person"),
    ("raw_files/pfs_tutorial.geojson", [], "of 2 people"),
    ("raw_files/movingfeatures.json", [], "of one person"),
    ("raw_files/stops.txt", [], "table of places"),
    ("raw_files/trips.txt", [], "no column says"),
    ("citibike_jc2016/JC-201601-citibike-tripdata.csv.gz", [_EACH], ""),
    ("foursquare_nyc/Foursquare_Sample.csv.gz", [_EACH], ""),
    ("trucks_athens/trucks.csv.gz", [_EACH], ""),
    ("fcd_oberfranken/points.csv.gz", ["--columns", "user_id=id"], ""),
]


@pytest.mark.parametrize(("name", "answer", "sentence"), FILES, ids=[Path(row[0]).name for row in FILES])
def test_raw_files_reach_a_publication_or_a_sentence(tmp_path, capsys, name, answer, sentence) -> None:
    path = RAW / name
    if not path.exists():
        pytest.skip("the file is not here")
    if path.suffix == ".gpkg":
        pytest.importorskip("pyogrio")
    recipe = tmp_path / "r.toml"
    if sentence:
        assert main(["inspect", str(path), *answer, "--write", str(recipe)]) == 2
        assert sentence in capsys.readouterr().err
        return
    if answer:
        assert main(["inspect", str(path), "--write", str(recipe)]) == 2
        assert len(inspect_file(make_input({"path": str(path)})).questions) == 1
    assert main(["inspect", str(path), *answer, "--write", str(recipe)]) == 0
    assert main(["run", str(recipe)]) == 0
    assert list((tmp_path).glob("*-published/public/manifest.json"))


def test_a_table_with_our_own_names_needs_no_mapping(tmp_path: Path) -> None:
    rows = [f"{i},{i},{t},place-{(i + t) % 3}" for i in range(60) for t in range(3)]
    (tmp_path / "cards.csv").write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    assert main(["inspect", str(tmp_path / "cards.csv"), "--write", str(tmp_path / "cards.toml")]) == 0
    assert main(["run", str(tmp_path / "cards.toml")]) == 0


def test_a_damaged_parquet_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"user": [f"{i * 7919 % 1000}" for i in range(1000)], "t": list(range(1000))}).write_parquet(path)
    raw = bytearray(path.read_bytes())
    raw[40:200] = bytes(160)
    path.write_bytes(bytes(raw))
    with pytest.raises(InputError, match="is damaged and cannot be read"):
        inspect_file(make_input({"path": str(path)}))


def test_the_screen_speaks_of_times_and_places_as_people_do(tmp_path, capsys) -> None:
    names = "Start Time,Stop Time,Start Station ID,Start Station Latitude,Start Station Longitude"
    names += ",End Station ID,End Station Latitude,End Station Longitude,user_id"
    trips = [
        f"2016-01-{1 + i % 28:02d} 08:00:0{i % 9},2016-01-{1 + i % 28:02d} 09:00:0{i % 9},{i % 5},"
        f"40.{i % 5},-74.{i % 5},{i % 4},40.{i % 4},-74.{i % 4},p{i % 20}"
        for i in range(120)
    ]
    path = _written(tmp_path, "\n".join([names, *trips]) + "\n")
    main(["inspect", str(path)])
    lines = capsys.readouterr().out.splitlines()
    text = " ".join(" ".join(lines).split())
    assert max(len(line) for line in lines[1:]) <= 110
    assert "The time in 'Start Time' is a date, year first, local time" in text
    assert "time: every value reads as a date, year first" in text
    assert text.count("-> x: where the place is, in degrees") == 2
    assert text.count("-> y: where the place is, in degrees") == 2
    assert not any(word in text for word in ("ymd", "clock on the wall"))
    counted = "user_id,lon,lat,t\n" + "".join(f"u{i % 5},{10 + i / 100},50,{1_600_000_000 + i}\n" for i in range(50))
    main(["inspect", str(_written(tmp_path, counted, "b.csv"))])
    text = " ".join(capsys.readouterr().out.split())
    assert "every value reads as seconds since 1970" in text
    assert "is in seconds since 1970, UTC." in text
    assert "epoch" not in text


def test_every_format_of_times_has_words() -> None:
    assert FORMAT_WORDS.keys() == set(FORMATS)
