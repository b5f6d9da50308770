"""Figures of a page: the title that says the finding, the numbers as a table, and the data for the script that draws.

Nothing is drawn here.  Without a script a figure is its title and its table.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from wayveil.model import Chart
from wayveil.report.chart_axis import tell_finding
from wayveil.report.results_json import charts_json
from wayveil.report.results_schema import MapData
from wayveil.report.suppression import MIN_PEOPLE
from wayveil.report.text.number_format import clean, format_value
from wayveil.report.text.wording import exact_text

__all__ = ["Drawn", "Figure", "Page", "page_parts", "visual_script", "visual_style"]

MOST_ROWS = 400  # of a table; results.json has all
_LEGEND = ("one", "two", "three", "four", "five", "six")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure: where its drawing goes (`visual`, `id`), and what is read without it."""

    visual: str
    id: str
    finding: str
    title: str
    below: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    left_out: int = 0


@dataclass(kw_only=True)
class Drawn:
    """All that the script of one page draws, collected while the page is put together."""

    names: tuple[str, str] = ("raw data", "published data")
    charts: dict[str, Any] = field(default_factory=dict)
    maps: list[Any] = field(default_factory=list)
    risks: list[Any] = field(default_factory=list)
    flow: list[Any] = field(default_factory=list)
    frontier: dict[str, Any] | None = None

    def chart(self, chart: Chart, id: str) -> Figure:
        """Take a chart in, and return its figure."""
        # What is drawn goes to the script as data; the table beside it is plain HTML, for readers without one.
        self.charts[id] = charts_json((chart,))[0]
        values = [
            tuple(zip(series.values, series.people or (None,) * len(series.values), strict=True))
            for series in chart.series
        ]
        rows = [
            (
                clean(label),
                tuple((format_value(v, percent=chart.percent) + _people(n), exact_text(v)) for v, n in row),
            )
            for label, *row in zip(chart.labels, *values, strict=False)
        ]
        names = [clean(series.name) for series in chart.series]
        return Figure(
            visual="chart",
            id=id,
            finding=clean(tell_finding(chart)),
            title=clean(chart.title),
            below=clean(chart.x_label) if chart.kind == "map" or ";" in chart.x_label else "",
            columns=tuple(names),
            rows=tuple(rows[:MOST_ROWS]),
            legend=_legend(names),
            left_out=max(0, len(rows) - MOST_ROWS),
        )

    def map(self, data: MapData) -> Figure:
        """Take a map in, and return its figure; its table has what is counted most."""
        self.maps.append(data.model_dump(mode="json"))
        rows: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        marks = data.marks
        total = 0
        if marks is not None:
            # The table has the marks that are counted most, on either side.
            order = sorted(range(len(marks.x)), key=lambda i: -max(marks.raw[i] or 0, marks.published[i] or 0))
            total = len(order)
            for i in order[:50]:
                label = marks.labels[i] if marks.labels else f"square {marks.x[i]}, {marks.y[i]}"
                rows.append((clean(label), tuple(_mark_text(data, side, i) for side in (0, 1))))
        return Figure(
            visual="map",
            id=str(len(self.maps) - 1),
            finding=clean(data.finding or data.title),
            title=clean(data.title),
            below=clean(data.below),
            columns=tuple(clean(name) for name in data.names),
            rows=tuple(rows),
            left_out=total - len(rows),
        )

    def to_text(self) -> Markup:
        """Return the data as JSON that can stand inside of a page."""
        content = {
            "names": self.names,
            "charts": self.charts,
            "maps": self.maps,
            "risks": self.risks,
            "flow": self.flow,
            **({} if self.frontier is None else {"frontier": self.frontier}),
        }
        text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        # The end of a script element inside JSON would end the element: three signs are escaped.
        return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@dataclass(frozen=True, kw_only=True)
class Page:
    """The parts of a page that carry the drawings: its policy, style and script."""

    policy: Markup
    style: Markup
    script: Markup


def page_parts(style: str) -> Page:
    """Return the policy of a page with this style sheet: nothing is loaded, and nothing else runs or styles.

    The policy names script and style by their hashes.
    """
    # The policy names hashes of the one style and the one script: anything that was smuggled in neither styles nor
    # runs.
    sheet = f"{style}\n{visual_style()}"
    script = visual_script()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(sheet)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return Page(policy=Markup(policy), style=Markup(sheet), script=Markup(script))


@cache
def visual_script() -> str:
    """Return the script that draws charts and maps, built from ``frontend/src/visual``."""
    return _packaged("visual.js")


@cache
def visual_style() -> str:
    """Return the style sheet of charts and maps."""
    return _packaged("visual.css")


def _packaged(name: str) -> str:
    text = files("wayveil.report").joinpath("visual", name).read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script").strip()


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _people(number: int | None) -> str:
    """Return how many people are behind a value, in words to put behind it."""
    return "" if number is None else f" ({number:,} {'person' if number == 1 else 'people'})"


def _mark_text(data: MapData, side: int, i: int) -> tuple[str, str | None]:
    """Return what a mark of a map says on one side: its value and people, or why there is none."""
    marks = data.marks
    if marks is None:
        return "", None
    value = (marks.raw, marks.published)[side][i]
    if value is None:
        return f"withheld: fewer than {MIN_PEOPLE} people" if marks.withheld[side] else marks.missing, None
    people = (marks.raw_people, marks.published_people)[side][i]
    return format_value(value, percent=data.percent) + _people(people), exact_text(value)


def _legend(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the names of series with the classes of their colours, as the script gives them."""
    if len(names) < 2:
        return ()
    # Published data keep their colour even where they come first.
    lower = [name.lower() for name in names]
    turned = len(names) == 2 and lower[0].startswith(("published", "rejected", "after"))
    return tuple((name, _LEGEND[(1 - i if turned else i) % len(_LEGEND)]) for i, name in enumerate(names))
