"""How far counts are from the truth: worked out by hand."""

from __future__ import annotations

import pytest

from wayveil.metrics.tables.count_error import CountError
from wayveil.model import CountTables, Visits

TRUTH = Visits.from_records([[("A", 1)]] * 12 + [[("B", 1)]] * 3 + [[("A", 2)]] * 5)


def test_differences_are_a_share_of_all_that_was_counted() -> None:
    score = CountError().run(TRUTH, CountTables.from_rows([("A", "", 1, 10), ("A", "", 2, 5), ("", "", 1, 15)]))
    assert score.value == pytest.approx((2 + 3) / 20)
    assert score.measured == {
        "cells_before": 3,
        "cells_after": 2,
        "invented": 0,
        "counted_share": pytest.approx(17 / 20),
        "mean_relative_error": pytest.approx((2 / 12 + 1 + 0) / 3),
        "mean_error": pytest.approx(5 / 3),
        "top_20_overlap": pytest.approx(2 / 3),
    }
    chart = score.charts[0]
    assert chart.labels == ("1 to 9", "10 to 49")
    assert chart.series[0].values == (pytest.approx(1 / 2), pytest.approx(2 / 12))


def test_people_count_once_and_visits_as_often_as_they_are() -> None:
    twice = Visits.from_records([[("A", 1)], [("A", 1)]], owner=[0, 0])
    published = CountTables.from_rows([("A", "", 1, 1)])
    assert CountError().run(twice, published).value == 0
    assert CountError(counted="visits").run(twice, published).value == 1 / 2


def test_invented_cells_are_errors_and_totals_are_none() -> None:
    published = CountTables.from_rows([("A", "B", 1, 4), ("A", "", 1, 9)])
    truth = Visits.from_records([[("A", 1), ("C", 2)]] * 4)
    score = CountError(tally="flows").run(truth, published)
    assert score.value == 2
    assert score.measured["invented"] == 1


def test_without_times_a_row_of_all_times_is_a_cell() -> None:
    assert (
        CountError(every="all").run(TRUTH, CountTables.from_rows([("A", "", None, 17), ("B", "", None, 3)])).value == 0
    )


def test_nothing_to_count_is_no_number() -> None:
    empty = Visits.from_records([[]])
    score = CountError().run(empty, CountTables.from_rows([]))
    assert score.value is None
    assert score.charts == ()
