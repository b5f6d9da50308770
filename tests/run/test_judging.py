"""A published folder, judged again: every change is found, and a right hash excuses nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from wayveil.errors import InputError
from wayveil.run.judging import judge
from wayveil.run.pipeline import publish
from wayveil.run.recipe import make_recipe


@pytest.fixture
def public(content: dict[str, Any]) -> Path:
    found = publish(make_recipe(content)).public
    assert found is not None
    return found


def drop_row(public: Path) -> None:
    path = public / "published.csv"
    lines = path.read_text().splitlines(keepends=True)
    row = next(i for i, line in enumerate(lines) if ",3,b," in line)  # two people were at b, now one
    path.write_text("".join(lines[:row] + lines[row + 1 :]))


def forge(public: Path, **changes: Any) -> None:
    path = public / "manifest.json"
    manifest = json.loads(path.read_text())
    content = (public / "published.csv").read_bytes()
    manifest["files"]["published.csv"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps({**manifest, **changes}))


def test_an_untouched_folder_holds(public: Path) -> None:
    for folder in (public, public.parent):
        judgement = judge(folder)
        assert judgement.holds
        assert judgement.manifest_sha256 == hashlib.sha256((public / "manifest.json").read_bytes()).hexdigest()


def test_every_failure_is_reported(public: Path) -> None:
    drop_row(public)
    (public / "notes.txt").touch()
    judgement = judge(public)
    assert not judgement.holds
    text = "\n".join(judgement.failures)
    for words in ("size of published.csv differs", "hash of published.csv differs", "notes.txt", "28 rows", "claim"):
        assert words in text
    assert judgement.verdict is not None
    assert judgement.verdict.witness is not None


def test_a_forged_hash_does_not_help(public: Path) -> None:
    drop_row(public)
    forge(public, rows=28)
    judgement = judge(public)
    assert [failure for failure in judgement.failures if "claim" not in failure] == []
    assert not judgement.holds
    assert judgement.verdict is not None
    assert judgement.verdict.witness is not None


def test_a_table_that_is_gone_or_garbled_is_a_failure(public: Path) -> None:
    (public / "published.csv").write_bytes(b"\x00\xff")
    judgement = judge(public)
    assert any("cannot be read" in failure for failure in judgement.failures)
    (public / "published.csv").unlink()
    judgement = judge(public)
    assert any("missing" in failure for failure in judgement.failures)
    assert judgement.verdict is None


def test_a_manifest_that_admits_failure_does_not_hold(public: Path) -> None:
    manifest = json.loads((public / "manifest.json").read_text())
    forge(public, verdict={**manifest["verdict"], "holds": False})
    assert not judge(public).holds


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: "{", "not valid JSON"),
        (lambda m: "[" * 100_000, "not valid JSON"),
        (lambda m: "\ud800", "not valid JSON"),
        (lambda m: [], "no format number"),
        (lambda m: {**m, "format": 2}, "format 2; this version reads format 1"),
        (lambda m: {**m, "format": {}}, "this version reads format 1"),
        (lambda m: {**m, "rows": "29"}, "garbled at 'rows'"),
        (lambda m: {**m, "extra": 1}, "garbled at 'extra'"),
        (lambda m: {k: v for k, v in m.items() if k != "claim"}, "garbled at 'claim'"),
        (lambda m: {**m, "claim": {**m["claim"], "name": "KCLL"}}, "names no guarantee"),
        (lambda m: {**m, "claim": {**m["claim"], "k": 0}}, "k must be an integer"),
        (lambda m: {**m, "claim": {**m["claim"], "q": 0}}, "missing or unknown parameters"),
        (lambda m: {**m, "files": {}}, "lists no published table"),
        (lambda m: {**m, "files": {**m["files"], "../x": m["files"]["published.csv"]}}, "outside its folder"),
    ],
)
def test_a_wrong_manifest_is_bad_input(public: Path, change: Any, sentence: str) -> None:
    path = public / "manifest.json"
    changed = change(json.loads(path.read_text()))
    text = changed if isinstance(changed, str) else json.dumps(changed)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=sentence):
        judge(public)


def test_no_manifest_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing is published there"):
        judge(tmp_path)
    with pytest.raises(InputError, match="nothing is published there"):
        judge(tmp_path / "missing")
