"""Supports of single visits on tables that are small enough to count by hand."""

import pytest

from wayveil.metrics import METRICS, VisitSupport
from wayveil.model import Visits


def support(original, published):
    return VisitSupport().run(original, published)


def visits(**counts):
    """Trajectories of one visit each: a1=3 makes three with place a at time 1."""
    return Visits.from_records([[(name[0], int(name[1:]))] for name, n in counts.items() for _ in range(n)])


def test_all_numbers_of_a_small_table():
    score = support(visits(a1=4, b2=3, c3=2, d4=1), visits(d4=1, c3=2, a1=2))
    # 0.4 0.3 0.2 0.1 against 0.4 0 0.4 0.2
    assert score.value == pytest.approx(0.3)
    # errors 1/2, 1, 0, 0; ranks 4 3 2 1 against 3.5 1 3.5 2, less their mean 1.5 .5 -.5 -1.5 against 1 -1.5 1 -.5
    assert score.measured == pytest.approx(
        {
            "distinct_visits_before": 4,
            "distinct_visits_after": 3,
            "visits_kept_share": 0.75,
            "mean_relative_error": 0.375,
            "rank_correlation": 1 / (5 * 4.5) ** 0.5,
            "top_20_overlap": 0.75,
        }
    )
    chart = score.charts[0]
    assert chart.labels == ("a @ 1", "b @ 2", "c @ 3", "d @ 4")
    assert [s.values for s in chart.series] == [(4, 3, 2, 1), (2, 0, 2, 1)]
    assert [s.name for s in chart.series] == ["original", "published"]


def test_same_data_in_another_order_loses_nothing():
    score = support(visits(a1=4, b2=3, c1=1), visits(c1=1, b2=3, a1=4))
    assert score.value == 0
    assert score.measured["mean_relative_error"] == 0
    assert score.measured["rank_correlation"] == pytest.approx(1)
    assert score.measured["top_20_overlap"] == 1


def test_same_proportions_are_no_distance_but_an_error():
    score = support(visits(a1=4, b2=2), visits(a1=2, b2=1))
    assert score.value == 0
    assert score.measured["mean_relative_error"] == 0.5


def test_nothing_in_common_is_a_distance_of_one():
    score = support(visits(a1=4), visits(a2=1, b1=3))
    assert score.value == 1
    assert score.measured["visits_kept_share"] == 0
    assert score.measured["distinct_visits_after"] == 2


def test_the_order_turned_round_is_a_correlation_of_minus_one():
    assert support(visits(a1=3, b1=2, c1=1), visits(a1=1, b1=2, c1=3)).measured["rank_correlation"] == pytest.approx(-1)


def test_a_constant_has_no_rank_correlation():
    assert support(visits(a1=2, b1=2), visits(a1=2, b1=1)).measured["rank_correlation"] is None


def test_the_twelve_most_frequent_are_shown_and_twenty_are_compared():
    names = [f"{place}{t}" for t in range(5) for place in "abcde"]
    before = visits(**{name: 30 - i for i, name in enumerate(names)})
    after = visits(**{name: 30 - i for i, name in enumerate(names) if i not in (0, 1)})
    score = support(before, after)
    assert len(score.charts[0].labels) == 12
    assert score.charts[0].labels[0] == "a @ 0"
    assert score.measured["top_20_overlap"] == pytest.approx(18 / 20)


def test_ties_at_the_end_of_the_top_do_not_count_against_the_publication():
    names = [f"{place}{t}" for t in range(6) for place in "abcde"]
    before = visits(**dict.fromkeys(names, 3))
    after = visits(**dict.fromkeys(reversed(names), 2))
    assert support(before, after).measured["top_20_overlap"] == 1


def test_times_are_shown_as_people_read_them():
    data = Visits.from_records([[("a", 25 * 3_600_000_000)]], time_format="utc")
    chart = support(data, data).charts[0]
    assert chart.labels == ("a @ 1970-01-02 01:00 UTC",)
    assert chart.title == "The most frequent visit"


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing_published(records):
    score = support(visits(a1=4, b2=3), Visits.from_records(records))
    assert score.value is None
    assert score.measured["visits_kept_share"] == 0
    assert score.measured["mean_relative_error"] == 1
    assert score.measured["rank_correlation"] is None
    assert score.measured["top_20_overlap"] == 0
    assert score.charts[0].series[1].values == (0, 0)


def test_nothing_original():
    score = support(Visits.from_records([[]]), Visits.from_records([]))
    assert score.value is None
    assert score.measured["visits_kept_share"] is None
    assert score.measured["top_20_overlap"] is None
    assert score.charts == ()
    assert support(Visits.from_records([]), visits(a1=1)).measured["distinct_visits_after"] == 1


def test_the_registry_knows_it_by_name():
    assert METRICS["visit_support"] is VisitSupport
