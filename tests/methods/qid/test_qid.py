"""qid against the definition of the attack graph, the worked examples and a slow restatement of the algorithms."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from promises import break_of_attack_graph

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.qid import qid
from wayveil.methods.qid.qid import Qid
from wayveil.model import AttackGraph, Boxes, MethodResult, Points
from wayveil.verifiers import check_attack_graph
from wayveil.verifiers.attack_graph.definition import find_break_of_attack_graph

GOLDEN = Path(__file__).parents[2] / "golden" / "qid"
EXAMPLE = json.loads((GOLDEN / "example2.json").read_text())
ACCIDENTAL = json.loads((GOLDEN / "accidental.json").read_text())
ALGORITHMS = ("disjoint", "symmetric", "extreme-union")

Box = tuple[int, int, int, int]
Graph = dict[int, set[int]]


def points(records: list[list[tuple[int, float, float]]], known: list[list[bool]] | None = None, **more: Any) -> Points:
    data = Points.from_records(records, **more)
    return data if known is None else replace(data, known=np.array([k for row in known for k in row], bool))


def of_cells(example: dict[str, Any]) -> Points:
    """The centres of the cells of an example, at times 0 and 1."""
    records = [[(t, x + 0.5, y + 0.5) for t, (x, y) in enumerate(row)] for row in example["cells"]]
    return points(records, example["known"])


def run(data: Points, workers: int = 1, **parameters: Any) -> MethodResult:
    """Run without a guard, if nothing else is said: cells are then as the algorithms of the paper have them."""
    method = Qid(**{"top_speed": "none", **parameters})
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=workers))


def known_rows(data: Points, i: int) -> list[tuple[int, float, float]]:
    begin = int(data.offsets[i])
    return [row for j, row in enumerate(data.record(i)) if data.known is None or data.known[begin + j]]


def attack_graph(data: Points, published: Boxes) -> Graph:
    """The definition: all that is known of i lies in boxes of o."""
    there = [i for i in range(len(published)) if published.record(i)]

    def fits(i: int, o: int) -> bool:
        boxes = published.record(o)
        return all(
            any(b[0] <= t <= b[1] and b[2] <= x <= b[3] and b[4] <= y <= b[5] for b in boxes)
            for t, x, y in known_rows(data, i)
        )

    return {i: {o for o in there if fits(i, o)} for i in there}


def pruned(graph: Graph) -> Graph:
    """What is in some perfect matching, by trying all of them."""
    nodes = sorted(graph)
    found: Graph = {i: set() for i in nodes}
    for order in permutations(nodes):
        if all(o in graph[i] for i, o in zip(nodes, order, strict=True)):
            for i, o in zip(nodes, order, strict=True):
                found[i].add(o)
    return found


def within_reach(data: Points, published: Boxes, i: int, o: int, top_speed: float | str) -> bool:
    """All that is known of i is, along both axes, within reach of every box of o."""
    if isinstance(top_speed, str):
        return True
    for t, x, y in known_rows(data, i):
        for b in published.record(o):
            reach = top_speed / 2**0.5 * abs(t - b[0])
            if not (b[2] - reach <= x <= b[3] + reach and b[4] - reach <= y <= b[5] + reach):
                return False
    return True


def ends_left(data: Points, published: Boxes, top_speed: float | str = "none") -> list[list[int]]:
    """The owners on the other side of every node, after pruning; nobody if the truth is not in the boxes."""
    graph = attack_graph(data, published)
    graph = {i: {o for o in graph[i] if within_reach(data, published, i, o, top_speed)} for i in graph}
    if any(i not in graph[i] for i in graph):
        return [[]]
    left = pruned(graph)
    ends = [[int(data.owner[o]) for o in left[i]] for i in left]
    return ends + [[int(data.owner[i]) for i in left if o in left[i]] for o in left]


def smallest_degree(data: Points, published: Boxes) -> int:
    """The smallest number of people on the other side of a node, after pruning; 0 if the truth is not in the boxes."""
    return min((len(set(people)) for people in ends_left(data, published)), default=99)


def boxes_of(published: Boxes, cell: float = 1.0) -> list[list[Box]]:
    """Boxes as their lowest and highest cells."""
    return [
        [(round(b[2] / cell), round(b[4] / cell), round(b[3] / cell) - 1, round(b[5] / cell) - 1)
         for b in published.record(i)]
        for i in range(len(published))
    ]  # fmt: skip


def area(box: Iterable[int]) -> int:
    x, y, x_max, y_max = box
    return (x_max - x + 1) * (y_max - y + 1)


def loss(boxes: list[list[Box]]) -> Fraction:
    return sum((1 - Fraction(1, area(b)) for row in boxes for b in row), Fraction(0))


# --- the worked examples ---


@pytest.mark.parametrize("name", ["extreme-union", "symmetric", "symmetrised"])
def test_example_2(name: str) -> None:
    data, expected = of_cells(EXAMPLE), EXAMPLE[name]
    algorithm = "extreme-union" if name == "symmetrised" else name
    symmetrise = "yes" if name == "symmetrised" else "no"
    result = run(data, k=2, cell=1, algorithm=algorithm, selection="area", symmetrise=symmetrise)
    boxes = boxes_of(result.data)
    assert boxes == [[tuple(b) for b in row] for row in expected["boxes"]]
    assert loss(boxes) == Fraction(expected["loss"])
    assert result.facts["information loss"] == pytest.approx(float(Fraction(expected["loss"])), abs=1e-12)
    assert result.facts["information loss per sample"] == pytest.approx(float(Fraction(expected["loss"])) / 6)
    graph = attack_graph(data, result.data)
    assert [sorted(graph[i]) for i in range(3)] == expected["graph"]
    assert smallest_degree(data, result.data) == expected.get("smallest degree", 3)
    assert result.facts["trajectories in the largest class of a time"] == 3
    assert result.facts.get("rounds of symmetrising") == (1 if name == "symmetrised" else None)


def test_what_the_survey_shows_to_be_wrong_is_wrong() -> None:
    naive = EXAMPLE["naive"]
    boxes = [[(t, t, x, X + 1.0, y, Y + 1.0) for t, (x, y, X, Y) in enumerate(row)] for row in naive["boxes"]]
    graph = attack_graph(of_cells(EXAMPLE), Boxes.from_records(boxes))
    assert [sorted(graph[i]) for i in range(3)] == naive["graph"]
    left = pruned(graph)
    assert [sorted(left[i]) for i in range(3)] == naive["pruned"]


def test_accidental_containment() -> None:
    data = of_cells(ACCIDENTAL)
    result = run(data, k=2, cell=1, algorithm="extreme-union", selection="area")
    assert [[len(set(row))] for row in zip(*boxes_of(result.data), strict=True)] == [[1], [1]]
    assert smallest_degree(data, result.data) == ACCIDENTAL["smallest degree"]


# --- a slow restatement ---


class Slow:
    """Extreme union and symmetric anonymization as sets and dictionaries, for people with several trajectories."""

    def __init__(self, data: Points, k: int, cell: float, by_area: bool) -> None:
        self.data, self.k = data, k
        self.cells: list[dict[int, tuple[int, int]]] = [
            {t: (int(x // cell), int(y // cell)) for t, x, y in data.record(i)} for i in range(len(data))
        ]
        self.known = [{t for t, _, _ in known_rows(data, i)} for i in range(len(data))]
        self.by_area, self.alive = by_area, {i for i in range(len(data)) if self.cells[i]}
        everything = [c for row in self.cells for c in row.values()]
        self.low = min(c[0] for c in everything), min(c[1] for c in everything)
        side = max(max(c[0] - self.low[0], c[1] - self.low[1]) for c in everything)
        self.order = next(n for n in range(60) if 2**n > side)

    def place(self, cell: tuple[int, int]) -> int:
        return curve(cell[0] - self.low[0], cell[1] - self.low[1], 2**self.order)

    def distance(self, i: int, j: int) -> float:
        """Floats are added from the rarest time on, as the method does: ties then are the same to the last bit."""
        if not self.known[i]:
            return len(self.known[j])
        rarest = min(sorted(self.known[i]), key=lambda t: sum(t in row for row in self.cells))
        total = 0.0
        for t in [rarest, *sorted(self.known[i] - {rarest})]:
            (x, y), (u, v) = self.cells[i][t], self.cells[j][t]
            if self.by_area:
                total += 1.0 - 1.0 / ((abs(x - u) + 1.0) * (abs(y - v) + 1.0))
            else:
                total += abs(self.place((x, y)) - self.place((u, v)))
        return total

    def ranked(self, i: int) -> list[int]:
        """The nearest trajectory of every person who can be taken for i and the other way round."""
        fit = [
            j for j in self.alive
            if self.data.owner[j] != self.data.owner[i]
            and self.known[i] <= self.cells[j].keys() and self.known[j] <= self.cells[i].keys()
        ]  # fmt: skip
        found: dict[int, int] = {}
        for j in sorted(fit, key=lambda j: (self.distance(i, j), j)):
            found.setdefault(int(self.data.owner[j]), j)
        return list(found.values())

    def groups(self, algorithm: str) -> list[set[int]]:
        while gone := {i for i in self.alive if len(self.ranked(i)) < self.k - 1}:
            self.alive -= gone
        if algorithm == "extreme-union":
            return [{i, *self.ranked(i)[: self.k - 1]} for i in sorted(self.alive)]
        pairs, partners = [], defaultdict(set)
        owner = self.data.owner
        for i in sorted(self.alive):
            for j in self.ranked(i):
                if len(partners[i]) < self.k - 1 and owner[j] not in partners[i]:
                    partners[i].add(owner[j])
                    partners[j].add(owner[i])
                    pairs.append({i, j})
        return pairs

    def boxes(self, groups: list[set[int]]) -> list[dict[int, Box]]:
        found: list[dict[int, Box]] = [{} for _ in self.cells]
        for t in {t for row in self.cells for t in row}:
            classes = [{i} for i in self.alive if t in self.cells[i]]
            for group in groups:
                if any(t in self.known[i] for i in group):
                    together = {i for i in group if t in self.cells[i]}
                    touched = [c for c in classes if c & together]
                    classes = [c for c in classes if not c & together] + [set().union(*touched)]
            for c in classes:
                xs, ys = zip(*(self.cells[i][t] for i in c), strict=True)
                for i in c:
                    found[i][t] = (min(xs), min(ys), max(xs), max(ys))
        return found

    def published(self, algorithm: str, symmetrise: bool, cell: float) -> list[list[Box]]:
        groups = self.groups(algorithm)
        while True:
            found = self.boxes(groups)
            rows = [
                [(t, t, b[0] * cell, (b[2] + 1) * cell, b[1] * cell, (b[3] + 1) * cell) for t, b in sorted(f.items())]
                for f in found
            ]
            graph = attack_graph(self.data, Boxes.from_records(rows))
            one_way = [
                {i, o} for i in graph for o in graph[i]
                if i not in graph[o] and self.known[o] <= self.cells[i].keys()
            ]  # fmt: skip
            if not symmetrise or not one_way:
                return [[b for _, b in sorted(f.items())] for f in found]
            groups = groups + one_way


def curve(x: int, y: int, side: int) -> int:
    """The place on the Hilbert curve by its four quarters, each a smaller curve, turned."""
    if side == 1:
        return 0
    half = side // 2
    quarter = {(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 0): 3}[(x // half, y // half)]
    u, v = x % half, y % half
    if quarter == 0:
        u, v = v, u
    if quarter == 3:
        u, v = half - 1 - v, half - 1 - u
    return quarter * half * half + curve(u, v, half)


@st.composite
def datasets(draw: st.DrawFn, most: int = 6) -> Points:
    n, times = draw(st.integers(2, most)), draw(st.integers(1, 4))
    coordinate = st.integers(-4, 12).map(lambda v: v / 2)
    full = draw(st.booleans())
    records = [
        [
            (3 * t, draw(coordinate), draw(coordinate))
            for t in range(times)
            if full or draw(st.integers(0, 5)) > 0
        ]
        for _ in range(n)
    ]  # fmt: skip
    owner = draw(st.none() | st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    known = draw(st.none() | st.just([[draw(st.integers(0, 2)) == 0 for _ in r] for r in records]))
    return points(records, known, owner=owner)


def usable(data: Points, k: int) -> bool:
    people = len(set(data.owner[np.diff(data.offsets) > 0].tolist()))
    return people >= k and (data.known is None or bool(data.known.any()))


@settings(deadline=None, max_examples=300)
@given(datasets(), st.integers(2, 4), st.sampled_from([1.0, 2.0, 0.3]), st.data())
def test_every_output_keeps_the_claim(data: Points, k: int, cell: float, more: st.DataObject) -> None:
    if not usable(data, k):
        return
    algorithm, selection = more.draw(st.sampled_from(ALGORITHMS)), more.draw(st.sampled_from(["hilbert", "area"]))
    symmetrise = more.draw(st.sampled_from(["no", "yes"]))
    result = run(data, k=k, cell=cell, algorithm=algorithm, selection=selection, symmetrise=symmetrise)
    published = result.data
    assert isinstance(published, Boxes)
    assert smallest_degree(data, published) >= k
    for i in range(len(data)):
        boxes, rows = published.record(i), data.record(i)
        assert [(b[0], b[1]) for b in boxes] in ([], [(t, t) for t, _, _ in rows])
        for b, (_, x, y) in zip(boxes, rows, strict=False):
            assert b[2] <= x <= b[3]
            assert b[4] <= y <= b[5]
    graph = attack_graph(data, published)
    times = [{t for t, _, _ in data.record(i)} for i in range(len(data))]
    asymmetric = [(i, o) for i in graph for o in graph[i] if i not in graph[o]]
    impossible = [(i, o) for i, o in asymmetric if not {t for t, _, _ in known_rows(data, o)} <= times[i]]
    if symmetrise == "yes":
        assert asymmetric == impossible
        assert result.facts["candidates that cannot be mutual"] == len(impossible)
    left_out = [i for i in range(len(data)) if data.record(i) and not published.record(i)]
    assert result.facts["trajectories left out"] == len(left_out)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    datasets(),
    st.integers(2, 3),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(["auto", "auto", 3.0, 8.0]),
    st.sampled_from(["none", "none", "3", "all"]),
)
def test_every_guard_keeps_the_claim(data: Points, k: int, algorithm: str, top_speed: float | str, guard: str) -> None:
    """k people, nobody with more than 1/k, also for who knows the top speed; every row of the truth, or left out."""
    if not usable(data, k):
        return
    try:
        result = run(data, k=k, cell=1, algorithm=algorithm, top_speed=top_speed, guard=guard)
    except InputError:
        assert top_speed != "auto"  # everybody is faster
        return
    published, limit = result.data, result.claim.top_speed
    assert isinstance(published, Boxes)
    assert isinstance(limit, float)
    for owners in ends_left(data, published, limit) + ends_left(data, published):
        assert len(set(owners)) >= k
        assert max(owners.count(person) for person in owners) * k <= len(owners)
    for i in range(len(data)):
        truth = {t: (x, y) for t, x, y in data.record(i)}
        known = {t for t, _, _ in known_rows(data, i)}
        boxes = published.record(i)
        assert all(b[2] <= truth[b[0]][0] <= b[3] and b[4] <= truth[b[0]][1] <= b[5] for b in boxes)
        assert not boxes or known <= {b[0] for b in boxes}


@settings(deadline=None, max_examples=250)
@given(datasets(most=7), st.integers(2, 4), st.sampled_from([1.0, 2.0]), st.data())
def test_the_algorithms_of_the_paper_are_the_slow_ones(data: Points, k: int, cell: float, more: st.DataObject) -> None:
    if not usable(data, k):
        return
    algorithm = more.draw(st.sampled_from(ALGORITHMS[1:]))
    by_area, symmetrise = more.draw(st.booleans()), more.draw(st.booleans())
    result = run(
        data, k=k, cell=cell, algorithm=algorithm, selection="area" if by_area else "hilbert",
        symmetrise="yes" if symmetrise else "no", row_share=1,
    )  # fmt: skip
    slow = Slow(data, k, cell, by_area).published(algorithm, symmetrise, cell)
    assert boxes_of(result.data, cell) == slow


# --- disjoint groups ---


def walkers(n: int, times: int, seed: int, known: int) -> Points:
    rng = np.random.default_rng(seed)
    ways = rng.uniform(0, 5000, (n, 1, 2)) + np.cumsum(rng.normal(0, 150, (n, times, 2)), axis=1)
    records = [[(t, float(x), float(y)) for t, (x, y) in enumerate(way)] for way in ways]
    mask = [np.isin(np.arange(times), rng.choice(times, known, replace=False)).tolist() for _ in range(n)]
    return points(records, mask)


def classes_at(published: Boxes, t: int) -> list[int]:
    """How often each box of several cells occurs at a time."""
    found: dict[tuple[float, ...], int] = defaultdict(int)
    for i in range(len(published)):
        for b in published.record(i):
            if b[0] == t:
                found[b[2:]] += 1
    return sorted(n for b, n in found.items() if (b[1] - b[0], b[3] - b[2]) != (100.0, 100.0))


def test_disjoint_groups_do_not_run_together() -> None:
    data = walkers(60, 6, seed=1, known=2)
    disjoint = run(data, k=5)
    assert max(max(classes_at(disjoint.data, t)) for t in range(6)) == 5
    paper = run(data, k=5, algorithm="extreme-union")
    assert max(max(classes_at(paper.data, t)) for t in range(6)) > 30
    assert disjoint.facts["cells per box"] < paper.facts["cells per box"] / 2


def test_disjoint_groups_begin_outside() -> None:
    """From the middle on, 3 and 4 would be a pair and leave 0 and 9 to each other."""
    data = points([[(0, x, 0.0)] for x in (3.0, 4.0, 0.0, 9.0)])
    assert boxes_of(run(data, k=2, cell=1).data) == [[(0, 0, 3, 0)], [(4, 0, 9, 0)], [(0, 0, 3, 0)], [(4, 0, 9, 0)]]


def test_outside_is_far_from_the_middle_on_average() -> None:
    data = points(
        [[(t, 30.0, 0.0) for t in range(9)], [(t, 0.0, 0.0) for t in range(20)], [(0, 0.0, 40.0)], [(0, 9.0, 9.0)]]
    )
    assert qid._tracks(data, 2, 1.0).outermost_first().tolist() == [2, 0, 3, 1]


def test_who_is_left_over_joins_a_group() -> None:
    data = points([[(0, x, 0.0)] for x in (0.0, 1.0, 90.0, 91.0, 92.0)])
    boxes = boxes_of(run(data, k=2, cell=1).data)
    assert boxes[:2] == [[(0, 0, 1, 0)]] * 2
    assert boxes[2:] == [[(90, 0, 92, 0)]] * 3


def test_who_is_left_over_joins_one_group_only() -> None:
    data = points([[(0, x, 0.0)] for x in (0.0, 1.0, 2.0, 51.0, 100.0, 101.0, 102.0)])
    boxes = boxes_of(run(data, k=3, cell=1, selection="area").data)
    assert boxes[:4] == [[(0, 0, 51, 0)]] * 4
    assert boxes[4:] == [[(100, 0, 102, 0)]] * 3


def test_groups_fit_together() -> None:
    """0 can be equal to everybody, but 1 and 2 not to each other: the pairs 0-1 and 0-2 must overlap."""
    records = [[(t, float(i), 0.0) for t in times] for i, times in enumerate([(0, 1, 2), (0, 1), (0, 2)])]
    known = [[True, False, False], [False, True], [False, True]]
    data = points(records, known)
    with_two = run(data, k=2, cell=1).data
    assert smallest_degree(data, with_two) == 2
    assert boxes_of(with_two)[0] == [(0, 0, 2, 0), (0, 0, 1, 0), (0, 0, 2, 0)]
    # for k = 3 only 0 has candidates, who have none themselves
    assert run(data, k=3, cell=1).data.n_rows == 0


def test_a_pair_is_not_made_with_a_person_who_is_a_partner() -> None:
    """0 and 2 are of one person: 1 has 0 as a partner already, and goes on to 3 although 2 is nearer."""
    lists = np.array([[1, 3], [2, 3], [3, 4], [1, 2], [3, 2]])
    pairs = qid._pairs(lists, np.ones(5, bool), np.array([7, 8, 7, 9, 5]))
    assert [p.tolist() for p in pairs] == [[0, 1], [0, 3], [1, 3], [2, 3], [2, 4], [4, 3]]


def ragged(seed: int) -> Points:
    """Trajectories that lack some of few times, with few known points, of people with one or two of them."""
    rng = np.random.default_rng(seed)
    n, times = int(rng.integers(6, 30)), int(rng.integers(2, 5))
    records, known = [], []
    for _ in range(n):
        there = np.flatnonzero(rng.random(times) < 0.7)
        records.append([(int(t), float(rng.uniform(0, 40)), float(rng.uniform(0, 40))) for t in there])
        known.append((rng.random(len(there)) < 0.4).tolist())
    return points(records, known, owner=rng.integers(0, n, n).tolist())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_everybody_can_be_interchanged_with_enough_people(algorithm: str) -> None:
    """More than the claim asks for, and enough for it: edges both ways to k people, counting oneself."""
    for seed in range(60):
        data, k = ragged(seed), 2 + seed % 4
        if usable(data, k):
            graph = attack_graph(data, run(data, k=k, cell=1, algorithm=algorithm).data)  # type: ignore[arg-type]
            for i in graph:
                assert len({int(data.owner[o]) for o in graph[i] if i in graph[o]} | {int(data.owner[i])}) >= k


# --- who is left out, and who counts ---


def test_trajectories_without_common_times_are_left_out() -> None:
    data = points([[(i, 0.0, 0.0)] for i in range(5)])
    result = run(data, k=2)
    assert result.data.n_rows == 0
    assert len(result.data) == 5
    assert result.facts["trajectories left out"] == 5
    assert result.facts["information loss per sample"] == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_who_is_left_out_hides_nobody(algorithm: str) -> None:
    """2 needs two others at time 9 and has one; then 0, 1 and 3 remain, of whom 3 is far away."""
    records = [[(0, 0.0, 0.0)], [(0, 1.0, 0.0)], [(0, 2.0, 0.0), (9, 2.0, 0.0)], [(0, 50.0, 0.0)]]
    data = points(records, [[True], [True], [True, True], [True]])
    result = run(data, k=3, cell=1, algorithm=algorithm)
    assert boxes_of(result.data) == [[(0, 0, 50, 0)], [(0, 0, 50, 0)], [], [(0, 0, 50, 0)]]
    assert result.facts["trajectories left out"] == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_k_counts_people(algorithm: str) -> None:
    data = points([[(0, x, 0.0)] for x in (0.0, 1.0, 2.0, 30.0)], owner=[7, 7, 7, 9])
    boxes = boxes_of(run(data, k=2, cell=1, algorithm=algorithm, row_share="3/4").data)
    assert [set(row) for row in boxes] == [{(0, 0, 30, 0)}] * 4
    # half of what is alike may be one person's: two of the three trips of one are left out
    boxes = boxes_of(run(data, k=2, cell=1, algorithm=algorithm).data)
    assert sorted(map(len, boxes[:3])) == [0, 0, 1]
    assert len(boxes[3]) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nothing_known_of_some(algorithm: str) -> None:
    """Of whom nothing is known, each can be taken for any other of these, at no cost."""
    data = points([[(0, x, 0.0)] for x in (0.0, 10.0, 20.0, 70.0, 71.0)], [[i > 2] for i in range(5)])
    boxes = boxes_of(run(data, k=2, cell=1, algorithm=algorithm, selection="area").data)
    assert boxes == [[(0, 0, 0, 0)], [(10, 0, 10, 0)], [(20, 0, 20, 0)], [(70, 0, 71, 0)], [(70, 0, 71, 0)]]


def test_all_is_known_where_nothing_is_declared() -> None:
    records = [[(t, 3.0 * i, 0.0) for t in range(3)] for i in range(4)]
    data = points(records)
    everything = replace(data, known=np.ones(12, bool))
    assert boxes_of(run(data, k=2).data) == boxes_of(run(everything, k=2).data)
    assert run(data, k=2).facts["known samples"] == 12


def test_auto_takes_the_curve_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    data = walkers(12, 3, seed=4, known=2)
    by = {name: boxes_of(run(data, k=3, selection=name).data, 100) for name in ("hilbert", "area")}
    assert by["hilbert"] != by["area"]
    monkeypatch.setattr(qid, "_MANY", 12)
    assert boxes_of(run(data, k=3, selection="auto").data, 100) == by["area"]
    monkeypatch.setattr(qid, "_MANY", 11)
    assert boxes_of(run(data, k=3, selection="auto").data, 100) == by["hilbert"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_workers_do_not_matter(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qid, "_CHUNK", 7)
    data = walkers(40, 5, seed=2, known=2)
    one, two = (run(data, workers=workers, k=3, algorithm=algorithm) for workers in (1, 2))
    assert boxes_of(one.data) == boxes_of(two.data)
    assert one.facts == two.facts


def test_what_is_carried_over() -> None:
    data = Points.from_records(
        [[(0, 0.0, 0.0)], [], [(0, 1.0, 0.0)]], owner=[4, 5, 9], attributes={"ill": ["yes", "no", None]}
    )
    result = run(data, k=2)
    assert result.claim == Qid(k=2, top_speed="none").claim == AttackGraph(k=2)
    assert Qid(k=2).claim == AttackGraph(k=2, top_speed="auto")
    assert Qid(k=2, top_speed=7, row_share="2/3").claim == AttackGraph(k=2, top_speed=7, row_share="2/3")
    assert np.diff(result.data.offsets).tolist() == [1, 0, 1]
    assert result.data.owner.tolist() == [4, 5, 9]
    assert result.data.owners == "given"
    assert result.data.attributes["ill"].values() == ["yes", "no", None]
    assert result.facts["trajectories left out"] == 0


# --- guards, and people with many trips ---


def runners(n: int = 2, times: int = 9, gap: float = 10.0) -> Points:
    """People who stand `gap` metres apart; all are known in the middle, and can be told apart before and after."""
    data = points([[(t, gap * i + 0.5, 0.5) for t in range(times)] for i in range(n)])
    return replace(data, known=data.t == times // 2)


def guarded(published: Boxes) -> list[int]:
    """The times at which the first two have the same box."""
    return [a[0] for a, b in zip(published.record(0), published.record(1), strict=True) if a == b]


@pytest.mark.parametrize(
    ("top_speed", "guard", "expected"),
    [
        ("none", "none", [4]),
        (10 * 2**0.5, "none", [4]),  # the other cell is 9.5 m away: 10 m/s along an axis are enough
        (9 * 2**0.5, "none", [3, 4, 5]),
        (4 * 2**0.5, "none", [2, 3, 4, 5, 6]),
        (1 * 2**0.5, "none", list(range(9))),
        ("none", "2", [2, 3, 4, 5, 6]),
        (9 * 2**0.5, "2", [2, 3, 4, 5, 6]),
        ("none", "all", list(range(9))),
    ],
)
def test_guards_are_as_long_as_they_must_be(top_speed: float | str, guard: str, expected: list[int]) -> None:
    result = run(runners(), k=2, cell=1, top_speed=top_speed, guard=guard)
    assert guarded(result.data) == expected
    assert result.facts.get("samples in boxes of a guard", 0) == 2 * (len(expected) - 1)
    assert result.facts.get("samples dropped in a guard", 0) == 0


def test_a_guard_of_some_seconds() -> None:
    data = runners()
    clock = replace(data, t=data.t * 1_000_000, time_format="utc")
    assert len(guarded(run(clock, k=2, cell=1, guard="2s").data)) == 5
    assert len(guarded(run(clock, k=2, cell=1, top_speed=4 * 2**0.5).data)) == 5
    with pytest.raises(InputError, match="guard needs a unit"):
        run(clock, k=2, cell=1, guard="2")


def test_what_cannot_be_shared_in_a_guard_is_dropped() -> None:
    """The second person has no sample at time 3, so that the first one's would tell; at time 1 it is far enough."""
    data = runners()
    keep = ~((data.t == 3) & (data.x > 5)) & ~((data.t == 1) & (data.x > 5))
    data = data.where(keep)
    result = run(data, k=2, cell=1, top_speed=9 * 2**0.5)
    assert [b[0] for b in result.data.record(0)] == [0, 1, 2, 4, 5, 6, 7, 8]
    assert result.facts["samples dropped in a guard"] == 1


