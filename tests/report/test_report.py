"""The report: complete, private, self-contained, and never better than the verdict."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.attacks.attack_numbers import mean_risk, share_above, share_unique, share_unmatched, worst_risk
from wayveil.errors import UsageError
from wayveil.io import Loaded
from wayveil.model import AttackResult, Chart, CSafety, Data, KclPrivacy, KDelta, Points, Score, Series, Verdict, Visits
from wayveil.model.numbers import count, probability, relabel, relative, share
from wayveil.pipeline.input import prepare
from wayveil.pipeline.publish import NotPublished, Outcome, publish
from wayveil.recipe.recipe import make_recipe
from wayveil.report.report import ReportContext, render_report
from wayveil.workloads import WORKLOADS

NASTY = "<script>alert('x')</script> & \"Söhne\" 北京西站 " + "very long name " * 12
VOID = {"meta", "link", "br", "hr", "img", "input"}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """Checks that elements nest; collects tags, attributes and the text of each section."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.spaced = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []
        self.text = re.sub(r"\s+", " ", self.text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.text += " " if tag in ("td", "th") else ""

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text += data
            self.spaced += f" {data}"


def attack_result(published: bool, label: str = "no match") -> AttackResult:
    shares = (0.25, 0.75, 0.0) if published else (0.0, 0.125, 0.875)
    chart = Chart(
        title="How likely is a person found?",
        kind="bars",
        labels=(label, "1/5 to 1/2", "1: singled out"),
        series=(Series(name="share of people", values=shares),),
        percent=True,
    )
    numbers = {
        "identity_mean": mean_risk(0.05 if published else 0.625),
        "identity_max": worst_risk(0.2 if published else 1.0),
        "identity_share_above": share_above(0.0 if published else 0.95, 1 / 30),
        "attribute_mean": mean_risk(None, "attribute"),
        "unmatched_share": share_unmatched(0.25 if published else 0.0),
        "unique_share": share_unique(0.0 if published else 0.875),
    }
    return AttackResult(
        name="known_visits",
        adversary="knows 2 visits of a person, drawn at random",
        victims=1234,
        sampled=True,
        numbers=numbers,
        charts=(chart,),
    )


@pytest.fixture
def full() -> ReportContext:
    claim = KclPrivacy(k=5, c="0.5", l=2, sensitive={"diagnosis": ["HIV"]})
    verdict = Verdict(
        holds=True,
        claim=claim,
        counted="owners",
        measured={"min_support": 6, "max_confidence": 15 / 31, "max_confidence_exact": "15/31", "sequences": 184223},
        reason="Each sequence fits 6 people or more.",
    )
    score = Score(
        name="instance_loss",
        meaning="Share of visits that were suppressed.",
        value=0.1234,
        better="lower",
        unit="share",
        numbers={
            "visits_before": count(161123, "Visits before", "visits"),
            "visits_after": count(141266, "Visits after", "visits"),
            "share_kept": share(0.8766, "Share kept"),
        },
        charts=(
            Chart(
                title="Visits by time of day",
                kind="line",
                labels=("06:00", "07:00", "08:00"),
                series=(
                    Series(name="original", values=(4321, 8765, 9876)),
                    Series(name="published", values=(4000, 8000, 9000)),
                ),
            ),
        ),
    )
    return ReportContext(
        title="Publication of cards.csv",
        method_name="kcl",
        method_summary="Suppression.",
        parameters=(("k", "5", "smallest number of people"), ("l", "2", "largest number of visits")),
        claim=claim,
        promise=claim.promise,
        verdict=verdict,
        counted="People were counted by the column user_id.",
        notes=("Times were cut to whole hours.",),
        input_facts={"Trajectories": "20,000", "File": "cards.csv"},
        output_facts={"Trajectories": "19,875"},
        attacks=((attack_result(False), attack_result(True)),),
        scores=(score,),
        timings={"read": 0.25, "run the method": 75.0},
        versions={"wayveil": "0.1.0"},
        created="2026-03-01T14:05:09+00:00",
        published_ok=True,
        manifest_sha256="ab" * 32,
    )


@pytest.fixture
def failed(full) -> ReportContext:
    verdict = replace(
        full.verdict,
        holds=False,
        measured={"min_support": 3, "max_confidence": 0.41, "sequences": 12},
        reason="A sequence of 2 visits fits only 3 people, fewer than k = 5.",
        witness={"sequence": [["Station <7>", "08:00"], ["Park", "09:00"]], "support": 3, "confidence": None},
    )
    return replace(full, verdict=verdict, published_ok=False, manifest_sha256=None)


@pytest.fixture
def minimal(full) -> ReportContext:
    claim = KclPrivacy(k=2, c=1, l=1)
    verdict = Verdict(
        holds=True,
        claim=claim,
        counted="trajectories",
        measured={"min_support": 2, "max_confidence": 0.0},
        reason="Ok.",
    )
    return replace(
        full,
        claim=claim,
        promise=claim.promise,
        verdict=verdict,
        parameters=(),
        notes=(),
        input_facts={},
        output_facts={},
        attacks=(),
        scores=(),
        timings={},
        versions={},
        manifest_sha256=None,
    )


@pytest.fixture
def nasty(full) -> ReportContext:
    score = replace(
        full.scores[0],
        name=NASTY,
        meaning=NASTY,
        numbers={NASTY: count(1, NASTY, NASTY)},
        charts=(Chart(title=NASTY, kind="bars", labels=(NASTY, "b"), series=(Series(name=NASTY, values=(1, 2)),)),),
    )
    return replace(
        full,
        title=NASTY,
        method_summary=NASTY,
        parameters=((NASTY, NASTY, NASTY),),
        counted=NASTY,
        notes=(NASTY,),
        input_facts={NASTY: NASTY},
        output_facts={"x" * 200: "y" * 200},
        attacks=((attack_result(False, NASTY), attack_result(True, NASTY)),),
        scores=(score,),
        timings={NASTY: 1.0},
        versions={NASTY: NASTY},
        created=NASTY,
        published_ok=False,
        verdict=replace(full.verdict, holds=False, reason=NASTY, not_judged=(NASTY,), witness={NASTY: [[NASTY, 3]]}),
    )


@pytest.mark.parametrize("name", ["full", "failed", "minimal", "nasty"])
def test_every_report_is_well_formed_and_stands_alone(name, request):
    html = render_report(request.getfixturevalue(name))
    page = Page(html)
    html.encode()
    names = [tag for tag, _ in page.tags]
    assert html.startswith("<!doctype html>")
    assert {"title", "h1", "main"} <= set(names)
    assert ("html", {"lang": "en"}) in page.tags
    assert ("meta", {"charset": "utf-8"}) in page.tags
    assert any(attrs.get("name") == "viewport" for _, attrs in page.tags)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    tags = ((' type="module"', "script"), ("", "style"))
    script, style = (re.findall(rf"<{tag}{kind}>(.*?)</{tag}>", html, re.DOTALL) for kind, tag in tags)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (*script, *style)]
    assert len(hashes) == 2
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert names.count("script") == 2, "the data and the script that draws them"
    assert not {"iframe", "object", "embed", "form", "img"} & set(names)
    assert "style" not in {key for _, attrs in page.tags for key in attrs}, "the policy forbids styles in attributes"
    assert not re.search(r"\beval\(|new Function|importScripts|new Worker|WebSocket", script[0])
    for tag, attrs in page.tags:
        assert not any(key.startswith("on") or key in ("src", "srcset", "action") for key in attrs), tag
        assert (attrs.get("href") or "#").startswith(("#", "data:"))
    assert not re.search(r"https?://|url\(|@import", html.replace(script[0], ""))
    assert not re.search(r"\b(nan|inf|None)\b", page.text)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    links = {attrs["href"][1:] for tag, attrs in page.tags if tag == "a"}
    assert len(ids) == len(set(ids))
    assert links <= set(ids)


