"""Instance loss on tables that are small enough to count by hand."""

import pytest

from wayveil.errors import InputError
from wayveil.metrics import METRICS, InstanceLoss
from wayveil.model import Visits

HOUR_US = 3_600_000_000


def loss(original, published):
    return InstanceLoss().run(original, published)


def bars(chart, series=0):
    return dict(zip(chart.labels, chart.series[series].values, strict=True))


def before():
    return Visits.from_records(
        [[("a", 1), ("b", 2), ("c", 3)], [("a", 1), ("b", 2)], [("c", 3)], []], owner=[0, 0, 1, 2]
    )


def after():
    """Another order and other codes; lost are one c at 3 and both b at 2."""
    return Visits.from_records([[("c", 3)], [("a", 1)], [("a", 1)], []])


def test_the_headline_and_the_counts():
    score = loss(before(), after())
    assert score.value == 0.5
    assert (score.name, score.better, score.percent) == ("instance_loss", "lower", True)
    assert score.measured == {
        "visits_before": 6,
        "visits_after": 3,
        "trajectories_before": 3,
        "trajectories_after": 3,
        "owners_before": 2,
        "owners_after": None,
    }


def test_loss_per_place_time_and_length():
    place, time, length = loss(before(), after()).charts
    assert bars(place) == {"a": 0, "b": 1, "c": 0.5}
    assert bars(time) == {"1": 0, "2": 1, "3": 0.5}
    assert length.labels[-1] == "10+"
    assert bars(length) == {"1": 1 / 3, "2": 1 / 3, "3": 1 / 3, **dict.fromkeys((*"456789", "10+"), 0)}
    assert bars(length, 1) == {"1": 1, **dict.fromkeys((*"23456789", "10+"), 0)}
    assert [s.name for s in length.series] == ["original", "published"]


def test_the_paper_table_loses_5_of_34():
    one = "a1 d2 b3 e4 f6 e8,d2 c5 f6 c7 e9,b3 c7 e8,b3 e4 f6 e8,a1 d2 c5 f6 c7,c5 f6 e9,f6 c7 e8,a1 d2 f6 c7 e9"
    two = "b3 e4 f6 e8,d2 c5 f6 c7 e9,c7 e8,b3 e4 f6 e8,d2 c5 f6 c7,c5 f6 e9,f6 c7 e8,d2 f6 c7 e9"
    tables = [
        Visits.from_records([[(v[0], int(v[1:])) for v in path.split()] for path in text.split(",")])
        for text in (one, two)
    ]
    score = loss(*tables)
    assert score.value == pytest.approx(5 / 34)
    assert bars(score.charts[0])["a"] == 1
    assert bars(score.charts[0])["d"] == pytest.approx(1 / 4)


def test_fifteen_places_are_named_and_the_others_are_one():
    places = [f"p{i:02d}" for i in range(20)]
    records = [[(place, 0)] for i, place in enumerate(places) for _ in range(40 - i)]
    original = Visits.from_records(records)
    published = Visits.from_records([r for r in records if r[0][0] != "p19"] + [[("new", 0)]])
    chart = loss(original, published).charts[0]
    assert chart.labels == (*places[:15], "all others")
    # p15 to p19 had 25 + 24 + 23 + 22 + 21 = 115 visits; 21 went and 1 at a new place came.
    assert bars(chart)["all others"] == pytest.approx(20 / 115)


@pytest.mark.parametrize(("time_format", "hour"), [("epoch", 3600), ("utc", HOUR_US), ("local", HOUR_US)])
def test_time_of_day_is_folded_over_days(time_format, hour):
    original = Visits.from_records([[("a", 7 * hour), ("a", 31 * hour), ("a", 40 * hour)]], time_format=time_format)
    published = Visits.from_records([[("a", 31 * hour), ("a", 40 * hour)]], time_format=time_format)
    assert bars(loss(original, published).charts[1]) == {"7:00": 0.5, "16:00": 0}


def test_many_integer_times_are_put_in_24_classes():
    original = Visits.from_records([[("a", t) for t in range(240)]])
    published = Visits.from_records([[("a", t) for t in range(5, 240)]])
    chart = loss(original, published).charts[1]
    assert len(chart.labels) == 24
    assert chart.labels[:2] == ("0 to 9", "10 to 19")
    assert bars(chart)["0 to 9"] == 0.5
    assert bars(chart)["230 to 239"] == 0


def test_far_apart_integer_times_are_put_in_classes_too():
    times = [i * 10**15 for i in range(60)]
    data = Visits.from_records([[("a", t) for t in times]])
    chart = loss(data, data).charts[1]
    assert len(chart.labels) <= 24
    assert set(chart.series[0].values) == {0}


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing_published_is_a_loss_of_all(records):
    score = loss(before(), Visits.from_records(records))
    assert score.value == 1
    assert score.measured["trajectories_after"] == 0
    assert bars(score.charts[0]) == {"a": 1, "b": 1, "c": 1}
    assert set(score.charts[2].series[1].values) == {0}


def test_without_an_original_nothing_is_defined():
    score = loss(Visits.from_records([[]]), Visits.from_records([]))
    assert score.value is None
    assert score.charts == ()


def test_the_registry_knows_it_by_name():
    assert METRICS["instance_loss"] is InstanceLoss


def test_an_order_of_visits_has_no_times_to_compare() -> None:
    original = Visits.from_records([[("a", 5), ("b", 7)], [("a", 9)]], time_format="utc")
    published = Visits.from_records([[("a", 1), ("b", 2)], []])
    score = InstanceLoss().run(original, published)
    assert score.value == pytest.approx(1 / 3)
    assert [chart.title for chart in score.charts] == ["Visits lost per place", "Visits per trajectory"]
    both = InstanceLoss().run(published, published)
    assert [chart.title for chart in both.charts][1] == "Visits lost per time"
    with pytest.raises(InputError, match="cannot be compared"):
        InstanceLoss().run(original, Visits.from_records([[("a", 1), ("b", 3)], []]))
