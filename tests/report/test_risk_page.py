"""The page of `wayveil risk`: numbers and charts of one data set, with nothing loaded from anywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wayveil.attacks.attack_numbers import mean_risk, share_above, worst_risk
from wayveil.cli import main
from wayveil.model import AttackResult, Chart, Series
from wayveil.model.numbers import count, share
from wayveil.report.risk_page import render_risk

CHART = Chart(
    title="How <likely>?", kind="bars", labels=("a",), series=(Series(name="n", values=(0.5,)),), percent=True
)
FOUND = AttackResult(
    name="known_visits", adversary="knows <3> visits", victims=1234, sampled=True, charts=(CHART,),
    numbers={
        "identity_mean": mean_risk(0.25, interval=(0.2, 0.3)), "identity_max": worst_risk(1.0),
        "identity_share_above": share_above(0.5, 0.1), "attribute_mean": mean_risk(None, "attribute"),
        "mean_people": count(7, "Mean of people", "people"),
    },
)  # fmt: skip


def page(*results: AttackResult) -> str:
    told = render_risk(
        results, title="Risk in <x>", facts="9 visits", notes=("a & b",), created="2026-11-16T12:00:00+00:00"
    )
    return told.replace("\xa0", " ")


def test_numbers_intervals_and_charts_are_there_and_escaped() -> None:
    text = page(FOUND)
    for part in (
        "25 %",
        "95 %: 20 % to 30 %",
        "100 %",
        "1,234 people",
        "random draws",
        "above 1/10",
        "7 people",
        "a &amp; b",
        'data-visual="chart" data-id="attack-0-0"',
    ):
        assert part in text
    assert "<3>" not in text
    assert "Risk in &lt;x&gt;" in text
    assert "identity_threshold" not in text
    assert "How \\u003clikely\\u003e?" in text, "the data to draw cannot end the element that holds them"
    assert not re.search(r"https?://", re.sub(r'<script type="module">.*?</script>', "", text, flags=re.DOTALL))


def test_an_attack_without_the_usual_numbers_and_no_attack() -> None:
    other = AttackResult(
        name="graph",
        adversary="sees all",
        victims=1,
        sampled=False,
        numbers={"exposed_people_share": share(0.1, "Exposed")},
    )
    assert "exact, for all 1 person" in page(other)
    assert "What attackers learn" in page()


def test_the_command_writes_it_once(table1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "risk.html"
    assert main(["risk", str(table1), "--each-trajectory-is-a-person", "--report", str(out)]) == 0
    assert "table1.csv" in out.read_text(encoding="utf-8")
    before = out.read_bytes()
    assert main(["risk", str(table1), "--each-trajectory-is-a-person", "--report", str(out)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main(["risk", str(table1), "--each-trajectory-is-a-person", "--report", str(tmp_path / "risk.csv")]) == 2
    assert out.read_bytes() == before
    assert main(["risk", str(table1), "--each-trajectory-is-a-person", "--report", str(out), "--overwrite"]) == 0
