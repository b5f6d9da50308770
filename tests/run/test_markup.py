"""Labels that are cut where they do not fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayveil.report.charts.svg import FONT, shortened, tag, width_of


@given(st.text("aiW 京é\u0301", max_size=40), st.floats(min_value=0, max_value=300))
def test_a_label_is_kept_whole_or_cut_to_the_longest_beginning_that_fits(text, room):
    short = shortened(text, room)
    if width_of(text) <= room + 0.5:
        assert short == text
        return
    fits = [n for n in range(len(text) + 1) if n == 0 or width_of(text[:n]) + FONT * 0.9 <= room]
    assert short == text[: max(fits)].rstrip() + "…"


def test_a_very_long_label_is_cut_too():
    assert shortened("W" * 1_000_000, 60) == "WWWWW…"


def test_bodies_and_attributes_are_escaped():
    assert tag("p", "<b>", title='"') == '<p title="&#34;">&lt;b&gt;</p>'
