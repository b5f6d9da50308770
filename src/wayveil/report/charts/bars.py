"""Charts as SVG text: no script, no network, every label escaped, and every number also in a table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from wayveil.model.results import Chart, Series
from wayveil.report.charts.axes import make_axis, tick_name
from wayveil.report.charts.map import draw_map
from wayveil.report.charts.panels import draw_panels
from wayveil.report.charts.svg import FONT, join, shortened, tag, width_of
from wayveil.report.text.number_format import clean, format_value
from wayveil.report.text.wording import exact_text

__all__ = ["draw", "overlay"]

WIDTH = 400.0  # units of the viewBox: near the real width on a desk (two charts side by side) and on a phone
SMALL = 10.5
BESIDE = 130.0  # labels up to this wide stand beside their bars
MOST_STANDING = 60  # groups of bars that are drawn; the table always has all
MOST_LYING = 30

Values = list[float | None]


def draw(chart: Chart) -> Markup:
    """Return a chart as a <figure>: caption, legend, drawing and, folded away, its numbers as a table.

    Values that are missing, NaN or infinite are left out of the drawing and are a dash in the table.

    Examples
    --------
    >>> chart = Chart(title="Visits <kept>", kind="bars", labels=("a",), series=(Series(name="n", values=(3,)),))
    >>> "Visits &lt;kept&gt;" in draw(chart)
    True
    """
    if chart.kind == "map":
        return draw_map(chart)
    if chart.kind in ("cells", "roads"):
        return draw_panels(chart)
    length = max([len(chart.labels), *(len(series.values) for series in chart.series)])
    labels = [clean(label) for label in chart.labels] + [""] * (length - len(chart.labels))
    columns = [_drawable(series.values, length) for series in chart.series]
    body: list[Markup] = [tag("figcaption", clean(chart.title))]
    if all(value is None for column in columns for value in column):
        body.append(tag("p", "Nothing to show.", class_="empty"))
        return tag("figure", join(body), class_="chart")
    flat = chart.kind == "bars" and not _upright(labels)
    drawn = length if chart.kind == "line" else min(length, MOST_LYING if flat else MOST_STANDING)
    plot = _Plot(chart, labels[:drawn], [column[:drawn] for column in columns])
    if len(chart.series) > 1:
        body.append(_legend(plot))
    svg = _line(plot) if chart.kind == "line" else _horizontal(plot) if flat else _vertical(plot)
    above, below = (chart.x_label, chart.y_label) if flat else (chart.y_label, chart.x_label)
    body += [_axis_name(above, "above"), svg, _axis_name(below, "below")]
    if drawn < length:
        body.append(tag("p", f"The first {drawn} of {length:,} are drawn; the table has all.", class_="axis"))
    body.append(_table(chart, labels))
    return tag("figure", join(body), class_="chart")


def overlay(raw: Chart, published: Chart, names: tuple[str, str] = ("raw data", "published data")) -> Chart:
    """Return one chart that shows two charts of the same thing side by side, label by label.

    Examples
    --------
    >>> one = Chart(title="Risk", kind="bars", labels=("a", "c"), series=(Series(name="n", values=(1, 2)),))
    >>> two = Chart(title="Risk", kind="bars", labels=("a", "b", "c"), series=(Series(name="n", values=(3, 4, 5)),))
    >>> both = overlay(one, two)
    >>> both.labels, [series.values for series in both.series]
    (('a', 'b', 'c'), [(1, None, 2), (3, 4, 5)])
    """
    labels = list(raw.labels)
    place = 0
    for label in published.labels:
        if label in labels:
            place = labels.index(label) + 1
        else:
            labels.insert(place, label)
            place += 1
    series = []
    for i in range(max(len(raw.series), len(published.series))):
        for source, name in ((raw, names[0]), (published, names[1])):
            if i < len(source.series):
                single = len(source.series) == 1
                value_of = dict(zip(source.labels, source.series[i].values, strict=False))
                series.append(
                    Series(
                        name=name if single else f"{name}: {source.series[i].name}",
                        values=tuple(value_of.get(label) for label in labels),
                    )
                )
    return Chart(
        title=raw.title,
        kind=raw.kind,
        labels=tuple(labels),
        series=tuple(series),
        x_label=raw.x_label or published.x_label,
        y_label=raw.y_label or published.y_label,
        percent=raw.percent or published.percent,
    )


class _Plot:
    """What the three drawings share: cleaned labels, drawable values, colours and the axis of values."""

    def __init__(self, chart: Chart, labels: list[str], columns: list[Values]) -> None:
        self.chart = chart
        self.labels = labels
        self.columns = columns
        self.names = [clean(series.name) for series in chart.series]
        self.colours = _colours(self.names)
        present = [value for column in columns for value in column if value is not None]
        whole = not chart.percent and all(value == int(value) for value in present)
        self.axis = make_axis(min(0.0, *present), max(0.0, *present), whole)
        self.tick_names = [tick_name(tick, self.axis.step, chart.percent) for tick in self.axis.ticks]

    def hint(self, series: int, row: int) -> Markup:
        """Return the tooltip of one value."""
        number = format_value(self.chart.series[series].values[row], percent=self.chart.percent)
        named = f"{self.names[series]}: " if len(self.names) > 1 else ""
        return tag("title", f"{self.labels[row]}: {named}{number}")

    def svg(self, height: float, body: list[Markup]) -> Markup:
        """Return the drawing, described for those who do not see it."""
        kind = "Line chart" if self.chart.kind == "line" else "Bar chart"
        named = f" Series: {', '.join(self.names)}." if len(self.names) > 1 else ""
        spoken = f"{clean(self.chart.title)}. {kind} with {len(self.labels):,} labels.{named} The numbers are below."
        return tag("svg", join(body), viewBox=f"0 0 {WIDTH:g} {height:.0f}", role="img", aria_label=spoken)


def _vertical(plot: _Plot) -> Markup:
    height = 220.0
    top = 18.0
    bottom = 24.0
    left = max(width_of(name) for name in plot.tick_names) + 8
    rows = len(plot.labels)
    slot = (WIDTH - left - 2) / rows
    thick = min(34.0, slot * 0.8 / len(plot.columns))
    span = height - top - bottom

    def y(value: float) -> float:
        return top + span * (1 - plot.axis.at(value))

    body = _level_lines(plot, left, y)
    numbers = _numbers_fit(plot, thick)
    for row in range(rows):
        middle = left + slot * (row + 0.5)
        for i, column in enumerate(plot.columns):
            value = column[row]
            if value is None:
                continue
            x = middle + thick * (i - len(plot.columns) / 2)
            ends = sorted((y(value), y(0)))
            body.append(_bar(plot, i, row, x=x, y=ends[0], width=thick - 1, height=ends[1] - ends[0]))
            if numbers:
                text = format_value(plot.chart.series[i].values[row], percent=plot.chart.percent)
                body.append(_text(text, x + thick / 2, ends[0] - 4, "middle", "number"))
    body += _labels_below(plot, left + slot / 2, slot, height - 8)
    return plot.svg(height, body)


def _horizontal(plot: _Plot) -> Markup:
    rows = len(plot.labels)
    widest = max(width_of(label) for label in plot.labels)
    above = FONT + 4 if widest > BESIDE else 0.0  # long labels are cut less in a line of their own
    left = 8.0 if above else widest + 8
    thick = 9.0 if len(plot.columns) > 2 else 13.0 if rows <= 12 else 11.0
    slot = above + thick * len(plot.columns) + (7 if rows <= 12 else 5)
    texts = [
        [format_value(v, percent=plot.chart.percent) if v is not None else "" for v in series.values[:rows]]
        for series in plot.chart.series
    ]
    numbers = thick > SMALL
    room = max((width_of(text) for column in texts for text in column), default=0.0) + 6 if numbers else 0.0
    right = max(room, width_of(plot.tick_names[-1]) / 2 + 2)
    span = WIDTH - left - right
    top = 4.0
    height = top + slot * rows + 20

    def x(value: float) -> float:
        return left + span * plot.axis.at(value)

    body: list[Markup] = []
    every = 1 + (sum(width_of(name) + 10 for name in plot.tick_names) > span)
    for i, (tick, name) in enumerate(zip(plot.axis.ticks, plot.tick_names, strict=True)):
        kind = "zero" if tick == 0 else "level"
        body.append(tag("line", x1=x(tick), x2=x(tick), y1=top, y2=height - 18, class_=kind))
        if i % every == 0:
            body.append(_text(name, x(tick), height - 5, "middle", "tick"))
    for row in range(rows):
        start = top + slot * row + 3 + above
        if above:
            body.append(_label(plot.labels[row], left + 2, start - 4, "start", WIDTH - left - 4))
        else:
            body.append(_label(plot.labels[row], left - 6, start + thick * len(plot.columns) / 2 + 4, "end", left - 8))
        for i, column in enumerate(plot.columns):
            value = column[row]
            if value is None:
                continue
            ends = sorted((x(value), x(0)))
            y = start + thick * i
            body.append(_bar(plot, i, row, x=ends[0], y=y, width=ends[1] - ends[0], height=thick - 1))
            if numbers:
                body.append(_text(texts[i][row], ends[1] + 4, y + thick - 3.2, "start", "number"))
    return plot.svg(height, body)


def _line(plot: _Plot) -> Markup:
    height = 220.0
    top = 10.0
    bottom = 24.0
    left = max(width_of(name) for name in plot.tick_names) + 8
    rows = len(plot.labels)
    slot = (WIDTH - left - 12) / max(1, rows - 1)
    start = left + 4 if rows > 1 else (WIDTH + left) / 2
    span = height - top - bottom

    def y(value: float) -> float:
        return top + span * (1 - plot.axis.at(value))

    body = _level_lines(plot, left, y)
    for i, column in enumerate(plot.columns):
        run: list[str] = []
        for value, row in zip([*column, None], range(rows + 1), strict=True):
            if value is not None:
                run.append(f"{start + slot * row:.1f},{y(value):.1f}")
                continue
            if len(run) > 1:
                body.append(tag("polyline", points=" ".join(run), class_=f"stroke {plot.colours[i]}"))
            run = []
        few = "" if rows <= 40 else " unseen"  # many marks would hide the line, but still hold the tooltips
        for row, value in enumerate(column):
            if value is not None:
                mark = {"cx": start + slot * row, "cy": y(value), "r": 2.6}
                body.append(tag("circle", plot.hint(i, row), **mark, class_=f"mark-dot {plot.colours[i]}{few}"))
    body += _labels_below(plot, start, slot, height - 8)
    return plot.svg(height, body)


def _level_lines(plot: _Plot, left: float, y: Callable[[float], float]) -> list[Markup]:
    body = []
    for tick, name in zip(plot.axis.ticks, plot.tick_names, strict=True):
        height = y(tick)
        body.append(tag("line", x1=left, x2=WIDTH, y1=height, y2=height, class_="zero" if tick == 0 else "level"))
        body.append(_text(name, left - 6, height + 4, "end", "tick"))
    return body


def _labels_below(plot: _Plot, start: float, slot: float, y: float) -> list[Markup]:
    """Return as many labels as fit side by side: all, or every second, every third, and so on."""
    widest = min(90.0, max(width_of(label) for label in plot.labels))
    every = max(1, math.ceil((widest + 6) / slot))
    body = []
    for row in range(0, len(plot.labels), every):
        x = start + slot * row
        half = min(widest, width_of(plot.labels[row])) / 2
        x = min(max(x, half), WIDTH - half)
        body.append(_label(plot.labels[row], x, y, "middle", widest))
    return body


def _bar(plot: _Plot, series: int, row: int, *, x: float, y: float, width: float, height: float) -> Markup:
    size = {"x": x, "y": y, "width": max(width, 0.8), "height": max(height, 0.8)}  # a zero stays visible
    return tag("rect", plot.hint(series, row), **size, rx=1, class_=f"bar {plot.colours[series]}")


def _numbers_fit(plot: _Plot, thick: float) -> bool:
    percent = plot.chart.percent
    texts = [format_value(value, percent=percent) for column in plot.columns for value in column]
    return max(width_of(text) for text in texts) * SMALL / FONT <= thick + 3


def _upright(labels: list[str]) -> bool:
    """Whether bars stand: labels are few and short, or run on like hours, so that some can be left out."""
    widest = max(width_of(label) for label in labels)
    if len(labels) <= 12 and widest + 4 <= (WIDTH - 50) / len(labels):
        return True
    keys = [_order(label) for label in labels]
    return all(keys) and all(a < b for a, b in pairwise(keys)) and widest <= 60


def _order(label: str) -> tuple[float, ...]:
    """Return the numbers of a label like "07:00", "0-10 %" or "≥ 50"; nothing if it has words."""
    if re.search(r"[^\d\s.,:%<>≤≥=+\-–]", label.replace(" to ", "-")):
        return ()
    return tuple(float(number) for number in re.findall(r"\d+(?:\.\d+)?", label.replace(",", "")))


def _drawable(values: Sequence[float | None], length: int) -> Values:
    found: Values = []
    for value in values:
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            found.append(None)
        else:
            found.append(float(max(min(value, 10**300), -(10**300))))
    return found + [None] * (length - len(found))


def _colours(names: list[str]) -> list[str]:
    """Return a class per series: raw data is orange and published data blue, wherever they occur."""
    free = ["after", "before", "third", "fourth", "fifth", "sixth"]
    found = [""] * len(names)
    for colour, pattern in (
        ("before", r"(raw|original|before|input)\b"),
        ("after", r"(published|rejected|after|output)\b"),
    ):
        match = next((i for i, name in enumerate(names) if re.match(pattern, name, re.IGNORECASE)), None)
        if match is not None:
            found[match] = colour
            free.remove(colour)
    return [colour or (free.pop(0) if free else "sixth") for colour in found]


def _legend(plot: _Plot) -> Markup:
    items = [
        tag("li", tag("span", "", class_=f"swatch {colour}") + escape(name))
        for name, colour in zip(plot.names, plot.colours, strict=True)
    ]
    return tag("ul", join(items), class_="legend")


def _table(chart: Chart, labels: list[str]) -> Markup:
    head = [tag("th", clean(chart.x_label) or "label", scope="col")]
    head += [tag("th", clean(series.name), scope="col") for series in chart.series]
    rows = [tag("tr", join(head))]
    for row, label in enumerate(labels):
        cells = [tag("th", label, scope="row", dir="auto")]
        for series in chart.series:
            value = series.values[row] if row < len(series.values) else None
            told = exact_text(value)
            exact = {} if told is None else {"data_value": told}
            cells.append(tag("td", format_value(value, percent=chart.percent), **exact))
        rows.append(tag("tr", join(cells)))
    table = tag("table", tag("thead", rows[0]) + tag("tbody", join(rows[1:])), class_="numbers")
    return tag("details", tag("summary", "Show the numbers") + tag("div", table, class_="scroll"), class_="data")


def _axis_name(text: str, where: str) -> Markup:
    return tag("p", clean(text), class_=f"axis {where}") if text else Markup()


def _label(text: str, x: float, y: float, anchor: str, room: float) -> Markup:
    short = shortened(text, room)
    body = escape(short) if short == text else escape(short) + tag("title", text)
    return tag("text", body, x=x, y=y, text_anchor=anchor, class_="label")


def _text(text: str, x: float, y: float, anchor: str, kind: str) -> Markup:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)
