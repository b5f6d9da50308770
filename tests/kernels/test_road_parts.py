"""Frequent roads and parts: the kernels against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.routes.frequent_roads import cut_parts, people_on_roads


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 5), max_size=7)), min_size=1, max_size=8), st.data()
)
def test_kernels_are_the_definition(records: list[tuple[int, list[int]]], data: st.DataObject) -> None:
    records = sorted(records, key=lambda record: record[0])
    routes = [route for _, route in records]
    offsets, road = np.cumsum([0, *map(len, routes)]), np.array([r for route in routes for r in route], np.int64)
    owner, everybody = np.array([p for p, _ in records], np.int64), np.arange(len(records))
    people = people_on_roads(everybody, offsets, road, owner, 6)
    assert people.tolist() == [len({p for p, route in records if r in route}) for r in range(6)]

    ends = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in range(6)]
    code = np.array([data.draw(st.integers(-1, 5)) for _ in range(6)], np.int64)
    first, roads, place = cut_parts(
        everybody, offsets, road, code, np.array([a for a, _ in ends]), np.array([b for _, b in ends])
    )
    expected: list[tuple[int, list[int]]] = []
    for i, route in enumerate(routes):
        part: list[int] = []
        for at, r in enumerate(route):
            follows = at > 0 and code[route[at - 1]] >= 0 and ends[route[at - 1]][1] == ends[r][0]
            if part and not (code[r] >= 0 and follows):
                expected.append((i, part))
                part = []
            if code[r] >= 0:
                part.append(int(code[r]))
        if part:
            expected.append((i, part))
    assert [(int(place[i]), roads[first[i] : first[i + 1]].tolist()) for i in range(len(place))] == expected
    assert first[-1] == len(roads)


def test_only_the_trajectories_asked_for_count() -> None:
    offsets, road, owner = np.array([0, 1, 2, 3]), np.array([0, 0, 1]), np.array([4, 4, 5])
    assert people_on_roads(np.array([1]), offsets, road, owner, 2).tolist() == [1, 0]
    nodes = np.zeros(2, np.int64)
    first, roads, place = cut_parts(np.array([2, 0]), offsets, road, np.array([7, 8]), nodes, nodes)
    assert (first.tolist(), roads.tolist(), place.tolist()) == ([0, 1, 2], [8, 7], [0, 1])
