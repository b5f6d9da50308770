"""Maps: every line is there, in its colour, and nothing that is not a number."""

from __future__ import annotations

import re

import pytest

from wayveil.model import Chart, Series
from wayveil.report.charts.bars import draw
from wayveil.report.charts.map import CLASSES, MARGIN, WIDTH, draw_map


def chart(values: tuple[float | None, ...], lines: tuple[tuple[float, float, float, float], ...]) -> Chart:
    labels = tuple(f"r<{i}>" for i in range(len(values)))
    return Chart(
        title="Map", kind="map", labels=labels, series=(Series(name="e", values=values),), lines=lines, percent=True
    )


@pytest.mark.parametrize(("value", "place"), [(0, 0), (0.05, 0), (0.051, 1), (0.2, 1), (0.5, 2), (0.51, 3), (7.0, 3)])
def test_a_value_has_the_colour_of_its_class(value: float, place: int) -> None:
    text = draw_map(chart((value,), ((0, 0, 10, 0),)))
    assert f"stroke: {CLASSES[place][2]}" in text
    assert f"{CLASSES[place][1]}: 1" in text
    assert sum(f"{name}: 0" in text for _, name, _ in CLASSES) == 3


def test_north_is_up_and_directions_are_apart() -> None:
    text = draw_map(chart((0.1, 0.1), ((0, 0, 0, 100), (0, 100, 0, 0))))
    found = [tuple(map(float, ends)) for ends in re.findall(r'x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"', text)]
    (x1, y1, _, y2), (other, *_) = found
    assert y1 > y2  # the first goes north, so up
    assert x1 > other  # its right is east
    assert all(0 <= x <= WIDTH for line in found for x in line[::2])
    assert min(y for line in found for y in line[1::2]) == pytest.approx(MARGIN, abs=0.1)


def test_what_cannot_be_drawn_is_left_out() -> None:
    nan = float("nan")
    text = draw_map(chart((None, nan, 0.1, 0.2), ((0, 0, 1, 1), (0, 0, 1, 1), (0, 0, nan, 1), (3, 3, 3, 3))))
    assert text.count("<line") == 1
    assert "r&lt;3&gt;: 20" in text
    assert "Nothing to show" in draw_map(chart((None,), ((0, 0, 1, 1),)))
    assert "Nothing to show" in draw(chart((), ()))
