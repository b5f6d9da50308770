from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from wayveil.errors import InputError
from wayveil.io import sample
from wayveil.io.sample import sample_of


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "_BYTES", 100)


def test_a_small_file_is_its_own_sample(tmp_path: Path) -> None:
    for name, content in (("a.csv", b"x" * 100), ("a.csv.gz", gzip.compress(b"x" * 100)), ("a.gpx", b"x" * 1000)):
        path = tmp_path / name
        path.write_bytes(content)
        assert sample_of(path, tmp_path) == sample.Sample(path=path, whole=True)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV", "a.geojsonl"])
def test_a_large_text_is_cut_at_the_end_of_a_line(tmp_path: Path, name: str) -> None:
    text = b"0123456\n" * 100
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    found = sample_of(path, tmp_path)
    assert not found.whole
    assert found.path.read_bytes() == b"0123456\n" * 12
    assert found.path.suffix == (".geojsonl" if "json" in name else ".csv")


def test_a_text_is_not_cut_inside_quotation_marks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" * 10 + b'"' + b"x\n" * 100 + b'",1\n')
    assert sample_of(path, tmp_path).path.read_bytes() == b"a,b\n" * 10


def test_a_text_without_lines_is_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * 500)
    assert sample_of(path, tmp_path).path.read_bytes() == b"x" * 100


def test_parquet_is_cut_by_rows_and_keeps_what_it_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "ROWS", 5)
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": range(1000)}).write_parquet(path, metadata={"geo": "{}"})
    found = sample_of(path, tmp_path)
    assert (found.whole, found.rows) == (False, 1000)
    assert pl.read_parquet(found.path)["a"].to_list() == [0, 1, 2, 3, 4]
    assert pl.read_parquet_metadata(found.path)["geo"] == "{}"
    pl.DataFrame({"a": ["x" * 200] * 5}).write_parquet(path)
    assert sample_of(path, tmp_path).whole


def test_damage_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 2)[:40])
    with pytest.raises(InputError, match="damaged or cut short"):
        sample_of(path, tmp_path)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(200))
    with pytest.raises(InputError, match="damaged"):
        sample_of(path, tmp_path)
