"""Charts as SVG text: no script, no network, every label escaped, and every number also in a table."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from markupsafe import Markup, escape

from wayveil.model.results import Chart, Series

__all__ = ["clean", "draw", "format_number", "format_percent", "format_value", "overlay"]

NOTHING = "–"
WIDTH = 400.0  # units of the viewBox: near the real width on a desk (two charts side by side) and on a phone
FONT = 12.0
SMALL = 10.5
MOST_STANDING, MOST_LYING = 60, 30  # groups of bars that are drawn; the table always has all

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
    length = max([len(chart.labels), *(len(series.values) for series in chart.series)])
    labels = [clean(label) for label in chart.labels] + [""] * (length - len(chart.labels))
    columns = [_drawable(series.values, length) for series in chart.series]
    body: list[Markup] = [_tag("figcaption", clean(chart.title))]
    if all(value is None for column in columns for value in column):
        body.append(_tag("p", "Nothing to show.", class_="empty"))
        return _tag("figure", _join(body), class_="chart")
    flat = chart.kind == "bars" and not _upright(labels)
    drawn = length if chart.kind == "line" else min(length, MOST_LYING if flat else MOST_STANDING)
    plot = _Plot(chart, labels[:drawn], [column[:drawn] for column in columns])
    if len(chart.series) > 1:
        body.append(_legend(plot))
    svg = _line(plot) if chart.kind == "line" else _horizontal(plot) if flat else _vertical(plot)
    above, below = (chart.x_label, chart.y_label) if flat else (chart.y_label, chart.x_label)
    body += [_axis_name(above, "above"), svg, _axis_name(below, "below")]
    if drawn < length:
        body.append(_tag("p", f"The first {drawn} of {length:,} are drawn; the table has all.", class_="axis"))
    body.append(_table(chart, labels))
    return _tag("figure", _join(body), class_="chart")


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
                        values=tuple(value_of.get(label) for label in labels),  # type: ignore[misc]
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


def format_value(value: float | None, *, percent: bool) -> str:
    """Return a chart's value as people read it."""
    return format_percent(value) if percent else format_number(value)


def format_number(value: float | None) -> str:
    """Return a number for people; a dash for one that is missing, NaN or infinite.

    Examples
    --------
    >>> [format_number(v) for v in (12345, 12345.678, 100.5, 3.14159, 0.00123, 2.0, None, float("nan"))]
    ['12,345', '12,346', '100.5', '3.14', '0.00123', '2', '–', '–']
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NOTHING
    size = abs(value)
    if size >= 10**15 or 0 < size < 1e-6:
        return f"{Decimal(value):.3g}"
    if value == int(value):
        return f"{int(value):,}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{max(1, 2 - math.floor(math.log10(size)))}f}".rstrip("0").rstrip(".")


def format_percent(share: float | None) -> str:
    """Return a share as a percentage; only 0 is 0 % and only 1 is 100 %.

    Examples
    --------
    >>> [format_percent(v).replace("\\xa0", " ") for v in (0, 0.034, 0.5, 0.00012, 0.9999, 1, None)]
    ['0 %', '3.4 %', '50 %', '0.01 %', '99.99 %', '100 %', '–']
    """
    if share is None or (isinstance(share, float) and not math.isfinite(share)):
        return NOTHING
    if abs(share) >= 10**12:
        return f"{Decimal(share) * 100:.3g}\N{NO-BREAK SPACE}%"
    percent = share * 100
    if abs(percent - round(percent)) < 1e-9:
        if share == 0 or round(percent) != 0:
            return f"{round(percent):,}\N{NO-BREAK SPACE}%"
        return "< 0.0001\N{NO-BREAK SPACE}%"
    for digits in range(1, 5):
        text = f"{percent:,.{digits}f}"
        if float(text.replace(",", "")) not in (0.0, 100.0):
            return f"{text}\N{NO-BREAK SPACE}%"
    return "< 0.0001\N{NO-BREAK SPACE}%" if abs(percent) < 1 else "nearly 100\N{NO-BREAK SPACE}%"


def clean(text: object) -> str:
    """Return text without characters that HTML cannot hold or that turn the text around them.

    Examples
    --------
    >>> clean("a\\x00b\\u202ec\\nd")
    'a\ufffdb\ufffdc d'
    """
    spaced = re.sub(r"[\t\n\r]+", " ", str(text))
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") or c in _TURNING else c for c in spaced
    )


_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Plot:
    """What the three drawings share: cleaned labels, drawable values, colours and the axis of values."""

    def __init__(self, chart: Chart, labels: list[str], columns: list[Values]) -> None:
        self.chart, self.labels, self.columns = chart, labels, columns
        self.names = [clean(series.name) for series in chart.series]
        self.colours = _colours(self.names)
        present = [value for column in columns for value in column if value is not None]
        whole = not chart.percent and all(value == int(value) for value in present)
        self.axis = _axis(min(0.0, *present), max(0.0, *present), whole)
        self.tick_names = [_tick_name(tick, self.axis.step, chart.percent) for tick in self.axis.ticks]

    def hint(self, series: int, row: int) -> Markup:
        """Return the tooltip of one value."""
        number = format_value(self.chart.series[series].values[row], percent=self.chart.percent)
        named = f"{self.names[series]}: " if len(self.names) > 1 else ""
        return _tag("title", f"{self.labels[row]}: {named}{number}")

    def svg(self, height: float, body: list[Markup]) -> Markup:
        """Return the drawing, described for those who do not see it."""
        kind = "Line chart" if self.chart.kind == "line" else "Bar chart"
        named = f" Series: {', '.join(self.names)}." if len(self.names) > 1 else ""
        spoken = f"{clean(self.chart.title)}. {kind} with {len(self.labels):,} labels.{named} The numbers are below."
        return _tag("svg", _join(body), viewBox=f"0 0 {WIDTH:g} {height:.0f}", role="img", aria_label=spoken)


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    step: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return where a value lies between the ends of the axis, as a share."""
        return (value - self.low) / (self.high - self.low)


