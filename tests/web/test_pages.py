"""The page in a real browser, against a real server: from a file to a verified, downloaded publication."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

from accessibility import violations  # noqa: E402
from printed_plugin import environment  # noqa: E402
from shared_data import DATA  # noqa: E402

from wayveil.commands.generate import generate  # noqa: E402
from wayveil.pipeline.publish import publish  # noqa: E402
from wayveil.recipe.recipe import Recipe, load_recipe, make_recipe  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

PHONE, TABLET, DESK = 390, 768, 1440
PATIENCE_MS = 240_000  # the first run of a method compiles its kernels
TOKEN = "a-token-for-browser-tests"
SERVER = """
import sys
from pathlib import Path
from wayveil.web import serve
serve(on_ready=lambda link: print(link, flush=True), token=sys.argv[1], data=Path(sys.argv[2]))
"""

# The kind of data, what makes it, the method, its settings, the file that it needs, and what a map is drawn on.
KINDS: dict[str, tuple[str, dict[str, Any], str, dict[str, str], str | None, str]] = {
    "visits": ("transit", {"records": 200, "stations": 8}, "kcl", {"k": "3", "l": "1", "c": "0.9"}, None, ""),
    "points": (
        "network_movers", {"objects": 40, "trips": 1, "windows": 1, "duration": "3min"},
        "nwa", {"k": "2", "delta": "500"}, None, "canvas",
    ),
    "routes": (
        "road_movers", {"objects": 200, "roads": 40, "places": 6}, "icba", {"k": "3"}, "network", "canvas"
    ),
    "stops": (
        "errands", {"trajectories": 120, "people": 60, "leaves": 20}, "cast", {"c": "60 %", "m": "2"}, "taxonomy",
        "",
    ),
}  # fmt: skip

# Six records that the paper's test of a suppression judges wrongly: the verifier refuses what is made of them.
REFUSED = ("b2 c3 e5", "a1 c3", "b2 e5", "a1 b2 c3", "a1", "a1 b2")


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a server of its own, and return the link that it prints."""
    folder = tmp_path_factory.mktemp("served")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, TOKEN, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(tmp_path_factory.mktemp("plugin")),
    )  # fmt: skip
    try:
        said = process.stdout.readline().strip() if process.stdout is not None else ""
        assert said.startswith("http://127.0.0.1:"), process.stderr and process.stderr.read()
        yield said
    finally:
        process.terminate()
        process.communicate(timeout=30)


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
    """The page, with all that it said and asked for; closing it checks both."""

    def __init__(self, browser: Any, link: str, width: int = DESK) -> None:
        self.base = link.partition("/?")[0]
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, accept_downloads=True, service_workers="block"
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.goto(link)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.said == []
            assert [url for url in self.asked if not url.startswith((f"{self.base}/", "data:", "blob:"))] == []

    def at(self, name: str) -> Any:
        """Return what has this name for tests."""
        return self.page.get_by_test_id(name)

    def wait(self, name: str) -> Any:
        """Wait until something is there, for as long as a run may take."""
        self.at(name).first.wait_for(timeout=PATIENCE_MS)
        return self.at(name)

    def upload(self, path: Path) -> None:
        """Choose a file on the first page."""
        self.page.goto(f"{self.base}/#/files")
        self.wait("drop-zone")
        self.at("file-input").set_input_files(path)

    def drop(self, path: Path) -> None:
        """Drop a file on the first page."""
        self.wait("drop-zone")
        moved = self.page.evaluate_handle(DROPPED, [path.name, path.read_text()])
        self.at("drop-zone").dispatch_event("drop", {"dataTransfer": moved})

    def declare(self) -> None:
        """Declare that each trajectory is another person, which nobody does unasked."""
        self.page.get_by_text("Still to be said: who is behind a trajectory").wait_for()
        assert self.at("next").is_disabled()
        self.wait("person-each").check()

    def to_method(self, name: str) -> None:
        """Go from the columns to the settings of a method, without a look at the risk."""
        self.page.locator("[data-testid=next]:enabled").wait_for()
        self.page.get_by_role("link", name="Skip the risk").click()
        self.card(name).get_by_role("button").click()
        self.wait("run-button")

    def card(self, name: str) -> Any:
        """Return the card of a method; those that suit the file less are folded away."""
        self.page.locator("[data-testid^=method-card-]").first.wait_for(state="attached")
        folded = self.at("other-methods").or_(self.at("after-a-step")).locator("summary")
        if self.at(f"method-card-{name}").count() == 0 or not self.at(f"method-card-{name}").is_visible():
            for i in range(folded.count()):
                folded.nth(i).click()
        return self.wait(f"method-card-{name}")

    def fill(self, values: dict[str, str]) -> None:
        """Fill fields of the settings."""
        for name, value in values.items():
            if not self.at(f"param-{name}").is_visible():
                self.page.get_by_text("More settings of the method").click()
            self.at(f"param-{name}").fill(value)

    def download(self, name: str, folder: Path) -> Path:
        """Click a link that downloads something, and return where that is."""
        with self.page.expect_download() as begun:
            self.at(name).click()
        path = folder / begun.value.suggested_filename
        begun.value.save_as(path)
        return path

    def check_fit(self) -> None:
        """Nothing sticks out to the right, on any screen; every input has a name."""
        for width in (PHONE, TABLET, DESK):
            self.page.set_viewport_size({"width": width, "height": 900})
            assert self.page.evaluate(TOO_WIDE) == [], width
        assert self.page.evaluate(NAMELESS) == []


