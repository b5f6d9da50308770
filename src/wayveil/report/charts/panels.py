"""Maps side by side as SVG text: cells or roads, the stronger the larger their value; nothing is fetched."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from wayveil.model.results import Chart
from wayveil.report.charts.svg import join, tag
from wayveil.report.text.number_format import clean, format_apart, format_value

__all__ = ["draw_panels"]

WIDTH = 400.0
TALLEST = 420.0
MARGIN = 4.0
CLASSES = ((0.03, 0.12), (0.1, 0.28), (0.25, 0.5), (0.5, 0.75), (math.inf, 1.0))
"""Upper bounds, as shares of the largest value, and how opaque a shape is."""

_COLOURS = ("var(--before-edge)", "var(--after)", "var(--third)")


def draw_panels(chart: Chart) -> Markup:
    """Return a chart of kind "cells" or "roads" as a <figure> with one drawing per series, all on the same scale.

    Examples
    --------
    >>> from wayveil.model import Series
    >>> chart = Chart(title="Where", kind="cells", labels=("a", "b"), lines=((0, 0, 1, 1), (1, 0, 2, 1)), percent=True,
    ...               series=(Series(name="raw", values=(0.9, 0.1)), Series(name="published", values=(1.0, None))))
    >>> drawn = draw_panels(chart)
    >>> drawn.count("<rect"), "a: 90" in drawn
    (3, True)
    """
    panels = [
        [
            (label, value, line)
            for label, value, line in zip(chart.labels, series.values, chart.lines, strict=True)
            if value is not None and math.isfinite(value) and value > 0 and all(math.isfinite(end) for end in line)
        ]
        for series in chart.series
    ]
    caption = tag("figcaption", clean(chart.title))
    everything = [line for panel in panels for _, _, line in panel]
    if not everything:
        return tag("figure", caption + tag("p", "Nothing to show.", class_="empty"), class_="chart")
    largest = max(value for panel in panels for _, value, _ in panel)
    x_low, y_low = (min(min(line[i], line[i + 2]) for line in everything) for i in (0, 1))
    x_high, y_high = (max(max(line[i], line[i + 2]) for line in everything) for i in (0, 1))
    wide = max(x_high - x_low, 1e-9)
    tall = max(y_high - y_low, 1e-9)
    scale = min((WIDTH - 2 * MARGIN) / wide, (TALLEST - 2 * MARGIN) / tall)
    left = (WIDTH - wide * scale) / 2
    height = tall * scale + 2 * MARGIN
    drawn = []
    for series, panel, colour in zip(chart.series, panels, _COLOURS, strict=False):
        body = []
        for label, value, (x1, y1, x2, y2) in panel:
            strength = next(opacity for bound, opacity in CLASSES if value <= bound * largest)
            ends = (
                left + (x1 - x_low) * scale,
                height - MARGIN - (y1 - y_low) * scale,
                left + (x2 - x_low) * scale,
                height - MARGIN - (y2 - y_low) * scale,
            )
            hint = tag("title", f"{clean(label)}: {format_value(value, percent=chart.percent)}")
            body.append(_shape(chart.kind, ends, strength, hint))
        spoken = f"{clean(chart.title)}, {clean(series.name)}: map of {len(panel):,} {chart.kind}."
        svg = tag("svg", join(body), viewBox=f"0 0 {WIDTH:g} {height:.0f}", role="img", aria_label=spoken, color=colour)
        drawn.append(tag("div", tag("p", clean(series.name), class_="axis above") + svg, class_="panel"))
    below = tag("p", clean(chart.x_label), class_="axis") if chart.x_label else Markup()
    return tag(
        "figure", caption + _legend(largest, chart.percent) + tag("div", join(drawn), class_="panels") + below,
        class_="chart",
    )  # fmt: skip


def _shape(kind: str, ends: tuple[float, float, float, float], strength: float, hint: Markup) -> Markup:
    x1, y1, x2, y2 = ends
    if kind == "roads":
        style = f"stroke: currentColor; stroke-width: {0.6 + 2 * strength:.1f}; stroke-opacity: {max(0.25, strength):g}"
        return tag("line", hint, x1=x1, y1=y1, x2=x2, y2=y2, style=style)
    return tag(
        "rect", hint, x=min(x1, x2), y=min(y1, y2), width=abs(x2 - x1), height=abs(y2 - y1),
        style=f"fill: currentColor; fill-opacity: {strength:g}",
    )  # fmt: skip


def _legend(largest: float, percent: bool) -> Markup:
    rows = []
    tops = format_apart([largest if math.isinf(bound) else bound * largest for bound, _ in CLASSES], percent=percent)
    for top, (_, opacity) in zip(tops, CLASSES, strict=True):
        swatch = tag("span", "", class_="swatch", style=f"background: var(--ink); opacity: {opacity:g}")
        rows.append(tag("li", swatch + escape(f"up to {top}")))
    return tag("ul", join(rows), class_="legend")
