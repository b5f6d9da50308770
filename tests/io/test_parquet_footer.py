"""What the end of a Parquet file tells of its row groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from wayveil.io.formats.parquet_footer import longest_group

ROWS = 30_000
NOISE = np.random.default_rng(1).random((ROWS, 2))
TABLE = pl.DataFrame(
    {"x": NOISE[:, 0], "y": NOISE[:, 1], "same": np.zeros(ROWS), "word": ["a"] * ROWS, "n": [[1]] * ROWS}
)


@pytest.mark.parametrize("packing", ["uncompressed", "zstd", "snappy"])
@pytest.mark.parametrize("group", [ROWS, 10_000, 7_000])
def test_the_longest_group_of_the_columns_that_are_read(tmp_path: Path, group: int, packing: str) -> None:
    TABLE.write_parquet(tmp_path / "a", row_group_size=group, compression=packing)
    rows = pl.scan_parquet(tmp_path / "a").select(pl.len()).collect().item()
    assert rows == ROWS
    for names in (["x"], ["y", "x"]):
        plain = 8 * len(names) * group
        assert plain <= longest_group(tmp_path / "a", names) < 1.02 * plain + 500
    assert longest_group(tmp_path / "a", []) == 0
    assert 0 < longest_group(tmp_path / "a", ["n"]) < 20 * group


def test_an_empty_table_has_no_group_to_speak_of(tmp_path: Path) -> None:
    TABLE[:0].write_parquet(tmp_path / "a")
    assert longest_group(tmp_path / "a", ["x"]) < 100


def test_what_cannot_be_read_counts_as_one_group(tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "a")
    content = (tmp_path / "a").read_bytes()
    numbers = np.random.default_rng(2)
    length = int.from_bytes(content[-8:-4], "little")
    for _ in range(300):
        broken = bytearray(content)
        for at in numbers.integers(len(content) - 8 - length, len(content), 3):
            broken[at] = int(numbers.integers(256))
        (tmp_path / "b").write_bytes(bytes(broken))
        longest_group(tmp_path / "b", ["x"])  # says something, whatever is in the file
    endless = b"\x49\xf1" + b"\xff" * 8 + b"\x01"  # field 4 is a list of more values than a file could hold
    endless += len(endless).to_bytes(4, "little") + b"PAR1"
    for some in (endless, b"", b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", content[:-9]):
        (tmp_path / "b").write_bytes(some)
        assert longest_group(tmp_path / "b", ["x"]) == len(some)
