"""Real scales and findings of charts."""

from __future__ import annotations

import pytest

from wayveil.model import Chart, Series
from wayveil.report.chart_axis import find_scale, tell_finding


@pytest.mark.parametrize(
    ("labels", "scale", "at"),
    [
        (("5", "10", "20", "50"), "numbers", (5, 10, 20, 50)),
        (("1,000", "2,000", "10,000"), "numbers", (1000, 2000, 10000)),
        (("0 %", "10 %", "50 %"), "numbers", (0, 10, 50)),
        (("15 min", "1 h", "1 d"), "numbers", (900, 3600, 86400)),
        (("00:00", "01:00", "02:30"), "clock", (0, 1, 2.5)),
        (("07:00 to 07:15", "07:15 to 07:30", "07:30 to 07:45"), "clock", (7, 7.25, 7.5)),
        (("a", "b", "c"), "names", ()),
        (("10", "5", "20"), "names", ()),
        (("5", "10"), "names", ()),
        (("1 to 2", "3 to 4", "5 to 100"), "names", ()),
        (("5", "10", "more"), "names", ()),
        ((), "names", ()),
    ],
)
def test_labels_find_their_scale(labels: tuple[str, ...], scale: str, at: tuple[float, ...]) -> None:
    assert find_scale(labels) == (scale, at)


def chart(*values: tuple[float | None, ...], percent: bool = False) -> Chart:
    series = tuple(Series(name=f"s{i}", values=one) for i, one in enumerate(values))
    return Chart(title="Traffic", kind="bars", labels=("a", "b"), series=series, percent=percent)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (chart((1, 2), (1, 2)), "Traffic: no change"),
        (chart((1, 2), (1, 5)), "Traffic: most changes at b, from 2 to 5"),
        (chart((1, None), (None, 2)), "Traffic"),
        (chart((3, 2)), "Traffic: most at a (3)"),
        (chart((0.25, 0.75), percent=True), "Traffic: most at b (75 %)"),
        (chart((1.0001, 1), (1.0002, 1)), "Traffic: hardly any change"),
        (chart(), "Traffic"),
    ],
)
def test_titles_say_the_finding(found: Chart, told: str) -> None:
    assert tell_finding(found).replace("\N{NO-BREAK SPACE}", " ") == told
