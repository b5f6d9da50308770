"""Generalizing sensitive stops: against the rule as stated, with fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wayveil.kernels.cast.safe_stops import ClassStops, SensitiveTree, safe_nodes

# 0( 1*(2(3 4) 5 6(7 8 9))  10(11*(12 13)  14)  15* ), sensitive below the stars
PARENT = [-1, 0, 1, 2, 2, 1, 1, 6, 6, 6, 0, 10, 11, 11, 10, 0]
LAST = [16, 10, 5, 4, 5, 6, 10, 8, 9, 10, 15, 14, 13, 14, 15, 16]
SENSITIVE = [1 if v in {*range(1, 10), 11, 12, 13, 15} else 0 for v in range(16)]
LEAVES = [9, 6, 2, 1, 1, 1, 3, 1, 1, 1, 3, 2, 1, 1, 1, 1]
PLACES = [3, 4, 5, 7, 8, 9, 12, 13, 15]

Stop = tuple[int, int]  # node, owner


def probability(stops: list[Stop], node: int, people: int) -> Fraction:
    """Mean over people of having been at one leaf below the node, all stops of which are published there."""
    times = Counter(owner for at, owner in stops if at == node)
    leaf = Fraction(LEAVES[node] - 1, LEAVES[node])
    return sum((1 - leaf**o for o in times.values()), Fraction(0)) / people


def oracle(stops: list[Stop], people: int, c: Fraction, m: int) -> list[int]:
    """While a place is too probable, lift its node with all that is below the parent, or suppress it at the top."""
    now = [node for node, _ in stops]
    for i, (node, _) in enumerate(stops):
        now[i] = min([node, *(v for v, _ in stops if v <= node < LAST[v])])
    while True:
        here = [(node, owner) for node, (_, owner) in zip(now, stops, strict=True) if node >= 0]
        crowd = people or len({owner for _, owner in here})
        if not here:
            return now
        if crowd < m:
            return [-1] * len(stops)
        value, node = max((probability(here, node, crowd), -node) for node, _ in here)
        if value <= c:
            return now
        node, above = -node, PARENT[-node]
        if SENSITIVE[above]:
            now = [above if above <= v < LAST[above] else v for v in now]
        else:
            now = [-1 if node <= v < LAST[node] else v for v in now]


TREE = SensitiveTree(np.array(LAST), np.array(PARENT), np.array(LEAVES), np.array(SENSITIVE))


def run(classes: list[tuple[list[Stop], int]], c: Fraction, m: int) -> list[list[int]]:
    """The kernel on classes of (stops, people), the nodes in the order of the stops."""
    orders = [sorted(range(len(stops)), key=lambda i: stops[i][0]) for stops, _ in classes]
    rows = [stops[i] for (stops, _), order in zip(classes, orders, strict=True) for i in order]
    first = np.cumsum([0, *(len(stops) for stops, _ in classes)])
    stop = np.array([r[0] for r in rows], np.int64)
    owner = np.array([r[1] for r in rows], np.int64)
    people = np.array([people for _, people in classes])
    all_stops = ClassStops(first, stop, owner, owner, people, people)
    found = safe_nodes(all_stops, TREE, np.array([c.numerator, c.denominator]), m)
    made = []
    for number, order in enumerate(orders):
        nodes = [0] * len(order)
        for at, i in enumerate(order):
            nodes[i] = int(found[first[number] + at])
        made.append(nodes)
    return made


@st.composite
def one_class(draw: st.DrawFn, nodes: list[int]) -> tuple[list[Stop], int]:
    stops = draw(st.lists(st.tuples(st.sampled_from(nodes), st.integers(0, 5)), max_size=14))
    seen = len({owner for _, owner in stops})
    return stops, draw(st.just(0) | st.integers(max(seen, 1), 9))


some_c = st.fractions(0, 1, max_denominator=12)


@settings(deadline=None, max_examples=200)
@given(st.lists(one_class(PLACES), max_size=4), some_c, st.integers(2, 4))
@example([([(5, 0), (7, 1), (12, 1)], 0)], Fraction(2, 5), 2)
def test_the_rule(classes: list[tuple[list[Stop], int]], c: Fraction, m: int) -> None:
    classes = [(stops, people if people == 0 else max(people, m)) for stops, people in classes]
    assert run(classes, c, m) == [oracle(stops, people, c, m) for stops, people in classes]


@settings(deadline=None, max_examples=150)
@given(one_class([v for v in range(16) if SENSITIVE[v]]), some_c)
def test_inner_nodes_take_in_what_is_below(one: tuple[list[Stop], int], c: Fraction) -> None:
    stops, people = one[0], one[1] and max(one[1], 2)
    assert run([(stops, people)], c, 2) == [oracle(stops, people, c, 2)]


def test_ties_with_c_are_safe_and_one_more_is_not() -> None:
    for people, at, leaves in ((20, 6, 1), (10, 6, 2), (30, 27, 3)):
        node = {1: 15, 2: 11, 3: 6}[leaves]
        stops = [(node, owner) for owner in range(at)]
        assert Fraction(at, people * leaves) == Fraction(3, 10)
        assert run([(stops, people)], Fraction(3, 10), 2) == [[node] * at]
        assert run([(stops, people)], Fraction(299_999_999, 10**9), 2) != [[node] * at]


def test_ties_that_only_integers_decide() -> None:
    # five people with 1, 2, 3, 1 and 2 stops at a node of three leaves
    stops = [(6, who) for who, times in enumerate((1, 2, 3, 1, 2)) for _ in range(times)]
    exact = probability(stops, 6, 5)
    below = exact - Fraction(1, exact.denominator * 10**12)
    assert run([(stops, 5)], exact, 2) == [[6] * len(stops)]
    assert run([(stops, 5)], below, 2) == [[1] * len(stops)]


def test_where_integers_would_be_too_large_the_node_is_lifted() -> None:
    stops = [(6, 0)] * 60 + [(6, 1)]
    near = probability(stops, 6, 2)
    c = Fraction(int(near * 10**9) + 1, 10**9)
    assert run([(stops, 2)], c, 2) == [[6] * 61]  # far enough for floats
    assert run([([(6, 0)] * 200 + [(6, 1)], 4)], Fraction(1, 3), 2) == [[1] * 201]  # less than 1/3 by 10^-36
    assert run([([(6, 0)] * 200, 2)], Fraction(1, 2), 2) == [[6] * 200]  # one of two people is never more than half
    assert run([([(6, 0)] * 200, 1)], Fraction(1), 1) == [[6] * 200]


def test_a_crowd() -> None:
    classes: list[tuple[list[Stop], int]] = []
    random = np.random.default_rng(3)
    for _ in range(3):
        stops = [(int(random.choice(PLACES)), int(random.integers(130))) for _ in range(300)]
        classes.append((stops, 160))
    c = Fraction(1, 4)
    found = run(classes, c, 2)
    assert found == [oracle(stops, people, c, 2) for stops, people in classes]
    kinds = defaultdict(int)
    for nodes in found:
        for node in nodes:
            kinds[node] += 1
    assert len(kinds) > 2


def test_both_means_count() -> None:
    """Nine of ten trips of two people were at one place, all of one of them; or two of ten, one of each."""
    half = np.array([1, 2])
    stop = np.full(9, 15)
    first, people, trips = np.array([0, 9]), np.array([2]), np.array([10])
    one, trip = np.zeros(9, np.int64), np.arange(9)
    assert safe_nodes(ClassStops(first, stop, one, one, people, np.array([2])), TREE, half, 2).tolist() == [15] * 9
    assert safe_nodes(ClassStops(first, stop, one, trip, people, trips), TREE, half, 2).tolist() != [15] * 9
    both = np.array([0, 1])
    two = ClassStops(np.array([0, 2]), stop[:2], both, both, people, trips)
    assert safe_nodes(two, TREE, half, 2).tolist() != [15] * 2
