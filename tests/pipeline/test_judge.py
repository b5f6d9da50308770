"""A claim judged in shares, from the files of all parts, is judged as it would be from one table."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.model import KclPrivacy, Visits
from wayveil.pipeline import judge
from wayveil.pipeline.blocks.store import Memory
from wayveil.pipeline.folder import verify_folder
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.input import load_published
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers import check_kcl


@settings(deadline=None, max_examples=100)
@given(visits=st.dictionaries(st.integers(-50, 50), st.integers(1, 9), max_size=20), rows=st.integers(1, 20))
def test_spans_cover_all_times_and_are_as_large_as_they_may_be(visits: dict[int, int], rows: int) -> None:
    spans = judge._spans_of_time(visits, rows=rows)
    if not visits:
        assert spans == []
        return
    assert spans[0][0] == min(visits)
    assert spans[-1][1] == max(visits) + 1
    assert all(one[1] == two[0] for one, two in pairwise(spans))
    for number, (first, until) in enumerate(spans):
        here = [t for t in visits if first <= t < until]
        assert here
        size = sum(visits[t] for t in here)
        assert size <= rows or len(here) == 1
        if number + 1 < len(spans):
            assert size + visits[until] > rows


def test_what_is_measured_of_a_part() -> None:
    store = Memory()
    store.save(Visits.from_records([[("a", 1), ("b", 2), ("c", 5)], [("a", 2)], []]), "part")
    assert judge._measure_part(store, "part") == ({1: 1, 2: 2, 5: 1}, 2, 4, 3)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Publications in parts: sequences of at most 2 visits, and of any length."""
    folder = tmp_path_factory.mktemp("shares")
    numbers = np.random.default_rng(3)
    rows = ["traj_id,t,location,ill"]
    for i in range(120):
        ill = "yes" if i % 7 == 0 else "no"
        rows += [f"p{i},{t},{'ab'[int(numbers.integers(2))]},{ill}" for t in range(5) if numbers.random() < 0.6]
    (folder / "in.csv").write_text("\n".join(rows) + "\n")
    found = {}
    for length in (2, "all"):
        content: dict[str, Any] = {
            "seed": 4,
            "input": {"path": str(folder / "in.csv"), "owners": "each-trajectory"},
            "method": {"name": "kcl", "k": 4, "c": "0.5", "l": length, "sensitive": {"ill": ["yes"]}},
            "blocks": {"by": "whole", "rows": 90},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(folder / str(length)), "format": "csv"},
        }
        publish(make_recipe(content), engine=LocalEngine(workers=1))
        found[str(length)] = folder / str(length) / "public"
    return found


def brute_force(data: Visits, claim: KclPrivacy, longest: int) -> tuple[int, float]:
    """Return the smallest number of people behind a sequence, and the largest confidence."""
    records = [set(data.record(i)) for i in range(len(data))]
    ill = data.attributes["ill"].values()
    doublets = sorted({visit for record in records for visit in record}, key=lambda visit: visit[1])
    support, confidence = len(data), 0.0
    for size in range(1, longest + 1):
        for sequence in combinations(doublets, size):
            people = [i for i, record in enumerate(records) if record.issuperset(sequence)]
            if people:
                support = min(support, len(people))
                confidence = max(confidence, sum(ill[i] == "yes" for i in people) / len(people))
    return support, confidence


@pytest.mark.parametrize("length", ["2", "all"])
def test_parts_together_are_judged_like_one_table(
    folders: dict[str, Path], length: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folders[length]
    manifest, _ = read_manifest(folder)
    assert len([name for name in manifest.files if name.startswith("published-")]) > 2
    whole: Any = load_published(folder, manifest).data
    claim = manifest.guarantee
    assert isinstance(claim, KclPrivacy)
    expected = check_kcl(whole, claim)
    assert expected.holds
    for rows in (10, 10**6):
        monkeypatch.setattr(verify_folder, "SHARE_ROWS", rows)
        assert verify_folder._judge_together(folder, manifest) == expected
    if length == "2":  # without all data at once
        monkeypatch.delattr(judge, "_judge_all")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(verify_folder, "SHARE_ROWS", 10)
            assert verify_folder._judge_together(folder, manifest) == expected
    support, confidence = brute_force(whole, claim, 2 if length == "2" else 5)
    assert support >= claim.k
    assert confidence <= claim.c
    if length == "2":
        assert expected.measured["min_support"] == support
        assert expected.measured["max_confidence"] == pytest.approx(confidence)


def test_one_visit_that_too_few_have_is_found_whatever_the_shares(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for source in folders["2"].iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    changed = tmp_path / "published-00002.csv"
    lines = changed.read_text().splitlines()
    first = lines[1].split(",")
    changed.write_text("\n".join([lines[0], ",".join([first[0], "-5", "a", first[3]]), *lines[1:]]) + "\n")
    manifest, _ = read_manifest(tmp_path)
    for rows in (10, 10**6):
        monkeypatch.setattr(verify_folder, "SHARE_ROWS", rows)
        verdict = verify_folder._judge_together(tmp_path, manifest)
        assert not verdict.holds
        assert verdict.measured["min_support"] == 1


def test_another_claim_is_refused(folders: dict[str, Path]) -> None:
    manifest, _ = read_manifest(folders["2"])
    other = manifest.model_copy(update={"claim": {"name": "KAnonymity", "k": 2}})
    with pytest.raises(InputError, match="KAnonymity only together cannot be judged"):
        verify_folder._judge_together(folders["2"], other)