TOO_WIDE = """() => {
  const wide = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('body *')].filter(e =>
    !e.closest('.scroll, svg, .skip, .file-input, .map-canvas') &&
    e.getBoundingClientRect().right > wide + 1);
  const page = document.documentElement.scrollWidth > wide ? ['the page'] : [];
  return page.concat(out.map(e => e.tagName + e.className));
}"""
DROPPED = """([name, text]) => {
  const moved = new DataTransfer();
  moved.items.add(new File([text], name));
  return moved;
}"""
NAMELESS = """() => [...document.querySelectorAll('input, select, textarea, button, a, svg[role=img]')].filter(e =>
  !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).map(e => e.outerHTML)"""


def look(opened: Opened) -> None:
    """Nothing on the page hinders people who cannot see it, or not well."""
    assert violations(opened.page) == []


def made(kind: str, folder: Path) -> Path:
    """Write tiny data of a kind, and what they need beside them."""
    workload, size, *_ = KINDS[kind]
    path = folder / f"{kind}.csv"
    generate(workload, size, path, seed=5)
    return path


def visits(folder: Path, name: str = "few.csv") -> Path:
    """Write the records that are refused, as visits."""
    rows = [f"{i},{visit[1]},{visit[0]}" for i, record in enumerate(REFUSED) for visit in record.split()]
    path = folder / name
    path.write_text("\n".join(["traj_id,t,location", *rows]) + "\n")
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_file_to_a_verified_publication(kind: str, link: str, browser: Any, tmp_path: Path) -> None:
    _, _, method, values, beside, shape = KINDS[kind]
    path = made(kind, tmp_path)
    with Opened(browser, link) as opened:
        opened.upload(path)
        opened.wait("column-row")
        opened.page.locator(f"[data-testid=kind-{kind}]:checked").wait_for()
        if beside is not None:
            opened.page.get_by_text("Still to be chosen").wait_for()
            assert opened.at("next").is_disabled()
            opened.at(f"file-input-{beside}").set_input_files(tmp_path / f"{kind}-{beside}.csv")
        if kind == "visits":
            opened.at("sensitive-fare-disability").check()
        opened.page.locator("[data-testid=next]:enabled").wait_for()
        opened.check_fit()
        opened.at("next").click()
        assert opened.wait("risk-card").count() >= 1
        opened.check_fit()
        opened.at("next").click()
        card = opened.card(method)
        assert "Does not protect against" in card.inner_text()
        card.get_by_role("button").click()
        opened.wait("run-button")
        opened.fill(values)
        opened.check_fit()
        opened.at("run-button").click()
        assert "Published and verified" in opened.wait("verdict").inner_text()
        for panel in ("map-before", "map-after", "map-difference") if shape else ():
            opened.wait(panel).locator(shape).first.wait_for()
        assert opened.at("verdict").get_attribute("data-state") in ("kept", "but")
        opened.page.locator("svg.plot").nth(1).wait_for()
        look(opened)
        promise = opened.page.get_by_role("heading", name="The promise").locator("xpath=..").inner_text()
        assert values.get("k", values.get("m", "")) in promise  # the numbers of this run, not of an example
        opened.check_fit()
        zipped = opened.download("download-zip", tmp_path)
        with zipfile.ZipFile(zipped) as archive:
            assert {"public/manifest.json", "public/published.csv"} <= set(archive.namelist())
            claimed = json.loads(archive.read("public/manifest.json"))
        assert str(tmp_path) not in json.dumps(claimed)
        assert f'name = "{method}"' in opened.download("download-recipe", tmp_path).read_text()
        assert "Published and verified" in opened.download("download-report", tmp_path).read_text()


