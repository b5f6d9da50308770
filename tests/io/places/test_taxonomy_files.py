"""Taxonomies from tables, nested JSON and keys, and back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA

from wayveil.errors import InputError, OutputError
from wayveil.io.places.taxonomy_files import (
    in_tree_order,
    read_published_taxonomy,
    read_taxonomy,
    with_own_leaves,
    write_taxonomy,
)
from wayveil.model import Taxonomy
from wayveil.model.normal import normal_text

TABLE = "node,parent,sensitive\nPlace,,\nHealth,Place,1\nClinic,Health,0\nPark,Place,no\nZoo,Park,\n"


def edges(tree: Taxonomy) -> dict[str, str]:
    """Every node with the name of its parent."""
    pairs = zip(tree.nodes, tree.parent.tolist(), strict=True)
    return {name: "" if above < 0 else tree.nodes[above] for name, above in pairs}


def sensitive(tree: Taxonomy) -> set[str]:
    return {name for name, said in zip(tree.nodes, tree.sensitive.tolist(), strict=True) if said}


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str | bytes, name: str = "tree.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_a_table_in_any_order(file) -> None:
    tree = read_taxonomy(file("parent,more,node\nPark,x,Zoo\n,x,Place\nPlace,x,Park\nPlace,x,Bar\n"))
    assert edges(tree) == {"Place": "", "Bar": "Place", "Park": "Place", "Zoo": "Park"}
    assert tree.nodes == ("Place", "Bar", "Park", "Zoo")
    assert not sensitive(tree)
    assert read_taxonomy(file("node;parent\nP;\n")).nodes == ("P",)
    packed = gzip.compress(TABLE.encode())
    assert edges(read_taxonomy(file(packed, "tree.csv.gz"))) == edges(read_taxonomy(file(TABLE)))


def test_labels_are_inherited_and_added_by_name(file) -> None:
    assert sensitive(read_taxonomy(file(TABLE))) == {"Health", "Clinic"}
    assert sensitive(read_taxonomy(file(TABLE), sensitive_nodes=["Park"])) == {"Health", "Clinic", "Park", "Zoo"}
    with pytest.raises(InputError, match=r"no node 'Prak' to label as sensitive\. Did you mean 'Park'\?"):
        read_taxonomy(file(TABLE), sensitive_nodes=["Zoo", "Prak"])
    with pytest.raises(InputError, match="'Place' is the root of the taxonomy and cannot be sensitive"):
        read_taxonomy(file(TABLE), sensitive_nodes=["Place"])


@pytest.mark.parametrize("word", ["1", "true", "YES", " yes ", "1.0"])
@pytest.mark.parametrize("other", ["0", "False", "no", "", "0.0", " "])
def test_words_for_sensitive(file, word: str, other: str) -> None:
    tree = read_taxonomy(file(f"node,parent,sensitive\nP,,{other}\na,P,{word}\nb,P,{other}\n"))
    assert sensitive(tree) == {"a"}


@pytest.mark.parametrize("values", [[None, True, False], [0, 1, 0], [0.0, 1.0, None], ["", "yes", None]])
def test_parquet_types_for_sensitive(tmp_path: Path, values: list) -> None:
    path = tmp_path / "tree.parquet"
    pl.DataFrame({"node": ["P", "a", "b"], "parent": [None, "P", "P"], "sensitive": values}).write_parquet(path)
    assert sensitive(read_taxonomy(path)) == {"a"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("node,parent\na,\nb,a\nc,\n", "has 2 roots, the first two 'a' at line 2 and 'c' at line 4"),
        ("node,parent\na,b\nb,a\n", "has no root"),
        ("node,parent\nr,\na,c\nx,a\nb,a\nc,b\n", "a cycle of 3 nodes: 'a' at line 3 is below itself"),
        ("node,parent\nr,\na,a\n", "a cycle of 1 node: 'a' at line 3"),
        ("node,parent\nr,\na,q\nb,q\n", r"the parent 'q' of 'a' at line 3 is not a node \(1 more like it\)"),
        ("node,parent\nr,\na,r\na,r\n", "the node 'a' comes twice, the second time at line 4;"),
        ("node,parent\nr,\n,r\n", "column 'node' is empty in 1 row, at line 3"),
        ("node,parent\nr,\n  ,r\n", "column 'node' is empty in 1 row, at line 3"),
        ("node,parent,sensitive\nr,,\na,r,maybe\n", "column 'sensitive' is neither yes nor no in 1 row, at line 3"),
        ("node,parent,sensitive\na,r,\nr,,yes\n", "the root 'r' at line 3 is sensitive"),
        ("node,above\nr,\n", "'parent' is missing; the file has 'node', 'above'"),
        ("node,parent\n", "a header but no nodes"),
        ("", "the file is empty"),
    ],
)
def test_tables_that_are_no_tree(file, text: str, words: str) -> None:
    path = file(text)
    with pytest.raises(InputError, match=words) as caught:
        read_taxonomy(path)
    assert str(caught.value).startswith(str(path))


def test_nested_json(file) -> None:
    one = {"name": "All", "children": [{"name": "Bar"}, {"name": "Park", "sensitive": True, "children": ["Zoo"]}]}
    tree = read_taxonomy(file(json.dumps(one), "tree.json"))
    assert edges(tree) == {"All": "", "Bar": "All", "Park": "All", "Zoo": "Park"}
    assert sensitive(tree) == {"Park", "Zoo"}
    several = [{"name": "Food", "categories": [{"name": "Bar", "categories": []}]}, {"name": "Park"}]
    for text in (several, {"categories": several}):
        tree = read_taxonomy(file(gzip.compress(json.dumps(text).encode()), "tree.json.gz"), sensitive_nodes=["Food"])
        assert edges(tree) == {"Place": "", "Food": "Place", "Bar": "Food", "Park": "Place"}
        assert sensitive(tree) == {"Food", "Bar"}


def test_names_that_repeat_get_the_names_above(file) -> None:
    def node(name: str, *below: dict) -> dict:
        return {"name": name, "children": list(below)}

    found = [
        node("Hotel", node("Bar", node("Deck")), node("Bar (Club)")),
        node("Club", node("Bar", node("Deck")), node("Pool")),
        node("Bar"),
        node("Place"),
    ]
    tree = read_taxonomy(file(json.dumps(found), "tree.json"))
    # The added root is called Place, and "Bar (Club)" is the name of another node already.
    assert edges(tree) == {
        "Place": "",
        "Place (Place)": "Place",
        "Bar (Place)": "Place",
        "Hotel": "Place",
        "Club": "Place",
        "Pool": "Club",
        "Bar (Hotel)": "Hotel",
        "Bar (Club) (Hotel)": "Hotel",
        "Bar (Club, Place)": "Club",
        "Deck (Bar, Hotel)": "Bar (Hotel)",
        "Deck (Bar, Club)": "Bar (Club, Place)",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"name": "a"}, {"name": "a"}]', r"the node 'a \(Place\)' comes twice at the same place"),
        ('{"name": "a", "children": [{"id": 1}]}', "below 'a' is a node without a name"),
        ('[{"name": " "}]', "at the top is a node without a name"),
        ('{"name": "a", "sensitive": "maybe"}', "'sensitive' of the node 'a' must be true or false"),
        ('{"name": "a", "sensitive": true}', "the root 'a' is sensitive"),
        ('{"response": {"categories": []}}', "has nodes below it but no 'name'"),
        ("[]", "holds no nodes"),
        ("{}", "there are no keys"),
        ("3", "holds no taxonomy"),
        ('{"a": 1,\n "b"', "not valid JSON from line 2"),
        ('{"a": 1, "a": 2}', "first 'a', comes twice"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", r"not UTF-8 at line 1 \(byte 1\)"),
        (b"\x1f\x8bxx", "the gzip file is damaged"),
        ("", "the file is empty"),
    ],
)
def test_json_that_is_no_tree(file, text: str | bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_taxonomy(file(text, "tree.json"))


def test_keys(file) -> None:
    expected = {"Place": "", "shop": "Place", "shop/toys": "shop", "shop/toys/trains": "shop/toys", "man": "Place"}
    keyed = {"@templates/poi": {}, "shop/toys/trains": {}, "shop": {}, "man": {"fields": []}}
    assert edges(read_taxonomy(file(json.dumps(keyed), "keys.json"))) == expected
    assert edges(read_taxonomy(file(json.dumps(list(keyed)), "keys.json"))) == expected
    assert edges(read_taxonomy(file("shop/toys/trains\r\n\n@x\n man \nshop\n", "keys.txt"))) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a/b\n\na/b\n", "the node 'a/b' comes twice, the second time at line 3"),
        ("a//b\n", "the key 'a//b' at line 1 has an empty name"),
        ("Place/b\n", "is called like the root"),
        ("@a\n", "there are no keys"),
    ],
)
def test_keys_that_are_no_tree(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_taxonomy(file(text, "keys.txt"))


def test_other_files(tmp_path: Path, file) -> None:
    with pytest.raises(InputError, match="told by the suffix"):
        read_taxonomy(file("a", "tree.xml"))
    for name in ("none.csv", "none.json", "none.txt"):
        with pytest.raises(InputError, match="no such file"):
            read_taxonomy(tmp_path / name)


@st.composite
def trees(draw: st.DrawFn) -> Taxonomy:
    n = draw(st.integers(1, 12))
    names = draw(st.lists(st.text("abc,\" '\né", min_size=1, max_size=4), min_size=n, max_size=n, unique=True))
    parent = np.array([-1] + [draw(st.integers(0, i - 1)) for i in range(1, n)])
    order = np.array(draw(st.permutations(range(n))))
    rank = np.argsort(order)
    labels = np.array([False] + [draw(st.booleans()) for _ in range(1, n)])
    above = parent[order]
    return Taxonomy(
        nodes=tuple(names[i] for i in order),
        parent=np.where(above < 0, -1, rank[above]),
        sensitive=labels[order],
    )


def preorder(tree: Taxonomy) -> list[str]:
    """Every node before those below it, children by name: from the definition."""
    above = edges(tree)

    def go(name: str) -> list[str]:
        below = sorted(child for child in above if above[child] == name)
        return [name, *(node for child in below for node in go(child))]

    return go(tree.nodes[tree.root])


@settings(deadline=None, max_examples=40)
@given(trees(), st.sampled_from([".csv", ".parquet"]))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, tree: Taxonomy, suffix: str) -> None:
    ordered = in_tree_order(tree)
    assert list(ordered.nodes) == preorder(tree)
    assert (edges(ordered), sensitive(ordered)) == (edges(tree), sensitive(tree))
    path = tmp_path_factory.mktemp("tree") / f"tree{suffix}"
    write_taxonomy(tree, path)
    if any(not normal_text(name) for name in tree.nodes):
        return
    if any(normal_text(name) != name for name in tree.nodes):
        with pytest.raises(InputError, match="not in normal form"):
            read_published_taxonomy(path)
        return
    back = read_published_taxonomy(path)
    assert back.nodes == ordered.nodes
    assert back.parent.tolist() == ordered.parent.tolist()
    assert back.sensitive.tolist() == ordered.sensitive.tolist()
    bytes_ = path.read_bytes()
    write_taxonomy(ordered, path)
    assert path.read_bytes() == bytes_
    assert read_taxonomy(path).nodes == ordered.nodes


def test_the_written_table(tmp_path: Path, file) -> None:
    write_taxonomy(read_taxonomy(file(TABLE)), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (
        "node,parent,sensitive\nPlace,,false\nHealth,Place,true\nClinic,Health,true\nPark,Place,false\nZoo,Park,false\n"
    )
    with pytest.raises(OutputError, match="suffix"):
        write_taxonomy(read_taxonomy(file(TABLE)), tmp_path / "out.json")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("node,parent,sensitive\nP,,false\nb,P,false\na,P,false\n", "the rows are not in the order of the tree"),
        ("node,parent,sensitive\nP,,false\na,P,true\nb,a,false\n", "below a sensitive one is not labelled"),
        ("node,parent,sensitive\nP,,false\na,P,1\n", "'sensitive' must be true or false"),
        ("node,parent,sensitive\nP,,false\na,P,\n", "'sensitive' must be true or false"),
        ("node,parent,sensitive\nP,,false\n\na,P,true\n", "'sensitive' must be true or false"),
        ("node,parent\nP,\n", "the columns must be 'node', 'parent', 'sensitive'"),
        ("node,sensitive,parent\nP,false,\n", "the columns must be"),
        ("node,parent,sensitive\nP,,false\na,q,false\n", "is not a node"),
    ],
)
def test_published_taxonomies_are_read_strictly(file, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_published_taxonomy(file(text))


def test_published_types_are_those_written(tmp_path: Path) -> None:
    path = tmp_path / "tree.parquet"
    pl.DataFrame({"node": ["P"], "parent": [""], "sensitive": [0]}).write_parquet(path)
    with pytest.raises(InputError, match="the type of a column is not the one written"):
        read_published_taxonomy(path)


def test_own_leaves() -> None:
    tree = Taxonomy.from_parents(
        [("P", ""), ("a", "P"), ("b", "a"), ("c", "P"), ("c (unspecified)", "c")], sensitive=["a"]
    )
    more = with_own_leaves(tree, ["a", "c", "P", "a"])
    assert edges(more) == edges(tree) | {"a (unspecified)": "a", "P (unspecified)": "P"}
    assert sensitive(more) == {"a", "b", "a (unspecified)"}
    assert with_own_leaves(tree, ["c"]) is tree
    for taken in ([("a (unspecified)", "P")], [("a (unspecified)", "a"), ("x", "a (unspecified)")]):
        clash = Taxonomy.from_parents([("P", ""), ("a", "P"), ("b", "a"), *taken])
        with pytest.raises(InputError, match=r"has a node 'a \(unspecified\)'"):
            with_own_leaves(clash, ["a"])


@pytest.mark.skipif(not (DATA / "taxonomies").exists(), reason="the data are not here")
def test_public_taxonomies() -> None:
    medical = "Medical Center"
    tree = read_taxonomy(DATA / "taxonomies" / "foursquare_categories.json", sensitive_nodes=[medical])
    assert (len(tree), tree.height, tree.nodes[tree.root]) == (971, 5, "Place")
    assert {"Hospital", "Dentist's Office"} <= sensitive(tree)
    tree = read_taxonomy(DATA / "taxonomies" / "osm_id_tagging_presets.json.gz")
    assert edges(tree)["amenity/restaurant/pizza"] == "amenity/restaurant"
    assert not any(name.startswith("@") for name in tree.nodes)
