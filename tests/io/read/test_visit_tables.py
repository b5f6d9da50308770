"""Reading visits: every rule, every error, and that no error repeats a value of the data."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.io import Loaded, ReadOptions, guess_kind
from wayveil.io import read_visits as read_visits_asking


def read_visits(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_visits_asking(path, replace(options or ReadOptions(), owners="not-asked"))


SECRETS = ("SECRETCARD", "SECRETPLACE", "SECRETVALUE", "SECRETPERSON", "987654")


def csv(folder: Path, text: str | bytes, name: str = "in.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def parquet(folder: Path, name: str = "in.parquet", **columns: object) -> Path:
    pl.DataFrame(columns, strict=False).write_parquet(folder / name)
    return folder / name


def refused(path: Path, *words: str, options: ReadOptions | None = None) -> str:
    """Read, and return the message of the InputError, which holds these words and no secret."""
    with pytest.raises(InputError) as caught:
        read_visits(path, options or ReadOptions())
    message = str(caught.value)
    for word in words:
        assert word in message
    for secret in SECRETS:
        assert secret not in message
    assert "\n" not in message
    assert len(message) < 500
    return message


def records(loaded: Loaded) -> list[list[tuple[str, int]]]:
    return [loaded.data.record(i) for i in range(len(loaded.data))]


def body(*rows: str, header: str = "traj_id,t,location") -> str:
    return "\n".join([header, *rows]) + "\n"


# What is read


def test_plain_csv(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("b,1,x", "b,2,y", "a,1,x")))
    assert records(loaded) == [[("x", 1), ("y", 2)], [("x", 1)]]
    assert loaded.ids.to_list() == ["b", "a"]
    assert loaded.rows == 3
    assert loaded.data.time_format == "integer"
    assert loaded.data.owners == "declared"
    assert loaded.data.owner.tolist() == [0, 1]
    assert loaded.notes == ()


def test_one_row(tmp_path: Path) -> None:
    assert records(read_visits(csv(tmp_path, "traj_id,t,location\na,1,x"))) == [[("x", 1)]]


def test_str_path_and_odd_names(tmp_path: Path) -> None:
    file = csv(tmp_path, body("a,1,x"), "data[1]*?.CSV")
    assert read_visits(str(file)).rows == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_forms_of_csv(tmp_path: Path, end: str, bom: bytes, zipped: bool, separator: str) -> None:
    lines = [" traj_id ,t, location", 'a,1," x ""q"""', "a,2,y "]
    text = bom + (end.join(lines) + end).replace(",", separator).encode()
    file = csv(tmp_path, gzip.compress(text) if zipped else text, "in.csv.gz" if zipped else "in.csv")
    loaded = read_visits(file)
    assert records(loaded) == [[('x "q"', 1), ("y", 2)]]
    assert "Column 'location': 2 values were brought to the normal form" in loaded.notes[-1]
    assert any("semicolons" in note for note in loaded.notes) == (separator == ";")


def test_gzip_of_several_members(tmp_path: Path) -> None:
    text = gzip.compress(b"traj_id,t,location\na,1,x\n") + gzip.compress(b"a,2,y\n")
    assert records(read_visits(csv(tmp_path, text, "in.csv.gz"))) == [[("x", 1), ("y", 2)]]


def test_quoted_line_ends_and_separators(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body('a,1,"x,\ny"', "a,2,z")))
    assert records(loaded) == [[("x,\ny", 1), ("z", 2)]]


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("a,1,x", "", "a,2,y", "", "")))
    assert loaded.rows == 2
    assert "3 blank lines were skipped." in loaded.notes


def test_non_ascii_and_very_long_names(tmp_path: Path) -> None:
    long = "ä" * 100_000
    loaded = read_visits(csv(tmp_path, body(f"Žofie,1,{long}", "Žofie,2,東京🚉", header="traj_id,t,location")))
    assert records(loaded) == [[(long, 1), ("東京🚉", 2)]]


def test_ids_beyond_64_bits_stay_exact(tmp_path: Path) -> None:
    big = "123456789012345678901234567890"
    loaded = read_visits(csv(tmp_path, body(f"{big},1,x", f"{big}1,1,x", "007,1,x", "7,1,x", "1e5,1,x")))
    assert loaded.ids.to_list() == [big, big + "1", "007", "7", "1e5"]


