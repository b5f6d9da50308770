from dataclasses import replace

import numpy as np
import pytest

from wayveil.model import Chart, Points, Regions, RoadNetwork, Routes, Score, Series, Stops, Taxonomy, Visits
from wayveil.run import drawing
from wayveil.run.charts import draw
from wayveil.run.drawing import MOST_BOXES, MOST_LINES, MOST_VERTICES, draw_trajectories, drawings
from wayveil.run.views import FEWEST, balance, guarded, views

NAMES = ("raw data", "published data")


def by_title(charts):
    return {chart.title: chart for chart in charts}


def crowd(places, people, t=0):
    """Points of `people` persons, one trajectory each, all through the same places."""
    return [[(t + i, float(x), float(y)) for i, (x, y) in enumerate(places)] for _ in range(people)]


def test_cells_with_too_few_people_are_not_shown_of_the_raw_data():
    lonely = [[(0, 1000.0, 1000.0), (1, 1000.0, 1000.0)]] * (FEWEST - 1)
    data = Points.from_records(crowd([(0, 0), (10, 0)], FEWEST) + lonely)
    chart = by_title(views(data, data.take(np.arange(FEWEST)), names=NAMES))["Where people are"]
    raw, made = (series.values for series in chart.series)
    shown = [value for value in raw if value is not None]
    assert sum(shown) == pytest.approx(2 * FEWEST / (4 * FEWEST - 2))
    assert sum(value for value in made if value is not None) == pytest.approx(1)
    assert max(line[2] for line in chart.lines) < 1000


def test_one_person_with_many_trajectories_is_one_person():
    data = Points.from_records(crowd([(0, 0), (9, 9)], FEWEST), owner=[3] * FEWEST)
    chart = by_title(views(data, data, names=NAMES))["Where people are"]
    assert all(value is None for value in chart.series[0].values)


def test_boxes_are_spread_over_the_cells_they_touch():
    data = Points.from_records(crowd([(0, 0), (360, 360)], FEWEST))
    whole = Regions.from_records([[(0, 0, 0.0, 360.0, 0.0, 360.0)], [(0, 0, 1.0, 2.0, 1.0, 2.0)]])
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
    rows = [[("market", 1)]] * FEWEST + [[("cave", 1)]] * (FEWEST - 1)
    data = Visits.from_records(rows)
    chart = by_title(views(data, data.take(np.arange(2)), names=NAMES))["The most visited places"]
    assert (chart.labels, chart.series[0].values, chart.series[1].values) == (("market",), (5.0,), (2.0,))


def test_published_nodes_that_nobody_visited_are_shown():
    tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Zoo", "Place")])
    data = Stops.from_records([["Park"]] * FEWEST + [["Zoo"]], taxonomy=tree)
    made = Stops.from_records([["Place"]] * FEWEST + [[]], taxonomy=tree)
    found = by_title(views(data, made, names=NAMES))
    chart = found["The most visited places"]
    rows = dict(zip(chart.labels, zip(*(s.values for s in chart.series), strict=True), strict=True))
    assert rows == {"Park": (5.0, 0.0), "Place": (None, 5.0)}
    assert found["How many people hide in a group"].labels[-1] == "5"
    assert "When people move" not in found


def test_roads_are_drawn_where_it_is_known_where_they_are():
    places = {"a": (0.0, 0.0), "b": (100.0, 0.0), "c": (100.0, 50.0)}
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")], places=places)
    data = Routes.from_records([["ab", "bc"]] + [["ab"]] * FEWEST, network=network)
    other = Routes.from_records([["ab"]] * 3, network=RoadNetwork.from_roads([("ab", "a", "b")]))
    chart = by_title(views(data, other, names=NAMES))["Traffic"]
    assert (chart.labels, chart.lines) == (("ab",), ((0.0, 0.0, 100.0, 0.0),))
    assert [series.values for series in chart.series] == [(6.0,), (3.0,)]
    bare = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    data = Routes.from_records([["ab", "bc"]] + [["ab"]] * FEWEST, network=bare)
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
    rows = [[("market", 1)]] * FEWEST + [[("cave", 1)]] * (FEWEST - 1)
    data = Visits.from_records(rows)
    chart = by_title(views(data, data, names=NAMES, published=False))["The most visited places"]
    assert chart.labels == ("market",)
    points = Points.from_records([*crowd([(0, 0), (10, 0)], FEWEST), [(0, 5.0, 5.0)]])
    made = by_title(views(points, points, names=NAMES, published=False))["Where people are"].series[1].values
    assert sum(value for value in made if value is not None) == pytest.approx(10 / 11)
    boxes = Regions.from_records([[(0, 0, 0.0, 9.0, 0.0, 9.0)]])
    made = by_title(views(points, boxes, names=NAMES, published=False))["Where people are"].series[1].values
    assert set(made) == {None}
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    routes = Routes.from_records([["ab"]] * FEWEST + [["bc"]], network=network)
    assert by_title(views(routes, routes, names=NAMES, published=False))["The busiest roads"].labels == ("ab",)


