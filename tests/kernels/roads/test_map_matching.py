"""Map matching against plain definitions: every road of every point, every sequence of candidates, every way."""

from __future__ import annotations

from itertools import pairwise, product
from math import hypot, inf
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wayveil.kernels.roads.map_matching import Candidates, Model, Track, choose_candidates, gather_points
from wayveil.kernels.roads.near_roads import near_roads, road_pieces, road_tree
from wayveil.kernels.roads.road_paths import join_candidates
from wayveil.kernels.roads.shortest_paths import new_search, opposite_roads, road_graph, search
from wayveil.model.data.ragged import frozen, offsets_of

Shape = list[tuple[float, float]]
Roads = list[tuple[int, int, Shape]]  # from, to, drawn through
Turns = frozenset[tuple[int, int]]

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


def all_ways(roads: Roads, u_turn: float = 0.0, banned: Turns = frozenset()) -> dict[tuple[int, int], float]:
    """Shortest ways from the end of a road to the beginning of another, by Floyd and Warshall over roads."""
    n = len(roads)
    back = opposites(roads)
    way = {(r, s): inf for r in range(n) for s in range(n)}
    for r, s in product(range(n), repeat=2):
        if roads[r][1] == roads[s][0] and (r, s) not in banned:
            way[r, s] = u_turn if back[r] == s else 0.0
    for via, r, s in product(range(n), repeat=3):
        way[r, s] = min(way[r, s], way[r, via] + length(roads[via][2]) + way[via, s])
    return way


def opposites(roads: Roads) -> list[int]:
    """The first road back that is as long, or -1."""
    back = []
    for r, (a, b, shape) in enumerate(roads):
        same = [
            s
            for s, (c, d, other) in enumerate(roads)
            if s != r and (c, d) == (b, a) and abs(length(shape) - length(other)) <= 1e-6 * (1 + length(shape))
        ]
        back.append(same[0] if same else -1)
    return back


def tree_of(roads: Roads) -> Any:
    flat = np.array([place for _, _, shape in roads for place in shape])
    shape = offsets_of(np.array([len(shape) for _, _, shape in roads]))
    return road_tree(road_pieces(shape, flat[:, 0], flat[:, 1]))


def graph_of(roads: Roads, u_turn: float = 0.0, banned: Turns = frozenset()) -> Any:
    a, b = (np.array([road[i] for road in roads], np.int64) for i in (0, 1))
    size = np.array([length(shape) for _, _, shape in roads])
    pairs = np.array(sorted(banned), np.int64).reshape(-1, 2)
    return road_graph(
        a, b, size, u_turn_m=u_turn, opposite=opposite_roads(a, b, size), banned=(pairs[:, 0], pairs[:, 1])
    )


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


turns = st.frozensets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20)


def existing(banned: Turns, roads: Roads) -> Turns:
    """Turns between roads that there are."""
    return frozenset((r % len(roads), s % len(roads)) for r, s in banned)


@given(networks(), st.sampled_from([0.0, 7.0]), turns, st.integers(0, 30), st.data())
@settings(deadline=None, max_examples=200)
def test_shortest_ways_are_those_of_trying_all(
    roads: Roads, u_turn: float, banned: Turns, bound: int, data: st.DataObject
) -> None:
    one_of_them = st.integers(0, len(roads) - 1)
    source = data.draw(one_of_them)
    targets = data.draw(st.lists(one_of_them, min_size=1, max_size=4))
    banned = existing(banned, roads)
    expected = all_ways(roads, u_turn, banned)
    assume(all(abs(expected[source, s] - bound) > 1e-7 or expected[source, s] == bound for s in targets))
    graph, memory = graph_of(roads, u_turn, banned), new_search(len(roads))
    search(graph, memory, 0, np.array([len(roads) - 1]), 1, np.inf)  # what an earlier search left must not matter
    search(graph, memory, source, np.array(targets), len(targets), float(bound))
    back = opposites(roads)
    for target in targets:
        found = memory.done[target] == memory.run[0]
        assert found == (expected[source, target] <= bound)
        if found:
            assert abs(memory.way[target] - expected[source, target]) < 1e-9
            way = [target]
            while memory.before[way[0]] >= 0:
                way.insert(0, int(memory.before[way[0]]))
            passed = sum(length(roads[r][2]) for r in way[:-1])
            for r, s in pairwise([source, *way]):
                assert roads[r][1] == roads[s][0]
                assert (r, s) not in banned
                passed += u_turn if back[r] == s else 0.0
            assert abs(passed - expected[source, target]) < 1e-9