def test_labels_are_sorted_and_trajectories_in_order_of_appearance(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("z,1,q,ü", "a,1,b,A", "z,2,a,ü", header="traj_id,t,location,kind")))
    assert loaded.ids.to_list() == ["z", "a"]
    assert loaded.data.locations == ("a", "b", "q")
    assert loaded.data.attributes["kind"].labels == ("A", "ü")
    assert records(loaded) == [[("q", 1), ("a", 2)], [("b", 1)]]


def test_owners(tmp_path: Path) -> None:
    header = "user_id,traj_id,t,location"
    loaded = read_visits(csv(tmp_path, body("q,a,1,x", "p,b,1,x", "q,c,1,x", header=header)))
    assert loaded.data.owners == "given"
    assert loaded.data.owner.tolist() == [0, 1, 0]
    assert loaded.notes == ()


def test_one_column_for_trajectory_and_owner(tmp_path: Path) -> None:
    options = ReadOptions(columns={"traj_id": "card", "user_id": "card"})
    loaded = read_visits(csv(tmp_path, body("q,1,x", "p,1,x", header="card,t,location")), options)
    assert loaded.data.owners == "given"
    assert loaded.data.owner.tolist() == [0, 1]


def test_attributes(tmp_path: Path) -> None:
    text = body("a,1,x,r,1", "b,1,x,,2", "c,1,x,s,1", header="traj_id,t,location,ill,sex")
    loaded = read_visits(csv(tmp_path, text))
    assert loaded.data.attributes["ill"].values() == ["r", None, "s"]
    assert loaded.data.attributes["sex"].values() == ["1", "2", "1"]
    only = read_visits(csv(tmp_path, text), ReadOptions(attributes=("sex",)))
    assert list(only.data.attributes) == ["sex"]
    assert not read_visits(csv(tmp_path, text), ReadOptions(attributes=())).data.attributes


def test_an_attribute_that_is_always_missing(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("a,1,x,", "b,1,x,", header="traj_id,t,location,ill")))
    assert loaded.data.attributes["ill"].values() == [None, None]


def test_identifying_attributes_are_pointed_out(tmp_path: Path) -> None:
    rows = [f"{i},1,x,SECRETVALUE{i},c" for i in range(30)]
    notes = read_visits(csv(tmp_path, body(*rows, header="traj_id,t,location,phone,class"))).notes
    told = [note for note in notes if "identify" in note]
    assert len(told) == 1
    assert "'phone'" in told[0]
    assert "SECRETVALUE" not in told[0]


def test_columns_are_mapped(tmp_path: Path) -> None:
    file = csv(tmp_path, body("a,1,x,9,p", header="card,time,place,t,who"))
    options = ReadOptions(columns={"traj_id": "card", "t": "time", "location": "place", "user_id": "who"})
    loaded = read_visits(file, options)
    assert records(loaded) == [[("x", 1)]]
    assert loaded.data.owners == "given"
    assert any("'t' was left out" in note for note in loaded.notes)
    assert guess_kind(file, options) == "visits"


def test_columns_without_a_name_are_left_out(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("0,a,1,x", "1,a,2,x", header=",traj_id,t,location")))
    assert not loaded.data.attributes
    assert any("number 1 has no name" in note for note in loaded.notes)
    frame = pl.DataFrame({"traj_id": ["a"], "t": [1], "location": ["x"], "__index_level_0__": [0]})
    frame.write_parquet(tmp_path / "pandas.parquet")
    assert not read_visits(tmp_path / "pandas.parquet").data.attributes


def test_parquet_types(tmp_path: Path) -> None:
    file = parquet(
        tmp_path,
        traj_id=pl.Series([2**63 + 1, 2**63 + 1, 5], dtype=pl.UInt64),
        t=pl.Series([3.0, 4.0, 3.0]),
        location=pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        flag=[True, True, None],
        level=pl.Series([1.5, 1.5, float("nan")]),
        kind=pl.Series(["p", "p", "q"], dtype=pl.Enum(["q", "p"])),
        nothing=pl.Series([None, None, None], dtype=pl.Null),
    )
    loaded = read_visits(file)
    assert loaded.ids.to_list() == [str(2**63 + 1), "5"]
    assert records(loaded) == [[("x", 3), ("y", 4)], [("x", 3)]]
    values = {name: coded.values() for name, coded in loaded.data.attributes.items()}
    assert values == {"flag": ["true", None], "level": ["1.5", None], "kind": ["p", "q"], "nothing": [None, None]}


