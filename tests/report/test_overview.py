import numpy as np
import pytest

from wayveil.model import Boxes, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.report.suppression import MIN_PEOPLE
from wayveil.report.views.overview import balance, views

NAMES = ("raw data", "published data")


def by_title(charts):
    return {chart.title: chart for chart in charts}


def crowd(places, people, t=0):
    """Points of `people` persons, one trajectory each, all through the same places."""
    return [[(t + i, float(x), float(y)) for i, (x, y) in enumerate(places)] for _ in range(people)]


def test_hours_of_the_day():
    records = [[("a", 3600 * 8 + 5), ("b", 3600 * 20)], [("a", 86400 + 3600 * 8)]]
    data = Visits.from_records(records * MIN_PEOPLE, time_format="epoch")
    chart = by_title(views(data, data.take(np.array([1])), names=NAMES))["When people move"]
    raw, made = (series.values for series in chart.series)
    assert [(series.people[8], series.people[20]) for series in chart.series] == [(10, 5), (1, 0)]
    assert (raw[8], raw[20], sum(raw)) == (pytest.approx(2 / 3), pytest.approx(1 / 3), pytest.approx(1))
    assert (made[8], sum(made)) == (1.0, 1.0)


def test_times_without_a_unit_are_cut_in_equal_parts():
    data = Visits.from_records([[("a", 10), ("a", 57)], [("a", 11)]] * MIN_PEOPLE)
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
    data = Visits.from_records([[("a", t) for t in range(n)] for n in (1, 5, 6, 7)] * MIN_PEOPLE + [[]])
    chart = by_title(views(data, data, names=NAMES))["How long trajectories are"]
    assert chart.labels == ("1", "2", "3", "4", "5 to 6", "7")
    assert chart.series[0].values == (0.25, 0.0, 0.0, 0.0, 0.5, 0.25)
    late = by_title(views(data.take(np.array([1, 3])), data.take(np.array([3])), names=NAMES))
    assert late["How long trajectories are"].labels == ("5 to 6", "7")
    assert late["How long trajectories are"].series[1].values == (0.0, 1.0)


def test_hours_and_lengths_of_few_people_have_no_raw_number():
    rows = (
        [[("a", 3600 * 8)]] * MIN_PEOPLE
        + [[("a", 86400 * 2)]] * MIN_PEOPLE
        + [[("a", 3600 * 3), ("b", 3600 * 4)]] * (MIN_PEOPLE - 1)
    )
    data = Visits.from_records(rows, time_format="epoch")
    charts = by_title(views(data, data, names=NAMES))
    raw, made = charts["When people move"].series
    assert (raw.values[3], raw.people[3], raw.values[5], raw.people[5]) == (None, None, 0.0, 0)
    assert (made.values[3], made.people[3]) == (pytest.approx(4 / 18), 4)
    raw, made = charts["How long trajectories are"].series
    assert (raw.values, raw.people) == ((pytest.approx(10 / 14), None), (10, None))
    rejected = by_title(views(data, data, names=NAMES, published=False))["When people move"]
    assert rejected.series[1].values[3] is None


@pytest.mark.parametrize(
    "data",
    [
        Points.from_records([]),
        Points.from_records([[]]),
        Visits.from_records([]),
        Points.from_records([[(5, 1.0, 1.0)]]),
    ],
)
def test_almost_nothing_is_told_without_an_error(data):
    for chart in views(data, data, names=NAMES):
        assert all(len(series.values) == len(chart.labels) for series in chart.series)


def test_rejected_data_are_guarded_like_raw_ones():
    rows = [[("market", 1)]] * MIN_PEOPLE + [[("cave", 1)]] * (MIN_PEOPLE - 1)
    data = Visits.from_records(rows)
    chart = by_title(views(data, data, names=NAMES, published=False))["The most visited places"]
    assert chart.labels == ("market",)
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    routes = Routes.from_records([["ab"]] * MIN_PEOPLE + [["bc"]], network=network)
    assert by_title(views(routes, routes, names=NAMES, published=False))["The busiest roads"].labels == ("ab",)


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
