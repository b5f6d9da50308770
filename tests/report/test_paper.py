"""The report as PDF: by a browser, or a sentence that says what to do instead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from wayveil.cli import main
from wayveil.errors import OutputError, UsageError
from wayveil.report import paper

ARGUMENTS = ["--each-trajectory-is-a-person", "--k", "2", "--c", "1", "--l", "1", "--pdf"]


def test_without_a_browser_nothing_is_written(
    table1: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match="none of them is installed"):
        paper.find_browser()
    out = tmp_path / "out"
    assert main(["publish", "kcl", str(table1), "--out", str(out), *ARGUMENTS]) == 2
    assert "print private/report.html" in capsys.readouterr().err.replace("\n", " ")
    assert not out.exists()


def test_a_browser_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.html").write_text("<p>x")
    monkeypatch.setattr(paper, "find_browser", lambda: shutil.which("false"))
    with pytest.raises(OutputError, match="could not print"):
        paper.print_report(tmp_path / "report.html")
    assert not (tmp_path / "report.pdf").exists()


@pytest.mark.skipif(not any(map(shutil.which, paper._BROWSERS)), reason="needs a browser")
def test_the_report_is_printed_beside_itself(table1: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["publish", "kcl", str(table1), "--out", str(out), *ARGUMENTS]) == 0
    found = out / "private" / "report.pdf"
    assert found.read_bytes().startswith(b"%PDF")
    assert found.stat().st_mode & 0o077 == 0
    assert not (out / "public" / "report.pdf").exists()
