"""The map as data: what few people have is left out before anything is told, in all and in every slice of time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.methods import Counts
from wayveil.model import Boxes, Points, RoadNetwork, Routes, Trips, Visits
from wayveil.report.suppression import MIN_PEOPLE
from wayveil.report.views.map_geometry import MOST_LINES, Frame
from wayveil.report.views.map_view import map_view

NAMES = ("raw data", "published data")


def crowd(places: Any, people: int, t: int = 0) -> list[Any]:
    """Points of `people` persons, one trajectory each, all through the same places."""
    return [[(t + i, float(x), float(y)) for i, (x, y) in enumerate(places)] for _ in range(people)]


def made(before: Any, after: Any, **how: Any) -> Any:
    found = map_view(before, after, names=NAMES, **how)
    assert found is not None
    return found


def present(values: Any) -> list[float]:
    return [value for value in values if value is not None]


def test_cells_with_too_few_people_are_not_told_of_the_raw_data() -> None:
    lonely = [[(0, 1000.0, 1000.0), (1, 1000.0, 1000.0)]] * (MIN_PEOPLE - 1)
    data = Points.from_records(crowd([(0, 0), (10, 0)], MIN_PEOPLE) + lonely)
    found = made(data, data.take(np.arange(MIN_PEOPLE)))
    assert sum(present(found.marks.raw)) == pytest.approx(2 * MIN_PEOPLE / (4 * MIN_PEOPLE - 2), rel=1e-4)
    assert sum(present(found.marks.published)) == pytest.approx(1)
    assert max(x * found.step + found.origin[0] for x in found.marks.x2) < 1000
    assert set(present(found.marks.raw_people)) == {MIN_PEOPLE}


def test_slices_leave_out_few_people_on_their_own() -> None:
    """Five people are at a place, but only one of them in the evening: the day is told, the evening is not."""
    day = [[(8 * 3600, 0.0, 0.0), (8 * 3600 + 60, 500.0, 0.0)] for _ in range(MIN_PEOPLE)]
    evening = [[(20 * 3600, 0.0, 0.0)]]
    data = Points.from_records(day + evening, owner=[*range(MIN_PEOPLE), 0], time_format="epoch")
    found = made(data, data.take(np.arange(MIN_PEOPLE)))
    assert [one.label for one in found.slices][8] == "08:00 to 09:00"
    assert present(found.slices[8].raw)
    assert present(found.slices[20].raw) == []
    assert all(set(one.marks) <= set(range(len(found.marks.x))) for one in found.slices)


def test_one_person_with_many_trajectories_is_one_person() -> None:
    data = Points.from_records(crowd([(0, 0), (9, 9)], MIN_PEOPLE), owner=[3] * MIN_PEOPLE)
    assert present(made(data, data).marks.raw) == []


def test_boxes_are_spread_over_the_cells_they_touch() -> None:
    data = Points.from_records(crowd([(0, 0), (480, 480)], MIN_PEOPLE))
    whole = Boxes.from_records([[(0, 0, 0.0, 480.0, 0.0, 480.0)], [(0, 0, 1.0, 2.0, 1.0, 2.0)]], owner=[1, 2])
    marks = made(data, whole).marks
    assert len(marks.x) == 48 * 48
    assert sum(present(marks.published)) == pytest.approx(1, rel=1e-3)
    assert max(present(marks.published)) == pytest.approx(0.5 / 48**2 + 0.5, rel=1e-3)
    assert min(present(marks.published)) == pytest.approx(0.5 / 48**2, rel=1e-3)
    assert sorted(set(present(marks.published_people))) == [1, 2]


def test_cells_are_as_large_as_it_takes_to_see_half_of_the_data() -> None:
    places = [(float(x), float(y)) for x in range(0, 100, 10) for y in range(0, 100, 10)]
    data = Points.from_records([[(0, *place)] for place in places * 2])
    found = made(data, data)
    assert "squares of 15" in found.below
    # Of 6 columns and rows, 4 have two lines of places; where these meet there are 8 people, elsewhere 2 or 4.
    assert sum(present(found.marks.raw)) == pytest.approx(0.64)


def test_roads_are_told_where_it_is_known_where_they_are() -> None:
    places = {"a": (0.0, 0.0), "b": (100.0, 0.0), "c": (100.0, 50.0)}
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")], places=places)
    data = Routes.from_records([["ab", "bc"]] + [["ab"]] * MIN_PEOPLE, network=network)
    other = Routes.from_records([["ab"]] * 3, network=RoadNetwork.from_roads([("ab", "a", "b")]))
    found = made(data, other)
    assert (found.marks.kind, found.marks.labels, found.marks.raw, found.marks.published) == ("roads", ["ab"], [6], [3])
    assert len(found.background.offsets) == 3, "the network lies below, whoever drove on it"
    bare = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    data = Routes.from_records([["ab", "bc"]] + [["ab"]] * MIN_PEOPLE, network=bare)
    assert map_view(data, data, names=NAMES) is None


def test_places_of_visits_are_told_where_it_is_known_where_they_are() -> None:
    rows = [[("market", 1)]] * MIN_PEOPLE + [[("cave", 1)]] * (MIN_PEOPLE - 1)
    data = Visits.from_records(rows)
    assert map_view(data, data, names=NAMES) is None
    known = replace(data, place_x=np.array([0.0, 50.0]), place_y=np.array([0.0, 20.0]))
    found = made(known, known.take(np.arange(2)))
    assert (found.marks.kind, found.marks.labels) == ("places", ["market"])
    assert (found.marks.raw, found.marks.published) == ([MIN_PEOPLE], [2])


def test_rejected_data_are_guarded_like_raw_ones_and_have_no_lines() -> None:
    points = Points.from_records([*crowd([(0, 0), (10, 0)], MIN_PEOPLE), [(0, 5.0, 5.0)]])
    found = made(points, points, published=False)
    assert sum(present(found.marks.published)) == pytest.approx(10 / 11, rel=1e-4)
    assert found.layers == []
    boxes = Boxes.from_records([[(0, 0, 0.0, 9.0, 0.0, 9.0)]])
    assert present(made(points, boxes, published=False).marks.published) == []


def test_raw_trajectories_are_there_only_where_they_were_asked_for() -> None:
    data = Points.from_records(crowd([(0, 0), (10, 3), (20, 9)], MIN_PEOPLE))
    assert [layer.raw for layer in made(data, data).layers] == [False]
    assert [layer.raw for layer in made(data, data, with_raw=True).layers] == [True, False]


def test_lines_come_back_from_changes_in_whole_steps() -> None:
    track = [(0, 0), (100, 40), (30, 90), (250, 10)]
    data = Points.from_records(crowd(track, MIN_PEOPLE))
    found = made(data, data)
    (layer,) = found.layers
    x, y = (np.cumsum(values) * found.step + low for values, low in zip((layer.x, layer.y), found.origin, strict=True))
    first = slice(layer.offsets[0], layer.offsets[1])
    assert np.allclose(np.stack([x[first], y[first]], axis=1), track, atol=found.step)
    assert (layer.total, layer.shown) == (MIN_PEOPLE, MIN_PEOPLE)


def test_so_many_trajectories_are_shown_at_most() -> None:
    data = Points.from_records(crowd([(0, 0), (1, 1)], MOST_LINES + 10))
    (layer,) = made(data, data).layers
    assert (layer.shown, layer.total) == (MOST_LINES, MOST_LINES + 10)
    assert len(layer.offsets) == MOST_LINES + 1


def test_a_frame_places_points_on_whole_steps() -> None:
    x, y = Frame(x=100.0, y=50.0, step=2.0).place(np.array([100.0, 105.1]), np.array([50.0, 48.0]))
    assert (x.tolist(), y.tolist()) == ([0, 3], [0, -1])


@pytest.mark.parametrize("data", [Points.from_records([]), Points.from_records([[]])])
def test_nothing_has_no_map(data: Any) -> None:
    assert map_view(data, data, names=NAMES) is None


def test_the_finding_says_how_much_lies_elsewhere() -> None:
    data = Points.from_records(crowd([(0, 0), (100, 100)], MIN_PEOPLE))
    moved = Points.from_records(crowd([(0, 0), (0, 0)], MIN_PEOPLE))
    assert made(data, data).finding == "The published points lie where the raw ones do"
    assert made(data, moved).finding.replace("\xa0", " ").startswith("50 % of the published points lie elsewhere")


def test_zones_are_drawn_as_their_outlines_and_small_ones_are_left_out() -> None:
    square = np.array([0.0, 100, 100, 0, 0]), np.array([0.0, 0, 100, 100, 0])
    zones = {name: (square[0] + 100 * i, square[1]) for i, name in enumerate(("west", "middle", "east"))}
    before = Visits.from_records([[("west", 1), ("middle", 2)]] * 5 + [[("east", 1), ("nowhere", 3)]] * 4)
    after = Visits.from_records([[("west", 1)]] * 3)
    found = map_view(before, after, names=("raw", "published"), zones=zones)
    assert found is not None
    assert found.marks is not None
    assert found.marks.kind == "zones"
    assert (found.marks.labels, found.marks.raw, found.marks.published) == (["west", "middle"], [5, 5], [3, None])
    assert found.marks.raw_people == [5, 5]
    assert found.marks.outlines is not None
    assert found.marks.outlines.offsets == [0, 5, 10]
    corner = found.origin[0] + found.step * found.marks.outlines.x[0]
    assert abs(corner) < 1


def test_lines_say_in_which_slice_of_time_they_are() -> None:
    walk = [[(60 * t, 100.0 * t, 0.0) for t in range(48)] for _ in range(6)]
    found = map_view(Points.from_records(walk), Points.from_records(walk), names=("raw", "published"))
    assert found is not None
    (layer,) = found.layers
    assert len(found.slices) == 24
    assert len(layer.slices) == len(layer.x)
    first = layer.slices[: layer.offsets[1]]
    # A straight line is two corners, but for those that begin a slice.
    assert sorted(set(first)) == list(range(24))
    assert first == sorted(first)


def test_a_side_says_whether_nothing_means_few_people() -> None:
    data = Points.from_records(crowd([(0, 0), (10, 0)], MIN_PEOPLE))
    assert made(data, data).marks.withheld == (True, False)
    assert made(data, data, published=False).marks.withheld == (True, True)


def test_what_is_withheld_is_not_told_as_moved() -> None:
    """Four people stand alone, and all is published as it is: nothing moved, although their squares are withheld."""
    lonely = [[(0, 1000.0 * i, 5000.0)] for i in range(MIN_PEOPLE - 1)]
    data = Points.from_records(crowd([(0, 0), (10, 0)], MIN_PEOPLE) + lonely)
    found = made(data, data)
    assert None in found.marks.raw
    assert found.finding == "The published points lie where the raw ones do"


SQUARE = np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
ZONES = {name: (SQUARE[0] * 100 + 100 * i, SQUARE[1] * 100) for i, name in enumerate(("a", "b", "c"))}


def counts_of(data: Any, **how: Any) -> Any:
    method = Counts(k=5, **how)
    table = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine()).data
    return map_view(data, table, names=NAMES, zones=ZONES, cells=method.metric_settings["count_error"])


def test_zones_of_a_table_stand_beside_the_true_counts() -> None:
    hour = 3600
    rows = [[("a", 8 * hour), ("b", 9 * hour)]] * 6 + [[("a", 8 * hour)]] * 3 + [[("c", 40 * hour)]] * 2
    data = Visits.from_records(rows, time_format="epoch")
    found = counts_of(data, every="1h")
    marks = dict(zip(found.marks.labels, zip(found.marks.raw, found.marks.published, strict=True), strict=True))
    assert marks == {"a": (9.0, 9.0), "b": (6.0, 6.0)}  # c has two people: neither side tells it
    assert (found.marks.kind, found.marks.missing, found.layers) == ("zones", "not published", [])
    assert found.finding == "The published numbers add up to 88.2\N{NO-BREAK SPACE}% of the people that were counted"
    at_nine = found.slices[9]
    assert [found.marks.labels[i] for i in at_nine.marks] == ["b"]
    # Whoever comes in two hours counts in both: a mark of several times does not say how many people it is.
    assert found.marks.published_people == [None, None]
    assert dict(zip(found.marks.labels, found.marks.raw_people, strict=True)) == {"a": 9, "b": 6}


def test_flows_of_a_table_are_lines_from_zone_to_zone() -> None:
    data = Visits.from_records([[("a", 1), ("b", 2)]] * 7 + [[("b", 1), ("b", 2)]] * 5 + [[("c", 1), ("a", 2)]] * 3)
    found = counts_of(data, tally="flows", every="all")
    drawn = {
        label: (x < x2, value, people)
        for label, x, x2, value, people in zip(
            found.marks.labels, found.marks.x, found.marks.x2, found.marks.published, found.marks.published_people,
            strict=True,
        )
    }  # fmt: skip
    assert drawn == {"a → b": (True, 7.0, 7), "b → b": (False, 5.0, 5)}
    assert (found.marks.kind, found.title, found.slices) == ("flows", "Where people go", [])


def test_a_table_of_trips_counts_both_ends_at_their_place() -> None:
    data = Trips.from_ends([("a", 1, "b", 2)] * 6)
    found = counts_of(data, every="all")
    assert dict(zip(found.marks.labels, found.marks.published, strict=True)) == {"a": 6.0, "b": 6.0}


def test_a_table_of_roads_lies_on_the_roads_and_one_without_places_nowhere() -> None:
    network = RoadNetwork.from_roads([("ab", "a", "b")])
    placed = replace(network, node_x=np.array([0.0, 50.0]), node_y=np.array([0.0, 0.0]))
    method = Counts(k=5, every="all")
    for roads, kind in ((placed, "roads"), (network, None)):
        data = Routes.from_records([["ab"]] * 6, network=roads)
        table = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine()).data
        found = map_view(data, table, names=NAMES, cells=method.metric_settings["count_error"])
        assert (None if found is None else found.marks.kind) == kind


def test_trips_in_zones_are_drawn_without_the_words_for_their_ends() -> None:
    data = Trips.from_ends([("a", 1, "b", 2)] * 6)
    found = made(data, data, zones=ZONES)
    assert dict(zip(found.marks.labels, found.marks.raw, strict=True)) == {"a": 6.0, "b": 6.0}
    assert found.below.startswith("Ends of trips per zone.")
