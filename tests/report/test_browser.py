"""The report in a real browser without a network: it says nothing on the console, asks for nothing and fits."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

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
              const out = [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') &&
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


@pytest.mark.parametrize("kind", ["points with raw", "routes"])
def test_maps_stand_below_each_other_on_a_phone(kind: str, report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report(kind)) as opened:
        for width in (PHONE, DESK):
            opened.page.set_viewport_size({"width": width, "height": 800})
            pairs = opened.page.evaluate(
                """[...document.querySelectorAll('.panels:not(.alone)')].map(p =>
                  [...p.querySelectorAll('.panel')].map(e => [e.getBoundingClientRect().left, e.offsetWidth]))"""
            )
            assert pairs
            for (left, wide), (other, _) in pairs:
                assert (left == other) == (width == PHONE)
                assert wide > 280


def test_details_are_folded_on_a_screen_open_by_their_link_and_are_printed(
    report: Callable[[str], Path], browser: Any
) -> None:
    with Opened(browser, report("visits")) as opened:
        page = opened.page
        table = page.locator("#attack-2 table").first
        assert page.locator("details.part").count() > 4
        assert not table.is_visible()
        page.locator("a[href='#attack-2']").click()
        assert table.is_visible()
        assert not page.locator("#attack-1 table").first.is_visible()
        page.emulate_media(media="print")
        assert page.locator("#attack-1 table").first.bounding_box()["height"] > 20
        assert page.locator("#loss-1 table").first.bounding_box()["height"] > 20
        assert not page.locator("details.data").first.is_visible()


def test_a_paper_has_pages(report: Callable[[str], Path], browser: Any) -> None:
    with Opened(browser, report("routes")) as opened:
        paper = opened.page.pdf(format="A4")
        assert paper.startswith(b"%PDF")
        assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") + paper.count(b"/Type/Page/") >= 3