def test_the_parts_come_in_order(full):
    text = Page(render_report(full)).text
    place = text.index("Appendix") + 1  # behind the list of links
    assert text.index("Published and verified") < place
    for part in [
        "The promise",
        full.claim.promise,
        full.counted,
        full.manifest_sha256,
        "Date, name and signature",
        "Before and after",
        "Risk before and after",
        "What the data still answer",
        "Limits",
        full.claim.covered[0],
        full.claim.not_covered[-1],
        full.notes[0],
        "This file stays private",
        "Appendix",
        "The verdict",
        "An attacker who knows 2 visits of a person, drawn at random",
        "What was lost",
        full.scores[0].meaning,
        "Data in and out",
        "Parameters",
        full.parameters[1][2],
        "Timing and versions",
    ]:
        place = text.index(part, place)


def test_measured_values_stand_beside_the_promised_ones(full):
    text = Page(render_report(full)).text
    assert "Smallest support 6 people promised: at least 5 ✓ kept" in text
    assert "Largest confidence 48.39 % 15/31 promised: at most 50 % ✓ kept" in text
    assert "Sequences 184,223" in text
    assert text.count("48.39") == 2, "the exact form replaces the rounded one, it is not listed again"


def test_a_failed_verdict_says_so_everywhere(failed):
    html = render_report(failed)
    text = Page(html).text
    assert "Published and verified" not in text
    assert "published and verified" not in text
    assert "NOT published" in text
    assert "Smallest support 3 people promised: at least 5 ✕ broken" in text
    assert "✓ kept" not in text
    assert "rejected data" in text
    assert "this run put nothing there" in text
    assert "There is no public manifest for this run" in text


