"""Columns in normal form, and values that are alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.io import (
    ReadOptions,
    from_polars,
    gather_piece,
    mark_known,
    name_owners,
    open_spans,
    read_groups,
    read_network,
    read_points,
    read_routes,
    read_stops,
    read_taxonomy,
    read_visits,
    scatter_span,
)
from wayveil.io.scatter import make_piece_folders
from wayveil.io.tabular.normal_columns import merge_codes, normal_column, similar_count, similar_keys, text_column
from wayveil.methods import Gsup, Kcl
from wayveil.model.normal import normal_text, similar_key
from wayveil.recipe.recipe import make_input

TEXTS = st.text(st.sampled_from("aA1.0-+ é\u0301\u200b\tü_"), max_size=5) | st.text(max_size=5)


@given(st.lists(TEXTS | st.none(), max_size=8))
def test_a_column_is_that_of_its_values(texts):
    column, changed = normal_column(pl.Series(texts, dtype=pl.String))
    assert column.to_list() == [None if text is None else normal_text(text) or None for text in texts]
    assert changed == sum(text is not None and normal_text(text) != text for text in texts)


@given(st.lists(TEXTS.map(normal_text).filter(bool), max_size=8, unique=True))
def test_keys_of_a_column_are_those_of_its_values(texts):
    assert similar_keys(pl.Series(texts, dtype=pl.String)).to_list() == [similar_key(text) for text in texts]


def test_what_is_in_normal_form_is_not_copied():
    column = pl.Series(["u1", "Main Station", "007", None])
    assert normal_column(column)[0] is column


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_negative_zero_and_nan_in_a_column_of_numbers(dtype):
    text, _ = text_column(pl.Series([-0.0, 0.0, float("nan"), 1.5], dtype=dtype))
    assert text.to_list() == ["0.0", "0.0", None, "1.5"]


def test_groups_are_counted_and_merged_in_the_order_of_the_file():
    values = pl.Series(["b", "u1", "U1", "c", "B", "1", "01"])
    assert similar_count(values) == 6
    codes, stay = merge_codes(values)
    assert codes.tolist() == [0, 1, 1, 2, 0, 3, 3]
    assert stay.tolist() == [0, 1, 3, 5]


ODD = ["u1 ", "\ufeffu1", "u\u00ad1", "\u200bu1\u00a0"]
ACCENT = "Cafe\u0301"


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("column", ["traj_id", "user_id", "location", "ill"])
def test_spellings_of_one_value_are_one_in_every_column_of_visits(tmp_path, odd, column):
    names = ("traj_id", "user_id", "t", "location", "ill")
    rows = [dict(zip(names, ("u1", "u1", t, "u1", "u1"), strict=True)) for t in ("1", "2")]
    rows[1][column] = odd
    lines = [",".join(names), *(",".join(row.values()) for row in rows)]
    loaded = read_visits(write(tmp_path, "in.csv", "\n".join(lines)))
    assert (loaded.ids.to_list(), loaded.data.locations, loaded.data.n_owners) == (["u1"], ("u1",), 1)
    assert loaded.data.attributes["ill"].labels == ("u1",)
    assert [note for note in loaded.notes if "normal form" in note] == [
        f"Column '{column}': 1 value was brought to the normal form (NFC, without white space at the ends and "
        "invisible characters)."
    ]


def test_a_part_of_an_id_is_in_normal_form_too(tmp_path):
    file = write(tmp_path, "in.csv", "traj_id,who,t,location\na,ann 1,1,x\nb,ann2,1,x\n")
    assert read_visits(file, ReadOptions(columns={"user_id": "who[:-1]"})).data.n_owners == 1


def test_names_of_columns_are_in_normal_form_in_the_file_and_in_the_options(tmp_path):
    file = write(tmp_path, "in.csv", f"traj_id,{ACCENT},t\u200b,location\na,ann,1,x\n")
    for name in (ACCENT, "Caf\u00e9", " Caf\u00e9 "):
        assert read_visits(file, ReadOptions(columns={"user_id": name})).data.n_owners == 1


def test_blank_ids_are_missing(tmp_path):
    file = write(tmp_path, "in.csv", "traj_id,user_id,t,location\na,\u200b,1,x\n")
    with pytest.raises(InputError, match="column 'user_id' is empty in 1 row, at line 2"):
        read_visits(file)


def test_negative_zeros_are_zeros(tmp_path):
    file = write(tmp_path, "in.csv", "traj_id,user_id,t,x,y\n-0.0,7,1,-0.0,500\n0.0,7,2,0.0,-0.0\n")
    data = read_points(file).data
    assert len(data) == 1
    assert not np.signbit([*data.x, *data.y]).any()
    frame = pl.DataFrame({"traj_id": [-0.0, 0.0], "user_id": [1, 1], "t": [1, 2], "location": ["x", "y"]})
    assert len(from_polars(frame)) == 1


def test_routes_stops_and_the_tables_beside_them(tmp_path):
    roads = write(tmp_path, "roads.csv", f"road,from_node,to_node\n{ACCENT},a ,b\nbc,b\u200b,c\n")
    network = read_network(roads)
    assert (network.roads, network.nodes) == (("Caf\u00e9", "bc"), ("a", "b", "c"))
    trips = write(tmp_path, "trips.csv", "traj_id,user_id,seq,road\nx,ann,1, Caf\u00e9\nx,ann,2,bc\u200b\n")
    assert read_routes(trips, network).data.record(0) == ["Caf\u00e9", "bc"]
    tree = write(tmp_path, "tree.csv", f"node,parent,sensitive\nPlace,,\n{ACCENT},Place\u00a0,\nBar ,Place,\n")
    taxonomy = read_taxonomy(tree, sensitive_nodes=["Bar\u200b"])
    assert (taxonomy.nodes, taxonomy.sensitive.tolist()) == (("Place", "Bar", "Caf\u00e9"), [False, True, False])
    stops = write(tmp_path, "stops.csv", f"traj_id,user_id,t,place\nx,ann,1,{ACCENT} \nx,ann,2,\u200bBar\n")
    assert read_stops(stops, taxonomy).data.record(0) == ["Caf\u00e9", "Bar"]
    nested = write(tmp_path, "tree.json", f'[{{"name": "{ACCENT} "}}, {{"name": "Bar\u200b"}}]')
    assert set(read_taxonomy(nested).nodes) == {"Place", "Caf\u00e9", "Bar"}
    keys = write(tmp_path, "keys.txt", f"shop /{ACCENT}\u200b\n")
    assert read_taxonomy(keys).nodes == ("Place", "shop", "shop /Caf\u00e9")
    groups = write(tmp_path, "groups.csv", "location,adversary\na1 ,shop\na2,\u200bshop\n")
    assert read_groups(groups) == {"shop": ["a1", "a2"]}
    graph = '<graphml><graph edgedefault="directed"><node id="a "/><node id="b"/><edge id="e " source="a" target="b "/>'
    drawn = read_network(write(tmp_path, "g.graphml", graph + "</graph></graphml>"))
    assert (drawn.roads, drawn.nodes) == (("e",), ("a", "b"))
    write(tmp_path, "n.cnode.txt", "1\u200b 0 0\n2 0 5\n")
    write(tmp_path, "n.cedge.txt", "e\u200b 1 2 5\n")
    assert read_network(tmp_path / "n").roads == ("e", "e-back")


def test_owners_and_known_positions_of_other_tables(tmp_path):
    points = write(tmp_path, "in.csv", "traj_id,t,x,y\na,1,0,500\nb\u200b,1,0,500\n")
    loaded = read_points(points, ReadOptions(owners="elsewhere"))
    who = write(tmp_path, "who.csv", "traj_id,user_id\na ,u1\nb,u1\u00a0\n")
    assert name_owners(loaded, [who]).data.n_owners == 1
    known = write(tmp_path, "known.csv", "traj_id,t\n b,1\n")
    assert mark_known(loaded, known).data.known.tolist() == [False, True]


def test_values_that_recipes_name_are_in_normal_form():
    assert Kcl(k=2, c=1, l=1, sensitive={"ill ": ["HIV\u200b", ACCENT]}).sensitive == (("ill", ("Caf\u00e9", "HIV")),)
    assert Gsup(adversaries={"shop": ["a1 ", "a2"]}).adversaries == (("shop", ("a1", "a2")),)
    for wrong in ({"ill": [" "]}, {"\u200b": ["HIV"]}, {"ill": ["HIV"], "ill ": ["flu"]}):
        with pytest.raises(ParameterError):
            Kcl(k=2, c=1, l=1, sensitive=wrong)
    spec = make_input({"path": "a.csv", "columns": {"user_id": ACCENT}, "sensitive_nodes": ["Bar "]})
    assert (spec.columns, spec.sensitive_nodes) == ({"user_id": "Caf\u00e9"}, ("Bar",))


def test_pieces_keep_everybody_whole_whatever_the_spelling(tmp_path):
    people = [f"{name}{end}" for name in range(40) for end in ("", " ", "\u200b")]
    lines = [f"t{i},{who},{i},x" for i, who in enumerate(people)]
    file = write(tmp_path, "in.csv", "\n".join(["traj_id,user_id,t,location", *lines]) + "\n")
    spans = open_spans(file, "visits", ReadOptions(), rows=20, scratch=tmp_path / "scratch")
    make_piece_folders(tmp_path / "raw", 6)
    for number in range(len(spans.spans)):
        scatter_span(spans, number, pieces=6, secret=5, folder=tmp_path / "raw")
    found = [read_visits(gather_piece(spans, piece, tmp_path / "raw")).data for piece in range(6)]
    assert sum(data.n_owners for data in found) == 40
    assert sum(len(data) for data in found) == 120