def test_cells_are_as_large_as_it_takes_to_see_half_of_the_data():
    places = [(float(x), float(y)) for x in range(0, 100, 10) for y in range(0, 100, 10)]
    data = Points.from_records([[(0, *place)] for place in places * 2])
    chart = by_title(views(data, data, names=NAMES))["Where people are"]
    assert "squares of 15" in chart.x_label
    # Of 6 columns and rows, 4 have two lines of places; where these meet there are 8 people, elsewhere 2 or 4.
    assert sum(value for value in chart.series[0].values if value) == pytest.approx(0.64)


def chart(labels, values, lines=(), x_label="place"):
    series = (Series(name="original", values=values), Series(name="published", values=(0,) * len(values)))
    return Chart(title="c", kind="bars", labels=labels, series=series, lines=lines, x_label=x_label)


def only(made, data):
    score = Score(name="s", meaning="m", value=0, better="lower", charts=(made,))
    return guarded([score], data)[0].charts


def test_charts_of_losses_name_nothing_that_few_people_did():
    data = Visits.from_records([[("market", 1)]] * FEWEST + [[("cave of the hermit", 1)]] * (FEWEST - 1))
    labels = ("cave of the hermit", "market", "market @ 1", "cave of… @ 1 → market @ 2", "market → market")
    (kept,) = only(chart(labels, (9, 9, 9, 9, 4), lines=tuple((i, i, i, i) for i in range(5))), data)
    assert kept.labels == ("market", "market @ 1")
    assert kept.series[0].values == (9, 9)
    assert kept.lines == ((1, 1, 1, 1), (2, 2, 2, 2))
    assert kept.x_label == f"place; 3 of fewer than {FEWEST} people left out"
    assert only(chart(("cave of the hermit",), (9,)), data) == ()
    whole = chart(("market",), (1,))
    assert only(whole, data) == (whole,)
    network = RoadNetwork.from_roads([("3", "a", "b"), ("4", "b", "c")])
    routes = Routes.from_records([["3"]] + [["4"]] * FEWEST, network=network)
    assert only(chart(("3", "4"), (1, 9)), routes)[0].labels == ("4",)
    assert only(chart(("3", "4"), (1, 9), x_label="number of visits"), routes)[0].labels == ("3", "4")
    flows = chart(("(1, 2) → (3, 4)", "(1, 2) → (1, 2)"), (4.0, 5.0))
    assert only(flows, Points.from_records([[]]))[0].labels == ("(1, 2) → (1, 2)",)


def test_trips_of_one_person_are_not_several_people():
    trips = [[(0, 1.0, 2.0)]] * 6
    flows = chart(("(1, 2) → (3, 4)", "(1, 2) → (1, 2)"), (12.0, 13.0))
    assert only(flows, Points.from_records(trips, owner=[1, 1, 1, 2, 2, 3]))[0].labels == ("(1, 2) → (1, 2)",)
    assert only(flows, Points.from_records(trips))[0].labels == flows.labels


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
    made = Regions.from_records([[(1, 3, *box), (2, 4, *box)], [], [(4, 9, *box)]])
    assert balance(data, made)["points"] == {"in": 8, "out": 3, "suppressed": 4, "invented": None}
    nothing = Regions.from_records([[], [], []])
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


