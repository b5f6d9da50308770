"""Who is behind a trajectory: said by a column or another table, or declared; never assumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.errors import InputError
from wayveil.io import ReadOptions, read_points, read_routes, read_visits
from wayveil.io.read.side_tables import name_owners, read_owners
from wayveil.io.read.stop_tables import read_stops
from wayveil.model import RoadNetwork, Taxonomy

TREE = Taxonomy.from_parents([("Place", ""), ("Bar", "Place")])
ELSEWHERE = ReadOptions(owners="elsewhere")
DECLARED = ReadOptions(owners="each-trajectory")
VISITS = "traj_id,t,location\nc,1,x\na,1,x\nb,1,x\nb,2,y\n"


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "who.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def load(file, kind: str, options: ReadOptions = ELSEWHERE):
    network = RoadNetwork.from_roads([("r", "a", "b")])
    return {
        "visits": lambda: read_visits(file(VISITS, "v.csv"), options),
        "points": lambda: read_points(file("traj_id,t,x,y\nc,1,0,500\na,1,0,0\nb,1,0,0\n", "p.csv"), options),
        "routes": lambda: read_routes(file("traj_id,seq,road\nc,1,r\na,1,r\nb,1,r\n", "r.csv"), network, options),
        "stops": lambda: read_stops(file("traj_id,t,place\nc,1,Bar\na,1,Bar\nb,1,Bar\n", "s.csv"), TREE, options),
    }[kind]()


@pytest.mark.parametrize("kind", ["visits", "points", "routes", "stops"])
def test_owners_of_any_kind_of_data(file, kind: str) -> None:
    loaded = load(file, kind)
    paths = [file("traj_id,user_id,t\na,u,1\na,u,2\nz,w,1\n"), file("user_id;traj_id\nv;c\nu;b\nu;a\n", "more.csv")]
    named = name_owners(loaded, paths)
    assert named.data.owner.tolist() == [0, 1, 1]
    assert named.data.owners == "given"
    assert named.ids.to_list() == ["c", "a", "b"]
    assert named.notes[-1] == "The owners, 2 different ones, were taken from 2 other tables."
    assert loaded.data.owners == "declared"


def test_other_names_and_parts(file) -> None:
    path = file("tid,label\na1,x7\nb1,x8\nc1,y8\n")
    columns = {"traj_id": "tid[:-1]", "user_id": "label[1:]", "t": "nothing"}
    assert read_owners([path], columns).rows() == [("a", "7"), ("b", "8"), ("c", "8")]
    assert name_owners(load(file, "visits"), [path], columns).data.owner.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["traj_id,user_id\na,u\nb,u\nc,u\nb,v\n"], "1 trajectory of the input was given more than one owner"),
        (["traj_id,user_id\na,u\nb,u\nc,u\n", "traj_id,user_id\nb,v\nc,v\n"], "2 trajectories of the input were given"),
        (["traj_id,user_id\na,u\n"], "2 trajectories of the 3 of the input were given no owner"),
        (["traj_id,user_id\n"], "3 trajectories of the 3"),
        (["traj_id,user_id\na,\n"], "column 'user_id' is empty"),
        (["traj_id,user\na,u\n"], r"needs the column 'user_id' for user_id, but the file has 'traj_id', 'user'\."),
        (["traj_id,user_id\n", "tid,user_id\na,u\n"], "needs the column 'traj_id' for traj_id"),
        ([], "No table of owners was given"),
    ],
)
def test_owners_that_cannot_be_used(file, texts: list[str], words: str) -> None:
    paths = [file(text, f"who{i}.csv") for i, text in enumerate(texts)]
    with pytest.raises(InputError, match=words):
        name_owners(load(file, "visits"), paths)


def test_two_answers_to_one_question_are_refused(file) -> None:
    loaded = read_visits(file(VISITS, "v.csv"), ReadOptions(columns={"user_id": "traj_id"}))
    with pytest.raises(InputError, match="says itself who is behind a trajectory"):
        name_owners(loaded, [file("traj_id,user_id\na,u\nb,u\nc,u\n")])


@pytest.mark.parametrize("kind", ["visits", "points", "routes", "stops"])
def test_nobody_is_assumed_to_be_behind_a_trajectory(file, kind: str) -> None:
    with pytest.raises(InputError) as refusal:
        load(file, kind, ReadOptions())
    for words in ("nobody said who", "--columns user_id=NAME", "no column looks like one", "--owners FILE",
                  "--each-trajectory-is-a-person", 'owners = "each-trajectory"'):  # fmt: skip
        assert words in str(refusal.value)
    declared = load(file, kind, DECLARED)
    assert declared.data.owners == "declared"
    assert declared.data.owner.tolist() == [0, 1, 2]
    assert "Each trajectory was declared to be another person." in declared.notes


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("card_id", "--columns user_id=card_id (column 'card_id' looks like a person)"),
        ("fare,vehicleID", "--columns user_id=vehicleID (column 'vehicleID' looks like a person)"),
        ("BikeId,User Type", "--columns user_id=BikeId (column 'BikeId' looks like a person)"),
        ("mmsi,IMEI", "--columns user_id=mmsi (columns 'mmsi', 'IMEI' look like a person)"),
        ("cardinal,userful", "(no column looks like one)"),
    ],
)
def test_the_columns_that_look_like_a_person_are_named(file, columns: str, words: str) -> None:
    values = ",".join("SECRET" for _ in columns.split(","))
    with pytest.raises(InputError) as refusal:
        read_visits(file(f"traj_id,t,location,{columns}\na,1,x,{values}\na,2,x,{values}\n"))
    assert words in str(refusal.value)
    assert "SECRET" not in str(refusal.value)


def test_the_trajectory_itself_may_be_the_person(file) -> None:
    path = file("card,t,location\na,1,x\na,2,x\nb,1,x\n")
    with pytest.raises(InputError, match="--columns user_id=card"):
        read_visits(path, ReadOptions(columns={"traj_id": "card"}))
    loaded = read_visits(path, ReadOptions(columns={"traj_id": "card", "user_id": "card"}))
    assert loaded.data.owners == "given"


@pytest.mark.parametrize("columns", [{}, {"user_id": "who"}])
def test_a_declaration_against_a_column_is_refused(file, columns: dict[str, str]) -> None:
    name = columns.get("user_id", "user_id")
    path = file(f"traj_id,t,location,{name}\na,1,x,u\na,2,x,u\n")
    with pytest.raises(InputError, match=f"column '{name}' says who .* give one of them"):
        read_visits(path, ReadOptions(columns=columns, owners="each-trajectory"))


def test_a_column_that_was_passed_over_is_told(file) -> None:
    loaded = read_visits(file("traj_id,t,location,driver\na,1,x,u\na,2,x,u\n"), DECLARED)
    assert any("Column 'driver' looks like a person and was not used" in note for note in loaded.notes)


# Ten rows of two people: with the number of the row as trajectory they were "at least 5 people".
ROWS = "row,t,location,{}\n" + "".join(f"{i},1,x,{'uv'[i % 2]}\n" for i in range(10))


@pytest.mark.parametrize(
    "options",
    [
        ReadOptions(columns={"traj_id": "row"}, owners="each-trajectory"),
        ReadOptions(columns={"traj_id": "row", "user_id": "row"}),
    ],
)
def test_a_row_number_is_no_person(file, options: ReadOptions) -> None:
    with pytest.raises(InputError, match=r"every trajectory has one row only.*'device' looks.*user_id=device"):
        read_visits(file(ROWS.format("device")), options)
    assert len(read_visits(file(ROWS.format("colour")), options).data) == 10
    named = ReadOptions(columns={"traj_id": "row", "user_id": "device"})
    assert read_visits(file(ROWS.format("device")), named).data.n_owners == 2


def test_one_row_per_person_is_fine_where_the_column_is_named(file) -> None:
    path = file("trip,t,location,user_id,vehicle\n1,1,x,u,bus\n2,1,x,v,bus\n")
    assert read_visits(path, ReadOptions(columns={"traj_id": "trip"})).data.n_owners == 2
    path = file("card,t,location,vehicle\n1,1,x,bus\n2,1,x,bus\n")
    assert len(read_visits(path, ReadOptions(columns={"traj_id": "card"}, owners="each-trajectory")).data) == 2


def test_tracks_in_folders_may_be_told_apart_by_folder(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    point = '<trkpt lat="1" lon="2"><time>2024-01-01T00:00:00Z</time></trkpt>'
    inside = f"<trk><trkseg>{point}</trkseg></trk>"
    (tmp_path / "ann" / "a.gpx").write_text(f'<gpx xmlns="http://www.topografix.com/GPX/1/1">{inside}</gpx>')
    with pytest.raises(InputError, match="'file', 'folder'"):
        read_points(tmp_path)
    assert read_points(tmp_path, ReadOptions(columns={"user_id": "folder"})).data.owners == "given"


def test_one_suggestion_answers_both_questions(file) -> None:
    with pytest.raises(InputError, match="--columns traj_id=trip,user_id=driver"):
        read_visits(file("trip,t,location,driver\na,1,x,u\na,2,x,u\n"))