def test_who_is_too_fast_is_left_out() -> None:
    data = points([[(t, 10.0 * i + (100.0 * t if i == 3 else 0.0), 0.0) for t in range(3)] for i in range(4)])
    data = replace(data, known=data.t == 1)
    result = run(data, k=2, cell=1, top_speed=50)
    assert [len(result.data.record(i)) for i in range(4)] == [3, 3, 3, 0]
    assert result.facts["trajectories left out"] == 1
    assert run(data, k=2, cell=1, top_speed="auto").claim.top_speed == 200.0
    with pytest.raises(InputError, match="every trajectory is faster than top_speed somewhere"):
        run(replace(data.take(np.array([3, 3])), owner=np.arange(2)), k=2, cell=1, top_speed=50)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_person_with_many_trips(algorithm: str) -> None:
    """Twenty trips of one person and one each of three others: extra trips are left out, and the long ones stay."""
    records = [[(t, float(i % 5), 0.0) for t in range(2 + i % 7)] for i in range(20)]
    records += [[(t, float(i), 1.0) for t in range(8)] for i in range(3)]
    data = points(records, owner=[0] * 20 + [1, 2, 3])
    data = replace(data, known=data.t == 0)
    for k in (2, 4):
        for top_speed in ("none", "auto"):
            result = run(data, k=k, cell=1, algorithm=algorithm, top_speed=top_speed)
            there = np.flatnonzero(np.diff(result.data.offsets))
            assert {0, 1, 2, 3} >= set(data.owner[there].tolist()) > {0}
            assert algorithm != "disjoint" or (np.diff(data.offsets)[there] >= 8).all()
            for owners in ends_left(data, result.data, result.claim.top_speed):
                assert len(set(owners)) >= k
                assert max(owners.count(person) for person in owners) * k <= len(owners)


