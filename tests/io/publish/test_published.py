"""Publications: what leaves, what does not, and that they read back as written."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, OutputError
from wayveil.io import Loaded, read_extent, read_published, write_published
from wayveil.model import TimeFormat, Visits
from wayveil.model.normal import normal_text

FORMATS = ["csv", "parquet"]

# Text as files may hold it; empty text cannot be told from a missing value, lone surrogates are no text.
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6) | st.sampled_from(
    ["NaN", "null", "007", "1e3", " a", 'q"q', "x,y", "\r\n", "\n", "'", "true", "\ufeff", "#"]
)


@st.composite
def visits(draw: st.DrawFn) -> Visits:
    n = draw(st.integers(0, 6))
    time_format: TimeFormat = draw(st.sampled_from(["integer", "epoch", "utc", "local"]))
    low, high = {"integer": (-(2**62), 2**62), "epoch": (10**8, 10**10)}.get(time_format, (-(6 * 10**16), 2 * 10**17))
    places = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    whole = draw(st.booleans()) and time_format in ("utc", "local")
    moment = st.integers(low, high) | st.integers(max(low, 10**8), max(low, 10**8) + 5)
    records = []
    for _ in range(n):
        times = sorted(draw(st.sets(moment.map(lambda t: t // 10**6 * 10**6) if whole else moment, max_size=4)))
        records.append([(draw(st.sampled_from(places)), t) for t in times])
    kinds = draw(st.lists(texts.map(lambda name: normal_text("a_" + name)), max_size=2, unique=True))
    kinds = [kind for kind in kinds if "\n" not in kind and "\r" not in kind]
    attributes = {kind: draw(st.lists(st.none() | texts, min_size=n, max_size=n)) for kind in kinds}
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return Visits.from_records(records, attributes=attributes, owner=owner, time_format=time_format)


def content(data: Visits, i: int) -> tuple:
    return (tuple(data.record(i)), tuple((name, a.values()[i]) for name, a in data.attributes.items()))


def back(path: Path, data: Visits) -> Loaded:
    return read_published(path, time_format=data.time_format, attributes=list(data.attributes), owners="hidden")


@pytest.mark.parametrize("form", FORMATS)
@given(data=visits(), seed=st.integers(0, 255))
@settings(deadline=None, max_examples=150)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, form: str, data: Visits, seed: int) -> None:
    path = tmp_path_factory.getbasetemp() / f"round.{form}"
    source = write_published(data, path, key=seed.to_bytes(32))
    loaded = back(path, data)
    filled = [i for i in range(len(data)) if data.record(i)]
    assert sorted(source.tolist()) == filled
    assert [content(loaded.data, i) for i in range(len(loaded.data))] == [content(data, i) for i in source]
    assert loaded.data.time_format == data.time_format
    assert loaded.data.owners == "hidden"
    assert loaded.data.owner.tolist() == list(range(len(filled)))
    assert loaded.rows == data.n_visits
    assert loaded.notes == ()
    ids = loaded.ids.to_list()
    assert ids == sorted(set(ids))
    assert all(len(i) == 16 and set(i) <= set("0123456789abcdef") for i in ids)
    assert set(loaded.data.locations) == {place for i in filled for place, _ in data.record(i)}


def crowd(n: int = 400) -> Visits:
    return Visits.from_records(
        [[(f"p{i}", i), ("q", i + 1)] for i in range(n)], attributes={"kind": [f"v{i % 3}" for i in range(n)]}
    )


@pytest.mark.parametrize("form", FORMATS)
def test_same_seed_same_bytes_other_seed_other_ids(tmp_path: Path, form: str) -> None:
    data = crowd()
    written = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        source = write_published(data, tmp_path / f"{name}.{form}", key=seed.to_bytes(32))
        written.append(((tmp_path / f"{name}.{form}").read_bytes(), source.tolist()))
    assert written[0] == written[1]
    assert written[0][0] != written[2][0]
    assert written[0][1] != written[2][1]
    ids = [set(back(tmp_path / f"{name}.{form}", data).ids) for name in "ac"]
    assert not ids[0] & ids[1]


def test_two_publications_under_different_keys_differ(tmp_path: Path) -> None:
    first = write_published(crowd(), tmp_path / "a.csv", key=b"one key of sixteen bytes")
    again = write_published(crowd(), tmp_path / "b.csv", key=b"another key of more than sixteen bytes")
    assert first.tolist() != again.tolist()


def test_ids_and_order_do_not_depend_on_the_input(tmp_path: Path) -> None:
    """With one seed, any data of as many trajectories get the same ids and the same shuffle."""
    plain = crowd()
    turned = plain.take(np.arange(len(plain))[::-1])
    owned = replace(plain, owner=np.zeros(len(plain), np.int64), owners="given")
    results = []
    for name, data in (("a", plain), ("b", turned), ("c", owned)):
        source = write_published(data, tmp_path / f"{name}.csv", key=bytes([7]) * 32)
        results.append((source.tolist(), back(tmp_path / f"{name}.csv", data).ids.to_list()))
    assert results[0] == results[1] == results[2]
    ranks = np.corrcoef(np.arange(len(plain)), results[0][0])[0, 1]
    assert abs(ranks) < 0.2  # 4 standard deviations for 400 trajectories; the seed is fixed


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_else_leaves(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names without a row, owners and input order are not in the bytes, whatever the format writes around the rows."""
    compressed = pl.DataFrame.write_parquet

    def open_to_read(*arguments: Any, **options: Any) -> None:
        compressed(*arguments, **{**options, "compression": "uncompressed", "compression_level": None})

    monkeypatch.setattr(pl.DataFrame, "write_parquet", open_to_read)
    data = Visits.from_records(
        [[("seen", 1), ("SUPPRESSEDPLACE", 2)], [("SUPPRESSEDPLACE", 3)], [("seen", 1)]],
        attributes={"kind": ["common", "SUPPRESSEDVALUE", "common"]},
        owner=[777_111_777, 5, 777_111_777],
    )
    kept = data.where(np.array([True, False, False, True]))
    path = tmp_path / f"out.{form}"
    source = write_published(kept, path, key=bytes([3]) * 32)
    raw = path.read_bytes()
    assert sorted(source.tolist()) == [0, 2]
    assert b"seen" in raw
    assert b"common" in raw
    for secret in (b"SUPPRESSED", b"777", b"user", b"owner"):
        assert secret not in raw
    frame = pl.read_csv(path) if form == "csv" else pl.read_parquet(path)
    assert frame.columns == ["traj_id", "t", "location", "kind"]