def test_a_search_ends_with_its_targets() -> None:
    graph = graph_of([(i, i + 1, [(float(i), 0.0), (i + 1.0, 0.0)]) for i in range(9)])
    memory = new_search(9)
    search(graph, memory, 0, np.array([2, 2, 8]), 2, np.inf)
    assert (memory.done == 1).tolist() == [False, True, True] + [False] * 6


def test_the_other_direction_of_a_street() -> None:
    line: Shape = [(0.0, 0.0), (5.0, 0.0)]
    around: Shape = [(0.0, 0.0), (0.0, 9.0), (5.0, 0.0)]
    loop: Shape = [(0.0, 0.0), (3.0, 3.0), (0.0, 0.0)]
    roads: Roads = [(0, 1, line), (1, 0, around[::-1]), (1, 0, line[::-1]), (0, 1, around), (0, 0, loop)]
    roads += [(1, 0, line[::-1]), (0, 2, line)]
    a, b = (np.array([road[i] for road in roads], np.int64) for i in (0, 1))
    size = np.array([length(shape) for _, _, shape in roads])
    assert opposite_roads(a, b, size).tolist() == [2, 3, 0, 1, -1, 0, -1] == opposites(roads)


tracks = st.lists(places, min_size=1, max_size=4)
models = st.tuples(st.sampled_from([1.0, 3.0]), st.sampled_from([0.5, 4.0]), st.sampled_from([0.0, 3.0, 40.0]))