# Cleaning


def test_rows_in_any_order(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("a,3,x", "b,1,x", "a,1,y", "b,2,y", "c,9,z", "a,2,z")))
    assert records(loaded) == [[("y", 1), ("z", 2), ("x", 3)], [("x", 1), ("y", 2)], [("z", 9)]]
    assert "1 trajectory was not in time order and was sorted." in loaded.notes


def test_times_too_far_apart_for_one_key(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body(f"a,{2**61},x", "b,5,x", f"a,{-(2**61)},y")))
    assert records(loaded) == [[("y", -(2**61)), ("x", 2**61)], [("x", 5)]]


def test_exact_duplicates_are_dropped_and_counted(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("a,1,x", "a,2,y", "a,1,x", "a,1,x", "b,1,x")))
    assert records(loaded) == [[("x", 1), ("y", 2)], [("x", 1)]]
    assert loaded.rows == 5
    assert "2 exact duplicate rows were dropped." in loaded.notes


CLASHES = body("a,1,x", "b,1,SECRETPLACE", "a,987654,x", "a,1,x", "a,987654,y", "b,1,y", "b,1,z")


def test_two_visits_at_one_time_are_refused(tmp_path: Path) -> None:
    refused(csv(tmp_path, CLASHES), "2 times", "line 4 and line 6", "--on-duplicate-time first or last")
    one = csv(tmp_path, body("a,1,x", "a,1,y"))
    refused(one, "1 time at line 2 and line 3")
    file = parquet(tmp_path, traj_id=["a", "a"], t=[1, 1], location=["x", "y"])
    refused(file, "row 1 and row 2")


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("first", [[("x", 1), ("x", 987654)], [("SECRETPLACE", 1)]]),
        ("last", [[("x", 1), ("y", 987654)], [("z", 1)]]),
    ],
)
def test_two_visits_at_one_time_are_resolved(tmp_path: Path, keep: str, expected: list) -> None:
    loaded = read_visits(csv(tmp_path, CLASHES), ReadOptions(on_duplicate_time=keep))  # type: ignore[arg-type]
    assert records(loaded) == expected
    assert "1 exact duplicate row was dropped." in loaded.notes
    assert any(note.startswith("3 visits were dropped") and keep in note for note in loaded.notes)


def test_last_means_the_last_row_of_the_file(tmp_path: Path) -> None:
    file = csv(tmp_path, body("a,1,x", "a,1,y", "a,1,x"))
    assert records(read_visits(file, ReadOptions(on_duplicate_time="last"))) == [[("x", 1)]]
    assert records(read_visits(file, ReadOptions(on_duplicate_time="first"))) == [[("x", 1)]]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(-3, 3), st.sampled_from("xyz")), min_size=1, max_size=25
    ),
    keep=st.sampled_from(["first", "last"]),
)
@settings(deadline=None, max_examples=150)
def test_cleaning_matches_the_definition(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, str]], keep: str
) -> None:
    file = csv(tmp_path_factory.getbasetemp(), body(*(",".join(map(str, row)) for row in rows)))
    expected: dict[str, dict[int, str]] = {}
    for card, t, place in rows:
        visits = expected.setdefault(card, {})
        if keep == "last" or t not in visits:
            visits[t] = place
    loaded = read_visits(file, ReadOptions(on_duplicate_time=keep))  # type: ignore[arg-type]
    assert loaded.ids.to_list() == list(expected)
    assert records(loaded) == [[(place, t) for t, place in sorted(v.items())] for v in expected.values()]
    clash = any(len({p for c, u, p in rows if (c, u) == (card, t)}) > 1 for card, t, _ in rows)
    if clash:
        refused(file, "different visits at one time")
    else:
        assert records(read_visits(file)) == records(loaded)