def test_the_witness_is_folded_away_with_a_warning(failed, full):
    html = render_report(failed)
    start = html.index('<details class="witness">')
    folded = html[start : html.index("</details>", start)]
    assert "may point to real people" in folded
    assert "Station &lt;7&gt;, 08:00" in folded
    assert "Station" not in html[:start] + html[start + len(folded) :]
    assert "Confidence</dt>" not in folded, "a part that is not there is left out"
    assert '<details class="witness">' not in render_report(full)


def drawn(html: str) -> dict[str, Any]:
    """Return the data that the script of a report draws."""
    found = re.search(r'<script type="application/json" id="drawn">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(found[1])
    return content


def told(html: str) -> str:
    """Return a report without the script, whose own numbers say nothing of the data."""
    return re.sub(r'<script type="module">.*?</script>', "", html, flags=re.DOTALL)


def test_risk_is_told_before_and_after_in_numbers_and_as_data_to_draw(full):
    html = render_report(full)
    text = Page(html).text
    assert "Mean over people 62.5 % 5 % 1 in 20" in text
    assert "Person most at risk 100 % 20 % 1 in 5" in text
    assert "Exactly one person matches 87.5 % 0 %" in text
    assert "People with a risk above 1/30 95 % 0 %" in text
    assert "Identity threshold" not in text
    assert "Nothing matches 0 % 25 %" in text
    assert "attribute linkage);" not in text, "numbers that neither side has are left out"
    assert "estimate from random draws, 1,234 people" in text
    (row,) = drawn(html)["risks"]
    sides = [row[name]["value"] for name in ("raw", "published", "published_worst", "published_above")]
    assert (sides, row["limit_text"]) == ([0.625, 0.05, 0.2, 0.0], "1/30")
    (chart,) = (one for one in drawn(html)["charts"].values() if one["title"] == "How likely is a person found?")
    assert [series["name"] for series in chart["series"]] == ["raw data", "published data"]
    assert "No attack finds anybody in the published data above the limit" in text
    assert "raw data" in text
    assert "published data" in text


def test_every_number_of_a_chart_is_in_its_table(full):
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", render_report(full))
    for series in full.scores[0].charts[0].series:
        assert {f"{value:,}" for value in series.values} <= set(cells)
    assert {"12.5\xa0%", "87.5\xa0%", "75\xa0%"} <= set(cells)


def test_loss_facts_timings_and_versions_are_written_for_people(full):
    text = Page(render_report(full)).text
    assert "12.3 % lower is better" in text
    assert "Visits before 161,123" in text
    assert "Share kept 87.7 %" in text
    assert "Trajectories 20,000 19,875" in text
    assert "File cards.csv –" in text
    assert "1 min 15 s" in text
    assert "250 ms" in text
    assert "1 March 2026, 14:05 UTC" in text


def test_a_report_without_attacks_scores_or_sensitive_values_says_so(minimal):
    text = Page(render_report(minimal)).text
    assert "No attack was run" in text
    assert "No measure of loss was run" in text
    assert "Smallest support 2 trajectories promised: at least 2" in text
    assert "at most 100" not in text


def test_data_are_text_and_never_markup(nasty):
    html = render_report(nasty)
    assert html.count("<script") == 2
    assert "alert(" not in told(html).replace("alert(&#39;", "").replace("\\u003cscript\\u003ealert(", "")
    assert "&lt;script&gt;" in html


def test_what_was_not_judged_is_in_the_headline(full):
    verdict = replace(full.verdict, not_judged=("support by owner",))
    text = Page(render_report(replace(full, verdict=verdict))).text
    assert text.index("One part of the promise was not judged") < text.index("The promise")
    assert "support by owner" in text
    assert "every part of the promise was judged" not in text


def test_a_confidence_just_above_the_bound_does_not_look_like_the_bound(full):
    measured = {"min_support": 6, "max_confidence": 0.500001, "max_confidence_exact": "500001/1000000"}
    verdict = replace(full.verdict, holds=False, measured=measured)
    text = Page(render_report(replace(full, verdict=verdict, published_ok=False))).text
    assert "Largest confidence 50.0001 % promised: at most 50 % ✕ broken" in text


def test_charts_of_only_one_side_are_shown_alone(full):
    raw, published = full.attacks[0]
    other = replace(published.charts[0], title="Only after")
    text = Page(render_report(replace(full, attacks=((raw, replace(published, charts=(other,))),)))).text
    assert "How likely is a person found?" in text
    assert "Only after" in text


def test_a_report_cannot_contradict_its_verdict(full, failed):
    with pytest.raises(UsageError, match="cannot say that data were published"):
        replace(failed, published_ok=True)
    with pytest.raises(UsageError, match="not on another one"):
        replace(full, claim=KclPrivacy(k=50, c=0.5, l=2, sensitive={"diagnosis": ["HIV"]}))


def test_kept_but_not_moved_is_not_called_published(full):
    text = Page(render_report(replace(full, published_ok=False))).text
    assert "NOT published" in text
    assert "they were not moved to the public folder" in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("name", ["nasty", "minimal"])
def test_nothing_overflows_on_a_phone(name, request, tmp_path):
    (tmp_path / "report.html").write_text(render_report(request.getfixturevalue(name)), encoding="utf-8")
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(
        """<!doctype html><iframe id="f" src="report.html" style="width: 390px; height: 900px; border: 0"></iframe>
        <p id="out">not loaded</p><script>
        document.getElementById("f").onload = function () {
          var page = this.contentDocument;
          page.querySelectorAll("details").forEach(function (d) { d.open = true; });
          document.getElementById("out").textContent = "width " + page.documentElement.scrollWidth;
        }</script>""",
        encoding="utf-8",
    )
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --hide-scrollbars --allow-file-access-from-files --dump-dom"
    )
    command = [CHROMIUM, *options.split(), f"--user-data-dir={tmp_path / 'profile'}", wrapper.as_uri()]
    try:
        dom = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    except subprocess.TimeoutExpired:
        pytest.skip("chromium did not answer")
    width = re.search(r"width (\d+)<", dom)
    if width is None:
        pytest.skip("chromium did not load the page")
    assert int(width[1]) <= 390


