"""Bad input: one clear sentence, exit 2, nothing written, no traceback, no value of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wayveil.cli import main

HEADER = "traj_id,t,location,ill\n"
GOOD = HEADER + "".join(
    f"id{i},{t},{place},{'yes' if i % 2 else 'no'}\n" for i in range(6) for t, place in enumerate("ab")
)
OPTIONS = {"--k": "2", "--c": "0.9", "--l": "2", "--sensitive": "ill=yes"}
SECRET = "SECRETPLACE"


def parquet(path: Path) -> bytes:
    pl.read_csv(GOOD.encode()).write_parquet(path)
    content = path.read_bytes()
    path.unlink()
    return content


def times(*values: str) -> str:
    return HEADER + "".join(f"id{i},{t},{SECRET},no\n" for i, t in enumerate(values)) + GOOD.removeprefix(HEADER)


TEXTS: dict[str, tuple[str, str]] = {
    "empty file": ("", "empty"),
    "only blanks": (" \n\n", "empty"),
    "header only": (HEADER, "no rows"),
    "one row": (HEADER + f"id1,1,{SECRET},yes\n", "k is 2"),
    "no header": (GOOD.removeprefix(HEADER), "column"),
    "missing column": (GOOD.replace("location", "where"), "location"),
    "missing columns": ("a,b\n1,2\n", "traj_id"),
    "column twice": (GOOD.replace("ill", "t", 1), "t"),
    "duplicate time": (GOOD + f"id1,0,{SECRET},yes\n", "line 14"),
    "varying attribute": (GOOD + f"id1,9,{SECRET},no\n", "ill"),
    "missing time": (times(""), "line 2"),
    "NaN time": (times("NaN"), "t"),
    "infinite time": (times("inf"), "t"),
    "time with a fraction": (times("1.5"), "t"),
    "time beyond 64 bits": (times("99999999999999999999"), "t"),
    "time in words": (times("yesterday"), "t"),
    "impossible date": (HEADER + f"id1,2024-02-30T00:00:00,{SECRET},yes\n", "t"),
    "mixed time zones": (
        HEADER + f"id1,2024-05-01T08:00:00Z,{SECRET},yes\nid2,2024-05-01T08:00:00,{SECRET},no\n",
        "t",
    ),
    "missing location": (HEADER + "id1,1,,yes\n", "location"),
    "missing id": (HEADER + f",1,{SECRET},yes\n", "traj_id"),
    "missing sensitive value": (GOOD.replace("yes", ""), "ill"),
    "too many fields": (GOOD + f"id9,1,{SECRET},yes,more\n", "line 14"),
    "open quotation": (GOOD + 'id9,1,"home\n', "quot"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_bad_tables(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = TEXTS[case]
    check(tmp_path, capsys, "input.csv", text.encode(), words)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("input.csv", GOOD.encode().replace(b"id1", b"\xff\xfe"), "UTF-8"),
        ("input.csv.gz", b"\x1f\x8b\x08\x00broken", "gzip"),
        ("input.parquet", b"PAR1 not really PAR1", "Parquet"),
        ("input.parquet", b"not at all", "Parquet"),
        ("input.parquet", "truncated", "Parquet"),
        ("input.xlsx", b"PK", "spreadsheet"),
        ("input.csv", None, "no such file"),
    ],
)
def test_bad_files(name: str, content: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if content == "truncated":
        content = parquet(tmp_path / name)[:-20]
    check(tmp_path, capsys, name, content, words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--k": "7"}, "k is 7"),
        ({"--k": "0"}, "k must be an integer >= 1, got 0"),
        ({"--k": "999999999999999"}, "k is 999999999999999"),
        ({"--c": "1.1"}, "c must be a number from 0 to 1"),
        ({"--c": "-0.1"}, "c must be a number from 0 to 1"),
        ({"--c": "nan"}, "c must be a number from 0 to 1"),
        ({"--l": "0"}, "l must be an integer >= 1 or 'all', got 0"),
        ({"--sensitive": "ill=maybe"}, "'maybe' never occurs"),
        ({"--sensitive": "il=yes"}, "Did you mean 'ill'?"),
        ({"--sensitive": "traj_id=id1"}, "traj_id"),
        ({"--keep": "age"}, "age"),
        ({"--columns": "traj_id=card"}, "card"),
        ({"--columns": "person=ill"}, "person"),
        ({"--time-bucket": "1h"}, "width"),
        ({"--time-bucket": "0"}, "width"),
        ({"--format": "xlsx"}, "--format"),
        ({"--out": "input.csv"}, "not a folder"),
        ({"--out": "input.csv/out"}, "Not a directory"),
        ({"--out": "/proc/out"}, "/proc/out"),
        ({"--out": "x" * 300}, "File name too long"),
        ({"--out": "nul\0byte"}, "null"),
    ],
)
def test_bad_options(changes: dict[str, str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(tmp_path, capsys, "input.csv", GOOD.encode(), words, **changes)


def check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, words: str, **changes: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    before = sorted(path.name for path in tmp_path.iterdir())
    options = {**OPTIONS, "--out": "out", **changes}
    options["--out"] = str(tmp_path / options["--out"])
    given = [text for pair in options.items() for text in pair]
    code = main(["publish", "kcl", str(tmp_path / name), "--each-trajectory-is-a-person", *given])
    out, error = capsys.readouterr()
    assert (code, out) == (2, ""), error
    assert error.startswith("wayveil: ")
    assert error.count("\n") == 1
    assert words in error
    assert "Traceback" not in error
    assert "unexpected" not in error
    assert SECRET not in error
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([f"id{i},{t},place{t},x" for i in range(4) for t in (3, 2, 1)], id="decreasing times"),
        pytest.param([f"旅{i},1,Bahnhof Zoölogie 駅 🚉,x" for i in range(4)], id="non-ASCII names"),
        pytest.param([f"{i}{'9' * 40},1,a,x" for i in range(4)], id="ids beyond 64 bits"),
        pytest.param([f"{'i' * 5000}{i},1,{'p' * 10_000},x" for i in range(4)], id="very long names"),
        pytest.param([f'id{i},1,"a, ""b""\n c",x' for i in range(4)], id="quoted names"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_odd_input_that_is_fine(rows: list[str], form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ünüsual näme.csv"
    path.write_text("\n".join(["traj_id,t,location,ill", *rows]) + "\n", encoding="utf-8")
    out = tmp_path / "öut"
    options = ["--each-trajectory-is-a-person", "--k", "4", "--l", "2", "--format", form]
    code = main(["publish", "kcl", str(path), *options, "--out", str(out)])
    _, error = capsys.readouterr()
    assert (code, error) == (0, "")
    assert main(["verify", str(out)]) in (0, 3)