def test_forms_of_time(tmp_path: Path) -> None:
    def lines(time_format: TimeFormat, *times: int) -> list[str]:
        data = Visits.from_records([[("x", t) for t in times]], time_format=time_format)
        write_published(data, tmp_path / "t.csv", key=bytes([1]) * 32)
        return [line.split(",")[1] for line in (tmp_path / "t.csv").read_text().splitlines()[1:]]

    assert lines("integer", -3, 5) == ["-3", "5"]
    assert lines("epoch", 1_700_000_000) == ["1700000000"]
    assert lines("utc", 0, 86_400_000_000) == ["1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"]
    assert lines("local", 0) == ["1970-01-01T00:00:00"]
    assert lines("local", 0, 1) == ["1970-01-01T00:00:00.000000", "1970-01-01T00:00:00.000001"]
    assert lines("utc", -1) == ["1969-12-31T23:59:59.999999Z"]
    for time_format, dtype in (("utc", pl.Datetime("us", "UTC")), ("local", pl.Datetime("us")), ("epoch", pl.Int64)):
        data = Visits.from_records([[("x", 10**9)]], time_format=time_format)  # type: ignore[arg-type]
        write_published(data, tmp_path / "t.parquet", key=bytes([1]) * 32)
        assert pl.read_parquet(tmp_path / "t.parquet").schema["t"] == dtype


@pytest.mark.parametrize("form", FORMATS)
def test_a_publication_without_rows(tmp_path: Path, form: str) -> None:
    data = Visits.from_records([[], []], attributes={"kind": ["a", None]}, time_format="utc")
    assert write_published(data, tmp_path / f"none.{form}", key=bytes([1]) * 32).tolist() == []
    loaded = back(tmp_path / f"none.{form}", data)
    assert (len(loaded.data), loaded.rows, list(loaded.data.attributes)) == (0, 0, ["kind"])


