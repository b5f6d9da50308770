from dataclasses import replace

import numpy as np
import pytest

from wayveil.model import Boxes, Points, RoadNetwork, Routes, Visits
from wayveil.report.charts.drawings import (
    _MOST_BOXES,
    MOST_BOXES,
    MOST_LINES,
    MOST_VERTICES,
    draw_trajectories,
    drawings,
)
from wayveil.report.views.overview import balance

NAMES = ("raw data", "published data")

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
        (Boxes.from_records([[(0, 1, 0.0, 5.0, 0.0, 7.0)]] * 2), tracks(2, 1), tracks(2, 2)),
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
    monkeypatch.setattr("wayveil.report.charts.drawings.MOST_VERTICES", 100)
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
    data = Boxes.from_records([one, one, two, []])
    (made,) = drawings(tracks(1), data, names=NAMES, with_raw=False)
    assert (made.panels[0].boxes, made.panels[0].total, len(made.panels[0].items)) == (True, 2, 2)
    assert "2 of 2 different sequences of boxes" in draw_trajectories(made)
    both = draw_trajectories(drawings(tracks(1), data, names=NAMES, with_raw=True)[0])
    assert (both.count('class="boxes"'), both.count('class="lines"')) == (1, 1)
    assert sorted(path.count("z") for path in made.panels[0].items) == [1, 2]
    wide = next(path for path in made.panels[0].items if path.count("z") == 1)
    width, height = (int(wide.partition(side)[2].partition(end)[0]) for side, end in (("h", "v"), ("v", "h")))
    assert width == pytest.approx(-2 * height, abs=3)
    many = Boxes.from_records([[(2 * t, 2 * t, 0.0, 1.0, 0.0, 1.0) for t in range(500)]])
    (made,) = drawings(tracks(1), many, names=NAMES, with_raw=False)
    assert made.panels[0].items[0].count("z") == _MOST_BOXES


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
        Boxes.from_records([[]]),
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
    (made,) = drawings(points, Boxes.from_records(rows), names=NAMES, with_raw=False)
    assert (len(made.panels[0].items), made.panels[0].total) == (MOST_BOXES, MOST_BOXES + 30)
