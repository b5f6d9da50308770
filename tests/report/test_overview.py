import numpy as np
import pytest

from wayveil.model import Boxes, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.report.charts.bars import draw
from wayveil.report.suppression import MIN_PEOPLE
from wayveil.report.views.overview import balance, views

NAMES = ("raw data", "published data")


def by_title(charts):
    return {chart.title: chart for chart in charts}


def crowd(places, people, t=0):
    """Points of `people` persons, one trajectory each, all through the same places."""
    return [[(t + i, float(x), float(y)) for i, (x, y) in enumerate(places)] for _ in range(people)]


def test_cells_with_too_few_people_are_not_shown_of_the_raw_data():
    lonely = [[(0, 1000.0, 1000.0), (1, 1000.0, 1000.0)]] * (MIN_PEOPLE - 1)
    data = Points.from_records(crowd([(0, 0), (10, 0)], MIN_PEOPLE) + lonely)
    chart = by_title(views(data, data.take(np.arange(MIN_PEOPLE)), names=NAMES))["Where people are"]
    raw, made = (series.values for series in chart.series)
    shown = [value for value in raw if value is not None]
    assert sum(shown) == pytest.approx(2 * MIN_PEOPLE / (4 * MIN_PEOPLE - 2))
    assert sum(value for value in made if value is not None) == pytest.approx(1)
    assert max(line[2] for line in chart.lines) < 1000


def test_one_person_with_many_trajectories_is_one_person():
    data = Points.from_records(crowd([(0, 0), (9, 9)], MIN_PEOPLE), owner=[3] * MIN_PEOPLE)
    chart = by_title(views(data, data, names=NAMES))["Where people are"]
    assert all(value is None for value in chart.series[0].values)


def test_boxes_are_spread_over_the_cells_they_touch():
    data = Points.from_records(crowd([(0, 0), (360, 360)], MIN_PEOPLE))
    whole = Boxes.from_records([[(0, 0, 0.0, 360.0, 0.0, 360.0)], [(0, 0, 1.0, 2.0, 1.0, 2.0)]])
    chart = by_title(views(data, whole, names=NAMES))["Where people are"]
    made = {line[:2]: value for line, value in zip(chart.lines, chart.series[1].values, strict=True)}
    assert len(made) == 36 * 36
    assert sum(made.values()) == pytest.approx(1)
    assert made[(0.0, 0.0)] == pytest.approx(0.5 / 36**2 + 0.5)
    assert made[(100.0, 100.0)] == pytest.approx(0.5 / 36**2)


def test_hours_of_the_day():
    records = [[("a", 3600 * 8 + 5), ("b", 3600 * 20)], [("a", 86400 + 3600 * 8)]]
    data = Visits.from_records(records, time_format="epoch")
    chart = by_title(views(data, data.take(np.array([1])), names=NAMES))["When people move: hour of the day"]
    raw, made = (series.values for series in chart.series)
    assert (raw[8], raw[20], sum(raw)) == (pytest.approx(2 / 3), pytest.approx(1 / 3), pytest.approx(1))
    assert (made[8], sum(made)) == (1.0, 1.0)


def test_times_without_a_unit_are_cut_in_equal_parts():
    data = Visits.from_records([[("a", 10), ("a", 57)], [("a", 11)]])
    chart = by_title(views(data, data, names=NAMES))["When people move"]
    assert len(chart.labels) == 24
    assert chart.series[0].values[0] == pytest.approx(2 / 3)
    assert chart.series[0].values[-1] == pytest.approx(1 / 3)


def test_places_of_few_people_have_no_raw_number():
    rows = [[("market", 1)]] * MIN_PEOPLE + [[("cave", 1)]] * (MIN_PEOPLE - 1)
    data = Visits.from_records(rows)
    chart = by_title(views(data, data.take(np.arange(2)), names=NAMES))["The most visited places"]
    assert (chart.labels, chart.series[0].values, chart.series[1].values) == (("market",), (5.0,), (2.0,))


