"""Inference routes against the definition, and against the verifier, which was written without this attack."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exposed_people import find_exposed
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.routes.route_inference import InferenceRoutes
from wayveil.engines import LocalEngine
from wayveil.model import RoadNetwork, Routes
from wayveil.verifiers.common.inferred_routes import find_inference_routes

ROADS = [("ab", "a", "b"), ("ba", "b", "a"), ("bc", "b", "c"), ("bd", "b", "d"), ("db", "d", "b"), ("cc", "c", "c")]
NETWORK = RoadNetwork.from_roads(ROADS)


def attack(data: Routes, k: int, row_share: str = "1/k") -> dict[str, float | None]:
    found = InferenceRoutes(k=k, row_share=row_share).run(
        data, data, sensitive={}, rng=np.random.default_rng(0), engine=LocalEngine()
    )
    return dict(found.measured)


@st.composite
def routes(draw: st.DrawFn) -> Routes:
    ways = draw(st.lists(st.lists(st.sampled_from([r[0] for r in ROADS]), max_size=4), min_size=1, max_size=12))
    slices = draw(st.lists(st.sampled_from([(0, 10), (10, 20)]), min_size=len(ways), max_size=len(ways)))
    owner = draw(st.lists(st.integers(0, 8), min_size=len(ways), max_size=len(ways)))
    dummies = draw(st.sets(st.integers(0, len(ways) - 1), max_size=2))
    people = [-1 - i if i in dummies else who for i, who in enumerate(owner)]
    return Routes.from_records(ways, network=NETWORK, slices=slices, owner=people)


@given(routes(), st.integers(2, 4), st.sampled_from(["1/k", "1/k", "1/2", "3/4"]))
@settings(deadline=None, max_examples=200, derandomize=True)
def test_matches_the_definition_and_the_verifier(data: Routes, k: int, row_share: str) -> None:
    share = Fraction(1, k) if row_share == "1/k" else Fraction(row_share)
    nodes, pairs, exposed = find_exposed(data, k, share)
    found = attack(data, k, row_share)
    assert found["intersections"] == len(nodes)
    assert found["pairs_of_roads"] == len(pairs)
    assert found["exposed_people"] == len(exposed)
    rows = [t for t in range(len(data)) if data.record(t) and data.owner[t] >= 0]
    people = len({int(data.owner[t]) for t in rows})
    assert found["exposed_people_share"] == (len(exposed) / people if people else None)
    assert find_inference_routes(data, k, share=share, count="everybody").intersections == len(nodes)


def test_dummies_cannot_be_told_apart_and_expose_nobody() -> None:
    ways = [["ab", "bc"]] * 3 + [["ab"]] * 3
    padded = Routes.from_records(ways, network=NETWORK, owner=[0, 1, -1, 2, 3, -1])
    assert attack(padded, 3)["exposed_people"] == 0
    assert find_inference_routes(padded, 3, count="everybody").intersections == 0
    alone = attack(Routes.from_records(ways[:4], network=NETWORK, owner=[0, 1, 2, -1]), 3)
    assert (alone["intersections"], alone["exposed_people"]) == (1, 0)


def test_one_person_with_two_hundred_trips_is_found_among_those_who_part() -> None:
    ways = [["ab", "bc"]] * 4 + [["ab"]] * 203
    data = Routes.from_records(ways, network=NETWORK, owner=[0, 1, 2, 3, *[0] * 200, 1, 2, 3])
    assert attack(data, 3)["exposed_people"] == 1
    assert attack(data, 3, "0.99")["exposed_people"] == 0


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
