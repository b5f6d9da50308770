"""Parts of the time against counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.hours import DayParts

HOUR_US = 3_600_000_000


@pytest.mark.parametrize(("time_format", "hour"), [("epoch", 3600), ("utc", HOUR_US), ("local", HOUR_US)])
def test_hours_of_the_day(time_format, hour):
    parts = DayParts.of(np.array([0, 5 * hour]), time_format)
    times = np.array([0, hour - 1, hour, 23 * hour, 24 * hour, 49 * hour, -1])
    assert parts.part(times).tolist() == [0, 0, 1, 23, 0, 1, 23]
    assert parts.labels == tuple(str(i) for i in range(24))
    assert parts.axis == ("hour of the day" if time_format == "local" else "hour of the day (UTC)")
    assert parts.label(7) == "7 h"


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 60), min_size=1, max_size=6), st.integers(-99, 99))
def test_equal_parts_of_plain_integers(times, other):
    parts = DayParts.of(np.array(times, np.int64), "integer")
    first, last = min(times), max(times)
    assert 1 <= len(parts.labels) <= 24
    assert parts.width * 24 >= last - first + 1 > (parts.width - 1) * 24
    inside = [min(max(t, first), last) for t in [*times, other]]
    expected = [(t - first) // parts.width for t in inside]
    assert parts.part(np.array([*times, other], np.int64)).tolist() == expected
    assert max(expected) < len(parts.labels)
    assert parts.axis == "time"


def test_labels_of_plain_integers():
    assert DayParts.of(np.array([3, 5]), "integer").labels == ("3", "4", "5")
    wide = DayParts.of(np.array([0, 48]), "integer")
    assert (wide.labels[0], wide.labels[-1], len(wide.labels)) == ("0-2", "48-48", 17)
    assert wide.label(1) == "3-5"
    assert DayParts.of(np.array([], np.int64), "integer").labels == ("0",)


def test_the_chart_is_left_out_without_counts():
    parts = DayParts.of(np.array([0, 1]), "integer")
    (chart,) = parts.chart("Visits", "visits", np.array([1, 2]), np.array([0, 1]))
    assert (chart.labels, chart.x_label, chart.y_label) == (("0", "1"), "time", "visits")
    assert [(s.name, s.values) for s in chart.series] == [("original", (1, 2)), ("published", (0, 1))]
    assert parts.chart("Visits", "visits", np.array([0, 0]), np.array([0, 1])) == ()