class Oracle:
    """Costs of candidates and ways between them, from the definition."""

    def __init__(
        self, roads: Roads, points: list, candidates: Any, model: Any, ways: dict[tuple[int, int], float]
    ) -> None:
        self.roads, self.points, self.candidates, self.ways = roads, points, candidates, ways
        self.noise, self.beta, self.max_detour, self.slack = model

    def of(self, point: int) -> range:
        return range(int(self.candidates.first[point]), int(self.candidates.first[point + 1]))

    def emission(self, a: int, point: int) -> float:
        return (1 + point % 3) * float(self.candidates.away[a]) ** 2 / (2 * self.noise**2)

    def way(self, a: int, b: int) -> float:
        one, other = (int(self.candidates.road[c]) for c in (a, b))
        begin, end = (float(self.candidates.along[c]) for c in (a, b))
        if one == other and end >= begin - self.slack:
            return max(end - begin, 0.0)
        gap = self.ways[one, other]
        return length(self.roads[one][2]) - begin + gap + end

    def transition(self, a: int, b: int, i: int, j: int) -> float:
        straight = hypot(self.points[j][0] - self.points[i][0], self.points[j][1] - self.points[i][1])
        way = self.way(a, b)
        if way > straight + self.max_detour:
            return inf
        return (way - straight if way > straight else 0.3 * (straight - way)) / (self.beta + straight / 5)

    def cost(self, chosen: tuple[int, ...], rows: list[int]) -> float:
        steps = range(1, len(chosen))
        return sum(map(self.emission, chosen, rows)) + sum(
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


def matched(
    roads: Roads, points: list, model: tuple[float, ...], slack: float, radius: float, more: tuple[float, Turns]
) -> tuple[Any, ...]:
    x, y = columns(points)
    candidates = Candidates(*near_roads(x, y, tree_of(roads), radius, 64))
    assume((np.diff(candidates.first) > 0).all())
    rows = np.arange(len(points))
    weight = 1.0 + rows % 3
    track = Track(np.array([0, len(points)]), x, y, weight, rows, rows, rows)
    u_turn, banned = more[0], existing(more[1], roads)
    graph = graph_of(roads, u_turn, banned)
    known = Model(*model, slack)
    oracle = Oracle(roads, points, candidates, known, all_ways(roads, u_turn, banned))
    return oracle, track, graph, *choose_candidates(track, candidates, graph, known)


def is_near_a_limit(oracle: Oracle, n: int) -> bool:
    """Whether a way is as long as is still allowed, or a step back as large, but for rounding."""
    for i, j in ((i, i + 1) for i in range(n - 1)):
        straight = hypot(oracle.points[j][0] - oracle.points[i][0], oracle.points[j][1] - oracle.points[i][1])
        for a, b in product(oracle.of(i), oracle.of(j)):
            back = float(oracle.candidates.along[a] - oracle.candidates.along[b])
            if abs(oracle.way(a, b) - straight - oracle.max_detour) < 1e-7 or 0 < abs(back - oracle.slack) < 1e-7:
                return True
    return False


prices = st.tuples(st.sampled_from([0.0, 5.0]), turns)


@given(networks(most=5), tracks, models, st.sampled_from([0.0, 4.0]), st.sampled_from([4.0, 30.0]), prices)
@settings(deadline=None, max_examples=300)
def test_the_likeliest_candidates_are_those_of_trying_all(
    roads: Roads, points: list, model: tuple[float, ...], slack: float, radius: float, more: tuple[float, Turns]
) -> None:
    oracle, track, _, chosen, begins = matched(roads, points, model, slack, radius, more)
    assume(not is_near_a_limit(oracle, len(points)))
    parts = oracle.parts(track.first_row.tolist())
    assert np.flatnonzero(begins).tolist() == [part[0] for part in parts]
    for part in parts:
        mine = tuple(int(c) for c in chosen[part[0] : part[-1] + 1])
        assert all(c in oracle.of(row) for c, row in zip(mine, part, strict=True))
        count = np.prod([len(oracle.of(row)) for row in part])
        assume(count <= 3000)
        best = min(oracle.cost(way, part) for way in product(*map(oracle.of, part)))
        assert abs(oracle.cost(mine, part) - best) < 1e-6 * (1 + best)


@given(networks(most=6), tracks, models, st.sampled_from([0.0, 4.0]), prices)
@settings(deadline=None, max_examples=300)
def test_joined_roads_are_connected_and_as_long_as_the_ways(
    roads: Roads, points: list, model: tuple[float, ...], slack: float, more: tuple[float, Turns]
) -> None:
    oracle, track, graph, chosen, begins = matched(roads, points, model, slack, 30.0, more)
    candidates = oracle.candidates
    assume(not is_near_a_limit(oracle, len(points)))
    t = frozen(100 * np.arange(len(points)), np.int64)
    source, lengths, road, time, way_m = join_candidates(track, t, candidates, chosen, begins, graph, slack)
    parts = oracle.parts(track.first_row.tolist())
    back = opposites(roads)
    assert source.tolist() == [0] * len(parts)
    assert lengths.sum() == len(road) == len(time)
    for part, end in zip(parts, np.cumsum(lengths).tolist(), strict=True):
        mine = [int(c) for c in chosen[part[0] : part[-1] + 1]]
        made = road[end - lengths[parts.index(part)] : end].tolist()
        when = time[end - lengths[parts.index(part)] : end].tolist()
        ways = [oracle.way(a, b) for a, b in pairwise(mine)]
        assert np.allclose(way_m[part], [0.0, *ways])
        if sum(ways) < 1e-6:
            assert made == []
            continue
        turned = 0.0
        for one, other in pairwise(made):
            assert roads[one][1] == roads[other][0]
            assert (one, other) not in existing(more[1], roads)
            turned += more[0] if back[one] == other else 0.0
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
            size = turned + sum(length(roads[r][2]) for r in made)
            cut = [0.0, more[0], 2 * more[0]][: 1 + len(dropped)]  # the price of a turn into a road that is dropped
            assert any(abs(size + less - one) < 1e-6 for one in possible for less in cut)


def gathered(points: list[tuple[float, float]], usable: list[int], apart: float, near: float, most: float) -> list:
    """Positions from the definition: (x, y, weight, first point, arrival, departure)."""
    groups: list[list[int]] = []
    for i, (x, y) in enumerate(points):
        if usable[i]:
            if groups and hypot(x - points[groups[-1][0]][0], y - points[groups[-1][0]][1]) <= apart:
                groups[-1].append(i)
            else:
                groups.append([i])
    found = []
    for group in groups:
        x, y = (sum(points[i][axis] for i in group) / len(group) for axis in (0, 1))
        away = {i: hypot(points[i][0] - x, points[i][1] - y) for i in group}
        there = [i for i in group if away[i] <= near] or [i for i in group if away[i] == min(away.values())]
        found.append((x, y, min(len(group), most), group[0], there[0], there[-1]))
    return found


@given(st.lists(st.lists(st.tuples(places, st.integers(0, 3)), max_size=9), max_size=3), st.sampled_from([0.0, 3.5]))
@settings(deadline=None, max_examples=200)
def test_points_that_are_near_each_other_are_one_position(many: list, near: float) -> None:
    offsets = offsets_of(np.array([len(one) for one in many], np.int64))
    flat = [place for one in many for place, _ in one]
    usable = [int(use > 0) for one in many for _, use in one]
    track = gather_points(offsets, *columns(flat), np.array(usable, np.int64), 4.25, near, 3.0)
    expected = []
    for one, begin in zip(many, offsets[:-1].tolist(), strict=True):
        rows = slice(begin, begin + len(one))
        mine = gathered(flat[rows], usable[rows], 4.25, near, 3.0)
        expected.append([(*row[:3], *(begin + i for i in row[3:])) for row in mine])
    assert np.diff(track.start).tolist() == [len(one) for one in expected]
    columns_of = zip(*(column.tolist() for column in track[1:]), strict=True)
    assert list(columns_of) == [row for one in expected for row in one]


def test_who_waits_leaves_late_and_who_drives_passes_the_middle() -> None:
    waiting = [(0.0, 0.0)] * 5
    driving = [(float(x), 0.0) for x in (100, 110, 120, 130, 140)]
    usable = np.ones(10, np.int64)
    track = gather_points(np.array([0, 10]), *columns(waiting + driving), usable, 40.0, 5.0, 9.0)
    assert track.x.tolist() == [0.0, 120.0]
    assert (track.arrival_row.tolist(), track.departure_row.tolist()) == ([0, 7], [4, 7])


def track_of(start: Any, x: Any, y: Any) -> Track:
    rows = np.arange(len(x))
    return Track(np.asarray(start), x, y, np.ones(len(x)), rows, rows, rows)


def test_what_is_remembered_changes_nothing() -> None:
    """Many trajectories one after another, over more pairs of roads than are remembered, and each alone."""
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
    some = np.diff(candidates.first) > 0
    x, y = x[some], y[some]
    candidates = candidates._replace(first=np.append(candidates.first[:-1][some], candidates.first[-1]))
    start = np.append(np.arange(0, len(x), 20), len(x))
    graph, model = graph_of(roads), Model(5.0, 5.0, 60.0, 5.0)
    chosen, begins = choose_candidates(track_of(start, x, y), candidates, graph, model)
    for low, high in pairwise(start.tolist()):
        alone = candidates._replace(first=candidates.first[low : high + 1].copy())
        mine, mine_begins = choose_candidates(
            track_of([0, high - low], x[low:high].copy(), y[low:high].copy()), alone, graph, model
        )
        assert (mine == chosen[low:high]).all()
        assert (mine_begins == begins[low:high]).all()
