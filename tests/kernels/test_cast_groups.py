"""Groups of near trajectories: whole groups of different people, and no exchange that would make them cheaper."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.cast.stop_groups import near_groups

PARENT = [-1, 0, 1, 1, 0, 4, 5, 5, 4, 0]  # 0(1(2 3) 4(5(6 7) 8) 9)
LAST = [10, 4, 3, 4, 9, 8, 7, 8, 9, 10]
DEPTH = [0, 1, 2, 2, 1, 2, 3, 3, 2, 1]
LEAVES = [6, 2, 1, 1, 3, 2, 1, 1, 1, 1]
WEIGHTS = [[3 - d for d in DEPTH], LEAVES]
PLACES = [2, 3, 6, 7, 8, 9]


def above(node: int) -> list[int]:
    return [] if node < 0 else [*above(PARENT[node]), node]


def common(places: list[int]) -> int:
    return max(set.intersection(*(set(above(p)) for p in places)), key=lambda v: DEPTH[v])


def cost(groups: list[list[int]], places: list[list[int]], weight: list[int], n: int) -> int:
    width = len(places[0])
    total = (n - sum(map(len, groups))) * width * weight[0]
    for group in groups:
        for p in range(width):
            node = common([places[i][p] for i in group])
            total += sum(weight[node] - weight[places[i][p]] for i in group)
    return total


def run(places: list[list[int]], owner: list[int], m: int, weight: list[int], rounds: int, tries: int) -> list[int]:
    arrays = (np.array(LAST), np.array(PARENT), np.array(weight))
    codes = np.unique(owner, return_inverse=True)[1].astype(np.int64)
    nothing = np.empty((len(places), 0), np.int64)
    return near_groups(np.array(places), codes, nothing, m, m, *arrays, rounds, tries).tolist()


@st.composite
def inputs(draw: st.DrawFn) -> tuple[list[list[int]], list[int], int, list[int]]:
    n, width = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    places = draw(st.lists(st.lists(st.sampled_from(PLACES), min_size=width, max_size=width), min_size=n, max_size=n))
    owner = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n) | st.just(list(range(n))))
    return places, owner, draw(st.integers(2, 4)), draw(st.sampled_from(WEIGHTS))


def members(label: list[int]) -> list[list[int]]:
    return [[i for i, g in enumerate(label) if g == group] for group in range(max(label) + 1)]


@settings(deadline=None, max_examples=200)
@given(inputs(), st.sampled_from([0, 1, 50]), st.sampled_from([1, 100]))
def test_groups_are_of_m_people_and_too_few_are_left(
    given_: tuple[list[list[int]], list[int], int, list[int]], rounds: int, tries: int
) -> None:
    places, owner, m, weight = given_
    label = run(places, owner, m, weight, rounds, tries)
    assert all(len(group) == m == len({owner[i] for i in group}) for group in members(label))
    if rounds == 0 or len(set(owner)) == len(owner):  # exchanges may leave over other people
        assert len({owner[i] for i, g in enumerate(label) if g < 0}) < m


@settings(deadline=None, max_examples=200)
@given(inputs())
def test_no_exchange_would_help(given_: tuple[list[list[int]], list[int], int, list[int]]) -> None:
    places, owner, m, weight = given_
    n = len(places)
    label = run(places, owner, m, weight, 1000, 1)
    least = cost(members(label), places, weight, n)
    assert least <= cost(members(run(places, owner, m, weight, 0, 1)), places, weight, n)
    for i, j in combinations(range(n), 2):
        changed = list(label)
        changed[i], changed[j] = label[j], label[i]
        groups = members(changed)
        if all(len({owner[x] for x in group}) == m for group in groups):
            assert cost(groups, places, weight, n) >= least


def test_the_greedy_search_takes_the_cheapest_and_the_first_of_these() -> None:
    places = [[2], [9], [3], [2], [9], [2]]
    assert run(places, [0, 1, 2, 3, 4, 5], 3, WEIGHTS[0], 0, 1) == [0, 1, 1, 0, 1, 0]
    assert run(places, [0, 1, 2, 0, 4, 5], 3, WEIGHTS[0], 0, 1) == [0, 1, 0, 1, 1, 0]  # 0 is there already
    assert run([[2], [3], [2], [3]], [0, 1, 2, 3], 2, WEIGHTS[0], 0, 1) == [0, 1, 0, 1]


def test_more_beginnings_find_better_groups() -> None:
    worse = 0
    for rows in product(product(PLACES, repeat=1), repeat=5):
        places = [list(row) for row in rows]
        one, more = (run(places, list(range(5)), 2, WEIGHTS[1], 0, tries) for tries in (1, 25))
        costs = [cost(members(label), places, WEIGHTS[1], 5) for label in (one, more)]
        assert costs[1] <= costs[0]
        worse += costs[1] < costs[0]
        if worse > 20:
            break
    assert worse > 20


@settings(deadline=None, max_examples=150, derandomize=True)
@given(inputs(), st.data(), st.sampled_from([0, 50]), st.sampled_from([1, 100]), st.integers(0, 3))
def test_no_secret_is_that_of_too_many(
    given_: tuple[list[list[int]], list[int], int, list[int]], data: st.DataObject, rounds: int, tries: int, most: int
) -> None:
    places, owner, m, weight = given_
    secrets = [data.draw(st.sets(st.integers(0, 2), max_size=2)) for _ in places]
    padded = np.array([[*sorted(one), -1, -1][:2] for one in secrets])
    codes = np.unique(owner, return_inverse=True)[1].astype(np.int64)
    arrays = (np.array(LAST), np.array(PARENT), np.array(weight))
    label = near_groups(np.array(places), codes, padded, most, m, *arrays, rounds, tries).tolist()
    for group in members(label):
        assert len(group) == m == len({owner[i] for i in group})
        assert all(sum(secret in secrets[i] for i in group) <= most for secret in range(3))
    if most >= m:
        assert label == run(places, owner, m, weight, rounds, tries)


def test_a_group_that_nobody_may_complete_is_given_up() -> None:
    """The first three have the same secret: the first takes the last in, the others are left over."""
    places, secrets = np.array([[2], [2], [2], [9]]), np.array([[0], [0], [0], [-1]])
    arrays = (np.array(LAST), np.array(PARENT), np.array(WEIGHTS[0]))
    assert near_groups(places, np.arange(4), secrets, 1, 2, *arrays, 0, 1).tolist() == [0, -1, -1, 0]
    assert near_groups(places, np.arange(4), secrets, 0, 2, *arrays, 0, 1).tolist() == [-1] * 4
    assert near_groups(places, np.arange(4), secrets, 2, 2, *arrays, 0, 1).tolist() == [0, 0, 1, 1]
