"""Road movers: a connected planar map, ways that are shortest, lengths and times as asked, and clear errors."""

from __future__ import annotations

import heapq
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from shared_data import DATA

from wayveil.errors import InputError, ParameterError
from wayveil.model import RoadNetwork, Routes
from wayveil.workloads.road_map import file_map, largest_piece, random_map, road_ways
from wayveil.workloads.road_movers import RoadMovers

MIDNIGHT = 1_704_067_200


def generate(seed: int = 1, **parameters: object) -> Routes:
    return RoadMovers(**parameters).generate(rng=np.random.default_rng(seed))  # type: ignore[arg-type]


def neighbours(network: RoadNetwork) -> dict[int, list[tuple[int, int, float]]]:
    """From a node to (road, next node, length)."""
    assert network.length_m is not None
    found: dict[int, list[tuple[int, int, float]]] = {v: [] for v in range(len(network.nodes))}
    for road, (a, b) in enumerate(zip(network.from_node.tolist(), network.to_node.tolist(), strict=True)):
        found[a].append((road, b, float(network.length_m[road])))
    return found


def distances_to(network: RoadNetwork, target: int) -> dict[int, float]:
    """Dijkstra on the roads turned round, from the definition."""
    turned: dict[int, list[tuple[int, float]]] = {v: [] for v in range(len(network.nodes))}
    for a, roads in neighbours(network).items():
        for _, b, length in roads:
            turned[b].append((a, length))
    done: dict[int, float] = {}
    queue = [(0.0, target)]
    while queue:
        far, v = heapq.heappop(queue)
        if v not in done:
            done[v] = far
            for w, length in turned[v]:
                heapq.heappush(queue, (far + length, w))
    return done


