"""Publications of stops: what is written, and that nothing else is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, OutputError
from wayveil.io.places.taxonomy_files import in_tree_order, read_published_taxonomy, write_taxonomy
from wayveil.io.publish.layouts import as_published
from wayveil.io.publish.published import read_published, write_published
from wayveil.io.publish.published_rows import pattern_of
from wayveil.model import Coded, Stops, Taxonomy

TREE = in_tree_order(
    Taxonomy.from_parents(
        [("Place", ""), ("Food", "Place"), ("Bakery", "Food"), ("Café, old", "Food"), ("Clinic", "Place")],
        sensitive=["Clinic"],
    )
)
DATA = Stops.from_records(
    [["Food", "Clinic"], [], ["Bakery", "Bakery", "Place"]],
    taxonomy=TREE,
    times=[[(1, 5), (6, 7)], [], [(0, 2), (2, 2), (3, 9)]],
    owner=[7, 7, 3],
)


def read(path: Path, **more: object) -> Stops:
    known: dict = {"time_format": "integer", "attributes": (), "owners": "hidden", "taxonomy": TREE, **more}
    found = read_published(path, kind="stops", **known).data
    assert isinstance(found, Stops)
    return found


def columns(data: Stops) -> tuple:
    return data.offsets.tolist(), data.place.tolist(), data.t.tolist(), data.t_end.tolist(), data.time_format


@st.composite
def stops(draw: st.DrawFn) -> Stops:
    names = st.sampled_from(TREE.nodes)
    made = Stops.from_records(draw(st.lists(st.lists(names, max_size=4), max_size=5)), taxonomy=TREE)
    t = np.sort(draw(st.lists(st.integers(0, 99), min_size=made.n_rows, max_size=made.n_rows)))
    ill = draw(st.lists(st.sampled_from(["yes", "no", None]), min_size=len(made), max_size=len(made)))
    time_format = draw(st.sampled_from(["integer", "epoch", "utc", "local"]))
    return replace(made, t=t, t_end=t + 3, attributes={"ill": Coded.from_values(ill)}, time_format=time_format)


@settings(deadline=None, max_examples=40)
@given(stops(), st.sampled_from([".csv", ".parquet"]))
def test_read_back_it_is_as_published(tmp_path_factory: pytest.TempPathFactory, data: Stops, suffix: str) -> None:
    path = tmp_path_factory.mktemp("out") / f"published{suffix}"
    source = write_published(data, path, key=bytes([1]) * 32)
    back = read(path, time_format=data.time_format, attributes=("ill",))
    expected = as_published(data).take(source)
    assert columns(back) == columns(expected)
    assert back.attributes["ill"].values() == expected.attributes["ill"].values()
    assert not back.t.any()
    assert back.owners == "hidden"
    assert sorted(source.tolist()) == np.flatnonzero(np.diff(data.offsets)).tolist()


def test_the_table_has_no_times_and_no_owners(tmp_path: Path) -> None:
    path = tmp_path / "published.parquet"
    source = write_published(DATA, path, key=bytes([1]) * 32)
    frame = pl.read_parquet(path)
    assert frame.schema == {"traj_id": pl.String, "seq": pl.Int64, "place": pl.String}
    texts = [["Food", "Clinic"], [], ["Bakery", "Bakery", "Place"]]
    assert frame["place"].to_list() == [name for i in source.tolist() for name in texts[i]]
    assert b"Caf" not in path.read_bytes()
    assert pattern_of(DATA) is None
    assert as_published(DATA).taxonomy is TREE
    with pytest.raises(OutputError, match="told by the suffix"):
        write_published(DATA, tmp_path / "a.geojson", key=bytes([1]) * 32)


def test_with_the_published_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    source = write_published(DATA, path, key=bytes([3]) * 32)
    write_taxonomy(TREE, tmp_path / "taxonomy.csv")
    back = read(path, taxonomy=read_published_taxonomy(tmp_path / "taxonomy.csv"))
    assert columns(back) == columns(as_published(DATA).take(source))


A, B = "0" * 16, "1" * 16


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"traj_id,seq,place\n{A},0,Food\n{A},1,SECRET\n", "a place is not in the taxonomy in 1 row, at line 3"),
        (f"traj_id,seq,place\n{A},0,\n", "a place is not in the taxonomy"),
        (f"traj_id,seq,place\n{A},1,Food\n", "seq does not count"),
        (f"traj_id,seq,place\n{A},0,Food\n{A},2,Food\n", "seq does not count"),
        (f"traj_id,seq,place\n{B},0,Food\n{A},0,Food\n", "not in ascending order"),
        (f"traj_id,seq,place\n{A}x,0,Food\n", "not 16 hexadecimal digits"),
        (f"traj_id,place,seq\n{A},Food,0\n", "the columns must be 'traj_id', 'seq', 'place'"),
        (f"traj_id,seq,place,t\n{A},0,Food,1\n", "the columns must be"),
        (f"traj_id,seq,place\n{A},0,Food\n\n", "1 empty rows"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "published.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read(path)
    assert "SECRET" not in str(caught.value)


def test_types_are_those_written(tmp_path: Path) -> None:
    path = tmp_path / "published.parquet"
    frame = pl.DataFrame({"traj_id": [A], "seq": [0], "place": ["Food"]})
    frame.write_parquet(path)
    assert read(path).record(0) == ["Food"]
    frame.with_columns(pl.col("place").cast(pl.Categorical)).write_parquet(path)
    with pytest.raises(InputError, match="the type of column 'place'"):
        read(path)


def test_the_taxonomy_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only with their taxonomy"):
        read(tmp_path / "published.csv", taxonomy=None)
