"""Clusters of routes: the kernel against the definition, with every index and every error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.routes.cluster_candidates import CTREE, GLOBAL, INVERTED, LITERAL, REPAIRED, SCAN, Rule
from wayveil.kernels.routes.route_clusters import cluster_routes

Route = tuple[int, ...]


def run(
    routes: list[Route],
    people: list[set[int]],
    people_on: list[int],
    *,
    k: int,
    index: int = INVERTED,
    error: int = REPAIRED,
    share: Fraction = Fraction(3, 5),
    bound: float = 1e9,
    fixed: list[int] | None = None,
    begins: bool = True,
) -> tuple[list[int], list[Route], list[int]]:
    """Return (label per route, representatives, people per cluster)."""
    road = np.array([r for route in routes for r in route], np.int64)
    offsets = np.cumsum([0, *map(len, routes)])
    owner = np.array([p for group in people for p in sorted(group)], np.int64)
    label, begin, end, sizes = cluster_routes(
        offsets, road, np.cumsum([0, *map(len, people)]), owner,
        np.array(fixed or [-1] * len(routes), np.int64), np.array(people_on, np.int64),
        Rule(50, k, index, error, (share.numerator, share.denominator), begins, float(bound)),
    )  # fmt: skip
    found = [tuple(road[a:b].tolist()) for a, b in zip(begin, end, strict=True)]
    return label.tolist(), found, sizes.tolist()


def multiset_difference(one: Route, other: Route) -> int:
    return sum(abs(one.count(r) - other.count(r)) for r in {*one, *other})


def trimmed(route: Route, people: int, people_on: list[int]) -> Route:
    again = True
    while len(route) > 1 and again:
        again = False
        if people_on[route[0]] < people - people_on[route[0]]:
            route, again = route[1:], True
        if len(route) > 1 and people_on[route[-1]] < people - people_on[route[-1]]:
            route, again = route[:-1], True
    return route


def oracle(
    routes: list[Route], people: list[set[int]], people_on: list[int], *, k: int, error: int, share: Fraction,
    bound: float, fixed: list[int], begins: bool,
) -> tuple[list[int], list[Route], list[int]]:  # fmt: skip
    """Figure 3 of the paper up to line 14, word by word."""
    clusters: list[dict[str, Any]] = []
    label: list[int] = []

    def change(r: int) -> int:
        """People on a road as it would be published now, minus those of the routes."""
        published = sum(len(c["people"]) for c in clusters if r in c["rep"])
        published += sum(len(people[s]) for s in range(len(routes)) if r in routes[s] and not_clustered(s))
        return published - sum(len(people[s]) for s in range(len(routes)) if r in routes[s])

    def not_clustered(s: int) -> bool:
        return s >= len(label) or label[s] < 0

    def error_of(s: int, c: dict[str, Any]) -> tuple[float, bool]:
        route, support = routes[s], len(people[s])
        differ = multiset_difference(route, c["rep"])
        if error == LITERAL:
            roads = len({*route, *c["roads"]})
            return differ / roads, Fraction(support**2 * differ, roads) < Fraction(bound)
        if error == REPAIRED:
            union = (len(route) + len(c["rep"]) + differ) // 2
            return differ / union, differ < len(route) if bound < 0 else support**2 * differ < bound
        total = 0.0  # floats are added in the order of the kernel, so that equal errors are equal here, too
        for r in [*c["roads"], *dict.fromkeys(r for r in route if r not in c["roads"])]:
            total += abs(change(r) + support * ((r in c["rep"]) - (r in route))) / people_on[r]
        mean = total / len({*route, *c["roads"]})
        return mean, mean < bound

    for s, route in enumerate(routes):
        chosen = fixed[s]
        if chosen < 0 and (len(people[s]) < k or not begins):
            roads = set(route)
            similar = [i for i, c in enumerate(clusters) if Fraction(len(roads & {*c["roads"]}), len(roads)) > share]
            if similar:
                best = min(similar, key=lambda i: (error_of(s, clusters[i])[0], i))
                chosen = best if error_of(s, clusters[best])[1] else -1
        if chosen < 0 and begins:
            chosen = len(clusters)
        label.append(chosen)
        if chosen < 0:
            continue
        if chosen == len(clusters):
            clusters.append({"first": route, "people": set(), "roads": [], "rep": ()})
        c = clusters[chosen]
        c["people"] |= people[s]
        for r in route:
            if r not in c["roads"]:
                c["roads"].insert(0, r)
        c["rep"] = trimmed(c["first"], len(c["people"]), people_on)
    return label, [c["rep"] for c in clusters], [len(c["people"]) for c in clusters]


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    roads = draw(st.integers(1, 7))
    route = st.lists(st.integers(0, roads - 1), min_size=1, max_size=6).map(tuple)
    routes = draw(st.lists(route, min_size=1, max_size=12, unique=True))
    people = [draw(st.sets(st.integers(0, 9), min_size=1, max_size=5)) for _ in routes]
    order = sorted(range(len(routes)), key=lambda s: -len(people[s]))
    return {
        "routes": [routes[s] for s in order],
        "people": [people[s] for s in order],
        "people_on": draw(st.lists(st.integers(1, 9), min_size=roads, max_size=roads)),
        "k": draw(st.integers(2, 6)),
        "share": draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(3, 5), Fraction(1)])),
    }


BOUNDS = {REPAIRED: [-1.0, 1.0, 2.25, 12.0], LITERAL: [0.5, 1.0, 2.25, 9.0], GLOBAL: [0.1, 0.6, 2.0]}


@settings(deadline=None, max_examples=150)
@given(inputs(), st.data())
def test_clusters_are_those_of_the_definition_whatever_the_index(case: dict[str, Any], data: st.DataObject) -> None:
    error = data.draw(st.sampled_from([REPAIRED, LITERAL, GLOBAL]))
    bound = data.draw(st.sampled_from(BOUNDS[error]))
    expected = oracle(**case, error=error, bound=bound, fixed=[-1] * len(case["routes"]), begins=True)
    for index in (SCAN, INVERTED, CTREE):
        assert run(**case, error=error, bound=bound, index=index) == expected


@settings(deadline=None, max_examples=80)
@given(inputs(), st.data())
def test_routes_can_be_put_into_clusters_before_others_look_for_one(case: dict[str, Any], data: st.DataObject) -> None:
    n = len(case["routes"])
    given_first = data.draw(st.integers(0, n))
    drawn = [data.draw(st.integers(0, 3)) for _ in range(given_first)]
    number = {c: i for i, c in enumerate(dict.fromkeys(drawn))}
    fixed = [number[c] for c in drawn] + [-1] * (n - given_first)
    error = data.draw(st.sampled_from([REPAIRED, LITERAL, GLOBAL]))
    bound = data.draw(st.sampled_from(BOUNDS[error]))
    expected = oracle(**case, error=error, bound=bound, fixed=fixed, begins=False)
    for index in (SCAN, INVERTED, CTREE):
        assert run(**case, error=error, bound=bound, fixed=fixed, begins=False, index=index) == expected


@pytest.mark.parametrize("error", [REPAIRED, LITERAL, GLOBAL])
def test_many_clusters(error: int) -> None:
    rng = np.random.default_rng(error)
    found = {tuple(rng.integers(0, 70, rng.integers(2, 8)).tolist()) for _ in range(160)}
    routes = sorted(found)
    people = [set(rng.integers(0, 50, rng.integers(1, 4)).tolist()) for _ in routes]
    order = sorted(range(len(routes)), key=lambda s: -len(people[s]))
    case: dict[str, Any] = {
        "routes": [routes[s] for s in order],
        "people": [people[s] for s in order],
        "people_on": rng.integers(1, 20, 70).tolist(),
        "k": 4,
        "share": Fraction(2, 5),
    }
    expected = oracle(**case, error=error, bound=4.0, fixed=[-1] * len(routes), begins=True)
    assert len(expected[1]) > 40
    for index in (SCAN, INVERTED, CTREE):
        assert run(**case, error=error, bound=4.0, index=index) == expected


def test_people_are_counted_once_in_a_cluster() -> None:
    label, _, people = run([(0, 1), (0,), (1,)], [{0, 1}, {1}, {2}], [9, 9], k=3)
    assert (label, people) == ([0, 0, 0], [3])


def test_many_people_in_many_clusters() -> None:
    routes = [(r,) for r in range(40)]
    people = [set(range(p, p + 9)) for p in range(40)]
    assert run(routes, people, [99] * 40, k=5)[2] == [9] * 40


def test_a_route_of_k_people_begins_a_cluster_and_one_of_fewer_joins() -> None:
    routes, people_on = [(0, 1, 2), (0, 1)], [9, 9, 9]
    assert run(routes, [{0, 1}, {2, 3}], people_on, k=2)[0] == [0, 1]
    assert run(routes, [{0, 1}, {2}], people_on, k=2)[0] == [0, 0]


def test_a_share_must_be_exceeded() -> None:
    routes, people = [(3, 5, 8, 9), (2, 8, 9)], [{0, 1}, {2}]
    for share, label in ((Fraction(3, 5), [0, 0]), (Fraction(2, 3), [0, 1])):
        for index in (SCAN, INVERTED, CTREE):
            assert run(routes, people, [9] * 10, k=2, share=share, index=index)[0] == label


@pytest.mark.parametrize(("error", "least"), [(LITERAL, Fraction(36, 5)), (REPAIRED, 36)])
def test_table_1(error: int, least: float) -> None:
    # roads n1n2, n2n4, n4n7, n7n8, n8n9; 7 people on the last one, so that it is trimmed at 15 people
    routes = [(0, 1, 2, 3, 4), (0, 1, 2), (1, 2, 3)]
    people = [set(range(10)), set(range(10, 15)), set(range(15, 21))]
    for more, label in ((0, [0, 0, 1]), (0.001, [0, 0, 0])):
        fixed = [0, 0, -1]
        made = run(routes, people, [15, 21, 21, 16, 7], k=9, error=error, bound=float(least) + more, fixed=fixed)
        assert made[0] == label
        assert made[1][0] == (0, 1, 2, 3)


def test_the_number_of_differing_roads() -> None:
    # Trj2 = n1 n2 n4 and Trj3 = n1 n2 n6 of Figure 2 differ in 2 roads; n1 n2 n3 and n1 n4 n3 would in 4
    for bound, label in ((2.0, [0, 1]), (2.001, [0, 0])):
        assert run([(0, 1), (0, 2)], [{0, 1}, {2}], [9] * 3, k=2, share=Fraction(0), bound=bound)[0] == label


def test_a_repeated_road_counts_as_often_as_it_occurs() -> None:
    for bound, label in ((2.0, [0, 1]), (2.001, [0, 0])):
        assert run([(0, 0, 0), (0,)], [{0, 1}, {2}], [9], k=2, bound=bound)[0] == label


def test_figure_7_trims_by_the_size_of_the_cluster() -> None:
    routes = [(0, 1, 2, 3, 4), (0, 1, 2), (1, 2, 3)]
    people = [set(range(10)), set(range(10, 15)), set(range(15, 21))]
    label, found, sizes = run(routes, people, [15, 21, 21, 16, 10], k=10)
    assert (label, found, sizes) == ([0, 0, 0], [(0, 1, 2, 3)], [21])
    assert run(routes[:1], people[:1], [15, 21, 21, 16, 10], k=10)[1] == [(0, 1, 2, 3, 4)]


def test_one_road_stays_when_all_would_be_trimmed() -> None:
    people = [set(range(9))]
    assert run([(0, 1)], people, [1, 1], k=2)[1] == [(1,)]
    assert run([(0, 1, 2)], people, [1, 1, 1], k=2)[1] == [(1,)]


def test_of_equal_clusters_the_oldest_is_taken() -> None:
    routes = [(0, 1), (0, 2), (0,)]
    for index in (SCAN, INVERTED, CTREE):
        assert run(routes, [{0, 1}, {2, 3}, {4}], [9] * 3, k=2, index=index)[0] == [0, 1, 0]


def test_nothing_gives_nothing() -> None:
    assert run([], [], [], k=2) == ([], [], [])