def test_trips_become_a_verified_publication(link: str, browser: Any, tmp_path: Path) -> None:
    rows = [
        f"{bike},2024-05-0{day} 08:1{bike % 5}:00,North,2024-05-0{day} 08:4{bike % 5}:00,{('South', 'East')[bike % 2]}"
        for bike in range(12)
        for day in (1, 2)
    ]
    path = tmp_path / "bikes.csv"
    path.write_text("\n".join(["Bike ID,Start Time,Start Station Name,Stop Time,End Station Name", *rows]) + "\n")
    with Opened(browser, link) as opened:
        opened.upload(path)
        # Several people may ride one bike: it is offered, not taken.
        opened.wait("answer-columns-user-id-Bike-ID-").click()
        opened.page.locator("[data-testid=next]:enabled").wait_for()
        assert opened.at("kind-trips").is_checked()
        assert opened.at("person-column-Bike ID").is_checked()
        opened.to_method("kcl")
        opened.fill({"k": "2", "l": "1"})
        opened.at("run-button").click()
        assert "Published and verified" in opened.wait("verdict").inner_text()
        opened.at("open-report").click()
        opened.page.frame_locator("[data-testid=report-frame]").locator("svg.plot").first.wait_for()
        opened.check_fit()


def test_a_file_in_its_own_dialect_asks_what_it_cannot_know(link: str, browser: Any, tmp_path: Path) -> None:
    rows = [
        f"{car};{13 + day}.05.2024 {8 + i // 30}:{2 * (i % 30):02};{11 + car / 500 + i / 900:.5f};{50 + i / 900:.5f}"
        for car in range(8)
        for day in range(2)
        for i in range(60)
    ]
    path = tmp_path / "Fahrten (2).txt"
    path.write_text("\n".join(["vehicle;Zeit;X;Y", *rows]) + "\n", encoding="utf-16")
    with Opened(browser, link) as opened:
        opened.upload(path)
        assert "One row per position" in opened.wait("profile").inner_text()
        assert opened.at("next").is_disabled()
        opened.check_fit()
        opened.wait("answer-crs-degrees").click()
        opened.page.locator("[data-testid=next]:enabled").wait_for()
        assert opened.at("kind-points").is_checked()
        opened.page.get_by_role("link", name="Skip the risk").click()
        opened.wait("find-settings").click()
        opened.wait("advise-k").fill("2")
        opened.at("advise-start").click()
        assert "Recommended" in opened.wait("advice").inner_text()
        opened.check_fit()
        opened.page.locator(".tried .taken button").click()
        opened.wait("run-button").click()
        assert "verified" in opened.wait("verdict").inner_text()


