"""The straight line: what is published, what stays private, and what happens when the promise is not kept."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from printed_methods import PrintedKcl
from wayveil.errors import InputError, OutputError, UsageError
from wayveil.methods import METHODS
from wayveil.model import Verdict
from wayveil.pipeline import readback
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import NotPublished, Outcome, publish
from wayveil.recipe import catalog
from wayveil.recipe.recipe import make_recipe

TABLE_2 = [
    "b3 e4 f6 e8 HIV", "d2 c5 f6 c7 e9 Fever", "c7 e8 Hepatitis", "b3 e4 f6 e8 Flu", "d2 c5 f6 c7 HIV",
    "c5 f6 e9 Hepatitis", "f6 c7 e8 Fever", "d2 f6 c7 e9 Flu",
]  # fmt: skip


def run(content: dict[str, Any], secret: bytes = bytes(32)) -> Outcome:
    return publish(make_recipe(content), secret=Secret(secret))


def published_records(frame: pl.DataFrame) -> Counter[str]:
    found = Counter()
    for rows in frame.partition_by("traj_id", maintain_order=True):
        visits = [f"{place}{t}" for place, t in zip(rows["location"], rows["t"], strict=True)]
        found[" ".join([*visits, rows["diagnosis"][0]])] += 1
    return found


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_table_1_becomes_table_2(content: dict[str, Any], form: str) -> None:
    content["output"]["format"] = form
    outcome = run(content)
    assert outcome.public is not None
    path = outcome.public / f"published.{form}"
    frame = pl.read_csv(path) if form == "csv" else pl.read_parquet(path)
    assert published_records(frame) == Counter(TABLE_2)
    assert sorted(p.name for p in outcome.private.iterdir()) == [
        "log.txt", "recipe.toml", "report.html", "results.json", "secret.txt", "seed.txt",
    ]  # fmt: skip
    assert (outcome.private / "seed.txt").read_text() == "7\n"
    assert verify_folder(outcome.public).failures == ()
    scores = json.loads((outcome.private / "results.json").read_text())
    assert scores["manifest_sha256"] == outcome.manifest_sha256
    assert scores["verdict"]["holds"] is True


@pytest.mark.parametrize(
    ("column", "keep", "refused"), [("weather", [], False), ("weather", ["weather"], True), ("diagnosis", [], True)]
)
def test_only_what_is_published_must_be_constant_in_a_trajectory(
    content: dict[str, Any], tmp_path: Path, column: str, keep: list[str], refused: bool
) -> None:
    frame = pl.read_csv(content["input"]["path"]).with_columns(pl.lit("sun").alias("weather"))
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("other")).otherwise(column).alias(column)
    )
    content["input"]["path"] = str(tmp_path / "varying.csv")
    frame.write_csv(content["input"]["path"])
    content["output"]["keep"] = keep
    if refused:
        with pytest.raises(
            InputError, match=f"'{column}' must be constant in a trajectory.* at line 3. Correct the data"
        ):
            run(content)
    else:
        assert run(content).public is not None


def test_the_same_secret_gives_the_same_bytes_and_another_does_not(content: dict[str, Any], tmp_path: Path) -> None:
    found = []
    for name, secret in (("a", b"1" * 16), ("b", b"1" * 16), ("c", b"2" * 16)):
        content["output"]["path"] = str(tmp_path / name)
        run(content, secret)
        found.append(public_bytes(tmp_path / name))
    assert found[0] == found[1] != found[2]


def test_attacks_do_not_change_what_is_published(content: dict[str, Any], tmp_path: Path) -> None:
    run(content)
    before = public_bytes(tmp_path / "out")
    content["attacks"], content["metrics"], content["output"]["overwrite"] = [], [], True
    run(content)
    assert public_bytes(tmp_path / "out") == before


def test_without_a_seed_it_is_fresh_and_kept_in_private(content: dict[str, Any], tmp_path: Path) -> None:
    del content["seed"]
    content["output"]["overwrite"] = True
    seeds = []
    for _ in range(2):
        outcome = run(content)
        seeds.append(int((outcome.private / "seed.txt").read_text()))
    assert seeds[0] != seeds[1]
    assert all(str(seed).encode() not in b"".join(public_bytes(tmp_path / "out").values()) for seed in seeds)


def test_the_manifest_says_nothing_about_the_input(content: dict[str, Any], tmp_path: Path, table1: Path) -> None:
    content["seed"] = 918273645
    run(content)
    text = (tmp_path / "out/public/manifest.json").read_text()
    assert "918273645" not in text
    assert table1.name not in text
    assert str(tmp_path) not in text
    manifest = json.loads(text)
    assert manifest["rows"] == 29  # 34 visits went in
    assert "34" not in json.dumps({key: manifest[key] for key in manifest if key not in ("files", "versions")})


def test_mapping_only_when_asked_for(content: dict[str, Any], tmp_path: Path) -> None:
    content["output"]["keep_mapping"] = True
    outcome = run(content)
    with open(outcome.private / "mapping.csv", newline="") as file:
        pairs = {row["published_id"]: row["input_id"] for row in csv.DictReader(file)}
    frame = pl.read_csv(tmp_path / "out/public/published.csv")
    assert set(pairs) == set(frame["traj_id"])
    value = dict(zip(frame["traj_id"], frame["diagnosis"], strict=True))
    expected = ["HIV", "Fever", "Hepatitis", "Flu", "HIV", "Hepatitis", "Fever", "Flu"]
    assert {old: value[new] for new, old in pairs.items()} == {str(i + 1): v for i, v in enumerate(expected)}
    content["output"].update(keep_mapping=False, overwrite=True)
    assert not (run(content).private / "mapping.csv").exists()


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Four people with two trajectories each, and more attributes than anyone needs."""
    path = tmp_path / "wide.csv"
    rows = ["traj_id,user_id,t,location,ill,zone,name"]
    for i in range(8):
        ill = "yes" if i < 4 else "no"
        rows += [f"T{i},P{i % 4},{t},{place},{ill},north,N{i}" for t, place in ((1, "a"), (2, "b"))]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_only_sensitive_and_kept_attributes_leave(content: dict[str, Any], wide: Path, tmp_path: Path) -> None:
    content["input"] = {"path": str(wide)}
    content["method"].update(c=1, sensitive={"ill": ["yes"]})
    outcome = run(content)
    header = (tmp_path / "out/public/published.csv").read_text().splitlines()[0]
    assert header == "traj_id,t,location,ill"
    assert outcome.verdict.counted == "owners"
    content["output"].update(keep=["zone"], overwrite=True)
    outcome = run(content)
    header = (tmp_path / "out/public/published.csv").read_text().splitlines()[0]
    assert header == "traj_id,t,location,ill,zone"
    manifest = json.loads((tmp_path / "out/public/manifest.json").read_text())
    assert any("'zone'" in line for line in manifest["not_covered"])
    assert any("'zone'" in note for note in outcome.notes)
    assert manifest["schema"]["owners"] == "hidden"
    judgement = verify_folder(tmp_path / "out")
    assert judgement.holds is None
    assert judgement.not_judged
    assert judgement.exit_code == 3