def test_a_smaller_share_makes_larger_groups() -> None:
    result = run(runners(n=8), k=2, cell=1, row_share="1/4")
    ends = ends_left(runners(n=8), result.data)
    assert min(len(set(owners)) for owners in ends) >= 4


@pytest.mark.parametrize("top_speed", [0, -1, "fast"])
def test_a_top_speed_is_positive(top_speed: float | str) -> None:
    with pytest.raises(ParameterError, match="top_speed"):
        Qid(k=2, top_speed=top_speed)


# --- cells ---


def test_cells_lie_at_multiples_and_contain_their_points() -> None:
    rng = np.random.default_rng(3)
    multiples = np.arange(-300, 300) * 0.1
    x = np.concatenate([multiples, np.nextafter(multiples, 1e9), np.nextafter(multiples, -1e9), rng.normal(size=99)])
    data = points([[(t, float(v), float(-v)) for t, v in enumerate(x)] for _ in range(2)])
    published = run(data, k=2, cell=0.1).data
    assert isinstance(published, Boxes)
    for low, high, values in ((published.x_min, published.x_max, data.x), (published.y_min, published.y_max, data.y)):
        assert (low <= values).all()
        assert (values <= high).all()
        assert (high - low <= 0.1 + 1e-9).all()


@pytest.mark.parametrize("selection", ["hilbert", "area"])
def test_huge_coordinates(selection: str) -> None:
    far = [-1e12, 1e12, -1e12 + 300, 1e12 - 300]
    data = points([[(0, x, x)] for x in far])
    boxes = boxes_of(run(data, k=2, cell=100, selection=selection).data, 100)
    assert boxes[0] == boxes[2] == [(-(10**10), -(10**10), 3 - 10**10, 3 - 10**10)]
    assert boxes[1] == boxes[3]