def test_an_attack_that_the_promise_does_not_bound_stands_beside_it(full: ReportContext) -> None:
    raw, published = (
        AttackResult(
            name="nearest_positions",
            adversary="knows up to 8 true positions of a person",
            victims=50,
            sampled=True,
            numbers={
                "identity_mean": mean_risk(mean),
                "identity_mean_with_1_sample": probability(0.214, "Mean over people, 1 position known"),
                "identity_mean_with_4_samples": probability(0.4, "Mean over people, 4 positions known"),
            },
        )
        for mean in (1.0, 0.506)
    )
    for claim, told in ((KDelta(k=3, delta=100), True), (KDelta(k=3, delta=0), False)):
        verdict = replace(full.verdict, claim=claim, measured={"min_support": 3})
        page = Page(render_report(replace(full, claim=claim, verdict=verdict, attacks=((raw, published),))))
        assert ("Not promised: measured attack" in page.text) == told
        assert ("mean over people, 1 position known: 21.4 %" in page.text) == told
        assert "50.6 %" in page.text
        assert "Mean over people, 4 positions known" in page.text


def test_the_risk_begins_with_one_line_per_attack(full: ReportContext) -> None:
    raw, published = full.attacks[0]
    both = tuple(
        replace(side, name="counting", numbers={"m": mean_risk(mean, "inference"), "w": worst_risk(worst, "inference")})
        for side, mean, worst in ((raw, 0.5, 0.75), (published, 0.125, 0.25))
    )
    exposed = tuple(
        replace(
            raw,
            name="inference_routes",
            numbers={"n": count(n, "People exposed"), "share": share(n / 8, "Share of people exposed")},
            charts=(),
        )
        for n in (4, 0)
    )
    html = render_report(replace(full, attacks=((raw, published), both, exposed)))
    summary = Page(html[html.index("numbers summary") - 20 : html.index("</table>", html.index("numbers summary")) + 8])
    assert "Known visits knows 2 visits of a person, drawn at random 62.5 % worst 100 % 5 % worst 20 %" in spaced(
        summary
    )
    assert "0 % raw 95 % , above 1/30" in spaced(summary)
    assert "50 % worst 75 % 12.5 % worst 25 %" in spaced(summary)
    assert "share of people exposed 50 % worst – 0 %" in spaced(summary)
    assert html.count('<details class="part">') == 4 - 1  # one score alone is open
    for number in (1, 2, 3):
        assert f'<article id="attack-{number}">' in html


