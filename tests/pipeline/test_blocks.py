"""Publishing block by block: what is published, what is refused, and what happens when something goes wrong."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.cli import main
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, OutputError, UsageError
from wayveil.methods import METHODS
from wayveil.model import MethodResult
from wayveil.pipeline import publish as line
from wayveil.pipeline.blocks import block_cutter
from wayveil.pipeline.blocks.store import Disk
from wayveil.pipeline.blocks.task_files import load_value, reporting_full_disks, save
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.input import load_published
from wayveil.pipeline.outcome import NotPublished, Outcome
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import load_recipe, make_recipe
from wayveil.recipe.toml import recipe_text

PEOPLE, TRIPS, ROWS = 24, 2, 5
TIMES: dict[str, Callable[[int], str]] = {
    "integer": str,
    "epoch": lambda t: str(1_700_000_000 + 60 * t),
    "utc": lambda t: f"2024-05-31T08:{t:02d}:00Z",
    "local": lambda t: f"2024-05-31 08:{t:02d}:00",
}


def points(*, times: str = "integer", degrees: bool = False, owners: bool = True) -> pl.DataFrame:
    """Return points of people who go in three groups, far from each other."""
    numbers = np.random.default_rng(8)
    rows = []
    for trip in range(PEOPLE * TRIPS):
        person = trip % PEOPLE
        x0, y0 = 5000.0 * (person % 3), 1000.0 * (person % 3)
        for t in range(ROWS):
            x, y = x0 + 50 * t + numbers.normal(0, 9), y0 + numbers.normal(0, 9)
            where = {"lon": 11 + x / 70_000, "lat": 45 + y / 111_000} if degrees else {"x": x, "y": y}
            who = {"user_id": f"PERSON{person}"} if owners else {}
            rows.append({"traj_id": f"CARD{trip}", **who, "t": TIMES[times](t), **where})
    return pl.DataFrame(rows)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return the content of a recipe that publishes points in blocks by place."""

    def content(table: pl.DataFrame | None = None, **others: Any) -> dict[str, Any]:
        table = points() if table is None else table
        table.write_csv(tmp_path / "in.csv")
        declared = {} if "user_id" in table.columns else {"owners": "each-trajectory"}
        return {
            "seed": 3,
            "input": {"path": str(tmp_path / "in.csv"), **declared},
            "method": {"name": "tga", "k": 2},
            "blocks": {"by": "place", "rows": 60},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(tmp_path / "out"), "format": "csv"},
            **others,
        }

    return content


def run(content: dict[str, Any]) -> Outcome:
    return publish(make_recipe(content), engine=LocalEngine(workers=1), secret=Secret(bytes(32)))


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.parametrize("times", sorted(TIMES))
def test_every_kind_of_time_and_place(
    make: Callable[..., dict[str, Any]], tmp_path: Path, times: str, degrees: bool
) -> None:
    owners = times != "utc"
    content = make(points(times=times, degrees=degrees, owners=owners))
    outcome = run(content)
    assert verify_folder(tmp_path / "out").failures == ()
    manifest, _ = read_manifest(tmp_path / "out/public")
    assert manifest.table.time_format == times
    assert manifest.table.parts == "each"
    assert manifest.table.owners == ("hidden" if owners else "declared")
    assert outcome.verdict.counted == ("owners" if owners else "trajectories")
    assert manifest.rows == PEOPLE * TRIPS * ROWS
    assert outcome.output_facts["Parts"].startswith("4, made of 4")
    # degrees become metres as they do where all data are read at once
    whole = make_recipe({**content, "blocks": None, "output": {"path": str(tmp_path / "whole")}})
    publish(whole, engine=LocalEngine(workers=1), secret=Secret(bytes(32)))
    assert read_manifest(tmp_path / "whole/public")[0].frame == manifest.frame
    assert manifest.frame.degrees == degrees
    private = json.loads((tmp_path / "out/private/results.json").read_text())
    assert private["balance"]["trajectories"] == {"in": 48, "out": 48, "suppressed": 0, "invented": 0}


