"""Map matching against plain definitions: every road of every point, every sequence of candidates, every way."""

from __future__ import annotations

from itertools import pairwise, product
from math import hypot, inf
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from wayveil.kernels.roads.map_matching import Candidates, Track, choose_candidates, thin
from wayveil.kernels.roads.near_roads import near_roads, road_pieces, road_tree
from wayveil.kernels.roads.road_paths import join_candidates
from wayveil.kernels.roads.shortest_paths import new_search, road_graph, search
from wayveil.model.data.ragged import frozen, offsets_of

Shape = list[tuple[float, float]]
Roads = list[tuple[int, int, Shape]]  # from, to, drawn through

places = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda p: (float(p[0]), float(p[1])))


@st.composite
def networks(draw: Any, most: int = 9) -> Roads:
    """Some nodes, and roads between any two of them, drawn with corners or not; also loops and parallel roads."""
    nodes = draw(st.lists(places, min_size=2, max_size=5))
    roads = []
    for _ in range(draw(st.integers(1, most))):
        a, b = draw(st.integers(0, len(nodes) - 1)), draw(st.integers(0, len(nodes) - 1))
        corners = draw(st.lists(places, max_size=2))
        roads.append((a, b, [nodes[a], *corners, nodes[b]]))
        if draw(st.booleans()):
            roads.append((b, a, roads[-1][2][::-1]))
    return roads


def length(shape: Shape) -> float:
    return sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(shape))


def distance(shape: Shape, x: float, y: float) -> float:
    best = inf
    for (ax, ay), (bx, by) in pairwise(shape):
        square = (bx - ax) ** 2 + (by - ay) ** 2
        share = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square if square else 0.0
        share = min(max(share, 0.0), 1.0)
        best = min(best, hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay)))
    return best


def position(shape: Shape, along: float) -> tuple[float, float]:
    passed = np.cumsum([0.0, *(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(shape))])
    x, y = np.array(shape).T
    return float(np.interp(along, passed, x)), float(np.interp(along, passed, y))


def all_ways(roads: Roads) -> dict[tuple[int, int], float]:
    """Shortest ways between nodes, by Floyd and Warshall."""
    n = 1 + max(max(a, b) for a, b, _ in roads)
    way = {(u, v): 0.0 if u == v else inf for u in range(n) for v in range(n)}
    for a, b, shape in roads:
        way[a, b] = min(way[a, b], length(shape))
    for w, u, v in product(range(n), repeat=3):
        way[u, v] = min(way[u, v], way[u, w] + way[w, v])
    return way


def tree_of(roads: Roads) -> Any:
    flat = np.array([place for _, _, shape in roads for place in shape])
    shape = offsets_of(np.array([len(shape) for _, _, shape in roads]))
    return road_tree(road_pieces(shape, flat[:, 0], flat[:, 1]))


def graph_of(roads: Roads, n_nodes: int | None = None) -> Any:
    a, b = (np.array([road[i] for road in roads], np.int64) for i in (0, 1))
    n = 1 + int(max(a.max(), b.max())) if n_nodes is None else n_nodes
    return road_graph(a, b, np.array([length(shape) for _, _, shape in roads]), n)


def columns(points: list[tuple[float, float]]) -> tuple[Any, Any]:
    return frozen([x for x, _ in points], np.float64), frozen([y for _, y in points], np.float64)


@given(networks(most=40), st.lists(places, max_size=4), st.sampled_from([0.5, 2.0, 5.0, 30.0]))
@settings(deadline=None, max_examples=120)
def test_near_roads_are_those_of_a_scan(roads: Roads, points: list[tuple[float, float]], radius: float) -> None:
    points = [(x + 0.25, y + 0.125) for x, y in points]
    first, road, along, away = near_roads(*columns(points), tree_of(roads), radius, 100)
    for i, (x, y) in enumerate(points):
        away_of = {r: distance(shape, x, y) for r, (_, _, shape) in enumerate(roads)}
        assume(all(abs(d - radius) > 1e-9 for d in away_of.values()))
        here = slice(first[i], first[i + 1])
        assert sorted(road[here].tolist()) == [r for r, d in away_of.items() if d <= radius]
        for r, on, far in zip(road[here].tolist(), along[here].tolist(), away[here].tolist(), strict=True):
            px, py = position(roads[r][2], on)
            assert abs(far - away_of[r]) < 1e-9
            assert 0 <= on <= length(roads[r][2]) + 1e-9
            assert abs(hypot(px - x, py - y) - far) < 1e-6
        assert away[here].tolist() == sorted(away[here].tolist())