# Files that cannot be read


def test_no_file(tmp_path: Path) -> None:
    refused(tmp_path / "none.csv", "none.csv", "no such file", "check the path")


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    refused(tmp_path / "x.csv", "folder")


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = csv(tmp_path, body("a,1,x"))

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    refused(file, "cannot be read: Permission denied")


def test_impossible_path() -> None:
    refused(Path("a\0b.csv"), "not usable")


def test_unknown_suffix(tmp_path: Path) -> None:
    refused(csv(tmp_path, "x", "in.xlsx"), ".csv, .csv.gz or .parquet")


@pytest.mark.parametrize("name", ["in.csv", "in.csv.gz", "in.parquet"])
def test_empty_file(tmp_path: Path, name: str) -> None:
    refused(csv(tmp_path, b"", name), "is empty")


def test_empty_in_other_ways(tmp_path: Path) -> None:
    refused(csv(tmp_path, b"\xef\xbb\xbf\n\n"), "is empty")
    refused(csv(tmp_path, gzip.compress(b""), "in.csv.gz"), "is empty")
    refused(csv(tmp_path, "\n" + body("a,1,x")), "first line is empty", "line 1")


def test_header_only(tmp_path: Path) -> None:
    refused(csv(tmp_path, "traj_id,t,location\n"), "header but no rows")
    refused(csv(tmp_path, "traj_id,t,location"), "header but no rows")
    refused(csv(tmp_path, "traj_id,t,location\n\n\n"), "header but no rows")
    empty = pl.Series([], dtype=pl.String)
    refused(parquet(tmp_path, traj_id=empty, t=empty, location=empty), "header but no rows")


def test_not_utf8(tmp_path: Path) -> None:
    refused(csv(tmp_path, b"traj_id,t,location\na,1,x\na,2,caf\xe9\n"), "UTF-8", "line 3 (byte 33)")
    refused(csv(tmp_path, b"traj_id,t,caf\xe9\na,1,x\n"), "UTF-8", "line 1 (byte 14)")
    refused(csv(tmp_path, "traj_id,t,location\na,1,x\n".encode("utf-16")), "UTF-8")