def spaced(page: Page) -> str:
    return re.sub(r"\s+", " ", page.spaced)


def test_one_attack_and_one_score_are_open(full: ReportContext) -> None:
    html = render_report(full)
    assert html.count('<details class="part" open>') == 2
    two = render_report(replace(full, scores=full.scores * 2))
    assert two.count('<details class="part" open>') == 1
    assert two.count('href="#loss-2"') == 1


def test_a_score_without_more_numbers_has_no_details(full: ReportContext) -> None:
    bare = replace(full.scores[0], numbers={}, charts=())
    html = render_report(replace(full, scores=(bare, full.scores[0])))
    assert "#loss-1" not in html
    assert 'id="loss-2"' in html


def test_intervals_stand_with_their_mean(full: ReportContext) -> None:
    raw, published = (
        replace(full.attacks[0][0], numbers={"identity_mean": mean_risk(0.5, interval=interval)})
        for interval in ((0.25, 0.75), (None, None))
    )
    text = Page(render_report(replace(full, attacks=((raw, published),)))).text
    assert "Mean over people 50 % 1 in 2 25 % to 75 % 50 % 1 in 2 " in text
    assert "mean low" not in text.lower()


def test_the_promise_of_csafety_is_in_the_headline(full: ReportContext) -> None:
    claim = CSafety(c="0.5", m=4)
    measured = {"max_probability": 13 / 27, "max_probability_exact": "13/27", "min_people": 4, "classes": 9}
    verdict = replace(full.verdict, claim=claim, measured=measured)
    text = Page(render_report(replace(full, claim=claim, verdict=verdict))).text
    assert "Largest probability of a sensitive place 48.15 % 13/27 promised: at most 50 % ✓ kept" in text
    assert "Fewest people behind a trajectory 4 people promised: at least 4 ✓ kept" in text
    broken = replace(verdict, holds=False, measured=measured | {"max_probability_exact": "2/3", "min_people": 3})
    text = Page(render_report(replace(full, claim=claim, verdict=broken, published_ok=False))).text
    assert text.count("✕ broken") == 2


def test_known_places_are_told_by_how_many_are_known(full: ReportContext) -> None:
    numbers = {
        "attribute_mean": mean_risk(0.5, "attribute"),
        **relabel({"attribute_mean": mean_risk(0.25, "attribute")}, "_with_1_place", "1 place known"),
        "x": probability(0.75, "Largest, for a place where the person was, 2 places known", about="attribute"),
    }
    raw = replace(full.attacks[0][0], name="known_places", numbers=numbers, charts=())
    text = Page(render_report(replace(full, attacks=((raw, raw),)))).text
    assert "Mean over people, 1 place known 25 %" in text
    assert "Largest, for a place where the person was, 2 places known 75 %" in text