def test_a_table_of_one_person_is_refused_before_anything_is_chosen(link: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "walk.csv"
    rows = [f"ann,2024-05-{1 + i // 24:02} {i % 24:02}:00:00,{13 + i / 1000:.4f},52.5" for i in range(72)]
    path.write_text("\n".join(["user,time,lon,lat", *rows]) + "\n")
    with Opened(browser, link) as opened:
        opened.upload(path)
        told = opened.wait("error").inner_text()
        assert "cannot be published" in told
        assert "ann" not in told.split()
        assert opened.at("next").is_disabled()


def test_a_unit_that_is_chosen_first_stays(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.upload(made("points", tmp_path))
        opened.to_method("knode")
        opened.at("add-step").select_option("window")
        width = opened.wait("param-window-width")
        width.fill("")
        unit = width.locator("xpath=following-sibling::select")
        for chosen in ("h", ""):
            unit.select_option(chosen)
            assert unit.input_value() == chosen


def test_runs_survive_a_reload_and_are_compared(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.upload(made("visits", tmp_path))
        for k in ("2", "4"):
            if k == "2":
                opened.to_method("kcl")
            else:
                opened.at("change-settings").click()
                assert opened.wait("param-k").input_value() == "2"  # the settings of the run come back
            opened.fill({"k": k, "l": "1"})
            opened.at("run-button").click()
            opened.wait("progress")
            opened.page.reload()  # in the middle of the run
            assert "Published and verified" in opened.wait("verdict").inner_text()
        opened.page.reload()
        opened.wait("verdict")
        opened.page.locator("figure.chart details.data > summary").first.click()
        opened.page.locator("figure.chart tbody tr").nth(7).wait_for()
        head = opened.at("head-label").inner_text()
        opened.page.goto(f"{opened.base}/#/runs")
        rows = opened.wait("runs-row")
        for i in (0, 1):
            rows.nth(i).get_by_role("checkbox").check()
        opened.at("compare-chosen").click()
        opened.wait("frontier").locator("svg.plot").wait_for()
        opened.at("compare-head").nth(1).wait_for()
        assert head in opened.at("compare-head").all_inner_texts()[0] + opened.at("compare-head").all_inner_texts()[1]
        look(opened)
        opened.check_fit()
        opened.page.reload()
        opened.wait("frontier").locator("svg.plot").wait_for()
        opened.page.goto(f"{opened.base}/#/runs")
        before = opened.wait("runs-row").count()
        opened.check_fit()
        opened.at("runs-row").first.get_by_role("button", name=re.compile("Delete")).click()
        opened.page.wait_for_function(
            "n => document.querySelectorAll('[data-testid=runs-row]').length === n", arg=before - 1
        )


def test_a_verdict_that_fails_publishes_nothing(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.upload(visits(tmp_path))
        opened.declare()
        opened.to_method("kcl_printed")
        opened.fill({"k": "2", "c": "1", "l": "3"})
        opened.at("run-button").click()
        verdict = opened.wait("verdict").inner_text()
        assert "NOT published" in verdict
        assert opened.at("verdict").get_attribute("data-state") == "refused"
        assert "broken" in verdict
        assert opened.at("download-zip").count() == 0
        assert opened.at("download-report").count() == 1
        opened.check_fit()
        opened.page.goto(f"{opened.base}/#/runs")
        assert opened.wait("runs-row").first.get_attribute("data-state") == "refused"


def test_what_similar_ids_are_is_said_on_the_page(link: str, browser: Any, tmp_path: Path) -> None:
    alike = tmp_path / "alike.csv"
    rows = [f"{i},{person},1,x" for i, person in enumerate(["Qw1", "qW1", "c", "d"])]
    alike.write_text("\n".join(["traj_id,user_id,t,location", *rows]) + "\n")
    with Opened(browser, link) as opened:
        opened.upload(alike)
        opened.page.get_by_text("More about reading the file").click()
        field = opened.wait("similar-ids")
        assert field.input_value() == ""
        opened.check_fit()
        field.select_option("same")
        opened.to_method("kcl")
        opened.fill({"k": "2", "c": "1", "l": "1"})
        with opened.page.expect_request(
            lambda request: request.method == "POST" and "/api/runs" in request.url
        ) as sent:
            opened.at("run-button").click()
        assert json.loads(sent.value.post_data)["recipe"]["input"]["similar_ids"] == "same"
        opened.wait("verdict")
        opened.page.get_by_text("they are taken to be the same people, as was said").wait_for()


def test_files_that_cannot_be_read_are_told_in_words(link: str, browser: Any, tmp_path: Path) -> None:
    picture, empty, other = (tmp_path / name for name in ("picture.csv", "empty.csv", "other.csv"))
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x01\x02")
    empty.write_bytes(b"")
    other.write_text("card,station,minute\nc1,north,1\nc1,south,2\nc2,north,x\nc3,north,2\nc4,south,3\n")
    with Opened(browser, link) as opened:
        opened.upload(empty)
        assert "empty" in opened.wait("error").inner_text()
        opened.upload(picture)
        assert "UTF-8" in opened.wait("error").inner_text()
        # Columns with other names: the kind is chosen, then what each column is; a wrong time fails with a sentence.
        opened.upload(other)
        opened.page.get_by_text("What is one row?").wait_for()
        opened.at("kind-visits").check()
        opened.page.locator("[data-testid=column-row] select:enabled").first.wait_for()
        for column, role in (("card", "traj_id"), ("station", "location"), ("minute", "t")):
            row = opened.page.locator(f"[data-testid=column-row][data-column={column}] select")
            if row.input_value() != role:
                row.select_option(role)
        # The column that looks like a person is offered, not taken; it can be the trajectory as well.
        opened.wait("person-column-card")
        assert not opened.at("person-column-card").is_checked()
        assert opened.at("next").is_disabled()
        opened.at("person-column-card").check()
        opened.page.locator("[data-testid=next]:enabled").wait_for()
        opened.at("next").click()
        told = opened.wait("error").inner_text()
        assert "'minute'" in told
        assert str(tmp_path) not in told
        opened.check_fit()


def test_a_wrong_setting_is_told_at_its_field(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.drop(visits(tmp_path))
        opened.declare()
        opened.to_method("kcl")
        opened.fill({"k": "many", "l": "0"})
        opened.at("run-button").click()
        for name, told in (("k", "A number is needed"), ("l", "at least 1")):
            field = opened.at(f"param-{name}")
            assert field.get_attribute("aria-invalid") == "true"
            described = (field.get_attribute("aria-describedby") or "").split()
            assert any(told in opened.page.locator(f"[id='{id}']").inner_text() for id in described)
        assert opened.page.evaluate("document.activeElement.dataset.testid") == "param-k"
        assert "#/parameters/" in opened.page.url


def test_a_run_is_cancelled_and_a_reload_keeps_the_settings(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.upload(made("visits", tmp_path))
        opened.to_method("kcl")
        opened.fill({"k": "7", "l": "1"})
        opened.page.reload()
        assert opened.wait("param-k").input_value() == "7"
        opened.at("run-button").click()
        opened.wait("progress")
        opened.at("cancel-button").click()
        opened.wait("cancelled")
        opened.at("change-settings").click()
        assert opened.wait("param-k").input_value() == "7"


def test_without_the_token_a_page_says_what_to_do(link: str, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(link.partition("?")[0])
    assert answer.status == 401
    assert page.get_by_role("heading", name="This page is locked").is_visible()
    assert "wayveil serve" in page.inner_text("body")
    context.close()


def test_the_flow_can_be_walked_with_the_keyboard(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.upload(visits(tmp_path))
        opened.declare()
        opened.page.locator("[data-testid=next]:enabled").wait_for()
        for colours in ("light", "dark"):
            opened.page.emulate_media(color_scheme=colours)
            ink, ground = opened.page.evaluate(
                "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
            )
            light = [sum(map(int, re.findall(r"\d+", shade))) for shade in (ink, ground)]
            assert abs(light[0] - light[1]) > 3 * 120
        opened.page.locator(".skip").focus()  # the first thing on the page
        seen = set()
        for _ in range(60):
            opened.page.keyboard.press("Tab")
            seen.add(opened.page.evaluate("document.activeElement.dataset.testid || document.activeElement.tagName"))
            if "next" in seen:
                break
        assert {"next", "kind-visits", "SELECT"} <= seen
        opened.page.keyboard.press("Enter")
        opened.wait("progress")
        assert "#/risk/" in opened.page.url


RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
READ_AT_ONCE = ("table1", "transit")  # repeated to the end in every run of the tests; the others take minutes


def recipe_files(recipe: Path, folder: Path) -> list[Path]:
    """Return the files that a recipe reads, in the order of the page; made where it says that they are to be made."""
    source = tomllib.loads(recipe.read_text())["input"]
    owners = source.get("owners", [])
    given = [source["path"], *(source[key] for key in ("network", "taxonomy") if key in source)]
    found = []
    for name in [*given, *(owners if isinstance(owners, list) else [])]:
        path = DATA / name.partition("shared/data/")[2] if "shared/data/" in name else recipe.parent / name
        if path.name == "transit.csv":
            path = folder / path.name
            generate("transit", {"records": 400, "stations": 8}, path, seed=2013)
        elif path.name == "oldenburg.csv":
            path = folder / path.name
            generate("network_movers", {"objects": 200, "trips": 1, "duration": "2min", "noise": 8.0,
                                        "network": str(DATA / "road_oldenburg/OL")}, path, seed=1)  # fmt: skip
        elif path.name == "oberfranken-network.csv":
            path = folder / path.name
            path.write_text("road,from_node,to_node,from_lon,from_lat,to_lon,to_lat\nr,a,b,11.9,50.3,11.91,50.3\n")
        elif path.name == "OL":
            pair = [Path(f"{path}{ending}") for ending in (".cnode.txt", ".cedge.txt")]
            path = folder / "OL.zip"
            with zipfile.ZipFile(path, "w") as archive:
                for one in pair:
                    archive.write(one, one.name)
        found.append(path)
    return found


def needs_data(recipe: Path) -> bool:
    return "shared/data/" in recipe.read_text() and not DATA.is_dir()


def repeat(opened: Opened, recipe: Path, files: list[Path]) -> None:
    """Open a recipe on the first page, give it its files, and go on."""
    opened.page.goto(f"{opened.base}/#/files")
    opened.wait("recipe-fold").locator("summary").first.click()
    opened.at("recipe-input").set_input_files(recipe)
    sides = opened.wait("recipe-opened").locator(".side-file")
    assert sides.count() == len(files)
    for i, path in enumerate(files):
        sides.nth(i).locator("input[type=file]").set_input_files(path)
        sides.nth(i).locator(".side-name").wait_for()
    opened.page.locator("[data-testid=recipe-go]:enabled").click()


def same_but_files(recipe: Recipe, original: Recipe) -> None:
    """The page asks for what the recipe says; only its files have other names."""
    assert recipe.method == original.method
    assert recipe.prepare == original.prepare
    assert original.seed in (None, recipe.seed)
    assert (recipe.max_risk, recipe.use, recipe.measure) == (original.max_risk, original.use, original.measure)
    assert (recipe.output.format, recipe.output.keep) == (original.output.format, original.output.keep)
    assert (recipe.attacks, recipe.metrics) == (original.attacks, original.metrics)
    paths = {"path", "network", "taxonomy", "places", "known", "zones", "owners"}
    asked, wanted = (one.input.model_dump(exclude=paths, exclude_defaults=True) for one in (recipe, original))
    assert {**asked, **wanted} == asked
    assert recipe.input.each_trajectory == original.input.each_trajectory
    assert len(recipe.input.owner_tables) == len(original.input.owner_tables)


@pytest.mark.parametrize("recipe", [one for one in RECIPES if one.stem != "compare_demo"], ids=lambda one: one.stem)
def test_every_recipe_is_repeated(recipe: Path, link: str, browser: Any, tmp_path: Path) -> None:
    if needs_data(recipe):
        pytest.skip("needs the data sets beside the project")
    files = recipe_files(recipe, tmp_path)
    original = load_recipe(recipe)
    with Opened(browser, link) as opened:
        repeat(opened, recipe, files)
        opened.wait("run-button")
        if original.seed is None:
            opened.page.locator("summary", has_text="Advanced").click()
            opened.at("seed").fill("7")
        with opened.page.expect_response(lambda a: a.request.method == "POST" and a.url.endswith("/api/runs")) as sent:
            opened.at("run-button").click()
        run = f"{opened.base}/api/runs/{sent.value.json()['id']}"
        asked = make_recipe(tomllib.loads(opened.page.request.get(f"{run}/recipe.toml").text()))
        same_but_files(asked, original)
        if recipe.stem not in READ_AT_ONCE:
            opened.wait("progress")
            opened.at("cancel-button").click()
            opened.wait("cancelled")
            return
        opened.wait("verdict")
        here = opened.page.request.get(run).json()["result"]
    there = run_recipe(original, files, tmp_path, seed=original.seed or 7)
    for part in ("head", "marks", "risks", "flow", "balance", "questions", "attacks", "scores"):
        assert here[part] == there[part], part
    assert here["verdict"]["numbers"] == there["verdict"]["numbers"]


def run_recipe(recipe: Recipe, files: list[Path], folder: Path, *, seed: int) -> dict[str, Any]:
    """Return the results of `wayveil run` with these files."""
    paths = iter(files)
    keys = [key for key in ("path", "network", "taxonomy") if getattr(recipe.input, key) is not None]
    update: dict[str, Any] = {key: next(paths) for key in keys}
    if recipe.input.owner_tables:
        update["owners"] = tuple(paths)
    output = recipe.output.model_copy(update={"path": folder / "out", "overwrite": True})
    changed = {"input": recipe.input.model_copy(update=update), "output": output, "seed": seed}
    publish(recipe.model_copy(update=changed))
    results: dict[str, Any] = json.loads((folder / "out/private/results.json").read_text())
    return results


def test_a_recipe_with_several_settings_becomes_runs_that_are_compared(link: str, browser: Any, tmp_path: Path) -> None:
    text = next(one for one in RECIPES if one.stem == "compare_demo").read_text()
    recipe = tmp_path / "compare.toml"
    recipe.write_text(
        text.replace("k = [2, 5, 10]\nl = [1, 2, 3]", "k = [2, 5]\nl = [1]").replace("k = [5, 10, 20]", "k = [5]")
    )
    with Opened(browser, link) as opened:
        repeat(opened, recipe, recipe_files(recipe, tmp_path))
        opened.wait("frontier").locator("svg.plot").wait_for()
        opened.at("compare-head").nth(2).wait_for(timeout=PATIENCE_MS)
        # Hovering a setting shows it, and its risk before and after.
        dots = opened.at("frontier").locator("svg.plot circle")
        dots.last.hover(force=True)
        card = opened.at("hover-card").first
        card.wait_for()
        assert re.search(r"→ [0-9.]+\s%", card.inner_text())
        assert card.locator("svg.plot").count() == 1
        opened.page.mouse.move(2, 2)
        card.wait_for(state="hidden")
        opened.check_fit()


RAW = DATA / "raw_files"
RAW_FILES = ("mock_dataset.csv", "Yelp_check_ins.txt", "movingfeatures.json", "sample_cabs.csv", "taxi-price.csv")


@pytest.mark.parametrize("name", RAW_FILES)
def test_a_file_as_its_publisher_ships_it_is_ready_or_told_why_not(name: str, link: str, browser: Any) -> None:
    """At most one question is asked; then the next page opens, or one sentence says why it cannot."""
    if not RAW.is_dir():
        pytest.skip("needs the data sets beside the project")
    with Opened(browser, link) as opened:
        opened.upload(RAW / name)
        ready = opened.page.locator("[data-testid=next]:enabled")
        told = opened.at("error")
        asked = opened.page.locator("[data-testid^=answer-]")
        ready.or_(told).or_(asked).first.wait_for()
        if asked.count() and not ready.count() and not told.count():
            asked.first.click()
            ready.or_(told).first.wait_for()
        if ready.count():
            opened.page.get_by_role("link", name="Skip the risk").click()
            opened.page.locator("[data-testid^=method-card-]").first.wait_for(state="attached")
        else:
            assert len(told.first.inner_text()) < 600
        opened.check_fit()


def test_what_is_no_recipe_is_told_in_words(link: str, browser: Any, tmp_path: Path) -> None:
    with Opened(browser, link) as opened:
        opened.wait("recipe-fold").locator("summary").first.click()
        for content, told in (("a = [", "not valid TOML"), ("a = 1", "which file is read")):
            path = tmp_path / "x.toml"
            path.write_text(content)
            opened.at("recipe-input").set_input_files(path)
            opened.page.get_by_text(told).wait_for()
        opened.said.clear()  # the browser tells of the two refusals