def test_cut_short_and_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(body(*(f"a{i},{i},SECRETPLACE{i}" for i in range(1000))).encode())
    refused(csv(tmp_path, whole[:-100], "in.csv.gz"), "gzip file is cut short")
    spoiled = bytearray(whole)
    spoiled[len(whole) // 2] ^= 255
    refused(csv(tmp_path, bytes(spoiled), "in.csv.gz"), "gzip file is damaged")
    refused(csv(tmp_path, body("a,1,x"), "in.csv.gz"), "not gzipped")


def test_broken_parquet(tmp_path: Path) -> None:
    whole = parquet(tmp_path, traj_id=["SECRETCARD"] * 999, t=range(999), location=["x"] * 999).read_bytes()
    refused(csv(tmp_path, whole[:-50], "a.parquet"), "Parquet file is cut short")
    refused(csv(tmp_path, body("a,1,x"), "b.parquet"), "not a Parquet file")
    refused(csv(tmp_path, whole, "c.csv"), "this is a Parquet file", ".parquet")
    refused(csv(tmp_path, whole[:40] + b"\0" * (len(whole) - 48) + whole[-8:], "d.parquet"), "damaged")
    page = bytearray(whole)
    page[30:60] = b"\xff" * 30
    refused(csv(tmp_path, bytes(page), "e.parquet"), "damaged")


def test_any_damage_to_parquet_is_an_input_error_or_harmless(tmp_path: Path) -> None:
    whole = parquet(tmp_path, traj_id=["SECRETCARD"] * 99, t=range(99), location=["x"] * 99).read_bytes()
    rng = np.random.default_rng(1)
    messages = []
    for _ in range(100):
        spoiled = bytearray(whole)
        spoiled[rng.integers(4, len(whole) - 4)] = rng.integers(0, 256)
        try:
            read_visits(csv(tmp_path, bytes(spoiled), "f.parquet"))
        except InputError as error:
            messages.append(str(error))
    assert messages
    assert not any("SECRET" in message for message in messages)


def test_malformed_csv(tmp_path: Path) -> None:
    refused(csv(tmp_path, body("a,1,x", "a,2,SECRETPLACE,more,x")), "line 3 has 5 fields", "header has 3")
    refused(csv(tmp_path, body("a,1,x", 'a,2,"SECRETPLACE', "b,1,x")), "not valid CSV", "quotation mark")
    refused(csv(tmp_path, body("a,1,x", 'a,2,SECRET"PLACE', "b,1,x")), "not valid CSV", "quotation mark")
    refused(csv(tmp_path, 'traj_id,t,"location\na,1,SECRETPLACE\n'), "several lines", "quotation marks of line 1")
    refused(csv(tmp_path, "traj_id,t,location\ra,1,x\r"), "CR alone")


# Columns that do not fit


def test_only_one_column(tmp_path: Path) -> None:
    refused(csv(tmp_path, "traj_id|t|location\na|1|x\n"), "only one column", "commas")


def test_missing_columns(tmp_path: Path) -> None:
    file = csv(tmp_path, body("a,1,x", header="Card_ID,timestamp,place"))
    words = ("traj_id, t, location", "'Card_ID'", "--columns traj_id=Card_ID,t=timestamp,location=place")
    refused(file, *words)
    with pytest.raises(InputError, match="--columns traj_id=Card_ID"):
        guess_kind(file)
    file = csv(tmp_path, body("a,1,x", header="traj_id,t,locatoin"))
    refused(file, "column is missing: location", "--columns location=locatoin")
    refused(csv(tmp_path, body("a,1,x", header="traj_id,t,qqq")), "--columns location=NAME")


def test_many_and_long_columns_stay_readable(tmp_path: Path) -> None:
    header = ",".join(f"column{i}" for i in range(300)) + "," + "y" * 5000 + ",time"
    refused(csv(tmp_path, header + "\n"), "and 290 more")


def test_no_header_does_not_show_the_first_row(tmp_path: Path) -> None:
    refused(csv(tmp_path, "SECRETCARD,987654,SECRETPLACE\nb,2,y\n"), "seems to have no header", "line 1")
    refused(csv(tmp_path, "SECRETCARD,2024-01-01T10:00,SECRETPLACE\nb,2,y\n"), "seems to have no header")


def test_duplicate_columns(tmp_path: Path) -> None:
    refused(
        csv(tmp_path, body("a,1,x,y", header="traj_id,t,location, t ")), "columns number 2 and 4 have the same name"
    )


def test_bad_mappings(tmp_path: Path) -> None:
    file = csv(tmp_path, body("a,1,x,k", header="card,time,location,kind"))
    mapped = {"traj_id": "card", "t": "time"}
    refused(file, "'trajid' is not a column", "Did you mean 'traj_id'", options=ReadOptions(columns={"trajid": "card"}))
    refused(file, "'crd'", "'card'", "Did you mean 'card'", options=ReadOptions(columns={**mapped, "traj_id": "crd"}))
    refused(file, "'card' for two things", options=ReadOptions(columns={**mapped, "t": "card"}))
    refused(file, "'location' for two things", options=ReadOptions(columns={**mapped, "t": "location"}))
    refused(file, "no column 'knd'", "Did you mean 'kind'", options=ReadOptions(columns=mapped, attributes=("knd",)))
    refused(file, "'card' cannot be an attribute", options=ReadOptions(columns=mapped, attributes=("card",)))


def test_options_are_checked() -> None:
    with pytest.raises(ParameterError, match="on_duplicate_time must be one of first, last"):
        ReadOptions(on_duplicate_time="both")  # type: ignore[arg-type]


def test_types_that_are_no_text(tmp_path: Path) -> None:
    refused(parquet(tmp_path, traj_id=["a"], t=[1], location=[["SECRETPLACE"]]), "'location'", "type list")
    refused(parquet(tmp_path, traj_id=[b"SECRETCARD"], t=[1], location=["x"]), "'traj_id'", "type binary")


# Values that do not fit


@pytest.mark.parametrize("column", ["traj_id", "t", "location", "user_id"])
@pytest.mark.parametrize("empty", ["", '""'])
def test_missing_values(tmp_path: Path, column: str, empty: str) -> None:
    good = {"traj_id": "SECRETCARD", "t": "987654", "location": "SECRETPLACE", "user_id": "SECRETPERSON"}
    row, gap = ",".join(good.values()), ",".join({**good, column: empty}.values())
    file = csv(tmp_path, body(row, "", gap, gap, header=",".join(good)))
    refused(file, f"column '{column}' is empty in 2 rows, first at line 4", "fill it in or remove")
    values = {name: [value, None] if name == column else [value] * 2 for name, value in good.items()}
    refused(parquet(tmp_path, **values), f"column '{column}' is empty in 1 row, at row 2")


def test_lines_are_counted_through_quoted_line_ends(tmp_path: Path) -> None:
    refused(csv(tmp_path, body('"a\nb\r\nc",1,x', "d,2,", "e,3,z")), "at line 5")


def test_attribute_that_varies(tmp_path: Path) -> None:
    header = "traj_id,t,location,ill"
    rows = ["a,1,x,r", "b,1,x,SECRETVALUE", "a,2,y,r", "b,2,x,", "c,1,x,r", "c,2,x,q", "c,3,x,z"]
    refused(csv(tmp_path, body(*rows, header=header)), "'ill'", "2 trajectories", "line 5", "Correct the data")


def test_owner_that_varies(tmp_path: Path) -> None:
    rows = ["SECRETCARD,1,x,SECRETPERSON", "SECRETCARD,2,y,q"]
    file = csv(tmp_path, body(*rows, header="traj_id,t,location,who"))
    options = ReadOptions(columns={"user_id": "who"})
    refused(file, "'who'", "1 trajectory", "line 3", "one person", options=options)


# Times


def times(folder: Path, *texts: str) -> tuple[list[int], str]:
    loaded = read_visits(csv(folder, body(*(f'{i},"{text}",x' for i, text in enumerate(texts)))))
    return loaded.data.t.tolist(), loaded.data.time_format


def micro(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1)) // US