def _vertical(plot: _Plot) -> Markup:
    height, top, bottom = 220.0, 18.0, 24.0
    left = max(_width(name) for name in plot.tick_names) + 8
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
    left = min(130.0, max(_width(label) for label in plot.labels)) + 8
    thick = 9.0 if len(plot.columns) > 2 else 13.0 if rows <= 12 else 11.0
    slot = thick * len(plot.columns) + (7 if rows <= 12 else 5)
    texts = [
        [format_value(v, percent=plot.chart.percent) if v is not None else "" for v in series.values[:rows]]
        for series in plot.chart.series
    ]
    numbers = thick > SMALL
    room = max((_width(text) for column in texts for text in column), default=0.0) + 6 if numbers else 0.0
    right = max(room, _width(plot.tick_names[-1]) / 2 + 2)
    span = WIDTH - left - right
    top = 4.0
    height = top + slot * rows + 20

    def x(value: float) -> float:
        return left + span * plot.axis.at(value)

    body: list[Markup] = []
    every = 1 + (sum(_width(name) + 10 for name in plot.tick_names) > span)
    for i, (tick, name) in enumerate(zip(plot.axis.ticks, plot.tick_names, strict=True)):
        kind = "zero" if tick == 0 else "level"
        body.append(_tag("line", x1=x(tick), x2=x(tick), y1=top, y2=height - 18, class_=kind))
        if i % every == 0:
            body.append(_text(name, x(tick), height - 5, "middle", "tick"))
    for row in range(rows):
        start = top + slot * row + 3
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
    height, top, bottom = 220.0, 10.0, 24.0
    left = max(_width(name) for name in plot.tick_names) + 8
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
                body.append(_tag("polyline", points=" ".join(run), class_=f"stroke {plot.colours[i]}"))
            run = []
        few = "" if rows <= 40 else " unseen"  # many marks would hide the line, but still hold the tooltips
        for row, value in enumerate(column):
            if value is not None:
                mark = {"cx": start + slot * row, "cy": y(value), "r": 2.6}
                body.append(_tag("circle", plot.hint(i, row), **mark, class_=f"mark-dot {plot.colours[i]}{few}"))
    body += _labels_below(plot, start, slot, height - 8)
    return plot.svg(height, body)


def _level_lines(plot: _Plot, left: float, y: Callable[[float], float]) -> list[Markup]:
    body = []
    for tick, name in zip(plot.axis.ticks, plot.tick_names, strict=True):
        height = y(tick)
        body.append(_tag("line", x1=left, x2=WIDTH, y1=height, y2=height, class_="zero" if tick == 0 else "level"))
        body.append(_text(name, left - 6, height + 4, "end", "tick"))
    return body


def _labels_below(plot: _Plot, start: float, slot: float, y: float) -> list[Markup]:
    """Return as many labels as fit side by side: all, or every second, every third, and so on."""
    widest = min(90.0, max(_width(label) for label in plot.labels))
    every = max(1, math.ceil((widest + 6) / slot))
    body = []
    for row in range(0, len(plot.labels), every):
        x = start + slot * row
        half = min(widest, _width(plot.labels[row])) / 2
        x = min(max(x, half), WIDTH - half)
        body.append(_label(plot.labels[row], x, y, "middle", widest))
    return body


def _bar(plot: _Plot, series: int, row: int, *, x: float, y: float, width: float, height: float) -> Markup:
    size = {"x": x, "y": y, "width": max(width, 0.8), "height": max(height, 0.8)}  # a zero stays visible
    return _tag("rect", plot.hint(series, row), **size, rx=1, class_=f"bar {plot.colours[series]}")


