"""Inference routes against Definition 2, written out with sets of trajectories."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.data.routes import RoadNetwork, Routes
from wayveil.verifiers.common import inferred_routes
from wayveil.verifiers.common.inferred_routes import RouteGroups, find_inference_routes

NODES = "ABCD"
NETWORK = RoadNetwork.from_roads(
    [(a + b, a, b) for a in NODES for b in NODES if a != b] + [("CC", "C", "C"), ("AB2", "A", "B")]
)

# ---------------------------------------------------------------------------------------------------- the definition


def oracle(data, k, count="people", share=None):
    """All findings as (slice, node, in, out, direction, |in|, |out|, few), from sets of trajectories."""
    network = data.network
    share = Fraction(1, k) if share is None else share
    owner = data.owner.tolist()
    if count == "everybody":
        owner = [one if one >= 0 else 1000 + i for i, one in enumerate(owner)]
    if data.owners == "hidden":
        owner = list(range(len(data)))

    def is_dominated(trajectories):
        rows = Counter(owner[i] for i in trajectories if owner[i] >= 0)
        return bool(rows) and Fraction(max(rows.values()), sum(rows.values())) > share

    def size(trajectories):
        return len({owner[i] for i in trajectories if owner[i] >= 0})

    found = set()
    slices = set(zip(data.t_start.tolist(), data.t_end.tolist(), strict=True))
    for one in slices:
        inside = [i for i in range(len(data)) if (data.t_start[i], data.t_end[i]) == one]
        on = {road: {i for i in inside if road in data.record(i)} for road in network.roads}
        for i, road_in in enumerate(network.roads):
            for j, road_out in enumerate(network.roads):
                if network.to_node[i] != network.from_node[j]:
                    continue
                coming, going = on[road_in], on[road_out]
                if size(coming) < k or size(going) < k:
                    continue
                node = network.nodes[network.to_node[i]]
                for direction, few in (("leave", coming - going), ("join", going - coming)):
                    if 0 < size(few) < k or is_dominated(few):
                        found.add((one, node, road_in, road_out, direction, size(coming), size(going), size(few)))
    return found


def flat(found):
    records = [found.record(i) for i in range(len(found))]
    names = ("node", "road_in", "road_out", "direction", "n_in", "n_out", "few")
    return [(tuple(one["slice"]), *(one[name] for name in names)) for one in records]


@st.composite
def routes(draw, max_size=14):
    kinds = [draw(st.lists(st.sampled_from(NETWORK.roads), max_size=5)) for _ in range(draw(st.integers(1, 4)))]
    n = draw(st.integers(0, max_size))
    records = [draw(st.sampled_from([*kinds, ["AB", "BC"], ["AB"]])) for _ in range(n)]
    slices = [draw(st.sampled_from([(0, 5), (0, 5), (0, 9), (6, 9)])) for _ in range(n)]
    data = Routes.from_records(
        records, network=NETWORK, slices=slices, owner=[draw(st.integers(-2, 6)) for _ in range(n)]
    )
    return replace(data, owners=draw(st.sampled_from(["given", "given", "declared", "hidden"])))


@given(
    routes(),
    st.integers(1, 4),
    st.sampled_from(["people", "everybody"]),
    st.sampled_from([None, None, Fraction(1, 2), Fraction(3, 4), Fraction(1)]),
    st.sampled_from([1, 7, 10**6]),
)
@settings(deadline=None, max_examples=250, derandomize=True)
def test_findings_are_the_definition(data, k, count, share, chunk):
    before, inferred_routes.CHUNK_ROWS = inferred_routes.CHUNK_ROWS, chunk
    try:
        found = find_inference_routes(data, k, count=count, share=share)
    finally:
        inferred_routes.CHUNK_ROWS = before
    listed, expected = flat(found), oracle(data, k, count, share)
    assert len(listed) == len(set(listed)) == len(found)
    assert set(listed) == expected
    assert found.intersections == len({(one[0], one[1]) for one in expected})


@given(st.data(), st.integers(2, 4))
@settings(deadline=None, max_examples=150)
def test_groups_of_identical_trajectories_have_none(data, k):
    """Theorem 4.1, also where people are in several groups of the same slice."""
    records, owner = [], []
    for _ in range(data.draw(st.integers(1, 5))):
        route = data.draw(st.lists(st.sampled_from(NETWORK.roads), min_size=1, max_size=5))
        people = data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=8, unique=True))
        records += [route] * len(people)
        owner += people
    published = Routes.from_records(records, network=NETWORK, owner=owner)
    assert len(find_inference_routes(published, k)) == 0
    assert len(find_inference_routes(published, k, count="everybody")) == 0


@given(routes(), st.integers(1, 3), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_order_of_trajectories_does_not_matter(data, k, random):
    order = list(range(len(data)))
    random.shuffle(order)
    assert flat(find_inference_routes(data.take(np.array(order, np.int64)), k)) == flat(find_inference_routes(data, k))


# ------------------------------------------------------------------------------------------------------ known answers


def test_figure_1_of_the_reference():
    data = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=NETWORK)
    assert flat(find_inference_routes(data, 3)) == [((0, 0), "B", "AB", "BC", "leave", 4, 3, 1)]
    assert find_inference_routes(data, 3).intersections == 1
    for fine in ([["AB", "BC"]] * 4, [["AB", "BC"]] * 3 + [["AB"]] * 3, [["AB", "BC"]] * 2 + [["AB"]]):
        assert len(find_inference_routes(Routes.from_records(fine, network=NETWORK), 3)) == 0


def test_those_who_join_are_found_as_well():
    data = Routes.from_records([["AB", "BC"]] * 3 + [["DB", "BC"]], network=NETWORK)
    assert flat(find_inference_routes(data, 3)) == [((0, 0), "B", "AB", "BC", "join", 3, 4, 1)]


def test_another_slice_is_another_crowd():
    records = [["AB", "BC"]] * 3 + [["AB"]]
    data = Routes.from_records(records, network=NETWORK, slices=[(0, 5)] * 3 + [(0, 6)])
    assert len(find_inference_routes(data, 3)) == 0
    data = Routes.from_records(records * 2, network=NETWORK, slices=[(0, 5)] * 4 + [(5, 9)] * 4)
    assert [one[0] for one in flat(find_inference_routes(data, 3))] == [(0, 5), (5, 9)]
    assert find_inference_routes(data, 3).intersections == 2


def test_sizes_are_people_and_sets_are_trajectories():
    records = [["AB", "BC"]] * 3 + [["AB"]] * 3
    twice = Routes.from_records(records, network=NETWORK, owner=[0, 1, 2, 3, 3, 4])
    assert flat(find_inference_routes(twice, 3))[0][-1] == 2
    assert len(find_inference_routes(replace(twice, owners="hidden"), 3)) == 0
    # Person 3 also goes on, but as another trajectory: whoever sees the data sees one that does not.
    both = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=NETWORK, owner=[1, 2, 3, 3])
    assert flat(find_inference_routes(both, 3)) == [((0, 0), "B", "AB", "BC", "leave", 3, 3, 1)]


def test_dummies_are_nobody():
    records = [["AB", "BC"]] * 3 + [["AB"]] * 3
    data = Routes.from_records(records, network=NETWORK, owner=[0, 1, 2, 3, 4, -1])
    assert flat(find_inference_routes(data, 3))[0][-1] == 2
    assert len(find_inference_routes(data, 3, count="everybody")) == 0
    data = Routes.from_records(records[:4], network=NETWORK, owner=[0, 1, 2, -1])
    assert len(find_inference_routes(data, 3)) == 0
    assert len(find_inference_routes(data, 3, count="everybody")) == 1


def test_one_person_may_be_too_many_of_those_who_part():
    records = [["AB", "BC"]] * 4 + [["AB"]] * 5
    data = Routes.from_records(records, network=NETWORK, owner=[0, 1, 2, 3, 0, 0, 1, 2, 3])
    assert flat(find_inference_routes(data, 3)) == [((0, 0), "B", "AB", "BC", "leave", 4, 4, 4)]
    assert len(find_inference_routes(data, 3, share=Fraction(2, 5))) == 0


@pytest.mark.parametrize("records", [[], [[]], [[], []], [["AB"]]])
def test_nothing_or_one_trajectory(records):
    found = find_inference_routes(Routes.from_records(records, network=NETWORK), 2)
    assert (len(found), found.intersections) == (0, 0)


def test_findings_name_nobody():
    data = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=NETWORK, owner=[901, 902, 903, 904])
    assert "90" not in str(find_inference_routes(data, 3).record(0))


def test_groups_keep_who_is_in_them_when_taken_in_another_order():
    data = Routes.from_records([["AB"], ["BC"], [], ["AB"]], network=NETWORK, owner=[7, 8, 9, 3])
    groups = RouteGroups.of(data)
    turned = groups.take(np.array([1, 0]))
    assert turned.first.tolist() == groups.first[::-1].tolist()
    assert turned.people[turned.group].tolist() == groups.people[groups.group].tolist() == [2, 1, 2]
    assert turned.rows[turned.group].tolist() == [2, 1, 2]
    assert (turned.largest.tolist(), turned.times.tolist()) == ([1, 1], [1, 1, 1])
    assert sorted(turned.person[turned.starts[1] :].tolist()) == sorted(groups.person[: groups.starts[1]].tolist())