US = datetime(2000, 1, 1, 0, 0, 0, 1) - datetime(2000, 1, 1)


def test_integers(tmp_path: Path) -> None:
    assert times(tmp_path, "3", "-4", "+5", "007", "6.0", " 7 ", "1e3", "8.") == (
        [3, -4, 5, 7, 6, 7, 1000, 8],
        "integer",
    )
    assert times(tmp_path, str(2**62), "1.0") == ([2**62, 1], "integer")


def test_epoch_seconds(tmp_path: Path) -> None:
    assert times(tmp_path, "100000000", "1700000000.0") == ([100000000, 1700000000], "epoch")
    assert times(tmp_path, "99999999", "1700000000")[1] == "integer"
    assert times(tmp_path, "1700000000000")[1] == "integer"
    notes = read_visits(csv(tmp_path, body("a,1700000000000,x"))).notes
    assert any("milliseconds" in note for note in notes)
    notes = read_visits(csv(tmp_path, body("a,1700000000,x"))).notes
    assert any("seconds since 1970" in note for note in notes)


def test_iso_without_offset(tmp_path: Path) -> None:
    texts = ["2024-02-29T10:11:12", "2024-02-29 10:11:12", "2024-02-29t10:11", "2024-02-29",
             "2024-02-29 10:11:12.5", "2024-02-29T10:11:12,123456", "1969-12-31T23:59:59.999999", "0001-01-01",
             "9999-12-31T23:59:59.999999"]  # fmt: skip
    same = ["2024-02-29T10:11:12", "2024-02-29T10:11:12", "2024-02-29T10:11:00", "2024-02-29T00:00:00",
            "2024-02-29T10:11:12.500000", "2024-02-29T10:11:12.123456", "1969-12-31T23:59:59.999999",
            "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"]  # fmt: skip
    assert times(tmp_path, *texts) == ([micro(text) for text in same], "local")
    notes = read_visits(csv(tmp_path, body("a,2024-02-29,x"))).notes
    assert any("local time" in note for note in notes)