def _numbers_fit(plot: _Plot, thick: float) -> bool:
    percent = plot.chart.percent
    texts = [format_value(value, percent=percent) for column in plot.columns for value in column]
    return max(_width(text) for text in texts) * SMALL / FONT <= thick + 3


def _upright(labels: list[str]) -> bool:
    """Whether bars stand: labels are few and short, or run on like hours, so that some can be left out."""
    widest = max(_width(label) for label in labels)
    if len(labels) <= 12 and widest + 4 <= (WIDTH - 50) / len(labels):
        return True
    keys = [_order(label) for label in labels]
    return all(keys) and all(a < b for a, b in pairwise(keys)) and widest <= 60


def _order(label: str) -> tuple[float, ...]:
    """Return the numbers of a label like "07:00", "0-10 %" or "≥ 50"; nothing if it has words."""
    if re.search(r"[^\d\s.,:%<>≤≥=+\-–]", label.replace(" to ", "-")):
        return ()
    return tuple(float(number) for number in re.findall(r"\d+(?:\.\d+)?", label.replace(",", "")))


def _axis(low: float, high: float, whole: bool) -> _Axis:
    """Return an axis with 3 to 7 ticks at 1, 2 or 5 times a power of ten."""
    low, high = max(low, -1e300), min(high, 1e300)
    if high - low < 1e-300:
        high = low + 1.0
    wanted = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= wanted * (1 - 1e-9))
    if whole:
        step = max(step, 1.0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(i * step for i in range(first, last + 1))
    return _Axis(low=ticks[0], high=ticks[-1], step=step, ticks=ticks)


def _tick_name(tick: float, step: float, percent: bool) -> str:
    scale, unit = (100.0, "\N{NO-BREAK SPACE}%") if percent else (1.0, "")
    tick, step = tick * scale, step * scale
    size = max(abs(tick), step)
    if tick == 0 and step >= 1e6:
        return f"0{unit}"
    if size >= 1e12 or step < 1e-6:
        return f"{tick:.2g}{unit}"
    for limit, letter in ((1e9, "G"), (1e6, "M")):
        if size >= limit and step >= limit / 100:
            return f"{tick / limit:g}{letter}{unit}"
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{tick:,.{digits}f}{unit}"


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
        _tag("li", _tag("span", "", class_=f"swatch {colour}") + escape(name))
        for name, colour in zip(plot.names, plot.colours, strict=True)
    ]
    return _tag("ul", _join(items), class_="legend")


def _table(chart: Chart, labels: list[str]) -> Markup:
    head = [_tag("th", clean(chart.x_label) or "label", scope="col")]
    head += [_tag("th", clean(series.name), scope="col") for series in chart.series]
    rows = [_tag("tr", _join(head))]
    for row, label in enumerate(labels):
        cells = [_tag("th", label, scope="row", dir="auto")]
        for series in chart.series:
            value = series.values[row] if row < len(series.values) else None
            cells.append(_tag("td", format_value(value, percent=chart.percent)))
        rows.append(_tag("tr", _join(cells)))
    table = _tag("table", _tag("thead", rows[0]) + _tag("tbody", _join(rows[1:])), class_="numbers")
    return _tag("details", _tag("summary", "Show the numbers") + _tag("div", table, class_="scroll"), class_="data")


def _axis_name(text: str, where: str) -> Markup:
    return _tag("p", clean(text), class_=f"axis {where}") if text else Markup()


def _label(text: str, x: float, y: float, anchor: str, room: float) -> Markup:
    short = _shortened(text, room)
    body = escape(short) if short == text else escape(short) + _tag("title", text)
    return _tag("text", body, x=x, y=y, text_anchor=anchor, class_="label")


def _text(text: str, x: float, y: float, anchor: str, kind: str) -> Markup:
    return _tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)


def _shortened(text: str, room: float) -> str:
    if _width(text) <= room + 0.5:
        return text
    kept = text
    while kept and _width(kept) + FONT * 0.9 > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def _width(text: str) -> float:
    """Return the width of a label, from above: wide letters count double, marks on letters count nothing."""
    width = 0.0
    for c in text[:200]:
        if unicodedata.east_asian_width(c) in "WF":
            width += 1.05
        elif not unicodedata.combining(c):
            width += 0.78 if c.isupper() or c in "mw%@" else 0.34 if c in " .,:;'|ijl1!\N{NO-BREAK SPACE}" else 0.58
    return width * FONT


def _tag(name: str, body: Markup | str = "", **attributes: float | str) -> Markup:
    """Return an element; body and attributes are escaped unless they are markup already."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        text = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    return Markup("".join(parts) + ">") + escape(body) + Markup(f"</{name}>")


def _join(parts: Sequence[Markup]) -> Markup:
    return Markup("").join(parts)