def test_of_equal_distances_the_smaller_number_and_the_first_position() -> None:
    line: Shape = [(0.0, 0.0), (0.0, 8.0), (2.0, 8.0), (2.0, 0.0)]
    roads: Roads = [(0, 1, [(5.0, 0.0), (5.0, 8.0)]), (0, 1, line), (0, 1, line), (0, 1, line), (0, 1, line[::-1])]
    for side, turned in product((1.0, -1.0), (False, True)):  # whatever the order in which pieces are looked at
        drawn: Roads = [(a, b, [(y, side * x) if turned else (side * x, y) for x, y in s]) for a, b, s in roads]
        for most, expected in ((9, [1, 2, 3, 4, 0]), (2, [1, 2]), (5, [1, 2, 3, 4, 0])):
            _, road, along, away = near_roads(
                *columns([(4.0, side) if turned else (side, 4.0)]), tree_of(drawn), 10.0, most
            )
            assert road.tolist() == expected
            assert along.tolist()[:4] == [4.0] * min(4, most)
            assert away.tolist() == [1.0, 1.0, 1.0, 1.0, 4.0][:most]


@given(networks(most=40), places, st.integers(1, 5))
@settings(deadline=None, max_examples=80)
def test_of_many_near_roads_the_nearest_are_kept(roads: Roads, at: tuple[float, float], most: int) -> None:
    every = near_roads(*columns([at] * 2), tree_of(roads), 9.0, 100)
    some = near_roads(*columns([at] * 2), tree_of(roads), 9.0, most)
    n = min(most, int(every[0][1]))
    assert some[0].tolist() == [0, n, 2 * n]
    for all_of, few in zip(every[1:], some[1:], strict=True):
        assert few[:n].tolist() == few[n:].tolist() == all_of[:n].tolist()


def test_a_radius_includes_its_border() -> None:
    roads: Roads = [(0, 1, [(0.0, 0.0), (10.0, 0.0)])]
    assert near_roads(*columns([(5.0, 3.0)]), tree_of(roads), 3.0, 9)[1].tolist() == [0]
    assert near_roads(*columns([(5.0, 3.0)]), tree_of(roads), 2.999, 9)[1].tolist() == []


def test_many_points_with_many_roads_outgrow_the_first_room() -> None:
    roads: Roads = [(0, 1, [(0.0, float(i)), (10.0, float(i))]) for i in range(50)]
    first, road, _, _ = near_roads(*columns([(5.0, 0.0), (5.0, 49.0), (5.0, 0.0)]), tree_of(roads), 100.0, 64)
    assert first.tolist() == [0, 50, 100, 150]
    assert road.tolist() == [*range(50), *range(49, -1, -1), *range(50)]


weighted = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 9)), min_size=1, max_size=25)


@given(weighted, st.integers(0, 7), st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(0, 30))
@settings(deadline=None, max_examples=200)
def test_shortest_ways_are_those_of_scipy(
    roads: list[tuple[int, int, int]], source: int, targets: list[int], bound: int
) -> None:
    least: dict[tuple[int, int], int] = {}
    for a, b, size in roads:
        least[a, b] = min(size, least.get((a, b), size))
    ends = np.array(list(least)).T
    expected = dijkstra(csr_matrix((list(least.values()), (ends[0], ends[1])), shape=(8, 8)), indices=source)
    a, b, size = np.array(roads, np.int64).T
    graph, memory = road_graph(a, b, size.astype(float), 8), new_search(8)
    search(graph, memory, 0, np.array([7]), 1, np.inf)  # what an earlier search left behind must not matter
    search(graph, memory, source, np.array(targets), len(targets), float(bound))
    for v in targets:
        found = memory.done[v] == memory.run[0]
        assert found == (expected[v] <= bound)
        if found:
            assert memory.way[v] == expected[v]
            passed, at = 0.0, v
            while memory.by_road[at] >= 0:
                road = memory.by_road[at]
                assert graph.to_node[road] == at
                passed, at = passed + graph.length[road], graph.from_node[road]
            assert (at, passed) == (source, expected[v])


def test_a_search_ends_with_its_targets() -> None:
    graph = graph_of([(i, i + 1, [(float(i), 0.0), (i + 1.0, 0.0)]) for i in range(9)])
    memory = new_search(10)
    search(graph, memory, 0, np.array([2, 2, 9]), 2, np.inf)
    assert (memory.done == 1).tolist() == [True] * 3 + [False] * 7