def test_samples_of_visits_are_called_visits(full: ReportContext) -> None:
    mean = mean_risk(0.25)
    numbers = {
        **relabel({"identity_mean": mean}, "_with_3_samples", "3 visits known"),
        **relabel({"identity_mean": replace(mean, value=0.125)}, "_without_times", "times not known"),
        "identity_min": probability(0.01, "Person least at risk", about="identity"),
    }
    raw = replace(full.attacks[0][0], numbers=numbers, charts=())
    text = Page(render_report(replace(full, attacks=((raw, raw),)))).text
    assert "Mean over people, 3 visits known 25 %" in text
    assert "Mean over people, times not known 12.5 %" in text
    assert "Person least at risk 1 %" in text


def test_what_was_suppressed_and_invented_is_shown(full: ReportContext) -> None:
    row: dict[str, int | None] = {"in": 1500, "out": 1487, "suppressed": 20, "invented": 7}
    text = Page(render_report(replace(full, balance={"trajectories": row, "points": row | {"invented": None}}))).text
    assert "What In Out Suppressed Invented" in text
    assert "Trajectories 1,500 1,487 20 7" in text
    assert "Points 1,500 1,487 20 –" in text


def test_the_recipe_keeps_its_lines(full: ReportContext) -> None:
    html = render_report(replace(full, recipe='title = "<b>"\n\n[input]\npath = "a.csv"\n'))
    assert "title = &#34;&lt;b&gt;&#34;\n\n[input]\npath = &#34;a.csv&#34;</pre>" in html


MOVERS = ("network_movers", {"objects": 40, "trips": 1, "windows": 1, "duration": "3min"})
KINDS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "visits": (
        "transit", {"records": 400, "stations": 12},
        {"name": "kcl", "k": 4, "c": "0.5", "l": 2, "sensitive": {"fare": ["disability", "jobseeker"]}},
    ),
    "boxes": (*MOVERS, {"name": "knode", "k": 3, "window": "1min"}),
    "points": (*MOVERS, {"name": "nwa", "k": 2, "delta": 500}),
    "routes": ("road_movers", {"objects": 300, "roads": 60, "places": 8}, {"name": "icba", "k": 4}),
    "stops": ("errands", {"trajectories": 150, "people": 80, "leaves": 30}, {"name": "cast", "c": "0.6", "m": 2}),
}  # fmt: skip


def published(data: Data, method: dict[str, Any], out: Path, ids: list[str] | None = None, **output: Any) -> Outcome:
    recipe = make_recipe(
        {
            "seed": 3,
            "input": {"path": "data in memory", "kind": data.kind},
            "method": method,
            "output": {"path": str(out), **output},
        }
    )
    named = pl.Series(ids if ids is not None else [str(i) for i in range(len(data))])
    return publish(recipe, source=prepare(Loaded(data=data, rows=data.n_rows, notes=(), ids=named), (), recipe.input))


