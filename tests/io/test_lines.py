"""Places in a text, with chunks so small that everything falls on a border."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.io.tabular import csv_position
from wayveil.io.tabular.csv_position import first_bad_byte, first_long_record, line_of_record


@given(
    records=st.lists(st.sampled_from(["a,b", '"x\ny",1', '"q""\n\n",2', "", '"\r\n",3']), min_size=1, max_size=8),
    chunk=st.integers(1, 9),
)
@settings(deadline=None, max_examples=200)
def test_lines_of_records(records: list[str], chunk: int) -> None:
    text = "".join(record + "\n" for record in records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_position, "_CHUNK", chunk)
        found = [line_of_record(text.encode(), i) for i in range(len(records))]
    assert found == [1 + "".join(r + "\n" for r in records[:i]).count("\n") for i in range(len(records))]


@given(
    raw=st.lists(st.sampled_from([b"a", b"\n", "ü".encode(), "🚉".encode(), b"\xff", b"\xc3"])),
    chunk=st.integers(1, 5),
)
@settings(deadline=None, max_examples=300)
def test_first_bad_byte(raw: list[bytes], chunk: int) -> None:
    text = b"".join(raw)
    try:
        text.decode()
        expected = None
    except UnicodeDecodeError as error:
        expected = (error.start + 1, 1 + text[: error.start].count(b"\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_position, "_CHUNK", chunk)
        assert first_bad_byte(text) == expected


def test_files_and_texts_agree(tmp_path: Path) -> None:
    text = b'a,b\n"x\n",1\n1,2,3\n'
    file = tmp_path / "in.csv"
    file.write_bytes(text)
    for source in (text, file):
        assert line_of_record(source, 2) == 4
        assert first_bad_byte(source) is None
        assert first_long_record(source, ",", 2) == (4, 3)
        assert first_long_record(source, ",", 3) is None


def test_a_field_too_long_for_the_reader_ends_the_search() -> None:
    text = b"a,b\n" + b"x" * 200_000 + b",1\n1,2,3\n"
    assert first_long_record(text, ",", 2) is None