def test_people_are_counted_not_trajectories(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "one_person.csv"
    lonely = [f"L{i},anna,1,cabin" for i in range(5)]
    others = [f"O{i},P{i},1,town" for i in range(5)]
    path.write_text("\n".join(["traj_id,user_id,t,location", *lonely, *others]) + "\n")
    content["input"] = {"path": str(path)}
    content["method"] = {"name": "kcl", "k": 3, "l": 1}
    run(content)
    published = (tmp_path / "out/public/published.csv").read_text()
    assert "cabin" not in published
    assert "town" in published


@pytest.mark.parametrize(
    ("method", "keep", "error", "sentence"),
    [
        ({"sensitive": {"diagnosi": ["HIV"]}}, [], InputError, "Did you mean 'diagnosis'"),
        ({"sensitive": {"diagnosis": ["Hiv"]}}, [], InputError, "'Hiv' never occurs"),
        ({}, ["zone"], InputError, "no column 'zone'"),
        ({"k": 9}, [], InputError, "k is 9"),
    ],
)
def test_what_does_not_fit_the_data_is_refused(
    content: dict[str, Any], tmp_path: Path, method: dict[str, Any], keep: list[str], error: type, sentence: str
) -> None:
    content["method"].update(method)
    content["output"]["keep"] = keep
    with pytest.raises(error, match=sentence):
        run(content)
    assert list(tmp_path.iterdir()) == []


def test_missing_sensitive_values_are_refused(content: dict[str, Any], table1: Path, tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text(table1.read_text().replace("Fever", ""))
    content["input"]["path"] = str(path)
    with pytest.raises(InputError, match="2 of 8 trajectories"):
        run(content)
    assert not (tmp_path / "out").exists()


def test_nothing_left_is_not_a_publication(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "strangers.csv"
    path.write_text("traj_id,t,location\n" + "".join(f"{i},{i},p{i}\n" for i in range(5)))
    content["input"]["path"] = str(path)
    content["method"] = {"name": "kcl", "k": 2, "l": 1}
    with pytest.raises(NotPublished, match="--time-bucket") as caught:
        run(content)
    assert caught.value.exit_code == 1
    assert not (tmp_path / "out").exists()


def test_overwrite_is_asked_for_before_anything_is_read(content: dict[str, Any], tmp_path: Path) -> None:
    run(content)
    content["input"]["path"] = str(tmp_path / "does_not_exist.csv")
    with pytest.raises(UsageError, match="--overwrite"):
        run(content)


def refusing(published: Any, claim: Any, original: Any = None, boxes: Any = None) -> Verdict:
    witness = {"sequence": [["a", 1]], "support": 1}
    return Verdict(
        holds=False, claim=claim, counted="trajectories", measured={"min_support": 1}, witness=witness, reason="No."
    )


def test_no_verdict_no_publication(content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "verify", refusing)
    with pytest.raises(NotPublished) as caught:
        run(content)
    outcome = caught.value.outcome
    assert outcome is not None
    assert outcome.public is None
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["private"]
    assert outcome.report.is_file()


def test_the_printed_validity_test_is_caught_by_the_verifier(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paper's Procedure 2 ends with an output that violates its own requirement on these six records."""
    records = ["b2 c3 e5", "a1 c3", "b2 e5", "a1 b2 c3", "a1", "a1 b2"]
    rows = [f"{i},{visit[1]},{visit[0]}" for i, record in enumerate(records) for visit in record.split()]
    path = tmp_path / "procedure2.csv"
    path.write_text("\n".join(["traj_id,t,location", *rows]) + "\n")
    content["input"]["path"] = str(path)
    monkeypatch.setitem(METHODS, "kcl_printed", PrintedKcl)
    content["method"] = {"name": "kcl_printed", "k": 2, "c": 1, "l": 3}
    with pytest.raises(NotPublished) as caught:
        run(content)
    assert caught.value.outcome is not None
    assert caught.value.outcome.verdict.witness is not None
    assert not (tmp_path / "out/public").exists()
    content["method"]["name"] = "kcl"
    assert run(content).verdict.holds


def test_a_failed_verdict_leaves_the_old_publication_alone(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(content)
    before = public_bytes(tmp_path / "out")
    report = (tmp_path / "out/private/report.html").read_bytes()
    monkeypatch.setattr(catalog, "verify", refusing)
    content["output"]["overwrite"] = True
    with pytest.raises(NotPublished) as caught:
        run(content)
    assert public_bytes(tmp_path / "out") == before
    assert (tmp_path / "out/private/report.html").read_bytes() == report
    assert caught.value.outcome is not None
    assert caught.value.outcome.report == tmp_path / "out/private/refused/report.html"
    monkeypatch.undo()
    assert verify_folder(tmp_path / "out").failures == ()


def test_what_is_judged_is_what_is_on_disk(
    content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = readback.write_published

    def careless(data: Any, path: Path, *, key: bytes, beside: Any = None) -> Any:
        order = real(data, path, key=key)
        text = path.read_text()
        path.write_text(text.replace(",f,", ",g,", 1))
        return order

    monkeypatch.setattr(readback, "write_published", careless)
    with pytest.raises(OutputError, match="does not read back"):
        run(content)
    assert list(tmp_path.iterdir()) == []


def test_times_can_be_made_coarser_first(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "clock.csv"
    rows = [f"{i},2024-05-01T08:{i:02d}:00,gate" for i in range(10)]
    path.write_text("\n".join(["traj_id,t,location", *rows]) + "\n")
    content["input"]["path"] = str(path)
    content["method"] = {"name": "kcl", "k": 10, "l": 1}
    content["prepare"] = [{"step": "bucket", "width": "1h"}]
    outcome = run(content)
    assert outcome.verdict.measured["min_support"] == 10
    assert any("bucket" in note for note in outcome.notes)
