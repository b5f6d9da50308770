"""Which trajectory goes into which block: whole, of the right size, near ones together, and always the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.pipeline.blocks.plan import Keys, keys_of, plan_blocks


@st.composite
def all_keys(draw: st.DrawFn) -> Keys:
    n = draw(st.integers(1, 40))
    numbers = np.random.default_rng(draw(st.integers(0, 9999)))
    return Keys(
        key=numbers.integers(0, draw(st.integers(1, 6)), (n, draw(st.integers(1, 2)))),
        place=numbers.integers(0, 9, n),
        rows=numbers.integers(0, draw(st.integers(1, 9)), n),
        person=numbers.integers(0, n, n),
    )


def taken(keys: Keys, order: np.ndarray) -> Keys:
    return Keys(**{name: getattr(keys, name)[order] for name in ("key", "place", "rows", "person")})


@settings(deadline=None, max_examples=200)
@given(keys=all_keys(), rows=st.integers(1, 40), people_apart=st.booleans())
def test_blocks_have_the_size_that_is_asked_for(keys: Keys, rows: int, people_apart: bool) -> None:
    block = plan_blocks(keys, rows=rows, people_apart=people_apart)
    assert len(block) == len(keys.rows)  # every trajectory is in one block, whole
    n_blocks = int(block.max()) + 1
    assert set(block.tolist()) == set(range(n_blocks))
    size = np.bincount(block, weights=keys.rows)
    unit = np.bincount(keys.person, weights=keys.rows).max() if people_apart else keys.rows.max()
    assert size.max() <= 2 * rows + unit
    assert n_blocks == 1 or 2 * size.min() >= rows
    if people_apart:
        assert all(len(np.unique(block[keys.person == person])) == 1 for person in keys.person)


@settings(deadline=None, max_examples=100)
@given(keys=all_keys(), rows=st.integers(1, 40))
def test_blocks_follow_the_order_of_keys_and_places(keys: Keys, rows: int) -> None:
    block = plan_blocks(keys, rows=rows, people_apart=False)
    order = sorted(range(len(block)), key=lambda i: (*keys.key[i].tolist(), keys.place[i], i))
    assert (np.diff(block[order]) >= 0).all()
    for key in {tuple(key) for key in keys.key.tolist()}:
        group = (keys.key == key).all(axis=1)
        if keys.rows[group].sum() <= rows:  # small enough to stay together
            assert len(np.unique(block[group])) == 1


@settings(deadline=None, max_examples=100)
@given(keys=all_keys(), rows=st.integers(1, 40), seed=st.integers(0, 99))
def test_only_among_equals_the_order_of_the_trajectories_matters(keys: Keys, rows: int, seed: int) -> None:
    keys = replace(keys, place=np.arange(len(keys.rows)), rows=np.maximum(keys.rows, 1))
    block = plan_blocks(keys, rows=rows, people_apart=False)
    order = np.random.default_rng(seed).permutation(len(block))
    assert plan_blocks(taken(keys, order), rows=rows, people_apart=False).tolist() == block[order].tolist()
    assert plan_blocks(keys, rows=rows, people_apart=False).tolist() == block.tolist()


def test_a_large_group_is_cut_in_the_order_of_place_into_equal_parts() -> None:
    n = 40
    place = np.random.default_rng(1).permutation(n)
    keys = Keys(key=np.ones((n, 1), np.int64), place=place, rows=np.full(n, 10), person=np.arange(n))
    block = plan_blocks(keys, rows=100, people_apart=False)
    assert np.bincount(block).tolist() == [10, 10, 10, 10]
    assert (block == place // 10).all()
    assert np.bincount(plan_blocks(keys, rows=90, people_apart=False)).tolist() == [8, 8, 8, 8, 8]


def test_small_groups_are_packed_with_their_neighbours() -> None:
    n = 30
    keys = Keys(key=np.arange(n)[::-1, None], place=np.zeros(n, np.int64), rows=np.full(n, 10), person=np.arange(n))
    block = plan_blocks(keys, rows=100, people_apart=False)
    assert (block == np.arange(n)[::-1] // 10).all()


def test_a_person_goes_where_the_first_trajectory_goes() -> None:
    key = np.array([[1], [1], [1], [1], [2], [2], [2], [2]])
    person = np.array([0, 1, 2, 3, 0, 1, 4, 5])
    keys = Keys(key=key, place=np.arange(8), rows=np.full(8, 5), person=person)
    assert plan_blocks(keys, rows=20, people_apart=False).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    # persons 0 to 3 begin with key 1 and have 30 rows, which is too many for one block
    assert plan_blocks(keys, rows=20, people_apart=True).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]


def test_no_trajectory_and_trajectories_without_rows() -> None:
    none = Keys(key=np.zeros((0, 1)), place=np.zeros(0), rows=np.zeros(0, np.int64), person=np.zeros(0))
    assert plan_blocks(none, rows=5, people_apart=True).tolist() == []
    empty = Keys(key=np.zeros((3, 1)), place=np.zeros(3), rows=np.zeros(3, np.int64), person=np.zeros(3, np.int64))
    assert plan_blocks(empty, rows=5, people_apart=True).tolist() == [0, 0, 0]


def test_keys_by_times() -> None:
    ways = [[(5, 0, 0), (7, 0, 0), (9, 1, 1)], [(5, 3, 3), (7, 3, 3), (9, 9, 9)], [(5, 0, 0), (8, 0, 0), (9, 1, 1)], []]
    data = Points.from_records([[(t, float(x), float(y)) for t, x, y in way] for way in ways], owner=[4, 4, 6, 7])
    keys = keys_of(data, "times")
    assert keys.key[:, :3].tolist() == [[5, 9, 3], [5, 9, 3], [5, 9, 3], [0, 0, 0]]
    assert keys.key[0].tolist() == keys.key[1].tolist() != keys.key[2].tolist()
    assert keys.rows.tolist() == [3, 3, 3, 0]
    assert keys.person.tolist() == [4, 4, 6, 7]
    # what a trajectory is worth does not depend on who stands beside it
    assert keys_of(data.take(np.array([2])), "times").key[0].tolist() == keys.key[2].tolist()


def test_keys_by_slice_length_and_place() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    routes = Routes.from_records([["ab"], ["ab", "bc"]], network=network, slices=[(0, 10), (10, 20)])
    assert keys_of(routes, "slice").key.tolist() == [[0, 10], [10, 20]]
    assert keys_of(routes, "place").key.tolist() == [[0], [0]]
    tree = Taxonomy.from_parents([("o", ""), ("park", "o"), ("clinic", "o")], sensitive=["clinic"])
    stops = Stops.from_records([["park", "clinic", "park"], ["clinic"], []], taxonomy=tree)
    assert keys_of(stops, "length").key.tolist() == [[2], [0], [0]]
    visits = Visits.from_records([[("a", 1), ("b", 2)], []])
    assert keys_of(visits, "length").key.tolist() == [[2], [0]]
    assert keys_of(visits, "whole").key.tolist() == [[0], [0]]


@pytest.mark.parametrize("far", [0.0, -1e12, 1e12])
def test_near_points_are_near_on_the_curve(far: float) -> None:
    at = [(0, 0), (60, 0), (0, 60), (60, 60), (4000, 4000), (4060, 4000)]
    data = Points.from_records([[(0, x + far, y + far)] for x, y in at])
    place = keys_of(data, "place").place
    assert (place >= 0).all()
    if far:
        return
    assert place.tolist() == sorted(place.tolist())
    assert place[3] - place[0] == 3  # four cells of 50 m in one square, then far away the others
    assert place[4] - place[3] > 1000
    middle = Points.from_records([[(0, 0.0, 0.0), (1, 120.0, 120.0)]])
    assert keys_of(middle, "place").place.tolist() == [place[3]]


def test_places_of_routes_and_stops() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("cd", "c", "d")])
    routes = Routes.from_records([["cd"], ["ab"], []], network=network)
    place = keys_of(routes, "place").place
    assert place[0] != place[1]
    located = replace(
        network, node_x=np.array([0.0, 0.0, 9000.0, 0.0]), node_y=np.array([0.0, 0.0, 9000.0, 0.0])
    )  # fmt: skip
    place = keys_of(replace(routes, network=located), "place").place
    assert place[0] > place[1]
    tree = Taxonomy.from_parents([("o", ""), ("x", "o"), ("y", "o"), ("x1", "x"), ("y1", "y")])
    stops = Stops.from_records([["y1"], ["x1"], []], taxonomy=tree)
    place = keys_of(stops, "place").place
    assert place[0] != place[1]


def test_a_trajectory_without_rows_stays_in_its_group() -> None:
    zeros = np.zeros(4, np.int64)
    keys = Keys(key=np.array([[1], [2], [2], [3]]), place=zeros, rows=np.array([4, 9, 0, 9]), person=np.arange(4))
    assert plan_blocks(keys, rows=9, people_apart=False).tolist() == [0, 0, 0, 1]