tracks = st.lists(places, min_size=1, max_size=4)
models = st.tuples(st.sampled_from([1.0, 3.0]), st.sampled_from([0.5, 4.0]), st.sampled_from([0.0, 3.0, 40.0]))


class Oracle:
    """Costs of candidates and ways between them, from the definition."""

    def __init__(self, roads: Roads, points: list, candidates: Any, model: tuple[float, ...], slack: float) -> None:
        self.roads, self.points, self.candidates, self.slack = roads, points, candidates, slack
        self.noise, self.beta, self.max_detour = model
        self.ways = all_ways(roads)

    def of(self, point: int) -> range:
        return range(int(self.candidates.first[point]), int(self.candidates.first[point + 1]))

    def emission(self, a: int) -> float:
        return float(self.candidates.away[a]) ** 2 / (2 * self.noise**2)

    def way(self, a: int, b: int) -> float:
        one, other = (int(self.candidates.road[c]) for c in (a, b))
        begin, end = (float(self.candidates.along[c]) for c in (a, b))
        if one == other and end >= begin - self.slack:
            return max(end - begin, 0.0)
        gap = self.ways[self.roads[one][1], self.roads[other][0]]
        return length(self.roads[one][2]) - begin + gap + end

    def transition(self, a: int, b: int, i: int, j: int) -> float:
        straight = hypot(self.points[j][0] - self.points[i][0], self.points[j][1] - self.points[i][1])
        way = self.way(a, b)
        return abs(way - straight) / self.beta if way <= straight + self.max_detour else inf

    def cost(self, chosen: tuple[int, ...], rows: list[int]) -> float:
        steps = range(1, len(chosen))
        return sum(map(self.emission, chosen)) + sum(
            self.transition(chosen[s - 1], chosen[s], rows[s - 1], rows[s]) for s in steps
        )

    def parts(self, rows: list[int]) -> list[list[int]]:
        """Consecutive rows that some way connects."""
        parts: list[list[int]] = []
        alive: list[int] = []
        for row in rows:
            go_on = [b for b in self.of(row) if any(self.transition(a, b, row - 1, row) < inf for a in alive)]
            if go_on:
                parts[-1].append(row)
            else:
                parts.append([row])
            alive = go_on or list(self.of(row))
        return parts


def matched(roads: Roads, points: list, model: tuple[float, ...], slack: float, radius: float) -> tuple[Any, ...]:
    x, y = columns(points)
    candidates = Candidates(*near_roads(x, y, tree_of(roads), radius, 64))
    assume((np.diff(candidates.first) > 0).all())
    rows = np.arange(len(points))
    track = Track(np.array([0, len(points)]), rows, rows)
    graph = graph_of(roads)
    return candidates, track, graph, *choose_candidates(track, x, y, candidates, graph, *model, slack)


def is_near_a_limit(oracle: Oracle, n: int) -> bool:
    """Whether a way is as long as is still allowed, or a step back as large, but for rounding."""
    for i, j in ((i, i + 1) for i in range(n - 1)):
        straight = hypot(oracle.points[j][0] - oracle.points[i][0], oracle.points[j][1] - oracle.points[i][1])
        for a, b in product(oracle.of(i), oracle.of(j)):
            back = float(oracle.candidates.along[a] - oracle.candidates.along[b])
            if abs(oracle.way(a, b) - straight - oracle.max_detour) < 1e-7 or 0 < abs(back - oracle.slack) < 1e-7:
                return True
    return False


@given(networks(most=5), tracks, models, st.sampled_from([0.0, 4.0]), st.sampled_from([4.0, 30.0]))
@settings(deadline=None, max_examples=300)
def test_the_likeliest_candidates_are_those_of_trying_all(
    roads: Roads, points: list, model: tuple[float, ...], slack: float, radius: float
) -> None:
    candidates, track, _, chosen, begins = matched(roads, points, model, slack, radius)
    oracle = Oracle(roads, points, candidates, model, slack)
    assume(not is_near_a_limit(oracle, len(points)))
    parts = oracle.parts(track.row.tolist())
    assert np.flatnonzero(begins).tolist() == [part[0] for part in parts]
    for part in parts:
        mine = tuple(int(c) for c in chosen[part[0] : part[-1] + 1])
        assert all(c in oracle.of(row) for c, row in zip(mine, part, strict=True))
        count = np.prod([len(oracle.of(row)) for row in part])
        assume(count <= 3000)
        best = min(oracle.cost(way, part) for way in product(*map(oracle.of, part)))
        assert abs(oracle.cost(mine, part) - best) < 1e-6 * (1 + best)


