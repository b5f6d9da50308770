"""Maps as SVG text: straight lines in the plane, coloured by class of a value; nothing is fetched."""

from __future__ import annotations

import math
from collections import Counter

from markupsafe import Markup, escape

from wayveil.model.results import Chart
from wayveil.report.charts.svg import join, tag
from wayveil.report.text.number_format import clean, format_value

__all__ = ["draw_map"]

WIDTH = 400.0
TALLEST = 520.0
MARGIN = 6.0
BESIDE = 0.9  # units by which a line is moved to its right, so that two directions are two lines
CLASSES = (
    (0.05, "up to 5 %", "#1b7f5c"),
    (0.2, "5 to 20 %", "#8ab661"),
    (0.5, "20 to 50 %", "#e0a458"),
    (math.inf, "more than 50 %", "#c4412b"),
)


def draw_map(chart: Chart) -> Markup:
    """Return a chart of kind "map" as a <figure>: lines coloured by the first series, and how many have which colour.

    Examples
    --------
    >>> from wayveil.model import Series
    >>> chart = Chart(title="Error", kind="map", labels=("a",), series=(Series(name="e", values=(0.3,)),),
    ...               lines=((0, 0, 100, 50),), percent=True)
    >>> "#e0a458" in draw_map(chart), "a: 30" in draw_map(chart)
    (True, True)
    """
    values = chart.series[0].values if chart.series else ()
    drawn = [
        (label, value, line)
        for label, value, line in zip(chart.labels, values, chart.lines, strict=False)
        if value is not None and math.isfinite(value) and all(math.isfinite(end) for end in line)
    ]
    caption = tag("figcaption", clean(chart.title))
    if not drawn:
        return tag("figure", caption + tag("p", "Nothing to show.", class_="empty"), class_="chart")
    x_low, y_low = (min(min(line[i], line[i + 2]) for _, _, line in drawn) for i in (0, 1))
    x_high, y_high = (max(max(line[i], line[i + 2]) for _, _, line in drawn) for i in (0, 1))
    wide = max(x_high - x_low, 1e-9)
    tall = max(y_high - y_low, 1e-9)
    scale = min((WIDTH - 2 * MARGIN) / wide, (TALLEST - 2 * MARGIN) / tall)
    height = tall * scale + 2 * MARGIN
    body = []
    numbers = Counter[str]()
    for label, value, line in drawn:
        name, colour = next((name, colour) for bound, name, colour in CLASSES if value <= bound)
        numbers[name] += 1
        ends = [MARGIN + (end - low) * scale for end, low in zip(line, (x_low, y_low) * 2, strict=True)]
        x1, y1, x2, y2 = _beside(ends[0], height - ends[1], ends[2], height - ends[3])
        hint = tag("title", f"{clean(label)}: {format_value(value, percent=chart.percent)}")
        body.append(tag("line", hint, x1=x1, y1=y1, x2=x2, y2=y2, style=f"stroke: {colour}; stroke-width: 1.3"))
    spoken = f"{clean(chart.title)}. Map with {len(drawn):,} lines. How many have which colour is above."
    svg = tag("svg", join(body), viewBox=f"0 0 {WIDTH:g} {height:.0f}", role="img", aria_label=spoken)
    legend = [
        tag(
            "li", tag("span", "", class_="swatch", style=f"background: {colour}") + escape(f"{name}: {numbers[name]:,}")
        )
        for _, name, colour in CLASSES
    ]
    below = tag("p", clean(chart.x_label), class_="axis below") if chart.x_label else Markup()
    return tag("figure", caption + tag("ul", join(legend), class_="legend") + svg + below, class_="chart")


def _beside(x1: float, y1: float, x2: float, y2: float) -> tuple[float, float, float, float]:
    """Return a line moved to its right, as seen by whoever goes along it; the y axis points down."""
    length = math.hypot(x2 - x1, y2 - y1)
    if length == 0:
        return x1, y1, x2, y2
    dx = -(y2 - y1) / length * BESIDE
    dy = (x2 - x1) / length * BESIDE
    return x1 + dx, y1 + dy, x2 + dx, y2 + dy
