"""README.html: made of the manifest alone, without scripts, with everything escaped; verify writes it again."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path

import pytest

from wayveil.cli.app import main
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.report.readme_page import README, render_readme


@pytest.fixture
def public(tmp_path: Path) -> Path:
    rows = ["traj_id,user_id,t,location,line"]
    rows += [f"c{i},u{i},{i % 2},{place},l" for i in range(10) for place in ("<b>gate</b>",)]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    given = ["--k", "5", "--l", "1", "--seed", "1", "--keep", "line", "--format", "csv", "--out", str(tmp_path / "out")]
    assert main(["publish", "kcl", str(tmp_path / "in.csv"), *given]) == 0
    return tmp_path / "out" / "public"


def test_the_page_says_what_the_manifest_says(public: Path) -> None:
    content = (public / "manifest.json").read_bytes()
    manifest = json.loads(content)
    page = (public / README).read_text()
    text = " ".join(html.unescape(re.sub("<[^>]+>", " ", page)).split())
    assert manifest["promise"] in text
    for attacker in (*manifest["covered"], *manifest["not_covered"]):
        assert " ".join(attacker.split()) in text
    for column in manifest["schema"]["columns"]:
        assert f"{column['name']} {column['type']}" in text
    for name, facts in manifest["files"].items():
        assert name in text
        assert facts["sha256"] in text
    assert hashlib.sha256(content).hexdigest() in text
    assert "wayveil verify" in text
    assert README not in manifest["files"]  # it follows from the manifest, not the other way round


def test_nothing_runs_and_nothing_is_loaded(public: Path) -> None:
    page = (public / README).read_text()
    assert "<script" not in page
    assert not re.search(r"(src|href)=(?!\"data:,\")", page)
    style = re.search("<style>(.*)</style>", page, re.S)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = html.unescape(re.search('Content-Security-Policy" content="([^"]+)"', page)[1])  # type: ignore[index]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_everything_is_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>"
    manifest = {
        "method": evil, "promise": evil, "covered": [evil], "not_covered": [evil], "rows": 1, "trajectories": 1,
        "versions": {"wayveil": evil}, "verdict": {"measured": {evil: evil}, "not_judged": [evil]},
        "schema": {"kind": evil, "columns": [{"name": evil, "type": evil}]},
        "files": {evil: {"bytes": 1, "sha256": evil}},
    }  # fmt: skip
    page = render_readme(manifest, evil)
    assert "<img" not in page
    assert page.count("&lt;img") > 10


def test_verify_writes_it_again_and_compares(public: Path) -> None:
    assert verify_folder(public).failures == ()
    page = public / README
    written = page.read_text()
    page.write_text(written.replace("Against whom it does not help", "Against nobody"))
    assert verify_folder(public).failures == (f"{README} does not say what the manifest says",)
    page.write_text(written + "<!-- anything -->")
    assert verify_folder(public).exit_code == 1
    page.unlink()
    page.symlink_to(public / "manifest.json")
    assert verify_folder(public).failures == (f"{README} is missing or cannot be read",)
    page.unlink()
    assert verify_folder(public).failures == ()  # a folder of a version that wrote none


def test_verify_finds_a_page_of_another_manifest(public: Path, tmp_path: Path) -> None:
    given = ["publish", "kcl", str(tmp_path / "in.csv"), "--k", "4", "--l", "1", "--seed", "1", "--format", "csv"]
    assert main([*given, "--out", str(tmp_path / "other")]) == 0
    (public / README).write_bytes((tmp_path / "other" / "public" / README).read_bytes())
    assert verify_folder(public).failures == (f"{README} does not say what the manifest says",)