def test_published_nodes_that_nobody_visited_are_shown():
    tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Zoo", "Place")])
    data = Stops.from_records([["Park"]] * MIN_PEOPLE + [["Zoo"]], taxonomy=tree)
    made = Stops.from_records([["Place"]] * MIN_PEOPLE + [[]], taxonomy=tree)
    found = by_title(views(data, made, names=NAMES))
    chart = found["The most visited places"]
    rows = dict(zip(chart.labels, zip(*(s.values for s in chart.series), strict=True), strict=True))
    assert rows == {"Park": (5.0, 0.0), "Place": (None, 5.0)}
    assert found["How many people hide in a group"].labels[-1] == "5"
    assert "When people move" not in found


def test_roads_are_drawn_where_it_is_known_where_they_are():
    places = {"a": (0.0, 0.0), "b": (100.0, 0.0), "c": (100.0, 50.0)}
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")], places=places)
    data = Routes.from_records([["ab", "bc"]] + [["ab"]] * MIN_PEOPLE, network=network)
    other = Routes.from_records([["ab"]] * 3, network=RoadNetwork.from_roads([("ab", "a", "b")]))
    chart = by_title(views(data, other, names=NAMES))["Traffic"]
    assert (chart.labels, chart.lines) == (("ab",), ((0.0, 0.0, 100.0, 0.0),))
    assert [series.values for series in chart.series] == [(6.0,), (3.0,)]
    bare = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    data = Routes.from_records([["ab", "bc"]] + [["ab"]] * MIN_PEOPLE, network=bare)
    assert by_title(views(data, data, names=NAMES))["The busiest roads"].labels[0] == "ab"


def test_groups_count_people_published_alike():
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    data = Routes.from_records(
        [["ab", "bc"], ["ab", "bc"], ["ab"], ["bc", "ab"], ["ab", "bc"], []],
        network=network, slices=[(0, 1)] * 4 + [(1, 2)] * 2, owner=[1, 1, 2, 3, 4, 5],
    )  # fmt: skip
    chart = by_title(views(data, data, names=NAMES))["How many people hide in a group"]
    assert dict(zip(chart.labels, chart.series[0].values, strict=True)) == {"1": 4.0}


def test_groups_that_a_method_tells():
    data = Points.from_records(crowd([(0, 0), (9, 0)], 6))
    chart = by_title(views(data, data, np.array([0, 0, 0, 4, 4, -1]), names=NAMES))["How many people hide in a group"]
    assert dict(zip(chart.labels, chart.series[0].values, strict=True)) == {"1 to 2": 1.0, "3": 1.0}


def test_lengths_in_classes():
    data = Visits.from_records([[("a", t) for t in range(n)] for n in (1, 5, 6, 7)] + [[]])
    chart = by_title(views(data, data, names=NAMES))["How long trajectories are"]
    assert chart.labels == ("1", "2", "3", "4", "5 to 6", "7")
    assert chart.series[0].values == (0.25, 0.0, 0.0, 0.0, 0.5, 0.25)
    late = by_title(views(data.take(np.array([1, 3])), data.take(np.array([3])), names=NAMES))
    assert late["How long trajectories are"].labels == ("5 to 6", "7")
    assert late["How long trajectories are"].series[1].values == (0.0, 1.0)


@pytest.mark.parametrize(
    "data",
    [
        Points.from_records([]),
        Points.from_records([[]]),
        Visits.from_records([]),
        Points.from_records([[(5, 1.0, 1.0)]]),
    ],
)
def test_almost_nothing_is_drawn_without_an_error(data):
    for chart in views(data, data, names=NAMES):
        assert "<figure" in draw(chart)


def test_panels_share_one_scale_and_escape_names():
    places = {"a": (0.0, 0.0), "b": (100.0, 0.0)}
    network = RoadNetwork.from_roads([("<ab>", "a", "b")], places=places)
    data = Routes.from_records([["<ab>"]] * 10, network=network)
    chart = by_title(views(data, data.take(np.arange(1)), names=NAMES))["Traffic"]
    drawn = draw(chart)
    assert "<ab>" not in drawn
    assert "&lt;ab&gt;: 10" in drawn
    assert drawn.count("<svg") == 2
    assert "stroke-opacity: 1" in drawn
    assert "stroke-opacity: 0.28" in drawn


