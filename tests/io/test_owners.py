"""Owners of trajectories from other tables, for every kind of data."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.errors import InputError
from wayveil.io import ReadOptions, read_points, read_routes, read_visits
from wayveil.io.side_tables import name_owners, read_owners
from wayveil.io.stops import read_stops
from wayveil.model import RoadNetwork, Taxonomy

TREE = Taxonomy.from_parents([("Place", ""), ("Bar", "Place")])
VISITS = "traj_id,t,location\nc,1,x\na,1,x\nb,1,x\nb,2,y\n"


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "who.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def load(file, kind: str):
    network = RoadNetwork.from_roads([("r", "a", "b")])
    return {
        "visits": lambda: read_visits(file(VISITS, "v.csv")),
        "points": lambda: read_points(file("traj_id,t,x,y\nc,1,0,0\na,1,0,0\nb,1,0,0\n", "p.csv")),
        "routes": lambda: read_routes(file("traj_id,seq,road\nc,1,r\na,1,r\nb,1,r\n", "r.csv"), network),
        "stops": lambda: read_stops(file("traj_id,t,place\nc,1,Bar\na,1,Bar\nb,1,Bar\n", "s.csv"), TREE),
    }[kind]()


@pytest.mark.parametrize("kind", ["visits", "points", "routes", "stops"])
def test_owners_of_any_kind_of_data(file, kind: str) -> None:
    loaded = load(file, kind)
    paths = [file("traj_id,user_id,t\na,u,1\na,u,2\nz,w,1\n"), file("user_id;traj_id\nv;c\nu;b\nu;a\n", "more.csv")]
    named = name_owners(loaded, paths)
    assert named.data.owner.tolist() == [0, 1, 1]
    assert named.data.owners == "given"
    assert named.ids.to_list() == ["c", "a", "b"]
    assert not any(note.startswith("No user_id") for note in named.notes)
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