def test_the_curve_of_huge_maps_does_not_overflow() -> None:
    """Cells that differ in the highest bit only would have the same place on the curve."""
    far = 2.0**34
    data = points([[(0, x, x)] for x in (0.0, far, 3.0, far + 3)])
    boxes = boxes_of(run(data, k=2, cell=1).data)
    assert boxes[0] == boxes[2] == [(0, 0, 3, 3)]
    assert boxes[1] == boxes[3] == [(2**34, 2**34, 2**34 + 3, 2**34 + 3)]


@pytest.mark.parametrize(("x", "cell"), [(1e12, 1e-6), (1e150, 1e140)])
def test_cells_that_are_too_small(x: float, cell: float) -> None:
    data = points([[(0, x, 0.0)], [(0, 0.0, 0.0)]])
    with pytest.raises((InputError, ParameterError), match="cell"):
        run(data, k=2, cell=cell)


def test_coordinates_that_are_no_places() -> None:
    with pytest.raises(InputError, match="too small for coordinates"):
        run(points([[(0, 0.0, 1e120)], [(0, 0.0, 0.0)]]), k=2, cell=1e100)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_in_one_place(algorithm: str) -> None:
    data = points([[(0, 5.0, 5.0)]] * 4)
    assert boxes_of(run(data, k=4, cell=10, algorithm=algorithm, symmetrise="yes").data, 10) == [[(0, 0, 0, 0)]] * 4


