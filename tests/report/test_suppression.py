from dataclasses import replace

import numpy as np
import pytest

from wayveil.metrics import METRICS
from wayveil.model import Chart, Points, RoadNetwork, Routes, Score, Series, Visits
from wayveil.report.suppression import MIN_PEOPLE, suppress_small_counts


def chart(names, values, lines=(), x_label="place"):
    series = (Series(name="original", values=values), Series(name="published", values=(0,) * len(values)))
    labels = tuple(" → ".join(one) or "all others" for one in names)
    return Chart(title="c", kind="bars", labels=labels, series=series, lines=lines, x_label=x_label, names=names)


def only(made, data, **options):
    score = Score(name="s", meaning="m", value=0, better="lower", unit="share", charts=(made,))
    return suppress_small_counts([score], data, **options)[0].charts


def test_charts_of_losses_name_nothing_that_few_people_did():
    data = Visits.from_records([[("market", 1)]] * MIN_PEOPLE + [[("cave", 1)]] * (MIN_PEOPLE - 1))
    names = (("cave",), ("market",), ("market", "1"), ("cave", "1", "market", "2"), ("market", "market"), ())
    (kept,) = only(chart(names, (9, 9, 9, 9, 4, 2), lines=tuple((i, i, i, i) for i in range(6))), data)
    assert kept.names == (("market",), ("market", "1"), ())
    assert kept.labels == ("market", "market → 1", "all others")
    assert [series.values for series in kept.series] == [(9, 9, 2), (0, 0, 0)]
    # Of a place it is known who was there; of a place and a time, how many people there must have been at least.
    assert kept.series[0].people == (MIN_PEOPLE, MIN_PEOPLE, None)
    assert kept.lines == ((1, 1, 1, 1), (2, 2, 2, 2), (5, 5, 5, 5))
    assert kept.x_label == f"place; 3 of fewer than {MIN_PEOPLE} people left out"
    assert only(chart((("cave",),), (9,)), data) == ()


def test_the_owner_sees_small_counts_and_how_many_people_they_are():
    data = Visits.from_records([[("market", 1)]] * MIN_PEOPLE + [[("cave", 1)]])
    (kept,) = only(chart((("cave",), ("market",)), (1, 5)), data, fewest=0)
    assert kept.labels == ("cave", "market")
    assert kept.series[0].people == (1, MIN_PEOPLE)


def test_labels_are_not_read():
    network = RoadNetwork.from_roads([("3", "a", "b"), ("4", "b", "c")])
    routes = Routes.from_records([["3"]] + [["4"]] * MIN_PEOPLE, network=network)
    named = chart((("3",), ("4",)), (1, 9))
    assert only(named, routes)[0].labels == ("4",)
    # The same labels, as numbers of visits: they name no road, and nobody is counted.
    plain = replace(named, names=(), x_label="number of visits")
    assert only(plain, routes) == (plain,)


def test_trips_of_one_person_are_not_several_people():
    trips = [[(0, 1.0, 2.0)]] * 6
    flows = chart((("(1, 2)", "(3, 4)"), ("(1, 2)", "(1, 2)")), (12.0, 13.0))
    (kept,) = only(flows, Points.from_records(trips, owner=[1, 1, 1, 2, 2, 3]))
    assert (kept.labels, kept.series[0].people) == (("(1, 2) → (1, 2)",), (5,))
    assert only(flows, Points.from_records(trips))[0].series[0].people == (12, 13)


def visits():
    records = [[(f"placename{i % 7}", 8 + i % 3), (f"placename{(i + 1) % 7}", 12)] for i in range(60)]
    return Visits.from_records(records, time_format="integer")


def routes():
    roads = [(f"roadname{i}", f"n{i}", f"n{i + 1}") for i in range(5)]
    network = RoadNetwork.from_roads(roads)
    return Routes.from_records([[f"roadname{j}" for j in range(i % 3, 5)] for i in range(40)], network=network)


@pytest.mark.parametrize("data", [visits(), routes()], ids=["visits", "routes"])
def test_every_chart_of_a_metric_says_which_places_its_labels_name(data):
    known = tuple(data.places().names)
    tried = 0
    for cls in METRICS.values():
        if cls.accepts is not type(data) or type(data) not in cls.targets:
            continue
        score = cls().run(data, data.where(np.ones(data.n_rows, bool)))
        for made in score.charts:
            for i, label in enumerate(made.labels):
                if any(name in label for name in known):
                    tried += 1
                    assert set(made.names[i]) & set(known), f"{cls.name}: {made.title}"
    assert tried > 20