def test_rejected_data_are_guarded_like_raw_ones():
    rows = [[("market", 1)]] * MIN_PEOPLE + [[("cave", 1)]] * (MIN_PEOPLE - 1)
    data = Visits.from_records(rows)
    chart = by_title(views(data, data, names=NAMES, published=False))["The most visited places"]
    assert chart.labels == ("market",)
    points = Points.from_records([*crowd([(0, 0), (10, 0)], MIN_PEOPLE), [(0, 5.0, 5.0)]])
    made = by_title(views(points, points, names=NAMES, published=False))["Where people are"].series[1].values
    assert sum(value for value in made if value is not None) == pytest.approx(10 / 11)
    boxes = Boxes.from_records([[(0, 0, 0.0, 9.0, 0.0, 9.0)]])
    made = by_title(views(points, boxes, names=NAMES, published=False))["Where people are"].series[1].values
    assert set(made) == {None}
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    routes = Routes.from_records([["ab"]] * MIN_PEOPLE + [["bc"]], network=network)
    assert by_title(views(routes, routes, names=NAMES, published=False))["The busiest roads"].labels == ("ab",)


def test_cells_are_as_large_as_it_takes_to_see_half_of_the_data():
    places = [(float(x), float(y)) for x in range(0, 100, 10) for y in range(0, 100, 10)]
    data = Points.from_records([[(0, *place)] for place in places * 2])
    chart = by_title(views(data, data, names=NAMES))["Where people are"]
    assert "squares of 15" in chart.x_label
    # Of 6 columns and rows, 4 have two lines of places; where these meet there are 8 people, elsewhere 2 or 4.
    assert sum(value for value in chart.series[0].values if value) == pytest.approx(0.64)


def test_the_balance_of_points_goes_by_their_times():
    data = Points.from_records([[(0, 0.0, 0.0), (1, 0.0, 0.0)], [(0, 0.0, 0.0)], [(5, 0.0, 0.0)]], owner=[1, 1, 2])
    made = Points.from_records([[(1, 9.0, 9.0), (2, 9.0, 9.0)], [], [(5, 0.0, 0.0)]])
    assert balance(data, made) == {
        "trajectories": {"in": 3, "out": 2, "suppressed": 1, "invented": 0},
        "people": {"in": 2, "out": 2, "suppressed": 0, "invented": 0},
        "points": {"in": 4, "out": 3, "suppressed": 2, "invented": 1},
    }


def test_the_balance_of_boxes_goes_by_the_times_in_them():
    data = Points.from_records([[(t, 0.0, 0.0) for t in range(6)], [(0, 0.0, 0.0)], [(3, 0.0, 0.0)]])
    box = (0.0, 1.0, 0.0, 1.0)
    made = Boxes.from_records([[(1, 3, *box), (2, 4, *box)], [], [(4, 9, *box)]])
    assert balance(data, made)["points"] == {"in": 8, "out": 3, "suppressed": 4, "invented": None}
    nothing = Boxes.from_records([[], [], []])
    assert balance(data, nothing)["points"]["suppressed"] == 8


def test_the_balance_of_parts_and_dummies():
    network = RoadNetwork.from_roads([(name, name[0], name[1]) for name in ("ab", "bc", "cd")])
    data = Routes.from_records([["ab", "bc", "ab"], ["cd"]], network=network)
    other = RoadNetwork.from_roads([("cd", "c", "d"), ("ab", "a", "b"), ("bc", "b", "c")])
    made = Routes.from_records([["ab"], ["ab", "cd"], ["bc", "cd"]], network=other)
    found = balance(data, made, np.array([0, 0, -1]))
    assert found["trajectories"] == {"in": 2, "out": 3, "suppressed": 1, "invented": 1}
    # Of the first route bc is gone and cd is new; the second is gone; two roads of the dummy are new.
    assert found["roads"] == {"in": 4, "out": 5, "suppressed": 2, "invented": 3}


def test_the_balance_of_stops_counts_them():
    tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Zoo", "Place")])
    data = Stops.from_records([["Park", "Zoo"], ["Zoo"]], taxonomy=tree)
    made = Stops.from_records([["Place"], ["Place"]], taxonomy=tree)
    assert balance(data, made)["stops"] == {"in": 3, "out": 2, "suppressed": 1, "invented": 0}
