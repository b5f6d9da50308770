from __future__ import annotations

import bz2
import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from wayveil.errors import InputError
from wayveil.io.limits import refuse_large


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