@given(networks(most=6), tracks, models, st.sampled_from([0.0, 4.0]))
@settings(deadline=None, max_examples=300)
def test_joined_roads_are_connected_and_as_long_as_the_ways(
    roads: Roads, points: list, model: tuple[float, ...], slack: float
) -> None:
    candidates, track, graph, chosen, begins = matched(roads, points, model, slack, 30.0)
    oracle = Oracle(roads, points, candidates, model, slack)
    assume(not is_near_a_limit(oracle, len(points)))
    t = frozen(100 * np.arange(len(points)), np.int64)
    source, lengths, road, time = join_candidates(track, t, candidates, chosen, begins, graph, slack)
    parts = oracle.parts(track.row.tolist())
    assert source.tolist() == [0] * len(parts)
    assert lengths.sum() == len(road) == len(time)
    for part, end in zip(parts, np.cumsum(lengths).tolist(), strict=True):
        mine = [int(c) for c in chosen[part[0] : part[-1] + 1]]
        made = road[end - lengths[parts.index(part)] : end].tolist()
        when = time[end - lengths[parts.index(part)] : end].tolist()
        ways = [oracle.way(a, b) for a, b in pairwise(mine)]
        if sum(ways) < 1e-6:
            assert made == []
            continue
        for one, other in pairwise(made):
            assert roads[one][1] == roads[other][0]
        assert when == sorted(when)
        assert t[part[0]] <= when[0] <= when[-1] <= t[part[-1]]
        first, last = (int(candidates.road[c]) for c in (mine[0], mine[-1]))
        begin, finish = (float(candidates.along[c]) for c in (mine[0], mine[-1]))
        steps = [c for c, way in zip(mine[1:], ways, strict=True) if way == 0.0]
        if slack == 0.0 or not steps:  # else steps back do not add up
            whole = begin + sum(ways) + length(roads[last][2]) - finish
            dropped = [length(roads[first][2])] * (begin > length(roads[first][2]) - 1e-6)
            dropped += [length(roads[last][2])] * (finish < 1e-6)
            possible = [whole - sum(dropped), *([whole - one for one in dropped]), whole]
            assert any(abs(sum(length(roads[r][2]) for r in made) - size) < 1e-6 for size in possible)


def test_thin_keeps_what_is_far_from_the_last_row_kept() -> None:
    x, y = columns([(0, 0), (1, 0), (2, 0), (2.5, 0), (5, 0), (5, 2), (5, 2.5), (9, 9), (5, 2.5), (0, 0), (0, 2)])
    first = np.array([0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10])
    track = thin(np.array([0, 9, 9, 11]), x, y, first, 2.0)
    assert track.row.tolist() == [0, 3, 4, 6, 9]
    assert track.last.tolist() == [2, 3, 5, 8, 10]
    assert track.start.tolist() == [0, 4, 4, 5]


def test_what_is_remembered_changes_nothing() -> None:
    """Many trajectories one after another, over more pairs of nodes than are remembered, and each alone."""
    rng = np.random.default_rng(3)
    side, roads = 16, []
    for i, j in product(range(side), repeat=2):
        for k, l in ((i + 1, j), (i, j + 1)):
            if k < side and l < side and rng.random() < 0.9:
                shape = [(10.0 * i, 10.0 * j), (10.0 * k, 10.0 * l)]
                roads.append((side * i + j, side * k + l, shape))
                roads.append((side * k + l, side * i + j, shape[::-1]))
    points = (rng.random((240, 2)) * 150).tolist()
    x, y = columns([tuple(point) for point in points])
    candidates = Candidates(*near_roads(x, y, tree_of(roads), 12.0, 64))
    rows = np.flatnonzero(np.diff(candidates.first))
    start = np.append(np.arange(0, len(rows), 20), len(rows))
    graph, model = graph_of(roads, side * side), (5.0, 5.0, 60.0, 5.0)
    chosen, begins = choose_candidates(Track(start, rows, rows), x, y, candidates, graph, *model)
    for low, high in pairwise(start.tolist()):
        alone = Track(np.array([0, high - low]), rows[low:high].copy(), rows[low:high].copy())
        mine, mine_begins = choose_candidates(alone, x, y, candidates, graph, *model)
        assert (mine == chosen[low:high]).all()
        assert (mine_begins == begins[low:high]).all()
