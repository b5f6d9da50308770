"""The report in a real browser without a network: it says nothing on the console, asks for nothing and fits."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from accessibility import violations

from wayveil.io import Loaded
from wayveil.pipeline.input import prepare
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.workloads import WORKLOADS

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

PHONE, DESK = 390, 1280
MOVERS = ("network_movers", {"objects": 40, "trips": 1, "windows": 1, "duration": "3min"})
KINDS: dict[str, tuple[str, dict[str, Any], dict[str, Any], bool]] = {
    "visits": (
        "transit", {"records": 400, "stations": 12},
        {"name": "kcl", "k": 4, "c": "0.5", "l": 2, "sensitive": {"fare": ["disability", "jobseeker"]}}, False,
    ),
    "points as boxes": (*MOVERS, {"name": "knode", "k": 3, "window": "1min"}, False),
    "points": (*MOVERS, {"name": "nwa", "k": 2, "delta": 500}, False),
    "points with raw": (*MOVERS, {"name": "nwa", "k": 2, "delta": 500}, True),
    "routes": ("road_movers", {"objects": 300, "roads": 60, "places": 8}, {"name": "icba", "k": 4}, False),
    "counts": (
        "road_movers", {"objects": 300, "roads": 60, "places": 8}, {"name": "counts", "k": 5, "every": "all"}, False,
    ),
    "stops": ("errands", {"trajectories": 150, "people": 80, "leaves": 30}, {"name": "cast", "c": 0.6, "m": 2}, False),
}  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Publish a kind of data once, and return where its report is."""
    made: dict[str, Path] = {}

    def of(kind: str) -> Path:
        if kind not in made:
            name, size, method, with_raw = KINDS[kind]
            data = WORKLOADS[name](**size).generate(rng=np.random.default_rng(5))
            recipe = make_recipe(
                {
                    "seed": 3,
                    "input": {"path": "data in memory", "kind": data.kind},
                    "method": method,
                    "output": {"path": str(tmp_path_factory.mktemp("out") / "made"), "with_raw": with_raw},
                }
            )
            ids = pl.Series([f"t{i}" for i in range(len(data))])
            source = prepare(Loaded(data=data, rows=data.n_rows, notes=(), ids=ids), (), recipe.input)
            made[kind] = publish(recipe, source=source).report
        return made[kind]

    return of


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        except playwright.Error:
            pytest.skip("chromium does not start")
        yield found
        found.close()


