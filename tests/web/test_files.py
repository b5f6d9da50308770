from __future__ import annotations

import gzip
import io
import json
import os
import shutil
from collections import namedtuple
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wayveil.commands.first_look import endings_by_role
from wayveil.web.files import ROLES, clean_name

ROWS = b"traj_id,t,location\na,1,x\n"
EMPTY = ["files", "runs"]


def upload(box: Any, name: str = "a.csv", content: bytes = ROWS, **more: Any) -> Any:
    return box.client().post("/api/files", params={"name": name, **more}, content=content)


def test_an_upload_is_kept_under_an_id_and_shown_under_its_name(box: Any) -> None:
    answer = upload(box, "Besuche März (2).csv", role="data")
    facts = answer.json()
    assert answer.status_code == 201
    assert (facts["name"], facts["role"], facts["bytes"]) == ("Besuche März (2).csv", "data", len(ROWS))
    own = f"files/{facts['id']}"
    assert set(box.left()) == {"files", own, f"{own}/{facts['id']}.csv", f"{own}/facts.json", "runs"}
    kept = box.folder / "files" / facts["id"]
    assert (kept / f"{facts['id']}.csv").read_bytes() == ROWS
    assert [path.stat().st_mode & 0o077 for path in (kept, *kept.iterdir())] == [0, 0, 0]
    listed = box.client().get("/api/files").json()
    assert listed == [facts]
    assert facts["used_by"] == []


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("../../../../etc/cron.d/x.csv", "x.csv"),
        ("..\\..\\windows\\x.csv", "x.csv"),
        ("/etc/passwd.csv", "passwd.csv"),
        ("a\x00b.csv", "a_b.csv"),
        ("a\nb<script>.csv", "a_b_script_.csv"),
        ("-rf.csv", "rf.csv"),
        ("...hidden.csv", "hidden.csv"),
        ("x'\"&;`$(id).csv", "x______(id).csv"),
        ("%2e%2e%2fx.csv", "_2e_2e_2fx.csv"),
    ],
)
def test_names_are_only_names(box: Any, name: str, clean: str) -> None:
    facts = upload(box, name).json()
    assert facts["name"] == clean
    inside = [path for path in box.folder.rglob("*") if path.is_file()]
    assert sorted(path.name for path in inside) == sorted([f"{facts['id']}.csv", "facts.json"])
    assert not [path for path in box.folder.parent.rglob("*x*.csv") if path not in inside and "data" not in path.parts]


def test_long_names_keep_their_ending() -> None:
    assert clean_name("x" * 500 + ".csv.gz") == "x" * 113 + ".csv.gz"
    assert clean_name("." * 500) == "file"
    assert len(clean_name("x." * 500 + "csv")) <= 120
    assert clean_name("x." * 500 + "csv").endswith(".csv")


@pytest.mark.parametrize("name", ["a.exe", "a", "", "a.rar", ".csv", "csv", "a.xlsx", "..", "a.csv/"])
def test_unknown_endings_are_refused_and_nothing_is_written(box: Any, name: str) -> None:
    answer = upload(box, name)
    assert answer.status_code == 400
    assert "must end in" in answer.json()["error"]
    assert box.left() == EMPTY


def test_the_role_says_which_endings(box: Any) -> None:
    assert upload(box, "a.graphml", role="network").status_code == 201
    assert upload(box, "a.graphml", role="data").status_code == 400
    assert upload(box, "a.csv", role="../x").status_code == 400
    assert set(endings_by_role()) == set(ROLES)
    assert all(".csv" in endings for role, endings in endings_by_role().items() if role != "zones")
    assert upload(box, "a.txt").status_code == upload(box, "a.tsv.gz", gzip.compress(b"x")).status_code == 201
    assert upload(box, "a.geojson", role="zones").status_code == 201
    assert upload(box, "a.csv", role="zones").status_code == 400


def test_a_claim_of_ten_gigabytes_is_refused_before_anything_is_read(box: Any, ask: Callable[..., Any]) -> None:
    told = {"content-length": str(10 << 30)}
    status, body, taken = ask(box.app(), "POST", "/api/files?name=a.csv", told, repeat(b"x" * 65536))
    assert (status, taken) == (413, 0)
    assert b"larger than 1,048,576 bytes" in body
    assert box.left() == EMPTY