def test_iso_with_offsets(tmp_path: Path) -> None:
    texts = ["2024-02-29T10:00:00Z", "2024-02-29 10:00:00+01:00", "2024-02-29T10:00-0530", "2024-02-29T10:00:00.25+02",
             "2024-02-29T10:00z", "2024-03-01T00:30:00+01:00"]  # fmt: skip
    same = ["2024-02-29T10:00:00", "2024-02-29T09:00:00", "2024-02-29T15:30:00", "2024-02-29T08:00:00.250000",
            "2024-02-29T10:00:00", "2024-02-29T23:30:00"]  # fmt: skip
    assert times(tmp_path, *texts) == ([micro(text) for text in same], "utc")


@given(
    st.lists(
        st.tuples(
            st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),
            st.sampled_from(["T", " "]),
            st.sampled_from(["Z", "+00:00", "-11:30", "+14:00", "+0530", "-03"]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
@settings(deadline=None, max_examples=100)
def test_iso_matches_the_standard_library(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[datetime, str, str]], offsets: bool
) -> None:
    texts = [when.isoformat(between) + (offset if offsets else "") for when, between, offset in drawn]
    zero = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    expected = [(datetime.fromisoformat(text if offsets else text + "Z") - zero) // US for text in texts]
    assert times(tmp_path_factory.getbasetemp(), *texts) == (expected, "utc" if offsets else "local")


def test_parquet_times(tmp_path: Path) -> None:
    def read(values: pl.Series) -> tuple[list[int], str]:
        file = parquet(tmp_path, traj_id=[str(i) for i in range(len(values))], t=values, location=["x"] * len(values))
        loaded = read_visits(file)
        return loaded.data.t.tolist(), loaded.data.time_format

    when = datetime(1969, 12, 31, 23, 59, 59, 999000)
    for unit in ("ms", "us", "ns"):
        values = pl.Series([when, datetime(2024, 2, 29, 10)], dtype=pl.Datetime(unit))  # type: ignore[arg-type]
        assert read(values) == ([-1000, micro("2024-02-29T10:00:00")], "local")
        zoned = values.dt.replace_time_zone("Europe/Vienna")
        assert read(zoned) == ([-1000 - 3_600_000_000, micro("2024-02-29T09:00:00")], "utc")
    assert read(pl.Series([date(1970, 1, 2)])) == ([86_400_000_000], "local")
    assert read(pl.Series([1, 2], dtype=pl.UInt8)) == ([1, 2], "integer")
    assert read(pl.Series(["1", "2"], dtype=pl.Categorical)) == ([1, 2], "integer")
    assert read(pl.Series(["5.00", "6.00"]).cast(pl.Decimal(10, 2))) == ([5, 6], "integer")
    assert read(pl.Series([-1, 1999], dtype=pl.Int64).cast(pl.Datetime("ns"))) == ([-1, 1], "local")


def test_finer_than_microseconds_is_told(tmp_path: Path) -> None:
    loaded = read_visits(csv(tmp_path, body("a,2024-01-01T00:00:00.123456789,x", "b,2024-01-01T00:00:00.1234560,x")))
    assert loaded.data.t.tolist() == [micro("2024-01-01T00:00:00.123456")] * 2
    assert "Times finer than a microsecond were cut to microseconds in 1 row." in loaded.notes


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["5", "987654.5", "2.5"], ("not a whole number in 2 rows, first at line 3", "Round or scale")),
        (["5", "nan"], ("not a finite number", "line 3", "correct or remove")),
        (["inf", "5"], ("not a finite number", "line 2")),
        (["5", "99999999999999999999"], ("too large", "line 3", "coarser unit")),
        (["1e17", "5"], ("too large", "line 2")),
        ([str(2**62 + 1)], ("too large",)),
        (["5", "SECRETVALUE"], ("neither a whole number nor an ISO 8601 time", "line 3", "2024-05-31T08:15:00")),
        (["31.12.2024 987654"], ("neither a whole number nor an ISO 8601 time",)),
        (["2024-1-1"], ("neither a whole number nor an ISO 8601 time",)),
        (["2024-02-30T10:00:00"], ("not a day and time that exists", "line 2")),
        (["2024-02-29T25:00"], ("not a day and time that exists",)),
        (["2024-01-01", "987654", "2024-01-02"], ("mixes numbers (1 row) and ISO 8601 times (2 rows)", "one form")),
        (
            ["2024-01-01T10:00Z", "2024-01-01T10:00", "2024-01-01T10:00+01:00"],
            ("with a UTC offset (2 rows) and without one (1 row)", "all without"),
        ),
        (["0001-01-01T00:00+01:00"], ("outside the years 1 to 9999",)),
        (["0000-12-31"], ("outside the years 1 to 9999",)),
        ([" "], ("neither a whole number",)),
    ],
)
def test_bad_times(tmp_path: Path, texts: list[str], words: tuple[str, ...]) -> None:
    refused(csv(tmp_path, body(*(f"a{i},{text},x" for i, text in enumerate(texts)))), "column 't'", *words)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pl.Series([1.0, float("nan")]), ("not a finite number", "row 2")),
        (pl.Series([1.0, float("inf")]), ("not a finite number", "row 2")),
        (pl.Series([1.0, 3.5]), ("not a whole number", "row 2")),
        (pl.Series([1.0, 1e17]), ("too large", "row 2")),
        (pl.Series([1, 2**63], dtype=pl.UInt64), ("too large", "row 2")),
        (pl.Series([True, False]), ("type boolean", "not a time")),
        (pl.Series([1, 2]).cast(pl.Duration("us")), ("type duration", "not a time")),
        (pl.Series([0, 2**62]).cast(pl.Datetime("ms")), ("outside the years", "row 2")),
        (pl.Series([0, -(2**62)]).cast(pl.Datetime("us")), ("outside the years", "row 2")),
    ],
)
def test_bad_times_in_parquet(tmp_path: Path, values: pl.Series, words: tuple[str, ...]) -> None:
    refused(parquet(tmp_path, traj_id=["a", "b"], t=values, location=["x", "y"]), "column 't'", *words)