SQUARE = RoadNetwork.from_roads(
    [("ab", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d")],
    places={"a": (0.0, 0.0), "b": (100.0, 0.0), "c": (100.0, 50.0), "d": (0.0, 50.0)},
)


def tracks(people, seed=0, length=30):
    rng = np.random.default_rng(seed)
    return Points.from_records(
        [[(t, *map(float, place)) for t, place in enumerate(rng.normal(0, 100, (length, 2)))] for _ in range(people)]
    )


@pytest.mark.parametrize(
    ("after", "before", "other"),
    [
        (tracks(5), tracks(5, 1), tracks(9, 2)),
        (Regions.from_records([[(0, 1, 0.0, 5.0, 0.0, 7.0)]] * 2), tracks(2, 1), tracks(2, 2)),
        (
            Routes.from_records([["ab", "bc"]] * 2, network=SQUARE),
            Routes.from_records([["ab", "bc"]] * 2, network=SQUARE),
            Routes.from_records([["cd"], ["bc"]], network=SQUARE),
        ),
        (
            Visits.from_records([[("market", 1)]] * 2),
            Visits.from_records([[("market", 1)]] * 2),
            Visits.from_records([[("cave", 1)]] * 2),
        ),
    ],
)
def test_what_is_drawn_does_not_depend_on_the_raw_data(after, before, other):
    one, two = (drawings(raw, after, names=NAMES, with_raw=False) for raw in (before, other))
    assert one == two
    assert [[panel.raw for panel in part.panels] for part in one] == [[False]]
    asked = [drawings(raw, after, names=NAMES, with_raw=True) for raw in (before, other)]
    assert asked[0] != asked[1]
    assert [[panel.raw for panel in part.panels] for part in asked[0]] == [[True, False]]
    assert drawings(before, after, names=NAMES, with_raw=False, published=False) == ()


def points_of(path):
    """Return the absolute points of an SVG path of one or several lines."""
    found = []
    for line in path.replace("M", "m").split("m")[1:]:
        first, _, rest = line.partition("l")
        steps = np.array([first.split(), *np.array(rest.split()).reshape(-1, 2)], int)
        found.append(np.cumsum(steps, axis=0).tolist())
    return found


def test_a_line_goes_through_its_points_with_north_up():
    data = Points.from_records([[(0, 0.0, 0.0), (1, 50.0, 0.0), (2, 100.0, 0.0), (3, 100.0, 100.0)], [(0, 50.0, 50.0)]])
    (made,) = drawings(data, data, names=NAMES, with_raw=False)
    (line,), (dot,) = (points_of(path) for path in made.panels[0].items)
    assert len(line) == 3, "a point on the way straight on is left out"
    (x1, y1), (x2, y2), (x3, y3) = line
    assert x1 < x2 == x3
    assert y1 == y2 > y3
    assert x2 - x1 == pytest.approx(y2 - y3, abs=2)
    assert dot[0] == dot[1] == [pytest.approx((x1 + x2) / 2, abs=2), pytest.approx((y1 + y3) / 2, abs=2)]
    assert "Trajectories, published data: 2 of 2 trajectories." in draw_trajectories(made)


def test_lines_are_sampled_evenly_and_thinned(monkeypatch):
    data = Points.from_records([[(t, float(i), float(t * 7 % 5)) for t in range(3)] for i in range(MOST_LINES + 700)])
    (made,) = drawings(data, data, names=NAMES, with_raw=False)
    assert len(made.panels[0].items) == MOST_LINES
    assert made.panels[0].total == MOST_LINES + 700
    assert f"{MOST_LINES:,} of {MOST_LINES + 700:,} trajectories" in draw_trajectories(made)
    firsts = [points_of(path)[0][0][0] for path in made.panels[0].items]
    assert max(firsts) - min(firsts) > 3500
    wild = tracks(4, length=500)
    (whole,) = drawings(wild, wild, names=NAMES, with_raw=False)
    monkeypatch.setattr(drawing, "MOST_VERTICES", 100)
    (made,) = drawings(wild, wild, names=NAMES, with_raw=False)
    lines = [points_of(path)[0] for path in made.panels[0].items]
    ends = [(line[0], line[-1]) for line in (points_of(path)[0] for path in whole.panels[0].items)]
    assert [(line[0], line[-1]) for line in lines] == ends
    assert 80 <= sum(map(len, lines)) <= 100 + 2 * 4
    assert MOST_VERTICES == 60_000


def test_a_few_far_points_do_not_make_the_others_small():
    data = Points.from_records([[(t, float(t % 100), float(t // 100)) for t in range(9999)] + [(9999, 1e12, -1e12)]])
    (made,) = drawings(data, data, names=NAMES, with_raw=False)
    x = [place[0] for place in points_of(made.panels[0].items[0])[0]]
    assert np.ptp(x[:-1]) > 3000
    assert max(x) <= 40_000


def test_equal_boxes_are_drawn_once():
    one, two = [(0, 1, 0.0, 100.0, 0.0, 50.0)], [(0, 1, 50.0, 60.0, 10.0, 20.0), (2, 3, 0.0, 10.0, 0.0, 10.0)]
    data = Regions.from_records([one, one, two, []])
    (made,) = drawings(tracks(1), data, names=NAMES, with_raw=False)
    assert (made.panels[0].boxes, made.panels[0].total, len(made.panels[0].items)) == (True, 2, 2)
    assert "2 of 2 different sequences of boxes" in draw_trajectories(made)
    both = draw_trajectories(drawings(tracks(1), data, names=NAMES, with_raw=True)[0])
    assert (both.count('class="boxes"'), both.count('class="lines"')) == (1, 1)
    assert sorted(path.count("z") for path in made.panels[0].items) == [1, 2]
    wide = next(path for path in made.panels[0].items if path.count("z") == 1)
    width, height = (int(wide.partition(side)[2].partition(end)[0]) for side, end in (("h", "v"), ("v", "h")))
    assert width == pytest.approx(-2 * height, abs=3)
    many = Regions.from_records([[(2 * t, 2 * t, 0.0, 1.0, 0.0, 1.0) for t in range(500)]])
    (made,) = drawings(tracks(1), many, names=NAMES, with_raw=False)
    assert made.panels[0].items[0].count("z") == drawing._MOST_BOXES


def test_routes_are_lines_on_the_network_and_break_where_they_do():
    data = Routes.from_records([["ab", "bc"], ["ab", "cd"], []], network=SQUARE)
    bare = RoadNetwork.from_roads([("cd", "c", "d"), ("ab", "a", "b")])
    after = Routes.from_records([["ab", "cd"]], network=bare)
    (made,) = drawings(data, after, names=NAMES, with_raw=True)
    whole, broken = (points_of(path) for path in made.panels[0].items)
    assert [len(line) for line in whole] == [3]
    assert [len(line) for line in broken] == [2, 2]
    assert [len(line) for line in points_of(made.panels[1].items[0])] == [2, 2]
    assert made.below.count("M") == 3
    lost = RoadNetwork.from_roads([("ab", "a", "b")])
    nowhere = Routes.from_records([["ab"]], network=lost)
    assert drawings(nowhere, nowhere, names=NAMES, with_raw=True) == ()


def test_visits_with_places_are_lines_as_well():
    data = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)]])
    data = replace(data, place_x=np.array([0.0, 50.0, 50.0]), place_y=np.array([0.0, 80.0, 0.0]))
    lines, told = drawings(data, data, names=NAMES, with_raw=False)
    assert len(points_of(lines.panels[0].items[0])[0]) == 3
    assert told.panels[0].items == (("a", "b", "c"),)


def test_trajectories_are_told_side_by_side():
    data = Visits.from_records([[(f"p{i}", 1), ("<b>", 2)] for i in range(30)] + [[("long", t) for t in range(20)]])
    after = data.where(np.array([True, False] * 30 + [True] * 20))
    (made,) = drawings(data, after, names=NAMES, with_raw=True)
    raw, published = (panel.items for panel in made.panels)
    assert len(raw) == len(published) == 12
    assert (raw[0], published[0]) == (("p0", "<b>"), ("p0",))
    assert raw[-1] == ("long",) * 16 + ("and 4 more",)
    drawn = draw_trajectories(made)
    assert "p0 → &lt;b&gt;" in drawn
    assert drawn.count("<tr>") == 13
    (alone,) = drawings(data, after, names=NAMES, with_raw=False)
    assert alone.panels == made.panels[1:]
    assert "<b>" not in "".join(name for item in alone.panels[0].items for name in item)


@pytest.mark.parametrize(
    "data",
    [
        Points.from_records([]),
        Points.from_records([[], []]),
        Points.from_records([[(5, 1.0, 1.0)]]),
        Points.from_records([[(t, 1.0, 1.0) for t in range(9)]] * 3),
        Visits.from_records([[]]),
        Regions.from_records([[]]),
        Routes.from_records([[]], network=SQUARE),
    ],
)
def test_almost_nothing_is_drawn_as_that(data):
    for made in drawings(data, data, names=NAMES, with_raw=True):
        assert "<figure" in draw_trajectories(made)
    assert balance(data, data)["trajectories"]["suppressed"] == 0


def test_of_boxes_only_so_many_are_drawn_that_they_can_be_told_apart():
    rows = [[(0, 1, float(i), float(i + 2), 0.0, 1.0)] for i in range(MOST_BOXES + 30)]
    points = Points.from_records([[(0, 1.0, 1.0)]] * 3)
    (made,) = drawings(points, Regions.from_records(rows), names=NAMES, with_raw=False)
    assert (len(made.panels[0].items), made.panels[0].total) == (MOST_BOXES, MOST_BOXES + 30)
