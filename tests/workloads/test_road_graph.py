"""Road networks: the files and what can be wrong with them, the generated one, and the fastest ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.workloads.road_graph import ROAD_SPEEDS_M_S, RoadGraph, generated_graph, read_graph, ways_to

NODES = "10 0 0\n20 30 0\n7 30 40\n\n99 500 500\n98 500 501\n"
EDGES = "0 10 20 30\n1 20 7 40.5\n2 7 20 90\n3 10 7 1000\n4 99 98 1\n5 10 10 3\n"


def write(folder: Path, nodes: str = NODES, edges: str = EDGES) -> str:
    (folder / "N.cnode.txt").write_text(nodes, encoding="utf-8")
    (folder / "N.cedge.txt").write_text(edges, encoding="utf-8")
    return str(folder / "N")


def square(road_class: tuple[int, ...] = (2, 2, 2, 2)) -> RoadGraph:
    """Four nodes: a way of three short roads from 0 to 3, and a direct road that is as long."""
    return RoadGraph(
        x=np.array([0.0, 100.0, 100.0, 0.0]),
        y=np.array([0.0, 0.0, 100.0, 100.0]),
        start=np.array([0, 1, 2, 0]),
        end=np.array([1, 2, 3, 3]),
        length_m=np.array([100.0, 100.0, 100.0, 310.0]),
        road_class=np.array(road_class),
    )


def test_the_largest_piece_of_a_file_is_read(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path))
    assert (graph.x.tolist(), graph.y.tolist()) == ([0.0, 30.0, 30.0], [0.0, 0.0, 40.0])
    roads = zip(graph.start.tolist(), graph.end.tolist(), graph.length_m.tolist(), strict=True)
    assert list(roads) == [(0, 1, 30.0), (1, 2, 40.5), (2, 1, 90.0), (0, 2, 1000.0)]


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("", EDGES, "N.cnode.txt' of the road network is empty"),
        (NODES, "\n \n", "N.cedge.txt' of the road network is empty"),
        ("1 2\n", EDGES, "line 1 of .*N.cnode.txt' must have 3 numbers: id x y"),
        (NODES, "0 10 20 30\n\n1 20 7 x\n", "line 3 of .*N.cedge.txt' must have 4 numbers: id start end length"),
        ("1 nan 2\n", EDGES, "line 1 of"),
        (NODES + "10 1 1\n", EDGES, "two nodes of the network .* have the same id"),
        (NODES, EDGES + "6 10 11 5\n7 999 10 5\n", "2 roads of the network .* begin or end at unknown nodes"),
        (NODES, EDGES + "6 10 7 -5\n", "negative length"),
        (NODES, "0 10 10 4\n", "no road between two nodes"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, nodes: str, edges: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_graph(write(tmp_path, nodes, edges))


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"N\.cnode\.txt' .* missing or broken: there is no such file\. Give the"):
        read_graph(str(tmp_path / "N"))
    write(tmp_path)
    (tmp_path / "N.cedge.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"N\.cedge\.txt' .* it cannot be read as text"):
        read_graph(str(tmp_path / "N"))
    with pytest.raises(InputError, match="missing or broken"):
        read_graph("a\0b")


def test_roads_that_many_ways_use_are_main_roads(tmp_path: Path) -> None:
    """Two stars of 20 ends, joined by one road: that one is on every way between the stars."""
    ends = range(2, 42)
    nodes = "0 0 0\n1 1000 0\n" + "".join(f"{i} {1000 * (i % 2)} {i}\n" for i in ends)
    edges = "".join(f"{i} {i} {i % 2} {i}\n" for i in ends) + "1 0 1 1000\n"
    graph = read_graph(write(tmp_path, nodes, edges))
    assert graph.road_class[-1] == 0
    assert np.bincount(graph.road_class).tolist() == [3, 6, 32]


def test_classes_follow_the_number_of_ways_in_a_tree(tmp_path: Path) -> None:
    """In a tree a road is on the ways between the nodes on its two sides, whichever way it is written."""
    rng = np.random.default_rng(3)
    parent = [int(rng.integers(max(0, i - 4), i)) for i in range(1, 60)]
    nodes = "".join(f"{i} {rng.random()} {rng.random()}\n" for i in range(60))
    pairs = [(i, p) if rng.random() < 0.5 else (p, i) for i, p in enumerate(parent, 1)]
    graph = read_graph(write(tmp_path, nodes, "".join(f"0 {a} {b} {rng.random()}\n" for a, b in pairs)))
    below = np.ones(60, np.int64)
    for child in range(59, 0, -1):
        below[parent[child - 1]] += below[child]
    ways = below[1:] * (60 - below[1:])
    assert np.bincount(graph.road_class).tolist() == [3, 9, 47]
    assert ways[graph.road_class == 0].min() >= ways[graph.road_class == 1].max()
    assert ways[graph.road_class == 1].min() >= ways[graph.road_class == 2].max()


def test_the_generated_network_is_planar_connected_and_always_the_same() -> None:
    graph, again = generated_graph(), generated_graph()
    assert graph.x.tolist() == again.x.tolist()
    assert graph.start.tolist() == again.start.tolist()
    assert 3000 <= len(graph) <= 3600
    main, collecting, local = np.bincount(graph.road_class).tolist()
    assert (main, collecting) == (5 * 2 * 59, 10 * 2 * 59)
    assert 0.7 < local / (45 * 2 * 59) < 0.8
    assert np.isfinite(ways_to(graph, np.array([0]), top_speed_m_s=10.0).left_s).all()
    straight = np.hypot(graph.x[graph.start] - graph.x[graph.end], graph.y[graph.start] - graph.y[graph.end])
    np.testing.assert_array_equal(graph.length_m, straight)
    assert not crossings(graph)


def crossings(graph: RoadGraph) -> int:
    """Pairs of roads without a common node that cross, among those that are near each other."""
    a, b = np.stack([graph.x, graph.y], 1)[graph.start], np.stack([graph.x, graph.y], 1)[graph.end]
    order = np.argsort(a[:, 0])
    count = 0
    for shift in range(1, 150):
        one, other = order[:-shift], order[shift:]

        def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
            return np.sign((q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (r[:, 0] - p[:, 0]))

        cross = (side(a[one], b[one], a[other]) * side(a[one], b[one], b[other]) < 0) & (
            side(a[other], b[other], a[one]) * side(a[other], b[other], b[one]) < 0
        )
        count += int(np.count_nonzero(cross))
    return count


def test_ways_are_the_fastest_by_the_class_of_the_road_and_of_the_object() -> None:
    local, main = ROAD_SPEEDS_M_S[2], ROAD_SPEEDS_M_S[0]
    ways = ways_to(square(), np.array([3, 1]), top_speed_m_s=100.0)
    assert ways.towards.tolist() == [[1, 2, 3, 3], [1, 1, 1, 2]]
    np.testing.assert_allclose(ways.left_s[0], np.array([300, 200, 100, 0]) / local)
    fast = ways_to(square((2, 2, 2, 0)), np.array([3]), top_speed_m_s=100.0)
    assert fast.towards.tolist() == [[3, 2, 3, 3]]
    np.testing.assert_allclose(fast.left_s[0, 0], 310 / main)
    slow = ways_to(square((2, 2, 2, 0)), np.array([3]), top_speed_m_s=1.0)
    assert slow.towards.tolist() == [[1, 2, 3, 3]]
    np.testing.assert_allclose(slow.left_s[0], [300, 200, 100, 0])


def test_of_parallel_roads_the_fastest_counts(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path, "0 0 0\n1 1 0\n", "0 0 1 50\n1 1 0 9\n2 0 1 20\n3 0 1 0\n"))
    assert len(graph.start) == 4
    left = ways_to(graph, np.array([1]), top_speed_m_s=1.0).left_s
    assert 0 < left[0, 0] < 1e-3
