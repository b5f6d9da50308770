import pytest

from wayveil.model import Boxes, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.report.views.equivalence_groups import alike

BOX = (0, 9, 0.0, 1.0, 0.0, 1.0)


def groups(data):
    """The trajectories of each group, without those that are in none."""
    found = {}
    for trajectory, number in enumerate(alike(data).tolist()):
        if number >= 0:
            found.setdefault(number, []).append(trajectory)
    return sorted(found.values())


@pytest.mark.parametrize("column", range(6))
def test_boxes_are_alike_in_all_of_their_sides(column):
    other = tuple(value + (i == column) / 2 if i > 1 else value - (i == column) for i, value in enumerate(BOX))
    data = Boxes.from_records([[BOX], [other], [BOX], [], [BOX, (10, 10, *BOX[2:])], [other]])
    assert groups(data) == [[0, 2], [1, 5], [4]]


def test_routes_are_alike_if_roads_order_and_slice_are():
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    records = [["ab", "bc"], ["bc", "ab"], ["ab", "bc"], ["ab", "bc"], ["ab"], [], ["ab", "bc"], ["bc"]]
    slices = [(0, 1), (0, 1), (0, 1), (1, 2), (0, 1), (0, 1), (0, 2), (0, 1)]
    data = Routes.from_records(records, network=network, slices=slices)
    assert groups(data) == [[0, 2], [1], [3], [4], [6], [7]]


def test_stops_are_alike_in_what_is_not_sensitive():
    tree = Taxonomy.from_parents(
        [("Place", ""), ("Park", "Place"), ("Shop", "Place"), ("Clinic", "Place")], sensitive=["Clinic"]
    )
    records = [["Park", "Clinic"], ["Park"], ["Clinic"], ["Shop"], [], ["Clinic", "Clinic"], ["Park", "Park"]]
    data = Stops.from_records(records, taxonomy=tree)
    assert groups(data) == [[0, 1], [2, 5], [3], [6]]


def test_visits_and_points_have_no_such_groups():
    assert alike(Visits.from_records([[("a", 1)]] * 2)) is None
    assert alike(Points.from_records([[(0, 0.0, 0.0)]] * 2)) is None
