"""One crowd in pieces: what is published of visits keeps (K,C)_L-privacy for all parts together."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.kcl.kcl_solver import KclSolver
from wayveil.methods.kcl.kcl_strategies import Choice
from wayveil.model import KclPrivacy, Visits, concat
from wayveil.pipeline.blocks import block
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.input import load_published
from wayveil.pipeline.outcome import NotPublished, Outcome
from wayveil.pipeline.publish import publish
from wayveil.pipeline.readback import write_and_read_back
from wayveil.recipe.recipe import make_recipe
from wayveil.verifiers import check_kcl

ROW = pl.int_range(pl.len())


def table(seed: int, *, people: int = 30, trips: int = 2, places: str = "aab", times: int = 4) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    rows = []
    for trip in range(people * trips):
        person = trip % people
        for t in range(times):
            if numbers.random() < 0.6:
                place = places[int(numbers.integers(len(places)))]
                rows.append((f"T{trip}", f"P{person}", t, place, "yes" if person % 5 == 0 else "no", f"N{trip}"))
    return pl.DataFrame(rows, orient="row", schema=["traj_id", "user_id", "t", "location", "ill", "name"])


def content(frame: pl.DataFrame, folder: Path, *, rows: int = 40, keep: tuple[str, ...] = (), **method: Any) -> Any:
    frame.write_csv(folder / "in.csv")
    asked = {"k": 3, "c": "0.5", "l": 2, "sensitive": {"ill": ["yes"]}, **method}
    return {
        "seed": 6,
        "input": {"path": str(folder / "in.csv")},
        "method": {"name": "kcl", **asked},
        "blocks": {"by": "whole", "rows": rows},
        "attacks": [],
        "metrics": [],
        "output": {"path": str(folder / "out"), "format": "csv", "keep": list(keep)},
    }


def run(asked: Any) -> Outcome:
    return publish(make_recipe(asked), engine=LocalEngine(workers=1), secret=Secret(bytes(32)))


def check_by_force(data: Visits, claim: KclPrivacy) -> None:
    """Look at every sequence that an attacker may know: enough people, and no value too likely."""
    people: dict[int, tuple[list[set[tuple[str, int]]], bool]] = {}
    ill = data.attributes["ill"].values()
    for i in range(len(data)):
        records, _ = people.setdefault(int(data.owner[i]), ([], ill[i] == "yes"))
        records.append(set(data.record(i)))
    doublets = sorted({visit for records, _ in people.values() for record in records for visit in record})
    assert isinstance(claim.l, int)
    for size in range(1, claim.l + 1):
        for sequence in combinations(doublets, size):
            here = [sick for records, sick in people.values() if any(r.issuperset(sequence) for r in records)]
            if here:
                assert len(here) >= claim.k
                assert Fraction(sum(here), len(here)) <= claim.c


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 9999), rows=st.integers(15, 90), k=st.integers(2, 5), longest=st.integers(1, 3))
def test_nothing_violates_the_claim_in_all_parts_together(
    tmp_path_factory: pytest.TempPathFactory, seed: int, rows: int, k: int, longest: int
) -> None:
    folder = tmp_path_factory.mktemp("whole")
    raw = table(seed)
    seen: list[Any] = []

    def seeing(*arguments: Any, **others: Any) -> Any:
        written = write_and_read_back(*arguments, **others)
        seen.append(written.data)
        return written

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(block, "write_and_read_back", seeing)
        outcome = run(content(raw, folder, rows=rows, keep=("name",), k=k, l=longest))
    union: Visits = concat(seen)
    claim = outcome.verdict.claim
    assert isinstance(claim, KclPrivacy)
    check_by_force(union, claim)
    # the verdict that is told is that on one table with the true owners
    assert outcome.verdict == check_kcl(union, claim)
    assert verify_folder(folder / "out").failures == ()
    manifest, _ = read_manifest(folder / "out/public")
    read: Any = load_published(folder / "out/public", manifest).data
    assert verify_folder(folder / "out").verdict == check_kcl(read, claim)
    # every visit was there before, of the same trajectory, and only visits are lost
    before = {
        name: set(zip(rows["location"], rows["t"], strict=True)) for (name,), rows in raw.group_by("name")
    }  # fmt: skip
    for i, name in enumerate(read.attributes["name"].values()):
        assert set(read.record(i)) <= before[name]
    assert outcome.output_facts["visits suppressed"] == f"{raw.height - read.n_rows:,}"


def test_parts_are_as_many_as_the_rows_ask_for_and_dealt_at_random(tmp_path: Path) -> None:
    raw = table(1)
    asked = content(raw, tmp_path, rows=40, keep=("name",), k=2, c=1)
    run(asked)
    files = sorted((tmp_path / "out/public").glob("published-*.csv"))
    assert len(files) == -(-raw.height // 40)
    dealt = [{int(name[1:]) for name in pl.read_csv(file)["name"]} for file in files]
    assert sum(len(part) for part in dealt) == len(set().union(*dealt))
    # a piece of the input, in which people are together, is not a part
    asked["seed"], asked["output"]["path"] = 7, str(tmp_path / "other")
    run(asked)
    files = sorted((tmp_path / "other/public").glob("published-*.csv"))
    assert [{int(name[1:]) for name in pl.read_csv(file)["name"]} for file in files] != dealt


def test_people_are_counted_over_pieces_and_parts_not_trajectories(tmp_path: Path) -> None:
    lonely = [(f"L{i}", "anna", 1, "cabin", "no", f"L{i}") for i in range(40)]
    others = [(f"O{i}", f"P{i}", 1, "town", "no" if i else "yes", f"O{i}") for i in range(40)]
    frame = pl.DataFrame(
        [*lonely, *others], orient="row", schema=["traj_id", "user_id", "t", "location", "ill", "name"]
    )
    outcome = run(content(frame, tmp_path, rows=10, l=1))
    published = b"".join(path.read_bytes() for path in (tmp_path / "out/public").glob("*.csv"))
    assert b"cabin" not in published
    assert b"town" in published
    assert outcome.verdict.counted == "owners"
    assert outcome.output_facts["visits that fewer than k people have"] == "40"
    assert outcome.output_facts["visits suppressed"] == "40"


def test_sequences_of_any_length(tmp_path: Path) -> None:
    outcome = run(content(table(5), tmp_path, l="all"))
    assert outcome.verdict.holds
    assert verify_folder(tmp_path / "out").failures == ()
    assert len(list((tmp_path / "out/public").glob("published-*.csv"))) > 1


def test_nothing_left_is_no_publication(tmp_path: Path) -> None:
    frame = table(1).with_columns(location=pl.col("traj_id") + pl.col("location"))  # nobody is where others are
    with pytest.raises(NotPublished, match="no visit is left after suppression"):
        run(content(frame, tmp_path))
    assert not (tmp_path / "out/public").exists()


@pytest.mark.parametrize(
    ("method", "change", "sentence"),
    [
        ({"k": 31}, {}, "k is 31"),
        ({"sensitive": {"ill": ["often"]}}, {}, "'often' never occurs"),
        ({}, {"ill": pl.when(user_id="P3").then(None).otherwise("ill")}, "has no value in 2 of"),
        ({}, {"location": pl.when(ROW == 70).then(None).otherwise("location")}, r"in\.csv: .* row 71"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_data_is_refused(
    tmp_path: Path, method: dict[str, Any], change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        run(content(table(2).with_columns(**change), tmp_path, **method))
    assert not (tmp_path / "out").exists()


def test_a_method_that_suppresses_too_little_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lazy(self: Any, crowd: Any, *_: Any) -> Choice:
        return Choice(keep=np.ones(len(crowd.rows), bool), gone=np.empty(0, int), facts={"visits suppressed": 0})

    monkeypatch.setattr(KclSolver, "choose", lazy)
    asked = content(table(3), tmp_path, c="0.25", l=3)
    with pytest.raises(NotPublished, match="Nothing was published") as caught:
        run(asked)
    assert caught.value.outcome is not None
    assert caught.value.outcome.public is None
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["private"]
    # doublets that too few people have went before: the rest is what is wrong
    assert caught.value.outcome.verdict.measured["min_support"] is not None


def test_rare_doublets_do_not_travel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = KclSolver.choose

    def seeing(self: Any, crowd: Any, *others: Any) -> Any:
        seen.append(crowd.records)
        return real(self, crowd, *others)

    monkeypatch.setattr(KclSolver, "choose", seeing)
    raw = table(4, places="aaaaaaaab")
    people = raw.group_by("t", "location").agg(pl.col("user_id").n_unique().alias("n"))
    kept = people.filter(pl.col("n") >= 12)
    assert 0 < kept.height < people.height
    run(content(raw, tmp_path, k=12, c=1, sensitive={}))
    records = seen[-1]
    assert len(records.items) == raw.join(kept, on=["t", "location"]).height
    assert np.unique(records.items).tolist() == list(range(kept.height))
