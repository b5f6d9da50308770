"""The manifest: the same bytes for the same content, and a reader that forgives nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from wayveil.errors import InputError
from wayveil.methods import Kcl
from wayveil.model import Verdict, Visits
from wayveil.pipeline.folder.manifest import described, file_facts, make_manifest, read_manifest, versions


def test_round_trip(tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_bytes(b"x" * 70_000)
    method = Kcl(k=2, c="1/3", l=1, sensitive={"ill": ["ja", "ß"]})
    verdict = Verdict(
        holds=True, claim=method.claim, counted="owners", measured={"min_support": 2, "max_confidence": 0.25}, reason=""
    )
    data = Visits.from_records([[("a", 1)], [("a", 1)]], attributes={"ill": ["ja", "ß"], "zone": ["n", "s"]})
    table = described(data, source_owners="given")
    made = make_manifest(tmp_path, method=method, verdict=verdict, table=table, each_trajectory=False)
    content = made.to_bytes()
    (tmp_path / "manifest.json").write_bytes(content)
    again, sha256 = read_manifest(tmp_path)
    assert again == made
    assert again.guarantee == method.claim
    assert again.attributes == ("ill", "zone")
    assert again.table.owners == "hidden"
    assert again.to_bytes() == content
    assert sha256 == hashlib.sha256(content).hexdigest()
    assert "ß".encode() in content
    assert list(again.files) == ["published.csv"]


def test_a_manifest_that_tells_of_owners_is_refused(tmp_path: Path) -> None:
    """Owners are never published: a verdict that counts people by them would count what is not there."""
    (tmp_path / "published.csv").write_bytes(b"x")
    data, method = Visits.from_records([[("a", 1)], [("a", 1)]]), Kcl(k=2, l=1)
    verdict = Verdict(holds=True, claim=method.claim, counted="trajectories", measured={}, reason="")
    table = described(data, source_owners="declared")
    content = make_manifest(tmp_path, method=method, verdict=verdict, table=table, each_trajectory=True).to_bytes()
    (tmp_path / "manifest.json").write_bytes(content)
    assert read_manifest(tmp_path)[0].table.owners == "declared"
    assert read_manifest(tmp_path)[0].promise == method.claim.statement("declared") != method.claim.promise
    (tmp_path / "manifest.json").write_bytes(content.replace(b'"owners": "declared"', b'"owners": "given"'))
    with pytest.raises(InputError, match=r"garbled at 'schema\.owners'"):
        read_manifest(tmp_path)


def test_file_facts(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (0, 1, 1 << 20):
        path.write_bytes(b"z" * size)
        facts = file_facts(path)
        assert facts.bytes == size
        assert facts.sha256 == hashlib.sha256(b"z" * size).hexdigest()


def test_versions() -> None:
    assert set(versions()) == {"python", "wayveil", "numpy", "polars", "scipy"}
