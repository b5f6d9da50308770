"""Inference routes against the definition, and against the verifier, which was written without this attack."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.inference_routes import InferenceRoutes
from wayveil.engines import LocalEngine
from wayveil.model import RoadNetwork, Routes
from wayveil.verify.inference_routes import find_inference_routes

ROADS = [("ab", "a", "b"), ("ba", "b", "a"), ("bc", "b", "c"), ("bd", "b", "d"), ("db", "d", "b"), ("cc", "c", "c")]
NETWORK = RoadNetwork.from_roads(ROADS)


def attack(data: Routes, k: int) -> dict[str, float | None]:
    found = InferenceRoutes(k=k).run(data, data, sensitive={}, rng=np.random.default_rng(0), engine=LocalEngine())
    return dict(found.measured)


def oracle(data: Routes, k: int) -> tuple[set, set, set]:
    """Definition 2: (intersections, pairs with a side, people), per slice."""
    nodes, pairs, exposed = set(), set(), set()
    for moment in set(zip(data.t_start.tolist(), data.t_end.tolist(), strict=True)):
        on: dict[str, set[int]] = {name: set() for name, _, _ in ROADS}
        for t in range(len(data)):
            if (int(data.t_start[t]), int(data.t_end[t])) == moment:
                for road in data.record(t):
                    on[road].add(t)

        def people(of: set[int]) -> set[int]:
            return {int(data.owner[t]) for t in of if data.owner[t] >= 0}

        for (i, _, node), (j, start, _) in product(ROADS, ROADS):
            if node == start and len(people(on[i])) >= k and len(people(on[j])) >= k:
                for side, few in (("i", people(on[i] - on[j])), ("j", people(on[j] - on[i]))):
                    if 0 < len(few) < k:
                        nodes.add((moment, node))
                        pairs.add((moment, i, j, side))
                        exposed |= few
    return nodes, pairs, exposed


@st.composite
def routes(draw: st.DrawFn) -> Routes:
    ways = draw(st.lists(st.lists(st.sampled_from([r[0] for r in ROADS]), max_size=4), min_size=1, max_size=12))
    slices = draw(st.lists(st.sampled_from([(0, 10), (10, 20)]), min_size=len(ways), max_size=len(ways)))
    owner = draw(st.lists(st.integers(0, 8), min_size=len(ways), max_size=len(ways)))
    dummies = draw(st.sets(st.integers(0, len(ways) - 1), max_size=2))
    people = [-1 - i if i in dummies else who for i, who in enumerate(owner)]
    return Routes.from_records(ways, network=NETWORK, slices=slices, owner=people)


@given(routes(), st.integers(2, 4))
@settings(deadline=None, max_examples=200)
def test_matches_the_definition_and_the_verifier(data: Routes, k: int) -> None:
    nodes, pairs, exposed = oracle(data, k)
    found = attack(data, k)
    assert found["intersections"] == len(nodes)
    assert found["pairs_of_roads"] == len(pairs)
    assert found["exposed_people"] == len(exposed)
    rows = [t for t in range(len(data)) if data.record(t) and data.owner[t] >= 0]
    people = len({int(data.owner[t]) for t in rows})
    assert found["exposed_people_share"] == (len(exposed) / people if people else None)
    assert find_inference_routes(data, k).intersections == len(nodes)


def test_figure_1_of_the_paper() -> None:
    data = Routes.from_records([["ab", "bc"]] * 3 + [["ab"]], network=NETWORK)
    assert attack(data, 3)["intersections"] == 1
    assert attack(data, 3)["exposed_people"] == 1
    safe = Routes.from_records([["ab", "bc"]] * 4, network=NETWORK)
    assert attack(safe, 3)["exposed_people_share"] == 0
    hidden = replace(data, owner=np.zeros(4, np.int64), owners="hidden")
    assert attack(hidden, 3)["exposed_people"] == 1


@pytest.mark.parametrize("ways", [[], [[]], [["ab"]]])
def test_nothing_to_follow(ways: list[list[str]]) -> None:
    found = attack(Routes.from_records(ways, network=NETWORK), 2)
    assert (found["intersections"], found["exposed_people"]) == (0, 0)