class Opened:
    """A report in a page of the browser, with all that it said and asked for."""

    def __init__(self, browser: Any, path: Path, width: int = DESK) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, offline=True, service_workers="block"
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.route("**/*", lambda route: route.continue_() if self._own(route.request.url) else route.abort())
        self.page.goto(path.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    @staticmethod
    def _own(url: str) -> bool:
        return url.startswith(("file:", "data:"))

    def unfold(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")

    def check_shades(self, *, dark: bool) -> None:
        """Text can be told from its ground, and the ground is as the reader likes it."""
        shades = self.page.evaluate(
            """[getComputedStyle(document.body).color,
                getComputedStyle(document.querySelector('#promise')).backgroundColor]"""
        )
        ink, ground = (sum(int(part) for part in shade[4:-1].split(", ")) for shade in shades)
        assert abs(ink - ground) > 3 * 120
        assert (ground < 3 * 128) == dark

    @property
    def too_wide(self) -> list[str]:
        """What sticks out to the right, besides what scrolls in a box of its own."""
        found: list[str] = self.page.evaluate(
            """() => {
              const wide = document.documentElement.clientWidth;
              const out = [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, .map-canvas') &&
                !e.closest('svg') && e.getBoundingClientRect().right > wide + 1);
              const page = document.documentElement.scrollWidth > wide ? ['the page'] : [];
              return page.concat(out.map(e => e.tagName + '.' + e.className));
            }"""
        )
        return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_quiet_asks_for_nothing_and_fits(kind: str, report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report(kind), PHONE) as opened:
        assert opened.too_wide == []
        opened.unfold()
        assert (
            opened.page.evaluate("Math.min(...[...document.querySelectorAll('.stack td')].map(e => e.offsetWidth))")
            > 60
        )  # numbers side by side have room
        for width in (PHONE, DESK):
            opened.page.set_viewport_size({"width": width, "height": 800})
            for scheme, media in (("light", "screen"), ("dark", "screen"), ("light", "print")):
                opened.page.emulate_media(media=media, color_scheme=scheme)
                assert opened.too_wide == [], (width, scheme, media)
                if media == "screen":
                    opened.check_shades(dark=scheme == "dark")
        assert opened.said == []
        assert [url for url in opened.asked if not url.startswith("data:")] == [report(kind).as_uri()]


@pytest.mark.parametrize(("kind", "width"), [("visits", PHONE), ("points with raw", DESK), ("routes", DESK)])
def test_nothing_hinders_people_who_do_not_see_well(
    kind: str, width: int, report: Callable[[str], Path], browser: Any
) -> None:
    with Opened(browser, report(kind), width) as opened:
        opened.page.evaluate("document.getElementById('appendix').open = true")
        settle(opened)
        assert violations(opened.page) == []


@pytest.mark.parametrize("kind", ["points with raw", "routes"])
def test_maps_stand_below_each_other_on_a_phone(kind: str, report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report(kind)) as opened:
        for width in (PHONE, DESK):
            opened.page.set_viewport_size({"width": width, "height": 800})
            opened.page.wait_for_timeout(100)
            panels = opened.page.evaluate(
                """[...document.querySelectorAll('.map-panels .map-panel')].map(e =>
                  [e.getBoundingClientRect().left, e.offsetWidth])"""
            )
            assert len(panels) == 3
            (left, wide), (other, _), _ = panels
            assert (left == other) == (width == PHONE)
            assert wide > 250
        assert opened.said == []


PIXELS = """side => {
  const box = document.querySelector(`.map-canvas[data-side=${side}]`);
  const sheet = document.createElement('canvas');
  sheet.width = 60; sheet.height = 60;
  const ink = sheet.getContext('2d', {willReadFrequently: true});
  for (const canvas of box.querySelectorAll('canvas')) if (canvas.width) ink.drawImage(canvas, 0, 0, 60, 60);
  return [...ink.getImageData(0, 0, 60, 60).data].join();
}"""


def settle(opened: Opened) -> None:
    opened.page.wait_for_timeout(500)


def wait_until(opened: Opened, true: str) -> None:
    """Wait for an expression to be true; the policy of the page forbids the way in which playwright itself would."""
    for _ in range(200):
        if opened.page.evaluate(true):
            return
        opened.page.wait_for_timeout(50)
    pytest.fail(f"never: {true}")


def test_a_map_zooms_and_pans_on_both_sides_and_comes_back(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("points")) as opened:
        page = opened.page
        page.locator(".map-canvas").first.scroll_into_view_if_needed()
        settle(opened)
        scale = page.locator(".ol-scale-line-inner")
        before = [page.evaluate(PIXELS, side) for side in ("raw", "published", "difference")]
        assert len(set(before)) == 3
        told = scale.all_inner_texts()
        assert all(text.endswith((" m", " km")) for text in told)
        page.locator("[data-testid=map-before] .ol-zoom button").first.click()
        settle(opened)
        zoomed = [page.evaluate(PIXELS, side) for side in ("raw", "published", "difference")]
        assert all(one != other for one, other in zip(before, zoomed, strict=True)), "all three follow"
        page.get_by_test_id("map-after").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        settle(opened)
        moved = [page.evaluate(PIXELS, side) for side in ("raw", "published", "difference")]
        assert all(one != other for one, other in zip(zoomed, moved, strict=True)), "the keyboard pans all three"
        assert page.locator(".map-told").inner_text().startswith("In the middle: ")
        page.get_by_test_id("map-reset").click()
        settle(opened)
        assert [page.evaluate(PIXELS, side) for side in ("raw", "published", "difference")] == before
        assert opened.said == []


def test_hovering_tells_numbers_and_people(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("routes")) as opened:
        page = opened.page
        canvas = page.get_by_test_id("map-before")
        canvas.scroll_into_view_if_needed()
        settle(opened)
        box = canvas.bounding_box()
        hint = page.locator(".map-hint")
        for step in range(400):
            page.mouse.move(
                box["x"] + box["width"] * (0.1 + 0.04 * (step % 20)), box["y"] + box["height"] * (0.1 + step / 500)
            )
            if hint.is_visible():
                break
        told = hint.inner_text()
        assert "raw data: " in told
        assert "published data: " in told
        assert "people" in told or "person" in told
        assert opened.said == []


def test_time_plays_and_raw_trajectories_wait_behind_a_switch(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("points with raw")) as opened:
        page = opened.page
        page.locator(".map-canvas").first.scroll_into_view_if_needed()
        settle(opened)
        label = page.get_by_test_id("map-slice")
        whole = page.evaluate(PIXELS, "raw")
        assert label.inner_text() == "all times"
        page.get_by_test_id("map-play").click()
        wait_until(opened, "document.querySelector('[data-testid=map-slice]').textContent !== 'all times'")
        first = label.inner_text()
        wait_until(opened, f"document.querySelector('[data-testid=map-slice]').textContent !== '{first}'")
        page.get_by_test_id("map-play").click()
        assert page.get_by_test_id("map-play").get_attribute("aria-pressed") == "false"
        page.get_by_test_id("map-time").fill("0")
        settle(opened)
        assert label.inner_text() == "all times"
        assert page.evaluate(PIXELS, "raw") == whole
        switch = page.get_by_test_id("show-raw")
        assert not switch.is_checked()
        switch.check()
        settle(opened)
        assert page.evaluate(PIXELS, "raw") != whole
        switch.uncheck()
        settle(opened)
        assert page.evaluate(PIXELS, "raw") == whole
        assert opened.said == []


def test_a_report_without_raw_has_no_switch_for_it(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("points")) as opened:
        assert opened.page.get_by_test_id("show-raw").count() == 0
        assert opened.page.get_by_test_id("show-published").count() == 1


def test_every_chart_is_drawn_and_has_its_numbers(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("visits")) as opened:
        page = opened.page
        opened.unfold()
        opened.unfold()
        wait_until(opened, "document.querySelectorAll('[data-visual]:not([data-done])').length === 0")
        figures = page.locator("figure.chart")
        assert figures.count() > 10
        for i in range(figures.count()):
            figure = figures.nth(i)
            assert figure.locator("svg.plot, canvas").count() > 0, figure.inner_text()
            assert figure.locator("table tbody tr").count() > 0
        assert opened.said == []


def test_all_can_be_read_without_the_script(report: Callable[[str], Path], browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(report("visits").as_uri())
    assert page.locator("#promise").is_visible()
    page.locator("#appendix > summary").click()
    page.locator("#attacks details.part > summary").first.click()
    assert page.locator("#attack-1 table").first.is_visible()
    page.locator("#risk details.data > summary").click()
    assert page.locator("#risk table").is_visible()
    context.close()


def test_the_appendix_is_folded_opens_by_a_link_and_prints_only_while_open(
    report: Callable[[str], Path], browser: Any
) -> None:
    with Opened(browser, report("visits")) as opened:
        page = opened.page
        table = page.locator("#technical table").first
        assert not table.is_visible()
        page.emulate_media(media="print")
        assert not page.locator("#appendix").is_visible()
        page.emulate_media(media="screen")
        page.locator("nav a[href='#appendix']").click()
        page.locator("#appendix[open]").wait_for()
        assert table.is_visible()
        page.emulate_media(media="print")
        assert table.bounding_box()["height"] > 20
        assert opened.said == []


@pytest.mark.parametrize("kind", ["visits", "points", "routes", "stops"])
def test_three_pages_are_printed(kind: str, report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report(kind)) as opened:
        settle(opened)
        paper = opened.page.pdf(prefer_css_page_size=True)
        assert paper.startswith(b"%PDF")
        assert len(re.findall(rb"/Type\s*/Page\b(?!s)", paper)) in (3, 4), "long lists of attackers may take one more"
        if kind in ("points", "routes"):
            shown = opened.page.evaluate("[...document.querySelectorAll('.map-print')].map(e => e.src.length)")
            assert min(shown) > 1000, "maps are printed as pictures"


def test_what_is_withheld_is_hatched_and_told(report: Callable[[str], Path], browser: Any) -> None:
    """Squares of fewer than five people are neither more nor less: the legend, the table and hovering say why."""
    with Opened(browser, report("points")) as opened:
        legend = opened.page.get_by_test_id("map-withheld").first
        legend.wait_for()
        assert legend.inner_text().strip() == "withheld: fewer than 5 people"
        opened.unfold()
        assert "withheld: fewer than 5 people" in opened.page.locator("#view table").first.inner_text()
        assert opened.said == []


def test_a_table_of_counts_is_a_map_beside_the_true_counts(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("counts")) as opened:
        for side in ("map-before", "map-after", "map-difference"):
            opened.page.get_by_test_id(side).locator("canvas").first.wait_for()
        assert "The published numbers add up to" in opened.page.locator("#view").inner_text()
        assert opened.said == []


def test_a_chart_says_how_many_people_are_behind_a_bar(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("visits")) as opened:
        opened.unfold()
        table = opened.page.locator("figure", has_text="When people move").locator("table").first
        assert re.search(r"\([0-9]+ people\)", table.inner_text())