def crossings(network: RoadNetwork) -> int:
    """How many pairs of streets cross each other at a point that is no node."""
    assert network.node_x is not None
    assert network.node_y is not None
    xy = np.stack([network.node_x, network.node_y], axis=1)
    a, b = network.from_node[::2], network.to_node[::2]

    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        return np.sign(
            (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        )

    p, q, r, s = xy[a][:, None], xy[b][:, None], xy[a][None], xy[b][None]
    cross = (side(p, q, r) * side(p, q, s) < 0) & (side(r, s, p) * side(r, s, q) < 0)
    shared = (a[:, None] == a) | (a[:, None] == b) | (b[:, None] == a) | (b[:, None] == b)
    return int((cross & ~shared).sum())


@pytest.mark.parametrize("streets", [10, 50, 700])
def test_the_random_map(streets: int) -> None:
    network = random_map(streets, np.random.default_rng(3))
    assert len(largest_piece(network)) == len(network.nodes) == max(4, streets // 2)
    assert abs(len(network) - 2 * streets) <= (0 if streets > 10 else 6)
    assert crossings(network) == 0
    pairs = list(zip(network.from_node.tolist(), network.to_node.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert all(pairs[i] == pairs[i + 1][::-1] for i in range(0, len(pairs), 2))
    assert network.roads[:4] == ("0", "0-back", "1", "1-back")
    assert network.length_m is not None
    assert network.node_x is not None
    assert network.node_y is not None
    dx, dy = (v[network.to_node] - v[network.from_node] for v in (network.node_x, network.node_y))
    assert np.allclose(np.hypot(dx, dy), network.length_m)
    assert 200 < network.length_m.mean() < 800


def test_near_points_are_connected() -> None:
    """All but the streets of the spanning tree are shorter than any street that is missing, by Delaunay."""
    network = random_map(300, np.random.default_rng(5))
    assert network.length_m is not None
    assert np.sort(network.length_m)[-20:].max() < 6 * np.median(network.length_m)


def some_network() -> RoadNetwork:
    """One-way roads, a loop, parallel roads, a dead end and a node that cannot be left."""
    roads = [
        ("ab", "a", "b"), ("ab long", "a", "b"), ("bc", "b", "c"), ("ca", "c", "a"), ("cd", "c", "d"), ("dc", "d", "c"),
        ("bb", "b", "b"), ("ad", "a", "d"), ("de", "d", "e"),
    ]  # fmt: skip
    plain = RoadNetwork.from_roads(roads)
    return RoadNetwork(
        roads=plain.roads, from_node=plain.from_node, to_node=plain.to_node, nodes=plain.nodes,
        length_m=np.array([1.0, 5.0, 1.0, 1.0, 0.0, 1.0, 1.0, 9.0, 1.0]),
    )  # fmt: skip


@pytest.mark.parametrize("network", [some_network(), random_map(60, np.random.default_rng(2))])
def test_ways_are_shortest(network: RoadNetwork) -> None:
    targets = np.arange(min(6, len(network.nodes)))
    ways = road_ways(network, targets)
    assert network.length_m is not None
    for i, target in enumerate(targets.tolist()):
        far = distances_to(network, target)
        for v in range(len(network.nodes)):
            if v not in far:
                assert (ways.by[i, v], ways.roads[i, v]) == (-1, -1)
                continue
            at, steps, total = v, 0, 0.0
            while at != target:
                road = ways.by[i, at]
                assert network.from_node[road] == at
                at, steps, total = int(network.to_node[road]), steps + 1, total + float(network.length_m[road])
            assert ways.roads[i, v] == steps
            assert total == pytest.approx(far[v])
            assert ways.by[i, target] == -1


def test_pieces() -> None:
    assert [some_network().nodes[v] for v in largest_piece(some_network())] == ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def data() -> Routes:
    return generate(objects=2000, roads=200)


def test_it_has_the_size_it_says(data: Routes) -> None:
    assert (len(data), data.n_owners, data.owners, data.time_format) == (2000, 2000, "given", "epoch")
    assert len(data.network) == 400
    assert (RoadMovers.name, dict(RoadMovers.sensitive), RoadMovers.accepts) == ("road_movers", {}, Routes)


def test_every_trip_is_connected(data: Routes) -> None:
    for made in (data, generate(objects=300, trip_length=60, roads=40), generate(objects=300, wander=1, roads=40)):
        start, end = made.network.from_node, made.network.to_node
        for i in range(len(made)):
            roads = made.road[made.offsets[i] : made.offsets[i + 1]].tolist()
            assert all(end[a] == start[b] for a, b in pairwise(roads))


@pytest.mark.parametrize("trip_length", [1, 4.5, 10, 60])
def test_trips_have_the_length_that_is_asked(trip_length: float) -> None:
    lengths = np.diff(generate(objects=4000, roads=200, trip_length=trip_length).offsets)
    assert lengths.min() >= 1
    assert lengths.mean() == pytest.approx(trip_length, abs=0.03 * trip_length)
    assert lengths.std() == pytest.approx(np.sqrt(trip_length - 1), rel=0.1, abs=1e-9)


def test_without_wandering_trips_are_shortest_ways_to_the_places() -> None:
    made = generate(objects=200, roads=100, trip_length=4, wander=0, places=5)
    far = [distances_to(made.network, target) for target in range(len(made.network.nodes))]
    assert made.network.length_m is not None
    lasts = set()
    for i in range(len(made)):
        roads = made.road[made.offsets[i] : made.offsets[i + 1]].tolist()
        first, last = int(made.network.from_node[roads[0]]), int(made.network.to_node[roads[-1]])
        if len(roads) <= 6:
            assert made.network.length_m[roads].sum() == pytest.approx(far[last][first])
            lasts.add(last)
    assert len(lasts) == 5


def test_some_ways_are_popular(data: Routes) -> None:
    many = np.sort(np.bincount(data.road, minlength=len(data.network)))[::-1]
    assert many[:40].sum() > 0.3 * many.sum()
    assert (many > 0).mean() > 0.7
    walks = generate(objects=2000, roads=200, wander=1)
    spread = np.sort(np.bincount(walks.road, minlength=len(walks.network)))[::-1]
    assert spread[:40].sum() < 0.25 * spread.sum()


def test_random_turns_do_not_turn_round_unless_they_must() -> None:
    made = generate(objects=500, wander=1)
    network = made.network
    out = np.bincount(network.from_node, minlength=len(network.nodes))
    rounds = 0
    for i in range(len(made)):
        roads = made.road[made.offsets[i] : made.offsets[i + 1]].tolist()
        for a, b in pairwise(roads):
            if network.from_node[a] == network.to_node[b]:
                assert out[network.to_node[a]] == 1
                rounds += 1
    assert rounds


def test_times(data: Routes) -> None:
    assert data.network.length_m is not None
    assert data.t_start.min() >= MIDNIGHT
    assert data.t_start.max() < MIDNIGHT + 3600
    assert len(np.unique((data.t_start - MIDNIGHT) // 600)) == 6
    assert data.t_start.tolist() == data.t[data.offsets[:-1]].tolist()
    assert data.t_end.tolist() == data.t[data.offsets[1:] - 1].tolist()
    speeds = []
    for i in range(300):
        rows = slice(data.offsets[i], data.offsets[i + 1] - 1)
        way, takes = data.network.length_m[data.road[rows]].sum(), data.t_end[i] - data.t_start[i]
        if takes > 100:
            speeds.append(3.6 * way / takes)
    assert 29 < min(speeds) < 34
    assert 46 < max(speeds) < 51


def test_trips_of_a_person_do_not_overlap() -> None:
    made = generate(objects=400, trips=2.5, roads=100, span="20min")
    assert (len(made), made.n_owners) == (1000, 400)
    assert set(np.bincount(made.owner).tolist()) == {2, 3}
    again = made.owner[1:] == made.owner[:-1]
    assert (made.t_start[1:][again] >= made.t_end[:-1][again]).all()
    assert (made.t_start >= MIDNIGHT + 1200).any()


def test_trips_of_a_person_begin_at_any_time_of_the_span() -> None:
    """Only trips that would overlap are moved, so that the mean stays in the middle."""
    made = generate(objects=400, trips=5, roads=100, span="1d")
    assert (made.t_start - MIDNIGHT).mean() == pytest.approx(43_200, rel=0.05)


def test_people_start_at_many_places_some_more_popular(data: Routes) -> None:
    starts = np.sort(np.bincount(data.network.from_node[data.road[data.offsets[:-1]]], minlength=100))[::-1]
    assert (starts > 0).mean() > 0.7
    assert starts[:10].sum() > 0.25 * starts.sum()


def test_seeds() -> None:
    one, again, other = generate(roads=50), generate(roads=50), generate(seed=2, roads=50)
    for name in ("offsets", "road", "t", "owner"):
        assert getattr(one, name).tolist() == getattr(again, name).tolist()
    assert one.road.tolist() != other.road.tolist()
    fewer = generate(roads=50, objects=10)
    assert fewer.network.length_m is not None
    assert one.network.length_m is not None
    assert fewer.network.length_m.tolist() == one.network.length_m.tolist()


def texts(folder: Path, nodes: str, edges: str) -> str:
    (folder / "N.cnode.txt").write_text(nodes)
    (folder / "N.cedge.txt").write_text(edges)
    return str(folder / "N")


def test_a_network_of_files(tmp_path: Path) -> None:
    prefix = texts(
        tmp_path,
        "p 0 0\nq 3 4\nr 9 9\ns 50 50\nt 51 51\n",
        "e p q 1\nf q r 7.5\ng s t 2\nl p p 1\n",
    )
    network = file_map(prefix)
    assert network.roads == ("e", "e-back", "f", "f-back", "g", "g-back", "l", "l-back")
    assert [network.nodes[v] for v in largest_piece(network)] == ["p", "q", "r"]
    made = generate(objects=50, network=prefix, trip_length=3)
    assert {road for i in range(50) for road in made.record(i)} <= {"e", "e-back", "f", "f-back", "l", "l-back"}


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("", "e a b 1\n", "every line of .*cnode.* 3 fields"),
        ("a 0 0\nb 1\n", "e a b 1\n", "line 2 of .*cnode.* 3 fields"),
        ("a 0 0\nb 1 inf\n", "e a b 1\n", "line 2 of .*cnode.* 3 fields"),
        ("a 0 0\nb 1 1\n", "e a b x\n", "line 1 of .*cedge.* 4 fields"),
        ("a 0 0\nb 1 1\n", "e a c 1\n", "1 roads .* unknown nodes"),
        ("a 0 0\na 1 1\n", "e a a 1\n", "repeats the id"),
        ("a 0 0\nb 1 1\n", "e a b 1\ne b a 1\n", "repeats the id"),
        ("a 0 0\nb 1 1\n", "e a b -1\n", "length < 0"),
        ("a 0 0\nb 1 1\n", "e a a 1\n", "no road between two nodes"),
    ],
)
def test_bad_networks(tmp_path: Path, nodes: str, edges: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        generate(network=texts(tmp_path, nodes, edges))
    assert str(caught.value).startswith("road_movers: ")


def test_a_missing_network(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        generate(network=str(tmp_path / "none"))


@pytest.mark.skipif(not (DATA / "road_oldenburg").exists(), reason="the network is not here")
def test_a_real_network() -> None:
    made = generate(objects=500, network=str(DATA / "road_oldenburg" / "OL"), trip_length=20)
    assert len(made.network) == 14_070
    assert np.diff(made.offsets).mean() == pytest.approx(20, abs=0.7)


def test_the_smallest_settings() -> None:
    made = generate(objects=1, roads=10, trip_length=1, places=2, span="1s", wander=0)
    assert (len(made), made.n_rows, made.t.tolist()) == (1, 1, [MIDNIGHT])


def test_parameters() -> None:
    for bad, words in (
        ({"objects": 0}, "objects must be"),
        ({"roads": 9}, "roads must be"),
        ({"trip_length": 0.5}, "trip_length must be"),
        ({"wander": 1.1}, "wander must be"),
        ({"places": 1}, "places must be"),
        ({"objects": 10_000_000, "trips": 3}, "more than 20,000,000 trips"),
        ({"objects": 1_000_000, "trip_length": 501}, "more than 500,000,000 roads"),
    ):
        with pytest.raises(ParameterError, match=words):
            RoadMovers(**bad)  # type: ignore[arg-type]