# The strict reader


GOOD = "traj_id,t,location,kind\n000000000000000a,1,x,k\n000000000000000a,2,y,k\n000000000000000b,1,x,\n"


def published(folder: Path, text: str) -> Loaded:
    (folder / "p.csv").write_text(text)
    return read_published(folder / "p.csv", time_format="integer", attributes=["kind"], owners="declared")


def test_the_good_file_is_read(tmp_path: Path) -> None:
    loaded = published(tmp_path, GOOD)
    assert Counter(content(loaded.data, i) for i in range(2)) == {
        ((("x", 1), ("y", 2)), (("kind", "k"),)): 1,
        ((("x", 1),), (("kind", None),)): 1,
    }


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("traj_id,t,", "t,traj_id,", "columns must be"),
        ("location,kind\n", "location,other\n", "'kind'"),
        ("a,2,y,k", "a,1,y,k", "t does not increase inside a trajectory in 1 row, at line 3"),
        ("a,2,y,k", "a,0,y,k", "t does not increase"),
        ("a,2,y,k", "a,1,x,k", "t does not increase"),
        ("a,2,y,k", "a,2,,k", "location is empty in 1 row, at line 3"),
        ("a,2,y,k", "a,,y,k", "t is empty"),
        ("a,2,y,k", "a,2,y,j", "'kind' varies inside a trajectory"),
        ("a,2,y,k", "a,2,y,", "'kind' varies inside a trajectory"),
        ("000000000000000b", "0000000000000009", "ascending order in 1 row, at line 4"),
        ("000000000000000b", "SECRET", "16 hexadecimal digits"),
        ("000000000000000b", "", "16 hexadecimal digits"),
        ("b,1,x,\n", "b,1,x,\n\n", "empty rows"),
        ("b,1,x,", "b,2024-01-01,x,", "mixes numbers"),
        ("b,1,x,", "b,SECRET,x,", "neither a whole number"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        published(tmp_path, GOOD.replace(old, new))
    assert words in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_rows_of_one_trajectory_must_be_together(tmp_path: Path) -> None:
    text = GOOD + "000000000000000a,9,x,k\n"
    with pytest.raises(InputError, match="ascending order"):
        published(tmp_path, text)


def test_the_form_of_time_must_be_the_one_claimed(tmp_path: Path) -> None:
    data = Visits.from_records([[("x", 10**15)]], time_format="utc")
    write_published(data, tmp_path / "p.csv", key=bytes([1]) * 32)
    write_published(data, tmp_path / "p.parquet", key=bytes([1]) * 32)
    with pytest.raises(InputError, match="must be of the form 'local', but is 'utc'"):
        read_published(tmp_path / "p.csv", time_format="local", attributes=[], owners="hidden")
    with pytest.raises(InputError, match="type of column 't'"):
        read_published(tmp_path / "p.parquet", time_format="local", attributes=[], owners="hidden")


# Writing that fails


@pytest.mark.parametrize("name", ["out.xlsx", "out", "out.csv.gz"])
def test_unknown_suffix(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        write_published(crowd(3), tmp_path / name, key=bytes([1]) * 32)


def test_attributes_with_taken_names_and_empty_text(tmp_path: Path) -> None:
    data = Visits.from_records([[("x", 1)]], attributes={"user_id": ["a"]})
    with pytest.raises(OutputError, match="cannot be called user_id"):
        write_published(data, tmp_path / "a.csv", key=bytes([1]) * 32)
    for bad in (
        Visits.from_records([[("", 1)]]),
        Visits.from_records([[("x", 1)]], attributes={"location2": [""]}),
    ):
        with pytest.raises(OutputError, match=r"'location2?' holds an empty text"):
            write_published(bad, tmp_path / "a.csv", key=bytes([1]) * 32)


def test_places_without_coordinates_have_no_extent(tmp_path):
    path = tmp_path / "published.csv"
    write_published(Visits.from_records([[("a", 1)]]), path, key=bytes(32))
    with pytest.raises(InputError, match="published visits have no coordinates"):
        read_extent(path, kind="visits", time_format="integer", attributes=())