def test_the_result_is_read_only(tmp_path: Path) -> None:
    data = read_visits(csv(tmp_path, body("a,2,x", "a,1,x"))).data
    with pytest.raises(ValueError, match="read-only"):
        data.t[0] = 5


# Coordinates beside names

LOCATED = ReadOptions(columns={"location_x": "lon", "location_y": "lat"}, crs="EPSG:4326")


def test_a_location_is_where_its_first_row_with_a_position_is(tmp_path: Path) -> None:
    rows = ["a,3,x,n/a,50.1", "a,1,x,8.5,50.1", "b,1,y,0,0", "b,2,y,8.6,50.2", "b,3,x,9.9,59.9", "c,1,y,500,50"]
    loaded = read_visits(csv(tmp_path, body(*rows, header="traj_id,t,location,lon,lat")), LOCATED)
    data = loaded.data
    assert data.place_x is not None
    assert data.place_y is not None
    assert data.place_frame is not None
    lon, lat = data.place_frame.to_file(data.place_x, data.place_y)
    at = dict(zip(data.locations, zip(lon.round(6).tolist(), lat.round(6).tolist(), strict=True), strict=True))
    assert at == {"x": (8.5, 50.1), "y": (8.6, 50.2)}
    assert data.n_visits == len(rows)  # a row without a position is still a visit
    assert not data.attributes


def test_metres_beside_names(tmp_path: Path) -> None:
    file = csv(tmp_path, body("a,1,x,100000,7", "b,1,y,3,9", header="traj_id,t,location,location_x,location_y"))
    data = read_visits(file, ReadOptions(crs="planar")).data
    assert data.place_x is not None
    assert data.place_x.tolist() == [100000.0, 3.0]
    refused(file, "the coordinates of locations can be degrees or metres")


def test_where_a_location_is_nowhere_all_are_and_a_note_says_so(tmp_path: Path) -> None:
    rows = ["a,1,x,8.5,50.1", "a,2,SECRETPLACE,,", "b,1,SECRETPLACE,,50.2"]
    loaded = read_visits(csv(tmp_path, body(*rows, header="traj_id,t,location,lon,lat")), LOCATED)
    assert loaded.data.place_x is None
    notes = " ".join(loaded.notes)
    assert "1 location of 2 was without a position in any row" in notes
    assert "--places" in notes
    assert "SECRETPLACE" not in notes
