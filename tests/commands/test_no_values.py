"""Nothing of a table's values is in what commands print of it: the values themselves are the canaries."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from tests.commands import test_dirty_points, test_dirty_trips, test_dirty_visits, test_odd_layouts
from tests.oracles.publisher_tables import Case

from wayveil.cli import main

CASES = [
    *test_dirty_points.CASES,
    *test_dirty_trips.CASES,
    *test_dirty_visits.CASES,
    *test_odd_layouts.CASES,
]
_TOKEN = re.compile(r"[\w.+-]{6,}")
# Words of the field that values share with sentences: methods of positioning, kinds of data, endings.
_ALLOWED = re.compile(r"[a-z]+|column_\d+|20240318|2024-03-18|1.0.0|EPSG:\d+", re.IGNORECASE)


def _read_all(path: Path) -> str:
    """Return the text of a file, of all files of a folder with their names, or of all tables of an archive."""
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file()]
        return "\n".join(f"{file.stem}\n{_read_all(file)}" for file in files)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return "\n".join(archive.read(name).decode("latin-1") for name in archive.namelist())
    if path.suffix == ".parquet":
        import polars as pl

        return "\n".join(str(value) for column in pl.read_parquet(path) for value in column.unique().to_list())
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        import gzip

        raw = gzip.decompress(raw)
    return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1")


def _canaries(path: Path, names: set[str]) -> set[str]:
    """Return all values with at least six signs and a figure that are no names of columns, nor of the file itself."""
    found = set(_TOKEN.findall(_read_all(path)))
    own = "".join((str(path), *names))
    return {token for token in found if re.search(r"\d", token) and not _ALLOWED.fullmatch(token) and token not in own}


@pytest.mark.parametrize("table", CASES, ids=str)
def test_no_value_of_a_table_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], table: Case) -> None:
    path = table.write(tmp_path)
    main(["inspect", str(path), *table.answer, "--json"])
    told = capsys.readouterr()
    names = {column["name"] for column in json.loads(told.out)["columns"]} if told.out.startswith("{") else set()
    canaries = _canaries(path, names)
    assert canaries or table.write.__name__ in ("_contacts", "_yjmob")  # which have no value of six signs
    code = main(["inspect", str(path), *table.answer])
    shown = capsys.readouterr()
    text = told.out + told.err + shown.out + shown.err
    words = set(_TOKEN.findall(text.replace(str(path), "")))
    assert code in (0, 2)
    assert not sorted(canaries & words)


_PUBLISHED = ("_taps_two_rows", "_citi_zip_of_parts", "_sumo_csv", "_smart_card_row", "_mta_bus", "_didi_orders")


@pytest.mark.parametrize("table", [case for case in CASES if str(case) in _PUBLISHED], ids=str)
def test_a_dirty_file_reaches_a_verified_publication_and_no_value_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, table: Case
) -> None:
    monkeypatch.chdir(tmp_path)
    path = table.write(tmp_path)
    assert main(["inspect", str(path), *table.answer, "--write", "recipe.toml"]) == 0
    assert main(["run", "recipe.toml"]) == 0
    shown = capsys.readouterr()
    assert "verified" in shown.out
    recipe = (tmp_path / "recipe.toml").read_text()
    assert "# Taken to be so" in recipe
    text = shown.out + shown.err + recipe + "".join(log.read_text() for log in tmp_path.glob("*/private/*log*"))
    assert not sorted(_canaries(path, set()) & set(_TOKEN.findall(text.replace(str(path), ""))))
