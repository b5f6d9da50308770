"""Stops from tables: order, places of the taxonomy, times, and back."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.errors import InputError, OutputError, ParameterError
from wayveil.io.places.taxonomy_files import read_taxonomy
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.side_tables import name_owners
from wayveil.io.read.stop_tables import read_stops as read_stops_asking
from wayveil.io.read.stop_tables import write_stops
from wayveil.io.tabular.columns import ReadOptions
from wayveil.io.tabular.detect import guess_kind
from wayveil.model import Coded, Stops, Taxonomy


def read_stops(path: str | Path, taxonomy: Taxonomy, options: ReadOptions | None = None, **how: Any) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_stops_asking(path, taxonomy, replace(options or ReadOptions(), owners="not-asked"), **how)


DATA = Path(os.environ.get("WAYVEIL_DATA", Path(__file__).parents[3] / "shared" / "data"))
TREE = Taxonomy.from_parents(
    [("Place", ""), ("Bar", "Place"), ("Food", "Place"), ("Bakery", "Food"), ("Clinic", "Place"), ("Park", "Place")],
    sensitive=["Clinic"],
)


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "stops.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def records(data: Stops) -> list[list[str]]:
    return [data.record(i) for i in range(len(data))]


def test_times_alone_give_the_order_and_ties_keep_that_of_the_file(file) -> None:
    loaded = read_stops(file("traj_id,t,place\nb,5,Park\na,7,Bar\na,7,Clinic\na,3,Park\na,7,Bar\nb,6,Park\n"), TREE)
    assert records(loaded.data) == [["Park", "Park"], ["Park", "Bar", "Clinic", "Bar"]]
    assert loaded.data.t.tolist() == loaded.data.t_end.tolist() == [5, 6, 3, 7, 7, 7]
    assert loaded.data.sensitive.tolist() == [False, False, False, False, True, False]
    assert loaded.ids.to_list() == ["b", "a"]
    assert loaded.rows == 6
    assert loaded.data.owners == "declared"
    assert loaded.notes == ("1 trajectory was not in time order and was sorted.",)


def test_numbers_give_the_order_before_times(file) -> None:
    loaded = read_stops(file("traj_id,seq,place\na,10,Park\na,-2,Bar\na,9,Clinic\n"), TREE)
    assert records(loaded.data) == [["Bar", "Clinic", "Park"]]
    assert loaded.data.t.tolist() == loaded.data.t_end.tolist() == [0, 0, 0]
    assert loaded.notes[-1] == "1 trajectory was not in the order of seq and was sorted."
    loaded = read_stops(file("traj_id,seq,t,place\na,2,7,Park\na,1,7,Bar\na,0,5,Clinic\n"), TREE)
    assert records(loaded.data) == [["Clinic", "Bar", "Park"]]
    assert loaded.data.t.tolist() == [5, 7, 7]


def test_ends_owners_and_attributes(file) -> None:
    text = (
        "traj_id,user_id,t,t_end,place,age,mood,lon,location\n"
        "a,u,2024-05-01T10:00:00Z,2024-05-01T10:30:00Z,Park,30,x,1,k\n"
        "a,u,2024-05-01T11:00:00Z,,Bar,30,y,2,l\n"
        "b,u,2024-05-01T10:00:00Z,2024-05-01T10:00:00Z,Bar,,z,3,l\n"
    )
    loaded = read_stops(file(text), TREE)
    data = loaded.data
    assert (data.time_format, data.owners, data.owner.tolist()) == ("utc", "given", [0, 0])
    assert (data.t_end - data.t).tolist() == [1800 * 10**6, 0, 0]
    assert data.attributes["age"].values() == ["30", None]
    assert "mood" not in data.attributes
    assert "lon" not in data.attributes
    assert any("'lon' was left out" in note for note in loaded.notes)
    only = read_stops(file(text), TREE, ReadOptions(attributes=())).data
    assert not only.attributes


def test_other_names(file) -> None:
    path = file("tid,when,left,kind,who\n862a,1,4,Bar,x\n862b,3,3,Park,x\n")
    columns = {"traj_id": "tid[:-1]", "t": "when", "t_end": "left", "place": "kind", "user_id": "who"}
    assert guess_kind(path, ReadOptions(columns=columns)) == "stops"
    loaded = read_stops(path, TREE, ReadOptions(columns=columns))
    assert records(loaded.data) == [["Bar", "Park"]]
    assert loaded.data.t_end.tolist() == [4, 3]
    path = file("tid,nr,kind\na,1,Bar\na,0,Park\n")
    columns = {"traj_id": "tid", "seq": "nr", "place": "kind"}
    assert guess_kind(path, ReadOptions(columns=columns)) == "stops"
    assert records(read_stops(path, TREE, ReadOptions(columns=columns)).data) == [["Park", "Bar"]]


def test_unknown_places_are_refused_or_dropped(file) -> None:
    path = file("traj_id,t,place\na,1,Park\na,2,SECRET\nb,1,HIDDEN\nb,2,SECRET\nc,1,Bar\n")
    with pytest.raises(InputError) as caught:
        read_stops(path, TREE)
    message = str(caught.value)
    assert "column 'place' names 2 places that are not in the taxonomy in 3 rows, first at line 3." in message
    assert "--unknown-places drop" in message
    assert "SECRET" not in message
    loaded = read_stops(path, TREE, unknown_places="drop")
    assert records(loaded.data) == [["Park"], ["Bar"]]
    assert loaded.ids.to_list() == ["a", "c"]
    assert loaded.data.owner.tolist() == [0, 1]
    assert loaded.rows == 5
    assert loaded.notes[-1] == (
        "3 rows at 2 places that are not in the taxonomy were dropped, and with them 1 trajectory that had no other "
        "rows."
    )
    one = read_stops(file("traj_id,t,place\na,1,Park\na,2,x\n"), TREE, unknown_places="drop")
    assert one.notes[-1] == "1 row at 1 place that is not in the taxonomy was dropped."
    with pytest.raises(InputError, match="no row has a place that is in the taxonomy"):
        read_stops(file("traj_id,t,place\na,1,x\n"), TREE, unknown_places="drop")
    with pytest.raises(ParameterError, match="unknown_places must be one of refuse, drop"):
        read_stops(path, TREE, unknown_places="keep")  # type: ignore[arg-type]


def test_lines_are_right_after_dropping(file) -> None:
    path = file("traj_id,seq,place\n\na,1,x\na,2,Bar\na,2,Park\n")
    with pytest.raises(InputError, match="repeats a number of the same trajectory in 1 row, at line 5"):
        read_stops(path, TREE, unknown_places="drop")


def test_stops_at_inner_nodes_get_leaves(file) -> None:
    path = file("traj_id,t,place\na,1,Food\na,2,Bakery\nb,1,Food\nb,2,Place\nb,3,Park\n")
    loaded = read_stops(path, TREE)
    expected = [["Food (unspecified)", "Bakery"], ["Food (unspecified)", "Place (unspecified)", "Park"]]
    assert records(loaded.data) == expected
    assert loaded.data.taxonomy.is_leaf[loaded.data.place].all()
    assert "3 stops at 2 inner nodes of the taxonomy were put below, at 'NAME (unspecified)'." in loaded.notes
    assert len(TREE) == 6
    # Written and read again, with the taxonomy of the data or the one before, they are the same.
    out = path.with_name("again.csv")
    write_stops(loaded.data, out)
    for tree in (loaded.data.taxonomy, TREE):
        again = read_stops(out, tree).data
        assert records(again) == expected
        assert again.taxonomy.nodes == loaded.data.taxonomy.nodes
    with pytest.raises(InputError, match="names 1 place that is not in the taxonomy"):
        read_stops(file("traj_id,t,place\na,1,Bar (unspecified)\n"), TREE)


def test_one_stop_per_time_only_where_asked(file) -> None:
    path = file("traj_id,t,place\na,1,Bar\na,1,Park\na,1,Bar\na,2,Park\n")
    assert records(read_stops(path, TREE).data) == [["Bar", "Park", "Bar", "Park"]]
    first = read_stops(path, TREE, ReadOptions(on_duplicate_time="first"))
    assert records(first.data) == [["Bar", "Park"]]
    assert first.notes[-1].startswith("1 stop was dropped because the trajectory has another stop at the same time")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("traj_id,place\na,Bar\n", "the column is missing: t; .*Stops need traj_id, place, and seq or t"),
        ("traj_id,t,kind\na,1,Bar\n", "the column is missing: place; .*--columns place=kind"),
        ("tid,seq,place\na,1,Bar\n", "--columns traj_id=tid"),
        ("traj_id,t,place\na,1,\n", "column 'place' is empty in 1 row, at line 2"),
        ("traj_id,t,place\n,1,Bar\n", "column 'traj_id' is empty"),
        ("traj_id,t,place\na,,Bar\n", "column 't' is empty"),
        ("traj_id,t,place\n", "a header but no rows"),
        ("traj_id,seq,place\na,1.5,Bar\n", "column 'seq' is not a whole number"),
        ("traj_id,seq,place\na,1,Bar\na,1,Park\n", "column 'seq' repeats a number .* at line 3"),
        ("traj_id,seq,t,place\na,2,5,Bar\na,1,6,Park\n", "column 't' is earlier than at the stop before .* at line 2"),
        ("traj_id,t,t_end,place\na,5,4,Bar\n", "column 't_end' is earlier than the beginning of the stop in 1 row"),
        ("traj_id,t,t_end,place\na,5,2024-01-01,Bar\n", "column 't_end' must be of the form 'integer' like 't'"),
        ("traj_id,seq,t_end,place\na,5,4,Bar\n", "there is no column of when they began"),
        ("traj_id,user_id,t,place\na,u,1,Bar\na,v,2,Bar\n", "must be constant in a trajectory"),
    ],
)
def test_rows_that_cannot_be_stops(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_stops(file(text), TREE)


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("traj_id,seq,place", "stops"),
        ("traj_id,t,place", "stops"),
        ("traj_id,seq,t,place,t_end,user_id", "stops"),
        ("traj_id,seq,road,t", "routes"),
    ],
)
def test_columns_tell(file, header: str, kind: str) -> None:
    assert guess_kind(file(header + "\n")) == kind


def test_columns_that_fit_several_kinds(file) -> None:
    with pytest.raises(InputError, match="fit both points and stops; say which with --kind points or --kind stops"):
        guess_kind(file("traj_id,t,lon,lat,place\n"))
    with pytest.raises(InputError, match=r"nor stops \(traj_id, seq or t, place\).*for stops --columns place=venue"):
        guess_kind(file("traj_id,seq,venue\n"))
    with pytest.raises(InputError, match="missing: t;"):
        guess_kind(file("traj_id,kind\n"), ReadOptions(columns={"place": "kind"}))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("time_format", ["integer", "epoch", "utc", "local"])
def test_what_is_written_is_read_back(tmp_path: Path, suffix: str, time_format: str) -> None:
    unit = 1 if time_format in ("integer", "epoch") else 10**6
    start = 1_700_000_000 * unit if time_format != "integer" else 3
    times = [[(start, start + 5 * unit), (start, start)], [], [(start + 7, start + 7)]]
    made = Stops.from_records(
        [["Bar", "Bakery"], [], ["Clinic"]], taxonomy=TREE, times=times, owner=[4, 4, 9], time_format=time_format
    )
    data = Stops(
        **{name: getattr(made, name) for name in ("offsets", "place", "t", "t_end", "taxonomy", "owner", "owners")},
        time_format=time_format,  # type: ignore[arg-type]
        attributes={"age": Coded.from_values(["30", None, None])},
    )
    path = tmp_path / f"out{suffix}"
    write_stops(data, path, ids=["x", "y", "z"])
    loaded = read_stops(path, TREE)
    back = loaded.data
    assert loaded.ids.to_list() == ["x", "z"]
    assert records(back) == [["Bar", "Bakery"], ["Clinic"]]
    assert (back.t.tolist(), back.t_end.tolist()) == (data.t.tolist(), data.t_end.tolist())
    assert (back.time_format, back.owner.tolist()) == (time_format, [0, 1])
    assert back.attributes["age"].values() == ["30", None]


def test_writing_refuses_what_cannot_be_read(tmp_path: Path) -> None:
    data = Stops.from_records([["Bar"]], taxonomy=TREE)
    with pytest.raises(OutputError, match="one id for each"):
        write_stops(data, tmp_path / "out.csv", ids=[])
    named = Stops(
        **{name: getattr(data, name) for name in ("offsets", "place", "t", "t_end", "taxonomy", "owner")},
        attributes={"t_end": Coded.from_values(["x"])},
    )
    with pytest.raises(OutputError, match="cannot be called t_end"):
        write_stops(named, tmp_path / "out.csv")


def test_parquet_with_categories(tmp_path: Path) -> None:
    path = tmp_path / "stops.parquet"
    frame = pl.DataFrame({"traj_id": [1, 1], "seq": [1.0, 0.0], "place": ["Bar", "Park"]})
    frame.with_columns(pl.col("place").cast(pl.Categorical)).write_parquet(path)
    assert records(read_stops(path, TREE).data) == [["Park", "Bar"]]


@pytest.mark.skipif(not (DATA / "foursquare_nyc").exists(), reason="the data are not here")
def test_check_ins_of_new_york() -> None:
    tree = read_taxonomy(
        DATA / "taxonomies" / "foursquare_categories.json",
        sensitive_nodes=["Medical Center", "Spiritual Center", "Nightlife Spot"],
    )
    folder = DATA / "foursquare_nyc"
    columns = {"traj_id": "tid", "t": "date_time", "place": "type"}
    loaded = read_stops(folder / "Foursquare_Sample.csv.gz", tree, ReadOptions(columns=columns), unknown_places="drop")
    assert (len(loaded.data), loaded.data.n_rows, loaded.rows) == (3079, 66_896, 66_962)
    assert loaded.data.taxonomy.is_leaf[loaded.data.place].all()
    who = {"traj_id": "tid", "user_id": "label"}
    named = name_owners(loaded, [folder / f"specific_{part}.csv.gz" for part in ("train", "test")], who)
    assert named.data.n_owners == 193
    assert np.array_equal(named.data.place, loaded.data.place)
