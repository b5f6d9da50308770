"""Numbers as people read them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayveil.report.text.number_format import format_number, format_percent


@given(st.floats(min_value=0, max_value=1))
def test_only_nothing_is_zero_percent_and_only_all_is_a_hundred(share):
    text = format_percent(share)
    assert (text == "0\xa0%") == (share == 0)
    if text == "100\xa0%":
        assert share > 1 - 1e-9


def test_numbers_are_written_for_people():
    assert format_number(1234567) == "1,234,567"
    assert format_number(0.5) == "0.5"
    assert format_number(300.04) == "300"
    assert format_number(99.94) == "99.9"
    assert format_number(float("inf")) == "–"
    assert format_percent(0.0834) == "8.3\xa0%"