@pytest.mark.parametrize("claim", ["x", "-1", "1e9", "9" * 30, "١"])
def test_a_claim_that_is_no_number_is_refused(box: Any, ask: Callable[..., Any], claim: str) -> None:
    status, _, taken = ask(box.app(), "POST", "/api/files?name=a.csv", {"content-length": claim}, repeat(b"x"))
    assert (status, taken) == (400, 0)
    assert box.left() == EMPTY


def test_a_body_without_end_is_cut_and_nothing_is_left(box: Any, ask: Callable[..., Any]) -> None:
    status, body, taken = ask(box.app(), "POST", "/api/files?name=a.csv", {}, repeat(b"x" * 65536))
    assert (status, taken) == (413, 17)
    assert b"limit" in body
    assert box.left() == EMPTY


def test_an_upload_that_is_broken_off_leaves_nothing(box: Any, ask: Callable[..., Any]) -> None:
    status, body, _ = ask(box.app(), "POST", "/api/files?name=a.csv", {}, iter([b"traj_id", b",t"]))
    assert status == 400
    assert b"broken off" in body
    assert box.left() == EMPTY


def test_exactly_the_limit_is_taken(box: Any) -> None:
    assert upload(box, content=b"x" * (1 << 20)).status_code == 201
    assert upload(box, content=b"x" * ((1 << 20) + 1)).status_code == 413


def test_an_empty_file_is_refused(box: Any) -> None:
    assert upload(box, content=b"").json() == {"error": "The file is empty."}
    assert box.left() == EMPTY


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv"])
def test_a_zip_bomb_is_refused(box: Any, name: str) -> None:
    bomb = gzip.compress(bytes(50 << 20))
    assert len(bomb) < 100_000
    answer = upload(box, name, bomb)
    assert answer.status_code == 400
    assert "larger than 1,048,576 bytes when unpacked" in answer.json()["error"]
    assert box.left() == EMPTY


def test_a_table_that_says_one_value_too_often_is_refused(box: Any) -> None:
    file = io.BytesIO()
    pl.DataFrame({"a": pl.repeat(1, 2_000_000, eager=True)}).write_parquet(file)
    assert file.tell() < 100_000
    answer = upload(box, "a.parquet", file.getvalue())
    assert answer.status_code == 400
    assert box.left() == EMPTY


def test_a_damaged_file_is_refused(box: Any) -> None:
    whole = gzip.compress(os.urandom(1000))
    assert "damaged or cut short" in upload(box, "a.csv.gz", whole[:-9]).json()["error"]
    assert "damaged or cut short" in upload(box, "a.parquet", b"PAR1" + bytes(100)).json()["error"]
    assert box.left() == EMPTY


def test_a_packed_file_within_the_limit_is_taken(box: Any) -> None:
    assert upload(box, "a.csv.gz", gzip.compress(ROWS)).status_code == 201


def test_a_full_disk_is_told(box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 10_000))
    assert upload(box).status_code == 507
    monkeypatch.undo()

    def refuse(*arguments: Any) -> None:
        raise OSError(28, "No space left on device", "/secret/place")

    monkeypatch.setattr("wayveil.web.files.write_json", refuse)
    answer = upload(box)
    assert answer.status_code == 507
    assert "secret" not in answer.text
    assert box.left() == EMPTY


def test_what_was_half_done_is_removed_at_the_start(make_box: Callable[..., Any]) -> None:
    box = make_box()
    (box.folder / "files/.part-0").mkdir()
    (box.folder / "runs/.part-0").mkdir()
    make_box()
    assert box.left() == EMPTY


def test_a_file_can_be_deleted_unless_a_run_needs_it(box: Any) -> None:
    id = upload(box).json()["id"]
    run = box.add("hang")
    job = box.runs.job(run)
    (box.runs.place(run) / "job.json").write_text(json.dumps({**job, "names": {id: "a.csv"}}))
    answer = box.client().delete(f"/api/files/{id}")
    assert answer.status_code == 409
    assert box.client().get("/api/files").json()[0]["used_by"] == [run]
    box.runs.change(run, state="cancelled")
    assert box.client().delete(f"/api/files/{id}").status_code == 204
    assert box.client().get("/api/files").json() == []
    assert list(Path(box.folder / "files").iterdir()) == []
    assert box.client().delete(f"/api/files/{id}").status_code == 404
