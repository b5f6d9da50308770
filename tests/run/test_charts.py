"""Charts: every number can be read, every label is escaped, nothing odd breaks the drawing."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import Chart, Series
from wayveil.report.charts.bars import draw, overlay
from wayveil.report.text.number_format import format_value

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Checks that elements nest, and collects the text of table cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def bars(values, *, labels=None, kind="bars", percent=False, more=()):
    labels = tuple(f"place {i}" for i in range(len(values))) if labels is None else tuple(labels)
    series = tuple(Series(name=f"series {i}", values=tuple(v)) for i, v in enumerate((values, *more)))
    return Chart(title="Title", kind=kind, labels=labels, series=series, percent=percent)


def check_numbers(chart: Chart) -> str:
    html = str(draw(chart))
    page = Page(html)
    for tag, name, value in page.attributes:
        if tag in ("rect", "circle", "line", "text") and name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy"):
            assert math.isfinite(float(value)), (tag, name, value)
            assert -1 <= float(value) <= 2000
        if name in ("width", "height"):
            assert float(value) >= 0
    assert not re.search(r"\b(nan|inf|none)\b", html, re.IGNORECASE)
    return html


ODD = {
    "zeros": (0, 0, 0),
    "one": (7,),
    "missing": (1.0, None, 3.0),
    "not numbers": (float("nan"), float("inf"), 2.0),
    "huge": (1e308, 3.0, 10**400),
    "both signs of huge": (1.7e308, -1.7e308),
    "tiny": (5e-324, 1e-300),
    "negative": (-3, 4, -1.5),
    "all negative": (-3.0, -4.0),
    "long": tuple(range(500)),
}


@pytest.mark.parametrize("kind", ["bars", "line"])
@pytest.mark.parametrize("percent", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_drawn_and_listed(name, kind, percent):
    values = ODD[name]
    chart = bars(values, kind=kind, percent=percent, more=(values[::-1],))
    html = check_numbers(chart)
    assert "<svg" in html
    cells = Page(html).cells
    for value in values:
        assert format_value(value, percent=percent) in cells


@pytest.mark.parametrize("kind", ["bars", "line"])
@pytest.mark.parametrize("values", [(), (None, None), (float("nan"),)])
def test_an_empty_chart_says_so(values, kind):
    html = str(draw(bars(values, kind=kind)))
    assert "Nothing to show" in html
    assert "<svg" not in html
    assert "Nothing to show" in draw(Chart(title="t", kind="bars", labels=("a",), series=()))


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.text(max_size=60), st.none() | st.floats() | st.integers()), max_size=70),
    st.sampled_from(["bars", "line"]),
    st.booleans(),
)
def test_whatever_is_given_is_drawn_well_formed(rows, kind, percent):
    chart = bars([value for _, value in rows], labels=[label for label, _ in rows], kind=kind, percent=percent)
    page = Page(str(draw(chart)))
    for tag, name, value in page.attributes:
        if tag in ("rect", "circle") and name in ("x", "y", "width", "height", "cx", "cy"):
            assert math.isfinite(float(value))
    if any(value is not None and (isinstance(value, int) or math.isfinite(value)) for _, value in rows):
        assert {format_value(value, percent=percent) for _, value in rows} <= set(page.cells)


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", "a & b", "\"quoted\" 'twice'", "Zürich 北京 محطة"])
def test_labels_are_escaped(label):
    chart = Chart(
        title=label, kind="bars", labels=(label, "b"), series=(Series(name=label, values=(1, 2)),), x_label=label
    )
    html = str(draw(chart))
    assert "<script" not in html
    assert label in Page(html).cells
    assert any(name == "aria-label" and value.startswith(label) for _, name, value in Page(html).attributes)


def test_a_long_label_is_cut_and_kept_in_full_as_a_tooltip():
    label = "Klinikum am Park, Haus 3, Eingang West " * 3
    html = str(draw(bars((1, 2), labels=(label, "b"))))
    assert "…<title>" in html
    assert f"<title>{label}</title>" in html
    drawn = re.search(r'class="label">([^<]*)…', html)
    assert drawn
    assert len(drawn[1]) < 70


def test_characters_that_html_cannot_hold_are_replaced():
    html = str(draw(bars((1,), labels=("a\x00b\ud800c\u202ed",))))
    html.encode()
    assert "a\ufffdb\ufffdc\ufffdd" in html


def test_few_short_labels_stand_and_long_or_many_lie():
    def lies(chart):
        return re.search(r'text-anchor="end" class="label"', str(draw(chart))) is not None

    assert not lies(bars((1, 2, 3), labels="abc"))
    assert lies(bars((1, 2, 3), labels=("a rather long name", "another long name", "and one more name")))
    assert lies(bars(range(13), labels="abcdefghijklm"))
    assert not lies(bars(range(24), labels=[f"{hour:02d}:00" for hour in range(24)])), "time runs to the right"


def test_more_bars_than_can_be_drawn_are_all_in_the_table():
    html = str(draw(bars(range(1000, 1100))))
    assert "The first 30 of 100 are drawn" in html
    assert html.count("<rect") == 30
    assert "1,099" in Page(html).cells


def test_ticks_are_nice_numbers():
    def ticks(*values, percent=False):
        return re.findall(r'class="tick">([^<]*)<', str(draw(bars(values, labels="ab", percent=percent))))

    assert ticks(3, 97) == ["0", "20", "40", "60", "80", "100"]
    assert ticks(0.031, 0.97, percent=True) == [f"{i}\xa0%" for i in (0, 20, 40, 60, 80, 100)]
    assert ticks(1, 2) == ["0", "1", "2"]
    assert ticks(-4, 9.5) == ["-5", "0", "5", "10"]
    assert ticks(0.012, 0.034) == ["0.00", "0.01", "0.02", "0.03", "0.04"]


def test_a_line_is_broken_where_a_value_is_missing():
    html = str(draw(bars((1, 2, None, 4, 5), kind="line")))
    assert html.count("<polyline") == 2
    assert html.count("<circle") == 4


def test_raw_is_orange_and_published_blue_wherever_they_stand():
    one, two = (
        str(
            draw(Chart(title="t", kind="bars", labels=("a",), series=tuple(Series(name=n, values=(1,)) for n in names)))
        )
        for names in (("original", "published"), ("published", "original"))
    )
    for html in (one, two):
        assert 'class="swatch before"></span>original' in html
        assert 'class="swatch after"></span>published' in html


def test_overlay_keeps_every_value_of_both():
    raw = bars((1, 2), labels=("a", "c"), more=((5, 6),))
    published = bars((3, 4), labels=("b", "c"), more=((7, 8),))
    both = overlay(raw, published)
    assert sorted(both.labels) == ["a", "b", "c"]
    assert [series.name for series in both.series] == [
        "raw data: series 0",
        "published data: series 0",
        "raw data: series 1",
        "published data: series 1",
    ]
    values = dict(zip(both.labels, zip(*(series.values for series in both.series), strict=True), strict=True))
    assert values == {"a": (1, None, 5, None), "b": (None, 3, None, 7), "c": (2, 4, 6, 8)}