# --- what is refused ---


@pytest.mark.parametrize(
    ("records", "owner"), [([], None), ([[]], None), ([[(0, 0.0, 0.0)]], None), ([[(0, 0.0, 0.0)]] * 3, [1, 1, 1])]
)
def test_too_few_people(records: Any, owner: Any) -> None:
    people = 1 if any(records) else 0
    with pytest.raises(InputError, match=rf"qid: k is 2, but the data holds points of {people} people"):
        run(points(records, owner=owner), k=2)


def test_nothing_declared_as_known() -> None:
    with pytest.raises(InputError, match=r"qid: no point is declared as known.*mark"):
        run(points([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)]], [[False], [False]]), k=2)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 1}, "qid: k must be an integer >= 2, got 1"),
        ({"k": 2, "cell": 0}, "qid: cell must be greater than 0"),
        ({"k": 2, "cell": -1}, "qid: cell must be a number >= 0"),
        ({"k": 2, "cell": 1e101}, "qid: cell must be greater than 0 and at most 1e"),
        ({"k": 2, "algorithm": "union"}, "qid: algorithm must be one of disjoint, symmetric, extreme-union"),
        ({"k": 2, "selection": "near"}, "qid: selection must be one of"),
        ({"k": 2, "symmetrise": "maybe"}, "qid: symmetrise must be one of no, yes"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Qid(**parameters)


# --------------------------------------------------------------------------------------------- marks of declared times


def marked_trips() -> tuple[Points, list[list[bool]]]:
    """Seven points at one place: Ann (1) has two trips, Bob (2) two, and somebody (6) one of which nothing is known."""
    known = [[False], [True, False], [False, True], [False], [True]]
    times = [[0], [2, 4], [2, 4], [4], [4]]
    return points([[(t, 0.0, 0.0) for t in row] for row in times], known, owner=[1, 0, 1, 2, 0]), known


def test_marks_of_declared_times_rule_nobody_out() -> None:
    """Who looked at the marks was left with three trips for one of Ann's, two of them hers, where 1/2 was promised.

    Her second trip was published with that of Bob and one of her own around what is known of it; the other trip at this
    time and place was not marked, so that it could not be hers.
    """
    data, known = marked_trips()
    made: Any = run(data, k=2, cell=100, top_speed="none")
    boxes = [made.data.record(i) for i in range(len(data))]
    marks = [made.data.declared[made.data.rows(i)].tolist() for i in range(len(data))]
    truth = [data.record(i) for i in range(len(data))]
    assert made.data.n_rows
    half = Fraction(1, 2)
    assert break_of_attack_graph(boxes, data.owner.tolist(), truth, known, 2, half, "none", marks) == ""
    assert check_attack_graph(made.data, made.claim, original=data).holds


def test_the_verdict_looks_at_the_marks() -> None:
    """As it was published before: without the marks all is well."""
    data, _ = marked_trips()
    cell = (0.0, 100.0, 0.0, 100.0)
    before = Boxes.from_records([[(t, t, *cell) for t, _, _ in data.record(i)] for i in range(5)], owner=data.owner)
    claim = AttackGraph(k=2)
    assert check_attack_graph(before, claim, original=data).holds
    before = replace(before, declared=np.array([False, True, True, True, True, False, True]))
    verdict = check_attack_graph(before, claim, original=data)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "share"
    assert "66.67 %, more than 1/2" in verdict.reason
    assert find_break_of_attack_graph(before, claim, original=data)