class Numbers(HTMLParser):
    """Collects every number that is given for machines, and the cells of tables that have none."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.values: list[str] = []
        self.plain: list[str] = []
        self.cell: list[str] | None = None
        self.before = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        value = dict(attrs).get("data-value")
        if tag == "td":
            self.cell, self.before = [], len(self.values)
        if value is not None:
            self.values.append(value)

    def handle_endtag(self, tag):
        if tag == "td" and self.cell is not None:
            if len(self.values) == self.before:
                self.plain.append("".join(self.cell).strip())
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_in_the_results(kind: str, tmp_path: Path) -> None:
    workload, size, method = KINDS[kind]
    data = WORKLOADS[workload](**size).generate(rng=np.random.default_rng(5))
    outcome = published(data, method, tmp_path / "out")
    found = Numbers(outcome.report.read_text(encoding="utf-8"))
    scores = leaves(json.loads((outcome.private / "results.json").read_text(encoding="utf-8")))
    known = {float(leaf) for leaf in scores if isinstance(leaf, (int, float)) and not isinstance(leaf, bool)}
    assert len(found.values) > 150
    assert [value for value in found.values if float(value) not in known] == []
    texts = {str(leaf) for leaf in scores}
    numbers = [text for text in found.plain if re.fullmatch(r"[\d.,]+(\s?%)?", text)]  # facts, parameters, versions
    assert [text for text in numbers if text not in texts and float(text.replace(",", "")) not in known] == []


HIDDEN = "The Cave"


def test_no_raw_place_or_id_is_told(tmp_path: Path) -> None:
    often = [[("Market", 8), ("Station", 9), ("Park", 10 + i % 2)] for i in range(30)]
    rare = [[("Market", 8), (HIDDEN, 12), ("Station", 13)] for _ in range(4)]
    data = Visits.from_records(often + rare, owner=[7000 + i for i in range(34)])
    ids = [f"card-{90210 + i}" for i in range(34)]
    method = {"name": "kcl", "k": 5, "c": 1, "l": 2}
    html = told(published(data, method, tmp_path / "out", ids).report.read_text(encoding="utf-8"))
    assert HIDDEN not in html
    assert "card-" not in html
    assert not re.search(r"\b70[0-3]\d\b", html)
    assert "Market → Station → Park" in html, "published trajectories are shown"
    assert "raw trajectories" not in html
    html = published(data, method, tmp_path / "raw", ids, with_raw=True).report.read_text(encoding="utf-8")
    assert f"Market → {HIDDEN} → Station" in html
    assert "private report, with raw trajectories" in html
    assert "how real people moved" in html
    assert "with_raw = true" in html
    assert "card-" not in html


@pytest.mark.parametrize("method", [{"name": "knode", "k": 3, "window": 20}, {"name": "nwa", "k": 3, "delta": 50}])
def test_no_raw_coordinate_is_told(method: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    track = np.cumsum(rng.normal(0, 40, (12, 10, 2)), axis=1) + np.array([412345.6, 5312345.6])
    records = [[(t, float(x), float(y)) for t, (x, y) in enumerate(one)] for one in track]
    data = Points.from_records(records)
    html = told(published(data, method, tmp_path / "out").report.read_text(encoding="utf-8"))
    raw = {f"{value:.{digits}f}" for value in (*data.x, *data.y) for digits in range(4)}
    raw |= {f"{value:,.0f}" for value in (*data.x, *data.y)} | {repr(float(value)) for value in (*data.x, *data.y)}
    assert not raw & set(re.findall(r"[\d,]+(?:\.\d+)?", html))
    assert [layer["raw"] for layer in drawn(html)["maps"][0]["layers"]] == [False], "only the published ones"
    both = published(data, method, tmp_path / "raw", with_raw=True).report.read_text(encoding="utf-8")
    assert [layer["raw"] for layer in drawn(both)["maps"][0]["layers"]] == [True, False]


def test_rejected_trajectories_are_not_drawn_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wayveil.recipe import catalog

    judge = catalog.verify
    monkeypatch.setattr(catalog, "verify", lambda *given: replace(judge(*given), holds=False, reason="No."))
    records = [[("Market", 8), ("Station", 9)]] * 30 + [[("Market", 8), (HIDDEN, 9)]] * 4
    data = Visits.from_records(records)
    for with_raw in (False, True):
        with pytest.raises(NotPublished) as caught:
            published(data, {"name": "kcl", "k": 2, "c": 1, "l": 2}, tmp_path / str(with_raw), with_raw=with_raw)
        assert caught.value.outcome is not None
        html = caught.value.outcome.report.read_text(encoding="utf-8")
        assert (HIDDEN in html) == with_raw


def test_a_number_has_the_unit_that_its_metric_says(full: ReportContext) -> None:
    """0.556 visits are not 55.6 %, whatever the name of the number sounds like."""
    score = Score(
        name="place_hours",
        meaning="Share of visits that would need another place or hour.",
        value=0.1,
        better="lower",
        unit="share",
        numbers={
            "mean_error": count(0.5556, "Mean error", "visits"),
            "mean_relative_error": relative(0.25, "Mean relative error"),
        },
    )
    page = Page(render_report(replace(full, scores=(score,))))
    text = page.text.replace("\xa0", " ")
    assert "Mean error 0.556 visits" in text
    assert "55.6 %" not in text
    assert "Mean relative error 25 %" in text


def test_a_declaration_stands_in_the_promise(full: ReportContext) -> None:
    page = render_report(replace(full, promise=full.claim.statement("declared")))
    assert "The publisher declared that each trajectory is another person" in page
    assert "The publisher declared" not in render_report(full)
