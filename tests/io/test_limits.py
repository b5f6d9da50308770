from __future__ import annotations

import bz2
import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from wayveil.errors import InputError
from wayveil.io.intake.text_files import open_text, unpack_tables
from wayveil.io.limits import refuse_large
from wayveil.io.network.road_files import read_network
from wayveil.io.tabular.table import open_table


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_files_are_measured_unpacked(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a"
    path.write_bytes(pack(bytes(3_000_000)))
    refuse_large(path, 3_000_000, shown="a")
    with pytest.raises(InputError, match="a: the file would be larger than 2,999,999 bytes"):
        refuse_large(path, 2_999_999, shown="a")
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="a: the file is damaged or cut short"):
        refuse_large(path, 3_000_000, shown="a")


def test_the_parts_of_a_packed_file_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(bytes(1000)) * 3)
    with pytest.raises(InputError, match="larger"):
        refuse_large(path, 2999, shown="a")
    refuse_large(path, 3000, shown="a")


def test_entries_of_an_archive_are_added_up_whatever_it_says_of_them(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, bytes(1500))
    refuse_large(path, 3000, shown="a")
    with pytest.raises(InputError, match="larger"):
        refuse_large(path, 2999, shown="a")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="damaged"):
        refuse_large(path, 3000, shown="a")


def test_values_of_parquet_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a"
    pl.DataFrame({"a": [1] * 1000, "b": [1] * 1000}).write_parquet(path)
    refuse_large(path, 2000, shown="a")
    with pytest.raises(InputError, match="larger"):
        refuse_large(path, 1999, shown="a")
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="damaged"):
        refuse_large(path, 2000, shown="a")


def test_plain_files_are_as_large_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"traj_id,t\n")
    refuse_large(path, 1, shown="a")


def pack(path: Path, entries: dict[str, int]) -> Path:
    """Write an archive of tables with so many bytes each, of which almost nothing is left when they are packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, size in entries.items():
            archive.writestr(name, b"0," * (size // 2))
    return path


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.io.limits._FREE", 1 << 20)


@pytest.mark.usefixtures("tight")
def test_a_file_that_is_made_to_fill_a_disk_is_refused_in_one_sentence(tmp_path: Path) -> None:
    sentence = "unpacked, it is more than 100 times as large, which no table is"
    several = pack(tmp_path / "several.zip", {f"{i}.csv": 2_000_000 for i in range(4)})
    made: list[Path] = []

    def folder() -> Path:
        made.append(tmp_path / "out")
        return made[0]

    with pytest.raises(InputError, match=sentence):
        unpack_tables(several, folder)
    assert sum(file.stat().st_size for file in made[0].rglob("*.csv")) < 4_000_000
    one = pack(tmp_path / "one.zip", {"a.csv": 20_000_000})
    with pytest.raises(InputError, match=sentence), open_text(one) as stream:
        stream.read()
    table = tmp_path / "a.csv.gz"
    table.write_bytes(gzip.compress(b"0," * 10_000_000))
    with pytest.raises(InputError, match=sentence), open_text(table) as stream:
        stream.read()
    with pytest.raises(InputError, match=sentence):
        open_table(table)
    roads = pack(tmp_path / "roads.zip", {"a.cnode.txt": 10_000_000, "a.cedge.txt": 10_000_000})
    with pytest.raises(InputError, match=sentence):
        read_network(roads)


@pytest.mark.usefixtures("tight")
def test_a_table_that_packs_well_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    rows = "".join(f"{i % 7},{i},p{i % 5}\n" for i in range(200_000))
    path.write_bytes(gzip.compress(rows.encode()))
    with open_text(path) as stream:
        assert stream.readline() == b"0,0,p0\n"
        assert len(stream.read()) == len(rows) - 7
