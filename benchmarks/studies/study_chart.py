"""Charts of studies as SVG files, drawn by the same layer as those of the report and the page.

A browser (chromium) draws them once; without one the chart is written as data only, and a file that is there stays.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from markupsafe import escape

from wayveil.model import Chart
from wayveil.report.figures import Drawn, visual_script

COLOURS = {
    "ink": "#1c2530", "quiet": "#56606d", "line": "#dde2e8", "paper": "#ffffff", "limit": "#a3211f",
    "before-edge": "#a65300", "before": "#f0a352", "after": "#0069ab", "third": "#2f9e77", "fourth": "#b5578f",
    "fifth": "#6c727a", "sixth": "#8a6d00",
}  # fmt: skip
ORDER = ("before-edge", "after", "third", "fourth", "sixth", "fifth")
WIDTH = 600
HEAD = 58


def write_chart(chart: Chart, path: Path) -> None:
    """Write a chart to `path` (.svg), with its title and legend, and its numbers beside it as JSON."""
    drawn = Drawn()
    figure = drawn.chart(chart, "0")
    path.with_suffix(".json").write_text(json.dumps(drawn.charts["0"], indent=1) + "\n", encoding="utf-8")
    svg = _draw(drawn, figure.id)
    if svg is None:
        print(f"{path.name}: no browser is installed, so only {path.with_suffix('.json').name} was written")
        return
    body = re.sub(r"var\(--([a-z-]+)\)", lambda found: COLOURS.get(found[1], "#1c2530"), svg)
    height = int(float(re.search(r'height="([\d.]+)"', body)[1])) + HEAD
    legend = []
    x = 12.0
    for series, colour in zip(chart.series, ORDER, strict=False):
        legend.append(f'<circle cx="{x:g}" cy="40" r="5" fill="{COLOURS[colour]}"/>')
        legend.append(f'<text x="{x + 9:g}" y="44" font-size="12">{escape(series.name)}</text>')
        x += 26 + 7 * len(series.name)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" fill="#1c2530"><rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
        f'<text x="8" y="20" font-weight="bold" font-size="14">{escape(chart.title)}</text>{"".join(legend)}'
        f'<g transform="translate(0 {HEAD})" color="#1c2530">{body}</g></svg>\n',
        encoding="utf-8",
    )


def _draw(drawn: Drawn, id: str) -> str | None:
    """Return what the script draws; None where there is no browser."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if browser is None:
        return None
    page_text = (
        f'<body><div data-visual="chart" data-id="{id}" style="width: {WIDTH}px"></div>'
        f'<script type="application/json" id="drawn">{drawn.to_text()}</script>'
        f'<script type="module">{visual_script()}</script></body>'
    )
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = opened.new_page(viewport={"width": WIDTH, "height": 600}, offline=True)
        page.set_content(page_text)
        svg: str | None = page.evaluate(
            "(svg => svg && new XMLSerializer().serializeToString(svg))(document.querySelector('svg.plot'))"
        )
        opened.close()
    return svg
