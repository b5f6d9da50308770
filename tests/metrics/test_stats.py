"""Classes of values with round borders."""

import numpy as np
import pytest

from wayveil.metrics.stats import AREAS, LENGTHS, distribution, durations


def chart(units, *columns):
    named = [(str(i), np.array(c, float)) for i, c in enumerate(columns)]
    (found,) = distribution("Title", "what", units, named, "share")
    return found


def test_borders_are_round_and_shares_add_up():
    found = chart(LENGTHS, [0, 5, 10, 99.5], [15] * 4)
    assert found.labels == tuple(f"{i * 10}-{i * 10 + 10}" for i in range(10))
    assert found.series[0].values == (0.5, 0.25, 0, 0, 0, 0, 0, 0, 0, 0.25)
    assert found.series[1].values == (0, 1, *[0] * 8)
    assert (found.title, found.x_label, found.y_label, found.percent) == ("Title", "what in m", "share", True)


def test_the_unit_fits_the_values():
    assert chart(LENGTHS, [2000.0]).x_label == "what in km"
    assert chart(LENGTHS, [1999.0]).x_label == "what in m"
    assert chart(AREAS, [5e6]).x_label == "what in km²"
    assert chart(durations("utc"), [7200.0]).x_label == "what in h"
    assert chart(durations("epoch"), [119.0]).x_label == "what in s"
    assert chart(durations("integer"), [7200.0]).x_label == "what in units of time"


def test_a_few_far_values_share_an_open_class():
    found = chart(LENGTHS, [*np.linspace(0, 119, 99), 1e12])
    assert found.labels[-1].startswith("≥ ")
    assert found.series[0].values[-1] == pytest.approx(0.01)
    assert sum(found.series[0].values) == pytest.approx(1)


def test_values_on_a_border_belong_to_the_class_above():
    found = chart(LENGTHS, [0, 10, 20, 120])
    assert found.series[0].values[:3] == (0.25, 0.25, 0.25)
    assert found.labels[-1] == "120-130"
    nearly = chart(LENGTHS, [0, 49.999999999999986, 50.00000000000001])
    assert nearly.series[0].values[-1] == pytest.approx(2 / 3)


def test_all_zero_is_one_class():
    found = chart(LENGTHS, [0, 0], [0])
    assert found.labels == ("0",)
    assert [s.values for s in found.series] == [(1,), (1,)]


def test_mostly_zero_still_shows_the_others():
    found = chart(LENGTHS, [0] * 99 + [5])
    assert found.series[0].values[0] == 0.99
    assert found.series[0].values[-1] == 0.01
    assert chart(LENGTHS, [0] * 99 + [0.05]).series[0].values[0] == 0.99


def test_next_to_nothing_and_very_much():
    assert chart(LENGTHS, [5e-320]).series[0].values[0] == 1
    assert sum(chart(LENGTHS, [1e12, 3e11]).series[0].values) == 1
    assert sum(chart(LENGTHS, [0.0003, 0.00021]).series[0].values) == 1


def test_no_values_no_chart():
    assert distribution("t", "w", LENGTHS, [("a", np.zeros(0))], "s") == ()
    assert distribution("t", "w", LENGTHS, [("a", np.array([np.inf]))], "s") == ()
    found = chart(LENGTHS, [1.0], [])
    assert set(found.series[1].values) == {0}
