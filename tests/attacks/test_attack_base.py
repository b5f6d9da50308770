from dataclasses import replace

import pytest

from wayveil.attacks.attack_base import owners_of
from wayveil.model import Boxes, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits

OWNER = [7, 3, 7]
PLACES = Taxonomy.from_parents([("Place", ""), ("Park", "Place")])
ROADS = RoadNetwork.from_roads([("ab", "a", "b")])

WHOLE = [
    Visits.from_records([[("a", 1)]] * 3, owner=OWNER),
    Points.from_records([[(0, 0.0, 0.0)]] * 3, owner=OWNER),
]
IN_PARTS = [
    Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)]] * 3, owner=OWNER),
    Routes.from_records([["ab"]] * 3, network=ROADS, owner=OWNER),
    Stops.from_records([["Park"]] * 3, taxonomy=PLACES, owner=OWNER),
]


@pytest.mark.parametrize("data", [*WHOLE, *IN_PARTS], ids=lambda data: type(data).__name__)
def test_owners_that_are_given_count_once_and_those_withheld_say_nothing(data):
    assert owners_of(data).tolist() == [1, 0, 1]
    assert owners_of(replace(data, owners="hidden")).tolist() == [0, 1, 2]


@pytest.mark.parametrize("data", WHOLE, ids=lambda data: type(data).__name__)
def test_assumed_owners_of_whole_trajectories_say_nothing(data):
    assert owners_of(replace(data, owners="declared")).tolist() == [0, 1, 2]


@pytest.mark.parametrize("data", IN_PARTS, ids=lambda data: type(data).__name__)
def test_assumed_owners_tell_the_parts_of_a_trajectory(data):
    assert owners_of(replace(data, owners="declared")).tolist() == [1, 0, 1]