def test_degrees_on_both_sides_of_the_date_line(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    table = points(degrees=True).with_columns(lon=((pl.col("lon") - 11.07) + 180 + 180) % 360 - 180)
    content = make(table)
    run(content)
    whole = {**content, "blocks": None, "output": {"path": str(tmp_path / "whole")}}
    publish(make_recipe(whole), secret=Secret(bytes(32)))
    frame = read_manifest(tmp_path / "out/public")[0].frame
    assert frame == read_manifest(tmp_path / "whole/public")[0].frame
    assert abs(abs(frame.lon_0) - 180) < 1
    assert verify_folder(tmp_path / "out").failures == ()


def test_degrees_of_all_pieces_become_the_same_metres(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    group = pl.col("user_id").str.slice(6).cast(pl.Int64) % 3
    content = make(points(degrees=True).with_columns(lat=pl.col("lat") + 2 * group), blocks={"by": "place", "rows": 10})
    run(content)
    whole = {**content, "blocks": None, "output": {"path": str(tmp_path / "whole")}}
    publish(make_recipe(whole), secret=Secret(bytes(32)))
    assert verify_folder(tmp_path / "out").failures == verify_folder(tmp_path / "whole").failures == ()
    raw, found = pl.read_csv(tmp_path / "in.csv"), pl.read_csv(sorted((tmp_path / "out/public").glob("*.csv")))
    low, high = raw["lat"].min() - 1e-6, raw["lat"].max() + 1e-6
    assert found["lat_min"].is_between(low, high).all()
    assert found["lat_max"].is_between(low, high).all()


def test_what_could_be_degrees_is_judged_over_all_pieces(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    small = points().with_columns(pl.col("x", "y") / 1000)
    with pytest.raises(InputError, match=r"in\.csv: nobody said what x and y are"):
        run(make(small))
    assert not (tmp_path / "out").exists()
    content = make(small)
    content["input"]["crs"] = "planar"
    assert run(content).verdict.holds
    # One person far away is enough to tell metres, although other pieces could be degrees.
    far = pl.when(pl.col("user_id") == "PERSON0").then(1e6).otherwise(0.0)
    content = make(small.with_columns(y=pl.col("y") + far), output={"path": str(tmp_path / "far"), "format": "csv"})
    assert run(content).verdict.holds


def test_parquet_in_parts_and_ids_that_are_cut(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    content = make()
    run(content)
    (tmp_path / "parts").mkdir()
    table = pl.read_csv(tmp_path / "in.csv").with_columns(traj_id=pl.col("traj_id") + "-1")
    for number in range(3):
        table[80 * number : 80 * number + 80].write_parquet(tmp_path / f"parts/{number}.parquet")
    content["input"] = {"path": str(tmp_path / "parts"), "columns": {"traj_id": "traj_id[:-2]"}}
    content["output"]["path"] = str(tmp_path / "again")
    run(content)
    assert public_bytes(tmp_path / "again") == public_bytes(tmp_path / "out")


def test_one_block_for_all_is_published_like_a_table_without_blocks(
    make: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    run(make(blocks={"by": "place", "rows": 10**6}))
    assert set(public_bytes(tmp_path / "out")) == {"README.html", "manifest.json", "published.csv"}
    assert verify_folder(tmp_path / "out").failures == ()


def test_what_the_preparation_leaves_decides_how_many_blocks_there_are(
    make: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    many = {"attacks": None, "metrics": None, "blocks": {"by": "place", "rows": 200}}
    assert points().height == 240
    # a table of more rows than a block, of which the preparation leaves less: one block, and everything is measured
    fewer = run(make(prepare=[{"step": "resample", "period": "2"}], **many))
    names = {path.name for path in (tmp_path / "out/public").iterdir()}
    assert (names, fewer.output_facts.get("Parts")) == ({"README.html", "manifest.json", "published.csv"}, None)
    assert not any("takes all data at once" in note for note in fewer.notes)
    # and the other way round: a table of one block becomes several
    many["blocks"] = {"by": "place", "rows": 250}
    content = make(points(times="epoch"), prepare=[{"step": "resample", "period": "30s"}], **many)
    content["output"]["overwrite"] = True
    assert "Parts" in run(content).output_facts


def test_a_trajectory_of_two_people_is_refused(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    row = pl.int_range(pl.len())
    table = points().with_columns(user_id=pl.when(row < 2).then(pl.lit("PERSON9")).otherwise("user_id"))
    for rows in (10, 10**6):  # its rows are in two pieces, or in one
        with pytest.raises(InputError, match=r"in\.csv: .*(more than one user_id|must be constant)") as caught:
            run(make(table, blocks={"by": "place", "rows": rows}))
        assert "PERSON" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_times_of_two_forms_are_refused(make: Callable[..., dict[str, Any]]) -> None:
    table = points().with_columns(
        t=pl.when(pl.col("user_id") == "PERSON3").then(pl.lit("2024-01-01T00:00:0") + pl.col("t")).otherwise("t")
    )
    with pytest.raises(InputError, match=r"times are written in different ways|mixes numbers"):
        run(make(table, blocks={"by": "place", "rows": 10}))


def test_parts_of_a_trajectory_are_of_one_person_in_every_piece(
    make: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    # nobody says who is who, and only one trajectory is cut: its parts must not count as two people
    table = points(owners=False).with_columns(
        t=pl.when((pl.col("traj_id") == "CARD5") & (pl.col("t").cast(pl.Int64) > 2))
        .then(pl.col("t").cast(pl.Int64) + 1000)
        .otherwise(pl.col("t").cast(pl.Int64))
    )
    outcome = run(make(table, prepare=[{"step": "split", "gap": "500"}], blocks={"by": "place", "rows": 40}))
    assert outcome.verdict.counted == "owners"
    assert "each of the 48 trajectories of the input, which were cut into 49" in outcome.counted
    manifest, _ = read_manifest(tmp_path / "out/public")
    assert manifest.table.owners == "hidden"
    assert manifest.each_trajectory_is_a_person
    assert verify_folder(tmp_path / "out").failures == ()


def test_a_block_that_holds_too_few_people_is_told(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    # two people far away from everybody else fill a block of their own
    alone = pl.DataFrame(
        {"traj_id": [f"FAR{i // 30}" for i in range(60)], "user_id": [f"LONELY{i // 30}" for i in range(60)],
         "t": [str(i % 30) for i in range(60)], "x": [-9e5 + i % 30 for i in range(60)], "y": [-9e5] * 60}
    )  # fmt: skip
    outcome = run(make(pl.concat([alone, points()]), method={"name": "tga", "k": 3}))
    [note] = [note for note in outcome.notes if "could not be published" in note]
    assert note.startswith("1 of 5 blocks (2 trajectories) could not be published; of the first it is said: ")
    assert "LONELY" not in note
    parts = {f"published-{i:05d}.csv" for i in range(1, 5)}
    assert set(public_bytes(tmp_path / "out")) == {"README.html", "manifest.json", *parts}
    private = json.loads((tmp_path / "out/private/results.json").read_text())
    assert private["balance"]["trajectories"]["suppressed"] == 2
    assert verify_folder(tmp_path / "out").failures == ()


def test_more_people_than_there_are(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="k"):
        run(make(method={"name": "tga", "k": 25}))
    assert not (tmp_path / "out").exists()


def test_a_preparation_that_leaves_nothing(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    network = tmp_path / "network.csv"
    network.write_text("road,from_node,to_node\nab,a,b\n")
    rows = [f"T{i},{seq},ab,{1_700_000_000 + 86_400 * i}" for i in range(6) for seq in range(1)]
    (tmp_path / "routes.csv").write_text("\n".join(["traj_id,seq,road,t", *rows]) + "\n")
    content = make(
        input={"path": str(tmp_path / "routes.csv"), "network": str(network), "owners": "each-trajectory"},
        prepare=[{"step": "slices", "frames": "03:00-03:01"}],
        method={"name": "prefix", "k": 2},
        blocks={"by": "slice", "rows": 2},
    )
    with pytest.raises(InputError, match="left no trajectory"):
        run(content)
    assert not (tmp_path / "out").exists()


def test_nothing_left_in_any_block_is_no_publication(
    make: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = METHODS["tga"].run

    def empty(self: Any, data: Any, **others: Any) -> MethodResult:
        made = real(self, data, **others)
        return replace(made, data=made.data.take(np.zeros(0, np.int64)).take(np.zeros(0, np.int64)), groups=None)

    monkeypatch.setattr(METHODS["tga"], "run", empty)
    monkeypatch.setattr("wayveil.pipeline.blocks.block.check_made", lambda *_: None)
    with pytest.raises(NotPublished, match="no trajectory is left"):
        run(make())
    assert not (tmp_path / "out/public").exists()


def test_what_a_killed_task_left_is_not_published(
    make: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = make()
    run(content)
    calm = public_bytes(tmp_path / "out")
    real = line.make_block

    def leaving(job: Any, plan: Any, engine: Any, number: int) -> Any:
        (job.staged / ".wayveil-123-abc.part").write_bytes(b"half a table")
        (job.store.folder / "blocks" / str(number) / ".9-1-000000.pickle").write_bytes(b"half a piece")
        return real(job, plan, engine, number)

    monkeypatch.setattr(line, "make_block", leaving)
    content["output"]["overwrite"] = True
    run(content)
    assert public_bytes(tmp_path / "out") == calm


def test_a_part_that_changes_after_its_verdict_is_not_published(
    make: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = line.write_part

    def swapping(job: Any, engine: Any, part: Any) -> Any:
        written = real(job, engine, part)
        if part.number == 1:
            (file,) = (job.staged / name for name in written.hashes if name.startswith("published"))
            file.write_bytes(file.read_bytes() + b" ")
        return written

    monkeypatch.setattr(line, "write_part", swapping)
    with pytest.raises(OutputError, match="changed between its verdict and its publication"):
        run(make())
    assert not (tmp_path / "out").exists()


def test_what_tasks_hand_to_each_other_is_for_the_owner_only(
    make: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    previous = os.umask(0o022)
    modes: set[int] = set()
    real = line.finish

    def looking(space: Any, run: Any) -> Any:
        modes.update(path.stat().st_mode & 0o077 for path in space.scratch.rglob("*"))
        return real(space, run)

    monkeypatch.setattr(line, "finish", looking)
    try:
        publish(make_recipe(make()), engine=LocalEngine(workers=1))
    finally:
        os.umask(previous)
    assert modes == {0}


def test_a_task_that_outlives_its_run_brings_no_folder_back(tmp_path: Path) -> None:
    store = Disk(folder=tmp_path / "scratch")
    store.folder.mkdir()
    store.save(1, "made/0")
    rmtree(store.folder)
    with pytest.raises(FileNotFoundError):
        store.save(1, "made/1")
    assert not store.folder.exists()


def test_one_part_that_breaks_the_promise_stops_everything(
    make: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = METHODS["tga"].run, []

    def lying(self: Any, data: Any, **others: Any) -> MethodResult:
        made = real(self, data, **others)
        calls.append(len(data))
        if len(calls) != 3:
            return made
        x_max = made.data.x_max.copy()
        x_max[0] += 1
        return replace(made, data=replace(made.data, x_max=x_max))

    monkeypatch.setattr("wayveil.pipeline.publish.compile_kernels", lambda *_: None)
    monkeypatch.setattr(METHODS["tga"], "run", lying)
    with pytest.raises(NotPublished, match="Part 3 of 4") as caught:
        run(make())
    assert caught.value.outcome is not None
    assert caught.value.outcome.public is None
    assert not (tmp_path / "out/public").exists()
    assert (tmp_path / "out/private/report.html").is_file()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["private"]


def test_people_in_two_blocks_are_noticed() -> None:
    block = np.array([0, 0, 1, 1])
    assert block_cutter._are_apart(np.array([1, 1, 2, 3]), block)
    assert not block_cutter._are_apart(np.array([1, 2, 2, 3]), block)


@pytest.fixture
def published(make: Callable[..., dict[str, Any]], tmp_path: Path) -> Path:
    run(make())
    return tmp_path / "out/public"


def failures(folder: Path) -> str:
    judgement = verify_folder(folder)
    assert not judgement.holds
    return " | ".join(judgement.failures)


def test_a_row_that_was_changed_or_removed_is_found(published: Path) -> None:
    file = published / "published-00002.csv"
    lines = file.read_text().splitlines()
    fields = lines[3].split(",")
    file.write_text(
        "\n".join([*lines[:3], ",".join([*fields[:5], str(float(fields[5]) + 1), *fields[6:]]), *lines[4:]]) + "\n"
    )
    told = failures(published)
    assert "the hash of published-00002.csv differs" in told
    assert "Part 2 of 4: " in told
    file.write_text("\n".join([*lines[:3], *lines[4:]]) + "\n")
    told = failures(published)
    assert "the table has 239 rows instead of 240" in told or "the table cannot be read" in told


def test_a_part_that_is_missing_or_added_is_found(published: Path) -> None:
    content = (published / "published-00001.csv").read_bytes()
    (published / "published-00009.csv").write_bytes(content)
    assert "1 unlisted in the manifest: published-00009.csv" in failures(published)
    (published / "published-00009.csv").unlink()
    (published / "published-00003.csv").unlink()
    assert "published-00003.csv is missing" in failures(published)


def test_a_manifest_with_fewer_parts_does_not_fit(published: Path) -> None:
    manifest = json.loads((published / "manifest.json").read_text())
    del manifest["files"]["published-00003.csv"]
    (published / "published-00003.csv").unlink()
    (published / "manifest.json").write_text(json.dumps(manifest))
    assert "trajectories instead of 48" in failures(published)


@pytest.fixture
def stops(tmp_path: Path) -> dict[str, Any]:
    """Stops of two groups of people with the same habits: two blocks make the same classes."""
    leaves = [f"{kind}-{i},{kind}," for kind in ("shop", "park", "clinic") for i in range(2)]
    tree = ["node,parent,sensitive", "place,,", "shop,place,", "park,place,", "clinic,place,yes", *leaves]
    (tmp_path / "taxonomy.csv").write_text("\n".join(tree) + "\n")
    rows = ["traj_id,user_id,seq,place"]
    for person in range(40):
        places = [f"shop-{person % 2}", *([f"clinic-{person % 2}"] if person % 5 == 0 else []), f"park-{person // 20}"]
        rows += [f"T{person},P{person},{seq},{place}" for seq, place in enumerate(places)]
    (tmp_path / "stops.csv").write_text("\n".join(rows) + "\n")
    return {
        "seed": 2,
        "input": {"path": str(tmp_path / "stops.csv"), "taxonomy": str(tmp_path / "taxonomy.csv")},
        "method": {"name": "cast", "c": "0.5", "m": 4},
        "blocks": {"by": "length", "rows": 22},
        "attacks": [],
        "metrics": [],
        "output": {"path": str(tmp_path / "out"), "format": "csv"},
    }


def test_classes_that_two_blocks_make_alike_are_one_part_without_sensitive_stops(
    stops: dict[str, Any], tmp_path: Path
) -> None:
    outcome = run(stops)
    assert verify_folder(tmp_path / "out").failures == ()
    manifest, _ = read_manifest(tmp_path / "out/public")
    data: Any = load_published(tmp_path / "out/public", manifest).data
    alike = int(outcome.output_facts["trajectories alike in several blocks"])
    assert alike > 0
    keys = [tuple(name for name in data.record(i) if not name.startswith("clinic")) for i in range(len(data))]
    files = sorted(file for file in public_bytes(tmp_path / "out") if file.startswith("published"))
    last = pl.read_csv(tmp_path / "out/public" / files[-1])
    assert last["traj_id"].n_unique() <= alike
    assert not last["place"].str.starts_with("clinic").any()
    # by brute force: in every class of all parts together, at most half were at a clinic
    for key in set(keys):
        here = [data.record(i) for i in range(len(data)) if keys[i] == key]
        assert len(here) >= 4
        for clinic in ("clinic-0", "clinic-1", "clinic"):
            assert sum(clinic in record for record in here) <= len(here) / 2


def test_trajectories_of_a_class_in_two_parts_are_found(stops: dict[str, Any], tmp_path: Path) -> None:
    run(stops)
    public = tmp_path / "out/public"
    files = sorted(public.glob("published-*.csv"))
    assert len(files) > 1
    one, two = (file.read_text().splitlines() for file in files[:2])
    ways = [{line.split(",")[0]: None for line in lines[1:]} for lines in (one, two)]
    moved = [next(iter(found)) for found in ways]
    first, second = (
        [lines[0], *(line for line in lines[1:] if not line.startswith(own)),
         *(line for line in other if line.startswith(foreign))]
        for lines, own, other, foreign in ((one, moved[0], two, moved[1]), (two, moved[1], one, moved[0]))
    )  # fmt: skip
    files[0].write_text("\n".join(first) + "\n")
    files[1].write_text("\n".join(second) + "\n")
    told = failures(public)
    assert "the data do not keep the claim" in told or "the table cannot be read" in told


def test_a_class_in_two_parts_that_hold_by_themselves_is_found(stops: dict[str, Any], tmp_path: Path) -> None:
    stops["method"].update(c="0.9", m=8)
    stops["blocks"]["rows"] = 10**6
    run(stops)
    public = tmp_path / "out/public"
    whole = pl.read_csv(public / "published.csv")
    (public / "published.csv").unlink()
    known = pl.when(~pl.col("place").str.starts_with("clinic")).then("place").alias("place")
    ways = whole.with_columns(known).group_by("traj_id", maintain_order=True)
    place = {name: tuple(rows["place"].drop_nulls()) for (name,), rows in ways}
    every = {name: tuple(rows["place"]) for (name,), rows in whole.group_by("traj_id", maintain_order=True)}
    halves: tuple[list[str], list[str]] = ([], [])
    clinics = {name: [place for place in places if place.startswith("clinic")] for name, places in every.items()}
    for name in sorted(place, key=lambda name: not clinics[name]):  # clinics are halved first, then classes

        def alike(half: list[str], name: str = name) -> tuple[int, int]:
            same = sum(any(one in clinics[other] for one in clinics[name]) for other in half)
            return same, sum(place[other] == place[name] for other in half)

        min(halves, key=alike).append(name)
    manifest = json.loads((public / "manifest.json").read_text())
    manifest["schema"]["parts"] = "each"
    del manifest["files"]["published.csv"]
    for number, names in enumerate(halves, start=1):
        file = public / f"published-{number:05d}.csv"
        whole.filter(pl.col("traj_id").is_in(names)).write_csv(file)
        content = file.read_bytes()
        manifest["files"][file.name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    manifest["claim"]["m"] = 4
    (public / "manifest.json").write_text(json.dumps(manifest))
    assert "the data do not keep the claim: Each of the 2 parts keeps the claim by itself, but" in failures(public)


# What kills a publication, or fills its disk, runs in a process of its own.
SCRIPT = """
import os, resource, signal, sys
step, limit, *command = sys.argv[1:]
from wayveil.cli import main
from wayveil.pipeline.folder.secret import Secret
import wayveil.pipeline.publish
from pathlib import Path
seen = 0
real = Path.replace
def counted(self, target):
    global seen
    seen += 1
    if seen == int(step):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, target)
Path.replace = counted
if int(limit) >= 0:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
code = main(command)
print(f"steps {seen}")
sys.exit(code)
"""


def elsewhere(content: dict[str, Any], tmp_path: Path, *, step: int = 0, limit: int = -1) -> Any:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe_text(make_recipe(content)))
    command = [sys.executable, "-c", SCRIPT, str(step), str(limit), "run", str(recipe)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_killed_in_the_middle_it_leaves_nothing_and_a_new_run_starts_clean(
    make: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    content = make()
    run({**content, "output": {"path": str(tmp_path / "calm"), "format": "csv"}})
    out = tmp_path / "out"
    for step in (7, 20):  # while pieces are read, and while blocks are published
        done = elsewhere(content, tmp_path, step=step)
        assert done.returncode == -9, done.stderr
        assert [path.name[:9] for path in out.iterdir()] == [".staging-"]
    run(content)
    assert public_bytes(out) == public_bytes(tmp_path / "calm")
    assert sorted(path.name for path in out.iterdir()) == ["private", "public"]


def test_a_full_disk_gives_one_sentence_and_no_publication(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    for limit in (100, 2500):  # while pieces are scattered, and while blocks are written
        done = elsewhere(make(), tmp_path, limit=limit)
        assert done.returncode == 2, (limit, done.stdout, done.stderr)
        assert re.fullmatch(r"wayveil: .*(File too large|No space left).*\n", done.stderr), done.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        pl.exceptions.ComputeError("parquet: No space left on device (os error 28)"),
    ],
)
def test_errors_of_the_disk_become_one_sentence(tmp_path: Path, error: Exception) -> None:
    with (
        pytest.raises(OutputError, match=r"No space left on device\. Nothing was kept"),
        reporting_full_disks(tmp_path),
    ):
        raise error
    with pytest.raises(pl.exceptions.ComputeError), reporting_full_disks(tmp_path):
        raise pl.exceptions.ComputeError("something else")


def test_values_between_tasks_are_whole_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    target = save([1, 2], tmp_path / "a" / "0.pickle")
    assert load_value(target) == [1, 2]

    class Bad:
        def __reduce__(self) -> Any:
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        save([0] * 1000 + [Bad()], target)
    assert load_value(target) == [1, 2]
    assert [path.name for path in (tmp_path / "a").glob("[0-9]*.pickle")] == ["0.pickle"]


# -- the command line ---------------------------------------------------------------------------------------------


def command(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str]:
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().err


def test_options_give_what_a_recipe_gives(
    make: Callable[..., dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run({**make(), "attacks": None, "metrics": None})
    asked = ["publish", "tga", tmp_path / "in.csv", "--k", 2, "--blocks", "place", "--block-rows", 60, "--seed", 3,
             "--secret", tmp_path / "out/private/secret.txt"]  # fmt: skip
    assert command(capsys, *asked, "--format", "csv", "--out", tmp_path / "typed")[0] == 0
    assert public_bytes(tmp_path / "typed") == public_bytes(tmp_path / "out")
    assert main(["verify", str(tmp_path / "typed")]) in (0, 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--block-rows", "9"], "--block-rows says how large blocks are; say what they are with --blocks."),
        (["--blocks", "length"], "tga cannot be cut by length; blocks may be by place."),
        (["--blocks", "rows"], "rows"),
        (["--blocks", "place", "--block-rows", "0"], "--block-rows"),
        (["--blocks", "place", "--block-rows", "9", "--keep-mapping"], "leave --keep-mapping out"),
        (["--blocks", "place", "--block-rows", "9", "--format", "geojson"], "parquet or csv, not geojson"),
        (["--blocks", "place", "--block-rows", "9", "--owners", "IN"], "given with --owners cannot be cut into blocks"),
        (["--blocks", "place", "--block-rows", "9", "--known", "IN"], "given with --known cannot be cut into blocks"),
        (["--scheduler", "tcp://h:1"], "A scheduler is of use with --engine dask or --engine auto only."),
        (["--memory-limit", "lots"], "such as 4GB or 800MB, got 'lots'"),
        (["--memory-limit", "1MB"], "The memory limit is too small to do anything"),
        (["--memory-limit", "900MB", "--blocks", "place", "--block-rows", "900000000"], "do not fit into the memory"),
        (["--engine", "dusk"], "dusk"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    points().write_csv(tmp_path / "in.csv")
    typed = [str(tmp_path / "in.csv") if option == "IN" else option for option in options]
    code, told = command(capsys, "publish", "tga", tmp_path / "in.csv", "--k", 2, "--out", tmp_path / "out", *typed)
    assert code == 2
    assert sentence in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_routes_need_slices_and_some_methods_need_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "routes.csv").write_text("traj_id,seq,road,t\nT,0,ab,5\nU,0,ab,6\n")
    (tmp_path / "network.csv").write_text("road,from_node,to_node\nab,a,b\n")
    asked = [tmp_path / "routes.csv", "--network", tmp_path / "network.csv", "--k", 2, "--out", tmp_path / "out"]
    code, told = command(capsys, "publish", "cba", *asked, "--blocks", "slice", "--block-rows", 1)
    assert code == 2
    assert "--prepare 'slices width=1d'" in told
    with pytest.raises(UsageError, match="qid needs all data at once, so there can be no blocks; leave them out"):
        make_recipe(
            {"input": {"path": "a.csv"}, "method": {"name": "qid", "k": 2}, "blocks": {"by": "place"},
             "output": {"path": "out"}}
        )  # fmt: skip


def test_a_recipe_with_blocks_as_text_is_the_same_recipe(
    make: Callable[..., dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = make(engine="auto")
    recipe = make_recipe(content)
    file = tmp_path / "recipe.toml"
    file.write_text(recipe_text(recipe))
    assert load_recipe(file) == recipe
    assert 'engine = "auto"' in file.read_text()
    assert command(capsys, "run", file)[0] == 0
    before = public_bytes(tmp_path / "out")
    secret = tmp_path / "secret.txt"
    (tmp_path / "out/private/secret.txt").rename(secret)
    again = ["run", file, "--overwrite", "--engine", "local", "--secret", secret]
    assert command(capsys, *again)[0] == 0
    assert public_bytes(tmp_path / "out") == before
    content["blocks"] = {"by": "place", "row": 5}
    with pytest.raises(UsageError, match=r"there is no key 'row' in \[blocks\]; known: by, rows"):
        make_recipe(content)
    content["blocks"] = {"by": "place", "rows": 0}
    with pytest.raises(UsageError, match=r"'rows' in \[blocks\] is wrong"):
        make_recipe(content)


def test_a_memory_limit_that_is_not_reached_changes_nothing(
    make: Callable[..., dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make()
    asked = ["publish", "tga", tmp_path / "in.csv", "--k", 2, "--out", tmp_path / "limited", "--memory-limit", "2GB"]
    assert command(capsys, *asked)[0] == 0
    again = ["publish", "tga", tmp_path / "in.csv", "--k", 2, "--out", tmp_path / "whole", "--seed"]
    again.append((tmp_path / "limited/private/seed.txt").read_text().strip())
    assert command(capsys, *again, "--secret", tmp_path / "limited/private/secret.txt")[0] == 0
    assert public_bytes(tmp_path / "limited") == public_bytes(tmp_path / "whole")


def test_a_row_number_is_no_person_in_pieces_either(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    """Judged over all pieces: in a piece that is small enough, everybody has one row."""
    table = points(owners=False).with_row_index("row").with_columns(device=pl.col("traj_id")).drop("traj_id")
    content = make(table, blocks={"by": "place", "rows": 40})
    content["input"]["columns"] = {"traj_id": "row"}
    with pytest.raises(InputError, match=r"every trajectory has one row only.*'device'"):
        run(content)


def test_named_places_with_coordinates_become_the_same_zones_in_blocks(tmp_path: Path) -> None:
    """The first row of a place says where it is, wherever its block is: later rows lie in other cells."""
    rng = np.random.default_rng(5)
    lines = ["user_id,t,venue,lon,lat"]
    for person in range(60):
        for visit in range(4):
            venue = int(rng.integers(6))
            lon = "" if rng.random() < 0.3 else f"{8.5 + venue / 100 + (0.02 if person > 30 else 0):.4f}"
            lines.append(f"p{person},{visit + 1},v{venue},{lon},{50 + venue / 100:.4f}")
    file = tmp_path / "visits.csv"
    file.write_text("\n".join(lines) + "\n")
    columns = {"traj_id": "user_id", "location": "venue", "location_x": "lon", "location_y": "lat"}
    found = []
    for name, blocks in (("whole", {}), ("blocks", {"blocks": {"by": "whole", "rows": 60}})):
        recipe = make_recipe(
            {
                "seed": 1,
                "input": {"path": str(file), "kind": "visits", "columns": columns, "crs": "EPSG:4326"},
                "prepare": [{"step": "zones", "cell": 1500}],
                "method": {"name": "kcl", "k": 5, "l": 1},
                "attacks": [],
                "metrics": [],
                "output": {"path": str(tmp_path / name), "format": "csv"},
                **blocks,
            }
        )
        outcome = publish(recipe)
        assert outcome.public is not None
        tables = sorted(outcome.public.glob("published*.csv"))
        assert (len(tables) > 1) is bool(blocks)
        rows = pl.concat([pl.read_csv(table, infer_schema=False) for table in tables]).drop("traj_id")
        found.append(sorted(rows.rows()))
    assert found[0] == found[1]
    assert len(found[0]) > 200
